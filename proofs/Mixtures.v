(** docs/proofs/composition.md, theorem 1 (d), and docs/proofs/ledger.md: rounds that are [ZCDP] outside an
    event, why an (eps, delta) round is of this kind, and sums that are counted on a grid. *)
From Coq Require Import Reals Lra Lia List Arith Bool ZArith Classical.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.Raux.
From Discreet Require Import Common Constants Mechanism Privacy ApproxDP Measures Dominance Divergences Together.
Import ListNotations.
Open Scope R_scope.

Definition at_most {A} (c : R) (p : A -> R) : Prop :=
  (forall a, 0 <= p a) /\ forall answers, NoDup answers -> sum answers p <= c.

Lemma at_most_then {A B} c d (p : A -> R) (p2 : A -> B -> R) : 0 <= d -> at_most c p -> (forall a, at_most d (p2 a)) ->
  at_most (c * d) (fun o => p (fst o) * p2 (fst o) (snd o)).
Proof.
  intros D (P & P1) H. split; [intros o; apply Rmult_le_pos; [apply P | apply H]|].
  intros answers N. destruct (pairs answers) as (u & v & U & V & I).
  eapply Rle_trans; [apply (sum_incl answers (list_prod u v)); auto;
    intros o; apply Rmult_le_pos; [apply P | apply H]|].
  rewrite sum_prod. cbn [fst snd].
  apply Rle_trans with (sum u (fun a => d * p a)).
  - apply sum_le. intros a _. rewrite sum_scal. pose proof (proj2 (H a) v V). specialize (P a). nra.
  - rewrite sum_scal. specialize (P1 u U). nra.
Qed.

Section Rounds.
Context {A : Type}.
Variables (law law' good good' bad bad' : list A -> A -> R) (delta rho : list A -> R).
Hypotheses (law_is : forall h a, law h a = (1 - delta h) * good h a + delta h * bad h a)
  (law'_is : forall h a, law' h a = (1 - delta h) * good' h a + delta h * bad' h a)
  (delta_range : forall h, 0 <= delta h <= 1)
  (goods : forall h, at_most_one (good h)) (goods' : forall h, at_most_one (good' h))
  (bads : forall h, at_most_one (bad h)) (bads' : forall h, at_most_one (bad' h)).

(** The chance that no round falls into its event. *)
Fixpoint spared (k : nat) (h t : list A) : R :=
  match k, t with
  | S k, a :: t => (1 - delta h) * spared k (h ++ [a]) t
  | _, _ => 1
  end.

Lemma spared_range k : forall h t, 0 <= spared k h t <= 1.
Proof.
  induction k as [|k IH]; intros h [|a t]; cbn [spared]; try lra.
  specialize (IH (h ++ [a]) t). specialize (delta_range h). nra.
Qed.

Lemma law_at_most h : at_most_one (law h).
Proof.
  destruct (goods h) as [G G1]. destruct (bads h) as [B B1]. specialize (delta_range h). split.
  - intros a. rewrite law_is. specialize (G a). specialize (B a). nra.
  - intros l N. rewrite (sum_ext _ _ _ (fun a _ => law_is h a)), sum_plus, !sum_scal.
    specialize (G1 l N). specialize (B1 l N). nra.
Qed.

Lemma rounds_nonneg (l : list A -> A -> R) k : (forall h a, 0 <= l h a) -> forall h t, 0 <= rounds l k h t.
Proof.
  intros L. induction k as [|k IH]; intros h [|a t]; cbn [rounds]; try lra. apply Rmult_le_pos; auto.
Qed.

Lemma spared_below (l g b : list A -> A -> R) k : (forall h a, l h a = (1 - delta h) * g h a + delta h * b h a) ->
  (forall h a, 0 <= g h a) -> (forall h a, 0 <= b h a) -> forall h t, spared k h t * rounds g k h t <= rounds l k h t.
Proof.
  intros E G B. induction k as [|k IH]; intros h [|a t]; cbn [spared rounds]; try lra.
  specialize (IH (h ++ [a]) t). pose proof (rounds_nonneg g k G (h ++ [a]) t).
  pose proof (spared_range k (h ++ [a]) t). rewrite E. specialize (G h a). specialize (B h a).
  specialize (delta_range h).
  replace ((1 - delta h) * spared k (h ++ [a]) t * (g h a * rounds g k (h ++ [a]) t))
    with ((1 - delta h) * g h a * (spared k (h ++ [a]) t * rounds g k (h ++ [a]) t)) by ring.
  assert (0 <= spared k (h ++ [a]) t * rounds g k (h ++ [a]) t) by (apply Rmult_le_pos; lra).
  apply Rle_trans with ((1 - delta h) * g h a * rounds l k (h ++ [a]) t).
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact IH].
  - assert (0 <= delta h * b h a * rounds l k (h ++ [a]) t) by (repeat apply Rmult_le_pos; lra). lra.
