(** docs/proofs/sampling.md, theorem 1: the plans of a release of permute-and-flip, from gaps as floats to the
    law. *)
From Coq Require Import Reals ZArith Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.
From Discreet Require Import Common Mechanism Walk Machine Programs UniformBelow Comparison Heads Floats GapBranches
  Thresholds Sampler Plans Proposals Visits.
From Discreet Require GapIntegers.
Import ListNotations.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

(** ** Visits, then proposals *)

(** The chance of [r] if proposals follow: at most [j] of them, and none after time [T]. Candidates in [out]
    are never kept. *)
Definition proposed (l : list nat) (w c : nat -> R) (T : R) (j r : nat) (out : list nat) : R :=
  kept_within l w (keep_exponential w (zeroed out c)) T (fun t => indicator t r) j 0.

Theorem visits_then_proposals coin more c w l r k T j : NoDup l -> In r l -> 0 <= T ->
  (forall x, In x l -> is_coin (coin x) (c x) /\ 0 < w x /\ c x <= w x) ->
  exists x, has_law (visits coin more l k []) (visited r (proposed l w c T j r)) x /\
    0 <= uniform_head c l r - x <= exp (- T) + (1 - exp (- (sum l w * T))) ^ j.
Proof.
  intros N In0 T0 H. set (b := exp (- T) + (1 - exp (- (sum l w * T))) ^ j).
  assert (Cr : forall x, In x l -> 0 <= c x <= 1) by (intros x X; apply (coin_range (coin x)), H, X).
  assert (Pr : forall out, 0 <= proposed l w c T j r out /\
    0 <= uniform_head c (outside out l) r - proposed l w c T j r out <= b).
  { intros out. rewrite uniform_head_outside. apply exponential_kept; auto.
    - intros x X. apply H, X.
    - intros x X. specialize (Cr x X). destruct (H x X) as (_ & W & CW). unfold zeroed. destruct (member x out); lra. }
  set (after := fun out => uniform_head c (outside out l) r).
  assert (E : outside [] l = l).
  { unfold outside, member. clear. induction l as [|x l IH]; cbn; [reflexivity | f_equal; exact IH]. }
  assert (A : has_law (visits coin more l k []) (visited r after) (uniform_head c l r)).
  { replace (uniform_head c l r) with (after []) by (unfold after; now rewrite E).
    apply visits_law; [exact N|]. intros x X. apply H, X. }
  assert (A1 : forall o, 0 <= visited r after o <= 1).
  { intros [x|out]; cbn; [unfold indicator; destruct (x =? r)%nat; lra|].
    apply uniform_head_range; [now apply NoDup_filter|]. intros x X. apply filter_In in X. now apply Cr. }
  set (p := visits coin more l k []) in *. set (f := visited r (proposed l w c T j r)).
  assert (F : forall o, 0 <= f o <= visited r after o /\ visited r after o <= f o + b).
  { assert (B0 : 0 <= b) by (destruct (Pr []); lra).
    intros [x|out]; cbn; [unfold indicator; destruct (x =? r)%nat; lra|]. unfold after. specialize (Pr out). lra. }
  destruct (ex_finite_lim_seq_incr (fun n => mass n p f) 1) as [x X].
  - intros n. apply mass_grows. intros o. apply F.
  - intros n. apply mass_le_const; [lra|]. intros o. specialize (F o). specialize (A1 o). lra.
  - exists x. split; [exact X|]. split.
    + enough (x <= uniform_head c l r) by lra.
      apply (is_lim_seq_le (fun n => mass n p f) (fun n => mass n p (visited r after)) x (uniform_head c l r)); auto.
      intros n. apply mass_le. intros o. apply F.
    + enough (uniform_head c l r <= x + b) by lra.
      apply (is_lim_seq_le (fun n => mass n p (visited r after)) (fun n => mass n p f + b) (uniform_head c l r) (x + b)).
      * intros n. apply Rle_trans with (mass n p (fun o => f o + b * 1)).
        { apply mass_le. intros o. specialize (F o). lra. }
        rewrite mass_plus, mass_scal. apply Rplus_le_compat_l.
        rewrite <- (Rmult_1_r b) at 2. apply Rmult_le_compat_l; [destruct (Pr []); lra|].
        apply mass_le_const; intros; lra.
      * exact A.
      * apply (is_lim_seq_plus' (fun n => mass n p f) (fun _ => b)); [exact X | apply is_lim_seq_const].
Qed.

(** ** Coins from floats *)

Definition encloses (low high : nat -> R) (c : R) : Prop :=
  forall w, low w <= 2 ^ w * c <= high w /\ 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1.

(** The coin 2^a e^(-gamma) of a marked candidate. *)
Definition boosted_coin (m : machine) (a : nat) (floated : R) (low high : nat -> R) (step w : nat) : program bool :=
  flip low high step w (float_guess (float_chance m (2 ^ (a + w)) floated)).

(** The coin e^(-gamma), given that its uniform number begins with the eight bits [b]. *)
Definition rest_of_coin (m : machine) (floated : R) (low high : nat -> R) (step w b : nat) : program bool :=
  flip_after low high step 8 w (float_guess (float_chance m (2 ^ (8 + w)) floated)) b.

Lemma guess_right m gamma floated v : (v <= 130)%nat -> 0 <= gamma -> good_gap floated gamma ->
  format floated -> 0 <= floated <= 601 ->
  (forall U, float_guess (float_chance m (2 ^ v) floated) U = Some false -> 2 ^ v * exp (- gamma) <= INR U) /\
  (forall U, float_guess (float_chance m (2 ^ v) floated) U = Some true -> INR U + 1 <= 2 ^ v * exp (- gamma)).
Proof.
  intros V G Good Fm R.
  assert (W2 : 0 < 2 ^ v <= 2 ^ 130) by (split; [apply pow2_pos | apply Rle_pow; [lra | exact V]]).
  destruct (heads_promise m (2 ^ v) gamma floated W2 G Good Fm R) as [H0 P].
  assert (X0 : 0 <= 2 ^ v * exp (- gamma)) by (apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos]).
  assert (Eta : / 2 ^ 43 <= / 2 ^ 43 <= 1 / 4).
  { split; [lra|]. apply Rle_trans with (/ 2 ^ 2); [apply inv_pow_le; lia | simpl; lra]. }
  split; intros U; unfold float_guess; destruct Rlt_dec as [L|L]; try discriminate.
  - intros _. apply (lemma_6_tails _ (float_chance m (2 ^ v) floated) _ (fl (INR U)) (/ 2 ^ 43)); auto using pos_INR.
  - destruct Rlt_dec; discriminate.
  - destruct Rlt_dec as [L'|L']; [|discriminate]. intros _.
    apply (lemma_6_heads _ (float_chance m (2 ^ v) floated) _ (fl (INR U)) (/ 2 ^ 43)); auto using pos_INR.
