(** Above a threshold, with Laplace noise: as AboveThreshold.v, with noise of both signs. The
    chance of a list of answers is the limit of integrals over the threshold's noise from -B to B. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism AboveThreshold.
Import ListNotations.
Open Scope R_scope.

(** Pr[Y >= z] for Laplace Y of scale b: half of e^(-z/b) above zero, the rest below. *)
Definition laplace_tail (b z : R) : R := (exp (- Rmax 0 z / b) + 1 - exp (Rmin 0 z / b)) / 2.

Definition laplace_answer (b2 T x q : R) (a : answer) : R :=
  match a with
  | Below => 1 - laplace_tail b2 (T + x - q)
  | Above => laplace_tail b2 (T + x - q)
  | Within g g' => laplace_tail b2 (T + x - q + g) - laplace_tail b2 (T + x - q + g')
  end.

Fixpoint laplace_chances (b2 T x : R) (o : list (R * answer)) : R :=
  match o with
  | [] => 1
  | (q, a) :: l => laplace_answer b2 T x q a * laplace_chances b2 T x l
  end.

Definition laplace_density (b1 x : R) : R := / (2 * b1) * exp (- Rabs x / b1).

Definition laplace_transcript (b1 b2 T : R) (o : list (R * answer)) (B : R) : R :=
  int (fun x => laplace_density b1 x * laplace_chances b2 T x o) (- B) B.

Definition is_laplace_chance (b1 b2 T : R) (o : list (R * answer)) (P : R) : Prop :=
  is_lim_seq (fun n => laplace_transcript b1 b2 T o (INR n)) P.

Section Laplace.
Variables b1 b2 T : R.
Hypothesis b1_pos : 0 < b1.
Hypothesis b2_pos : 0 < b2.

Lemma inverse_pos b : 0 < b -> 0 < / b.
Proof. apply Rinv_0_lt_compat. Qed.

Lemma tail_up z : 0 <= z -> laplace_tail b2 z = exp (- z / b2) / 2.
Proof.
  intros H. unfold laplace_tail. rewrite Rmax_right, Rmin_left by exact H.
  replace (0 / b2) with 0 by (unfold Rdiv; ring). rewrite exp_0. lra.
Qed.

Lemma tail_down z : z <= 0 -> laplace_tail b2 z = 1 - exp (z / b2) / 2.
Proof.
  intros H. unfold laplace_tail. rewrite Rmax_left, Rmin_right by exact H.
  replace (- 0 / b2) with 0 by (unfold Rdiv; ring). rewrite exp_0. lra.
Qed.

Lemma exp_scale_le a c : a <= c -> exp (a / b2) <= exp (c / b2).
Proof.
  intros H. apply exp_le. unfold Rdiv. apply Rmult_le_compat_r; [|exact H].
  apply Rlt_le, inverse_pos, b2_pos.
Qed.

Lemma exp_scale_0 : exp (0 / b2) = 1.
Proof. unfold Rdiv. now rewrite Rmult_0_l, exp_0. Qed.

Lemma laplace_range z : 0 < laplace_tail b2 z < 1.
Proof.
  destruct (Rle_dec 0 z) as [H|H].
  - rewrite tail_up by exact H. pose proof (exp_pos (- z / b2)).
    pose proof (exp_scale_le (- z) 0 ltac:(lra)). rewrite exp_scale_0 in *. lra.
  - rewrite tail_down by lra. pose proof (exp_pos (z / b2)).
    pose proof (exp_scale_le z 0 ltac:(lra)). rewrite exp_scale_0 in *. lra.
Qed.

