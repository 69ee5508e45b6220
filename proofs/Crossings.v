(** docs/proofs/above-threshold.md, from the counts of a table: the chances exist, and the cost for a person
    who is added, removed or replaced. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism AboveThreshold.
Import ListNotations.
Open Scope R_scope.

Section Exists.
Variables b1 b2 T : R.
Hypothesis b1_pos : 0 < b1.
Hypothesis b2_pos : 0 < b2.

Lemma answer_at_most x q a : sound a -> 0 <= answer_chance b2 T x q a <= 1.
Proof.
  intros S. split; [now apply answer_nonneg|].
  destruct a as [| |g g']; cbn [answer_chance].
  - pose proof (tail_range b2 b2_pos (T + x - q)). lra.
  - pose proof (tail_range b2 b2_pos (T + x - q)). lra.
  - pose proof (tail_range b2 b2_pos (T + x - q + g)). pose proof (tail_range b2 b2_pos (T + x - q + g')). lra.
Qed.

Lemma chances_at_most x o : all_sound o -> 0 <= chances b2 T x o <= 1.
Proof.
  induction 1 as [|[q a] o S _ IH]; cbn [chances]; [lra|].
  pose proof (answer_at_most x q a S). nra.
Qed.

Lemma transcript_at_most o B : all_sound o -> 0 <= B -> transcript b1 b2 T o B <= 1.
Proof.
  intros S HB.
  assert (D : forall x, is_derive (fun x => - exp (- x / b1)) x (/ b1 * exp (- x / b1)))
    by (intros x; auto_derive; [auto | unfold Rdiv; ring]).
  assert (C : cont (fun x => / b1 * exp (- x / b1))).
  { intros x. apply (ex_derive_continuous (fun x => / b1 * exp (- x / b1))). auto_derive. auto. }
  apply Rle_trans with (int (fun x => / b1 * exp (- x / b1)) 0 B).
  - apply int_le; [exact HB | now apply cont_density | exact C |].
    intros x _. pose proof (chances_at_most x o S). pose proof (exp_pos (- x / b1)).
    pose proof (Rinv_0_lt_compat b1 b1_pos).
    assert (0 < / b1 * exp (- x / b1)) by (now apply Rmult_lt_0_compat). nra.
  - rewrite (int_derive (fun x => - exp (- x / b1)) (fun x => / b1 * exp (- x / b1))); [|exact D|exact C].
    replace (- 0 / b1) with 0 by (field; lra). rewrite exp_0. pose proof (exp_pos (- B / b1)). lra.
Qed.

(** The chance of the answers. *)
Definition chance (o : list (R * answer)) : R :=
  real (Lim_seq (fun n => transcript b1 b2 T o (INR n))).

Theorem chance_is o : all_sound o -> is_chance b1 b2 T o (chance o).
Proof.
  intros S. apply Lim_seq_correct', ex_finite_lim_seq_incr with 1.
  - intros n. apply transcript_grows; auto. rewrite S_INR. pose proof (pos_INR n). lra.
  - intros n. apply transcript_at_most; [exact S | apply pos_INR].
Qed.

Theorem above_threshold_pure_dp h d o o' : 0 <= h -> within_shift h d o o' ->
  chance o <= exp (h / b1 + INR (crossings o) * (d / b2)) * chance o'.
Proof.
  intros H W. destruct (shift_sound h d o o' W) as [S S'].
  apply (above_threshold_private b1 b2 T b1_pos b2_pos h d o o'); auto using chance_is.
Qed.

(** The answer about a value: below, above, or above by at least g and less than g + 1. *)
Definition said (a : option (option nat)) : answer :=
  match a with
  | None => Below
  | Some None => Above
  | Some (Some g) => Within (INR g) (INR (S g))
  end.

(** The answers to the values q 0, q 1, ..., with at most c of them above. *)
Definition crossed (c : nat) (q : nat -> R) (a : list (option (option nat))) : R :=
  let o := combine (map q (candidates (length a))) (map said a) in
  if (crossings o <=? c)%nat then chance o else 0.

Lemma said_sound (l : list nat) (q : nat -> R) a : all_sound (combine (map q l) (map said a)).
Proof.
  revert a. induction l as [|i l IH]; intros [|x a]; simpl; try constructor; [|apply IH].
  destruct x as [[g|]|]; cbn [said sound snd]; auto. rewrite S_INR. lra.
Qed.

Lemma crossings_same (q q' : nat -> R) (l : list nat) m : crossings (combine (map q l) m) = crossings (combine (map q' l) m).
Proof.
  revert m. induction l as [|i l IH]; intros [|x m]; simpl; try reflexivity. now rewrite (IH m).
Qed.

Lemma shift_of h d (q q' : nat -> R) (l : list nat) a : (forall i, 0 <= h + q i - q' i <= d) ->
  within_shift h d (combine (map q l) (map said a)) (combine (map q' l) (map said a)).
Proof.
  intros H. revert a. induction l as [|i l IH]; intros [|x a]; simpl; try exact I.
  split; [reflexivity|]. split; [|auto].
  destruct x as [[g|]|]; cbn [said sound]; auto. rewrite S_INR. lra.
Qed.

Lemma crossed_moves h d c q q' a : 0 <= h -> 0 <= d -> (forall i, 0 <= h + q i - q' i <= d) ->
  crossed c q a <= exp (h / b1 + INR c * (d / b2)) * crossed c q' a.
Proof.
  intros Hh Hd H. unfold crossed. rewrite (crossings_same q' q).
  destruct (Nat.leb_spec (crossings (combine (map q (candidates (length a))) (map said a))) c) as [L|L]; [|lra].
  set (o := combine (map q (candidates (length a))) (map said a)) in *.
  set (o' := combine (map q' (candidates (length a))) (map said a)).
  assert (O' : 0 <= chance o').
  { apply Rle_trans with (transcript b1 b2 T o' 0).
    - unfold transcript, int. rewrite RInt_point. apply Rle_refl.
    - apply transcript_below; [exact b1_pos | exact b2_pos | apply said_sound | apply chance_is, said_sound | lra]. }
  eapply Rle_trans; [apply (above_threshold_pure_dp h d o o'); [exact Hh | now apply shift_of]|].
  - apply Rmult_le_compat_r; [exact O'|]. apply exp_le. apply Rplus_le_compat_l.
    apply Rmult_le_compat_r; [|now apply le_INR].
    apply Rmult_le_pos; [exact Hd | now apply Rlt_le, Rinv_0_lt_compat].
Qed.

Lemma crossed_nonneg c q a : 0 <= crossed c q a.
Proof.
  pose proof (crossed_moves 1 1 c q q a ltac:(lra) ltac:(lra) ltac:(intros; lra)) as H.
  assert (1 < exp (1 / b1 + INR c * (1 / b2))); [|nra].
  assert (0 < 1 / b1) by (apply Rdiv_lt_0_compat; lra). assert (0 < 1 / b2) by (apply Rdiv_lt_0_compat; lra).
  pose proof (pos_INR c).
  assert (P : 0 < 1 / b1 + INR c * (1 / b2)) by nra.
  pose proof (exp_increasing 0 _ P) as E. now rewrite exp_0 in E.
Qed.
End Exists.
