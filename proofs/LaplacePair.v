(** The exact rho of anything that the Laplace pair dominates: docs/proofs/concentrated.md.

    A power of the ratio of two chances is a mixture of the functions max (0, ratio - e^z). Dominance bounds
    the mean of each of these by its mean for the Laplace pair, 1 - e^((z - eps) / 2). *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Dominance Composition Measures Growth Divergences.
Import ListNotations.
Open Scope R_scope.

Section Orders.
Variable order : R.
Hypothesis order_1 : 1 < order.
Let k := 2 * order - 1.

(** The mean of the order-th power of the ratio, for the Laplace pair itself. *)
Definition laplace_moment (eps : R) : R :=
  (order * exp ((order - 1) * eps) + (order - 1) * exp (- (order * eps))) / (2 * order - 1).

Lemma slope_of_moment e : 0 <= e ->
  1 - exp (- (k * e)) <= (1 - exp (- e)) * (order + (order - 1) * exp (- (k * e))).
Proof.
  intros E.
  enough (0 <= (1 - exp (- e)) * (order + (order - 1) * exp (- (k * e))) - (1 - exp (- (k * e)))) by lra.
  apply (from_zero
    (fun e => (1 - exp (- e)) * (order + (order - 1) * exp (- (k * e))) - (1 - exp (- (k * e))))
    (fun e => exp (- e) * (order + (order - 1) * exp (- (k * e)))
              + (1 - exp (- e)) * ((order - 1) * (- k * exp (- (k * e)))) - k * exp (- (k * e)))); [exact E| | |].
  - intros x. auto_derive; [exact I | ring].
  - intros x X. pose proof (bernoulli (exp x) k (exp_pos x) ltac:(unfold k; lra)) as B.
    rewrite power_exp in B. rewrite !exp_Ropp.
    pose proof (exp_pos x) as Z. pose proof (exp_pos (k * x)) as Y.
    set (z := exp x) in *. set (y := exp (k * x)) in *. clearbody z y.
    replace (/ z * (order + (order - 1) * / y) + (1 - / z) * ((order - 1) * (- k * / y)) - k * / y)
      with (order * (y - (k * z - (k - 1))) * / (z * y)) by (unfold k; field; lra).
    apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; nra]. apply Rmult_le_pos; lra.
  - rewrite Rmult_0_r, Ropp_0, exp_0. ring.
Qed.

Theorem moment_at_most eps : 0 <= eps ->
  laplace_moment eps <= exp (order * (order - 1) * concentrated_of_laplace eps).
Proof.
  intros E. set (D e := order + (order - 1) * exp (- (k * e))).
  assert (DP : forall e, 0 < D e).
  { intros e. unfold D. pose proof (exp_pos (- (k * e))). nra. }
  assert (K : 0 < k) by (unfold k; lra).
  assert (M : laplace_moment eps = exp ((order - 1) * eps + ln (D eps / k))).
  { rewrite exp_plus, exp_ln by now apply Rdiv_lt_0_compat. unfold laplace_moment, D.
    replace (exp (- (order * eps))) with (exp ((order - 1) * eps) * exp (- (k * eps)))
      by (rewrite <- exp_plus; f_equal; unfold k; ring).
    unfold k. field. lra. }
  rewrite M. apply exp_le.
  enough (0 <= order * (order - 1) * (eps + exp (- eps) - 1) - (order - 1) * eps - ln (D eps / k))
    by (unfold concentrated_of_laplace; lra).
  apply (from_zero (fun e => order * (order - 1) * (e + exp (- e) - 1) - (order - 1) * e - ln (D e / k))
    (fun e => order * (order - 1) * (1 - exp (- e) - (1 - exp (- (k * e))) / D e))); [exact E| | |].
  - intros x. specialize (DP x). unfold D in DP |- *. auto_derive.
    + repeat split. apply Rmult_lt_0_compat; [exact DP | now apply Rinv_0_lt_compat].
    + set (y := exp (- (k * x))) in *. set (z := exp (- x)). clearbody y z. unfold k in *. field. split; lra.
  - intros x X. apply Rmult_le_pos; [nra|]. pose proof (slope_of_moment x X) as S. fold (D x) in S.
    specialize (DP x). apply (Rmult_le_compat_r (/ D x)) in S; [|now apply Rlt_le, Rinv_0_lt_compat].
    replace ((1 - exp (- x)) * D x * / D x) with (1 - exp (- x)) in S by (field; lra).
    unfold Rdiv. lra.
  - unfold D. rewrite (Rmult_0_r k), Ropp_0, exp_0.
    assert (One : (order + (order - 1) * 1) / k = 1) by (unfold k in *; field; lra).
    rewrite One, ln_1. ring.
