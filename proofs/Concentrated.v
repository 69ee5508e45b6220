(** Concentrated privacy if no answer is impossible: docs/proofs/concentrated.md and
    docs/proofs/neighbours.md.

    The bound eps^2 / 8 is Hoeffding's lemma: with M a = E_Q [exp (a L)], ln M vanishes at 0
    and at 1 and its second derivative, a variance, is at most eps^2 / 4. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Dominance ApproxDP
  Composition Measures.
Import ListNotations.
Open Scope R_scope.

(** A law on 0, ..., n-1 in which nothing is impossible. *)
Definition positive_law (n : nat) (p : nat -> R) : Prop :=
  (forall r, (r < n)%nat -> 0 < p r) /\ sum (candidates n) p = 1.

(** [moment] is the sum of P^a Q^(1 - a), and D_a = ln moment / (a - 1). *)
Definition moment {A} (l : list A) (p p' : A -> R) (a : R) : R :=
  sum l (fun r => Rpower (p r) a * Rpower (p' r) (1 - a)).
Definition zcdp {A} (l : list A) (p p' : A -> R) (rho : R) : Prop :=
  forall a, 1 < a -> ln (moment l p p' a) / (a - 1) <= a * rho.

Lemma moment_pos {A} (l : list A) p p' a : l <> [] -> 0 < moment l p p' a.
Proof. intros H. apply sum_pos; [exact H|]. intros; apply Rmult_lt_0_compat; apply exp_pos. Qed.

Lemma zcdp_moment {A} (l : list A) p p' rho a : l <> [] -> zcdp l p p' rho -> 1 < a ->
  moment l p p' a <= exp (a * (a - 1) * rho).
Proof.
  intros E H Ha. specialize (H a Ha).
  rewrite <- (exp_ln (moment l p p' a)) by now apply moment_pos. apply exp_le.
  apply (Rmult_le_compat_r (a - 1)) in H; [|lra].
  replace (ln (moment l p p' a) / (a - 1) * (a - 1)) with (ln (moment l p p' a)) in H
    by (field; lra). lra.
Qed.

Lemma moment_zcdp {A} (l : list A) p p' rho : l <> [] ->
  (forall a, 1 < a -> moment l p p' a <= exp (a * (a - 1) * rho)) -> zcdp l p p' rho.
Proof.
  intros E H a Ha. specialize (H a Ha).
  apply (Rmult_le_reg_r (a - 1)); [lra|].
  replace (ln (moment l p p' a) / (a - 1) * (a - 1)) with (ln (moment l p p' a))
    by (field; lra).
  apply ln_le_inv' in H; [|now apply moment_pos]. rewrite ln_exp in H. lra.
Qed.

(** ** Hoeffding's lemma *)

Section Hoeffding.
Variables (l : list nat) (L : nat -> R).

Definition weighted (c : nat -> R) (u : R) : R := sum l (fun r => c r * exp (u * L r)).

Lemma weighted_derive c u :
  is_derive (weighted c) u (weighted (fun r => c r * L r) u).
Proof.
  unfold weighted. induction l as [|x m IH]; cbn [sum fold_right].
  - apply (is_derive_const 0).
  - apply (is_derive_plus (fun u => c x * exp (u * L x)) (fun u => sum m (fun r => c r * exp (u * L r)))).
    + auto_derive; [exact I|]. ring.
    + exact IH.
Qed.

Variables (c : nat -> R) (low eps : R).
Hypotheses (c_pos : forall r, In r l -> 0 < c r) (l_some : l <> [])
  (L_range : forall r, In r l -> low <= L r <= low + eps)
  (at_0 : weighted c 0 = 1) (at_1 : weighted c 1 = 1).

Let c1 r := c r * L r.
Let c2 r := c1 r * L r.
Let k := eps ^ 2 / 8.

Lemma weighted_pos u : 0 < weighted c u.
Proof.
  apply sum_pos; [exact l_some|]. intros r Hr.
  apply Rmult_lt_0_compat; [now apply c_pos | apply exp_pos].
Qed.

Lemma variance u :
  weighted c2 u * weighted c u - weighted c1 u ^ 2 <= eps ^ 2 / 4 * weighted c u ^ 2.
Proof.
  set (m := low + eps / 2).
  assert (V : weighted c2 u + (-2 * m) * weighted c1 u + m ^ 2 * weighted c u
              <= eps ^ 2 / 4 * weighted c u).
  { unfold weighted. rewrite <- !sum_scal, <- !sum_plus. apply sum_le; intros r Hr.
    unfold c2, c1. specialize (c_pos r Hr). specialize (L_range r Hr).
    pose proof (exp_pos (u * L r)) as E.
    replace (c r * L r * L r * exp (u * L r) + -2 * m * (c r * L r * exp (u * L r))
             + m ^ 2 * (c r * exp (u * L r)))
      with ((L r - m) ^ 2 * (c r * exp (u * L r))) by ring.
    apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
    assert (- (eps / 2) <= L r - m <= eps / 2) by (unfold m; lra).
    replace (eps ^ 2 / 4) with ((eps / 2) ^ 2) by field. nra. }
  pose proof (weighted_pos u) as W. apply (Rmult_le_compat_r (weighted c u)) in V; [|lra].
  pose proof (pow2_ge_0 (weighted c1 u - m * weighted c u)). nra.
Qed.

Let g u := ln (weighted c u) - k * (u * (u - 1)).
Let slope u := weighted c1 u / weighted c u - k * (2 * u - 1).

Lemma g_derive u : is_derive g u (slope u).
Proof.
  unfold g, slope. pose proof (weighted_pos u).
  evar_last.
  - apply (is_derive_minus (fun u => ln (weighted c u)) (fun u => k * (u * (u - 1)))).
    + apply (is_derive_comp ln (weighted c)); [now apply is_derive_ln | apply weighted_derive].
    + apply (is_derive_ext (fun u => k * (u * (u - 1)))); [reflexivity|].
      auto_derive; [exact I | reflexivity].
  - unfold minus, plus, opp, scal; simpl; unfold mult; simpl. unfold c1. field. lra.
Qed.

Lemma slope_derive u : exists d, is_derive slope u d /\ d <= 0.
Proof.
  pose proof (weighted_pos u) as W. pose proof (variance u) as V.
  exists ((weighted c2 u * weighted c u - weighted c1 u * weighted c1 u) / weighted c u ^ 2
          - k * 2). split.
  - unfold slope. evar_last.
    + apply (is_derive_minus (fun u => weighted c1 u / weighted c u) (fun u => k * (2 * u - 1))).
      * apply is_derive_div; [apply weighted_derive | apply weighted_derive | lra].
      * apply (is_derive_ext (fun u => k * (2 * u - 1))); [reflexivity|].
        auto_derive; [exact I | reflexivity].
    + unfold minus, plus, opp; simpl. unfold c2, c1. field. lra.
  - unfold k. apply (Rmult_le_reg_r (weighted c u ^ 2)); [nra|].
    unfold Rdiv. rewrite Rmult_0_l, Rmult_minus_distr_r, Rmult_assoc, Rinv_l, Rmult_1_r by nra.
    nra.
Qed.

Lemma mean_value (f df : R -> R) a b : a <= b -> (forall x, is_derive f x (df x)) ->
  exists z, a <= z <= b /\ f b - f a = df z * (b - a).
Proof.
  intros H D. destruct (MVT_gen f a b df) as (z & Hz & E).
  - intros; apply D.
  - intros x _. apply derivable_continuous_pt. exists (df x). apply is_derive_Reals, D.
  - rewrite Rmin_left, Rmax_right in Hz by lra. exists z. split; assumption.
Qed.

Theorem hoeffding a : 1 < a -> weighted c a <= exp (a * (a - 1) * k).
Proof.
  intros Ha.
  assert (G0 : g 0 = 0) by (unfold g; rewrite at_0, ln_1; ring).
  assert (G1 : g 1 = 0) by (unfold g; rewrite at_1, ln_1; ring).
  destruct (mean_value g slope 0 1 ltac:(lra) g_derive) as (z & Z & Ez).
  destruct (mean_value g slope 1 a ltac:(lra) g_derive) as (y & Y & Ey).
  assert (S : slope y <= slope z).
  { assert (D : forall x, is_derive slope x (Derive slope x)).
    { intros x. destruct (slope_derive x) as (d & Hd & _). apply Derive_correct. now exists d. }
    destruct (mean_value slope (Derive slope) z y ltac:(lra) D) as (x & _ & Ex).
    destruct (slope_derive x) as (d & Hd & N). apply is_derive_unique in Hd. rewrite Hd in Ex.
    nra. }
  assert (G : g a <= 0).
  { rewrite G0, G1 in Ez. rewrite G1 in Ey. nra. }
  unfold g in G. rewrite <- (exp_ln (weighted c a)) by apply weighted_pos.
  apply exp_le. lra.
Qed.
End Hoeffding.

Lemma moment_weighted n p p' a : positive_law n p -> positive_law n p' ->
  moment (candidates n) p p' a = weighted (candidates n) (loss p p') p' a.
Proof.
  intros [P _] [P' _]. apply sum_ext; intros r Hr. apply in_candidates in Hr.
  specialize (P r Hr). specialize (P' r Hr). unfold Rpower, loss.
  rewrite ln_div, <- exp_plus by auto. rewrite <- (exp_ln (p' r)) at 2 by auto.
  rewrite <- exp_plus. f_equal. ring.
Qed.

Lemma candidates_some n p : positive_law n p -> candidates n <> [].
Proof. intros [_ M] E. rewrite E in M. simpl in M. lra. Qed.

Theorem range_to_zcdp n p p' eps : positive_law n p -> positive_law n p' -> bounded_range n p p' eps ->
  zcdp (candidates n) p p' (concentrated_of_range_at_most eps).
Proof.
  intros Lp Lp' B. pose proof (candidates_some n p Lp) as Some.
  apply moment_zcdp; [exact Some|]. intros a Ha. rewrite moment_weighted by auto.
  assert (Hn : (0 < n)%nat) by (destruct n; [now contradiction Some | lia]).
  destruct (best_reached n (loss p p') Hn) as (i & Hi & Ei).
  apply (hoeffding (candidates n) (loss p p') p' (loss p p' i - eps) eps); auto.
  - intros r Hr. apply Lp'. now apply in_candidates.
  - intros r Hr. apply in_candidates in Hr. pose proof (best_ge n (loss p p') r Hr).
    pose proof (proj1 (bounded_range_loss n p p' eps (proj1 Lp) (proj1 Lp')) B i r Hi Hr). lra.
  - unfold weighted. rewrite (sum_ext _ _ p') by (intros; rewrite Rmult_0_l, exp_0; ring).
    apply Lp'.
  - unfold weighted. rewrite (sum_ext _ _ p); [apply Lp|]. intros r Hr.
    apply in_candidates in Hr. destruct Lp as [P _], Lp' as [P' _].
    specialize (P r Hr). specialize (P' r Hr).
    unfold loss. rewrite Rmult_1_l, exp_ln by now apply Rdiv_lt_0_compat. field. lra.
Qed.

Theorem pure_to_zcdp n p p' eps : positive_law n p -> positive_law n p' ->
  pure_dp n p p' eps -> pure_dp n p' p eps ->
  zcdp (candidates n) p p' (concentrated_of_pure_at_most eps).
Proof.
  intros L L' A B.
  replace (concentrated_of_pure_at_most eps)
    with (concentrated_of_range_at_most (range_of_pure eps)).
  - apply range_to_zcdp; auto. apply pure_to_range; try assumption; intros; apply Rlt_le; (now apply L) || (now apply L').
  - unfold concentrated_of_pure_at_most, concentrated_of_range_at_most, range_of_pure. field.
Qed.

(** ** From concentrated to approximate *)

Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof.
  intros H. pose proof (exp_ineq1_le (ln x)) as E. rewrite exp_ln in E by exact H. lra.
Qed.

(** 1 - exp (- x) is at most c exp ((a - 1) x), where c is the largest quotient. *)
Lemma tail_bound a x : 1 < a ->
  1 - exp (- x) <= exp (- ln a + (a - 1) * ln (1 - 1 / a) + (a - 1) * x).
Proof.
  intros Ha. destruct (Rle_dec (1 - exp (- x)) 0) as [N|N].
  { eapply Rle_trans; [exact N | apply Rlt_le, exp_pos]. }
  rewrite <- (exp_ln (1 - exp (- x))) by lra. apply exp_le.
  set (v := exp (- x)) in *. assert (V : 0 < v) by apply exp_pos.
  pose proof (ln_below (a * (1 - v)) ltac:(nra)) as A.
  assert (Q : 0 < a / (a - 1)) by (apply Rdiv_lt_0_compat; lra).
  pose proof (ln_below (v * (a / (a - 1))) ltac:(nra)) as B.
  assert (X : ln v = - x) by (unfold v; apply ln_exp).
  assert (Y : ln (1 - 1 / a) = - ln (a / (a - 1))).
  { rewrite <- ln_Rinv by exact Q. f_equal. field. lra. }
  rewrite ln_mult in A, B by lra. rewrite X in B. rewrite Y.
  apply (Rmult_le_compat_l (a - 1)) in B; [|lra].
  replace ((a - 1) * (v * (a / (a - 1)) - 1)) with (a * v - a + 1) in B by (field; lra).
  lra.
Qed.

(** ** Several people: docs/proofs/neighbours.md *)

Lemma exp_convex s a b : 0 <= s <= 1 -> exp (s * a + (1 - s) * b) <= s * exp a + (1 - s) * exp b.
Proof.
  intros S. set (m := s * a + (1 - s) * b).
  assert (T : forall x, exp m * (1 + (x - m)) <= exp x).
  { intros x. pose proof (exp_ineq1_le (x - m)). pose proof (exp_pos m).
    replace (exp x) with (exp m * exp (x - m)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; lra. }
  pose proof (Rmult_le_compat_l s _ _ ltac:(lra) (T a)).
  pose proof (Rmult_le_compat_l (1 - s) _ _ ltac:(lra) (T b)).
  replace (exp m) with (s * (exp m * (1 + (a - m))) + (1 - s) * (exp m * (1 + (b - m))))
    by (unfold m; ring).
  lra.
Qed.

(** Hölder's inequality, in logarithms. *)
Lemma hoelder {A} (l : list A) (f g : A -> R) s : l <> [] -> 0 <= s <= 1 ->
  sum l (fun r => exp (s * f r + (1 - s) * g r))
  <= exp (s * ln (sum l (fun r => exp (f r))) + (1 - s) * ln (sum l (fun r => exp (g r)))).
Proof.
  intros E S.
  set (F := sum l (fun r => exp (f r))). set (G := sum l (fun r => exp (g r))).
  assert (FP : 0 < F) by (apply sum_pos; auto using exp_pos).
  assert (GP : 0 < G) by (apply sum_pos; auto using exp_pos).
  set (c := s * ln F + (1 - s) * ln G).
  assert (H : sum l (fun r => exp (s * f r + (1 - s) * g r))
              = exp c * sum l (fun r => exp (s * (f r - ln F) + (1 - s) * (g r - ln G)))).
  { rewrite <- sum_scal. apply sum_ext. intros r _. rewrite <- exp_plus. f_equal.
    unfold c. ring. }
  rewrite H. rewrite <- (Rmult_1_r (exp c)) at 2.
  apply Rmult_le_compat_l; [left; apply exp_pos|].
  eapply Rle_trans.
  { apply sum_le. intros r _. apply (exp_convex s (f r - ln F) (g r - ln G) S). }
  rewrite sum_plus, !sum_scal.
  assert (N : forall h K, 0 < K -> sum l (fun r => exp (h r)) = K ->
            sum l (fun r => exp (h r - ln K)) = 1).
  { intros h K KP HK.
    rewrite (sum_ext l (fun r => exp (h r - ln K)) (fun r => / K * exp (h r))).
    - rewrite sum_scal, HK. field. lra.
    - intros r _. unfold Rminus. rewrite exp_plus, exp_Ropp, exp_ln by exact KP. ring. }
  rewrite (N f F FP eq_refl), (N g G GP eq_refl). lra.
Qed.

Lemma moment_exp {A} (l : list A) p p' a :
  moment l p p' a = sum l (fun r => exp (a * ln (p r) + (1 - a) * ln (p' r))).
Proof. apply sum_ext. intros r _. unfold Rpower. now rewrite <- exp_plus. Qed.

(** One more person after m. *)
Lemma zcdp_one_more {A} (l : list A) p r p' rho m : l <> [] -> 0 < m ->
  zcdp l p r (m * m * rho) -> zcdp l r p' rho -> zcdp l p p' ((m + 1) * (m + 1) * rho).
Proof.
  intros E M H1 H2. apply moment_zcdp; [exact E|]. intros a Ha.
  set (b := a + (a - 1) / m). set (beta := a * (1 + m)). set (s := a / b).
  assert (B : a < b) by (unfold b; assert (0 < (a - 1) / m) by (apply Rdiv_lt_0_compat; lra); lra).
  assert (S : 0 <= s <= 1).
  { unfold s. split; [apply Rlt_le, Rdiv_lt_0_compat; lra|].
    apply (Rmult_le_reg_r b); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (C : 1 < beta) by (unfold beta; nra).
  pose proof (zcdp_moment l p r _ b E H1 ltac:(lra)) as I1.
  pose proof (zcdp_moment l r p' _ beta E H2 C) as I2.
  apply ln_le_inv' in I1; [|now apply moment_pos].
  apply ln_le_inv' in I2; [|now apply moment_pos].
  rewrite ln_exp in I1, I2. rewrite moment_exp in I1, I2 |- *.
  assert (D : b = (m * a + a - 1) / m) by (unfold b; field; lra).
  assert (P : 0 < m * a + a - 1) by nra.
  rewrite (sum_ext l _ (fun t => exp (s * (b * ln (p t) + (1 - b) * ln (r t))
                                      + (1 - s) * (beta * ln (r t) + (1 - beta) * ln (p' t))))).
  2:{ intros t _. f_equal. unfold s, beta. rewrite D. field. split; lra. }
  eapply Rle_trans; [now apply hoelder|]. apply exp_le.
  eapply Rle_trans.
  { apply Rplus_le_compat; [apply (Rmult_le_compat_l s _ _ ltac:(lra) I1)
                           |apply (Rmult_le_compat_l (1 - s) _ _ ltac:(lra) I2)]. }
  right. unfold s, beta. rewrite D. field. split; lra.
Qed.

Theorem zcdp_people n (P : nat -> nat -> R) rho k : (0 < k)%nat -> positive_law n (P 0%nat) ->
  (forall i, (i < k)%nat -> zcdp (candidates n) (P i) (P (S i)) rho) ->
  zcdp (candidates n) (P 0%nat) (P k) (concentrated_of_people rho (INR k)).
Proof.
  unfold concentrated_of_people. replace (INR k ^ 2) with (INR k * INR k) by ring.
  intros K L H. pose proof (candidates_some n _ L) as E.
  induction k as [|k IH]; [lia|]. destruct k as [|k].
  - simpl INR. rewrite !Rmult_1_l. apply H. lia.
  - rewrite S_INR. apply (zcdp_one_more (candidates n) (P 0%nat) (P (S k))); [exact E| | |].
    + apply lt_0_INR. lia.
    + apply IH; [lia|]. intros i Hi. apply H. lia.
    + apply H. lia.
Qed.
