(** docs/proofs/unknown-domain.md, the theorem: limited-domain selection is
    ApproxDP(eps, delta). *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism ListLaw UnknownDomain.
Import ListNotations.
Open Scope R_scope.

Lemma sum_split {A} (f : A -> bool) l (g : A -> R) :
  sum l g = sum (filter f l) g + sum (filter (fun x => negb (f x)) l) g.
Proof.
  induction l as [|y l IH]; simpl; [ring|]. destruct (f y); simpl; rewrite IH; ring.
Qed.

Lemma sum_filter_le {A} (f : A -> bool) l (g : A -> R) :
  (forall x, In x l -> 0 <= g x) -> sum (filter f l) g <= sum l g.
Proof.
  intros H. rewrite (sum_split f l g).
  assert (0 <= sum (filter (fun x => negb (f x)) l) g); [|lra].
  apply sum_nonneg. intros x X. apply H. now apply filter_In in X.
Qed.

Lemma filter_filter {A} (f g : A -> bool) l :
  filter f (filter g l) = filter (fun x => g x && f x) l.
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|].
  destruct (g y); simpl; [destruct (f y); simpl; now rewrite IH | exact IH].
Qed.

Lemma filter_single (f : nat -> bool) l v : NoDup l -> In v l ->
  (forall t, In t l -> f t = true <-> t = v) -> filter f l = [v].
Proof.
  induction 1 as [|y l Hy Hl IH]; intros V F; [easy|]. simpl.
  assert (G : forall k, incl k l -> ~ In v k -> filter f k = []).
  { induction k as [|z k IHk]; intros I N; [reflexivity|]. simpl.
    destruct (f z) eqn:Z.
    - exfalso. apply N. left. apply (F z); [right; apply I; now left | exact Z].
    - apply IHk; [intros t T; apply I; now right | intros T; apply N; now right]. }
  destruct (Nat.eq_dec y v) as [->|D].
  - rewrite (proj2 (F v (or_introl eq_refl)) eq_refl). f_equal. apply G; [apply incl_refl|auto].
  - destruct (f y) eqn:Y; [apply (F y) in Y; [congruence|now left]|].
    apply IH; [destruct V; [congruence|auto]|]. intros t T. apply F. now right.
Qed.

Section Mechanism.
Variables (N k : nat) (s tau : R) (chosen : nat -> bool).
Hypothesis s_pos : 0 < s.
Hypothesis tau_nonneg : 0 <= tau.

(** The list without the values chosen before; the score of "nothing", which is [N]. *)
Definition options (c : nat -> nat) : list nat :=
  filter (fun v => negb (chosen v)) (the_list N k c).
Definition score (c : nat -> nat) (v : nat) : R :=
  if (v =? N)%nat then INR (cut N k c) + 1 + tau else INR (c v).
Definition limited (c : nat -> nat) (r : nat) : R := list_pf s (score c) N (options c) r.
(** The chance that the answer is in [A]. *)
Definition answers (c : nat -> nat) (A : nat -> bool) : R :=
  sum (filter A (N :: options c)) (limited c).

Lemma options_below c v : In v (options c) -> (v < N)%nat /\ listed N k c v = true.
Proof.
  unfold options, the_list. intros H. apply filter_In in H as [H _].
  apply filter_In in H as [H L]. apply in_candidates in H. auto.
Qed.

Lemma options_NoDup c : NoDup (N :: options c).
Proof.
  constructor; [intros H; apply options_below in H; lia|].
  apply NoDup_filter, NoDup_filter, NoDup_candidates.
Qed.

(** A value at least tau below "nothing" must beat it. *)
Lemma unlikely c v : In v (options c) -> (c v <= cut N k c + 1)%nat ->
  limited c v <= / 2 * exp (- (tau / s)).
