(** Everything that is proved here, restated in full, page by page, in the symbols of
    docs/proofs. Coq checks the mathematics, not the Python code. checked.txt contains what Coq prints for
    this file: every statement, and every definition of ours that it rests on. A skeptic needs to read only
    that one file. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Discreet Require Import Common Constants Machine Mechanism Privacy.
From Discreet Require People Sensitivities SensitivityExact Groups Recursion Votes.
From Discreet Require Gaps GapBranches GapIntegers Thresholds.
From Discreet Require Programs UniformBelow Comparison Heads WholeNumbers Merging Sampler.
From Discreet Require NoisyCount ListLaw UnknownDomain LimitedDomain Keeping.
From Discreet Require AboveThreshold Crossings AboveThresholdLaplace JointTopK Lazy Questions Answers UnknownRounds FoundGroups Tuning.
From Discreet Require Divergences Together Totals LaplacePair Streams Wholes Spending.
From Discreet Require UnknownAnswers Dealing Runs Mixtures Interleaved Unequal Plans.
From Discreet Require Proposals Visits Releases Waits Skips Clock Marking Blocks.
From Discreet Require RandomizedResponse NaiveResponse StartOver ZcdpRefuted.
From Discreet Require Walk NoisyMax PureDP Exponential Refuted Range Grid Dominance ApproxDP
  ErrorRatio Laplace Selections Composition Measures Concentrated Chains TopK Lead LargeGap Floats Words.
Import ListNotations.
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

Theorem permute_and_flip_is_law q :
  Measures.is_law n (pf s n q) /\ forall r, (r < n)%nat -> 0 < pf s n q r.
Proof. now apply Measures.pf_is_law. Qed.

Theorem permute_and_flip_pure_dp q q' d :
  range_distance n q q' d -> pure_dp n (pf s n q) (pf s n q') (d / s).
Proof. now apply PureDP.pf_pure_dp. Qed.

