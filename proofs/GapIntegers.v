(** docs/proofs/sampling.md, lemma 4: scores that are integers or exact rationals. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Discreet Require Import Machine Floats Gaps GapBranches.
Open Scope R_scope.

(** In arithmetic modulo 2^64 the difference of two 64-bit integers, signed or unsigned, is right if it is not
    negative. *)
Theorem difference_modulo (best value : Z) : (0 <= best - value < 2 ^ 64)%Z ->
  ((best mod 2 ^ 64 - value mod 2 ^ 64) mod 2 ^ 64 = best - value)%Z.
Proof.
  intros H. rewrite <- Zminus_mod. apply Z.mod_small. exact H.
Qed.

(** [e] is cut to [-900, 1000]; inside, factor is 1/s up to one rounding. *)
Theorem integers_middle (d : Z) s factor : (0 <= d)%Z ->
  / 2 ^ 901 <= s -> - u <= factor * s - 1 <= u ->
  good_gap (cut_after factor (fl (IZR d))) (IZR d / s).
Proof.
  intros D S F. pose proof (s_positive s S) as P.
  destruct (rounding (IZR d)) as (e1 & t1 & H1 & T1 & E1).
  assert (X : fl (IZR d) = IZR d / s * s * (1 + e1) + t1) by (rewrite E1; field; lra).
  assert (G : 0 <= IZR d / s).
  { apply Rmult_le_pos; [now apply IZR_le|]. now apply Rlt_le, Rinv_0_lt_compat. }
  assert (Z : Rabs t1 <= / 2 ^ 100 * s).
  { apply Rle_trans with tiny; [apply Rabs_le; lra|].
    apply Rle_trans with (/ 2 ^ 100 * / 2 ^ 901).
    - rewrite <- (inv_pow2_split 100 901 1001) by reflexivity. apply inv_pow_le; lia.
    - apply Rmult_le_compat_l; [apply Rlt_le, inv_pow2_pos | exact S]. }
  split.
  - now apply (cut_after_near _ s factor _ e1 t1).
  - now apply (cut_after_far _ s factor _ e1 t1).
Qed.

Lemma fl_zero : fl 0 = 0.
Proof. unfold fl. apply round_0. auto with typeclass_instances. Qed.

Theorem integers_low (d : Z) s factor : (0 <= d)%Z ->
  0 < s <= / 2 ^ 900 -> 2 ^ 898 <= factor ->
  let floated := cut_after factor (fl (IZR d)) in
  let gamma := IZR d / s in
  (floated = 0 /\ gamma = 0) \/ (598 <= floated /\ 2 ^ 900 <= gamma).
Proof.
  intros D S F floated gamma. unfold floated, gamma, cut_after.
  pose proof u_small as Us. pose proof (pow2_pos 898) as P8.
  destruct (Z.eq_dec d 0) as [->|N].
  - left. rewrite fl_zero, Rmult_0_l, fl_zero, Rmin_left by lra.
    split; [reflexivity|]. unfold Rdiv. ring.
  - right. assert (D1 : 1 <= IZR d) by (apply IZR_le; lia). split.
    + apply Rmin_glb; [|lra].
      assert (T : tiny <= / 2 ^ 10) by (apply inv_pow_le; lia). simpl in T.
      pose proof tiny_pos.
      assert (X : 1 / 2 <= fl (IZR d)).
      { destruct (rounding (IZR d)) as (e & t & He & Ht & ->). nra. }
      assert (Big : 2 ^ 20 <= 2 ^ 898) by (apply Rle_pow; [lra|lia]).
      assert (K : 2 ^ 20 = 1048576) by ring.
      assert (Y : 1 / 2 * 1048576 <= fl (IZR d) * factor) by (apply Rmult_le_compat; lra).
      destruct (rounding (fl (IZR d) * factor)) as (e & t & He & Ht & ->). nra.
    + apply (Rmult_le_reg_r s); [lra|].
      replace (IZR d / s * s) with (IZR d) by (field; lra).
      apply Rle_trans with (2 ^ 900 * / 2 ^ 900).
      * apply Rmult_le_compat_l; [apply Rlt_le, pow2_pos | lra].
      * rewrite Rinv_r by apply Rgt_not_eq, pow2_pos. exact D1.
Qed.

Theorem integers_high (d : Z) s factor : (0 <= d < 2 ^ 64)%Z ->
  2 ^ 1000 <= s -> 0 < factor <= / 2 ^ 998 ->
  let floated := cut_after factor (fl (IZR d)) in
  let gamma := IZR d / s in
  0 <= gamma <= / 2 ^ 936 /\ 0 <= floated <= / 2 ^ 932 /\
  Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90.
Proof.
  intros [D0 D1] S F floated gamma. pose proof u_small as Us. pose proof tiny_pos as TP.
  pose proof (pow2_pos 1000) as P1000. pose proof (inv_pow2_pos 998) as P998.
  assert (X0 : 0 <= IZR d) by now apply IZR_le.
  assert (X1 : IZR d <= 2 ^ 64).
  { replace (2 ^ 64) with (IZR (2 ^ 64)) by (rewrite (pow_IZR 2 64); reflexivity).
    apply IZR_le. lia. }
  assert (G : 0 <= gamma <= / 2 ^ 936).
  { unfold gamma. split.
    - apply Rmult_le_pos; [exact X0|]. apply Rlt_le, Rinv_0_lt_compat; lra.
    - apply (Rmult_le_reg_r s); [lra|].
      replace (IZR d / s * s) with (IZR d) by (field; lra).
      apply Rle_trans with (/ 2 ^ 936 * 2 ^ 1000).
      + rewrite (pow2_split 936 64 1000) by reflexivity.
        rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l; [exact X1 | apply Rgt_not_eq, pow2_pos].
      + apply Rmult_le_compat_l; [apply Rlt_le, inv_pow2_pos | exact S]. }
  assert (Y : 0 <= fl (IZR d) <= 2 ^ 65).
  { split; [now apply fl_nonneg|].
    destruct (rounding (IZR d)) as (e & t & He & Ht & ->).
    assert (IZR d * (1 + e) <= 2 ^ 64 * (1 + / 1000000)) by (apply Rmult_le_compat; lra).
    assert (1 <= 2 ^ 64) by (apply pow_R1_Rle; lra).
    assert (T : tiny <= / 2 ^ 10) by (apply inv_pow_le; lia). simpl (2 ^ 10) in T.
    rewrite (pow2_split 1 64 65) by reflexivity. simpl (2 ^ 1). lra. }
  assert (Q : 2 ^ 65 * / 2 ^ 998 = / 2 ^ 933).
  { rewrite (inv_pow2_split 65 933 998) by reflexivity.
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l; [reflexivity | apply Rgt_not_eq, pow2_pos]. }
  assert (Two : / 2 ^ 932 = 2 * / 2 ^ 933).
  { rewrite (inv_pow2_split 932 1 933) by reflexivity. simpl (2 ^ 1). lra. }
  assert (T : tiny <= / 2 ^ 943) by (apply inv_pow_le; lia).
  assert (T' : / 2 ^ 943 = / 2 ^ 933 * / 1024).
  { rewrite (inv_pow2_split 933 10 943) by reflexivity. do 2 f_equal. ring. }
  pose proof (inv_pow2_pos 933) as P933.
  assert (FL : 0 <= floated <= / 2 ^ 932).
  { unfold floated, cut_after.
    assert (0 <= fl (IZR d) * factor <= / 2 ^ 933).
    { split; [apply Rmult_le_pos; lra|]. rewrite <- Q. apply Rmult_le_compat; lra. }
    split; [apply Rmin_glb; [apply fl_nonneg; lra | lra]|].
    eapply Rle_trans; [apply Rmin_l|].
    destruct (rounding (fl (IZR d) * factor)) as (e & t & He & Ht & ->).
    assert (fl (IZR d) * factor * (1 + e) <= / 2 ^ 933 * (1 + / 1000000))
      by (apply Rmult_le_compat; lra).
    lra. }
  split; [exact G|]. split; [exact FL|].
  assert (/ 2 ^ 936 <= / 2 ^ 90) by (apply inv_pow_le; lia).
  assert (/ 2 ^ 932 <= / 2 ^ 90) by (apply inv_pow_le; lia).
  assert (0 <= / 2 ^ 51 * gamma)
    by (apply Rmult_le_pos; [apply Rlt_le, inv_pow2_pos | lra]).
  apply Rabs_le. lra.
Qed.

(** Exact rationals are cut at 600 and rounded once. *)
Theorem objects gamma : 0 <= gamma -> good_gap (fl (Rmin gamma 600)) gamma.
Proof.
  intros G. pose proof u_small as Us.
  assert (U : / 2 ^ 51 = 4 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (T : tiny <= / 2 ^ 90) by (apply inv_pow_le; lia).
  assert (T1 : tiny <= / 2 ^ 10) by (apply inv_pow_le; lia). simpl (2 ^ 10) in T1.
  split; intros H.
  - rewrite Rmin_left by lra. destruct (rounding gamma) as (e & t & He & Ht & ->).
    rewrite U. apply Rabs_le.
    assert (- u * gamma <= gamma * e <= u * gamma) by (split; nra). nra.
  - destruct (rounding (Rmin gamma 600)) as (e & t & He & Ht & ->).
    assert (599 <= Rmin gamma 600) by (apply Rmin_glb; lra).
    assert (599 * (1 - u) <= Rmin gamma 600 * (1 + e)) by (apply Rmult_le_compat; lra). lra.
Qed.
