(** docs/proofs/sampling.md, lemmas 6a, 7, 9 and 16, on which the plans of a release rely. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Machine Mechanism Walk Floats GapBranches Thresholds Groups Runs.
Import ListNotations.
Open Scope R_scope.

(** ** Lemma 6a: the first bits of u *)

Lemma log_of_256ths i : (1 <= i <= 255)%nat -> / 256 <= - ln (INR i / 256) <= 255.
Proof.
  intros I. assert (P : 1 <= INR i <= 255).
  { split; [apply (le_INR 1); lia|]. replace 255 with (INR 255) by (simpl; lra). apply le_INR. lia. }
  pose proof (exp_ineq1_le (ln (INR i / 256))) as A. rewrite exp_ln in A by lra.
  pose proof (exp_ineq1_le (- ln (INR i / 256))) as B. rewrite exp_Ropp, exp_ln in B by lra.
  assert (C : / (INR i / 256) <= 256).
  { replace 256 with (/ (1 / 256)) at 2 by field. apply Rinv_le_contravar; lra. }
  lra.
Qed.

Section FirstBits.
Variables (m : machine) (i : nat).
Hypothesis i_range : (1 <= i <= 255)%nat.

(** The float for - ln (i / 256), a little above it. *)
Definition noise_bound : R := fl (float_log m (INR i / 256) * (- (1 + / 2 ^ 42))).

Lemma noise_bound_range : / 2 ^ 8 <= noise_bound <= 500 /\
  - ln (INR i / 256) < noise_bound * (1 - / 2 ^ 48).
Proof.
  destruct (log_of_256ths i i_range) as [L0 L1].
  pose proof (log_accurate_in_256ths m i ltac:(lia)) as A. rewrite (Rabs_left (ln (INR i / 256))) in A by lra.
  apply Rabs_le_between in A. set (L := - ln (INR i / 256)) in *.
  replace (ln (INR i / 256)) with (- L) in A by (unfold L; ring). clearbody L.
  unfold noise_bound. set (x := float_log m (INR i / 256)) in *. clearbody x.
  destruct (rounding (x * (- (1 + / 2 ^ 42)))) as (e & t & E & T & ->).
  set (v := - x). replace (x * - (1 + / 2 ^ 42)) with (v * (1 + / 2 ^ 42)) by (unfold v; ring).
  assert (V : L * (1 - / 2 ^ 49) <= v <= L * (1 + / 2 ^ 49)) by (unfold v; lra). clearbody v. clear A.
  assert (Ty : tiny <= / 2 ^ 100) by (unfold tiny; apply inv_pow_le; lia).
  assert (T' : - / 2 ^ 100 <= t <= / 2 ^ 100) by lra. clear T Ty. rewrite u_value in E.
  set (y := v * (1 + / 2 ^ 42)).
  assert (Y : L * (1 + / 2 ^ 43) <= y <= L * (1 + / 2 ^ 41)).
  { unfold y. split.
    - apply Rle_trans with (L * (1 - / 2 ^ 49) * (1 + / 2 ^ 42)); [|apply Rmult_le_compat_r; lra].
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. lra.
    - apply Rle_trans with (L * (1 + / 2 ^ 49) * (1 + / 2 ^ 42)); [apply Rmult_le_compat_r; lra|].
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. lra. }
  clearbody y. clear V.
  assert (Z : L * (1 + / 2 ^ 44) <= y * (1 + e) <= L * (1 + / 2 ^ 40)).
  { split.
    - apply Rle_trans with (L * (1 + / 2 ^ 43) * (1 - / 9007199254740992)); [rewrite Rmult_assoc; apply Rmult_le_compat_l; lra|].
      apply Rmult_le_compat; lra.
    - apply Rle_trans with (L * (1 + / 2 ^ 41) * (1 + / 9007199254740992)); [apply Rmult_le_compat; lra|].
      rewrite Rmult_assoc. apply Rmult_le_compat_l; lra. }
  set (z := y * (1 + e)) in *. clearbody z.
  assert (W : L * (1 + / 2 ^ 45) <= z + t) by lra.
  split; [split; lra|].
  apply Rlt_le_trans with (L * (1 + / 2 ^ 45) * (1 - / 2 ^ 48)); [|apply Rmult_le_compat_r; lra].
  rewrite Rmult_assoc. rewrite <- (Rmult_1_r L) at 1. apply Rmult_lt_compat_l; lra.
Qed.

(** [beyond] is the result of the comparison in lemma 4. It is right unless gamma is very near the bound. *)
Theorem first_bits_mean_tails gamma c x (beyond : Prop) :
  (Rabs (gamma - noise_bound) > / 2 ^ 48 * noise_bound -> (beyond <-> noise_bound < gamma)) ->
  beyond -> c <= exp (- gamma) -> INR i / 256 <= x -> c < x.
Proof.
  intros W B C X. destruct noise_bound_range as ([N _] & L). assert (N0 : 0 < / 2 ^ 8) by (apply Rinv_0_lt_compat, pow2_pos).
  assert (P : 1 <= INR i) by (apply (le_INR 1); lia).
  assert (G : noise_bound * (1 - / 2 ^ 48) <= gamma).
  { destruct (Rle_dec (noise_bound * (1 - / 2 ^ 48)) gamma) as [|Far]; [assumption|]. exfalso.
    assert (Q : gamma < noise_bound) by (assert (0 < noise_bound * / 2 ^ 48) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat, pow2_pos]); lra).
    apply (Rlt_irrefl gamma). apply Rlt_trans with noise_bound; [exact Q|]. apply W; [|exact B].
    rewrite Rabs_left by lra. lra. }
  apply Rle_lt_trans with (exp (- gamma)); [exact C|]. apply Rlt_le_trans with (INR i / 256); [|exact X].
  rewrite <- (exp_ln (INR i / 256)) by lra. apply exp_increasing. lra.
