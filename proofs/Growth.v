(** The inequalities behind the exact constants of docs/proofs/concentrated.md.

    Both follow from the same fact about a function f >= 0 on x > 0 with a decreasing derivative: f (k x) <= k
    f x for k >= 1, and f (x + y) <= f x + f y. For pure privacy f is tanh. For bounded range it is k (y^2) =
    ln (sinh y / y) + y coth y - 1, whose derivative in y^2 is (1 - (coth y - 1 / y)^2) / 2. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma mean_value_from (f df : R -> R) l a b : l < a <= b ->
  (forall x, l < x -> is_derive f x (df x)) -> exists z, a <= z <= b /\ f b - f a = df z * (b - a).
Proof.
  intros H D. destruct (MVT_gen f a b df) as (z & Hz & E).
  - intros x Hx. apply D. rewrite Rmin_left in Hx by lra. lra.
  - intros x Hx. rewrite Rmin_left in Hx by lra.
    apply derivable_continuous_pt. exists (df x). apply is_derive_Reals, D. lra.
  - rewrite Rmin_left, Rmax_right in Hz by lra. exists z. split; assumption.
Qed.

Ltac reals := repeat match goal with
  | |- context [scal ?a ?b] => change (scal a b) with (a * b)
  | |- context [minus ?a ?b] => change (minus a b) with (a - b)
  | |- context [plus ?a ?b] => change (plus a b) with (a + b)
  | |- context [mult ?a ?b] => change (mult a b) with (a * b)
  | |- context [@one ?K] => change (@one K) with 1
  | |- context [@zero ?K] => change (@zero K) with 0
  end.

Section Concave.
Variables (f df : R -> R).
Hypotheses (f_derive : forall x, 0 < x -> is_derive f x (df x))
  (df_falls : forall x y, 0 < x <= y -> df y <= df x) (f_nonneg : forall x, 0 < x -> 0 <= f x).

Lemma tangent_above_zero x : 0 < x -> x * df x <= f x.
Proof.
  intros X. apply le_epsilon; intros e E.
  set (c := Rabs (df x) + 1). assert (C : 0 < c) by (unfold c; pose proof (Rabs_pos (df x)); lra).
  set (d := Rmin x (e / c)).
  assert (D : 0 < d) by (apply Rmin_glb_lt; [exact X | now apply Rdiv_lt_0_compat]).
  assert (Dx : d <= x) by apply Rmin_l.
  assert (De : d * c <= e).
  { apply Rle_trans with (e / c * c); [apply Rmult_le_compat_r; [lra | apply Rmin_r] | right; field; lra]. }
  destruct (mean_value_from f df 0 d x) as (z & Z & Ez); [lra | exact f_derive |].
  pose proof (df_falls z x ltac:(lra)) as F. pose proof (f_nonneg d D).
  assert (df x * (x - d) <= df z * (x - d)) by (apply Rmult_le_compat_r; lra).
  assert (d * df x <= d * c) by (apply Rmult_le_compat_l; [lra|]; unfold c; pose proof (Rle_abs (df x)); lra).
  lra.
Qed.

Lemma grows_less k x : 0 < x -> 1 <= k -> f (k * x) <= k * f x.
Proof.
  intros X K. assert (x <= k * x) by nra.
  destruct (mean_value_from f df 0 x (k * x)) as (z & Z & Ez); [lra | exact f_derive |].
  pose proof (df_falls x z ltac:(lra)) as F. pose proof (tangent_above_zero x X) as T.
  assert (df z * (k * x - x) <= df x * (k * x - x)) by (apply Rmult_le_compat_r; lra).
  assert (0 <= (k - 1) * (f x - x * df x)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma subadditive x y : 0 < x -> 0 < y -> f (x + y) <= f x + f y.
Proof.
  intros X Y.
  assert (A : forall u v, 0 < u -> 0 < v -> u * f (u + v) <= (u + v) * f u).
  { intros u v U V. pose proof (grows_less ((u + v) / u) u U) as G.
    replace ((u + v) / u * u) with (u + v) in G by (field; lra).
    assert (1 <= (u + v) / u).
    { apply (Rmult_le_reg_r u); [exact U|]. replace ((u + v) / u * u) with (u + v) by (field; lra). lra. }
    apply (Rmult_le_compat_l u) in G; [|lra|assumption].
    replace (u * ((u + v) / u * f u)) with ((u + v) * f u) in G by (field; lra). exact G. }
  pose proof (A x y X Y) as B. pose proof (A y x Y X) as B'. rewrite (Rplus_comm y x) in B'.
  apply (Rmult_le_reg_l (x + y)); lra.
Qed.
End Concave.

(** ** Hyperbolic functions, without their halves *)

Definition sh (x : R) : R := exp x - exp (- x).
Definition ch (x : R) : R := exp x + exp (- x).

Lemma ch_sh x : ch x * ch x = sh x * sh x + 4.
Proof.
  unfold ch, sh. assert (exp x * exp (- x) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
Qed.

Lemma ch_pos x : 0 < ch x.
Proof. unfold ch. pose proof (exp_pos x). pose proof (exp_pos (- x)). lra. Qed.

Lemma ch_two x : 2 <= ch x.
Proof. unfold ch. pose proof (exp_ineq1_le x). pose proof (exp_ineq1_le (- x)). lra. Qed.

Lemma sh_derive x : is_derive sh x (ch x).
Proof. unfold sh, ch. auto_derive; [exact I | ring]. Qed.

Lemma ch_derive x : is_derive ch x (sh x).
Proof. unfold sh, ch. auto_derive; [exact I | ring]. Qed.

(** For all x >= 0, by the sign of the derivative. *)
Lemma from_zero (f df : R -> R) y : 0 <= y -> (forall x, is_derive f x (df x)) ->
  (forall x, 0 <= x -> 0 <= df x) -> f 0 = 0 -> 0 <= f y.
Proof.
  intros Y D N Z. destruct (mean_value_from f df (-1) 0 y) as (z & Hz & E); [lra | auto |].
  rewrite Z in E. pose proof (N z ltac:(lra)). nra.
Qed.

Lemma sh_above y : 0 <= y -> 2 * y <= sh y.
Proof.
  intros Y. enough (0 <= sh y - 2 * y) by lra.
  apply (from_zero (fun y => sh y - 2 * y) (fun y => ch y - 2) y Y).
  - intros x. unfold sh, ch. auto_derive; [exact I | ring].
  - intros x _. pose proof (ch_two x). lra.
  - unfold sh. rewrite Ropp_0, exp_0. ring.
Qed.

Lemma sh_pos y : 0 < y -> 0 < sh y.
Proof. intros Y. pose proof (sh_above y ltac:(lra)). lra. Qed.

Lemma sh_below y : 0 <= y -> sh y <= y * ch y.
Proof.
  intros Y. enough (0 <= y * ch y - sh y) by lra.
  apply (from_zero (fun y => y * ch y - sh y) (fun y => y * sh y) y Y).
  - intros x. unfold sh, ch. auto_derive; [exact I | ring].
  - intros x X. pose proof (sh_above x X). apply Rmult_le_pos; lra.
  - unfold sh, ch. rewrite Ropp_0, exp_0. ring.
Qed.

(** ** Pure privacy *)

Definition th (x : R) : R := sh x / ch x.

Lemma th_derive x : is_derive th x (1 - th x ^ 2).
Proof.
  unfold th. pose proof (ch_pos x). evar_last.
  - apply is_derive_div; [apply sh_derive | apply ch_derive | lra].
  - simpl. reals. field. lra.
Qed.

Lemma th_nonneg x : 0 < x -> 0 <= th x.
Proof. intros X. apply Rlt_le, Rdiv_lt_0_compat; [now apply sh_pos | apply ch_pos]. Qed.

Lemma th_rises x y : 0 < x <= y -> th x <= th y.
Proof.
  intros H. destruct (mean_value_from th (fun x => 1 - th x ^ 2) 0 x y) as (z & Z & E);
    [lra | intros; apply th_derive |].
  enough (0 <= 1 - th z ^ 2) by nra.
  unfold th. pose proof (ch_pos z) as C. pose proof (ch_sh z) as S.
  replace (1 - (sh z / ch z) ^ 2) with (4 / (ch z * ch z)).
  - apply Rlt_le, Rdiv_lt_0_compat; nra.
  - apply (Rmult_eq_reg_r (ch z * ch z)); [|nra]. field_simplify; [|lra..]. nra.
Qed.

(** cosh (mu eps) / cosh (eps / 2) <= exp ((mu^2 - 1/4) eps tanh (eps / 2)). *)
Lemma pure_orders eps mu : 0 < eps -> 1 / 2 <= mu ->
  ch (mu * eps) <= ch (eps / 2) * exp ((mu ^ 2 - 1 / 4) * (eps * th (eps / 2))).
Proof.
  intros E M. set (rho := eps * th (eps / 2)).
  set (g := fun m => ln (ch (m * eps)) - (m ^ 2 - 1 / 4) * rho).
  set (dg := fun m => eps * th (m * eps) - 2 * m * rho).
  assert (D : forall m, 0 < m -> is_derive g m (dg m)).
  { intros m _. unfold g, dg. pose proof (ch_pos (m * eps)) as C. evar_last.
    - apply (is_derive_minus (fun m => ln (ch (m * eps))) (fun m => (m ^ 2 - 1 / 4) * rho)).
      + apply (is_derive_comp ln (fun m => ch (m * eps))); [now apply is_derive_ln|].
        apply (is_derive_comp ch (fun m => m * eps)); [apply ch_derive|].
        auto_derive; [exact I | reflexivity].
      + apply (is_derive_ext (fun m => (m ^ 2 - 1 / 4) * rho)); [reflexivity|].
        auto_derive; [exact I | reflexivity].
    - simpl. reals. unfold th. field. lra. }
  destruct (mean_value_from g dg 0 (1 / 2) mu) as (z & Z & Ez); [lra | exact D |].
  assert (N : dg z <= 0).
  { unfold dg, rho. pose proof (grows_less th (fun x => 1 - th x ^ 2) (fun x _ => th_derive x)) as G.
    specialize (G ltac:(intros x y H; pose proof (th_rises x y H); pose proof (th_nonneg x ltac:(lra)); nra)
                  th_nonneg (2 * z) (eps / 2) ltac:(lra) ltac:(lra)).
    replace (2 * z * (eps / 2)) with (z * eps) in G by field. nra. }
  assert (G : g mu <= g (1 / 2)) by nra.
  unfold g in G. replace (1 / 2 * eps) with (eps / 2) in G by field.
  rewrite <- (exp_ln (ch (mu * eps))), <- (exp_ln (ch (eps / 2))), <- exp_plus by apply ch_pos.
  destruct G as [G|G]; [left; apply exp_increasing | right; f_equal]; lra.
Qed.

(** ** Bounded range *)

Definition langevin (y : R) : R := ch y / sh y - 1 / y.

Lemma langevin_derive y : 0 < y -> is_derive langevin y (1 / y ^ 2 - 4 / sh y ^ 2).
Proof.
  intros Y. unfold langevin. pose proof (sh_pos y Y) as S. pose proof (ch_sh y) as C. evar_last.
  - apply (is_derive_minus (fun y => ch y / sh y) (fun y => 1 / y)).
    + apply is_derive_div; [apply ch_derive | apply sh_derive | lra].
    + auto_derive; [lra | reflexivity].
  - simpl. reals.
    replace ((sh y * sh y - ch y * ch y) / (sh y * (sh y * 1))) with (- (4 / sh y ^ 2))
      by (rewrite C; field; lra). field. lra.
Qed.

Lemma langevin_rises x y : 0 < x <= y -> langevin x <= langevin y.
Proof.
  intros H. destruct (mean_value_from langevin (fun y => 1 / y ^ 2 - 4 / sh y ^ 2) 0 x y) as (z & Z & E);
    [lra | exact langevin_derive |].
  enough (0 <= 1 / z ^ 2 - 4 / sh z ^ 2) by nra.
  pose proof (sh_above z ltac:(lra)) as S.
  replace (1 / z ^ 2 - 4 / sh z ^ 2) with ((sh z ^ 2 - (2 * z) ^ 2) / (z ^ 2 * sh z ^ 2)) by (field; lra).
  apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; nra.
Qed.

Lemma langevin_nonneg y : 0 < y -> 0 <= langevin y.
Proof.
  intros Y. unfold langevin. pose proof (sh_pos y Y). pose proof (sh_below y ltac:(lra)).
  replace (ch y / sh y - 1 / y) with ((y * ch y - sh y) / (sh y * y)) by (field; lra).
  apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
Qed.

(** ln (sinh y / y) + y coth y - 1 *)
Definition kappa (y : R) : R := ln (sh y / (2 * y)) + y * (ch y / sh y) - 1.

Lemma ratio_above y : 0 < y -> 1 <= sh y / (2 * y).
Proof.
  intros Y. pose proof (sh_above y ltac:(lra)). apply (Rmult_le_reg_r (2 * y)); [lra|].
  replace (sh y / (2 * y) * (2 * y)) with (sh y) by (field; lra). lra.
Qed.

Lemma ln_nonneg x : 1 <= x -> 0 <= ln x.
Proof. intros [H|<-]; [rewrite <- ln_1; left; apply ln_increasing; lra | rewrite ln_1; lra]. Qed.

Lemma kappa_nonneg y : 0 < y -> 0 <= kappa y.
Proof.
  intros Y. unfold kappa. pose proof (ln_nonneg _ (ratio_above y Y)). pose proof (langevin_nonneg y Y) as L.
  unfold langevin in L. apply (Rmult_le_compat_l y) in L; [|lra].
  replace (y * (ch y / sh y - 1 / y)) with (y * (ch y / sh y) - 1) in L; [lra|].
  field. pose proof (sh_pos y Y). lra.
Qed.

Lemma ln_ratio_derive y : 0 < y ->
  is_derive (fun y => ln (sh y / (2 * y))) y (ch y / sh y - 1 / y).
Proof.
  intros Y. pose proof (sh_pos y Y) as S. evar_last.
  - apply (is_derive_comp ln (fun y => sh y / (2 * y))).
    + apply is_derive_ln, Rdiv_lt_0_compat; lra.
    + apply is_derive_div; [apply sh_derive | auto_derive; [exact I | reflexivity] | lra].
  - simpl. reals. field. lra.
Qed.

Lemma kappa_derive y : 0 < y -> is_derive kappa y (y * (1 - langevin y ^ 2)).
Proof.
  intros Y. pose proof (sh_pos y Y) as S. pose proof (ch_sh y) as C. unfold kappa. evar_last.
  - apply (is_derive_minus (fun y => ln (sh y / (2 * y)) + y * (ch y / sh y)) (fun _ => 1)).
    + apply (is_derive_plus (fun y => ln (sh y / (2 * y)))); [now apply ln_ratio_derive|].
      apply (is_derive_mult (fun y => y) (fun y => ch y / sh y)); [apply is_derive_id | |].
      * apply is_derive_div; [apply ch_derive | apply sh_derive | lra].
      * intros; apply Rmult_comm.
    + apply is_derive_const.
  - simpl. reals.
    unfold langevin. field. lra.
Qed.

Lemma kappa_root_derive x : 0 < x ->
  is_derive (fun x => kappa (sqrt x)) x ((1 - langevin (sqrt x) ^ 2) / 2).
Proof.
  intros X. pose proof (sqrt_lt_R0 x X) as S. evar_last.
  - apply (is_derive_comp kappa sqrt); [now apply kappa_derive|].
    apply is_derive_sqrt; [apply is_derive_id | exact X].
  - simpl. reals. field. lra.
Qed.

Lemma kappa_falls x y : 0 < x <= y ->
  (1 - langevin (sqrt y) ^ 2) / 2 <= (1 - langevin (sqrt x) ^ 2) / 2.
Proof.
  intros H. pose proof (sqrt_lt_R0 x ltac:(lra)) as S. pose proof (sqrt_le_1_alt x y ltac:(lra)) as T.
  pose proof (langevin_rises _ _ (conj S T)). pose proof (langevin_nonneg _ S). nra.
Qed.

Lemma kappa_root_nonneg x : 0 < x -> 0 <= kappa (sqrt x).
Proof. intros X. now apply kappa_nonneg, sqrt_lt_R0. Qed.

Lemma kappa_grows k y : 0 < y -> 1 <= k -> kappa (sqrt k * y) <= k * kappa y.
Proof.
  intros Y K.
  pose proof (grows_less _ _ kappa_root_derive kappa_falls kappa_root_nonneg k (y ^ 2) ltac:(nra) K) as G.
  simpl in G. rewrite Rmult_1_r, sqrt_mult, sqrt_square in G by nra. exact G.
Qed.

Section Range.
Variable c : R.
Hypothesis c_pos : 0 < c.

(** u ln (sinh (c u) / (c u)), whose derivative is kappa (c u). *)
Definition phi (u : R) : R := u * ln (sh (c * u) / (2 * (c * u))).

Lemma phi_nonneg u : 0 < u -> 0 <= phi u.
Proof. intros U. apply Rmult_le_pos; [lra|]. apply ln_nonneg, ratio_above. nra. Qed.

Lemma phi_derive u : 0 < u -> is_derive phi u (kappa (c * u)).
Proof.
  intros U. assert (CU : 0 < c * u) by nra. pose proof (sh_pos _ CU) as S. unfold phi. evar_last.
  - apply (is_derive_mult (fun u => u) (fun u => ln (sh (c * u) / (2 * (c * u))))); [apply is_derive_id | |].
    + apply (is_derive_comp (fun y => ln (sh y / (2 * y))) (fun u => c * u)); [now apply ln_ratio_derive|].
      auto_derive; [exact I | reflexivity].
    + intros; apply Rmult_comm.
  - simpl. reals. unfold kappa. field. lra.
Qed.

Lemma kappa_step l : 0 < l -> kappa (c * (1 + l)) <= kappa (c * l) + (1 + 2 * l) * kappa c.
Proof.
  intros L.
  pose proof (subadditive _ _ kappa_root_derive kappa_falls kappa_root_nonneg
                ((c * l) ^ 2) (c ^ 2 * (1 + 2 * l)) ltac:(apply pow_lt; nra)
                ltac:(apply Rmult_lt_0_compat; nra)) as S. cbv beta in S.
  replace ((c * l) ^ 2 + c ^ 2 * (1 + 2 * l)) with ((c * (1 + l)) ^ 2) in S by ring.
  rewrite !sqrt_pow2, Rmult_comm with (r1 := c ^ 2), sqrt_mult, sqrt_pow2 in S by nra.
  pose proof (kappa_grows (1 + 2 * l) c c_pos ltac:(lra)). lra.
Qed.

Theorem range_orders l : 0 < l -> phi (1 + l) - phi l - phi 1 <= l * (1 + l) * kappa c.
Proof.
  intros L. pose proof (kappa_nonneg c c_pos) as K. set (k := kappa c) in *.
  set (g := fun l => phi (1 + l) - phi l - phi 1 - l * (1 + l) * k).
  set (dg := fun l => kappa (c * (1 + l)) - kappa (c * l) - (1 + 2 * l) * k).
  assert (D : forall x, 0 < x -> is_derive g x (dg x)).
  { intros x X. unfold g, dg. evar_last.
    - apply (is_derive_minus (fun l => phi (1 + l) - phi l - phi 1) (fun l => l * (1 + l) * k)).
      + apply (is_derive_minus (fun l => phi (1 + l) - phi l) (fun _ => phi 1)); [|apply is_derive_const].
        apply (is_derive_minus (fun l => phi (1 + l))); [|now apply phi_derive].
        apply (is_derive_comp phi (fun l => 1 + l)); [apply phi_derive; lra|].
        auto_derive; [exact I | reflexivity].
      + apply (is_derive_ext (fun l => l * (1 + l) * k)); [reflexivity|]. auto_derive; [exact I | reflexivity].
    - simpl. reals. ring. }
  enough (g l <= 0) by (unfold g in *; lra).
  apply le_epsilon; intros e E.
  set (d := Rmin (Rmin l 1) (e / (4 * k + 1))).
  assert (Hk : 0 < 4 * k + 1) by lra.
  assert (D0 : 0 < d) by (repeat apply Rmin_glb_lt; try lra; apply Rdiv_lt_0_compat; lra).
  assert (D1 : d <= l) by (eapply Rle_trans; [apply Rmin_l | apply Rmin_l]).
  assert (D2 : d <= 1) by (eapply Rle_trans; [apply Rmin_l | apply Rmin_r]).
  assert (D3 : d * (4 * k + 1) <= e).
  { apply Rle_trans with (e / (4 * k + 1) * (4 * k + 1));
      [apply Rmult_le_compat_r; [lra | apply Rmin_r] | right; field; lra]. }
  destruct (mean_value_from g dg 0 d l) as (z & Z & Ez); [lra | exact D |].
  pose proof (kappa_step z ltac:(lra)) as St. fold k in St.
  assert (N : dg z * (l - d) <= 0) by (unfold dg; apply Rmult_le_0_r; lra).
  destruct (mean_value_from phi (fun u => kappa (c * u)) 0 1 (1 + d)) as (w & W & Ew);
    [lra | exact phi_derive |]. cbv beta in Ew.
  pose proof (kappa_grows (w ^ 2) c c_pos ltac:(nra)) as G.
  rewrite sqrt_pow2, (Rmult_comm w c) in G by lra. fold k in G.
  assert (w ^ 2 <= 4) by nra.
  pose proof (phi_nonneg d D0). assert (0 <= d * (1 + d) * k) by (repeat apply Rmult_le_pos; lra).
  assert (kappa (c * w) <= 4 * k) by nra.
  assert (kappa (c * w) * (1 + d - 1) <= 4 * k * d) by (replace (1 + d - 1) with d by ring; nra).
  unfold g in *. lra.
Qed.
End Range.
