(** docs/proofs/exponential-randomized-response.md: exponential randomized response
    (Munilla Garrido and Matthes) has no finite epsilon, under any reading.

    With probability [pi] a uniform member of a set T of near-best candidates is
    returned, otherwise the exponential mechanism is run. *)
From Coq Require Import Reals Lra Lia List Arith Permutation Sorted.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy Walk.
Import ListNotations.
Open Scope R_scope.

(** Their Lemma 1. *)
Definition response (pi : R) (T : list nat) (em : nat -> R) (r : nat) : R :=
  (1 - pi) * em r + (if member r T then pi / INR (length T) else 0).

(** ** What T is *)

(** From the best downwards, until a gap fails the test. *)
Fixpoint walk_down (test : R -> bool) (q : nat -> R) (x : nat) (l : list nat) : list nat :=
  x :: match l with
       | [] => []
       | y :: l => if test (q x - q y) then walk_down test q y l else []
       end.

Definition walked (test : R -> bool) (n : nat) (q : nat -> R) (T : list nat) : Prop :=
  exists x l, Permutation (x :: l) (candidates n) /\
    StronglySorted (fun i j => q j <= q i) (x :: l) /\ T = walk_down test q x l.

Definition at_most (D gap : R) : bool := if Rle_dec gap D then true else false.
Definition at_least (D gap : R) : bool := if Rle_dec D gap then true else false.

(** Algorithm 3: each score is within [D] of the one before. *)
Definition chain (D : R) := walked (at_most D).

(** Section III-B, taken literally: each score is at least [D] from the one before. *)
Definition prose (D : R) := walked (at_least D).

(** Lemma 1: all candidates with a score of at least best - c D, for the least c >= 1 such that c + 1 adds no
    candidate. *)
Definition interval (D : R) (n : nat) (q : nat -> R) (T : list nat) : Prop :=
  let within c r := (r < n)%nat /\ best n q - INR c * D <= q r in
  NoDup T /\ exists c, (1 <= c)%nat /\ (forall r, In r T <-> within c r) /\
    (forall r, within (S c) r -> within c r) /\
    (forall k, (1 <= k < c)%nat -> exists r, within (S k) r /\ ~ within k r).

(** ** The witnesses *)

Section Witness.
Variables (s pi B : R).
Hypothesis s_pos : 0 < s.
Hypothesis pi_range : 0 < pi <= 1.

Lemma em_le_coin n q r : (r < n)%nat -> em s n q r <= coin s n q r.
Proof.
  intros H. unfold em. destruct (best_reached n q ltac:(lia)) as (i & Hi & E).
  assert (C : coin s n q i = 1).
  { unfold coin. rewrite E, <- exp_0. f_equal. unfold Rdiv; ring. }
  assert (S : 1 <= sum (candidates n) (coin s n q)).
  { rewrite (sum_without i) by (try apply NoDup_candidates; now apply in_candidates).
    rewrite C. pose proof (sum_nonneg (without i (candidates n)) (coin s n q)
      (fun t _ => Rlt_le _ _ (coin_pos s n q t))). lra. }
  pose proof (coin_pos s n q r).
  apply (Rmult_le_reg_r (sum (candidates n) (coin s n q))); [lra|].
  replace (coin s n q r / sum (candidates n) (coin s n q) * sum (candidates n) (coin s n q))
    with (coin s n q r) by (field; lra). nra.
Qed.

Lemma em_nonneg n q r : (r < n)%nat -> 0 <= em s n q r.
Proof.
  intros H. apply Rmult_le_pos; [apply Rlt_le, coin_pos|].
  apply Rlt_le, Rinv_0_lt_compat, sum_pos.
  - destruct n; [lia|discriminate].
  - intros; apply coin_pos.
Qed.

(** n e^(-(n-1)/s) becomes arbitrarily small. *)
Lemma far_enough : exists n, (3 <= n)%nat /\
  exp B * exp (- (INR n - 1) / s) < pi / INR n.
