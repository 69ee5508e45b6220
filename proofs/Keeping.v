(** docs/proofs/groups-from-the-data.md: which groups may be named, each by a separate coin. *)
From Coq Require Import Reals Lra Lia List.
Import ListNotations.
Open Scope R_scope.

Section Rule.
Variables (eps delta : R).

(** The chance that a group of [m] people is kept. *)
Fixpoint keep (m : nat) : R :=
  match m with
  | O => 0
  | S k => Rmin (Rmin (exp eps * keep k + delta) (1 - exp (- eps) * (1 - keep k - delta))) 1
  end.

(** The chance that the kept groups pass a test, which sees for every group whether it is kept. *)
Fixpoint passes (counts : list nat) (test : list bool -> R) : R :=
  match counts with
  | [] => test []
  | m :: rest => keep m * passes rest (fun l => test (true :: l))
                 + (1 - keep m) * passes rest (fun l => test (false :: l))
  end.

(** A test says yes with some chance. *)
Definition is_test (test : list bool -> R) : Prop := forall l, 0 <= test l <= 1.

Hypothesis eps_nonneg : 0 <= eps.
Hypothesis delta_range : 0 <= delta <= 1.

Lemma exp_eps : 1 <= exp eps.
Proof. rewrite <- exp_0. destruct eps_nonneg as [H|<-]; [left; now apply exp_increasing|lra]. Qed.

Lemma exp_inverse : exp (- eps) * exp eps = 1.
Proof. rewrite <- exp_plus, Rplus_opp_l. apply exp_0. Qed.

Lemma exp_opp_range : 0 < exp (- eps) <= 1.
Proof.
  split; [apply exp_pos|]. pose proof exp_inverse. pose proof exp_eps. pose proof (exp_pos (- eps)).
  nra.
Qed.

Lemma keep_range m : 0 <= keep m <= 1.
Proof.
  pose proof exp_eps. pose proof exp_opp_range.
  induction m as [|m IH]; [simpl; lra|]. change (keep (S m)) with
    (Rmin (Rmin (exp eps * keep m + delta) (1 - exp (- eps) * (1 - keep m - delta))) 1).
  split; [|apply Rmin_r].
  repeat apply Rmin_glb; [|
    |lra].
  - assert (0 <= exp eps * keep m) by (apply Rmult_le_pos; lra). lra.
  - destruct (Rle_lt_dec 0 (1 - keep m - delta)); nra.
Qed.

Lemma keep_rises m : keep m <= keep (S m).
Proof.
  pose proof exp_eps. pose proof exp_opp_range. pose proof (keep_range m). simpl.
  repeat apply Rmin_glb; [nra| |lra].
  destruct (Rle_lt_dec 0 (1 - keep m - delta)); nra.
Qed.

Lemma keep_up m : keep (S m) <= exp eps * keep m + delta.
Proof. simpl. eapply Rle_trans; [apply Rmin_l|apply Rmin_l]. Qed.

Lemma keep_down m : 1 - keep m <= exp eps * (1 - keep (S m)) + delta.
Proof.
  assert (H : keep (S m) <= 1 - exp (- eps) * (1 - keep m - delta))
    by (simpl; eapply Rle_trans; [apply Rmin_l|apply Rmin_r]).
  pose proof exp_inverse. pose proof exp_eps.
  assert (exp eps * (exp (- eps) * (1 - keep m - delta)) <= exp eps * (1 - keep (S m)))
    by (apply Rmult_le_compat_l; lra).
  replace (exp eps * (exp (- eps) * (1 - keep m - delta)))
    with (exp (- eps) * exp eps * (1 - keep m - delta)) in * by ring.
  rewrite exp_inverse in *. lra.
Qed.

(** No other private rule that never names an empty group keeps any group more often. *)
Theorem keep_is_best (p : nat -> R) : p O = 0 -> (forall m, p m <= 1) ->
  (forall m, p (S m) <= exp eps * p m + delta) ->
  (forall m, 1 - p m <= exp eps * (1 - p (S m)) + delta) ->
  forall m, p m <= keep m.
