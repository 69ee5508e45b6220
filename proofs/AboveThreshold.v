(** Above a threshold, with exponential noise: noise X of scale b1 on the threshold T, drawn
    once, and fresh noise of scale b2 on every query; the answer to query i is "above" when
    q_i + Y_i >= T + X. [outcomes] are the answers. Queries may depend on earlier answers, because everything
    below holds for each list of answers. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

(** Pr[Y >= z] for exponential Y of scale b. *)
Definition tail (b z : R) : R := exp (- Rmax 0 z / b).

(** Below; above; or above by at least g and less than g'. *)
Inductive answer := Below | Above | Within (g g' : R).

(** The chance of one answer when the threshold's noise is x. *)
Definition answer_chance (b2 T x q : R) (a : answer) : R :=
  match a with
  | Below => 1 - tail b2 (T + x - q)
  | Above => tail b2 (T + x - q)
  | Within g g' => tail b2 (T + x - q + g) - tail b2 (T + x - q + g')
  end.

Fixpoint chances (b2 T x : R) (outcomes : list (R * answer)) : R :=
  match outcomes with
  | [] => 1
  | (q, a) :: l => answer_chance b2 T x q a * chances b2 T x l
  end.

(** The chance of all answers, with the threshold's noise below B. *)
Definition transcript (b1 b2 T : R) (outcomes : list (R * answer)) (B : R) : R :=
  int (fun x => / b1 * exp (- x / b1) * chances b2 T x outcomes) 0 B.

(** The chance of all answers: the limit over B. *)
Definition is_chance (b1 b2 T : R) (outcomes : list (R * answer)) (P : R) : Prop :=
  is_lim_seq (fun n => transcript b1 b2 T outcomes (INR n)) P.

Fixpoint crossings (outcomes : list (R * answer)) : nat :=
  match outcomes with
  | [] => 0
  | (_, a) :: l => match a with Below => 0 | _ => 1 end + crossings l
  end.

(** The two ends of a gap are in order. *)
Definition sound (a : answer) : Prop := match a with Within g g' => g <= g' | _ => True end.

(** The same answers on a neighbour. A shift h of the threshold covers its queries: 0 <= h + q - q' <= d. *)
Fixpoint within_shift (h d : R) (o o' : list (R * answer)) : Prop :=
  match o, o' with
  | [], [] => True
  | (q, a) :: l, (q', a') :: l' =>
      a = a' /\ sound a /\ 0 <= h + q - q' <= d /\ within_shift h d l l'
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

(** The chance of a gap does not fall by more either. *)
Lemma tail_between z z' d g g' : g <= g' -> z <= z' <= z + d ->
  tail b2 (z + g) - tail b2 (z + g') <= exp (d / b2) * (tail b2 (z' + g) - tail b2 (z' + g')).
Proof.
  intros G H. assert (I : 0 < / b2) by now apply Rinv_0_lt_compat.
  set (r := z' - z).
  assert (E : exp (d / b2) * exp (- r / b2) = exp ((d - r) / b2))
    by (rewrite <- exp_plus; f_equal; unfold Rdiv; ring).
  assert (E1 : 1 <= exp ((d - r) / b2)).
  { rewrite <- exp_0 at 1. apply exp_le. unfold Rdiv, r. apply Rmult_le_pos; lra. }
  assert (Falls : forall a c, a <= c -> tail b2 c <= tail b2 a)
    by (intros a c AC; apply (tail_falls a c (c - a)); lra).
  assert (Exact : forall a, 0 <= a -> tail b2 (a + r) = exp (- r / b2) * tail b2 a).
  { intros a A. unfold tail. rewrite <- exp_plus. f_equal.
    rewrite !Rmax_right by (unfold r; lra). unfold Rdiv. ring. }
  assert (K : tail b2 (z + g) - tail b2 (z + g')
              <= exp (r / b2) * (tail b2 (z + g + r) - tail b2 (z + g' + r))).
  { assert (U : exp (r / b2) * exp (- r / b2) = 1)
      by (rewrite <- exp_plus, <- exp_0; f_equal; unfold Rdiv; ring).
    pose proof (exp_pos (r / b2)) as P.
    destruct (Rle_dec 0 (z + g)).
    - rewrite !Exact by lra. rewrite <- Rmult_minus_distr_l, <- Rmult_assoc, U. lra.
    - assert (One : tail b2 (z + g) = 1).
      { unfold tail. rewrite Rmax_left by lra. unfold Rdiv. now rewrite Ropp_0, Rmult_0_l, exp_0. }
      destruct (Rle_dec 0 (z + g')).
      + rewrite (Exact (z + g')) by lra.
        assert (L : exp (- r / b2) <= tail b2 (z + g + r)).
        { replace (exp (- r / b2)) with (tail b2 (0 + r)).
          - apply Falls. lra.
          - rewrite Exact by lra. unfold tail. rewrite Rmax_left by lra. unfold Rdiv.
            rewrite Ropp_0, Rmult_0_l, exp_0. ring. }
        rewrite One, Rmult_minus_distr_l, <- Rmult_assoc, U.
        assert (1 <= exp (r / b2) * tail b2 (z + g + r))
          by (rewrite <- U; apply Rmult_le_compat_l; lra).
        lra.
      + assert (tail b2 (z + g') = 1).
        { unfold tail. rewrite Rmax_left by lra. unfold Rdiv. now rewrite Ropp_0, Rmult_0_l, exp_0. }
        assert (F : tail b2 (z + g' + r) <= tail b2 (z + g + r)) by (apply Falls; lra).
        assert (0 <= exp (r / b2) * (tail b2 (z + g + r) - tail b2 (z + g' + r)))
          by (apply Rmult_le_pos; lra).
        lra. }
  replace (z' + g) with (z + g + r) by (unfold r; ring).
  replace (z' + g') with (z + g' + r) by (unfold r; ring).
  eapply Rle_trans; [exact K|]. apply Rmult_le_compat_r.
  - assert (F : tail b2 (z + g' + r) <= tail b2 (z + g + r)) by (apply Falls; lra). lra.
  - apply exp_le. unfold Rdiv, r. apply Rmult_le_compat_r; lra.
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

Lemma answer_nonneg x q a : sound a -> 0 <= answer_chance b2 T x q a.
Proof.
  pose proof (tail_range (T + x - q)). destruct a as [| |g g']; cbn [answer_chance sound];
    intros G; try lra.
  pose proof (tail_falls (T + x - q + g) (T + x - q + g') (g' - g)). lra.
Qed.

Definition all_sound (o : list (R * answer)) : Prop := List.Forall (fun said => sound (snd said)) o.

Lemma shift_sound h d o o' : within_shift h d o o' -> all_sound o /\ all_sound o'.
Proof.
  revert o'. induction o as [|[q a] o IH]; intros [|[q' a'] o'] W; try easy.
  - split; constructor.
  - destruct W as (<- & Sa & _ & W). destruct (IH o' W).
    split; constructor; assumption.
Qed.

Lemma chances_nonneg x o : all_sound o -> 0 <= chances b2 T x o.
Proof.
  induction 1 as [|[q a] o S _ IH]; cbn [chances]; [lra|].
  apply Rmult_le_pos; [now apply answer_nonneg | exact IH].
Qed.

Lemma cont_chances o : cont (fun x => chances b2 T x o).
Proof.
  induction o as [|[q a] o IH]; cbn [chances]; [cont|].
  apply (cont_mult (fun x => answer_chance b2 T x q a) (fun x => chances b2 T x o)); [|exact IH].
  destruct a as [| |g g']; cbn [answer_chance].
  - apply (cont_minus (fun _ => 1) (fun x => tail b2 (T + x - q))); [cont | apply cont_tail].
  - apply cont_tail.
  - assert (Moved : forall e, cont (fun x => tail b2 (T + x - q + e))).
    { intros e x. apply (continuous_ext (fun x => tail b2 (T + x - (q - e)))); [|apply cont_tail].
      intros t. f_equal. ring. }
    apply (cont_minus (fun x => tail b2 (T + x - q + g)) (fun x => tail b2 (T + x - q + g')));
      apply Moved.
Qed.

(** With the threshold's noise shifted, "below" costs nothing and "above" costs d. *)
Lemma chances_shift h d x o o' : within_shift h d o o' ->
  chances b2 T x o <= exp (INR (crossings o) * (d / b2)) * chances b2 T (x + h) o'.
Proof.
  revert o'. induction o as [|[q a] o IH]; intros [|[q' a'] o'] H; try easy.
  - cbn. rewrite Rmult_0_l, exp_0. lra.
  - destruct H as (<- & S & H & W). specialize (IH o' W). cbn [chances crossings].
    rewrite plus_INR, Rmult_plus_distr_r, exp_plus.
    assert (Near : T + x - q <= T + (x + h) - q' <= T + x - q + d) by lra.
    pose proof (tail_falls (T + x - q) (T + (x + h) - q') d Near) as [F F'].
    pose proof (answer_nonneg x q a S) as R.
    pose proof (chances_nonneg x o (proj1 (shift_sound h d o o' W))) as C.
    set (K := exp (INR (crossings o) * (d / b2))) in *.
    apply Rle_trans with ((exp (INR (match a with Below => 0 | _ => 1 end)%nat * (d / b2))
      * answer_chance b2 T (x + h) q' a) * (K * chances b2 T (x + h) o')); [|lra].
    apply Rmult_le_compat; [exact R | exact C | | exact IH].
    destruct a as [| |g g']; cbn [answer_chance].
    + change (INR 0) with 0. rewrite Rmult_0_l, exp_0. lra.
    + change (INR 1) with 1. rewrite Rmult_1_l. exact F'.
    + change (INR 1) with 1. rewrite Rmult_1_l. now apply tail_between.
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

Lemma density_nonneg x o : all_sound o -> 0 <= / b1 * exp (- x / b1) * chances b2 T x o.
Proof.
  intros S. apply Rmult_le_pos; [|now apply chances_nonneg].
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
  intros H HB W. destruct (shift_sound h d o o' W) as [_ S']. unfold transcript.
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
    apply int_nonneg; [exact H | exact G|]. intros x _. now apply density_nonneg.
Qed.

Lemma transcript_grows o a b : all_sound o -> 0 <= a <= b ->
  transcript b1 b2 T o a <= transcript b1 b2 T o b.
Proof.
  intros S AB. unfold transcript. rewrite (int_chasles _ 0 a b) by apply cont_density.
  match goal with |- ?u <= ?u + ?v => assert (0 <= v); [|lra] end.
  apply int_nonneg; [lra | apply cont_density|]. intros x _. now apply density_nonneg.
Qed.

Lemma transcript_below o (P : R) B : all_sound o -> is_chance b1 b2 T o P -> 0 <= B ->
  transcript b1 b2 T o B <= P.
Proof.
  intros So L HB. destruct (nfloor_ex B HB) as (n & _ & N).
  eapply Rle_trans; [apply (transcript_grows o B (INR (S n))); [exact So | rewrite S_INR; lra]|].
  apply (is_lim_seq_incr_compare _ _ L).
  intros m. apply transcript_grows; [exact So|]. rewrite S_INR. pose proof (pos_INR m). lra.
Qed.

Theorem above_threshold_private h d o o' (P P' : R) : 0 <= h -> within_shift h d o o' ->
  is_chance b1 b2 T o P -> is_chance b1 b2 T o' P' ->
  P <= exp (h / b1 + INR (crossings o) * (d / b2)) * P'.
Proof.
  intros H W L L'. set (K := exp (h / b1 + INR (crossings o) * (d / b2))).
  apply (is_lim_seq_le _ (fun _ => K * P') P (K * P') ) with (2 := L);
    [|apply is_lim_seq_const].
  intros n. eapply Rle_trans; [apply (transcript_private h d o o'); auto using pos_INR|].
  fold K. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
  apply transcript_below; [apply (shift_sound h d o o' W) | exact L'|].
  pose proof (pos_INR n). lra.
Qed.

(** ** It is exact *)

(** One query answered "below" at T + s, and c queries answered "above" at T + s - e. *)
Definition telling (s e : R) (c : nat) : list (R * answer) :=
  (T + s, Below) :: repeat (T + s - e, Above) c.

Lemma telling_sound s e c : all_sound (telling s e c).
Proof.
  constructor; [exact I|]. apply Forall_forall. intros said F.
  now rewrite (repeat_spec _ _ _ F).
Qed.

Lemma tail_shift e t : 0 <= e -> 0 <= t -> tail b2 (t + e) = exp (- (e / b2)) * tail b2 t.
Proof.
  intros E H. unfold tail. rewrite <- exp_plus. f_equal.
  rewrite !Rmax_right by lra. unfold Rdiv. ring.
Qed.

Lemma chances_above q x c : chances b2 T x (repeat (q, Above) c) = tail b2 (T + x - q) ^ c.
Proof. induction c as [|c IH]; cbn [repeat chances answer_chance pow]; [easy | now rewrite IH]. Qed.

Lemma exp_INR c y : exp (INR c * y) = exp y ^ c.
Proof.
  induction c as [|c IH]; [now rewrite Rmult_0_l, exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH. simpl. ring.
Qed.

Lemma int_ext_inside (f g : R -> R) a b : a <= b -> (forall x, a < x < b -> f x = g x) ->
  int f a b = int g a b.
Proof.
  intros AB H. apply RInt_ext. intros x X. rewrite Rmin_left, Rmax_right in X by exact AB.
  now apply H.
Qed.

Lemma transcript_telling s e c B : 0 <= e -> 0 <= s -> 0 <= B ->
  transcript b1 b2 T (telling s e c) (B + s)
  = exp (- (s / b1 + INR c * (e / b2))) * transcript b1 b2 T (telling 0 0 c) B.
Proof.
  intros E S HB. unfold transcript.
  set (f := fun x => / b1 * exp (- x / b1) * chances b2 T x (telling s e c)).
  assert (F : cont f) by apply cont_density.
  rewrite (int_chasles f 0 s (B + s)) by exact F.
  assert (Z : int f 0 s = 0).
  { transitivity (int (fun _ => 0) 0 s); [|rewrite int_const; ring].
    apply int_ext_inside; [exact S|]. intros x X.
    unfold f, telling. cbn [chances answer_chance].
    replace (tail b2 (T + x - (T + s))) with 1; [ring|].
    unfold tail. rewrite Rmax_left by lra. unfold Rdiv. now rewrite Ropp_0, Rmult_0_l, exp_0. }
  rewrite Z, Rplus_0_l, <- int_shift, <- int_scal by first [exact F | apply cont_density].
  apply int_ext_inside; [exact HB|]. intros t X.
  unfold f, telling. cbn [chances answer_chance]. rewrite !chances_above.
  replace (T + (t + s) - (T + s)) with t by ring.
  replace (T + (t + s) - (T + s - e)) with (t + e) by ring.
  replace (T + t - (T + 0)) with t by ring.
  replace (T + t - (T + 0 - 0)) with t by ring.
  rewrite tail_shift by lra. rewrite Rpow_mult_distr.
  replace (- (s / b1 + INR c * (e / b2))) with (- s / b1 + INR c * - (e / b2))
    by (unfold Rdiv; ring).
  rewrite exp_plus, exp_INR.
  replace (- (t + s) / b1) with (- t / b1 + - s / b1) by (unfold Rdiv; ring).
  rewrite exp_plus. ring.
Qed.

Lemma telling_chance s e c (P K : R) : 0 <= e -> 0 <= s ->
  is_chance b1 b2 T (telling s e c) P -> is_chance b1 b2 T (telling 0 0 c) K ->
  P = exp (- (s / b1 + INR c * (e / b2))) * K.
Proof.
  intros E S L LK. set (q := exp (- (s / b1 + INR c * (e / b2)))).
  assert (Q : 0 < q) by apply exp_pos.
  assert (M : is_lim_seq (fun n => q * transcript b1 b2 T (telling 0 0 c) (INR n)) (q * K))
    by now apply (is_lim_seq_scal_l _ q K).
  apply Rle_antisym.
  - apply (is_lim_seq_le _ _ P (q * K)) with (2 := L) (3 := M).
    intros n. unfold q. rewrite <- transcript_telling by auto using pos_INR.
    apply transcript_grows; [apply telling_sound|]. pose proof (pos_INR n). lra.
  - apply (is_lim_seq_le _ (fun _ => P) (q * K) P) with (2 := M); [|apply is_lim_seq_const].
    intros n. unfold q. rewrite <- transcript_telling by auto using pos_INR.
    apply transcript_below; [apply telling_sound | exact L|]. pose proof (pos_INR n). lra.
Qed.

Lemma telling_positive s e c (P : R) : 0 <= e -> 0 <= s ->
  is_chance b1 b2 T (telling s e c) P -> 0 < P.
Proof.
  intros E S L.
  apply Rlt_le_trans with (transcript b1 b2 T (telling s e c) (1 + s));
    [|apply transcript_below; [apply telling_sound | exact L | lra]].
  rewrite transcript_telling by lra. apply Rmult_lt_0_compat; [apply exp_pos|].
  apply int_pos; [lra | apply cont_density|]. intros x X.
  apply Rmult_lt_0_compat.
  - apply Rmult_lt_0_compat; [now apply Rinv_0_lt_compat | apply exp_pos].
  - unfold telling. cbn [chances answer_chance]. rewrite chances_above.
    replace (T + x - (T + 0)) with x by ring.
    apply Rmult_lt_0_compat; [|apply pow_lt, tail_range].
    assert (tail b2 x < 1); [|lra].
    unfold tail. rewrite <- exp_0. apply exp_increasing. rewrite Rmax_right by lra.
    assert (0 < / b2) by now apply Rinv_0_lt_compat. unfold Rdiv. nra.
Qed.

(** General queries: T + 2D and then T, against T + D every time. Queries that all move in one direction: T
    every time, against T + D and then T. *)
Theorem above_threshold_exact D c (P1 P2 P3 P4 : R) : 0 <= D ->
  is_chance b1 b2 T (telling (D + D) (D + D) c) P1 -> is_chance b1 b2 T (telling D 0 c) P2 ->
  is_chance b1 b2 T (telling 0 0 c) P3 -> is_chance b1 b2 T (telling D D c) P4 ->
  0 < P1 /\ P2 = exp (D / b1 + INR c * ((D + D) / b2)) * P1 /\
  0 < P4 /\ P3 = exp (D / b1 + INR c * (D / b2)) * P4.
Proof.
  intros HD L1 L2 L3 L4.
  assert (DD : 0 <= D + D) by lra. pose proof (Rle_refl 0) as Z.
  pose proof (telling_positive _ _ _ P1 DD DD L1).
  pose proof (telling_positive _ _ _ P4 HD HD L4).
  pose proof (telling_chance _ _ _ P1 P3 DD DD L1 L3) as E1.
  pose proof (telling_chance _ _ _ P2 P3 Z HD L2 L3) as E2.
  pose proof (telling_chance _ _ _ P4 P3 HD HD L4 L3) as E4.
  repeat split; try assumption.
  - rewrite E1, E2, <- Rmult_assoc, <- exp_plus. f_equal. f_equal. unfold Rdiv. ring.
  - rewrite E4, <- Rmult_assoc, <- exp_plus. rewrite <- (Rmult_1_l P3) at 1. f_equal.
    rewrite <- exp_0. f_equal. unfold Rdiv. ring.
Qed.
End Threshold.
