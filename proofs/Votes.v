(** docs/proofs/votes.md: votes of blocks, from dealing people into blocks to pure privacy.

    People are dealt into m blocks; [vote b t] is the vote of block b with the rows t: a candidate, or none.
    It can be any function that depends only on the block's rows (in any order). *)
From Coq Require Import Reals Lra Lia List Arith Permutation FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy People Groups Composition Recursion Selections.
Import ListNotations.
Open Scope R_scope.

Section Votes.
Context {Row : Type}.
Notation table := (table Row).

Variable m : nat.

(** The rows of the people who are dealt into a block. *)
Definition in_block (block : nat -> nat) (b : nat) (t : table) : table :=
  filter (fun x => (block (fst x) =? b)%nat) t.

Definition ballot (vote : option nat) (r : nat) : R :=
  match vote with Some c => if (c =? r)%nat then 1 else 0 | None => 0 end.

(** How many blocks vote for candidate r. *)
Definition votes (vote : nat -> table -> option nat) (block : nat -> nat) (t : table) (r : nat) : R :=
  sum (candidates m) (fun b => ballot (vote b (in_block block b t)) r).

Lemma rows_in_block block b (t : table) x :
  rows (in_block block b t) x = if (block x =? b)%nat then rows t x else [].
Proof.
  unfold rows, in_block. induction t as [|[y z] t IH]; simpl; [now destruct (block x =? b)%nat|].
  destruct (Nat.eqb_spec y x) as [->|D].
  - destruct (block x =? b)%nat eqn:E; simpl; [rewrite Nat.eqb_refl; simpl; now rewrite IH | exact IH].
  - destruct (block y =? b)%nat; simpl; rewrite ?(proj2 (Nat.eqb_neq y x) D); exact IH.
Qed.

Lemma ballot_range v v' i j : (ballot v' i - ballot v i) - (ballot v' j - ballot v j) <= 2.
Proof.
  assert (B : forall w r, 0 <= ballot w r <= 1)
    by (intros [c|] r; simpl; [destruct (c =? r)%nat|]; lra).
  pose proof (B v i). pose proof (B v j). pose proof (B v' i). pose proof (B v' j). lra.
Qed.

(** If the ballots of all blocks except one agree, the votes have range distance 2. *)
Lemma one_ballot n (say say' : nat -> option nat) b0 :
  (forall b, b <> b0 -> say b = say' b) ->
  range_distance n (fun r => sum (candidates m) (fun b => ballot (say b) r))
    (fun r => sum (candidates m) (fun b => ballot (say' b) r)) 2.
Proof.
  intros H i j _ _.
  assert (D : forall l, NoDup l ->
    (sum l (fun b => ballot (say' b) i) - sum l (fun b => ballot (say b) i))
    - (sum l (fun b => ballot (say' b) j) - sum l (fun b => ballot (say b) j)) <= 2
    /\ (~ In b0 l ->
    (sum l (fun b => ballot (say' b) i) - sum l (fun b => ballot (say b) i))
    - (sum l (fun b => ballot (say' b) j) - sum l (fun b => ballot (say b) j)) = 0)).
  { induction l as [|b l IH]; intros N; simpl; [split; intros; lra|].
    apply NoDup_cons_iff in N as [N N']. destruct (IH N') as [IH1 IH2].
    destruct (Nat.eq_dec b b0) as [->|E].
    - pose proof (IH2 N). pose proof (ballot_range (say b0) (say' b0) i j). split; [lra|].
      intros F. exfalso. apply F. now left.
    - rewrite (H b E). split; [lra|]. intros F. specialize (IH2 (fun X => F (or_intror X))). lra. }
  apply D. apply NoDup_candidates.
Qed.

(** ** Two tables with the same people outside one block *)

Section Neighbours.
Variable vote : nat -> table -> option nat.
Hypothesis looks_at_rows : forall b t t', same t t' -> vote b t = vote b t'.

(** [t] is [u] with at most one more person, and so is [t']; both newcomers are in block [b0]. *)
Definition beside (u t : table) (newcomer : option nat) : Prop :=
  match newcomer with Some p => added u t p | None => t = u end.

Lemma beside_rows u t who x : beside u t who ->
  Permutation (rows u x) (rows t x) \/ (who = Some x /\ rows u x = []).
Proof.
  destruct who as [p|]; simpl.
  - intros (N & _ & O). destruct (Nat.eq_dec x p) as [->|D]; [right; auto | left; now apply O].
  - intros ->. now left.
Qed.

Lemma ballots_beside u t t' who who' block block' b0 :
  beside u t who -> beside u t' who' ->
  (forall x, In x (people u) -> block x = block' x) ->
  (forall p, who = Some p -> block p = b0) -> (forall p, who' = Some p -> block' p = b0) ->
  forall b, b <> b0 -> vote b (in_block block b t) = vote b (in_block block' b t').
Proof.
  intros H H' A P P' b D. apply looks_at_rows. intros x.
  rewrite !rows_in_block.
  destruct (in_dec Nat.eq_dec x (people u)) as [I|I].
  - assert (U : rows u x <> []) by (intros Z; now apply rows_none in Z).
    rewrite <- (A x I). destruct (block x =? b)%nat; [|constructor].
    destruct (beside_rows u t who x H) as [Q|(_ & Z)]; [|now elim U].
    destruct (beside_rows u t' who' x H') as [Q'|(_ & Z)]; [|now elim U].
    transitivity (rows u x); [now symmetry | exact Q'].
  - apply rows_none in I.
    assert (E : forall v w c, beside u v w -> (forall p, w = Some p -> c p = b0) ->
              (if (c x =? b)%nat then rows v x else []) = []).
    { intros v w c Hv Hc. destruct (beside_rows u v w x Hv) as [Q|(W & _)].
      - rewrite I in Q. apply Permutation_nil in Q. rewrite Q. now destruct (c x =? b)%nat.
      - rewrite (Hc x W). destruct (Nat.eqb_spec b0 b) as [F|_]; [now elim D | reflexivity]. }
    rewrite (E t who block H P), (E t' who' block' H' P'). constructor.
Qed.

Lemma distance_beside n u t t' who who' block block' b0 :
  beside u t who -> beside u t' who' ->
  (forall x, In x (people u) -> block x = block' x) ->
  (forall p, who = Some p -> block p = b0) -> (forall p, who' = Some p -> block' p = b0) ->
  range_distance n (votes vote block t) (votes vote block' t') 2.
Proof. intros H H' A P P'. apply (one_ballot n _ _ b0). now apply (ballots_beside u t t' who who'). Qed.

(** *** A partition that is a function of the person *)

Lemma fixed_distance block : distance add_remove (votes vote block) 2.
Proof.
  intros t t' (p & [H|H]) n.
  - apply (distance_beside n t t t' None (Some p) block block (block p)); simpl; auto;
      [discriminate | intros q [= <-]; reflexivity].
  - apply (distance_beside n t' t t' (Some p) None block block (block p)); simpl; auto;
      [intros q [= <-]; reflexivity | discriminate].
Qed.
End Neighbours.

(** ** People dealt at random, each by separate coins *)

Definition put (block : nat -> nat) (p b x : nat) : nat := if (x =? p)%nat then b else block x.

(** The mean of F over independent uniform blocks for the people in l. *)
Fixpoint dealt (l : list nat) (block : nat -> nat) (F : (nat -> nat) -> R) : R :=
  match l with
  | [] => F block
  | p :: l => sum (candidates m) (fun b => / INR m * dealt l (put block p b) F)
  end.

Lemma put_swap block p q a b : p <> q -> put (put block p a) q b = put (put block q b) p a.
Proof.
  intros D. apply functional_extensionality. intros x. unfold put.
  destruct (Nat.eqb_spec x q), (Nat.eqb_spec x p); congruence.
Qed.

Lemma dealt_permutation l l' F : Permutation l l' -> NoDup l ->
  forall block, dealt l block F = dealt l' block F.
Proof.
  induction 1 as [|x l l' _ IH|x y l|l l' l'' P IH _ IH']; intros N block; simpl.
  - reflexivity.
  - apply NoDup_cons_iff in N as [_ N]. apply sum_ext. intros b _. now rewrite (IH N).
  - assert (D : y <> x) by (apply NoDup_cons_iff in N as [N _]; intros ->; apply N; now left).
    transitivity (sum (candidates m) (fun b => sum (candidates m) (fun a =>
      / INR m * (/ INR m * dealt l (put (put block y b) x a) F)))).
    { apply sum_ext; intros b _. symmetry. apply sum_scal. }
    rewrite sum_swap. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros b _.
    now rewrite (put_swap block y x b a D).
  - rewrite (IH N). apply IH'. now apply (Permutation_NoDup P).
Qed.

Lemma dealt_le E l : forall block block' F F',
  (forall B B', (forall x, In x l -> B x = B' x) ->
     (forall x, ~ In x l -> B x = block x) -> (forall x, ~ In x l -> B' x = block' x) ->
     F B <= E * F' B') ->
  dealt l block F <= E * dealt l block' F'.
Proof.
  induction l as [|p l IH]; intros block block' F F' H; simpl.
  - apply H; auto. intros x [].
  - rewrite <- sum_scal. apply sum_le. intros b Hb.
    assert (W : 0 <= / INR m).
    { apply in_candidates in Hb. apply Rlt_le, Rinv_0_lt_compat, lt_0_INR. lia. }
    specialize (IH (put block p b) (put block' p b) F F').
    assert (L : dealt l (put block p b) F <= E * dealt l (put block' p b) F').
    { apply IH. intros B B' A O O'. apply H.
      - intros x [<-|I]; [|now apply A].
        destruct (in_dec Nat.eq_dec p l) as [I|I]; [now apply A|].
        rewrite (O p I), (O' p I). unfold put. now rewrite Nat.eqb_refl.
      - intros x N. rewrite O by (intros I; apply N; now right). unfold put.
        destruct (Nat.eqb_spec x p) as [->|_]; [exfalso; apply N; now left | reflexivity].
      - intros x N. rewrite O' by (intros I; apply N; now right). unfold put.
        destruct (Nat.eqb_spec x p) as [->|_]; [exfalso; apply N; now left | reflexivity]. }
    nra.
Qed.

Hypothesis some_block : (1 <= m)%nat.

(** A person who is in neither table does not matter. *)
Lemma dealt_twice l block F : dealt l block F
  = sum (candidates m) (fun _ => / INR m * dealt l block F).
Proof.
  rewrite sum_const. unfold candidates. rewrite seq_length. field.
  apply not_0_INR. lia.
Qed.

(** ** The release *)

Section Release.
Context {C : Type}.
Variables (coins : list C) (weight : C -> R) (vote : C -> nat -> table -> option nat).
Hypothesis weights : forall c, In c coins -> 0 <= weight c.
Hypothesis looks_at_rows : forall c b t t', same t t' -> vote c b t = vote c b t'.
Variables (choose : R -> nat -> (nat -> R) -> nat -> R) (s : R) (n : nat).
Hypotheses (selects : In choose selections) (scale : 0 < s).

(** The chance of answer r: an average over the functions' coins and over the deal. *)
Definition law (t : table) (r : nat) : R :=
  sum coins (fun c => weight c *
    dealt (people t) (fun _ => 0%nat) (fun block => choose s n (votes (vote c) block t) r)).

Lemma outcome q q' r d : range_distance n q q' d -> (r < n)%nat ->
  choose s n q r <= exp (d / s) * choose s n q' r.
Proof.
  intros H R. apply (pure_dp_outcome n); [now apply selection_pure_dp | exact R].
Qed.

(** At most one newcomer on each side, put into the same block by the same coin. *)
Lemma beside_private u t t' who who' r : beside u t who -> beside u t' who' -> (r < n)%nat ->
  law t r <= exp (2 / s) * law t' r.
Proof.
  intros H H' R. apply average_private; [exact weights|]. intros c Ic.
  assert (Spread : forall v w, beside u v w ->
    dealt (people v) (fun _ => 0%nat) (fun block => choose s n (votes (vote c) block v) r)
    = sum (candidates m) (fun b => / INR m *
        dealt (people u) (match w with Some p => put (fun _ => 0%nat) p b | None => fun _ => 0%nat end)
          (fun block => choose s n (votes (vote c) block v) r))).
  { intros v [p|] Hv; simpl in Hv.
    - rewrite (dealt_permutation _ _ _ (people_added u v p Hv)) by apply NoDup_people. reflexivity.
    - subst v. apply dealt_twice. }
  rewrite (Spread t who H), (Spread t' who' H'), <- sum_scal.
  apply sum_le. intros b Hb.
  assert (W : 0 <= / INR m) by (apply Rlt_le, Rinv_0_lt_compat, lt_0_INR; lia).
  assert (In_block : forall v w B, beside u v w ->
    (forall x, ~ In x (people u) ->
       B x = match w with Some p => put (fun _ => 0%nat) p b | None => fun _ => 0%nat end x) ->
    forall p, w = Some p -> B p = b).
  { intros v w B Hv O p ->. destruct Hv as (N & _). rewrite O by (now apply rows_none).
    unfold put. now rewrite Nat.eqb_refl. }
  match goal with |- / INR m * ?x <= _ * (/ INR m * ?y) => assert (L : x <= exp (2 / s) * y) end.
  { apply dealt_le. intros B B' A O O'. apply outcome; [|exact R].
    apply (distance_beside (vote c) (looks_at_rows c) n u t t' who who' B B' b H H' A).
    - exact (In_block t who B H O).
    - exact (In_block t' who' B' H' O'). }
  nra.
Qed.

Theorem votes_private t t' : add_remove t t' \/ replace t t' -> pure_dp n (law t) (law t') (2 / s).
Proof.
  intros H. apply pure_dp_pointwise. intros r R. destruct H as [(p & [H|H])|(u & p & p' & H & H')].
  - now apply (beside_private t t t' None (Some p)).
  - now apply (beside_private t' t t' (Some p) None).
  - now apply (beside_private u t t' (Some p) (Some p')).
Qed.
End Release.
End Votes.
