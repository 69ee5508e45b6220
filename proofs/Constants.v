(** The figures that the code reports, as formulas: sums, products, quotients, integer powers,
    [exp], [ln], [sqrt], [Rmin] and [Rmax] of parameters and of formulas above.
    tests/proofs/formulas.py reads this file and compares each with the Python value. *)
From Coq Require Import Reals.
Open Scope R_scope.

(** The scale at which a selection is eps-private, from the range distance d. *)
Definition scale_of (eps d : R) : R := d / eps.

(** The range distance of scores of sensitivity D, and of monotone ones. *)
Definition distance_general (D : R) : R := 2 * D.
Definition distance_monotone (D : R) : R := D.

(** The range of the loss of permute-and-flip: docs/proofs/bounded-range-refuted.md. *)
Definition range_permute_and_flip (eps : R) : R := 2 * ln (2 * exp (eps / 2) - 1).
Definition range_permute_and_flip_counts (eps : R) : R := ln (2 * exp eps - 1).

(** One release that Laplace dominates, at e <= eps: docs/proofs/laplace-dominance.md. *)
Definition delta_laplace (eps e : R) : R := 1 - exp ((e - eps) / 2).
Definition epsilon_laplace (eps delta : R) : R := eps + 2 * ln (1 - delta).

(** From one measure to another: docs/proofs/conversions.md. *)
Definition range_of_pure (eps : R) : R := 2 * eps.
Definition delta_of_pure (eps e : R) : R := (exp eps - exp e) / (1 + exp eps).
Definition delta_of_approx (eps delta e : R) : R := delta + (1 - delta) * delta_of_pure eps e.
Definition epsilon_of_pure (eps delta : R) : R := ln (exp eps - delta * (1 + exp eps)).
Definition epsilon_of_approx (eps lost delta : R) : R :=
  ln (exp eps - (delta - lost) / (1 - lost) * (1 + exp eps)).
Definition delta_of_range (eps e : R) : R := (1 - exp ((e - eps) / 2)) ^ 2 / (1 - exp (- eps)).
Definition epsilon_of_range (eps delta : R) : R :=
  eps + 2 * ln (1 - sqrt (delta * (1 - exp (- eps)))).
Definition epsilon_of_concentrated (rho delta order : R) : R :=
  order * rho + ln (1 / (order * delta)) / (order - 1) + ln (1 - 1 / order).
Definition concentrated_of_pure (eps : R) : R := eps * ((exp eps - 1) / (exp eps + 1)).
Definition concentrated_of_range (eps : R) : R :=
  eps / (1 - exp (- eps)) - 1 - ln (eps / (1 - exp (- eps))).
Definition concentrated_of_laplace (eps : R) : R := eps + exp (- eps) - 1.
Definition concentrated_of_range_at_most (eps : R) : R := eps ^ 2 / 8.
Definition concentrated_of_pure_at_most (eps : R) : R := eps ^ 2 / 2.

(** A household of k people: docs/proofs/neighbours.md. *)
Definition delta_of_people (eps delta people : R) : R :=
  delta * (exp (people * eps) - 1) / (exp eps - 1).
Definition concentrated_of_people (rho people : R) : R := people ^ 2 * rho.

(** How far one person moves the scores of a question: docs/proofs/question-sensitivities.md. A quantile at
    the level part/whole has scores in units of 1/whole. *)
Definition sensitivity_quantile (part whole : R) : R := Rmax part (whole - part).
Definition sensitivity_quantile_replace (part whole : R) : R := whole.

(** How far "nothing" is above the cut, minus one: docs/proofs/unknown-domain.md. *)
Definition margin_unknown_domain (eps delta touched : R) : R :=
  ln (touched * (1 + exp eps) / (2 * delta)) / eps.

(** The chance that the noise of a count exceeds t: docs/proofs/noisy-count-and-gap.md. *)
Definition tail_noisy_count (eps t : R) : R := 2 * exp (- (eps * (t + 1))) / (1 + exp (- eps)).

(** The share that LargeGap moves to the best candidate: docs/proofs/large-gap.md. *)
Definition share_of_large_gap (eps delta : R) : R := delta / (exp eps - 1).

(** The best of several private runs: docs/proofs/tuning.md. *)
Definition cost_of_halting (eps gamma eta : R) : R :=
  eps + (1 + eta) * ln ((exp eps + gamma) / (1 + gamma * exp eps)).
Definition cost_of_poisson (eps mu : R) : R := eps + mu * ((exp eps - 1) / (exp eps + 1)).
