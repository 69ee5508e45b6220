(** docs/proofs/sampling.md, lemma 5: every candidate worse than the threshold at level a has a coin below
    2^-a. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Relative.
From Discreet Require Import Machine Floats Gaps GapBranches.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

(** ** ln 2, from above *)

(** The float64 next above ln 2, 0x1.62e42fefa39f0p-1. *)
Definition ln2_above : R := 6243314768165360 / 9007199254740992.

(** 1 + x/j (1 + x/(j+1) (1 + ...)), n times. *)
Fixpoint horner (n : nat) (j x : R) : R :=
  match n with O => 1 | S n => 1 + x / j * horner n (j + 1) x end.

Lemma horner_sum n j x :
  sum_f_R0 (fun i => INR (fact j) / INR (fact (j + i)) * x ^ i) n = horner n (INR (S j)) x.
Proof.
  revert j. induction n as [|n IH]; intros j.
  - simpl. rewrite Nat.add_0_r. field. apply INR_fact_neq_0.
  - rewrite decomp_sum by lia. cbn [horner pred]. rewrite Nat.add_0_r.
    rewrite <- S_INR, <- IH, scal_sum. f_equal.
    + simpl (x ^ 0). field. apply INR_fact_neq_0.
    + apply sum_eq. intros i _.
      replace (j + S i)%nat with (S j + i)%nat by lia.
      change (fact (S j)) with (S j * fact j)%nat. rewrite mult_INR.
      change (x ^ S i) with (x * x ^ i). field.
      repeat split; first [apply INR_fact_neq_0 | apply not_0_INR; lia].
Qed.

Lemma horner_le_exp n x : 0 <= x -> horner n 1 x <= exp x.
Proof.
  intros X. change 1 with (INR 1). rewrite <- (horner_sum n 0 x).
  rewrite (sum_eq _ (fun i => / INR (fact i) * x ^ i)).
  2: { intros i _. simpl (fact 0). cbn [plus]. change (INR 1) with 1. unfold Rdiv. ring. }
  unfold exp. destruct (exist_exp x) as [l E]. simpl.
  apply sum_incr.
  - intros e He. destruct (E e He) as [N HN]. exists N. intros m Hm.
    now apply HN.
  - intros i. apply Rmult_le_pos; [|now apply pow_le].
    apply Rlt_le, Rinv_0_lt_compat, INR_fact_lt_0.
Qed.

Theorem ln2_below : ln 2 < ln2_above.
Proof.
  rewrite <- (ln_exp ln2_above). apply ln_increasing; [lra|].
  apply Rlt_le_trans with (horner 18 1 ln2_above).
  - unfold ln2_above. cbn [horner]. lra.
  - apply horner_le_exp. unfold ln2_above. lra.
Qed.

Lemma ln2_positive : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma exp_ln2 a : exp (- (INR a * ln 2)) = / 2 ^ a.
Proof.
  rewrite exp_Ropp. f_equal.
  rewrite <- (exp_ln (2 ^ a)) by apply pow2_pos. f_equal. now rewrite ln_pow by lra.
Qed.

(** ** The threshold *)

Section Threshold.
Variables (best s : R) (a : nat).
Hypothesis s_pos : 0 < s.

(** It is enough that the threshold lies at least a ln 2 scales below the best. *)
Lemma far_coin T value : T <= best - INR a * ln 2 * s -> value < T ->
  exp (- ((best - value) / s)) < / 2 ^ a.
Proof.
  intros H V. rewrite <- exp_ln2. apply exp_increasing, Ropp_lt_contravar.
  apply (Rmult_lt_reg_r s); [exact s_pos|].
  replace ((best - value) / s * s) with (best - value) by (field; lra). lra.
Qed.

(** Integers: the reach is rounded up in integer arithmetic. *)
Theorem threshold_integers (T value : Z) (b : Z) : best = IZR b ->
  (T <= b - Zceil (INR a * ln2_above * s))%Z -> (value < T)%Z ->
  exp (- ((best - IZR value) / s)) < / 2 ^ a.
Proof.
  intros B H V. apply (far_coin (IZR T)); [|now apply IZR_lt].
  apply Rle_trans with (IZR (b - Zceil (INR a * ln2_above * s))); [now apply IZR_le|].
  rewrite minus_IZR, <- B.
  pose proof (Zceil_ub (INR a * ln2_above * s)).
  pose proof ln2_below. pose proof (pos_INR a).
  assert (INR a * ln 2 * s <= INR a * ln2_above * s).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
  lra.
Qed.

(** Exact rationals. *)
Theorem threshold_exact T value : T <= best - INR a * ln2_above * s -> value < T ->
  exp (- ((best - value) / s)) < / 2 ^ a.
Proof.
  intros H. apply far_coin.
  pose proof ln2_below. pose proof (pos_INR a).
  assert (INR a * ln 2 * s <= INR a * ln2_above * s).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
  lra.
Qed.

(** Floats: four roundings against the factor 1 + 2^-48; then the float below the rounded
    difference. Narrower types round down once more, so [T] may be less. *)
Definition reach : R := fl (fl (ln2_above * fl s) * (1 + / 2 ^ 48)).

Hypothesis s_large : / 2 ^ 901 <= s.

Lemma reach_enough : s * ln2_above * (1 + 16 * u) <= reach.
Proof.
  pose proof u_small as Us. pose proof tiny_pos as TP.
  assert (U48 : / 2 ^ 48 = 32 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (L : 1 / 2 < ln2_above < 1) by (unfold ln2_above; lra).
  assert (T : tiny <= u * / 1000 * s).
  { apply Rle_trans with (/ 2 ^ 63 * / 2 ^ 901).
    - rewrite <- (inv_pow2_split 63 901 964) by reflexivity. apply inv_pow_le; lia.
    - assert (/ 2 ^ 63 <= u * / 1000).
      { rewrite (inv_pow2_split 53 10 63) by reflexivity. unfold u.
        apply Rmult_le_compat_l; [apply Rlt_le, inv_pow2_pos|]. apply Rinv_le; simpl; lra. }
      apply Rmult_le_compat; try (apply Rlt_le, inv_pow2_pos); assumption. }
  assert (US : 0 < u * s) by (apply Rmult_lt_0_compat; lra).
  assert (UUS : u * (u * s) <= / 1000000 * (u * s)) by (apply Rmult_le_compat_r; lra).
  unfold reach. rewrite U48.
  destruct (rounding s) as (e1 & t1 & H1 & T1 & E1).
  destruct (rounding (ln2_above * fl s)) as (e2 & t2 & H2 & T2 & E2).
  destruct (rounding (fl (ln2_above * fl s) * (1 + 32 * u))) as (e3 & t3 & H3 & T3 & ->).
  assert (A : s * (1 - 1001 / 1000 * u) <= fl s).
  { rewrite E1. assert (s * (1 - u) <= s * (1 + e1)) by (apply Rmult_le_compat_l; lra). lra. }
  set (x := fl s) in *. clearbody x.
  assert (A0 : 0 <= s * (1 - 1001 / 1000 * u)) by (apply Rmult_le_pos; lra).
  assert (B : s * ln2_above * (1 - 3 * u) <= fl (ln2_above * x)).
  { rewrite E2.
    assert (C : ln2_above * (s * (1 - 1001 / 1000 * u)) <= ln2_above * x)
      by (apply Rmult_le_compat_l; lra).
    assert (D : ln2_above * (s * (1 - 1001 / 1000 * u)) * (1 - u)
                <= ln2_above * x * (1 + e2)).
    { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
    assert (0 <= u * (u * s) * ln2_above) by (repeat apply Rmult_le_pos; lra).
    assert (u * s * (1 / 2) <= u * s * ln2_above) by (apply Rmult_le_compat_l; lra).
    lra. }
  set (y := fl (ln2_above * x)) in *. clearbody y.
  set (z := s * ln2_above) in *.
  assert (Z : 0 < z) by (apply Rmult_lt_0_compat; lra).
  assert (UZ : 0 < u * z) by (apply Rmult_lt_0_compat; lra).
  assert (UUZ : 0 <= u * (u * z) <= / 1000000 * (u * z))
    by (split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra]).
  assert (UUUZ : 0 <= u * (u * (u * z)) <= / 1000000 * (u * (u * z)))
    by (split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra]).
  assert (D : z * (1 - 3 * u) * (1 + 32 * u) * (1 - u) <= y * (1 + 32 * u) * (1 + e3)).
  { assert (0 <= z * (1 - 3 * u)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | | lra].
    apply Rmult_le_compat_r; lra. }
  assert (u * / 1000 * s <= u * z).
  { unfold z. assert (u * s * (1 / 2) <= u * s * ln2_above) by (apply Rmult_le_compat_l; lra).
    lra. }
  lra.
Qed.

Theorem threshold_floats T value :
  T <= pred radix2 (FLT_exp emin prec) (fl (best - fl (INR a * reach))) -> value < T ->
  exp (- ((best - value) / s)) < / 2 ^ a.
Proof.
  intros H. apply far_coin. eapply Rle_trans; [exact H|].
  assert (B : pred radix2 (FLT_exp emin prec) (fl (best - fl (INR a * reach)))
              <= best - fl (INR a * reach))
    by (apply pred_round_le_id; auto with typeclass_instances).
  eapply Rle_trans; [exact B|].
  assert (R : INR a * ln 2 * s <= fl (INR a * reach)); [|lra].
  pose proof ln2_below as LN. pose proof ln2_positive as LP.
  pose proof reach_enough as RE. pose proof u_small as Us.
  assert (L : 1 / 2 < ln2_above < 1) by (unfold ln2_above; lra).
  destruct a as [|k].
  { simpl INR. rewrite !Rmult_0_l. apply fl_nonneg. lra. }
  set (x := INR (S k)). assert (X : 1 <= x) by (unfold x; rewrite S_INR; pose proof (pos_INR k); lra).
  destruct (rounding (x * reach)) as (e & t & He & Ht & ->).
  set (z := s * ln2_above) in *.
  assert (Z : 0 < z) by (apply Rmult_lt_0_compat; lra).
  assert (TZ : tiny <= u * z).
  { apply Rle_trans with (/ 2 ^ 54 * / 2 ^ 901).
    - rewrite <- (inv_pow2_split 54 901 955) by reflexivity. apply inv_pow_le; lia.
    - rewrite (inv_pow2_split 53 1 54) by reflexivity. fold u. simpl (2 ^ 1).
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. unfold z.
      apply Rle_trans with (s * (1 / 2)); [lra|]. apply Rmult_le_compat_l; lra. }
  assert (UZ : 0 < u * z) by (apply Rmult_lt_0_compat; lra).
  assert (XZ : z <= x * z) by (rewrite <- (Rmult_1_l z) at 1; apply Rmult_le_compat_r; lra).
  assert (UXZ : u * z <= u * (x * z)) by (apply Rmult_le_compat_l; lra).
  assert (UUXZ : u * (u * (x * z)) <= / 1000000 * (u * (x * z))) by (apply Rmult_le_compat_r; lra).
  assert (A : x * (z * (1 + 16 * u)) * (1 - u) <= x * reach * (1 + e)).
  { assert (0 <= z * (1 + 16 * u)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | | lra].
    apply Rmult_le_compat_l; lra. }
  assert (x * ln 2 * s <= x * z).
  { unfold z. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    rewrite Rmult_comm. apply Rmult_le_compat_l; lra. }
  lra.
Qed.
End Threshold.
