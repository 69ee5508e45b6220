(** docs/proofs/sampling.md, lemma 4: the float that stands for the gap
    gamma = (best - value) / s, for every kind of score and every scale.

    [fl] does not model overflow; [cut_in_range] shows where it could occur, and that the cut at 600 makes it
    harmless. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Relative Plus_error Mult_error.
From Discreet Require Import Machine Floats.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

Lemma pow2_split a b c : (a + b = c)%nat -> 2 ^ c = 2 ^ a * 2 ^ b.
Proof. intros <-. apply pow_add. Qed.

Lemma inv_pow2_split a b c : (a + b = c)%nat -> / 2 ^ c = / 2 ^ a * / 2 ^ b.
Proof. intros H. rewrite (pow2_split a b c H). apply Rinv_mult. Qed.

Lemma u_small : 0 < u <= / 1000000.
Proof. rewrite u_value. lra. Qed.

(** ** Close factors: diff is gamma s up to one rounding, and factor is 1/s up to one rounding *)

Section Close.
Variables gamma s factor diff e1 t1 : R.
Hypothesis gamma_nonneg : 0 <= gamma.
Hypothesis s_large : / 2 ^ 901 <= s.
Hypothesis factor_good : - u <= factor * s - 1 <= u.
Hypothesis e1_small : - u <= e1 <= u.
Hypothesis t1_small : Rabs t1 <= / 2 ^ 100 * s.
Hypothesis diff_close : diff = gamma * s * (1 + e1) + t1.

Lemma s_positive : 0 < s.
Proof. pose proof (pow2_pos 901) as P. apply Rinv_0_lt_compat in P. lra. Qed.

Lemma factor_positive : 0 < factor.
Proof.
  pose proof s_positive. pose proof u_small. apply (Rmult_lt_reg_r s); lra.
Qed.

Lemma inv_100 : / 2 ^ 100 <= / 1000000.
Proof.
  apply Rle_trans with (/ 2 ^ 20); [apply inv_pow_le; lia|]. apply Rinv_le; simpl; lra.
Qed.

Lemma product_close : Rabs (fl (diff * factor) - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 98.
Proof.
  pose proof s_positive as S. pose proof factor_positive as P. pose proof u_small as Us.
  destruct (rounding (diff * factor)) as (e2 & t & H2 & Ht & ->).
  set (th := factor * s - 1) in *.
  rewrite diff_close.
  replace ((gamma * s * (1 + e1) + t1) * factor * (1 + e2) + t - gamma)
    with (gamma * ((1 + e1) * (1 + th) * (1 + e2) - 1) + (t1 * factor * (1 + e2) + t))
    by (unfold th; ring).
  pose proof (factors_3 e1 th e2 e1_small factor_good H2) as F.
  assert (U : / 2 ^ 51 = 4 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (T : tiny <= / 2 ^ 100) by (apply inv_pow_le; lia).
  assert (Q : / 2 ^ 98 = 4 * / 2 ^ 100).
  { rewrite (inv_pow2_split 98 2 100) by reflexivity. simpl (2 ^ 2). field. }
  assert (P100 : 0 < / 2 ^ 100) by apply Rinv_0_lt_compat, pow2_pos.
  assert (T1 : Rabs (t1 * factor * (1 + e2)) <= 3 * / 2 ^ 100).
  { rewrite Rabs_mult, Rabs_mult, (Rabs_pos_eq factor) by lra.
    rewrite (Rabs_pos_eq (1 + e2)) by lra.
    apply Rle_trans with (/ 2 ^ 100 * s * factor * (1 + e2)).
    - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra.
    - replace (/ 2 ^ 100 * s * factor * (1 + e2))
        with (/ 2 ^ 100 * ((1 + th) * (1 + e2))) by (unfold th; ring).
      rewrite (Rmult_comm 3). apply Rmult_le_compat_l; [lra|]. nra. }
  apply Rabs_le_inv in T1.
  rewrite U, Q. apply Rabs_le.
  set (f := (1 + e1) * (1 + th) * (1 + e2) - 1) in *.
  assert (- (4 * u) <= f <= 4 * u) by (unfold f; lra).
  assert (- (4 * u) * gamma <= gamma * f <= 4 * u * gamma) by (split; nra).
  lra.
Qed.

(** The cut before the product, as for floats. *)
Definition cut_before : R := fl (Rmin diff (fl (600 / factor)) * factor).
(** The cut after the product, as for integers. *)
Definition cut_after : R := Rmin (fl (diff * factor)) 600.

Lemma limit_bounds : 5999 / 10 * s <= fl (600 / factor) <= 6001 / 10 * s.
Proof.
  pose proof s_positive as S. pose proof factor_positive as P. pose proof u_small as Us.
  destruct (rounding (600 / factor)) as (e & t & He & Ht & ->).
  assert (T : tiny <= s / 1000).
  { apply Rle_trans with (/ 2 ^ 911).
    - apply inv_pow_le; lia.
    - rewrite (inv_pow2_split 901 10 911) by reflexivity. simpl (2 ^ 10).
      pose proof (Rinv_0_lt_compat _ (pow2_pos 901)). lra. }
  assert (Q : 600 * s * (1 - u) <= 600 / factor <= 600 * s * (1 + 2 * u)).
  { split; apply (Rmult_le_reg_r factor); auto;
      replace (600 / factor * factor) with 600 by (field; lra).
    - replace (600 * s * (1 - u) * factor) with (600 * ((1 - u) * (factor * s))) by ring.
      nra.
    - replace (600 * s * (1 + 2 * u) * factor)
        with (600 * ((1 + 2 * u) * (factor * s))) by ring.
      nra. }
  set (x := 600 / factor) in *.
  assert (0 <= s * u <= s * / 1000000) by (split; [nra | apply Rmult_le_compat_l; lra]).
  assert (x * (1 - u) <= x * (1 + e) <= x * (1 + u)) by (split; apply Rmult_le_compat_l; nra).
  split; nra.
Qed.

Lemma below_limit : gamma <= 599 -> diff <= fl (600 / factor).
Proof.
  intros G. pose proof limit_bounds as [L _]. pose proof s_positive as S.
  pose proof u_small. pose proof inv_100.
  eapply Rle_trans; [|exact L]. rewrite diff_close. apply Rabs_le_inv in t1_small.
  assert (gamma * s * (1 + e1) <= 599 * s * (1 + u)).
  { apply Rmult_le_compat; [|lra| |lra]; [apply Rmult_le_pos; lra|].
    apply Rmult_le_compat_r; lra. }
  assert (/ 2 ^ 100 * s <= / 1000000 * s) by (apply Rmult_le_compat_r; lra).
  assert (s * u <= s * / 1000000) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma inv_90_98 : / 2 ^ 98 <= / 2 ^ 90 /\ 0 < / 2 ^ 98 /\ / 2 ^ 90 <= / 1000.
Proof.
  split; [apply inv_pow_le; lia|]. split; [apply Rinv_0_lt_compat, pow2_pos|].
  apply Rle_trans with (/ 2 ^ 10); [apply inv_pow_le; lia|]. apply Rinv_le; simpl; lra.
Qed.

Theorem cut_before_near : gamma <= 599 ->
  Rabs (cut_before - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90.
Proof.
  intros G. unfold cut_before. rewrite Rmin_left by now apply below_limit.
  pose proof product_close. pose proof inv_90_98. lra.
Qed.

Lemma inv_51 : 0 < / 2 ^ 51 <= / 1000000.
Proof.
  split; [apply Rinv_0_lt_compat, pow2_pos|].
  apply Rle_trans with (/ 2 ^ 20); [apply inv_pow_le; lia|]. apply Rinv_le; simpl; lra.
Qed.

Theorem cut_before_far : 599 < gamma -> 598 <= cut_before.
Proof.
  intros G. pose proof s_positive as S. pose proof factor_positive as P.
  pose proof limit_bounds as [L _]. pose proof u_small as Us. pose proof inv_100 as I.
  unfold cut_before.
  assert (M : 5989 / 10 * s <= Rmin diff (fl (600 / factor))).
  { apply Rmin_glb; [|lra]. rewrite diff_close. apply Rabs_le_inv in t1_small.
    assert (599 * s * (1 - u) <= gamma * s * (1 + e1)).
    { apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | | lra].
      apply Rmult_le_compat_r; lra. }
    assert (/ 2 ^ 100 * s <= / 1000000 * s) by (apply Rmult_le_compat_r; lra).
    assert (s * u <= s * / 1000000) by (apply Rmult_le_compat_l; lra).
    lra. }
  set (g := Rmin _ _) in *. clearbody g.
  destruct (rounding (g * factor)) as (e2 & t & H2 & Ht & ->).
  assert (T : tiny <= / 2 ^ 1) by (apply inv_pow_le; lia). simpl in T.
  assert (B : 5989 / 10 * (1 - u) <= g * factor).
  { apply Rle_trans with (5989 / 10 * s * factor).
    - replace (5989 / 10 * s * factor) with (5989 / 10 * (factor * s)) by ring.
      apply Rmult_le_compat_l; lra.
    - apply Rmult_le_compat_r; lra. }
  assert (5989 / 10 * (1 - u) * (1 - u) <= g * factor * (1 + e2)).
  { apply Rmult_le_compat; nra. }
  nra.
Qed.

Theorem cut_after_near : gamma <= 599 ->
  Rabs (cut_after - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90.
Proof.
  intros G. pose proof product_close as C. pose proof inv_90_98. pose proof inv_51.
  pose proof C as C'. apply Rabs_le_inv in C'. unfold cut_after.
  rewrite Rmin_left by nra. lra.
Qed.

Theorem cut_after_far : 599 < gamma -> 598 <= cut_after.
Proof.
  intros G. pose proof product_close as C. pose proof inv_90_98. pose proof inv_51.
  apply Rabs_le_inv in C. unfold cut_after. apply Rmin_glb; [|lra]. nra.
Qed.

(** Where overflow could occur. A difference that overflows is above the limit, so the cut gives the limit, as
    it does here. The last product is small. *)
Theorem cut_in_range : s <= 2 ^ 1000 -> fl (600 / factor) <= 2 ^ 1010 /\
  Rmin diff (fl (600 / factor)) * factor <= 601.
Proof.
  intros Hs. pose proof limit_bounds as [_ L]. pose proof s_positive. pose proof factor_positive.
  pose proof u_small. split.
  - rewrite (pow2_split 10 1000 1010) by reflexivity. simpl (2 ^ 10).
    pose proof (pow2_pos 1000). lra.
  - apply Rle_trans with (6001 / 10 * s * factor).
    + apply Rmult_le_compat_r; [lra|]. eapply Rle_trans; [apply Rmin_r | exact L].
    + nra.
Qed.

(** The cut leaves a float of at most 601, inside the range assumed for [exp]. *)
Theorem cut_before_range : 0 <= diff ->
  format cut_before /\ 0 <= cut_before <= 601.
Proof.
  intros D. pose proof limit_bounds as [L0 L]. pose proof s_positive as S.
  pose proof factor_positive as P. pose proof u_small as Us.
  split; [apply generic_format_round; auto with typeclass_instances|].
  assert (M : 0 <= Rmin diff (fl (600 / factor)) <= 6001 / 10 * s).
  { split; [apply Rmin_glb; lra|]. eapply Rle_trans; [apply Rmin_r | exact L]. }
  unfold cut_before. set (g := Rmin _ _) in *. clearbody g.
  assert (Q : 0 <= g * factor <= 6002 / 10).
  { split; [apply Rmult_le_pos; lra|]. apply Rle_trans with (6001 / 10 * s * factor).
    - apply Rmult_le_compat_r; lra.
    - nra. }
  split; [apply fl_nonneg; lra|].
  destruct (rounding (g * factor)) as (e & t & He & Ht & ->).
  assert (T : tiny <= / 2 ^ 10) by (apply inv_pow_le; lia). simpl (2 ^ 10) in T.
  assert (g * factor * (1 + e) <= 6002 / 10 * (1 + / 1000000)) by (apply Rmult_le_compat; lra).
  lra.
Qed.

Theorem cut_after_range : 0 <= diff -> format cut_after /\ 0 <= cut_after <= 601.
Proof.
  intros D. pose proof factor_positive as P. unfold cut_after.
  assert (F : 0 <= fl (diff * factor)) by (apply fl_nonneg, Rmult_le_pos; lra).
  split; [|split; [apply Rmin_glb; lra | eapply Rle_trans; [apply Rmin_r | lra]]].
  unfold Rmin. destruct Rle_dec.
  - apply generic_format_round; auto with typeclass_instances.
  - apply generic_format_FLT. exists (Float radix2 600 0); simpl; [|lia|lia].
    unfold F2R; simpl. ring.
Qed.

(** ** [within]: a difference compared with a bound *)

(** Left: diff, or the float gap; right: the bound, or the bound in units of scores. *)
Theorem within_close bound : / 2 ^ 8 <= bound <= 500 -> Rabs (gamma - bound) > / 2 ^ 48 * bound ->
  (fl (bound * fl (1 / factor)) < diff <-> bound < gamma) /\
  (forall floated, (gamma <= 599 -> Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90) ->
     (599 < gamma -> 598 <= floated) -> (bound < floated <-> bound < gamma)).
Proof.
  intros B G. pose proof s_positive as S. pose proof factor_positive as P.
  pose proof u_small as Us.
  assert (U : / 2 ^ 51 = 4 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (U48 : / 2 ^ 48 = 32 * u) by (unfold u; field; apply Rgt_not_eq, pow2_pos).
  assert (B8 : / 2 ^ 8 = / 256) by (f_equal; ring).
  assert (N90 : / 2 ^ 90 <= u * / 256).
  { replace (u * / 256) with (/ 2 ^ 61).
    - apply inv_pow_le; lia.
    - rewrite (inv_pow2_split 53 8 61), B8 by reflexivity. reflexivity. }
  assert (N100 : / 2 ^ 100 <= / 2 ^ 90) by (apply inv_pow_le; lia).
  rewrite B8 in B. rewrite U48 in G.
  assert (Ub : u * / 256 <= u * bound) by (apply Rmult_le_compat_l; lra).
  assert (Ub2 : u * bound <= u * 500) by (apply Rmult_le_compat_l; lra).
  assert (Away : gamma < bound * (1 - 32 * u) \/ bound * (1 + 32 * u) < gamma).
  { destruct (Rle_dec gamma bound).
    - left. rewrite Rabs_left1 in G by lra. lra.
    - right. rewrite Rabs_pos_eq in G by lra. lra. }
  split.
  - (* bound / factor in two roundings *)
    destruct (rounding (1 / factor)) as (e2 & t2 & H2 & T2 & E2).
    destruct (rounding (bound * fl (1 / factor))) as (e3 & t3 & H3 & T3 & E3).
    assert (X : s * (1 - u) <= 1 / factor <= s * (1 + 2 * u)).
    { split; apply (Rmult_le_reg_r factor); auto;
        replace (1 / factor * factor) with 1 by (field; lra).
      - replace (s * (1 - u) * factor) with ((1 - u) * (factor * s)) by ring. nra.
      - replace (s * (1 + 2 * u) * factor) with ((1 + 2 * u) * (factor * s)) by ring. nra. }
    assert (T : tiny <= / 2 ^ 100 * s).
    { apply Rle_trans with (/ 2 ^ 100 * / 2 ^ 901).
      - rewrite <- (inv_pow2_split 100 901 1001) by reflexivity. apply inv_pow_le; lia.
      - apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, pow2_pos | exact s_large]. }
    assert (Ts : tiny <= u * / 256 * s).
    { eapply Rle_trans; [exact T|]. apply Rmult_le_compat_r; lra. }
    set (x := 1 / factor) in *. set (y := fl x) in *.
    assert (Y : s * (1 - 3 * u) <= y <= s * (1 + 4 * u)).
    { rewrite E2. assert (x * (1 - u) <= x * (1 + e2) <= x * (1 + u))
        by (split; apply Rmult_le_compat_l; nra). split; nra. }
    assert (Z : bound * s * (1 - 5 * u) <= fl (bound * y) <= bound * s * (1 + 6 * u)).
    { rewrite E3.
      assert (bound * (s * (1 - 3 * u)) <= bound * y <= bound * (s * (1 + 4 * u)))
        by (split; apply Rmult_le_compat_l; lra).
      assert (0 <= bound * s) by nra.
      assert (bound * y * (1 - u) <= bound * y * (1 + e3) <= bound * y * (1 + u))
        by (split; apply Rmult_le_compat_l; nra).
      assert (u * / 256 * s <= u * bound * s) by (apply Rmult_le_compat_r; lra).
      split; nra. }
    apply Rabs_le_inv in t1_small.
    assert (T1 : - (u * bound * s) <= t1 <= u * bound * s).
    { assert (/ 2 ^ 100 * s <= u * bound * s) by (apply Rmult_le_compat_r; lra). lra. }
    assert (BS : 0 < bound * s) by nra.
    assert (UK : 0 < u * (bound * s)) by (apply Rmult_lt_0_compat; lra).
    assert (UU0 : 0 < u * (u * (bound * s))) by (apply Rmult_lt_0_compat; lra).
    assert (UUK : u * (u * (bound * s)) <= / 1000000 * (u * (bound * s)))
      by (apply Rmult_le_compat_r; lra).
    assert (UB : 0 < u * bound) by (apply Rmult_lt_0_compat; lra).
    destruct Away as [A|A]; split; intros Q.
    + exfalso. rewrite diff_close in Q.
      assert (gamma * s * (1 + e1) <= bound * (1 - 32 * u) * s * (1 + u)).
      { apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |lra].
        apply Rmult_le_compat_r; lra. }
      lra.
    + lra.
    + lra.
    + rewrite diff_close.
      assert (bound * (1 + 32 * u) * s * (1 - u) <= gamma * s * (1 + e1)).
      { assert (0 <= bound * (1 + 32 * u)) by lra.
        apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |lra].
        apply Rmult_le_compat_r; lra. }
      lra.
  - intros floated N F. rewrite U in N. destruct (Rle_dec gamma 599) as [L|L].
    + specialize (N L). apply Rabs_le_inv in N.
      assert (0 < u * bound) by (apply Rmult_lt_0_compat; lra).
      destruct Away as [A|A].
      * assert (u * gamma <= u * bound) by (apply Rmult_le_compat_l; lra).
        split; intros Q; lra.
      * assert (u * (bound * (1 + 32 * u)) <= u * gamma) by (apply Rmult_le_compat_l; lra).
        assert (u * (u * bound) <= / 1000000 * (u * bound)) by (apply Rmult_le_compat_r; lra).
        assert (gamma * (1 - 4 * u) - / 2 ^ 90 <= floated) by lra.
        assert (bound * (1 + 32 * u) * (1 - 4 * u) <= gamma * (1 - 4 * u))
          by (apply Rmult_le_compat_r; lra).
        split; intros Q; lra.
    + specialize (F ltac:(lra)). split; intros; lra.
Qed.
End Close.
