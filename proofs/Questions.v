(** docs/proofs/question-sensitivities.md: scores that depend only on people's rows, and the joint choice from
    a table. *)
From Coq Require Import Reals Lra Lia List Arith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP People Sensitivities Groups
  Composition Selections JointTopK.
Open Scope R_scope.

Section Questions.
Context {Row : Type}.

(** Both scores depend only on people's rows. *)
Lemma total_same (t t' : table Row) f : personal f -> same t t' -> total t f = total t' f.
Proof.
  intros F H. unfold total.
  assert (P : Permutation.Permutation (people t) (people t')).
  { apply Permutation.NoDup_Permutation; try apply NoDup_people. intros x.
    specialize (H x).
    destruct (in_dec Nat.eq_dec x (people t)) as [I|I], (in_dec Nat.eq_dec x (people t')) as [I'|I'];
      try tauto; exfalso.
    - apply rows_none in I'. rewrite I' in H. apply Permutation.Permutation_sym, Permutation.Permutation_nil in H.
      now apply rows_none in H.
    - apply rows_none in I. rewrite I in H. apply Permutation.Permutation_nil in H.
      now apply rows_none in H. }
  rewrite (sum_permutation _ _ _ P). apply sum_ext. intros p _. now apply F.
Qed.

Theorem counts_same has (t t' : table Row) i : (forall r, personal (fun p l => has p l r)) ->
  same t t' -> people_with has t i = people_with has t' i.
Proof. intros H. apply total_same. now apply has_number. Qed.

Theorem quantiles_same value a b (t t' : table Row) i : personal value ->
  same t t' -> quantile_score value a b t i = quantile_score value a b t' i.
Proof.
  intros H S. unfold quantile_score, everyone, at_most, less_than, number_of.
  assert (G : forall test : nat -> bool,
    total t (fun p l => match value p l with Some v => if test v then 1 else 0 | None => 0 end)
    = total t' (fun p l => match value p l with Some v => if test v then 1 else 0 | None => 0 end))
    by (intros test; apply total_same; [now apply test_personal | exact S]).
  now rewrite (G (fun _ => true)), (G (fun v => v <=? i)%nat), (G (fun v => v <? i)%nat).
Qed.
End Questions.

(** The joint choice of the k most common values, from a table. *)
Section Joint.
Context {Row : Type}.
Variables (N k : nat) (has : nat -> list Row -> nat -> bool) (counts : table Row -> nat -> nat).
Hypotheses (k_pos : (1 <= k)%nat) (has_personal : forall r, personal (fun p l => has p l r))
  (counts_are : forall t r, INR (counts t r) = people_with has t r).

Lemma counts_added t t' p v : added t t' p -> (counts t v <= counts t' v <= counts t v + 1)%nat.
Proof.
  intros H. pose proof (people_with_added has has_personal t t' p v H) as B.
  rewrite <- !counts_are in B. split; apply INR_le; rewrite ?plus_INR; simpl; lra.
Qed.

Theorem joint_moves t t' :
  let d := if (k =? 1)%nat then 1 else 2 in
  (add_remove t t' -> joint_distance N k (counts t) (counts t') d) /\
  (replace t t' -> joint_distance N k (counts t) (counts t') (2 * d)).
Proof.
  intros d. split.
  - intros (p & H). unfold d. destruct (Nat.eqb_spec k 1) as [->|_]; destruct H as [H|H].
    + exact (proj1 (joint_added_one N _ _ (fun v _ => counts_added t t' p v H))).
    + exact (proj2 (joint_added_one N _ _ (fun v _ => counts_added t' t p v H))).
    + exact (proj1 (joint_added N _ _ (fun v _ => counts_added t t' p v H) k k_pos)).
    + exact (proj2 (joint_added N _ _ (fun v _ => counts_added t' t p v H) k k_pos)).
  - intros (m & p & p' & H & H'). unfold d. destruct (Nat.eqb_spec k 1) as [->|_].
    + replace (2 * 1) with 2 by ring. apply (joint_replaced_one N (counts m)).
      * intros v _. now apply (counts_added m t p).
      * intros v _. now apply (counts_added m t' p').
    + replace (2 * 2) with 4 by ring. apply (joint_replaced N (counts m)).
      * intros v _. now apply (counts_added m t p).
      * intros v _. now apply (counts_added m t' p').
      * exact k_pos.
Qed.

Theorem joint_pure_dp tuples s tuple t t' : 0 < s -> (forall i j, (tuple i j < N)%nat) ->
  let law t := em s tuples (fun i => joint_score N k (counts t) (tuple i)) in
  let d := if (k =? 1)%nat then 1 else 2 in
  (add_remove t t' -> pure_dp tuples (law t) (law t') (d / s)) /\
  (replace t t' -> pure_dp tuples (law t) (law t') (2 * d / s)).
Proof.
  intros S T law d. destruct (joint_moves t t') as [A B].
  split; intros H; (apply (selection_pure_dp em); [right; now left | exact S |]); intros i j _ _.
  - apply A; [exact H | apply T | apply T].
  - apply B; [exact H | apply T | apply T].
Qed.
End Joint.

(** A set has the score of its best order, so sets move apart no further than tuples do. *)
Lemma set_moves N k c c' x (m : nat) tuple sets : (0 < m)%nat -> (forall i o j, (tuple i o j < N)%nat) ->
  joint_distance N k c c' x ->
  let score c i := best m (fun o => joint_score N k c (tuple i o)) in
  range_distance sets (score c) (score c') x.
Proof.
  intros M T J score i j _ _. unfold score.
  destruct (best_reached m (fun o => joint_score N k c' (tuple i o)) M) as (o & O & E).
  destruct (best_reached m (fun o => joint_score N k c (tuple j o)) M) as (u & U & F).
  pose proof (best_ge m (fun o => joint_score N k c (tuple i o)) o O) as A.
  pose proof (best_ge m (fun o => joint_score N k c' (tuple j o)) u U) as B. cbv beta in *.
  specialize (J (tuple i o) (tuple j u) (T i o) (T j u)). lra.
Qed.
