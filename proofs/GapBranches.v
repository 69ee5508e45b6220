(** docs/proofs/sampling.md, lemma 4, branch by branch: floats at ordinary, huge and tiny
    scales, integers, and exact rationals. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Relative Plus_error Mult_error.
From Discreet Require Import Machine Floats Gaps.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

(** The promise of lemma 4 about a float for gamma. *)
Definition good_gap (floated gamma : R) : Prop :=
  (gamma <= 599 -> Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90) /\
  (599 < gamma -> 598 <= floated).

Lemma zero_small s : 0 < s -> Rabs 0 <= / 2 ^ 100 * s.
Proof.
  intros. rewrite Rabs_R0. apply Rmult_le_pos; [|lra].
  apply Rlt_le, Rinv_0_lt_compat, pow2_pos.
Qed.

Lemma gap_nonneg best value s : value <= best -> 0 < s -> 0 <= (best - value) / s.
Proof. intros. apply Rmult_le_pos; [lra|]. now apply Rlt_le, Rinv_0_lt_compat. Qed.

Lemma inv_pow2_pos k : 0 < / 2 ^ k.
Proof. apply Rinv_0_lt_compat, pow2_pos. Qed.

(** ** Powers of two *)

Lemma bpow_pos k : bpow radix2 (Z.of_nat k) = 2 ^ k.
Proof. now rewrite bpow_powerRZ, <- pow_powerRZ. Qed.

(** Multiplying by 2^200 is exact. *)
Lemma lift_exact x : format x -> fl (x * 2 ^ 200) = x * 2 ^ 200.
Proof.
  intros F. apply round_generic; auto with typeclass_instances.
  rewrite <- (bpow_pos 200). now apply mult_bpow_pos_exact_FLT.
Qed.

(** Multiplying by 2^-200 is exact, or off by at most half of the least float. *)
Lemma shrink x : format x -> Rabs (fl (x * / 2 ^ 200) - x * / 2 ^ 200) <= tiny.
Proof.
  intros F. rewrite <- (bpow_neg 200).
  destruct (Req_dec x 0) as [->|N].
  { rewrite Rmult_0_l. unfold fl. rewrite round_0 by auto with typeclass_instances.
    rewrite Rminus_0_r, Rabs_R0. apply Rlt_le, tiny_pos. }
  destruct (Z_le_dec (emin + prec - mag radix2 x) (- Z.of_nat 200)) as [L|L].
  - assert (G : format (x * bpow radix2 (- Z.of_nat 200))) by now apply mult_bpow_exact_FLT.
    unfold fl. rewrite round_generic by (auto with typeclass_instances).
    rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rlt_le, tiny_pos.
  - eapply Rle_trans; [apply error_le_half_ulp; auto with typeclass_instances|].
    rewrite (ulp_FLT_small radix2 emin prec); [rewrite tiny_bpow; lra|].
    apply Rlt_le_trans with (bpow radix2 (mag radix2 (x * bpow radix2 (- Z.of_nat 200)))).
    + apply bpow_mag_gt.
    + apply bpow_le. rewrite mag_mult_bpow by exact N. lia.
Qed.

(** ** Floats, |e| <= 900 *)

Theorem floats_middle best value s factor :
  format best -> format value -> value <= best ->
  / 2 ^ 901 <= s -> - u <= factor * s - 1 <= u ->
  good_gap (cut_before factor (fl (best - value))) ((best - value) / s).
Proof.
  intros B V H S F. pose proof (s_positive s S) as P.
  destruct (rounding_minus best value B V) as (e1 & H1 & E1).
  assert (D : fl (best - value) = (best - value) / s * s * (1 + e1) + 0)
    by (rewrite E1; field; lra).
  pose proof (gap_nonneg best value s H P) as G. pose proof (zero_small s P) as Z.
  split.
  - now apply (cut_before_near _ s factor _ e1 0).
  - now apply (cut_before_far _ s factor _ e1 0).
Qed.

(** ** Floats, e < -900: the rounded difference is multiplied by 2^200 *)

Theorem floats_low best value s factor :
  format best -> format value -> value <= best ->
  / 2 ^ 1101 <= s -> - u <= factor * (s * 2 ^ 200) - 1 <= u ->
  good_gap (cut_before factor (fl (fl (best - value) * 2 ^ 200))) ((best - value) / s).
Proof.
  intros B V H S F.
  assert (P : 0 < s) by (pose proof (inv_pow2_pos 1101); lra).
  assert (S' : / 2 ^ 901 <= s * 2 ^ 200).
  { apply Rle_trans with (/ 2 ^ 1101 * 2 ^ 200).
    - rewrite (inv_pow2_split 901 200 1101), Rmult_assoc, Rinv_l by
        (reflexivity || apply Rgt_not_eq, pow2_pos). lra.
    - apply Rmult_le_compat_r; [apply Rlt_le, pow2_pos | exact S]. }
  destruct (rounding_minus best value B V) as (e1 & H1 & E1).
  assert (G1 : format (fl (best - value)))
    by (apply generic_format_round; auto with typeclass_instances).
  assert (D : fl (fl (best - value) * 2 ^ 200)
              = (best - value) / s * (s * 2 ^ 200) * (1 + e1) + 0).
  { rewrite (lift_exact _ G1), E1. field. lra. }
  assert (P' : 0 < s * 2 ^ 200) by (apply Rmult_lt_0_compat; [lra | apply pow2_pos]).
  pose proof (gap_nonneg best value s H P) as G. pose proof (zero_small _ P') as Z.
  split.
  - now apply (cut_before_near _ (s * 2 ^ 200) factor _ e1 0).
  - now apply (cut_before_far _ (s * 2 ^ 200) factor _ e1 0).
Qed.

(** For e < -1100 the code uses -1100; a difference of floats is zero or at least 2^-1074. *)
Lemma difference_large best value : format best -> format value -> value < best ->
  / 2 ^ 1074 <= best - value.
Proof.
  intros B V H. rewrite <- (bpow_neg 1074).
  apply generic_format_FIX_FLT, FIX_format_generic in B as [fb -> Eb].
  apply generic_format_FIX_FLT, FIX_format_generic in V as [fv -> Ev].
  unfold F2R in *. rewrite Eb, Ev in *. change (- Z.of_nat 1074)%Z with emin.
  pose proof (bpow_gt_0 radix2 emin) as P.
  rewrite <- Rmult_minus_distr_r, <- minus_IZR.
  assert (Fnum fv < Fnum fb)%Z by (apply lt_IZR; nra).
  assert (1 <= IZR (Fnum fb - Fnum fv)) by (apply IZR_le; lia).
  rewrite <- (Rmult_1_l (bpow radix2 emin)) at 1. apply Rmult_le_compat_r; lra.
Qed.

Theorem floats_lowest best value s factor :
  format best -> format value -> value <= best ->
  0 < s <= / 2 ^ 1100 -> 2 ^ 898 <= factor <= 2 ^ 902 ->
  let floated := cut_before factor (fl (fl (best - value) * 2 ^ 200)) in
  let gamma := (best - value) / s in
  (floated = 0 /\ gamma = 0) \/ (598 <= floated /\ 2 ^ 25 <= gamma).
Proof.
  intros B V H S F floated gamma.
  assert (G1 : format (fl (best - value)))
    by (apply generic_format_round; auto with typeclass_instances).
  unfold floated, cut_before. rewrite (lift_exact _ G1).
  pose proof u_small as Us. pose proof (pow2_pos 898) as P898.
  set (limit := fl (600 / factor)).
  assert (L : 599 <= limit * factor).
  { unfold limit. destruct (rounding (600 / factor)) as (e & t & He & Ht & ->).
    replace ((600 / factor * (1 + e) + t) * factor) with (600 * (1 + e) + t * factor)
      by (field; lra).
    assert (T10 : tiny * factor <= / 2 ^ 10).
    { apply Rle_trans with (tiny * 2 ^ 902).
      - apply Rmult_le_compat_l; [apply Rlt_le, tiny_pos | lra].
      - unfold tiny. rewrite (inv_pow2_split 173 902 1075) by reflexivity.
        rewrite Rmult_assoc, Rinv_l by apply Rgt_not_eq, pow2_pos.
        rewrite Rmult_1_r. apply inv_pow_le; lia. }
    assert (- (tiny * factor) <= t * factor) by (rewrite Ropp_mult_distr_l;
      apply Rmult_le_compat_r; lra).
    simpl (2 ^ 10) in T10. lra. }
  destruct (Rle_lt_or_eq_dec value best H) as [D|D].
  - right. pose proof (difference_large best value B V D) as X. split.
    + destruct (rounding_minus best value B V) as (e1 & H1 & E1).
      assert (Y : 599 <= fl (best - value) * 2 ^ 200 * factor).
      { rewrite E1.
        apply Rle_trans with (/ 2 ^ 1074 * (1 / 2) * 2 ^ 200 * 2 ^ 898).
        - rewrite (inv_pow2_split 200 874 1074) by reflexivity.
          replace (/ 2 ^ 200 * / 2 ^ 874 * (1 / 2) * 2 ^ 200 * 2 ^ 898)
            with (1 / 2 * (/ 2 ^ 874 * 2 ^ 898) * (/ 2 ^ 200 * 2 ^ 200)) by ring.
          rewrite (Rinv_l (2 ^ 200)) by apply Rgt_not_eq, pow2_pos.
          assert (Q : / 2 ^ 874 * 2 ^ 898 = 16777216).
          { rewrite (pow2_split 874 24 898) by reflexivity.
            rewrite <- Rmult_assoc, Rinv_l by apply Rgt_not_eq, pow2_pos. ring. }
          rewrite Q. lra.
        - pose proof (inv_pow2_pos 1074). pose proof (pow2_pos 200).
          apply Rmult_le_compat; [| lra | | lra].
          + apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra].
          + apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra. }
      assert (M : 599 <= Rmin (fl (best - value) * 2 ^ 200) limit * factor).
      { unfold Rmin. destruct Rle_dec; [exact Y | exact L]. }
      set (g := Rmin _ _ * factor) in *. clearbody g.
      destruct (rounding g) as (e & t & He & Ht & ->).
      assert (T : tiny <= / 2 ^ 1) by (apply inv_pow_le; lia). simpl in T.
      assert (599 * (1 - u) <= g * (1 + e)) by (apply Rmult_le_compat; lra). lra.
    + unfold gamma. apply (Rmult_le_reg_r s); [lra|].
      replace ((best - value) / s * s) with (best - value) by (field; lra).
      eapply Rle_trans; [|exact X].
      apply Rle_trans with (2 ^ 25 * / 2 ^ 1100).
      * apply Rmult_le_compat_l; [apply Rlt_le, pow2_pos | lra].
      * rewrite (inv_pow2_split 25 1075 1100), <- Rmult_assoc, Rinv_r, Rmult_1_l by
          (reflexivity || apply Rgt_not_eq, pow2_pos). apply inv_pow_le; lia.
  - left. subst value. unfold gamma.
    rewrite Rminus_diag_eq by reflexivity. unfold fl at 2.
    rewrite round_0, Rmult_0_l by auto with typeclass_instances.
    rewrite Rmin_left.
    + rewrite Rmult_0_l. unfold fl. rewrite round_0 by auto with typeclass_instances.
      split; [reflexivity|]. unfold Rdiv. ring.
    + apply (Rmult_le_reg_r factor); lra.
Qed.

(** ** Floats, e > 900: both scores are first multiplied by 2^-200 *)

Definition shrunk (best value : R) : R := fl (fl (best * / 2 ^ 200) - fl (value * / 2 ^ 200)).

Lemma shrunk_close best value : format best -> format value -> exists e t,
  - u <= e <= u /\ Rabs t <= 4 * tiny /\
  shrunk best value = (best - value) * / 2 ^ 200 * (1 + e) + t.
Proof.
  intros B V. unfold shrunk.
  pose proof (shrink best B) as X. pose proof (shrink value V) as Y.
  apply Rabs_le_inv in X. apply Rabs_le_inv in Y.
  destruct (rounding_minus (fl (best * / 2 ^ 200)) (fl (value * / 2 ^ 200)))
    as (e & He & ->); try (apply generic_format_round; auto with typeclass_instances).
  exists e, ((fl (best * / 2 ^ 200) - best * / 2 ^ 200
             - (fl (value * / 2 ^ 200) - value * / 2 ^ 200)) * (1 + e)).
  split; [exact He|]. split; [|ring].
  pose proof u_small. pose proof tiny_pos.
  set (d := fl (best * / 2 ^ 200) - best * / 2 ^ 200
            - (fl (value * / 2 ^ 200) - value * / 2 ^ 200)) in *.
  assert (- (2 * tiny) <= d <= 2 * tiny) by (unfold d; lra).
  apply Rabs_le. nra.
Qed.

Theorem floats_high best value s factor :
  format best -> format value -> value <= best ->
  2 ^ 800 <= s -> - u <= factor * (s * / 2 ^ 200) - 1 <= u ->
  good_gap (cut_before factor (shrunk best value)) ((best - value) / s).
Proof.
  intros B V H S F. pose proof (pow2_pos 800) as P8.
  assert (P : 0 < s) by lra.
  assert (S' : 2 ^ 600 <= s * / 2 ^ 200).
  { apply (Rmult_le_reg_r (2 ^ 200)); [apply pow2_pos|].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by apply Rgt_not_eq, pow2_pos.
    now rewrite <- (pow2_split 600 200 800) by reflexivity. }
  assert (One : 1 <= 2 ^ 600) by (apply pow_R1_Rle; lra).
  destruct (shrunk_close best value B V) as (e1 & t1 & H1 & T1 & E1).
  assert (L : / 2 ^ 901 <= s * / 2 ^ 200).
  { apply Rle_trans with (/ 2 ^ 0); [apply inv_pow_le; lia|]. simpl. lra. }
  assert (Z : Rabs t1 <= / 2 ^ 100 * (s * / 2 ^ 200)).
  { eapply Rle_trans; [exact T1|]. apply Rle_trans with (/ 2 ^ 100 * 1).
    - assert (4 * tiny = / 2 ^ 1073).
      { unfold tiny. rewrite (inv_pow2_split 2 1073 1075) by reflexivity. simpl (2 ^ 2). lra. }
      rewrite H0, Rmult_1_r. apply inv_pow_le; lia.
    - apply Rmult_le_compat_l; [apply Rlt_le, inv_pow2_pos | lra]. }
  assert (D : shrunk best value = (best - value) / s * (s * / 2 ^ 200) * (1 + e1) + t1)
    by (rewrite E1; field; lra).
  pose proof (gap_nonneg best value s H P) as G.
  split.
  - now apply (cut_before_near _ (s * / 2 ^ 200) factor _ e1 t1).
  - now apply (cut_before_far _ (s * / 2 ^ 200) factor _ e1 t1).
Qed.

(** For e > 1120 the code uses 1120; scores are finite floats, below 2^1024. *)
Theorem floats_highest best value s factor :
  format best -> format value -> value <= best ->
  Rabs best <= 2 ^ 1024 -> Rabs value <= 2 ^ 1024 ->
  2 ^ 1120 <= s -> 0 < factor <= / 2 ^ 918 ->
  let floated := cut_before factor (shrunk best value) in
  let gamma := (best - value) / s in
  0 <= gamma <= / 2 ^ 95 /\ 0 <= floated <= / 2 ^ 91 /\
  Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90.
Proof.
  intros B V H RB RV S F floated gamma.
  apply Rabs_le_inv in RB. apply Rabs_le_inv in RV.
  pose proof (pow2_pos 1024) as P1024. pose proof (pow2_pos 1120) as P1120.
  pose proof (inv_pow2_pos 918) as P918. pose proof u_small as Us. pose proof tiny_pos as TP.
  assert (P : 0 < s) by lra.
  assert (G : 0 <= gamma <= / 2 ^ 95).
  { split; [now apply gap_nonneg|]. unfold gamma. apply (Rmult_le_reg_r s); [exact P|].
    replace ((best - value) / s * s) with (best - value) by (field; lra).
    apply Rle_trans with (/ 2 ^ 95 * 2 ^ 1120).
    - rewrite (pow2_split 95 1025 1120) by reflexivity.
      rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by apply Rgt_not_eq, pow2_pos.
      rewrite (pow2_split 1 1024 1025) by reflexivity. simpl (2 ^ 1). lra.
    - apply Rmult_le_compat_l; [apply Rlt_le, inv_pow2_pos | exact S]. }
  assert (D0 : 0 <= shrunk best value).
  { unfold shrunk. apply fl_nonneg.
    assert (fl (value * / 2 ^ 200) <= fl (best * / 2 ^ 200)); [|lra].
    apply round_le; auto with typeclass_instances.
    apply Rmult_le_compat_r; [apply Rlt_le, inv_pow2_pos | exact H]. }
  assert (D1 : shrunk best value <= 2 ^ 826).
  { destruct (shrunk_close best value B V) as (e & t & He & Ht & ->).
    apply Rabs_le_inv in Ht.
    assert (X : (best - value) * / 2 ^ 200 <= 2 ^ 825).
    { apply (Rmult_le_reg_r (2 ^ 200)); [apply pow2_pos|].
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r by apply Rgt_not_eq, pow2_pos.
      rewrite <- (pow2_split 825 200 1025) by reflexivity.
      rewrite (pow2_split 1 1024 1025) by reflexivity. simpl (2 ^ 1). lra. }
    assert (0 <= (best - value) * / 2 ^ 200)
      by (apply Rmult_le_pos; [lra | apply Rlt_le, inv_pow2_pos]).
    assert ((best - value) * / 2 ^ 200 * (1 + e) <= 2 ^ 825 * (1 + / 1000000))
      by (apply Rmult_le_compat; lra).
    assert (1 <= 2 ^ 825) by (apply pow_R1_Rle; lra).
    assert (T10 : tiny <= / 2 ^ 10) by (apply inv_pow_le; lia). simpl (2 ^ 10) in T10.
    rewrite (pow2_split 1 825 826) by reflexivity. simpl (2 ^ 1). lra. }
  assert (M : 0 <= Rmin (shrunk best value) (fl (600 / factor)) <= 2 ^ 826).
  { split.
    - apply Rmin_glb; [exact D0|]. apply fl_nonneg, Rmult_le_pos; [lra|].
      apply Rlt_le, Rinv_0_lt_compat; lra.
    - eapply Rle_trans; [apply Rmin_l | exact D1]. }
  assert (Q : 2 ^ 826 * / 2 ^ 918 = / 2 ^ 92).
  { rewrite (inv_pow2_split 826 92 918) by reflexivity.
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l; [reflexivity | apply Rgt_not_eq, pow2_pos]. }
  assert (Two : / 2 ^ 91 = 2 * / 2 ^ 92).
  { rewrite (inv_pow2_split 91 1 92) by reflexivity. simpl (2 ^ 1). lra. }
  assert (Two' : / 2 ^ 90 = 2 * / 2 ^ 91).
  { rewrite (inv_pow2_split 90 1 91) by reflexivity. simpl (2 ^ 1). lra. }
  assert (T92 : tiny <= / 2 ^ 102) by (apply inv_pow_le; lia).
  assert (T102 : / 2 ^ 102 = / 2 ^ 92 * / 1024).
  { rewrite (inv_pow2_split 92 10 102) by reflexivity. do 2 f_equal. ring. }
  pose proof (inv_pow2_pos 92) as P92.
  assert (FL : 0 <= floated <= / 2 ^ 91).
  { unfold floated, cut_before. set (g := Rmin _ _) in *. clearbody g.
    assert (0 <= g * factor <= / 2 ^ 92).
    { split; [apply Rmult_le_pos; lra|]. rewrite <- Q. apply Rmult_le_compat; lra. }
    split; [apply fl_nonneg; lra|].
    destruct (rounding (g * factor)) as (e & t & He & Ht & ->).
    assert (g * factor * (1 + e) <= / 2 ^ 92 * (1 + / 1000000))
      by (apply Rmult_le_compat; lra).
    lra. }
  split; [exact G|]. split; [exact FL|].
  assert (/ 2 ^ 95 <= / 2 ^ 91) by (apply inv_pow_le; lia).
  assert (0 <= / 2 ^ 51 * gamma)
    by (apply Rmult_le_pos; [apply Rlt_le, inv_pow2_pos | lra]).
  apply Rabs_le. lra.
Qed.
