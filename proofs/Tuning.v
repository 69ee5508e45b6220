(** docs/proofs/tuning.md: how much the slope of the generating function of the number of runs can grow between
    two neighbours. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy Constants.
Import ListNotations.
Open Scope R_scope.

(** The largest ratios, where the two constraints meet. *)
Lemma halting_ratio eps gamma u v :
  0 <= eps -> 0 < gamma <= 1 -> 0 <= u <= 1 -> 0 <= v <= 1 ->
  v <= exp eps * u -> 1 - u <= exp eps * (1 - v) ->
  (1 - (1 - gamma) * u) * (1 + gamma * exp eps) <= (exp eps + gamma) * (1 - (1 - gamma) * v).
Proof.
  intros He Hg Hu Hv H1 H2.
  assert (E : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  set (e := exp eps) in *. clearbody e.
  assert (Q : 0 <= (1 - gamma) * (gamma * (e * u - v) + (e * (1 - v) - (1 - u)))).
  { apply Rmult_le_pos; [lra|]. apply Rplus_le_le_0_compat; [|lra]. apply Rmult_le_pos; lra. }
  apply Rminus_le.
  replace ((1 - (1 - gamma) * u) * (1 + gamma * e) - (e + gamma) * (1 - (1 - gamma) * v))
    with (- ((1 - gamma) * (gamma * (e * u - v) + (e * (1 - v) - (1 - u))))) by ring.
  lra.
Qed.

Lemma poisson_gap eps u v :
  0 <= eps -> 0 <= u <= 1 -> 0 <= v <= 1 ->
  v <= exp eps * u -> 1 - u <= exp eps * (1 - v) ->
  v - u <= (exp eps - 1) / (exp eps + 1).
Proof.
  intros He Hu Hv H1 H2.
  assert (E : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  set (e := exp eps) in *. clearbody e.
  apply Rmult_le_reg_r with (e + 1); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(** ** The truncated negative binomial law of shape eta and halting probability gamma *)

(** f'(x) / E[K] determines the law, and E[K] cancels. *)
Definition halting_slope (gamma eta x : R) : R :=
  exp ((1 + eta) * ln (gamma / (1 - (1 - gamma) * x))).

Lemma left_pos gamma x : 0 < gamma <= 1 -> 0 <= x <= 1 -> 0 < 1 - (1 - gamma) * x.
Proof. intros Hg Hx. nra. Qed.

Lemma halting_slope_ratio eps gamma eta u v :
  0 <= eps -> 0 < gamma <= 1 -> -1 < eta -> 0 <= u <= 1 -> 0 <= v <= 1 ->
  v <= exp eps * u -> 1 - u <= exp eps * (1 - v) ->
  halting_slope gamma eta v
  <= exp ((1 + eta) * ln ((exp eps + gamma) / (1 + gamma * exp eps))) * halting_slope gamma eta u.
Proof.
  intros He Hg Ht Hu Hv H1 H2. unfold halting_slope. rewrite <- exp_plus. apply exp_le.
  rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [lra|].
  assert (Pu := left_pos gamma u Hg Hu). assert (Pv := left_pos gamma v Hg Hv).
  assert (E : 0 < exp eps) by apply exp_pos.
  assert (0 < gamma * exp eps) by (apply Rmult_lt_0_compat; lra).
  rewrite !ln_div by lra.
  assert (Q := halting_ratio eps gamma u v He Hg Hu Hv H1 H2).
  assert (L : ln ((1 - (1 - gamma) * u) * (1 + gamma * exp eps))
              <= ln ((exp eps + gamma) * (1 - (1 - gamma) * v))).
  { apply ln_le_inv'; [apply Rmult_lt_0_compat; lra|exact Q]. }
  rewrite !ln_mult in L by lra. lra.
Qed.
