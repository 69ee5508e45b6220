(** Laplace dominance along a chain of k neighbours: docs/proofs/laplace-dominance.md. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Dominance Laplace Measures.
Open Scope R_scope.

(** The curve lies on or above each of its parabolas, so it does not fall. *)
Lemma tradeoff_laplace_above eps x w : 0 <= x <= 1 -> 1 <= w <= exp eps ->
  w * (1 - w * (1 - x)) <= exp eps * tradeoff_laplace eps x.
Proof.
  intros X W. set (e := eps - 2 * ln w).
  assert (L : 0 <= ln w <= eps).
  { split; [rewrite <- ln_1 | rewrite <- (ln_exp eps)]; apply ln_le_inv'; lra. }
  pose proof (tradeoff_laplace_line eps e x ltac:(unfold e; lra) X) as A.
  assert (E : exp (ln w) = w) by (apply exp_ln; lra).
  assert (D : delta_laplace eps e = 1 - / w).
  { unfold delta_laplace, e. replace ((eps - 2 * ln w - eps) / 2) with (- ln w) by field.
    now rewrite exp_Ropp, E. }
  assert (F : exp e * (w * w) = exp eps).
  { rewrite <- E at 1 2. rewrite <- !exp_plus. f_equal. unfold e. ring. }
  rewrite D in A. rewrite <- F.
  apply (Rmult_le_compat_r (w * w)) in A; [|nra].
  replace ((x - (1 - / w)) * (w * w)) with (w * (1 - w * (1 - x))) in A by (field; lra).
  lra.
Qed.

Lemma tradeoff_laplace_increasing eps x x' : 0 <= eps -> 0 <= x -> x <= x' -> x' <= 1 ->
  tradeoff_laplace eps x <= tradeoff_laplace eps x'.
Proof.
  intros He X L X'. apply tradeoff_laplace_envelope; [exact He | lra |]. intros w W.
  eapply Rle_trans; [|apply tradeoff_laplace_above; [lra | exact W]].
  assert (w * (w * (1 - x')) <= w * (w * (1 - x))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  lra.
Qed.

Lemma laplace_below_onto x : 0 < x < 1 -> exists c, laplace_below 1 c = x.
Proof.
  intros X. destruct (Rle_dec x (1 / 2)) as [H|H].
  - exists (ln (2 * x)). rewrite laplace_below_neg, over_1.
    + rewrite exp_ln; lra.
    + lra.
    + rewrite <- ln_1. apply ln_le_inv'; lra.
  - exists (- ln (2 * (1 - x))). rewrite laplace_below_pos, over_1, Ropp_involutive.
    + rewrite exp_ln; lra.
    + lra.
    + cut (ln (2 * (1 - x)) <= 0); [lra|]. rewrite <- ln_1. apply ln_le_inv'; lra.
Qed.

Lemma tradeoff_laplace_ends eps : 0 <= eps ->
  tradeoff_laplace eps 0 = 0 /\ tradeoff_laplace eps 1 = 1.
Proof.
  intros He. unfold tradeoff_laplace. pose proof (exp_pos (- eps)). split.
  - destruct Rle_dec; [ring | lra].
  - destruct Rle_dec; [lra|]. destruct Rle_dec; [lra | ring].
Qed.

Theorem tradeoff_laplace_chain eps eps' x : 0 <= eps -> 0 <= eps' -> 0 <= x <= 1 ->
  tradeoff_laplace eps' (tradeoff_laplace eps x) = tradeoff_laplace (eps + eps') x.
Proof.
  intros He He' X.
  destruct (tradeoff_laplace_ends eps He) as [A B].
  destruct (tradeoff_laplace_ends eps' He') as [A' B'].
  destruct (tradeoff_laplace_ends (eps + eps') ltac:(lra)) as [A2 B2].
  destruct (Req_dec x 0) as [->|N0]; [now rewrite A, A', A2|].
  destruct (Req_dec x 1) as [->|N1]; [now rewrite B, B', B2|].
  destruct (laplace_below_onto x ltac:(lra)) as (c & <-).
  rewrite !laplace_pair_tradeoff by lra. f_equal. ring.
Qed.

Theorem dominated_people n (P : nat -> nat -> R) eps k : 0 <= eps ->
  (forall i, (i <= k)%nat -> is_law n (P i)) ->
  (forall i, (i < k)%nat -> laplace_dominated n (P i) (P (S i)) eps) ->
  laplace_dominated n (P 0%nat) (P k) (INR k * eps).
Proof.
  intros He. induction k as [|k IH]; intros L H phi T.
  - simpl INR. rewrite Rmult_0_l.
    destruct (average_le_total n phi (P 0%nat) T (law_nonneg n _ (L 0%nat ltac:(lia)))) as [A B].
    rewrite (proj2 (L 0%nat ltac:(lia))) in B.
    unfold tradeoff_laplace. rewrite Ropp_0, exp_0.
    destruct Rle_dec; [lra|]. destruct Rle_dec; [lra|]. lra.
  - rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l.
    destruct (average_le_total n phi (P 0%nat) T (law_nonneg n _ (L 0%nat ltac:(lia)))) as [A B].
    rewrite (proj2 (L 0%nat ltac:(lia))) in B.
    destruct (average_le_total n phi (P k) T (law_nonneg n _ (L k ltac:(lia)))) as [A' B'].
    rewrite (proj2 (L k ltac:(lia))) in B'.
    specialize (IH (fun i Hi => L i ltac:(lia)) (fun i Hi => H i ltac:(lia)) phi T).
    assert (K : 0 <= INR k * eps) by (apply Rmult_le_pos; [apply pos_INR | exact He]).
    rewrite <- tradeoff_laplace_chain by lra.
    eapply Rle_trans; [|apply (H k ltac:(lia) phi T)].
    apply tradeoff_laplace_increasing; [exact He | | exact IH | exact B'].
    destruct (tradeoff_laplace_ends (INR k * eps) K) as [Z _]. rewrite <- Z.
    apply tradeoff_laplace_increasing; lra.
Qed.