Qed.

(** ** A power as a mixture *)

Lemma cont_above f : cont f -> cont (fun x => Rmax 0 (f x)).
Proof.
  intros F x. assert (E : forall y, (f y + Rabs (f y)) * / 2 = Rmax 0 (f y)).
  { intros y. unfold Rmax. destruct Rle_dec; [rewrite Rabs_right by lra | rewrite Rabs_left by lra]; field. }
  apply (continuous_ext (fun x => (f x + Rabs (f x)) * / 2)); [exact E|].
  apply (cont_mult (fun x => f x + Rabs (f x)) (fun _ => / 2)); [|cont].
  apply (cont_plus f (fun x => Rabs (f x))); [exact F|].
  intros y. apply (continuous_comp f Rabs); [apply F | apply continuous_Rabs].
Qed.

Lemma cont_exp c d : cont (fun z => exp (c * z + d)).
Proof. intros z. apply (ex_derive_continuous (fun z => exp (c * z + d))). auto_derive. exact I. Qed.

Definition weight (z : R) : R := order * (order - 1) * exp ((order - 1) * z + 0).
Definition layer (x y z : R) : R := weight z * Rmax 0 (x - exp (1 * z + 0) * y).

Lemma weight_cont : cont weight.
Proof. apply (cont_mult (fun _ => order * (order - 1))); [cont | apply cont_exp]. Qed.

Lemma weight_nonneg z : 0 <= weight z.
Proof. apply Rmult_le_pos; [nra | apply Rlt_le, exp_pos]. Qed.

Lemma layer_cont x y : cont (layer x y).
Proof.
  apply (cont_mult weight); [apply weight_cont|]. apply (cont_above (fun z => x - exp (1 * z + 0) * y)).
  apply (cont_minus (fun _ => x)); [cont|]. apply (cont_mult (fun z => exp (1 * z + 0))); [apply cont_exp | cont].
Qed.

Lemma powers_layers eps x y : 0 <= eps -> 0 <= y -> exp (- eps) * y <= x <= exp eps * y ->
  powers order x y = order * exp (- ((order - 1) * eps)) * x - (order - 1) * exp (- (order * eps)) * y
                     + int (layer x y) (- eps) eps.
Proof.
  intros E [Y|<-] B.
  2: { assert (x = 0) by lra. subst x. unfold powers. destruct Rlt_dec; [lra|].
       rewrite (int_ext (layer 0 0) (fun _ => 0)).
       - rewrite int_const. ring.
       - intros z. unfold layer. rewrite Rmult_0_r, Rminus_0_r, Rmax_left by lra. ring. }
  assert (X : 0 < x) by (pose proof (exp_pos (- eps)); nra).
  set (l := ln (x / y)). assert (R : 0 < x / y) by now apply Rdiv_lt_0_compat.
  assert (L : exp l = x / y) by now apply exp_ln.
  assert (XL : x = exp l * y) by (rewrite L; field; lra).
  assert (Bl : - eps <= l <= eps).
  { split; apply Rnot_lt_le; intros H; apply exp_increasing in H; rewrite XL in B; nra. }
  rewrite (int_chasles (layer x y) (- eps) l eps) by apply layer_cont.
  assert (Z : int (layer x y) l eps = 0).
  { rewrite <- (Rmult_0_r (eps - l)), <- (int_const 0 l eps). apply RInt_ext. intros z Hz.
    rewrite Rmin_left in Hz by lra. unfold layer. rewrite Rmax_left; [apply Rmult_0_r|].
    assert (exp l <= exp (1 * z + 0)) by (apply exp_le; lra). rewrite XL. nra. }
  assert (I : int (layer x y) (- eps) l
    = (order * x * exp ((order - 1) * l) - (order - 1) * y * exp (order * l))
      - (order * x * exp ((order - 1) * - eps) - (order - 1) * y * exp (order * - eps))).
  { rewrite <- (int_derive (fun z => order * x * exp ((order - 1) * z) - (order - 1) * y * exp (order * z))
      (fun z => weight z * (x - exp (1 * z + 0) * y))).
    - apply RInt_ext. intros z Hz. rewrite Rmax_right in Hz by lra. unfold layer. rewrite Rmax_right; [reflexivity|].
      assert (exp (1 * z + 0) <= exp l) by (apply exp_le; lra). rewrite XL. nra.
    - intros z. auto_derive; [exact I|]. unfold weight. rewrite !Rplus_0_r, !Rmult_1_l.
      replace (exp (order * z)) with (exp ((order - 1) * z) * exp z) by (rewrite <- exp_plus; f_equal; ring). ring.
    - apply (cont_mult weight); [apply weight_cont|].
      apply (cont_minus (fun _ => x)); [cont|].
      apply (cont_mult (fun z => exp (1 * z + 0))); [apply cont_exp | cont]. }
  rewrite Z, I. unfold powers. destruct Rlt_dec as [_|N]; [|lra].
  replace (Rpower x order * Rpower y (1 - order)) with (y * exp (order * l)).
  - replace ((order - 1) * - eps) with (- ((order - 1) * eps)) by ring.
    replace (order * - eps) with (- (order * eps)) by ring.
    replace (order * x * exp ((order - 1) * l)) with (order * y * exp (order * l)); [ring|].
    rewrite XL. replace (order * l) with ((order - 1) * l + l) by ring. rewrite exp_plus. ring.
  - unfold Rpower. rewrite <- exp_plus. rewrite <- (exp_ln y) at 1 by exact Y. rewrite <- exp_plus. f_equal.
    unfold l. rewrite ln_div by assumption. ring.
