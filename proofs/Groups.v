(** docs/proofs/question-sensitivities.md, "Groups", and docs/proofs/quantiles.md: releases about parts of a
    table, with each person in at most m of the parts. *)
From Coq Require Import Reals Lra Lia List Arith Permutation Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism People.
Import ListNotations.
Open Scope R_scope.

Lemma filter_permutation {A} (f : A -> bool) l l' :
  Permutation l l' -> Permutation (filter f l) (filter f l').
Proof.
  induction 1 as [|x l l' _ IH|x y l|l l' l'' _ IH _ IH']; simpl.
  - constructor.
  - destruct (f x); [now constructor | exact IH].
  - destruct (f x), (f y); try reflexivity. constructor.
  - now transitivity (filter f l').
Qed.

Lemma prod_exp l f : prod l (fun g => exp (f g)) = exp (sum l f).
Proof.
  induction l as [|x l IH]; simpl; [now rewrite exp_0|].
  now rewrite IH, exp_plus.
Qed.

Lemma sum_filter {A} (test : A -> bool) l f :
  sum (filter test l) f = sum l (fun g => if test g then f g else 0).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|].
  destruct (test x); simpl; rewrite IH; ring.
Qed.

Section Groups.
Context {Row Answer : Type}.
Notation table := (table Row).

(** The rows of part [g] are the rows with [inside g] of the people whom the rule keeps there. The rule [kept
    p l g] is a function of a person's name, their rows and public facts. *)
Variable inside : nat -> Row -> bool.
Variable kept : nat -> list Row -> nat -> bool.
Hypothesis kept_personal : forall g, personal (fun p l => kept p l g).

Definition part (g : nat) (t : table) : table :=
  filter (fun x => inside g (snd x) && kept (fst x) (rows t (fst x)) g) t.

(** Whether person [p] with the rows [l] is in part [g]. *)
Definition is_in (p : nat) (l : list Row) (g : nat) : bool :=
  kept p l g && existsb (inside g) l.

Definition same (t t' : table) : Prop := forall p, Permutation (rows t p) (rows t' p).

Lemma rows_filter (f : Row -> bool) (K : nat -> bool) (t : table) p :
  rows (filter (fun x => f (snd x) && K (fst x)) t) p
  = if K p then filter f (rows t p) else [].
Proof.
  unfold rows. induction t as [|[x y] t IH]; simpl.
  - now destruct (K p).
  - destruct (Nat.eqb_spec x p) as [->|D].
    + destruct (f y) eqn:F, (K p) eqn:KP; simpl; rewrite ?Nat.eqb_refl; simpl;
        rewrite ?F; simpl; rewrite ?IH; reflexivity.
    + destruct (f y), (K x); simpl; rewrite ?(proj2 (Nat.eqb_neq x p) D); exact IH.
Qed.

Lemma rows_part g t p : rows (part g t) p =
  if kept p (rows t p) g then filter (inside g) (rows t p) else [].
Proof. apply (rows_filter (inside g) (fun p => kept p (rows t p) g)). Qed.

Lemma rows_part_same g t t' p : Permutation (rows t p) (rows t' p) ->
  Permutation (rows (part g t) p) (rows (part g t') p).
Proof.
  intros H. rewrite !rows_part, (kept_personal g p _ _ H).
  destruct (kept p (rows t' p) g); [now apply filter_permutation | constructor].
Qed.

Lemma filter_none {A} (f : A -> bool) l : filter f l = [] <-> existsb f l = false.
Proof.
  induction l as [|x l IH]; simpl; [tauto|].
  destruct (f x); simpl; [easy | exact IH].
Qed.

(** A person who is added joins the parts that the rule gives, and does not change the other parts. *)
Theorem part_added g t t' p : added t t' p ->
  if is_in p (rows t' p) g then added (part g t) (part g t') p
  else same (part g t) (part g t').
Proof.
  intros (N & P & O).
  assert (E : rows (part g t) p = [])
    by (rewrite rows_part, N; now destruct (kept p [] g)).
  assert (R : rows (part g t') p <> [] <-> is_in p (rows t' p) g = true).
  { rewrite rows_part. unfold is_in. destruct (kept p (rows t' p) g); simpl; [|easy].
    rewrite filter_none. now destruct (existsb (inside g) (rows t' p)). }
  destruct (is_in p (rows t' p) g) eqn:I.
  - split; [exact E|]. split; [now apply R|].
    intros x Hx. now apply rows_part_same, O.
  - intros x. destruct (Nat.eq_dec x p) as [->|Hx]; [|now apply rows_part_same, O].
    rewrite E. destruct (rows (part g t') p) as [|y l] eqn:Q; [constructor|].
    assert (false = true) by (apply R; discriminate). discriminate.
Qed.

(** ** The joint release *)

(** [law g t o]: the chance of answer [o] when part [g] is [t]. *)
Variable count : nat.
Variable law : nat -> table -> Answer -> R.
Variable eps : nat -> R.
Hypothesis law_nonneg : forall g t o, 0 <= law g t o.
Hypothesis law_same : forall g t t' o, same t t' -> law g t o = law g t' o.
Hypothesis law_private : forall g t t' o,
  add_remove t t' -> law g t o <= exp (eps g) * law g t' o.

(** Independent releases, one for each part. *)
Definition joint (t : table) (o : nat -> Answer) : R :=
  prod (candidates count) (fun g => law g (part g t) (o g)).

Variables (m : nat) (E : R).
Hypothesis few : forall p l, (length (filter (is_in p l) (candidates count)) <= m)%nat.
(** [E] is at least the sum of the m largest costs. *)
Hypothesis largest : forall l, NoDup l -> incl l (candidates count) ->
  (length l <= m)%nat -> sum l eps <= E.

Lemma joint_nonneg t o : 0 <= joint t o.
Proof. apply prod_nonneg; intros; apply law_nonneg. Qed.

Lemma joint_step t t' p o :
  added t t' p ->
  (forall g, law g (part g t) (o g)
     <= exp (if is_in p (rows t' p) g then eps g else 0) * law g (part g t') (o g)) /\
  (forall g, law g (part g t') (o g)
     <= exp (if is_in p (rows t' p) g then eps g else 0) * law g (part g t) (o g)).
Proof.
  intros H. split; intros g; pose proof (part_added g t t' p H) as S;
    destruct (is_in p (rows t' p) g).
  - apply law_private. exists p; now left.
  - rewrite (law_same g _ _ _ S), exp_0. lra.
  - apply law_private. exists p; now right.
  - rewrite (law_same g _ _ _ S), exp_0. lra.
Qed.

Lemma joint_factors (f f' : nat -> R) p l :
  (forall g, 0 <= f g) -> (forall g, 0 <= f' g) ->
  (forall g, f g <= exp (if is_in p l g then eps g else 0) * f' g) ->
  prod (candidates count) f <= exp E * prod (candidates count) f'.
Proof.
  intros F F' H.
  apply Rle_trans with (prod (candidates count)
    (fun g => exp (if is_in p l g then eps g else 0) * f' g)).
  { apply prod_le; intros; auto. }
  rewrite prod_mult, prod_exp, <- sum_filter.
  apply Rmult_le_compat_r; [now apply prod_nonneg|]. apply exp_le, largest.
  - apply NoDup_filter, NoDup_candidates.
  - intros g Hg. now apply filter_In in Hg.
  - apply few.
Qed.

Theorem groups_pure_dp t t' o : add_remove t t' -> joint t o <= exp E * joint t' o.
Proof.
  intros (p & [H|H]).
  - apply (joint_factors _ _ p (rows t' p)); intros; try apply law_nonneg.
    apply (joint_step t t' p o H).
  - apply (joint_factors _ _ p (rows t p)); intros; try apply law_nonneg.
    apply (joint_step t' t p o H).
Qed.

Theorem groups_pure_dp_replace t t' o : replace t t' ->
  joint t o <= exp (2 * E) * joint t' o.
Proof.
  intros (s & p & p' & H & H').
  assert (A : joint t o <= exp E * joint s o)
    by (apply groups_pure_dp; exists p; now right).
  assert (B : joint s o <= exp E * joint t' o)
    by (apply groups_pure_dp; exists p'; now left).
  replace (2 * E) with (E + E) by ring. rewrite exp_plus.
  pose proof (exp_pos E). nra.
Qed.
End Groups.

(** ** A rule: the first m of the groups in which a person has rows *)

Section Least.
Context {Row : Type}.
Variables (inside : nat -> Row -> bool) (m : nat).

Definition in_least (p : nat) (l : list Row) (g : nat) : bool :=
  (length (filter (fun g' => existsb (inside g') l) (seq 0 g)) <? m)%nat.

Lemma existsb_permutation (f : Row -> bool) l l' :
  Permutation l l' -> existsb f l = existsb f l'.
Proof.
  induction 1 as [|x l l' _ IH|x y l|l l' l'' _ IH _ IH']; simpl; try congruence.
  destruct (f x), (f y); reflexivity.
Qed.

Theorem in_least_personal g : personal (fun p l => in_least p l g).
Proof.
  intros p l l' H. unfold in_least. do 2 f_equal. apply filter_ext.
  intros g'. now apply existsb_permutation.
Qed.

Theorem in_least_few count p l :
  (length (filter (is_in inside in_least p l) (candidates count)) <= m)%nat.
Proof.
  set (has := fun g => existsb (inside g) l).
  assert (A : (length (filter (is_in inside in_least p l) (candidates count))
               <= Nat.min m (length (filter has (candidates count))))%nat).
  { unfold candidates. induction count as [|c IH]; [simpl; lia|].
    rewrite seq_S, Nat.add_0_l, !filter_app, !app_length. cbn [filter].
    replace (is_in inside in_least p l c)
      with ((length (filter has (seq 0 c)) <? m)%nat && has c) by reflexivity.
    destruct (has c); rewrite ?andb_true_r, ?andb_false_r; cbn [length]; [|lia].
    destruct (Nat.ltb_spec (length (filter has (seq 0 c))) m); cbn [length]; lia. }
  lia.
Qed.
End Least.