Qed.

Theorem boosted_coin_law m a gamma floated low high step w : (a + w <= 130)%nat -> (1 <= step)%nat -> 0 <= gamma ->
  good_gap floated gamma -> format floated -> 0 <= floated <= 601 -> exp (- gamma) <= / 2 ^ a ->
  encloses low high (2 ^ a * exp (- gamma)) ->
  is_coin (boosted_coin m a floated low high step w) (exp (- gamma) / (/ 2 ^ a)).
Proof.
  intros W S G Good Fm R Far E. destruct (guess_right m gamma floated (a + w) W G Good Fm R) as [GT GH].
  assert (P : forall v, 2 ^ (a + v) * exp (- gamma) = 2 ^ v * (2 ^ a * exp (- gamma))) by (intros; rewrite pow_add; ring).
  rewrite P in GT, GH. pose proof (pow2_pos a) as A.
  replace (exp (- gamma) / / 2 ^ a) with (2 ^ a * exp (- gamma)) by (field; lra).
  apply flip_law; auto; try (intros v; apply E). split.
  - apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos].
  - apply (Rmult_le_compat_l (2 ^ a)) in Far; [|lra]. rewrite Rinv_r in Far; lra.
Qed.

Theorem rest_of_coin_law m gamma floated low high step w b : (8 + w <= 130)%nat -> (1 <= step)%nat -> 0 <= gamma ->
  good_gap floated gamma -> format floated -> 0 <= floated <= 601 -> encloses low high (exp (- gamma)) ->
  is_coin (rest_of_coin m floated low high step w b) (clamp (2 ^ 8 * exp (- gamma) - INR b)).
Proof.
  intros W S G Good Fm R E. destruct (guess_right m gamma floated (8 + w) W G Good Fm R) as [GT GH].
  apply flip_after_law; auto; intros v; apply E.
Qed.

(** ** The plans of permute-and-flip *)