Qed.

Lemma dominated_layers n p p' eps z : is_law n p -> laplace_dominated n p p' eps -> - eps <= z <= eps ->
  sum (candidates n) (fun r => layer (p r) (p' r) z) <= weight z * (1 - exp ((z - eps) / 2)).
Proof.
  intros (P & T) D Z. unfold layer.
  rewrite (sum_scal (candidates n) (weight z) (fun r => Rmax 0 (p r - exp (1 * z + 0) * p' r))).
  apply Rmult_le_compat_l; [apply weight_nonneg|].
  replace (exp (1 * z + 0)) with (exp z) by (f_equal; ring).
  set (phi := fun r => if Rle_dec 0 (p r - exp z * p' r) then 1 else 0).
  assert (Ph : test n phi) by (intros r _; unfold phi; destruct Rle_dec; lra).
  pose proof (dominated_approx_dp n p p' eps z phi Z Ph P T D) as A. unfold delta_laplace, average in A.
  rewrite (sum_ext _ _ (fun r => phi r * p r + - exp z * (phi r * p' r))).
  - rewrite sum_plus, sum_scal. lra.
  - intros r _. unfold phi, Rmax. destruct Rle_dec; lra.
Qed.

Theorem dominated_moment n p p' eps : 0 <= eps -> is_law n p -> is_law n p' ->
  laplace_dominated n p p' eps -> laplace_dominated n p' p eps ->
  sum (candidates n) (fun r => powers order (p r) (p' r)) <= laplace_moment eps.
Proof.
  intros E L L' D D'. destruct L as (P & T). destruct L' as (P' & T').
  pose proof (dominated_pure_dp n p p' eps E P T D) as A.
  pose proof (dominated_pure_dp n p' p eps E P' T' D') as A'.
  rewrite (sum_ext _ _ (fun r => order * exp (- ((order - 1) * eps)) * p r
    + (- ((order - 1) * exp (- (order * eps))) * p' r + int (layer (p r) (p' r)) (- eps) eps))).
  2: { intros r R. apply in_candidates in R. rewrite (powers_layers eps); [ring | exact E | now apply P'|].
       pose proof (pure_dp_outcome n p p' eps r A R). pose proof (pure_dp_outcome n p' p eps r A' R) as B.
       split; [|assumption]. apply (Rmult_le_compat_l (exp (- eps))) in B; [|apply Rlt_le, exp_pos].
       rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0, Rmult_1_l in B. exact B. }
  rewrite !sum_plus, !sum_scal, T, T'.
  rewrite <- (int_sum (candidates n) (fun r => layer (p r) (p' r))) by (intros; apply layer_cont).
  assert (I : int (fun z => sum (candidates n) (fun r => layer (p r) (p' r) z)) (- eps) eps
    <= int (fun z => weight z * (1 - exp (/ 2 * z + - (eps / 2)))) (- eps) eps).
  { apply int_le; [lra | apply (cont_sum (candidates n) (fun r => layer (p r) (p' r))); intros; apply layer_cont | |].
    - apply (cont_mult weight); [apply weight_cont|]. apply (cont_minus (fun _ => 1)); [cont | apply cont_exp].
    - intros z Z. replace (/ 2 * z + - (eps / 2)) with ((z - eps) / 2) by field.
      apply dominated_layers; [now split | exact D | exact Z]. }
  set (F := fun z => order * exp ((order - 1) * z)
    - order * (order - 1) / (order - / 2) * exp ((order - / 2) * z - eps / 2)).
  rewrite (int_derive F (fun z => weight z * (1 - exp (/ 2 * z + - (eps / 2))))) in I.
  - eapply Rle_trans; [apply Rplus_le_compat_l, Rplus_le_compat_l, I|]. unfold F, laplace_moment.
    replace ((order - / 2) * eps - eps / 2) with ((order - 1) * eps) by field.
    replace ((order - / 2) * - eps - eps / 2) with (- (order * eps)) by field.
    replace ((order - 1) * - eps) with (- ((order - 1) * eps)) by ring.
    right. field. lra.
  - intros z. unfold F. auto_derive; [exact I0 || exact Logic.I|]. unfold weight. rewrite Rplus_0_r.
    replace (exp ((order - / 2) * z + - (eps / 2)))
      with (exp ((order - 1) * z) * exp (/ 2 * z + - (eps / 2))) by (rewrite <- exp_plus; f_equal; field).
    field. lra.
  - apply (cont_mult weight); [apply weight_cont|]. apply (cont_minus (fun _ => 1)); [cont | apply cont_exp].
Qed.
End Orders.

(** The chances of n candidates and of no other answer. *)
Definition listed_only (n : nat) (p : nat -> R) (r : nat) : R := if (r <? n)%nat then p r else 0.

Theorem dominated_concentrated n p p' eps : 0 <= eps -> is_law n p -> is_law n p' ->
  laplace_dominated n p p' eps -> laplace_dominated n p' p eps ->
  concentrated (listed_only n p) (listed_only n p') (concentrated_of_laplace eps).
Proof.
  intros E L L' D D'.
  assert (C : forall r, (r < n)%nat -> listed_only n p r = p r /\ listed_only n p' r = p' r).
  { intros r R. unfold listed_only. now rewrite (proj2 (Nat.ltb_lt r n) R). }
  split.
  - intros r. unfold listed_only. destruct (Nat.ltb_spec r n) as [R|R]; [|lra]. intros H.
    pose proof (pure_dp_outcome n p p' eps r (dominated_pure_dp n p p' eps E (proj1 L) (proj2 L) D) R) as A.
    destruct (proj1 L' r R) as [|Z]; [assumption|]. rewrite <- Z in A. lra.
  - intros order answers O N.
    apply Rle_trans with (sum (candidates n) (fun r => powers order (listed_only n p r) (listed_only n p' r))).
    + apply Rle_trans with (sum (filter (fun r => r <? n)%nat answers) (fun r => powers order (listed_only n p r) (listed_only n p' r))).
      * rewrite sum_filter. apply Req_le, sum_ext. intros r _. unfold listed_only.
        destruct (r <? n)%nat; [reflexivity|]. unfold powers. destruct Rlt_dec; lra.
      * apply sum_incl; [intros; apply powers_nonneg | now apply NoDup_filter|].
        intros r H. apply filter_In in H as [_ H]. now apply in_candidates, Nat.ltb_lt.
    + rewrite (sum_ext _ _ (fun r => powers order (p r) (p' r))).
      * eapply Rle_trans; [now apply (dominated_moment order O n p p' eps) | now apply moment_at_most].
      * intros r R. apply in_candidates in R. destruct (C r R) as [-> ->]. reflexivity.
Qed.

(** Two people at once cost at least twice as much as one. This is what the code charges for a person who
    leaves one group and enters another. *)
Theorem laplace_of_two eps : 2 * concentrated_of_laplace eps <= concentrated_of_laplace (2 * eps).
Proof.
  unfold concentrated_of_laplace. replace (- (2 * eps)) with (- eps + - eps) by ring. rewrite exp_plus.
  pose proof (pow2_ge_0 (exp (- eps) - 1)). lra.
Qed.
