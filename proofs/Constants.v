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
