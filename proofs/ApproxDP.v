(** Permute-and-flip is dominated by the Laplace pair: docs/proofs/laplace-dominance.md. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Walk Refuted Dominance.
Import ListNotations.
Open Scope R_scope.

Definition approx_dp (n : nat) (p p' : nat -> R) (eps delta : R) : Prop :=
  forall S, event n S p <= exp eps * event n S p' + delta.

Theorem pf_dominated s n q q' d : 0 < s -> (0 < n)%nat -> 0 <= d ->
  range_distance n q q' d -> laplace_dominated n (pf s n q) (pf s n q') (d / s).
Proof.
  intros Hs Hn Hd. apply dominated; auto.
  - intros; now apply pf_total.
  - intros; apply pf_shift.
  - intros; now apply pf_rivals_fall.
  - intros; now apply pf_pure_dp.
  - intros; now apply Rlt_le, pf_pos.
Qed.

Theorem pf_approx_dp s n q q' d e : 0 < s -> (0 < n)%nat ->
  range_distance n q q' d -> 0 <= e <= d / s ->
  approx_dp n (pf s n q) (pf s n q') e (delta_laplace (d / s) e).
Proof.
  intros Hs Hn H He S. rewrite !event_average.
  assert (D : 0 <= d).
  { replace d with (d / s * s) by (field; lra). apply Rmult_le_pos; lra. }
  apply dominated_approx_dp; auto using indicator_test; [lra | | |].
  - intros; now apply Rlt_le, pf_pos.
  - now apply pf_total.
  - now apply pf_dominated.
Qed.

(** The bound is exact: of two candidates, the first leads by g and then trails by eps - g. *)
Definition lead (g : R) (t : nat) : R := match t with O => g | _ => 0 end.
Definition trail (g : R) (t : nat) : R := match t with O => 0 | _ => g end.
Definition first (t : nat) : bool := (t =? 0)%nat.

Theorem pf_approx_dp_exact eps e delta : 0 < eps -> 0 <= e <= eps ->
  (forall n q q', (0 < n)%nat -> range_distance n q q' eps ->
     approx_dp n (pf 1 n q) (pf 1 n q') e delta) ->
  1 - exp ((e - eps) / 2) <= delta.
Proof.
  intros eps_pos He H. set (g := (eps - e) / 2).
  assert (G : 0 <= g <= eps) by (unfold g; lra).
  assert (R : range_distance 2 (lead g) (trail (eps - g)) eps).
  { intros i j Hi Hj. destruct i as [|[|i]]; [| |lia]; destruct j as [|[|j]]; simpl;
      try lia; lra. }
  specialize (H 2%nat (lead g) (trail (eps - g)) ltac:(lia) R first).
  assert (B1 : best 2 (lead g) = g).
  { apply (best_unique 2 _ g 0); [lia|reflexivity|].
    intros [|[|t]] Ht; simpl; lra. }
  assert (B2 : best 2 (trail (eps - g)) = eps - g).
  { apply (best_unique 2 _ _ 1); [lia|reflexivity|].
    intros [|[|t]] Ht; simpl; lra. }
  unfold event, candidates, first in H; simpl in H.
  rewrite !pf_two_0 in H. unfold coin in H. rewrite B1, B2 in H. simpl in H.
  replace (- (g - g) / 1) with 0 in H by lra.
  replace (- (g - 0) / 1) with ((e - eps) / 2) in H by (unfold g; lra).
  replace (- (eps - g - 0) / 1) with (- (e + eps) / 2) in H by (unfold g; lra).
  replace (- (eps - g - (eps - g)) / 1) with 0 in H by lra.
  rewrite exp_0 in H.
  assert (M : exp e * exp (- (e + eps) / 2) = exp ((e - eps) / 2))
    by (rewrite <- exp_plus; f_equal; lra).
  rewrite !Rplus_0_r in H.
  replace (exp e * (exp (- (e + eps) / 2) * (1 - 1 / 2)))
    with (exp ((e - eps) / 2) / 2) in H by (rewrite <- M; lra).
  lra.
Qed.

