(** The joint score of top-k: a tuple of candidates s_1, ..., s_k has the score
    - max_i (c_(i) - c_(s_i)), where c_(1) >= c_(2) >= ... are the sorted counts. This file proves how far one
      person moves the scores of two tuples apart. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism UnknownDomain.
Import ListNotations.
Open Scope R_scope.

(** [cut N i c] is the (i+1)-st largest of N counts, see [cut_spec]. Places count from 0. *)
Definition term (N : nat) (c : nat -> nat) (tuple : nat -> nat) (i : nat) : R :=
  INR (cut N i c) - INR (c (tuple i)).
Definition joint_score (N k : nat) (c : nat -> nat) (tuple : nat -> nat) : R :=
  - best k (term N c tuple).

(** How far the scores of two tuples move apart. *)
Definition joint_distance (N k : nat) (c c' : nat -> nat) (d : R) : Prop :=
  forall t t', (forall i, (t i < N)%nat) -> (forall i, (t' i < N)%nat) ->
  (joint_score N k c' t - joint_score N k c t)
  - (joint_score N k c' t' - joint_score N k c t') <= d.

Lemma best_moves k f g M : (1 <= k)%nat -> (forall i, (i < k)%nat -> f i <= g i + M) ->
  best k f <= best k g + M.
Proof.
  intros K H. apply best_le; [lia|]. intros i I.
  pose proof (best_ge k g i I). pose proof (H i I). lra.
Qed.

(** The best tuple has the score zero, and no tuple has more. *)
Lemma loss_nonneg N k c t : (1 <= k)%nat -> (forall i, (t i < N)%nat) ->
  0 <= best k (term N c t).
Proof.
  intros K H. eapply Rle_trans; [|apply (best_ge k _ 0%nat); lia]. unfold term.
  assert (L : (c (t 0%nat) <= cut N 0 c)%nat).
  { apply Nat.nlt_ge. intros L.
    pose proof (proj1 (cut_spec N 0 c (cut N 0 c)) (le_n _)) as F.
    assert (I : In (t 0%nat) (filter (fun v => cut N 0 c <? c v)%nat (candidates N))).
    { apply filter_In. split; [apply in_candidates, H | now apply Nat.ltb_lt]. }
    destruct (filter (fun v => cut N 0 c <? c v)%nat (candidates N)); simpl in *; [easy|lia]. }
  apply le_INR in L. lra.
Qed.

(** ** One person is added *)

Section Added.
Variables (N : nat) (c c' : nat -> nat).
Hypothesis more : forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat.

Lemma count_moves v : (v < N)%nat -> 0 <= INR (c' v) - INR (c v) <= 1.
Proof.
  intros V. destruct (more v V) as [A B]. apply le_INR in A. apply le_INR in B.
  rewrite plus_INR in B. simpl in B. lra.
Qed.

Lemma statistic_moves i : 0 <= INR (cut N i c') - INR (cut N i c) <= 1.
Proof.
  destruct (cut_moves N i c c' more) as [A B]. apply le_INR in A. apply le_INR in B.
  rewrite plus_INR in B. simpl in B. lra.
Qed.

Theorem joint_added k : (1 <= k)%nat ->
  joint_distance N k c c' 2 /\ joint_distance N k c' c 2.
Proof.
  intros K.
  assert (M : forall t, (forall i, (t i < N)%nat) ->
    -1 <= joint_score N k c' t - joint_score N k c t <= 1).
  { intros t H. unfold joint_score. split.
    - assert (best k (term N c' t) <= best k (term N c t) + 1); [|lra].
      apply best_moves; [exact K|]. intros i _. unfold term.
      pose proof (count_moves (t i) (H i)). pose proof (statistic_moves i). lra.
    - assert (best k (term N c t) <= best k (term N c' t) + 1); [|lra].
      apply best_moves; [exact K|]. intros i _. unfold term.
      pose proof (count_moves (t i) (H i)). pose proof (statistic_moves i). lra. }
  split; intros t t' H H'; pose proof (M t H); pose proof (M t' H'); lra.
Qed.

Lemma best_one f : best 1 f = f 0%nat.
Proof. unfold best, candidates. simpl. apply Rmax_left. lra. Qed.

Theorem joint_added_one : joint_distance N 1 c c' 1 /\ joint_distance N 1 c' c 1.
Proof.
  split; intros t t' H H'; unfold joint_score; rewrite !best_one; unfold term;
    pose proof (count_moves _ (H 0%nat)); pose proof (count_moves _ (H' 0%nat)); lra.
Qed.
End Added.

(** ** One person is replaced: removed from [c], which leaves [m], and added to [m] *)

Section Replaced.
Variables (N : nat) (m c c' : nat -> nat).
Hypothesis first : forall v, (v < N)%nat -> (m v <= c v <= m v + 1)%nat.
Hypothesis second : forall v, (v < N)%nat -> (m v <= c' v <= m v + 1)%nat.

Theorem joint_replaced k : (1 <= k)%nat -> joint_distance N k c c' 4.
Proof.
  intros K t t' H H'.
  pose proof (proj2 (joint_added N m c first k K) t t' H H').
  pose proof (proj1 (joint_added N m c' second k K) t t' H H'). lra.
Qed.

Theorem joint_replaced_one : joint_distance N 1 c c' 2.
Proof.
  intros t t' H H'.
  pose proof (proj2 (joint_added_one N m c first) t t' H H').
  pose proof (proj1 (joint_added_one N m c' second) t t' H H'). lra.
Qed.

Lemma statistic_between i : -1 <= INR (cut N i c') - INR (cut N i c) <= 1.
Proof.
  pose proof (statistic_moves N m c first i). pose proof (statistic_moves N m c' second i). lra.
Qed.

Lemma score_between k t : (1 <= k)%nat -> (forall i, (t i < N)%nat) ->
  -2 <= joint_score N k c' t - joint_score N k c t <= 2.
Proof.
  intros K H. unfold joint_score. split.
  - assert (best k (term N c' t) <= best k (term N c t) + 2); [|lra].
    apply best_moves; [exact K|]. intros i _. unfold term.
    pose proof (count_moves N m c first _ (H i)). pose proof (count_moves N m c' second _ (H i)).
    pose proof (statistic_between i). lra.
  - assert (best k (term N c t) <= best k (term N c' t) + 2); [|lra].
    apply best_moves; [exact K|]. intros i _. unfold term.
    pose proof (count_moves N m c first _ (H i)). pose proof (count_moves N m c' second _ (H i)).
    pose proof (statistic_between i). lra.
Qed.
End Replaced.

(** ** One value each: the person moves from [a] to [b] *)

Definition moved (N : nat) (a b : nat) (c c' : nat -> nat) : Prop :=
  (a < N /\ b < N /\ a <> b /\ c a = c' a + 1 /\ c' b = c b + 1 /\
   forall v, v <> a -> v <> b -> c' v = c v)%nat.

Lemma moved_sym N a b c c' : moved N a b c c' -> moved N b a c' c.
Proof. unfold moved. intros (A & B & D & E & F & G). repeat split; auto. intros; symmetry; auto. Qed.

Lemma moved_middle N a b c c' : moved N a b c c' ->
  let m := fun v => Nat.min (c v) (c' v) in
  (forall v, (v < N)%nat -> (m v <= c v <= m v + 1)%nat) /\
  (forall v, (v < N)%nat -> (m v <= c' v <= m v + 1)%nat).
Proof.
  intros (A & B & D & E & F & G) m. unfold m.
  split; intros v _; destruct (Nat.eq_dec v a) as [->|Va]; try lia;
    destruct (Nat.eq_dec v b) as [->|Vb]; try lia; rewrite (G v Va Vb); lia.
Qed.

(** Up or level: no loss falls by 2. *)
Lemma loss_falls_little N k a b c c' t : moved N a b c c' -> (c a <= c b)%nat ->
  (1 <= k)%nat -> (forall i, (t i < N)%nat) ->
  best k (term N c t) <= best k (term N c' t) + 1.
Proof.
  intros Mv AB K H. pose proof (moved_middle N a b c c' Mv) as [M1 M2].
  destruct Mv as (A & B & D & E & F & G).
  pose proof (loss_nonneg N k c' t K H) as L'.
  apply best_le; [lia|]. intros i I.
  pose proof (best_ge k (term N c' t) i I) as T. unfold term in *.
  pose proof (statistic_between N _ c c' M1 M2 i) as S.
  destruct (Nat.eq_dec (t i) b) as [Tb|Tb].
  - rewrite Tb in *. apply (f_equal INR) in F. rewrite plus_INR in F. simpl in F.
    destruct (le_lt_dec (cut N i c) (cut N i c')) as [Up|Down].
    + apply le_INR in Up. lra.
    + (* the statistic fell, so it was not above c_b *)
      assert (Low : (cut N i c <= c b)%nat).
      { apply Nat.nlt_ge. intros High.
        assert (X : (cut N i c <= cut N i c - 1)%nat); [|lia].
        apply cut_spec.
        eapply Nat.le_trans; [|apply (proj1 (cut_spec N i c' (cut N i c - 1)%nat)); lia].
        apply filter_le. intros v V P. apply Nat.ltb_lt in P. apply Nat.ltb_lt.
        destruct (Nat.eq_dec v a) as [->|Va]; [lia|].
        destruct (Nat.eq_dec v b) as [->|Vb]; [lia|]. rewrite (G v Va Vb). exact P. }
      apply le_INR in Low. lra.
  - assert (Q : INR (c' (t i)) <= INR (c (t i))).
    { apply le_INR. destruct (Nat.eq_dec (t i) a) as [->|Ta]; [lia|].
      rewrite (G _ Ta Tb). lia. }
    lra.
Qed.

Lemma count_two (f : nat -> bool) l a b : NoDup l -> In a l -> In b l -> a <> b ->
  length (filter f l) = ((if f a then 1 else 0) + (if f b then 1 else 0)
    + length (filter f (without a (without b l))))%nat.
Proof.
  assert (One : forall l r, NoDup l -> In r l ->
    length (filter f l) = ((if f r then 1 else 0) + length (filter f (without r l)))%nat).
  { clear. induction l as [|x l IH]; intros r N R; [easy|].
    inversion N as [|? ? Hx Hl]; subst. destruct (Nat.eq_dec x r) as [->|D].
    - rewrite without_same, without_none by exact Hx. cbn [filter].
      destruct (f r); reflexivity.
    - rewrite without_other by exact D. cbn [filter].
      assert (R' : In r l) by (destruct R; [congruence|auto]).
      destruct (f x); cbn [length]; rewrite (IH r Hl R'); lia. }
  intros N A B D. rewrite (One l b N B).
  rewrite (One (without b l) a); [lia | now apply NoDup_without | now apply in_without].
Qed.

(** Down by one: the two counts swap, and no order statistic moves. *)
Lemma statistic_same N a b c c' i : moved N a b c c' -> c a = (c b + 1)%nat ->
  cut N i c' = cut N i c.
Proof.
  intros (A & B & D & E & F & G) S.
  assert (Same : forall x, length (filter (fun v => x <? c' v)%nat (candidates N))
                         = length (filter (fun v => x <? c v)%nat (candidates N))).
  { intros x.
    rewrite (count_two _ (candidates N) a b), (count_two (fun v => x <? c v)%nat (candidates N) a b)
      by (try apply NoDup_candidates; try (now apply in_candidates); exact D).
    replace (c' a) with (c b) by lia. replace (c' b) with (c a) by lia.
    rewrite (filter_ext_in (fun v => x <? c' v)%nat (fun v => x <? c v)%nat).
    - lia.
    - intros v V. apply in_without in V as [V Va]. apply in_without in V as [_ Vb].
      now rewrite (G v Va Vb). }
  apply Nat.le_antisymm; apply cut_spec.
  - rewrite Same. now apply cut_spec.
  - rewrite <- Same. now apply cut_spec.
Qed.

Theorem joint_moved N k a b c c' : moved N a b c c' -> (1 <= k)%nat ->
  joint_distance N k c c' 3.
Proof.
  intros Mv K t t' H H'. pose proof (moved_middle N a b c c' Mv) as [M1 M2].
  pose proof (score_between N _ c c' M1 M2 k t K H) as S.
  pose proof (score_between N _ c c' M1 M2 k t' K H') as S'.
  destruct (le_lt_dec (c a) (c b)) as [L|L].
  - pose proof (loss_falls_little N k a b c c' t Mv L K H). unfold joint_score in *. lra.
  - destruct (Nat.eq_dec (c a) (c b + 1)) as [E|E].
    + assert (One : forall t, (forall i, (t i < N)%nat) ->
        best k (term N c t) <= best k (term N c' t) + 1).
      { intros r R. apply best_moves; [exact K|]. intros i _. unfold term.
        rewrite (statistic_same N a b c c' i Mv E).
        pose proof (count_moves N _ c M1 _ (R i)). pose proof (count_moves N _ c' M2 _ (R i)).
        lra. }
      pose proof (One t H). unfold joint_score in *. lra.
    + pose proof (loss_falls_little N k b a c' c t' (moved_sym _ _ _ _ _ Mv)) as F.
      destruct Mv as (A & B & D & Ea & Eb & G).
      specialize (F ltac:(lia) K H'). unfold joint_score in *. lra.
Qed.
