(** docs/proofs/bounded-range-refuted.md and concentrated.md: permute-and-flip is not
    ZCDP(eps^2/8) for any 0 < eps <= 2. It would be if the published bounded range were true. The witness is
    again (D, 0) against (0, D) at s = 2D/eps, here with D = 1. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy Concentrated Refuted.
Import ListNotations.
Open Scope R_scope.

(** The Kullback-Leibler divergence. *)
Definition kl (n : nat) (p p' : nat -> R) : R :=
  sum (candidates n) (fun r => p r * loss p p' r).

Section Divergence.
Variables (n : nat) (p p' : nat -> R).
Hypothesis p_pos : forall r, (r < n)%nat -> 0 < p r.
Hypothesis p'_pos : forall r, (r < n)%nat -> 0 < p' r.
Hypothesis p_total : sum (candidates n) p = 1.

(** Jensen, by the tangent of exp. *)
Lemma moment_loss a r : (r < n)%nat ->
  Rpower (p r) a * Rpower (p' r) (1 - a) = p r * exp ((a - 1) * loss p p' r).
Proof.
  intros H. pose proof (p_pos r H). pose proof (p'_pos r H).
  unfold loss. rewrite ln_div by auto. rewrite <- (exp_ln (p r)) at 2 by auto.
  unfold Rpower. rewrite <- !exp_plus. f_equal. ring.
Qed.

Lemma moment_ge_kl a : exp ((a - 1) * kl n p p') <= moment (candidates n) p p' a.
Proof.
  unfold moment. rewrite (sum_ext _ _ (fun r => p r * exp ((a - 1) * loss p p' r)))
    by (intros r Hr; apply moment_loss; now apply in_candidates).
  set (m := (a - 1) * kl n p p').
  apply Rle_trans with (sum (candidates n) (fun r =>
    exp m * (1 - m) * p r + exp m * (a - 1) * (p r * loss p p' r))).
  - rewrite sum_plus, !sum_scal, p_total. fold (kl n p p').
    replace (exp m * (a - 1) * kl n p p') with (exp m * m) by (unfold m; ring). lra.
  - apply sum_le; intros r Hr. apply in_candidates in Hr.
    pose proof (p_pos r Hr). set (y := (a - 1) * loss p p' r).
    assert (T : exp m * (1 + (y - m)) <= exp y).
    { replace y with (m + (y - m)) at 2 by ring. rewrite exp_plus.
      apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
      destruct (Req_dec (y - m) 0) as [Z|Z]; [rewrite Z, exp_0; lra|].
      apply Rlt_le. apply exp_ineq1. exact Z. }
    replace (exp m * (1 - m) * p r + exp m * (a - 1) * (p r * loss p p' r))
      with (p r * (exp m * (1 + (y - m)))) by (unfold y; ring).
    apply Rmult_le_compat_l; lra.
Qed.

(** The limit at order one. *)
Theorem zcdp_kl rho : 0 <= rho -> zcdp (candidates n) p p' rho -> kl n p p' <= rho.
Proof.
  intros R0 Z. apply Rnot_lt_le. intros L.
  set (k := kl n p p') in *.
  set (a := 1 + (k - rho) / (2 * (rho + 1))).
  assert (A : 0 < a - 1).
  { unfold a. replace (1 + (k - rho) / (2 * (rho + 1)) - 1)
      with ((k - rho) / (2 * (rho + 1))) by ring. apply Rdiv_lt_0_compat; lra. }
  specialize (Z a ltac:(lra)).
  pose proof (moment_ge_kl a) as J. fold k in J.
  apply ln_le_inv' in J; [|apply exp_pos]. rewrite ln_exp in J.
  assert (B : k <= a * rho).
  { apply Rle_trans with (ln (moment (candidates n) p p' a) / (a - 1)); [|exact Z].
    apply (Rmult_le_reg_r (a - 1)); [exact A|].
    replace (ln (moment (candidates n) p p' a) / (a - 1) * (a - 1)) with (ln (moment (candidates n) p p' a))
      by (field; lra). lra. }
  assert (C : a * rho = rho + (k - rho) * (rho / (2 * (rho + 1)))) by (unfold a; field; lra).
  assert (D : rho / (2 * (rho + 1)) <= 1 / 2).
  { apply (Rmult_le_reg_r (2 * (rho + 1))); [lra|].
    replace (rho / (2 * (rho + 1)) * (2 * (rho + 1))) with rho by (field; lra). lra. }
  nra.
Qed.
End Divergence.

Section Witness.
Variable eps : R.
Hypothesis eps_range : 0 < eps <= 2.
Let s := 2 / eps.
Let h := exp (- (eps / 2)).

Lemma witness_kl :
  kl 2 (pf s 2 ahead) (pf s 2 behind) = (1 - h) * ln (2 * exp (eps / 2) - 1).
Proof.
  assert (E : 0 < eps) by lra. pose proof (h_bounds eps E) as H. fold h in H.
  unfold kl, candidates; simpl. unfold loss, s.
  rewrite pf_ahead_0, pf_ahead_1, pf_behind_0, pf_behind_1 by exact E. fold h.
  rewrite (exp_half eps). fold h.
  replace ((1 - h / 2) / (h / 2)) with (2 * / h - 1) by (field; lra).
  replace (h / 2 / (1 - h / 2)) with (/ (2 * / h - 1)) by (field; lra).
  assert (1 < / h) by (rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  rewrite ln_Rinv by lra. field.
Qed.

Lemma witness_large : eps ^ 2 / 8 < kl 2 (pf s 2 ahead) (pf s 2 behind).
Proof.
  assert (E : 0 < eps) by lra. rewrite witness_kl.
  set (x := eps / 2).
  assert (L : x < ln (2 * exp x - 1)).
  { rewrite <- (ln_exp x) at 1. apply ln_increasing; [apply exp_pos|].
    pose proof (exp_ineq1 x ltac:(unfold x; lra)). unfold x in *. lra. }
  assert (X : 0 < x <= 1) by (unfold x; lra).
  assert (H : x / 2 <= 1 - h).
  { unfold h. fold x. rewrite exp_Ropp.
    pose proof (exp_ineq1 x ltac:(lra)).
    assert (/ exp x <= / (1 + x)) by (apply Rinv_le_contravar; lra).
    assert (/ (1 + x) <= 1 - x / 2).
    { apply (Rmult_le_reg_r (1 + x)); [lra|]. rewrite Rinv_l by lra. nra. }
    lra. }
  replace (eps ^ 2 / 8) with (x / 2 * x) by (unfold x; field).
  apply Rle_lt_trans with ((1 - h) * x).
  - apply Rmult_le_compat_r; lra.
  - apply Rmult_lt_compat_l; lra.
Qed.

Theorem published_rho_refuted : 
  ~ zcdp (candidates 2) (pf s 2 ahead) (pf s 2 behind) (concentrated_of_range_at_most eps).
Proof.
  assert (S : 0 < s) by (apply Rdiv_lt_0_compat; lra).
  unfold concentrated_of_range_at_most. intros Z. apply zcdp_kl in Z.
  - pose proof witness_large. lra.
  - intros r Hr. now apply pf_pos.
  - intros r Hr. now apply pf_pos.
  - unfold candidates; simpl. unfold s.
    rewrite pf_ahead_0, pf_ahead_1 by lra. ring.
  - pose proof (pow2_ge_0 eps). lra.
Qed.
End Witness.
