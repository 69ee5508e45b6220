(** From one measure to another, and several people: docs/proofs/conversions.md and
    docs/proofs/neighbours.md. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Walk Exponential Dominance
  ApproxDP Laplace Composition Selections.
Import ListNotations.
Open Scope R_scope.

(** A law on the answers 0, ..., n-1, some of which may be impossible; and a law on all numbers, for countably
    many answers. *)
Definition is_law (n : nat) (p : nat -> R) : Prop :=
  (forall r, (r < n)%nat -> 0 <= p r) /\ sum (candidates n) p = 1.
Definition is_law_on_all (p : nat -> R) : Prop :=
  (forall r, 0 <= p r) /\ is_lim_seq (fun n => sum (candidates n) p) 1.

(** The answers 0, ..., n-1 of a law of either kind. *)
Definition is_part (n : nat) (p : nat -> R) : Prop :=
  (forall r, (r < n)%nat -> 0 <= p r) /\ sum (candidates n) p <= 1.

(** Either of the two: [Some n] stands for n answers, [None] for countably many. A statement about countably
    many answers is made about every finite set of them, and a set is the union of its finite parts. *)
Definition is_law_over (N : option nat) (p : nat -> R) : Prop :=
  match N with Some n => is_law n p | None => is_law_on_all p end.
Definition over (N : option nat) (says : nat -> Prop) : Prop :=
  match N with Some n => says n | None => forall n, says n end.

Lemma law_nonneg n p : is_law n p -> forall r, (r < n)%nat -> 0 <= p r.
Proof. now intros [P _]. Qed.

Lemma event_nonneg n S p : (forall r, (r < n)%nat -> 0 <= p r) -> 0 <= event n S p.
Proof.
  intros P. apply sum_nonneg. intros r Hr. apply filter_In in Hr as [Hr _].
  apply in_candidates in Hr. now apply P.
Qed.

Lemma event_of_complement n S p : sum (candidates n) p = 1 ->
  event n (fun t => negb (S t)) p = 1 - event n S p.
Proof. intros M. pose proof (event_complement n S p). lra. Qed.

(** What holds for every set holds for the complement of every set, which may contain countably many answers.
    *)
Lemma event_inside n k S p :
  event (k + n) (fun t => S t && (t <? n)%nat) p = event n S p.
Proof.
  unfold event, candidates. rewrite Nat.add_comm, seq_app, filter_app, sum_app.
  rewrite (filter_ext_in _ S (seq 0 n)).
  - rewrite (filter_ext_in _ (fun _ => false) (seq (0 + n) k)).
    + replace (filter (fun _ => false) (seq (0 + n) k)) with (@nil nat) by now induction (seq (0 + n) k).
      simpl. ring.
    + intros t H. apply in_seq in H. rewrite (proj2 (Nat.ltb_ge t n)) by lia. apply andb_false_r.
  - intros t H. apply in_seq in H. rewrite (proj2 (Nat.ltb_lt t n)) by lia. apply andb_true_r.
Qed.

Lemma rest N p p' a b delta : is_law_over N p -> is_law_over N p' ->
  over N (fun n => forall S, a * event n S p' <= b * event n S p + delta) ->
  over N (fun n => forall S, a * (1 - event n S p') <= b * (1 - event n S p) + delta).
Proof.
  destruct N as [n|]; simpl; intros L L' H.
  - intros S. rewrite <- !event_of_complement by (apply L || apply L'). apply H.
  - intros n S.
    assert (A : forall f l, is_lim_seq (fun m => sum (candidates m) f) 1 ->
      is_lim_seq (fun m => l * (sum (candidates (m + n)) f - event n S f)) (l * (1 - event n S f))).
    { intros f l F. apply (is_lim_seq_scal_l _ l (1 - event n S f)).
      apply is_lim_seq_minus'; [now apply (is_lim_seq_incr_n (fun m => sum (candidates m) f)) | apply is_lim_seq_const]. }
    assert (B : is_lim_seq (fun m => b * (sum (candidates (m + n)) p - event n S p) + delta)
                  (b * (1 - event n S p) + delta)).
    { apply is_lim_seq_plus'; [now apply A, L | apply is_lim_seq_const]. }
    refine (is_lim_seq_le _ _ (Finite _) (Finite _) _ (A p' a (proj2 L')) B). intros m.
    specialize (H (m + n)%nat (fun t => negb (S t && (t <? n)%nat))).
    pose proof (event_complement (m + n) (fun t => S t && (t <? n)%nat) p) as E.
    pose proof (event_complement (m + n) (fun t => S t && (t <? n)%nat) p') as E'.
    rewrite event_inside in E, E'.
    replace (sum (candidates (m + n)) p' - event n S p')
      with (event (m + n) (fun t => negb (S t && (t <? n)%nat)) p') by lra.
    replace (sum (candidates (m + n)) p - event n S p)
      with (event (m + n) (fun t => negb (S t && (t <? n)%nat)) p) by lra.
    exact H.
Qed.

Lemma law_events N p : is_law_over N p -> over N (fun n => forall S, 0 <= event n S p <= 1).
Proof.
  intros L.
  assert (A : over N (fun n => forall S, 0 <= event n S p)).
  { destruct N; simpl in *; intros; apply event_nonneg; intros; now apply L. }
  assert (B : over N (fun n => forall S, 0 * event n S p <= 1 * event n S p + 0)).
  { destruct N as [n|]; simpl in *; [|intros n]; intros S;
      [specialize (A S) | specialize (A n S)]; lra. }
  pose proof (rest N p p 0 1 0 L L B) as C.
  destruct N as [n|]; simpl in *; [|intros n]; intros S;
    [specialize (A S); specialize (C S) | specialize (A n S); specialize (C n S)]; lra.
Qed.

Theorem pure_to_range n p p' eps :
  (forall r, (r < n)%nat -> 0 <= p r) -> (forall r, (r < n)%nat -> 0 <= p' r) ->
  pure_dp n p p' eps -> pure_dp n p' p eps -> bounded_range n p p' (range_of_pure eps).
Proof.
  intros P P' A B i j Hi Hj. unfold range_of_pure.
  pose proof (pure_dp_outcome n p p' eps i A Hi). pose proof (pure_dp_outcome n p' p eps j B Hj).
  replace (exp (2 * eps) * (p j * p' i)) with ((exp eps * p' i) * (exp eps * p j))
    by (replace (2 * eps) with (eps + eps) by ring; rewrite exp_plus; ring).
  apply Rmult_le_compat; auto.
Qed.

(** What a larger delta gains: a convex function lies below its chord. *)
Lemma chord x y eps delta e : delta <= 1 -> - eps <= e <= eps ->
  x <= exp eps * y + delta -> 1 - y <= exp eps * (1 - x) + delta ->
  x <= exp e * y + delta_of_approx eps delta e.
Proof.
  intros D He A B.
  assert (E : exp e <= exp eps) by (apply exp_le; lra).
  assert (I : 1 <= exp e * exp eps)
    by (rewrite <- exp_plus, <- exp_0; apply exp_le; lra).
  assert (G : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  pose proof (exp_pos e) as P.
  unfold delta_of_approx, delta_of_pure.
  set (F := exp eps) in *. set (t := exp e) in *. clearbody F t.
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

(** The same, solved for epsilon, as the code computes it. If the argument of the logarithm is not positive,
    epsilon is zero (Coq's ln is zero there). *)
Lemma chord_solved x y eps lost delta : 0 <= eps -> lost <= delta -> lost < 1 -> 0 <= y ->
  x <= exp eps * y + lost -> 1 - y <= exp eps * (1 - x) + lost ->
  x <= exp (Rmax 0 (epsilon_of_approx eps lost delta)) * y + delta.
Proof.
  intros He Hd Hl Y A B. set (e := Rmax 0 (epsilon_of_approx eps lost delta)).
  set (inside := exp eps - (delta - lost) / (1 - lost) * (1 + exp eps)).
  pose proof (exp_pos eps) as P.
  assert (K : 0 <= (delta - lost) / (1 - lost)).
  { apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra]. }
  assert (I1 : inside <= exp eps) by (unfold inside; nra).
  assert (E0 : 0 <= e) by apply Rmax_l.
  assert (E1 : e <= eps).
  { apply Rmax_lub; [exact He|]. unfold epsilon_of_approx. fold inside.
    destruct (Rlt_dec 0 inside) as [I|I].
    - rewrite <- (ln_exp eps). now apply ln_le_inv'.
    - unfold ln. destruct (Rlt_dec 0 inside); [contradiction | exact He]. }
  assert (I2 : inside <= exp e).
  { destruct (Rlt_dec 0 inside) as [I|I].
    - rewrite <- (exp_ln inside) by exact I. apply exp_le. apply Rmax_r.
    - pose proof (exp_pos e). lra. }
  pose proof (chord x y eps lost e ltac:(lra) ltac:(lra) A B) as C.
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

(** Bounded range: the odds of a set change by no more than the odds of two answers. *)
Lemma range_arithmetic x y eps e : 0 < eps -> 0 <= x <= 1 -> 0 <= y <= 1 ->
  x * (1 - y) <= exp eps * ((1 - x) * y) -> x <= exp e * y + delta_of_range eps e.
Proof.
  intros He X Y B. unfold delta_of_range.
  set (v := exp (eps / 2)). set (w := exp (e / 2)).
  assert (V : 1 < v) by (unfold v; rewrite <- exp_0; apply exp_increasing; lra).
  assert (W : 0 < w) by apply exp_pos.
  assert (Ev : exp eps = v * v) by (unfold v; rewrite <- exp_plus; f_equal; lra).
  assert (Ew : exp e = w * w) by (unfold w; rewrite <- exp_plus; f_equal; lra).
  assert (Ed : exp (- eps) = / (v * v)) by (rewrite <- Ev; apply exp_Ropp).
  assert (Eh : exp ((e - eps) / 2) = w * / v).
  { unfold v, w. rewrite <- exp_Ropp, <- exp_plus. f_equal. lra. }
  rewrite Ew, Ed, Eh. rewrite Ev in B. clearbody v w.
  assert (D : 0 < v * v - 1) by nra.
  replace ((1 - w * / v) ^ 2 / (1 - / (v * v))) with ((v - w) ^ 2 / (v * v - 1))
    by (field; nra).
  apply (Rmult_le_reg_r (v * v - 1)); [exact D|].
  replace ((w * w * y + (v - w) ^ 2 / (v * v - 1)) * (v * v - 1))
    with (w * w * y * (v * v - 1) + (v - w) ^ 2) by (field; lra).
  set (z := 1 + (v * v - 1) * y). assert (Z : 1 <= z) by (unfold z; nra).
  apply (Rmult_le_reg_r z); [lra|].
  assert (C : x * z <= v * v * y) by (unfold z; nra).
  apply (Rmult_le_compat_l (v * v - 1)) in C; [|lra].
  pose proof (pow2_ge_0 (w * z - v)) as Q.
  replace ((w * w * y * (v * v - 1) + (v - w) ^ 2) * z)
    with ((v * v - 1) * (v * v * y) + (w * z - v) ^ 2) by (unfold z; ring).
  lra.
Qed.

(** Solved for the epsilon; at eps = 0 the two laws are equal. *)
Lemma range_solved x y eps delta : 0 <= eps -> 0 <= delta -> 0 <= x <= 1 -> 0 <= y <= 1 ->
  x * (1 - y) <= exp eps * ((1 - x) * y) ->
  x <= exp (Rmax 0 (epsilon_of_range eps delta)) * y + delta.
Proof.
  intros He Hd X Y B. set (e := Rmax 0 (epsilon_of_range eps delta)).
  assert (E0 : 1 <= exp e) by (rewrite <- exp_0; apply exp_le, Rmax_l).
  destruct (Rle_dec 1 delta) as [H|H]; [nra|]. assert (H' : delta < 1) by lra. clear H.
  destruct (Req_dec eps 0) as [Z|N].
  { rewrite Z, exp_0 in B. nra. }
  assert (eps_pos : 0 < eps) by lra.
  assert (Q : 0 < 1 - exp (- eps) < 1).
  { pose proof (exp_pos (- eps)). assert (exp (- eps) < 1); [|lra].
    rewrite <- exp_0. apply exp_increasing. lra. }
  set (k := 1 - exp (- eps)) in *. set (u := sqrt (delta * k)).
  assert (U : u * u = delta * k) by (apply sqrt_sqrt; nra).
  assert (U0 : 0 <= u) by apply sqrt_pos.
  assert (U1 : u < 1).
  { apply Rnot_le_lt. intros I. assert (1 <= u * u) by nra. assert (delta * k < 1) by nra. lra. }
  assert (Ln : ln (1 - u) <= 0) by (rewrite <- ln_1; apply ln_le_inv'; lra).
  assert (E : e <= eps).
  { apply Rmax_lub; [lra|]. unfold epsilon_of_range. fold k u. lra. }
  assert (F : 1 - u <= exp ((e - eps) / 2)).
  { rewrite <- (exp_ln (1 - u)) by lra. apply exp_le.
    pose proof (Rmax_r 0 (epsilon_of_range eps delta)) as R. fold e in R.
    unfold epsilon_of_range in R. fold k u in R. lra. }
  assert (G : exp ((e - eps) / 2) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
  pose proof (range_arithmetic x y eps e eps_pos X Y B) as A.
  cut (delta_of_range eps e <= delta); [lra|]. unfold delta_of_range. fold k.
  apply (Rmult_le_reg_r k); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Section Conversions.
Variables (N : option nat) (p p' : nat -> R).
Hypotheses (L : is_law_over N p) (L' : is_law_over N p').

Theorem approx_chord eps delta e :
  over N (fun n => approx_dp n p p' eps delta) -> over N (fun n => approx_dp n p' p eps delta) ->
  delta <= 1 -> - eps <= e <= eps ->
  over N (fun n => approx_dp n p p' e (delta_of_approx eps delta e)).
Proof.
  intros A B D He.
  assert (B' : over N (fun n => forall S, 1 * event n S p' <= exp eps * event n S p + delta)).
  { destruct N; simpl in *; intros; rewrite Rmult_1_l; apply B. }
  pose proof (rest N p p' _ _ _ L L' B') as C.
  destruct N as [n|]; simpl in *; [|intros n]; intros S; apply chord; auto; try apply A;
    [specialize (C S) | specialize (C n S)]; lra.
Qed.

Theorem approx_to_approx eps lost delta :
  over N (fun n => approx_dp n p p' eps lost) -> over N (fun n => approx_dp n p' p eps lost) ->
  0 <= eps -> lost <= delta -> lost < 1 ->
  over N (fun n => approx_dp n p p' (Rmax 0 (epsilon_of_approx eps lost delta)) delta).
Proof.
  intros A B He Hd Hl.
  assert (B' : over N (fun n => forall S, 1 * event n S p' <= exp eps * event n S p + lost)).
  { destruct N; simpl in *; intros; rewrite Rmult_1_l; apply B. }
  pose proof (rest N p p' _ _ _ L L' B') as C. pose proof (law_events N p' L') as Y.
  destruct N as [n|]; simpl in *; [|intros n]; intros S;
    apply (chord_solved _ _ eps lost delta); auto; try apply A; try apply Y;
    [specialize (C S) | specialize (C n S)]; lra.
Qed.

Theorem pure_to_approx eps delta :
  over N (fun n => pure_dp n p p' eps) -> over N (fun n => pure_dp n p' p eps) ->
  0 <= eps -> 0 <= delta ->
  over N (fun n => approx_dp n p p' (Rmax 0 (epsilon_of_pure eps delta)) delta).
Proof.
  intros A B He Hd.
  assert (E : epsilon_of_pure eps delta = epsilon_of_approx eps 0 delta)
    by (unfold epsilon_of_approx, epsilon_of_pure; do 2 f_equal; field).
  rewrite E. apply approx_to_approx; auto; try lra.
  - destruct N as [n|]; simpl in *; [|intros n]; intros S; rewrite Rplus_0_r; apply A.
  - destruct N as [n|]; simpl in *; [|intros n]; intros S; rewrite Rplus_0_r; apply B.
Qed.

Lemma odds_of_rest i eps : (match N with Some n => (i < n)%nat | None => True end) ->
  over N (fun n => bounded_range n p p' eps) ->
  over N (fun n => forall S,
    p i * (1 - event n S p') <= exp eps * p' i * (1 - event n S p)).
Proof.
  intros Hi B.
  assert (C : over N (fun n => forall S, p i * event n S p' <= exp eps * p' i * event n S p + 0)).
  { destruct N as [n|]; simpl in *; [|intros n]; intros S; rewrite Rplus_0_r; unfold event;
      rewrite <- !sum_scal; apply sum_le; intros j Hj; apply filter_In in Hj as [Hj _];
      apply in_candidates in Hj.
    - specialize (B i j Hi Hj). lra.
    - specialize (B (Nat.max i j + 1)%nat i j ltac:(lia) ltac:(lia)). lra. }
  pose proof (rest N p p' _ _ _ L L' C) as D.
  destruct N as [n|]; simpl in *; [|intros n]; intros S; [specialize (D S) | specialize (D n S)]; lra.
Qed.

Theorem range_to_pure eps : over N (fun n => bounded_range n p p' eps) ->
  over N (fun n => pure_dp n p p' eps).
Proof.
  intros B.
  assert (Z : forall n f, event n (fun _ => false) f = 0)
    by (intros n f; unfold event; replace (filter (fun _ => false) (candidates n)) with (@nil nat)
          by (now induction (candidates n)); reflexivity).
  pose proof (fun i Hi => odds_of_rest i eps Hi B) as O.
  destruct N as [n|]; simpl in *; [|intros n]; apply pure_dp_pointwise; intros i Hi;
    [specialize (O i Hi (fun _ => false)) | specialize (O i I n (fun _ => false))];
    rewrite !Z in O; lra.
Qed.

Lemma range_odds eps : over N (fun n => bounded_range n p p' eps) ->
  over N (fun n => forall S,
    event n S p * (1 - event n S p') <= exp eps * ((1 - event n S p) * event n S p')).
Proof.
  intros B. pose proof (fun i Hi => odds_of_rest i eps Hi B) as O.
  destruct N as [n|]; simpl in *; [|intros n]; intros S;
    rewrite Rmult_comm; replace (exp eps * ((1 - event n S p) * event n S p'))
      with (exp eps * (1 - event n S p) * event n S p') by ring;
    unfold event at 2 4; rewrite <- !sum_scal; apply sum_le; intros i Hi;
    apply filter_In in Hi as [Hi _]; apply in_candidates in Hi;
    [specialize (O i Hi S) | specialize (O i I n S)]; lra.
Qed.

Theorem range_to_approx eps e : over N (fun n => bounded_range n p p' eps) -> 0 < eps ->
  over N (fun n => approx_dp n p p' e (delta_of_range eps e)).
Proof.
  intros B He. pose proof (range_odds eps B) as O.
  pose proof (law_events N p L) as X. pose proof (law_events N p' L') as Y.
  destruct N as [n|]; simpl in *; [|intros n]; intros S; apply range_arithmetic; auto.
Qed.

Theorem range_to_approx_solved eps delta : over N (fun n => bounded_range n p p' eps) ->
  0 <= eps -> 0 <= delta ->
  over N (fun n => approx_dp n p p' (Rmax 0 (epsilon_of_range eps delta)) delta).
Proof.
  intros B He Hd. pose proof (range_odds eps B) as O.
  pose proof (law_events N p L) as X. pose proof (law_events N p' L') as Y.
  destruct N as [n|]; simpl in *; [|intros n]; intros S; apply range_solved; auto.
Qed.
End Conversions.

Theorem dominated_to_approx n p p' eps delta : is_law n p -> is_law n p' ->
  laplace_dominated n p p' eps -> 0 <= eps -> 0 <= delta ->
  approx_dp n p p' (Rmax 0 (epsilon_laplace eps delta)) delta.
Proof.
  intros L L' D He Hd S. set (e := Rmax 0 (epsilon_laplace eps delta)).
  destruct (law_events (Some n) p L S) as [_ X]. destruct (law_events (Some n) p' L' S) as [Y _].
  destruct (Rle_dec 1 delta) as [H|H]; [pose proof (exp_pos e); nra|].
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

Theorem dominated_to_range n p p' eps : is_law n p -> is_law n p' ->
  laplace_dominated n p p' eps -> laplace_dominated n p' p eps -> 0 <= eps ->
  bounded_range n p p' (range_of_pure eps).
Proof.
  intros [P M] [P' M'] D D' H. apply pure_to_range; auto; now apply dominated_pure_dp.
Qed.

(** ** The selections are laws, and their guarantees at every delta *)

Section Selections.
Variables (s : R) (n : nat).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).

Theorem pf_is_law q : is_law n (pf s n q) /\ forall r, (r < n)%nat -> 0 < pf s n q r.
Proof.
  split; [split|]; intros; try (now apply pf_total); try apply Rlt_le; now apply pf_pos.
Qed.

Theorem em_is_law q : is_law n (em s n q) /\ forall r, (r < n)%nat -> 0 < em s n q r.
Proof.
  split; [split|]; intros; try (now apply em_total); try apply Rlt_le; now apply em_pos.
Qed.

Theorem laplace_is_law q : is_law n (laplace_max s n q).
Proof. split; intros; [now apply laplace_max_nonneg | now apply laplace_max_total]. Qed.

Variables (q q' : nat -> R) (d delta : R).
Hypotheses (d_pos : 0 <= d) (delta_pos : 0 <= delta) (near : range_distance n q q' d).

Lemma cost_nonneg : 0 <= d / s.
Proof. apply Rmult_le_pos; [exact d_pos | now apply Rlt_le, Rinv_0_lt_compat]. Qed.

Theorem pf_at_delta :
  approx_dp n (pf s n q) (pf s n q') (Rmax 0 (epsilon_laplace (d / s) delta)) delta.
Proof.
  apply dominated_to_approx; try apply pf_is_law; auto using cost_nonneg. now apply pf_dominated.
Qed.

Theorem laplace_at_delta : approx_dp n (laplace_max s n q) (laplace_max s n q')
  (Rmax 0 (epsilon_laplace (d / s) delta)) delta.
Proof.
  apply dominated_to_approx; try apply laplace_is_law; auto using cost_nonneg.
  now apply laplace_max_dominated.
Qed.

Theorem em_at_delta :
  approx_dp n (em s n q) (em s n q') (Rmax 0 (epsilon_of_range (d / s) delta)) delta.
Proof.
  apply (range_to_approx_solved (Some n)); try apply em_is_law; auto using cost_nonneg.
  now apply em_bounded_range.
Qed.
End Selections.

Theorem laplace_range s n q q' d : 0 < s -> (0 < n)%nat -> range_distance n q q' d ->
  bounded_range n (laplace_max s n q) (laplace_max s n q') (range_of_pure (d / s)).
Proof.
  intros S N H. apply pure_to_range; try (now apply laplace_is_law).
  - now apply laplace_max_pure_dp.
  - now apply laplace_max_pure_dp, range_distance_sym.
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

(** Bounded range leaves the same answers possible. *)
Lemma range_support n p p' eps j : is_law n p -> is_law n p' -> bounded_range n p p' eps ->
  (j < n)%nat -> (p j = 0 <-> p' j = 0).
Proof.
  intros [P M] [P' M'] B Hj. split; intros Z; apply Rle_antisym; auto.
  - rewrite <- (Rmult_1_r (p' j)), <- M, <- sum_scal.
    apply Rle_trans with (sum (candidates n) (fun _ => 0)); [|rewrite sum_const; lra].
    apply sum_le. intros i Hi. apply in_candidates in Hi. specialize (B i j Hi Hj).
    rewrite Z in B. lra.
  - rewrite <- (Rmult_1_r (p j)), <- M', <- sum_scal.
    apply Rle_trans with (sum (candidates n) (fun _ => 0)); [|rewrite sum_const; lra].
    apply sum_le. intros i Hi. apply in_candidates in Hi. specialize (B j i Hj Hi).
    rewrite Z in B. lra.
Qed.

Theorem range_people n (P : nat -> nat -> R) eps k :
  (forall i, (i <= k)%nat -> is_law n (P i)) ->
  (forall i, (i < k)%nat -> bounded_range n (P i) (P (S i)) eps) ->
  bounded_range n (P 0%nat) (P k) (INR k * eps).
Proof.
  induction k as [|k IH]; intros L H i j Hi Hj.
  - simpl INR. rewrite Rmult_0_l, exp_0. lra.
  - specialize (IH (fun i Hi => L i ltac:(lia)) (fun i Hi => H i ltac:(lia))).
    specialize (H k ltac:(lia)).
    pose proof (L 0%nat ltac:(lia)) as L0. pose proof (L k ltac:(lia)) as Lk.
    pose proof (L (S k) ltac:(lia)) as L1.
    pose proof (range_support n _ _ _ i L0 Lk IH Hi) as Zi.
    pose proof (range_support n _ _ _ j Lk L1 H Hj) as Zj.
    pose proof (proj1 L0 i Hi). pose proof (proj1 L0 j Hj).
    pose proof (proj1 Lk i Hi). pose proof (proj1 Lk j Hj).
    pose proof (proj1 L1 i Hi). pose proof (proj1 L1 j Hj).
    specialize (IH i j Hi Hj). specialize (H i j Hi Hj).
    pose proof (exp_pos (INR (S k) * eps)) as E.
    assert (G : 0 <= exp (INR (S k) * eps) * (P 0%nat j * P (S k) i))
      by (apply Rmult_le_pos; [lra | now apply Rmult_le_pos]).
    destruct (Req_dec (P k i) 0) as [Z|Ni]; [apply Zi in Z; rewrite Z; lra|].
    destruct (Req_dec (P k j) 0) as [Z|Nj]; [apply Zj in Z; rewrite Z; lra|].
    clear E G. rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus.
    apply (Rmult_le_reg_r (P k j * P k i)); [apply Rmult_lt_0_compat; lra|].
    replace (P 0%nat i * P (S k) j * (P k j * P k i))
      with ((P 0%nat i * P k j) * (P k i * P (S k) j)) by ring.
    replace (exp (INR k * eps) * exp eps * (P 0%nat j * P (S k) i) * (P k j * P k i))
      with ((exp (INR k * eps) * (P 0%nat j * P k i)) * (exp eps * (P k j * P (S k) i))) by ring.
    apply Rmult_le_compat; auto; apply Rmult_le_pos; lra.
Qed.

(** At eps = 0 the sum is k. *)
Lemma people_sum eps delta k : 0 < eps ->
  delta * sum (candidates k) (fun i => exp (INR i * eps)) = delta_of_people eps delta (INR k).
Proof.
  intros He. unfold delta_of_people.
  assert (E : 1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing).
  induction k as [|k IH].
  - simpl. rewrite Rmult_0_l, exp_0. field. lra.
  - unfold candidates in *. rewrite seq_S, sum_app, Rmult_plus_distr_l, IH. simpl sum.
    rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus. field. lra.
Qed.

Theorem approx_people n (P : nat -> nat -> R) eps delta k :
  (forall i, (i < k)%nat -> approx_dp n (P i) (P (S i)) eps delta) ->
  approx_dp n (P 0%nat) (P k) (INR k * eps) (delta * sum (candidates k) (fun i => exp (INR i * eps))).
Proof.
  induction k as [|k IH]; intros H S.
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - specialize (IH (fun i Hi => H i ltac:(lia)) S). specialize (H k ltac:(lia) S).
    unfold candidates in *. rewrite seq_S, sum_app. simpl sum.
    rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus.
    set (x := exp (INR k * eps)) in *. assert (X : 0 < x) by apply exp_pos.
    apply (Rmult_le_compat_l x) in H; lra.
Qed.

(** ** Parallel composition: each person is in the part of the data of one round. *)
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

(** The remaining candidates; each answer is a place among the candidates that remained before it. *)
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

Theorem peeling_pure_dp choose s n q q' d k : In choose selections -> 0 < s -> 0 <= d ->
  range_distance n q q' d ->
  let size h := length (left_after (candidates n) h) in
  let law q h := choose s (size h) (left_scores n q h) in
  forall phi, (forall t, 0 <= phi t) ->
  sum (transcripts size k []) (fun t => phi t * path (law q) [] t)
  <= exp (INR k * (d / s)) * sum (transcripts size k []) (fun t => phi t * path (law q') [] t).
Proof.
  intros C Hs Hd H size law phi F.
  apply (pure_composition size (law q) (law q')
           (fun h r Hr => selection_nonneg choose s (size h) (left_scores n q h) r C Hs Hr)
           (fun h r Hr => selection_nonneg choose s (size h) (left_scores n q' h) r C Hs Hr)
           (fun _ => d / s)); auto.
  - intros h. apply selection_pure_dp; [exact C | exact Hs |]. intros i j Hi Hj. unfold left_scores.
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