Qed.

(** Some round falls into its event with a chance of at most D. *)
Lemma lost_at_most k : forall h D, 0 <= D -> affords delta k h D ->
  at_most D (fun t => rounds law k h t - spared k h t * rounds good k h t).
Proof.
  assert (Gn : forall h a, 0 <= good h a) by (intros; apply goods).
  assert (Bn : forall h a, 0 <= bad h a) by (intros; apply bads).
  induction k as [|k IH]; intros h D D0 Af.
  { split; [intros [|a t]; cbn [rounds spared]; lra|]. intros l N.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; lra|]. intros [|a t] _; cbn [rounds spared]; ring. }
  split.
  { intros t. pose proof (spared_below law good bad (S k) law_is Gn Bn h t). lra. }
  intros l N. destruct (classic (exists a : A, True)) as [(a0 & _)|None].
  2: { rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; lra|].
       intros [|a t] _; [cbn [rounds spared]; ring | exfalso; apply None; now exists a]. }
  assert (Dh : delta h <= D).
  { assert (Pos : forall k h D, affords delta k h D -> 0 <= D).
    { clear - delta_range a0. induction k as [|k IH]; intros h D H; cbn [affords] in H; [exact H|].
      specialize (IH _ _ (H a0)). specialize (delta_range h). lra. }
    specialize (Pos _ _ _ (Af a0)). lra. }
  set (q := fun o : A * list A => delta h * bad h (fst o) * rounds law k (h ++ [fst o]) (snd o)
    + (1 - delta h) * good h (fst o) * (rounds law k (h ++ [fst o]) (snd o)
        - spared k (h ++ [fst o]) (snd o) * rounds good k (h ++ [fst o]) (snd o))).
  destruct (relabelled first l N (fun o o' b => first_once o o' b)) as (m & M & _ & S).
  rewrite (S _ q).
  - unfold q. rewrite sum_plus.
    pose proof (delta_range h) as Dr.
    assert (X : sum m (fun o => delta h * bad h (fst o) * rounds law k (h ++ [fst o]) (snd o)) <= delta h * 1).
    { apply (at_most_then (delta h) 1 (fun a => delta h * bad h a) (fun a => rounds law k (h ++ [a]))); [lra| |auto|exact M].
      - split; [intros a; apply Rmult_le_pos; [lra | apply Bn]|]. intros u U. rewrite sum_scal.
        pose proof (proj2 (bads h) u U). nra.
      - intros a. apply rounds_at_most_one. intros; apply law_at_most. }
    assert (Y : sum m (fun o => (1 - delta h) * good h (fst o) * (rounds law k (h ++ [fst o]) (snd o)
        - spared k (h ++ [fst o]) (snd o) * rounds good k (h ++ [fst o]) (snd o))) <= (1 - delta h) * (D - delta h)).
    { apply (at_most_then (1 - delta h) (D - delta h) (fun a => (1 - delta h) * good h a)
        (fun a t => rounds law k (h ++ [a]) t - spared k (h ++ [a]) t * rounds good k (h ++ [a]) t)); [lra| | |exact M].
      - split; [intros a; apply Rmult_le_pos; [lra | apply Gn]|]. intros u U. rewrite sum_scal.
        pose proof (proj2 (goods h) u U). nra.
      - intros a. apply IH; [lra | apply Af]. }
    nra.
  - intros [|a t]; [|discriminate]. intros _. cbn [rounds spared]. ring.
  - intros [|a t] b; [discriminate|]. intros [= <-]. unfold q. cbn [fst snd rounds spared]. rewrite law_is. ring.
Qed.

