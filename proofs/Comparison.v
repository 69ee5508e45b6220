(** docs/proofs/sampling.md, lemmas 3 and 6 as programs: a uniform number known by its
    first bits is compared with a number that balls enclose. *)
From Coq Require Import Reals Lra Lia List Arith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Machine Programs UniformBelow.
Import ListNotations.
Open Scope R_scope.

(** ** If every round preserves bounds, they hold for the repetition *)

Section Invariant.
Context {S A : Type}.
Variable body : S -> program (S + A).
Variable f : A -> R.
Hypothesis f_nonneg : forall a, 0 <= f a.

Definition with_value (V : S -> R) (r : S + A) : R :=
  match r with inr a => f a | inl s => V s end.

Lemma iterate_upper (V : S -> R) : (forall s, 0 <= V s) ->
  (forall s n, mass n (body s) (with_value V) <= V s) ->
  forall n s, mass n (iterate body s) f <= V s.
Proof.
  intros V0 H.
  assert (R : forall n p, mass n (resume body p) f <= mass n p (with_value V)).
  { induction n as [|n IH]; intros [[s|a]|k|p]; try (cbn; lra).
    - cbn. apply V0.
    - cbn. eapply Rle_trans; [apply IH | apply H].
    - cbn. rewrite fair_value. pose proof (IH (k true)). pose proof (IH (k false)). lra.
    - cbn. apply IH. }
  intros n s. eapply Rle_trans; [apply R | apply H].
Qed.

(** Each round takes [k] steps; [W j] is certain after j rounds. *)
Lemma iterate_lower (k : nat) (W : nat -> S -> R) :
  (forall s, W O s <= mass k (body s) (with_value (fun _ => 0))) ->
  (forall j s, W (1 + j)%nat s <= mass k (body s) (with_value (W j))) ->
  forall j s, W j s <= mass ((1 + j) * (k + 1))%nat (iterate body s) f.