Proof.
  set (c := 8 * s * s * exp B / pi).
  assert (C : 0 < c).
  { unfold c. repeat apply Rmult_lt_0_compat; try lra; [apply exp_pos|].
    apply Rinv_0_lt_compat; lra. }
  destruct (nfloor_ex c (Rlt_le _ _ C)) as (k & _ & K).
  exists (S (S (S k))). split; [lia|].
  set (m := INR (S (S (S k)))). assert (M : m = INR k + 3) by (unfold m; rewrite !S_INR; ring).
  pose proof (pos_INR k) as K0.
  (* e^x >= x^2 / 4 *)
  set (x := (m - 1) / s).
  assert (X : 0 < x) by (apply Rdiv_lt_0_compat; lra).
  assert (E : x * x / 4 < exp x).
  { replace x with (x / 2 + x / 2) at 3 by field. rewrite exp_plus.
    pose proof (exp_ineq1 (x / 2) ltac:(lra)). nra. }
  replace (- (m - 1) / s) with (- x) by (unfold x; field; lra).
  rewrite exp_Ropp.
  apply (Rmult_lt_reg_r (exp x * m)); [apply Rmult_lt_0_compat; [apply exp_pos|lra]|].
  replace (exp B * / exp x * (exp x * m)) with (exp B * m)
    by (field; pose proof (exp_pos x); lra).
  replace (pi / m * (exp x * m)) with (pi * exp x) by (field; lra).
  apply Rlt_trans with (pi * (x * x / 4)); [|apply Rmult_lt_compat_l; lra].
  assert (S : pi * (x * x / 4) = pi * ((m - 1) * (m - 1)) / (4 * (s * s)))
    by (unfold x; field; lra).
  rewrite S. apply (Rmult_lt_reg_r (4 * (s * s))); [nra|].
  replace (pi * ((m - 1) * (m - 1)) / (4 * (s * s)) * (4 * (s * s)))
    with (pi * ((m - 1) * (m - 1))) by (field; lra).
  assert (Q : exp B * m * (4 * (s * s)) = pi * (c * m / 2)) by (unfold c; field; lra).
  rewrite Q. apply Rmult_lt_compat_l; [lra|]. nra.
Qed.

(** For q', the last candidate is one of the at most n members of T. For q, it is far from the best and not a
    member. *)
Lemma no_bound n q q' T T' r : (r < n)%nat -> (length T' <= n)%nat ->
  exp B * exp (- (INR n - 1) / s) < pi / INR n ->
  INR n - 1 <= best n q - q r -> In r T' -> ~ In r T ->
  ~ pure_dp n (response pi T' (em s n q')) (response pi T (em s n q)) B.
