(** Everything that is proved here, restated in full, page by page, in the symbols of
    docs/proofs. It is the mathematics that is checked, not the Python code.

    checked.txt is what Coq prints for this file: every statement, and every definition of
    ours that it rests on. Whoever does not want to believe us reads that one file. *)
From Coq Require Import Reals List ZArith.
From Discreet Require Import Common Constants Machine Mechanism Privacy.
From Discreet Require Walk NoisyMax PureDP Exponential Refuted Range Grid ApproxDP ErrorRatio
  Floats Words.
Open Scope R_scope.

Section Statements.
Variables (s : R) (n : nat).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).

(** docs/proofs/permute-and-flip.md *)
Theorem permute_and_flip_law q r : (r < n)%nat ->
  Walk.mean_over_orders (coin s n q) (candidates n) r = pf s n q r.
Proof. apply Walk.pf_is_mean_over_orders. Qed.

Theorem permute_and_flip_steady_law q r : (r < n)%nat ->
  Walk.uniform_head (coin s n q) (candidates n) r = pf s n q r.
Proof. apply Walk.pf_is_uniform_head. Qed.

(** Noisy max with exponential noise: the integral of the winner's density up to b. *)
Theorem permute_and_flip_noisy_max q r b : (r < n)%nat -> best n q <= b ->
  pf s n q r - exp (- (b - q r) / s)
  <= int (NoisyMax.density s n q r) (best n q) b <= pf s n q r.
Proof. intros; now apply NoisyMax.noisy_max_law. Qed.

Theorem permute_and_flip_total q : sum (candidates n) (pf s n q) = 1.
Proof. now apply Walk.pf_total. Qed.

Theorem permute_and_flip_pure_dp q q' d :
  range_distance n q q' d -> pure_dp n (pf s n q) (pf s n q') (d / s).
Proof. now apply PureDP.pf_pure_dp. Qed.

Theorem permute_and_flip_monotone q q' r : (r < n)%nat -> q r <= q' r ->
  (forall t, (t < n)%nat -> t <> r -> q' t <= q t) -> pf s n q r <= pf s n q' r.
Proof. now apply PureDP.pf_monotone. Qed.

(** docs/proofs/bounded-range-refuted.md *)
Theorem permute_and_flip_bounded_range q q' d : range_distance n q q' d ->
  bounded_range n (pf s n q) (pf s n q') (range_permute_and_flip (d / s)).
Proof. now apply Range.pf_bounded_range. Qed.

Theorem permute_and_flip_bounded_range_counts q q' d : 0 < d ->
  Grid.on_grid n q d -> Grid.on_grid n q' d -> range_distance n q q' d ->
  bounded_range n (pf s n q) (pf s n q') (range_permute_and_flip_counts (d / s)).
Proof. now apply Grid.pf_bounded_range_grid. Qed.

(** docs/proofs/laplace-dominance.md, one release *)
Theorem permute_and_flip_approx_dp q q' d e :
  range_distance n q q' d -> 0 <= e <= d / s ->
  forall S, event n S (pf s n q)
            <= exp e * event n S (pf s n q') + delta_laplace (d / s) e.
Proof. now apply ApproxDP.pf_approx_dp. Qed.

(** docs/proofs/exponential.md *)
Theorem exponential_bounded_range q q' d : range_distance n q q' d ->
  bounded_range n (em s n q) (em s n q') (d / s).
Proof. now apply Exponential.em_bounded_range. Qed.

Theorem exponential_gumbel_max q r a b : (r < n)%nat ->
  let Z := sum (candidates n) (fun t => exp (q t / s)) in
  int (NoisyMax.gumbel_density s n q r) a b
  = em s n q r * (exp (- (Z * exp (- b / s))) - exp (- (Z * exp (- a / s)))).
Proof. intros; now apply NoisyMax.gumbel_max_law. Qed.

Theorem exponential_pure_dp q q' d : range_distance n q q' d ->
  pure_dp n (em s n q) (em s n q') (d / s).
Proof. now apply Exponential.em_pure_dp. Qed.

(** docs/proofs/error-ratio.md *)
Theorem error_ratio q :
  let error law := sum (candidates n) (fun r => law r * (best n q - q r)) in
  error (pf s n q) <= error (em s n q) <= 2 * error (pf s n q).
Proof. now apply ErrorRatio.error_ratio. Qed.
End Statements.

(** Exactness, and the refutation of Proposition 8 of Ding et al. (2021). *)
Theorem published_bounded_range_false eps : 0 < eps ->
  ~ (forall n q q' D, 0 < D ->
       (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
       let s := scale_of eps (distance_general D) in
       bounded_range n (pf s n q) (pf s n q') eps).
Proof. apply Refuted.published_claim_false. Qed.

Theorem bounded_range_exact eps x : 0 < eps ->
  (forall n q q' D, 0 < D ->
     (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
     let s := scale_of eps (distance_general D) in
     bounded_range n (pf s n q) (pf s n q') x) ->
  range_permute_and_flip eps <= x.
Proof. intros H; apply (proj2 (Range.pf_range_exact eps H)). Qed.

Theorem approx_dp_exact eps e delta : 0 < eps -> 0 <= e <= eps ->
  (forall n q q', (0 < n)%nat -> range_distance n q q' eps ->
     forall S, event n S (pf 1 n q) <= exp e * event n S (pf 1 n q') + delta) ->
  delta_laplace eps e <= delta.
Proof. apply ApproxDP.pf_approx_dp_exact. Qed.

(** docs/proofs/sampling.md *)
Theorem sampling_lemma_2 (M k i : Z) : (1 <= k <= M -> 0 <= i < k ->
  exists a, 0 <= a /\ a + M / k <= M /\
  forall v, (0 <= v < M /\ v * k / M = i /\ M mod k <= (v * k) mod M)
            <-> a <= v < a + M / k)%Z.
Proof. apply Words.words_of_index. Qed.

Theorem sampling_lemma_4 best value s factor :
  format best -> format value -> value <= best ->
  / 2 ^ 901 <= s -> - u <= factor * s - 1 <= u ->
  let gamma := (best - value) / s in
  let floated := fl (Rmin (fl (best - value)) (fl (600 / factor)) * factor) in
  (gamma <= 599 -> Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90) /\
  (599 < gamma -> 598 <= floated).
Proof.
  intros B V H S F. split.
  - now apply Floats.lemma_4_near.
  - now apply Floats.lemma_4_far.
Qed.

Theorem sampling_lemma_6 x x_hat word word_hat eta :
  0 <= x -> 0 <= x_hat -> 0 <= word -> word_hat = word \/ word_hat = fl word ->
  / 2 ^ 43 <= eta <= 1 / 4 ->
  Rabs (x_hat - x) <= eta * x \/ (x <= / 2 ^ 70 /\ x_hat <= / 2 ^ 70) ->
  (fl (fl (x_hat * fl (1 + 2 * eta)) + 2) < word_hat -> x <= word) /\
  (word_hat < fl (fl (x_hat * fl (1 - 2 * eta)) - 2) -> word + 1 <= x).
Proof.
  intros X XH W C E P. split.
  - now apply (Floats.lemma_6_tails x x_hat word word_hat eta).
  - now apply (Floats.lemma_6_heads x x_hat word word_hat eta).
Qed.
