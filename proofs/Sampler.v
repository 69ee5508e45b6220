(** docs/proofs/sampling.md: from the float gaps of lemma 4 and the accuracy of [exp] to the
    coins of lemma 6, and with them theorem 1: for scores and a scale that satisfy lemma 4, the program
    returns r with exactly the probability of permute-and-flip. The assumptions about the machine are the
    argument [m], from Machine.v, and ideal bits. *)
From Coq Require Import Reals ZArith Lra Lia List Arith.
From Flocq Require Import Core.
From Discreet Require Import Common Mechanism Machine Floats GapBranches Thresholds
  Programs Comparison Heads.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.

(** ** The family [Heads]: chances e^(-gamma), as floats *)

(** 2^k e^(-gamma), computed; multiplying by a power of two is exact. *)
Definition float_chance (m : machine) (scale floated : R) : R :=
  scale * float_exp m (- floated).

Lemma exp_above d : 1 + d <= exp d.
Proof.
  destruct (Req_dec d 0) as [->|N]; [rewrite exp_0; lra|]. apply Rlt_le, exp_ineq1, N.
Qed.

Lemma exp_near d : Rabs d <= / 1024 -> Rabs (exp d - 1) <= Rabs d * (1 + 2 * Rabs d).
Proof.
  intros D. pose proof (exp_above d) as L. pose proof (exp_above (- d)) as M.
  apply Rabs_le_inv in D.
  assert (U : exp d * (1 - d) <= 1).
  { apply Rle_trans with (exp d * exp (- d)).
    - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | lra].
    - rewrite <- exp_plus, Rplus_opp_r, exp_0. lra. }
  assert (V : exp d <= 1 + d + 2 * (d * d)).
  { apply (Rmult_le_reg_r (1 - d)); [lra|]. eapply Rle_trans; [exact U|].
    assert (0 <= d * d) by nra.
    assert (0 <= d * d * (1 - 2 * d)) by (apply Rmult_le_pos; lra). lra. }
  assert (S : 0 <= d * d) by nra.
  apply Rabs_le. destruct (Rle_dec 0 d).
  - rewrite (Rabs_pos_eq d) by lra. split; lra.
  - rewrite (Rabs_left d) by lra. split; [lra|].
    assert (d * d <= - d * / 1024) by nra. lra.
Qed.

(** The promise of lemma 6 at phi = 1: relative error 2^-43, or both below 2^-70. *)
Theorem heads_promise (m : machine) scale gamma floated :
  0 < scale <= 2 ^ 130 -> 0 <= gamma -> good_gap floated gamma ->
  format floated -> 0 <= floated <= 601 ->
  let x := scale * exp (- gamma) in
  let x_hat := float_chance m scale floated in
  0 <= x_hat /\
  (Rabs (x_hat - x) <= / 2 ^ 43 * x \/ (x <= / 2 ^ 70 /\ x_hat <= / 2 ^ 70)).
