(** docs/proofs/lazy-evaluation.md, the theorem: a public bound as a stand-in candidate. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Open Scope R_scope.

(** Candidate 0 is the stand-in with the score [B]; candidate i + 1 is the original candidate i, clamped. *)
Definition lazy_scores (B : R) (q : nat -> R) (i : nat) : R :=
  match i with O => B | S j => Rmin (q j) B end.

Lemma best_lazy n B q : best (S n) (lazy_scores B q) = B.
Proof.
  apply (best_unique (S n) _ B 0); [lia | reflexivity |].
  intros [|j] _; cbn; [lra | apply Rmin_r].
Qed.

(** Every coin is known from the candidate's own score. *)
Theorem lazy_coins s n B q : 0 < s ->
  coin s (S n) (lazy_scores B q) 0 = 1 /\
  forall j, coin s (S n) (lazy_scores B q) (S j) = exp (- (B - Rmin (q j) B) / s).
Proof.
  intros S. unfold coin. rewrite best_lazy. split; [|reflexivity].
  cbn [lazy_scores]. rewrite <- exp_0. f_equal. field. lra.
Qed.

Lemma clamp_moves x y B : Rmin 0 (y - x) <= Rmin y B - Rmin x B <= Rmax 0 (y - x).
Proof. unfold Rmin, Rmax. repeat destruct Rle_dec; lra. Qed.

Theorem lazy_range n B q q' D : 0 <= D ->
  (forall i, (i < n)%nat -> Rabs (q' i - q i) <= D) ->
  range_distance (S n) (lazy_scores B q) (lazy_scores B q') (2 * D).
Proof.
  intros HD H.
  assert (M : forall i, (i < S n)%nat ->
    - D <= lazy_scores B q' i - lazy_scores B q i <= D).
  { intros [|j] I; cbn; [lra|]. pose proof (clamp_moves (q j) (q' j) B) as C.
    pose proof (proj1 (Rabs_le_between _ _) (H j ltac:(lia))) as A.
    unfold Rmin at 1, Rmax at 1 in C. repeat destruct Rle_dec; lra. }
  intros i j I J. pose proof (M i I). pose proof (M j J). lra.
Qed.

Theorem lazy_range_monotonic n B q q' D : 0 <= D ->
  (forall i, (i < n)%nat -> 0 <= q' i - q i <= D) ->
  range_distance (S n) (lazy_scores B q) (lazy_scores B q') D /\
  range_distance (S n) (lazy_scores B q') (lazy_scores B q) D.
Proof.
  intros HD H.
  assert (M : forall i, (i < S n)%nat ->
    0 <= lazy_scores B q' i - lazy_scores B q i <= D).
  { intros [|j] I; cbn; [lra|]. pose proof (clamp_moves (q j) (q' j) B) as C.
    pose proof (H j ltac:(lia)) as A.
    unfold Rmin at 1, Rmax at 1 in C. repeat destruct Rle_dec; lra. }
  split; intros i j I J; pose proof (M i I); pose proof (M j J); lra.
Qed.
