(** docs/proofs/unequal-sensitivities.md: one person moves score i by at most D i. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

(** The least value of f over a list; 0 for an empty list. *)
Fixpoint least (l : list nat) (f : nat -> R) : R :=
  match l with
  | [] => 0
  | [j] => f j
  | j :: l => Rmin (f j) (least l f)
  end.

(** s_i = min over j <> i of (a_i - a_j) / apart i j, where a_i = q_i - t D_i. *)
Definition ratios (n : nat) (t : R) (D : nat -> R) (apart : nat -> nat -> R) (q : nat -> R) (i : nat) : R :=
  least (others n i) (fun j => ((q i - t * D i) - (q j - t * D j)) / apart i j).

Lemma least_moves l (f f' : nat -> R) : (forall j, In j l -> Rabs (f' j - f j) <= 1) -> Rabs (least l f' - least l f) <= 1.
Proof.
  induction l as [|j [|k l] IH]; intros H.
  - simpl. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - apply H. now left.
  - cbn [least]. change (Rabs (Rmin (f' j) (least (k :: l) f') - Rmin (f j) (least (k :: l) f)) <= 1).
    specialize (IH (fun x X => H x (or_intror X))). specialize (H j (or_introl eq_refl)).
    apply Rabs_le_between in IH. apply Rabs_le_between in H. apply Rabs_le_between.
    unfold Rmin. destruct Rle_dec, Rle_dec; lra.
Qed.

Section Unequal.
Variables (n : nat) (D q q' : nat -> R) (d t : R).
Hypotheses (D_nonneg : forall i, (i < n)%nat -> 0 <= D i)
  (one_zero : forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < D i + D j).

Lemma ratios_move (apart : nat -> nat -> R) :
  (forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < apart i j /\
     Rabs ((q' i - q i) - (q' j - q j)) <= apart i j) ->
  range_distance n (ratios n t D apart q) (ratios n t D apart q') 2.
Proof.
  intros H.
  assert (M : forall i, (i < n)%nat -> Rabs (ratios n t D apart q' i - ratios n t D apart q i) <= 1).
  { intros i I. apply least_moves. intros j J. apply filter_In in J as [J N].
    apply in_candidates in J. apply Bool.negb_true_iff, Nat.eqb_neq in N.
    destruct (H i j I J ltac:(lia)) as [P L].
    replace (((q' i - t * D i) - (q' j - t * D j)) / apart i j - ((q i - t * D i) - (q j - t * D j)) / apart i j)
      with (((q' i - q i) - (q' j - q j)) / apart i j) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ apart i j)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, P).
    apply (Rmult_le_reg_r (apart i j)); [exact P|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  intros i j I J. pose proof (M i I) as A. pose proof (M j J) as B.
  apply Rabs_le_between in A. apply Rabs_le_between in B. lra.
Qed.

Theorem unequal_general : 0 <= d ->
  (forall i, (i < n)%nat -> Rabs (q' i - q i) <= D i) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> D i + D j <= d) ->
  range_distance n q q' d /\
  range_distance n (ratios n t D (fun i j => D i + D j) q) (ratios n t D (fun i j => D i + D j) q') 2.
Proof.
  intros P H L. split.
  - intros i j I J. destruct (Nat.eq_dec i j) as [->|N]; [lra|]. specialize (L i j I J N).
    pose proof (H i I) as A. pose proof (H j J) as B. apply Rabs_le_between in A. apply Rabs_le_between in B. lra.
  - apply ratios_move. intros i j I J N. split; [now apply one_zero|].
    pose proof (H i I) as A. pose proof (H j J) as B. apply Rabs_le_between in A. apply Rabs_le_between in B.
    apply Rabs_le_between. lra.
Qed.

Theorem unequal_monotone :
  (forall i, (i < n)%nat -> 0 <= q' i - q i <= D i) \/ (forall i, (i < n)%nat -> 0 <= q i - q' i <= D i) ->
  (forall i, (i < n)%nat -> D i <= d) ->
  range_distance n q q' d /\
  range_distance n (ratios n t D (fun i j => Rmax (D i) (D j)) q) (ratios n t D (fun i j => Rmax (D i) (D j)) q') 2.
Proof.
  intros H L. split.
  - intros i j I J. pose proof (L i I). pose proof (L j J).
    destruct H as [H|H]; pose proof (H i I); pose proof (H j J); lra.
  - apply ratios_move. intros i j I J N. pose proof (Rmax_l (D i) (D j)). pose proof (Rmax_r (D i) (D j)).
    pose proof (one_zero i j I J N). pose proof (D_nonneg i I). pose proof (D_nonneg j J). split.
    + apply Rlt_le_trans with ((D i + D j) / 2); lra.
    + apply Rabs_le_between. destruct H as [H|H]; pose proof (H i I); pose proof (H j J); lra.
Qed.
End Unequal.
