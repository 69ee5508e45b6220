(** docs/proofs/error-ratio.md: at the same scale, permute-and-flip never errs more than the exponential
    mechanism, which errs at most twice as much as permute-and-flip. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Exponential Walk.
Import ListNotations.
Open Scope R_scope.

(** ** Expectations of the heads *)

Lemma flip_all_le p l phi psi :
  (forall t, In t l -> 0 <= p t <= 1) -> (forall H, phi H <= psi H) ->
  flip_all p l phi <= flip_all p l psi.
Proof.
  revert phi psi. induction l as [|x l IH]; intros phi psi P H; cbn [flip_all].
  - apply H.
  - assert (Px : 0 <= p x <= 1) by (apply P; now left).
    assert (Pl : forall t, In t l -> 0 <= p t <= 1) by (intros; apply P; now right).
    apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply IH; auto.
Qed.

Lemma flip_all_affine p l a b :
  flip_all p l (fun heads => a + b * INR (length heads)) = a + b * sum l p.
Proof.
  revert a. induction l as [|x l IH]; intros a.
  - simpl. ring.
  - cbn [flip_all]. rewrite IH.
    rewrite (flip_all_ext p l _ (fun heads => (a + b) + b * INR (length heads))).
    + rewrite IH. cbn [sum fold_right]. fold (sum l p). ring.
    + intros H _. cbn [length]. rewrite S_INR. ring.
Qed.

(** Jensen's inequality for 1 / (1 + N), by the tangent at the mean. *)
Lemma mean_inverse p l : (forall t, In t l -> 0 <= p t <= 1) ->
  / (1 + sum l p) <= int (rest p l) 0 1.
Proof.
  intros P.
  assert (C : 0 < 1 + sum l p).
  { pose proof (sum_nonneg l p (fun t Ht => proj1 (P t Ht))). lra. }
  set (c := 1 + sum l p) in *.
  rewrite (int_ext (rest p l) (fun u => (1 - u) ^ 0 * rest p l u)) by (intros; simpl; ring).
  rewrite <- flip_all_inverse.
  apply Rle_trans with
    (flip_all p l (fun heads => (2 / c - / (c * c)) + (- / (c * c)) * INR (length heads))).
  - rewrite flip_all_affine. apply Req_le.
    replace (sum l p) with (c - 1) by (unfold c; ring). field. lra.
  - apply flip_all_le; [exact P|]. intros H. rewrite plus_INR. simpl INR at 2.
    set (x := 1 + INR (length H)).
    assert (X : 0 < x) by (pose proof (pos_INR (length H)); unfold x; lra).
    replace (INR (length H)) with (x - 1) by (unfold x; ring).
    apply (Rmult_le_reg_r (x * (c * c))); [repeat apply Rmult_lt_0_compat; lra|].
    replace (/ x * (x * (c * c))) with (c * c) by (field; lra).
    replace ((2 / c - / (c * c) + - / (c * c) * (x - 1)) * (x * (c * c)))
      with (2 * c * x - x * x) by (field; lra).
    pose proof (Rle_0_sqr (x - c)) as Q; unfold Rsqr in Q. lra.
Qed.

Section Ratio.
Variables (s : R) (n : nat) (q : nat -> R).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).
Let p := coin s n q.
Let Z := sum (candidates n) p.

Lemma pf_rest r : pf s n q r = p r * int (rest p (others n r)) 0 1.
Proof. reflexivity. Qed.

Lemma coin_range t : (t < n)%nat -> 0 <= p t <= 1.
Proof.
  intros H. split; [apply Rlt_le, coin_pos | now apply coin_le_1].
Qed.

Lemma Z_ge_1 : 1 <= Z.
Proof.
  destruct (best_reached n q n_pos) as (i & Hi & E).
  unfold Z. rewrite (sum_without i) by
    (try apply NoDup_candidates; now apply in_candidates).
  assert (C : p i = 1).
  { unfold p, coin. rewrite E, <- exp_0. f_equal. unfold Rdiv; ring. }
  rewrite C.
  assert (0 <= sum (without i (candidates n)) p); [|lra].
  apply sum_nonneg; intros; apply Rlt_le, coin_pos.
Qed.

Theorem pf_at_least_half r : (r < n)%nat -> em s n q r / 2 <= pf s n q r.
Proof.
  intros Hr. rewrite pf_rest. unfold em. fold p Z.
  assert (S : Z = p r + sum (others n r) p).
  { unfold Z, others. apply sum_without; [apply NoDup_candidates | now apply in_candidates]. }
  pose proof Z_ge_1 as Z1. pose proof (coin_range r Hr) as [P0 P1].
  pose proof (coin_pos s n q r) as P. fold p in P.
  assert (J : / (1 + sum (others n r) p) <= int (rest p (others n r)) 0 1).
  { apply mean_inverse. intros t Ht. apply in_others in Ht as [Ht _].
    now apply coin_range. }
  unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  eapply Rle_trans; [|exact J].
  rewrite <- Rinv_mult. apply Rinv_le_contravar.
  - pose proof (sum_nonneg (others n r) p (fun t _ => Rlt_le _ _ (coin_pos s n q t))).
    lra.
  - lra.
Qed.

(** The exponential mechanism at most doubles the mean of any error that is not negative;
    taking the indicator of [error >= t] gives the tails. *)
Theorem em_error_at_most_twice f : (forall r, (r < n)%nat -> 0 <= f r) ->
  sum (candidates n) (fun r => em s n q r * f r)
  <= 2 * sum (candidates n) (fun r => pf s n q r * f r).
Proof.
  intros F. rewrite <- sum_scal. apply sum_le; intros r Hr.
  apply in_candidates in Hr. pose proof (pf_at_least_half r Hr).
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [now apply F | lra].
Qed.

(** ** Dominance *)

Lemma better_wins_more i j : (i < n)%nat -> (j < n)%nat -> q i <= q j ->
  int (rest p (others n i)) 0 1 <= int (rest p (others n j)) 0 1.
Proof.
  intros Hi Hj H. destruct (Nat.eq_dec i j) as [->|N]; [lra|].
  apply int_le; [lra | apply rest_cont | apply rest_cont |]. intros u Hu.
  unfold rest, others.
  assert (Ij : In j (without i (candidates n)))
    by (apply in_without; split; [now apply in_candidates | auto]).
  assert (Ii : In i (without j (candidates n)))
    by (apply in_without; split; [now apply in_candidates | auto]).
  pose proof (NoDup_candidates n) as distinct.
  rewrite (prod_without j (without i (candidates n)) _ (NoDup_without i _ distinct) Ij).
  rewrite (prod_without i (without j (candidates n)) _ (NoDup_without j _ distinct) Ii).
  rewrite (without_comm j i).
  assert (p i <= p j).
  { apply exp_le. unfold Rdiv. apply Rmult_le_compat_r; [|lra].
    apply Rlt_le, Rinv_0_lt_compat, s_pos. }
  apply Rmult_le_compat_r.
  - apply prod_nonneg; intros t Ht. apply in_without in Ht as [Ht _].
    apply in_without in Ht as [Ht _]. apply in_candidates in Ht.
    pose proof (coin_range t Ht). nra.
  - nra.
Qed.

Lemma sum_product {A B} (l : list A) (m : list B) a b :
  sum l (fun i => sum m (fun j => a i * b j)) = sum l a * sum m b.
Proof.
  rewrite (sum_ext l _ (fun i => sum m b * a i)) by (intros; rewrite sum_scal; ring).
  rewrite sum_scal. ring.
Qed.

Lemma chebyshev_sum l (a e f : nat -> R) : sum l a = 1 -> sum l e = 1 ->
  (forall i j, In i l -> In j l -> (a i * e j - e i * a j) * (f i - f j) <= 0) ->
  sum l (fun i => a i * f i) <= sum l (fun i => e i * f i).
Proof.
  intros A E H.
  assert (D : sum l (fun i => sum l (fun j =>
     (a i * f i) * e j + (-1) * (a i * (e j * f j))
     + (-1) * ((e i * f i) * a j) + e i * (a j * f j))) <= 0).
  { replace 0 with (sum l (fun _ : nat => 0)) by (rewrite sum_const; ring).
    apply sum_le; intros i Hi.
    replace 0 with (sum l (fun _ : nat => 0)) by (rewrite sum_const; ring).
    apply sum_le; intros j Hj. specialize (H i j Hi Hj). lra. }
  rewrite (sum_ext l _ (fun i =>
      sum l (fun j => (a i * f i) * e j) + (-1) * sum l (fun j => a i * (e j * f j))
      + (-1) * sum l (fun j => (e i * f i) * a j) + sum l (fun j => e i * (a j * f j)))) in D
    by (intros; rewrite !sum_plus, !(sum_scal l (-1)); ring).
  rewrite !sum_plus, !(sum_scal l (-1)) in D.
  rewrite (sum_product l l (fun i => a i * f i) e) in D.
  rewrite (sum_product l l a (fun j => e j * f j)) in D.
  rewrite (sum_product l l (fun i => e i * f i) a) in D.
  rewrite (sum_product l l e (fun j => a j * f j)) in D.
  rewrite A, E in D. lra.
Qed.

(** Any error that does not increase with the score: [best - q], or [error >= t]. *)
Theorem pf_error_at_most_em f :
  (forall i j, (i < n)%nat -> (j < n)%nat -> q i <= q j -> f j <= f i) ->
  sum (candidates n) (fun r => pf s n q r * f r)
  <= sum (candidates n) (fun r => em s n q r * f r).
Proof.
  intros F. apply chebyshev_sum.
  - now apply pf_total.
  - now apply em_total.
  - intros i j Hi Hj. apply in_candidates in Hi, Hj.
    rewrite !pf_rest. unfold em. fold p Z.
    pose proof Z_ge_1 as Z1.
    set (I := int (rest p (others n i)) 0 1). set (J := int (rest p (others n j)) 0 1).
    replace (p i * I * (p j / Z) - p i / Z * (p j * J))
      with (p i * p j / Z * (I - J)) by (field; lra).
    assert (K : 0 <= p i * p j / Z).
    { apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; lra].
      apply Rmult_le_pos; apply Rlt_le, coin_pos. }
    set (k := p i * p j / Z) in *. clearbody k.
    cut ((I - J) * (f i - f j) <= 0); [intros X; nra|].
    destruct (Rle_dec (q i) (q j)) as [L|L].
    + pose proof (better_wins_more i j Hi Hj L) as B. specialize (F i j Hi Hj L).
      fold I J in B. nra.
    + assert (L' : q j <= q i) by lra.
      pose proof (better_wins_more j i Hj Hi L') as B. specialize (F j i Hj Hi L').
      fold I J in B. nra.
Qed.

Definition expected_error (law : nat -> R) : R :=
  sum (candidates n) (fun r => law r * (best n q - q r)).

Corollary error_ratio :
  expected_error (pf s n q) <= expected_error (em s n q)
    <= 2 * expected_error (pf s n q).
Proof.
  split.
  - apply pf_error_at_most_em. intros; lra.
  - apply em_error_at_most_twice. intros r Hr. pose proof (best_ge n q r Hr). lra.
Qed.
End Ratio.