Proof.
  intros Hr L F G I' I P.
  specialize (P (Nat.eqb r)). unfold event in P.
  assert (One : filter (Nat.eqb r) (candidates n) = [r]).
  { clear - Hr. unfold candidates.
    replace n with (r + (1 + (n - r - 1)))%nat by lia.
    rewrite !seq_app, !filter_app. simpl.
    rewrite Nat.eqb_refl.
    assert (Z : forall a k, (~ a <= r < a + k)%nat -> filter (Nat.eqb r) (seq a k) = []).
    { intros a k H. destruct (filter (Nat.eqb r) (seq a k)) as [|x l] eqn:E; [reflexivity|].
      assert (X : In x (filter (Nat.eqb r) (seq a k))) by (rewrite E; now left).
      apply filter_In in X as [X N]. apply Nat.eqb_eq in N. apply in_seq in X. lia. }
    rewrite !Z by lia. reflexivity. }
  rewrite One in P. simpl in P. rewrite !Rplus_0_r in P.
  unfold response in P. rewrite (member_false r T I) in P.
  assert (M : member r T' = true).
  { apply existsb_exists. exists r. split; [exact I' | apply Nat.eqb_refl]. }
  rewrite M in P.
  pose proof (em_nonneg n q' r Hr). pose proof (em_le_coin n q r Hr).
  pose proof (em_nonneg n q r Hr).
  assert (C : coin s n q r <= exp (- (INR n - 1) / s)).
  { unfold coin. apply exp_le. unfold Rdiv. apply Rmult_le_compat_r; [|lra].
    apply Rlt_le, Rinv_0_lt_compat, s_pos. }
  assert (1 <= length T')%nat by (destruct T'; [easy|simpl; lia]).
  assert (D : pi / INR n <= pi / INR (length T')).
  { unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar.
    - apply lt_0_INR; lia.
    - now apply le_INR. }
  pose proof (exp_pos B).
  assert (exp B * ((1 - pi) * em s n q r) <= exp B * exp (- (INR n - 1) / s)).
  { apply Rmult_le_compat_l; [lra|]. nra. }
  assert (0 <= (1 - pi) * em s n q' r) by (apply Rmult_le_pos; lra).
  lra.
Qed.
End Witness.

(** ** Staircases: the first score is n - 1 + f, the others are n - 1, n - 2, ..., 1 *)

Definition stairs (n : nat) (f : R) (t : nat) : R :=
  match t with O => INR n - 1 + f | _ => INR n - INR t end.

(** The full staircase with its second score raised to tie with the first. *)
Definition tied (n : nat) (t : nat) : R :=
  match t with O => INR n | 1%nat => INR n | _ => INR n - INR t end.

Lemma sorted_seq (P : nat -> nat -> Prop) a k :
  (forall i j, (a <= i < j)%nat -> P i j) -> StronglySorted P (seq a k).
Proof.
  revert a. induction k as [|k IH]; intros a H; simpl; constructor.
  - apply IH. intros; apply H; lia.
  - apply Forall_forall. intros y Hy. apply in_seq in Hy. apply H; lia.
Qed.

Lemma walk_all test q a k :
  (forall i, (a <= i < a + k)%nat -> test (q i - q (S i)) = true) ->
  walk_down test q a (seq (S a) k) = seq a (S k).
Proof.
  revert a. induction k as [|k IH]; intros a H; [reflexivity|].
  cbn [seq walk_down]. rewrite H by lia. f_equal. apply IH. intros; apply H; lia.
Qed.

Lemma seq_head n : (1 <= n)%nat -> candidates n = 0%nat :: seq 1 (n - 1).
Proof. intros H. unfold candidates. destruct n; [lia|]. simpl. now rewrite Nat.sub_0_r. Qed.

Lemma stairs_sorted n f : 0 <= f ->
  StronglySorted (fun i j => stairs n f j <= stairs n f i) (0%nat :: seq 1 (n - 1)).
Proof.
  intros F. apply (sorted_seq _ 0 (S (n - 1))). intros [|i] [|j] H; try lia.
  - unfold stairs. pose proof (pos_INR j). rewrite S_INR. lra.
  - unfold stairs. assert (INR (S i) <= INR (S j)) by (apply le_INR; lia). lra.
Qed.

Lemma best_stairs n f : (1 <= n)%nat -> 0 <= f -> best n (stairs n f) = INR n - 1 + f.
Proof.
  intros N F. apply (best_unique n _ _ 0); [lia|reflexivity|].
  intros [|t] H; [simpl; lra|]. unfold stairs. rewrite S_INR.
  pose proof (pos_INR t). lra.
Qed.

Lemma stairs_full test n f : (1 <= n)%nat -> test f = true -> test 1 = true -> 0 <= f ->
  walked test n (stairs n f) (candidates n).
Proof.
  intros N F O F0. exists 0%nat, (seq 1 (n - 1)). rewrite (seq_head n N).
  split; [reflexivity|]. split; [now apply stairs_sorted|].
  rewrite (walk_all test (stairs n f) 0 (n - 1)); [reflexivity|].
  intros [|i] H.
  - unfold stairs. simpl INR. replace (INR n - 1 + f - (INR n - 1)) with f by ring. exact F.
  - unfold stairs. rewrite !S_INR.
    replace (INR n - (INR i + 1) - (INR n - (INR i + 1 + 1))) with 1 by ring. exact O.
Qed.

Lemma stairs_one test n f : (2 <= n)%nat -> test f = false -> 0 <= f ->
  walked test n (stairs n f) [0%nat].
Proof.
  intros N F F0. exists 0%nat, (seq 1 (n - 1)). rewrite (seq_head n) by lia.
  split; [reflexivity|]. split; [now apply stairs_sorted|].
  destruct n as [|[|n]]; [lia|lia|]. cbn [seq walk_down Nat.sub].
  unfold stairs at 1 2. cbn [INR].
  match goal with |- context [test ?x] => replace x with f by ring end.
  now rewrite F.
Qed.

Lemma last_score n f : (2 <= n)%nat -> stairs n f (n - 1) = 1.
Proof.
  intros N. destruct n as [|[|n]]; [lia|lia|]. unfold stairs.
  cbn [Nat.sub]. rewrite (S_INR (S n)). ring.
Qed.

Lemma stairs_move n f f' r : 0 <= f' - f <= 1 -> 0 <= stairs n f' r - stairs n f r <= 1.
Proof. intros H. destruct r; unfold stairs; lra. Qed.

Section Refutations.
Variables (s pi B : R).
Hypothesis s_pos : 0 < s.
Hypothesis pi_range : 0 < pi <= 1.

(** A claim of B-privacy under a reading is refuted by two score vectors that differ by
    one person, who counts for one candidate only: sensitivity 1 and monotonic. *)
Definition refuted (reading : nat -> (nat -> R) -> list nat -> Prop) : Prop :=
  exists n q q' T T', reading n q T /\ reading n q' T' /\
    ((forall r, 0 <= q r - q' r <= 1) \/ (forall r, 0 <= q' r - q r <= 1)) /\
    ~ pure_dp n (response pi T' (em s n q')) (response pi T (em s n q)) B.

Theorem chain_refuted : refuted (chain 1).
Proof.
  destruct (far_enough s pi B s_pos pi_range) as (n & N & F).
  exists n, (stairs n 2), (stairs n 1), [0%nat], (candidates n).
  split; [apply stairs_one; [lia| |lra]; unfold at_most; destruct Rle_dec; [lra|reflexivity]|].
  split; [apply stairs_full; [lia| | |lra]; unfold at_most; destruct Rle_dec; [reflexivity|lra
          |reflexivity|lra]|].
  split; [left; intros; apply stairs_move; lra|].
  apply (no_bound s pi B s_pos pi_range n _ _ _ _ (n - 1)%nat); auto; try lia.
  - unfold candidates. now rewrite seq_length.
  - rewrite best_stairs, last_score by (lia || lra). lra.
  - apply in_candidates; lia.
  - intros [H|[]]. lia.
Qed.

Theorem interval_refuted : refuted (interval 1).
Proof.
  destruct (far_enough s pi B s_pos pi_range) as (n & N & F).
  exists n, (stairs n 3), (stairs n 2), [0%nat], (candidates n).
  split; [|split; [|split; [left; intros; apply stairs_move; lra|]]].
  - (* no candidate is within 2 of the best *)
    split; [repeat constructor; easy|]. exists 1%nat. split; [lia|].
    assert (W : forall c r, (1 <= c <= 2)%nat ->
      (In r [0%nat] <-> (r < n)%nat /\ best n (stairs n 3) - INR c * 1 <= stairs n 3 r)).
    { intros c r C. rewrite best_stairs by (lia || lra).
      assert (1 <= INR c <= 2)
        by (split; [apply (le_INR 1 c) | apply (le_INR c 2)]; lia).
      destruct r as [|r]; simpl In.
      - split; [intros _; unfold stairs; split; [lia|lra] | now left].
      - split; [intros [H'|[]]; lia|]. intros [_ H'].
        unfold stairs in H'. rewrite S_INR in H'. pose proof (pos_INR r). lra. }
    split; [intros r; apply W; lia|]. split; [|intros; lia].
    intros r H. apply W; [lia|]. apply (W 2%nat); [lia|exact H].
  - (* all candidates are linked by steps of one *)
    split; [apply NoDup_candidates|]. exists n. split; [lia|].
    assert (W : forall r, (r < n)%nat ->
      best n (stairs n 2) - INR n * 1 <= stairs n 2 r).
    { intros r H. rewrite best_stairs by (lia || lra).
      destruct r as [|r]; unfold stairs; [pose proof (pos_INR n); lra|].
      assert (INR (S r) <= INR n - 1).
      { replace (INR n - 1) with (INR (n - 1)) by (rewrite minus_INR by lia; reflexivity).
        apply le_INR; lia. }
      lra. }
    split; [intros r; rewrite in_candidates; split; [intros H; split; auto | tauto]|].
    split; [intros r [H _]; split; auto|].
    intros k [K1 K2]. exists k. rewrite best_stairs by (lia || lra).
    destruct k as [|k]; [lia|]. unfold stairs. rewrite (S_INR (S k)).
    split; [split; [lia|lra]|]. intros [_ H]. lra.
  - apply (no_bound s pi B s_pos pi_range n _ _ _ _ (n - 1)%nat); auto; try lia.
    + unfold candidates. now rewrite seq_length.
    + rewrite best_stairs, last_score by (lia || lra). lra.
    + apply in_candidates; lia.
    + intros [H|[]]. lia.
Qed.

(** The tie may be broken either way. *)
Theorem prose_refuted first : first = 0%nat \/ first = 1%nat ->
  exists n q', prose 1 n (tied n) [first] /\ prose 1 n q' (candidates n) /\
    (forall r, 0 <= tied n r - q' r <= 1) /\
    ~ pure_dp n (response pi (candidates n) (em s n q'))
                (response pi [first] (em s n (tied n))) B.
Proof.
  intros First.
  destruct (far_enough s pi B s_pos pi_range) as (n & N & F).
  exists n, (stairs n 1).
  assert (Up : forall i j, (i <= j)%nat -> tied n j <= tied n i).
  { intros [|[|i]] [|[|j]] H; try lia; unfold tied; try lra;
      try (assert (0 <= INR (S (S j))) by apply pos_INR; lra).
    assert (INR (S (S i)) <= INR (S (S j))) by (apply le_INR; lia). lra. }
  split; [|split; [|split]].
  - unfold prose, walked.
    exists first, ((1 - first)%nat :: seq 2 (n - 2)).
    rewrite (seq_head n) by lia. destruct n as [|[|[|n]]]; [lia|lia|lia|].
    replace (S (S (S n)) - 1)%nat with (S (S n)) by lia.
    replace (S (S (S n)) - 2)%nat with (S n) by lia. cbn [seq].
    assert (SS : StronglySorted (fun i j => tied (S (S (S n))) j <= tied (S (S (S n))) i)
              (2%nat :: seq 3 n)).
    { apply (sorted_seq _ 2 (S n)). intros; apply Up; lia. }
    assert (Lower : forall f : nat, (f <= 1)%nat -> List.Forall
       (fun j => tied (S (S (S n))) j <= tied (S (S (S n))) f) (2%nat :: seq 3 n)).
    { intros f Hf. apply Forall_forall. intros y Hy.
      assert (2 <= y)%nat by (destruct Hy as [<-|Hy]; [lia|]; apply in_seq in Hy; lia).
      apply Up; lia. }
    assert (Same : tied (S (S (S n))) 0 = tied (S (S (S n))) 1) by reflexivity.
    destruct First as [-> | ->]; cbn [Nat.sub].
    + split; [reflexivity|]. split.
      * constructor; [constructor; [exact SS | apply Lower; lia]|].
        constructor; [rewrite Same; lra | apply Lower; lia].
      * cbn [walk_down]. rewrite Same. unfold at_least.
        destruct Rle_dec; [lra|reflexivity].
    + split; [apply perm_swap|]. split.
      * constructor; [constructor; [exact SS | apply Lower; lia]|].
        constructor; [rewrite Same; lra | apply Lower; lia].
      * cbn [walk_down]. rewrite Same. unfold at_least.
        destruct Rle_dec; [lra|reflexivity].
  - apply stairs_full; [lia| | |lra]; unfold at_least; destruct Rle_dec; lra || reflexivity.
  - intros [|[|r]]; unfold tied, stairs; simpl INR; lra.
  - apply (no_bound s pi B s_pos pi_range n _ _ _ _ (n - 1)%nat); auto; try lia.
    + unfold candidates. now rewrite seq_length.
    + rewrite (best_unique n (tied n) (INR n) 0); [|lia|reflexivity|].
      * destruct n as [|[|[|n]]]; [lia|lia|lia|]. cbn [Nat.sub tied].
        rewrite (S_INR (S (S n))). lra.
      * intros t _. apply (Up 0%nat t). lia.
    + apply in_candidates; lia.
    + intros [H|[]]. destruct First; lia.
Qed.
End Refutations.
