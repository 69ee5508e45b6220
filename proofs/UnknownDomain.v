(** docs/proofs/unknown-domain.md: candidates that come from the data.

    Values are 0, ..., N - 1 (all values that occur in either of two neighbouring data sets); the number N
    stands for "nothing". A value's place in the list is the number of values ahead of it: values with a
    larger count, and earlier values with the same count. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism ListLaw.
Import ListNotations.
Open Scope R_scope.

Definition ahead (c : nat -> nat) (v w : nat) : bool :=
  (c v <? c w)%nat || ((c w =? c v)%nat && (w <? v)%nat).
Definition place (N : nat) (c : nat -> nat) (v : nat) : nat :=
  length (filter (ahead c v) (candidates N)).
(** The list: the first [k] of the values that occur. *)
Definition listed (N k : nat) (c : nat -> nat) (v : nat) : bool :=
  (1 <=? c v)%nat && (place N c v <? k)%nat.
Definition the_list (N k : nat) (c : nat -> nat) : list nat :=
  filter (listed N k c) (candidates N).
(** The largest count outside the list, which is the (k+1)-st largest count. *)
Definition cut (N k : nat) (c : nat -> nat) : nat :=
  fold_right (fun v m => if listed N k c v then m else Nat.max (c v) m) 0%nat (candidates N).

(** ** The order *)

Lemma filter_le {A} (f g : A -> bool) l :
  (forall x, In x l -> f x = true -> g x = true) ->
  (length (filter f l) <= length (filter g l))%nat.
Proof.
  induction l as [|y l IH]; simpl; intros H; [lia|].
  assert (L : (length (filter f l) <= length (filter g l))%nat) by (apply IH; auto).
  destruct (f y) eqn:F; [rewrite (H y) by auto; simpl; lia|].
  destruct (g y); simpl; lia.
Qed.

Lemma filter_lt {A} (f g : A -> bool) l z : In z l -> f z = false -> g z = true ->
  (forall x, In x l -> f x = true -> g x = true) ->
  (length (filter f l) < length (filter g l))%nat.
Proof.
  induction l as [|y l IH]; simpl; intros Z FZ GZ H; [easy|].
  destruct Z as [->|Z].
  - rewrite FZ, GZ. simpl. pose proof (filter_le f g l ltac:(auto)). lia.
  - assert (L : (length (filter f l) < length (filter g l))%nat) by (apply IH; auto).
    destruct (f y) eqn:F; [rewrite (H y) by auto; simpl; lia|].
    destruct (g y); simpl; lia.
Qed.

Lemma filter_or {A} (f g : A -> bool) l :
  (length (filter (fun x => f x || g x) l) <= length (filter f l) + length (filter g l))%nat.
Proof.
  induction l as [|y l IH]; simpl; [lia|]. destruct (f y), (g y); simpl; lia.
Qed.

Ltac order := unfold ahead in *; repeat match goal with
  | H : _ || _ = true |- _ => apply orb_true_iff in H
  | H : _ && _ = true |- _ => apply andb_true_iff in H
  | H : _ /\ _ |- _ => destruct H
  | H : _ \/ _ |- _ => destruct H
  | H : (_ <? _)%nat = true |- _ => apply Nat.ltb_lt in H
  | H : (_ =? _)%nat = true |- _ => apply Nat.eqb_eq in H
  end.

Lemma ahead_intro c v w : (c v < c w \/ (c w = c v /\ w < v))%nat -> ahead c v w = true.
Proof.
  intros H. unfold ahead. apply orb_true_iff.
  destruct H as [H|[H H']]; [left; now apply Nat.ltb_lt | right].
  apply andb_true_iff. split; [now apply Nat.eqb_eq | now apply Nat.ltb_lt].
Qed.

Lemma ahead_irrefl c v : ahead c v v = false.
Proof.
  unfold ahead. rewrite Nat.ltb_irrefl, (Nat.ltb_irrefl v). now rewrite andb_false_r.
Qed.

Lemma place_lt N c v w : (w < N)%nat -> ahead c v w = true -> (place N c w < place N c v)%nat.
Proof.
  intros W A. unfold place. apply (filter_lt _ _ _ w).
  - now apply in_candidates.
  - apply ahead_irrefl.
  - exact A.
  - intros x _ X. apply ahead_intro. order; lia.
Qed.

Lemma place_injective N c v w : (v < N)%nat -> (w < N)%nat ->
  place N c v = place N c w -> v = w.
Proof.
  intros V W E.
  destruct (lt_eq_lt_dec (c v) (c w)) as [[L|L]|L].
  - pose proof (place_lt N c v w W (ahead_intro c v w ltac:(lia))). lia.
  - destruct (lt_eq_lt_dec v w) as [[M|M]|M]; [|exact M|].
    + pose proof (place_lt N c w v V (ahead_intro c w v ltac:(lia))). lia.
    + pose proof (place_lt N c v w W (ahead_intro c v w ltac:(lia))). lia.
  - pose proof (place_lt N c w v V (ahead_intro c w v ltac:(lia))). lia.
Qed.

(** At most b - a values have a place from a to b - 1. *)
Lemma few_places N c (f : nat -> bool) a b :
  (forall v, (v < N)%nat -> f v = true -> (a <= place N c v < b)%nat) ->
  (length (filter f (candidates N)) <= b - a)%nat.
Proof.
  intros H. rewrite <- (map_length (place N c)), <- (seq_length (b - a) a).
  apply NoDup_incl_length.
  - assert (G : forall l, NoDup l -> incl l (candidates N) -> NoDup (map (place N c) l)).
    { induction 1 as [|v l Hv Hl IH]; intros I; [constructor|]. simpl. constructor.
      - intros X. apply in_map_iff in X as (w & E & W).
        assert (w = v) as ->; [|contradiction].
        apply (place_injective N c); [| |exact E]; apply in_candidates, I;
          [now right | now left].
      - apply IH. intros y Y; apply I; now right. }
    apply G; [apply NoDup_filter, NoDup_candidates|]. intros y Y. now apply filter_In in Y.
  - intros p P. apply in_map_iff in P as (v & <- & V). apply filter_In in V as [V F].
    apply in_candidates in V. specialize (H v V F). apply in_seq. lia.
Qed.

(** ** The cut *)

Lemma cut_above N k c v : (v < N)%nat -> listed N k c v = false -> (c v <= cut N k c)%nat.
Proof.
  intros V L. apply in_candidates in V. unfold cut.
  induction (candidates N) as [|w l IH]; simpl; [easy|].
  destruct V as [->|V]; [rewrite L; lia|].
  specialize (IH V). destruct (listed N k c w); lia.
Qed.

Lemma cut_least N k c b : (forall v, (v < N)%nat -> listed N k c v = false -> (c v <= b)%nat) ->
  (cut N k c <= b)%nat.
Proof.
  intros H. assert (G : forall v, In v (candidates N) -> listed N k c v = false -> (c v <= b)%nat)
    by (intros v V; apply H; now apply in_candidates).
  unfold cut. induction (candidates N) as [|w l IH]; simpl; [lia|].
  assert (I : (fold_right (fun v m => if listed N k c v then m else Nat.max (c v) m) 0 l <= b)%nat)
    by (apply IH; intros; apply G; [now right | assumption]).
  destruct (listed N k c w) eqn:L; [exact I|].
  apply Nat.max_lub; [apply G; [now left | exact L] | exact I].
Qed.

(** It is an order statistic: at most [k] counts exceed it, and no smaller number will do. *)
Theorem cut_spec N k c b :
  (cut N k c <= b <-> length (filter (fun v => b <? c v) (candidates N)) <= k)%nat.
Proof.
  split.
  - intros H. replace k with (k - 0)%nat by lia. apply (few_places N c).
    intros v V B. apply Nat.ltb_lt in B. destruct (listed N k c v) eqn:L.
    + unfold listed in L. apply andb_true_iff in L as [_ L]. apply Nat.ltb_lt in L. lia.
    + pose proof (cut_above N k c v V L). lia.
  - intros H. apply cut_least. intros v V L. apply Nat.nlt_ge. intros B.
    assert (P : (place N c v < length (filter (fun w => b <? c w)%nat (candidates N)))%nat).
    { apply (filter_lt _ _ _ v).
      - now apply in_candidates.
      - apply ahead_irrefl.
      - now apply Nat.ltb_lt.
      - intros w _ W. apply Nat.ltb_lt. order; lia. }
    unfold listed in L. apply andb_false_iff in L as [L|L].
    + apply Nat.leb_gt in L. lia.
    + apply Nat.ltb_ge in L. lia.
Qed.

(** ** Neighbours: [c'] has one more person, who has the values with [gained] *)

Section Neighbours.
Variables (N k m : nat) (c c' : nat -> nat).
Hypothesis more : forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat.
Hypothesis touched : (length (filter (fun v => negb (c' v =? c v)) (candidates N)) <= m)%nat.

Lemma cut_moves : (cut N k c <= cut N k c' <= cut N k c + 1)%nat.
Proof.
  clear touched.
  split; apply cut_spec.
  - eapply Nat.le_trans; [|apply (proj1 (cut_spec N k c' (cut N k c')) (le_n _))].
    apply filter_le. intros v V B. apply in_candidates in V. apply Nat.ltb_lt in B.
    apply Nat.ltb_lt. pose proof (more v V). lia.
  - eapply Nat.le_trans; [|apply (proj1 (cut_spec N k c (cut N k c)) (le_n _))].
    apply filter_le. intros v V B. apply in_candidates in V. apply Nat.ltb_lt in B.
    apply Nat.ltb_lt. pose proof (more v V). lia.
Qed.

Lemma place_up v : (v < N)%nat -> c' v = c v -> (place N c v <= place N c' v)%nat.
Proof.
  clear touched.
  intros V E. apply filter_le. intros w W A. apply in_candidates in W.
  pose proof (more w W). apply ahead_intro. order; lia.
Qed.

Lemma place_down v : (v < N)%nat -> (place N c' v <= place N c v + m)%nat.
Proof.
  intros V. unfold place.
  apply Nat.le_trans with (length (filter (ahead c v) (candidates N))
    + length (filter (fun w => negb (c' w =? c w)) (candidates N)))%nat; [|lia].
  apply Nat.le_trans with (length (filter (fun w => ahead c v w || negb (c' w =? c w))
    (candidates N))).
  - apply filter_le. intros w W A. apply in_candidates in W. apply orb_true_iff.
    destruct (Nat.eqb_spec (c' w) (c w)) as [E|E]; [left|now right].
    pose proof (more v V). apply ahead_intro. order; lia.
  - apply filter_or.
Qed.

(** Lemma 1. *)
Theorem list_moves :
  (length (filter (fun v => listed N k c v && negb (listed N k c' v)) (candidates N))
     <= Nat.min m k)%nat /\
  (length (filter (fun v => listed N k c' v && negb (listed N k c v)) (candidates N))
     <= Nat.min m k)%nat.
Proof.
  split; apply Nat.min_glb.
  - apply Nat.le_trans with (k - (k - m))%nat; [|lia]. apply (few_places N c).
    intros v V L. apply andb_true_iff in L as [L L']. unfold listed in *.
    apply andb_true_iff in L as [O L]. apply Nat.ltb_lt in L. apply Nat.leb_le in O.
    apply negb_true_iff, andb_false_iff in L'. pose proof (more v V).
    destruct L' as [L'|L']; [apply Nat.leb_gt in L'; lia|]. apply Nat.ltb_ge in L'.
    pose proof (place_down v V). lia.
  - apply Nat.le_trans with (k - 0)%nat; [|lia]. apply (few_places N c).
    intros v V L. apply andb_true_iff in L as [L _]. unfold listed in L.
    apply andb_true_iff in L as [_ L]. apply Nat.ltb_lt in L. lia.
  - eapply Nat.le_trans; [|exact touched]. apply filter_le.
    intros v V L. apply in_candidates in V. apply andb_true_iff in L as [L L'].
    apply negb_true_iff, Nat.eqb_neq. intros E.
    unfold listed in *. apply andb_true_iff in L as [O L].
    apply Nat.ltb_lt in L. apply Nat.leb_le in O.
    apply negb_true_iff, andb_false_iff in L'.
    destruct L' as [L'|L']; [apply Nat.leb_gt in L'; lia|]. apply Nat.ltb_ge in L'.
    pose proof (place_up v V E). lia.
  - apply Nat.le_trans with (k - 0)%nat; [|lia]. apply (few_places N c').
    intros v V L. apply andb_true_iff in L as [L _]. unfold listed in L.
    apply andb_true_iff in L as [_ L]. apply Nat.ltb_lt in L. lia.
Qed.

(** Lemma 2. *)
Theorem left_out v : (v < N)%nat ->
  (listed N k c' v = false -> c v <= cut N k c + 1)%nat /\
  (listed N k c v = false -> c' v <= cut N k c' + 1)%nat.
Proof.
  clear touched.
  intros V. pose proof (more v V). pose proof cut_moves. split; intros L.
  - pose proof (cut_above N k c' v V L). lia.
  - pose proof (cut_above N k c v V L). lia.
Qed.
End Neighbours.
