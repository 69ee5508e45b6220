(** docs/proofs/question-sensitivities.md, "What a person is, and what a row is":
    tables, people, the two neighbour relations, and property (P). *)
From Coq Require Import Reals Lra Lia List Arith Permutation.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

(** ** People *)

Section People.
Context {Row : Type}.

(** Rows with the name of the person they belong to. Their order has no meaning: everything below uses a
    person's rows up to permutation. *)
Definition table := list (nat * Row).

Definition rows (t : table) (p : nat) : list Row :=
  map snd (filter (fun x => (fst x =? p)%nat) t).

Definition people (t : table) : list nat := nodup Nat.eq_dec (map fst t).

(** [t'] is [t] plus one person, [p], under a name that had no rows. *)
Definition added (t t' : table) (p : nat) : Prop :=
  rows t p = [] /\ rows t' p <> [] /\
  forall x, x <> p -> Permutation (rows t x) (rows t' x).

(** The neighbour relations: one person is added or removed; one is removed and
    another (perhaps of the same name) is added. *)
Definition add_remove (t t' : table) : Prop :=
  exists p, added t t' p \/ added t' t p.

Definition replace (t t' : table) : Prop :=
  exists m p p', added m t p /\ added m t' p'.

Lemma add_remove_sym t t' : add_remove t t' -> add_remove t' t.
Proof. intros [p H]; exists p; tauto. Qed.

Lemma replace_sym t t' : replace t t' -> replace t' t.
Proof. intros (m & p & p' & H & H'); exists m, p', p; auto. Qed.

(** ** (P): what a person contributes depends only on that person's rows, on public facts, and possibly on the
    name, as in a rule with a secret key. *)
Definition personal {A} (f : nat -> list Row -> A) : Prop :=
  forall p l l', Permutation l l' -> f p l = f p l'.

(** The sum of what everybody contributes. *)
Definition total (t : table) (f : nat -> list Row -> R) : R :=
  sum (people t) (fun p => f p (rows t p)).

Lemma rows_none t p : rows t p = [] <-> ~ In p (people t).
Proof.
  unfold rows, people. rewrite nodup_In. split.
  - intros E H. apply in_map_iff in H as (x & <- & H).
    assert (I : In (snd x) (map snd (filter (fun y => (fst y =? fst x)%nat) t))).
    { apply in_map, filter_In. split; [exact H | apply Nat.eqb_refl]. }
    rewrite E in I. exact I.
  - intros H. destruct (filter _ t) as [|x l] eqn:E; [reflexivity|].
    exfalso; apply H. assert (I : In x (filter (fun y => (fst y =? p)%nat) t))
      by (rewrite E; now left).
    apply filter_In in I as [I N]. apply Nat.eqb_eq in N. subst.
    now apply in_map.
Qed.

Lemma NoDup_people t : NoDup (people t).
Proof. apply NoDup_nodup. Qed.

Lemma sum_permutation {A} (l l' : list A) f : Permutation l l' -> sum l f = sum l' f.
Proof. induction 1; simpl; lra. Qed.

Lemma people_added t t' p : added t t' p -> Permutation (people t') (p :: people t).
Proof.
  intros (N & P & O). apply NoDup_Permutation.
  - apply NoDup_people.
  - constructor; [now apply rows_none | apply NoDup_people].
  - intros x. simpl. destruct (Nat.eq_dec x p) as [->|E].
    + split; [now left|]. intros _.
      destruct (in_dec Nat.eq_dec p (people t')) as [I|I]; [exact I|].
      now apply rows_none in I.
    + specialize (O x E).
      assert (H : rows t x = [] <-> rows t' x = []).
      { split; intros Z; rewrite Z in O.
        - now apply Permutation_nil in O.
        - apply Permutation_sym in O. now apply Permutation_nil in O. }
      rewrite !rows_none in H.
      destruct (in_dec Nat.eq_dec x (people t)), (in_dec Nat.eq_dec x (people t'));
        intuition congruence.
Qed.

(** Adding a person adds that person's contribution, and nothing else. *)
Theorem total_added t t' p f : personal f -> added t t' p ->
  total t' f = total t f + f p (rows t' p).
Proof.
  intros F H. unfold total. rewrite (sum_permutation _ _ _ (people_added t t' p H)).
  simpl. destruct H as (N & _ & O).
  rewrite (sum_ext (people t) (fun x => f x (rows t' x)) (fun x => f x (rows t x))).
  - ring.
  - intros x Hx. apply F, Permutation_sym, O. intros ->.
    now apply (rows_none t p) in N.
Qed.

Theorem total_replaced t t' f : personal f -> replace t t' ->
  exists p p', total t' f - total t f = f p' (rows t' p') - f p (rows t p).
Proof.
  intros F (m & p & p' & H & H'). exists p, p'.
  rewrite (total_added m t p f F H), (total_added m t' p' f F H'). ring.
Qed.

(** ** Sensitivity, monotonic scores, range distance (docs/proofs/neighbours.md) *)

Definition sensitivity (near : table -> table -> Prop)
    (q : table -> nat -> R) (D : R) : Prop :=
  forall t t', near t t' -> forall r, Rabs (q t' r - q t r) <= D.

Definition monotonic (near : table -> table -> Prop) (q : table -> nat -> R) : Prop :=
  forall t t', near t t' ->
    (forall r, q t r <= q t' r) \/ (forall r, q t' r <= q t r).

Definition distance (near : table -> table -> Prop)
    (q : table -> nat -> R) (d : R) : Prop :=
  forall t t', near t t' -> forall n, range_distance n (q t) (q t') d.

Lemma distance_general near q D : sensitivity near q D -> distance near q (2 * D).
Proof.
  intros S t t' H n. apply sensitivity_range. intros i _.
  rewrite Rabs_minus_sym. now apply S.
Qed.

Lemma distance_monotonic near q D :
  sensitivity near q D -> monotonic near q -> distance near q D.
Proof.
  intros S M t t' H n i j _ _.
  pose proof (proj1 (Rabs_le_between _ _) (S t t' H i)).
  pose proof (proj1 (Rabs_le_between _ _) (S t t' H j)).
  destruct (M t t' H) as [L|L]; pose proof (L i); pose proof (L j); lra.
Qed.

(** Replacing is removing and then adding, so distances add. *)
Lemma distance_replace q d : distance add_remove q d -> distance replace q (2 * d).
Proof.
  intros D t t' (m & p & p' & H & H') n i j Hi Hj.
  pose proof (D m t ltac:(exists p; auto) n j i Hj Hi).
  pose proof (D m t' ltac:(exists p'; auto) n i j Hi Hj). lra.
Qed.
End People.
Arguments table : clear implicits.
