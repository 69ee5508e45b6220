(** Counts: scores whose differences are multiples of the range distance d.
    docs/proofs/bounded-range-refuted.md, corollary: the exact range is ln (2 e^eps - 1). *)
From Coq Require Import Reals Lra Lia ZArith List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy PureDP Refuted Range.
Import ListNotations.
Open Scope R_scope.

Definition on_grid (n : nat) (q : nat -> R) (d : R) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> exists k : Z, q i - q j = IZR k * d.

Definition eta_grid (eps : R) : R := ln (2 * exp eps - 1).

Lemma grid_step n q d i j : 0 < d -> on_grid n q d -> (i < n)%nat -> (j < n)%nat ->
  q j < q i -> d <= q i - q j.
Proof.
  intros Hd G Hi Hj H. destruct (G i j Hi Hj) as (k & E).
  assert (K : (1 <= k)%Z).
  { apply Z.lt_pred_le. simpl. apply lt_IZR.
    apply (Rmult_lt_reg_r d); [auto|]. lra. }
  apply IZR_le in K. rewrite E. nra.
Qed.

Theorem pf_bounded_range_grid s n q q' d : 0 < s -> 0 < d ->
  on_grid n q d -> on_grid n q' d -> range_distance n q q' d ->
  bounded_range n (pf s n q) (pf s n q') (eta_grid (d / s)).
Proof.
  intros Hs Hd G G' H.
  assert (F : 1 <= exp (d / s)).
  { rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [lra|].
    apply Rlt_le, Rinv_0_lt_compat, Hs. }
  intros i j Hi Hj. unfold eta_grid. rewrite exp_ln by lra.
  destruct (Nat.eq_dec i j) as [<-|N].
  { pose proof (pf_pos s n q i Hs Hi). pose proof (pf_pos s n q' i Hs Hi).
    assert (0 < pf s n q i * pf s n q' i) by (apply Rmult_lt_0_compat; auto).
    nra. }
  assert (S : range_distance n q' q d) by now apply range_distance_sym.
  (* case 3, or case 3 with the roles exchanged, or neither *)
  destruct (Rle_dec (q j) (q i)) as [L|L], (Rle_dec (q' j) (q' i)) as [L'|L'].
  + exact (bound_case_3 s n Hs q q' d i j Hi Hj N H L L').
  + destruct (Rle_dec (q i) (q j)) as [M|M].
    * assert (L'' : q' i <= q' j) by lra.
      pose proof (bound_case_3 s n Hs q' q d j i Hj Hi (not_eq_sym N) S L'' M). lra.
    * exfalso.
      pose proof (grid_step n q d i j Hd G Hi Hj ltac:(lra)).
      pose proof (grid_step n q' d j i Hd G' Hj Hi ltac:(lra)).
      specialize (H j i Hj Hi). lra.
  + (* both factors are at most one *)
    pose proof (pf_odds_small s n Hs q q' i j Hi Hj N ltac:(lra) ltac:(lra)) as B.
    pose proof (pf_pos s n q j Hs Hj). pose proof (pf_pos s n q' i Hs Hi).
    assert (0 < pf s n q j * pf s n q' i) by (apply Rmult_lt_0_compat; auto).
    nra.
  + assert (L'' : q' i <= q' j) by lra. assert (M : q i <= q j) by lra.
    pose proof (bound_case_3 s n Hs q' q d j i Hj Hi (not_eq_sym N) S L'' M). lra.
Qed.

(** The witness: counts (0, 0) and (0, 1). *)
Definition level (t : nat) : R := 0.
Definition ahead_1 (t : nat) : R := match t with 1%nat => 1 | _ => 0 end.

Theorem grid_exact eps x : 0 < eps ->
  (forall n q q', on_grid n q 1 -> on_grid n q' 1 -> range_distance n q q' 1 ->
     bounded_range n (pf (1 / eps) n q) (pf (1 / eps) n q') x) ->
  eta_grid eps <= x.
Proof.
  intros He H.
  assert (G : on_grid 2 level 1) by (intros i j _ _; exists 0%Z; unfold level; lra).
  assert (G' : on_grid 2 ahead_1 1).
  { intros [|[|i]] [|[|j]] Hi Hj; try lia; simpl;
      [exists 0%Z|exists (-1)%Z|exists 1%Z|exists 0%Z]; simpl; lra. }
  assert (D : range_distance 2 level ahead_1 1).
  { intros [|[|i]] [|[|j]] Hi Hj; try lia; unfold level; simpl; lra. }
  specialize (H 2%nat level ahead_1 G G' D).
  assert (O := H 0%nat 1%nat ltac:(lia) ltac:(lia)).
  rewrite !pf_two_0, !pf_two_1 in O.
  assert (B : best 2 level = 0)
    by (apply (best_unique 2 _ 0 0); [lia|reflexivity|intros; unfold level; lra]).
  assert (B' : best 2 ahead_1 = 1)
    by (apply (best_unique 2 _ 1 1); [lia|reflexivity|intros [|[|t]] Ht; simpl; lra]).
  assert (C0 : forall t, coin (1 / eps) 2 level t = 1).
  { intros t. unfold coin. rewrite B. unfold level.
    replace (- (0 - 0) / (1 / eps)) with 0 by (field; lra). apply exp_0. }
  assert (C1 : coin (1 / eps) 2 ahead_1 1 = 1).
  { unfold coin. rewrite B'. simpl.
    replace (- (1 - 1) / (1 / eps)) with 0 by (field; lra). apply exp_0. }
  assert (C2 : coin (1 / eps) 2 ahead_1 0 = / exp eps).
  { unfold coin. rewrite B'. simpl. rewrite <- exp_Ropp. f_equal. field. lra. }
  rewrite !C0, C1, C2 in O.
  pose proof (exp_pos eps) as P. pose proof (exp_pos x) as Q.
  assert (W : 1 < exp eps) by (rewrite <- exp_0; apply exp_increasing; auto).
  assert (R : 2 * exp eps - 1 <= exp x).
  { apply (Rmult_le_compat_r (4 * exp eps)) in O; [|lra].
    replace (1 * (1 - 1 / 2) * (1 * (1 - / exp eps / 2)) * (4 * exp eps))
      with (2 * exp eps - 1) in O by (field; lra).
    replace (exp x * (1 * (1 - 1 / 2) * (/ exp eps * (1 - 1 / 2))) * (4 * exp eps))
      with (exp x) in O by (field; lra).
    exact O. }
  unfold eta_grid. rewrite <- (ln_exp x).
  apply ln_le_inv'; lra.
Qed.

