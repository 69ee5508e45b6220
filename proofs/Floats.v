(** docs/proofs/sampling.md: the error of one rounding, and lemma 6, which says when floats may decide a coin.
    *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Relative Plus_error.
From Discreet Require Export Machine.
Open Scope R_scope.

(** Half of the least float. *)
Definition tiny : R := / 2 ^ 1075.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.

Lemma pow2_pos k : 0 < 2 ^ k.
Proof. apply pow_lt; lra. Qed.

Lemma u_value : u = / 9007199254740992.
Proof. unfold u. f_equal. ring. Qed.

Lemma tiny_pos : 0 < tiny.
Proof. apply Rinv_0_lt_compat, pow2_pos. Qed.

Lemma inv_pow_le j k : (j <= k)%nat -> / 2 ^ k <= / 2 ^ j.
Proof.
  intros H. apply Rinv_le; [apply pow2_pos|]. apply Rle_pow; [lra|exact H].
Qed.

Lemma bpow_neg k : bpow radix2 (- Z.of_nat k) = / 2 ^ k.
Proof. now rewrite bpow_opp, bpow_powerRZ, <- pow_powerRZ. Qed.

Lemma u_bpow : / 2 * bpow radix2 (- prec + 1) = u.
Proof.
  change (- prec + 1)%Z with (- Z.of_nat 52)%Z. rewrite bpow_neg.
  unfold u. rewrite <- Rinv_mult. f_equal.
Qed.

Lemma tiny_bpow : / 2 * bpow radix2 emin = tiny.
Proof.
  change emin with (- Z.of_nat 1074)%Z. rewrite bpow_neg.
  unfold tiny. rewrite <- Rinv_mult. f_equal.
Qed.

(** One rounding. *)
Lemma rounding x : exists e t,
  - u <= e <= u /\ - tiny <= t <= tiny /\ fl x = x * (1 + e) + t.
Proof.
  destruct (error_N_FLT radix2 emin prec eq_refl (fun z => negb (Z.even z)) x)
    as (e & t & He & Ht & _ & E).
  rewrite u_bpow in He. rewrite tiny_bpow in Ht.
  exists e, t. split; [now apply Rabs_le_inv|]. split; [now apply Rabs_le_inv|].
  exact E.
Qed.

(** A difference of floats is exact below the normal range. *)
Lemma rounding_minus x y : format x -> format y -> exists e,
  - u <= e <= u /\ fl (x - y) = (x - y) * (1 + e).
Proof.
  intros X Y. apply generic_format_opp in Y.
  destruct (FLT_plus_error_N_ex radix2 emin prec (fun z => negb (Z.even z)) x (- y) X Y)
    as (e & He & E).
  exists e. split; [|exact E].
  apply Rabs_le_inv. eapply Rle_trans; [exact He|].
  unfold u_ro. rewrite u_bpow, u_value. lra.
Qed.

Lemma fl_nonneg x : 0 <= x -> 0 <= fl x.
Proof.
  intros H. rewrite <- (round_0 radix2 (FLT_exp emin prec) ZnearestE).
  apply round_le; auto with typeclass_instances.
Qed.

Lemma fl_nonpos x : x <= 0 -> fl x <= 0.
Proof.
  intros H. rewrite <- (round_0 radix2 (FLT_exp emin prec) ZnearestE).
  apply round_le; auto with typeclass_instances.
Qed.

(** Products of factors near one, between two numbers. *)
Lemma factors_2 a b : - u <= a <= u -> - u <= b <= u ->
  1 - 3 * u <= (1 + a) * (1 + b) <= 1 + 3 * u.
Proof. rewrite u_value. intros; nra. Qed.

Lemma factors_3 a b c : - u <= a <= u -> - u <= b <= u -> - u <= c <= u ->
  1 - 4 * u <= (1 + a) * (1 + b) * (1 + c) <= 1 + 4 * u.
Proof.
  intros A B C.
  assert (L : (1 - u) * (1 - u) <= (1 + a) * (1 + b) <= (1 + u) * (1 + u))
    by (rewrite u_value in *; split; apply Rmult_le_compat; lra).
  assert (M : (1 - u) * (1 - u) * (1 - u) <= (1 + a) * (1 + b) * (1 + c)
              <= (1 + u) * (1 + u) * (1 + u))
    by (rewrite u_value in *; split; apply Rmult_le_compat; nra).
  rewrite u_value in *. lra.
Qed.

(** ** Lemma 6 *)

Section Coin.
(** [x] is 2^(w+b) c, [x_hat] its float, [word] the integer drawn, [word_hat] its
    float or itself, [eta] the promised relative error and [tau = 2 eta] the tolerance. *)
Variables x x_hat word word_hat eta : R.
Hypothesis x_nonneg : 0 <= x.
Hypothesis x_hat_nonneg : 0 <= x_hat.
Hypothesis word_nonneg : 0 <= word.
Hypothesis word_close : word_hat = word \/ word_hat = fl word.
Hypothesis eta_range : / 2 ^ 43 <= eta <= 1 / 4.
(** Either within the promised error, or both below 2^-70. *)
Hypothesis promise :
  Rabs (x_hat - x) <= eta * x \/ (x <= / 2 ^ 70 /\ x_hat <= / 2 ^ 70).

Let tau := 2 * eta.
Definition ceiling_of : R := fl (fl (x_hat * fl (1 + tau)) + 2).
Definition floor_of : R := fl (fl (x_hat * fl (1 - tau)) - 2).

Lemma eta_u : 1024 * u <= eta.
Proof.
  apply Rle_trans with (/ 2 ^ 43); [|apply eta_range].
  replace (1024 * u) with (/ 2 ^ 43); [lra|]. unfold u. field.
Qed.

Lemma tiny_hundredth : tiny <= 1 / 1000.
Proof.
  apply Rle_trans with (/ 2 ^ 10); [apply inv_pow_le; lia|]. simpl. lra.
Qed.

Lemma inv_70 : / 2 ^ 70 <= 1 / 1000.
Proof.
  apply Rle_trans with (/ 2 ^ 10); [apply inv_pow_le; lia|]. simpl. lra.
Qed.

Lemma word_rounding : exists e t,
  - u <= e <= u /\ - tiny <= t <= tiny /\ word_hat = word * (1 + e) + t.
Proof.
  destruct word_close as [->| ->]; [|apply rounding].
  exists 0, 0. pose proof tiny_pos. rewrite u_value. lra.
Qed.

Lemma word_hat_nonneg : 0 <= word_hat.
Proof. destruct word_close as [->| ->]; [auto | now apply fl_nonneg]. Qed.

Lemma tiny_u : tiny <= u / 2.
Proof.
  replace (u / 2) with (/ 2 ^ 54); [apply inv_pow_le; lia|]. unfold u. field.
Qed.

Lemma up_sum : (1 + tau) * (1 - 2 * u) <= fl (1 + tau).
Proof.
  destruct (rounding (1 + tau)) as (e & t & He & Ht & ->).
  pose proof tiny_u. rewrite u_value in *. unfold tau in *. nra.
Qed.

Lemma down_sum : 0 <= fl (1 - tau) <= (1 - tau) * (1 + 2 * u).
Proof.
  split; [apply fl_nonneg; unfold tau; lra|].
  destruct (rounding (1 - tau)) as (e & t & He & Ht & ->).
  pose proof tiny_u. unfold tau in *.
  assert ((1 - 2 * eta) * (1 + e) <= (1 - 2 * eta) * (1 + u))
    by (apply Rmult_le_compat_l; lra).
  assert (u / 2 <= (1 - 2 * eta) * u) by (rewrite u_value; lra).
  lra.
Qed.

Theorem lemma_6_tails : ceiling_of < word_hat -> x <= word.
Proof.
  intros H. unfold ceiling_of in H.
  pose proof eta_u as EU. pose proof tiny_hundredth as TH. pose proof tiny_pos as TP.
  pose proof up_sum as US.
  assert (HU : u = / 9007199254740992) by apply u_value.
  destruct word_rounding as (e0 & t0 & H0 & T0 & E0).
  set (p := x_hat * fl (1 + tau)) in *.
  destruct (rounding (fl p + 2)) as (e3 & t3 & H3 & T3 & E3).
  rewrite E0, E3 in H.
  assert (F1 : 0 <= fl (1 + tau)) by (apply fl_nonneg; unfold tau; lra).
  assert (P0 : 0 <= p) by (apply Rmult_le_pos; auto).
  assert (FP : 0 <= fl p) by (apply fl_nonneg; auto).
  assert (A : (fl p + 2) * (1 - u) - 1 / 500 <= word * (1 + u)).
  { assert ((fl p + 2) * (1 - u) <= (fl p + 2) * (1 + e3))
      by (apply Rmult_le_compat_l; lra).
    assert (word * (1 + e0) <= word * (1 + u)) by (apply Rmult_le_compat_l; lra).
    lra. }
  destruct promise as [B|[B B']].
  - apply Rabs_le_inv in B.
    destruct (rounding p) as (e2 & t2 & H2 & T2 & E2).
    (* x_hat (1 + tau) >= x (1 + eta / 2) *)
    assert (B1 : x * (1 - eta) * (1 + tau) <= x_hat * (1 + tau))
      by (apply Rmult_le_compat_r; unfold tau in *; lra).
    assert (B2 : x * (1 + eta / 2) <= x * ((1 - eta) * (1 + tau)))
      by (apply Rmult_le_compat_l; [auto|]; unfold tau; nra).
    assert (B3 : x * (1 + 512 * u) <= x_hat * (1 + tau)).
    { apply Rle_trans with (x * (1 + eta / 2)); [|lra].
      apply Rmult_le_compat_l; lra. }
    assert (B4 : x * (1 + 512 * u) * (1 - 2 * u) <= p).
    { apply Rle_trans with (x_hat * (1 + tau) * (1 - 2 * u)).
      - apply Rmult_le_compat_r; lra.
      - unfold p. rewrite Rmult_assoc. apply Rmult_le_compat_l; auto. }
    assert (B5 : p * (1 - u) - tiny <= fl p).
    { rewrite E2. assert (p * (1 - u) <= p * (1 + e2)) by (apply Rmult_le_compat_l; lra).
      lra. }
    assert (B6 : x * (1 + 512 * u) * (1 - 2 * u) * (1 - u) <= p * (1 - u))
      by (apply Rmult_le_compat_r; lra).
    assert (B7 : x * (1 + 500 * u) <= x * ((1 + 512 * u) * (1 - 2 * u) * (1 - u)))
      by (apply Rmult_le_compat_l; [auto|]; rewrite HU; lra).
    assert (B8 : (x * (1 + 500 * u) - tiny + 2) * (1 - u) <= (fl p + 2) * (1 - u))
      by (apply Rmult_le_compat_r; lra).
    assert (B9 : x * (1 + u) <= x * ((1 + 500 * u) * (1 - u)))
      by (apply Rmult_le_compat_l; [auto|]; rewrite HU; lra).
    apply (Rmult_le_reg_r (1 + u)); [lra|].
    assert (0 <= (2 - tiny) * (1 - u) - 1 / 500) by (rewrite HU; lra).
    lra.
  - pose proof inv_70. rewrite HU in *. nra.
Qed.

Theorem lemma_6_heads : word_hat < floor_of -> word + 1 <= x.
Proof.
  intros H. unfold floor_of in H.
  pose proof eta_u as EU. pose proof tiny_hundredth as TH. pose proof tiny_pos as TP.
  pose proof down_sum as DS.
  assert (HU : u = / 9007199254740992) by apply u_value.
  pose proof word_hat_nonneg as W0.
  destruct word_rounding as (e0 & t0 & H0 & T0 & E0).
  set (p := x_hat * fl (1 - tau)) in *.
  destruct (Rle_dec (fl p) 2) as [Small|Large].
  { assert (fl (fl p - 2) <= 0) by (apply fl_nonpos; lra). lra. }
  destruct (rounding (fl p - 2)) as (e3 & t3 & H3 & T3 & E3).
  rewrite E3 in H.
  assert (P0 : 0 <= p) by (apply Rmult_le_pos; [auto|apply DS]).
  destruct (rounding p) as (e2 & t2 & H2 & T2 & E2).
  assert (P1 : fl p <= p * (1 + u) + tiny).
  { rewrite E2. assert (p * (1 + e2) <= p * (1 + u)) by (apply Rmult_le_compat_l; lra).
    lra. }
  destruct promise as [B|[B B']].
  - apply Rabs_le_inv in B.
    assert (A : word * (1 - u) <= (fl p - 2) * (1 + u) + 1 / 500).
    { assert ((fl p - 2) * (1 + e3) <= (fl p - 2) * (1 + u))
        by (apply Rmult_le_compat_l; lra).
      assert (word * (1 - u) <= word * (1 + e0)) by (apply Rmult_le_compat_l; lra).
      lra. }
    assert (B1 : p <= x * (1 + eta) * ((1 - tau) * (1 + 2 * u))).
    { unfold p. apply Rmult_le_compat; [auto|apply DS|lra|apply DS]. }
    assert (B2 : x * ((1 + eta) * (1 - tau)) <= x * (1 - 1024 * u))
      by (apply Rmult_le_compat_l; [auto|]; unfold tau; nra).
    assert (B3 : x * ((1 + eta) * (1 - tau)) * (1 + 2 * u)
                 <= x * (1 - 1024 * u) * (1 + 2 * u))
      by (apply Rmult_le_compat_r; lra).
    assert (B4 : p * ((1 + u) * (1 + u))
                 <= x * (1 - 1024 * u) * (1 + 2 * u) * ((1 + u) * (1 + u)))
      by (apply Rmult_le_compat_r; [rewrite HU; lra | lra]).
    assert (B5 : x * ((1 - 1024 * u) * (1 + 2 * u) * ((1 + u) * (1 + u)))
                 <= x * (1 - u))
      by (apply Rmult_le_compat_l; [auto|]; rewrite HU; lra).
    assert (B6 : (fl p - 2) * (1 + u) <= (p * (1 + u) + tiny - 2) * (1 + u))
      by (apply Rmult_le_compat_r; lra).
    assert (B7 : (tiny - 2) * (1 + u) + 1 / 500 <= - (3 / 2)) by (rewrite HU; lra).
    apply (Rmult_le_reg_r (1 - u)); [lra|]. lra.
  - exfalso. apply Large. eapply Rle_trans; [exact P1|].
    assert (p <= / 2 ^ 70 * ((1 - tau) * (1 + 2 * u))).
    { unfold p. apply Rmult_le_compat; [auto|apply DS|auto|apply DS]. }
    pose proof inv_70 as I70.
    assert ((1 - tau) * (1 + 2 * u) <= 1 * 2)
      by (apply Rmult_le_compat; unfold tau in *; rewrite HU in *; lra).
    assert (0 <= / 2 ^ 70) by (apply Rlt_le, Rinv_0_lt_compat, pow2_pos).
    assert (p <= 1 / 1000 * 2).
    { eapply Rle_trans; [eassumption|]. apply Rmult_le_compat; lra. }
    rewrite HU in *. nra.
Qed.
End Coin.