Proof.
  intros V H. pose proof (options_below c v V) as [B _].
  unfold limited. eapply Rle_trans.
  - apply (list_pf_shorter s N s_pos (fun t => (t =? v) || (t =? N))%nat).
    rewrite Nat.eqb_refl. now rewrite orb_true_r.
  - rewrite (filter_single _ (options c) v).
    + apply list_pf_two; [exact s_pos | lia | exact tau_nonneg |].
      unfold score. rewrite Nat.eqb_refl, (proj2 (Nat.eqb_neq v N)) by lia.
      apply le_INR in H. rewrite plus_INR in H. simpl in H. lra.
    + pose proof (options_NoDup c) as D. now inversion D.
    + exact V.
    + intros t T. apply options_below in T as [T _]. rewrite orb_true_iff, !Nat.eqb_eq. lia.
Qed.

(** Two data sets whose lists and scores are close. *)
Section Pair.
Variables (c c' : nat -> nat) (M : nat).
Definition gone (v : nat) : bool := listed N k c v && negb (listed N k c' v).
Definition come (v : nat) : bool := listed N k c' v && negb (listed N k c v).
Hypothesis few_gone : (length (filter gone (candidates N)) <= M)%nat.
Hypothesis few_come : (length (filter come (candidates N)) <= M)%nat.
Hypothesis low_gone : forall v, (v < N)%nat -> gone v = true -> (c v <= cut N k c + 1)%nat.
Hypothesis low_come : forall v, (v < N)%nat -> come v = true -> (c' v <= cut N k c' + 1)%nat.
Hypothesis close : forall t t', (t <= N)%nat -> (t' <= N)%nat ->
  (score c' t - score c t) - (score c' t' - score c t') <= 1.

Definition both (v : nat) : bool := (listed N k c v && listed N k c' v) || (v =? N)%nat.
Definition common : list nat := filter both (options c).

Lemma both_N : both N = true.
Proof. unfold both. rewrite Nat.eqb_refl. apply orb_true_r. Qed.

Lemma common_same : common = filter both (options c').
Proof.
  unfold common, options, the_list. rewrite !filter_filter. apply filter_ext_in.
  intros v V. apply in_candidates in V. unfold both.
  rewrite (proj2 (Nat.eqb_neq v N)) by lia.
  destruct (listed N k c v), (listed N k c' v), (negb (chosen v)); reflexivity.
Qed.

Lemma filter_both l : filter both (N :: l) = N :: filter both l.
Proof. cbn [filter]. now rewrite both_N. Qed.

Let beta := INR M * (/ 2 * exp (- (tau / s))).

Lemma rare d (bad : nat -> bool) :
  (length (filter bad (candidates N)) <= M)%nat ->
  (forall v, (v < N)%nat -> bad v = true -> (d v <= cut N k d + 1)%nat) ->
  (forall v, In v (options d) -> both v = false -> bad v = true) ->
  sum (filter (fun v => negb (both v)) (N :: options d)) (limited d) <= beta.
Proof.
  intros L H B. cbn [filter]. rewrite both_N. cbn [negb].
  set (out := filter (fun v => negb (both v)) (options d)).
  apply Rle_trans with (sum out (fun _ => / 2 * exp (- (tau / s)))).
  - apply sum_le. intros v V. apply filter_In in V as [V G]. apply negb_true_iff in G.
    apply unlikely; [exact V|]. apply H; [now apply options_below in V | now apply B].
  - rewrite sum_const. unfold beta. apply Rmult_le_compat_r.
    + apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos].
    + apply le_INR. eapply Nat.le_trans; [|exact L].
      assert (I : incl out (filter bad (candidates N))).
      { intros v V. apply filter_In in V as [V G]. apply negb_true_iff in G.
        apply filter_In. split; [|now apply B].
        apply in_candidates. now apply options_below in V. }
      apply NoDup_incl_length; [|exact I]. apply NoDup_filter.
      pose proof (options_NoDup d) as D. now inversion D.
Qed.

Lemma pair_private A :
  answers c A <= exp (1 / s) * answers c' A + (1 + exp (1 / s)) * beta.
Proof.
  pose proof (exp_pos (1 / s)) as E.
  assert (Pos : forall d r, 0 <= limited d r) by (intros; now apply list_pf_nonneg).
  (* 1: values that the neighbour does not list *)
  assert (S1 : answers c A <= sum (filter A (N :: common)) (limited c) + beta).
  { unfold answers. rewrite (sum_split both).
    apply Rplus_le_compat.
    - right. f_equal. unfold common. rewrite <- filter_both, !filter_filter.
      apply filter_ext. intros v. apply andb_comm.
    - eapply Rle_trans; [|apply (rare c gone few_gone low_gone)].
      + rewrite filter_filter, (filter_ext _ (fun v => negb (both v) && A v))
          by (intros; apply andb_comm).
        rewrite <- filter_filter. apply sum_filter_le. auto.
      + intros v V B. apply options_below in V as [V L]. unfold gone, both in *.
        rewrite L in *. apply orb_false_iff in B as [B _]. simpl in B. now rewrite B. }
  (* 2 and 3: the shorter list, and privacy on it *)
  assert (S2 : sum (filter A (N :: common)) (limited c)
               <= exp (1 / s) * sum (filter A (N :: common))
                                  (list_pf s (score c') N common)).
  { rewrite <- sum_scal. apply sum_le. intros r R. apply filter_In in R as [R _].
    eapply Rle_trans; [apply (list_pf_shorter s N s_pos both); apply both_N|].
    fold common. apply list_pf_pure; [exact s_pos | exact R|].
    assert (Le : forall t, In t (N :: common) -> (t <= N)%nat).
    { intros t [<-|T]; [lia|]. apply filter_In in T as [T _]. apply options_below in T. lia. }
    intros t t' T T'. apply close; auto. }
  (* 4: back to the neighbour's own list *)
  assert (S4 : sum (filter A (N :: common)) (list_pf s (score c') N common)
               <= answers c' A + beta).
  { assert (Short : forall r, limited c' r <= list_pf s (score c') N common r).
    { intros r. rewrite common_same. apply (list_pf_shorter s N s_pos both), both_N. }
    assert (Total : sum (N :: common) (list_pf s (score c') N common) = 1).
    { apply list_pf_total. unfold common. rewrite <- filter_both.
      apply NoDup_filter, options_NoDup. }
    assert (Total' : sum (N :: common) (limited c')
       + sum (filter (fun v => negb (both v)) (N :: options c')) (limited c') = 1).
    { rewrite common_same, <- filter_both, <- sum_split.
      apply list_pf_total, options_NoDup. }
    assert (B : sum (filter (fun v => negb (both v)) (N :: options c')) (limited c') <= beta).
    { apply (rare c' come few_come low_come). intros v V B.
      apply options_below in V as [V L]. unfold come, both in *. rewrite L in *.
      apply orb_false_iff in B as [B _]. rewrite andb_true_r in B. now rewrite B. }
    rewrite (sum_split A (N :: common)) in Total.
    rewrite (sum_split A (N :: common) (limited c')) in Total'.
    assert (Rest : sum (filter (fun x => negb (A x)) (N :: common)) (limited c')
       <= sum (filter (fun x => negb (A x)) (N :: common)) (list_pf s (score c') N common))
      by (apply sum_le; auto).
    assert (Sub : sum (filter A (N :: common)) (limited c') <= answers c' A).
    { unfold answers. rewrite common_same, <- filter_both, filter_filter.
      rewrite (filter_ext _ (fun v => A v && both v)) by (intros; apply andb_comm).
      rewrite <- filter_filter. apply sum_filter_le. auto. }
    lra. }
  apply (Rmult_le_compat_l (exp (1 / s))) in S4; [|lra]. lra.
Qed.
End Pair.

(** The theorem: one person, who has at most m of the values, is added or removed. *)
Theorem limited_approx_dp c c' m A eps delta :
  (forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat) ->
  (length (filter (fun v => negb (c' v =? c v)%nat) (candidates N)) <= m)%nat ->
  s = 1 / eps -> 0 < eps ->
  INR (Nat.min m k) * (1 + exp eps) / 2 * exp (- (eps * tau)) <= delta ->
  answers c A <= exp eps * answers c' A + delta /\
  answers c' A <= exp eps * answers c A + delta.
Proof.
  intros Hm T S E D.
  assert (Es : 1 / s = eps) by (rewrite S; field; lra).
  assert (Ts : tau / s = eps * tau) by (rewrite S; field; lra).
  destruct (list_moves N k m c c' Hm T) as [L1 L2].
  pose proof (cut_moves N k c c' Hm) as [C1 C2].
  apply le_INR in C1. apply le_INR in C2. rewrite plus_INR in C2. simpl in C2.
  assert (Move : forall t, (t <= N)%nat -> 0 <= score c' t - score c t <= 1).
  { intros t H. unfold score. destruct (Nat.eqb_spec t N) as [->|Z]; [lra|].
    destruct (Hm t ltac:(lia)) as [M1 M2]. apply le_INR in M1. apply le_INR in M2.
    rewrite plus_INR in M2. simpl in M2. lra. }
  assert (Out : forall v, (v < N)%nat ->
    (gone c c' v = true -> c v <= cut N k c + 1)%nat /\
    (come c c' v = true -> c' v <= cut N k c' + 1)%nat).
  { intros v V. destruct (left_out N k c c' Hm v V) as [O1 O2].
    unfold gone, come. split; intros G; apply andb_true_iff in G as [_ G];
      apply negb_true_iff in G; auto. }
  assert (Cost : (1 + exp (1 / s)) * (INR (Nat.min m k) * (/ 2 * exp (- (tau / s)))) <= delta)
    by (rewrite Es, Ts; lra).
  split.
  - pose proof (pair_private c c' (Nat.min m k) L1 L2
      (fun v V => proj1 (Out v V)) (fun v V => proj2 (Out v V))
      (fun t t' H H' => ltac:(pose proof (Move t H); pose proof (Move t' H'); lra)) A) as P.
    rewrite Es in *. lra.
  - pose proof (pair_private c' c (Nat.min m k) L2 L1
      (fun v V => proj2 (Out v V)) (fun v V => proj1 (Out v V))
      (fun t t' H H' => ltac:(pose proof (Move t H); pose proof (Move t' H'); lra)) A) as P.
    rewrite Es in *. lra.
Qed.
End Mechanism.

Theorem limited_approx_dp_margin N k tau chosen (c c' : nat -> nat) m A eps delta :
  0 <= tau -> 0 < eps -> 0 < delta -> (1 <= k)%nat -> (1 <= m)%nat ->
  (forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat) ->
  (length (filter (fun v => negb (c' v =? c v)%nat) (candidates N)) <= m)%nat ->
  margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau ->
  let law := answers N k (scale_of eps 1) tau chosen in
  law c A <= exp eps * law c' A + delta /\ law c' A <= exp eps * law c A + delta.
Proof.
  intros T E D K M Hm Touched Margin law. unfold law, scale_of.
  assert (S : 0 < 1 / eps) by (apply Rdiv_lt_0_compat; lra).
  apply (limited_approx_dp N k (1 / eps) tau chosen S T c c' m A eps delta); auto.
  assert (X : 1 <= INR (Nat.min m k)) by (apply (le_INR 1); lia).
  pose proof (exp_pos eps) as P.
  set (x := INR (Nat.min m k)) in *. set (y := x * (1 + exp eps) / (2 * delta)).
  assert (Y : 0 < y) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]).
  unfold margin_unknown_domain in Margin. fold y in Margin.
  assert (L : ln y <= eps * tau).
  { apply (Rmult_le_compat_l eps) in Margin; [|lra].
    replace (eps * (ln y / eps)) with (ln y) in Margin by (field; lra). exact Margin. }
  assert (Q : exp (- (eps * tau)) <= / y).
  { rewrite <- (exp_ln y) by exact Y. rewrite <- exp_Ropp. apply exp_le. lra. }
  apply Rle_trans with (x * (1 + exp eps) / 2 * / y).
  - apply Rmult_le_compat_l; [|exact Q].
    apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra].
  - right. unfold y. field. repeat split; lra.
Qed.
