(** Dominance by the Laplace pair, for every test: docs/proofs/laplace-dominance.md.

    All candidates outside S are raised by z. Pure privacy bounds both ends of that move, and the upper
    envelope of the resulting parabolas is the curve of the Laplace pair. The proof uses four properties of
    the mechanism, which the section [Dominated] names. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP.
Import ListNotations.
Open Scope R_scope.

(** ** Tests *)

(** A randomised test says yes to outcome r with probability [phi r]; [average] is the overall probability of
    yes. *)
Definition test (n : nat) (phi : nat -> R) : Prop :=
  forall r, (r < n)%nat -> 0 <= phi r <= 1.
Definition average (n : nat) (phi p : nat -> R) : R :=
  sum (candidates n) (fun r => phi r * p r).

(** The trade-off function of the Laplace variables of scale 1 centred at 0 and at eps. *)
Definition tradeoff_laplace (eps x : R) : R :=
  if Rle_dec x (1 / 2) then exp (- eps) * x
  else if Rle_dec x (1 - exp (- eps) / 2) then exp (- eps) / (4 * (1 - x))
  else 1 - exp eps * (1 - x).

Definition laplace_dominated (n : nat) (p p' : nat -> R) (eps : R) : Prop :=
  forall phi, test n phi -> tradeoff_laplace eps (average n phi p) <= average n phi p'.

Lemma sum_filter {A} (S : A -> bool) l f :
  sum (filter S l) f = sum l (fun t => if S t then f t else 0).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|].
  destruct (S x); simpl; rewrite IH; lra.
Qed.

(** An affine inequality that holds for every set holds for every test. *)
Lemma sets_to_tests n p p' a b c :
  (forall S, 0 <= a * event n S p + b * event n S p' + c) ->
  forall phi, test n phi -> 0 <= a * average n phi p + b * average n phi p' + c.
Proof.
  intros H phi T.
  set (w := fun r => a * p r + b * p' r).
  set (S := fun r => if Rlt_dec (w r) 0 then true else false).
  eapply Rle_trans; [apply (H S)|].
  apply Rplus_le_compat_r. unfold event, average.
  rewrite <- !sum_scal, <- !sum_plus, !sum_filter, <- ?sum_plus. apply sum_le; intros r Hr.
  apply in_candidates in Hr. specialize (T r Hr). unfold S.
  change (a * p r + b * p' r) with (w r).
  replace (a * (phi r * p r) + b * (phi r * p' r)) with (phi r * w r) by (unfold w; ring).
  destruct (Rlt_dec (w r) 0); nra.
Qed.

Lemma average_le_total n phi p : test n phi -> (forall r, (r < n)%nat -> 0 <= p r) ->
  0 <= average n phi p <= sum (candidates n) p.
Proof.
  intros T P. split.
  - apply sum_nonneg; intros r Hr. apply in_candidates in Hr.
    specialize (T r Hr). specialize (P r Hr). nra.
  - apply sum_le; intros r Hr. apply in_candidates in Hr.
    specialize (T r Hr). specialize (P r Hr). nra.
Qed.

(** The curve is the upper envelope of the parabolas of the intermediate shifts. *)
Lemma tradeoff_laplace_envelope eps x y : 0 <= eps -> x <= 1 ->
  (forall w, 1 <= w <= exp eps -> w * (1 - w * (1 - x)) <= exp eps * y) ->
  tradeoff_laplace eps x <= y.
Proof.
  intros He Hx H.
  pose proof (exp_pos eps) as P.
  assert (E1 : 1 <= exp eps) by (rewrite <- exp_0; now apply exp_le).
  assert (E : exp (- eps) * exp eps = 1)
    by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (Pm : 0 < exp (- eps)) by apply exp_pos.
  assert (cancel : forall z, z <= exp eps * y -> exp (- eps) * z <= y).
  { intros z Hz. apply (Rmult_le_compat_l (exp (- eps))) in Hz; [|lra].
    rewrite <- Rmult_assoc, E in Hz. lra. }
  unfold tradeoff_laplace. destruct Rle_dec as [A|A]; [|destruct Rle_dec as [B|B]].
  - apply cancel. specialize (H 1). lra.
  - assert (X : exp (- eps) / 2 <= 1 - x) by lra.
    assert (X' : 1 - x < 1 / 2) by lra.
    set (v := 1 - x) in *. assert (V : 0 < v) by lra.
    replace (exp (- eps) / (4 * v)) with (exp (- eps) * (/ (4 * v))) by (field; lra).
    apply cancel. specialize (H (/ (2 * v))).
    replace (/ (2 * v) * (1 - / (2 * v) * v)) with (/ (4 * v)) in H by (field; lra).
    apply H. split.
    + rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
    + apply (Rmult_le_reg_r (2 * v)); [lra|]. rewrite Rinv_l by lra.
      assert (exp (- eps) * exp eps <= 2 * v * exp eps) by (apply Rmult_le_compat_r; lra). lra.
  - specialize (H (exp eps)). apply (Rmult_le_reg_l (exp eps)); [exact P|].
    apply H. lra.
Qed.

(** ** Events *)

Lemma event_complement n S p :
  event n S p + event n (fun t => negb (S t)) p = sum (candidates n) p.
Proof.
  unfold event. induction (candidates n) as [|x l IH]; simpl; [ring|].
  destruct (S x); simpl; lra.
Qed.

Lemma event_le n S p p' :
  (forall r, (r < n)%nat -> S r = true -> p r <= p' r) ->
  event n S p <= event n S p'.
Proof.
  intros H. apply sum_le; intros r Hr. apply filter_In in Hr as [Hr HS].
  apply H; [now apply in_candidates | exact HS].
Qed.

Section Dominated.
Variables (s : R) (n : nat) (law : (nat -> R) -> nat -> R).
Hypotheses
  (s_pos : 0 < s)
  (law_total : forall q, sum (candidates n) (law q) = 1)
  (law_shift : forall q c r, (r < n)%nat -> law (fun t => q t + c) r = law q r)
  (law_rivals_fall : forall q q' r, (r < n)%nat -> q' r = q r ->
     (forall t, (t < n)%nat -> q' t <= q t) -> law q r <= law q' r)
  (law_pure_dp : forall q q' d, range_distance n q q' d -> pure_dp n (law q) (law q') (d / s)).

Section Event.
Variable S : nat -> bool.
Let out t := negb (S t).

Lemma complement q : event n out (law q) = 1 - event n S (law q).
Proof.
  pose proof (event_complement n S (law q)) as E.
  rewrite law_total in E. unfold out. lra.
Qed.

(** A set gains when its members rise and the others fall. *)
Theorem set_monotone q q' :
  (forall t, (t < n)%nat -> S t = true -> q t <= q' t) ->
  (forall t, (t < n)%nat -> S t = false -> q' t <= q t) ->
  event n S (law q) <= event n S (law q').
Proof.
  intros HS HO. set (mid := fun t => if S t then q' t else q t).
  apply Rle_trans with (event n S (law mid)).
  - assert (A : event n out (law mid) <= event n out (law q)).
    { apply event_le; intros r Hr E. unfold out in E; apply negb_true_iff in E.
      apply law_rivals_fall; auto.
      - unfold mid; now rewrite E.
      - intros t Ht. unfold mid. destruct (S t) eqn:F; [now apply HS | lra]. }
    rewrite !complement in A. lra.
  - apply event_le; intros r Hr E. apply law_rivals_fall; auto.
    + unfold mid; now rewrite E.
    + intros t Ht. unfold mid. destruct (S t) eqn:F; [lra | now apply HO].
Qed.

Lemma event_shift q c :
  event n S (law (fun t => q t + c)) = event n S (law q).
Proof.
  apply sum_ext; intros r Hr. apply law_shift. apply filter_In in Hr as [Hr _].
  now apply in_candidates.
Qed.

(** All candidates outside S, raised by z. *)
Let raised (q : nat -> R) (z : R) t := if S t then q t else q t + z.

Theorem tradeoff q q' d z : range_distance n q q' d -> 0 <= z <= d ->
  let x := event n S (law q) in
  let y := event n S (law q') in
  let w := exp (z / s) in
  w * (1 - w * (1 - x)) <= exp (d / s) * y.
Proof.
  intros H Hz x y w.
  destruct (range_distance_between n q q' d H) as (m & Hm).
  (* the neighbour gives S at least as much as the worst vector does *)
  assert (A : event n S (law (raised q d)) <= y).
  { unfold y. rewrite <- (event_shift q' (- m)). apply set_monotone.
    - intros t Ht E. unfold raised; rewrite E. specialize (Hm t Ht). lra.
    - intros t Ht E. unfold raised; rewrite E. specialize (Hm t Ht). lra. }
  (* from z to d *)
  assert (B : event n S (law (raised q z))
              <= exp ((d - z) / s) * event n S (law (raised q d))).
  { apply law_pure_dp. intros i j Hi Hj. unfold raised.
    destruct (S i), (S j); lra. }
  (* from z to 0, outside *)
  assert (C : event n out (law (raised q z)) <= w * event n out (law q)).
  { unfold w. apply law_pure_dp. intros i j Hi Hj. unfold raised.
    destruct (S i), (S j); lra. }
  rewrite !complement in C. fold x in C.
  assert (W : 0 < w) by apply exp_pos.
  assert (F : exp (d / s) = w * exp ((d - z) / s)).
  { unfold w. rewrite <- exp_plus. f_equal. unfold Rdiv; ring. }
  rewrite F, Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  pose proof (exp_pos ((d - z) / s)) as P.
  apply (Rmult_le_compat_l (exp ((d - z) / s))) in A; lra.
Qed.
End Event.

(** The same for tests, and for the whole curve. *)
Lemma tradeoff_test q q' d phi w : range_distance n q q' d -> test n phi ->
  1 <= w <= exp (d / s) ->
  w * (1 - w * (1 - average n phi (law q))) <= exp (d / s) * average n phi (law q').
Proof.
  intros H T W.
  set (z := s * ln w).
  assert (Z : exp (z / s) = w).
  { unfold z. replace (s * ln w / s) with (ln w) by (field; lra). apply exp_ln; lra. }
  assert (Hz : 0 <= z <= d).
  { unfold z. split.
    - apply Rmult_le_pos; [lra|]. rewrite <- ln_1. apply ln_le_inv'; lra.
    - apply (Rmult_le_reg_r (/ s)); [now apply Rinv_0_lt_compat|].
      replace (s * ln w * / s) with (ln w) by (field; lra).
      change (ln w <= d / s). rewrite <- (ln_exp (d / s)). apply ln_le_inv'; lra. }
  cut (0 <= - (w * w) * average n phi (law q) + exp (d / s) * average n phi (law q')
            + (w * w - w)); [intros; nra|].
  apply sets_to_tests; [|exact T]. intros S.
  pose proof (tradeoff S q q' d z H Hz) as B. cbv zeta in B. rewrite Z in B. nra.
Qed.

Hypothesis law_nonneg : forall q r, (r < n)%nat -> 0 <= law q r.

Theorem dominated q q' d : 0 <= d -> range_distance n q q' d ->
  laplace_dominated n (law q) (law q') (d / s).
Proof.
  intros D H phi T. apply tradeoff_laplace_envelope.
  - apply Rmult_le_pos; [exact D | apply Rlt_le, Rinv_0_lt_compat, s_pos].
  - destruct (average_le_total n phi (law q) T (law_nonneg q)) as [_ B].
    now rewrite law_total in B.
  - intros w W. now apply tradeoff_test.
Qed.
End Dominated.

(** ** What dominance gives *)

(** The curve lies above each of its lines of slope exp (- e). *)
Lemma tradeoff_laplace_line eps e x : - eps <= e <= eps -> 0 <= x <= 1 ->
  x - delta_laplace eps e <= exp e * tradeoff_laplace eps x.
Proof.
  intros He Hx. unfold delta_laplace.
  set (h := exp ((e - eps) / 2)).
  assert (Hh : 0 < h) by apply exp_pos.
  assert (A : exp e * exp (- eps) = h * h).
  { unfold h. rewrite <- !exp_plus. f_equal. lra. }
  assert (C : exp e = h * h * exp eps).
  { rewrite <- A, Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0. ring. }
  assert (B : exp (- eps) <= h) by (apply exp_le; lra).
  assert (H1 : h <= 1) by (unfold h; rewrite <- exp_0; apply exp_le; lra).
  assert (F : exp (- eps) * exp eps = 1)
    by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (P : 0 < exp eps) by apply exp_pos.
  unfold tradeoff_laplace. destruct Rle_dec as [X|X]; [|destruct Rle_dec as [Y|Y]].
  - rewrite <- Rmult_assoc, A.
    replace (h * h * x) with (x - (1 - h) + (1 - h) * (1 - x * (1 + h))) by ring.
    assert (x * (1 + h) <= 1 / 2 * 2) by (apply Rmult_le_compat; lra).
    assert (0 <= (1 - h) * (1 - x * (1 + h))) by (apply Rmult_le_pos; lra). lra.
  - assert (V : 0 < 1 - x) by (pose proof (exp_pos (- eps)); lra).
    set (v := 1 - x) in *.
    replace (exp e * (exp (- eps) / (4 * v))) with (h * h / (4 * v))
      by (rewrite <- A; field; lra).
    replace x with (1 - v) by (unfold v; ring).
    apply (Rmult_le_reg_r (4 * v)); [lra|].
    replace (h * h / (4 * v) * (4 * v)) with (h * h) by (field; lra).
    pose proof (Rle_0_sqr (h - 2 * v)) as Q. unfold Rsqr in Q. lra.
  - assert (V : 0 <= 1 - x) by lra.
    assert (W : 2 * (1 - x) <= exp (- eps)) by lra.
    set (v := 1 - x) in *. replace x with (1 - v) by (unfold v; ring).
    set (k := h * exp eps). assert (K : 1 <= k) by (unfold k; nra).
    replace (exp e * (1 - exp eps * v)) with (h * h * exp eps - k * k * v)
      by (unfold k; rewrite C; ring).
    assert (D : 2 * v * (k * k) <= h * k).
    { replace (h * k) with (exp (- eps) * (k * k)); 
        [|replace (exp (- eps) * (k * k)) with (exp (- eps) * exp eps * (h * k))
            by (unfold k; ring); rewrite F; ring].
      apply Rmult_le_compat_r; nra. }
    replace (h * h * exp eps) with (h * k) by (unfold k; ring).
    assert (k * k * v <= h * k / 2) by lra.
    assert (2 * v * k <= h) by (apply (Rmult_le_reg_r k); lra).
    replace (h * k - k * k * v) with (h - v + (k - 1) * (h - v * (k + 1))) by ring.
    assert (0 <= (k - 1) * (h - v * (k + 1))) by (apply Rmult_le_pos; nra). lra.
Qed.

(** Dominance gives the (e, delta) curve, for tests and so for sets. *)
Theorem dominated_approx_dp n p p' eps e phi : - eps <= e <= eps -> test n phi ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  laplace_dominated n p p' eps ->
  average n phi p <= exp e * average n phi p' + delta_laplace eps e.
Proof.
  intros He T P M D. specialize (D phi T).
  destruct (average_le_total n phi p T P) as [A B]. rewrite M in B.
  pose proof (tradeoff_laplace_line eps e (average n phi p) He (conj A B)) as L.
  apply (Rmult_le_compat_l (exp e)) in D; [|apply Rlt_le, exp_pos]. lra.
Qed.

Lemma event_average n S p : event n S p = average n (fun r => if S r then 1 else 0) p.
Proof.
  unfold event, average. rewrite sum_filter. apply sum_ext; intros r _.
  destruct (S r); ring.
Qed.

Lemma indicator_test n (S : nat -> bool) : test n (fun r => if S r then 1 else 0).
Proof. intros r _. destruct (S r); lra. Qed.

Theorem dominated_pure_dp n p p' eps : 0 <= eps ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  laplace_dominated n p p' eps -> pure_dp n p p' eps.
Proof.
  intros He P M D S. rewrite !event_average.
  pose proof (dominated_approx_dp n p p' eps eps _ ltac:(lra) (indicator_test n S) P M D) as A.
  unfold delta_laplace in A. replace ((eps - eps) / 2) with 0 in A by lra.
  rewrite exp_0 in A. lra.
Qed.
