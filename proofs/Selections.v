(** The three ways of choosing that need only the range distance, treated together: permute-and-flip (which is
    noisy max with exponential noise), the exponential mechanism (with Gumbel noise), and noisy max with
    Laplace noise. *)
From Coq Require Import Reals Lra Lia List Arith.
From Discreet Require Import Common Mechanism Privacy PureDP Exponential Laplace.
Import ListNotations.
Open Scope R_scope.

Definition selections : list (R -> nat -> (nat -> R) -> nat -> R) := [pf; em; laplace_max].

Lemma selection_pure_dp law s n q q' d : In law selections -> 0 < s -> range_distance n q q' d ->
  pure_dp n (law s n q) (law s n q') (d / s).
Proof.
  intros [<-|[<-|[<-|[]]]] S H.
  - now apply pf_pure_dp.
  - destruct n as [|n]; [intros e; unfold event; simpl; lra|]. apply em_pure_dp; [exact S | lia | exact H].
  - now apply laplace_max_pure_dp.
Qed.

Lemma selection_nonneg law s n q r : In law selections -> 0 < s -> (r < n)%nat -> 0 <= law s n q r.
Proof.
  intros [<-|[<-|[<-|[]]]] S R.
  - now apply Rlt_le, pf_pos.
  - apply Rlt_le, em_pos. lia.
  - now apply laplace_max_nonneg.
Qed.