Proof.
  intros H0 HS. induction j as [|j IH]; intros s; unfold iterate; rewrite mass_resume.
  - eapply Rle_trans; [apply H0|].
    eapply Rle_trans; [|apply (mass_grows_to (k + 0)); [exact f_nonneg | lia]].
    eapply Rle_trans; [|apply (mass_bind_ge k 0 _ _ f f_nonneg)].
    apply mass_le. intros [s'|a]; cbn; lra.
  - eapply Rle_trans; [apply (HS j)|].
    replace ((1 + Datatypes.S j) * (k + 1))%nat
      with (k + Datatypes.S ((1 + j) * (k + 1)))%nat by lia.
    eapply Rle_trans; [|apply (mass_bind_ge k _ _ _ f f_nonneg)].
    apply mass_le. intros [s'|a]; cbn [with_value].
    + rewrite mass_later. apply IH.
    + rewrite mass_return. lra.
Qed.
End Invariant.

(** ** The part of an interval *)

(** How much of [0, 1) lies below y. *)
Definition clamp (y : R) : R := Rmax 0 (Rmin 1 y).

Ltac clamped := unfold clamp;
  repeat match goal with
  | |- context [Rmin 1 ?y] => destruct (Rle_lt_dec 1 y);
      [rewrite (Rmin_left 1 y) by lra | rewrite (Rmin_right 1 y) by lra]
  | |- context [Rmax 0 ?y] => destruct (Rle_lt_dec 0 y);
      [rewrite (Rmax_right 0 y) by lra | rewrite (Rmax_left 0 y) by lra]
  end; lra.

Lemma clamp_range y : 0 <= clamp y <= 1.
Proof. split; clamped. Qed.
Lemma clamp_half t : (clamp (2 * t - 1) + clamp (2 * t)) / 2 = clamp t.
Proof. clamped. Qed.
Lemma clamp_one y : 1 <= y -> clamp y = 1.
Proof. intros; clamped. Qed.
Lemma clamp_zero y : y <= 0 -> clamp y = 0.
Proof. intros; clamped. Qed.
Lemma clamp_id y : 0 <= y <= 1 -> clamp y = y.
Proof. intros; clamped. Qed.
Lemma clamp_shift y d : 0 <= d -> clamp y - d <= clamp (y - d).
Proof. intros; clamped. Qed.

(** The words that extend [v] divide its interval. *)
Lemma average_below w v y : average w v (fun V => clamp (2 ^ w * y - INR V)) = clamp (y - INR v).
Proof.
  revert v y. induction w as [|w IH]; intros v y.
  - cbn. f_equal. ring.
  - cbn [average].
    assert (E : forall v', average w v' (fun V => clamp (2 ^ S w * y - INR V))
                           = clamp (2 * y - INR v')).
    { intros v'. rewrite <- IH. f_equal. apply functional_extensionality.
      intros V. f_equal. cbn [pow]. ring. }
    rewrite !E, <- (clamp_half (y - INR v)), !plus_INR, mult_INR. change (INR 2) with 2.
    change (INR 1) with 1. change (INR 0) with 0.
    replace (2 * y - (2 * INR v + 1)) with (2 * (y - INR v) - 1) by ring.
    replace (2 * y - (2 * INR v + 0)) with (2 * (y - INR v)) by ring. reflexivity.
Qed.

Lemma average_above w v y :
  average w v (fun V => clamp (INR V + 1 - 2 ^ w * y)) = clamp (INR v + 1 - y).
Proof.
  revert v y. induction w as [|w IH]; intros v y.
  - cbn. f_equal. ring.
  - cbn [average].
    assert (E : forall v', average w v' (fun V => clamp (INR V + 1 - 2 ^ S w * y))
                           = clamp (INR v' + 1 - 2 * y)).
    { intros v'. rewrite <- IH. f_equal. apply functional_extensionality.
      intros V. f_equal. cbn [pow]. ring. }
    rewrite !E, <- (clamp_half (INR v + 1 - y)), !plus_INR, mult_INR. change (INR 2) with 2.
    change (INR 1) with 1. change (INR 0) with 0.
    replace (2 * INR v + 1 + 1 - 2 * y) with (2 * (INR v + 1 - y)) by ring.
    replace (2 * INR v + 0 + 1 - 2 * y) with (2 * (INR v + 1 - y) - 1) by ring.
    rewrite (Rplus_comm (clamp (2 * _))). reflexivity.
Qed.

(** ** Lemma 3 *)

Section Comparison.
(** The number [c], and for every width a ball around 2^w c of a radius below 1
    (the code's is below 2^-30). *)
Variable c : R.
Variables low high : nat -> R.
Hypothesis encloses : forall w, low w <= 2 ^ w * c <= high w.
Hypothesis narrow : forall w, 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1.

(** [step] bits are drawn whenever the ball does not decide. *)
Variable step : nat.
Hypothesis step_pos : (1 <= step)%nat.

(** The state is (w, U): u lies in [U 2^-w, (U + 1) 2^-w). *)
Definition ask (state : nat * nat) : program (nat * nat + bool) :=
  let (w, U) := state in
  if Rle_dec (INR U + 1) (low w) then Return (inr true)
  else if Rle_dec (high w) (INR U) then Return (inr false)
  else bind (word step U) (fun V => Return (inl ((w + step)%nat, V))).

Definition is_below (w U : nat) : program bool := iterate ask (w, U).

(** The answer is right: "below" is answered only if the whole interval lies below. *)
Theorem is_below_right w U n (answer : bool) :
  ask (w, U) = Return (inr answer) -> INR U <= n < INR U + 1 ->
  if answer then n < 2 ^ w * c else 2 ^ w * c <= n.
Proof.
  unfold ask. pose proof (encloses w). intros E H'. destruct Rle_dec as [L|L].
  - injection E as <-. lra.
  - destruct Rle_dec as [G|G]; [injection E as <-; lra|].
    destruct step as [|s]; [lia|]. cbn in E. exfalso.
    assert (D : forall (p q : program (nat * nat + bool)), p = q ->
      (match p with Return _ => true | _ => false end)
      = (match q with Return _ => true | _ => false end)) by (intros; now subst).
    apply D in E. cbn in E. discriminate.
Qed.

(** With a radius below one half, at most two words of each width stay undecided. *)
Theorem few_undecided w U : high w - low w < 1 ->
  low w < INR U + 1 -> INR U < high w ->
  low w < INR (U + 2) + 1 -> INR (U + 2) < high w -> False.
Proof. intros. rewrite plus_INR in *. simpl in *. lra. Qed.

Definition part_of (b : bool) (w U : nat) (slack : R) : R :=
  if b then clamp (2 ^ w * c - slack - INR U) else clamp (INR U + 1 - (2 ^ w * c + slack)).

Definition says (b b' : bool) : R := if Bool.eqb b b' then 1 else 0.

Lemma says_nonneg b b' : 0 <= says b b'.
Proof. unfold says. destruct Bool.eqb; lra. Qed.

Lemma extend b w U slack :
  mass step (bind (word step U) (fun V => Return (inl ((w + step)%nat, V))))
    (with_value (says b) (fun s => part_of b (fst s) (snd s) slack))
  = part_of b w U (slack / 2 ^ step).
Proof.
  assert (P : 2 ^ step <> 0) by (apply pow_nonzero; lra).
  rewrite mass_map, mass_word. unfold part_of; cbn [fst snd with_value]. destruct b.
  - rewrite <- (average_below step). f_equal. apply functional_extensionality. intros V.
    f_equal. rewrite pow_add. field. exact P.
  - rewrite <- (average_above step). f_equal. apply functional_extensionality. intros V.
    f_equal. rewrite pow_add. field. exact P.
Qed.

Definition slack (j : nat) : R := 2 / (2 ^ step) ^ j.

Lemma slack_pos j : 0 < slack j.
Proof. apply Rdiv_lt_0_compat; [lra|]. apply pow_lt, pow_lt; lra. Qed.

Lemma part_range b w U d : 0 <= part_of b w U d <= 1.
Proof. unfold part_of. destruct b; apply clamp_range. Qed.

Lemma decided_upper b n w U :
  mass n (ask (w, U)) (with_value (says b) (fun s => part_of b (fst s) (snd s) 0))
  <= part_of b w U 0.
Proof.
  unfold ask. pose proof (encloses w).
  destruct Rle_dec as [L|L]; [|destruct Rle_dec as [G|G]].
  - rewrite mass_return. cbn. destruct b; cbn; [rewrite clamp_one; lra | apply clamp_range].
  - rewrite mass_return. cbn. destruct b; cbn; [apply clamp_range | rewrite clamp_one; lra].
  - apply Rle_trans with (part_of b w U (0 / 2 ^ step));
      [|unfold Rdiv; rewrite Rmult_0_l; lra].
    rewrite <- extend.
    apply Rle_trans with (mass (n + step) (bind (word step U)
      (fun V => Return (inl ((w + step)%nat, V))))
      (with_value (says b) (fun s => part_of b (fst s) (snd s) 0))).
    + apply mass_grows_to; [|lia]. intros [s|a]; [apply part_range | apply says_nonneg].
    + rewrite !mass_map.
      rewrite (mass_word step). apply law_above; [|apply law_word].
      intros V. apply part_range.
Qed.

Lemma decided_lower b w U d (V : nat * nat -> R) : 0 <= d ->
  (forall s, V s = part_of b (fst s) (snd s) d) ->
  part_of b w U (d / 2 ^ step) <= mass step (ask (w, U)) (with_value (says b) V).
Proof.
  intros D E. assert (D' : 0 <= d / 2 ^ step).
  { apply Rmult_le_pos; [exact D|]. apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra. }
  unfold ask. pose proof (encloses w).
  destruct Rle_dec as [L|L]; [|destruct Rle_dec as [G|G]].
  - rewrite mass_return. cbn. destruct b; cbn; [apply clamp_range|].
    rewrite clamp_zero; lra.
  - rewrite mass_return. cbn. destruct b; cbn; [|apply clamp_range].
    rewrite clamp_zero; lra.
  - rewrite <- extend. apply mass_le. intros [s|a]; cbn [with_value]; [rewrite E; lra|lra].
Qed.

Lemma decided_first b w U :
  part_of b w U (slack 0) <= mass step (ask (w, U)) (with_value (says b) (fun _ => 0)).
Proof.
  unfold slack. simpl pow. replace (2 / 1) with 2 by field.
  assert (Z : forall x, 0 <= mass step x (with_value (says b) (fun _ : nat * nat => 0))).
  { intros x. apply mass_nonneg. intros [s|a]; cbn; [lra | apply says_nonneg]. }
  unfold part_of, ask. pose proof (encloses w). pose proof (narrow w). destruct b.
  - destruct Rle_dec as [L|L].
    + rewrite mass_return. cbn. apply clamp_range.
    + rewrite clamp_zero by lra. destruct Rle_dec; apply Z.
  - destruct Rle_dec as [L|L].
    + rewrite clamp_zero by lra. apply Z.
    + destruct Rle_dec as [G|G].
      * rewrite mass_return. cbn. apply clamp_range.
      * rewrite clamp_zero by lra. apply Z.
Qed.

(** The answer "below" has exactly the probability that u < c, given the first bits. *)
Theorem is_below_law w U (b : bool) :
  has_law (is_below w U) (says b)
    (clamp (if b then 2 ^ w * c - INR U else INR U + 1 - 2 ^ w * c)).
Proof.
  replace (clamp (if b then 2 ^ w * c - INR U else INR U + 1 - 2 ^ w * c))
    with (part_of b w U 0) by (unfold part_of; destruct b; f_equal; ring).
  apply law_sandwich; [| |apply says_nonneg].
  - intros n. apply (iterate_upper ask (says b) (fun s => part_of b (fst s) (snd s) 0)).
    + intros s. apply part_range.
    + intros [w' U'] m. apply decided_upper.
  - intros e He.
    assert (P : 2 <= 2 ^ step).
    { replace 2 with (2 ^ 1) at 1 by ring. apply Rle_pow; [lra|exact step_pos]. }
    assert (J : exists j, slack j <= e).
    { destruct (pow_lt_1_zero (/ 2 ^ step)) with (y := e / 2) as [j J].
      - rewrite Rabs_pos_eq by (apply Rlt_le, Rinv_0_lt_compat; lra).
        rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
      - lra.
      - exists j. specialize (J j (le_n j)). apply Rabs_def2 in J.
        unfold slack. rewrite pow_inv in J. unfold Rdiv in *. lra. }
    destruct J as [j J]. exists ((1 + j) * (step + 1))%nat.
    apply Rle_trans with (part_of b w U (slack j)).
    { pose proof (slack_pos j). unfold part_of. destruct b.
      - pose proof (clamp_shift (2 ^ w * c - 0 - INR U) (slack j) ltac:(lra)).
        replace (2 ^ w * c - slack j - INR U) with (2 ^ w * c - 0 - INR U - slack j) by ring.
        lra.
      - pose proof (clamp_shift (INR U + 1 - (2 ^ w * c + 0)) (slack j) ltac:(lra)).
        replace (INR U + 1 - (2 ^ w * c + slack j))
          with (INR U + 1 - (2 ^ w * c + 0) - slack j) by ring.
        lra. }
    change (part_of b w U (slack j))
      with ((fun j s => part_of b (fst s) (snd s) (slack j)) j (w, U)).
    apply (iterate_lower ask (says b) (says_nonneg b) step).
    + intros [w' U']. apply decided_first.
    + intros i [w' U']. cbn [fst snd].
      replace (slack (1 + i)) with (slack i / 2 ^ step).
      * apply decided_lower; [apply Rlt_le, slack_pos | reflexivity].
      * unfold slack. simpl pow. field. split; [apply pow_nonzero, pow_nonzero | apply pow_nonzero]; lra.
Qed.
End Comparison.
