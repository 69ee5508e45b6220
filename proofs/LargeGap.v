(** A large gap, exploited privately: docs/proofs/large-gap.md, theorem 1.

    W is the sum of the rivals' coins relative to one fixed candidate. The path from q to q' is cut where W
    passes 1. This uses the intermediate value theorem twice. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Walk Dominance ApproxDP
  Composition Measures.
Import ListNotations.
Open Scope R_scope.

(** The sum of the rivals' coins relative to b. *)
Definition rivals_of (s : R) (n : nat) (q : nat -> R) (b : nat) : R :=
  sum (others n b) (fun t => exp ((q t - q b) / s)).

(** The share of the probability outside b that is moved to b. *)
Definition moved (a W : R) : R := if Rlt_dec W 1 then Rmin 1 (2 * a * (1 / W - 1)) else 0.

(** The first best candidate. *)
Definition leader (n : nat) (q : nat -> R) : nat :=
  hd 0%nat (filter (fun t => if Rle_dec (best n q) (q t) then true else false) (candidates n)).

Definition large_gap (s : R) (n : nat) (a : R) (q : nat -> R) (r : nat) : R :=
  let b := leader n q in
  let c := moved a (rivals_of s n q b) in
  if (r =? b)%nat then 1 - (1 - c) * (1 - pf s n q b) else (1 - c) * pf s n q r.

(** ** The arithmetic *)

Lemma moved_range a W : 0 <= a -> 0 < W -> 0 <= moved a W <= 1.
Proof.
  intros A P. unfold moved. destruct Rlt_dec as [L|L]; [|lra].
  split; [|apply Rmin_l]. apply Rmin_glb; [lra|]. apply Rmult_le_pos; [lra|].
  cut (1 <= 1 / W); [lra|]. unfold Rdiv. rewrite Rmult_1_l, <- Rinv_1.
  apply Rinv_le_contravar; lra.
Qed.

Lemma moved_below a W : 0 <= a -> 0 < W <= 1 -> moved a W * W <= 2 * a * (1 - W).
Proof.
  intros A P. unfold moved. destruct Rlt_dec as [L|L].
  - apply Rle_trans with (2 * a * (1 / W - 1) * W).
    + apply Rmult_le_compat_r; [lra | apply Rmin_r].
    + apply Req_le. field. lra.
  - replace W with 1 by lra. lra.
Qed.

Lemma moved_exact a W : 0 <= a -> 0 < W <= 1 -> moved a W < 1 -> moved a W * W = 2 * a * (1 - W).
Proof.
  intros A P H. unfold moved in *. destruct Rlt_dec as [L|L].
  - unfold Rmin in *. destruct Rle_dec; [lra|]. field. lra.
  - replace W with 1 by lra. ring.
Qed.

Lemma moved_all a W : 0 <= a -> 0 < W <= 1 -> moved a W = 1 -> W * (1 + 2 * a) <= 2 * a.
Proof. intros A P H. pose proof (moved_below a W A P) as B. rewrite H in B. lra. Qed.

Section Arithmetic.
Variables (a X W W' v v' : R).
Hypotheses (a_pos : 0 <= a) (X_1 : 1 <= X) (W_range : 0 < W <= 1) (W'_range : 0 < W' <= 1)
  (W_up : W' <= X * W) (W_down : W <= X * W') (v_range : 0 <= v <= W / 2)
  (v'_range : 0 <= v' <= W' / 2) (v_up : v <= X * v') (rest_up : 1 - v <= X * (1 - v')).
Let c := moved a W.
Let c' := moved a W'.

Lemma outside : v * (1 - c) <= X * (v' * (1 - c')) + a * (X - 1).
Proof.
  pose proof (moved_range a W a_pos (proj1 W_range)) as C. fold c in C.
  pose proof (moved_range a W' a_pos (proj1 W'_range)) as C'. fold c' in C'.
  assert (Q : 0 <= a * (X - 1)) by (apply Rmult_le_pos; lra).
  assert (S : v * (1 - c') <= X * v' * (1 - c')) by (apply Rmult_le_compat_r; lra).
  destruct (Rle_dec c' c) as [L|L].
  { assert (v * (1 - c) <= v * (1 - c')) by (apply Rmult_le_compat_l; lra). lra. }
  assert (c1 : c < 1) by lra.
  pose proof (moved_exact a W a_pos W_range c1) as E. fold c in E.
  pose proof (moved_below a W' a_pos W'_range) as E'. fold c' in E'.
  assert (K : W * c' <= 2 * a * (X - W)).
  { (* W c' <= X W' c' would lose: compare W c' W' <= W 2 a (1 - W') and W <= X W' *)
    apply (Rmult_le_reg_r W'); [lra|].
    assert (W * (c' * W') <= W * (2 * a * (1 - W'))) by (apply Rmult_le_compat_l; lra).
    assert (2 * a * W <= 2 * a * (X * W')) by (apply Rmult_le_compat_l; lra).
    lra. }
  assert (M : v * (c' - c) <= W / 2 * (c' - c)) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

Lemma inside : 1 - v * (1 - c) <= X * (1 - v' * (1 - c')) + a * (X - 1).
Proof.
  pose proof (moved_range a W a_pos (proj1 W_range)) as C. fold c in C.
  pose proof (moved_range a W' a_pos (proj1 W'_range)) as C'. fold c' in C'.
  assert (Q : 0 <= a * (X - 1)) by (apply Rmult_le_pos; lra).
  assert (m0 : 0 <= v' * (1 - c')) by (apply Rmult_le_pos; lra).
  assert (m1 : v' * (1 - c') <= 1 / 2 * 1) by (apply Rmult_le_compat; lra).
  assert (n0 : 0 <= v * (1 - c)) by (apply Rmult_le_pos; lra).
  destruct (Req_dec c' 1) as [F'|F'].
  { rewrite F' in *. nra. }
  pose proof (moved_exact a W' a_pos W'_range ltac:(fold c'; lra)) as E'. fold c' in E'.
  destruct (Req_dec c 1) as [F|F].
  { pose proof (moved_all a W a_pos W_range F) as B.
    assert (m : v' * (1 - c') <= a * (X - 1)).
    { apply Rle_trans with (W' / 2 * (1 - c')); [apply Rmult_le_compat_r; lra|].
      assert (W' * (1 + 2 * a) <= X * W * (1 + 2 * a)) by (apply Rmult_le_compat_r; lra).
      assert (X * (W * (1 + 2 * a)) <= X * (2 * a)) by (apply Rmult_le_compat_l; lra).
      lra. }
    rewrite F. set (p := v' * (1 - c')) in *.
    assert (0 <= (X - 1) * (1 - p)) by (apply Rmult_le_pos; lra). lra. }
  pose proof (moved_exact a W a_pos W_range ltac:(fold c; lra)) as E. fold c in E.
  assert (low : (1 - X * (1 - v')) * (1 - c) <= v * (1 - c)) by (apply Rmult_le_compat_r; lra).
  destruct (Rle_dec c c') as [L|L].
  { assert (X * v' * (c - c') <= 0) by (assert (0 <= X * v') by nra; nra).
    assert (0 <= (X - 1) * c) by (apply Rmult_le_pos; lra). lra. }
  (* X v' (c - c') <= (X - 1) (c + a) is enough *)
  cut (X * v' * (c - c') <= (X - 1) * (c + a)); [intros; lra|].
  apply Rle_trans with (X * (W' / 2) * (c - c')).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
  apply (Rmult_le_reg_r W); [lra|].
  (* W' W (c - c') = 2 a (W' - W) and W (c + a) = 2 a - a W *)
  replace (X * (W' / 2) * (c - c') * W) with (X / 2 * (W' * (c * W) - W * (c' * W'))) by field.
  replace ((X - 1) * (c + a) * W) with ((X - 1) * (c * W + a * W)) by ring.
  rewrite E, E'.
  replace (X / 2 * (W' * (2 * a * (1 - W)) - W * (2 * a * (1 - W')))) with (a * (X * (W' - W)))
    by field.
  replace ((X - 1) * (2 * a * (1 - W) + a * W)) with (a * ((X - 1) * (2 - W))) by ring.
  apply Rmult_le_compat_l; [lra|].
  cut (X * W' - W <= 2 * (X - 1)); [intros; nra|].
  apply (Rmult_le_reg_l X); [lra|].
  assert (X * X * W' - X * W <= (X * X - 1) * W') by nra.
  assert ((X * X - 1) * W' <= (X * X - 1) * 1) by (apply Rmult_le_compat_l; nra).
  assert ((X - 1) * (X + 1) <= (X - 1) * (2 * X)) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.
End Arithmetic.

(** ** The law *)

Section Law.
Variables (s : R) (n : nat) (a : R).
Hypotheses (s_pos : 0 < s) (n_two : (1 < n)%nat) (a_pos : 0 <= a).
Let P := large_gap s n a.

Lemma rivals_positive q b : (b < n)%nat -> 0 < rivals_of s n q b.
Proof.
  intros Hb. apply sum_pos; [|intros; apply exp_pos]. intros E.
  assert (exists t, (t < n)%nat /\ t <> b) as (t & Ht & N).
  { destruct (Nat.eq_dec b 0) as [->|]; [exists 1%nat | exists 0%nat]; lia. }
  assert (In t (others n b)) by now apply in_others. rewrite E in *. contradiction.
Qed.

Lemma rival_coin q b t : (b < n)%nat -> (t < n)%nat -> t <> b ->
  exp ((q t - q b) / s) <= rivals_of s n q b.
Proof.
  intros Hb Ht N. unfold rivals_of.
  rewrite (sum_without t (others n b)).
  - cut (0 <= sum (without t (others n b)) (fun t => exp ((q t - q b) / s))); [lra|].
    apply sum_nonneg. intros; apply Rlt_le, exp_pos.
  - apply NoDup_without, NoDup_candidates.
  - now apply in_others.
Qed.

Lemma exp_le_inv x y : exp x <= exp y -> x <= y.
Proof. intros H. apply Rnot_lt_le. intros L. apply exp_increasing in L. lra. Qed.

Lemma over_s x y : x / s <= y / s -> x <= y.
Proof.
  intros H. apply (Rmult_le_compat_r s) in H; [|lra].
  replace (x / s * s) with x in H by (field; lra).
  replace (y / s * s) with y in H by (field; lra). exact H.
Qed.

(** If W is at most 1, no rival is above b; if W is below 1, none ties with b. *)
Lemma leads q b t : (b < n)%nat -> rivals_of s n q b <= 1 -> (t < n)%nat -> q t <= q b.
Proof.
  intros Hb W Ht. destruct (Nat.eq_dec t b) as [->|N]; [lra|].
  pose proof (rival_coin q b t Hb Ht N) as R.
  assert (E : exp ((q t - q b) / s) <= exp 0) by (rewrite exp_0; lra).
  apply exp_le_inv in E. replace 0 with (0 / s) in E by (field; lra). apply over_s in E. lra.
Qed.

Lemma leads_alone q b t : (b < n)%nat -> rivals_of s n q b < 1 -> (t < n)%nat -> t <> b ->
  q t < q b.
Proof.
  intros Hb W Ht N. pose proof (leads q b t Hb ltac:(lra) Ht) as L.
  destruct L as [L|L]; [exact L|]. exfalso.
  pose proof (rival_coin q b t Hb Ht N) as R.
  replace ((q t - q b) / s) with 0 in R by (rewrite L; field; lra). rewrite exp_0 in R. lra.
Qed.

Lemma leader_ok q : (leader n q < n)%nat /\ best n q <= q (leader n q).
Proof.
  unfold leader. set (f := fun t => if Rle_dec (best n q) (q t) then true else false).
  destruct (best_reached n q ltac:(lia)) as (i & Hi & Ei).
  assert (I : In i (filter f (candidates n))).
  { apply filter_In. split; [now apply in_candidates|]. unfold f.
    destruct Rle_dec; [reflexivity | lra]. }
  destruct (filter f (candidates n)) as [|x m] eqn:E; [contradiction|]. simpl.
  assert (In x (filter f (candidates n))) as H by (rewrite E; now left).
  apply filter_In in H as [H1 H2]. split; [now apply in_candidates|].
  unfold f in H2. destruct Rle_dec; [assumption | discriminate].
Qed.

Lemma leader_is q b : (b < n)%nat -> rivals_of s n q b < 1 -> leader n q = b.
Proof.
  intros Hb W. destruct (leader_ok q) as [L B].
  destruct (Nat.eq_dec (leader n q) b) as [E|N]; [exact E|]. exfalso.
  pose proof (leads_alone q b _ Hb W L N). pose proof (best_ge n q b Hb). lra.
Qed.

(** Every other candidate wins with at most half of its coin. *)
Lemma outsiders q b S : (b < n)%nat -> rivals_of s n q b <= 1 -> S b = false ->
  0 <= event n S (pf s n q) <= rivals_of s n q b / 2.
Proof.
  intros Hb W HS. split.
  { apply sum_nonneg. intros r Hr. apply filter_In in Hr as [Hr _]. apply in_candidates in Hr.
    now apply Rlt_le, pf_pos. }
  assert (B : best n q = q b).
  { apply (best_unique n q (q b) b); auto. intros t Ht. now apply leads. }
  assert (H : forall r, (r < n)%nat -> r <> b -> pf s n q r <= exp ((q r - q b) / s) / 2).
  { intros r Hr N. unfold pf.
    assert (C : coin s n q r = exp ((q r - q b) / s)).
    { unfold coin. rewrite B. f_equal. field. lra. }
    rewrite C. unfold Rdiv at 2. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
    apply Rle_trans with (int (fun u => 1 - u) 0 1).
    - apply int_le; [lra | | |].
      + apply (cont_prod _ (fun t u => 1 - u * coin s n q t)); intros; cont.
      + cont.
      + intros u U. unfold others.
        assert (J : In b (without r (candidates n)))
          by (apply in_without; split; [now apply in_candidates | auto]).
        rewrite (prod_without b _ _ (NoDup_without r _ (NoDup_candidates n)) J).
        assert (Cb : coin s n q b = 1).
        { unfold coin. rewrite B. replace (- (q b - q b) / s) with 0 by (field; lra). apply exp_0. }
        rewrite Cb, Rmult_1_r. rewrite <- (Rmult_1_r (1 - u)) at 2.
        apply Rmult_le_compat_l; [lra|].
        set (l := without b (without r (candidates n))).
        assert (K : forall t, In t l -> (t < n)%nat).
        { intros t Ht. apply in_without in Ht as [Ht _]. apply in_without in Ht as [Ht _].
          now apply in_candidates. }
        clearbody l. induction l as [|t l IH]; simpl; [lra|].
        assert (0 <= u * coin s n q t <= 1).
        { pose proof (coin_pos s n q t).
          pose proof (coin_le_1 s n q t s_pos (K t (or_introl eq_refl))). nra. }
        assert (prod l (fun t => 1 - u * coin s n q t) <= 1)
          by (apply IH; intros; apply K; now right).
        assert (0 <= prod l (fun t => 1 - u * coin s n q t)).
        { apply prod_nonneg. intros z Hz. pose proof (coin_pos s n q z).
          pose proof (coin_le_1 s n q z s_pos (K z (or_intror Hz))). nra. }
        apply Rle_trans with (1 * 1); [apply Rmult_le_compat; lra | lra].
    - apply Req_le. rewrite (int_derive (fun u => u - u ^ 2 / 2)).
      + field.
      + intros u. auto_derive; [exact I|]. field.
      + cont. }
  unfold rivals_of, Rdiv. rewrite Rmult_comm, <- sum_scal.
  unfold event. rewrite sum_filter.
  rewrite (sum_without b (candidates n)) by (try apply NoDup_candidates; now apply in_candidates).
  rewrite HS, Rplus_0_l. apply sum_le. intros r Hr. apply in_others in Hr as [Hr N].
  specialize (H r Hr N). pose proof (exp_pos ((q r - q b) / s)).
  destruct (S r); lra.
Qed.

Lemma sum_others (p : nat -> R) b : (b < n)%nat ->
  sum (candidates n) p = p b + sum (others n b) p.
Proof. intros Hb. apply sum_without; [apply NoDup_candidates | now apply in_candidates]. Qed.

(** The probability of a set, depending on whether it contains b; valid if W is at most 1. *)
Lemma share q b S : (b < n)%nat -> rivals_of s n q b < 1 \/
    moved a (rivals_of s n q (leader n q)) = 0 /\ moved a (rivals_of s n q b) = 0 ->
  let c := moved a (rivals_of s n q b) in
  event n S (P q) = if S b then 1 - event n (fun t => negb (S t)) (pf s n q) * (1 - c)
                    else event n S (pf s n q) * (1 - c).
Proof.
  intros Hb H c.
  assert (T : event n S (pf s n q) + event n (fun t => negb (S t)) (pf s n q) = 1).
  { rewrite event_complement. apply pf_total; auto; lia. }
  destruct H as [H|[H1 H2]].
  - assert (L : leader n q = b) by now apply leader_is.
    assert (O : forall S', S' b = false -> event n S' (P q) = event n S' (pf s n q) * (1 - c)).
    { intros S' F. unfold event. rewrite !sum_filter.
      rewrite <- (Rmult_comm (1 - c)), <- sum_scal. apply sum_ext. intros r Hr.
      unfold P, large_gap. rewrite L. fold c. destruct (S' r) eqn:E; [|ring].
      destruct (Nat.eqb_spec r b) as [->|N]; [congruence | ring]. }
    assert (M : event n S (P q) + event n (fun t => negb (S t)) (P q) = 1).
    { rewrite event_complement, (sum_others _ b Hb).
      assert (A : sum (others n b) (P q) = (1 - c) * (1 - pf s n q b)).
      { replace (1 - pf s n q b) with (sum (others n b) (pf s n q)).
        - rewrite <- sum_scal. apply sum_ext. intros r Hr. apply in_others in Hr as [_ N].
          unfold P, large_gap. rewrite L. fold c.
          now rewrite (proj2 (Nat.eqb_neq r b) N).
        - pose proof (sum_others (pf s n q) b Hb) as E. rewrite pf_total in E by (auto; lia). lra. }
      rewrite A. unfold P at 1, large_gap. rewrite L, Nat.eqb_refl. fold c. ring. }
    destruct (S b) eqn:E; [|now apply O].
    rewrite <- (O (fun t => negb (S t))) by (rewrite E; reflexivity). lra.
  - assert (E : event n S (P q) = event n S (pf s n q)).
    { apply sum_ext. intros r Hr. unfold P, large_gap. rewrite H1.
      destruct (Nat.eqb_spec r (leader n q)) as [->|N]; ring. }
    rewrite E. unfold c. rewrite H2. destruct (S b); lra.
Qed.

(** If W is 1, nothing is moved, whichever candidate is called the leader. *)
Lemma plain q S : 1 <= rivals_of s n q (leader n q) -> event n S (P q) = event n S (pf s n q).
Proof.
  intros H. assert (M : moved a (rivals_of s n q (leader n q)) = 0)
    by (unfold moved; destruct Rlt_dec; [lra | reflexivity]).
  apply sum_ext. intros r Hr. unfold P, large_gap. rewrite M.
  destruct (Nat.eqb_spec r (leader n q)) as [->|N]; ring.
Qed.

Lemma at_one q b : (b < n)%nat -> rivals_of s n q b = 1 -> 1 <= rivals_of s n q (leader n q).
Proof.
  intros Hb W. destruct (leader_ok q) as [L B].
  destruct (Nat.eq_dec (leader n q) b) as [->|N]; [lra|].
  pose proof (leads q b (leader n q) Hb ltac:(lra) L). pose proof (best_ge n q b Hb).
  pose proof (rival_coin q (leader n q) b L Hb (not_eq_sym N)) as R.
  replace ((q b - q (leader n q)) / s) with 0 in R
    by (replace (q b) with (q (leader n q)) by lra; field; lra).
  rewrite exp_0 in R. lra.
Qed.

Lemma rivals_move q q' b x : (b < n)%nat -> range_distance n q q' (x * s) ->
  rivals_of s n q' b <= exp x * rivals_of s n q b.
Proof.
  intros Hb H. unfold rivals_of. rewrite <- sum_scal. apply sum_le. intros t Ht.
  apply in_others in Ht as [Ht _]. rewrite <- exp_plus. apply exp_le.
  specialize (H t b Ht Hb).
  replace (x + (q t - q b) / s) with ((x * s + (q t - q b)) / s) by (field; lra).
  apply div_le; lra.
Qed.

Lemma pf_private q q' x S : range_distance n q q' (x * s) ->
  event n S (pf s n q) <= exp x * event n S (pf s n q').
Proof.
  intros H. replace x with (x * s / s) at 1 by (field; lra). now apply pf_pure_dp.
Qed.

Theorem same_regime q q' b x S : (b < n)%nat -> 0 <= x -> range_distance n q q' (x * s) ->
  rivals_of s n q b <= 1 -> rivals_of s n q' b <= 1 ->
  event n S (P q) <= exp x * event n S (P q') + a * (exp x - 1).
Proof.
  intros Hb Hx H W W'.
  assert (X : 1 <= exp x) by (rewrite <- exp_0; now apply exp_le).
  pose proof (range_distance_sym n q q' _ H) as H'.
  assert (regime : forall p, rivals_of s n p b <= 1 -> rivals_of s n p b < 1 \/
      moved a (rivals_of s n p (leader n p)) = 0 /\ moved a (rivals_of s n p b) = 0).
  { intros p [L|E]; [now left|]. right. pose proof (at_one p b Hb E) as O.
    split; unfold moved; destruct Rlt_dec; auto; lra. }
  rewrite (share q b S Hb (regime q W)), (share q' b S Hb (regime q' W')).
  pose proof (rivals_positive q b Hb) as R. pose proof (rivals_positive q' b Hb) as R'.
  pose proof (rivals_move q q' b x Hb H) as M. pose proof (rivals_move q' q b x Hb H') as M'.
  assert (T : forall p S', event n S' (pf s n p) = 1 - event n (fun t => negb (S' t)) (pf s n p)).
  { intros p S'. pose proof (event_complement n S' (pf s n p)) as E.
    rewrite pf_total in E by (auto; lia). lra. }
  destruct (S b) eqn:E.
  - assert (N : (fun t => negb (S t)) b = false) by (cbv beta; now rewrite E).
    apply inside with (v := event n (fun t => negb (S t)) (pf s n q)); try lra; auto.
    + now apply outsiders.
    + now apply outsiders.
    + now apply pf_private.
    + pose proof (pf_private q q' x S H) as Q. rewrite (T q S), (T q' S) in Q. exact Q.
  - apply outside; try lra; auto; [now apply outsiders | now apply pf_private].
Qed.

(** ** The path *)

Definition line (q q' : nat -> R) (z : R) (t : nat) : R := q t + z * (q' t - q t).

Lemma line_distance q q' x y z : range_distance n q q' (x * s) -> 0 <= x -> y <= z ->
  range_distance n (line q q' y) (line q q' z) ((z - y) * x * s).
Proof.
  intros H X L i j Hi Hj. unfold line. specialize (H i j Hi Hj).
  replace (q i + z * (q' i - q i) - (q i + y * (q' i - q i))
           - (q j + z * (q' j - q j) - (q j + y * (q' j - q j))))
    with ((z - y) * (q' i - q i - (q' j - q j))) by ring.
  rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

Lemma rivals_line q q' b : continuity (fun z => rivals_of s n (line q q' z) b).
Proof.
  intros z. apply continuity_pt_filterlim.
  assert (C : cont (fun z => rivals_of s n (line q q' z) b)); [|apply C].
  unfold rivals_of. apply (cont_sum _ (fun t z => exp ((line q q' z t - line q q' z b) / s))).
  intros t y. apply (ex_derive_continuous (fun z => exp ((line q q' z t - line q q' z b) / s))).
  unfold line. auto_derive. exact I.
Qed.

Lemma rivals_ext q q' b : (b < n)%nat -> (forall t, (t < n)%nat -> q t = q' t) ->
  rivals_of s n q b = rivals_of s n q' b.
Proof.
  intros Hb H. apply sum_ext. intros t Ht. apply in_others in Ht as [Ht _].
  now rewrite (H t Ht), (H b Hb).
Qed.

Lemma line_end q q' t : line q q' 1 t = q' t.
Proof. unfold line. ring. Qed.
Lemma line_start q q' t : line q q' 0 t = q t.
Proof. unfold line. ring. Qed.

Lemma event_pf_ext q q' S : (forall t, (t < n)%nat -> q t = q' t) ->
  event n S (pf s n q) = event n S (pf s n q').
Proof.
  intros H. apply sum_ext. intros r Hr. apply filter_In in Hr as [Hr _].
  apply in_candidates in Hr. now apply pf_ext.
Qed.

Theorem large_gap_step q q' x S : 0 <= x -> range_distance n q q' (x * s) ->
  event n S (P q) <= exp x * event n S (P q') + a * (exp x - 1).
Proof.
  intros Hx H.
  destruct (leader_ok q) as [Hb _]. destruct (leader_ok q') as [Hb' _].
  set (b := leader n q) in *. set (b' := leader n q') in *.
  destruct (Rlt_dec (rivals_of s n q b) 1) as [W|W].
  1: destruct (Rle_dec (rivals_of s n q' b) 1) as [D|D]; [apply (same_regime q q' b x S); auto; lra|].
  (* a first point, where permute-and-flip takes over *)
  all: assert (first : exists y, 0 <= y <= 1 /\ 1 <= rivals_of s n (line q q' y) b' /\
    event n S (P q) <= exp (y * x) * event n S (pf s n (line q q' y)) + a * (exp (y * x) - 1)).
  { destruct (IVT_gen (fun z => rivals_of s n (line q q' z) b) 0 1 1 (rivals_line q q' b))
      as (y & Y & Ey).
    { rewrite (rivals_ext (line q q' 0) q b Hb (fun t _ => line_start q q' t)).
      rewrite (rivals_ext (line q q' 1) q' b Hb (fun t _ => line_end q q' t)).
      rewrite Rmin_left, Rmax_right by lra. lra. }
    rewrite Rmin_left, Rmax_right in Y by lra. exists y. split; [exact Y|]. split.
    - destruct (Nat.eq_dec b' b) as [->|N]; [lra|]. apply Rnot_lt_le. intros L.
      pose proof (leads_alone _ b' b Hb' L Hb (not_eq_sym N)).
      pose proof (leads (line q q' y) b b' Hb ltac:(lra) Hb'). lra.
    - rewrite <- (plain (line q q' y) S (at_one _ b Hb Ey)).
      apply (same_regime q (line q q' y) b (y * x) S); auto; try lra.
      + apply Rmult_le_pos; lra.
      + pose proof (line_distance q q' x 0 y H Hx ltac:(lra)) as L. rewrite Rminus_0_r in L.
        intros i j Hi Hj. specialize (L i j Hi Hj). rewrite !line_start in L. exact L. }
  2: { exists 0. split; [lra|]. split.
    - rewrite (rivals_ext (line q q' 0) q b' Hb' (fun t _ => line_start q q' t)).
      apply Rnot_lt_le. intros L. pose proof (leader_is q b' Hb' L) as E. fold b in E.
      rewrite E in W. contradiction.
    - rewrite (plain q S) by (fold b; lra).
      rewrite (event_pf_ext (line q q' 0) q S (fun t _ => line_start q q' t)).
      rewrite Rmult_0_l, exp_0. lra. }
  all: destruct first as (y & Y & B' & F).
  (* a second point, from which permute-and-flip continues to the end *)
  all: assert (second : exists z, y <= z <= 1 /\
    event n S (pf s n (line q q' z)) <= exp ((1 - z) * x) * event n S (P q')
                                        + a * (exp ((1 - z) * x) - 1)).
  1,3: destruct (Rlt_dec (rivals_of s n q' b') 1) as [V|V];
    [| exists 1; split; [lra|]; rewrite (plain q' S) by (fold b'; lra);
       rewrite (event_pf_ext (line q q' 1) q' S (fun t _ => line_end q q' t));
       rewrite Rminus_diag_eq, Rmult_0_l, exp_0 by reflexivity; lra].
  1,2: destruct (IVT_gen (fun z => rivals_of s n (line q q' z) b') y 1 1 (rivals_line q q' b'))
      as (z & Z & Ez);
    [ rewrite (rivals_ext (line q q' 1) q' b' Hb' (fun t _ => line_end q q' t));
      rewrite Rmin_right, Rmax_left by lra; lra |];
    rewrite Rmin_left, Rmax_right in Z by lra; exists z; split; [exact Z|];
    rewrite <- (plain (line q q' z) S (at_one _ b' Hb' Ez));
    apply (same_regime (line q q' z) q' b' ((1 - z) * x) S); auto; try lra;
    [ apply Rmult_le_pos; lra |];
    pose proof (line_distance q q' x z 1 H Hx ltac:(lra)) as L;
    intros i j Hi Hj; specialize (L i j Hi Hj); rewrite !line_end in L; exact L.
  all: destruct second as (z & Z & G).
  all: pose proof (pf_private (line q q' y) (line q q' z) ((z - y) * x) S
    (line_distance q q' x y z H Hx ltac:(lra))) as M.
  all: set (Q := event n S (P q')) in *.
  all: assert (E1 : exp (y * x) * exp ((z - y) * x) = exp (z * x))
    by (rewrite <- exp_plus; f_equal; ring).
  all: assert (E2 : exp (z * x) * exp ((1 - z) * x) = exp x)
    by (rewrite <- exp_plus; f_equal; ring).
  all: assert (E3 : exp (y * x) <= exp (z * x)) by (apply exp_le; apply Rmult_le_compat_r; lra).
  all: apply (Rmult_le_compat_l (exp ((z - y) * x))) in G; [|apply Rlt_le, exp_pos].
  all: assert (K : event n S (pf s n (line q q' y)) <= exp ((z - y) * x) *
    (exp ((1 - z) * x) * Q + a * (exp ((1 - z) * x) - 1))) by lra.
  all: apply (Rmult_le_compat_l (exp (y * x))) in K; [|apply Rlt_le, exp_pos].
  all: replace (exp (y * x) * (exp ((z - y) * x) *
      (exp ((1 - z) * x) * Q + a * (exp ((1 - z) * x) - 1))))
    with (exp (y * x) * exp ((z - y) * x) * exp ((1 - z) * x) * Q
          + a * (exp (y * x) * exp ((z - y) * x) * exp ((1 - z) * x)
                 - exp (y * x) * exp ((z - y) * x))) in K by ring.
  all: rewrite E1, E2 in K.
  all: assert (0 <= a * (exp (z * x) - exp (y * x))) by (apply Rmult_le_pos; lra); lra.
Qed.
End Law.

(** With one candidate there is nothing to hide. *)
Lemma large_gap_alone s a q : large_gap s 1 a q 0 = 1.
Proof.
  pose proof (pf_total s 1 q Nat.lt_0_1) as T. simpl in T. rewrite Rplus_0_r in T.
  assert (L : leader 1 q = 0%nat) by (unfold leader; simpl; destruct Rle_dec; reflexivity).
  unfold large_gap. rewrite L, T. simpl. ring.
Qed.

Theorem large_gap_is_law s n a q : 0 < s -> (0 < n)%nat -> 0 <= a -> is_law n (large_gap s n a q).
Proof.
  intros Hs Hn Ha. destruct (Nat.eq_dec n 1) as [->|N1].
  { split; [|simpl; rewrite large_gap_alone; ring].
    intros r Hr. replace r with 0%nat by lia. rewrite large_gap_alone. lra. }
  set (b := leader n q). set (c := moved a (rivals_of s n q b)).
  assert (Hb : (b < n)%nat) by (apply leader_ok; lia).
  pose proof (pf_total s n q Hn) as T. rewrite (sum_others n _ b Hb) in T.
  assert (O : forall r, (r < n)%nat -> 0 <= pf s n q r) by (intros; now apply Rlt_le, pf_pos).
  assert (Z : 0 <= sum (others n b) (pf s n q)).
  { apply sum_nonneg. intros r Hr. apply in_others in Hr as [Hr _]. now apply O. }
  assert (C : 0 <= c <= 1) by (apply moved_range; [exact Ha | apply rivals_positive; [lia | exact Hb]]).
  split.
  - intros r Hr. unfold large_gap. fold b c. specialize (O r Hr).
    destruct (Nat.eqb_spec r b) as [->|]; nra.
  - rewrite (sum_others n _ b Hb). unfold large_gap at 1. fold b c. rewrite Nat.eqb_refl.
    rewrite (sum_ext _ _ (fun r => (1 - c) * pf s n q r)).
    + rewrite sum_scal. replace (sum (others n b) (pf s n q)) with (1 - pf s n q b) by lra. ring.
    + intros r Hr. apply in_others in Hr as [_ N]. unfold large_gap. fold b c.
      now rewrite (proj2 (Nat.eqb_neq r b) N).
Qed.

Theorem large_gap_approx_dp n eps delta d q q' : (0 < n)%nat -> 0 < eps -> 0 <= delta -> 0 < d ->
  range_distance n q q' d ->
  let law := large_gap (scale_of eps d) n (share_of_large_gap eps delta) in
  approx_dp n (law q) (law q') eps delta.
Proof.
  intros Hn He Hd D H law S.
  assert (E : 1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing).
  assert (A : 0 <= share_of_large_gap eps delta)
    by (apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra]).
  assert (Sp : 0 < scale_of eps d) by (apply Rdiv_lt_0_compat; lra).
  destruct (Nat.eq_dec n 1) as [->|N].
  { unfold event, candidates; simpl. destruct (S 0%nat); simpl; [|lra].
    unfold law. rewrite !large_gap_alone. lra. }
  pose proof (large_gap_step (scale_of eps d) n (share_of_large_gap eps delta) Sp ltac:(lia) A
                q q' eps S (Rlt_le _ _ He)) as T.
  replace (eps * scale_of eps d) with d in T by (unfold scale_of; field; lra).
  specialize (T H). fold law in T.
  replace (share_of_large_gap eps delta * (exp eps - 1)) with delta in T
    by (unfold share_of_large_gap; field; lra).
  exact T.
Qed.
