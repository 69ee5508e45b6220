(** The exponential mechanism: docs/proofs/exponential.md. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy.
Import ListNotations.
Open Scope R_scope.

Section Exponential.
Variables (s : R) (n : nat).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).

Lemma total_pos q : 0 < sum (candidates n) (coin s n q).
Proof.
  apply sum_pos; [destruct n; [lia|discriminate]|].
  intros; apply coin_pos.
Qed.

Lemma em_pos q r : 0 < em s n q r.
Proof. apply Rdiv_lt_0_compat; [apply coin_pos | apply total_pos]. Qed.

Lemma em_total q : sum (candidates n) (em s n q) = 1.
Proof.
  unfold em, Rdiv.
  rewrite (sum_ext _ _ (fun t => / sum (candidates n) (coin s n q) * coin s n q t))
    by (intros; apply Rmult_comm).
  rewrite sum_scal. apply Rinv_l. pose proof (total_pos q). lra.
Qed.

(** The loss is minus the change of the score, up to an offset common to all outcomes. *)
Lemma em_loss q q' : exists c, forall r,
  loss (em s n q) (em s n q') r = c - (q' r - q r) / s.
Proof.
  exists (ln (sum (candidates n) (coin s n q')) - ln (sum (candidates n) (coin s n q))
          + (best n q' - best n q) / s).
  intros r. unfold loss, em.
  pose proof (total_pos q); pose proof (total_pos q').
  pose proof (coin_pos s n q r); pose proof (coin_pos s n q' r).
  rewrite !ln_div by (auto using Rdiv_lt_0_compat).
  unfold coin at 1 3; rewrite !ln_exp. field. lra.
Qed.

Theorem em_bounded_range q q' d :
  range_distance n q q' d ->
  bounded_range n (em s n q) (em s n q') (d / s).
Proof.
  intros H. apply bounded_range_loss; try (intros; apply em_pos). intros i j Hi Hj.
  destruct (em_loss q q') as (c & L). rewrite !L.
  replace (c - (q' i - q i) / s - (c - (q' j - q j) / s))
    with (((q' j - q j) - (q' i - q i)) / s) by (field; lra).
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, s_pos|].
  now apply H.
Qed.

Theorem em_pure_dp q q' d :
  range_distance n q q' d -> pure_dp n (em s n q) (em s n q') (d / s).
Proof.
  intros H. apply bounded_range_pure; try apply em_total. now apply em_bounded_range.
Qed.
End Exponential.

Corollary em_pure_dp_sensitivity n q q' D eps : (0 < n)%nat -> 0 < D -> 0 < eps ->
  (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
  pure_dp n (em (2 * D / eps) n q) (em (2 * D / eps) n q') eps.
Proof.
  intros Hn HD He H.
  replace eps with (2 * D / (2 * D / eps)) at 3 by (field; lra).
  apply em_pure_dp; [apply Rdiv_lt_0_compat; lra | auto |].
  now apply sensitivity_range.
Qed.

