(** docs/proofs/sampling.md, lemma 16: a proposal from cells of equal chance. *)
From Coq Require Import Reals Lra Lia List Arith.
From Discreet Require Import Common Mechanism UniformBelow Visits.
Import ListNotations.
Open Scope R_scope.

(** A run of consecutive candidates: where it starts, how often an offset in it is halved, its number of cells. *)
Record run := { start : nat; halvings : nat; cells : nat }.

Definition all_cells (runs : list run) : list run := flat_map (fun r => repeat r (cells r)) runs.

(** The candidate at a place; every cell has [b] places. *)
Definition candidate_at (b : nat) (runs : list run) (place : nat) : nat :=
  let r := nth (place / b) (all_cells runs) (Build_run 0 0 0) in
  (start r + (place mod b) / 2 ^ halvings r)%nat.

Lemma sum_rows m b (f : nat -> R) :
  sum (candidates (m * b)) f = sum (candidates m) (fun i => sum (candidates b) (fun o => f (i * b + o)%nat)).
Proof.
  induction m as [|m IH]; [reflexivity|]. replace (S m * b)%nat with (m * b + b)%nat by lia.
  unfold candidates in *. rewrite seq_app, sum_app, IH, seq_S, sum_app. f_equal. cbn [sum fold_right Nat.add].
  rewrite sum_seq. unfold candidates. rewrite Rplus_0_r. reflexivity.
Qed.

Lemma sum_nth_of {A} (l : list A) d (g : A -> R) : sum (candidates (length l)) (fun i => g (nth i l d)) = sum l g.
Proof.
  induction l as [|x l IH]; [reflexivity|].
  change (g x + sum (seq 1 (length l)) (fun i => g (nth i (x :: l) d)) = g x + sum l g).
  rewrite sum_seq, <- IH. reflexivity.
Qed.

Lemma sum_repeat {A} (x : A) k g : sum (repeat x k) g = INR k * g x.
Proof.
  induction k as [|k IH]; [simpl; ring|]. rewrite S_INR. cbn [repeat sum fold_right]. fold (sum (repeat x k) g).
  rewrite IH. ring.
Qed.

(** Every candidate of a run is at cells * 2^halvings places. *)
Theorem places_of_candidates b runs phi : (1 <= b)%nat ->
  (forall r, In r runs -> exists c, b = (c * 2 ^ halvings r)%nat) ->
  sum (candidates (length (all_cells runs) * b)) (fun place => phi (candidate_at b runs place))
  = sum runs (fun r => INR (cells r) * 2 ^ halvings r *
      sum (candidates (b / 2 ^ halvings r)) (fun o => phi (start r + o)%nat)).
Proof.
  intros B D. rewrite sum_rows.
  rewrite (sum_ext _ _ (fun i => (fun r => sum (candidates b) (fun o => phi (start r + o / 2 ^ halvings r)%nat))
    (nth i (all_cells runs) (Build_run 0 0 0)))).
  2: { intros i _. apply sum_ext. intros o O. apply in_candidates in O. unfold candidate_at.
       rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
       rewrite (Nat.add_comm (i * b)), Nat.mod_add, Nat.mod_small by lia. reflexivity. }
  eapply eq_trans; [apply (sum_nth_of (all_cells runs) (Build_run 0 0 0)
    (fun r => sum (candidates b) (fun o => phi (start r + o / 2 ^ halvings r)%nat)))|]. unfold all_cells. clear B. revert D. induction runs as [|r runs IH]; intros D; [reflexivity|].
  cbn [flat_map]. rewrite sum_app, sum_repeat. rewrite IH by (intros; apply D; now right).
  cbn [sum fold_right]. f_equal. rewrite Rmult_assoc. f_equal.
  destruct (D r ltac:(now left)) as [c C]. set (h := (2 ^ halvings r)%nat) in *.
  assert (h0 : (1 <= h)%nat) by (unfold h; pose proof (Nat.pow_nonzero 2 (halvings r)); lia).
  rewrite C at 1. rewrite sum_rows.
  replace (b / h)%nat with c by (rewrite C, Nat.div_mul; lia).
  rewrite <- sum_scal. apply sum_ext. intros i _.
  rewrite (sum_ext _ _ (fun _ => phi (start r + i)%nat)).
  - rewrite sum_const. unfold candidates. rewrite seq_length. unfold h. rewrite INR_pow2. reflexivity.
  - intros o O. apply in_candidates in O. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. reflexivity.
Qed.
