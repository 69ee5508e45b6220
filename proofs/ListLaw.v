(** Permute-and-flip on a list of candidates, as docs/proofs/unknown-domain.md needs it:
    what happens when candidates leave the list. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk.
Import ListNotations.
Open Scope R_scope.

(** The best score of a list that contains [x]. *)
Definition top (q : nat -> R) (x : nat) (l : list nat) : R :=
  fold_right (fun t m => Rmax (q t) m) (q x) l.

(** The law of permute-and-flip on the list [x :: l], as in Mechanism.v. *)
Definition list_coin (s : R) (q : nat -> R) (x : nat) (l : list nat) (t : nat) : R :=
  exp (- (top q x l - q t) / s).
Definition list_pf (s : R) (q : nat -> R) (x : nat) (l : list nat) (r : nat) : R :=
  list_coin s q x l r *
  int (fun v => prod (without r (x :: l)) (fun t => 1 - v * list_coin s q x l t)) 0 1.

Section Law.
Variables (s : R) (x : nat).
Hypothesis s_pos : 0 < s.

Lemma top_ge q l t : In t (x :: l) -> q t <= top q x l.
Proof.
  unfold top. induction l as [|y l IH]; simpl; intros H.
  - destruct H as [->|[]]. lra.
  - destruct H as [->|[->|H]].
    + eapply Rle_trans; [apply IH; now left | apply Rmax_r].
    + apply Rmax_l.
    + eapply Rle_trans; [apply IH; now right | apply Rmax_r].
Qed.

Lemma top_le q l b : (forall t, In t (x :: l) -> q t <= b) -> top q x l <= b.
Proof.
  unfold top. induction l as [|y l IH]; simpl; intros H.
  - apply H; now left.
  - apply Rmax_lub; [apply H; auto|]. apply IH. intros t [->|T]; apply H; auto.
Qed.

Lemma top_reached q l : exists t, In t (x :: l) /\ top q x l = q t.
Proof.
  unfold top. induction l as [|y l (t & T & E)]; simpl.
  - exists x; auto.
  - destruct (Rle_dec (q y) (fold_right (fun t m => Rmax (q t) m) (q x) l)).
    + exists t. rewrite Rmax_right by auto. split; [|exact E]. destruct T; auto.
    + exists y. rewrite Rmax_left by lra. auto.
Qed.

(** The law without the best score in the formula. *)
Lemma list_pf_raw q l r : list_pf s q x l r =
  exp (q r / s) * int (rivals s q (without r (x :: l))) 0 (exp (- top q x l / s)).
Proof.
  set (T := exp (- top q x l / s)).
  assert (C : forall t, list_coin s q x l t = T * exp (q t / s)).
  { intros t. unfold list_coin, T. rewrite <- exp_plus. f_equal. unfold Rdiv; ring. }
  unfold list_pf. rewrite C, (Rmult_comm T), Rmult_assoc. f_equal.
  rewrite <- (Rmult_1_r T) at 2. rewrite <- int_dilate by apply rivals_cont. f_equal.
  apply int_ext; intros v. apply prod_ext; intros t _. rewrite C. ring.
Qed.

Lemma below_top q l t v : In t (x :: l) -> 0 <= v <= exp (- top q x l / s) ->
  0 <= 1 - v * exp (q t / s) <= 1.
Proof.
  intros T V. pose proof (exp_pos (q t / s)) as E.
  assert (v * exp (q t / s) <= 1); [|nra].
  apply Rle_trans with (exp (- top q x l / s) * exp (q t / s)); [apply Rmult_le_compat_r; lra|].
  rewrite <- exp_plus, <- exp_0. apply exp_le.
  pose proof (top_ge q l t T) as G.
  replace (- top q x l / s + q t / s) with (- ((top q x l - q t) / s)) by (field; lra).
  assert (0 <= (top q x l - q t) / s)
    by (apply Rmult_le_pos; [lra | now apply Rlt_le, Rinv_0_lt_compat]).
  lra.
Qed.

Lemma in_without_list r l t : In t (without r l) -> In t l.
Proof. intros H. now apply in_without in H. Qed.

Lemma list_pf_nonneg q l r : 0 <= list_pf s q x l r.
Proof.
  rewrite list_pf_raw. apply Rmult_le_pos; [apply Rlt_le, exp_pos|].
  apply int_nonneg; [apply Rlt_le, exp_pos | apply rivals_cont |].
  intros v V. apply prod_nonneg; intros t T.
  now apply (below_top q l t v (in_without_list _ _ _ T) V).
Qed.

Lemma prod_le_1 l f : (forall t, In t l -> 0 <= f t <= 1) -> prod l f <= 1.
Proof.
  induction l as [|y l IH]; simpl; intros H; [lra|].
  assert (0 <= f y <= 1) by (apply H; auto).
  assert (prod l f <= 1) by (apply IH; auto).
  assert (0 <= prod l f) by (apply prod_nonneg; intros; apply H; auto). nra.
Qed.

Lemma prod_sub (keep : nat -> bool) l f : (forall t, In t l -> 0 <= f t <= 1) ->
  prod l f <= prod (filter keep l) f.
Proof.
  induction l as [|y l IH]; simpl; intros H; [lra|].
  assert (0 <= f y <= 1) by (apply H; auto).
  assert (P : prod l f <= prod (filter keep l) f) by (apply IH; auto).
  assert (Q : 0 <= prod l f) by (apply prod_nonneg; intros; apply H; auto).
  destruct (keep y); simpl; nra.
Qed.

Lemma filter_without keep r l : filter keep (without r l) = without r (filter keep l).
Proof.
  unfold without. induction l as [|y l IH]; simpl; [reflexivity|].
  destruct (y =? r) eqn:E, (keep y) eqn:K; simpl; rewrite ?E, ?K; simpl; congruence.
Qed.

(** A candidate that wins on the longer list wins on the shorter one too. *)
Theorem list_pf_shorter keep q l r : keep x = true ->
  list_pf s q x l r <= list_pf s q x (filter keep l) r.
Proof.
  intros K. rewrite !list_pf_raw. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
  assert (F : x :: filter keep l = filter keep (x :: l)) by (simpl; now rewrite K).
  set (T := exp (- top q x l / s)). set (T' := exp (- top q x (filter keep l) / s)).
  assert (TT : 0 < T <= T').
  { split; [apply exp_pos|]. apply exp_le. unfold Rdiv. apply Rmult_le_compat_r.
    - now apply Rlt_le, Rinv_0_lt_compat.
    - apply Ropp_le_contravar, top_le. intros t H. apply top_ge.
      rewrite F in H. now apply filter_In in H. }
  apply Rle_trans with (int (rivals s q (without r (x :: filter keep l))) 0 T).
  - apply int_le; [lra | apply rivals_cont | apply rivals_cont |].
    intros v V. unfold rivals. rewrite F, <- filter_without. apply prod_sub.
    intros t H. now apply (below_top q l t v (in_without_list _ _ _ H) V).
  - rewrite (int_chasles _ 0 T T') by apply rivals_cont.
    assert (0 <= int (rivals s q (without r (x :: filter keep l))) T T'); [|lra].
    apply int_nonneg; [lra | apply rivals_cont |].
    intros v V. apply prod_nonneg; intros t H.
    apply (below_top q (filter keep l) t v (in_without_list _ _ _ H)). fold T'. lra.
Qed.

(** Pure privacy: scores that fall by at most d. *)
Lemma list_pf_lower q q' l r d :
  (forall t, In t (x :: l) -> q t - d <= q' t <= q t) -> In r (x :: l) ->
  exp (- (d / s)) * list_pf s q x l r <= list_pf s q' x l r.
Proof.
  intros H R. rewrite !list_pf_raw.
  set (T := exp (- top q x l / s)). set (T' := exp (- top q' x l / s)).
  assert (Hs : 0 < / s) by now apply Rinv_0_lt_compat.
  assert (TT : 0 < T <= T').
  { split; [apply exp_pos|]. apply exp_le. unfold Rdiv. apply Rmult_le_compat_r; [lra|].
    apply Ropp_le_contravar, top_le. intros t HT.
    eapply Rle_trans; [apply (H t HT) | now apply top_ge]. }
  rewrite <- Rmult_assoc, <- exp_plus.
  apply Rmult_le_compat; [apply Rlt_le, exp_pos | | |].
  - apply int_nonneg; [lra | apply rivals_cont |]. intros v V.
    apply prod_nonneg; intros t HT.
    now apply (below_top q l t v (in_without_list _ _ _ HT)).
  - apply exp_le. unfold Rdiv. pose proof (H r R). nra.
  - apply Rle_trans with (int (rivals s q' (without r (x :: l))) 0 T).
    + apply int_le; [lra | apply rivals_cont | apply rivals_cont |].
      intros v V. apply prod_le; intros t HT. split.
      * now apply (below_top q l t v (in_without_list _ _ _ HT)).
      * pose proof (H t (in_without_list _ _ _ HT)).
        assert (exp (q' t / s) <= exp (q t / s)) by (apply exp_le; unfold Rdiv; nra). nra.
    + rewrite (int_chasles _ 0 T T') by apply rivals_cont.
      assert (0 <= int (rivals s q' (without r (x :: l))) T T'); [|lra].
      apply int_nonneg; [lra | apply rivals_cont |].
      intros v V. apply prod_nonneg; intros t HT.
      apply (below_top q' l t v (in_without_list _ _ _ HT)). fold T'. lra.
Qed.

Lemma top_shift q c l : top (fun t => q t + c) x l = top q x l + c.
Proof.
  unfold top. induction l as [|y l IH]; simpl; [reflexivity|].
  rewrite IH. unfold Rmax; do 2 destruct Rle_dec; lra.
Qed.

Lemma list_pf_shift q c l r : list_pf s (fun t => q t + c) x l r = list_pf s q x l r.
Proof.
  assert (C : forall t, list_coin s (fun t => q t + c) x l t = list_coin s q x l t).
  { intros t. unfold list_coin. rewrite top_shift. f_equal. unfold Rdiv; ring. }
  unfold list_pf. rewrite C. f_equal. apply int_ext; intros v.
  apply prod_ext; intros t _. now rewrite C.
Qed.

Theorem list_pf_pure q q' l r d : In r (x :: l) ->
  (forall t t', In t (x :: l) -> In t' (x :: l) -> (q' t - q t) - (q' t' - q t') <= d) ->
  list_pf s q x l r <= exp (d / s) * list_pf s q' x l r.
Proof.
  intros R H.
  (* the largest change becomes zero *)
  destruct (top_reached (fun t => q' t - q t) l) as (i & I & E).
  pose proof (list_pf_lower q (fun t => q' t + - (q' i - q i)) l r d) as P.
  rewrite list_pf_shift in P.
  assert (Q : exp (- (d / s)) * list_pf s q x l r <= list_pf s q' x l r).
  { apply P; [|exact R]. intros t T.
    pose proof (top_ge (fun t => q' t - q t) l t T) as G. rewrite E in G.
    pose proof (H i t I T). lra. }
  apply (Rmult_le_compat_l (exp (d / s))) in Q; [|apply Rlt_le, exp_pos].
  rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0, Rmult_1_l in Q. exact Q.
Qed.

(** The probabilities add to one. *)
Theorem list_pf_total q l : NoDup (x :: l) -> sum (x :: l) (list_pf s q x l) = 1.
Proof.
  intros N. set (p := list_coin s q x l).
  rewrite (sum_ext _ _ (fun r => int (fun u => p r * rest p (without r (x :: l)) u) 0 1)).
  2: { intros r _. rewrite int_scal by apply rest_cont. reflexivity. }
  rewrite <- (int_sum (x :: l) (fun r u => p r * rest p (without r (x :: l)) u))
    by (intro; apply cont_mult; [apply cont_const | apply rest_cont]).
  rewrite (int_derive (fun u => - rest p (x :: l) u)).
  - rewrite rest_0. destruct (top_reached q l) as (i & I & E).
    unfold rest. rewrite (prod_without i) by auto.
    assert (C : p i = 1).
    { unfold p, list_coin. rewrite E, <- exp_0. f_equal. unfold Rdiv; ring. }
    rewrite C. ring.
  - intros u. evar_last.
    + apply (is_derive_opp (rest p (x :: l))). now apply rest_derive.
    + unfold opp; simpl. now rewrite Ropp_involutive.
  - apply cont_rest_sum.
Qed.

(** Two candidates: the lower one wins with half of its coin. *)
Lemma list_pf_two q r d : r <> x -> 0 <= d -> q r <= q x - d ->
  list_pf s q x [r] r <= / 2 * exp (- (d / s)).
Proof.
  intros N D H. assert (T : top q x [r] = q x).
  { unfold top; simpl. rewrite Rmax_right; lra. }
  unfold list_pf, list_coin. rewrite T.
  assert (W : without r [x; r] = [x]).
  { unfold without; simpl. rewrite (proj2 (Nat.eqb_neq x r)) by auto.
    now rewrite Nat.eqb_refl. }
  rewrite W.
  rewrite (int_ext _ (fun v => 1 - v)).
  2: { intros v. simpl. replace (- (q x - q x) / s) with 0 by (unfold Rdiv; ring).
       rewrite exp_0. ring. }
  assert (I : int (fun v => 1 - v) 0 1 = / 2).
  { rewrite (int_derive (fun v => v - v * v / 2)).
    - lra.
    - intros v. auto_derive; [exact I|]. lra.
    - cont. }
  rewrite I, Rmult_comm. apply Rmult_le_compat_l; [lra|]. apply exp_le.
  unfold Rdiv. assert (0 < / s) by now apply Rinv_0_lt_compat. nra.
Qed.
End Law.
