(** docs/proofs/question-sensitivities.md, put together: from a table, through any per-person
    rule and any groups, to the privacy of the answers. *)
From Coq Require Import Reals Lra Lia List Arith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP People Sensitivities Groups
  Composition Selections JointTopK.
Open Scope R_scope.

Section Questions.
Context {Row : Type}.
Variable n : nat.

(** A way of choosing a candidate that needs the range distance only: its law is private,
    and looks at the scores alone. *)
Definition selects (eps d : R) (law : (nat -> R) -> nat -> R) : Prop :=
  (forall q r, 0 <= law q r) /\
  (forall q q' r, (forall i, q i = q' i) -> law q r = law q' r) /\
  forall q q' r, (r < n)%nat -> range_distance n q q' d -> law q r <= exp eps * law q' r.

(** Each of our selections is one. *)
Theorem selection_selects choose s d : In choose selections -> 0 < s ->
  selects (d / s) d (fun q r => if (r <? n)%nat then choose s n q r else 0).
Proof.
  intros C S. split; [|split].
  - intros q r. destruct (Nat.ltb_spec r n); [now apply selection_nonneg | lra].
  - intros q q' r E. now replace q with q' by (apply functional_extensionality; auto).
  - intros q q' r R H. rewrite (proj2 (Nat.ltb_lt r n) R).
    apply (pure_dp_outcome n); [now apply selection_pure_dp | exact R].
Qed.

(** Scores of a table that look at people's rows only, with their range distance. *)
Section Answer.
Variables (eps d : R) (law : (nat -> R) -> nat -> R) (q : table Row -> nat -> R).
Hypothesis good : selects eps d law.
Hypothesis q_distance : distance add_remove q d.
Hypothesis q_same : forall t t' i, same t t' -> q t i = q t' i.

Theorem answer_private t t' r : (r < n)%nat -> add_remove t t' ->
  law (q t) r <= exp eps * law (q t') r.
Proof. intros R H. destruct good as (_ & _ & P). apply P; [exact R | now apply q_distance]. Qed.

(** One answer for each of [count] groups, of which a person is in at most m. *)
Variables (inside : nat -> Row -> bool) (kept : nat -> list Row -> nat -> bool) (count m : nat).
Hypothesis kept_personal : forall g, personal (fun p l => kept p l g).
Hypothesis few : forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat.
Hypothesis eps_nonneg : 0 <= eps.

Definition grouped (t : table Row) (o : nat -> nat) : R :=
  prod (candidates count) (fun g => if (o g <? n)%nat then law (q (part inside kept g t)) (o g) else 0).

Theorem grouped_private t t' o :
  (add_remove t t' -> grouped t o <= exp (INR m * eps) * grouped t' o) /\
  (replace t t' -> grouped t o <= exp (2 * (INR m * eps)) * grouped t' o).
Proof.
  destruct good as (Pos & Ext & Priv).
  set (one := fun (g : nat) (t : table Row) r => if (r <? n)%nat then law (q t) r else 0).
  assert (N : forall g t r, 0 <= one g t r)
    by (intros g u r; unfold one; destruct (r <? n)%nat; [apply Pos | lra]).
  assert (Sm : forall g t t' r, same t t' -> one g t r = one g t' r).
  { intros g u u' r H. unfold one. destruct (r <? n)%nat; [|reflexivity].
    apply Ext. intros i. now apply q_same. }
  assert (Pr : forall g t t' r, add_remove t t' -> one g t r <= exp eps * one g t' r).
  { intros g u u' r H. unfold one. destruct (Nat.ltb_spec r n) as [R|R]; [|lra].
    now apply answer_private. }
  assert (E : forall l, NoDup l -> incl l (candidates count) -> (length l <= m)%nat ->
              sum l (fun _ => eps) <= INR m * eps).
  { intros l _ _ L. rewrite sum_const. apply Rmult_le_compat_r; [exact eps_nonneg | now apply le_INR]. }
  split; intros H.
  - now apply (groups_pure_dp inside kept kept_personal count one (fun _ => eps) N Sm Pr m _ few E).
  - now apply (groups_pure_dp_replace inside kept kept_personal count one (fun _ => eps) N Sm Pr m _ few E).
Qed.
End Answer.

(** Both scores look at people's rows only. *)
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

Theorem grouped_selections (Row : Type) choose n s d (q : table Row -> nat -> R)
    (inside : nat -> Row -> bool) (kept : nat -> list Row -> nat -> bool) count m t t' o :
  In choose selections -> 0 < s -> 0 <= d -> distance add_remove q d ->
  (forall t t' i, same t t' -> q t i = q t' i) ->
  (forall g, personal (fun p l => kept p l g)) ->
  (forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat) ->
  (forall g, (o g < n)%nat) ->
  let joint t := prod (candidates count) (fun g => choose s n (q (part inside kept g t)) (o g)) in
  (add_remove t t' -> joint t <= exp (INR m * (d / s)) * joint t') /\
  (replace t t' -> joint t <= exp (2 * (INR m * (d / s))) * joint t').
Proof.
  intros C S D Q Sm K F O joint.
  assert (E : 0 <= d / s) by (apply Rmult_le_pos; [exact D | now apply Rlt_le, Rinv_0_lt_compat]).
  pose proof (grouped_private n (d / s) d _ q (selection_selects n choose s d C S) Q Sm
                inside kept count m K F E t t' o) as G.
  assert (J : forall u, grouped n (fun q r => if (r <? n)%nat then choose s n q r else 0) q
                          inside kept count u o = joint u).
  { intros u. apply prod_ext. intros g _. now rewrite (proj2 (Nat.ltb_lt (o g) n) (O g)). }
  rewrite !J in G. exact G.
Qed.

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

Theorem joint_pure_dp tuples s tuple t t' : 0 < s -> (forall i j, (tuple i j < N)%nat) ->
  let law t := em s tuples (fun i => joint_score N k (counts t) (tuple i)) in
  let d := if (k =? 1)%nat then 1 else 2 in
  (add_remove t t' -> pure_dp tuples (law t) (law t') (d / s)) /\
  (replace t t' -> pure_dp tuples (law t) (law t') (2 * d / s)).
Proof.
  intros S T law d.
  assert (Use : forall u u' x, joint_distance N k (counts u) (counts u') x ->
                pure_dp tuples (law u) (law u') (x / s)).
  { intros u u' x J. apply (selection_pure_dp em); [right; now left | exact S |].
    intros i j _ _. apply J; intros; apply T. }
  split.
  - intros (p & H). apply Use. unfold d. destruct (Nat.eqb_spec k 1) as [->|_]; destruct H as [H|H].
    + exact (proj1 (joint_added_one N _ _ (fun v _ => counts_added t t' p v H))).
    + exact (proj2 (joint_added_one N _ _ (fun v _ => counts_added t' t p v H))).
    + exact (proj1 (joint_added N _ _ (fun v _ => counts_added t t' p v H) k k_pos)).
    + exact (proj2 (joint_added N _ _ (fun v _ => counts_added t' t p v H) k k_pos)).
  - intros (m & p & p' & H & H'). apply Use. unfold d. destruct (Nat.eqb_spec k 1) as [->|_].
    + replace (2 * 1) with 2 by ring. apply (joint_replaced_one N (counts m)).
      * intros v _. now apply (counts_added m t p).
      * intros v _. now apply (counts_added m t' p').
    + replace (2 * 2) with 4 by ring. apply (joint_replaced N (counts m)).
      * intros v _. now apply (counts_added m t p).
      * intros v _. now apply (counts_added m t' p').
      * exact k_pos.
Qed.
End Joint.