Proof.
  intros Z L U D. pose proof exp_eps. pose proof exp_opp_range. pose proof exp_inverse.
  induction m as [|m IH]; [simpl; lra|]. simpl.
  repeat apply Rmin_glb; [| |apply L].
  - specialize (U m). assert (exp eps * p m <= exp eps * keep m) by (apply Rmult_le_compat_l; lra).
    lra.
  - specialize (D m).
    assert (exp (- eps) * (1 - p m - delta) <= exp (- eps) * (exp eps * (1 - p (S m))))
      by (apply Rmult_le_compat_l; lra).
    replace (exp (- eps) * (exp eps * (1 - p (S m))))
      with (exp (- eps) * exp eps * (1 - p (S m))) in * by ring.
    rewrite exp_inverse in *.
    assert (exp (- eps) * (1 - keep m - delta) <= exp (- eps) * (1 - p m - delta))
      by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma passes_range counts : forall test, is_test test -> 0 <= passes counts test <= 1.
Proof.
  induction counts as [|m counts IH]; intros test T; [apply T|]. simpl.
  pose proof (keep_range m).
  assert (A := IH (fun l => test (true :: l)) ltac:(intros l; apply T)).
  assert (B := IH (fun l => test (false :: l)) ltac:(intros l; apply T)).
  cbv beta in A, B. split; nra.
Qed.

Lemma passes_le counts : forall test other, (forall l, test l <= other l) ->
  passes counts test <= passes counts other.
Proof.
  induction counts as [|m counts IH]; intros test other H; [apply H|]. simpl.
  pose proof (keep_range m).
  apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply IH; intros l; apply H.
Qed.

Lemma passes_scale counts a : forall test, passes counts (fun l => a * test l) = a * passes counts test.
Proof.
  induction counts as [|m counts IH]; intros test; [reflexivity|]. simpl.
  rewrite (IH (fun l => test (true :: l))), (IH (fun l => test (false :: l))). ring.
Qed.

