(** docs/proofs/sampling.md, "A program that runs": the sampler of theorem 1 with every coin decided by whole
    numbers. It is the same program as the one over real numbers. This file also defines its run on a tape of
    bits. *)
From Coq Require Import Reals Lra Lia List Arith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Machine Programs UniformBelow Comparison Heads.
Import ListNotations.
Open Scope R_scope.

(** [Comparison.ask], with whole numbers on both sides of 2^w c. *)
Definition whole_ask (low high : nat -> nat) (step : nat) (state : nat * nat) : program (nat * nat + bool) :=
  let (w, U) := state in
  if (S U <=? low w)%nat then Return (inr true)
  else if (high w <=? U)%nat then Return (inr false)
  else bind (word step U) (fun V => Return (inl ((w + step)%nat, V))).

Lemma whole_ask_is low high step :
  whole_ask low high step = ask (fun w => INR (low w)) (fun w => INR (high w)) step.
Proof.
  apply functional_extensionality. intros [w U]. unfold whole_ask, ask.
  destruct (Nat.leb_spec (S U) (low w)) as [L|L], (Rle_dec (INR U + 1) (INR (low w))) as [R|R];
    try reflexivity.
  - exfalso. apply R. rewrite <- S_INR. now apply le_INR.
  - exfalso. rewrite <- S_INR in R. apply INR_le in R. lia.
  - destruct (Nat.leb_spec (high w) U) as [G|G], (Rle_dec (INR (high w)) (INR U)) as [Q|Q]; try reflexivity.
    + exfalso. apply Q. now apply le_INR.
    + exfalso. apply INR_le in Q. lia.
Qed.

(** A coin from a word of [w] bits, with [step] more bits while it is undecided. *)
Definition whole_coin (low high : nat -> nat) (step w : nat) : program bool :=
  bind (word w 0) (fun U => iterate (whole_ask low high step) (w, U)).

Theorem whole_coin_is low high step w :
  whole_coin low high step w = flip (fun w => INR (low w)) (fun w => INR (high w)) step w (fun _ => None).
Proof. unfold whole_coin, flip, is_below. now rewrite whole_ask_is. Qed.

(** A coin for everyone, and a uniform choice among the heads. *)
Definition whole_sampler (low high : nat -> nat -> nat) (step w n : nat) : program (option nat) :=
  head_or_none (fun t => whole_coin (low t) (high t) step w) (candidates n).

Theorem whole_sampler_law s n q low high step w r : 0 < s -> (1 <= step)%nat -> (r < n)%nat ->
  let chance t := exp (- ((best n q - q t) / s)) in
  (forall t w, INR (low t w) <= 2 ^ w * chance t <= INR (high t w)) ->
  (forall t w, 2 ^ w * chance t - 1 <= INR (low t w) /\ INR (high t w) <= 2 ^ w * chance t + 1) ->
  has_law (whole_sampler low high step w n) (is_answer r) (pf s n q r).
Proof.
  intros S St R chance E N. apply uniform_head_program_law; [exact R|].
  intros t T. rewrite whole_coin_is.
  assert (C : coin s n q t = chance t) by (unfold coin, chance; f_equal; field; lra).
  rewrite C. apply flip_law; auto; try discriminate.
  rewrite <- C. split; [apply Rlt_le, exp_pos|]. now apply coin_le_1.
Qed.

(** ** A program's run on a tape of bits: its answer, and the remaining bits *)
Fixpoint run {A} (steps : nat) (p : program A) (tape : list bool) : option (A * list bool) :=
  match p, steps with
  | Return a, _ => Some (a, tape)
  | _, O => None
  | Draw k, S steps => match tape with [] => None | b :: tape => run steps (k b) tape end
  | Later p, S steps => run steps p tape
  end.

(** All tapes of a length. *)
Fixpoint tapes (length : nat) : list (list bool) :=
  match length with
  | O => [[]]
  | S length => map (cons true) (tapes length) ++ map (cons false) (tapes length)
  end.

Definition of_run {A} (f : A -> R) (r : option (A * list bool)) : R :=
  match r with Some (a, _) => f a | None => 0 end.

(** The first [steps] bits are enough for [steps] steps. *)
Lemma run_average {A} steps (p : program A) f length : (steps <= length)%nat ->
  sum (tapes length) (fun tape => of_run f (run steps p tape)) = 2 ^ length * mass steps p f.
Proof.
  assert (All : forall n (x : R), sum (tapes n) (fun _ => x) = 2 ^ n * x).
  { induction n as [|n IH]; intros x; [simpl; ring|]. cbn [tapes]. rewrite sum_app, !sum_map, !IH. simpl. ring. }
  revert p length. induction steps as [|steps IH]; intros p length L.
  - destruct p; cbn [run of_run mass]; rewrite All; ring.
  - destruct p as [a|k|p].
    + cbn [run of_run]. rewrite All, mass_return. reflexivity.
    + destruct length as [|length]; [lia|]. rewrite mass_draw. cbn [tapes]. rewrite sum_app, !sum_map.
      cbn [run]. rewrite (IH (k true)), (IH (k false)) by lia. simpl. field.
    + cbn [run]. rewrite mass_later. apply IH. lia.
Qed.

(** So the law is the limit of the share of tapes that give an answer. *)
Theorem tapes_law {A} (p : program A) f x : has_law p f x <->
  is_lim_seq (fun n => sum (tapes n) (fun tape => of_run f (run n p tape)) / 2 ^ n) x.
Proof.
  unfold has_law. split; apply is_lim_seq_ext; intros n; rewrite (run_average n p f n) by lia; field;
    apply pow_nonzero; lra.
Qed.
