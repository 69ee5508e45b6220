(** Above a threshold, with exponential noise: noise X of scale b1 on the threshold T, drawn
    once, and fresh noise of scale b2 on every query; the answer to query i is "above" when
    q_i + Y_i >= T + X. [outcomes] are the answers, true for "above"; the queries may depend on
    the answers before, since everything below holds for each list of answers. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

(** Pr[Y >= z] for exponential Y of scale b. *)
Definition tail (b z : R) : R := exp (- Rmax 0 z / b).

(** The chance of one answer when the threshold's noise is x. *)
Definition answer_chance (b2 T x q : R) (above : bool) : R :=
  if above then tail b2 (T + x - q) else 1 - tail b2 (T + x - q).

Fixpoint chances (b2 T x : R) (outcomes : list (R * bool)) : R :=
  match outcomes with
  | [] => 1
  | (q, above) :: l => answer_chance b2 T x q above * chances b2 T x l
  end.

(** The chance of all answers, with the threshold's noise below B. *)
Definition transcript (b1 b2 T : R) (outcomes : list (R * bool)) (B : R) : R :=
  int (fun x => / b1 * exp (- x / b1) * chances b2 T x outcomes) 0 B.

(** The chance of all answers: the limit over B. *)
Definition is_chance (b1 b2 T : R) (outcomes : list (R * bool)) (P : R) : Prop :=
  is_lim_seq (fun n => transcript b1 b2 T outcomes (INR n)) P.

Fixpoint crossings (outcomes : list (R * bool)) : nat :=
  match outcomes with [] => 0 | (_, above) :: l => (if above then 1 else 0) + crossings l end.

(** The same answers on a neighbour, whose queries are within reach of a shift h of the
    threshold: 0 <= h + q - q' <= d. *)
Fixpoint within_shift (h d : R) (o o' : list (R * bool)) : Prop :=
  match o, o' with
  | [], [] => True
  | (q, a) :: l, (q', a') :: l' => a = a' /\ 0 <= h + q - q' <= d /\ within_shift h d l l'
  | _, _ => False
  end.

Section Threshold.
Variables b1 b2 T : R.
Hypothesis b1_pos : 0 < b1.
Hypothesis b2_pos : 0 < b2.

Lemma tail_range z : 0 < tail b2 z <= 1.
Proof.
  split; [apply exp_pos|]. unfold tail. rewrite <- exp_0. apply exp_le.
  pose proof (Rmax_l 0 z). unfold Rdiv. assert (0 < / b2) by now apply Rinv_0_lt_compat. nra.
Qed.

(** The tail falls, and by no more than e^(-d/b2) over a distance d. *)
Lemma tail_falls z z' d : z <= z' <= z + d -> tail b2 z' <= tail b2 z <= exp (d / b2) * tail b2 z'.
Proof.
  intros H. unfold tail. assert (0 < / b2) by now apply Rinv_0_lt_compat.
  assert (M : Rmax 0 z <= Rmax 0 z' <= Rmax 0 z + d).
  { split; [apply Rle_max_compat_l; lra|].
    apply Rmax_lub; [pose proof (Rmax_l 0 z) | pose proof (Rmax_r 0 z)]; lra. }
  split.
  - apply exp_le. unfold Rdiv. nra.
  - rewrite <- exp_plus. apply exp_le. unfold Rdiv. nra.
Qed.

Lemma cont_tail q : cont (fun x => tail b2 (T + x - q)).
Proof.
  intros x. unfold tail. apply continuous_exp_comp.
  assert (C : forall y, continuous (fun x => Rmax 0 x) y).
  { intros y. apply (continuous_ext (fun x => (x + Rabs x) * / 2)).
    - intros z. unfold Rmax, Rabs. destruct Rle_dec, Rcase_abs; lra.
    - apply (cont_mult (fun x => x + Rabs x) (fun _ => / 2)); [|cont].
      apply (cont_plus (fun x => x) Rabs); [cont|]. intros w. apply continuous_Rabs. }
  unfold Rdiv.
  apply (cont_mult (fun x => - Rmax 0 (T + x - q)) (fun _ => / b2)); [|cont].
  intros y. apply (continuous_opp (fun x => Rmax 0 (T + x - q))).
  apply (continuous_comp (fun x => T + x - q) (fun z => Rmax 0 z)); [|apply C].
  apply (cont_minus (fun x => T + x) (fun _ => q)); cont.
Qed.

Lemma answer_range x q a : 0 <= answer_chance b2 T x q a <= 1.
Proof. pose proof (tail_range (T + x - q)). destruct a; cbn [answer_chance]; lra. Qed.

Lemma chances_nonneg x o : 0 <= chances b2 T x o.
Proof.
  induction o as [|[q a] o IH]; cbn [chances]; [lra|].
  apply Rmult_le_pos; [apply answer_range | exact IH].
Qed.

Lemma cont_chances o : cont (fun x => chances b2 T x o).
Proof.
  induction o as [|[q a] o IH]; cbn [chances]; [cont|].
  apply (cont_mult (fun x => answer_chance b2 T x q a) (fun x => chances b2 T x o)); [|exact IH].
  destruct a; cbn [answer_chance]; [apply cont_tail|].
  apply (cont_minus (fun _ => 1) (fun x => tail b2 (T + x - q))); [cont | apply cont_tail].
Qed.

(** One threshold's noise against the shifted one: every "below" stays, every "above" costs d. *)
Lemma chances_shift h d x o o' : within_shift h d o o' ->
  chances b2 T x o <= exp (INR (crossings o) * (d / b2)) * chances b2 T (x + h) o'.
Proof.
  revert o'. induction o as [|[q a] o IH]; intros [|[q' a'] o'] H; try easy.
  - cbn. rewrite Rmult_0_l, exp_0. lra.
  - destruct H as (<- & H & W). specialize (IH o' W). cbn [chances crossings].
    rewrite plus_INR, Rmult_plus_distr_r, exp_plus.
    pose proof (tail_falls (T + x - q) (T + (x + h) - q') d ltac:(lra)) as [F F'].
    pose proof (answer_range x q a) as R. pose proof (chances_nonneg x o) as C.
    set (K := exp (INR (crossings o) * (d / b2))) in *.
    apply Rle_trans with ((exp (INR (if a then 1 else 0)%nat * (d / b2))
      * answer_chance b2 T (x + h) q' a) * (K * chances b2 T (x + h) o')); [|lra].
    apply Rmult_le_compat; [lra | exact C | | exact IH].
    destruct a; cbn [answer_chance].
    + change (INR 1) with 1. rewrite Rmult_1_l. exact F'.
    + change (INR 0) with 0. rewrite Rmult_0_l, exp_0. lra.
Qed.

Lemma cont_density o : cont (fun x => / b1 * exp (- x / b1) * chances b2 T x o).
Proof.
  apply (cont_mult (fun x => / b1 * exp (- x / b1)) (fun x => chances b2 T x o));
    [|apply cont_chances].
  apply (cont_mult (fun _ => / b1) (fun x => exp (- x / b1))); [cont|].
  intros x. apply continuous_exp_comp. unfold Rdiv.
  apply (continuous_ext (fun x => (0 - x) * / b1)); [intros t; change ((0 - t) * / b1 = - t * / b1 :> R); ring|].
  apply (cont_mult (fun x => 0 - x) (fun _ => / b1)); cont.
Qed.

Lemma density_nonneg x o : 0 <= / b1 * exp (- x / b1) * chances b2 T x o.
Proof.
  apply Rmult_le_pos; [|apply chances_nonneg].
  apply Rmult_le_pos; [now apply Rlt_le, Rinv_0_lt_compat | apply Rlt_le, exp_pos].
Qed.

Lemma int_shift f h B : cont f -> int (fun x => f (x + h)) 0 B = int f h (B + h).
Proof.
  intros F.
  replace (int f h (B + h)) with (int f (1 * 0 + h) (1 * B + h)) by (f_equal; ring).
  unfold int at 2. rewrite <- (RInt_comp_lin f 1 h 0 B) by now apply int_ex.
  apply int_ext; intros x. unfold scal; simpl; unfold mult; simpl. now rewrite !Rmult_1_l.
Qed.

Theorem transcript_private h d o o' B : 0 <= h -> 0 <= B -> within_shift h d o o' ->
  transcript b1 b2 T o B
  <= exp (h / b1 + INR (crossings o) * (d / b2)) * transcript b1 b2 T o' (B + h).
Proof.
  intros H HB W. unfold transcript.
  set (f := fun x => / b1 * exp (- x / b1) * chances b2 T x o).
  set (g := fun x => / b1 * exp (- x / b1) * chances b2 T x o').
  assert (G : cont g) by apply cont_density.
  set (K := exp (h / b1 + INR (crossings o) * (d / b2))).
  apply Rle_trans with (K * int (fun x => g (x + h)) 0 B).
  - assert (GS : cont (fun x => g (x + h))).
    { intros x. apply (continuous_comp (fun x => x + h) g); [|apply G].
      apply (cont_plus (fun x => x) (fun _ => h)); cont. }
    rewrite <- int_scal by exact GS.
    apply int_le; [exact HB | apply cont_density | |].
    { apply (cont_mult (fun _ => K) (fun x => g (x + h))); [cont | exact GS]. }
    intros x _. unfold f, g. pose proof (chances_shift h d x o o' W) as C.
    assert (E : exp (- x / b1) = exp (h / b1) * exp (- (x + h) / b1))
      by (rewrite <- exp_plus; f_equal; unfold Rdiv; ring).
    unfold K. rewrite exp_plus, E.
    apply Rle_trans with (/ b1 * (exp (h / b1) * exp (- (x + h) / b1))
      * (exp (INR (crossings o) * (d / b2)) * chances b2 T (x + h) o')); [|lra].
    apply Rmult_le_compat_l; [|exact C].
    apply Rmult_le_pos; [now apply Rlt_le, Rinv_0_lt_compat|].
    apply Rmult_le_pos; apply Rlt_le, exp_pos.
  - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
    rewrite int_shift by exact G. rewrite (int_chasles g 0 h (B + h)) by exact G.
    assert (0 <= int g 0 h); [|lra].
    apply int_nonneg; [exact H | exact G|]. intros x _. apply density_nonneg.
Qed.

Theorem above_threshold_private h d o o' (P P' : R) : 0 <= h -> within_shift h d o o' ->
  is_chance b1 b2 T o P -> is_chance b1 b2 T o' P' ->
  P <= exp (h / b1 + INR (crossings o) * (d / b2)) * P'.
Proof.
  intros H W L L'. set (K := exp (h / b1 + INR (crossings o) * (d / b2))).
  assert (U : forall B, 0 <= B -> transcript b1 b2 T o' B <= P').
  { intros B HB.
    assert (Inc : forall a b, 0 <= a <= b ->
      transcript b1 b2 T o' a <= transcript b1 b2 T o' b).
    { intros a b AB. unfold transcript.
      rewrite (int_chasles _ 0 a b) by apply cont_density.
      match goal with |- ?u <= ?u + ?v => assert (0 <= v); [|lra] end.
      apply int_nonneg; [lra | apply cont_density|]. intros x _. apply density_nonneg. }
    destruct (nfloor_ex B HB) as (n & _ & N).
    eapply Rle_trans; [apply (Inc B (INR (S n))); rewrite S_INR; lra|].
    apply (is_lim_seq_incr_compare _ _ L').
    intros m. apply Inc. rewrite S_INR. pose proof (pos_INR m). lra. }
  apply (is_lim_seq_le _ (fun _ => K * P') P (K * P') ) with (2 := L);
    [|apply is_lim_seq_const].
  intros n. eapply Rle_trans; [apply (transcript_private h d o o'); auto using pos_INR|].
  fold K. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. apply U.
  pose proof (pos_INR n). lra.
Qed.
End Threshold.