Proof.
  intros K G [Near Far] Fm R x x_hat.
  assert (A : Rabs (float_exp m (- floated) - exp (- floated)) <= / 2 ^ 49 * exp (- floated)).
  { rewrite <- (Rabs_pos_eq (exp (- floated))) at 2 by apply Rlt_le, exp_pos.
    apply exp_accurate; [now apply generic_format_opp | lra]. }
  pose proof (exp_pos (- floated)) as E0. pose proof (exp_pos (- gamma)) as G0.
  assert (I49 : 0 < / 2 ^ 49 <= / 1000000).
  { split; [apply inv_pow2_pos|]. apply Rle_trans with (/ 2 ^ 20);
      [apply inv_pow_le; lia | apply Rinv_le; simpl; lra]. }
  assert (H0 : 0 <= x_hat).
  { apply Rabs_le_inv in A. apply Rmult_le_pos; [lra|]. nra. }
  split; [exact H0|].
  assert (I51 : / 2 ^ 51 = 4 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (U49 : / 2 ^ 49 = 16 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (U43 : / 2 ^ 43 = 1024 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (I90 : / 2 ^ 90 <= u).
  { unfold u. apply inv_pow_le; lia. }
  assert (Us : 0 < u <= / 1000000000000) by (rewrite u_value; lra).
  destruct (Rle_dec gamma 140) as [S|S].
  - left. specialize (Near ltac:(lra)).
    set (d := gamma - floated).
    assert (D : Rabs d <= 561 * u).
    { unfold d. rewrite Rabs_minus_sym. eapply Rle_trans; [exact Near|]. rewrite I51.
      assert (u * gamma <= u * 140) by (apply Rmult_le_compat_l; lra). lra. }
    assert (Ex : exp (- floated) = exp (- gamma) * exp d)
      by (rewrite <- exp_plus; f_equal; unfold d; ring).
    pose proof (exp_near d ltac:(lra)) as N. pose proof (Rabs_pos d) as D0.
    assert (N2 : Rabs (exp d - 1) <= 562 * u) by nra.
    rewrite Ex in A. apply Rabs_le_inv in N2. apply Rabs_le_inv in A.
    rewrite U49 in A.
    unfold x_hat, float_chance, x.
    replace (scale * float_exp m (- floated) - scale * exp (- gamma))
      with (scale * (float_exp m (- floated) - exp (- gamma))) by ring.
    rewrite Rabs_mult, (Rabs_pos_eq scale), U43 by lra.
    replace (1024 * u * (scale * exp (- gamma))) with (scale * (1024 * u * exp (- gamma))) by ring.
    apply Rmult_le_compat_l; [lra|].
    set (g := exp (- gamma)) in *. set (f := float_exp m (- floated)) in *.
    assert (Y : g * exp d <= g * (1 + 562 * u)) by (apply Rmult_le_compat_l; lra).
    assert (Y' : g * (1 - 562 * u) <= g * exp d) by (apply Rmult_le_compat_l; lra).
    set (z := g * exp d) in *. clearbody z f.
    assert (UG : 0 < u * g) by (apply Rmult_lt_0_compat; lra).
    assert (UUG : u * (u * g) <= / 1000000000000 * (u * g)) by (apply Rmult_le_compat_r; lra).
    assert (u * z <= u * (g * (1 + 562 * u))) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le. split; lra.
  - right.
    assert (F : 1399 / 10 <= floated).
    { destruct (Rle_dec gamma 599) as [L|L]; [|specialize (Far ltac:(lra)); lra].
      specialize (Near L). apply Rabs_le_inv in Near. rewrite I51 in Near.
      assert (u * gamma <= / 1000000000000 * gamma) by (apply Rmult_le_compat_r; lra). lra. }
    assert (E : exp (- (1399 / 10)) <= / 2 ^ 201).
    { rewrite <- exp_ln2. pose proof ln2_below as LN. unfold ln2_above in LN.
      assert (INR 201 = 201) by (simpl; ring).
      destruct (Rle_lt_or_eq_dec (- (1399 / 10)) (- (INR 201 * ln 2))) as [Q|Q]; [nra| |].
      - now apply Rlt_le, exp_increasing.
      - rewrite Q. lra. }
    assert (Mono : forall y, 1399 / 10 <= y -> exp (- y) <= / 2 ^ 201).
    { intros y Y. eapply Rle_trans; [|exact E].
      destruct (Rle_lt_or_eq_dec (1399 / 10) y Y) as [Q|Q].
      - apply Rlt_le, exp_increasing. lra.
      - rewrite Q. lra. }
    assert (P : 2 ^ 130 * / 2 ^ 201 = / 2 ^ 71).
    { rewrite (Gaps.inv_pow2_split 130 71 201) by reflexivity.
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l; [reflexivity | apply Rgt_not_eq, pow2_pos]. }
    assert (Q : / 2 ^ 70 = 2 * / 2 ^ 71).
    { rewrite (Gaps.inv_pow2_split 70 1 71) by reflexivity. simpl (2 ^ 1). lra. }
    pose proof (inv_pow2_pos 71) as P71. pose proof (inv_pow2_pos 201) as P201.
    split.
    + apply Rle_trans with (2 ^ 130 * / 2 ^ 201); [|lra].
      apply Rmult_le_compat; [lra|lra|lra|]. apply Mono. lra.
    + apply Rabs_le_inv in A. pose proof (Mono floated F) as MF.
      apply Rle_trans with (2 ^ 130 * (2 * / 2 ^ 201)); [|lra].
      apply Rmult_le_compat; [lra| |lra|].
      * nra.
      * assert (/ 2 ^ 49 * exp (- floated) <= / 1000000 * exp (- floated))
          by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** ** The sampler *)

(** The decision of the floats about the word [U]: tails, heads, or undecided. *)
Definition float_guess (x_hat : R) (U : nat) : option bool :=
  let eta := / 2 ^ 43 in
  if Rlt_dec (fl (fl (x_hat * fl (1 + 2 * eta)) + 2)) (fl (INR U)) then Some false
  else if Rlt_dec (fl (INR U)) (fl (fl (x_hat * fl (1 - 2 * eta)) - 2)) then Some true
  else None.

(** The coin of a candidate with the gap [floated], from a word of [w] bits. *)
Definition sampler_coin (m : machine) (floated : R) (low high : nat -> R) (step w : nat) :
    program bool :=
  flip low high step w (float_guess (float_chance m (2 ^ w) floated)).

Theorem sampler_coin_law m gamma floated low high step w :
  (w <= 130)%nat -> (1 <= step)%nat -> 0 <= gamma -> good_gap floated gamma ->
  format floated -> 0 <= floated <= 601 ->
  (forall w, low w <= 2 ^ w * exp (- gamma) <= high w) ->
  (forall w, 2 ^ w * exp (- gamma) - 1 <= low w /\ high w <= 2 ^ w * exp (- gamma) + 1) ->
  is_coin (sampler_coin m floated low high step w) (exp (- gamma)).
Proof.
  intros W S G Good Fm R E N.
  assert (W2 : 0 < 2 ^ w <= 2 ^ 130)
    by (split; [apply pow2_pos | apply Rle_pow; [lra | exact W]]).
  destruct (heads_promise m (2 ^ w) gamma floated W2 G Good Fm R) as [H0 P].
  assert (X0 : 0 <= 2 ^ w * exp (- gamma))
    by (apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos]).
  assert (Eta : / 2 ^ 43 <= / 2 ^ 43 <= 1 / 4).
  { split; [lra|]. apply Rle_trans with (/ 2 ^ 2); [apply inv_pow_le; lia | simpl; lra]. }
  apply flip_law; auto.
  - split; [apply Rlt_le, exp_pos|].
    destruct (Req_dec gamma 0) as [->|Z]; [rewrite Ropp_0, exp_0; lra|].
    rewrite <- exp_0. apply Rlt_le, exp_increasing. lra.
  - intros U. unfold float_guess. destruct Rlt_dec as [L|L];
      [|destruct Rlt_dec; discriminate].
    intros _. apply (lemma_6_tails _ (float_chance m (2 ^ w) floated) _ (fl (INR U)) (/ 2 ^ 43));
      auto using pos_INR.
  - intros U. unfold float_guess. destruct Rlt_dec as [L|L]; [discriminate|].
    destruct Rlt_dec as [L'|L']; [|discriminate].
    intros _. apply (lemma_6_heads _ (float_chance m (2 ^ w) floated) _ (fl (INR U)) (/ 2 ^ 43));
      auto using pos_INR.
Qed.

Theorem sampler_law m s n q floated low high step w r :
  0 < s -> (w <= 130)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  let gamma t := (best n q - q t) / s in
  (forall t, (t < n)%nat -> good_gap (floated t) (gamma t) /\ format (floated t) /\
     0 <= floated t <= 601) ->
  (forall t w, low t w <= 2 ^ w * exp (- gamma t) <= high t w) ->
  (forall t w, 2 ^ w * exp (- gamma t) - 1 <= low t w /\
               high t w <= 2 ^ w * exp (- gamma t) + 1) ->
  has_law (head_or_none (fun t => sampler_coin m (floated t) (low t) (high t) step w)
             (candidates n)) (is_answer r) (pf s n q r).
Proof.
  intros P W S R gamma F E N. apply uniform_head_program_law; [exact R|].
  intros t T. destruct (F t T) as (Good & Fm & B).
  replace (coin s n q t) with (exp (- gamma t))
    by (unfold coin, gamma; f_equal; unfold Rdiv; ring).
  apply sampler_coin_law; auto.
  apply gap_nonneg; [now apply best_ge | exact P].
Qed.