Lemma laplace_decreasing z z' : z <= z' -> laplace_tail b2 z' <= laplace_tail b2 z.
Proof.
  intros H. destruct (Rle_dec 0 z) as [Z|Z]; destruct (Rle_dec 0 z') as [Z'|Z']; try lra.
  - rewrite !tail_up by lra. pose proof (exp_scale_le (- z') (- z) ltac:(lra)). lra.
  - rewrite (tail_up z') by lra. rewrite (tail_down z) by lra.
    pose proof (exp_scale_le (- z') 0 ltac:(lra)). pose proof (exp_scale_le z 0 ltac:(lra)).
    rewrite exp_scale_0 in *. lra.
  - rewrite !tail_down by lra. pose proof (exp_scale_le z z' ltac:(lra)). lra.
Qed.

(** The tail falls by no more than e^(-r/b2) over a distance r. *)
Lemma laplace_falls z r : 0 <= r -> exp (- r / b2) * laplace_tail b2 z <= laplace_tail b2 (z + r).
Proof.
  intros H. pose proof (exp_pos (- r / b2)) as P.
  pose proof (exp_scale_le (- r) 0 ltac:(lra)) as L. rewrite exp_scale_0 in L.
  destruct (Rle_dec 0 z) as [Z|Z].
  - rewrite !tail_up by lra.
    replace (- (z + r) / b2) with (- r / b2 + - z / b2) by (unfold Rdiv; ring).
    rewrite exp_plus. lra.
  - destruct (Rle_dec 0 (z + r)) as [Z'|Z'].
    + rewrite tail_down, tail_up by lra.
      set (u := exp (z / b2)). assert (U : 0 < u) by apply exp_pos.
      assert (E : exp (- (z + r) / b2) * u = exp (- r / b2)).
      { unfold u. rewrite <- exp_plus. f_equal. unfold Rdiv. ring. }
      assert (U1 : u <= 1) by (unfold u; rewrite <- exp_scale_0; apply exp_scale_le; lra).
      pose proof (exp_pos (- (z + r) / b2)) as V. rewrite <- E.
      set (v := exp (- (z + r) / b2)) in *. clearbody u v.
      (* v u (1 - u/2) <= v/2, since (1 - u)^2 >= 0 *)
      assert (0 <= v * ((1 - u) * (1 - u))) by (apply Rmult_le_pos; nra). lra.
    + rewrite !tail_down by lra.
      set (w := exp (- r / b2)) in *. set (t := exp ((z + r) / b2)).
      assert (E : exp (z / b2) = w * t).
      { unfold w, t. rewrite <- exp_plus. f_equal. unfold Rdiv. ring. }
      rewrite E. assert (Tp : 0 < t) by apply exp_pos.
      assert (T1 : t <= 1) by (unfold t; rewrite <- exp_scale_0; apply exp_scale_le; lra).
      clearbody w t.
      assert (0 <= (1 - w) * (1 - t / 2 * (1 + w))) by (apply Rmult_le_pos; nra). lra.
Qed.

(** The tail at z + r, minus the least that it can be there, falls with z. *)
Definition spare (r z : R) : R := laplace_tail b2 (z + r) - exp (- r / b2) * laplace_tail b2 z.

Lemma spare_low r z z' : 0 <= r -> z <= z' -> z' <= - r -> spare r z' <= spare r z.
Proof.
  intros H Z L. unfold spare. rewrite !tail_down by lra.
  pose proof (exp_scale_le z z' Z) as U.
  assert (E : forall y, exp ((y + r) / b2) = exp (r / b2) * exp (y / b2)).
  { intros y. rewrite <- exp_plus. f_equal. unfold Rdiv. ring. }
  rewrite !E. pose proof (exp_scale_le (- r) r ltac:(lra)) as W.
  set (u := exp (z / b2)) in *. set (u' := exp (z' / b2)) in *.
  set (w := exp (- r / b2)) in *. set (v := exp (r / b2)) in *. clearbody u u' w v.
  assert (0 <= (u' - u) * (v - w)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma spare_middle r z z' : 0 <= r -> - r <= z -> z <= z' -> z' <= 0 -> spare r z' <= spare r z.
Proof.
  intros H L Z M. unfold spare. rewrite (tail_up (z + r)), (tail_up (z' + r)) by lra.
  rewrite !tail_down by lra.
  assert (E : forall y, exp (- (y + r) / b2) = exp (- r / b2) * exp (- y / b2)).
  { intros y. rewrite <- exp_plus. f_equal. unfold Rdiv. ring. }
  assert (One : forall y, exp (y / b2) * exp (- y / b2) = 1).
  { intros y. rewrite <- exp_plus, <- exp_0. f_equal. unfold Rdiv. ring. }
  rewrite !E. pose proof (One z) as O. pose proof (One z') as O'.
  pose proof (exp_scale_le (- z') (- z) ltac:(lra)) as V.
  pose proof (exp_scale_le z' 0 M) as U'. rewrite exp_scale_0 in U'.
  pose proof (exp_scale_le z z' Z) as UU.
  pose proof (exp_pos (- r / b2)) as P. pose proof (exp_pos (z / b2)) as Pu.
  set (u := exp (z / b2)) in *. set (u' := exp (z' / b2)) in *.
  set (v := exp (- z / b2)) in *. set (v' := exp (- z' / b2)) in *.
  set (w := exp (- r / b2)) in *. clearbody u u' v v' w.
  assert (X : u' - u = u * u' * (v - v')).
  { replace (u * u' * (v - v')) with (u' * (u * v) - u * (u' * v')) by ring. rewrite O, O'. ring. }
  assert (Y : 0 <= (v - v') * (1 - u * u')) by (apply Rmult_le_pos; nra).
  assert (0 <= w * ((v - v') * (1 - u * u'))) by (apply Rmult_le_pos; lra).
  assert (w * ((v - v') * (1 - u * u')) = w * (v + u - v' - u')).
  { f_equal. replace ((v - v') * (1 - u * u')) with (v - v' - u * u' * (v - v')) by ring.
    rewrite <- X. ring. }
  lra.
Qed.

Lemma spare_falls r z z' : 0 <= r -> z <= z' -> spare r z' <= spare r z.
Proof.
  intros H Z. destruct (Rle_dec 0 z') as [Z'|Z'].
  - apply Rle_trans with 0.
    + unfold spare. rewrite !tail_up by lra.
      replace (- (z' + r) / b2) with (- r / b2 + - z' / b2) by (unfold Rdiv; ring).
      rewrite exp_plus. lra.
    + unfold spare. pose proof (laplace_falls z r H). lra.
  - destruct (Rle_dec z' (- r)); [now apply spare_low|].
    destruct (Rle_dec (- r) z); [apply spare_middle; lra|].
    apply Rle_trans with (spare r (- r)); [apply spare_middle; lra | apply spare_low; lra].
Qed.

Lemma laplace_between z r d g g' : 0 <= r <= d -> g <= g' ->
  laplace_tail b2 (z + g) - laplace_tail b2 (z + g')
  <= exp (d / b2) * (laplace_tail b2 (z + r + g) - laplace_tail b2 (z + r + g')).
Proof.
  intros H G. pose proof (spare_falls r (z + g) (z + g') ltac:(lra) ltac:(lra)) as S.
  unfold spare in S.
  replace (z + r + g) with (z + g + r) by ring. replace (z + r + g') with (z + g' + r) by ring.
  pose proof (laplace_decreasing (z + g) (z + g') ltac:(lra)) as D.
  set (a := laplace_tail b2 (z + g)) in *. set (a' := laplace_tail b2 (z + g')) in *.
  set (c := laplace_tail b2 (z + g + r)) in *. set (c' := laplace_tail b2 (z + g' + r)) in *.
  assert (U : 1 <= exp (d / b2) * exp (- r / b2)).
  { rewrite <- exp_plus, <- exp_scale_0.
    replace (d / b2 + - r / b2) with ((d - r) / b2) by (unfold Rdiv; ring).
    apply exp_scale_le. lra. }
  pose proof (exp_pos (d / b2)) as P. clearbody a a' c c'.
  set (w := exp (- r / b2)) in *. set (k := exp (d / b2)) in *. clearbody w k.
  assert (k * (w * (a - a')) <= k * (c - c')) by (apply Rmult_le_compat_l; lra).
  assert (a - a' <= k * w * (a - a')); [|lra].
  assert (0 <= (k * w - 1) * (a - a')) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma cont_laplace_tail q : cont (fun x => laplace_tail b2 (T + x - q)).
Proof.
  assert (M : forall y, continuous (fun x => Rmax 0 x) y).
  { intros y. apply (continuous_ext (fun x => (x + Rabs x) * / 2)).
    - intros z. unfold Rmax, Rabs. destruct Rle_dec, Rcase_abs; lra.
    - apply (cont_mult (fun x => x + Rabs x) (fun _ => / 2)); [|cont].
      apply (cont_plus (fun x => x) Rabs); [cont|]. intros w. apply continuous_Rabs. }
  assert (N : forall y, continuous (fun x => Rmin 0 x) y).
  { intros y. apply (continuous_ext (fun x => x - Rmax 0 x)).
    - intros z. unfold Rmin, Rmax. destruct Rle_dec; lra.
    - apply (cont_minus (fun x => x) (fun x => Rmax 0 x)); [cont | exact M]. }
  assert (Move : cont (fun x => T + x - q))
    by (apply (cont_minus (fun x => T + x) (fun _ => q)); cont).
  assert (A : cont (fun x => exp (- Rmax 0 (T + x - q) / b2))).
  { intros x. apply continuous_exp_comp. unfold Rdiv.
    apply (cont_mult (fun x => - Rmax 0 (T + x - q)) (fun _ => / b2)); [|cont].
    intros y. apply (continuous_opp (fun x => Rmax 0 (T + x - q))).
    apply (continuous_comp (fun x => T + x - q) (fun z => Rmax 0 z)); [apply Move | apply M]. }
  assert (C : cont (fun x => exp (Rmin 0 (T + x - q) / b2))).
  { intros x. apply continuous_exp_comp. unfold Rdiv.
    apply (cont_mult (fun x => Rmin 0 (T + x - q)) (fun _ => / b2)); [|cont].
    intros y. apply (continuous_comp (fun x => T + x - q) (fun z => Rmin 0 z));
      [apply Move | apply N]. }
  unfold laplace_tail, Rdiv at 1.
  apply (cont_mult (fun x => exp (- Rmax 0 (T + x - q) / b2) + 1 - exp (Rmin 0 (T + x - q) / b2))
    (fun _ => / 2)); [|cont].
  apply (cont_minus (fun x => exp (- Rmax 0 (T + x - q) / b2) + 1)
    (fun x => exp (Rmin 0 (T + x - q) / b2))); [|exact C].
  apply (cont_plus (fun x => exp (- Rmax 0 (T + x - q) / b2)) (fun _ => 1)); [exact A | cont].
Qed.

Lemma cont_laplace_chances o : cont (fun x => laplace_chances b2 T x o).
Proof.
  induction o as [|[q a] o IH]; cbn [laplace_chances]; [cont|].
  apply (cont_mult (fun x => laplace_answer b2 T x q a) (fun x => laplace_chances b2 T x o));
    [|exact IH].
  destruct a as [| |g g']; cbn [laplace_answer].
  - apply (cont_minus (fun _ => 1) (fun x => laplace_tail b2 (T + x - q)));
      [cont | apply cont_laplace_tail].
  - apply cont_laplace_tail.
  - assert (Moved : forall e, cont (fun x => laplace_tail b2 (T + x - q + e))).
    { intros e x. apply (continuous_ext (fun x => laplace_tail b2 (T + x - (q - e))));
        [|apply cont_laplace_tail]. intros t. f_equal. ring. }
    apply (cont_minus (fun x => laplace_tail b2 (T + x - q + g))
      (fun x => laplace_tail b2 (T + x - q + g'))); apply Moved.
Qed.

Lemma cont_laplace_density : cont (laplace_density b1).
Proof.
  unfold laplace_density.
  apply (cont_mult (fun _ => / (2 * b1)) (fun x => exp (- Rabs x / b1))); [cont|].
  intros x. apply continuous_exp_comp. unfold Rdiv.
  apply (cont_mult (fun x => - Rabs x) (fun _ => / b1)); [|cont].
  intros y. apply (continuous_opp Rabs), continuous_Rabs.
Qed.

Lemma cont_both o : cont (fun x => laplace_density b1 x * laplace_chances b2 T x o).
Proof.
  apply (cont_mult (laplace_density b1) (fun x => laplace_chances b2 T x o));
    [apply cont_laplace_density | apply cont_laplace_chances].
Qed.

Lemma density_pos x : 0 < laplace_density b1 x.
Proof.
  apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat; lra | apply exp_pos].
Qed.

Lemma density_shift h x : 0 <= h -> laplace_density b1 x <= exp (h / b1) * laplace_density b1 (x + h).
Proof.
  intros H. unfold laplace_density.
  assert (E : exp (- Rabs x / b1) <= exp (h / b1) * exp (- Rabs (x + h) / b1)).
  { rewrite <- exp_plus. apply exp_le. unfold Rdiv. rewrite <- Rmult_plus_distr_r.
    apply Rmult_le_compat_r; [apply Rlt_le, inverse_pos, b1_pos|].
    pose proof (Rabs_triang x h). rewrite (Rabs_right h) in * by lra. lra. }
  assert (0 < / (2 * b1)) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

Lemma laplace_answer_nonneg x q a : sound a -> 0 <= laplace_answer b2 T x q a.
Proof.
  pose proof (laplace_range (T + x - q)). destruct a as [| |g g']; cbn [laplace_answer sound];
    intros G; try lra.
  pose proof (laplace_decreasing (T + x - q + g) (T + x - q + g') ltac:(lra)). lra.
Qed.

Lemma laplace_nonneg x o : all_sound o -> 0 <= laplace_chances b2 T x o.
Proof.
  induction 1 as [|[q a] o S _ IH]; cbn [laplace_chances]; [lra|].
  apply Rmult_le_pos; [now apply laplace_answer_nonneg | exact IH].
Qed.

Lemma laplace_chances_shift h d x o o' : within_shift h d o o' ->
  laplace_chances b2 T x o
  <= exp (INR (crossings o) * (d / b2)) * laplace_chances b2 T (x + h) o'.
Proof.
  revert o'. induction o as [|[q a] o IH]; intros [|[q' a'] o'] H; try easy.
  - cbn. rewrite Rmult_0_l, exp_0. lra.
  - destruct H as (<- & A & H & W). specialize (IH o' W).
    cbn [laplace_chances crossings]. rewrite plus_INR, Rmult_plus_distr_r, exp_plus.
    set (r := h + q - q'). set (z := T + x - q).
    assert (N : T + (x + h) - q' = z + r) by (unfold z, r; ring).
    pose proof (laplace_decreasing z (z + r) ltac:(unfold r; lra)) as D.
    assert (F : laplace_tail b2 z <= exp (d / b2) * laplace_tail b2 (z + r)).
    { apply Rle_trans with (exp (r / b2) * laplace_tail b2 (z + r)).
      - pose proof (laplace_falls z r ltac:(unfold r; lra)) as L.
        assert (U : exp (r / b2) * exp (- r / b2) = 1)
          by (rewrite <- exp_plus, <- exp_0; f_equal; unfold Rdiv; ring).
        rewrite <- (Rmult_1_l (laplace_tail b2 z)), <- U, Rmult_assoc.
        apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact L].
      - apply Rmult_le_compat_r; [apply Rlt_le, laplace_range|].
        apply exp_scale_le. unfold r; lra. }
    pose proof (laplace_nonneg x o (proj1 (shift_sound h d o o' W))) as C.
    pose proof (laplace_answer_nonneg x q a A) as R.
    set (K := exp (INR (crossings o) * (d / b2))) in *.
    apply Rle_trans with ((exp (INR (match a with Below => 0 | _ => 1 end)%nat * (d / b2))
      * laplace_answer b2 T (x + h) q' a) * (K * laplace_chances b2 T (x + h) o')); [|lra].
    apply Rmult_le_compat; [exact R | exact C | | exact IH].
    destruct a as [| |g g']; cbn [laplace_answer]; rewrite N; fold z.
    + change (INR 0) with 0. rewrite Rmult_0_l, exp_0. lra.
    + change (INR 1) with 1. rewrite Rmult_1_l. exact F.
    + change (INR 1) with 1. rewrite Rmult_1_l. apply laplace_between; [unfold r; lra | exact A].
Qed.

Lemma laplace_grows o B B' : all_sound o -> 0 <= B <= B' ->
  laplace_transcript b1 b2 T o B <= laplace_transcript b1 b2 T o B'.
Proof.
  intros P H. unfold laplace_transcript.
  set (f := fun x => laplace_density b1 x * laplace_chances b2 T x o).
  assert (F : cont f) by apply cont_both.
  assert (Pos : forall x, 0 <= f x).
  { intros x. apply Rmult_le_pos; [apply Rlt_le, density_pos | now apply laplace_nonneg]. }
  rewrite (int_chasles f (- B') (- B) B'), (int_chasles f (- B) B B') by exact F.
  assert (0 <= int f (- B') (- B)) by (apply int_nonneg; [lra | exact F | intros; apply Pos]).
  assert (0 <= int f B B') by (apply int_nonneg; [lra | exact F | intros; apply Pos]). lra.
Qed.

Lemma laplace_transcript_private h d o o' B : 0 <= h -> 0 <= B -> within_shift h d o o' ->
  laplace_transcript b1 b2 T o B
  <= exp (h / b1 + INR (crossings o) * (d / b2)) * laplace_transcript b1 b2 T o' (B + h).
Proof.
  intros H HB W. destruct (shift_sound h d o o' W) as [P P']. unfold laplace_transcript.
  set (g := fun x => laplace_density b1 x * laplace_chances b2 T x o').
  assert (G : cont g) by apply cont_both.
  assert (Pos : forall x, 0 <= g x).
  { intros x. apply Rmult_le_pos; [apply Rlt_le, density_pos | now apply laplace_nonneg]. }
  set (K := exp (h / b1 + INR (crossings o) * (d / b2))).
  assert (GS : cont (fun x => g (x + h))).
  { intros x. apply (continuous_comp (fun x => x + h) g); [|apply G].
    apply (cont_plus (fun x => x) (fun _ => h)); cont. }
  apply Rle_trans with (K * int (fun x => g (x + h)) (- B) B).
  - rewrite <- int_scal by exact GS.
    apply int_le; [lra | apply cont_both | |].
    { apply (cont_mult (fun _ => K) (fun x => g (x + h))); [cont | exact GS]. }
    intros x _. unfold g, K. rewrite exp_plus.
    pose proof (density_shift h x H) as D. pose proof (density_pos x) as DP.
    pose proof (laplace_chances_shift h d x o o' W) as C. pose proof (laplace_nonneg x o P) as CP.
    apply Rle_trans with ((exp (h / b1) * laplace_density b1 (x + h))
      * (exp (INR (crossings o) * (d / b2)) * laplace_chances b2 T (x + h) o')); [|lra].
    apply Rmult_le_compat; lra.
  - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
    assert (Sh : int (fun x => g (x + h)) (- B) B = int g (- B + h) (B + h)).
    { replace (int g (- B + h) (B + h)) with (int g (1 * - B + h) (1 * B + h)) by (f_equal; ring).
      unfold int at 2. rewrite <- (RInt_comp_lin g 1 h (- B) B) by now apply int_ex.
      apply int_ext; intros x. unfold scal; simpl; unfold mult; simpl. now rewrite !Rmult_1_l. }
    rewrite Sh, (int_chasles g (- (B + h)) (- B + h) (B + h)) by exact G.
    assert (0 <= int g (- (B + h)) (- B + h)); [|lra].
    apply int_nonneg; [lra | exact G | intros; apply Pos].
Qed.

Theorem above_threshold_laplace_private h d o o' (P P' : R) : 0 <= h -> within_shift h d o o' ->
  is_laplace_chance b1 b2 T o P -> is_laplace_chance b1 b2 T o' P' ->
  P <= exp (h / b1 + INR (crossings o) * (d / b2)) * P'.
Proof.
  intros H W L L'. set (K := exp (h / b1 + INR (crossings o) * (d / b2))).
  assert (U : forall B, 0 <= B -> laplace_transcript b1 b2 T o' B <= P').
  { intros B HB. destruct (nfloor_ex B HB) as (n & _ & N).
    pose proof (proj2 (shift_sound h d o o' W)) as S'.
    eapply Rle_trans; [apply (laplace_grows o' B (INR (Datatypes.S n)));
      [exact S' | rewrite S_INR; lra]|].
    apply (is_lim_seq_incr_compare _ _ L').
    intros m. apply laplace_grows; [exact S'|]. rewrite S_INR. pose proof (pos_INR m). lra. }
  apply (is_lim_seq_le _ (fun _ => K * P') P (K * P') ) with (2 := L);
    [|apply is_lim_seq_const].
  intros n. eapply Rle_trans;
    [apply (laplace_transcript_private h d o o'); auto using pos_INR|].
  fold K. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. apply U.
  pose proof (pos_INR n). lra.
Qed.
End Laplace.