(** What a release starts from: floats for the gaps, as in lemma 4, and balls around the chances. *)
Definition computed (s : R) (n : nat) (q floated : nat -> R) (low high : nat -> nat -> R) : Prop :=
  let gamma t := (best n q - q t) / s in
  (forall t, (t < n)%nat -> good_gap (floated t) (gamma t) /\ format (floated t) /\ 0 <= floated t <= 601) /\
  (forall t, encloses (low t) (high t) (exp (- gamma t))).

(** [beyond t b]: a comparison as in lemma 4 says that gamma is above the bound of lemma 6a for the first bits
    b. It is right unless gamma is very near the bound. *)
Definition beyond_by_floats (m : machine) (gamma : nat -> R) (beyond : nat -> nat -> bool) : Prop :=
  forall t b, beyond t b = true -> (1 <= b <= 255)%nat /\
    (Rabs (gamma t - noise_bound m b) > / 2 ^ 48 * noise_bound m b -> noise_bound m b < gamma t).

Section Release.
Variables (m : machine) (s : R) (n : nat) (q floated : nat -> R) (low high : nat -> nat -> R) (step w r : nat).
Hypothesis scale_pos : 0 < s.
Hypothesis w_most : (w <= 64)%nat.
Hypothesis step_pos : (1 <= step)%nat.
Hypothesis r_range : (r < n)%nat.
Let gamma t := (best n q - q t) / s.
Hypothesis numbers : computed s n q floated low high.

Lemma good t : (t < n)%nat -> good_gap (floated t) (gamma t) /\ format (floated t) /\ 0 <= floated t <= 601.
Proof. apply numbers. Qed.
Lemma balls t : encloses (low t) (high t) (exp (- gamma t)).
Proof. apply numbers. Qed.

Let coin_of t := sampler_coin m (floated t) (low t) (high t) step w.

Lemma chance_is t : exp (- gamma t) = coin s n q t.
Proof. unfold coin, gamma. f_equal. unfold Rdiv. ring. Qed.

Lemma gamma_nonneg t : (t < n)%nat -> 0 <= gamma t.
Proof. intros T. apply gap_nonneg; [now apply best_ge | exact scale_pos]. Qed.

Lemma coins_right t : In t (candidates n) -> is_coin (coin_of t) (coin s n q t).
Proof.
  intros T. apply in_candidates in T. destruct (good t T) as (G & F & R). rewrite <- chance_is.
  apply sampler_coin_law; auto; try lia; [now apply gamma_nonneg | |]; intros v; apply balls.
Qed.

Lemma chances_range t : In t (candidates n) -> 0 <= coin s n q t <= 1.
Proof. intros T. now apply (coin_range (coin_of t)), coins_right. Qed.

(** The near candidates one by one; the far ones, below 2^-a, by thinning. *)
Theorem release_by_list marking far a low' high' : (a <= 62)%nat ->
  is_marking marking (/ 2 ^ a) (candidates n) ->
  (forall t, far t = true -> (t < n)%nat /\ exp (- gamma t) <= / 2 ^ a /\ encloses (low' t) (high' t) (2 ^ a * exp (- gamma t))) ->
  has_law (list_plan marking coin_of (fun t => boosted_coin m a (floated t) (low' t) (high' t) step w) far (candidates n))
    (is_answer r) (pf s n q r).
Proof.
  intros A Mk Far. rewrite <- pf_is_uniform_head by exact r_range.
  apply list_plan_law with (m := / 2 ^ a); [apply NoDup_candidates | | exact Mk | |].
  - split; [apply Rinv_0_lt_compat, pow2_pos|]. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. apply pow_R1_Rle. lra.
  - intros t T _. now apply coins_right.
  - intros t T. destruct (Far t T) as (Tn & P & E). destruct (good t Tn) as (G & F & R). rewrite <- chance_is.
    apply boosted_coin_law; auto; [lia | now apply gamma_nonneg].
Qed.

(** The first eight bits of every candidate, [beyond] as lemma 6a decides. *)
Variable beyond : nat -> nat -> bool.
Hypothesis beyond_right : beyond_by_floats m gamma beyond.

Let rest_coin t := rest_of_coin m (floated t) (low t) (high t) step w.

Lemma first_bits_right at_once out :
  has_law (first_bits_plan 8 beyond at_once rest_coin out (candidates n)) (is_answer r)
    (uniform_head (coin s n q) (outside out (candidates n)) r).
