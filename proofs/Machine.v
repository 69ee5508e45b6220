(** What is assumed about the machine: docs/proofs/sampling.md, "What is assumed".
    No other file assumes anything about the machine.

    Arithmetic. [fl] rounds to the nearest float64, ties to even, with gradual underflow;
    an operation of the machine is the operation on real numbers followed by [fl].
    Overflow is not modelled: the page argues separately that nothing overflows.

    Elementary functions. They are fields of the record [machine] (float_exp for NumPy's and Python's exp,
    float_log for both, [math_log1p] and [math_expm1] for Python's): a theorem that needs
    their accuracy takes such a record, and uses nothing else about them.

    Bits. Bits are ideal: a program that draws one continues with either value with
    probability 1/2 ([fair]), whatever was drawn before. *)
From Coq Require Import Reals ZArith Lra.
From Flocq Require Import Core.
Open Scope R_scope.

Notation emin := (-1074)%Z.
Notation prec := 53%Z.
Definition format := generic_format radix2 (FLT_exp emin prec).
Definition fl (x : R) : R := round radix2 (FLT_exp emin prec) ZnearestE x.

(** The unit of rounding. *)
Definition u : R := / 2 ^ 53.

(** Relative error at most 2^-49 on an interval. *)
Definition accurate (f float_f : R -> R) (low high : R) : Prop :=
  forall x, format x -> low <= x <= high ->
    Rabs (float_f x - f x) <= / 2 ^ 49 * Rabs (f x).

Record machine := {
  float_exp : R -> R;
  float_log : R -> R;
  float_log1p : R -> R;
  float_expm1 : R -> R;
  math_log1p : R -> R;
  math_expm1 : R -> R;
  exp_accurate : accurate exp float_exp (-601) 601;
  log_accurate : accurate ln float_log (1 / 2) (2 ^ 64);
  log_accurate_in_256ths : forall i : nat, (1 <= i <= 256)%nat ->
    Rabs (float_log (INR i / 256) - ln (INR i / 256)) <= / 2 ^ 49 * Rabs (ln (INR i / 256));
  log1p_accurate : accurate (fun x => ln (1 + x)) float_log1p 0 2;
  expm1_accurate : accurate (fun x => exp x - 1) float_expm1 0 2;
  math_log1p_accurate : forall x, format x -> - (1 / 2) <= x < 0 ->
    Rabs (math_log1p x - ln (1 + x)) <= / 2 ^ 49 * Rabs (ln (1 + x));
  math_expm1_accurate : accurate (fun x => exp x - 1) math_expm1 (-601) 500
}.

(** The hypotheses do not contradict each other: exact functions satisfy them. *)
Definition exact_machine : machine.
Proof.
  assert (E : forall x, Rabs (x - x) <= / 2 ^ 49 * Rabs x).
  { intros x. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
    apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra | apply Rabs_pos]. }
  refine {| float_exp := exp; float_log := ln; float_log1p := fun x => ln (1 + x);
            float_expm1 := fun x => exp x - 1; math_log1p := fun x => ln (1 + x);
            math_expm1 := fun x => exp x - 1 |}; try (intros x _ _; apply E).
  intros i _. apply E.
Qed.

(** The probability of either value of a bit. *)
Definition fair : R := 1 / 2.
