(** One-shot top-k: docs/proofs/top-k.md. Each candidate gets one exponential noise value, and the answer is
    the k largest noisy scores in order.

    With y a noisy score and v = exp (- y / s), candidate r's v has the density a r on
    [0, 1 / a r], a r = exp (q r / s). The answer is r :: o if r's v is below those of o, in order, and these
    are below all others: [one_shot_from] integrates over r's v first. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP.
Import ListNotations.
Open Scope R_scope.

Definition top_score (q : nat -> R) (r : nat) (l : list nat) : R :=
  fold_right (fun t m => Rmax (q t) m) (q r) l.

(** The probability that the noisy scores of [o] come next in this order, given that all of [o] and [rest] lie
    below the noisy score of v. *)
Fixpoint one_shot_from (s : R) (q : nat -> R) (rest o : list nat) (v : R) : R :=
  match o with
  | [] => prod rest (fun t => 1 - v * exp (q t / s))
  | r :: o => exp (q r / s) *
              int (one_shot_from s q rest o) v (exp (- top_score q r (o ++ rest) / s))
  end.

Definition without_all (o l : list nat) : list nat :=
  filter (fun t => negb (existsb (Nat.eqb t) o)) l.
Definition one_shot (s : R) (n : nat) (q : nat -> R) (o : list nat) : R :=
  one_shot_from s q (without_all o (candidates n)) o 0.

Lemma cont_int_from (f : R -> R) b : cont f -> cont (fun v => int f v b).
Proof.
  intros F x.
  apply (continuous_ext (fun v => int f 0 b - int f 0 v)).
  { intros v. rewrite (int_chasles f 0 v b) by exact F. simpl. ring. }
  apply (cont_minus (fun _ => int f 0 b) (fun v => int f 0 v)); [cont|].
  intros y. apply (ex_derive_continuous (fun v => int f 0 v)). exists (f y).
  apply (is_derive_RInt f (fun v => int f 0 v) 0 y).
  - apply filter_forall. intros z. apply (RInt_correct f), int_ex, F.
  - apply F.
Qed.

Lemma one_shot_cont s q rest o : cont (one_shot_from s q rest o).
Proof.
  induction o as [|r o IH]; cbn [one_shot_from].
  - apply (cont_prod _ (fun t v => 1 - v * exp (q t / s))); intros t. cont.
  - apply (cont_mult (fun _ => exp (q r / s))); [cont|]. now apply cont_int_from.
Qed.

Lemma top_score_ge q r l t : In t l \/ t = r -> q t <= top_score q r l.
Proof.
  intros H. induction l as [|x l IH]; cbn [top_score fold_right].
  - destruct H as [[]| ->]. lra.
  - fold (top_score q r l). destruct H as [[->|H]|H].
    + apply Rmax_l.
    + eapply Rle_trans; [apply IH; now left | apply Rmax_r].
    + eapply Rle_trans; [apply IH; now right | apply Rmax_r].
Qed.

Lemma top_score_le q r l m : q r <= m -> (forall t, In t l -> q t <= m) -> top_score q r l <= m.
Proof.
  intros R H. induction l as [|x l IH]; cbn [top_score fold_right]; [exact R|].
  apply Rmax_lub; [apply H; now left | apply IH; intros; apply H; now right].
Qed.

Section Shot.
Variable s : R.
Hypothesis s_pos : 0 < s.

(** v may be as large as exp (- y / s) for the largest score y among those that follow. *)
Definition reaches (q : nat -> R) (l : list nat) (v : R) : Prop :=
  0 <= v /\ forall t, In t l -> v * exp (q t / s) <= 1.

Lemma reach_top q r l v : 0 <= v -> v <= exp (- top_score q r l / s) ->
  reaches q (r :: l) v.
Proof.
  intros V H. split; [exact V|]. intros t Ht.
  assert (T : q t <= top_score q r l) by (apply top_score_ge; destruct Ht; auto).
  apply Rle_trans with (exp (- top_score q r l / s) * exp (q t / s)).
  - apply Rmult_le_compat_r; [apply Rlt_le, exp_pos | exact H].
  - rewrite <- exp_plus, <- exp_0. apply exp_le.
    replace (- top_score q r l / s + q t / s) with ((q t - top_score q r l) / s)
      by (field; lra).
    replace 0 with (0 / s) by (field; lra). apply div_le; [exact s_pos | lra].
Qed.

Lemma reaches_top q r l v : reaches q (r :: l) v -> v <= exp (- top_score q r l / s).
Proof.
  intros [V H].
  destruct (Rle_lt_or_eq_dec 0 v V) as [P|<-]; [|apply Rlt_le, exp_pos].
  rewrite <- (exp_ln v) by exact P. apply exp_le.
  apply (Rmult_le_reg_r s); [exact s_pos|].
  replace (- top_score q r l / s * s) with (- top_score q r l) by (field; lra).
  cut (top_score q r l <= - (ln v * s)); [lra|].
  assert (A : forall t, In t (r :: l) -> q t <= - (ln v * s)).
  { intros t Ht. specialize (H t Ht).
    rewrite <- (exp_ln v) in H by exact P. rewrite <- exp_plus, <- exp_0 in H.
    assert (E : ln v + q t / s <= 0).
    { apply Rnot_lt_le. intros N. apply exp_increasing in N. lra. }
    apply (Rmult_le_compat_r s) in E; [|lra].
    rewrite Rmult_plus_distr_r in E. replace (q t / s * s) with (q t) in E by (field; lra). lra. }
  apply top_score_le; [apply A; now left | intros; apply A; now right].
Qed.

Lemma one_shot_nonneg q rest o v : reaches q (o ++ rest) v -> 0 <= one_shot_from s q rest o v.
Proof.
  revert v. induction o as [|r o IH]; intros v R; cbn [one_shot_from].
  - apply prod_nonneg. intros t Ht. pose proof (proj2 R t Ht). lra.
  - apply Rmult_le_pos; [apply Rlt_le, exp_pos|].
    apply int_nonneg; [apply reaches_top; exact R | apply one_shot_cont |].
    intros w W. apply IH.
    destruct (reach_top q r (o ++ rest) w ltac:(destruct R; lra) (proj2 W)) as [A B].
    split; [exact A|]. intros t Ht. apply B. now right.
Qed.

(** If scores fall by at most d, the probability falls by at most a factor exp (d / s) for each of the k. *)
Lemma one_shot_sandwich q q' d rest o v :
  (forall t, In t (o ++ rest) -> q t - d <= q' t <= q t) -> reaches q (o ++ rest) v ->
  one_shot_from s q rest o v <= exp (INR (length o) * (d / s)) * one_shot_from s q' rest o v.
Proof.
  revert v. induction o as [|r o IH]; intros v H R; cbn [one_shot_from].
  - simpl INR. rewrite Rmult_0_l, exp_0, Rmult_1_l. apply prod_le. intros t Ht.
    pose proof (proj2 R t Ht). specialize (H t Ht). split; [lra|].
    assert (exp (q' t / s) <= exp (q t / s)) by (apply exp_le, div_le; lra).
    assert (v * exp (q' t / s) <= v * exp (q t / s))
      by (apply Rmult_le_compat_l; [apply R | lra]). lra.
  - cbn [length]. rewrite S_INR.
    set (T := exp (- top_score q r (o ++ rest) / s)).
    set (T' := exp (- top_score q' r (o ++ rest) / s)).
    assert (VT : v <= T) by (apply reaches_top; exact R).
    assert (TT : T <= T').
    { apply exp_le, div_le; [exact s_pos|]. apply Ropp_le_contravar.
      apply top_score_le.
      - eapply Rle_trans; [apply H; now left | apply top_score_ge; now right].
      - intros t Ht. eapply Rle_trans; [apply H; now right | apply top_score_ge; now left]. }
    set (K := exp (INR (length o) * (d / s))). assert (KP : 0 < K) by apply exp_pos.
    assert (A : int (one_shot_from s q rest o) v T <= K * int (one_shot_from s q' rest o) v T').
    { rewrite (int_chasles (one_shot_from s q' rest o) v T T') by apply one_shot_cont.
      apply Rle_trans with (K * int (one_shot_from s q' rest o) v T).
      - rewrite <- int_scal by apply one_shot_cont.
        apply int_le; [exact VT | apply one_shot_cont | |].
        + apply (cont_mult (fun _ => K)); [cont | apply one_shot_cont].
        + intros w W. apply IH.
          * intros t Ht. apply H. now right.
          * destruct (reach_top q r (o ++ rest) w ltac:(destruct R; lra) (proj2 W)) as [B C].
            split; [exact B|]. intros t Ht. apply C. now right.
      - apply Rmult_le_compat_l; [lra|].
        cut (0 <= int (one_shot_from s q' rest o) T T'); [lra|].
        apply int_nonneg; [exact TT | apply one_shot_cont |]. intros w W. apply one_shot_nonneg.
        assert (0 < T) by apply exp_pos.
        destruct (reach_top q' r (o ++ rest) w ltac:(lra) (proj2 W)) as [B C].
        split; [exact B|]. intros t Ht. apply C. now right. }
    assert (E : exp (q r / s) <= exp (d / s) * exp (q' r / s)).
    { rewrite <- exp_plus. apply exp_le.
      replace (d / s + q' r / s) with ((d + q' r) / s) by (field; lra).
      apply div_le; [exact s_pos|]. specialize (H r (or_introl eq_refl)). lra. }
    assert (N : 0 <= int (one_shot_from s q rest o) v T).
    { apply int_nonneg; [exact VT | apply one_shot_cont |]. intros w W. apply one_shot_nonneg.
      destruct (reach_top q r (o ++ rest) w ltac:(destruct R; lra) (proj2 W)) as [B C].
      split; [exact B|]. intros t Ht. apply C. now right. }
    rewrite Rmult_plus_distr_r, Rmult_1_l, exp_plus. fold K.
    replace (K * exp (d / s) * (exp (q' r / s) * int (one_shot_from s q' rest o) v T'))
      with (exp (d / s) * exp (q' r / s) * (K * int (one_shot_from s q' rest o) v T')) by ring.
    apply Rmult_le_compat; auto. apply Rlt_le, exp_pos.
Qed.

(** A constant added to all scores changes nothing. *)
Lemma top_score_shift q c r l : top_score (fun t => q t + c) r l = top_score q r l + c.
Proof.
  unfold top_score. induction l as [|x l IH]; simpl; [reflexivity|].
  rewrite IH. unfold Rmax; do 2 destruct Rle_dec; lra.
Qed.

Lemma one_shot_shift q c rest o v :
  one_shot_from s (fun t => q t + c) rest o v = one_shot_from s q rest o (exp (c / s) * v).
Proof.
  assert (X : forall t, exp ((q t + c) / s) = exp (q t / s) * exp (c / s)).
  { intros t. rewrite <- exp_plus. f_equal. field. lra. }
  revert v. induction o as [|r o IH]; intros v; cbn [one_shot_from].
  - apply prod_ext. intros t _. rewrite X. ring.
  - rewrite X, top_score_shift, Rmult_assoc. f_equal.
    set (k := exp (c / s)).
    rewrite (int_ext _ (fun w => one_shot_from s q rest o (k * w))) by exact IH.
    set (T := exp (- top_score q r (o ++ rest) / s)).
    assert (E : T = k * exp (- (top_score q r (o ++ rest) + c) / s)).
    { unfold T, k. rewrite <- exp_plus. f_equal. field. lra. }
    rewrite E. set (b := exp (- (top_score q r (o ++ rest) + c) / s)).
    replace (k * v) with (k * v + 0) by ring. replace (k * b) with (k * b + 0) by ring.
    rewrite <- int_scal.
    + unfold int at 2. rewrite <- (RInt_comp_lin (one_shot_from s q rest o) k 0 v b)
        by apply int_ex, one_shot_cont.
      apply int_ext. intros w. unfold scal; simpl; unfold mult; simpl. now rewrite Rplus_0_r.
    + intros w. apply (continuous_comp (fun u => k * u) (one_shot_from s q rest o)).
      * apply (cont_mult (fun _ => k) (fun u => u)); cont.
      * apply one_shot_cont.
Qed.

Theorem one_shot_pure_dp n q q' d o : (forall t, In t o -> (t < n)%nat) ->
  range_distance n q q' d ->
  one_shot s n q o <= exp (INR (length o) * (d / s)) * one_shot s n q' o.
Proof.
  intros O H. destruct (range_distance_between n q q' d H) as (m & M).
  unfold one_shot. set (rest := without_all o (candidates n)).
  replace (one_shot_from s q' rest o 0)
    with (one_shot_from s (fun t => q' t + - (m + d)) rest o 0)
    by (rewrite one_shot_shift; f_equal; ring).
  apply one_shot_sandwich.
  - intros t Ht. assert (T : (t < n)%nat).
    { apply in_app_or in Ht as [Ht|Ht]; [now apply O|].
      apply filter_In in Ht as [Ht _]. now apply in_candidates. }
    specialize (M t T). lra.
  - split; [lra|]. intros t _. rewrite Rmult_0_l. lra.
Qed.

(** With one answer it is permute-and-flip. *)
Theorem one_shot_one n q r : (r < n)%nat -> one_shot s n q [r] = pf s n q r.
Proof.
  intros Hr. rewrite pf_raw. unfold one_shot. cbn [one_shot_from app].
  assert (E : without_all [r] (candidates n) = others n r).
  { unfold without_all, others, without. apply filter_ext. intros t. simpl.
    now rewrite orb_false_r. }
  rewrite E. f_equal.
  replace (top_score q r (others n r)) with (best n q); [reflexivity|].
  apply Rle_antisym.
  - apply best_le; [lia|]. intros t Ht. apply top_score_ge.
    destruct (Nat.eq_dec t r); [now right | left; now apply in_others].
  - apply top_score_le; [now apply best_ge|]. intros t Ht. apply in_others in Ht as [Ht _].
    now apply best_ge.
Qed.
End Shot.
