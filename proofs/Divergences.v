(** Concentrated privacy over any answers, with its exact constants: docs/proofs/concentrated.md. *)
From Coq Require Import Reals Lra Lia List Arith Bool Classical.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Composition Concentrated Growth.
Import ListNotations.
Open Scope R_scope.

(** Chances that add up to one, over possibly infinitely many answers. *)
Definition distribution {A} (p : A -> R) : Prop :=
  (forall a, 0 <= p a) /\ (forall answers, NoDup answers -> sum answers p <= 1) /\
  forall missing, 0 < missing -> exists answers, NoDup answers /\ 1 - missing <= sum answers p.

(** P^a Q^(1 - a), which is zero where P is zero. *)
Definition powers (order x y : R) : R :=
  if Rlt_dec 0 x then Rpower x order * Rpower y (1 - order) else 0.

(** [ZCDP(rho)]: no answer is possible on only one side, and D_a = ln (sum of P^a Q^(1 - a)) / (a - 1) is at
    most a rho for every order a > 1, with the sum over all answers. *)
Definition concentrated {A} (p p' : A -> R) (rho : R) : Prop :=
  (forall a, 0 < p a -> 0 < p' a) /\
  forall order answers, 1 < order -> NoDup answers ->
  sum answers (fun a => powers order (p a) (p' a)) <= exp (order * (order - 1) * rho).

Lemma powers_nonneg order x y : 0 <= powers order x y.
Proof.
  unfold powers. destruct Rlt_dec; [|lra]. apply Rmult_le_pos; apply Rlt_le, exp_pos.
Qed.

(** ** Sums over more answers *)

Lemma sum_incl {A} (l m : list A) f : (forall a, 0 <= f a) -> NoDup l -> incl l m -> sum l f <= sum m f.
Proof.
  intros F. revert m. induction l as [|x l IH]; intros m N I; [now apply sum_nonneg|].
  destruct (in_split x m (I x (or_introl eq_refl))) as (u & v & ->).
  rewrite sum_app. cbn [sum fold_right]. fold (sum l f) (sum v f). inversion N; subst.
  specialize (IH (u ++ v) H2). rewrite sum_app in IH. enough (incl l (u ++ v)) by (specialize (IH H); lra).
  intros y Y. specialize (I y (or_intror Y)). rewrite in_app_iff in *. cbn [In] in I.
  destruct I as [|[->|]]; tauto.
Qed.

Lemma both_lists {A} (l m : list A) : NoDup l -> exists u, NoDup u /\ incl l u /\ incl m u.
Proof.
  intros N. induction m as [|x m (u & U & L & M)].
  - exists l. repeat split; [exact N | intros a H; exact H | intros a []].
  - destruct (classic (In x u)) as [X|X].
    + exists u. repeat split; auto. intros a [<-|H]; auto.
    + exists (x :: u). repeat split.
      * now constructor.
      * intros a H. right. auto.
      * intros a [<-|H]; [now left | right; auto].
Qed.

(** ** Two points are the worst *)

Lemma bernoulli v order : 0 < v -> 1 < order -> order * v - (order - 1) <= Rpower v order.
Proof.
  intros V O. unfold Rpower.
  pose proof (exp_ineq1_le ((order - 1) * ln v)) as A. pose proof (exp_ineq1_le (- ln v)) as B.
  replace (order * ln v) with ((order - 1) * ln v + ln v) by ring. rewrite exp_plus, exp_ln by exact V.
  rewrite exp_Ropp, exp_ln in B by exact V. assert (v * / v = 1) by (field; lra).
  assert (v * (1 + - ln v) <= 1) by (rewrite <- H; apply Rmult_le_compat_l; lra).
  assert (v * (1 + (order - 1) * ln v) <= v * exp ((order - 1) * ln v)) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

Lemma tangent w x order : 0 < w -> 0 < x -> 1 < order ->
  Rpower w order + order * Rpower w (order - 1) * (x - w) <= Rpower x order.
Proof.
  intros W X O. pose proof (bernoulli (x / w) order ltac:(now apply Rdiv_lt_0_compat) O) as B.
  pose proof (exp_pos (order * ln w)) as P. fold (Rpower w order) in P.
  apply (Rmult_le_compat_l (Rpower w order)) in B; [|lra].
  replace (Rpower w order * Rpower (x / w) order) with (Rpower x order) in B.
  - replace (Rpower w (order - 1)) with (Rpower w order / w).
    + replace (Rpower w order * (order * (x / w) - (order - 1)))
        with (Rpower w order + order * (Rpower w order / w) * (x - w)) in B by (field; lra). exact B.
    + unfold Rminus, Rdiv. rewrite Rpower_plus, Rpower_Ropp, Rpower_1 by exact W. reflexivity.
  - rewrite Rpower_mult_distr by (try exact W; now apply Rdiv_lt_0_compat).
    f_equal. field. lra.
Qed.

Section TwoPoints.
Variables (order lo hi : R).
Hypotheses (order_1 : 1 < order) (lo_pos : 0 < lo) (lo_hi : lo < hi).
Let up := Rpower hi order.
Let down := Rpower lo order.
Definition slope : R := (up - down) / (hi - lo).
Definition start : R := (hi * down - lo * up) / (hi - lo).

Lemma chord_above x : lo <= x <= hi -> Rpower x order <= start + slope * x.
Proof.
  intros H. assert (X : 0 < x) by lra.
  pose proof (tangent x hi order X ltac:(lra) order_1) as A.
  pose proof (tangent x lo order X lo_pos order_1) as B. fold up in A. fold down in B.
  set (k := order * Rpower x (order - 1)) in *. set (y := Rpower x order) in *.
  apply (Rmult_le_compat_l (x - lo)) in A; [|lra]. apply (Rmult_le_compat_l (hi - x)) in B; [|lra].
  apply (Rmult_le_reg_r (hi - lo)); [lra|].
  replace ((start + slope * x) * (hi - lo)) with ((x - lo) * up + (hi - x) * down)
    by (unfold start, slope; field; lra). lra.
Qed.

Lemma up_down : lo * up >= hi * down /\ up >= down.
Proof.
  assert (E : forall w, 0 < w -> Rpower w order = w * Rpower w (order - 1)).
  { intros w W. rewrite <- (Rpower_1 w W) at 2. rewrite <- Rpower_plus. f_equal. ring. }
  assert (L : Rpower lo (order - 1) <= Rpower hi (order - 1)) by (apply Rle_Rpower_l; lra).
  assert (P : 0 < Rpower lo (order - 1)) by apply exp_pos.
  unfold up, down. rewrite !E by lra. split; [|nra].
  assert (0 <= lo * hi * (Rpower hi (order - 1) - Rpower lo (order - 1)))
    by (repeat apply Rmult_le_pos; lra). nra.
Qed.

Lemma start_slope : start <= 0 /\ 0 <= slope.
Proof.
  destruct up_down. assert (I : 0 < / (hi - lo)) by (apply Rinv_0_lt_compat; lra).
  unfold start, slope, Rdiv. split; [|apply Rmult_le_pos; lra].
  assert (0 <= (lo * up - hi * down) * / (hi - lo)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma powers_between x y : 0 <= y -> lo * y <= x <= hi * y ->
  powers order x y <= start * y + slope * x.
Proof.
  intros Y H. unfold powers. destruct Rlt_dec as [X|X].
  - assert (P : 0 < y) by (destruct Y as [|<-]; [assumption | lra]).
    pose proof (chord_above (x / y)) as C.
    assert (B : lo <= x / y <= hi).
    { split; apply (Rmult_le_reg_r y); try exact P; replace (x / y * y) with x by (field; lra); lra. }
    specialize (C B). apply (Rmult_le_compat_l y) in C; [|lra].
    replace (y * (start + slope * (x / y))) with (start * y + slope * x) in C by (field; lra).
    eapply Rle_trans; [right | exact C].
    replace (Rpower x order) with (Rpower y order * Rpower (x / y) order).
    + unfold Rminus. rewrite Rpower_plus, Rpower_Ropp, Rpower_1 by exact P.
      field. apply Rgt_not_eq, exp_pos.
    + rewrite Rpower_mult_distr by (try exact P; now apply Rdiv_lt_0_compat). f_equal. field. lra.
  - assert (N : 0 <= (start + slope * lo) * y).
    { apply Rmult_le_pos; [|exact Y].
      replace (start + slope * lo) with down by (unfold start, slope; field; lra). apply Rlt_le, exp_pos. }
    destruct start_slope. nra.
Qed.

Theorem two_points {A} (p p' : A -> R) answers : distribution p -> distribution p' ->
  (forall a, lo * p' a <= p a <= hi * p' a) -> NoDup answers ->
  sum answers (fun a => powers order (p a) (p' a)) <= start + slope.
Proof.
  intros (P0 & P1 & _) (Q0 & _ & Q1) B N. destruct start_slope as [S S'].
  apply Rle_trans with (sum answers (fun a => start * p' a + slope * p a)).
  { apply sum_le. intros a _. now apply powers_between. }
  apply le_epsilon; intros e E.
  destruct (Q1 (e / (1 - start)) ltac:(apply Rdiv_lt_0_compat; lra)) as (more & N' & M).
  destruct (both_lists answers more N) as (u & U & Ia & Im).
  apply Rle_trans with (sum u (fun a => start * p' a + slope * p a)).
  { apply sum_incl; auto. intros a. eapply Rle_trans; [apply (powers_nonneg order)|].
    now apply powers_between. }
  rewrite sum_plus, !sum_scal. specialize (P1 u U).
  pose proof (sum_incl more u p' Q0 N' Im) as G.
  assert (F : (1 - start) * (e / (1 - start)) = e) by (field; lra).
  assert (0 < e / (1 - start)) by (apply Rdiv_lt_0_compat; lra).
  assert (start * sum u p' <= start * (1 - e / (1 - start))) by (apply Rmult_le_compat_neg_l; lra).
  nra.
Qed.
End TwoPoints.

(** ** Pure privacy *)

Lemma power_exp x a : Rpower (exp x) a = exp (a * x).
Proof. unfold Rpower. now rewrite ln_exp. Qed.

Theorem pure_concentrated {A} (p p' : A -> R) eps : 0 < eps -> distribution p -> distribution p' ->
  (forall a, p a <= exp eps * p' a) -> (forall a, p' a <= exp eps * p a) ->
  concentrated p p' (concentrated_of_pure eps).
Proof.
  intros E P Q B B'. split.
  { intros a H. destruct (proj1 Q a) as [|Z]; [assumption|]. specialize (B a). rewrite <- Z in B. lra. }
  intros order answers O N.
  assert (I : exp (- eps) * exp eps = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (LH : exp (- eps) < exp eps) by (apply exp_increasing; lra).
  eapply Rle_trans; [apply (two_points order (exp (- eps)) (exp eps)); auto; [apply exp_pos|]|].
  { intros a. split; [|apply B]. specialize (B' a). pose proof (exp_pos (- eps)).
    apply (Rmult_le_compat_l (exp (- eps))) in B'; [|lra]. rewrite <- Rmult_assoc, I in B'. lra. }
  pose proof (pure_orders eps (order - 1 / 2) E ltac:(lra)) as T.
  unfold start, slope. rewrite !power_exp.
  replace (exp (order * (order - 1) * concentrated_of_pure eps))
    with (exp (((order - 1 / 2) ^ 2 - 1 / 4) * (eps * th (eps / 2)))).
  - set (r := exp (_ * (eps * _))) in *. unfold ch in T.
    set (a := exp (eps / 2)) in *. set (b := exp ((order - 1 / 2) * eps)) in *.
    assert (PA : 0 < a) by apply exp_pos. assert (PB : 0 < b) by apply exp_pos.
    assert (A1 : 1 < a) by (unfold a; rewrite <- exp_0; apply exp_increasing; lra).
    rewrite !exp_Ropp in T. fold a b in T.
    replace (exp (order * eps)) with (b * a) by (unfold a, b; rewrite <- exp_plus; f_equal; field).
    replace (exp (order * - eps)) with (/ (b * a))
      by (unfold a, b; rewrite <- exp_plus, <- exp_Ropp; f_equal; field).
    replace (exp eps) with (a * a) by (unfold a; rewrite <- exp_plus; f_equal; field).
    replace (exp (- eps)) with (/ (a * a)) by (unfold a; rewrite <- exp_plus, <- exp_Ropp; f_equal; field).
    assert (A2 : 1 < a * a) by nra. assert (A4 : 1 < a * a * (a * a)) by nra.
    clearbody a b.
    replace ((a * a * / (b * a) - / (a * a) * (b * a)) / (a * a - / (a * a))
             + (b * a - / (b * a)) / (a * a - / (a * a))) with ((b + / b) / (a + / a)).
    + apply (Rmult_le_reg_r (a + / a)); [apply Rplus_lt_0_compat; [lra | now apply Rinv_0_lt_compat]|].
      replace ((b + / b) / (a + / a) * (a + / a)) with (b + / b); [lra|].
      field. split; [lra|]. split; [lra|]. nra.
    + field. repeat split; try lra; nra.
  - f_equal. unfold concentrated_of_pure, th, sh, ch.
    replace ((exp (eps / 2) - exp (- (eps / 2))) / (exp (eps / 2) + exp (- (eps / 2))))
      with ((exp eps - 1) / (exp eps + 1)); [field; pose proof (exp_pos eps); lra|].
    rewrite exp_Ropp. replace (exp eps) with (exp (eps / 2) * exp (eps / 2))
      by (rewrite <- exp_plus; f_equal; field).
    pose proof (exp_pos (eps / 2)). field. repeat split; nra.
Qed.

(** ** Bounded range *)

(** The worst position of the interval of ratios. *)
Lemma worst_offset x w order : 0 < x -> 0 < w -> 1 < order ->
  Rpower x (order - 1) * (order - (order - 1) * (x / w)) <= Rpower w (order - 1).
Proof.
  intros X W O. set (l := order - 1) in *.
  assert (V : 0 < x / w) by now apply Rdiv_lt_0_compat. set (v := x / w) in *.
  replace x with (w * v) by (unfold v; field; lra).
  rewrite <- Rpower_mult_distr, Rmult_assoc by assumption.
  rewrite <- (Rmult_1_r (Rpower w l)) at 2. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
  unfold Rpower. pose proof (exp_ineq1_le (- (l * ln v))) as A. pose proof (exp_ineq1_le (ln v)) as B.
  rewrite exp_ln in B by exact V. rewrite exp_Ropp in A. set (y := exp (l * ln v)) in *.
  assert (Y : 0 < y) by apply exp_pos. assert (y * / y = 1) by (field; lra).
  assert (0 < l) by (unfold l; lra). replace order with (1 + l) by (unfold l; ring).
  assert (1 + l - l * v <= / y) by nra.
  apply Rle_trans with (y * / y); [apply Rmult_le_compat_l; lra | lra].
Qed.

Section Range.
Variables (eps order : R).
Hypotheses (eps_pos : 0 < eps) (order_1 : 1 < order).
Let c := eps / 2.
Let l := order - 1.
Let X u := sh (c * u) / (2 * (c * u)).

Lemma X_pos u : 0 < u -> 0 < X u.
Proof.
  intros U. assert (0 < c * u) by (unfold c; nra). apply Rdiv_lt_0_compat; [now apply sh_pos | lra].
Qed.

Lemma X_sh u : 0 < u -> sh (c * u) = 2 * c * u * X u.
Proof. intros U. unfold X. field. unfold c. lra. Qed.

Lemma range_points hi : 0 < hi ->
  start order (hi * exp (- eps)) hi + slope order (hi * exp (- eps)) hi
  <= exp (order * (order - 1) * concentrated_of_range eps).
Proof.
  intros H.
  assert (Q : exp (- eps) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (Q0 : 0 < exp (- eps)) by apply exp_pos.
  assert (L : 0 < l) by (unfold l; lra). assert (C : 0 < c) by (unfold c; lra).
  pose proof (X_pos 1 ltac:(lra)) as X1. pose proof (X_pos l L) as Xl.
  pose proof (X_pos order ltac:(lra)) as Xo.
  set (w := exp c * X order / X l).
  assert (W : 0 < w) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply exp_pos | exact Xo] | exact Xl]).
  assert (S : start order (hi * exp (- eps)) hi + slope order (hi * exp (- eps)) hi
    = exp (- (l * c)) * (X order / X 1) * (Rpower hi l * (order - l * (hi / w)))).
  { unfold start, slope. rewrite <- !Rpower_mult_distr, !power_exp by auto.
    replace (Rpower hi order) with (hi * Rpower hi l).
    2: { rewrite <- (Rpower_1 hi H) at 1. rewrite <- Rpower_plus. f_equal. unfold l. ring. }
    set (z := Rpower hi l). unfold w.
    (* q = e^-eps, q^order, all in e^c and the sines *)
    pose proof (X_sh 1 ltac:(lra)) as S1. pose proof (X_sh l L) as Sl.
    pose proof (X_sh order ltac:(lra)) as So. rewrite Rmult_1_r in S1. unfold sh in S1, Sl, So.
    rewrite !exp_Ropp in S1, Sl, So.
    set (u := exp c) in *. set (v := exp (c * l)) in *.
    assert (U : 1 < u) by (unfold u; rewrite <- exp_0; apply exp_increasing; lra).
    assert (V : 1 < v) by (unfold v; rewrite <- exp_0; apply exp_increasing; nra).
    replace (exp (c * order)) with (u * v) in So
      by (unfold u, v; rewrite <- exp_plus; f_equal; unfold l; ring).
    replace (exp (- eps)) with (/ (u * u))
      by (unfold u; rewrite <- exp_plus, <- exp_Ropp; f_equal; unfold c; field).
    replace (exp (order * - eps)) with (/ (u * u * (v * v)))
      by (unfold u, v; rewrite <- !exp_plus, <- exp_Ropp; f_equal; unfold l, c; field).
    replace (exp (- (l * c))) with (/ v) by (unfold v; rewrite <- exp_Ropp; f_equal; ring).
    replace (X 1) with ((u - / u) / (2 * c)) by (rewrite S1; field; lra).
    replace (X l) with ((v - / v) / (2 * c * l)) by (rewrite Sl; field; lra).
    replace (X order) with ((u * v - / (u * v)) / (2 * c * order)) by (rewrite So; field; lra).
    assert (U2 : 1 < u * u) by nra. assert (V2 : 1 < v * v) by nra.
    assert (UV : 1 < u * u * (v * v)) by nra.
    clearbody u v z. field. repeat split; nra. }
  rewrite S.
  assert (F : 0 < exp (- (l * c)) * (X order / X 1))
    by (apply Rmult_lt_0_compat; [apply exp_pos | now apply Rdiv_lt_0_compat]).
  eapply Rle_trans; [apply Rmult_le_compat_l; [lra | now apply worst_offset]|].
  assert (R : order * ln (X order) - l * ln (X l) - ln (X 1) <= l * order * kappa c).
  { pose proof (range_orders c C l L) as R. replace (1 + l) with order in R by (unfold l; ring).
    unfold phi in R. fold (X order) (X l) (X 1) in R. lra. }
  fold l. unfold Rpower.
  rewrite <- (exp_ln (X order / X 1)) by now apply Rdiv_lt_0_compat.
  rewrite <- !exp_plus. apply Rle_trans with (exp (l * order * kappa c)).
  - apply exp_le.
    replace (ln w) with (c + ln (X order) - ln (X l)).
    + rewrite ln_div by assumption.
      replace (order * ln (X order)) with (ln (X order) + l * ln (X order)) in R by (unfold l; ring). lra.
    + unfold w. rewrite ln_div, ln_mult, ln_exp; auto using exp_pos.
      apply Rmult_lt_0_compat; [apply exp_pos | exact Xo].
  - right. f_equal. replace (kappa c) with (concentrated_of_range eps); [unfold l; ring|].
    unfold concentrated_of_range, kappa, sh, ch. rewrite (exp_Ropp c).
    replace eps with (2 * c) by (unfold c; field).
    assert (u1 : 1 < exp c) by (rewrite <- exp_0; apply exp_increasing; lra).
    replace (exp (- (2 * c))) with (/ (exp c * exp c))
      by (rewrite <- exp_plus, <- exp_Ropp; f_equal; ring).
    assert (T : 0 < 2 * c / (1 - / (exp c * exp c))).
    { apply Rdiv_lt_0_compat; [lra|]. assert (/ (exp c * exp c) < 1); [|lra].
      rewrite <- Rinv_1. apply Rinv_lt_contravar; nra. }
    replace ((exp c - / exp c) / (2 * c)) with (exp c / (2 * c / (1 - / (exp c * exp c))))
      by (field; repeat split; nra).
    rewrite (ln_div (exp c)), ln_exp by (apply exp_pos || exact T).
    replace (c * ((exp c + / exp c) / (exp c - / exp c)))
      with (2 * c / (1 - / (exp c * exp c)) - c) by (field; repeat split; nra). ring.
Qed.
End Range.

Lemma possible {A} (p : A -> R) : distribution p -> exists a, 0 < p a.
Proof.
  intros (P0 & _ & P1). destruct (P1 (1 / 2) ltac:(lra)) as (l & _ & S).
  apply NNPP; intros N. enough (sum l p <= sum l (fun _ => 0)) by (rewrite sum_const in *; lra).
  apply sum_le; intros a _. apply Rnot_lt_le. intros H. apply N. now exists a.
Qed.

Theorem range_concentrated {A} (p p' : A -> R) eps : 0 < eps -> distribution p -> distribution p' ->
  (forall a b, p a * p' b <= exp eps * (p b * p' a)) -> concentrated p p' (concentrated_of_range eps).
Proof.
  intros E P Q B. destruct (possible p P) as (x & X). destruct (possible p' Q) as (x' & X').
  pose proof (proj1 P) as P0. pose proof (proj1 Q) as Q0. pose proof (exp_pos eps) as PE.
  assert (S : forall a, 0 < p a -> 0 < p' a).
  { intros a H. destruct (Q0 a) as [|Z]; [assumption|]. specialize (B a x'). rewrite <- Z in B.
    assert (0 < p a * p' x') by now apply Rmult_lt_0_compat. lra. }
  assert (S' : forall a, p a = 0 -> p' a = 0).
  { intros a H. specialize (B x a). rewrite H in B.
    assert (0 <= p x * p' a) by (apply Rmult_le_pos; auto). specialize (Q0 a). nra. }
  split; [exact S|]. intros order answers O N.
  assert (R : forall a b, 0 < p' a -> 0 < p' b -> p a / p' a <= exp eps * (p b / p' b)).
  { intros a b Ha Hb. apply (Rmult_le_reg_r (p' a * p' b)); [now apply Rmult_lt_0_compat|].
    replace (p a / p' a * (p' a * p' b)) with (p a * p' b) by (field; lra).
    replace (exp eps * (p b / p' b) * (p' a * p' b)) with (exp eps * (p b * p' a)) by (field; lra). apply B. }
  destruct (completeness (fun r => exists a, 0 < p' a /\ r = p a / p' a)) as (hi & U & L).
  - exists (exp eps * (p x' / p' x')). intros r (a & Ha & ->). now apply R.
  - exists (p x' / p' x'), x'. now split.
  - assert (H : 0 < hi).
    { apply Rlt_le_trans with (p x / p' x); [apply Rdiv_lt_0_compat; auto|]. apply U. exists x. auto. }
    assert (I : exp (- eps) * exp eps = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
    assert (D : exp (- eps) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    pose proof (exp_pos (- eps)) as PM.
    eapply Rle_trans; [|apply (range_points eps order E O hi H)].
    apply two_points; auto; [now apply Rmult_lt_0_compat | nra |].
    intros a. destruct (Q0 a) as [Ha|Z].
    + assert (V : p a / p' a <= hi) by (apply U; exists a; auto).
      assert (W : hi <= exp eps * (p a / p' a)).
      { apply L. intros r (b & Hb & ->). now apply R. }
      assert (F : p a / p' a * p' a = p a) by (field; lra).
      split.
      * apply (Rmult_le_compat_l (exp (- eps))) in W; [|lra].
        rewrite <- Rmult_assoc, I, Rmult_1_l in W.
        apply (Rmult_le_compat_r (p' a)) in W; [|lra]. lra.
      * apply (Rmult_le_compat_r (p' a)) in V; [|lra]. lra.
    + rewrite <- Z, !Rmult_0_r. specialize (P0 a).
      destruct P0 as [Pa|<-]; [|lra]. specialize (S a Pa). lra.
Qed.

(** ** From concentrated to approximate *)

Theorem concentrated_to_approx {A} (p p' : A -> R) rho delta order : (forall a, 0 <= p' a) ->
  concentrated p p' rho -> 0 < delta -> 1 < order -> forall answers, NoDup answers ->
  sum answers p <= exp (Rmax 0 (epsilon_of_concentrated rho delta order)) * sum answers p' + delta.
Proof.
  intros Q0 [S Z] Hd Ha answers N. specialize (Z order answers Ha N).
  set (e := epsilon_of_concentrated rho delta order).
  set (K := - ln order + (order - 1) * ln (1 - 1 / order) - (order - 1) * e).
  assert (E : exp K * sum answers (fun a => powers order (p a) (p' a)) <= delta).
  { apply Rle_trans with (exp K * exp (order * (order - 1) * rho)).
    - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact Z].
    - rewrite <- exp_plus, <- (exp_ln delta) by exact Hd. apply exp_le, Req_le.
      unfold K, e, epsilon_of_concentrated.
      assert (X : ln (1 / (order * delta)) = - ln order - ln delta).
      { replace (1 / (order * delta)) with (/ (order * delta)) by (field; lra).
        rewrite ln_Rinv, ln_mult by nra. ring. }
      rewrite X. field. lra. }
  rewrite <- sum_scal in E |- *.
  apply Rle_trans with (sum answers (fun a => exp (Rmax 0 e) * p' a + exp K * powers order (p a) (p' a)));
    [|rewrite sum_plus; lra].
  apply sum_le. intros a _. specialize (Q0 a). specialize (S a).
  assert (M : exp e <= exp (Rmax 0 e)) by (apply exp_le, Rmax_r). pose proof (exp_pos K) as PK.
  pose proof (exp_pos e) as Pe. assert (T : exp e * p' a <= exp (Rmax 0 e) * p' a) by nra.
  unfold powers. destruct Rlt_dec as [P|P]; [|nra]. specialize (S P).
  pose proof (tail_bound order (ln (p a) - ln (p' a) - e) Ha) as B.
  apply (Rmult_le_compat_l (p a)) in B; [|lra].
  replace (p a * (1 - exp (- (ln (p a) - ln (p' a) - e)))) with (p a - exp e * p' a) in B.
  - enough (X : p a * exp (- ln order + (order - 1) * ln (1 - 1 / order)
              + (order - 1) * (ln (p a) - ln (p' a) - e))
            = exp K * (Rpower (p a) order * Rpower (p' a) (1 - order))) by (rewrite X in B; lra).
    unfold Rpower. rewrite <- (exp_ln (p a)) at 1 by exact P. rewrite <- !exp_plus. f_equal. unfold K. ring.
  - replace (- (ln (p a) - ln (p' a) - e)) with (e + ln (p' a) + - ln (p a)) by ring.
    rewrite !exp_plus, exp_Ropp, !exp_ln by assumption. field. lra.
Qed.

(** ** A second release, which may depend on the answer of the first *)

Lemma powers_mult order x y u v : 0 <= x -> 0 <= u -> (0 < x -> 0 < y) -> (0 < u -> 0 < v) ->
  powers order (x * u) (y * v) = powers order x y * powers order u v.
Proof.
  intros X U Y V. unfold powers.
  destruct (Rlt_dec 0 x) as [Hx|Hx], (Rlt_dec 0 u) as [Hu|Hu], (Rlt_dec 0 (x * u)) as [H|H]; try lra; try nra.
  rewrite <- !Rpower_mult_distr by auto. ring.
Qed.

(** The pairs of a list are among the pairs of two lists. *)
Lemma pairs {A B} (l : list (A * B)) : exists u v, NoDup u /\ NoDup v /\ incl l (list_prod u v).
Proof.
  destruct (both_lists [] (map fst l) (NoDup_nil _)) as (u & U & _ & Iu).
  destruct (both_lists [] (map snd l) (NoDup_nil _)) as (v & V & _ & Iv).
  exists u, v. split; [exact U|]. split; [exact V|]. intros [a b] H. apply in_prod.
  - apply Iu. now apply (in_map fst) in H.
  - apply Iv. now apply (in_map snd) in H.
Qed.

Lemma sum_prod {A B} (u : list A) (v : list B) f :
  sum (list_prod u v) f = sum u (fun a => sum v (fun b => f (a, b))).
Proof.
  induction u as [|a u IH]; [reflexivity|]. cbn [list_prod]. rewrite sum_app, sum_map, IH. reflexivity.
Qed.

Theorem concentrated_then {A B} (p p' : A -> R) (p2 p2' : A -> B -> R) rho more :
  (forall a, 0 <= p a) -> (forall a b, 0 <= p2 a b) ->
  concentrated p p' rho -> (forall a, concentrated (p2 a) (p2' a) more) ->
  concentrated (fun o => p (fst o) * p2 (fst o) (snd o)) (fun o => p' (fst o) * p2' (fst o) (snd o)) (rho + more).
Proof.
  intros P P2 [S Z] C. split.
  - intros [a b] H. cbn [fst snd] in *. specialize (P a). specialize (P2 a b).
    assert (0 < p a) by nra. assert (0 < p2 a b) by nra.
    apply Rmult_lt_0_compat; [now apply S | now apply C].
  - intros order answers O N. destruct (pairs answers) as (u & v & U & V & I).
    eapply Rle_trans; [apply (sum_incl answers (list_prod u v)); auto; intros; apply powers_nonneg|].
    rewrite sum_prod. cbn [fst snd].
    apply Rle_trans with (sum u (fun a => exp (order * (order - 1) * more) * powers order (p a) (p' a))).
    + apply sum_le. intros a _.
      rewrite (sum_ext _ _ (fun b => powers order (p a) (p' a) * powers order (p2 a b) (p2' a b))).
      * rewrite sum_scal, Rmult_comm. apply Rmult_le_compat_r; [apply powers_nonneg|]. now apply C.
      * intros b _. apply powers_mult; auto. apply C.
    + rewrite sum_scal, Rmult_plus_distr_l, exp_plus, Rmult_comm.
      apply Rmult_le_compat_r; [apply Rlt_le, exp_pos | now apply Z].
Qed.

Lemma concentrated_more {A} (p p' : A -> R) rho more : concentrated p p' rho -> rho <= more ->
  concentrated p p' more.
Proof.
  intros [S Z] H. split; [exact S|]. intros order answers O N. eapply Rle_trans; [now apply Z|].
  apply exp_le, Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact H].
Qed.

(** ** Secret coins *)

(** P^a Q^(1 - a) lies above its tangents. *)
Lemma powers_tangent order w x y : 1 < order -> 0 < w -> 0 <= x -> 0 <= y -> (0 < x -> 0 < y) ->
  y * Rpower w order + order * Rpower w (order - 1) * (x - y * w) <= powers order x y.
Proof.
  intros O Hw X Y0 S. unfold powers.
  assert (E : order * Rpower w (order - 1) * w = order * Rpower w order).
  { rewrite Rmult_assoc. f_equal. rewrite <- (Rpower_1 w Hw) at 2. rewrite <- Rpower_plus. f_equal. ring. }
  pose proof (exp_pos (order * ln w)) as PW. fold (Rpower w order) in PW.
  destruct Rlt_dec as [Hx|Hx].
  - specialize (S Hx). pose proof (tangent w (x / y) order Hw ltac:(now apply Rdiv_lt_0_compat) O) as T.
    apply (Rmult_le_compat_l y) in T; [|lra].
    replace (y * (Rpower w order + order * Rpower w (order - 1) * (x / y - w)))
      with (y * Rpower w order + order * Rpower w (order - 1) * (x - y * w)) in T by (field; lra).
    eapply Rle_trans; [exact T|]. right.
    replace (Rpower x order) with (Rpower y order * Rpower (x / y) order).
    + unfold Rminus. rewrite Rpower_plus, Rpower_Ropp, Rpower_1 by exact S.
      field. apply Rgt_not_eq, exp_pos.
    + rewrite Rpower_mult_distr by (try exact S; now apply Rdiv_lt_0_compat). f_equal. field. lra.
  - assert (x = 0) by lra. subst x.
    replace (y * Rpower w order + order * Rpower w (order - 1) * (0 - y * w))
      with (y * Rpower w order - y * (order * Rpower w (order - 1) * w)) by ring. rewrite E.
    assert (0 <= y * Rpower w order * (order - 1)) by (repeat apply Rmult_le_pos; lra). lra.
Qed.

Lemma powers_plus order x y u v : 1 < order -> 0 <= x -> 0 <= u -> (0 < x -> 0 < y) -> (0 < u -> 0 < v) ->
  0 <= y -> 0 <= v ->
  powers order (x + u) (y + v) <= powers order x y + powers order u v.
Proof.
  intros O X U Y V Y0 V0. unfold powers at 1. destruct Rlt_dec as [H|H].
  2: { pose proof (powers_nonneg order x y). pose proof (powers_nonneg order u v). lra. }
  assert (W : 0 < y + v).
  { destruct X as [X|<-]; [specialize (Y X); lra|]. rewrite Rplus_0_l in H. specialize (V H). lra. }
  set (w := (x + u) / (y + v)). assert (Hw : 0 < w) by now apply Rdiv_lt_0_compat.
  pose proof (powers_tangent order w x y O Hw X Y0 Y) as A.
  pose proof (powers_tangent order w u v O Hw U V0 V) as B.
  eapply Rle_trans; [|apply Rplus_le_compat; [exact A | exact B]]. right.
  replace (y * Rpower w order + order * Rpower w (order - 1) * (x - y * w)
           + (v * Rpower w order + order * Rpower w (order - 1) * (u - v * w)))
    with ((y + v) * Rpower w order + order * Rpower w (order - 1) * ((x + u) - (y + v) * w)) by ring.
  replace ((x + u) - (y + v) * w) with 0 by (unfold w; field; lra). rewrite Rmult_0_r, Rplus_0_r.
  replace (x + u) with ((y + v) * w) by (unfold w; field; lra).
  rewrite <- Rpower_mult_distr by assumption.
  rewrite Rmult_assoc, (Rmult_comm (Rpower w order)), <- Rmult_assoc, <- Rpower_plus.
  replace (order + (1 - order)) with 1 by ring. now rewrite Rpower_1.
Qed.

Lemma powers_scal order w x y : 0 <= w -> 0 <= x -> (0 < x -> 0 < y) ->
  powers order (w * x) (w * y) = w * powers order x y.
Proof.
  intros W X Y. destruct W as [W|<-].
  - rewrite powers_mult by (auto; lra). f_equal. unfold powers. destruct Rlt_dec; [|lra].
    rewrite <- Rpower_plus. replace (order + (1 - order)) with 1 by ring. now apply Rpower_1.
  - unfold powers. rewrite !Rmult_0_l. destruct Rlt_dec; lra.
Qed.

(** The powers of an average are at most the average of the powers. *)
Lemma powers_average {C} (coins : list C) weight (x y : C -> R) order : 1 < order ->
  (forall c, In c coins -> 0 <= weight c /\ 0 <= x c /\ 0 <= y c /\ (0 < x c -> 0 < y c)) ->
  (0 < sum coins (fun c => weight c * x c) -> 0 < sum coins (fun c => weight c * y c)) /\
  powers order (sum coins (fun c => weight c * x c)) (sum coins (fun c => weight c * y c))
  <= sum coins (fun c => weight c * powers order (x c) (y c)).
Proof.
  intros O H.
  assert (N : forall l z, (forall c, In c l -> 0 <= weight c /\ 0 <= z c) -> 0 <= sum l (fun c => weight c * z c)).
  { intros l z G. apply sum_nonneg. intros c D. specialize (G c D). now apply Rmult_le_pos. }
  induction coins as [|c l IH]; [cbn; split; [auto|]; unfold powers; destruct Rlt_dec; lra|].
  destruct IH as [IH IH']; [intros; apply H; now right|]. cbn [sum fold_right].
  fold (sum l (fun c => weight c * x c)) (sum l (fun c => weight c * y c))
    (sum l (fun c => weight c * powers order (x c) (y c))).
  destruct (H c (or_introl eq_refl)) as (W & X & Y & S).
  assert (NX : 0 <= sum l (fun c => weight c * x c)) by (apply N; intros d D; split; apply H; now right).
  assert (NY : 0 <= sum l (fun c => weight c * y c)).
  { apply N; intros d D. destruct (H d (or_intror D)) as (? & _ & ? & _). auto. }
  assert (WX : 0 <= weight c * x c) by now apply Rmult_le_pos.
  assert (WY : 0 <= weight c * y c) by now apply Rmult_le_pos.
  assert (SC : 0 < weight c * x c -> 0 < weight c * y c).
  { intros D. assert (0 < x c) by nra. assert (0 < weight c) by nra. apply Rmult_lt_0_compat; auto. }
  split.
  - intros D. destruct (Rlt_dec 0 (weight c * x c)) as [E|E]; [specialize (SC E) | specialize (IH ltac:(lra))]; lra.
  - eapply Rle_trans; [now apply powers_plus|]. rewrite powers_scal by auto. lra.
Qed.

Theorem concentrated_drawn {A C} (coins : list C) weight (p p' : C -> A -> R) rho :
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight <= 1 ->
  (forall c a, In c coins -> 0 <= p c a /\ 0 <= p' c a) ->
  (forall c, In c coins -> concentrated (p c) (p' c) rho) ->
  concentrated (fun a => sum coins (fun c => weight c * p c a)) (fun a => sum coins (fun c => weight c * p' c a)) rho.
Proof.
  intros W W1 P C0.
  assert (H : forall a c, In c coins ->
    0 <= weight c /\ 0 <= p c a /\ 0 <= p' c a /\ (0 < p c a -> 0 < p' c a)).
  { intros a c I. destruct (P c a I). repeat split; auto. now apply (C0 c I). }
  split.
  - intros a. apply (powers_average coins weight (fun c => p c a) (fun c => p' c a) 2); [lra | exact (H a)].
  - intros order answers O N.
    apply Rle_trans with (sum answers (fun a => sum coins (fun c => weight c * powers order (p c a) (p' c a)))).
    + apply sum_le. intros a _.
      apply (powers_average coins weight (fun c => p c a) (fun c => p' c a)); [exact O | exact (H a)].
    + rewrite sum_swap.
      apply Rle_trans with (sum coins (fun c => exp (order * (order - 1) * rho) * weight c)).
      * apply sum_le. intros c I. rewrite sum_scal, Rmult_comm. apply Rmult_le_compat_r; [now apply W|].
        now apply (C0 c I).
      * rewrite sum_scal. pose proof (exp_pos (order * (order - 1) * rho)). nra.
Qed.
