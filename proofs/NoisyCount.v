(** docs/proofs/noisy-count-and-gap.md, the count: a whole number plus discrete Laplace noise. *)
From Coq Require Import Reals ZArith Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism.
Import ListNotations.
Open Scope R_scope.

(** Pr[Z = z] = (1 - lambda) / (1 + lambda) lambda^|z|, lambda = e^(-eps). *)
Definition discrete_laplace (eps : R) (z : Z) : R :=
  (1 - exp (- eps)) / (1 + exp (- eps)) * exp (- eps * IZR (Z.abs z)).

Section Noise.
Variable eps : R.
Hypothesis eps_pos : 0 < eps.

Lemma lambda_range : 0 < exp (- eps) < 1.
Proof.
  split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra.
Qed.

Lemma discrete_laplace_pos z : 0 < discrete_laplace eps z.
Proof.
  pose proof lambda_range. apply Rmult_lt_0_compat; [|apply exp_pos].
  apply Rdiv_lt_0_compat; lra.
Qed.

(** Two counts that differ by at most 1, and any answer. *)
Theorem noisy_count_pure (c c' answer : Z) : (Z.abs (c - c') <= 1)%Z ->
  discrete_laplace eps (answer - c) <= exp eps * discrete_laplace eps (answer - c').
Proof.
  intros H. pose proof lambda_range. unfold discrete_laplace.
  rewrite (Rmult_comm (exp eps)), Rmult_assoc. apply Rmult_le_compat_l.
  - apply Rlt_le, Rdiv_lt_0_compat; lra.
  - rewrite <- exp_plus. apply exp_le.
    assert (IZR (Z.abs (answer - c')) <= IZR (Z.abs (answer - c)) + 1)
      by (rewrite <- plus_IZR; apply IZR_le; lia).
    nra.
Qed.

Theorem noisy_count_pure_dp (c c' : Z) (answers : list Z) : (Z.abs (c - c') <= 1)%Z ->
  sum answers (fun a => discrete_laplace eps (a - c))
  <= exp eps * sum answers (fun a => discrete_laplace eps (a - c')).
Proof.
  intros H. rewrite <- sum_scal. apply sum_le. intros a _. now apply noisy_count_pure.
Qed.

(** The noise from -t to t; the rest is the printed "19 times out of 20". *)
Definition within (t : nat) : R :=
  discrete_laplace eps 0
  + sum (candidates t) (fun i => discrete_laplace eps (Z.of_nat (S i))
                               + discrete_laplace eps (- Z.of_nat (S i))).

Theorem noise_within t :
  1 - within t = 2 * exp (- eps) ^ S t / (1 + exp (- eps)).
Proof.
  pose proof lambda_range as L. unfold within, discrete_laplace.
  set (x := exp (- eps)) in *.
  assert (P : forall i, exp (- eps * IZR (Z.abs (Z.of_nat i))) = x ^ i).
  { intros i. rewrite Z.abs_eq by lia. rewrite <- INR_IZR_INZ.
    induction i as [|i IH]; [simpl; rewrite Rmult_0_r; apply exp_0|].
    rewrite S_INR, Rmult_plus_distr_l, exp_plus, IH, Rmult_1_r. fold x. simpl. ring. }
  rewrite (sum_ext _ _ (fun i => 2 * ((1 - x) / (1 + x)) * x ^ S i)).
  2: { intros i _. rewrite Z.abs_opp, (P (S i)). ring. }
  rewrite sum_scal.
  assert (G : (1 - x) * sum (candidates t) (fun i => x ^ S i) = x - x ^ S t).
  { unfold candidates. induction t as [|t IH]; [simpl; ring|].
    rewrite seq_S, sum_app, Rmult_plus_distr_l, IH. simpl. ring. }
  change (IZR (Z.abs 0)) with 0. rewrite Rmult_0_r, exp_0.
  replace (1 - ((1 - x) / (1 + x) * 1 + 2 * ((1 - x) / (1 + x)) *
                sum (candidates t) (fun i => x ^ S i)))
    with ((1 + x - (1 - x) - 2 * ((1 - x) * sum (candidates t) (fun i => x ^ S i))) / (1 + x))
    by (field; lra).
  rewrite G. field. lra.
Qed.

Theorem noise_beyond t : 1 - within t = tail_noisy_count eps (INR t).
Proof.
  rewrite noise_within. unfold tail_noisy_count. do 2 f_equal.
  induction t as [|t IH].
  - simpl. rewrite Rmult_1_r. f_equal. ring.
  - change (exp (- eps) ^ S (S t)) with (exp (- eps) * exp (- eps) ^ S t).
    rewrite IH, S_INR, <- exp_plus. f_equal. ring.
Qed.
End Noise.

(** The difference of two geometric numbers has this law: the first [n] terms of the sum over
    g of Pr[G = g + z] Pr[G' = g], and what remains. *)
Theorem geometric_difference eps z n : 0 < eps ->
  let lambda := exp (- eps) in
  sum (candidates n) (fun g => (1 - lambda) * lambda ^ (g + z) * ((1 - lambda) * lambda ^ g))
  = discrete_laplace eps (Z.of_nat z) * (1 - lambda ^ (2 * n)).
Proof.
  intros E lambda. pose proof (lambda_range eps E) as L. fold lambda in L.
  unfold discrete_laplace. rewrite Z.abs_eq by lia. rewrite <- INR_IZR_INZ.
  assert (P : exp (- eps * INR z) = lambda ^ z).
  { induction z as [|i IH]; [simpl; rewrite Rmult_0_r; apply exp_0|].
    rewrite S_INR, Rmult_plus_distr_l, exp_plus, IH, Rmult_1_r. fold lambda. simpl. ring. }
  rewrite P. fold lambda. unfold candidates. induction n as [|n IH].
  - simpl. ring.
  - rewrite seq_S, sum_app, IH. cbn [sum fold_right plus].
    replace (2 * S n)%nat with (2 * n + 2)%nat by lia.
    rewrite !pow_add. replace (2 * n)%nat with (n + n)%nat by lia. rewrite pow_add.
    simpl (lambda ^ 2). field. lra.
Qed.
