(** From a table to everything that an answer says, in rho: a grammar like that of Answers.v.

    [spending A law rho rho']: [law t a] is the chance of the answer a about the table t; it costs rho
    for a person who is added or removed, and rho' for one who is replaced. *)
From Coq Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Walk Privacy PureDP Exponential Range Measures People Sensitivities Groups
  Selections JointTopK Questions Answers TopK Crossings Growth Divergences Together Totals.
Import ListNotations.
Open Scope R_scope.

Section Spending.
Context {Row : Type}.
Notation table := (table Row).

(** Scores of which one is weighed: those of a question, of tuples, and of sets. *)
Inductive weighed : (table -> nat -> R) -> R -> R -> Prop :=
  | one_by_one q d d' : scored q d d' -> weighed q d d'
  | tuples N k tuple has : (1 <= k)%nat -> (forall i j, (tuple i j < N)%nat) ->
      (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      weighed (fun t i => joint_score N k (counts_of has t) (tuple i)) d (2 * d)
  | tuples_one N k tuple value : (2 <= k)%nat -> (forall i j, (tuple i j < N)%nat) -> personal value ->
      weighed (fun t i => joint_score N k (counts_of (has_value value) t) (tuple i)) 2 3
  | sets N k m tuple has : (1 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < N)%nat) ->
      (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      weighed (fun t i => best m (fun o => joint_score N k (counts_of has t) (tuple i o))) d (2 * d)
  | sets_one N k m tuple value : (2 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < N)%nat) ->
      personal value ->
      weighed (fun t i => best m (fun o => joint_score N k (counts_of (has_value value) t) (tuple i o))) 2 3.

Inductive spending : forall A : Type, (table -> A -> R) -> R -> R -> Prop :=
  (** One of n by permute-and-flip, and by the exponential mechanism. *)
  | flipping s n q d d' : 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> scored q d d' ->
      spending nat (chosen pf s n q) (concentrated_of_range (range_permute_and_flip (d / s)))
        (concentrated_of_range (range_permute_and_flip (d' / s)))
  | weighing s n q d d' : 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> weighed q d d' ->
      spending nat (chosen em s n q) (concentrated_of_range (d / s)) (concentrated_of_range (d' / s))
  (** Whatever has a theorem for pure epsilon, and chances that add up to one over what is shown. *)
  | purely A law shown eps eps' : release A law eps eps' -> 0 < eps -> 0 < eps' ->
      (forall t, distribution (fun a => if shown a : bool then law t a else 0)) ->
      spending A (fun t a => if shown a then law t a else 0) (concentrated_of_pure eps) (concentrated_of_pure eps')
  (** The k largest of n, in order, each with one noise. *)
  | largest s n k q d d' : 0 < s -> (1 <= k <= n)%nat -> 0 < d -> 0 < d' -> scored q d d' ->
      spending (list nat)
        (fun t => only (list_eq_dec Nat.eq_dec) (orders k (candidates n)) (chosen_at_once s n k q t))
        (concentrated_of_pure (INR k * (d / s))) (concentrated_of_pure (INR k * (d' / s)))
  (** Which of m numbers of people cross a noisy threshold, up to the c-th. *)
  | watching b1 b2 T m c has : 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p l r)) ->
      spending (list (option (option nat)))
        (fun t => only same_stream (streams m c) (crossed b1 b2 T c (people_with has t)))
        (concentrated_of_pure (1 / b1 + INR c * (1 / b2))) (concentrated_of_pure (1 / b1 + INR c * (2 / b2)))
  (** A bound among m places: the first up to which about a/b of the people are. *)
  | bounded b1 b2 T m value a b : 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b -> 0 < b ->
      spending (list (option (option nat)))
        (fun t => only same_stream (streams m 1) (crossed b1 b2 T 1 (people_short value a b t)))
        (concentrated_of_pure (sensitivity_quantile a b / b1 + b / b2))
        (concentrated_of_pure (sensitivity_quantile_replace a b / b1 + b / b2))
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

(** ** Each is what it says *)

Definition sound {A} (law : table -> A -> R) (rho rho' : R) : Prop :=
  (forall t, at_most_one (law t)) /\ (forall t t', same t t' -> law t = law t') /\
  (forall t t', add_remove t t' -> concentrated (law t) (law t') rho) /\
  (forall t t', replace t t' -> concentrated (law t) (law t') rho').

Lemma cut_distribution n p : is_law n p -> distribution (fun r => if (r <? n)%nat then p r else 0).
Proof.
  intros (P & T). set (f := fun r => if (r <? n)%nat then p r else 0).
  assert (F : forall r, 0 <= f r) by (intros r; unfold f; destruct (Nat.ltb_spec r n); [now apply P | lra]).
  assert (S : sum (candidates n) f = 1).
  { rewrite <- T. apply sum_ext. intros r H. apply in_candidates in H. unfold f.
    now rewrite (proj2 (Nat.ltb_lt r n) H). }
  split; [exact F|]. split.
  - intros l N. rewrite <- S. apply Rle_trans with (sum (filter (fun r => r <? n)%nat l) f).
    + rewrite Dominance.sum_filter. apply Req_le, sum_ext. intros r _. unfold f. now destruct (r <? n)%nat.
    + apply sum_incl; [exact F | now apply NoDup_filter|]. intros r H. apply filter_In in H as [_ H].
      now apply in_candidates, Nat.ltb_lt.
  - intros e E. exists (candidates n). split; [apply NoDup_candidates | lra].
Qed.

Lemma distribution_at_most {A} (p : A -> R) : distribution p -> at_most_one p.
Proof. intros (P & P1 & _). now split. Qed.

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

(** A choice by scores, whose range is r of the range distance in units of the scale. *)
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

Lemma weighed_is q d d' : weighed q d d' ->
  distance add_remove q d /\ distance replace q d' /\ forall t t' i, same t t' -> q t i = q t' i.
Proof.
  intros [q0 x x' S | N k tuple has K T P e | N k tuple value K T P | N k m tuple has K M T P e
         | N k m tuple value K M T P].
  - now apply scored_is.
  - split; [|split].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_move].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_move].
    + intros t t' i H. now rewrite (counts_of_same has t t' P H).
  - split; [|split].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_one_move].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_one_move].
    + intros t t' i H. now rewrite (counts_of_same _ t t' (fun r => has_value_personal value r P) H).
  - split; [|split].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_move].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_move].
    + intros t t' i H. now rewrite (counts_of_same has t t' P H).
  - split; [|split].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_one_move].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_one_move].
    + intros t t' i H. now rewrite (counts_of_same _ t t' (fun r => has_value_personal value r P) H).