(** If the number of people changes in one group, two inequalities are enough. *)
Lemma kept_otherwise before m m' after :
  keep m' <= exp eps * keep m + delta -> 1 - keep m' <= exp eps * (1 - keep m) + delta ->
  forall test, is_test test ->
  passes (before ++ m' :: after) test <= exp eps * passes (before ++ m :: after) test + delta.
Proof.
  intros U D. pose proof exp_eps as E. induction before as [|k before IH]; intros test T.
  - assert (A := passes_range after (fun l => test (true :: l)) ltac:(intros l; apply T)).
    assert (B := passes_range after (fun l => test (false :: l)) ltac:(intros l; apply T)).
    cbn [app passes].
    set (a := passes after (fun l => test (true :: l))) in *.
    set (b := passes after (fun l => test (false :: l))) in *.
    set (x := keep m' - exp eps * keep m). set (y := 1 - keep m' - exp eps * (1 - keep m)).
    assert (X : x <= delta) by (unfold x; lra). assert (Y : y <= delta) by (unfold y; lra).
    assert (XY : x + y <= 0) by (unfold x, y; lra).
    assert (a * x + b * y <= delta).
    { clearbody a b x y. destruct (Rle_lt_dec x 0); [destruct (Rle_lt_dec y 0)|]; nra. }
    unfold x, y in *. lra.
  - simpl. pose proof (keep_range k).
    assert (A := IH (fun l => test (true :: l)) ltac:(intros l; apply T)).
    assert (B := IH (fun l => test (false :: l)) ltac:(intros l; apply T)).
    cbv beta in A, B. nra.
Qed.

(** One more person in one group. *)
Theorem kept_more before m after test : is_test test ->
  passes (before ++ S m :: after) test <= exp eps * passes (before ++ m :: after) test + delta.
Proof.
  pose proof exp_eps. pose proof (keep_range m). pose proof (keep_rises m).
  apply kept_otherwise; [apply keep_up|nra].
Qed.

(** One person fewer. *)
Theorem kept_fewer before m after test : is_test test ->
  passes (before ++ m :: after) test <= exp eps * passes (before ++ S m :: after) test + delta.
Proof.
  pose proof exp_eps. pose proof (keep_range (S m)). pose proof (keep_rises m).
  apply kept_otherwise; [nra|apply keep_down].
Qed.

(** One person added to a group, or removed. *)
Definition one_person (c c' : list nat) : Prop :=
  exists before m after, (c = before ++ S m :: after /\ c' = before ++ m :: after)
                         \/ (c = before ++ m :: after /\ c' = before ++ S m :: after).

Theorem kept_approx_dp c c' test : one_person c c' -> is_test test ->
  passes c test <= exp eps * passes c' test + delta.
Proof.
  intros (before & m & after & [[-> ->]|[-> ->]]) T; [now apply kept_more|now apply kept_fewer].
Qed.

(** A later question about the kept groups, which may depend on them. *)
Theorem kept_then_pure_dp c c' test test' more : one_person c c' -> 0 <= more ->
  is_test test -> is_test test' -> (forall l, test l <= exp more * test' l) ->
  passes c test <= exp (eps + more) * passes c' test' + delta.
Proof.
  intros N M T T' H.
  set (both := fun l => Rmin 1 (exp more * test' l)).
  assert (B : is_test both).
  { intros l. unfold both. split; [|apply Rmin_l]. apply Rmin_glb; [lra|].
    apply Rmult_le_pos; [left; apply exp_pos|apply T']. }
  eapply Rle_trans; [apply (passes_le c test both)|].
  { intros l. unfold both. apply Rmin_glb; [apply T|apply H]. }
  eapply Rle_trans; [now apply (kept_approx_dp c c' both)|].
  assert (passes c' both <= exp more * passes c' test').
  { rewrite <- passes_scale. apply passes_le. intros l. apply Rmin_r. }
  rewrite exp_plus. pose proof exp_eps.
  assert (exp eps * passes c' both <= exp eps * (exp more * passes c' test'))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** Several groups gain or lose one person each. *)
Inductive changed : nat -> list nat -> list nat -> Prop :=
  | changed_none : changed 0 [] []
  | changed_not j m c c' : changed j c c' -> changed j (m :: c) (m :: c')
  | changed_one j m m' c c' : m' = S m \/ m = S m' -> changed j c c' -> changed (S j) (m :: c) (m' :: c').

Lemma coin_moves m m' a b : m' = S m \/ m = S m' -> 0 <= a <= 1 -> 0 <= b <= 1 ->
  keep m * a + (1 - keep m) * b <= exp eps * (keep m' * a + (1 - keep m') * b) + delta.
Proof.
  intros M A B. pose proof exp_eps.
  pose proof (kept_otherwise [] m' m []) as K. cbn [app passes] in K.
  assert (T : is_test (fun l => match l with true :: _ => a | _ => b end))
    by (intros [|[|] l]; lra).
  specialize (fun U D => K U D _ T). cbv beta iota in K. apply K.
  - pose proof (keep_range m). pose proof (keep_range m'). destruct M as [->| ->].
    + pose proof (keep_rises m). nra.
    + apply keep_up.
  - pose proof (keep_range m). pose proof (keep_range m'). destruct M as [->| ->].
    + apply keep_down.
    + pose proof (keep_rises m'). nra.
Qed.

Theorem kept_changed j c c' more : changed j c c' -> forall test test', is_test test -> is_test test' ->
  (forall l, test l <= exp more * test' l) ->
  passes c test <= exp (INR j * eps + more) * passes c' test' + INR j * delta.
Proof.
  induction 1 as [|j m c c' _ IH|j m m' c c' M _ IH]; intros test test' T T' H.
  - simpl. rewrite Rmult_0_l, Rplus_0_l. specialize (H []). lra.
  - cbn [passes]. pose proof (keep_range m).
    assert (A := IH (fun l => test (true :: l)) (fun l => test' (true :: l))
                   ltac:(intros l; apply T) ltac:(intros l; apply T') ltac:(intros l; apply H)).
    assert (B := IH (fun l => test (false :: l)) (fun l => test' (false :: l))
                   ltac:(intros l; apply T) ltac:(intros l; apply T') ltac:(intros l; apply H)).
    cbv beta in A, B. nra.
  - cbn [passes]. pose proof (keep_range m) as K. pose proof (keep_range m') as K'.
    assert (A := IH (fun l => test (true :: l)) (fun l => test' (true :: l))
                   ltac:(intros l; apply T) ltac:(intros l; apply T') ltac:(intros l; apply H)).
    assert (B := IH (fun l => test (false :: l)) (fun l => test' (false :: l))
                   ltac:(intros l; apply T) ltac:(intros l; apply T') ltac:(intros l; apply H)).
    assert (A1 := passes_range c (fun l => test (true :: l)) ltac:(intros l; apply T)).
    assert (B1 := passes_range c (fun l => test (false :: l)) ltac:(intros l; apply T)).
    assert (A0 := passes_range c' (fun l => test' (true :: l)) ltac:(intros l; apply T')).
    assert (B0 := passes_range c' (fun l => test' (false :: l)) ltac:(intros l; apply T')).
    cbv beta in A, B, A1, B1, A0, B0.
    set (x := passes c (fun l => test (true :: l))) in *.
    set (y := passes c (fun l => test (false :: l))) in *.
    set (x' := passes c' (fun l => test' (true :: l))) in *.
    set (y' := passes c' (fun l => test' (false :: l))) in *.
    set (E := exp (INR j * eps + more)) in *. assert (P : 0 < E) by apply exp_pos.
    set (D := INR j * delta) in *.
    assert (HD : 0 <= D) by (apply Rmult_le_pos; [apply pos_INR | lra]).
    set (a := Rmin 1 (E * x')). set (b := Rmin 1 (E * y')).
    assert (RA : 0 <= a <= 1)
      by (split; [apply Rmin_glb; [lra | apply Rmult_le_pos; lra] | apply Rmin_l]).
    assert (RB : 0 <= b <= 1)
      by (split; [apply Rmin_glb; [lra | apply Rmult_le_pos; lra] | apply Rmin_l]).
    assert (XA : x <= a + D) by (unfold a, Rmin; destruct Rle_dec; lra).
    assert (YB : y <= b + D) by (unfold b, Rmin; destruct Rle_dec; lra).
    assert (AX : a <= E * x') by apply Rmin_r. assert (BY : b <= E * y') by apply Rmin_r.
    pose proof (coin_moves m m' a b M RA RB) as C.
    rewrite S_INR. replace ((INR j + 1) * eps + more) with (eps + (INR j * eps + more)) by ring.
    rewrite exp_plus. fold E. replace ((INR j + 1) * delta) with (D + delta) by (unfold D; ring).
    assert (S1 : keep m * x + (1 - keep m) * y <= keep m * a + (1 - keep m) * b + D) by nra.
    assert (S2 : keep m' * a + (1 - keep m') * b <= E * (keep m' * x' + (1 - keep m') * y')) by nra.
    assert (S3 : exp eps * (keep m' * a + (1 - keep m') * b)
                 <= exp eps * (E * (keep m' * x' + (1 - keep m') * y')))
      by (apply Rmult_le_compat_l; [left; apply exp_pos | exact S2]).
    lra.
Qed.

(** Replacing a person, by way of the table without that person. *)
Theorem kept_replace c c1 c' test : one_person c c1 -> one_person c1 c' -> is_test test ->
  passes c test <= exp (2 * eps) * passes c' test + delta * (1 + exp eps).
Proof.
  intros N N' T. assert (A := kept_approx_dp c c1 test N T).
  assert (B := kept_approx_dp c1 c' test N' T). pose proof exp_eps.
  replace (2 * eps) with (eps + eps) by ring. rewrite exp_plus.
  assert (exp eps * passes c1 test <= exp eps * (exp eps * passes c' test + delta))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
End Rule.
