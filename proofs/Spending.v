(** From a table to everything that an answer says, in rho: a grammar like that of Answers.v.

    [spending A law rho rho']: [law t a] is the chance of the answer a about the table t; it costs rho
    for a person who is added or removed, and rho' for one who is replaced. *)
From Coq Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Walk Privacy PureDP Exponential Range Measures People Sensitivities Groups
  Selections Dominance ApproxDP Laplace LaplacePair JointTopK Questions Answers TopK Crossings Growth Divergences Together
  Totals Wholes.
Import ListNotations.
Open Scope R_scope.

Section Spending.
Context {Row : Type}.
Notation table := (table Row).

Inductive spending : forall A : Type, (table -> A -> R) -> R -> R -> Prop :=
  (** One of n by permute-and-flip, and by the exponential mechanism. *)
  | flipping s n q d d' : 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> scored q d d' ->
      spending nat (chosen pf s n q) (concentrated_of_range (range_permute_and_flip (d / s)))
        (concentrated_of_range (range_permute_and_flip (d' / s)))
  | weighing s n q d d' : 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> weighed q d d' ->
      spending nat (chosen em s n q) (concentrated_of_range (d / s)) (concentrated_of_range (d' / s))
  (** One of n by permute-and-flip or Laplace noisy max, at the rho of the Laplace pair: several of these cost
     together at most what the code charges for their epsilon, with secret coins too. *)
  | choosing_noisily choose s n q d d' : In choose [pf; laplace_max] -> 0 < s -> (0 < n)%nat -> 0 <= d -> 0 <= d' ->
      scored q d d' ->
      spending nat (chosen choose s n q) (concentrated_of_laplace (d / s)) (concentrated_of_laplace (d' / s))
  (** Any release with a theorem for pure epsilon and chances that add up to one. *)
  | purely A law eps eps' : whole A law eps eps' -> 0 < eps -> 0 < eps' ->
      spending A law (concentrated_of_pure eps) (concentrated_of_pure eps')
  | said_nothing : spending unit (fun _ _ => 1) 0 0
  | then_spending A B law law2 rho rho' more more' : spending A law rho rho' ->
      (forall a, spending B (law2 a) more more') ->
      spending (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (rho + more) (rho' + more')
  (** One answer for each of [count] groups; a person counts in at most m of them. *)
  | in_groups A law rho rho' inside kept count m : 0 <= rho -> 0 <= rho' ->
      (forall g, spending A (law g) rho rho') -> (forall g, personal (fun p l => kept p l g)) ->
      (forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat) ->
      spending (list A) (fun t => each (fun g => law g (part inside kept g t)) (candidates count))
        (INR m * rho) (INR m * Rmax (2 * rho) rho')
  | coins_drawn A C coins weight law rho rho' : (forall c : C, In c coins -> 0 <= weight c) ->
      sum coins weight <= 1 -> (forall c, In c coins -> spending A (law c) rho rho') ->
      spending A (fun t a => sum coins (fun c => weight c * law c t a)) rho rho'
  | at_most_spending A law rho rho' more more' : spending A law rho rho' -> rho <= more -> rho' <= more' ->
      spending A law more more'.

(** ** Each constructor has its stated cost *)

Definition sound {A} (law : table -> A -> R) (rho rho' : R) : Prop :=
  (forall t, at_most_one (law t)) /\ (forall t t', same t t' -> law t = law t') /\
  (forall t t', add_remove t t' -> concentrated (law t) (law t') rho) /\
  (forall t t', replace t t' -> concentrated (law t) (law t') rho').

Lemma range_of_cut n p p' eps : 0 < eps -> is_law n p -> is_law n p' -> bounded_range n p p' eps ->
  concentrated (fun r => if (r <? n)%nat then p r else 0) (fun r => if (r <? n)%nat then p' r else 0)
    (concentrated_of_range eps).
Proof.
  intros E P P' B. apply range_concentrated; auto using cut_distribution.
  intros i j. destruct (Nat.ltb_spec i n), (Nat.ltb_spec j n); try lra. now apply B.
Qed.

Lemma range_permute_and_flip_pos x : 0 < x -> 0 < range_permute_and_flip x.
Proof.
  intros X. unfold range_permute_and_flip. pose proof (exp_ineq1 (x / 2) ltac:(lra)).
  pose proof (ln_increasing 1 (2 * exp (x / 2) - 1) ltac:(lra) ltac:(lra)) as L. rewrite ln_1 in L. lra.
Qed.

(** A choice by scores; its range is r of the range distance in units of the scale. *)
Lemma by_range choose (range : R -> R) s n q d d' : 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' ->
  distance add_remove q d -> distance replace q d' -> (forall t t' i, same t t' -> q t i = q t' i) ->
  (forall x, 0 < x -> 0 < range x) -> (forall u, is_law n (choose s n u)) ->
  (forall u u' x, range_distance n u u' x -> bounded_range n (choose s n u) (choose s n u') (range (x / s))) ->
  sound (chosen choose s n q) (concentrated_of_range (range (d / s))) (concentrated_of_range (range (d' / s))).
Proof.
  intros S N D D' Ad Re Sm Pos L B. split; [|split; [|split]].
  - intros t. apply distribution_at_most, cut_distribution, L.
  - intros t t' H. apply functional_extensionality. intros r. unfold chosen.
    replace (q t') with (q t); [reflexivity|]. apply functional_extensionality. intros i. now apply Sm.
  - intros t t' H. apply range_of_cut; auto. apply Pos. now apply Rdiv_lt_0_compat.
  - intros t t' H. apply range_of_cut; auto. apply Pos. now apply Rdiv_lt_0_compat.
Qed.

(** The effect on a group when a person is replaced. *)
Lemma part_replaced (inside : nat -> Row -> bool) kept g (t t' m : table) p p' : (forall g, personal (fun p l => kept p l g)) ->
  added m t p -> added m t' p' ->
  match is_in inside kept p (rows t p) g, is_in inside kept p' (rows t' p') g with
  | true, true => replace (part inside kept g t) (part inside kept g t')
  | true, false => exists u, add_remove (part inside kept g t) u /\ same u (part inside kept g t')
  | false, true => exists u, same (part inside kept g t) u /\ add_remove u (part inside kept g t')
  | false, false => same (part inside kept g t) (part inside kept g t')
  end.
Proof.
  intros K H H'. pose proof (part_added inside kept K g m t p H) as A.
  pose proof (part_added inside kept K g m t' p' H') as B.
  destruct (is_in inside kept p (rows t p) g), (is_in inside kept p' (rows t' p') g).
  - exists (part inside kept g m), p, p'. now split.
  - exists (part inside kept g m). split; [exists p; now right | exact B].
  - exists (part inside kept g m). split; [|exists p'; now left].
    intros x. apply Permutation.Permutation_sym, A.
  - intros x. eapply Permutation.perm_trans; [apply Permutation.Permutation_sym, A | apply B].
Qed.

Lemma sum_of_kept (f g : nat -> bool) groups m rho rho' : 0 <= rho -> 0 <= rho' ->
  (length (filter f groups) <= m)%nat -> (length (filter g groups) <= m)%nat ->
  sum groups (fun x => match f x, g x with true, true => rho' | false, false => 0 | _, _ => rho end)
  <= INR m * Rmax (2 * rho) rho'.
Proof.
  intros R R' F G. set (M := Rmax (2 * rho) rho').
  pose proof (Rmax_l (2 * rho) rho') as M1. pose proof (Rmax_r (2 * rho) rho') as M2. fold M in M1, M2.
  apply Rle_trans with (sum groups (fun x => M / 2 * ((if f x then 1 else 0) + (if g x then 1 else 0)))).
  { apply sum_le. intros x _. destruct (f x), (g x); lra. }
  rewrite sum_scal, sum_plus, <- !Dominance.sum_filter, !sum_const.
  apply le_INR in F. apply le_INR in G. nra.
Qed.

Theorem spending_is A law rho rho' : spending A law rho rho' -> sound law rho rho'.
Proof.
  induction 1 as
    [s n q d d' S N D D' Q | s n q d d' S N D D' Q | choose s n q d d' C S N D D' Q
    | A law eps eps' Wh E E' |
    | A B law law2 rho rho' more more' _ (F & Sm & Ad & Re) _ IH
    | A law rho rho' inside kept count m R R' _ IH K F
    | A C coins weight law rho rho' W W1 _ IH
    | A law rho rho' more more' _ (F & Sm & Ad & Re) L L'].
  - destruct (scored_is q d d' Q) as (Ad & Re & Sm).
    apply (by_range pf range_permute_and_flip); auto using range_permute_and_flip_pos.
    + intros u. now apply pf_is_law.
    + intros u u' x H. now apply pf_bounded_range.
  - destruct (weighed_is q d d' Q) as (Ad & Re & Sm).
    apply (by_range em (fun x => x)); auto.
    + intros u. now apply em_is_law.
    + intros u u' x H. now apply em_bounded_range.
  - destruct (scored_is q d d' Q) as (Ad & Re & Sm).
    assert (L : forall u, is_law n (choose s n u))
      by (intros u; destruct C as [<-|[<-|[]]]; [now apply pf_is_law | now apply laplace_is_law]).
    assert (Dm : forall u u' x, 0 <= x -> range_distance n u u' x ->
      laplace_dominated n (choose s n u) (choose s n u') (x / s))
      by (intros u u' x X H; destruct C as [<-|[<-|[]]]; [now apply pf_dominated | now apply laplace_max_dominated]).
    assert (Use : forall (near : table -> table -> Prop) x, (forall t t', near t t' -> near t' t) -> 0 <= x -> distance near q x -> forall t t',
      near t t' -> concentrated (chosen choose s n q t) (chosen choose s n q t') (concentrated_of_laplace (x / s))).
    { intros near x Sy X H t t' Nr.
      apply (dominated_concentrated n (choose s n (q t)) (choose s n (q t')) (x / s));
        [apply Rmult_le_pos; [exact X | now apply Rlt_le, Rinv_0_lt_compat] | apply L | apply L | |];
        apply Dm; auto; apply H; auto. }
    split; [intros t; apply distribution_at_most, cut_distribution, L|]. split; [|split].
    + intros t t' H. apply functional_extensionality. intros r. unfold chosen.
      replace (q t') with (q t); [reflexivity|]. apply functional_extensionality. intros i. now apply Sm.
    + apply (Use add_remove d); [intros t t' (p & H); exists p; tauto | exact D | exact Ad].
    + apply (Use replace d'); [intros t t' (m & p & p' & H & H'); exists m, p', p; tauto | exact D' | exact Re].
  - destruct (whole_is A law eps eps' Wh) as (F & Sm & Ad & Re).
    split; [intros t; apply distribution_at_most, F|]. split; [exact Sm|]. split.
    + intros t t' H. apply pure_concentrated; auto; intros a; apply Ad; auto. destruct H as (p & H). exists p. tauto.
    + intros t t' H. apply pure_concentrated; auto; intros a; apply Re; auto.
      destruct H as (m & p & p' & H & H'). exists m, p', p. tauto.
  - assert (O : at_most_one (fun _ : unit => 1)).
    { split; [intros; lra|]. intros answers N. rewrite sum_const.
      destruct answers as [|[] [|[] l]]; simpl; try lra.
      inversion N as [|? ? X]; subst. exfalso; apply X; now left. }
    split; [|split; [|split]]; auto; intros; now apply concentrated_same.
  - split; [|split; [|split]].
    + intros t. apply (at_most_one_then (law t) (fun a => law2 a t)); [apply F | intros a; apply (IH a)].
    + intros t t' H. apply functional_extensionality. intros o. rewrite (Sm t t' H).
      now rewrite (proj1 (proj2 (IH (fst o))) t t' H).
    + intros t t' H.
      apply (concentrated_then (law t) (law t') (fun a => law2 a t) (fun a => law2 a t')); [apply F | intros a; apply (IH a) | now apply Ad | intros a; now apply (IH a)].
    + intros t t' H.
      apply (concentrated_then (law t) (law t') (fun a => law2 a t) (fun a => law2 a t')); [apply F | intros a; apply (IH a) | now apply Re | intros a; now apply (IH a)].
  - set (f := fun t g => law g (part inside kept g t)).
    assert (O : forall t g, at_most_one (f t g)) by (intros t g; apply (IH g)).
    assert (Eq : forall t t' g, same (part inside kept g t) (part inside kept g t') -> f t g = f t' g)
      by (intros t t' g H; now apply (proj1 (proj2 (IH g)))).
    assert (St : forall t t' g, add_remove (part inside kept g t) (part inside kept g t') ->
                 concentrated (f t g) (f t' g) rho) by (intros t t' g H; now apply (IH g)).
    assert (Cost : forall t t' p l,
      (forall g, concentrated (f t g) (f t' g) (if is_in inside kept p l g then rho else 0)) ->
      concentrated (each (f t) (candidates count)) (each (f t') (candidates count)) (INR m * rho)).
    { intros t t' p l C. eapply concentrated_more; [apply each_concentrated; [apply O | exact C]|].
      rewrite <- (Dominance.sum_filter (is_in inside kept p l) (candidates count) (fun _ => rho)), sum_const.
      apply Rmult_le_compat_r; [exact R | apply le_INR, F]. }
    split; [|split; [|split]].
    + intros t. apply each_at_most_one, O.
    + intros t t' H. change (each (f t) (candidates count) = each (f t') (candidates count)).
      f_equal. apply functional_extensionality. intros g. apply Eq. intros p. now apply rows_part_same.
    + intros t t' (p & [H|H]).
      * apply (Cost t t' p (rows t' p)). intros g. pose proof (part_added inside kept K g t t' p H) as S.
        destruct (is_in inside kept p (rows t' p) g); [apply St; exists p; now left|].
        rewrite (Eq t t' g S). apply concentrated_same, O.
      * apply (Cost t t' p (rows t p)). intros g. pose proof (part_added inside kept K g t' t p H) as S.
        destruct (is_in inside kept p (rows t p) g); [apply St; exists p; now right|].
        rewrite <- (Eq t' t g S). apply concentrated_same, O.
    + intros t t' (u & p & p' & H & H'). eapply concentrated_more; [apply each_concentrated; [apply O|]|].
      * intros g. instantiate (1 := fun g => match is_in inside kept p (rows t p) g,
          is_in inside kept p' (rows t' p') g with true, true => rho' | false, false => 0 | _, _ => rho end).
        cbv beta. pose proof (part_replaced inside kept g t t' u p p' K H H') as S.
        destruct (is_in inside kept p (rows t p) g), (is_in inside kept p' (rows t' p') g).
        -- now apply (IH g).
        -- destruct S as (v & S & S'). change (concentrated (f t g) (f t' g) rho). unfold f.
           rewrite <- (proj1 (proj2 (IH g)) _ _ S'). now apply (IH g).
        -- destruct S as (v & S & S'). change (concentrated (f t g) (f t' g) rho). unfold f.
           rewrite (proj1 (proj2 (IH g)) _ _ S). now apply (IH g).
        -- change (concentrated (f t g) (f t' g) 0). rewrite (Eq t t' g S). apply concentrated_same, O.
      * apply sum_of_kept; auto.
  - split; [|split; [|split]].
    + intros t. split.
      * intros a. apply sum_nonneg. intros c I. apply Rmult_le_pos; [now apply W | now apply (IH c I)].
      * intros answers N. rewrite Composition.sum_swap. apply Rle_trans with (sum coins weight); [|exact W1].
        apply sum_le. intros c I. rewrite sum_scal.
        destruct (IH c I) as (O & _). pose proof (proj2 (O t) answers N). specialize (W c I). nra.
    + intros t t' H. apply functional_extensionality. intros a. apply sum_ext. intros c I.
      now rewrite (proj1 (proj2 (IH c I)) t t' H).
    + intros t t' H. apply concentrated_drawn; auto.
      * intros c a I. split; now apply (IH c I).
      * intros c I. now apply (IH c I).
    + intros t t' H. apply concentrated_drawn; auto.
      * intros c a I. split; now apply (IH c I).
      * intros c I. now apply (IH c I).
  - split; [exact F|]. split; [exact Sm|].
    split; intros t t' H; [apply concentrated_more with rho | apply concentrated_more with rho']; auto.
Qed.

Theorem answer_concentrated A law rho rho' t t' : spending A law rho rho' ->
  (add_remove t t' -> concentrated (law t) (law t') rho) /\
  (replace t t' -> concentrated (law t) (law t') rho').
Proof. intros S. destruct (spending_is A law rho rho' S) as (_ & _ & Ad & Re). auto. Qed.
End Spending.