(** The scale that the code uses, from the range distance and from the sensitivity. *)
Theorem permute_and_flip_private_at_scale q q' d eps : 0 < d -> 0 < eps ->
  range_distance n q q' d ->
  pure_dp n (pf (scale_of eps d) n q) (pf (scale_of eps d) n q') eps.
Proof. apply PureDP.pf_pure_dp_scale. Qed.

Theorem permute_and_flip_private_at_sensitivity q q' D eps : 0 < D -> 0 < eps ->
  (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
  let s := scale_of eps (distance_general D) in pure_dp n (pf s n q) (pf s n q') eps.
Proof. apply PureDP.pf_pure_dp_sensitivity. Qed.

Theorem permute_and_flip_private_at_monotone q q' D eps : 0 < D -> 0 < eps ->
  (forall i, (i < n)%nat -> 0 <= q' i - q i <= D) \/
  (forall i, (i < n)%nat -> 0 <= q i - q' i <= D) ->
  let s := scale_of eps (distance_monotone D) in pure_dp n (pf s n q) (pf s n q') eps.
Proof. apply PureDP.pf_pure_dp_monotone. Qed.

Theorem permute_and_flip_pure_dp_exact q r d : (r < n)%nat -> 0 <= d -> q r + d <= best n q ->
  pf s n (fun t => if (t =? r)%nat then q t + d else q t) r = exp (d / s) * pf s n q r.
Proof. now apply PureDP.pf_pure_dp_exact. Qed.

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

(** docs/proofs/laplace-dominance.md *)
Theorem permute_and_flip_dominated q q' d : 0 <= d -> range_distance n q q' d ->
  Dominance.laplace_dominated n (pf s n q) (pf s n q') (d / s).
Proof. now apply ApproxDP.pf_dominated. Qed.

(** Both at once, which the code calls [FlippedCoins]. *)
Theorem permute_and_flip_flipped_coins q q' d : 0 <= d -> range_distance n q q' d ->
  Dominance.laplace_dominated n (pf s n q) (pf s n q') (d / s) /\
  bounded_range n (pf s n q) (pf s n q') (range_permute_and_flip (d / s)).
Proof. split; [now apply ApproxDP.pf_dominated | now apply Range.pf_bounded_range]. Qed.

Theorem laplace_noisy_max_dominated q q' d : 0 <= d -> range_distance n q q' d ->
  Dominance.laplace_dominated n (Laplace.laplace_max s n q) (Laplace.laplace_max s n q') (d / s).
Proof. now apply Laplace.laplace_max_dominated. Qed.

(** At every delta. *)
Theorem permute_and_flip_approx_dp q q' d delta : 0 <= d -> 0 <= delta -> range_distance n q q' d ->
  ApproxDP.approx_dp n (pf s n q) (pf s n q') (Rmax 0 (epsilon_laplace (d / s) delta)) delta.
Proof. now apply Measures.pf_at_delta. Qed.

Theorem permute_and_flip_curve q q' d e :
  range_distance n q q' d -> 0 <= e <= d / s ->
  ApproxDP.approx_dp n (pf s n q) (pf s n q') e (delta_laplace (d / s) e).
Proof. now apply ApproxDP.pf_approx_dp. Qed.

(** docs/proofs/concentrated.md: [concentrated] is [ZCDP], over any answers; all answers are below n. *)
Theorem permute_and_flip_zcdp q q' d : 0 < d -> range_distance n q q' d ->
  let law q r := if (r <? n)%nat then pf s n q r else 0 in
  Divergences.concentrated (law q) (law q') (concentrated_of_range (range_permute_and_flip (d / s))).
Proof.
  intros D R. apply Spending.range_of_cut; [|now apply Measures.pf_is_law..|now apply Range.pf_bounded_range].
  now apply Spending.range_permute_and_flip_pos, Rdiv_lt_0_compat.
Qed.

(** docs/proofs/noisy-max-laplace.md *)
Theorem laplace_noisy_max_is_law q : Measures.is_law n (Laplace.laplace_max s n q).
Proof. now apply Measures.laplace_is_law. Qed.

Theorem laplace_noisy_max_pure_dp q q' d : range_distance n q q' d ->
  pure_dp n (Laplace.laplace_max s n q) (Laplace.laplace_max s n q') (d / s).
Proof. now apply Laplace.laplace_max_pure_dp. Qed.

Theorem laplace_noisy_max_bounded_range q q' d : range_distance n q q' d ->
  bounded_range n (Laplace.laplace_max s n q) (Laplace.laplace_max s n q') (range_of_pure (d / s)).
Proof. now apply Measures.laplace_range. Qed.

Theorem laplace_noisy_max_approx_dp q q' d delta : 0 <= d -> 0 <= delta -> range_distance n q q' d ->
  ApproxDP.approx_dp n (Laplace.laplace_max s n q) (Laplace.laplace_max s n q')
    (Rmax 0 (epsilon_laplace (d / s) delta)) delta.
Proof. now apply Measures.laplace_at_delta. Qed.

(** docs/proofs/exponential.md *)
Theorem exponential_is_law q :
  Measures.is_law n (em s n q) /\ forall r, (r < n)%nat -> 0 < em s n q r.
Proof. now apply Measures.em_is_law. Qed.

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

Theorem exponential_zcdp q q' d : 0 < d -> range_distance n q q' d ->
  let law q r := if (r <? n)%nat then em s n q r else 0 in
  Divergences.concentrated (law q) (law q') (concentrated_of_range (d / s)).
Proof.
  intros D R. apply Spending.range_of_cut; [now apply Rdiv_lt_0_compat| | |now apply Exponential.em_bounded_range];
    now apply Measures.em_is_law.
Qed.

Theorem exponential_approx_dp q q' d delta : 0 <= d -> 0 <= delta -> range_distance n q q' d ->
  ApproxDP.approx_dp n (em s n q) (em s n q') (Rmax 0 (epsilon_of_range (d / s) delta)) delta.
Proof. now apply Measures.em_at_delta. Qed.

(** docs/proofs/top-k.md: one answer after another, each by one of the selections among the remaining
    candidates. *)
Theorem peeling_pure_dp choose q q' d k : In choose Selections.selections -> 0 <= d ->
  range_distance n q q' d ->
  let size h := length (Measures.left_after (candidates n) h) in
  let law q h := choose s (size h) (Measures.left_scores n q h) in
  forall phi, (forall t, 0 <= phi t) ->
  let mean q := sum (Composition.transcripts size k [])
                    (fun t => phi t * Composition.path (law q) [] t) in
  mean q <= exp (INR k * (d / s)) * mean q'.
Proof. intros. now apply Measures.peeling_pure_dp. Qed.

(** One-shot: one exponential noise value per candidate, and the largest in order; [o] is the answer. *)
Theorem one_shot_pure_dp q q' d o : (forall t, In t o -> (t < n)%nat) ->
  range_distance n q q' d ->
  TopK.one_shot s n q o <= exp (INR (length o) * (d / s)) * TopK.one_shot s n q' o.
Proof. now apply TopK.one_shot_pure_dp. Qed.

(** The chances of all ordered choices of k add up to one. *)
Theorem one_shot_total q k : (k <= n)%nat ->
  sum (Walk.orders k (candidates n)) (TopK.one_shot s n q) = 1.
Proof. now apply Totals.one_shot_total. Qed.

Theorem one_shot_one q r : (r < n)%nat -> TopK.one_shot s n q [r] = pf s n q r.
Proof. now apply TopK.one_shot_one. Qed.

(** docs/proofs/noisy-count-and-gap.md: [beyond] is the probability that r wins by more than g, so the
    difference is the probability of a lead between g and g'. *)
Theorem lead_pure_dp q q' d r g g' : (r < n)%nat -> g <= g' -> range_distance n q q' d ->
  Lead.beyond s n q r g - Lead.beyond s n q r g'
  <= exp (d / s) * (Lead.beyond s n q' r g - Lead.beyond s n q' r g').
Proof. now apply Lead.lead_pure_dp. Qed.

Theorem lead_density_pure_dp q q' d r g : (r < n)%nat -> range_distance n q q' d ->
  Lead.lead_density s n q r g <= exp (d / s) * Lead.lead_density s n q' r g.
Proof. now apply Lead.lead_outcome. Qed.

Theorem lead_winner q r : (r < n)%nat -> Lead.beyond s n q r 0 = pf s n q r.
Proof. now apply Lead.beyond_nothing. Qed.

(** The chances of all winners with their leads, rounded down, add up to one. *)
Theorem lead_total q : (2 <= n)%nat ->
  Divergences.distribution (fun o : nat * nat => if (fst o <? n)%nat then
    Lead.beyond s n q (fst o) (INR (snd o)) - Lead.beyond s n q (fst o) (INR (S (snd o))) else 0).
Proof.
  intros T. apply (Wholes.leads_distribution s n q s_pos T). intros [r g]. unfold Wholes.with_its_lead. cbn [fst snd].
  destruct (Nat.ltb_spec r n) as [R|R]; [|lra].
  assert (L : INR g <= INR (S g)) by (rewrite S_INR; lra).
  pose proof (Lead.lead_pure_dp s n s_pos q q s r (INR g) (INR (S g)) R L ltac:(intros i j _ _; lra)) as H.
  pose proof (exp_increasing 0 (s / s) ltac:(unfold Rdiv; rewrite Rinv_r; lra)) as X. rewrite exp_0 in X. nra.
Qed.

(** docs/proofs/error-ratio.md *)
Theorem error_ratio q :
  let error law := sum (candidates n) (fun r => law r * (best n q - q r)) in
  error (pf s n q) <= error (em s n q) <= 2 * error (pf s n q).
Proof. now apply ErrorRatio.error_ratio. Qed.
End Statements.

(** docs/proofs/unequal-sensitivities.md: one person moves score i by at most D i, and at most one D i is 0.
    [d] is at least the sum of any two D i; if all scores move in one direction, [d] is at least each D i. *)
Theorem unequal_range_distance n D q q' d t : 0 <= d ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < D i + D j) ->
  (forall i, (i < n)%nat -> Rabs (q' i - q i) <= D i) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> D i + D j <= d) ->
  let ratios := Unequal.ratios n t D (fun i j => D i + D j) in
  range_distance n q q' d /\ range_distance n (ratios q) (ratios q') 2.
Proof. intros P Z H L. now apply Unequal.unequal_general. Qed.

Theorem unequal_monotone_range_distance n D q q' d t :
  (forall i, (i < n)%nat -> 0 <= D i) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < D i + D j) ->
  (forall i, (i < n)%nat -> 0 <= q' i - q i <= D i) \/
  (forall i, (i < n)%nat -> 0 <= q i - q' i <= D i) ->
  (forall i, (i < n)%nat -> D i <= d) ->
  let ratios := Unequal.ratios n t D (fun i j => Rmax (D i) (D j)) in
  range_distance n q q' d /\ range_distance n (ratios q) (ratios q') 2.
Proof. intros P Z H L. now apply Unequal.unequal_monotone. Qed.

(** docs/proofs/bounded-range-refuted.md: exactness, and the refutation of Proposition 8 of
    Ding et al. (2021). *)
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

(** docs/proofs/laplace-dominance.md *)
Theorem approx_dp_exact eps e delta : 0 < eps -> 0 <= e <= eps ->
  (forall n q q', (0 < n)%nat -> range_distance n q q' eps ->
     forall S, event n S (pf 1 n q) <= exp e * event n S (pf 1 n q') + delta) ->
  delta_laplace eps e <= delta.
Proof. apply ApproxDP.pf_approx_dp_exact. Qed.

(** docs/proofs/question-sensitivities.md: people per candidate, or per interval.
    [has p l r]: whether a row of person p, who has the rows l, has candidate r. *)
Theorem counts_add_remove (Row : Type) (has : nat -> list Row -> nat -> bool) :
  (forall r, People.personal (fun p l => has p l r)) ->
  let q := Sensitivities.people_with has in
  People.sensitivity People.add_remove q 1 /\ People.monotonic People.add_remove q /\
  People.distance People.add_remove q 1.
Proof.
  intros P. split; [|split].
  - now apply Sensitivities.count_sensitivity.
  - now apply Sensitivities.count_monotonic.
  - now apply Sensitivities.count_distance.
Qed.

Theorem counts_replace (Row : Type) (has : nat -> list Row -> nat -> bool) :
  (forall r, People.personal (fun p l => has p l r)) ->
  let q := Sensitivities.people_with has in
  People.sensitivity People.replace q 1 /\ People.distance People.replace q 2.
Proof.
  intros P. split.
  - now apply Sensitivities.count_sensitivity_replace.
  - now apply Sensitivities.count_distance_replace.
Qed.

Theorem counts_exact d :
  let q := Sensitivities.people_with SensitivityExact.has_only in
  (People.distance People.add_remove q d -> 1 <= d) /\
  (People.distance People.replace q d -> 2 <= d).
Proof.
  split.
  - apply SensitivityExact.count_distance_exact.
  - apply SensitivityExact.count_distance_replace_exact.
Qed.

(** Quantiles at the level a/b in units of 1/b. [value p l]: the place on the grid that the rule gives to
    person p with the rows l, or None for a person without a value. The two scores are - max(0, aN - bA_i,
    bA_(i-1) - aN), and - |aN - bA_i|. *)
Theorem quantiles_add_remove (Row : Type) (value : nat -> list Row -> option nat) a b :
  People.personal value -> 0 <= a <= b ->
  let q := Sensitivities.quantile_score value a b in
  let q0 := Sensitivities.plain_score value a b in
  let M := sensitivity_quantile a b in
  People.sensitivity People.add_remove q M /\
  People.distance People.add_remove q (distance_general M) /\
  People.sensitivity People.add_remove q0 M /\
  People.distance People.add_remove q0 (distance_general M).
Proof.
  intros P L. split; [|split; [|split]].
  - now apply Sensitivities.quantile_sensitivity.
  - now apply Sensitivities.quantile_distance.
  - now apply Sensitivities.plain_sensitivity.
  - now apply Sensitivities.plain_distance.
Qed.

Theorem quantiles_replace (Row : Type) (value : nat -> list Row -> option nat) a b :
  People.personal value -> 0 <= a <= b ->
  let q := Sensitivities.quantile_score value a b in
  let q0 := Sensitivities.plain_score value a b in
  let M := sensitivity_quantile_replace a b in
  People.sensitivity People.replace q M /\ People.distance People.replace q (distance_general M) /\
  People.sensitivity People.replace q0 M /\ People.distance People.replace q0 (distance_general M).
Proof.
  intros P L. split; [|split; [|split]].
  - now apply Sensitivities.quantile_sensitivity_replace.
  - now apply Sensitivities.quantile_distance_replace.
  - now apply Sensitivities.plain_sensitivity_replace.
  - now apply Sensitivities.plain_distance_replace.
Qed.

Theorem quantiles_exact a b q d : 0 < a < b ->
  q = Sensitivities.quantile_score SensitivityExact.only a b \/
  q = Sensitivities.plain_score SensitivityExact.only a b ->
  (People.distance People.add_remove q d -> distance_general (sensitivity_quantile a b) <= d) /\
  (People.distance People.replace q d ->
     distance_general (sensitivity_quantile_replace a b) <= d).
Proof.
  intros L Q. split.
  - now apply (SensitivityExact.quantile_distance_exact a b L q d).
  - now apply (SensitivityExact.quantile_distance_replace_exact a b L q d).
Qed.

(** The score is zero exactly at a true quantile: bA_(i-1) <= aN <= bA_i. *)
Theorem quantile_score_zero (Row : Type) (value : nat -> list Row -> option nat) a b t i :
  Sensitivities.quantile_score value a b t i = 0 <->
  b * Sensitivities.less_than value t i <= a * Sensitivities.everyone value t
  <= b * Sensitivities.at_most value t i.
Proof. apply Sensitivities.quantile_score_zero. Qed.

(** Groups. [part g t] are the rows of group g of the people whom the rule [kept] keeps there;
    E is at least the sum of the m largest eps_g. *)
Theorem groups_pure_dp (Row Answer : Type) (inside : nat -> Row -> bool)
    (kept : nat -> list Row -> nat -> bool) (count m : nat)
    (law : nat -> People.table Row -> Answer -> R) (eps : nat -> R) (E : R) :
  (forall g, People.personal (fun p l => kept p l g)) ->
  (forall g t o, 0 <= law g t o) ->
  (forall g t t' o, Groups.same t t' -> law g t o = law g t' o) ->
  (forall g t t' o, People.add_remove t t' -> law g t o <= exp (eps g) * law g t' o) ->
  (forall p l, (length (filter (Groups.is_in inside kept p l) (candidates count)) <= m)%nat) ->
  (forall l, NoDup l -> incl l (candidates count) -> (length l <= m)%nat -> sum l eps <= E) ->
  let joint t o := prod (candidates count)
    (fun g => law g (Groups.part inside kept g t) (o g)) in
  forall t t' o,
  (People.add_remove t t' -> joint t o <= exp E * joint t' o) /\
  (People.replace t t' -> joint t o <= exp (2 * E) * joint t' o).
Proof.
  intros K N S P F L joint t t' o. split.
  - now apply (Groups.groups_pure_dp inside kept K count law eps N S P m E F L).
  - now apply (Groups.groups_pure_dp_replace inside kept K count law eps N S P m E F L).
Qed.

(** The rule "the first m of the groups in which they have rows". *)
Theorem least_groups (Row : Type) (inside : nat -> Row -> bool) m :
  let kept := Groups.in_least inside m in
  (forall g, People.personal (fun p l => kept p l g)) /\
  forall count p l,
    (length (filter (Groups.is_in inside kept p l) (candidates count)) <= m)%nat.
Proof.
  split.
  - apply Groups.in_least_personal.
  - apply Groups.in_least_few.
Qed.

(** From a table to an answer, for each of the selections and any per-person rule. *)
Theorem mode_pure_dp (Row : Type) choose n s (has : nat -> list Row -> nat -> bool)
    (t t' : People.table Row) : In choose Selections.selections -> 0 < s ->
  (forall r, People.personal (fun p l => has p l r)) ->
  let law t := choose s n (Sensitivities.people_with has t) in
  (People.add_remove t t' -> pure_dp n (law t) (law t') (1 / s)) /\
  (People.replace t t' -> pure_dp n (law t) (law t') (2 / s)).
Proof.
  intros C S P law. split; intros H; apply Selections.selection_pure_dp; try assumption.
  - now apply Sensitivities.count_distance.
  - now apply Sensitivities.count_distance_replace.
Qed.

Theorem quantile_pure_dp (Row : Type) choose n s (value : nat -> list Row -> option nat) a b
    (t t' : People.table Row) : In choose Selections.selections -> 0 < s ->
  People.personal value -> 0 <= a <= b ->
  let law t := choose s n (Sensitivities.quantile_score value a b t) in
  (People.add_remove t t' ->
     pure_dp n (law t) (law t') (distance_general (sensitivity_quantile a b) / s)) /\
  (People.replace t t' ->
     pure_dp n (law t) (law t') (distance_general (sensitivity_quantile_replace a b) / s)).
Proof.
  intros C S P L law. split; intros H; apply Selections.selection_pure_dp; try assumption.
  - now apply Sensitivities.quantile_distance.
  - now apply Sensitivities.quantile_distance_replace.
Qed.

(** From a table to everything that an answer says: choices, leads and noisy numbers of people, one after the
    other and by group, with secret coins. [Answers.release] lists the laws and what they cost when a person is
    added or removed, and when one is replaced. *)
Theorem answer_pure_dp (Row A : Type) (law : People.table Row -> A -> R) eps eps' answers t t' :
  Answers.release A law eps eps' ->
  (People.add_remove t t' -> sum answers (law t) <= exp eps * sum answers (law t')) /\
  (People.replace t t' -> sum answers (law t) <= exp eps' * sum answers (law t')).
Proof. apply Answers.answer_pure_dp. Qed.

(** The same in rho: [Spending.spending] lists the laws and what they cost. *)
Theorem answer_zcdp (Row A : Type) (law : People.table Row -> A -> R) rho rho' t t' :
  Spending.spending A law rho rho' ->
  (People.add_remove t t' -> Divergences.concentrated (law t) (law t') rho) /\
  (People.replace t t' -> Divergences.concentrated (law t) (law t') rho').
Proof. apply Spending.answer_concentrated. Qed.

(** docs/proofs/quantiles.md: L depths. Given the answers h from the depths above, [stretch_of h] says in
    which interval ("stretch") a place lies, and each interval makes a choice. *)
Theorem recursive_quantiles_pure_dp (Row Answer : Type)
    (place : nat -> list Row -> option nat) (stretches : list (nat -> Answer) -> nat)
    (stretch_of : list (nat -> Answer) -> nat -> nat)
    (choice : list (nat -> Answer) -> nat -> People.table Row -> Answer -> R) eps0 L :
  People.personal place -> 0 <= eps0 ->
  (forall h g t o, 0 <= choice h g t o) ->
  (forall h g t t' o, Groups.same t t' -> choice h g t o = choice h g t' o) ->
  (forall h g t t' o, People.add_remove t t' -> choice h g t o <= exp eps0 * choice h g t' o) ->
  let law := Recursion.recursion place stretches stretch_of choice nil in
  forall t t' os, length os = L ->
  (People.add_remove t t' -> law t os <= exp (INR L * eps0) * law t' os) /\
  (People.replace t t' -> law t os <= exp (2 * (INR L * eps0)) * law t' os).
Proof.
  intros P E N S C law t t' os HL. split.
  - now apply (Recursion.recursion_pure_dp place P stretches stretch_of choice eps0 E N S C L).
  - now apply (Recursion.recursion_pure_dp_replace
                 place P stretches stretch_of choice eps0 E N S C L).
Qed.

(** docs/proofs/question-sensitivities.md: with secret coins, such as a key, the law is an average. *)
Theorem average_pure_dp (C : Type) (coins : list C) (weight law law' : C -> R) eps :
  (forall c, In c coins -> 0 <= weight c) ->
  (forall c, In c coins -> law c <= exp eps * law' c) ->
  sum coins (fun c => weight c * law c) <= exp eps * sum coins (fun c => weight c * law' c).
Proof. apply Recursion.average_private. Qed.

Theorem average_approx_dp (C : Type) (coins : list C) (weight law law' : C -> R) eps delta :
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c, In c coins -> law c <= exp eps * law' c + delta) ->
  sum coins (fun c => weight c * law c) <= exp eps * sum coins (fun c => weight c * law' c) + delta.
Proof. apply Recursion.average_approx. Qed.

(** docs/proofs/votes.md. [vote c b t] is the vote of block b with the rows t, under the function's own coins
    c. Each person is dealt into one of m blocks by a separate uniform coin. *)
Theorem votes_pure_dp (Row C : Type) m (coins : list C) (weight : C -> R)
    (vote : C -> nat -> People.table Row -> option nat) choose n s (t t' : People.table Row) :
  (1 <= m)%nat -> (forall c, In c coins -> 0 <= weight c) ->
  (forall c b u u', Groups.same u u' -> vote c b u = vote c b u') ->
  In choose Selections.selections -> 0 < s ->
  let law t r := sum coins (fun c => weight c * Votes.dealt m (People.people t) (fun _ => 0%nat)
    (fun block => choose s n (Votes.votes m (vote c) block t) r)) in
  (People.add_remove t t' -> pure_dp n (law t) (law t') (2 / s)) /\
  (People.replace t t' -> pure_dp n (law t) (law t') (2 / s)).
Proof. intros M W V I S law. split; intros H; apply Votes.votes_private; auto. Qed.

(** The same under rho, as the code charges for each selection. All answers are below n. *)
Theorem votes_zcdp (Row C : Type) m (coins : list C) (weight : C -> R)
    (vote : C -> nat -> People.table Row -> option nat) choose n s rho (t t' : People.table Row) :
  (1 <= m)%nat -> (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c b u u', Groups.same u u' -> vote c b u = vote c b u') -> 0 < s -> (0 < n)%nat ->
  (In choose [pf; Laplace.laplace_max] /\ rho = concentrated_of_laplace (2 / s)) \/
  (choose = em /\ rho = concentrated_of_range (2 / s)) ->
  let law t r := sum coins (fun c => weight c * Votes.dealt m (People.people t) (fun _ => 0%nat)
    (fun block => choose s n (Votes.votes m (vote c) block t) r)) in
  let answered t := LaplacePair.listed_only n (law t) in
  (People.add_remove t t' -> Divergences.concentrated (answered t) (answered t') rho) /\
  (People.replace t t' -> Divergences.concentrated (answered t) (answered t') rho).
Proof. intros M W T V S N K law answered. split; intros H; apply Dealing.votes_concentrated; auto. Qed.

Theorem votes_laplace_dominated (Row C : Type) m (coins : list C) (weight : C -> R)
    (vote : C -> nat -> People.table Row -> option nat) choose n s (t t' : People.table Row) :
  (1 <= m)%nat -> (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c b u u', Groups.same u u' -> vote c b u = vote c b u') -> 0 < s -> (0 < n)%nat ->
  In choose [pf; Laplace.laplace_max] ->
  let law t r := sum coins (fun c => weight c * Votes.dealt m (People.people t) (fun _ => 0%nat)
    (fun block => choose s n (Votes.votes m (vote c) block t) r)) in
  (People.add_remove t t' -> Dominance.laplace_dominated n (law t) (law t') (2 / s)) /\
  (People.replace t t' -> Dominance.laplace_dominated n (law t) (law t') (2 / s)).
Proof. intros M W T V S N K law. split; intros H; apply Dealing.votes_dominated; auto. Qed.

(** With the noisy number of blocks that voted for a candidate. *)
Theorem votes_with_number_pure_dp (Row C : Type) m (coins : list C) (weight : C -> R)
    (vote : C -> nat -> People.table Row -> option nat) choose n s eps r z (t t' : People.table Row) :
  (1 <= m)%nat -> (forall c, In c coins -> 0 <= weight c) ->
  (forall c b u u', Groups.same u u' -> vote c b u = vote c b u') ->
  In choose Selections.selections -> 0 < s -> 0 < eps -> (r < n)%nat ->
  let voted c block t := Dealing.voted m n (fun b => vote c b (Votes.in_block block b t)) in
  let law t := sum coins (fun c => weight c * Votes.dealt m (People.people t) (fun _ => 0%nat)
    (fun block => choose s n (Votes.votes m (vote c) block t) r
                  * NoisyCount.discrete_laplace eps (z - Z.of_nat (voted c block t)))) in
  (People.add_remove t t' -> law t <= exp (2 / s + eps) * law t') /\
  (People.replace t t' -> law t <= exp (2 / s + eps) * law t').
Proof.
  intros M W V I S E R voted law. assert (N : (0 < n)%nat) by lia.
  split; intros H; apply Dealing.votes_with_number_costs; auto.
Qed.

(** Any partition that depends only on the person, even if the function knows it. *)
Theorem votes_any_partition_pure_dp (Row : Type) m (vote : nat -> People.table Row -> option nat)
    (block : nat -> nat) choose n s (t t' : People.table Row) :
  (forall b u u', Groups.same u u' -> vote b u = vote b u') ->
  In choose Selections.selections -> 0 < s ->
  let law t := choose s n (Votes.votes m vote block t) in
  (People.add_remove t t' -> pure_dp n (law t) (law t') (2 / s)) /\
  (People.replace t t' -> pure_dp n (law t) (law t') (4 / s)).
Proof.
  intros V C S law. pose proof (Votes.fixed_distance m vote V block) as D.
  split; intros H; apply Selections.selection_pure_dp; try assumption; [now apply D|].
  replace 4 with (2 * 2) by ring. now apply (People.distance_replace _ _ D).
Qed.

(** docs/proofs/noisy-count-and-gap.md: a count plus discrete Laplace noise. *)
Theorem noisy_count_pure_dp eps (c c' : Z) (answers : list Z) : 0 < eps ->
  (Z.abs (c - c') <= 1)%Z ->
  sum answers (fun a => NoisyCount.discrete_laplace eps (a - c))
  <= exp eps * sum answers (fun a => NoisyCount.discrete_laplace eps (a - c')).
Proof. intros E. now apply NoisyCount.noisy_count_pure_dp. Qed.

(** Pr[|Z| > t]. *)
Theorem noisy_count_tail eps t : 0 < eps ->
  1 - NoisyCount.within eps t = tail_noisy_count eps (INR t).
Proof. intros E. now apply NoisyCount.noise_beyond. Qed.

(** The difference of two geometric numbers, the first n terms. *)
Theorem noisy_count_exact_noise eps z n : 0 < eps ->
  let lambda := exp (- eps) in
  sum (candidates n) (fun g => (1 - lambda) * lambda ^ (g + z) * ((1 - lambda) * lambda ^ g))
  = NoisyCount.discrete_laplace eps (Z.of_nat z) * (1 - lambda ^ (2 * n)).
Proof. apply NoisyCount.geometric_difference. Qed.

(** docs/proofs/unknown-domain.md. Values are 0, ..., N-1, and c v people have the value v; N is "nothing".
    [answers ... c A] is the chance that a round's answer is in A if [chosen] was chosen before. One person,
    who has at most m of the values, is added. *)
Theorem unknown_domain_approx_dp N k tau chosen (c c' : nat -> nat) m A eps delta :
  0 <= tau -> 0 < eps -> 0 < delta -> (1 <= k)%nat -> (1 <= m)%nat ->
  (forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat) ->
  (length (filter (fun v => negb (c' v =? c v)%nat) (candidates N)) <= m)%nat ->
  margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau ->
  let answers := LimitedDomain.answers N k (scale_of eps 1) tau chosen in
  answers c A <= exp eps * answers c' A + delta /\
  answers c' A <= exp eps * answers c A + delta.
Proof. apply LimitedDomain.limited_approx_dp_margin. Qed.

(** From a table, round after round: a person has at most m of the N values; [round t h r] is the chance of r
    after the answers h, and phi is any test of the answers of all rounds. *)
Theorem unknown_domain_rounds_approx_dp (Row : Type) N k m tau eps delta
    (has : nat -> list Row -> nat -> bool) rounds phi t t' :
  0 <= tau -> 0 < eps -> 0 < delta -> (1 <= k)%nat -> (1 <= m)%nat ->
  (forall r, People.personal (fun p l => has p l r)) ->
  (forall p l, (length (filter (has p l) (candidates N)) <= m)%nat) ->
  margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau -> (forall h, 0 <= phi h <= 1) ->
  let mean t := sum (Composition.transcripts (fun _ => S N) rounds [])
    (fun h => phi h * Composition.path (UnknownRounds.round N k tau eps has t) [] h) in
  (People.add_remove t t' ->
     mean t <= exp (INR rounds * eps) * mean t' + INR rounds * delta) /\
  (People.replace t t' ->
     mean t <= exp (INR rounds * (2 * eps)) * mean t' + INR rounds * (delta * (1 + exp eps))).
Proof. intros. now apply UnknownRounds.unknown_domain_rounds with m. Qed.

(** The same, followed by any release about the named values, such as a noisy count of each. [found t] is the
    chance that the named values and the release about them are in a set. *)
Theorem unknown_domain_then_approx_dp (Row A : Type) N k m tau eps delta
    (has : nat -> list Row -> nat -> bool) rounds (law : list nat -> People.table Row -> A -> R) more more'
    (answers : list nat -> list A) t t' :
  0 <= tau -> 0 < eps -> 0 < delta -> (1 <= k)%nat -> (1 <= m)%nat ->
  (forall r, People.personal (fun p l => has p l r)) ->
  (forall p l, (length (filter (has p l) (candidates N)) <= m)%nat) ->
  margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau ->
  (forall h, Wholes.whole A (law h) more more') -> (forall h, NoDup (answers h)) ->
  let found t := sum (Composition.transcripts (fun _ => S N) rounds [])
    (fun h => sum (answers h) (law h t) * Composition.path (UnknownRounds.round N k tau eps has t) [] h) in
  (People.add_remove t t' -> found t <= exp (INR rounds * eps + more) * found t' + INR rounds * delta) /\
  (People.replace t t' ->
     found t <= exp (INR rounds * (2 * eps) + more') * found t' + INR rounds * (delta * (1 + exp eps))).
Proof. intros. now apply UnknownAnswers.unknown_domain_then with m. Qed.

(** The chances of a round's answers, including "nothing", add up to one. *)
Theorem unknown_domain_total (Row : Type) N k tau eps (has : nat -> list Row -> nat -> bool) t h :
  (1 <= k)%nat -> sum (candidates (S N)) (UnknownRounds.round N k tau eps has t h) = 1.
Proof. intros K. now apply (UnknownRounds.round_total N k 1). Qed.

(** The cut is the (k+1)-st largest count: at most b exactly when at most k counts exceed b. *)
Theorem unknown_domain_cut N k c b :
  (UnknownDomain.cut N k c <= b
   <-> length (filter (fun v => b <? c v) (candidates N)) <= k)%nat.
Proof. apply UnknownDomain.cut_spec. Qed.

(** docs/proofs/groups-from-the-data.md. A group of m people is kept by a separate coin with the chance [keep
    m]. [passes c test] is the chance that the kept groups of c pass a test. One person is added to one group,
    or removed, or replaced. *)
Theorem kept_groups_approx_dp eps delta c c' test : 0 <= eps -> 0 <= delta <= 1 ->
  Keeping.one_person c c' -> Keeping.is_test test ->
  Keeping.passes eps delta c test <= exp eps * Keeping.passes eps delta c' test + delta.
Proof. intros. now apply Keeping.kept_approx_dp. Qed.

Theorem kept_groups_replace eps delta c c1 c' test : 0 <= eps -> 0 <= delta <= 1 ->
  Keeping.one_person c c1 -> Keeping.one_person c1 c' -> Keeping.is_test test ->
  Keeping.passes eps delta c test
  <= exp (2 * eps) * Keeping.passes eps delta c' test + delta * (1 + exp eps).
Proof. intros. now apply (Keeping.kept_replace eps delta) with c1. Qed.

(** Then a question about the kept groups, which costs [more]. *)
Theorem kept_groups_then_pure_dp eps delta more c c' test test' : 0 <= eps -> 0 <= delta <= 1 ->
  0 <= more -> Keeping.one_person c c' -> Keeping.is_test test -> Keeping.is_test test' ->
  (forall l, test l <= exp more * test' l) ->
  Keeping.passes eps delta c test
  <= exp (eps + more) * Keeping.passes eps delta c' test' + delta.
Proof. intros. now apply Keeping.kept_then_pure_dp. Qed.

(** From a table: a person counts in one group, drawn by secret coins. Then comes any answer about the kept
    groups l; the statement is about every set of such answers. *)
Theorem found_groups_approx_dp (Row C A : Type) coins weight (group : C -> nat -> list Row -> option nat) G
    eps delta (law : list bool -> People.table Row -> A -> R) more more' (answers : list bool -> list A) t t' :
  0 <= eps -> 0 <= delta <= 1 ->
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c, People.personal (group c)) ->
  (forall l, Wholes.whole A (law l) more more') -> (forall l, NoDup (answers l)) ->
  let found t := sum coins (fun c => weight c *
    Keeping.passes eps delta (FoundGroups.sizes (group c) G t)
      (fun l => sum (answers l) (law l t))) in
  (People.add_remove t t' -> found t <= exp (eps + more) * found t' + delta) /\
  (People.replace t t' -> found t <= exp (2 * eps + more') * found t' + 2 * delta).
Proof. intros. now apply FoundGroups.found_groups_approx_dp. Qed.

Theorem kept_groups_best eps delta (p : nat -> R) : 0 <= eps -> 0 <= delta <= 1 ->
  p O = 0 -> (forall m, p m <= 1) ->
  (forall m, p (S m) <= exp eps * p m + delta) ->
  (forall m, 1 - p m <= exp eps * (1 - p (S m)) + delta) ->
  forall m, p m <= Keeping.keep eps delta m.
Proof. intros. now apply Keeping.keep_is_best. Qed.

(** docs/proofs/above-threshold.md. [o] are queries with their answers (below; above; above by at
    least g and less than g') on one data set, [o'] the same answers on a neighbour; [chance] is the limit,
    which exists, of their probability with a threshold noise below n. A shift of the threshold by h >= 0 with
    0 <= h + q - q' <= d for every query costs h/b1, and d/b2 for every answer "above", with or without its
    gap. *)
Theorem above_threshold_chance b1 b2 T o : 0 < b1 -> 0 < b2 -> AboveThreshold.all_sound o ->
  AboveThreshold.is_chance b1 b2 T o (Crossings.chance b1 b2 T o).
Proof. intros B1 B2. now apply Crossings.chance_is. Qed.

Theorem above_threshold_pure_dp b1 b2 T h d o o' : 0 < b1 -> 0 < b2 -> 0 <= h ->
  AboveThreshold.within_shift h d o o' ->
  Crossings.chance b1 b2 T o
  <= exp (h / b1 + INR (AboveThreshold.crossings o) * (d / b2)) * Crossings.chance b1 b2 T o'.
Proof. intros B1 B2. now apply Crossings.above_threshold_pure_dp. Qed.

(** The same with Laplace noise, for the chances P and P'. *)
Theorem above_threshold_laplace_pure_dp b1 b2 T h d o o' (P P' : R) : 0 < b1 -> 0 < b2 -> 0 <= h ->
  AboveThreshold.within_shift h d o o' ->
  AboveThresholdLaplace.is_laplace_chance b1 b2 T o P ->
  AboveThresholdLaplace.is_laplace_chance b1 b2 T o' P' ->
  P <= exp (h / b1 + INR (AboveThreshold.crossings o) * (d / b2)) * P'.
Proof. intros B1 B2. now apply AboveThresholdLaplace.above_threshold_laplace_private. Qed.

(** The chances of all transcripts of m values, up to the c-th that is above, add up to one. *)
Theorem above_threshold_total b1 b2 T q m c : 0 < b1 -> 0 < b2 ->
  sum (Totals.streams m c) (Crossings.crossed b1 b2 T c q) = 1.
Proof. intros. now apply Totals.streams_add_up. Qed.

(** The same in rho: the answers to at most m values, of which at most c cross. Each value may depend on
    earlier answers. The two directions may need different shifts of the threshold. *)
Theorem above_threshold_zcdp b1 b2 T m c most h h' d q q' : 0 < b1 -> 0 < b2 ->
  0 <= h <= most -> 0 <= h' <= most -> 0 <= d -> 0 < most / b1 + INR c * (d / b2) ->
  (forall past, 0 <= h + q past - q' past <= d) -> (forall past, 0 <= h' + q' past - q past <= d) ->
  let law := Streams.stream b1 b2 T m c in
  Divergences.concentrated (law q) (law q') (concentrated_of_pure (most / b1 + INR c * (d / b2))).
Proof. intros B1 B2 H H' D E S S' law. now apply (Streams.stream_concentrated b1 b2 T B1 B2 m c most h h' d). Qed.

(** With exponential noise both figures are exact for c + 1 or more queries. [telling s e c]: a query at T + s
    is below, and c queries at T + s - e are above. *)
Theorem above_threshold_exact b1 b2 T D c (P1 P2 P3 P4 : R) : 0 < b1 -> 0 < b2 -> 0 <= D ->
  let chance o P := AboveThreshold.is_chance b1 b2 T o P in
  chance (AboveThreshold.telling T (D + D) (D + D) c) P1 ->
  chance (AboveThreshold.telling T D 0 c) P2 ->
  chance (AboveThreshold.telling T 0 0 c) P3 -> chance (AboveThreshold.telling T D D c) P4 ->
  0 < P1 /\ P2 = exp (D / b1 + INR c * ((D + D) / b2)) * P1 /\
  0 < P4 /\ P3 = exp (D / b1 + INR c * (D / b2)) * P4.
Proof. intros B1 B2 HD. now apply AboveThreshold.above_threshold_exact. Qed.

(** docs/proofs/top-k.md, the joint score: - max_i (c_(i) - c_(s_i)). One person is added, who has any of the
    N values. *)
Theorem joint_top_k_add_remove N k (c c' : nat -> nat) : (1 <= k)%nat ->
  (forall v, (v < N)%nat -> (c v <= c' v <= c v + 1)%nat) ->
  JointTopK.joint_distance N k c c' 2 /\ JointTopK.joint_distance N k c' c 2 /\
  JointTopK.joint_distance N 1 c c' 1 /\ JointTopK.joint_distance N 1 c' c 1.
Proof.
  intros K H. destruct (JointTopK.joint_added N c c' H k K).
  destruct (JointTopK.joint_added_one N c c' H). auto.
Qed.

(** One person is replaced: m are the counts without them. *)
Theorem joint_top_k_replace N k (m c c' : nat -> nat) : (1 <= k)%nat ->
  (forall v, (v < N)%nat -> (m v <= c v <= m v + 1)%nat) ->
  (forall v, (v < N)%nat -> (m v <= c' v <= m v + 1)%nat) ->
  JointTopK.joint_distance N k c c' 4 /\ JointTopK.joint_distance N 1 c c' 2.
Proof.
  intros K H H'. split.
  - now apply (JointTopK.joint_replaced N m).
  - now apply (JointTopK.joint_replaced_one N m).
Qed.

(** Everybody has one value, and one person moves from a to b. *)
Theorem joint_top_k_replace_one_value N k a b (c c' : nat -> nat) : (1 <= k)%nat ->
  (a < N /\ b < N /\ a <> b /\ c a = c' a + 1 /\ c' b = c b + 1 /\
   forall v, v <> a -> v <> b -> c' v = c v)%nat ->
  JointTopK.joint_distance N k c c' 3.
Proof. intros K M. now apply (JointTopK.joint_moved N k a b). Qed.

(** docs/proofs/top-k.md: from a table to the k most common values. One-shot: [o] is the answer. Jointly: the
    exponential mechanism over tuples; [counts] are the numbers of people. *)
Theorem top_k_one_shot_pure_dp (Row : Type) n s (has : nat -> list Row -> nat -> bool)
    (t t' : People.table Row) o : 0 < s -> (forall r, People.personal (fun p l => has p l r)) ->
  (forall r, In r o -> (r < n)%nat) ->
  let law t := TopK.one_shot s n (Sensitivities.people_with has t) o in
  (People.add_remove t t' -> law t <= exp (INR (length o) * (1 / s)) * law t') /\
  (People.replace t t' -> law t <= exp (INR (length o) * (2 / s)) * law t').
Proof.
  intros S P O law. split; intros H; apply TopK.one_shot_pure_dp; try assumption.
  - now apply Sensitivities.count_distance.
  - now apply Sensitivities.count_distance_replace.
Qed.

Theorem top_k_joint_pure_dp (Row : Type) N k tuples s (has : nat -> list Row -> nat -> bool)
    (tuple : nat -> nat -> nat) (counts : People.table Row -> nat -> nat) t t' :
  0 < s -> (1 <= k)%nat -> (forall r, People.personal (fun p l => has p l r)) ->
  (forall i j, (tuple i j < N)%nat) ->
  (forall t r, INR (counts t r) = Sensitivities.people_with has t r) ->
  let law t := em s tuples (fun i => JointTopK.joint_score N k (counts t) (tuple i)) in
  let d := if (k =? 1)%nat then 1 else 2 in
  (People.add_remove t t' -> pure_dp tuples (law t) (law t') (d / s)) /\
  (People.replace t t' -> pure_dp tuples (law t) (law t') (2 * d / s)).
Proof. intros S K P T C. now apply (Questions.joint_pure_dp N k has counts). Qed.

(** The exponential mechanism over scores of a table, tuples or sets ([Wholes.weighed]). *)
Theorem weighed_bounded_range (Row : Type) n s (q : People.table Row -> nat -> R) d d' t t' :
  0 < s -> (0 < n)%nat -> Wholes.weighed q d d' ->
  let law t := em s n (q t) in
  (People.add_remove t t' -> bounded_range n (law t) (law t') (d / s)) /\
  (People.replace t t' -> bounded_range n (law t) (law t') (d' / s)).
Proof.
  intros S N W law. destruct (Wholes.weighed_is q d d' W) as (A & R & _).
  split; intros H; apply Exponential.em_bounded_range; auto.
Qed.

(** docs/proofs/exponential-randomized-response.md: for every scale s, coin pi and B, one person who counts
    for one candidate refutes B-privacy. *)
Theorem randomized_response_chain_refuted s pi B : 0 < s -> 0 < pi <= 1 ->
  RandomizedResponse.refuted s pi B (RandomizedResponse.chain 1).
Proof. apply RandomizedResponse.chain_refuted. Qed.

Theorem randomized_response_interval_refuted s pi B : 0 < s -> 0 < pi <= 1 ->
  RandomizedResponse.refuted s pi B (RandomizedResponse.interval 1).
Proof. apply RandomizedResponse.interval_refuted. Qed.

Theorem randomized_response_naive_refuted s pi B : 0 < s -> 0 < pi <= 1 ->
  RandomizedResponse.refuted s pi B NaiveResponse.naive.
Proof. apply NaiveResponse.naive_refuted. Qed.

(** In the prose reading the neighbour has a tie, which may be broken either way. *)
Theorem randomized_response_prose_refuted s pi B first : 0 < s -> 0 < pi <= 1 ->
  first = 0%nat \/ first = 1%nat ->
  exists n q', RandomizedResponse.prose 1 n (RandomizedResponse.tied n) (first :: nil) /\
    RandomizedResponse.prose 1 n q' (candidates n) /\
    (forall r, 0 <= RandomizedResponse.tied n r - q' r <= 1) /\
    ~ pure_dp n (RandomizedResponse.response pi (candidates n) (em s n q'))
        (RandomizedResponse.response pi (first :: nil) (em s n (RandomizedResponse.tied n))) B.
Proof. intros S P. now apply RandomizedResponse.prose_refuted. Qed.

(** docs/proofs/lazy-evaluation.md: a stand-in with the public score B. Every coin is known from
    the candidate's own score, and the range distance is that of the scores themselves. *)
Theorem lazy_coins s n B q : 0 < s ->
  coin s (S n) (Lazy.lazy_scores B q) 0 = 1 /\
  forall j, coin s (S n) (Lazy.lazy_scores B q) (S j) = exp (- (B - Rmin (q j) B) / s).
Proof. apply Lazy.lazy_coins. Qed.

Theorem lazy_range_distance n B q q' D : 0 <= D ->
  let lazy := Lazy.lazy_scores B in
  ((forall i, (i < n)%nat -> Rabs (q' i - q i) <= D) ->
     range_distance (S n) (lazy q) (lazy q') (distance_general D)) /\
  ((forall i, (i < n)%nat -> 0 <= q' i - q i <= D) ->
     range_distance (S n) (lazy q) (lazy q') (distance_monotone D) /\
     range_distance (S n) (lazy q') (lazy q) (distance_monotone D)).
Proof.
  intros H lazy. split.
  - now apply Lazy.lazy_range.
  - now apply Lazy.lazy_range_monotonic.
Qed.

(** docs/proofs/lazy-evaluation.md: starting over until heads. *)
Theorem starting_over_monotonic eps D x : 0 < eps -> 0 < D ->
  (forall c, 0 < c ->
    pure_dp 2 (StartOver.start_over (D / eps) 0 2 (StartOver.two (- D) (- c)))
              (StartOver.start_over (D / eps) 0 2 (StartOver.two 0 (- c))) x) ->
  eps < eps + ln (2 - exp (- eps)) <= x.
Proof.
  intros E HD P. split.
  - now apply StartOver.start_over_excess.
  - now apply (StartOver.start_over_monotonic eps D).
Qed.

Theorem starting_over_general eps D x : 0 < eps -> 0 < D ->
  (forall c, 0 < c -> D <= c ->
    pure_dp 2 (StartOver.start_over (2 * D / eps) 0 2 (StartOver.two (- D) (D - c)))
              (StartOver.start_over (2 * D / eps) 0 2 (StartOver.two 0 (- c))) x) ->
  eps + ln (2 - exp (- (eps / 2))) <= x.
Proof. apply StartOver.start_over_general. Qed.

(** docs/proofs/bounded-range-refuted.md: eps^2/8 is false for permute-and-flip
    (Corollary 10 of Ding et al., 2021). *)
Theorem published_zcdp_false eps : 0 < eps <= 2 ->
  let s := scale_of eps (distance_general 1) in
  ~ Concentrated.zcdp (candidates 2) (pf s 2 Refuted.ahead) (pf s 2 Refuted.behind)
      (concentrated_of_range_at_most eps).
Proof.
  intros E. unfold scale_of, distance_general. rewrite Rmult_1_r.
  now apply ZcdpRefuted.published_rho_refuted.
Qed.
(** docs/proofs/laplace-dominance.md: the curve is that of the Laplace pair, and what follows from it. *)
Theorem laplace_pair eps c : 0 <= eps ->
  Dominance.tradeoff_laplace eps (Laplace.laplace_below 1 c) = Laplace.laplace_below 1 (c - eps).
Proof. apply Laplace.laplace_pair_tradeoff. Qed.

Theorem dominated_approx_dp n p p' eps e phi : - eps <= e <= eps -> Dominance.test n phi ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  Dominance.laplace_dominated n p p' eps ->
  Dominance.average n phi p <= exp e * Dominance.average n phi p' + delta_laplace eps e.
Proof. apply Dominance.dominated_approx_dp. Qed.

Theorem dominated_pure_dp n p p' eps : 0 <= eps ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  Dominance.laplace_dominated n p p' eps -> pure_dp n p p' eps.
Proof. apply Dominance.dominated_pure_dp. Qed.

Theorem dominated_hockey_stick n p p' eps tau : 0 <= eps -> 0 <= tau ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  Dominance.laplace_dominated n p p' eps ->
  Composition.hockey_stick (candidates n) p p' 1 tau <= Composition.laplace_curve eps tau.
Proof. apply Composition.dominated_hockey_stick. Qed.

(** docs/proofs/large-gap.md: if permute-and-flip draws a candidate that is not the best, it is replaced by
    the best with the chance [moved], provided that there are at least two candidates. *)
Theorem large_gap_is_law s n a q : 0 < s -> (0 < n)%nat -> 0 <= a ->
  Measures.is_law n (LargeGap.large_gap s n a q).
Proof. apply LargeGap.large_gap_is_law. Qed.

Theorem large_gap_approx_dp n eps delta d q q' : (0 < n)%nat -> 0 < eps -> 0 <= delta -> 0 < d ->
  range_distance n q q' d ->
  let law := LargeGap.large_gap (scale_of eps d) n (share_of_large_gap eps delta) in
  ApproxDP.approx_dp n (law q) (law q') eps delta.
Proof. apply LargeGap.large_gap_approx_dp. Qed.

(** docs/proofs/conversions.md: N = Some n for finitely many answers, and N = None for countably many; some
    answers may be impossible. *)
Section Conversions.
Variables (N : option nat) (p p' : nat -> R).
Hypotheses (p_law : Measures.is_law_over N p) (p'_law : Measures.is_law_over N p').

Theorem pure_to_bounded_range eps :
  Measures.over N (fun n => pure_dp n p p' eps) -> Measures.over N (fun n => pure_dp n p' p eps) ->
  Measures.over N (fun n => bounded_range n p p' (range_of_pure eps)).
Proof.
  destruct N as [n|]; simpl in *; [|intros A B n]; intros;
    apply Measures.pure_to_range; auto; intros; now apply p_law || now apply p'_law.
Qed.

Theorem bounded_range_to_pure eps : Measures.over N (fun n => bounded_range n p p' eps) ->
  Measures.over N (fun n => pure_dp n p p' eps).
Proof. now apply Measures.range_to_pure. Qed.

Theorem pure_to_approx eps delta :
  Measures.over N (fun n => pure_dp n p p' eps) -> Measures.over N (fun n => pure_dp n p' p eps) ->
  0 <= eps -> 0 <= delta ->
  Measures.over N (fun n => ApproxDP.approx_dp n p p' (Rmax 0 (epsilon_of_pure eps delta)) delta).
Proof. now apply Measures.pure_to_approx. Qed.

Theorem approx_to_approx eps lost delta :
  Measures.over N (fun n => ApproxDP.approx_dp n p p' eps lost) ->
  Measures.over N (fun n => ApproxDP.approx_dp n p' p eps lost) ->
  0 <= eps -> lost <= delta -> lost < 1 ->
  Measures.over N (fun n => ApproxDP.approx_dp n p p' (Rmax 0 (epsilon_of_approx eps lost delta)) delta).
Proof. now apply Measures.approx_to_approx. Qed.

Theorem bounded_range_to_approx eps delta : Measures.over N (fun n => bounded_range n p p' eps) ->
  0 <= eps -> 0 <= delta ->
  Measures.over N (fun n => ApproxDP.approx_dp n p p' (Rmax 0 (epsilon_of_range eps delta)) delta).
Proof. now apply Measures.range_to_approx_solved. Qed.

Theorem approx_curve eps delta e : Measures.over N (fun n => ApproxDP.approx_dp n p p' eps delta) ->
  Measures.over N (fun n => ApproxDP.approx_dp n p' p eps delta) -> delta <= 1 -> - eps <= e <= eps ->
  Measures.over N (fun n => ApproxDP.approx_dp n p p' e (delta_of_approx eps delta e)).
Proof. now apply Measures.approx_chord. Qed.

Theorem bounded_range_curve eps e : Measures.over N (fun n => bounded_range n p p' eps) -> 0 < eps ->
  Measures.over N (fun n => ApproxDP.approx_dp n p p' e (delta_of_range eps e)).
Proof. now apply Measures.range_to_approx. Qed.
End Conversions.

(** docs/proofs/laplace-dominance.md *)
Theorem dominated_to_approx n p p' eps delta : Measures.is_law n p -> Measures.is_law n p' ->
  Dominance.laplace_dominated n p p' eps -> 0 <= eps -> 0 <= delta ->
  ApproxDP.approx_dp n p p' (Rmax 0 (epsilon_laplace eps delta)) delta.
Proof. apply Measures.dominated_to_approx. Qed.

Theorem dominated_to_bounded_range n p p' eps : Measures.is_law n p -> Measures.is_law n p' ->
  Dominance.laplace_dominated n p p' eps -> Dominance.laplace_dominated n p' p eps -> 0 <= eps ->
  bounded_range n p p' (range_of_pure eps).
Proof. apply Measures.dominated_to_range. Qed.

(** docs/proofs/concentrated.md: simpler bounds, if no answer is impossible. *)
Section Concentrated.
Variables (n : nat) (p p' : nat -> R).
Hypotheses (p_law : Concentrated.positive_law n p) (p'_law : Concentrated.positive_law n p').

(** docs/proofs/concentrated.md: Hoeffding's bounds, for every order. *)
Theorem bounded_range_to_zcdp eps : bounded_range n p p' eps ->
  Concentrated.zcdp (candidates n) p p' (concentrated_of_range_at_most eps).
Proof. now apply Concentrated.range_to_zcdp. Qed.

Theorem pure_to_zcdp eps : pure_dp n p p' eps -> pure_dp n p' p eps ->
  Concentrated.zcdp (candidates n) p p' (concentrated_of_pure_at_most eps).
Proof. now apply Concentrated.pure_to_zcdp. Qed.
End Concentrated.

(** The exact constants, over any answers, some of which may be impossible: [concentrated] is [ZCDP]. *)
Theorem pure_to_zcdp_exact (A : Type) (p p' : A -> R) eps : 0 < eps ->
  Divergences.distribution p -> Divergences.distribution p' ->
  (forall a, p a <= exp eps * p' a) -> (forall a, p' a <= exp eps * p a) ->
  Divergences.concentrated p p' (concentrated_of_pure eps).
Proof. apply Divergences.pure_concentrated. Qed.

Theorem bounded_range_to_zcdp_exact (A : Type) (p p' : A -> R) eps : 0 < eps ->
  Divergences.distribution p -> Divergences.distribution p' ->
  (forall a b, p a * p' b <= exp eps * (p b * p' a)) ->
  Divergences.concentrated p p' (concentrated_of_range eps).
Proof. apply Divergences.range_concentrated. Qed.

(** Releases that the Laplace pair dominates in both directions. *)
Theorem dominated_to_zcdp n p p' eps : 0 <= eps -> Measures.is_law n p -> Measures.is_law n p' ->
  Dominance.laplace_dominated n p p' eps -> Dominance.laplace_dominated n p' p eps ->
  Divergences.concentrated (LaplacePair.listed_only n p) (LaplacePair.listed_only n p') (concentrated_of_laplace eps).
Proof. apply LaplacePair.dominated_concentrated. Qed.

(** A person who leaves one group and enters another costs no more than two people in one group. *)
Theorem laplace_pair_of_two eps : 2 * concentrated_of_laplace eps <= concentrated_of_laplace (2 * eps).
Proof. apply LaplacePair.laplace_of_two. Qed.

(** docs/proofs/neighbours.md: bounded range, given secret coins. *)
Theorem averaged_range_to_zcdp (A C : Type) (coins : list C) weight (p p' : C -> A -> R) eps : 0 < eps ->
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight <= 1 ->
  (forall c, In c coins -> Divergences.distribution (p c) /\ Divergences.distribution (p' c)) ->
  (forall c a b, In c coins -> p c a * p' c b <= exp eps * (p c b * p' c a)) ->
  Divergences.concentrated (fun a => sum coins (fun c => weight c * p c a))
    (fun a => sum coins (fun c => weight c * p' c a)) (concentrated_of_range eps).
Proof.
  intros E W W1 D B. apply Divergences.concentrated_drawn; auto.
  - intros c a I. destruct (D c I) as [[X _] [Y _]]. auto.
  - intros c I. destruct (D c I). apply Divergences.range_concentrated; auto.
Qed.

(** If the Laplace pair dominates given such coins, it dominates on average. *)
Theorem average_laplace_dominated (C : Type) (coins : list C) weight n (p p' : C -> nat -> R) eps : 0 <= eps ->
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c, In c coins -> Measures.is_law n (p c)) ->
  (forall c, In c coins -> Dominance.laplace_dominated n (p c) (p' c) eps) ->
  Dominance.laplace_dominated n (fun r => sum coins (fun c => weight c * p c r))
    (fun r => sum coins (fun c => weight c * p' c r)) eps.
Proof. apply Dealing.average_dominated. Qed.

(** docs/proofs/conversions.md *)
Theorem zcdp_to_approx (A : Type) (p p' : A -> R) rho delta order answers : (forall a, 0 <= p' a) ->
  Divergences.concentrated p p' rho -> 0 < delta -> 1 < order -> NoDup answers ->
  sum answers p <= exp (Rmax 0 (epsilon_of_concentrated rho delta order)) * sum answers p' + delta.
Proof. intros. now apply Divergences.concentrated_to_approx. Qed.

(** docs/proofs/neighbours.md: a chain of k neighbours. *)
Theorem pure_for_people n (P : nat -> nat -> R) eps k :
  (forall i, (i < k)%nat -> pure_dp n (P i) (P (S i)) eps) ->
  pure_dp n (P 0%nat) (P k) (INR k * eps).
Proof. apply Measures.pure_people. Qed.

Theorem bounded_range_for_people n (P : nat -> nat -> R) eps k :
  (forall i, (i <= k)%nat -> Measures.is_law n (P i)) ->
  (forall i, (i < k)%nat -> bounded_range n (P i) (P (S i)) eps) ->
  bounded_range n (P 0%nat) (P k) (INR k * eps).
Proof. apply Measures.range_people. Qed.

Theorem approx_for_people n (P : nat -> nat -> R) eps delta k :
  (forall i, (i < k)%nat -> ApproxDP.approx_dp n (P i) (P (S i)) eps delta) ->
  ApproxDP.approx_dp n (P 0%nat) (P k) (INR k * eps)
    (delta * sum (candidates k) (fun i => exp (INR i * eps))).
Proof. apply Measures.approx_people. Qed.

(** In closed form; at eps = 0 the sum is k. *)
Theorem approx_for_people_sum eps delta k :
  (0 < eps -> delta * sum (candidates k) (fun i => exp (INR i * eps))
              = delta_of_people eps delta (INR k)) /\
  (eps = 0 -> delta * sum (candidates k) (fun i => exp (INR i * eps)) = delta * INR k).
Proof.
  split; [apply Measures.people_sum|]. intros ->. f_equal.
  rewrite (sum_ext _ _ (fun _ => 1)) by (intros; now rewrite Rmult_0_r, exp_0).
  rewrite sum_const. unfold candidates. rewrite seq_length. ring.
Qed.

Theorem zcdp_for_people n (P : nat -> nat -> R) rho k : (0 < k)%nat ->
  (forall i, (i <= k)%nat -> Concentrated.positive_law n (P i)) ->
  (forall i, (i < k)%nat -> Concentrated.zcdp (candidates n) (P i) (P (S i)) rho) ->
  Concentrated.zcdp (candidates n) (P 0%nat) (P k) (concentrated_of_people rho (INR k)).
Proof. intros K L. apply Concentrated.zcdp_people; [exact K|]. apply L, Nat.le_0_l. Qed.

(** docs/proofs/laplace-dominance.md *)
Theorem dominated_for_people n (P : nat -> nat -> R) eps k : 0 <= eps ->
  (forall i, (i <= k)%nat -> Measures.is_law n (P i)) ->
  (forall i, (i < k)%nat -> Dominance.laplace_dominated n (P i) (P (S i)) eps) ->
  Dominance.laplace_dominated n (P 0%nat) (P k) (INR k * eps).
Proof. apply Chains.dominated_people. Qed.

(** docs/proofs/composition.md. In each round the number of answers [n h], the laws and the cost may depend on
    the answers so far, [h]. There may be further answers. This covers countably many answers, because a
    statement about every finite part of them is a statement about all. *)
Section Compositions.
Variables (n : list nat -> nat) (law law' : list nat -> nat -> R).
Hypotheses (law_is : forall h, Measures.is_part (n h) (law h))
           (law'_is : forall h, Measures.is_part (n h) (law' h)).
Let mean k phi l := sum (Composition.transcripts n k []) (fun t => phi t * Composition.path l [] t).

Theorem adaptive_pure_composition eps k cap :
  (forall h, pure_dp (n h) (law h) (law' h) (eps h)) -> Composition.within n eps k [] cap ->
  forall phi, (forall t, 0 <= phi t) -> mean k phi law <= exp cap * mean k phi law'.
Proof.
  intros P W. apply (Composition.pure_composition n law law') with (eps := eps); auto;
    intros h; apply law_is || apply law'_is.
Qed.

Theorem adaptive_approx_composition eps delta k cap cap' :
  (forall h, ApproxDP.approx_dp (n h) (law h) (law' h) (eps h) (delta h)) ->
  Composition.within n eps k [] cap -> Composition.within n delta k [] cap' ->
  forall phi, (forall t, 0 <= phi t <= 1) -> mean k phi law <= exp cap * mean k phi law' + cap'.
Proof.
  intros P W W'. apply (Composition.approx_composition n law law') with (eps := eps) (delta := delta);
    auto; intros h; apply law_is || apply law'_is.
Qed.

(** If a person's data is in the part of only one round, the costs do not add. *)
Theorem parallel_composition eps j k : 0 <= eps ->
  (forall h, length h = j -> pure_dp (n h) (law h) (law' h) eps) ->
  (forall h, length h <> j -> forall r, (r < n h)%nat -> law h r = law' h r) ->
  forall phi, (forall t, 0 <= phi t) -> mean k phi law <= exp eps * mean k phi law'.
Proof.
  intros He P E. apply Measures.parallel_composition with (j := j); auto;
    intros h; apply law_is || apply law'_is.
Qed.

(** Lists of releases fixed in advance, each dominated by the Laplace pair at [eps i], with any
    finite pairs (a i, b i) above its curve, such as those of a grid; the questions may adapt. *)
Theorem laplace_list_composition eps m a b :
  (forall h, Measures.is_law (n h) (law h)) -> (forall i, 0 <= eps i) ->
  (forall h, Dominance.laplace_dominated (n h) (law h) (law' h) (eps (length h))) ->
  (forall i r, (r < m i)%nat -> 0 <= a i r /\ 0 <= b i r) ->
  (forall i tau, 0 <= tau -> Composition.laplace_curve (eps i) tau
     <= Composition.hockey_stick (candidates (m i)) (a i) (b i) 1 tau) ->
  forall k tau, 0 <= tau ->
  Composition.hockey_stick (Composition.transcripts n k [])
    (Composition.path law []) (Composition.path law' []) 1 tau
  <= Composition.hockey_stick (Composition.transcripts (fun h => m (length h)) k [])
       (Composition.path (fun h => a (length h)) []) (Composition.path (fun h => b (length h)) []) 1 tau.
Proof.
  intros L He D B C. apply Composition.laplace_list_composition with (eps := eps); auto.
  - intros h r Hr. split; [now apply law_is | now apply law'_is].
  - intros h. apply L.
Qed.
End Compositions.

(** rho adds up too. [affords]: whatever is answered, the costs of k rounds add up to at most cap. *)
Theorem adaptive_zcdp_composition (A : Type) (law law' : list A -> A -> R) rho k cap :
  (forall h, Together.at_most_one (law h)) ->
  (forall h, Divergences.concentrated (law h) (law' h) (rho h)) -> Together.affords rho k [] cap ->
  Divergences.concentrated (Together.rounds law k []) (Together.rounds law' k []) cap.
Proof. apply Together.rounds_concentrated. Qed.

(** Theorem 1 (d): each round is [ZCDP] outside an event of probability [delta h]. *)
Theorem adaptive_mixed_composition (A : Type) (law law' good good' bad bad' : list A -> A -> R) delta rho
    k R D more order answers :
  (forall h a, law h a = (1 - delta h) * good h a + delta h * bad h a) ->
  (forall h a, law' h a = (1 - delta h) * good' h a + delta h * bad' h a) ->
  (forall h, 0 <= delta h <= 1) ->
  (forall h, Together.at_most_one (good h)) -> (forall h, Together.at_most_one (good' h)) ->
  (forall h, Together.at_most_one (bad h)) -> (forall h, Together.at_most_one (bad' h)) ->
  0 <= D -> 0 < more -> 1 < order -> NoDup answers ->
  (forall h, Divergences.concentrated (good h) (good' h) (rho h)) ->
  Together.affords rho k [] R -> Together.affords delta k [] D ->
  sum answers (Together.rounds law k [])
  <= exp (Rmax 0 (epsilon_of_concentrated R more order)) * sum answers (Together.rounds law' k []) + (D + more).
Proof. intros L L' Dr G G' B B'. now apply (Mixtures.mixed_composition law law' good good' bad bad'). Qed.

(** An (eps, delta)-private round is of this kind, with eps-private laws outside the event. *)
Theorem approx_dp_is_mixture n p p' eps delta : Measures.is_law n p -> Measures.is_law n p' ->
  0 <= eps -> 0 < delta < 1 -> ApproxDP.approx_dp n p p' eps delta -> ApproxDP.approx_dp n p' p eps delta ->
  exists good good' bad bad', Measures.is_law n good /\ Measures.is_law n good' /\
  Measures.is_law n bad /\ Measures.is_law n bad' /\ forall r, (r < n)%nat ->
    p r = (1 - delta) * good r + delta * bad r /\ p' r = (1 - delta) * good' r + delta * bad' r /\
    good r <= exp eps * good' r /\ good' r <= exp eps * good r.
Proof. apply Mixtures.approx_is_mixture. Qed.

(** Interleaved: [f i] is mechanism i, with its own noise; [asks] decides from all answers so far which
    mechanism is asked next, and which question. Each mechanism is counted once, when it is first asked. *)
Theorem interleaved_pure_dp (Question Answer : Type) (asks : list (nat * (Question * Answer)) -> nat * Question)
    (f f' : nat -> list (Question * Answer) -> R) eps cap answers :
  (forall i, Interleaved.interactive (f i)) -> (forall i, Interleaved.interactive (f' i)) ->
  (forall i t, f i t <= exp (eps i) * f' i t) ->
  (forall t, In t answers -> sum (Interleaved.opened (Interleaved.known asks [] t)) eps <= cap) ->
  sum answers (Interleaved.interleaved asks f []) <= exp cap * sum answers (Interleaved.interleaved asks f' []).
Proof. apply Interleaved.interleaved_pure. Qed.

(** Such a mechanism is one draw of randomized response, followed by an interaction that knows nothing else.
    *)
Theorem interactive_is_coin (Question Answer : Type) (f f' : list (Question * Answer) -> R) eps : 0 < eps ->
  Interleaved.interactive f -> Interleaved.interactive f' ->
  (forall t, f t <= exp eps * f' t) -> (forall t, f' t <= exp eps * f t) ->
  exists g g', Interleaved.interactive g /\ Interleaved.interactive g' /\ forall t,
    f t = exp eps / (1 + exp eps) * g t + / (1 + exp eps) * g' t /\
    f' t = / (1 + exp eps) * g t + exp eps / (1 + exp eps) * g' t.
Proof. apply Interleaved.interactive_coin. Qed.

(** docs/proofs/ledger.md: every cost is rounded up to the grid and every cap down; [counted_within] is the
    filter over whole numbers that refuses costs that would exceed the cap. *)
Section Ledger.
Variables (A : Type) (law law' : list A -> A -> R) (grid : R) (k : nat).
Hypotheses (grid_pos : 0 < grid) (laws : forall h, Together.at_most_one (law h)).

Theorem ledger_pure_dp eps cap answers : (forall h a, law h a <= exp (eps h) * law' h a) ->
  Mixtures.counted_within grid eps k [] (Flocq.Core.Raux.Zfloor (cap / grid)) ->
  sum answers (Together.rounds law k []) <= exp cap * sum answers (Together.rounds law' k []).
Proof.
  intros H C. rewrite <- sum_scal. apply sum_le. intros t _.
  apply (Mixtures.rounds_pure law law' eps k (fun h => proj1 (laws h)) H). now apply (Mixtures.counted_affords grid).
Qed.

Theorem ledger_zcdp rho cap : (forall h, Divergences.concentrated (law h) (law' h) (rho h)) ->
  Mixtures.counted_within grid rho k [] (Flocq.Core.Raux.Zfloor (cap / grid)) ->
  Divergences.concentrated (Together.rounds law k []) (Together.rounds law' k []) cap.
Proof.
  intros H C. apply (Together.rounds_concentrated law law' rho); auto. now apply (Mixtures.counted_affords grid).
Qed.
End Ledger.

(** docs/proofs/sampling.md *)
(** A program draws bits; [has_law p f x] says that the expectation of f over what p returns
    is x. Lemma 1: w bits with 2^w >= k are kept if they are below k; otherwise fresh bits are drawn. *)
Theorem sampling_lemma_1 w k f M : (1 <= k <= 2 ^ w)%nat -> (forall v, 0 <= f v <= M) ->
  Programs.has_law (UniformBelow.uniform_below w k) f (sum (candidates k) f / INR k).
Proof. apply UniformBelow.uniform_below_law. Qed.

Theorem sampling_lemma_2 (M k i : Z) : (1 <= k <= M -> 0 <= i < k ->
  exists a, 0 <= a /\ a + M / k <= M /\
  forall v, (0 <= v < M /\ v * k / M = i /\ M mod k <= (v * k) mod M)
            <-> a <= v < a + M / k)%Z.
Proof. apply Words.words_of_index. Qed.

(** Lemma 3. [low w] and [high w] are the ends of a ball around 2^w c; u is known to lie in [U 2^-w, (U+1)
    2^-w), and [step] more bits are drawn while the ball does not decide. The answer is right. Its probability
    is the part of the interval below c (for b = true) or above it; the two add up to one. *)
Theorem sampling_lemma_3 c low high step :
  (forall w, low w <= 2 ^ w * c <= high w) ->
  (forall w, 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1) -> (1 <= step)%nat ->
  (forall w U x answer, Comparison.ask low high step (w, U) = Programs.Return (inr answer) ->
     INR U <= x < INR U + 1 -> if answer then x < 2 ^ w * c else 2 ^ w * c <= x) /\
  (forall w U b, Programs.has_law (Comparison.is_below low high step w U) (Comparison.says b)
     (Comparison.clamp (if b then 2 ^ w * c - INR U else INR U + 1 - 2 ^ w * c))).
Proof.
  intros E N S. split.
  - intros w U x answer. now apply (Comparison.is_below_right c low high E step S).
  - intros w U b. now apply (Comparison.is_below_law c low high E N step S).
Qed.

(** Lemma 4. [good_gap floated gamma]: floated is within 2^-51 gamma + 2^-90 of gamma <= 599,
    and at least 598 otherwise. [factor] is the code's factor, 1/s up to one rounding if its exponent is not
    cut. Floats, |e| <= 900. *)
Theorem sampling_lemma_4 best value s factor :
  format best -> format value -> value <= best ->
  / 2 ^ 901 <= s -> - u <= factor * s - 1 <= u ->
  GapBranches.good_gap
    (fl (Rmin (fl (best - value)) (fl (600 / factor)) * factor)) ((best - value) / s).
Proof. apply GapBranches.floats_middle. Qed.

(** Only the difference can overflow. A difference that overflows is above the limit (at most 2^1010), and the
    cut then gives the limit, here as in the code. The result is a float of at most 601. *)
Theorem sampling_lemma_4_range s factor diff : 0 <= diff ->
  / 2 ^ 901 <= s <= 2 ^ 1000 -> - u <= factor * s - 1 <= u ->
  let floated := fl (Rmin diff (fl (600 / factor)) * factor) in
  fl (600 / factor) <= 2 ^ 1010 /\ Rmin diff (fl (600 / factor)) * factor <= 601 /\
  format floated /\ 0 <= floated <= 601.
Proof.
  intros D [S S'] F floated.
  destruct (Gaps.cut_in_range s factor diff S F S') as [A B].
  split; [exact A|]. split; [exact B|]. now apply (Gaps.cut_before_range s factor diff).
Qed.

(** Floats, 900 < e <= 1120, and e > 1120 (cut to 1120). *)
Theorem sampling_lemma_4_high best value s factor :
  format best -> format value -> value <= best ->
  2 ^ 800 <= s -> - u <= factor * (s * / 2 ^ 200) - 1 <= u ->
  let diff := fl (fl (best * / 2 ^ 200) - fl (value * / 2 ^ 200)) in
  GapBranches.good_gap (fl (Rmin diff (fl (600 / factor)) * factor)) ((best - value) / s).
Proof. apply GapBranches.floats_high. Qed.

Theorem sampling_lemma_4_highest best value s factor :
  format best -> format value -> value <= best ->
  Rabs best <= 2 ^ 1024 -> Rabs value <= 2 ^ 1024 ->
  2 ^ 1120 <= s -> 0 < factor <= / 2 ^ 918 ->
  let diff := fl (fl (best * / 2 ^ 200) - fl (value * / 2 ^ 200)) in
  let floated := fl (Rmin diff (fl (600 / factor)) * factor) in
  let gamma := (best - value) / s in
  0 <= gamma <= / 2 ^ 95 /\ 0 <= floated <= / 2 ^ 91 /\
  Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90.
Proof. apply GapBranches.floats_highest. Qed.

(** Floats, -1100 <= e < -900, and e < -1100 (cut to -1100). *)
Theorem sampling_lemma_4_low best value s factor :
  format best -> format value -> value <= best ->
  / 2 ^ 1101 <= s -> - u <= factor * (s * 2 ^ 200) - 1 <= u ->
  let diff := fl (fl (best - value) * 2 ^ 200) in
  GapBranches.good_gap (fl (Rmin diff (fl (600 / factor)) * factor)) ((best - value) / s).
Proof. apply GapBranches.floats_low. Qed.

Theorem sampling_lemma_4_lowest best value s factor :
  format best -> format value -> value <= best ->
  0 < s <= / 2 ^ 1100 -> 2 ^ 898 <= factor <= 2 ^ 902 ->
  let diff := fl (fl (best - value) * 2 ^ 200) in
  let floated := fl (Rmin diff (fl (600 / factor)) * factor) in
  let gamma := (best - value) / s in
  (floated = 0 /\ gamma = 0) \/ (598 <= floated /\ 2 ^ 25 <= gamma).
Proof. apply GapBranches.floats_lowest. Qed.

(** Integers: d is the exact difference; e is cut to [-900, 1000]. *)
Theorem sampling_lemma_4_integers (d : Z) s factor : (0 <= d)%Z ->
  let floated := Rmin (fl (fl (IZR d) * factor)) 600 in
  let gamma := IZR d / s in
  (/ 2 ^ 901 <= s -> - u <= factor * s - 1 <= u -> GapBranches.good_gap floated gamma) /\
  (0 < s <= / 2 ^ 900 -> 2 ^ 898 <= factor ->
    (floated = 0 /\ gamma = 0) \/ (598 <= floated /\ 2 ^ 900 <= gamma)) /\
  ((d < 2 ^ 64)%Z -> 2 ^ 1000 <= s -> 0 < factor <= / 2 ^ 998 ->
    Rabs (floated - gamma) <= / 2 ^ 51 * gamma + / 2 ^ 90).
Proof.
  intros D floated gamma. split; [|split].
  - now apply GapIntegers.integers_middle.
  - now apply GapIntegers.integers_low.
  - intros L S F. now apply (GapIntegers.integers_high d s factor).
Qed.

Theorem sampling_lemma_4_modulo (best value : Z) : (0 <= best - value < 2 ^ 64)%Z ->
  ((best mod 2 ^ 64 - value mod 2 ^ 64) mod 2 ^ 64 = best - value)%Z.
Proof. apply GapIntegers.difference_modulo. Qed.

(** Objects: the exact rational is rounded once. *)
Theorem sampling_lemma_4_objects gamma : 0 <= gamma ->
  GapBranches.good_gap (fl (Rmin gamma 600)) gamma.
Proof. apply GapIntegers.objects. Qed.

(** [within] compares the difference with the bound in units of scores, or any good float with the bound
    itself. *)
Theorem sampling_lemma_4_within gamma s factor diff e1 t1 bound :
  0 <= gamma -> / 2 ^ 901 <= s -> - u <= factor * s - 1 <= u -> - u <= e1 <= u ->
  Rabs t1 <= / 2 ^ 100 * s -> diff = gamma * s * (1 + e1) + t1 ->
  / 2 ^ 8 <= bound <= 500 -> Rabs (gamma - bound) > / 2 ^ 48 * bound ->
  (fl (bound * fl (1 / factor)) < diff <-> bound < gamma) /\
  (forall floated, GapBranches.good_gap floated gamma -> (bound < floated <-> bound < gamma)).
Proof.
  intros G S F E T D B A.
  destruct (Gaps.within_close gamma s factor diff e1 t1 G S F E T D bound B A) as [X Y].
  split; [exact X|]. intros floated [N L]. now apply Y.
Qed.

(** Lemma 5: every score worse than the threshold T at level a has a coin below 2^-a.
    [Thresholds.ln2_above] is 0x1.62e42fefa39f0p-1, and is above ln 2. *)
Theorem sampling_lemma_5_integers b s a (T value : Z) : 0 < s ->
  (T <= b - Flocq.Core.Raux.Zceil (INR a * Thresholds.ln2_above * s))%Z -> (value < T)%Z ->
  exp (- ((IZR b - IZR value) / s)) < / 2 ^ a.
Proof. intros S. now apply Thresholds.threshold_integers. Qed.

Theorem sampling_lemma_5_floats best s a T value : 0 < s -> / 2 ^ 901 <= s ->
  let reach := fl (fl (Thresholds.ln2_above * fl s) * (1 + / 2 ^ 48)) in
  let below := Flocq.Core.Ulp.pred Flocq.Core.Zaux.radix2
                 (Flocq.Core.FLT.FLT_exp emin prec) in
  T <= below (fl (best - fl (INR a * reach))) -> value < T ->
  exp (- ((best - value) / s)) < / 2 ^ a.
Proof. intros S L. now apply Thresholds.threshold_floats. Qed.

Theorem sampling_lemma_5_exact best s a T value : 0 < s ->
  T <= best - INR a * Thresholds.ln2_above * s -> value < T ->
  exp (- ((best - value) / s)) < / 2 ^ a.
Proof. intros S. now apply Thresholds.threshold_exact. Qed.

Theorem sampling_lemma_5_constant : ln 2 < Thresholds.ln2_above.
Proof. apply Thresholds.ln2_below. Qed.

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

(** Lemma 6, the coin: floats decide a word of w bits if they can, and lemma 3 otherwise. It is heads with
    probability exactly c. *)
Theorem sampling_lemma_6_coin c low high step w guess : 0 <= c <= 1 ->
  (forall w, low w <= 2 ^ w * c <= high w) ->
  (forall w, 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1) -> (1 <= step)%nat ->
  (forall U, guess U = Some false -> 2 ^ w * c <= INR U) ->
  (forall U, guess U = Some true -> INR U + 1 <= 2 ^ w * c) ->
  Heads.is_coin (Heads.flip low high step w guess) c.
Proof. apply Heads.flip_law. Qed.

(** Lemma 6a: i is 2^8 times the first bits, in [noise_bound] the float for - ln (i/256) (1 + 2^-42); [beyond]
    is the result of lemma 4 for gamma and this bound. Every coin of chance at most e^-gamma is tails. *)
Theorem sampling_lemma_6a (m : machine) i gamma c x (beyond : Prop) : (1 <= i <= 255)%nat ->
  let bound := Plans.noise_bound m i in
  (Rabs (gamma - bound) > / 2 ^ 48 * bound -> (beyond <-> bound < gamma)) ->
  beyond -> c <= exp (- gamma) -> INR i / 256 <= x -> c < x.
Proof. intros I bound. now apply (Plans.first_bits_mean_tails m i I). Qed.

Theorem sampling_lemma_6a_bound (m : machine) i : (1 <= i <= 255)%nat -> / 2 ^ 8 <= Plans.noise_bound m i <= 500.
Proof. intros I. apply (Plans.noise_bound_range m i I). Qed.

(** Lemma 7: places are marked with chance m. The number of places before the next mark, drawn again after
    each mark, gives the law of independent marks. For a uniform x, integers, floats or words decide that
    number. *)
Theorem sampling_lemma_7 m l fuel phi : (length l <= fuel)%nat ->
  Plans.by_skips m fuel l phi = Walk.flip_all (fun _ => m) l phi.
Proof. apply Plans.marks_by_skips. Qed.

Theorem sampling_lemma_7_skips m x : 0 < m < 1 ->
  (forall n, x < 1 - INR n * m -> x < (1 - m) ^ n) /\
  (forall y_hat e k, 0 < x -> 0 <= e -> Rabs (y_hat - ln x / ln (1 - m)) <= e ->
     INR k + e < y_hat < INR (S k) - e -> (1 - m) ^ S k <= x < (1 - m) ^ k) /\
  (forall w U k, INR (S U) / 2 ^ w <= (1 - m) ^ k -> (1 - m) ^ S k <= INR U / 2 ^ w ->
     INR U / 2 ^ w <= x < INR (S U) / 2 ^ w -> (1 - m) ^ S k <= x < (1 - m) ^ k).
Proof.
  intros M. split; [|split].
  - intros n. now apply Plans.skip_by_integers.
  - intros y e k. now apply Plans.skip_by_floats.
  - intros w U k. apply Plans.skip_of_words.
Qed.

(** Lemma 7, the floats of [_skips]: the distance from a word of w bits, cut at limit + 1/2. If it is farther
    than the allowance from every integer, its floor k is the distance of every uniform number x that begins
    with these bits, or that distance is at least [limit]. *)
Theorem sampling_lemma_7_floats (m : machine) w word a limit x k :
  (1 <= w <= 64)%nat -> (2 ^ (w - 24) <= word < 2 ^ w)%nat -> (1 <= a <= 62)%nat -> (Z.of_nat limit <= 2 ^ 46)%Z ->
  INR word / 2 ^ w <= x < INR (S word) / 2 ^ w ->
  let log := float_log m (fl (fl (INR word) + 1 / 2)) in
  let log_u := fl (log - fl (INR w * float_log m 2)) in
  let distance := Rmin (fl (log_u / math_log1p m (- / 2 ^ a))) (INR limit + 1 / 2) in
  let farthest := Rmin (INR limit) (INR w * 2 ^ a) in
  let allowance := fl (fl (fl (farthest + 2 ^ a) * / 2 ^ 42) + 2 ^ a * 2 ^ 25 / 2 ^ w) in
  let kappa := 1 - / 2 ^ a in
  IZR k <= distance < IZR k + 1 -> Rabs (fl (fl (distance - IZR k) - 1 / 2)) < fl (1 / 2 - allowance) ->
  fl (INR limit + 1 / 2) = INR limit + 1 / 2 /\
  exists j : nat, k = Z.of_nat j /\
    ((j < limit)%nat /\ kappa ^ S j <= x < kappa ^ j \/ j = limit /\ x < kappa ^ limit).
Proof.
  intros W U A L X log log_u distance farthest allowance kappa D C.
  split; [now apply Waits.fl_exact, (Skips.cut_exact w word a limit)|]. now apply (Skips.clear_skip m w word a limit W U A x X).
Qed.

(** Lemma 7 as a program: [Marking.draw_skip] draws a word; integers or floats decide the distance to the next
    mark ([guess]), or balls and more bits ([decide]), which stay undecided only near a bound. Marks found so are
    independent, each with chance m. *)
Theorem sampling_lemma_7_program m w step (decide : nat -> nat -> nat -> option nat) (guess : nat -> nat -> option nat) l :
  0 < m < 1 -> (1 <= step)%nat ->
  (forall n w U k, decide n w U = Some k -> Marking.within (1 - m) n w U k) ->
  (forall n w U, (U < 2 ^ w)%nat -> decide n w U = None ->
     exists j, (j <= n)%nat /\ Rabs (2 ^ w * (1 - m) ^ j - INR U) <= 2) ->
  (forall n U k, guess n U = Some k -> (k <= n)%nat /\
     forall x, INR U / 2 ^ w <= x < INR (S U) / 2 ^ w -> ((k < n)%nat -> (1 - m) ^ S k <= x) /\ x < (1 - m) ^ k) ->
  Visits.is_marking (Marking.marks_by (fun n => Marking.draw_skip (decide n) step w (guess n)) (length l) l) m l.
Proof. apply Marking.marks_from_bits. Qed.

Theorem sampling_lemma_7_satisfiable kappa n : 0 < kappa < 1 -> exists decide : nat -> nat -> option nat,
  (forall w U k, decide w U = Some k -> Marking.within kappa n w U k) /\
  (forall w U, (U < 2 ^ w)%nat -> decide w U = None ->
     exists j, (j <= n)%nat /\ Rabs (2 ^ w * kappa ^ j - INR U) <= 2).
Proof. apply Marking.decisions_exist. Qed.

(** Lemma 8: mark every candidate with chance m, and flip a coin c/m for the marked candidates that are far.
    *)
Theorem sampling_lemma_8 mark coin m c far l phi : 0 < m ->
  Heads.is_coin mark m -> (forall x, far x = true -> Heads.is_coin (coin x) (c x / m)) ->
  (forall H, 0 <= phi H) ->
  Programs.has_law (Heads.thinned mark coin far l) phi (Walk.flip_all c (filter far l) phi).
Proof. apply Heads.thinned_law. Qed.

(** Lemma 9: the level j of a candidate, as computed. *)
Theorem sampling_lemma_9 gamma floated (j : nat) : 0 <= gamma -> GapBranches.good_gap floated gamma ->
  0 <= floated -> (j <= 255)%nat -> INR j <= fl (floated * Plans.levels_per_gamma) -> exp (- gamma) <= / 2 ^ j.
Proof. apply Plans.level_right. Qed.

(** Lemma 16, the time: k proposals come before t with the Poisson chance, at independent uniform times, and
    each is rejected with the same mean chance. The chance that nothing is kept before t is the chance that
    nobody is reached. *)
Theorem sampling_lemma_16_time (h : nat -> R -> R) l Lambda t : 0 < t -> 0 < Lambda -> (forall r, cont (h r)) ->
  let kept s := sum l (fun r => h r s) / Lambda in
  let passed_over := / t * int (fun s => 1 - kept s) 0 t in
  Plans.adds_up_to (fun k => Runs.poisson_number (Lambda * t) k * passed_over ^ k)
    (prod l (fun r => exp (- int (h r) 0 t))).
Proof. apply Plans.nothing_kept. Qed.

(** Lemma 16, which candidate is kept: [kept_within] follows the proposals. Each wait is - ln u / Lambda for a
    uniform u; a proposal is r with chance w r / Lambda and is kept with chance keep r x at time x. With at most
    k proposals, none after T, its expectation of phi is that of phi of the candidate reached first before T,
    up to the chance of k proposals. *)
Theorem sampling_lemma_16_kept l w (keep h : nat -> R -> R) T phi k : let Lambda := sum l w in
  0 < Lambda -> 0 <= T -> (forall r, In r l -> cont (h r)) ->
  (forall r x, In r l -> w r * keep r x = h r x) -> (forall r x, In r l -> 0 <= h r x) ->
  (forall r x, In r l -> 0 <= x -> h r x <= w r) -> (forall r, 0 <= phi r <= 1) ->
  0 <= int (fun x => sum l (fun r => h r x * phi r) * prod l (fun r => exp (- int (h r) 0 x))) 0 T
       - Proposals.kept_within l w keep T phi k 0 <= (1 - exp (- (Lambda * T))) ^ k.
Proof. intros Lambda L H C K P M R. now apply (Proposals.first_kept_law l w keep h T phi). Qed.

(** With exponential noise, and coins p with p r <= w r, it is a uniform choice among the heads. *)
Theorem sampling_lemma_16_head l w p r T k : NoDup l -> (forall t, In t l -> 0 < w t) ->
  (forall t, In t l -> 0 <= p t <= 1 /\ p t <= w t) -> In r l -> 0 <= T ->
  let keep t x := p t / w t / (1 + (1 - p t) * (exp x - 1)) in
  0 <= Walk.uniform_head p l r - Proposals.kept_within l w keep T (fun t => Walk.indicator t r) k 0
    <= exp (- T) + (1 - exp (- (sum l w * T))) ^ k.
Proof. intros N W P R H keep. now apply (Proposals.exponential_kept l w p N W P r T k R H). Qed.

(** Lemma 16, the blocks: a place is drawn among all cells, each of b places, and its offset is halved. Every
    candidate of a run is at (number of cells) * 2^(number of halvings) places. *)
Theorem sampling_lemma_16_blocks b runs (phi : nat -> R) : (1 <= b)%nat ->
  (forall r, In r runs -> exists c, b = (c * 2 ^ Blocks.halvings r)%nat) ->
  sum (candidates (length (Blocks.all_cells runs) * b)) (fun place => phi (Blocks.candidate_at b runs place))
  = sum runs (fun r => INR (Blocks.cells r) * 2 ^ Blocks.halvings r *
      sum (candidates (b / 2 ^ Blocks.halvings r)) (fun o => phi (Blocks.start r + o)%nat)).
Proof. apply Blocks.places_of_candidates. Qed.

(** Lemma 16, the rates: for both kinds of noise, the slope of the negative logarithm of the chance of not
    being reached. *)
Theorem sampling_lemma_16_rates p t sigma :
  (0 <= p <= 1 -> 0 <= t ->
     derivable_pt_lim (fun t => - ln (1 - p * (1 - exp (- t)))) t (p / (1 + (1 - p) * (exp t - 1))) /\
     1 <= 1 + (1 - p) * (exp t - 1)) /\
  (0 < p -> 0 < sigma ->
     (p * sigma < 1 -> derivable_pt_lim (fun s => - ln (1 - p * s / 2)) sigma (p / (1 + Rabs (1 - p * sigma)))) /\
     (1 < p * sigma -> derivable_pt_lim (fun s => - ln (/ (2 * (p * s)))) sigma (p / (1 + Rabs (1 - p * sigma))))).
Proof.
  split; intros P S.
  - destruct (Plans.rate_exponential p t P S). split; [now apply Coquelicot.Derive.is_derive_Reals | assumption].
  - destruct (Plans.rate_laplace p sigma P S) as [A B].
    split; intros H; apply Coquelicot.Derive.is_derive_Reals; auto.
Qed.

(** Lemma 17: the clock in floats, for words of 32 to 64 bits, at most 2^16 waits of at most 16, and a time of
    at most 32. [Clock.begins w word x]: x begins with the bits of the word. [Clock.summed l a]: a is a sum of the
    floats l, in any order. If the floats decide, they are right: whether the time is over, *)
Theorem sampling_lemma_17_over (m : machine) w words xs waited rate : (32 <= w <= 64)%nat ->
  let wait word := fl (fl (INR w * float_log m 2) - float_log m (fl (fl (INR word) + 1 / 2))) in
  Forall2 (Clock.begins w) words xs -> Forall (fun word => wait word <= 16) words ->
  INR (length words) <= 2 ^ 16 -> Clock.summed (map wait words) waited -> 1 <= rate ->
  let t_hat := fl (waited / rate) in
  let t := sum xs (fun x => - ln x) / rate in
  let doubt := fl (fl (fl (INR (length words) / rate) * fl (2 ^ 24 / 2 ^ w + / 2 ^ 40)) + / 2 ^ 30) in
  t_hat <= 32 -> doubt < Rabs (fl (t_hat - 1)) -> (1 < t_hat <-> 1 < t).
Proof.
  intros W wait B L N S R t_hat t doubt T. now apply (Clock.over_right m w words xs waited rate W B L N S R T).
Qed.

(** and whether v < 1/o for the odds o of exponential noise. *)
Theorem sampling_lemma_17 (m : machine) w words xs waited rate gamma floated word v : (32 <= w <= 64)%nat ->
  let wait word := fl (fl (INR w * float_log m 2) - float_log m (fl (fl (INR word) + 1 / 2))) in
  Forall2 (Clock.begins w) words xs -> Forall (fun word => wait word <= 16) words ->
  INR (length words) <= 2 ^ 16 -> Clock.summed (map wait words) waited -> 1 <= rate ->
  let t_hat := fl (waited / rate) in
  let t := sum xs (fun x => - ln x) / rate in
  let doubt := fl (fl (fl (INR (length words) / rate) * fl (2 ^ 24 / 2 ^ w + / 2 ^ 40)) + / 2 ^ 30) in
  t_hat <= 32 -> 0 <= gamma -> GapBranches.good_gap floated gamma -> format floated /\ 0 <= floated <= 601 ->
  let odds := 1 + (1 - exp (- gamma)) * (exp t - 1) in
  let odds_hat := fl (1 - fl (math_expm1 m (- floated) * math_expm1 m t_hat)) in
  Clock.begins w word v ->
  let found := fl (fl (fl (fl (INR word) + 1 / 2) * / 2 ^ w) * odds_hat) in
  fl (doubt * odds_hat) < Rabs (fl (found - 1)) -> (found < 1 <-> v * odds < 1).
Proof.
  intros W wait B L N S R t_hat t doubt T G Go F odds odds_hat V found.
  now apply (Clock.keeps_right m w words xs waited rate W B L N S R T gamma floated G Go F word v V).
Qed.

(** Theorem 1, without the plans: flip a coin for everyone, choose uniformly among the heads
    (lemma 1), or say "none". With the coins p_r = e^(-gamma_r) this is permute-and-flip. *)
Theorem sampling_theorem_1 s n q coin r : (r < n)%nat ->
  (forall x, (x < n)%nat -> Heads.is_coin (coin x) (Mechanism.coin s n q x)) ->
  Programs.has_law (Heads.head_or_none coin (candidates n)) (Heads.is_answer r) (pf s n q r).
Proof. apply Heads.uniform_head_program_law. Qed.

Theorem sampling_theorem_1_none coin c l r : NoDup l ->
  (forall x, In x l -> Heads.is_coin (coin x) (c x)) ->
  Programs.has_law (Heads.head_or_none coin l) (Heads.is_answer r) (Walk.uniform_head c l r).
Proof. apply Heads.head_or_none_law. Qed.

(** The family [Heads]: with a good float for the gap and the machine's [exp], the promise of
    lemma 6 holds at phi = 1. *)
Theorem sampling_heads_promise (m : machine) scale gamma floated :
  0 < scale <= 2 ^ 130 -> 0 <= gamma -> GapBranches.good_gap floated gamma ->
  format floated -> 0 <= floated <= 601 ->
  let x := scale * exp (- gamma) in
  let x_hat := scale * float_exp m (- floated) in
  0 <= x_hat /\
  (Rabs (x_hat - x) <= / 2 ^ 43 * x \/ (x <= / 2 ^ 70 /\ x_hat <= / 2 ^ 70)).
Proof. apply Sampler.heads_promise. Qed.

(** Theorem 1 in full: gaps as floats (lemma 4), words of w bits that floats decide where they can (lemma 6),
    balls where they cannot (lemma 3), a uniform choice among the heads (lemma 1). The law is exactly that of
    permute-and-flip. *)
Theorem sampling_theorem_1_floats (m : machine) s n q floated low high step w r :
  0 < s -> (w <= 130)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  let gamma t := (best n q - q t) / s in
  (forall t, (t < n)%nat -> GapBranches.good_gap (floated t) (gamma t) /\
     format (floated t) /\ 0 <= floated t <= 601) ->
  (forall t w, low t w <= 2 ^ w * exp (- gamma t) <= high t w) ->
  (forall t w, 2 ^ w * exp (- gamma t) - 1 <= low t w /\
               high t w <= 2 ^ w * exp (- gamma t) + 1) ->
  Programs.has_law
    (Heads.head_or_none
       (fun t => Sampler.sampler_coin m (floated t) (low t) (high t) step w) (candidates n))
    (Heads.is_answer r) (pf s n q r).
Proof. apply Sampler.sampler_law. Qed.

(** The plans of theorem 1, from floats, as programs. [computed]: floats for the gaps as in lemma 4, and balls.
    The list: the coins of near candidates, marks and boosted coins for the far ones, one of all heads. *)
Theorem sampling_plan_list (m : machine) s n q floated low high step w r marking far a low' high' :
  0 < s -> (w <= 64)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  Releases.computed s n q floated low high -> (a <= 62)%nat ->
  Visits.is_marking marking (/ 2 ^ a) (candidates n) ->
  let gamma t := (best n q - q t) / s in
  (forall t, far t = true -> (t < n)%nat /\ exp (- gamma t) <= / 2 ^ a /\
     Releases.encloses (low' t) (high' t) (2 ^ a * exp (- gamma t))) ->
  Programs.has_law
    (Visits.list_plan marking (fun t => Sampler.sampler_coin m (floated t) (low t) (high t) step w)
       (fun t => Releases.boosted_coin m a (floated t) (low' t) (high' t) step w) far (candidates n))
    (Heads.is_answer r) (pf s n q r).
Proof. intros S W St R C A Mk gamma. now apply (Releases.release_by_list m s n q floated low high step w r S W St R C). Qed.

(** First bits: eight bits for every candidate; those that are not yet tails are flipped all at once, or
    visited in a random order. *)
Theorem sampling_plan_first_bits (m : machine) s n q floated low high step w r beyond at_once :
  0 < s -> (w <= 64)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  Releases.computed s n q floated low high ->
  Releases.beyond_by_floats m (fun t => (best n q - q t) / s) beyond ->
  Programs.has_law
    (Visits.first_bits_plan 8 beyond at_once
       (fun t => Releases.rest_of_coin m (floated t) (low t) (high t) step w) [] (candidates n))
    (Heads.is_answer r) (pf s n q r).
Proof. intros S W St R C B. now apply (Releases.release_by_first_bits m s n q floated low high step w r S W St R C beyond B). Qed.

(** Visits; then the first bits of all, except that those visited are tails. *)
Theorem sampling_plan_visits (m : machine) s n q floated low high step w r beyond more k at_once :
  0 < s -> (w <= 64)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  Releases.computed s n q floated low high ->
  Releases.beyond_by_floats m (fun t => (best n q - q t) / s) beyond ->
  let coin t := Sampler.sampler_coin m (floated t) (low t) (high t) step w in
  let rest t := Releases.rest_of_coin m (floated t) (low t) (high t) step w in
  Programs.has_law
    (Visits.visits_then coin more (candidates n) k
       (fun seen => Visits.first_bits_plan 8 beyond (at_once seen) rest seen (candidates n)))
    (Heads.is_answer r) (pf s n q r).
Proof. intros S W St R C B coin rest. now apply (Releases.release_by_visits m s n q floated low high step w r S W St R C beyond B). Qed.

(** Visits; then proposals, with their law: at most j of them, none after T. *)
Theorem sampling_plan_proposals (m : machine) s n q floated low high step w r more k level T j :
  0 < s -> (w <= 64)%nat -> (1 <= step)%nat -> (r < n)%nat ->
  Releases.computed s n q floated low high -> 0 <= T ->
  (forall t, (t < n)%nat -> exp (- ((best n q - q t) / s)) <= / 2 ^ level t) ->
  let coin t := Sampler.sampler_coin m (floated t) (low t) (high t) step w in
  let rate := sum (candidates n) (fun t => / 2 ^ level t) in
  let proposed := Releases.proposed (candidates n) (fun t => / 2 ^ level t) (Mechanism.coin s n q) T j r in
  exists x,
    Programs.has_law (Visits.visits coin more (candidates n) k []) (Visits.visited r proposed) x /\
    0 <= pf s n q r - x <= exp (- T) + (1 - exp (- (rate * T))) ^ j.
Proof. intros S W St R C H L coin rate proposed. now apply (Releases.release_by_proposals m s n q floated low high step w r S W St R C). Qed.

(** There are such floats and balls for all scores. *)
Theorem sampling_plans_satisfiable s n q : 0 < s ->
  exists floated low high, Releases.computed s n q floated low high.
Proof. apply Releases.computed_somehow. Qed.

(** A program that runs: whole numbers low and high on both sides of 2^w c decide. It is the program above and
    has the law of permute-and-flip. A law is the limit of a share of tapes. *)
Theorem sampling_whole_coin low high step w :
  WholeNumbers.whole_coin low high step w
  = Heads.flip (fun w => INR (low w)) (fun w => INR (high w)) step w (fun _ => None).
Proof. apply WholeNumbers.whole_coin_is. Qed.

Theorem sampling_whole_sampler s n q low high step w r :
  0 < s -> (1 <= step)%nat -> (r < n)%nat ->
  let chance t := exp (- ((best n q - q t) / s)) in
  (forall t w, INR (low t w) <= 2 ^ w * chance t <= INR (high t w)) ->
  (forall t w, 2 ^ w * chance t - 1 <= INR (low t w) /\ INR (high t w) <= 2 ^ w * chance t + 1) ->
  Programs.has_law (WholeNumbers.whole_sampler low high step w n) (Heads.is_answer r) (pf s n q r).
Proof. apply WholeNumbers.whole_sampler_law. Qed.

Theorem sampling_tapes (A : Type) (p : Programs.program A) f x : Programs.has_law p f x <->
  Coquelicot.Lim_seq.is_lim_seq (fun n =>
    sum (WholeNumbers.tapes n) (fun tape => WholeNumbers.of_run f (WholeNumbers.run n p tape)) / 2 ^ n)
    (Coquelicot.Rbar.Finite x).
Proof. apply WholeNumbers.tapes_law. Qed.

(** Lemma 12: two parts have h and h' heads; one part's head is kept, in proportion to these numbers. *)
Theorem sampling_lemma_12 p l l' r : NoDup (l ++ l') ->
  Walk.uniform_head p (l ++ l') r =
  Walk.flip_all p l (fun H => Walk.flip_all p l' (fun H' =>
    let h := INR (length H) in let h' := INR (length H') in
    h / (h + h') * Merging.chance_in r H + h' / (h + h') * Merging.chance_in r H')).
Proof. apply Merging.merging. Qed.

(** docs/proofs/tuning.md. Runs are made one after the other. Each gives outcome x < n, with chance p x and
    the quality value x. The best so far is kept; equally good runs are kept with equal chances. There are k
    runs with chance w k. [best_of n value p w o]: the chance that o is kept at the end; n is "no run". *)
Theorem tuning_is_law n value p w : Measures.is_law n p -> Runs.of_number w ->
  Measures.is_law (S n) (Runs.best_of n value p w).
Proof. intros [P T] [W S]. now apply Runs.best_of_is_law. Qed.

(** f is the generating function of w, F the chance of a worse outcome, and G the chance of an equally good
    one. *)
Theorem tuning_winner n value p w o : Measures.is_law n p -> Runs.of_number w -> (o < n)%nat ->
  let f := Coquelicot.PSeries.PSeries w in
  let F := Runs.worse n value p (value o) in
  let G := Runs.equal n value p (value o) in
  G * Runs.best_of n value p w o = p o * (f (F + G) - f F) /\ Runs.best_of n value p w n = w 0%nat.
Proof. intros [P T] [W S] O. split; [now apply Runs.winner_of_runs | now apply Runs.best_of_none]. Qed.

(** The truncated negative binomial law ([halting_number]), of which the geometric one is the case eta = 1. *)
Theorem tuning_halting_pure_dp eps gamma eta w n value p p' :
  0 < gamma < 1 -> -1 < eta -> Runs.halting_number gamma eta w -> 0 <= eps ->
  Measures.is_law n p -> Measures.is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (Runs.best_of n value p w) (Runs.best_of n value p' w) (cost_of_halting eps gamma eta).
Proof. intros G E W. now apply Runs.halting_runs_pure_dp. Qed.

Theorem tuning_geometric_number gamma : 0 < gamma < 1 ->
  Runs.halting_number gamma 1 (fun k => match k with O => 0 | S k => gamma * (1 - gamma) ^ k end).
Proof. apply Runs.geometric_number. Qed.

Theorem tuning_poisson_pure_dp eps mu n value p p' : 0 <= eps -> 0 <= mu ->
  Measures.is_law n p -> Measures.is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  let w := Runs.poisson_number mu in
  pure_dp (S n) (Runs.best_of n value p w) (Runs.best_of n value p' w) (cost_of_poisson eps mu).
Proof. apply Runs.poisson_runs_pure_dp. Qed.

(** Theorem 4: a known number k of runs. *)
Theorem tuning_fixed_pure_dp eps k n value p p' : Measures.is_law n p -> Measures.is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  let law p o := Runs.after n value p k (Runs.answered n o) in
  pure_dp (S n) (law p) (law p') (INR k * eps).
Proof. apply Runs.fixed_runs_pure_dp. Qed.

(** Theorem 5: the first run to reach a target. After a run that does not reach it, the search stops with
    chance gamma. [searched k psi] is the expectation of psi of the answer within k runs; n is "none". *)
Theorem tuning_target_limit n reaches gamma p o : 0 < gamma < 1 -> Measures.is_law n p ->
  Coquelicot.Lim_seq.is_lim_seq (fun k => Runs.searched n reaches gamma p k (Runs.replied n o))
    (Coquelicot.Rbar.Finite (Runs.first_of n reaches gamma p o)).
Proof. intros G L. now apply Runs.first_of_is. Qed.

Theorem tuning_target_pure_dp n reaches gamma eps p p' : 0 < gamma < 1 -> 0 <= eps ->
  Measures.is_law n p -> Measures.is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (Runs.first_of n reaches gamma p) (Runs.first_of n reaches gamma p') (cost_of_halting eps gamma 0).
Proof. intros G. now apply Runs.target_pure_dp. Qed.
