(** docs/proofs/sampling.md, lemma 7: the floats of [_skips] are within the allowance, so the decision by floats
    is right. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Coquelicot Require Rcomplements.
From Discreet Require Import Machine Floats Gaps GapBranches Thresholds Plans Waits.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

Section Skips.
Variables (m : machine) (w word a limit : nat).
Hypothesis w_range : (1 <= w <= 64)%nat.
Hypothesis word_range : (2 ^ (w - 24) <= word < 2 ^ w)%nat.
Hypothesis a_range : (1 <= a <= 62)%nat.
Hypothesis limit_range : (Z.of_nat limit <= 2 ^ 46)%Z.

Let mark := / 2 ^ a.
Let kappa := 1 - mark.

(** What the code computes: the distance, cut at [limit] + 1/2, the allowance, and whether the distance is
    farther than that from its neighbours among the integers. *)
Definition uncut : R := fl (fl (word_log m word - width_log m w) / math_log1p m (- mark)).
Definition distance : R := Rmin uncut (INR limit + 1 / 2).
Definition farthest : R := Rmin (INR limit) (INR w * 2 ^ a).
Definition allowance : R := fl (fl (fl (farthest + 2 ^ a) * / 2 ^ 42) + 2 ^ a * 2 ^ 25 / 2 ^ w).
Definition clear (k : Z) : Prop := Rabs (fl (fl (distance - IZR k) - 1 / 2)) < fl (1 / 2 - allowance).

Lemma cut_exact : format (INR limit + 1 / 2).
Proof.
  replace (INR limit + 1 / 2) with (F2R (Float radix2 (2 * Z.of_nat limit + 1) (-1))).
  - apply generic_format_FLT. exists (Float radix2 (2 * Z.of_nat limit + 1) (-1)); [reflexivity | | simpl; lia].
    cbn [Fnum]. change (2 ^ 46)%Z with 70368744177664%Z in limit_range.
    change (radix2 ^ prec)%Z with 9007199254740992%Z. lia.
  - unfold F2R. cbn [Fnum Fexp]. rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ. change (bpow radix2 (-1)) with (/ 2). field.
Qed.

Lemma mark_range : 0 < mark <= 1 / 2 /\ 2 ^ a * mark = 1 /\ 2 <= 2 ^ a.
Proof.
  assert (A : 2 <= 2 ^ a) by (rewrite <- (pow_1 2) at 1; apply Rle_pow; [lra | lia]).
  unfold mark. split; [split|split; [|exact A]].
  - apply Rinv_0_lt_compat. lra.
  - replace (1 / 2) with (/ 2) by field. apply Rinv_le_contravar; lra.
  - apply Rinv_r. lra.
Qed.

Lemma mark_format : format (- mark).
Proof.
  unfold mark. rewrite <- bpow_neg. apply generic_format_opp, generic_format_bpow. unfold FLT_exp. lia.
Qed.

Section Right.
Variable x : R.
Hypothesis x_range : INR word / 2 ^ w <= x < INR (S word) / 2 ^ w.

Let y := ln x / ln kappa.
Let unknown := 2 ^ 23 / 2 ^ w.

Lemma log_kappa : ln kappa <= - mark /\ 0 < - / ln kappa <= 2 ^ a.
Proof.
  destruct mark_range as (M & E & A). pose proof (exp_ineq1_le (ln kappa)) as I.
  rewrite exp_ln in I by (unfold kappa; lra). assert (L : ln kappa <= - mark) by (unfold kappa in *; lra).
  split; [exact L|]. replace (- / ln kappa) with (/ - ln kappa) by (field; lra). split.
  - apply Rinv_0_lt_compat. lra.
  - replace (2 ^ a) with (/ mark) by (unfold mark; now rewrite Rinv_inv). apply Rinv_le_contravar; lra.
Qed.

Lemma unknown_pos : 0 < unknown.
Proof. apply Rdiv_lt_0_compat; apply pow2_pos. Qed.

Lemma x_pos : 0 < x < 1.
Proof.
  destruct (unknown_bits w word w_range (proj2 word_range) x (proj1 word_range) x_range) as [P _].
  split; [exact P|]. apply Rlt_le_trans with (INR (S word) / 2 ^ w); [apply x_range|].
  destruct (word_bounds w word w_range (proj2 word_range)) as (_ & W & _). rewrite S_INR.
  apply Rmult_le_reg_r with (2 ^ w); [apply pow2_pos|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; [lra|].
  apply Rgt_not_eq, pow2_pos.
Qed.

Lemma y_range : 0 < y <= INR w * 2 ^ a.
Proof.
  destruct log_kappa as (_ & K). destruct x_pos as [X0 X1].
  destruct (word_bounds w word w_range (proj2 word_range)) as (_ & _ & W).
  assert (N : ln x < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (B : - ln x <= INR w).
  { assert (1 <= INR word).
    { assert (A : INR (2 ^ (w - 24)) <= INR word) by (apply le_INR, word_range). rewrite pow_INR in A.
      change (INR 2) with 2 in A. assert (1 <= 2 ^ (w - 24)) by (apply pow_R1_Rle; lra). lra. }
    assert (L : / 2 ^ w <= x).
    { apply Rle_trans with (INR word / 2 ^ w); [|apply x_range]. unfold Rdiv. rewrite <- (Rmult_1_l (/ 2 ^ w)) at 1.
      apply Rmult_le_compat_r; [|lra]. apply Rlt_le, Rinv_0_lt_compat. lra. }
    assert (ln (/ 2 ^ w) <= ln x) by (apply Rcomplements.ln_le; [apply Rinv_0_lt_compat; lra | exact L]).
    rewrite ln_Rinv, ln_pow2 in * by lra. pose proof ln2_most. pose proof ln2_positive. pose proof (pos_INR w).
    assert (INR w * ln 2 <= INR w * 1) by (apply Rmult_le_compat_l; lra). lra. }
  unfold y, Rdiv. replace (ln x * / ln kappa) with (- ln x * (- / ln kappa)) by ring. split.
  - apply Rmult_lt_0_compat; lra.
  - apply Rmult_le_compat; lra.
Qed.

Lemma uncut_close : Rabs (uncut - y) <= 18 * u * y + 2 ^ a * (1530 * u + unknown) * (1 + 18 * u) + tiny.
Proof.
  destruct mark_range as (M & E & A). destruct log_kappa as (LK & K). pose proof y_range as Y.
  pose proof u_range as U. pose proof tiny_most as T. pose proof unknown_pos as UP.
  assert (I49 : / 2 ^ 49 = 16 * u) by (rewrite (inv_pow_u 49 4) by reflexivity; simpl; ring).
  assert (W := word_log_close m w word w_range (proj2 word_range)).
  destruct (unknown_bits w word w_range (proj2 word_range) x (proj1 word_range) x_range) as [_ X].
  fold unknown in X.
  assert (B := math_log1p_accurate m (- mark) mark_format ltac:(lra)).
  replace (1 + - mark) with kappa in B by (unfold kappa; ring). rewrite I49, (Rabs_left (ln kappa)) in B by lra.
  unfold uncut. set (n := fl (word_log m word - width_log m w)). set (d := math_log1p m (- mark)) in *.
  (* the numerator *)
  assert (N : Rabs (n - ln x) <= 1530 * u + unknown).
  { assert (R := round_close (word_log m word - width_log m w)). fold n in R.
    set (c := word_log m word - width_log m w) in *.
    set (v := ln ((INR word + 1 / 2) / 2 ^ w)) in *.
    assert (V : Rabs v <= 4437 / 100).
    { destruct (word_bounds w word w_range (proj2 word_range)) as (W0 & W1 & W2).
      assert (1 <= INR word).
      { assert (Q : INR (2 ^ (w - 24)) <= INR word) by (apply le_INR, word_range). rewrite pow_INR in Q.
        change (INR 2) with 2 in Q. assert (1 <= 2 ^ (w - 24)) by (apply pow_R1_Rle; lra). lra. }
      unfold v. set (z := (INR word + 1 / 2) / 2 ^ w).
      assert (Z0 : / 2 ^ w <= z <= 1).
      { unfold z, Rdiv. split.
        - rewrite <- (Rmult_1_l (/ 2 ^ w)) at 1. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat|]; lra.
        - apply Rmult_le_reg_r with (2 ^ w); [lra|]. rewrite Rmult_assoc, Rinv_l; lra. }
      assert (P : 0 < / 2 ^ w) by (apply Rinv_0_lt_compat; lra).
      assert (Z1 : ln z <= 0) by (rewrite <- ln_1; apply Rcomplements.ln_le; lra).
      assert (Z2 : ln (/ 2 ^ w) <= ln z) by (apply Rcomplements.ln_le; lra).
      rewrite ln_Rinv, ln_pow2 in Z2 by lra. pose proof ln2_most. pose proof ln2_positive.
      assert (INR w <= 64) by (replace 64 with (INR 64) by (simpl; ring); apply le_INR; lia).
      pose proof (pos_INR w).
      assert (INR w * ln 2 <= 64 * (6932 / 10000)) by (apply Rmult_le_compat; lra).
      apply Rabs_le. lra. }
    assert (C : Rabs c <= 445 / 10).
    { apply Rabs_le_inv in W. apply Rabs_le_inv in V. apply Rabs_le. lra. }
    assert (u * Rabs c <= u * (445 / 10)) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le_inv in R. apply Rabs_le_inv in W. apply Rabs_le_inv in X. apply Rabs_le. lra. }
  (* the quotient *)
  set (z := (n - ln x) / ln kappa). set (e := d / ln kappa - 1).
  assert (Z : Rabs z <= 2 ^ a * (1530 * u + unknown)).
  { unfold z, Rdiv. rewrite Rabs_mult, Rmult_comm. rewrite (Rabs_left (/ ln kappa)) by lra.
    apply Rmult_le_compat; [lra | apply Rabs_pos | lra | exact N]. }
  assert (En : Rabs e <= 16 * u).
  { apply Rabs_le_inv in B. unfold e. apply Rabs_le. split; apply Rmult_le_reg_r with (- ln kappa); try lra;
      replace ((d / ln kappa - 1) * - ln kappa) with (- (d - ln kappa)) by (field; lra); lra. }
  assert (Q : n / d = (y + z) / (1 + e)).
  { assert (D1 : d = (1 + e) * ln kappa) by (unfold e; field; lra). apply Rabs_le_inv in En.
    rewrite D1. unfold y, z. field. split; lra. }
  destruct (rounding (n / d)) as (e2 & t & E2 & T2 & ->). rewrite Q.
  set (f := / (1 + e) * (1 + e2)).
  assert (F : Rabs (f - 1) <= 18 * u).
  { apply Rabs_le_inv in En. unfold f.
    assert (I : 1 - 16 * u <= / (1 + e) <= 1 + 165 / 10 * u).
    { split; apply Rmult_le_reg_r with (1 + e); try lra; rewrite Rinv_l by lra; nra. }
    assert (1 - 18 * u <= / (1 + e) * (1 + e2) <= 1 + 18 * u); [|apply Rabs_le; lra].
    split; nra. }
  replace ((y + z) / (1 + e) * (1 + e2) + t - y) with (y * (f - 1) + z * f + t) by (unfold f; field; apply Rabs_le_inv in En; lra).
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|apply Rabs_le; lra].
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq y) by lra.
  apply Rplus_le_compat.
  - rewrite (Rmult_comm (18 * u)). apply Rmult_le_compat_l; lra.
  - apply Rmult_le_compat; [apply Rabs_pos | apply Rabs_pos | exact Z|].
    apply Rabs_le_inv in F. apply Rabs_le. lra.