Qed.
End FirstBits.

(** ** Lemma 7: marks by skips *)

Lemma sum_first n (f : nat -> R) : sum (candidates (S n)) f = f 0%nat + sum (candidates n) (fun k => f (S k)).
Proof.
  unfold candidates. cbn [seq]. change (f 0%nat + sum (seq 1 n) f = f 0%nat + sum (seq 0 n) (fun k => f (S k))).
  now rewrite <- seq_shift, sum_map.
Qed.

Section Marks.
Variable m : R.
Let kappa := 1 - m.

(** The number of unmarked places before the next mark is k with chance kappa^k m. There is no further mark
    with chance kappa^(number of places left). *)
Fixpoint by_skips (fuel : nat) (l : list nat) (phi : list nat -> R) : R :=
  match fuel with
  | O => phi []
  | S fuel => sum (candidates (length l)) (fun k => kappa ^ k * m *
      by_skips fuel (skipn (S k) l) (fun H => phi (nth k l 0%nat :: H)))
      + kappa ^ length l * phi []
  end.

Theorem marks_by_skips l : forall fuel phi, (length l <= fuel)%nat ->
  by_skips fuel l phi = flip_all (fun _ => m) l phi.
Proof.
  induction l as [|x l IH]; intros fuel phi F.
  - destruct fuel; cbn [by_skips flip_all length]; [reflexivity|]. unfold candidates, sum. simpl. ring.
  - destruct fuel as [|fuel]; cbn [length] in F; [lia|]. cbn [by_skips flip_all length].
    rewrite sum_first, <- (IH fuel (fun H => phi (x :: H))) by lia. rewrite <- (IH (S fuel) phi) by lia.
    cbn [by_skips]. rewrite Rmult_plus_distr_l, <- sum_scal.
    replace (sum (candidates (length l)) (fun k => kappa ^ S k * m *
      by_skips fuel (skipn (S (S k)) (x :: l)) (fun H => phi (nth (S k) (x :: l) 0%nat :: H))))
      with (sum (candidates (length l)) (fun k => (1 - m) * (kappa ^ k * m *
      by_skips fuel (skipn (S k) l) (fun H => phi (nth k l 0%nat :: H))))).
    + change (skipn 1 (x :: l)) with l. cbn [nth pow]. fold kappa. ring.
    + apply sum_ext. intros k _. change (skipn (S (S k)) (x :: l)) with (skipn (S k) l).
      cbn [nth pow]. fold kappa. ring.
Qed.

Hypothesis m_range : 0 < m < 1.

(** The skip of a uniform number x: k where kappa^(k+1) <= x < kappa^k. *)
Definition skips (x : R) (k : nat) : Prop := kappa ^ S k <= x < kappa ^ k.

(** With integers: no mark in the next n places. *)
Lemma skip_by_integers n x : x < 1 - INR n * m -> x < kappa ^ n.
Proof.
  intros X. eapply Rlt_le_trans; [exact X|]. unfold kappa. clear X. induction n as [|n IH]; [simpl; lra|].
  rewrite S_INR. cbn [pow]. pose proof (pos_INR n).
  destruct (Rle_dec 0 (1 - INR n * m)) as [P|P]; [nra|].
  assert (0 <= (1 - m) ^ n) by (apply pow_le; lra). nra.