Theorem mixed_composition k R D more order answers : 0 <= D -> 0 < more -> 1 < order -> NoDup answers ->
  (forall h, concentrated (good h) (good' h) (rho h)) -> affords rho k [] R -> affords delta k [] D ->
  sum answers (rounds law k [])
  <= exp (Rmax 0 (epsilon_of_concentrated R more order)) * sum answers (rounds law' k []) + (D + more).
Proof.
  intros D0 M O N C Ar Ad. set (e := exp (Rmax 0 (epsilon_of_concentrated R more order))).
  assert (E : 0 < e) by apply exp_pos.
  pose proof (proj2 (lost_at_most k [] D D0 Ad) answers N) as L.
  rewrite (sum_ext _ _ (fun t => rounds law k [] t + (-1) * (spared k [] t * rounds good k [] t))) in L by (intros; ring).
  rewrite sum_plus, sum_scal in L.
  assert (Q : sum answers (fun t => spared k [] t * rounds good' k [] t) <= sum answers (rounds law' k [])).
  { apply sum_le. intros t _. apply (spared_below law' good' bad' k law'_is); intros; [apply goods' | apply bads']. }
  set (S := fun t => if Rlt_dec (e * rounds good' k [] t) (rounds good k [] t) then true else false).
  pose proof (concentrated_to_approx (rounds good k []) (rounds good' k []) R more order
    (rounds_nonneg good' k (fun h a => proj1 (goods' h) a) []) (rounds_concentrated good good' rho k [] R goods C Ar)
    M O (filter S answers) (NoDup_filter S N)) as B. fold e in B.
  assert (K : sum answers (fun t => spared k [] t * rounds good k [] t)
    <= e * sum answers (fun t => spared k [] t * rounds good' k [] t) + more).
  { rewrite !Dominance.sum_filter in B.
    apply Rle_trans with (sum answers (fun t => e * (spared k [] t * rounds good' k [] t)
      + ((if S t then rounds good k [] t else 0) + (- e) * (if S t then rounds good' k [] t else 0)))).
    - apply sum_le. intros t _. pose proof (spared_range k [] t). unfold S. destruct Rlt_dec; nra.
    - rewrite !sum_plus, !sum_scal. lra. }
  nra.
Qed.
End Rounds.

(** ** Any (eps, delta) pair is eps-private outside an event *)

Lemma part_of n (p g : nat -> R) delta : is_law n p -> is_law n g -> 0 < delta <= 1 ->
  (forall r, (r < n)%nat -> (1 - delta) * g r <= p r) ->
  exists b, is_law n b /\ forall r, (r < n)%nat -> p r = (1 - delta) * g r + delta * b r.
Proof.
  intros (P & P1) (G & G1) D H.
  exists (fun r => (p r - (1 - delta) * g r) / delta). split; [split|].
  - intros r R. specialize (H r R). apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra].
  - rewrite (sum_ext _ _ (fun r => / delta * p r + (- (1 - delta) / delta) * g r)) by (intros; field; lra).
    rewrite sum_plus, !sum_scal, P1, G1. field. lra.
  - intros r R. field. lra.
Qed.

(** Cut off at exp eps p', the mass of p is still at least 1 - delta. *)
Lemma cut_mass n p p' eps delta : is_law n p -> approx_dp n p p' eps delta ->
  1 - delta <= sum (candidates n) (fun r => Rmin (p r) (exp eps * p' r)).
Proof.
  intros (P & P1) H. set (S := fun r => if Rlt_dec (exp eps * p' r) (p r) then true else false).
  specialize (H S). unfold event in H. rewrite !Dominance.sum_filter in H.
  replace (sum (candidates n) (fun r => Rmin (p r) (exp eps * p' r)))
    with (sum (candidates n) (fun r => p r + ((-1) * (if S r then p r else 0) + exp eps * (if S r then p' r else 0)))).
  - rewrite !sum_plus, !sum_scal, P1. lra.
  - apply sum_ext. intros r _. unfold S. destruct Rlt_dec; [rewrite Rmin_right by lra | rewrite Rmin_left by lra]; ring.
Qed.

Lemma mixture_one_way n p p' eps delta : is_law n p -> is_law n p' ->
  0 <= eps -> 0 < delta < 1 ->
  let a := sum (candidates n) (fun r => Rmin (p r) (exp eps * p' r)) in
  let b := sum (candidates n) (fun r => Rmin (p' r) (exp eps * p r)) in
  1 - delta <= b <= a ->
  exists good good', is_law n good /\ is_law n good' /\
  (forall r, (r < n)%nat -> (1 - delta) * good r <= p r /\ (1 - delta) * good' r <= p' r /\
     good r <= exp eps * good' r /\ good' r <= exp eps * good r).
Proof.
  intros (P & P1) (Q & Q1) E D a b [B AB].
  set (e := exp eps) in *. assert (E1 : 1 <= e) by (unfold e; rewrite <- exp_0; apply exp_le; lra). clearbody e.
  set (f := fun r => Rmin (p r) (e * p' r)) in *. set (g := fun r => Rmin (p' r) (e * p r)) in *.
  assert (I : 0 < / e <= 1) by (split; [apply Rinv_0_lt_compat; lra | rewrite <- Rinv_1 at 1; apply Rinv_le_contravar; lra]).
  assert (Ie : / e * e = 1) by (apply Rinv_l; lra).
  assert (Fact : forall r, (r < n)%nat -> 0 <= f r <= p r /\ 0 <= g r <= p' r /\ f r <= e * g r /\ g r <= e * f r).
  { intros r R. specialize (P r R). specialize (Q r R).
    assert (Ep : p r <= e * p r) by nra. assert (Eq : p' r <= e * p' r) by nra.
    assert (Eep : e * p r <= e * (e * p r)) by nra. assert (Eeq : e * p' r <= e * (e * p' r)) by nra.
    unfold f, g. unfold Rmin. destruct Rle_dec, Rle_dec; repeat split; nra. }
  assert (th : exists x, 0 <= x <= 1 /\ (1 - x) * a + x * (/ e * b) = b).
  { destruct (Req_dec a b) as [->|Nab]; [exists 0; split; [lra | ring]|].
    assert (L : / e * b <= b) by nra.
    set (c := / e * b) in *. clearbody c.
    exists ((a - b) / (a - c)). split; [split|].
    - apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; lra].
    - apply (Rmult_le_reg_r (a - c)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    - field. lra. }
  destruct th as (x & X & T).
  set (h := fun r => (1 - x) * f r + x * (/ e * g r)).
  assert (Hf : forall r, (r < n)%nat -> 0 <= h r <= f r /\ h r <= e * g r /\ g r <= e * h r).
  { intros r R. destruct (Fact r R) as (A1 & A2 & A3 & A4). unfold h.
    assert (G1 : / e * g r <= f r) by (apply (Rmult_le_reg_l e); [lra|]; rewrite <- Rmult_assoc, (Rmult_comm e), Ie; lra).
    assert (G0 : 0 <= / e * g r) by nra.
    assert (G2 : e * (/ e * g r) = g r) by (rewrite <- Rmult_assoc, (Rmult_comm e), Ie; ring).
    assert (G3 : / e * g r <= e * g r) by nra.
    repeat split; nra. }
  assert (Sg : sum (candidates n) g = b) by reflexivity.
  assert (Sh : sum (candidates n) h = b).
  { unfold h. rewrite sum_plus, !sum_scal. change (sum (candidates n) f) with a. rewrite Sg. exact T. }
  assert (b_pos : 0 < b) by lra. assert (Ib : 0 < / b) by now apply Rinv_0_lt_compat.
  assert (Le : (1 - delta) * / b <= 1).
  { apply (Rmult_le_reg_r b); [exact b_pos|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Ge : 0 <= (1 - delta) * / b) by (apply Rmult_le_pos; lra).
  exists (fun r => / b * h r), (fun r => / b * g r). split; [split|split; [split|]].
  - intros r R. apply Rmult_le_pos; [lra | now apply Hf].
  - rewrite sum_scal, Sh. now apply Rinv_l, Rgt_not_eq.
  - intros r R. apply Rmult_le_pos; [lra | now apply Fact].
  - rewrite sum_scal, Sg. now apply Rinv_l, Rgt_not_eq.
  - intros r R. destruct (Fact r R) as (A1 & A2 & A3 & A4). destruct (Hf r R) as (B1 & B2 & B3).
    rewrite <- !Rmult_assoc. split; [nra|]. split; [nra|].
    rewrite !(Rmult_comm e (/ b)), !Rmult_assoc. split; apply Rmult_le_compat_l; lra.
Qed.

Theorem approx_is_mixture n p p' eps delta : is_law n p -> is_law n p' -> 0 <= eps -> 0 < delta < 1 ->
  approx_dp n p p' eps delta -> approx_dp n p' p eps delta ->
  exists good good' bad bad', is_law n good /\ is_law n good' /\ is_law n bad /\ is_law n bad' /\
  forall r, (r < n)%nat -> p r = (1 - delta) * good r + delta * bad r /\
    p' r = (1 - delta) * good' r + delta * bad' r /\ good r <= exp eps * good' r /\ good' r <= exp eps * good r.
Proof.
  intros L L' E D H H'.
  assert (G : exists good good', is_law n good /\ is_law n good' /\
    (forall r, (r < n)%nat -> (1 - delta) * good r <= p r /\ (1 - delta) * good' r <= p' r /\
       good r <= exp eps * good' r /\ good' r <= exp eps * good r)).
  { pose proof (cut_mass n p p' eps delta L H) as A. pose proof (cut_mass n p' p eps delta L' H') as B.
    destruct (Rle_dec (sum (candidates n) (fun r => Rmin (p' r) (exp eps * p r)))
                      (sum (candidates n) (fun r => Rmin (p r) (exp eps * p' r)))) as [C|C].
    - now apply (mixture_one_way n p p' eps delta).
    - destruct (mixture_one_way n p' p eps delta L' L E D ltac:(split; [exact A | lra]))
        as (g' & g & Lg' & Lg & F). exists g, g'. split; [exact Lg|]. split; [exact Lg'|].
      intros r R. destruct (F r R) as (F1 & F2 & F3 & F4). auto. }
  destruct G as (good & good' & Lg & Lg' & F).
  destruct (part_of n p good delta L Lg ltac:(lra) ltac:(intros; now apply F)) as (bad & Lb & Eb).
  destruct (part_of n p' good' delta L' Lg' ltac:(lra) ltac:(intros; now apply F)) as (bad' & Lb' & Eb').
  exists good, good', bad, bad'. do 4 (split; [assumption|]). intros r R. destruct (F r R) as (_ & _ & F3 & F4). auto.
Qed.

(** ** Sums that are counted on a grid *)

Section Grid.
Variable grid : R.
Hypothesis grid_pos : 0 < grid.

(** What is left of a cap of this many units, whatever is answered; each cost is rounded up. *)
Fixpoint counted_within {A} (cost : list A -> R) (k : nat) (h : list A) (left : Z) : Prop :=
  match k with
  | O => (0 <= left)%Z
  | S k => forall a, counted_within cost k (h ++ [a]) (left - Zceil (cost h / grid))
  end.

Lemma counted_units {A} (cost : list A -> R) k : forall h left cap, IZR left * grid <= cap ->
  counted_within cost k h left -> affords cost k h cap.
Proof.
  induction k as [|k IH]; intros h left cap L H; cbn [counted_within affords] in *.
  - apply IZR_le in H. nra.
  - intros a. apply (IH _ (left - Zceil (cost h / grid))%Z); [|apply H]. rewrite minus_IZR.
    pose proof (Zceil_ub (cost h / grid)) as U. apply (Rmult_le_compat_r grid) in U; [|lra].
    replace (cost h / grid * grid) with (cost h) in U by (field; lra). lra.
Qed.

Lemma counted_affords {A} (cost : list A -> R) k h cap :
  counted_within cost k h (Zfloor (cap / grid)) -> affords cost k h cap.
Proof.
  apply counted_units. pose proof (Zfloor_lb (cap / grid)) as U. apply (Rmult_le_compat_r grid) in U; [|lra].
  now replace (cap / grid * grid) with cap in U by (field; lra).
Qed.
End Grid.

Lemma rounds_pure {A} (law law' : list A -> A -> R) eps k : (forall h a, 0 <= law h a) ->
  (forall h a, law h a <= exp (eps h) * law' h a) -> forall h cap t, affords eps k h cap ->
  rounds law k h t <= exp cap * rounds law' k h t.
Proof.
  intros L H. assert (L' : forall h a, 0 <= law' h a).
  { intros h a. specialize (H h a). specialize (L h a). pose proof (exp_pos (eps h)). nra. }
  induction k as [|k IH]; intros h cap [|a t] W; cbn [rounds affords] in *; try lra.
  - assert (1 <= exp cap) by (rewrite <- exp_0; now apply exp_le). lra.
  - specialize (IH (h ++ [a]) _ t (W a)). specialize (H h a).
    replace cap with (eps h + (cap - eps h)) by ring. rewrite exp_plus.
    replace (exp (eps h) * exp (cap - eps h) * (law' h a * rounds law' k (h ++ [a]) t))
      with ((exp (eps h) * law' h a) * (exp (cap - eps h) * rounds law' k (h ++ [a]) t)) by ring.
    apply Rmult_le_compat; auto using rounds_nonneg.
Qed.