Qed.

(** A decision by floats is right. *)
Theorem clear_skip k : IZR k <= distance < IZR k + 1 -> clear k -> exists j : nat, k = Z.of_nat j /\
  ((j < limit)%nat /\ kappa ^ S j <= x < kappa ^ j \/ j = limit /\ x < kappa ^ limit).
Proof.
  intros Fl C. destruct mark_range as (M & E & A). pose proof y_range as Y. pose proof uncut_close as Close.
  pose proof u_range as U. pose proof tiny_most as T. pose proof unknown_pos as UP.
  assert (I42 : / 2 ^ 42 = 2048 * u) by (rewrite (inv_pow_u 42 11) by reflexivity; simpl; ring).
  assert (T4 : tiny <= u / 100) by lra.
  assert (N0 : 0 <= INR limit) by apply pos_INR.
  assert (WA : 2 <= INR w * 2 ^ a).
  { assert (1 <= INR w) by (apply (le_INR 1); lia). apply Rle_trans with (1 * 2 ^ a); [lra|]. apply Rmult_le_compat_r; lra. }
  assert (F0 : 0 <= farthest) by (unfold farthest; apply Rmin_glb; lra).
  (* the allowance *)
  set (G := 2 ^ a * unknown).
  assert (G0 : 0 < G) by (apply Rmult_lt_0_compat; lra).
  assert (GE : 2 ^ a * 2 ^ 25 / 2 ^ w = 4 * G) by (unfold G, unknown; field; apply Rgt_not_eq, pow2_pos).
  set (D := (farthest + 2 ^ a) * (2048 * u) + 4 * G).
  assert (UA : 0 < u * 2 ^ a) by (apply Rmult_lt_0_compat; lra).
  assert (U1 : u * (u * farthest) <= / 2 ^ 20 * (u * farthest)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]).
  assert (U2 : u * (u * 2 ^ a) <= / 2 ^ 20 * (u * 2 ^ a)) by (apply Rmult_le_compat_r; lra).
  assert (U3 : u * G <= / 2 ^ 20 * G) by (apply Rmult_le_compat_r; lra).
  assert (UF : 0 <= u * farthest) by (apply Rmult_le_pos; lra).
  assert (UA2 : 2 * u <= u * 2 ^ a) by (rewrite (Rmult_comm 2); apply Rmult_le_compat_l; lra).
  assert (Al : allowance >= 2000 * (u * farthest) + 2000 * (u * 2 ^ a) + 39 / 10 * G).
  { unfold allowance. rewrite GE, I42.
    assert (R1 := round_close (farthest + 2 ^ a)). set (s1 := fl (farthest + 2 ^ a)) in *.
    rewrite (Rabs_pos_eq (farthest + 2 ^ a)) in R1 by lra. apply Rabs_le_inv in R1.
    assert (S1 : (farthest + 2 ^ a) * (1 - 2 * u) <= s1) by lra.
    assert (S0 : 0 <= s1) by (apply fl_nonneg; lra).
    assert (R2 := round_close (s1 * (2048 * u))). set (s2 := fl (s1 * (2048 * u))) in *.
    rewrite (Rabs_pos_eq (s1 * (2048 * u))) in R2 by (apply Rmult_le_pos; lra). apply Rabs_le_inv in R2.
    assert (S2 : (farthest + 2 ^ a) * (1 - 2 * u) * (2048 * u) <= s1 * (2048 * u)) by (apply Rmult_le_compat_r; lra).
    assert (s1 * (2048 * u) * u <= s1 * (2048 * u) * / 2 ^ 20) by (apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra).
    assert (L2 : 2040 * (u * farthest) + 2040 * (u * 2 ^ a) - u / 10 <= s2).
    { assert (0 <= u * (u * farthest)) by (apply Rmult_le_pos; lra). assert (0 <= u * (u * 2 ^ a)) by (apply Rmult_le_pos; lra).
      assert (s1 * (2048 * u) * (1 - / 2 ^ 20) >= (farthest + 2 ^ a) * (1 - 2 * u) * (2048 * u) * (1 - / 2 ^ 20))
        by (apply Rle_ge, Rmult_le_compat_r; lra). lra. }
    assert (R3 := round_close (s2 + 4 * G)). assert (S3 : 0 <= s2) by (apply fl_nonneg, Rmult_le_pos; lra).
    rewrite (Rabs_pos_eq (s2 + 4 * G)) in R3 by lra. apply Rabs_le_inv in R3.
    assert ((s2 + 4 * G) * (1 - / 2 ^ 20) <= (s2 + 4 * G) * (1 - u)) by (apply Rmult_le_compat_l; lra).
    lra. }
  (* what "clear" says about real numbers *)
  assert (A1 : allowance < 1 / 2).
  { destruct (Rlt_dec allowance (1 / 2)) as [L|L]; [exact L|]. exfalso.
    assert (fl (1 / 2 - allowance) <= 0) by (apply fl_nonpos; lra). unfold clear in C.
    pose proof (Rabs_pos (fl (fl (distance - IZR k) - 1 / 2))). lra. }
  assert (A0 : 0 < allowance) by lra.
  assert (Cl : IZR k + (allowance - 5 * u) < distance < IZR k + 1 - (allowance - 5 * u)).
  { unfold clear in C. assert (R1 := round_close (distance - IZR k)). set (s1 := fl (distance - IZR k)) in *.
    rewrite (Rabs_pos_eq (distance - IZR k)) in R1 by lra. apply Rabs_le_inv in R1.
    assert (u * (distance - IZR k) <= u * 1) by (apply Rmult_le_compat_l; lra).
    assert (R2 := round_close (s1 - 1 / 2)). set (s2 := fl (s1 - 1 / 2)) in *. apply Rabs_le_inv in R2.
    assert (Rabs (s1 - 1 / 2) <= 1) by (apply Rabs_le; lra).
    assert (u * Rabs (s1 - 1 / 2) <= u * 1) by (apply Rmult_le_compat_l; lra).
    assert (R3 := round_close (1 / 2 - allowance)). rewrite (Rabs_pos_eq (1 / 2 - allowance)) in R3 by lra. apply Rabs_le_inv in R3.
    assert (u * (1 / 2 - allowance) <= u * 1) by (apply Rmult_le_compat_l; lra).
    apply Rabs_def2 in C. lra. }
  (* the error is below the allowance *)
  assert (Err : y <= farthest + 3 -> Rabs (uncut - y) < allowance - 5 * u).
  { intros Yf. eapply Rle_lt_trans; [exact Close|].
    assert (18 * u * y <= 18 * u * (farthest + 3)) by (apply Rmult_le_compat_l; lra).
    replace (2 ^ a * (1530 * u + unknown)) with (1530 * (u * 2 ^ a) + G) by (unfold G; ring).
    assert ((1530 * (u * 2 ^ a) + G) * (1 + 18 * u) <= (1530 * (u * 2 ^ a) + G) * (1 + 18 * / 2 ^ 20)) by (apply Rmult_le_compat_l; lra).
    lra. }
  assert (UAs : 2000 * (u * 2 ^ a) < 1 / 2) by lra. assert (Gs : 39 / 10 * G < 1 / 2) by lra.
  assert (UY : 18 * u * y <= 3 / 10).
  { assert (18 * u * y <= 18 * u * (INR w * 2 ^ a)) by (apply Rmult_le_compat_l; lra).
    assert (INR w <= 64) by (replace 64 with (INR 64) by (simpl; ring); apply le_INR; lia).
    assert (INR w * (u * 2 ^ a) <= 64 * (u * 2 ^ a)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Small : Rabs (uncut - y) <= 9 / 10).
  { eapply Rle_trans; [exact Close|]. replace (2 ^ a * (1530 * u + unknown)) with (1530 * (u * 2 ^ a) + G) by (unfold G; ring).
    assert ((1530 * (u * 2 ^ a) + G) * (1 + 18 * u) <= (1530 * (u * 2 ^ a) + G) * (1 + 18 * / 2 ^ 20)) by (apply Rmult_le_compat_l; lra).
    lra. }
  assert (P : forall j, kappa ^ j = exp (INR j * ln kappa)).
  { intros j. rewrite <- (exp_ln (kappa ^ j)) by (apply pow_lt; unfold kappa; lra). rewrite ln_pow by (unfold kappa; lra). reflexivity. }
  destruct log_kappa as [LK _]. destruct x_pos as [X0 X1].
  assert (XY : x = exp (y * ln kappa)).
  { unfold y. replace (ln x / ln kappa * ln kappa) with (ln x) by (field; lra). now rewrite exp_ln. }
  assert (Past : INR limit < y -> x < kappa ^ limit).
  { intros H. rewrite P, XY. apply exp_increasing. apply Ropp_lt_cancel. rewrite <- !Ropp_mult_distr_r_reverse.
    apply Rmult_lt_compat_r; lra. }
  assert (Top : (k <= Z.of_nat limit)%Z).
  { assert (IZR k < IZR (Z.of_nat limit + 1)); [|apply lt_IZR in H; lia]. rewrite plus_IZR, <- INR_IZR_INZ.
    assert (distance <= INR limit + 1 / 2) by apply Rmin_r. lra. }
  destruct (Rle_dec (INR limit + 1 / 2) uncut) as [Cut|Cut].
  - (* cut *)
    assert (Dm : distance = INR limit + 1 / 2) by (unfold distance; now rewrite Rmin_right).
    assert (K : k = Z.of_nat limit).
    { assert (IZR (Z.of_nat limit) < IZR (k + 1)); [|apply lt_IZR in H; lia]. rewrite plus_IZR, <- INR_IZR_INZ. lra. }
    exists limit. split; [exact K|]. right. split; [reflexivity|]. apply Past.
    destruct (Rlt_dec (INR limit) y) as [L|L]; [exact L|]. exfalso.
    assert (Yf : y <= farthest + 3) by (assert (y <= farthest) by (apply Rmin_glb; lra); lra).
    specialize (Err Yf). apply Rabs_def2 in Err. lra.
  - assert (Dm : distance = uncut) by (unfold distance; rewrite Rmin_left; lra). rewrite Dm in *.
    assert (Yf : y <= farthest + 3).
    { apply Rabs_le_inv in Small. unfold farthest. apply Rmin_case; lra. }
    specialize (Err Yf). apply Rabs_def2 in Err.
    assert (Yk : IZR k < y < IZR k + 1) by lra.
    assert (K0 : (0 <= k)%Z).
    { assert (IZR 0 < IZR (k + 1)); [|apply lt_IZR in H; lia]. rewrite plus_IZR. lra. }
    exists (Z.to_nat k). assert (Kk : IZR k = INR (Z.to_nat k)) by (rewrite INR_IZR_INZ, Z2Nat.id; auto).
    split; [now rewrite Z2Nat.id|]. rewrite Kk in Yk.
    destruct (le_lt_dec limit (Z.to_nat k)) as [L|L].
    + right. assert (Ek : Z.to_nat k = limit) by lia. split; [exact Ek|]. apply Past. rewrite <- Ek. lra.
    + left. split; [exact L|]. rewrite !P, S_INR, XY. split; [apply Rlt_le|]; apply exp_increasing;
        apply Ropp_lt_cancel; rewrite <- !Ropp_mult_distr_r_reverse; apply Rmult_lt_compat_r; lra.
Qed.
End Right.
End Skips.