Qed.

(** With floats: y_hat is within e of ln x / ln kappa, and farther than e from every integer. *)
Lemma skip_by_floats x y_hat e k : 0 < x -> 0 <= e ->
  Rabs (y_hat - ln x / ln kappa) <= e -> INR k + e < y_hat < INR (S k) - e -> skips x k.
Proof.
  intros X E A B. apply Rabs_le_between in A.
  assert (K : 0 < kappa < 1) by (unfold kappa; lra).
  assert (Ln : ln kappa < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (P : forall j, kappa ^ j = exp (INR j * ln kappa)).
  { induction j as [|j IH]; [simpl; now rewrite Rmult_0_l, exp_0|].
    rewrite S_INR. cbn [pow]. rewrite IH, Rmult_plus_distr_r, Rmult_1_l, exp_plus, exp_ln by lra. ring. }
  set (y := ln x / ln kappa) in *. assert (Y : x = exp (y * ln kappa)).
  { unfold y. replace (ln x / ln kappa * ln kappa) with (ln x) by (field; lra). now rewrite exp_ln. }
  unfold skips. rewrite !P, Y. split; [left|]; apply exp_increasing; nra.
Qed.

Lemma skip_of_words w U k x : INR (S U) / 2 ^ w <= kappa ^ k -> kappa ^ S k <= INR U / 2 ^ w ->
  INR U / 2 ^ w <= x < INR (S U) / 2 ^ w -> skips x k.
Proof. intros A B X. unfold skips. lra. Qed.
End Marks.

(** ** Lemma 9: levels *)

(** 0x1.71547652b6be9p+0, below (1 - 2^-41) / ln 2. *)
Definition levels_per_gamma : R := 6497320848550889 / 4503599627370496.

Theorem level_right gamma floated (j : nat) : 0 <= gamma -> good_gap floated gamma -> 0 <= floated ->
  (j <= 255)%nat -> INR j <= fl (floated * levels_per_gamma) -> exp (- gamma) <= / 2 ^ j.
Proof.
  intros G [N F] P J H. pose proof ln2_below as B. pose proof ln2_positive as Lp.
  assert (C : levels_per_gamma * ln 2 <= 1 - / 2 ^ 41).
  { apply Rle_trans with (levels_per_gamma * ln2_above); [apply Rmult_le_compat_l; [unfold levels_per_gamma|]; lra|].
    unfold levels_per_gamma, ln2_above. lra. }
  assert (Cp : 0 < levels_per_gamma <= 3 / 2) by (unfold levels_per_gamma; lra).
  rewrite <- exp_ln2. apply Mechanism.exp_le.
  enough (INR j * ln 2 <= gamma) by lra.
  assert (L1 : ln 2 <= 1) by (unfold ln2_above in B; lra).
  destruct (Rle_dec gamma 599) as [S|S].
  2: { assert (INR j <= 255) by (replace 255 with (INR 255) by (simpl; lra); now apply le_INR). nra. }
  specialize (N S). apply Rabs_le_between in N.
  destruct j as [|j]; [simpl; lra|]. assert (J1 : 1 <= INR (Datatypes.S j)) by (apply (le_INR 1); lia).
  set (x := INR (Datatypes.S j)) in *. clearbody x. clear J.
  destruct (rounding (floated * levels_per_gamma)) as (e & t & E & T & Eq). rewrite Eq in H. clear Eq.
  assert (Ty : tiny <= / 2 ^ 100) by (unfold tiny; apply inv_pow_le; lia). rewrite u_value in E.
  set (y := floated * levels_per_gamma) in *.
  assert (Y0 : 0 <= y) by (apply Rmult_le_pos; lra).
  assert (Ye : y * (1 + e) <= y * (1 + / 9007199254740992)) by (apply Rmult_le_compat_l; lra).
  assert (Y1 : 1 / 2 <= y) by (assert (y * (1 + / 9007199254740992) >= 1 - / 2 ^ 100) by lra; lra).
  assert (X : x <= y * (1 + / 2 ^ 51)) by lra.
  assert (Yf : y * ln 2 <= floated * (1 - / 2 ^ 41)).
  { unfold y. rewrite Rmult_assoc. apply Rmult_le_compat_l; lra. }
  assert (Fh : 1 / 3 <= floated) by (unfold y in Y1; nra).
  assert (G4 : 1 / 4 <= gamma) by lra.
  assert (Fg : floated <= gamma * (1 + / 2 ^ 50)) by lra.
  apply Rle_trans with (y * ln 2 * (1 + / 2 ^ 51)).
  { replace (y * ln 2 * (1 + / 2 ^ 51)) with (y * (1 + / 2 ^ 51) * ln 2) by ring. apply Rmult_le_compat_r; lra. }
  apply Rle_trans with (gamma * (1 + / 2 ^ 50) * (1 - / 2 ^ 41) * (1 + / 2 ^ 51)).
  { apply Rmult_le_compat_r; [lra|]. eapply Rle_trans; [exact Yf|]. apply Rmult_le_compat_r; lra. }
  rewrite !Rmult_assoc. rewrite <- (Rmult_1_r gamma) at 2. apply Rmult_le_compat_l; [exact G|]. lra.
Qed.

(** ** Lemma 16: the rates *)

Theorem rate_exponential p t : 0 <= p <= 1 -> 0 <= t ->
  is_derive (fun t => - ln (1 - p * (1 - exp (- t)))) t (p / (1 + (1 - p) * (exp t - 1))) /\
  1 <= 1 + (1 - p) * (exp t - 1).
Proof.
  intros P T. pose proof (exp_pos t) as E. pose proof (exp_pos (- t)) as E'.
  assert (I : exp t * exp (- t) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (E1 : 1 <= exp t) by (rewrite <- exp_0; apply Mechanism.exp_le; lra).
  assert (E2 : exp (- t) <= 1) by (rewrite <- exp_0; apply Mechanism.exp_le; lra).
  assert (D : 0 < 1 - p * (1 - exp (- t))) by nra.
  assert (D' : 0 < 1 + (1 - p) * (exp t - 1)) by nra.
  split; [|nra]. auto_derive; [lra|].
  replace (exp t) with (/ exp (- t)) in D' |- * by (rewrite exp_Ropp; apply Rinv_inv).
  set (x := exp (- t)) in *. clearbody x. clear E E1 I T.
  assert (D2 : 0 < x + (1 - p) * (1 - x)) by nra.
  field. repeat split; nra.
Qed.

Theorem rate_laplace p sigma : 0 < p -> 0 < sigma ->
  (p * sigma < 1 -> is_derive (fun s => - ln (1 - p * s / 2)) sigma (p / (1 + Rabs (1 - p * sigma)))) /\
  (1 < p * sigma -> is_derive (fun s => - ln (/ (2 * (p * s)))) sigma (p / (1 + Rabs (1 - p * sigma)))).
Proof.
  intros P S. split; intros H.
  - rewrite Rabs_right by lra. auto_derive; [lra|]. field. lra.
  - rewrite Rabs_left by lra. assert (0 < p * sigma) by nra.
    auto_derive; [split; [lra|split; [apply Rinv_0_lt_compat; lra | exact I]]|]. field. repeat split; lra.
Qed.

(** ** Lemma 16: nothing is kept before t *)

Definition adds_up_to (terms : nat -> R) (x : R) : Prop := is_series terms x.

(** Proposals come at the times of a Poisson process of rate Lambda: their number before t has the Poisson
    law, and their times are independent and uniform. A proposal at time s is kept with chance [kept s]. The
    chance that nobody is kept before t is the chance that nobody is reached. *)
Theorem nothing_kept (h : nat -> R -> R) l Lambda t : 0 < t -> 0 < Lambda -> (forall r, cont (h r)) ->
  let kept s := sum l (fun r => h r s) / Lambda in
  let passed_over := / t * int (fun s => 1 - kept s) 0 t in
  adds_up_to (fun k => poisson_number (Lambda * t) k * passed_over ^ k) (prod l (fun r => exp (- int (h r) 0 t))).
Proof.
  intros T L C kept passed_over.
  assert (K : cont kept).
  { intros x. unfold kept, Rdiv. apply (cont_mult (fun s => sum l (fun r => h r s)) (fun _ => / Lambda)).
    - now apply cont_sum.
    - apply cont_const. }
  assert (I : int kept 0 t = / Lambda * sum l (fun r => int (h r) 0 t)).
  { rewrite <- int_sum by exact C. rewrite <- int_scal by now apply cont_sum.
    apply int_ext. intros x. unfold kept, Rdiv. ring. }
  assert (E : Lambda * t * (passed_over - 1) = sum l (fun r => - int (h r) 0 t)).
  { unfold passed_over. rewrite int_minus by (try exact K; apply cont_const). rewrite int_const, I.
    replace (sum l (fun r => - int (h r) 0 t)) with (sum l (fun r => (-1) * int (h r) 0 t)) by (apply sum_ext; intros; ring).
    rewrite sum_scal. field. lra. }
  rewrite prod_exp, <- E. apply poisson_generating.
Qed.