Proof.
  apply first_bits_plan_law.
  - apply NoDup_candidates.
  - exact chances_range.
  - intros t b T B. destruct (beyond_right t b B) as [Bb P].
    assert (L : coin s n q t < INR b / 256).
    { apply (first_bits_mean_tails m b Bb (gamma t) (coin s n q t) (INR b / 256) (noise_bound m b < gamma t \/ gamma t <= noise_bound m b)).
      - intros Away. split; [intros _; now apply P|]. now left.
      - destruct (Rlt_dec (noise_bound m b) (gamma t)); lra.
      - rewrite <- chance_is. lra.
      - lra. }
    replace (2 ^ 8) with 256 by (simpl; ring). lra.
  - intros t b T. apply in_candidates in T. destruct (good t T) as (G & F & R). rewrite <- chance_is.
    apply rest_of_coin_law; auto; [lia | now apply gamma_nonneg | apply balls].
Qed.

Lemma outside_none l : outside [] l = l.
Proof. unfold outside, member. induction l as [|x l IH]; cbn; [reflexivity | f_equal; exact IH]. Qed.

Theorem release_by_first_bits at_once :
  has_law (first_bits_plan 8 beyond at_once rest_coin [] (candidates n)) (is_answer r) (pf s n q r).
Proof.
  rewrite <- pf_is_uniform_head by exact r_range. rewrite <- (outside_none (candidates n)) at 2. apply first_bits_right.
Qed.

(** Visits; if no coin was heads, the first bits of all candidates, except that those visited are tails. *)
Theorem release_by_visits more k at_once :
  has_law (visits_then coin_of more (candidates n) k (fun seen => first_bits_plan 8 beyond (at_once seen) rest_coin seen (candidates n)))
    (is_answer r) (pf s n q r).
Proof.
  rewrite <- pf_is_uniform_head by exact r_range.
  apply visits_then_law; [apply NoDup_candidates | exact coins_right|]. intros seen. apply first_bits_right.
Qed.

(** Visits; if no coin was heads, proposals, with rates from levels as in lemma 9. *)
Theorem release_by_proposals more k (level : nat -> nat) T j : 0 <= T ->
  (forall t, (t < n)%nat -> exp (- gamma t) <= / 2 ^ level t) ->
  let rate := sum (candidates n) (fun t => / 2 ^ level t) in
  exists x, has_law (visits coin_of more (candidates n) k [])
      (visited r (proposed (candidates n) (fun t => / 2 ^ level t) (coin s n q) T j r)) x /\
    0 <= pf s n q r - x <= exp (- T) + (1 - exp (- (rate * T))) ^ j.
Proof.
  intros T0 Lv rate. rewrite <- pf_is_uniform_head by exact r_range. apply visits_then_proposals.
  - apply NoDup_candidates.
  - now apply in_candidates.
  - exact T0.
  - intros t Ht. split; [now apply coins_right|]. split; [apply Rinv_0_lt_compat, pow2_pos|].
    rewrite <- chance_is. apply Lv. now apply in_candidates.
Qed.
End Release.

(** The hypotheses hold for some floats and balls, whatever the scores. *)
Theorem computed_somehow s n q : 0 < s -> exists floated low high, computed s n q floated low high.
Proof.
  intros S. pose (gamma := fun t => (best n q - q t) / s).
  exists (fun t => fl (Rmin (gamma t) 600)), (fun t w => 2 ^ w * exp (- gamma t)), (fun t w => 2 ^ w * exp (- gamma t)).
  split.
  - intros t T. fold (gamma t). assert (G : 0 <= gamma t) by (apply gap_nonneg; [now apply best_ge | exact S]).
    split; [now apply GapIntegers.objects|]. split; [apply generic_format_round; auto with typeclass_instances|].
    split; [apply fl_nonneg, Rmin_glb; lra|].
    assert (F6 : format 600).
    { replace 600 with (F2R (Float radix2 600 0)) by (unfold F2R; simpl; ring).
      apply generic_format_FLT. exists (Float radix2 600 0); [reflexivity | simpl; lia | simpl; lia]. }
    assert (E6 : fl 600 = 600) by (apply round_generic; auto with typeclass_instances).
    apply Rle_trans with (fl 600); [|lra]. apply round_le; auto with typeclass_instances. apply Rmin_r.
  - intros t w. fold (gamma t). lra.
Qed.