Qed.

(** What a person who is replaced does to a group. *)
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

Lemma purely_sound A law (shown : A -> bool) eps eps' : release A law eps eps' -> 0 < eps -> 0 < eps' ->
  (forall t, distribution (fun a => if shown a then law t a else 0)) ->
  sound (fun t a => if shown a then law t a else 0) (concentrated_of_pure eps) (concentrated_of_pure eps').
Proof.
  intros Rl E E' T. destruct (release_is A law eps eps' Rl) as ((P & Sm) & Ad & Re). split; [|split; [|split]].
  - intros t. now apply distribution_at_most.
  - intros t t' H. apply functional_extensionality. intros a. now rewrite (Sm t t' a H).
  - intros t t' H. apply pure_concentrated; auto; intros a; destruct (shown a); try lra; apply Ad; auto.
    destruct H as (p & H). exists p. tauto.
  - intros t t' H. apply pure_concentrated; auto; intros a; destruct (shown a); try lra; apply Re; auto.
    destruct H as (m & p & p' & H & H'). exists m, p', p. tauto.
Qed.

Lemma only_sound A same shown law eps eps' : release A law eps eps' -> 0 < eps -> 0 < eps' ->
  NoDup shown -> (forall t, sum shown (law t) = 1) ->
  sound (fun t => only same shown (law t)) (concentrated_of_pure eps) (concentrated_of_pure eps').
Proof.
  intros Rl E E' N T.
  assert (Q : forall p a, only same shown p a = if (if in_dec same a shown then true else false) then p a else 0)
    by (intros p a; unfold only; now destruct in_dec).
  replace (fun t => only same shown (law t))
    with (fun t a => if (if in_dec same a shown then true else false) then law t a else 0)
    by (apply functional_extensionality; intros t; apply functional_extensionality; intros a; now rewrite Q).
  apply (purely_sound A law (fun a => if in_dec same a shown then true else false)); auto.
  intros t. replace (fun a => if (if in_dec same a shown then true else false) then law t a else 0)
    with (only same shown (law t)) by (apply functional_extensionality; intros a; apply Q).
  apply only_distribution; auto. now apply (release_is A law eps eps' Rl).
Qed.

Lemma cost_pos x y b1 b2 : 0 < b1 -> 0 < b2 -> 0 < x -> 0 <= y -> 0 < x / b1 + y / b2.
Proof.
  intros B1 B2 X Y. assert (0 < x / b1) by now apply Rdiv_lt_0_compat.
  assert (0 <= y / b2) by (apply Rmult_le_pos; [exact Y | now apply Rlt_le, Rinv_0_lt_compat]). lra.
Qed.

Theorem spending_is A law rho rho' : spending A law rho rho' -> sound law rho rho'.
Proof.
  induction 1 as
    [s n q d d' S N D D' Q | s n q d d' S N D D' Q | A law shown eps eps' Rl E E' T
    | s n k q d d' S K D D' Q | b1 b2 T m c has B1 B2 P | b1 b2 T m value a b B1 B2 P L B |
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
  - now apply purely_sound.
  - assert (KP : 0 < INR k) by (apply lt_0_INR; lia).
    apply only_sound; [apply at_once; auto; lia | | | apply orders_once, NoDup_candidates |].
    + apply Rmult_lt_0_compat; [exact KP | now apply Rdiv_lt_0_compat].
    + apply Rmult_lt_0_compat; [exact KP | now apply Rdiv_lt_0_compat].
    + intros t. rewrite <- (one_shot_total s n k (q t) S) by lia. apply sum_ext. intros o O.
      destruct (orders_known _ _ _ O) as [Lo I]. unfold chosen_at_once. rewrite Lo, Nat.eqb_refl. cbn [andb].
      replace (forallb (fun r => r <? n)%nat o) with true; [reflexivity|]. symmetry. apply forallb_forall.
      intros r R. apply Nat.ltb_lt, in_candidates, I, R.
  - pose proof (pos_INR c). apply only_sound; [now apply crossing | | | apply streams_once |].
    + replace (INR c * (1 / b2)) with (INR c / b2) by (field; lra). apply cost_pos; lra.
    + replace (INR c * (2 / b2)) with (2 * INR c / b2) by (field; lra). apply cost_pos; lra.
    + intros t. now apply streams_add_up.
  - assert (0 < sensitivity_quantile a b).
    { unfold sensitivity_quantile. pose proof (Rmax_l a (b - a)). pose proof (Rmax_r a (b - a)). lra. }
    apply only_sound; [now apply bounding | | | apply streams_once |].
    + apply cost_pos; lra.
    + unfold sensitivity_quantile_replace. apply cost_pos; lra.
    + intros t. now apply streams_add_up.
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
