(** From one measure to another, and several people: docs/proofs/conversions.md and
    docs/proofs/neighbours.md. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Dominance ApproxDP
  Composition.
Import ListNotations.
Open Scope R_scope.

Definition is_law (n : nat) (p : nat -> R) : Prop :=
  (forall r, (r < n)%nat -> 0 < p r) /\ sum (candidates n) p = 1.

Lemma same_mass n p p' : is_law n p -> is_law n p' ->
  sum (candidates n) p = sum (candidates n) p'.
Proof. intros [_ ->] [_ ->]. reflexivity. Qed.

Lemma law_nonneg n p : is_law n p -> forall r, (r < n)%nat -> 0 <= p r.
Proof. intros [P _] r Hr. now apply Rlt_le, P. Qed.

Lemma law_some n p : is_law n p -> (0 < n)%nat.
Proof. intros [_ M]. destruct n; [simpl in M; lra | lia]. Qed.

Lemma event_of_complement n S p : sum (candidates n) p = 1 ->
  event n (fun t => negb (S t)) p = 1 - event n S p.
Proof. intros M. pose proof (event_complement n S p). lra. Qed.

Lemma pure_dp_loss n p p' eps r : is_law n p -> is_law n p' -> (r < n)%nat ->
  pure_dp n p p' eps -> loss p p' r <= eps.
Proof.
  intros [P _] [P' _] Hr H. pose proof (pure_dp_outcome n p p' eps r H Hr) as O.
  specialize (P r Hr). specialize (P' r Hr). unfold loss.
  rewrite <- (ln_exp eps). apply ln_le_inv'; [now apply Rdiv_lt_0_compat|].
  apply (Rmult_le_reg_r (p' r)); [auto|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma loss_opposite n p p' r : is_law n p -> is_law n p' -> (r < n)%nat ->
  loss p' p r = - loss p p' r.
Proof.
  intros [P _] [P' _] Hr. specialize (P r Hr). specialize (P' r Hr).
  unfold loss. rewrite !ln_div by auto. ring.
Qed.

Theorem pure_to_range n p p' eps : is_law n p -> is_law n p' ->
  pure_dp n p p' eps -> pure_dp n p' p eps -> bounded_range n p p' (range_of_pure eps).
Proof.
  intros L L' A B i j Hi Hj. unfold range_of_pure.
  pose proof (pure_dp_loss n p p' eps i L L' Hi A).
  pose proof (pure_dp_loss n p' p eps j L' L Hj B) as C.
  rewrite (loss_opposite n) in C by auto. lra.
Qed.

(** What a larger delta buys: a convex function lies below its chord. *)
Theorem approx_chord n p p' eps delta e :
  sum (candidates n) p = 1 -> sum (candidates n) p' = 1 ->
  approx_dp n p p' eps delta -> approx_dp n p' p eps delta -> delta <= 1 ->
  - eps <= e <= eps -> approx_dp n p p' e (delta_of_approx eps delta e).
Proof.
  intros M M' A B D He S. specialize (A S). specialize (B (fun t => negb (S t))).
  rewrite !event_of_complement in B by auto.
  set (x := event n S p) in *. set (y := event n S p') in *.
  assert (E : exp e <= exp eps) by (apply exp_le; lra).
  assert (I : 1 <= exp e * exp eps)
    by (rewrite <- exp_plus, <- exp_0; apply exp_le; lra).
  assert (G : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  pose proof (exp_pos e) as P.
  unfold delta_of_approx, delta_of_pure.
  set (F := exp eps) in *. set (t := exp e) in *. clearbody F t x y. clear S.
  apply (Rmult_le_reg_r (1 + F)); [lra|].
  replace ((t * y + (delta + (1 - delta) * ((F - t) / (1 + F)))) * (1 + F))
    with (t * y * (1 + F) + delta * (1 + F) + (1 - delta) * (F - t)) by (field; lra).
  destruct (Req_dec F 1) as [->|N].
  { assert (t = 1) by lra. subst t. nra. }
  assert (G' : 1 < F) by lra.
  (* (F t - 1) times the first bound plus (F - t) times the second is F - 1 times ours *)
  apply (Rmult_le_reg_l (F - 1)); [lra|].
  assert (U : 0 <= (F * t - 1) * (F * y + delta - x)) by (apply Rmult_le_pos; lra).
  assert (V : 0 <= (F - t) * (F * (1 - x) + delta - (1 - y))) by (apply Rmult_le_pos; lra).
  replace ((F - 1) * (t * y * (1 + F) + delta * (1 + F) + (1 - delta) * (F - t)))
    with ((F - 1) * (x * (1 + F)) + (F * t - 1) * (F * y + delta - x)
          + (F - t) * (F * (1 - x) + delta - (1 - y))) by ring.
  lra.
Qed.

(** The same solved for the epsilon: what the code computes. *)
Theorem approx_to_approx n p p' eps lost delta :
  sum (candidates n) p = 1 -> sum (candidates n) p' = 1 ->
  approx_dp n p p' eps lost -> approx_dp n p' p eps lost ->
  (forall r, (r < n)%nat -> 0 <= p' r) ->
  0 <= eps -> lost <= delta -> lost < 1 ->
  0 < exp eps - (delta - lost) / (1 - lost) * (1 + exp eps) ->
  approx_dp n p p' (Rmax 0 (epsilon_of_approx eps lost delta)) delta.
Proof.
  intros M M' A B N He Hd Hl Hi S. set (e := Rmax 0 (epsilon_of_approx eps lost delta)).
  set (inside := exp eps - (delta - lost) / (1 - lost) * (1 + exp eps)) in *.
  pose proof (exp_pos eps) as P.
  assert (K : 0 <= (delta - lost) / (1 - lost)).
  { apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra]. }
  assert (I1 : inside <= exp eps) by (unfold inside; nra).
  assert (E : 0 <= e <= eps).
  { unfold e. split; [apply Rmax_l|]. apply Rmax_lub; [exact He|].
    unfold epsilon_of_approx. fold inside. rewrite <- (ln_exp eps). now apply ln_le_inv'. }
  assert (I2 : inside <= exp e).
  { rewrite <- (exp_ln inside) by exact Hi. apply exp_le. apply Rmax_r. }
  pose proof (approx_chord n p p' eps lost e M M' A B ltac:(lra) ltac:(lra) S) as C.
  cut (delta_of_approx eps lost e <= delta); [lra|].
  unfold delta_of_approx, delta_of_pure.
  apply (Rmult_le_reg_r (1 + exp eps)); [lra|].
  replace ((lost + (1 - lost) * ((exp eps - exp e) / (1 + exp eps))) * (1 + exp eps))
    with (lost * (1 + exp eps) + (1 - lost) * (exp eps - exp e)) by (field; lra).
  assert (H : (1 - lost) * (exp eps - exp e) <= (1 - lost) * (exp eps - inside))
    by (apply Rmult_le_compat_l; lra).
  replace ((1 - lost) * (exp eps - inside)) with ((delta - lost) * (1 + exp eps)) in H
    by (unfold inside; field; lra).
  lra.
Qed.

Theorem pure_to_approx n p p' eps delta :
  sum (candidates n) p = 1 -> sum (candidates n) p' = 1 ->
  pure_dp n p p' eps -> pure_dp n p' p eps ->
  (forall r, (r < n)%nat -> 0 <= p' r) -> 0 <= eps -> 0 <= delta ->
  0 < exp eps - delta * (1 + exp eps) ->
  approx_dp n p p' (Rmax 0 (epsilon_of_pure eps delta)) delta.
Proof.
  intros M M' A B N He Hd Hi.
  assert (E : epsilon_of_pure eps delta = epsilon_of_approx eps 0 delta)
    by (unfold epsilon_of_approx, epsilon_of_pure; do 2 f_equal; field).
  rewrite E. apply approx_to_approx; auto; try lra.
  - intros S. specialize (A S). lra.
  - intros S. specialize (B S). lra.
Qed.

(** Bounded range: the largest and the least ratio bound a set and its complement. *)
Theorem range_to_approx n p p' eps e : (0 < n)%nat -> is_law n p -> is_law n p' ->
  bounded_range n p p' eps -> 0 < eps -> 0 <= e <= eps ->
  approx_dp n p p' e (delta_of_range eps e).
Proof.
  intros Hn L L' B eps_pos He S.
  destruct (best_reached n (loss p p') Hn) as (i & Hi & Ei).
  set (t := loss p p' i).
  assert (R : forall r, (r < n)%nat -> p' r * exp (t - eps) <= p r <= p' r * exp t).
  { intros r Hr. destruct L as [L _], L' as [L' _]. specialize (L r Hr). specialize (L' r Hr).
    assert (X : p r = p' r * exp (loss p p' r)).
    { unfold loss. rewrite exp_ln by now apply Rdiv_lt_0_compat. field. lra. }
    rewrite X. split; apply Rmult_le_compat_l; try lra; apply exp_le.
    - specialize (B i r Hi Hr). fold t in B. lra.
    - pose proof (best_ge n (loss p p') r Hr). unfold t. lra. }
  assert (A : event n S p <= exp t * event n S p').
  { unfold event. rewrite <- sum_scal. apply sum_le; intros r Hr.
    apply filter_In in Hr as [Hr _]. apply in_candidates in Hr.
    destruct (R r Hr). lra. }
  assert (C : exp (t - eps) * (1 - event n S p') <= 1 - event n S p).
  { rewrite <- !event_of_complement by (apply L || apply L').
    unfold event. rewrite <- sum_scal. apply sum_le; intros r Hr.
    apply filter_In in Hr as [Hr _]. apply in_candidates in Hr. destruct (R r Hr). lra. }
  assert (Y : 0 <= event n S p').
  { apply sum_nonneg. intros r Hr. apply filter_In in Hr as [Hr _]. apply in_candidates in Hr.
    now apply Rlt_le, L'. }
  assert (Y1 : event n S p' <= 1).
  { pose proof (event_complement n S p') as Q. rewrite (proj2 L') in Q.
    assert (0 <= event n (fun t => negb (S t)) p'); [|lra].
    apply sum_nonneg. intros r Hr. apply filter_In in Hr as [Hr _]. apply in_candidates in Hr.
    now apply Rlt_le, L'. }
  set (x := event n S p) in *. set (y := event n S p') in *.
  unfold delta_of_range.
  (* with v = exp (eps / 2), w = exp (e / 2), b = exp t *)
  set (v := exp (eps / 2)). set (w := exp (e / 2)). set (b := exp t) in *.
  assert (V : 1 < v) by (unfold v; rewrite <- exp_0; apply exp_increasing; lra).
  assert (W : 1 <= w <= v).
  { unfold w, v. split; [rewrite <- exp_0|]; apply exp_le; lra. }
  assert (Pb : 0 < b) by apply exp_pos.
  assert (Ee : exp e = w * w) by (unfold w; rewrite <- exp_plus; f_equal; lra).
  assert (Ed : exp (- eps) = / (v * v)).
  { unfold v. rewrite <- exp_plus, <- exp_Ropp. f_equal. lra. }
  assert (Eh : exp ((e - eps) / 2) = w * / v).
  { unfold v, w. rewrite <- exp_Ropp, <- exp_plus. f_equal. lra. }
  assert (Et : exp (t - eps) = b * / (v * v)).
  { rewrite <- Ed. unfold b, Rminus. now rewrite exp_plus. }
  rewrite Ee, Ed, Eh. rewrite Et in C.
  replace ((1 - w * / v) ^ 2 / (1 - / (v * v))) with ((v - w) ^ 2 / (v * v - 1))
    by (field; nra).
  assert (Q : 0 < v * v - 1) by nra.
  assert (C' : b * (1 - y) <= (1 - x) * (v * v)).
  { apply (Rmult_le_reg_r (/ (v * v))); [apply Rinv_0_lt_compat; nra|].
    rewrite Rmult_assoc, Rinv_r_simpl_l by nra. lra. }
  assert (Z : b <= v * v).
  { assert (Z : exp (t - eps) <= 1).
    { rewrite <- (proj2 L), <- (Rmult_1_r (exp _)), <- (proj2 L') at 1. rewrite <- sum_scal.
      apply sum_le; intros r Hr. apply in_candidates in Hr. destruct (R r Hr). lra. }
    rewrite Et in Z. apply (Rmult_le_compat_r (v * v)) in Z; [|nra].
    rewrite Rmult_assoc, Rinv_l in Z by nra. lra. }
  clearbody v w b x y. clear - V W Pb Q A C' Y Y1 Z.
  apply (Rmult_le_reg_r (v * v - 1)); [exact Q|].
  replace ((w * w * y + (v - w) ^ 2 / (v * v - 1)) * (v * v - 1))
    with (w * w * y * (v * v - 1) + (v - w) ^ 2) by (field; lra).
  destruct (Rle_dec b (w * w)) as [G|G].
  - (* the largest ratio is below exp e already *)
    assert (x <= w * w * y) by nra. pose proof (pow2_ge_0 (v - w)). nra.
  - assert (G' : w * w < b) by lra. clear G.
    apply (Rmult_le_reg_l b); [exact Pb|].
    assert (w1 : 1 * (v * v) <= w * w * (v * v)) by (apply Rmult_le_compat_r; nra).
    assert (T1 : 0 <= (w * w * (v * v) - b) * (b * y - x)) by (apply Rmult_le_pos; lra).
    assert (T2 : 0 <= (b - w * w) * ((1 - x) * (v * v) - b * (1 - y)))
      by (apply Rmult_le_pos; lra).
    pose proof (pow2_ge_0 (b - v * w)) as T3.
    replace (b * (w * w * y * (v * v - 1) + (v - w) ^ 2))
      with (b * (x * (v * v - 1)) + (w * w * (v * v) - b) * (b * y - x)
            + (b - w * w) * ((1 - x) * (v * v) - b * (1 - y)) + (b - v * w) ^ 2) by ring.
    lra.
Qed.

(** The same solved for the epsilon: what the code computes. *)
Theorem range_to_approx_solved n p p' eps delta : (0 < n)%nat -> is_law n p -> is_law n p' ->
  bounded_range n p p' eps -> 0 < eps -> 0 <= delta < 1 ->
  approx_dp n p p' (Rmax 0 (epsilon_of_range eps delta)) delta.
Proof.
  intros Hn L L' B eps_pos Hd S. set (e := Rmax 0 (epsilon_of_range eps delta)).
  assert (Q : 0 < 1 - exp (- eps) < 1).
  { pose proof (exp_pos (- eps)). assert (exp (- eps) < 1); [|lra].
    rewrite <- exp_0. apply exp_increasing. lra. }
  set (k := 1 - exp (- eps)) in *. set (x := sqrt (delta * k)).
  assert (X : x * x = delta * k) by (apply sqrt_sqrt; nra).
  assert (X0 : 0 <= x) by apply sqrt_pos.
  assert (X1 : x < 1).
  { apply Rnot_le_lt. intros H. assert (1 <= x * x) by nra. assert (delta * k < 1) by nra. lra. }
  assert (Ln : ln (1 - x) <= 0) by (rewrite <- ln_1; apply ln_le_inv'; lra).
  assert (E : 0 <= e <= eps).
  { unfold e. split; [apply Rmax_l|]. apply Rmax_lub; [lra|].
    unfold epsilon_of_range. fold k x. lra. }
  assert (F : 1 - x <= exp ((e - eps) / 2)).
  { rewrite <- (exp_ln (1 - x)) by lra. apply exp_le.
    pose proof (Rmax_r 0 (epsilon_of_range eps delta)) as R. fold e in R.
    unfold epsilon_of_range in R. fold k x in R. lra. }
  assert (G : exp ((e - eps) / 2) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
  pose proof (range_to_approx n p p' eps e Hn L L' B eps_pos E S) as A.
  cut (delta_of_range eps e <= delta); [lra|]. unfold delta_of_range. fold k.
  apply (Rmult_le_reg_r k); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Theorem dominated_to_approx n p p' eps delta : 0 <= eps -> is_law n p -> 0 <= delta < 1 ->
  laplace_dominated n p p' eps ->
  (forall S, 0 <= event n S p') ->
  approx_dp n p p' (Rmax 0 (epsilon_laplace eps delta)) delta.
Proof.
  intros He L Hd D N S. set (e := Rmax 0 (epsilon_laplace eps delta)).
  assert (Ln : ln (1 - delta) <= 0) by (rewrite <- ln_1; apply ln_le_inv'; lra).
  assert (E : 0 <= e <= eps).
  { unfold e. split; [apply Rmax_l|]. apply Rmax_lub; [lra|]. unfold epsilon_laplace. lra. }
  assert (F : 1 - delta <= exp ((e - eps) / 2)).
  { rewrite <- (exp_ln (1 - delta)) by lra. apply exp_le.
    pose proof (Rmax_r 0 (epsilon_laplace eps delta)) as R. fold e in R.
    unfold epsilon_laplace in R. lra. }
  rewrite !event_average.
  pose proof (dominated_approx_dp n p p' eps e _ ltac:(lra) (indicator_test n S)
                (law_nonneg n p L) (proj2 L) D) as A.
  unfold delta_laplace in A. lra.
Qed.

(** ** A household of k people: a chain of neighbours P 0, ..., P k. *)

Theorem pure_people n (P : nat -> nat -> R) eps k :
  (forall i, (i < k)%nat -> pure_dp n (P i) (P (S i)) eps) ->
  pure_dp n (P 0%nat) (P k) (INR k * eps).
Proof.
  induction k as [|k IH]; intros H S.
  - simpl INR. rewrite Rmult_0_l, exp_0. lra.
  - specialize (IH (fun i Hi => H i ltac:(lia)) S). specialize (H k ltac:(lia) S).
    rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus.
    pose proof (exp_pos (INR k * eps)). nra.
Qed.

Theorem range_people n (P : nat -> nat -> R) eps k :
  (forall i, (i <= k)%nat -> is_law n (P i)) ->
  (forall i, (i < k)%nat -> bounded_range n (P i) (P (S i)) eps) ->
  bounded_range n (P 0%nat) (P k) (INR k * eps).
Proof.
  induction k as [|k IH]; intros L H i j Hi Hj.
  - destruct (L 0%nat ltac:(lia)) as [Q _]. unfold loss, Rdiv.
    rewrite (Rinv_r (P 0%nat i)), (Rinv_r (P 0%nat j)) by now apply Rgt_not_eq, Q.
    simpl. lra.
  - specialize (IH (fun i Hi => L i ltac:(lia)) (fun i Hi => H i ltac:(lia)) i j Hi Hj).
    specialize (H k ltac:(lia) i j Hi Hj). rewrite S_INR.
    destruct (L 0%nat ltac:(lia)) as [A _]. destruct (L k ltac:(lia)) as [B _].
    destruct (L (S k) ltac:(lia)) as [C _].
    unfold loss in *. rewrite !ln_div in * by auto. lra.
Qed.

Theorem approx_people n (P : nat -> nat -> R) eps delta k : 0 < eps -> 0 <= delta ->
  (forall i, (i < k)%nat -> approx_dp n (P i) (P (S i)) eps delta) ->
  approx_dp n (P 0%nat) (P k) (INR k * eps) (delta_of_people eps delta (INR k)).
Proof.
  intros He Hd. unfold delta_of_people.
  assert (E : 1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing).
  induction k as [|k IH]; intros H S.
  - simpl INR. rewrite Rmult_0_l, exp_0. replace (delta * (1 - 1) / (exp eps - 1)) with 0
      by (field; lra). lra.
  - specialize (IH (fun i Hi => H i ltac:(lia)) S). specialize (H k ltac:(lia) S).
    rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus.
    set (x := exp (INR k * eps)) in *. assert (X : 0 < x) by apply exp_pos.
    apply (Rmult_le_compat_l x) in H; [|lra].
    replace (delta * (x * exp eps - 1) / (exp eps - 1))
      with (x * delta + delta * (x - 1) / (exp eps - 1)) by (field; lra).
    lra.
Qed.

(** ** Parallel composition: each person is in one part of the data, the j-th round's. *)
Theorem parallel_composition n law law' eps j k :
  (forall h r, (r < n h)%nat -> 0 <= law h r) -> (forall h r, (r < n h)%nat -> 0 <= law' h r) ->
  0 <= eps ->
  (forall h, length h = j -> pure_dp (n h) (law h) (law' h) eps) ->
  (forall h, length h <> j -> forall r, (r < n h)%nat -> law h r = law' h r) ->
  forall phi, (forall t, 0 <= phi t) ->
  sum (transcripts n k []) (fun t => phi t * path law [] t)
  <= exp eps * sum (transcripts n k []) (fun t => phi t * path law' [] t).
Proof.
  intros N N' He P E phi F.
  set (cost := fun h : list nat => if (length h =? j)%nat then eps else 0).
  apply (pure_composition n law law' N N' cost); auto.
  - intros h. unfold cost. destruct (Nat.eqb_spec (length h) j) as [L|L]; [now apply P|].
    apply pure_dp_pointwise. intros r Hr. rewrite exp_0, (E h L r Hr). lra.
  - assert (W : forall k h, (length h <= j)%nat -> within n cost k h eps /\
                (forall h, (j < length h)%nat -> within n cost k h 0)).
    { clear k. induction k as [|k IH]; intros h Hh; cbn [within].
      - split; [exact He | intros; lra].
      - assert (Z : forall h', (j < length h')%nat -> within n cost (S k) h' 0).
        { intros h' H'. cbn [within].
          assert (C : cost h' = 0)
            by (unfold cost; rewrite (proj2 (Nat.eqb_neq (length h') j)) by lia; reflexivity).
          rewrite C, Rminus_0_r.
          split; [lra|]. intros r _. apply (IH h Hh). rewrite app_length. simpl. lia. }
        split; [|exact Z].
        assert (C : cost h = if (length h =? j)%nat then eps else 0) by reflexivity.
        rewrite C. destruct (Nat.eqb_spec (length h) j) as [L|L].
        + rewrite Rminus_diag_eq by reflexivity. split; [lra|]. intros r _.
          apply (IH h Hh). rewrite app_length. simpl. lia.
        + rewrite Rminus_0_r. split; [exact He|]. intros r _.
          apply IH. rewrite app_length. simpl. lia. }
    apply W. simpl. lia.
Qed.

(** ** Top-k by peeling: docs/proofs/top-k.md *)

(** The candidates left when the answers are places among those left before. *)
Fixpoint left_after (l h : list nat) : list nat :=
  match h with
  | [] => l
  | i :: h => left_after (without (nth i l 0%nat) l) h
  end.

Definition left_scores (n : nat) (q : nat -> R) (h : list nat) (i : nat) : R :=
  q (nth i (left_after (candidates n) h) 0%nat).

Lemma left_after_known n l h t : (forall t, In t l -> (t < n)%nat) ->
  In t (left_after l h) -> (t < n)%nat.
Proof.
  revert l. induction h as [|i h IH]; intros l K H; [now apply K|].
  cbn [left_after] in H. apply (IH _) in H; [exact H|].
  intros x Hx. apply in_without in Hx as [Hx _]. now apply K.
Qed.

Theorem peeling_pure_dp s n q q' d k : 0 < s -> 0 <= d -> range_distance n q q' d ->
  let size h := length (left_after (candidates n) h) in
  let law q h := pf s (size h) (left_scores n q h) in
  forall phi, (forall t, 0 <= phi t) ->
  sum (transcripts size k []) (fun t => phi t * path (law q) [] t)
  <= exp (INR k * (d / s)) * sum (transcripts size k []) (fun t => phi t * path (law q') [] t).
Proof.
  intros Hs Hd H size law phi F.
  apply (pure_composition size (law q) (law q')
           (fun h r Hr => Rlt_le _ _ (pf_pos s (size h) (left_scores n q h) r Hs Hr))
           (fun h r Hr => Rlt_le _ _ (pf_pos s (size h) (left_scores n q' h) r Hs Hr))
           (fun _ => d / s)); auto.
  - intros h. apply pf_pure_dp; [exact Hs|]. intros i j Hi Hj. unfold left_scores.
    assert (K : forall i, (i < size h)%nat -> (nth i (left_after (candidates n) h) 0 < n)%nat).
    { intros x Hx. apply (left_after_known n (candidates n) h).
      - intros t; apply in_candidates.
      - now apply nth_In. }
    apply H; now apply K.
  - assert (D : 0 <= d / s) by (apply Rmult_le_pos; [auto | apply Rlt_le, Rinv_0_lt_compat, Hs]).
    assert (W : forall h, within size (fun _ => d / s) k h (INR k * (d / s))).
    { induction k as [|k IH]; intros h; cbn [within]; [simpl; lra|].
      rewrite S_INR. replace ((INR k + 1) * (d / s) - d / s) with (INR k * (d / s)) by ring.
      split; [apply Rmult_le_pos; [apply pos_INR | exact D]|]. intros; apply IH. }
    apply W.
Qed.
