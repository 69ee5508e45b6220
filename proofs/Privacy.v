(** The privacy measures of docs/proofs/neighbours.md, for two distributions on 0..n-1. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

Definition loss (p p' : nat -> R) (r : nat) : R := ln (p r / p' r).

(** [PureDP(eps)], over every set of outcomes. *)
Definition pure_dp (n : nat) (p p' : nat -> R) (eps : R) : Prop :=
  forall S, event n S p <= exp eps * event n S p'.

(** [BoundedRange(eps)]: odds change by a factor of at most exp eps. An answer that is impossible on only one
    side violates it; an answer that is impossible on both sides does not. *)
Definition bounded_range (n : nat) (p p' : nat -> R) (eps : R) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> p i * p' j <= exp eps * (p j * p' i).

Lemma pure_dp_pointwise n p p' eps :
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) -> pure_dp n p p' eps.
Proof.
  intros H S. unfold event. rewrite <- sum_scal.
  apply sum_le; intros r Hr. apply H. apply filter_In in Hr.
  now apply in_candidates.
Qed.

Lemma ln_le_inv' a b : 0 < a -> a <= b -> ln a <= ln b.
Proof.
  intros Ha [H|H]; [apply Rlt_le, ln_increasing; auto | subst; lra].
Qed.

(** If nothing is impossible: max loss - min loss <= eps. *)
Lemma bounded_range_loss n p p' eps :
  (forall r, (r < n)%nat -> 0 < p r) -> (forall r, (r < n)%nat -> 0 < p' r) ->
  bounded_range n p p' eps <->
  (forall i j, (i < n)%nat -> (j < n)%nat -> loss p p' i - loss p p' j <= eps).
Proof.
  intros P P'.
  assert (L : forall r, (r < n)%nat -> loss p p' r = ln (p r) - ln (p' r))
    by (intros r Hr; unfold loss; rewrite ln_div; auto).
  split; intros H i j Hi Hj; specialize (H i j Hi Hj);
    pose proof (P i Hi); pose proof (P j Hj);
    pose proof (P' i Hi); pose proof (P' j Hj).
  - rewrite !L by auto.
    apply ln_le_inv' in H; [|nra].
    assert (0 < p j * p' i) by nra.
    rewrite (ln_mult (exp eps)), ln_exp, !ln_mult in H by (auto using exp_pos). lra.
  - rewrite !L in H by auto.
    rewrite <- (exp_ln (p i * p' j)), <- (exp_ln (p j * p' i)) by nra.
    rewrite <- exp_plus. apply exp_le. rewrite !ln_mult by auto. lra.
Qed.

(** Bounded range implies pure privacy for distributions. *)
Lemma bounded_range_pure n p p' eps :
  sum (candidates n) p = 1 -> sum (candidates n) p' = 1 ->
  bounded_range n p p' eps -> pure_dp n p p' eps.
Proof.
  intros M M' B. apply pure_dp_pointwise; intros i Hi.
  rewrite <- (Rmult_1_r (p i)), <- M'.
  replace (exp eps * p' i) with (exp eps * p' i * sum (candidates n) p) by (rewrite M; ring).
  rewrite <- !sum_scal. apply sum_le; intros j Hj. apply in_candidates in Hj.
  specialize (B i j Hi Hj). lra.
Qed.
