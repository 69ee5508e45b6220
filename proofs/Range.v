(** The exact range of permute-and-flip: docs/proofs/bounded-range-refuted.md.

    With E t = exp (- q t / s) the page writes odds as (E j - mu) / (E i - mu); here a t = exp (q t / s) = 1 /
    E t, which avoids division. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy PureDP Refuted.
Import ListNotations.
Open Scope R_scope.

(** ** The algebra of the four cases

    [A], [B] are the weights of i, j before, [A'], [B'] after; [mu], [mu'] the means;
    [w] is exp (eps / 2). *)

Lemma odds_up A B mu : 0 < B <= A -> A * mu <= 1 / 2 ->
  B * (A * (1 - B * mu)) <= (2 * A - B) * (B * (1 - A * mu)).
Proof.
  intros HB H.
  assert (0 <= B * ((A - B) * (1 - 2 * (A * mu)))); [|nra].
  apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
Qed.

Lemma odds_down A B mu : 0 <= A <= B -> A * (1 - B * mu) <= B * (1 - A * mu).
Proof. intros H. nra. Qed.

Lemma case_1 A B A' B' mu mu' w :
  0 < B <= A -> 0 < A' <= B' ->
  A * mu <= 1 / 2 -> B' * mu' <= 1 / 2 ->
  1 <= w -> A * B' <= w * w * (B * A') ->
  A * (1 - B * mu) * (B' * (1 - A' * mu'))
  <= (2 * w - 1) * (2 * w - 1) * (B * (1 - A * mu) * (A' * (1 - B' * mu'))).
Proof.
  intros H H' M M' W X.
  pose proof (odds_up A B mu H M) as U.
  pose proof (odds_up B' A' mu' H' M') as U'.
  set (P := B * (1 - A * mu)) in *. set (P' := A' * (1 - B' * mu')) in *.
  set (N := A * (1 - B * mu)) in *. set (N' := B' * (1 - A' * mu')) in *.
  assert (HP : 0 <= P) by (apply Rmult_le_pos; lra).
  assert (HP' : 0 <= P') by (apply Rmult_le_pos; lra).
  assert (HN : 0 <= N) by (apply Rmult_le_pos; nra).
  assert (HN' : 0 <= N') by (apply Rmult_le_pos; nra).
  (* x = A / B, y = B' / A' *)
  set (x := A / B). set (y := B' / A').
  assert (Hx : A = x * B) by (unfold x; field; lra).
  assert (Hy : B' = y * A') by (unfold y; field; lra).
  assert (X1 : 1 <= x) by (apply (Rmult_le_reg_r B); lra).
  assert (Y1 : 1 <= y) by (apply (Rmult_le_reg_r A'); lra).
  assert (N1 : N <= (2 * x - 1) * P).
  { apply (Rmult_le_reg_l B); [lra|].
    replace (B * ((2 * x - 1) * P)) with ((2 * A - B) * P) by (rewrite Hx; ring).
    exact U. }
  assert (N1' : N' <= (2 * y - 1) * P').
  { apply (Rmult_le_reg_l A'); [lra|].
    replace (A' * ((2 * y - 1) * P')) with ((2 * B' - A') * P') by (rewrite Hy; ring).
    exact U'. }
  assert (XY : x * y <= w * w).
  { apply (Rmult_le_reg_r (B * A')); [apply Rmult_lt_0_compat; lra|].
    replace (x * y * (B * A')) with ((x * B) * (y * A')) by ring.
    rewrite <- Hx, <- Hy. exact X. }
  assert (K : (2 * x - 1) * (2 * y - 1) <= (2 * w - 1) * (2 * w - 1)).
  { set (z := sqrt (x * y)).
    assert (Hxy : 0 <= x * y) by nra.
    assert (Z2 : z * z = x * y) by (apply sqrt_sqrt; exact Hxy).
    assert (Z0 : 0 <= z) by apply sqrt_pos.
    assert (XY1 : 1 * 1 <= x * y) by (apply Rmult_le_compat; lra).
    assert (Z1 : 1 <= z) by (apply Rsqr_incr_0_var; unfold Rsqr; lra).
    assert (ZW : z <= w) by (apply Rsqr_incr_0_var; unfold Rsqr; lra).
    assert (S : 2 * z <= x + y).
    { apply Rsqr_incr_0_var; [|lra]. unfold Rsqr.
      pose proof (Rle_0_sqr (x - y)) as Q; unfold Rsqr in Q. lra. }
    assert (G : 0 <= (w - z) * (w + z - 1)) by (apply Rmult_le_pos; lra).
    lra. }
  apply Rle_trans with ((2 * x - 1) * P * ((2 * y - 1) * P')).
  - apply Rmult_le_compat; auto.
  - replace ((2 * x - 1) * P * ((2 * y - 1) * P'))
      with ((2 * x - 1) * (2 * y - 1) * (P * P')) by ring.
    apply Rmult_le_compat_r; [apply Rmult_le_pos; auto | exact K].
Qed.

Lemma case_3 A B B' mu mu' F :
  0 < B <= A -> 0 < B' <= A ->
  A * mu <= 1 / 2 -> 0 <= mu -> A * mu' <= 1 / 2 ->
  1 <= F -> B' <= F * B -> mu / F <= mu' ->
  A * (1 - B * mu) * (B' * (1 - A * mu'))
  <= (2 * F - 1) * (B * (1 - A * mu) * (A * (1 - B' * mu'))).
Proof.
  intros H H' M M0 M' HF HB Hmu.
  set (m := mu / F) in *.
  assert (Fm : mu = F * m) by (unfold m; field; lra).
  assert (m0 : 0 <= m) by (apply Rmult_le_pos; [lra|]; apply Rlt_le, Rinv_0_lt_compat; lra).
  assert (mmu : m <= mu) by nra.
  assert (Am : A * m <= 1 / 2) by nra.
  assert (Bm : B' * m <= 1 / 2) by nra.
  assert (Bmu : B * mu <= 1 / 2) by nra.
  assert (Bmu' : B' * mu' <= 1 / 2) by nra.
  (* the mean after may be replaced by m *)
  assert (S1 : (1 - A * mu') * (1 - B' * m) <= (1 - A * m) * (1 - B' * mu')).
  { assert (0 <= (A - B') * (mu' - m)); [apply Rmult_le_pos; lra|]. nra. }
  (* and B' by F B *)
  assert (S2 : B' * (1 - B * mu) <= F * B * (1 - B' * m)) by (rewrite Fm; nra).
  assert (S3 : F * (1 - A * m) <= (2 * F - 1) * (1 - A * mu)).
  { assert (0 <= (F - 1) * (1 - 2 * (A * mu))); [apply Rmult_le_pos; lra|].
    rewrite Rmult_minus_distr_l. replace (F * (A * m)) with (A * mu) by (rewrite Fm; ring).
    nra. }
  apply (Rmult_le_reg_r (1 - B' * m)); [lra|].
  replace (A * (1 - B * mu) * (B' * (1 - A * mu')) * (1 - B' * m))
    with (A * (B' * (1 - B * mu)) * ((1 - A * mu') * (1 - B' * m))) by ring.
  apply Rle_trans with
    (A * (F * B * (1 - B' * m)) * ((1 - A * m) * (1 - B' * mu'))).
  - apply Rmult_le_compat.
    + apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_compat_l; lra.
    + exact S1.
  - replace (A * (F * B * (1 - B' * m)) * ((1 - A * m) * (1 - B' * mu')))
      with (F * (1 - A * m) * (A * B * ((1 - B' * m) * (1 - B' * mu')))) by ring.
    replace ((2 * F - 1) * (B * (1 - A * mu) * (A * (1 - B' * mu'))) * (1 - B' * m))
      with ((2 * F - 1) * (1 - A * mu) * (A * B * ((1 - B' * m) * (1 - B' * mu'))))
      by ring.
    apply Rmult_le_compat_r; [|exact S3].
    apply Rmult_le_pos; apply Rmult_le_pos; lra.
Qed.

(** ** Means *)

Section Means.
Variables (s : R) (n : nat).
Hypothesis s_pos : 0 < s.

Definition top (q : nat -> R) : R := exp (- best n q / s).

Definition mass (q : nat -> R) (l : list nat) : R := int (rivals s q l) 0 (top q).
Definition moment (q : nat -> R) (l : list nat) : R :=
  int (fun v => v * rivals s q l v) 0 (top q).
Definition mean (q : nat -> R) (l : list nat) : R := moment q l / mass q l.

(** [int (v - m) W] over [0, T]: its sign says whether the mean is above m. *)
Definition lever (q : nat -> R) (l : list nat) (m a b : R) : R :=
  int (fun v => (v - m) * rivals s q l v) a b.

Definition known (l : list nat) := forall t, In t l -> (t < n)%nat.

Lemma top_pos q : 0 < top q.
Proof. apply exp_pos. Qed.

Lemma mass_pos q l : known l -> 0 < mass q l.
Proof.
  intros K. apply int_pos; [apply top_pos | apply rivals_cont |].
  intros v Hv. apply (rivals_pos s n); auto. apply Hv.
Qed.

Lemma lever_split q l m :
  lever q l m 0 (top q) = moment q l - m * mass q l.
Proof.
  unfold lever, moment, mass. rewrite <- int_scal by cont.
  rewrite <- int_minus by cont. apply int_ext; intros v. ring.
Qed.

Lemma lever_mean q l : known l -> lever q l (mean q l) 0 (top q) = 0.
Proof.
  intros K. rewrite lever_split. unfold mean. pose proof (mass_pos q l K).
  field. lra.
Qed.

Lemma mean_above q l m : known l ->
  0 <= lever q l m 0 (top q) -> m <= mean q l.
Proof.
  intros K H. rewrite lever_split in H. pose proof (mass_pos q l K).
  unfold mean. apply (Rmult_le_reg_r (mass q l)); [auto|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma mean_nonneg q l : known l -> 0 <= mean q l.
Proof.
  intros K. apply mean_above; auto. pose proof (top_pos q).
  apply int_nonneg; [lra | cont |]. intros v Hv.
  apply Rmult_le_pos; [lra|]. apply (rivals_nonneg s n); auto. apply Hv.
Qed.

(** [W] does not increase: its mean is at most the midpoint. *)
Lemma rivals_decreasing q l v v' : known l -> v <= v' -> v' <= top q ->
  rivals s q l v' <= rivals s q l v.
Proof.
  intros K H H'. apply prod_le; intros t Ht.
  pose proof (below_T s n q t v' s_pos (K t Ht) H').
  pose proof (exp_pos (q t / s)). nra.
Qed.

Lemma mean_half q l : known l -> mean q l <= top q / 2.
Proof.
  intros K. pose proof (mass_pos q l K) as M. pose proof (top_pos q) as T.
  set (h := top q / 2).
  assert (L : lever q l h 0 (top q) <= 0).
  { apply Rle_trans with (int (fun v => (v - h) * rivals s q l h) 0 (top q)).
    - apply int_le; [lra | cont | cont |]. intros v Hv.
      destruct (Rle_dec v h) as [A|A].
      + pose proof (rivals_decreasing q l v h K A) as D.
        assert (h <= top q) by (unfold h; lra). specialize (D H). nra.
      + assert (A' : h <= v) by lra.
        pose proof (rivals_decreasing q l h v K A' (proj2 Hv)). nra.
    - rewrite (int_ext _ (fun v => rivals s q l h * (v - h))) by (intros; ring).
      rewrite int_scal by cont.
      rewrite (int_derive (fun v => (v - h) * (v - h) / 2)).
      + unfold h. nra.
      + intros v. auto_derive; [exact I | lra].
      + cont. }
  rewrite lever_split in L. unfold mean.
  apply (Rmult_le_reg_r (mass q l)); [auto|].
  unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma mean_weight q l t : known l -> (t < n)%nat ->
  exp (q t / s) * mean q l <= 1 / 2.
Proof.
  intros K Ht. pose proof (mean_half q l K).
  pose proof (below_T s n q t (top q) s_pos Ht (Rle_refl _)).
  pose proof (exp_pos (q t / s)). nra.
Qed.

(** Weaker rivals push the mean up (lemma 2 of the page), pointwise:
    (v - m) W'(v) W''(m) >= (v - m) W''(v) W'(m). *)
Lemma tilt_factor a' a'' v m : a' <= a'' -> m <= v ->
  (1 - v * a'') * (1 - m * a') <= (1 - v * a') * (1 - m * a'').
Proof. intros. nra. Qed.

Lemma tilt q' q'' l m : known l ->
  (forall t, In t l -> q' t <= q'' t) -> 0 <= m < top q'' -> top q'' <= top q' ->
  0 <= lever q'' l m 0 (top q'') -> 0 <= lever q' l m 0 (top q'').
Proof.
  intros K H Hm HT L.
  assert (Wm : 0 < rivals s q'' l m) by (apply (rivals_pos s n); auto; apply Hm).
  assert (Wm' : 0 <= rivals s q' l m).
  { apply (rivals_nonneg s n); auto. unfold top in *; lra. }
  assert (E : forall t, In t l -> exp (q' t / s) <= exp (q'' t / s)).
  { intros t Ht. apply exp_le, div_le; auto. }
  apply (Rmult_le_reg_l (rivals s q'' l m)); [exact Wm|].
  rewrite Rmult_0_r. apply Rle_trans with (rivals s q' l m * lever q'' l m 0 (top q'')).
  { apply Rmult_le_pos; auto. }
  unfold lever. rewrite <- !int_scal by cont.
  pose proof (top_pos q'').
  apply int_le; [lra | cont | cont |]. intros v Hv.
  assert (Fac : forall x t, 0 <= x <= top q'' -> In t l ->
            0 <= 1 - x * exp (q'' t / s) <= 1 - x * exp (q' t / s)).
  { intros x t Hx Ht. specialize (E t Ht).
    pose proof (below_T s n q'' t x s_pos (K t Ht) (proj2 Hx)). nra. }
  destruct (Rle_dec m v) as [A|A].
  - assert (P : rivals s q'' l v * rivals s q' l m
                <= rivals s q' l v * rivals s q'' l m).
    { unfold rivals. rewrite <- !prod_mult. apply prod_le; intros t Ht. split.
      - apply Rmult_le_pos; [apply Fac; auto|].
        assert (0 <= m <= top q'') as Hm' by lra.
        pose proof (Fac m t Hm' Ht). lra.
      - apply tilt_factor; auto. }
    nra.
  - assert (P : rivals s q' l v * rivals s q'' l m
                <= rivals s q'' l v * rivals s q' l m).
    { unfold rivals. rewrite <- !prod_mult. apply prod_le; intros t Ht.
      assert (0 <= m <= top q'') as Hm' by lra. split.
      - pose proof (Fac m t Hm' Ht). pose proof (Fac v t Hv Ht).
        apply Rmult_le_pos; lra.
      - assert (v <= m) as A' by lra.
        pose proof (tilt_factor _ _ m v (E t Ht) A'). nra. }
    nra.
Qed.

(** The claim of case 3: mu' >= exp (- d / s) mu. *)
Lemma mean_case_3 q q' d i j l : known l ->
  (i < n)%nat -> (j < n)%nat -> ~ In i l -> ~ In j l ->
  (forall t, (t < n)%nat -> t = i \/ t = j \/ In t l) ->
  0 <= d -> (forall t, (t < n)%nat -> q' t <= q t + d) ->
  q' i = q i -> q j <= q i -> q' j <= q' i ->
  mean q l / exp (d / s) <= mean q' l.
Proof.
  intros K Hi Hj Ii Ij Cover Hd HD Ei Lj Lj'.
  set (F := exp (d / s)). set (mu := mean q l).
  assert (F0 : 0 < F) by apply exp_pos.
  (* the worst vector *)
  set (q'' := fun t => if (t =? i)%nat then q i else if (t =? j)%nat then q i
                       else q t + d).
  assert (Q'' : forall t, In t l -> q'' t = q t + d).
  { intros t Ht. unfold q''.
    destruct (Nat.eqb_spec t i) as [->|_]; [contradiction|].
    destruct (Nat.eqb_spec t j) as [->|_]; [contradiction|]. reflexivity. }
  assert (Above : forall t, (t < n)%nat -> q' t <= q'' t).
  { intros t Ht. unfold q''.
    destruct (Nat.eqb_spec t i) as [->|_]; [lra|].
    destruct (Nat.eqb_spec t j) as [->|_]; [lra|]. now apply HD. }
  assert (T1 : top q'' <= top q').
  { apply exp_le, div_le; [auto|]. apply Ropp_le_contravar.
    apply best_le; [lia|]. intros t Ht.
    apply Rle_trans with (q'' t); [now apply Above | now apply best_ge]. }
  assert (T2 : top q <= F * top q'').
  { unfold top, F. rewrite <- exp_plus. apply exp_le.
    replace (d / s + - best n q'' / s) with ((d - best n q'') / s)
      by (unfold Rdiv; ring).
    apply div_le; [auto|].
    assert (best n q'' <= best n q + d); [|lra].
    apply best_le; [lia|]. intros t Ht. unfold q''.
    pose proof (best_ge n q i Hi). pose proof (best_ge n q t Ht).
    destruct (t =? i)%nat; [lra|]. destruct (t =? j)%nat; lra. }
  assert (W : forall v, rivals s q'' l v = rivals s q l (F * v)).
  { intros v. apply prod_ext; intros t Ht. rewrite Q'' by auto.
    replace ((q t + d) / s) with (d / s + q t / s) by (unfold Rdiv; ring).
    rewrite exp_plus. fold F. ring. }
  assert (M0 : 0 <= mu) by (apply mean_nonneg; auto).
  assert (M2 : mu <= top q / 2) by (apply mean_half; auto).
  pose proof (top_pos q) as Tq. pose proof (top_pos q'') as Tq''.
  assert (Hm : 0 <= mu / F < top q'').
  { split.
    - apply Rmult_le_pos; [auto|]. apply Rlt_le, Rinv_0_lt_compat, F0.
    - apply (Rmult_lt_reg_l F); [auto|].
      replace (F * (mu / F)) with mu by (field; lra). lra. }
  (* the inequality for the worst vector *)
  assert (L'' : 0 <= lever q'' l (mu / F) 0 (top q'')).
  { apply (Rmult_le_reg_l F); [auto|]. rewrite Rmult_0_r. unfold lever.
    rewrite (int_ext _ (fun v => (fun x => / F * ((x - mu) * rivals s q l x)) (F * v))).
    2: { intros v. cbv beta. rewrite W. field. lra. }
    rewrite (int_dilate (fun x => / F * ((x - mu) * rivals s q l x))) by cont.
    rewrite int_scal by cont.
    apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat, F0|].
    rewrite (int_chasles _ 0 (top q)) by cont.
    fold (lever q l mu 0 (top q)). unfold mu at 1. rewrite lever_mean by auto.
    rewrite Rplus_0_l. apply int_nonneg; [auto | cont |].
    intros x Hx. apply Rmult_le_pos; [lra|].
    replace x with (F * (x / F)) by (field; lra). rewrite <- W.
    apply (rivals_nonneg s n); auto.
    apply (Rmult_le_reg_l F); [auto|].
    replace (F * (x / F)) with x by (field; lra). apply Hx. }
  apply mean_above; auto.
  unfold lever. rewrite (int_chasles _ 0 (top q'')) by cont.
  apply Rplus_le_le_0_compat.
  - apply (tilt q' q'' l (mu / F)); auto.
  - apply int_nonneg; [auto | cont |]. intros v Hv.
    apply Rmult_le_pos; [lra|]. apply (rivals_nonneg s n); auto. apply Hv.
Qed.

(** ** Odds (lemma 1 of the page) *)

Definition rest_of (i j : nat) : list nat := without j (others n i).

Lemma rest_of_sym i j : rest_of i j = rest_of j i.
Proof. apply without_comm. Qed.

Lemma rest_of_known i j : known (rest_of i j).
Proof. intros t Ht. apply in_without in Ht as [Ht _]. now apply in_others in Ht. Qed.

Lemma in_rest_of i j t :
  In t (rest_of i j) <-> (t < n)%nat /\ t <> i /\ t <> j.
Proof. unfold rest_of. rewrite in_without, in_others. tauto. Qed.

Lemma pf_odds q i j : (i < n)%nat -> (j < n)%nat -> i <> j ->
  pf s n q i = mass q (rest_of i j) *
    (exp (q i / s) * (1 - exp (q j / s) * mean q (rest_of i j))).
Proof.
  intros Hi Hj E. rewrite pf_raw. fold (top q).
  pose proof (mass_pos q (rest_of i j) (rest_of_known i j)) as M.
  rewrite (int_ext _ (fun v => rivals s q (rest_of i j) v
      - exp (q j / s) * (v * rivals s q (rest_of i j) v))).
  - rewrite int_minus by cont. rewrite int_scal by cont.
    fold (mass q (rest_of i j)) (moment q (rest_of i j)).
    unfold mean. field. lra.
  - intros v. unfold rivals at 1. rewrite (prod_without j).
    + unfold rivals, rest_of. ring.
    + apply NoDup_without, NoDup_candidates.
    + apply in_others. auto.
Qed.

(** ** The bound *)

Let odds_bound (q q' : nat -> R) (i j : nat) (K : R) :=
  pf s n q i * pf s n q' j <= K * (pf s n q j * pf s n q' i).

Lemma odds_bound_swap q q' i j K :
  odds_bound q' q j i K -> odds_bound q q' i j K.
Proof. unfold odds_bound. intros H. lra. Qed.

Lemma from_means q q' i j K : (i < n)%nat -> (j < n)%nat -> i <> j ->
  let l := rest_of i j in
  let a t := exp (q t / s) in let a' t := exp (q' t / s) in
  a i * (1 - a j * mean q l) * (a' j * (1 - a' i * mean q' l))
  <= K * (a j * (1 - a i * mean q l) * (a' i * (1 - a' j * mean q' l))) ->
  odds_bound q q' i j K.
Proof.
  intros Hi Hj E l a a' H. unfold odds_bound.
  rewrite (pf_odds q i j), (pf_odds q' i j) by auto.
  rewrite (pf_odds q j i), (pf_odds q' j i) by auto.
  rewrite (rest_of_sym j i). fold l.
  pose proof (mass_pos q l (rest_of_known i j)).
  pose proof (mass_pos q' l (rest_of_known i j)).
  fold (a i) (a j) (a' i) (a' j).
  apply (Rmult_le_compat_l (mass q l * mass q' l)) in H; [lra|].
  apply Rmult_le_pos; lra.
Qed.

Lemma bound_case_3 q q' d i j : (i < n)%nat -> (j < n)%nat -> i <> j ->
  range_distance n q q' d -> q j <= q i -> q' j <= q' i ->
  odds_bound q q' i j (2 * exp (d / s) - 1).
Proof.
  intros Hi Hj E H L L'. unfold odds_bound.
  (* shift q' so that i keeps its score *)
  rewrite <- !(pf_shift s n q' (q i - q' i)).
  set (p := fun t => q' t + (q i - q' i)).
  fold (odds_bound q p i j (2 * exp (d / s) - 1)).
  assert (Hd : 0 <= d) by (specialize (H i i Hi Hi); lra).
  assert (Pi : p i = q i) by (unfold p; ring).
  assert (Pj : p j <= p i) by (unfold p; lra).
  assert (PD : forall t, (t < n)%nat -> p t <= q t + d)
    by (intros t Ht; specialize (H t i Ht Hi); unfold p; lra).
  pose proof (rest_of_known i j) as Kn.
  apply from_means; auto. cbv zeta. rewrite Pi.
  apply case_3.
  - split; [apply exp_pos|]. apply exp_le, div_le; auto.
  - split; [apply exp_pos|]. apply exp_le, div_le; [auto|]. lra.
  - now apply mean_weight.
  - now apply mean_nonneg.
  - rewrite <- Pi. now apply mean_weight.
  - rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [auto|].
    apply Rlt_le, Rinv_0_lt_compat, s_pos.
  - rewrite <- exp_plus. apply exp_le.
    replace (d / s + q j / s) with ((q j + d) / s) by (unfold Rdiv; ring).
    apply div_le; auto.
  - apply (mean_case_3 q p d i j); auto.
    + rewrite in_rest_of; tauto.
    + rewrite in_rest_of; tauto.
    + intros t Ht. rewrite in_rest_of.
      destruct (Nat.eq_dec t i), (Nat.eq_dec t j); tauto.
Qed.

Lemma odds_bound_weaken q q' i j K K' : (i < n)%nat -> (j < n)%nat -> K <= K' ->
  odds_bound q q' i j K -> odds_bound q q' i j K'.
Proof.
  unfold odds_bound. intros Hi Hj HK H. eapply Rle_trans; [exact H|].
  apply Rmult_le_compat_r; [|exact HK].
  apply Rmult_le_pos; apply Rlt_le, pf_pos; auto.
Qed.

(** Case 2: both odds move down. *)
Lemma pf_odds_small q q' i j : (i < n)%nat -> (j < n)%nat -> i <> j ->
  q i <= q j -> q' j <= q' i ->
  pf s n q i * pf s n q' j <= pf s n q j * pf s n q' i.
Proof.
  intros Hi Hj E L L'. pose proof (rest_of_known i j) as Kn.
  rewrite <- (Rmult_1_l (pf s n q j * pf s n q' i)).
  apply (from_means q q' i j 1); auto. cbv zeta. rewrite Rmult_1_l.
  assert (Ha : exp (q i / s) <= exp (q j / s)) by (apply exp_le, div_le; auto).
  assert (Ha' : exp (q' j / s) <= exp (q' i / s)) by (apply exp_le, div_le; auto).
  pose proof (mean_weight q (rest_of i j) i Kn Hi).
  pose proof (mean_weight q (rest_of i j) j Kn Hj).
  pose proof (mean_weight q' (rest_of i j) i Kn Hi).
  pose proof (mean_weight q' (rest_of i j) j Kn Hj).
  pose proof (exp_pos (q i / s)). pose proof (exp_pos (q' j / s)).
  apply Rmult_le_compat.
  - apply Rmult_le_pos; lra.
  - apply Rmult_le_pos; lra.
  - apply odds_down; lra.
  - apply odds_down; lra.
Qed.

Theorem pf_odds_bound q q' d i j : (i < n)%nat -> (j < n)%nat ->
  range_distance n q q' d ->
  let w := exp (d / s / 2) in
  odds_bound q q' i j ((2 * w - 1) * (2 * w - 1)).
Proof.
  intros Hi Hj H w.
  assert (Hd : 0 <= d) by (specialize (H i i Hi Hi); lra).
  assert (W : 1 <= w).
  { unfold w. rewrite <- exp_0. apply exp_le.
    apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [auto|].
    apply Rlt_le, Rinv_0_lt_compat, s_pos. }
  assert (WW : w * w = exp (d / s)).
  { unfold w. rewrite <- exp_plus. f_equal. lra. }
  assert (K3 : 2 * exp (d / s) - 1 <= (2 * w - 1) * (2 * w - 1)) by (rewrite <- WW; nra).
  pose proof (rest_of_known i j) as Kn.
  destruct (Nat.eq_dec i j) as [<-|E].
  { apply (odds_bound_weaken q q' i i 1); auto; [nra|]. unfold odds_bound. lra. }
  destruct (Rle_dec (q j) (q i)) as [L|L], (Rle_dec (q' j) (q' i)) as [L'|L'].
  - (* case 3 *)
    apply (odds_bound_weaken q q' i j (2 * exp (d / s) - 1)); auto.
    now apply bound_case_3.
  - (* case 1 *)
    apply from_means; auto. cbv zeta.
    apply case_1; auto.
    + split; [apply exp_pos|]. apply exp_le, div_le; auto.
    + split; [apply exp_pos|]. apply exp_le, div_le; [auto|lra].
    + now apply mean_weight.
    + now apply mean_weight.
    + rewrite WW, <- !exp_plus. apply exp_le.
      replace (q i / s + q' j / s) with ((q i + q' j) / s) by (unfold Rdiv; ring).
      replace (d / s + (q j / s + q' i / s)) with ((d + q j + q' i) / s)
        by (unfold Rdiv; ring).
      apply div_le; [auto|]. specialize (H j i Hj Hi). lra.
  - (* case 2 *)
    apply (odds_bound_weaken q q' i j 1); auto; [nra|].
    pose proof (pf_odds_small q q' i j Hi Hj E ltac:(lra) ltac:(lra)).
    unfold odds_bound. lra.
  - (* case 4 *)
    apply (odds_bound_weaken q q' i j (2 * exp (d / s) - 1)); auto.
    apply odds_bound_swap. apply bound_case_3; auto; try lra.
    now apply range_distance_sym.
Qed.

Theorem pf_bounded_range q q' d : range_distance n q q' d ->
  bounded_range n (pf s n q) (pf s n q') (eta (d / s)).
Proof.
  intros H i j Hi Hj.
  pose proof (pf_odds_bound q q' d i j Hi Hj H) as B. cbv zeta in B.
  unfold odds_bound in B.
  assert (Hd : 0 <= d) by (specialize (H i i Hi Hi); lra).
  assert (W : 1 <= exp (d / s / 2)).
  { rewrite <- exp_0. apply exp_le.
    apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [auto|].
    apply Rlt_le, Rinv_0_lt_compat, s_pos. }
  unfold eta.
  replace (2 * ln (2 * exp (d / s / 2) - 1))
    with (ln (2 * exp (d / s / 2) - 1) + ln (2 * exp (d / s / 2) - 1)) by ring.
  rewrite exp_plus, exp_ln by lra. exact B.
Qed.
End Means.

(** The range is exactly eta: it holds for all score vectors, and no smaller figure does. *)
Theorem pf_range_exact eps : 0 < eps ->
  (forall n q q' D, 0 < D ->
     (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
     bounded_range n (pf (2 * D / eps) n q) (pf (2 * D / eps) n q') (eta eps))
  /\
  (forall x,
    (forall n q q' D, 0 < D ->
       (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
       bounded_range n (pf (2 * D / eps) n q) (pf (2 * D / eps) n q') x) ->
    eta eps <= x).
Proof.
  intros He. split.
  - intros n q q' D HD H.
    replace (eta eps) with (eta (2 * D / (2 * D / eps))) by (f_equal; field; lra).
    apply pf_bounded_range; [apply Rdiv_lt_0_compat; lra|].
    now apply sensitivity_range.
  - intros x H. apply no_smaller_range; [exact He|].
    specialize (H 2%nat ahead behind 1 Rlt_0_1 (fun i _ => witness_sensitivity i)).
    now rewrite Rmult_1_r in H.
Qed.

