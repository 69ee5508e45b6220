(** docs/proofs/bounded-range-refuted.md, the witness: permute-and-flip does not have [BoundedRange(eps)] for
    any eps > 0, with scores of sensitivity 1 and s = 2/eps. (Ding et al. 2021, Proposition 8, claims that it
    does.) *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy.
Import ListNotations.
Open Scope R_scope.

Lemma int_affine c : int (fun u => 1 - u * c) 0 1 = 1 - c / 2.
Proof.
  rewrite (int_derive (fun u => u - u * u / 2 * c)).
  - lra.
  - intros u. auto_derive; [exact I|]. lra.
  - cont.
Qed.

Lemma pf_two_0 s q : pf s 2 q 0 = coin s 2 q 0 * (1 - coin s 2 q 1 / 2).
Proof.
  unfold pf. f_equal. rewrite <- int_affine. apply int_ext; intros u.
  unfold others, without, candidates; simpl. ring.
Qed.

Lemma pf_two_1 s q : pf s 2 q 1 = coin s 2 q 1 * (1 - coin s 2 q 0 / 2).
Proof.
  unfold pf. f_equal. rewrite <- int_affine. apply int_ext; intros u.
  unfold others, without, candidates; simpl. ring.
Qed.

(** The witness: scores (1, 0) and (0, 1). *)
Definition ahead (t : nat) : R := match t with O => 1 | _ => 0 end.
Definition behind (t : nat) : R := match t with 1%nat => 1 | _ => 0 end.

Lemma witness_sensitivity i : Rabs (ahead i - behind i) <= 1.
Proof.
  destruct i as [|[|i]]; simpl; unfold Rabs; destruct Rcase_abs; lra.
Qed.

Lemma witness_range : range_distance 2 ahead behind 2.
Proof.
  replace 2 with (2 * 1) by ring.
  apply sensitivity_range; intros; apply witness_sensitivity.
Qed.

Section Witness.
Variable eps : R.
Hypothesis eps_pos : 0 < eps.
Let s := 2 / eps.
Let h := exp (- (eps / 2)).

Lemma best_ahead : best 2 ahead = 1.
Proof.
  apply (best_unique 2 ahead 1 0); [lia|reflexivity|].
  intros [|[|t]] Ht; simpl; lra.
Qed.
Lemma best_behind : best 2 behind = 1.
Proof.
  apply (best_unique 2 behind 1 1); [lia|reflexivity|].
  intros [|[|t]] Ht; simpl; lra.
Qed.

Lemma coin_best n q t : best n q = q t -> coin s n q t = 1.
Proof.
  intros H. unfold coin. rewrite H. rewrite <- exp_0. f_equal.
  unfold Rdiv; ring.
Qed.
Lemma coin_one n q t : best n q - q t = 1 -> coin s n q t = h.
Proof.
  intros H. unfold coin. rewrite H. unfold h, s. f_equal. field. lra.
Qed.

Lemma pf_ahead_0 : pf s 2 ahead 0 = 1 - h / 2.
Proof.
  rewrite pf_two_0, (coin_best 2 ahead 0), (coin_one 2 ahead 1);
    rewrite ?best_ahead; simpl; lra.
Qed.
Lemma pf_ahead_1 : pf s 2 ahead 1 = h / 2.
Proof.
  rewrite pf_two_1, (coin_best 2 ahead 0), (coin_one 2 ahead 1);
    rewrite ?best_ahead; simpl; lra.
Qed.
Lemma pf_behind_0 : pf s 2 behind 0 = h / 2.
Proof.
  rewrite pf_two_0, (coin_best 2 behind 1), (coin_one 2 behind 0);
    rewrite ?best_behind; simpl; lra.
Qed.
Lemma pf_behind_1 : pf s 2 behind 1 = 1 - h / 2.
Proof.
  rewrite pf_two_1, (coin_best 2 behind 1), (coin_one 2 behind 0);
    rewrite ?best_behind; simpl; lra.
Qed.

Lemma h_bounds : 0 < h < 1.
Proof.
  split; [apply exp_pos|]. unfold h. rewrite <- exp_0.
  apply exp_increasing. lra.
Qed.

(** The range of the witness. *)
Definition eta := 2 * ln (2 * exp (eps / 2) - 1).

Lemma exp_half : exp (eps / 2) = / h.
Proof. unfold h. now rewrite exp_Ropp, Rinv_inv. Qed.

Theorem witness_loss :
  loss (pf s 2 ahead) (pf s 2 behind) 0
  - loss (pf s 2 ahead) (pf s 2 behind) 1 = eta.
Proof.
  pose proof h_bounds.
  unfold loss, eta. rewrite pf_ahead_0, pf_ahead_1, pf_behind_0, pf_behind_1.
  rewrite exp_half.
  replace ((1 - h / 2) / (h / 2)) with (2 * / h - 1) by (field; lra).
  replace (h / 2 / (1 - h / 2)) with (/ (2 * / h - 1)) by (field; lra).
  assert (1 < / h) by (rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  rewrite ln_Rinv by lra. ring.
Qed.

Theorem eta_bounds : eps < eta < 2 * eps.
Proof.
  pose proof h_bounds.
  assert (W : 1 < exp (eps / 2)) by (rewrite <- exp_0; apply exp_increasing; lra).
  unfold eta; split.
  - assert (A : ln (exp (eps / 2)) < ln (2 * exp (eps / 2) - 1))
      by (apply ln_increasing; lra).
    rewrite ln_exp in A. lra.
  - assert (A : ln (2 * exp (eps / 2) - 1) < ln (exp (eps / 2) * exp (eps / 2)))
      by (apply ln_increasing; nra).
    rewrite ln_mult, !ln_exp in A by lra. lra.
Qed.

(** No figure below eta is true, even for sensitivity 1 and two candidates. *)
Theorem no_smaller_range x :
  bounded_range 2 (pf s 2 ahead) (pf s 2 behind) x -> eta <= x.
Proof.
  intros B. rewrite <- witness_loss. assert (S : 0 < s) by (apply Rdiv_lt_0_compat; lra).
  now apply (bounded_range_loss 2); [intros; now apply pf_pos | intros; now apply pf_pos | | lia | lia].
Qed.

Theorem published_range_refuted :
  ~ bounded_range 2 (pf s 2 ahead) (pf s 2 behind) eps.
Proof. intros B. apply no_smaller_range in B. pose proof eta_bounds. lra. Qed.
End Witness.

(** The published proposition, as stated, is false for every eps. *)
Theorem published_claim_false :
  forall eps, 0 < eps ->
  ~ (forall n q q' D, 0 < D ->
       (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
       bounded_range n (pf (2 * D / eps) n q) (pf (2 * D / eps) n q') eps).
Proof.
  intros eps eps_pos H.
  apply (published_range_refuted eps eps_pos).
  specialize (H 2%nat ahead behind 1 Rlt_0_1 (fun i _ => witness_sensitivity i)).
  now rewrite Rmult_1_r in H.
Qed.

