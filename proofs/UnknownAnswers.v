(** docs/proofs/unknown-domain.md, from a table: the most common values of a domain without a list, and then
    any release about the named values, such as a noisy count of each. *)
From Coq Require Import Reals Lra Lia List Arith.
From Discreet Require Import Common Constants Mechanism Privacy People Composition Divergences Wholes Answers UnknownRounds.
Import ListNotations.
Open Scope R_scope.

Lemma path_at_least (law : list nat -> nat -> R) t : (forall h r, 0 <= law h r) -> forall h, 0 <= path law h t.
Proof.
  intros L. induction t as [|r t IH]; intros h; simpl; [lra|]. apply Rmult_le_pos; [apply L | apply IH].
Qed.

Theorem unknown_domain_then {Row A : Type} N k m tau eps delta (has : nat -> list Row -> nat -> bool) rounds
    (law : list nat -> table Row -> A -> R) more more' (answers : list nat -> list A) t t' :
  0 <= tau -> 0 < eps -> 0 < delta -> (1 <= k)%nat -> (1 <= m)%nat ->
  (forall r, personal (fun p l => has p l r)) ->
  (forall p l, (length (filter (has p l) (candidates N)) <= m)%nat) ->
  margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau ->
  (forall h, whole A (law h) more more') -> (forall h, NoDup (answers h)) ->
  let found t := sum (transcripts (fun _ => S N) rounds [])
    (fun h => sum (answers h) (law h t) * path (round N k tau eps has t) [] h) in
  (add_remove t t' -> found t <= exp (INR rounds * eps + more) * found t' + INR rounds * delta) /\
  (replace t t' ->
     found t <= exp (INR rounds * (2 * eps) + more') * found t' + INR rounds * (delta * (1 + exp eps))).
Proof.
  intros T E D K M P F G W Once found.
  assert (Phi : forall h, 0 <= sum (answers h) (law h t) <= 1).
  { intros h. destruct (whole_is A (law h) more more' (W h)) as (L & _). destruct (L t) as (L0 & L1 & _).
    split; [now apply sum_nonneg | now apply L1]. }
  assert (Use : forall x d e, (forall h, sum (answers h) (law h t) <= exp e * sum (answers h) (law h t')) ->
    found t <= exp x * sum (transcripts (fun _ => S N) rounds [])
      (fun h => sum (answers h) (law h t) * path (round N k tau eps has t') [] h) + d ->
    found t <= exp (x + e) * found t' + d).
  { intros x d e C H. eapply Rle_trans; [exact H|]. apply Rplus_le_compat_r.
    rewrite exp_plus, Rmult_assoc. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
    unfold found. rewrite <- sum_scal. apply sum_le. intros h _. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [|apply C]. apply path_at_least. intros; now apply round_nonneg. }
  destruct (unknown_domain_rounds N k m tau eps delta has T E D K M P F G rounds
    (fun h => sum (answers h) (law h t)) t t' Phi) as [A1 A2].
  split; intros H; apply Use; auto; intros h;
    destruct (whole_is A (law h) more more' (W h)) as (_ & _ & Ad & Re);
    rewrite <- sum_scal; apply sum_le; intros a _; [now apply Ad | now apply Re].
Qed.
