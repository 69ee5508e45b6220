(** docs/proofs/sampling.md: the float logarithm of a uniform number known by its first bits, and the floats of
    lemma 7. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Coquelicot Require Rcomplements.
From Discreet Require Import Machine Floats Gaps GapBranches Thresholds.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

Lemma inv_pow_u k j : (k + j = 53)%nat -> / 2 ^ k = 2 ^ j * u.
Proof.
  intros H. unfold u. rewrite (pow2_split k j 53 H). field.
  split; apply Rgt_not_eq, pow2_pos.
Qed.

Lemma u_range : 0 < u <= / 2 ^ 20.
Proof. rewrite u_value. split; [lra|]. simpl. lra. Qed.

Lemma tiny_most : 0 < tiny <= u / 2 ^ 40.
Proof.
  split; [apply tiny_pos|]. replace (u / 2 ^ 40) with (/ 2 ^ 93).
  - unfold tiny. apply inv_pow_le. lia.
  - unfold u. field.
Qed.

(** One rounding, as a bound on its error. *)
Lemma round_close x : Rabs (fl x - x) <= u * Rabs x + tiny.
Proof.
  destruct (rounding x) as (e & t & E & T & ->). replace (x * (1 + e) + t - x) with (x * e + t) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  assert (Rabs e <= u) by (apply Rabs_le; lra). assert (Rabs t <= tiny) by (apply Rabs_le; lra).
  pose proof (Rabs_pos x). assert (Rabs x * Rabs e <= Rabs x * u) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma format_pow k : (k <= 1000)%nat -> format (2 ^ k).
Proof.
  intros K. rewrite <- bpow_pos. apply generic_format_bpow. unfold FLT_exp. lia.
Qed.

Lemma fl_format x : format (fl x).
Proof. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma fl_exact x : format x -> fl x = x.
Proof. apply round_generic; auto with typeclass_instances. Qed.

Lemma fl_le x y : x <= y -> fl x <= fl y.
Proof. apply round_le; auto with typeclass_instances. Qed.

Lemma ln_near d : Rabs d <= / 2 -> Rabs (ln (1 + d)) <= 2 * Rabs d.
Proof.
  intros D. apply Rabs_le_inv in D. pose proof (exp_ineq1_le (ln (1 + d))) as A. rewrite exp_ln in A by lra.
  pose proof (exp_ineq1_le (- ln (1 + d))) as B. rewrite exp_Ropp, exp_ln in B by lra.
  apply Rabs_le. unfold Rabs. destruct Rcase_abs as [N|N].
  - split; [|lra]. assert (/ (1 + d) <= 1 - 2 * d); [|lra].
    apply Rmult_le_reg_r with (1 + d); [lra|]. rewrite Rinv_l by lra. nra.
  - split; [|lra]. assert (/ (1 + d) <= 1); [|lra]. apply Rmult_le_reg_r with (1 + d); [lra|].
    rewrite Rinv_l by lra. lra.
Qed.

Lemma ln2_most : ln 2 <= 6932 / 10000.
Proof. pose proof ln2_below. unfold ln2_above in *. lra. Qed.

Lemma ln_pow2 w : ln (2 ^ w) = INR w * ln 2.
Proof. apply ln_pow. lra. Qed.

(** ** The logarithm of a word *)

Section Word.
Variables (m : machine) (w word : nat).
Hypothesis w_range : (1 <= w <= 64)%nat.
Hypothesis word_range : (word < 2 ^ w)%nat.

(** The float for U + 1/2, its logarithm, and w ln 2. *)
Definition middle : R := fl (fl (INR word) + 1 / 2).
Definition word_log : R := float_log m middle.
Definition width_log : R := fl (INR w * float_log m 2).

Lemma word_bounds : 0 <= INR word /\ INR word + 1 <= 2 ^ w /\ 2 <= 2 ^ w <= 2 ^ 64.
Proof.
  assert (A : INR (S word) <= INR (2 ^ w)) by (apply le_INR; lia). rewrite S_INR, pow_INR in A. change (INR 2) with 2 in A.
  split; [apply pos_INR|]. split; [exact A|]. split; [|apply Rle_pow; [lra | lia]].
  rewrite <- (pow_1 2) at 1. apply Rle_pow; [lra | lia].
Qed.

Lemma middle_range : 1 / 2 <= middle <= 2 ^ 64 /\ format middle.
Proof.
  destruct word_bounds as (W0 & W1 & W2). split; [|apply fl_format]. unfold middle.
  assert (H : format (1 / 2)).
  { replace (1 / 2) with (bpow radix2 (-1)) by (simpl; lra). apply generic_format_bpow. unfold FLT_exp. lia. }
  assert (F0 : 0 <= fl (INR word)) by now apply fl_nonneg.
  assert (F1 : fl (INR word) <= 2 ^ 64).
  { rewrite <- (fl_exact (2 ^ 64)) by (apply format_pow; lia). apply fl_le. lra. }
  split.
  - rewrite <- (fl_exact (1 / 2) H). apply fl_le. rewrite (fl_exact _ H). lra.
  - apply Rle_trans with (fl (2 ^ 64 + 1 / 2)); [apply fl_le; lra|].
    unfold fl. apply round_N_le_midp; [exact exp_valid | apply format_pow; lia|].
    rewrite succ_eq_pos by (apply Rlt_le, pow2_pos).
    rewrite <- (bpow_pos 64), ulp_bpow. change (FLT_exp emin prec (Z.of_nat 64 + 1)) with 12%Z.
    change (bpow radix2 12) with 4096. lra.
Qed.

Lemma middle_close : Rabs (ln middle - ln (INR word + 1 / 2)) <= 6 * u.
Proof.
  destruct word_bounds as (W0 & W1 & W2). destruct middle_range as [[M0 M1] _].
  pose proof u_range as U. pose proof tiny_most as T.
  assert (A := round_close (INR word)). assert (B := round_close (fl (INR word) + 1 / 2)). fold middle in B.
  set (x := INR word) in *. clearbody x.
  assert (F0 : 0 <= fl x) by now apply fl_nonneg.
  rewrite (Rabs_pos_eq x) in A by lra. rewrite (Rabs_pos_eq (fl x + 1 / 2)) in B by lra.
  apply Rabs_le_inv in A. apply Rabs_le_inv in B.
  set (d := middle / (x + 1 / 2) - 1).
  assert (E : middle = (x + 1 / 2) * (1 + d)) by (unfold d; field; lra).
  assert (T4 : tiny <= u / 100) by lra.
  assert (D : - (3 * u) * (x + 1 / 2) <= middle - (x + 1 / 2) <= 3 * u * (x + 1 / 2)).
  { assert (u * fl x <= u * (x + u * x + tiny)) by (apply Rmult_le_compat_l; lra).
    assert (u * (u * x) <= / 2 ^ 20 * (u * x)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]).
    assert (0 <= u * x) by (apply Rmult_le_pos; lra).
    assert (u * tiny <= 1 * tiny) by (apply Rmult_le_compat_r; lra). lra. }
  assert (D' : Rabs d <= 3 * u).
  { apply Rabs_le. split; apply Rmult_le_reg_r with (x + 1 / 2); try lra;
      replace (d * (x + 1 / 2)) with (middle - (x + 1 / 2)) by (unfold d; field; lra); lra. }
  assert (D2 : Rabs d <= / 2) by lra.
  rewrite E, ln_mult by (try apply Rabs_le_inv in D2; lra).
  replace (ln (x + 1 / 2) + ln (1 + d) - ln (x + 1 / 2)) with (ln (1 + d)) by ring.
  eapply Rle_trans; [now apply ln_near|]. lra.
Qed.

Lemma log_bounds y : 1 / 2 <= y <= 2 ^ 64 -> Rabs (ln y) <= 4437 / 100.
Proof.
  intros Y. pose proof ln2_most as L. pose proof ln2_positive as L0. apply Rabs_le. split.
  - apply Rle_trans with (ln (1 / 2)); [|apply Rcomplements.ln_le; lra].
    replace (1 / 2) with (/ 2) by field. rewrite ln_Rinv by lra. lra.
  - apply Rle_trans with (ln (2 ^ 64)); [apply Rcomplements.ln_le; lra|]. rewrite ln_pow2.
    replace (INR 64) with 64 by (simpl; ring). lra.
Qed.

Theorem word_log_close : Rabs (word_log - width_log - ln ((INR word + 1 / 2) / 2 ^ w)) <= 1475 * u.
Proof.
  destruct word_bounds as (W0 & W1 & W2). destruct middle_range as [M F]. pose proof middle_close as C.
  pose proof u_range as U. pose proof tiny_most as T. pose proof ln2_most as L. pose proof ln2_positive as L0.
  assert (I49 : / 2 ^ 49 = 16 * u) by (rewrite (inv_pow_u 49 4) by reflexivity; simpl; ring).
  assert (A := log_accurate m middle F M). rewrite I49 in A.
  assert (A' : Rabs (word_log - ln middle) <= 710 * u).
  { eapply Rle_trans; [exact A|]. pose proof (log_bounds middle M) as B.
    assert (16 * u * Rabs (ln middle) <= 16 * u * (4437 / 100)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (F2 : format 2) by (rewrite <- (pow_1 2); apply format_pow; lia).
  assert (B := log_accurate m 2 F2 ltac:(simpl; lra)). rewrite I49, (Rabs_pos_eq (ln 2)) in B by lra.
  assert (WR : 1 <= INR w <= 64).
  { split; [apply (le_INR 1); lia|]. replace 64 with (INR 64) by (simpl; ring). apply le_INR. lia. }
  assert (B' : Rabs (width_log - INR w * ln 2) <= 757 * u).
  { unfold width_log. pose proof (round_close (INR w * float_log m 2)) as R. set (f := float_log m 2) in *. clearbody f.
    apply Rabs_le_inv in B.
    assert (16 * u * ln 2 <= 16 * u * (6932 / 10000)) by (apply Rmult_le_compat_l; lra).
    assert (X : - (711 * u) <= INR w * f - INR w * ln 2 <= 711 * u).
    { replace (INR w * f - INR w * ln 2) with (INR w * (f - ln 2)) by ring. split.
      - apply Rle_trans with (64 * - (16 * u * (6932 / 10000))); [lra|].
        apply Rle_trans with (INR w * - (16 * u * (6932 / 10000))); [nra|]. apply Rmult_le_compat_l; lra.
      - apply Rle_trans with (INR w * (16 * u * (6932 / 10000))); [apply Rmult_le_compat_l; lra|].
        apply Rle_trans with (64 * (16 * u * (6932 / 10000))); [|lra]. apply Rmult_le_compat_r; lra. }
    assert (Y : Rabs (INR w * f) <= 445 / 10).
    { assert (0 <= INR w * ln 2 <= 64 * (6932 / 10000)) by (split; [apply Rmult_le_pos; lra | apply Rmult_le_compat; lra]).
      assert (711 * u <= 1 / 100) by (simpl in U; lra). apply Rabs_le. lra. }
    assert (u * Rabs (INR w * f) <= u * (445 / 10)) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le_inv in R. apply Rabs_le. simpl in T. lra. }
  unfold Rdiv at 1. rewrite ln_mult, ln_Rinv, ln_pow2 by (try apply Rinv_0_lt_compat; try apply pow2_pos; lra).
  apply Rabs_le_inv in A'. apply Rabs_le_inv in B'. apply Rabs_le_inv in C. apply Rabs_le. lra.
Qed.

(** The bits of u that are not known yet. *)
Lemma unknown_bits x : (2 ^ (w - 24) <= word)%nat -> INR word / 2 ^ w <= x < INR (S word) / 2 ^ w ->
  0 < x /\ Rabs (ln ((INR word + 1 / 2) / 2 ^ w) - ln x) <= 2 ^ 23 / 2 ^ w.
Proof.
  intros H X. destruct word_bounds as (W0 & W1 & W2). rewrite S_INR in X.
  assert (P : 0 < / 2 ^ w) by (apply Rinv_0_lt_compat, pow2_pos).
  assert (N : 2 ^ w / 2 ^ 24 <= INR word /\ 1 <= INR word).
  { assert (A : INR (2 ^ (w - 24)) <= INR word) by now apply le_INR. rewrite pow_INR in A. change (INR 2) with 2 in A.
    assert (1 <= 2 ^ (w - 24)) by (apply pow_R1_Rle; lra). split; [|lra].
    destruct (le_lt_dec 24 w) as [G|G].
    - rewrite (pow2_split 24 (w - 24) w) by lia. replace (2 ^ 24 * 2 ^ (w - 24) / 2 ^ 24) with (2 ^ (w - 24)); [lra|].
      field.
    - assert (2 ^ w <= 2 ^ 24) by (apply Rle_pow; [lra | lia]). simpl in *. lra. }
  set (v := INR word) in *. clearbody v.
  assert (Xs : v <= x * 2 ^ w < v + 1).
  { destruct X as [X1 X2]. split.
    - apply (Rmult_le_compat_r (2 ^ w)) in X1; [|lra]. unfold Rdiv in X1. rewrite Rmult_assoc, Rinv_l in X1; lra.
    - apply (Rmult_lt_compat_r (2 ^ w)) in X2; [|lra]. unfold Rdiv in X2. rewrite Rmult_assoc, Rinv_l in X2; lra. }
  assert (X0 : 0 < x).
  { apply Rlt_le_trans with (v / 2 ^ w); [|apply X]. apply Rdiv_lt_0_compat; lra. }
  split; [exact X0|]. unfold Rdiv at 1.
  rewrite ln_mult, ln_Rinv by (try exact P; try apply pow2_pos; lra).
  set (y := x * 2 ^ w) in *. assert (E : ln x = ln y - ln (2 ^ w)).
  { unfold y. rewrite ln_mult by (try apply pow2_pos; lra). ring. }
  rewrite E. clearbody y. replace (ln (v + 1 / 2) + - ln (2 ^ w) - (ln y - ln (2 ^ w))) with (ln (v + 1 / 2) - ln y) by ring.
  (* the slope of the logarithm is at most 1/v *)
  assert (S : forall a b, v <= a -> a <= b -> ln b - ln a <= (b - a) / v).
  { intros a b A B. replace b with (a * (1 + (b - a) / a)) at 1 by (field; lra).
    assert (Q : 0 <= (b - a) / a) by (apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra]).
    rewrite ln_mult by lra. pose proof (exp_ineq1_le (ln (1 + (b - a) / a))) as I. rewrite exp_ln in I by lra.
    assert ((b - a) / a <= (b - a) / v); [|lra]. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra. }
  assert (B : 1 / 2 / v <= 2 ^ 23 / 2 ^ w).
  { apply Rmult_le_reg_r with (v * 2 ^ w); [apply Rmult_lt_0_compat; lra|].
    replace (1 / 2 / v * (v * 2 ^ w)) with (2 ^ w / 2) by (field; lra).
    replace (2 ^ 23 / 2 ^ w * (v * 2 ^ w)) with (2 ^ 23 * v) by (field; lra).
    destruct N as [N _]. apply (Rmult_le_compat_l (2 ^ 23)) in N; [|simpl; lra].
    replace (2 ^ 23 * (2 ^ w / 2 ^ 24)) with (2 ^ w / 2) in N by (simpl; field). lra. }
  apply Rabs_le. destruct (Rle_dec y (v + 1 / 2)) as [Y|Y].
  - assert (D := S y (v + 1 / 2) ltac:(lra) Y). assert (ln y <= ln (v + 1 / 2)) by (apply Rcomplements.ln_le; lra).
    assert ((v + 1 / 2 - y) / v <= 1 / 2 / v) by (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra | lra]). lra.
  - assert (D := S (v + 1 / 2) y ltac:(lra) ltac:(lra)). assert (ln (v + 1 / 2) <= ln y) by (apply Rcomplements.ln_le; lra).
    assert ((y - (v + 1 / 2)) / v <= 1 / 2 / v) by (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra | lra]). lra.
Qed.
End Word.
