(** docs/proofs/groups-from-the-data.md, from a table: groups that are on no list are found, and then a
    question is asked about them. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism People Recursion UnknownDomain Keeping Answers Divergences Wholes.
Import ListNotations.
Open Scope R_scope.

Section Found.
Context {Row : Type}.
Variable eps delta : R.
Hypothesis eps_nonneg : 0 <= eps.
Hypothesis delta_range : 0 <= delta <= 1.

(** How many people each of G possible groups has; a person counts in one of them, or in none. *)
Definition sizes (group : nat -> list Row -> option nat) (G : nat) (t : table Row) : list nat :=
  map (fun g => number_with (fun p l => has_value group p l g) t) (candidates G).

Definition differ (n n' : nat -> nat) (g : nat) : bool := negb (n g =? n' g)%nat.

Lemma changed_map (n n' : nat -> nat) l :
  (forall g, n' g = n g \/ n' g = S (n g) \/ n g = S (n' g)) ->
  changed (length (filter (differ n n') l)) (map n l) (map n' l).
Proof.
  intros H. induction l as [|g l IH]; [constructor|].
  cbn [filter map]. unfold differ at 1. destruct (Nat.eqb_spec (n g) (n' g)) as [E|E]; cbn [negb].
  - rewrite <- E. now constructor.
  - cbn [length]. constructor; [destruct (H g); [congruence | tauto] | exact IH].
Qed.

Section Group.
Variable group : nat -> list Row -> option nat.
Hypothesis group_personal : personal group.
Let number (t : table Row) g := number_with (fun p l => has_value group p l g) t.

Lemma few_added G t t' p : added t t' p ->
  (length (filter (differ (number t) (number t')) (candidates G)) <= 1)%nat.
Proof.
  intros H. apply at_most_one; [apply NoDup_candidates|].
  assert (D : forall g, differ (number t) (number t') g = true -> group p (rows t' p) = Some g).
  { intros g. unfold differ, number.
    rewrite (number_with_added _ t t' p (has_value_personal group g group_personal) H).
    unfold has_value at 3. destruct (group p (rows t' p)) as [x|].
    - destruct (Nat.eqb_spec x g) as [->|E]; [reflexivity|].
      rewrite Nat.add_0_r, Nat.eqb_refl. discriminate.
    - rewrite Nat.add_0_r, Nat.eqb_refl. discriminate. }
  intros x y X Y. apply D in X. apply D in Y. congruence.
Qed.

Lemma differ_sym n n' l : filter (differ n n') l = filter (differ n' n) l.
Proof. apply filter_ext. intros g. unfold differ. now rewrite Nat.eqb_sym. Qed.

Lemma few_changed G t t' :
  (add_remove t t' -> length (filter (differ (number t) (number t')) (candidates G)) <= 1)%nat /\
  (replace t t' -> length (filter (differ (number t) (number t')) (candidates G)) <= 2)%nat.
Proof.
  split.
  - intros (p & [H|H]); [|rewrite differ_sym]; now apply few_added with p.
  - intros (m & p & p' & H & H').
    pose proof (few_added G m t p H) as A. pose proof (few_added G m t' p' H') as B.
    apply Nat.le_trans with (length (filter (fun g => differ (number m) (number t) g
                                                      || differ (number m) (number t') g) (candidates G))).
    + apply filter_le. intros g _. unfold differ.
      destruct (Nat.eqb_spec (number t g) (number t' g)), (Nat.eqb_spec (number m g) (number t g)),
        (Nat.eqb_spec (number m g) (number t' g)); simpl; congruence.
    + pose proof (filter_or (differ (number m) (number t)) (differ (number m) (number t')) (candidates G)).
      lia.
Qed.

Lemma sizes_moved t t' g : add_remove t t' \/ replace t t' ->
  number t' g = number t g \/ number t' g = S (number t g) \/ number t g = S (number t' g).
Proof.
  intros H. pose proof (number_with_moves _ t t' (has_value_personal group g group_personal) H).
  unfold number. lia.
Qed.

Lemma found_moves G t t' J more test test' : add_remove t t' \/ replace t t' ->
  (length (filter (differ (number t) (number t')) (candidates G)) <= J)%nat ->
  is_test test -> is_test test' -> (forall l, test l <= exp more * test' l) ->
  passes eps delta (sizes group G t) test
  <= exp (INR J * eps + more) * passes eps delta (sizes group G t') test' + INR J * delta.
Proof.
  intros H L T T' M.
  pose proof (kept_changed eps delta eps_nonneg delta_range _ _ _ more
    (changed_map (number t) (number t') (candidates G) (fun g => sizes_moved t t' g H)) test test' T T' M) as K.
  fold (sizes group G t) (sizes group G t') in K. eapply Rle_trans; [exact K|].
  apply le_INR in L.
  pose proof (passes_range eps delta eps_nonneg delta_range (sizes group G t') test' T').
  apply Rplus_le_compat; apply Rmult_le_compat_r; try lra. apply exp_le. nra.
Qed.
End Group.

(** [answers l]: the answers about the kept groups [l] that are in a set. The group in which a person counts
    may depend on secret coins. *)
Theorem found_groups_approx_dp C coins weight (group : C -> nat -> list Row -> option nat) G A
    (law : list bool -> table Row -> A -> R) more more' (answers : list bool -> list A) t t' :
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 -> (forall c, personal (group c)) ->
  (forall l, whole A (law l) more more') -> (forall l, NoDup (answers l)) ->
  let found t := sum coins (fun c => weight c *
    passes eps delta (sizes (group c) G t) (fun l => sum (answers l) (law l t))) in
  (add_remove t t' -> found t <= exp (eps + more) * found t' + delta) /\
  (replace t t' -> found t <= exp (2 * eps + more') * found t' + 2 * delta).
Proof.
  intros W T P Q One found.
  assert (Test : forall u, is_test (fun l => sum (answers l) (law l u))).
  { intros u l. destruct (whole_is A (law l) more more' (Q l)) as (L & _). destruct (L u) as (L0 & L1 & _).
    split; [now apply sum_nonneg | now apply L1]. }
  assert (Cost : forall l, (add_remove t t' -> sum (answers l) (law l t) <= exp more * sum (answers l) (law l t')) /\
    (replace t t' -> sum (answers l) (law l t) <= exp more' * sum (answers l) (law l t'))).
  { intros l. destruct (whole_is A (law l) more more' (Q l)) as (_ & _ & Ad & Re).
    split; intros H; rewrite <- sum_scal; apply sum_le; intros a _; [now apply Ad | now apply Re]. }
  split; intros H; apply average_approx; try assumption; intros c _.
  - replace eps with (INR 1 * eps) at 2 by (simpl; ring).
    replace delta with (INR 1 * delta) at 3 by (simpl; ring).
    apply found_moves; auto; [apply few_changed; auto|]. intros l. now apply (Cost l).
  - apply (found_moves (group c) (P c) G t t' 2); auto; [apply few_changed; auto|]. intros l. now apply (Cost l).
Qed.
End Found.
