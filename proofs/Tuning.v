(** The best of several private runs: docs/proofs/tuning.md. The number of runs is known by its
    generating function f; the winner is outcome i with probability f (F + p i) - f F, where F is
    the probability of all worse outcomes, and there is no run with probability f 0. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy Constants.
Import ListNotations.
Open Scope R_scope.

(** Probability of the outcomes 0 .. i-1, from the worst up. *)
Fixpoint below (p : nat -> R) (i : nat) : R :=
  match i with O => 0 | S j => below p j + p j end.

(** The law of the whole on 0 .. n: the winner, or n for "no run". *)
Definition winner (f : R -> R) (n : nat) (p : nat -> R) (i : nat) : R :=
  if (i =? n)%nat then f 0 else f (below p (S i)) - f (below p i).

Lemma below_nonneg p i : (forall j, (j < i)%nat -> 0 <= p j) -> 0 <= below p i.
Proof.
  induction i as [|i IH]; intros H; simpl; [lra|].
  assert (0 <= below p i) by (apply IH; intros; apply H; lia).
  assert (0 <= p i) by (apply H; lia). lra.
Qed.

Lemma below_mono p i k : (forall j, (j < i + k)%nat -> 0 <= p j) -> below p i <= below p (i + k).
Proof.
  induction k as [|k IH]; intros H.
  - rewrite Nat.add_0_r; lra.
  - rewrite Nat.add_succ_r; simpl.
    assert (below p i <= below p (i + k)) by (apply IH; intros; apply H; lia).
    assert (0 <= p (i + k)%nat) by (apply H; lia). lra.
Qed.

(** If every mass grows by a factor of at most e, so does every sum of them ... *)
Lemma below_factor e p p' i :
  (forall j, (j < i)%nat -> p j <= e * p' j) -> below p i <= e * below p' i.
Proof.
  induction i as [|i IH]; intros H; simpl; [lra|].
  assert (below p i <= e * below p' i) by (apply IH; intros; apply H; lia).
  assert (p i <= e * p' i) by (apply H; lia). lra.
Qed.

(** ... from the first to the last outcome too. *)
Lemma above_factor e p p' i k :
  (forall j, (i <= j < i + k)%nat -> p j <= e * p' j) ->
  below p (i + k) - below p i <= e * (below p' (i + k) - below p' i).
Proof.
  induction k as [|k IH]; intros H.
  - rewrite Nat.add_0_r; lra.
  - rewrite Nat.add_succ_r; simpl.
    assert (below p (i + k) - below p i <= e * (below p' (i + k) - below p' i))
      by (apply IH; intros; apply H; lia).
    assert (p (i + k)%nat <= e * p' (i + k)%nat) by (apply H; lia). lra.
Qed.

Section Runs.
Variables (f f' : R -> R) (n : nat) (p p' : nat -> R) (eps c : R).
Hypothesis Hd : forall x, 0 <= x <= 1 -> is_derive f x (f' x).
Hypothesis Hpos : forall x, 0 <= x <= 1 -> 0 <= f' x.
Hypothesis Hratio : forall u v, 0 <= u <= 1 -> 0 <= v <= 1 ->
  v <= exp eps * u -> 1 - u <= exp eps * (1 - v) -> f' v <= exp c * f' u.
Hypothesis eps_nonneg : 0 <= eps.
Hypothesis Hc : 0 <= c.
Hypothesis Hf0 : 0 <= f 0.
Hypothesis P : forall r, (r < n)%nat -> 0 <= p r.
Hypothesis P' : forall r, (r < n)%nat -> 0 <= p' r.
Hypothesis Tot : below p n = 1.
Hypothesis Tot' : below p' n = 1.
Hypothesis Dp : forall r, (r < n)%nat -> p r <= exp eps * p' r.
Hypothesis Dp' : forall r, (r < n)%nat -> p' r <= exp eps * p r.

(** One outcome: the difference of the two sides grows along the way from below i to below (S i). *)
Lemma winner_one i : (i < n)%nat ->
  f (below p (S i)) - f (below p i) <= exp (eps + c) * (f (below p' (S i)) - f (below p' i)).
Proof.
  intros Hi.
  set (F := below p i). set (G := below p' i).
  assert (F0 : 0 <= F) by (apply below_nonneg; intros; apply P; lia).
  assert (G0 : 0 <= G) by (apply below_nonneg; intros; apply P'; lia).
  assert (pi0 : 0 <= p i) by now apply P.
  assert (pi0' : 0 <= p' i) by now apply P'.
  assert (F1 : F + p i <= 1).
  { rewrite <- Tot. replace n with (S i + (n - S i))%nat by lia.
    change (F + p i) with (below p (S i)). apply below_mono; intros; apply P; lia. }
  assert (G1 : G + p' i <= 1).
  { rewrite <- Tot'. replace n with (S i + (n - S i))%nat by lia.
    change (G + p' i) with (below p' (S i)). apply below_mono; intros; apply P'; lia. }
  assert (FG : F <= exp eps * G) by (apply below_factor; intros; apply Dp; lia).
  assert (Rest : 1 - (G + p' i) <= exp eps * (1 - (F + p i))).
  { assert (A := above_factor (exp eps) p' p (S i) (n - S i)).
    replace (S i + (n - S i))%nat with n in A by lia.
    rewrite Tot, Tot' in A. change (below p (S i)) with (F + p i) in A.
    change (below p' (S i)) with (G + p' i) in A.
    apply A. intros j Hj. apply Dp'. lia. }
  assert (Di : p i <= exp eps * p' i) by now apply Dp.
  assert (Di' : p' i <= exp eps * p i) by now apply Dp'.
  assert (E : 0 < exp eps) by apply exp_pos.
  pose (h := fun t => exp (eps + c) * f (G + t * p' i) - f (F + t * p i)).
  pose (dh := fun t => exp (eps + c) * (p' i * f' (G + t * p' i)) - p i * f' (F + t * p i)).
  assert (Inside : forall t, 0 <= t <= 1 -> 0 <= F + t * p i <= 1 /\ 0 <= G + t * p' i <= 1).
  { intros t Ht. split; split; nra. }
  assert (D : forall t, 0 <= t <= 1 -> is_derive h t (dh t)).
  { intros t Ht. destruct (Inside t Ht) as [IF IG].
    apply (is_derive_minus (V := R_NormedModule)).
    - apply (is_derive_scal (fun t => f (G + t * p' i))).
      apply (is_derive_comp f (fun t => G + t * p' i)); [now apply Hd|].
      auto_derive; [trivial|ring].
    - apply (is_derive_comp f (fun t => F + t * p i)); [now apply Hd|].
      auto_derive; [trivial|ring]. }
  assert (N : forall t, 0 <= t <= 1 -> 0 <= dh t).
  { intros t Ht. destruct (Inside t Ht) as [IF IG]. unfold dh.
    assert (R1 : f' (F + t * p i) <= exp c * f' (G + t * p' i)).
    { apply Hratio; auto; [nra|].
      assert (0 <= (1 - t)) by lra.
      replace (1 - (G + t * p' i)) with ((1 - (G + p' i)) + (1 - t) * p' i) by ring.
      replace (exp eps * (1 - (F + t * p i)))
        with (exp eps * (1 - (F + p i)) + (1 - t) * (exp eps * p i)) by ring.
      apply Rplus_le_compat; [exact Rest|]. now apply Rmult_le_compat_l. }
    assert (Q := Hpos _ IF). rewrite exp_plus.
    assert (p i * f' (F + t * p i) <= (exp eps * p' i) * (exp c * f' (G + t * p' i)))
      by (apply Rmult_le_compat; auto).
    nra. }
  destruct (MVT_gen h 0 1 dh) as [t [Ht Eq]].
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply D; lra.
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra.
    apply derivable_continuous_pt. exists (dh x). apply is_derive_Reals, D; lra.
  - rewrite Rmin_left, Rmax_right in Ht by lra.
    assert (Nt := N t Ht). unfold h in Eq.
    replace (G + 1 * p' i) with (below p' (S i)) in Eq by (simpl; unfold G; ring).
    replace (F + 1 * p i) with (below p (S i)) in Eq by (simpl; unfold F; ring).
    replace (G + 0 * p' i) with G in Eq by ring.
    replace (F + 0 * p i) with F in Eq by ring.
    nra.
Qed.

Theorem winner_pure_dp : pure_dp (S n) (winner f n p) (winner f n p') (eps + c).
Proof.
  apply pure_dp_pointwise. intros r Hr. unfold winner.
  destruct (r =? n)%nat eqn:En.
  - assert (1 <= exp (eps + c)) by (rewrite <- exp_0; apply exp_le; lra). nra.
  - apply Nat.eqb_neq in En. apply winner_one; lia.
Qed.
End Runs.

(** The largest ratios: where the two constraints meet. *)
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

(** f'(x) / E[K]: the law is known by it, and E[K] cancels. *)
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

Theorem negative_binomial_pure_dp (f : R -> R) (mean eps gamma eta : R) n p p' :
  (forall x, 0 <= x <= 1 -> derivable_pt_lim f x (mean * halting_slope gamma eta x)) ->
  0 <= f 0 -> 0 <= mean -> 0 <= eps -> 0 < gamma <= 1 -> -1 < eta ->
  (forall r, (r < n)%nat -> 0 <= p r) -> (forall r, (r < n)%nat -> 0 <= p' r) ->
  below p n = 1 -> below p' n = 1 ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (winner f n p) (winner f n p') (cost_of_halting eps gamma eta).
Proof.
  intros Hd H0 Hm He Hg Ht P P' T T' D D'.
  apply (winner_pure_dp f (fun x => mean * halting_slope gamma eta x)); auto.
  - intros x Hx. apply is_derive_Reals. now apply Hd.
  - intros x Hx. apply Rmult_le_pos; [lra|]. apply Rlt_le, exp_pos.
  - intros u v Hu Hv H1 H2.
    assert (Q := halting_slope_ratio eps gamma eta u v He Hg Ht Hu Hv H1 H2).
    assert (0 <= mean) by lra.
    replace (exp ((1 + eta) * ln ((exp eps + gamma) / (1 + gamma * exp eps)))
             * (mean * halting_slope gamma eta u))
      with (mean * (exp ((1 + eta) * ln ((exp eps + gamma) / (1 + gamma * exp eps)))
             * halting_slope gamma eta u)) by ring.
    now apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [lra|].
    assert (E : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
    rewrite <- ln_1. apply ln_le_inv'; [lra|].
    apply Rmult_le_reg_r with (1 + gamma * exp eps); [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra.
Qed.

(** A geometric number of runs: f(x) = gamma x / (1 - (1 - gamma) x). *)
Theorem geometric_pure_dp (eps gamma : R) n p p' :
  0 <= eps -> 0 < gamma <= 1 ->
  (forall r, (r < n)%nat -> 0 <= p r) -> (forall r, (r < n)%nat -> 0 <= p' r) ->
  below p n = 1 -> below p' n = 1 ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  let f := fun x => gamma * x / (1 - (1 - gamma) * x) in
  pure_dp (S n) (winner f n p) (winner f n p') (cost_of_halting eps gamma 1).
Proof.
  intros He Hg P P' T T' D D' f.
  assert (G : 0 < / gamma) by (apply Rinv_0_lt_compat; lra).
  apply (negative_binomial_pure_dp f (/ gamma)); auto; try lra.
  - intros x Hx. assert (L := left_pos gamma x Hg Hx). apply is_derive_Reals.
    unfold f, halting_slope.
    assert (V : 0 < gamma / (1 - (1 - gamma) * x)) by (apply Rdiv_lt_0_compat; lra).
    replace ((1 + 1) * ln (gamma / (1 - (1 - gamma) * x)))
      with (ln (gamma / (1 - (1 - gamma) * x)) + ln (gamma / (1 - (1 - gamma) * x))) by ring.
    rewrite exp_plus, !exp_ln by exact V.
    auto_derive; [lra|]. field. lra.
  - unfold f. right. field.
Qed.

(** A Poisson number of runs: f(x) = exp (mu (x - 1)). *)
Theorem poisson_pure_dp (eps mu : R) n p p' :
  0 <= eps -> 0 <= mu ->
  (forall r, (r < n)%nat -> 0 <= p r) -> (forall r, (r < n)%nat -> 0 <= p' r) ->
  below p n = 1 -> below p' n = 1 ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  let f := fun x => exp (mu * (x - 1)) in
  pure_dp (S n) (winner f n p) (winner f n p') (cost_of_poisson eps mu).
Proof.
  intros He Hm P P' T T' D D' f.
  assert (E : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  apply (winner_pure_dp f (fun x => mu * exp (mu * (x - 1)))); auto.
  - intros x Hx. unfold f. auto_derive; [trivial|]. unfold Rminus. ring.
  - intros x Hx. apply Rmult_le_pos; [lra|]. apply Rlt_le, exp_pos.
  - intros u v Hu Hv H1 H2.
    assert (Q := poisson_gap eps u v He Hu Hv H1 H2).
    assert (X : exp (mu * (v - 1)) <= exp (mu * ((exp eps - 1) / (exp eps + 1))) * exp (mu * (u - 1))).
    { rewrite <- exp_plus. apply exp_le. rewrite <- Rmult_plus_distr_l.
      apply Rmult_le_compat_l; lra. }
    assert (mu * exp (mu * (v - 1))
            <= mu * (exp (mu * ((exp eps - 1) / (exp eps + 1))) * exp (mu * (u - 1))))
      by (apply Rmult_le_compat_l; lra).
    lra.
  - apply Rmult_le_pos; [lra|].
    unfold Rdiv. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; lra.
  - apply Rlt_le, exp_pos.
Qed.
