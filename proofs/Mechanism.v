(** Permute-and-flip and the exponential mechanism: probabilities of an outcome.
    Candidates are 0, ..., n-1, scores a function [q : nat -> R], and [s] the scale. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common.
Import ListNotations.
Open Scope R_scope.

Definition candidates (n : nat) : list nat := seq 0 n.

Definition best (n : nat) (q : nat -> R) : R :=
  fold_right (fun t m => Rmax (q t) m) (q 0%nat) (candidates n).

(** The coin of candidate [t]. *)
Definition coin (s : R) (n : nat) (q : nat -> R) (t : nat) : R :=
  exp (- (best n q - q t) / s).

Definition without (r : nat) (l : list nat) : list nat :=
  filter (fun t => negb (t =? r)%nat) l.

Definition others (n r : nat) : list nat := without r (candidates n).

(** Permute-and-flip, lemma 1 of docs/proofs/permute-and-flip.md.
    (Walk.v proves that the walk itself has this distribution.) *)
Definition pf (s : R) (n : nat) (q : nat -> R) (r : nat) : R :=
  coin s n q r *
  int (fun u => prod (others n r) (fun t => 1 - u * coin s n q t)) 0 1.

(** The exponential mechanism. *)
Definition em (s : R) (n : nat) (q : nat -> R) (r : nat) : R :=
  coin s n q r / sum (candidates n) (coin s n q).

(** Probability of a set of outcomes, given by a decision. *)
Definition event (n : nat) (S : nat -> bool) (p : nat -> R) : R :=
  sum (filter S (candidates n)) p.

(** ** Neighbours: the range distance of two score vectors is at most [d]. *)
Definition range_distance (n : nat) (q q' : nat -> R) (d : R) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat ->
    (q' i - q i) - (q' j - q j) <= d.

Lemma range_distance_sym n q q' d :
  range_distance n q q' d -> range_distance n q' q d.
Proof. intros H i j Hi Hj. specialize (H j i Hj Hi). lra. Qed.

(** General scores of sensitivity [D] have range distance [2 D]. *)
Lemma sensitivity_range n q q' D :
  (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
  range_distance n q q' (2 * D).
Proof.
  intros H i j Hi Hj.
  pose proof (H i Hi) as A; pose proof (H j Hj) as B.
  apply Rabs_le_between in A. apply Rabs_le_between in B. lra.
Qed.

(** ** Lists of candidates *)

Lemma in_candidates n t : In t (candidates n) <-> (t < n)%nat.
Proof. unfold candidates; rewrite in_seq; lia. Qed.

Lemma in_without r l t : In t (without r l) <-> In t l /\ t <> r.
Proof.
  unfold without; rewrite filter_In.
  destruct (Nat.eqb_spec t r); simpl; intuition congruence.
Qed.

Lemma in_others n r t : In t (others n r) <-> (t < n)%nat /\ t <> r.
Proof. unfold others; rewrite in_without, in_candidates; tauto. Qed.

Lemma without_same r l : without r (r :: l) = without r l.
Proof. unfold without; simpl. now rewrite Nat.eqb_refl. Qed.

Lemma without_other r x l : x <> r -> without r (x :: l) = x :: without r l.
Proof. intros H; unfold without; simpl. now rewrite (proj2 (Nat.eqb_neq x r) H). Qed.

Lemma without_none r l : ~ In r l -> without r l = l.
Proof.
  unfold without; induction l as [|x l IH]; simpl; intros H; [reflexivity|].
  destruct (Nat.eqb_spec x r); simpl; [exfalso; auto|].
  f_equal; auto.
Qed.

Lemma without_comm i j l : without i (without j l) = without j (without i l).
Proof.
  unfold without; induction l as [|x l IH]; simpl; [reflexivity|].
  destruct (x =? j) eqn:J, (x =? i) eqn:I; simpl;
    rewrite ?I, ?J; simpl; congruence.
Qed.

Lemma NoDup_without r l : NoDup l -> NoDup (without r l).
Proof. apply NoDup_filter. Qed.

Lemma NoDup_candidates n : NoDup (candidates n).
Proof. apply seq_NoDup. Qed.

Lemma prod_without r l f :
  NoDup l -> In r l -> prod l f = f r * prod (without r l) f.
Proof.
  induction l as [|x l IH]; simpl; intros N H; [easy|].
  inversion N as [|? ? Hx Hl]; subst.
  destruct (Nat.eqb_spec x r) as [->|E]; simpl.
  - fold (without r l). now rewrite without_none.
  - fold (without r l). rewrite IH; [ring|auto|intuition congruence].
Qed.

Lemma sum_without r l (f : nat -> R) :
  NoDup l -> In r l -> sum l f = f r + sum (without r l) f.
Proof.
  induction l as [|x l IH]; simpl; intros N H; [easy|].
  inversion N as [|? ? Hx Hl]; subst.
  destruct (Nat.eqb_spec x r) as [->|E]; simpl.
  - fold (without r l). now rewrite without_none.
  - fold (without r l). rewrite IH; [ring|auto|intuition congruence].
Qed.

Lemma length_without r l :
  NoDup l -> In r l -> length l = S (length (without r l)).
Proof.
  induction l as [|x l IH]; simpl; intros N H; [easy|].
  inversion N as [|? ? Hx Hl]; subst.
  destruct (Nat.eqb_spec x r) as [->|E]; simpl.
  - fold (without r l). now rewrite without_none.
  - fold (without r l). f_equal; apply IH; [auto|intuition congruence].
Qed.

(** ** The best score *)

Lemma best_ge n q t : (t < n)%nat -> q t <= best n q.
Proof.
  intros H; apply in_candidates in H; revert H; unfold best.
  induction (candidates n) as [|x l IH]; simpl; intros H; [easy|].
  destruct H as [->|H]; [apply Rmax_l|].
  eapply Rle_trans; [now apply IH | apply Rmax_r].
Qed.

Lemma best_le n q m : (0 < n)%nat ->
  (forall t, (t < n)%nat -> q t <= m) -> best n q <= m.
Proof.
  intros Hn H. unfold best.
  assert (A : forall t, In t (candidates n) -> q t <= m)
    by (intros t Ht; apply H; now apply in_candidates).
  assert (B : q 0%nat <= m) by (apply H; lia).
  induction (candidates n) as [|x l IH]; simpl; [exact B|].
  apply Rmax_lub; [apply A; now left | apply IH; intros; apply A; now right].
Qed.

Lemma best_unique n q m i : (i < n)%nat -> q i = m ->
  (forall t, (t < n)%nat -> q t <= m) -> best n q = m.
Proof.
  intros Hi <- H. apply Rle_antisym; [|now apply best_ge].
  apply best_le; [lia|auto].
Qed.

Lemma best_reached n q : (0 < n)%nat -> exists t, (t < n)%nat /\ best n q = q t.
Proof.
  intros Hn.
  assert (A : exists t, (In t (candidates n) \/ t = 0%nat) /\ best n q = q t).
  { unfold best. induction (candidates n) as [|x l (t & Ht & E)]; simpl.
    - exists 0%nat; auto.
    - destruct (Rle_dec (q x) (fold_right (fun t m => Rmax (q t) m) (q 0%nat) l)).
      + exists t. rewrite Rmax_right by auto. intuition.
      + exists x. rewrite Rmax_left by lra. auto. }
  destruct A as (t & [Ht| ->] & E).
  - exists t; split; [now apply in_candidates | exact E].
  - exists 0%nat; split; [lia | exact E].
Qed.

Lemma best_shift n q c : best n (fun t => q t + c) = best n q + c.
Proof.
  unfold best. induction (candidates n) as [|x l IH]; simpl; [reflexivity|].
  rewrite IH. unfold Rmax; do 2 destruct Rle_dec; lra.
Qed.

(** ** Coins *)

Lemma coin_pos s n q t : 0 < coin s n q t.
Proof. apply exp_pos. Qed.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof.
  intros [H|H]; [apply Rlt_le; now apply exp_increasing | subst; lra].
Qed.

Lemma coin_le_1 s n q t : 0 < s -> (t < n)%nat -> coin s n q t <= 1.
Proof.
  intros Hs Ht. unfold coin. rewrite <- exp_0. apply exp_le.
  pose proof (best_ge n q t Ht).
  unfold Rdiv; rewrite <- Ropp_mult_distr_l.
  pose proof (Rinv_0_lt_compat s Hs). nra.
Qed.

Lemma coin_split s n q t : coin s n q t = exp (- best n q / s) * exp (q t / s).
Proof. unfold coin. rewrite <- exp_plus. f_equal. unfold Rdiv; ring. Qed.

Lemma coin_shift s n q c t : coin s n (fun t => q t + c) t = coin s n q t.
Proof.
  unfold coin. rewrite best_shift. f_equal. unfold Rdiv; ring.
Qed.

Lemma pf_shift s n q c r : pf s n (fun t => q t + c) r = pf s n q r.
Proof.
  unfold pf. rewrite coin_shift. f_equal. apply int_ext; intros u.
  apply prod_ext; intros t _. now rewrite coin_shift.
Qed.

Lemma best_ext n q q' :
  (0 < n)%nat -> (forall t, (t < n)%nat -> q t = q' t) -> best n q = best n q'.
Proof.
  intros Hn H. apply Rle_antisym; apply best_le; auto; intros t Ht.
  - rewrite H by auto. now apply best_ge.
  - rewrite <- H by auto. now apply best_ge.
Qed.

Lemma coin_ext s n q q' t :
  (t < n)%nat -> (forall t, (t < n)%nat -> q t = q' t) ->
  coin s n q t = coin s n q' t.
Proof.
  intros Ht H. unfold coin. rewrite (best_ext n q q') by (auto; lia).
  now rewrite H.
Qed.

Lemma pf_ext s n q q' r : (r < n)%nat ->
  (forall t, (t < n)%nat -> q t = q' t) -> pf s n q r = pf s n q' r.
Proof.
  intros Hr H. unfold pf. rewrite (coin_ext s n q q' r) by auto. f_equal.
  apply int_ext; intros u. apply prod_ext; intros t Ht.
  apply in_others in Ht. now rewrite (coin_ext s n q q' t).
Qed.

(** The integral without the best score inside: with [a t = exp (q t / s)] and
    [T = exp (- best / s)],   Pr[r] = a r * int_0^T prod (1 - v a t) dv. *)
Definition rivals (s : R) (q : nat -> R) (l : list nat) (v : R) : R :=
  prod l (fun t => 1 - v * exp (q t / s)).

Lemma rivals_cont s q l : cont (rivals s q l).
Proof. unfold rivals; cont. Qed.
#[global] Hint Resolve rivals_cont : cont.

Lemma pf_raw s n q r :
  pf s n q r =
  exp (q r / s) * int (rivals s q (others n r)) 0 (exp (- best n q / s)).
Proof.
  set (T := exp (- best n q / s)).
  unfold pf. rewrite coin_split. fold T.
  rewrite (Rmult_comm T), Rmult_assoc. f_equal.
  rewrite <- (Rmult_1_r T) at 2.
  rewrite <- int_dilate by apply rivals_cont. f_equal.
  apply int_ext; intros u. apply prod_ext; intros t _.
  rewrite coin_split. fold T. ring.
Qed.

Lemma below_T s n q t v : 0 < s -> (t < n)%nat ->
  v <= exp (- best n q / s) -> v * exp (q t / s) <= 1.
Proof.
  intros Hs Ht Hv.
  apply Rle_trans with (coin s n q t); [|now apply coin_le_1].
  rewrite coin_split. apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|exact Hv].
Qed.

Lemma rivals_nonneg s n q l v : 0 < s ->
  (forall t, In t l -> (t < n)%nat) ->
  v <= exp (- best n q / s) -> 0 <= rivals s q l v.
Proof.
  intros Hs Hl Hv. apply prod_nonneg; intros t Ht.
  pose proof (below_T s n q t v Hs (Hl t Ht) Hv). lra.
Qed.

Lemma rivals_pos s n q l v : 0 < s ->
  (forall t, In t l -> (t < n)%nat) ->
  v < exp (- best n q / s) -> 0 < rivals s q l v.
Proof.
  intros Hs Hl Hv. apply prod_pos; intros t Ht.
  assert (v * exp (q t / s) < 1); [|lra].
  apply Rlt_le_trans with (exp (- best n q / s) * exp (q t / s)).
  - apply Rmult_lt_compat_r; [apply exp_pos | exact Hv].
  - apply (below_T s n q t); auto; lra.
Qed.

Theorem pf_pos s n q r : 0 < s -> (r < n)%nat -> 0 < pf s n q r.
Proof.
  intros Hs Hr. rewrite pf_raw. apply Rmult_lt_0_compat; [apply exp_pos|].
  apply int_pos; [apply exp_pos | apply rivals_cont |].
  intros v Hv. apply (rivals_pos s n); [auto| |lra].
  intros t Ht; now apply in_others in Ht.
Qed.
