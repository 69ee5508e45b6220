(** Permute-and-flip is PureDP(eps): docs/proofs/permute-and-flip.md, from the integral.

    Shift q' so that q - d <= q' <= q. Then no rival's factor falls, the interval of
    integration does not shrink, and r's own weight falls by exp (- d / s) at most. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy.
Import ListNotations.
Open Scope R_scope.

Lemma div_le s a b : 0 < s -> a <= b -> a / s <= b / s.
Proof.
  intros Hs H. apply Rmult_le_compat_r; [|exact H].
  apply Rlt_le, Rinv_0_lt_compat, Hs.
Qed.

(** If no score rises, then no rival's factor falls, and the interval does not shrink. *)
Lemma rivals_int_le s n q q' l : 0 < s -> (0 < n)%nat ->
  (forall t, In t l -> (t < n)%nat) ->
  (forall t, (t < n)%nat -> q' t <= q t) ->
  0 <= int (rivals s q l) 0 (exp (- best n q / s))
    <= int (rivals s q' l) 0 (exp (- best n q' / s)).
Proof.
  intros Hs Hn Hl H.
  set (T := exp (- best n q / s)). set (T' := exp (- best n q' / s)).
  assert (HT0 : 0 <= T) by apply Rlt_le, exp_pos.
  assert (HT : T <= T').
  { apply exp_le, div_le; [auto|]. apply Ropp_le_contravar.
    apply best_le; [auto|]. intros t Ht.
    apply Rle_trans with (q t); [now apply H | now apply best_ge]. }
  split.
  { apply int_nonneg; [auto | apply rivals_cont |].
    intros v Hv. now apply (rivals_nonneg s n). }
  rewrite (int_chasles (rivals s q' l) 0 T T') by apply rivals_cont.
  rewrite <- (Rplus_0_r (int _ 0 T)). apply Rplus_le_compat.
  - apply int_le; [auto | apply rivals_cont | apply rivals_cont |].
    intros v Hv. apply prod_le; intros t Ht. apply Hl in Ht.
    pose proof (below_T s n q t v Hs Ht (proj2 Hv)).
    assert (exp (q' t / s) <= exp (q t / s))
      by (apply exp_le, div_le; [auto | now apply H]).
    assert (v * exp (q' t / s) <= v * exp (q t / s))
      by (apply Rmult_le_compat_l; lra).
    lra.
  - apply int_nonneg; [auto | apply rivals_cont |].
    intros v Hv. now apply (rivals_nonneg s n).
Qed.

Lemma others_known n r t : In t (others n r) -> (t < n)%nat.
Proof. intros H; now apply in_others in H. Qed.

Lemma pf_sandwich s n q q' d r : 0 < s -> (r < n)%nat ->
  (forall t, (t < n)%nat -> q t - d <= q' t <= q t) ->
  pf s n q r <= exp (d / s) * pf s n q' r.
Proof.
  intros Hs Hr H. rewrite !pf_raw.
  assert (HR := rivals_int_le s n q q' (others n r) Hs ltac:(lia)
                  (others_known n r) (fun t Ht => proj2 (H t Ht))).
  assert (HE : exp (q r / s) <= exp (d / s) * exp (q' r / s)).
  { rewrite <- exp_plus. apply exp_le.
    replace (d / s + q' r / s) with ((d + q' r) / s) by (unfold Rdiv; ring).
    apply div_le; [auto|]. specialize (H r Hr). lra. }
  rewrite <- Rmult_assoc. apply Rmult_le_compat; try apply HR; auto.
  apply Rlt_le, exp_pos.
Qed.

Lemma pf_between s n q q' m d r : 0 < s -> (r < n)%nat ->
  (forall t, (t < n)%nat -> m <= q' t - q t <= m + d) ->
  pf s n q r <= exp (d / s) * pf s n q' r.
Proof.
  intros Hs Hr H. rewrite <- (pf_shift s n q' (- (m + d))).
  apply pf_sandwich; auto. intros t Ht. specialize (H t Ht). lra.
Qed.

(** Range distance as "there is an m with m <= q' - q <= m + d"; this m is the least change. *)
Lemma range_distance_between n q q' d : range_distance n q q' d ->
  exists m, forall t, (t < n)%nat -> m <= q' t - q t <= m + d.
Proof.
  intros H. destruct n as [|n]; [exists 0; intros; lia|].
  destruct (best_reached (S n) (fun t => q t - q' t)) as (i & Hi & E); [lia|].
  exists (q' i - q i). intros t Ht.
  pose proof (best_ge (S n) (fun t => q t - q' t) t Ht) as B. simpl in B.
  specialize (H t i Ht Hi). rewrite E in B. lra.
Qed.

Theorem pf_outcome s n q q' d r : 0 < s -> (r < n)%nat ->
  range_distance n q q' d -> pf s n q r <= exp (d / s) * pf s n q' r.
Proof.
  intros Hs Hr H. destruct (range_distance_between n q q' d H) as (m & Hm).
  now apply (pf_between s n q q' m d r).
Qed.

Theorem pf_pure_dp s n q q' d : 0 < s ->
  range_distance n q q' d -> pure_dp n (pf s n q) (pf s n q') (d / s).
Proof.
  intros Hs H. apply pure_dp_pointwise; intros r Hr. now apply pf_outcome.
Qed.

(** The usual statements, with the scale from the range distance or from the sensitivity. *)
Corollary pf_pure_dp_scale n q q' d eps : 0 < d -> 0 < eps -> range_distance n q q' d ->
  pure_dp n (pf (scale_of eps d) n q) (pf (scale_of eps d) n q') eps.
Proof.
  intros Hd He H. unfold scale_of.
  replace eps with (d / (d / eps)) at 3 by (field; lra).
  apply pf_pure_dp; [apply Rdiv_lt_0_compat; lra | exact H].
Qed.

Corollary pf_pure_dp_sensitivity n q q' D eps : 0 < D -> 0 < eps ->
  (forall i, (i < n)%nat -> Rabs (q i - q' i) <= D) ->
  let s := scale_of eps (distance_general D) in pure_dp n (pf s n q) (pf s n q') eps.
Proof.
  intros HD He H. apply pf_pure_dp_scale; [unfold distance_general; lra | auto |].
  now apply sensitivity_range.
Qed.

Corollary pf_pure_dp_monotone n q q' D eps : 0 < D -> 0 < eps ->
  (forall i, (i < n)%nat -> 0 <= q' i - q i <= D) \/
  (forall i, (i < n)%nat -> 0 <= q i - q' i <= D) ->
  let s := scale_of eps (distance_monotone D) in pure_dp n (pf s n q) (pf s n q') eps.
Proof.
  intros HD He H. apply pf_pure_dp_scale; auto. unfold distance_monotone.
  intros i j Hi Hj. destruct H as [H|H]; pose proof (H i Hi); pose proof (H j Hj); lra.
Qed.

(** The eps is exact: raising a candidate that lies d or more below the best by d
    multiplies its probability by exactly exp (d / s). *)
Theorem pf_pure_dp_exact s n q r d : 0 < s -> (r < n)%nat -> 0 <= d ->
  q r + d <= best n q ->
  pf s n (fun t => if (t =? r)%nat then q t + d else q t) r
  = exp (d / s) * pf s n q r.
Proof.
  intros Hs Hr Hd H. set (q' := fun t => if (t =? r)%nat then q t + d else q t).
  assert (B : best n q' = best n q).
  { destruct (best_reached n q) as (i & Hi & E); [lia|].
    apply Rle_antisym.
    - apply best_le; [lia|]. intros t Ht. unfold q'.
      destruct (Nat.eqb_spec t r) as [->|_]; [exact H | now apply best_ge].
    - rewrite E. apply Rle_trans with (q' i); [|now apply best_ge].
      unfold q'; destruct (i =? r)%nat; lra. }
  rewrite !pf_raw, B. rewrite <- Rmult_assoc. f_equal.
  - unfold q'. rewrite Nat.eqb_refl. rewrite <- exp_plus. f_equal.
    unfold Rdiv; ring.
  - apply int_ext; intros v. apply prod_ext; intros t Ht.
    apply in_others in Ht as [_ Ht]. unfold q'.
    now rewrite (proj2 (Nat.eqb_neq t r) Ht).
Qed.

(** ** Regularity: a candidate gains when it rises and the others fall. *)

Lemma pf_rivals_fall s n q q' r : 0 < s -> (r < n)%nat -> q' r = q r ->
  (forall t, (t < n)%nat -> q' t <= q t) -> pf s n q r <= pf s n q' r.
Proof.
  intros Hs Hr E H. rewrite !pf_raw, E.
  apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
  apply rivals_int_le; [auto | lia | apply others_known | exact H].
Qed.

Theorem pf_monotone s n q q' r : 0 < s -> (r < n)%nat -> q r <= q' r ->
  (forall t, (t < n)%nat -> t <> r -> q' t <= q t) -> pf s n q r <= pf s n q' r.
Proof.
  intros Hs Hr E H. rewrite <- (pf_shift s n q' (q r - q' r)).
  apply pf_rivals_fall; auto; [ring|]. intros t Ht.
  destruct (Nat.eq_dec t r) as [->|N]; [lra|]. specialize (H t Ht N). lra.
Qed.

