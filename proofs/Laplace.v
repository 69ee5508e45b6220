(** Noisy max: docs/proofs/noisy-max-laplace.md and docs/proofs/laplace-dominance.md.

    Noise with a continuous density f whose logarithm changes by at most |h| / s over a
    distance h. The probability of r is the integral, over the whole line, of the density of "r's noisy score
    is y and all others are below". It is the limit over the intervals [-k, k]. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP NoisyMax Dominance.
Import ListNotations.
Open Scope R_scope.

Definition winner_density (f F : R -> R) (n : nat) (q : nat -> R) (r : nat) (y : R) : R :=
  f (y - q r) * prod (others n r) (fun t => F (y - q t)).

Definition noisy_max (f F : R -> R) (n : nat) (q : nat -> R) (r : nat) : R :=
  real (Lim_seq (fun k => int (winner_density f F n q r) (- INR k) (INR k))).

Lemma cont_shift (f : R -> R) c : cont f -> cont (fun y => f (y - c)).
Proof.
  intros C x. apply (continuous_comp (fun y => y - c) f); [|apply C].
  apply (cont_minus (fun y => y) (fun _ => c)); cont.
Qed.

Lemma int_shift (f : R -> R) a b c : cont f ->
  int (fun y => f (y - c)) a b = int f (a - c) (b - c).
Proof.
  intros C. unfold int.
  replace (a - c) with (1 * a + - c) by ring. replace (b - c) with (1 * b + - c) by ring.
  rewrite <- (RInt_comp_lin f 1 (- c) a b) by now apply int_ex.
  apply RInt_ext; intros x _. unfold scal; simpl; unfold mult; simpl.
  rewrite Rmult_1_l. f_equal. ring.
Qed.

Section Noise.
Variables (f F : R -> R) (s : R) (n : nat).
Hypotheses
  (s_pos : 0 < s) (n_pos : (0 < n)%nat)
  (f_cont : cont f) (f_nonneg : forall x, 0 <= f x)
  (f_smooth : forall x h, 0 <= h -> f x <= exp (h / s) * f (x + h))
  (F_derive : forall x, is_derive F x (f x))
  (F_range : forall x, 0 <= F x <= 1)
  (F_low : forall gap, 0 < gap -> exists K, forall x, x <= K -> F x <= gap)
  (F_high : forall gap, 0 < gap -> exists K, forall x, K <= x -> 1 - gap <= F x).

Let density := winner_density f F n.
Let law := noisy_max f F n.

Lemma F_cont : cont F.
Proof. intros x. apply (ex_derive_continuous F). now exists (f x). Qed.

Lemma F_increasing x y : x <= y -> F x <= F y.
Proof.
  intros H. assert (E : int f x y = F y - F x).
  { apply int_derive; auto. }
  pose proof (int_nonneg f x y H f_cont (fun z _ => f_nonneg z)). lra.
Qed.

Lemma winner_cont q r : cont (density q r).
Proof.
  unfold density, winner_density.
  apply (cont_mult (fun y => f (y - q r))); [now apply cont_shift|].
  apply (cont_prod _ (fun t y => F (y - q t))); intros t. apply cont_shift, F_cont.
Qed.

Lemma rivals_range q r y : 0 <= prod (others n r) (fun t => F (y - q t)) <= 1.
Proof.
  split; [apply prod_nonneg; intros; apply F_range|].
  induction (others n r) as [|t l IH]; simpl; [lra|].
  pose proof (F_range (y - q t)).
  assert (0 <= prod l (fun t => F (y - q t))) by (apply prod_nonneg; intros; apply F_range).
  apply Rle_trans with (1 * 1); [apply Rmult_le_compat; tauto | lra].
Qed.

Lemma winner_nonneg q r y : 0 <= density q r y.
Proof. apply Rmult_le_pos; [apply f_nonneg | apply rivals_range]. Qed.

Lemma window_le_1 q r a b : a <= b -> int (density q r) a b <= 1.
Proof.
  intros H. apply Rle_trans with (int (fun y => f (y - q r)) a b).
  - apply int_le; auto using winner_cont, cont_shift. intros y _.
    unfold density, winner_density. pose proof (f_nonneg (y - q r)).
    pose proof (rivals_range q r y). nra.
  - rewrite int_shift by auto. rewrite (int_derive F) by auto.
    pose proof (F_range (b - q r)). pose proof (F_range (a - q r)). lra.
Qed.

Lemma window_grows q r a b a' b' : a' <= a -> a <= b -> b <= b' ->
  int (density q r) a b <= int (density q r) a' b'.
Proof.
  intros A B C.
  rewrite (int_chasles _ a' a b') by apply winner_cont.
  rewrite (int_chasles _ a b b') by apply winner_cont.
  pose proof (int_nonneg _ a' a A (winner_cont q r) (fun y _ => winner_nonneg q r y)).
  pose proof (int_nonneg _ b b' C (winner_cont q r) (fun y _ => winner_nonneg q r y)).
  lra.
Qed.

Let window q r (k : nat) := int (density q r) (- INR k) (INR k).

Lemma window_increasing q r k : window q r k <= window q r (S k).
Proof.
  unfold window. rewrite S_INR. pose proof (pos_INR k). apply window_grows; lra.
Qed.

Lemma window_limit q r : is_lim_seq (window q r) (law q r).
Proof.
  apply (Lim_seq_correct' (window q r)).
  apply (ex_finite_lim_seq_incr _ 1).
  - apply window_increasing.
  - intros k. unfold window. pose proof (pos_INR k). apply window_le_1. lra.
Qed.

(** The two facts about the limit that everything else uses. *)
Lemma window_le_law q r a b : a <= b -> int (density q r) a b <= law q r.
Proof.
  intros H.
  destruct (nfloor_ex (Rmax (Rabs a) (Rabs b)) ltac:(eapply Rle_trans; [apply Rabs_pos|apply Rmax_l]))
    as (k & _ & K).
  apply Rle_trans with (window q r (S k)).
  - unfold window. rewrite S_INR. apply window_grows; auto.
    + pose proof (Rmax_l (Rabs a) (Rabs b)). pose proof (Rle_abs (- a)).
      rewrite Rabs_Ropp in *. lra.
    + pose proof (Rmax_r (Rabs a) (Rabs b)). pose proof (Rle_abs b). lra.
  - apply (is_lim_seq_incr_compare (window q r)); [apply window_limit | apply window_increasing].
Qed.

Lemma law_le q r x : (forall a b, a <= b -> int (density q r) a b <= x) -> law q r <= x.
Proof.
  intros H.
  apply (is_lim_seq_le (window q r) (fun _ => x) (law q r) x).
  - intros k. apply H. pose proof (pos_INR k). lra.
  - apply window_limit.
  - apply is_lim_seq_const.
Qed.

Lemma noisy_max_nonneg q r : 0 <= law q r.
Proof.
  apply Rle_trans with (int (density q r) 0 0).
  - apply int_nonneg; [lra | apply winner_cont | intros; apply winner_nonneg].
  - apply window_le_law. lra.
Qed.

Lemma noisy_max_shift q c r : law (fun t => q t + c) r = law q r.
Proof.
  assert (A : forall q c, law (fun t => q t + c) r <= law q r).
  { clear q c. intros q c. apply law_le. intros a b H.
    apply Rle_trans with (int (density q r) (a - c) (b - c)).
    - rewrite <- int_shift by apply winner_cont. apply Req_le, int_ext. intros y.
      unfold density, winner_density. f_equal; [f_equal; ring|].
      apply prod_ext; intros t _. f_equal. ring.
    - apply window_le_law. lra. }
  apply Rle_antisym; [apply A|].
  apply Rle_trans with (law (fun t => q t + c + - c) r); [|apply A].
  apply law_le. intros a b H.
  apply Rle_trans with (int (density (fun t => q t + c + - c) r) a b); [|now apply window_le_law].
  apply Req_le, int_ext. intros y. unfold density, winner_density.
  f_equal; [f_equal; ring|]. apply prod_ext; intros t _. f_equal. ring.
Qed.

Lemma noisy_max_rivals_fall q q' r : q' r = q r ->
  (forall t, (t < n)%nat -> q' t <= q t) -> law q r <= law q' r.
Proof.
  intros E H. apply law_le. intros a b L.
  apply Rle_trans with (int (density q' r) a b); [|now apply window_le_law].
  apply int_le; auto using winner_cont. intros y _.
  unfold density, winner_density. rewrite E. apply Rmult_le_compat_l; [apply f_nonneg|].
  apply prod_le. intros t Ht. split; [apply F_range|]. apply F_increasing.
  apply others_known in Ht. specialize (H t Ht). lra.
Qed.

Lemma noisy_max_outcome q q' d r : (r < n)%nat -> range_distance n q q' d ->
  law q r <= exp (d / s) * law q' r.
Proof.
  intros Hr H. destruct (range_distance_between n q q' d H) as (m & M).
  set (p := fun t => q' t + - (m + d)).
  assert (P : forall t, (t < n)%nat -> q t - d <= p t <= q t).
  { intros t Ht. specialize (M t Ht). unfold p. lra. }
  rewrite <- (noisy_max_shift q' (- (m + d))). fold p.
  apply law_le. intros a b L.
  apply Rle_trans with (exp (d / s) * int (density p r) a b).
  - rewrite <- int_scal by apply winner_cont. apply int_le; auto using winner_cont.
    { apply (cont_mult (fun _ => exp (d / s))); [cont | apply winner_cont]. }
    intros y _. unfold density, winner_density. rewrite <- Rmult_assoc.
    apply Rmult_le_compat; [apply f_nonneg | apply rivals_range | |].
    + pose proof (P r Hr). set (h := q r - p r).
      eapply Rle_trans; [apply (f_smooth (y - q r) h); unfold h; lra|].
      replace (y - q r + h) with (y - p r) by (unfold h; ring).
      apply Rmult_le_compat_r; [apply f_nonneg|]. apply exp_le, div_le; unfold h; lra.
    + apply prod_le. intros t Ht. split; [apply F_range|]. apply F_increasing.
      apply others_known in Ht. specialize (P t Ht). lra.
  - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | now apply window_le_law].
Qed.

Theorem noisy_max_pure_dp q q' d :
  range_distance n q q' d -> pure_dp n (law q) (law q') (d / s).
Proof. intros H. apply pure_dp_pointwise; intros r Hr. now apply noisy_max_outcome. Qed.

(** ** Somebody wins *)

Definition all_below (q : nat -> R) (l : list nat) (y : R) : R := prod l (fun t => F (y - q t)).

Lemma all_below_derive q l y : NoDup l ->
  is_derive (all_below q l) y
    (sum l (fun r => f (y - q r) * prod (without r l) (fun t => F (y - q t)))).
Proof.
  unfold all_below. induction l as [|x l IH]; intros N.
  - apply (is_derive_ext (fun _ => 1)); [reflexivity|]. apply (is_derive_const 1).
  - inversion N as [|? ? Hx Hl]; subst.
    assert (V : sum (x :: l) (fun r => f (y - q r) * prod (without r (x :: l)) (fun t => F (y - q t)))
      = f (y - q x) * prod l (fun t => F (y - q t)) + F (y - q x) *
        sum l (fun r => f (y - q r) * prod (without r l) (fun t => F (y - q t)))).
    { rewrite <- sum_scal. cbn [sum fold_right].
      rewrite without_same, without_none by exact Hx. f_equal. apply sum_ext. intros r Hr.
      assert (x <> r) by (intros ->; contradiction).
      rewrite without_other by auto. cbn [prod fold_right]. unfold prod. ring. }
    rewrite V. specialize (IH Hl).
    set (D := sum l _) in *. clearbody D. cbn [prod fold_right]. fold (prod l). evar_last.
    + apply (is_derive_mult (fun y => F (y - q x)) (fun y => prod l (fun t => F (y - q t))));
        [|exact IH | intros; apply Rmult_comm].
      apply (is_derive_comp F (fun y => y - q x)); [apply F_derive|].
      auto_derive; [exact I | reflexivity].
    + unfold plus, mult, scal; simpl; unfold mult; simpl. ring.
Qed.

Lemma all_below_range q l y : 0 <= all_below q l y <= 1.
Proof.
  unfold all_below. split; [apply prod_nonneg; intros; apply F_range|].
  induction l as [|t l IH]; simpl; [lra|].
  pose proof (F_range (y - q t)).
  assert (0 <= prod l (fun t => F (y - q t))) by (apply prod_nonneg; intros; apply F_range).
  apply Rle_trans with (1 * 1); [apply Rmult_le_compat; tauto | lra].
Qed.

Lemma sum_window q a b :
  sum (candidates n) (fun r => int (density q r) a b)
  = all_below q (candidates n) b - all_below q (candidates n) a.
Proof.
  rewrite <- (int_derive (all_below q (candidates n)) (fun y => sum (candidates n) (fun r => density q r y))).
  - induction (candidates n) as [|x l IH]; cbn [sum fold_right].
    + rewrite int_const. ring.
    + change (int (density q x) a b + sum l (fun r => int (density q r) a b)
              = int (fun y => density q x y + sum l (fun r => density q r y)) a b).
      rewrite IH. symmetry.
      apply (int_plus (density q x) (fun y => sum l (fun r => density q r y))).
      * apply winner_cont.
      * apply cont_sum. intros; apply winner_cont.
  - intros y. apply all_below_derive, NoDup_candidates.
  - apply cont_sum. intros; apply winner_cont.
Qed.

(** All noisy scores are below some point with probability at least 1 - gap, and below some other point with
    probability at most gap. *)
Lemma all_below_high q l gap : 0 < gap -> exists K, forall y, K <= y -> 1 - gap <= all_below q l y.
Proof.
  revert gap. unfold all_below. induction l as [|x l IH]; intros gap G; simpl.
  - exists 0; intros; lra.
  - destruct (IH (gap / 2) ltac:(lra)) as (K & HK).
    destruct (F_high (gap / 2) ltac:(lra)) as (K' & HK').
    exists (Rmax K (K' + q x)). intros y Hy.
    pose proof (Rmax_l K (K' + q x)). pose proof (Rmax_r K (K' + q x)).
    specialize (HK y ltac:(lra)). specialize (HK' (y - q x) ltac:(lra)).
    pose proof (F_range (y - q x)). pose proof (all_below_range q l y) as B.
    unfold all_below in B. nra.
Qed.

Lemma all_below_low q gap : 0 < gap ->
  exists K, forall y, y <= K -> all_below q (candidates n) y <= gap.
Proof.
  intros G. destruct (F_low gap G) as (K & HK).
  exists (K + q 0%nat). intros y Hy. unfold all_below.
  rewrite (prod_without 0) by (try apply NoDup_candidates; apply in_candidates; lia).
  specialize (HK (y - q 0%nat) ltac:(lra)). pose proof (F_range (y - q 0%nat)).
  pose proof (all_below_range q (without 0 (candidates n)) y) as B. unfold all_below in B. nra.
Qed.

Lemma sum_limit l q : is_lim_seq (fun k => sum l (fun r => window q r k)) (sum l (law q)).
Proof.
  induction l as [|x l IH]; cbn [sum fold_right]; [apply is_lim_seq_const|].
  apply (is_lim_seq_plus' (window q x)); [apply window_limit | exact IH].
Qed.

Theorem noisy_max_total q : sum (candidates n) (law q) = 1.
Proof.
  pose proof (sum_limit (candidates n) q) as L.
  assert (M : is_lim_seq (fun k => sum (candidates n) (fun r => window q r k)) 1).
  { apply is_lim_seq_spec. intros (gap & G). simpl.
    destruct (all_below_high q (candidates n) (gap / 3) ltac:(lra)) as (K & HK).
    destruct (all_below_low q (gap / 3) ltac:(lra)) as (K' & HK').
    destruct (nfloor_ex (Rmax (Rabs K) (Rabs K'))
      ltac:(eapply Rle_trans; [apply Rabs_pos|apply Rmax_l])) as (k & _ & Hk).
    exists (S k). intros j Hj. apply le_INR in Hj. rewrite S_INR in Hj.
    pose proof (Rmax_l (Rabs K) (Rabs K')). pose proof (Rmax_r (Rabs K) (Rabs K')).
    pose proof (Rle_abs K). pose proof (Rle_abs (- K')). rewrite Rabs_Ropp in *.
    unfold window. rewrite sum_window.
    specialize (HK (INR j) ltac:(lra)). specialize (HK' (- INR j) ltac:(lra)).
    pose proof (all_below_range q (candidates n) (INR j)).
    pose proof (all_below_range q (candidates n) (- INR j)).
    apply Rabs_def1; lra. }
  apply is_lim_seq_unique in L. apply is_lim_seq_unique in M. rewrite L in M.
  now injection M.
Qed.

Theorem noisy_max_dominated q q' d : 0 <= d -> range_distance n q q' d ->
  laplace_dominated n (law q) (law q') (d / s).
Proof.
  apply dominated; auto using noisy_max_total, noisy_max_pure_dp, noisy_max_nonneg,
    noisy_max_shift, noisy_max_rivals_fall.
Qed.
End Noise.

(** ** Laplace noise *)

Definition laplace_density (s x : R) : R := / (2 * s) * exp (- Rabs x / s).
Definition laplace_below (s x : R) : R := 1 / 2 + int (laplace_density s) 0 x.

Section Laplace.
Variable s : R.
Hypothesis s_pos : 0 < s.

Lemma laplace_cont : cont (laplace_density s).
Proof.
  intros x. unfold laplace_density.
  apply (continuous_mult (fun _ => / (2 * s)) (fun x => exp (- Rabs x / s))); [apply continuous_const|].
  apply (continuous_comp (fun x => - Rabs x / s) exp).
  - apply (continuous_mult (fun x => - Rabs x) (fun _ => / s)); [|apply continuous_const].
    apply (continuous_opp (fun x => Rabs x)). apply continuous_Rabs.
  - apply (ex_derive_continuous exp). auto_derive. exact I.
Qed.

Lemma half_scale_pos : 0 < / (2 * s).
Proof. apply Rinv_0_lt_compat. lra. Qed.

Lemma laplace_pos x : 0 < laplace_density s x.
Proof. apply Rmult_lt_0_compat; [apply half_scale_pos | apply exp_pos]. Qed.

Lemma laplace_smooth x h : 0 <= h ->
  laplace_density s x <= exp (h / s) * laplace_density s (x + h).
Proof.
  intros H. unfold laplace_density.
  rewrite <- Rmult_assoc, (Rmult_comm (exp _)), Rmult_assoc, <- exp_plus.
  apply Rmult_le_compat_l; [apply Rlt_le, half_scale_pos|]. apply exp_le.
  replace (h / s + - Rabs (x + h) / s) with ((h - Rabs (x + h)) / s) by (field; lra).
  apply div_le; [auto|]. pose proof (Rabs_triang x h). rewrite (Rabs_right h) in H0 by lra. lra.
Qed.

Lemma laplace_derive x : is_derive (laplace_below s) x (laplace_density s x).
Proof.
  unfold laplace_below. evar_last.
  - apply (is_derive_plus (fun _ => 1 / 2) (fun x => int (laplace_density s) 0 x)).
    + apply (is_derive_const (1 / 2)).
    + apply (is_derive_RInt (laplace_density s) (fun x => int (laplace_density s) 0 x) 0 x).
      * apply filter_forall. intros y. apply (RInt_correct (laplace_density s)).
        apply int_ex, laplace_cont.
      * apply laplace_cont.
  - unfold plus, zero; simpl. ring.
Qed.

Lemma laplace_below_pos x : 0 <= x -> laplace_below s x = 1 - exp (- x / s) / 2.
Proof.
  intros H. unfold laplace_below.
  replace (int (laplace_density s) 0 x) with (int (fun y => / (2 * s) * exp (- y / s)) 0 x).
  - rewrite (int_derive (fun y => - exp (- y / s) / 2)).
    + replace (- 0 / s) with 0 by (field; lra). rewrite exp_0. field.
    + intros y. auto_derive; [exact I|]. unfold Rdiv. field. lra.
    + intros y. apply (ex_derive_continuous (fun y => / (2 * s) * exp (- y / s))).
      auto_derive. exact I.
  - apply RInt_ext. intros y Hy. rewrite Rmin_left in Hy by lra.
    unfold laplace_density. rewrite Rabs_right by lra. reflexivity.
Qed.

Lemma laplace_below_neg x : x <= 0 -> laplace_below s x = exp (x / s) / 2.
Proof.
  intros H. unfold laplace_below.
  replace (int (laplace_density s) 0 x) with (int (fun y => / (2 * s) * exp (y / s)) 0 x).
  - rewrite (int_derive (fun y => exp (y / s) / 2)).
    + replace (0 / s) with 0 by (field; lra). rewrite exp_0. field.
    + intros y. auto_derive; [exact I|]. unfold Rdiv. field. lra.
    + intros y. apply (ex_derive_continuous (fun y => / (2 * s) * exp (y / s))).
      auto_derive. exact I.
  - apply RInt_ext. intros y Hy. rewrite Rmax_left in Hy by lra.
    unfold laplace_density. rewrite Rabs_left by lra. do 2 f_equal. field. lra.
Qed.

Lemma exp_neg_le_1 x : x <= 0 -> exp (x / s) <= 1.
Proof.
  intros H. rewrite <- exp_0. apply exp_le.
  replace 0 with (0 / s) by (field; lra). now apply div_le.
Qed.

Lemma laplace_below_range x : 0 <= laplace_below s x <= 1.
Proof.
  destruct (Rle_dec x 0) as [H|H].
  - rewrite laplace_below_neg by auto. pose proof (exp_pos (x / s)).
    pose proof (exp_neg_le_1 x H). lra.
  - rewrite laplace_below_pos by lra. pose proof (exp_pos (- x / s)).
    pose proof (exp_neg_le_1 (- x) ltac:(lra)). lra.
Qed.

Lemma exp_below gap x : 0 < gap -> x <= s * ln gap -> exp (x / s) <= gap.
Proof.
  intros G H. rewrite <- (exp_ln gap) by auto. apply exp_le.
  apply (Rmult_le_reg_r s); [auto|]. replace (x / s * s) with x by (field; lra). lra.
Qed.

Lemma laplace_low gap : 0 < gap -> exists K, forall x, x <= K -> laplace_below s x <= gap.
Proof.
  intros G. exists (Rmin 0 (s * ln gap)). intros x Hx.
  pose proof (Rmin_l 0 (s * ln gap)). pose proof (Rmin_r 0 (s * ln gap)).
  rewrite laplace_below_neg by lra. pose proof (exp_below gap x G ltac:(lra)).
  pose proof (exp_pos (x / s)). lra.
Qed.

Lemma laplace_high gap : 0 < gap -> exists K, forall x, K <= x -> 1 - gap <= laplace_below s x.
Proof.
  intros G. exists (Rmax 0 (- (s * ln gap))). intros x Hx.
  pose proof (Rmax_l 0 (- (s * ln gap))). pose proof (Rmax_r 0 (- (s * ln gap))).
  rewrite laplace_below_pos by lra. pose proof (exp_below gap (- x) G ltac:(lra)).
  pose proof (exp_pos (- x / s)). lra.
Qed.
End Laplace.

Definition laplace_max (s : R) (n : nat) : (nat -> R) -> nat -> R :=
  noisy_max (laplace_density s) (laplace_below s) n.

Section LaplaceMax.
Variables (s : R) (n : nat).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).

Let nonneg x : 0 <= laplace_density s x := Rlt_le _ _ (laplace_pos s s_pos x).

Theorem laplace_max_total q : sum (candidates n) (laplace_max s n q) = 1.
Proof.
  exact (noisy_max_total (laplace_density s) (laplace_below s) s n n_pos (laplace_cont s) nonneg
    (laplace_derive s) (laplace_below_range s s_pos) (laplace_low s s_pos) (laplace_high s s_pos) q).
Qed.

Theorem laplace_max_nonneg q r : 0 <= laplace_max s n q r.
Proof.
  exact (noisy_max_nonneg (laplace_density s) (laplace_below s) s n (laplace_cont s) nonneg
    (laplace_derive s) (laplace_below_range s s_pos) q r).
Qed.

Theorem laplace_max_pure_dp q q' d :
  range_distance n q q' d -> pure_dp n (laplace_max s n q) (laplace_max s n q') (d / s).
Proof.
  exact (noisy_max_pure_dp (laplace_density s) (laplace_below s) s n s_pos (laplace_cont s) nonneg
    (laplace_smooth s s_pos) (laplace_derive s) (laplace_below_range s s_pos) q q' d).
Qed.

Theorem laplace_max_dominated q q' d : 0 <= d -> range_distance n q q' d ->
  laplace_dominated n (laplace_max s n q) (laplace_max s n q') (d / s).
Proof.
  exact (noisy_max_dominated (laplace_density s) (laplace_below s) s n s_pos n_pos (laplace_cont s)
    nonneg (laplace_smooth s s_pos) (laplace_derive s) (laplace_below_range s s_pos)
    (laplace_low s s_pos) (laplace_high s s_pos) q q' d).
Qed.
End LaplaceMax.

Lemma over_1 x : x / 1 = x.
Proof. field. Qed.

(** The curve of dominance is that of the Laplace pair: half-lines {y <= c} reach it. *)
Theorem laplace_pair_tradeoff eps c : 0 <= eps ->
  tradeoff_laplace eps (laplace_below 1 c) = laplace_below 1 (c - eps).
Proof.
  intros He. unfold tradeoff_laplace.
  assert (P : 0 < exp (- eps)) by apply exp_pos.
  assert (E : exp (- eps) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
  assert (I : exp (- eps) * exp eps = 1)
    by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  destruct (Rle_dec c 0) as [C|C].
  - rewrite !laplace_below_neg, !over_1 by lra.
    assert (exp c <= 1) by (rewrite <- exp_0; apply exp_le; lra).
    destruct Rle_dec; [|lra]. unfold Rminus. rewrite exp_plus. lra.
  - rewrite (laplace_below_pos 1 Rlt_0_1 c), over_1 by lra.
    assert (X : exp (- c) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    assert (Pc : 0 < exp (- c)) by apply exp_pos.
    destruct Rle_dec as [A|A]; [lra|]. destruct (Rle_dec c eps) as [D|D].
    + assert (exp (- eps) <= exp (- c)) by (apply exp_le; lra).
      destruct Rle_dec; [|lra].
      rewrite laplace_below_neg, over_1 by lra.
      replace (exp (c - eps)) with (exp (- eps) * / exp (- c)).
      * field. lra.
      * rewrite <- exp_Ropp, <- exp_plus. f_equal. ring.
    + assert (exp (- c) < exp (- eps)) by (apply exp_increasing; lra).
      destruct Rle_dec; [lra|].
      rewrite laplace_below_pos, over_1 by lra.
      replace (exp (- (c - eps))) with (exp eps * exp (- c)).
      * lra.
      * rewrite <- exp_plus. f_equal. ring.
Qed.
