(** docs/proofs/question-sensitivities.md: how far one person moves the scores of
    every question, under both neighbour relations. *)
From Coq Require Import Reals Lra Lia List Arith Permutation.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism People.
Import ListNotations.
Open Scope R_scope.

Section Sensitivities.
Context {Row : Type}.
Notation table := (table Row).

(** ** People per candidate, or per interval of a grid *)

(** [has p l r]: whether a row of person [p], who has the rows [l], has candidate [r]. *)
Definition people_with (has : nat -> list Row -> nat -> bool) (t : table) (r : nat) : R :=
  total t (fun p l => if has p l r then 1 else 0).

Section Counts.
Variable has : nat -> list Row -> nat -> bool.
Hypothesis has_personal : forall r, personal (fun p l => has p l r).

Lemma has_number r : personal (fun p (l : list Row) => if has p l r then 1 else 0).
Proof. intros p l l' H. now rewrite (has_personal r p l l' H). Qed.

Lemma people_with_added t t' p r : added t t' p ->
  0 <= people_with has t' r - people_with has t r <= 1.
Proof.
  intros H. unfold people_with. rewrite (total_added t t' p _ (has_number r) H).
  destruct (has p (rows t' p) r); lra.
Qed.

Theorem count_sensitivity : sensitivity add_remove (people_with has) 1.
Proof.
  intros t t' (p & [H|H]) r; pose proof (people_with_added _ _ p r H);
    apply Rabs_le_between; lra.
Qed.

Theorem count_monotonic : monotonic add_remove (people_with has).
Proof.
  intros t t' (p & [H|H]); [left|right]; intros r;
    pose proof (people_with_added _ _ p r H); lra.
Qed.

Theorem count_distance : distance add_remove (people_with has) 1.
Proof. apply distance_monotonic; [apply count_sensitivity | apply count_monotonic]. Qed.

Theorem count_sensitivity_replace : sensitivity replace (people_with has) 1.
Proof.
  intros t t' H r. destruct (total_replaced t t' _ (has_number r) H) as (p & p' & E).
  unfold people_with. rewrite E.
  destruct (has p _ r), (has p' _ r); apply Rabs_le_between; lra.
Qed.

Theorem count_distance_replace : distance replace (people_with has) 2.
Proof. replace 2 with (2 * 1) by ring. apply distance_general, count_sensitivity_replace. Qed.
End Counts.

(** ** Quantiles *)

(** [value p l]: the place on the grid of the value that the rule gives to person [p] with the rows [l], or
    [None] for a person without a value. *)
Section Quantiles.
Variable value : nat -> list Row -> option nat.
Hypothesis value_personal : personal value.

Definition number_of (test : nat -> bool) (t : table) : R :=
  total t (fun p l => match value p l with Some v => if test v then 1 else 0 | None => 0 end).

(** N, A_i and A_(i-1) (with A_(-1) = 0). *)
Definition everyone (t : table) : R := number_of (fun _ => true) t.
Definition at_most (t : table) (i : nat) : R := number_of (fun v => v <=? i)%nat t.
Definition less_than (t : table) (i : nat) : R := number_of (fun v => v <? i)%nat t.

(** The score for the level a/b in units of 1/b, and the score used elsewhere. *)
Definition quantile_score (a b : R) (t : table) (i : nat) : R :=
  - Rmax 0 (Rmax (a * everyone t - b * at_most t i) (b * less_than t i - a * everyone t)).

Definition plain_score (a b : R) (t : table) (i : nat) : R :=
  - Rabs (a * everyone t - b * at_most t i).

Lemma test_personal (test : nat -> bool) : personal (fun p (l : list Row) =>
  match value p l with Some v => if test v then 1 else 0 | None => 0 end).
Proof. intros p l l' H. now rewrite (value_personal p l l' H). Qed.

(** What one person adds to N, A_i and A_(i-1): either nothing, or 1 to N and 0 or 1 to each of the others, to
    A_(i-1) no more than to A_i. *)
Lemma person_adds t t' p i : added t t' p ->
  exists n x y, everyone t' = everyone t + n /\ at_most t' i = at_most t i + x /\
    less_than t' i = less_than t i + y /\
    ((n = 0 /\ x = 0 /\ y = 0) \/ (n = 1 /\ x = 0 /\ y = 0) \/
     (n = 1 /\ x = 1 /\ y = 0) \/ (n = 1 /\ x = 1 /\ y = 1)).
Proof.
  intros H. unfold everyone, at_most, less_than, number_of.
  rewrite (total_added t t' p _ (test_personal (fun _ => true)) H).
  rewrite (total_added t t' p _ (test_personal (fun v => v <=? i)%nat) H).
  rewrite (total_added t t' p _ (test_personal (fun v => v <? i)%nat) H).
  destruct (value p (rows t' p)) as [v|].
  - exists 1, (if (v <=? i)%nat then 1 else 0), (if (v <? i)%nat then 1 else 0).
    split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|].
    destruct (Nat.leb_spec v i), (Nat.ltb_spec v i); try lia;
      [right; right; right | right; right; left | right; left]; auto.
  - exists 0, 0, 0. split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. auto.
Qed.

Lemma max_moves x x' y y' M : Rabs (x' - x) <= M -> Rabs (y' - y) <= M ->
  Rabs (- Rmax 0 (Rmax x' y') - - Rmax 0 (Rmax x y)) <= M.
Proof.
  intros X Y. apply Rabs_le_between in X. apply Rabs_le_between in Y.
  apply Rabs_le_between. unfold Rmax.
  repeat (destruct Rle_dec; simpl in * ); lra.
Qed.

Lemma abs_moves x x' M : Rabs (x' - x) <= M -> Rabs (- Rabs x' - - Rabs x) <= M.
Proof.
  intros X. replace (- Rabs x' - - Rabs x) with (- (Rabs x' - Rabs x)) by ring.
  rewrite Rabs_Ropp. eapply Rle_trans; [apply Rabs_triang_inv2 | exact X].
Qed.

Variables a b : R.
Hypothesis level : 0 <= a <= b.

Lemma larger_part : a <= Rmax a (b - a) /\ b - a <= Rmax a (b - a) /\ Rmax a (b - a) <= b.
Proof. split; [apply Rmax_l|]. split; [apply Rmax_r|]. apply Rmax_lub; lra. Qed.

Ltac small_change := apply Rabs_le_between; pose proof larger_part; lra.

Theorem quantile_sensitivity : sensitivity add_remove (quantile_score a b) (Rmax a (b - a)).
Proof.
  intros t t' (p & [H|H]) i;
    destruct (person_adds _ _ p i H) as (n & x & y & N & X & Y & C);
    unfold quantile_score; rewrite N, X, Y; apply max_moves;
    destruct C as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    small_change.
Qed.

Theorem plain_sensitivity : sensitivity add_remove (plain_score a b) (Rmax a (b - a)).
Proof.
  intros t t' (p & [H|H]) i;
    destruct (person_adds _ _ p i H) as (n & x & y & N & X & Y & C);
    unfold plain_score; rewrite N, X; apply abs_moves;
    destruct C as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    small_change.
Qed.

Theorem quantile_distance : distance add_remove (quantile_score a b) (2 * Rmax a (b - a)).
Proof. apply distance_general, quantile_sensitivity. Qed.

Theorem plain_distance : distance add_remove (plain_score a b) (2 * Rmax a (b - a)).
Proof. apply distance_general, plain_sensitivity. Qed.

(** Replacing a person, including a person with a value by one without, and the reverse. *)
Ltac replaced H i :=
  destruct H as (m & p & p' & H & H');
  destruct (person_adds _ _ p i H) as (n & x & y & N & X & Y & C);
  destruct (person_adds _ _ p' i H') as (n' & x' & y' & N' & X' & Y' & C').

Theorem quantile_sensitivity_replace : sensitivity replace (quantile_score a b) b.
Proof.
  intros t t' H i. replaced H i.
  unfold quantile_score. rewrite N, X, Y, N', X', Y'. apply max_moves;
    destruct C as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    destruct C' as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    small_change.
Qed.

Theorem plain_sensitivity_replace : sensitivity replace (plain_score a b) b.
Proof.
  intros t t' H i. replaced H i.
  unfold plain_score. rewrite N, X, N', X'. apply abs_moves;
    destruct C as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    destruct C' as [(-> & -> & ->)|[(-> & -> & ->)|[(-> & -> & ->)|(-> & -> & ->)]]];
    small_change.
Qed.

Theorem quantile_distance_replace : distance replace (quantile_score a b) (2 * b).
Proof. apply distance_general, quantile_sensitivity_replace. Qed.

Theorem plain_distance_replace : distance replace (plain_score a b) (2 * b).
Proof. apply distance_general, plain_sensitivity_replace. Qed.
End Quantiles.

(** The score is zero exactly at a true quantile, A_(i-1) <= (a/b) N <= A_i. *)
Theorem quantile_score_zero value a b t i :
  quantile_score value a b t i = 0 <->
  b * less_than value t i <= a * everyone value t <= b * at_most value t i.
Proof.
  unfold quantile_score. split.
  - intros E.
    pose proof (Rmax_l (a * everyone value t - b * at_most value t i)
                       (b * less_than value t i - a * everyone value t)).
    pose proof (Rmax_r (a * everyone value t - b * at_most value t i)
                       (b * less_than value t i - a * everyone value t)).
    set (z := Rmax (a * _ - _) _) in *.
    pose proof (Rmax_r 0 z). lra.
  - intros H. rewrite Rmax_left; [lra|]. apply Rmax_lub; lra.
Qed.

End Sensitivities.
