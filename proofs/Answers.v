(** From a table to everything that an answer says: a grammar of releases with their laws and costs, and one
    theorem that covers them all.

    [release A law eps eps']: [law t a] is the chance of the answer a about the table t; it costs
    eps for a person who is added or removed, and eps' for one who is replaced. *)
From Coq Require Import Reals Lra Lia List Arith Bool ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP People Sensitivities Groups
  Composition Selections Recursion NoisyCount TopK Lead JointTopK Crossings Questions.
Import ListNotations.
Open Scope R_scope.

Section Answers.
Context {Row : Type}.
Notation table := (table Row).

(** How many people have a property. *)
Definition number_with (which : nat -> list Row -> bool) (t : table) : nat :=
  length (filter (fun p => which p (rows t p)) (people t)).

(** Scores of a table, with their range distance for each relation. *)
Inductive scored : (table -> nat -> R) -> R -> R -> Prop :=
  | counts has : (forall r, personal (fun p l => has p l r)) -> scored (people_with has) 1 2
  | quantiles value a b : personal value -> 0 <= a <= b ->
      scored (quantile_score value a b) (Constants.distance_general (sensitivity_quantile a b))
        (Constants.distance_general (sensitivity_quantile_replace a b)).

(** One candidate of n, by its score. *)
Definition chosen choose (s : R) (n : nat) (q : table -> nat -> R) (t : table) (r : nat) : R :=
  if (r <? n)%nat then choose s n (q t) r else 0.

(** The winner, and its lead rounded down to a whole number. *)
Definition chosen_with_lead (s : R) (n : nat) (q : table -> nat -> R) (t : table) (a : nat * nat) : R :=
  if (fst a <? n)%nat
  then beyond s n (q t) (fst a) (INR (snd a)) - beyond s n (q t) (fst a) (INR (S (snd a)))
  else 0.

(** The k largest of n, in order, with one noise value per candidate. *)
Definition chosen_at_once (s : R) (n k : nat) (q : table -> nat -> R) (t : table) (o : list nat) : R :=
  if (length o =? k)%nat && forallb (fun r => r <? n)%nat o then one_shot s n (q t) o else 0.

(** One of the k-tuples, by the joint score. *)
Definition chosen_jointly (s : R) (N k tuples : nat) (tuple : nat -> nat -> nat)
    (has : nat -> list Row -> nat -> bool) (t : table) (i : nat) : R :=
  let counts r := number_with (fun p l => has p l r) t in
  if (i <? tuples)%nat then em s tuples (fun i => joint_score N k counts (tuple i)) i else 0.

(** One of the sets of k values, by the joint score of its best order; each set has m orders. *)
Definition chosen_set (s : R) (N k m sets : nat) (tuple : nat -> nat -> nat -> nat)
    (has : nat -> list Row -> nat -> bool) (t : table) (i : nat) : R :=
  let counts r := number_with (fun p l => has p l r) t in
  if (i <? sets)%nat
  then em s sets (fun i => best m (fun o => joint_score N k counts (tuple i o))) i else 0.

(** The single value of a person, or none. *)
Definition has_value (value : nat -> list Row -> option nat) (p : nat) (l : list Row) (r : nat) : bool :=
  match value p l with Some v => (v =? r)%nat | None => false end.

(** How far the number of people at or below a place exceeds the fraction a/b of all, in units of 1/b. *)
Definition people_short (value : nat -> list Row -> option nat) (a b : R) (t : table) (i : nat) : R :=
  b * Sensitivities.at_most value t i - a * everyone value t.

(** A number of people, with noise. *)
Definition noisy_number (eps : R) (which : nat -> list Row -> bool) (t : table) (z : Z) : R :=
  discrete_laplace eps (z - Z.of_nat (number_with which t)).

Inductive release : forall A : Type, (table -> A -> R) -> R -> R -> Prop :=
  | choosing choose s n q d d' : In choose selections -> 0 < s -> scored q d d' ->
      release nat (chosen choose s n q) (d / s) (d' / s)
  | with_lead s n q d d' : 0 < s -> scored q d d' ->
      release (nat * nat) (chosen_with_lead s n q) (d / s) (d' / s)
  | at_once s n k q d d' : 0 < s -> (1 <= k)%nat -> scored q d d' ->
      release (list nat) (chosen_at_once s n k q) (INR k * (d / s)) (INR k * (d' / s))
  | jointly s N k tuples tuple has : 0 < s -> (1 <= k)%nat -> (forall i j, (tuple i j < N)%nat) ->
      (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      release nat (chosen_jointly s N k tuples tuple has) (d / s) (2 * d / s)
  (** If nobody has two values, replacing a person moves the joint scores less far. *)
  | jointly_one s N k tuples tuple value : 0 < s -> (2 <= k)%nat ->
      (forall i j, (tuple i j < N)%nat) -> personal value ->
      release nat (chosen_jointly s N k tuples tuple (has_value value)) (2 / s) (3 / s)
  | jointly_set s N k m sets tuple has : 0 < s -> (1 <= k)%nat -> (1 <= m)%nat ->
      (forall i o j, (tuple i o j < N)%nat) -> (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      release nat (chosen_set s N k m sets tuple has) (d / s) (2 * d / s)
  | jointly_set_one s N k m sets tuple value : 0 < s -> (2 <= k)%nat -> (1 <= m)%nat ->
      (forall i o j, (tuple i o j < N)%nat) -> personal value ->
      release nat (chosen_set s N k m sets tuple (has_value value)) (2 / s) (3 / s)
  | counting eps which : 0 < eps -> personal which -> release Z (noisy_number eps which) eps eps
  (** Which numbers of people, in order, cross a noisy threshold, up to the c-th; with or without gaps. *)
  | crossing b1 b2 T c has : 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p l r)) ->
      release (list (option (option nat))) (fun t => crossed b1 b2 T c (people_with has t))
        (1 / b1 + INR c * (1 / b2)) (1 / b1 + INR c * (2 / b2))
  (** A bound: the first place that covers about a/b of the people, by a noisy threshold. *)
  | bounding b1 b2 T value a b : 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b ->
      release (list (option (option nat))) (fun t => crossed b1 b2 T 1 (people_short value a b t))
        (sensitivity_quantile a b / b1 + b / b2) (sensitivity_quantile_replace a b / b1 + b / b2)
  | silence : release unit (fun _ _ => 1) 0 0
  (** A second release, which may depend on the answer of the first. *)
  | followed A B law law2 eps eps' more more' : release A law eps eps' ->
      (forall a, release B (law2 a) more more') ->
      release (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (eps + more) (eps' + more')
  (** One answer for each of [count] groups; a person counts in at most m of them. *)
  | by_group A law eps eps' inside kept count m : 0 <= eps ->
      (forall g, release A (law g) eps (eps' g)) ->
      (forall g, personal (fun p l => kept p l g)) ->
      (forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat) ->
      release (nat -> A) (joint inside kept count law) (INR m * eps) (2 * (INR m * eps))
  (** Secret coins, such as a key. *)
  | drawn A C coins weight law eps eps' : (forall c : C, In c coins -> 0 <= weight c) ->
      (forall c, In c coins -> release A (law c) eps eps') ->
      release A (fun t a => sum coins (fun c => weight c * law c t a)) eps eps'
  | at_most A law eps eps' more more' : release A law eps eps' -> eps <= more -> eps' <= more' ->
      release A law more more'.

(** ** Each constructor has its stated cost *)

Lemma number_with_is which t :
  INR (number_with which t) = total t (fun p l => if which p l then 1 else 0).
Proof.
  unfold number_with, total. induction (people t) as [|p l IH]; [reflexivity|].
  cbn [filter sum fold_right]. fold (sum l (fun p => if which p (rows t p) then 1 else 0)).
  destruct (which p (rows t p)); cbn [length]; [rewrite S_INR|]; rewrite IH; lra.
Qed.

Lemma number_with_same which t t' : personal which -> same t t' ->
  number_with which t = number_with which t'.
Proof.
  intros P S. apply INR_eq. rewrite !number_with_is. apply total_same; [|exact S].
  intros p l l' H. now rewrite (P p l l' H).
Qed.

Lemma number_with_added which t t' p : personal which -> added t t' p ->
  number_with which t' = (number_with which t + if which p (rows t' p) then 1 else 0)%nat.
Proof.
  intros P H. apply INR_eq. rewrite plus_INR, !number_with_is.
  rewrite (total_added t t' p (fun p l => if which p l then 1 else 0)); [|intros q l l' E; now rewrite (P q l l' E)|exact H].
  destruct (which p (rows t' p)); simpl; lra.
Qed.

Lemma number_with_moves which t t' : personal which -> add_remove t t' \/ replace t t' ->
  (Z.abs (Z.of_nat (number_with which t) - Z.of_nat (number_with which t')) <= 1)%Z.
Proof.
  intros P H.
  assert (B : Rabs (INR (number_with which t') - INR (number_with which t)) <= 1).
  { assert (K : forall r : nat, personal (fun p (l : list Row) => which p l)) by (intros _; exact P).
    pose proof (count_sensitivity (fun p l (_ : nat) => which p l) K) as A.
    pose proof (count_sensitivity_replace (fun p l (_ : nat) => which p l) K) as A'.
    rewrite !number_with_is. destruct H as [H|H]; [apply (A t t' H 0%nat) | apply (A' t t' H 0%nat)]. }
  apply Rabs_le_between in B. rewrite !INR_IZR_INZ, <- minus_IZR in B.
  destruct B as [B B']. apply le_IZR in B'.
  assert (-1 <= Z.of_nat (number_with which t') - Z.of_nat (number_with which t))%Z
    by (apply le_IZR; exact B).
  lia.
Qed.

Lemma scored_is q d d' : scored q d d' ->
  distance add_remove q d /\ distance replace q d' /\
  forall t t' i, same t t' -> q t i = q t' i.
Proof.
  intros [has P|value a b P L].
  - split; [now apply count_distance|]. split; [now apply count_distance_replace|].
    intros. now apply counts_same.
  - split; [now apply quantile_distance|]. split; [now apply quantile_distance_replace|].
    intros. now apply quantiles_same.
Qed.

Definition costs {A} (near : table -> table -> Prop) (law : table -> A -> R) (eps : R) : Prop :=
  forall t t' a, near t t' -> law t a <= exp eps * law t' a.

Definition fair {A} (law : table -> A -> R) : Prop :=
  (forall t a, 0 <= law t a) /\ forall t t' a, same t t' -> law t a = law t' a.

(** A law of scores that is private at k d / s for every range distance d. *)
Lemma by_scores A q d d' k s (law : (nat -> R) -> A -> R) : 0 < s -> 0 < k -> scored q d d' ->
  (forall u u' x a, (forall n, range_distance n u u' x) -> law u a <= exp (k * (x / s)) * law u' a) ->
  let l t a := law (q t) a in
  fair l /\ costs add_remove l (k * (d / s)) /\ costs replace l (k * (d' / s)).
Proof.
  intros S K Q P l. destruct (scored_is q d d' Q) as (Ad & Re & Sm).
  split; [split|split].
  - (* x <= c x with c > 1 *)
    intros t a. unfold l.
    assert (H := P (q t) (q t) 1 a ltac:(intros n i j _ _; lra)).
    assert (1 < exp (k * (1 / s))).
    { assert (0 < k * (1 / s)) by (apply Rmult_lt_0_compat; [exact K | apply Rdiv_lt_0_compat; lra]).
      pose proof (exp_increasing 0 (k * (1 / s))) as I. rewrite exp_0 in I. now apply I. }
    nra.
  - intros t t' a H. unfold l. f_equal. apply functional_extensionality. intros i. now apply Sm.
  - intros t t' a H. apply P. intros n. now apply Ad.
  - intros t t' a H. apply P. intros n. now apply Re.
Qed.

Lemma times_one x : 1 * x = x.
Proof. apply Rmult_1_l. Qed.

(** How far the joint scores of a table's counts move. *)
Definition counts_of (has : nat -> list Row -> nat -> bool) (t : table) (r : nat) : nat :=
  number_with (fun p l => has p l r) t.

Lemma counts_of_same has t t' : (forall r, personal (fun p l => has p l r)) -> same t t' ->
  counts_of has t = counts_of has t'.
Proof. intros P H. apply functional_extensionality. intros r. now apply number_with_same. Qed.

Lemma counts_of_move N k has t t' : (1 <= k)%nat -> (forall r, personal (fun p l => has p l r)) ->
  let d := if (k =? 1)%nat then 1 else 2 in
  (add_remove t t' -> joint_distance N k (counts_of has t) (counts_of has t') d) /\
  (replace t t' -> joint_distance N k (counts_of has t) (counts_of has t') (2 * d)).
Proof. intros K P. apply (joint_moves N k has (counts_of has)); auto. intros; apply number_with_is. Qed.

(** A choice by a score of the counts with the range distance of the joint score. *)
Lemma by_counts s N k n has (score : (nat -> nat) -> nat -> R) x x' : 0 < s ->
  (forall r, personal (fun p l => has p l r)) ->
  (forall c c' x, joint_distance N k c c' x -> range_distance n (score c) (score c') x) ->
  (forall t t', add_remove t t' -> joint_distance N k (counts_of has t) (counts_of has t') x) ->
  (forall t t', replace t t' -> joint_distance N k (counts_of has t) (counts_of has t') x') ->
  let law t i := if (i <? n)%nat then em s n (score (counts_of has t)) i else 0 in
  fair law /\ costs add_remove law (x / s) /\ costs replace law (x' / s).
Proof.
  intros S P R A B law.
  assert (Use : forall t t' x i, joint_distance N k (counts_of has t) (counts_of has t') x ->
    law t i <= exp (x / s) * law t' i).
  { intros t t' y i J. unfold law. destruct (Nat.ltb_spec i n) as [I|I]; [|lra].
    apply (pure_dp_outcome n); [|exact I].
    apply (selection_pure_dp em); [right; now left | exact S | now apply R]. }
  split; [split|split].
  - intros t i. unfold law. destruct (Nat.ltb_spec i n) as [I|I]; [|lra].
    apply (selection_nonneg em); [right; now left | exact S | exact I].
  - intros t t' i H. unfold law. now rewrite (counts_of_same has t t' P H).
  - intros t t' i H. now apply Use, A.
  - intros t t' i H. now apply Use, B.
Qed.

Lemma tuples_move N k tuples tuple c c' x : (forall i j, (tuple i j < N)%nat) ->
  joint_distance N k c c' x ->
  range_distance tuples (fun i => joint_score N k c (tuple i)) (fun i => joint_score N k c' (tuple i)) x.
Proof. intros T J i j _ _. apply J; apply T. Qed.

Lemma has_value_personal value r : personal value -> personal (fun p l => has_value value p l r).
Proof. intros P p l l' H. unfold has_value. now rewrite (P p l l' H). Qed.

Lemma counts_of_one_move N k value t t' : (2 <= k)%nat -> personal value ->
  let has := has_value value in
  (add_remove t t' -> joint_distance N k (counts_of has t) (counts_of has t') 2) /\
  (replace t t' -> joint_distance N k (counts_of has t) (counts_of has t') 3).
Proof.
  intros K P has. assert (K1 : (1 <= k)%nat) by lia. split.
  { intros H. pose proof (counts_of_move N k has t t' K1 (fun r => has_value_personal value r P)) as [A _].
    rewrite (proj2 (Nat.eqb_neq k 1)) in A by lia. now apply A. }
  intros (m & p & p' & H & H'). set (c := counts_of has).
  assert (C : forall v, c t v = (c m v + if has_value value p (rows t p) v then 1 else 0)%nat)
    by (intros v; apply (number_with_added (fun p l => has_value value p l v)); [now apply has_value_personal | exact H]).
  assert (C' : forall v, c t' v = (c m v + if has_value value p' (rows t' p') v then 1 else 0)%nat)
    by (intros v; apply (number_with_added (fun p l => has_value value p l v)); [now apply has_value_personal | exact H']).
  assert (Less : forall u u', joint_distance N k u u' 2 -> joint_distance N k u u' 3)
      by (intros u u' D x y X Y; specialize (D x y X Y); lra).
    unfold has_value in C, C'.
    set (x0 := value p (rows t p)) in *. set (y0 := value p' (rows t' p')) in *. clearbody x0 y0.
    assert (None1 : (forall v, (v < N)%nat -> c t v = c m v) -> joint_distance N k (c t) (c t') 3).
    { intros E. apply Less. apply (joint_added N (c t) (c t')); [|exact K1]. intros v V. rewrite (E v V), C'.
      destruct y0 as [y|]; cbv iota beta; [destruct (y =? v)%nat|]; lia. }
    assert (None2 : (forall v, (v < N)%nat -> c t' v = c m v) -> joint_distance N k (c t) (c t') 3).
    { intros E. apply Less. apply (joint_added N (c t') (c t)); [|exact K1]. intros v V. rewrite (E v V), C.
      destruct x0 as [x|]; cbv iota beta; [destruct (x =? v)%nat|]; lia. }
    destruct x0 as [x|]; [|apply None1; intros; rewrite C; apply Nat.add_0_r].
    destruct (Nat.lt_ge_cases x N) as [X|X];
      [|apply None1; intros v V; rewrite C, (proj2 (Nat.eqb_neq x v)) by lia; lia].
    destruct y0 as [y|]; [|apply None2; intros; rewrite C'; apply Nat.add_0_r].
    destruct (Nat.lt_ge_cases y N) as [Y|Y];
      [|apply None2; intros v V; rewrite C', (proj2 (Nat.eqb_neq y v)) by lia; lia].
    destruct (Nat.eq_dec x y) as [<-|D].
    - intros a b _ _. replace (c t') with (c t); [lra|].
      apply functional_extensionality. intros v. now rewrite C, C'.
    - apply (joint_moved N k x y); [|exact K1]. repeat split; auto.
      + rewrite C, C', Nat.eqb_refl, (proj2 (Nat.eqb_neq y x)) by auto. lia.
      + rewrite C, C', Nat.eqb_refl, (proj2 (Nat.eqb_neq x y)) by auto. lia.
      + intros v V V'. now rewrite C, C', (proj2 (Nat.eqb_neq x v)), (proj2 (Nat.eqb_neq y v)) by auto.
Qed.

Lemma crossing_is b1 b2 T c has : 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p l r)) ->
  let law t := crossed b1 b2 T c (people_with has t) in
  fair law /\ costs add_remove law (1 / b1 + INR c * (1 / b2)) /\
  costs replace law (1 / b1 + INR c * (2 / b2)).
Proof.
  intros B1 B2 P law.
  assert (F : fair law).
  { split; [intros; now apply crossed_nonneg|]. intros t t' a H. unfold law. f_equal.
    apply functional_extensionality. intros i. now apply counts_same. }
  split; [exact F|]. split.
  - intros t t' a (p & [H|H]).
    + apply (crossed_moves b1 b2 T B1 B2 1 1); try lra.
      intros i. pose proof (people_with_added has P t t' p i H). lra.
    + eapply Rle_trans; [apply (crossed_moves b1 b2 T B1 B2 0 1 c (people_with has t) (people_with has t')); try lra|].
      * intros i. pose proof (people_with_added has P t' t p i H). lra.
      * apply Rmult_le_compat_r; [apply F|]. apply exp_le, Rplus_le_compat_r.
        assert (0 < / b1) by now apply Rinv_0_lt_compat. unfold Rdiv. lra.
  - intros t t' a H. apply (crossed_moves b1 b2 T B1 B2 1 2); try lra.
    intros i. pose proof (count_sensitivity_replace has P t t' H i) as S. apply Rabs_le_between in S. lra.
Qed.

Lemma bounding_is b1 b2 T value a b : 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b ->
  let law t := crossed b1 b2 T 1 (people_short value a b t) in
  fair law /\ costs add_remove law (sensitivity_quantile a b / b1 + b / b2) /\
  costs replace law (sensitivity_quantile_replace a b / b1 + b / b2).
Proof.
  intros B1 B2 P L law.
  assert (Same : forall test t t', same t t' -> number_of value test t = number_of value test t')
    by (intros test t t' H; apply total_same; [now apply test_personal | exact H]).
  assert (F : fair law).
  { split; [intros; now apply crossed_nonneg|]. intros t t' o H. unfold law. f_equal.
    apply functional_extensionality. intros i. unfold people_short, everyone, Sensitivities.at_most.
    now rewrite !(Same _ t t' H). }
  assert (Add : forall t t' p i, added t t' p -> people_short value a b t' i = people_short value a b t i
    + match value p (rows t' p) with Some v => (if (v <=? i)%nat then b else 0) - a | None => 0 end).
  { intros t t' p i H. unfold people_short, everyone, Sensitivities.at_most, number_of.
    rewrite (total_added t t' p _ (test_personal value P (fun _ => true)) H).
    rewrite (total_added t t' p _ (test_personal value P (fun v => v <=? i)%nat) H).
    destruct (value p (rows t' p)) as [v|]; [destruct (v <=? i)%nat|]; ring. }
  assert (Move : forall h x t t' o, 0 <= h <= x ->
    (forall i, 0 <= h + people_short value a b t i - people_short value a b t' i <= b) ->
    law t o <= exp (x / b1 + b / b2) * law t' o).
  { intros h x t t' o H S.
    eapply Rle_trans; [apply (crossed_moves b1 b2 T B1 B2 h b 1 (people_short value a b t)
                                 (people_short value a b t')); auto; lra|].
    apply Rmult_le_compat_r; [apply F|]. apply exp_le. simpl (INR 1). rewrite Rmult_1_l.
    apply Rplus_le_compat_r, Rmult_le_compat_r; [now apply Rlt_le, Rinv_0_lt_compat | lra]. }
  pose proof (Rmax_l a (b - a)) as M1. pose proof (Rmax_r a (b - a)) as M2.
  split; [exact F|]. split.
  - intros t t' o (p & [H|H]).
    + apply (Move (b - a)); [unfold sensitivity_quantile; lra|]. intros i. rewrite (Add t t' p i H).
      destruct (value p (rows t' p)) as [v|]; [destruct (v <=? i)%nat|]; lra.
    + apply (Move a); [unfold sensitivity_quantile; lra|]. intros i. rewrite (Add t' t p i H).
      destruct (value p (rows t p)) as [v|]; [destruct (v <=? i)%nat|]; lra.
  - intros t t' o (m & p & p' & H & H').
    assert (D : forall i, people_short value a b t i - people_short value a b t' i =
      match value p (rows t p) with Some v => (if (v <=? i)%nat then b else 0) - a | None => 0 end
      - match value p' (rows t' p') with Some v => (if (v <=? i)%nat then b else 0) - a | None => 0 end)
      by (intros i; rewrite (Add m t p i H), (Add m t' p' i H'); ring).
    assert (Use : forall h, 0 <= h <= b ->
      (forall i, 0 <= h + (people_short value a b t i - people_short value a b t' i) <= b) ->
      law t o <= exp (sensitivity_quantile_replace a b / b1 + b / b2) * law t' o).
    { intros h Hh S. apply (Move h); [unfold sensitivity_quantile_replace; lra|].
      intros i. specialize (S i). lra. }
    destruct (value p (rows t p)) as [v|], (value p' (rows t' p')) as [w|].
    + destruct (Nat.le_gt_cases v w).
      * apply (Use 0); [lra|]. intros i. rewrite D.
        destruct (Nat.leb_spec v i), (Nat.leb_spec w i); try lia; lra.
      * apply (Use b); [lra|]. intros i. rewrite D.
        destruct (Nat.leb_spec v i), (Nat.leb_spec w i); try lia; lra.
    + apply (Use a); [lra|]. intros i. rewrite D. destruct (v <=? i)%nat; lra.
    + apply (Use (b - a)); [lra|]. intros i. rewrite D. destruct (w <=? i)%nat; lra.
    + apply (Use 0); [lra|]. intros i. rewrite D. lra.
Qed.

Lemma followed_costs A B near (law : table -> A -> R) (law2 : A -> table -> B -> R) eps more :
  fair law -> (forall a, fair (law2 a)) -> costs near law eps -> (forall a, costs near (law2 a) more) ->
  costs near (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (eps + more).
Proof.
  intros (N & _) F P P2 t t' o H. rewrite exp_plus.
  replace (exp eps * exp more * (law t' (fst o) * law2 (fst o) t' (snd o)))
    with ((exp eps * law t' (fst o)) * (exp more * law2 (fst o) t' (snd o))) by ring.
  apply Rmult_le_compat; [apply N | apply (F (fst o)) | now apply P | now apply P2].
Qed.

Lemma costs_more A near (law : table -> A -> R) eps more : fair law -> costs near law eps ->
  eps <= more -> costs near law more.
Proof.
  intros (N & _) P L t t' a H. apply Rle_trans with (1 := P t t' a H).
  apply Rmult_le_compat_r; [apply N | now apply exp_le].
Qed.

Theorem release_is A law eps eps' : release A law eps eps' ->
  fair law /\ costs add_remove law eps /\ costs replace law eps'.
Proof.
  induction 1 as
    [choose s n q d d' C Pos Q | s n q d d' Pos Q | s n k q d d' Pos K Q
    | s N k tuples tuple has Pos K T P d | s N k tuples tuple value Pos K T P
    | s N k m sets tuple has Pos K M T P d | s N k m sets tuple value Pos K M T P | eps which E P
    | b1 b2 T c has B1 B2 P | b1 b2 T value a b B1 B2 P L |
    | A B law law2 eps eps' more more' _ (F & Ad & Re) _ IH
    | A law eps eps' inside kept count m E _ IH K F
    | A C coins weight law eps eps' W _ IH
    | A law eps eps' more more' _ (F & Ad & Re) L L'].
  - rewrite <- (times_one (d / s)), <- (times_one (d' / s)).
    apply (by_scores nat q d d' 1 s (fun u r => if (r <? n)%nat then choose s n u r else 0));
      [exact Pos | lra | exact Q |].
    intros u u' x r H. rewrite times_one. destruct (Nat.ltb_spec r n) as [R|R]; [|lra].
    apply (pure_dp_outcome n); [now apply selection_pure_dp | exact R].
  - rewrite <- (times_one (d / s)), <- (times_one (d' / s)).
    apply (by_scores (nat * nat) q d d' 1 s (fun u a => if (fst a <? n)%nat
      then beyond s n u (fst a) (INR (snd a)) - beyond s n u (fst a) (INR (S (snd a))) else 0));
      [exact Pos | lra | exact Q |].
    intros u u' x a H. rewrite times_one. destruct (Nat.ltb_spec (fst a) n) as [R|R]; [|lra].
    apply lead_pure_dp; auto. rewrite S_INR. lra.
  - apply (by_scores (list nat) q d d' (INR k) s (fun u o =>
      if (length o =? k)%nat && forallb (fun r => r <? n)%nat o then one_shot s n u o else 0));
      [exact Pos | apply lt_0_INR; lia | exact Q |].
    intros u u' x o H. destruct (Nat.eqb_spec (length o) k) as [<-|_]; cbn [andb]; [|lra].
    destruct (forallb (fun r => r <? n)%nat o) eqn:O; [|lra].
    apply one_shot_pure_dp; [exact Pos | | apply H].
    intros r R. rewrite forallb_forall in O. now apply Nat.ltb_lt, O.
  - apply (by_counts s N k tuples has (fun c i => joint_score N k c (tuple i))); auto;
      [intros; now apply tuples_move | |]; intros t t'; now apply counts_of_move.
  - apply (by_counts s N k tuples (has_value value) (fun c i => joint_score N k c (tuple i))); auto;
      [intros; now apply has_value_personal | intros; now apply tuples_move | |];
      intros t t'; now apply counts_of_one_move.
  - apply (by_counts s N k sets has (fun c i => best m (fun o => joint_score N k c (tuple i o)))); auto;
      [intros; now apply set_moves | |]; intros t t'; now apply counts_of_move.
  - apply (by_counts s N k sets (has_value value) (fun c i => best m (fun o => joint_score N k c (tuple i o)))); auto;
      [intros; now apply has_value_personal | intros; now apply set_moves | |];
      intros t t'; now apply counts_of_one_move.
  - split; [split|split].
    + intros t z. now apply Rlt_le, discrete_laplace_pos.
    + intros t t' z H. unfold noisy_number. now rewrite (number_with_same which t t' P H).
    + intros t t' z H. apply noisy_count_pure; [exact E|]. apply number_with_moves; auto.
    + intros t t' z H. apply noisy_count_pure; [exact E|]. apply number_with_moves; auto.
  - now apply crossing_is.
  - now apply bounding_is.
  - split; [split|split]; try (intros; lra); intros t t' a _; rewrite exp_0; lra.
  - split; [split|split].
    + intros t o. apply Rmult_le_pos; [apply F | apply (IH (fst o))].
    + intros t t' o H. rewrite (proj2 F t t' _ H). f_equal. now apply (IH (fst o)).
    + apply followed_costs; auto; intros a; apply (IH a).
    + apply followed_costs; auto; intros a; apply (IH a).
  - assert (N : forall g t o, 0 <= law g t o) by (intros g; apply (IH g)).
    assert (Sm : forall g t t' o, same t t' -> law g t o = law g t' o) by (intros g; apply (IH g)).
    assert (Pr : forall g t t' o, add_remove t t' -> law g t o <= exp eps * law g t' o)
      by (intros g; apply (IH g)).
    assert (X : forall l, NoDup l -> incl l (candidates count) -> (length l <= m)%nat ->
                sum l (fun _ => eps) <= INR m * eps).
    { intros l _ _ L. rewrite sum_const. apply Rmult_le_compat_r; [exact E | now apply le_INR]. }
    split; [split|split].
    + intros t o. now apply joint_nonneg.
    + intros t t' o H. apply prod_ext. intros g _. apply Sm. intros p. now apply rows_part_same.
    + intros t t' o. now apply (groups_pure_dp inside kept K count law (fun _ => eps) N Sm Pr m).
    + intros t t' o. now apply (groups_pure_dp_replace inside kept K count law (fun _ => eps) N Sm Pr m).
  - split; [split|split].
    + intros t a. apply sum_nonneg. intros c H. apply Rmult_le_pos; [now apply W | now apply (IH c)].
    + intros t t' a H. apply sum_ext. intros c I. f_equal. now apply (IH c).
    + intros t t' a H. apply average_private; [exact W|]. intros c I. now apply (IH c).
    + intros t t' a H. apply average_private; [exact W|]. intros c I. now apply (IH c).
  - split; [exact F|]. split; [now apply costs_more with eps | now apply costs_more with eps'].
Qed.

(** For any set of answers. *)
Theorem answer_pure_dp A law eps eps' (answers : list A) t t' : release A law eps eps' ->
  (add_remove t t' -> sum answers (law t) <= exp eps * sum answers (law t')) /\
  (replace t t' -> sum answers (law t) <= exp eps' * sum answers (law t')).
Proof.
  intros R. destruct (release_is A law eps eps' R) as (_ & Ad & Re).
  split; intros H; rewrite <- sum_scal; apply sum_le; intros a _; auto.
Qed.
End Answers.
