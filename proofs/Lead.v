(** The winner of permute-and-flip together with its lead: docs/proofs/noisy-count-and-gap.md.

    With exponential noise, r wins by more than g if its noisy score, lowered by g, is above all others. Take
    the uniform u = exp (- X_r / s) of r's noise. Given u, each other candidate t stays below with probability
    1 - u b t, cut off at 0, where b t = exp ((g - q r + q t) / s). [beyond] is the chance that r wins by more
    than g, and [lead_density] its rate of decrease in g. Only differences of scores occur. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP NoisyMax.
Import ListNotations.
Open Scope R_scope.

(** Given u, all others stay below r's noisy score minus g. *)
Definition all_below (b : nat -> R) (l : list nat) (u : R) : R :=
  prod l (fun t => 1 - Rmin 1 (u * b t)).
Definition reach (s : R) (q : nat -> R) (r : nat) (g : R) (t : nat) : R :=
  exp ((g - q r + q t) / s).

Definition beyond (s : R) (n : nat) (q : nat -> R) (r : nat) (g : R) : R :=
  int (all_below (reach s q r g) (others n r)) 0 1.
Definition lead_density (s : R) (n : nat) (q : nat -> R) (r : nat) (g : R) : R :=
  let below := all_below (reach s q r g) (others n r) in
  / s * int (fun u => below u - below 1) 0 1.

Lemma cont_min_1 (f : R -> R) : cont f -> cont (fun x => Rmin 1 (f x)).
Proof.
  intros F x.
  assert (E : forall y, (1 + f y - Rabs (1 - f y)) * / 2 = Rmin 1 (f y)).
  { intros y. unfold Rmin. destruct Rle_dec.
    - rewrite Rabs_left1 by lra. field.
    - rewrite Rabs_right by lra. field. }
  apply (continuous_ext (fun x => (1 + f x - Rabs (1 - f x)) * / 2)); [exact E|].
  apply (cont_mult (fun x => 1 + f x - Rabs (1 - f x)) (fun _ => / 2)); [|cont].
  apply (cont_minus (fun x => 1 + f x) (fun x => Rabs (1 - f x))); [cont|].
  intros y. apply (continuous_comp (fun x => 1 - f x) Rabs); [|apply continuous_Rabs].
  apply (cont_minus (fun _ => 1) f); cont.
Qed.

Lemma all_below_cont b l : cont (all_below b l).
Proof.
  apply (cont_prod _ (fun t u => 1 - Rmin 1 (u * b t))); intros t.
  apply (cont_minus (fun _ => 1) (fun u => Rmin 1 (u * b t))); [cont|].
  apply cont_min_1. cont.
Qed.
#[global] Hint Resolve all_below_cont : cont.

Lemma factor_range x : 0 <= x -> 0 <= 1 - Rmin 1 x <= 1.
Proof. intros H. unfold Rmin. destruct Rle_dec; lra. Qed.

Lemma factor_le x y : x <= y -> 1 - Rmin 1 y <= 1 - Rmin 1 x.
Proof. intros H. unfold Rmin. do 2 destruct Rle_dec; lra. Qed.

Section Products.
Variable l : list nat.

Lemma all_below_le b b' u u' : (forall t, In t l -> 0 <= u * b t <= u' * b' t) ->
  all_below b' l u' <= all_below b l u.
Proof.
  intros H. apply prod_le. intros t Ht. specialize (H t Ht).
  split; [apply factor_range; lra | apply factor_le; lra].
Qed.

(** Raising the others by a factor of at most w costs at most that factor. *)
Lemma raised b b' w : 1 <= w -> (forall t, In t l -> 0 <= b t <= b' t /\ b' t <= w * b t) ->
  int (fun u => all_below b l u - all_below b l 1) 0 1
  <= w * int (fun u => all_below b' l u - all_below b' l 1) 0 1.
Proof.
  intros W H.
  set (f := fun u => all_below b l u - all_below b l 1).
  set (f' := fun u => all_below b' l u - all_below b' l 1).
  assert (F : cont f) by (unfold f; cont). assert (F' : cont f') by (unfold f'; cont).
  assert (V : 0 < / w <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (P : forall u, 0 <= u <= 1 -> 0 <= f' u).
  { intros u U. unfold f'. cut (all_below b' l 1 <= all_below b' l u); [lra|].
    apply all_below_le. intros t Ht. destruct (H t Ht). nra. }
  apply Rle_trans with (w * int f' 0 (/ w)).
  - assert (E : int f 0 1 = w * int (fun u => f (w * u)) 0 (/ w)).
    { rewrite int_dilate by exact F. f_equal. field. lra. }
    rewrite E. apply Rmult_le_compat_l; [lra|]. apply int_le; [lra | | exact F' |].
    + intros x. apply (continuous_comp (fun u => w * u) f); [|apply F].
      apply (cont_mult (fun _ => w) (fun u => u)); cont.
    + intros u U. unfold f, f'.
      assert (A : all_below b l (w * u) <= all_below b' l u).
      { apply all_below_le. intros t Ht. destruct (H t Ht). nra. }
      assert (B : all_below b' l 1 <= all_below b l 1).
      { apply all_below_le. intros t Ht. destruct (H t Ht). lra. }
      lra.
  - apply Rmult_le_compat_l; [lra|]. rewrite (int_chasles f' 0 (/ w) 1) by exact F'.
    cut (0 <= int f' (/ w) 1); [lra|]. apply int_nonneg; [lra | exact F' |].
    intros u U. apply P. lra.
Qed.

(** Lowering them by a factor of at most w: the increments fall by at most that factor. *)
Lemma lowered_factor b b' w u : 1 <= w -> 0 <= u <= 1 -> 0 <= b' <= b -> b <= w * b' ->
  Rmin 1 b - Rmin 1 (u * b) <= w * (Rmin 1 b' - Rmin 1 (u * b')).
Proof.
  intros W U B L.
  assert (u * b' <= u * b) by nra. assert (u * b <= b) by nra. assert (u * b' <= b') by nra.
  assert (Q : 0 <= (1 - u) * (w * b' - b)) by (apply Rmult_le_pos; lra).
  unfold Rmin. repeat destruct Rle_dec; try lra; try nra.
Qed.

Lemma lowered b b' w u : 1 <= w -> 0 <= u <= 1 ->
  (forall t, In t l -> 0 <= b' t <= b t /\ b t <= w * b' t) ->
  all_below b l u - all_below b l 1 <= w * (all_below b' l u - all_below b' l 1) /\
  0 <= all_below b l 1 <= all_below b' l 1 /\ 0 <= all_below b l u - all_below b l 1.
Proof.
  intros W U. unfold all_below. induction l as [|x m IH]; intros H; cbn [prod fold_right].
  - lra.
  - destruct IH as (A & B & C); [intros t Ht; apply H; now right|].
    destruct (H x (or_introl eq_refl)) as [Hb Hw].
    pose proof (lowered_factor (b x) (b' x) w u W U Hb Hw) as F.
    rewrite !Rmult_1_l in *.
    pose proof (factor_range (u * b x) ltac:(nra)) as R1.
    pose proof (factor_range (b x) ltac:(lra)) as R2.
    assert (R3 : 1 - Rmin 1 (u * b x) <= 1 - Rmin 1 (u * b' x)) by (apply factor_le; nra).
    assert (R4 : 1 - Rmin 1 (b x) <= 1 - Rmin 1 (b' x)) by (apply factor_le; lra).
    assert (R5 : 1 - Rmin 1 (b x) <= 1 - Rmin 1 (u * b x)) by (apply factor_le; nra).
    change (fold_right (fun t a => (1 - Rmin 1 (u * b t)) * a) 1 m)
      with (prod m (fun t => 1 - Rmin 1 (u * b t))) in *.
    change (fold_right (fun t a => (1 - Rmin 1 (1 * b t)) * a) 1 m)
      with (prod m (fun t => 1 - Rmin 1 (1 * b t))) in *.
    change (fold_right (fun t a => (1 - Rmin 1 (u * b' t)) * a) 1 m)
      with (prod m (fun t => 1 - Rmin 1 (u * b' t))) in *.
    change (fold_right (fun t a => (1 - Rmin 1 (1 * b' t)) * a) 1 m)
      with (prod m (fun t => 1 - Rmin 1 (1 * b' t))) in *.
    set (X := prod m (fun t => 1 - Rmin 1 (u * b t))) in *.
    set (Y := prod m (fun t => 1 - Rmin 1 (1 * b t))) in *.
    set (X' := prod m (fun t => 1 - Rmin 1 (u * b' t))) in *.
    set (Y' := prod m (fun t => 1 - Rmin 1 (1 * b' t))) in *.
    set (p := 1 - Rmin 1 (u * b x)) in *. set (r := 1 - Rmin 1 (b x)) in *.
    set (p' := 1 - Rmin 1 (u * b' x)) in *. set (r' := 1 - Rmin 1 (b' x)) in *.
    assert (F' : p - r <= w * (p' - r')) by (unfold p, r, p', r'; lra).
    clearbody X Y X' Y' p r p' r'. clear H F.
    assert (S1 : (X - Y) * p <= w * (X' - Y') * p').
    { apply Rmult_le_compat; lra. }
    assert (S2 : Y * (p - r) <= Y' * (w * (p' - r'))).
    { apply Rmult_le_compat; lra. }
    split; [|split].
    + replace (p * X - r * Y) with ((X - Y) * p + Y * (p - r)) by ring.
      replace (w * (p' * X' - r' * Y')) with (w * (X' - Y') * p' + Y' * (w * (p' - r'))) by ring.
      lra.
    + split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra.
    + replace (p * X - r * Y) with ((X - Y) * p + Y * (p - r)) by ring.
      assert (0 <= (X - Y) * p) by (apply Rmult_le_pos; lra).
      assert (0 <= Y * (p - r)) by (apply Rmult_le_pos; lra). lra.
Qed.
End Products.

Section Lead.
Variables (s : R) (n : nat).
Hypothesis s_pos : 0 < s.

(** First raise the candidates that gain on r, then lower those that fall behind. *)
Theorem lead_outcome q q' d r g : (r < n)%nat -> range_distance n q q' d ->
  lead_density s n q r g <= exp (d / s) * lead_density s n q' r g.
Proof.
  intros Hr H. destruct (range_distance_between n q q' d H) as (m & M).
  pose proof (M r Hr) as Mr.
  set (x := fun t => ((q' t - q t) - (q' r - q r)) / s).
  set (up := (m + d - (q' r - q r)) / s). set (down := (q' r - q r - m) / s).
  assert (U : 0 <= up) by (apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat, s_pos]).
  assert (D : 0 <= down) by (apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat, s_pos]).
  assert (X : forall t, (t < n)%nat -> - down <= x t <= up).
  { intros t Ht. specialize (M t Ht). unfold x, up, down.
    replace (- ((q' r - q r - m) / s)) with ((m - (q' r - q r)) / s) by (field; lra).
    split; apply div_le; lra. }
  set (b := reach s q r g). set (b' := reach s q' r g).
  assert (B : forall t, b' t = b t * exp (x t)).
  { intros t. unfold b, b', reach, x. rewrite <- exp_plus. f_equal. field. lra. }
  set (c := fun t => b t * exp (Rmax 0 (x t))).
  assert (P : forall t, 0 < b t) by (intros; apply exp_pos).
  assert (one : forall z, 0 <= z -> 1 <= exp z) by (intros; rewrite <- exp_0; now apply exp_le).
  unfold lead_density. fold b b'. set (l := others n r).
  assert (L : forall t, In t l -> (t < n)%nat) by (intros t Ht; now apply in_others in Ht).
  assert (A : int (fun u => all_below b l u - all_below b l 1) 0 1
              <= exp up * int (fun u => all_below c l u - all_below c l 1) 0 1).
  { apply raised; [now apply one|]. intros t Ht. specialize (X t (L t Ht)). specialize (P t).
    assert (1 <= exp (Rmax 0 (x t))) by (apply one, Rmax_l).
    assert (exp (Rmax 0 (x t)) <= exp up) by (apply exp_le, Rmax_lub; lra).
    unfold c. nra. }
  assert (C : int (fun u => all_below c l u - all_below c l 1) 0 1
              <= exp down * int (fun u => all_below b' l u - all_below b' l 1) 0 1).
  { rewrite <- int_scal by cont. apply int_le; [lra | cont | cont |]. intros u Hu.
    apply (lowered l c b' (exp down) u); [now apply one | lra |]. intros t Ht.
    specialize (X t (L t Ht)). specialize (P t). rewrite B. unfold c.
    pose proof (exp_pos (x t)).
    assert (exp (x t) <= exp (Rmax 0 (x t))) by (apply exp_le, Rmax_r).
    assert (exp (Rmax 0 (x t)) <= exp down * exp (x t)).
    { rewrite <- exp_plus. apply exp_le, Rmax_lub; lra. }
    split; [nra|]. replace (exp down * (b t * exp (x t))) with (b t * (exp down * exp (x t))) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (E : exp (d / s) = exp up * exp down).
  { rewrite <- exp_plus. f_equal. unfold up, down. field. lra. }
  rewrite E. replace (exp up * exp down * (/ s * int (fun u => all_below b' l u - all_below b' l 1) 0 1))
    with (/ s * (exp up * (exp down * int (fun u => all_below b' l u - all_below b' l 1) 0 1))) by ring.
  apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, s_pos|].
  eapply Rle_trans; [exact A|]. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos | exact C].
Qed.

(** The density is the rate at which [beyond] falls. *)
Lemma beyond_derive q r g : is_derive (beyond s n q r) g (- lead_density s n q r g).
Proof.
  set (l := others n r). set (b := reach s q r 0).
  set (G := fun z => int (all_below b l) 0 z).
  assert (S : forall z k, all_below (reach s q r z) l k = all_below b l (exp (z / s) * k)).
  { intros z k. apply prod_ext. intros t _. do 2 f_equal. unfold b, reach.
    rewrite (Rmult_comm (exp (z / s))), Rmult_assoc, <- exp_plus. do 2 f_equal. field. lra. }
  assert (E : forall z, beyond s n q r z = exp (- z / s) * G (exp (z / s))).
  { intros z. unfold beyond. fold l. rewrite (int_ext _ (fun k => all_below b l (exp (z / s) * k)))
      by (intros; apply S).
    pose proof (int_dilate (all_below b l) (exp (z / s)) 1 (all_below_cont b l)) as D.
    rewrite Rmult_1_r in D. unfold G. rewrite <- D. rewrite <- Rmult_assoc, <- exp_plus.
    replace (- z / s + z / s) with 0 by (field; lra). rewrite exp_0. ring. }
  assert (DG : forall z, is_derive G z (all_below b l z)).
  { intros z. apply (is_derive_RInt (all_below b l) G 0 z).
    - apply filter_forall. intros y. apply (RInt_correct (all_below b l)), int_ex. cont.
    - apply all_below_cont. }
  apply (is_derive_ext (fun z => exp (- z / s) * G (exp (z / s)))).
  { intros z. now rewrite E. }
  assert (N : lead_density s n q r g = / s * (beyond s n q r g - all_below b l (exp (g / s)))).
  { unfold lead_density. fold l. rewrite int_minus by cont. rewrite int_const.
    unfold beyond. fold l. rewrite (S g 1), Rmult_1_r. ring. }
  rewrite N, E. evar_last.
  - apply (is_derive_mult (fun z => exp (- z / s)) (fun z => G (exp (z / s)))).
    + auto_derive; [exact I | reflexivity].
    + apply (is_derive_comp G (fun z => exp (z / s))); [apply DG|].
      auto_derive; [exact I | reflexivity].
    + intros; apply Rmult_comm.
  - unfold plus, mult, scal; simpl; unfold mult; simpl.
    assert (K : exp (- g * / s) * exp (g * / s) = 1).
    { rewrite <- exp_plus. replace (- g * / s + g * / s) with 0 by (field; lra). apply exp_0. }
    unfold Rdiv. set (p := exp (- g * / s)) in *. set (v := exp (g * / s)) in *.
    set (z := all_below b l v). 
    replace (- (/ s * (p * G v - z))) with (- / s * (p * G v) + / s * (z * (p * v)))
      by (rewrite K; ring). ring.
Qed.

Lemma reach_cont q r t : cont (fun g => reach s q r g t).
Proof.
  intros x. apply (ex_derive_continuous (fun g => reach s q r g t)).
  unfold reach. auto_derive. exact I.
Qed.

Lemma lead_density_cont q r : cont (lead_density s n q r).
Proof.
  set (l := others n r).
  assert (E : forall g, lead_density s n q r g
      = / s * (beyond s n q r g - all_below (reach s q r g) l 1)).
  { intros g. unfold lead_density, beyond. fold l. rewrite int_minus by cont.
    rewrite int_const. ring. }
  intros x. apply (continuous_ext (fun g => / s * (beyond s n q r g - all_below (reach s q r g) l 1))).
  { intros g. now rewrite E. }
  apply (cont_mult (fun _ => / s)
    (fun g => beyond s n q r g - all_below (reach s q r g) l 1)); [cont|].
  apply (cont_minus (beyond s n q r) (fun g => all_below (reach s q r g) l 1)).
  - intros y. apply (ex_derive_continuous (beyond s n q r)).
    exists (- lead_density s n q r y). apply beyond_derive.
  - apply (cont_prod _ (fun t g => 1 - Rmin 1 (1 * reach s q r g t))). intros t.
    apply (cont_minus (fun _ => 1) (fun g => Rmin 1 (1 * reach s q r g t))); [cont|].
    apply cont_min_1. apply (cont_mult (fun _ => 1) (fun g => reach s q r g t)); [cont|].
    apply reach_cont.
Qed.

(** The winner r with a lead between g and g', such as a lead that is rounded down. *)
Theorem lead_pure_dp q q' d r g g' : (r < n)%nat -> g <= g' -> range_distance n q q' d ->
  beyond s n q r g - beyond s n q r g'
  <= exp (d / s) * (beyond s n q' r g - beyond s n q' r g').
Proof.
  intros Hr L H.
  assert (I : forall q, beyond s n q r g - beyond s n q r g' = int (lead_density s n q r) g g').
  { intros p. rewrite (int_derive (fun z => - beyond s n p r z) (lead_density s n p r)).
    - ring.
    - intros z. evar_last; [apply (is_derive_opp (beyond s n p r)), beyond_derive|].
      unfold opp; simpl. ring.
    - apply lead_density_cont. }
  rewrite !I, <- int_scal by apply lead_density_cont.
  apply int_le; [exact L | apply lead_density_cont | |].
  - apply (cont_mult (fun _ => exp (d / s))); [cont | apply lead_density_cont].
  - intros z _. now apply lead_outcome.
Qed.
End Lead.

(** With g = 0 it is permute-and-flip. *)
Theorem beyond_nothing s n q r : 0 < s -> (r < n)%nat -> beyond s n q r 0 = pf s n q r.
Proof.
  intros Hs Hr. rewrite pf_raw. unfold beyond. set (l := others n r).
  set (a := fun t => exp (q t / s)). set (k := exp (- q r / s)).
  assert (K : a r * k = 1).
  { unfold a, k. rewrite <- exp_plus, <- exp_0. f_equal. field. lra. }
  assert (E : forall u, all_below (reach s q r 0) l u = all_below a l (k * u)).
  { intros u. apply prod_ext. intros t _. do 2 f_equal. unfold reach, a, k.
    rewrite (Rmult_comm (exp (- q r / s))), Rmult_assoc, <- exp_plus. do 2 f_equal. field. lra. }
  rewrite (int_ext _ (fun u => all_below a l (k * u))) by exact E.
  pose proof (int_dilate (all_below a l) k 1 (all_below_cont a l)) as D. rewrite Rmult_1_r in D.
  replace (int (fun u => all_below a l (k * u)) 0 1) with (a r * int (all_below a l) 0 k)
    by (rewrite <- D, <- Rmult_assoc, K; ring).
  unfold a at 1. f_equal. set (T := exp (- best n q / s)).
  assert (TK : T <= k).
  { apply exp_le, div_le; [exact Hs|]. apply Ropp_le_contravar, best_ge, Hr. }
  assert (T0 : 0 < T) by apply exp_pos.
  rewrite (int_chasles (all_below a l) 0 T k) by cont.
  assert (Z : int (all_below a l) T k = 0).
  { destruct (best_reached n q ltac:(lia)) as (i & Hi & Ei).
    destruct (Nat.eq_dec i r) as [->|N].
    - replace k with T by (unfold T, k; now rewrite Ei). unfold int. now rewrite RInt_point.
    - rewrite <- (Rmult_0_r (k - T)), <- (int_const 0 T k).
      apply RInt_ext. intros u U. rewrite Rmin_left in U by exact TK.
      unfold all_below. unfold l, others.
      assert (J : In i (without r (candidates n)))
        by (apply in_without; split; [now apply in_candidates | exact N]).
      rewrite (prod_without i _ _ (NoDup_without r _ (NoDup_candidates n)) J).
      assert (1 <= u * a i).
      { apply Rle_trans with (T * a i).
        - unfold T, a. rewrite Ei, <- exp_plus, <- exp_0. apply Req_le. f_equal. field. lra.
        - apply Rmult_le_compat_r; [apply Rlt_le, exp_pos | lra]. }
      rewrite Rmin_left by assumption. rewrite Rminus_diag_eq by reflexivity. apply Rmult_0_l. }
  rewrite Z, Rplus_0_r. apply RInt_ext. intros u U.
  rewrite (Rmin_left 0 T), (Rmax_right 0 T) in U by (apply Rlt_le, exp_pos).
  apply prod_ext. intros t Ht. apply in_others in Ht as [Ht _].
  rewrite Rmin_right; [reflexivity|]. apply (below_T s n q t u Hs Ht). apply Rlt_le, U.
Qed.
