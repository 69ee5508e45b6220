(** One release of permute-and-flip under ApproxDP: docs/proofs/laplace-dominance.md.

    The page's proof speaks of noisy scores. Here the same steps are taken with the
    probabilities themselves: Pr[Z > z] is the probability of S when everyone outside S
    is raised by z, so both tail conditions are pure privacy applied to such vectors. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy PureDP Walk Refuted.
Import ListNotations.
Open Scope R_scope.

Definition approx_dp (n : nat) (p p' : nat -> R) (eps delta : R) : Prop :=
  forall S, event n S p <= exp eps * event n S p' + delta.

Lemma event_complement n S p :
  event n S p + event n (fun t => negb (S t)) p = sum (candidates n) p.
Proof.
  unfold event. induction (candidates n) as [|x l IH]; simpl; [ring|].
  destruct (S x); simpl; lra.
Qed.

Lemma event_le n S p p' :
  (forall r, (r < n)%nat -> S r = true -> p r <= p' r) ->
  event n S p <= event n S p'.
Proof.
  intros H. apply sum_le; intros r Hr. apply filter_In in Hr as [Hr HS].
  apply H; [now apply in_candidates | exact HS].
Qed.

Section Approx.
Variables (s : R) (n : nat) (S : nat -> bool).
Hypotheses (s_pos : 0 < s) (n_pos : (0 < n)%nat).
Let out t := negb (S t).

Lemma pf_complement q : event n out (pf s n q) = 1 - event n S (pf s n q).
Proof.
  pose proof (event_complement n S (pf s n q)) as E.
  rewrite pf_total in E by auto. unfold out. lra.
Qed.

(** A set gains when its members rise and the others fall. *)
Theorem pf_set_monotone q q' :
  (forall t, (t < n)%nat -> S t = true -> q t <= q' t) ->
  (forall t, (t < n)%nat -> S t = false -> q' t <= q t) ->
  event n S (pf s n q) <= event n S (pf s n q').
Proof.
  intros HS HO. set (mid := fun t => if S t then q' t else q t).
  apply Rle_trans with (event n S (pf s n mid)).
  - assert (A : event n out (pf s n mid) <= event n out (pf s n q)).
    { apply event_le; intros r Hr E. unfold out in E; apply negb_true_iff in E.
      apply pf_rivals_fall; auto.
      - unfold mid; now rewrite E.
      - intros t Ht. unfold mid. destruct (S t) eqn:F; [now apply HS | lra]. }
    rewrite !pf_complement in A. lra.
  - apply event_le; intros r Hr E. apply pf_rivals_fall; auto.
    + unfold mid; now rewrite E.
    + intros t Ht. unfold mid. destruct (S t) eqn:F; [lra | now apply HO].
Qed.

Lemma event_shift q c :
  event n S (pf s n (fun t => q t + c)) = event n S (pf s n q).
Proof. apply sum_ext; intros; apply pf_shift. Qed.

(** Everyone outside S raised by z. *)
Let raised (q : nat -> R) (z : R) t := if S t then q t else q t + z.

Theorem pf_tradeoff q q' d z : range_distance n q q' d -> 0 <= z <= d ->
  let x := event n S (pf s n q) in
  let y := event n S (pf s n q') in
  let w := exp (z / s) in
  w * (1 - w * (1 - x)) <= exp (d / s) * y.
Proof.
  intros H Hz x y w.
  destruct (range_distance_between n q q' d H) as (m & Hm).
  (* the neighbour gives S no less than the worst vector does *)
  assert (A : event n S (pf s n (raised q d)) <= y).
  { unfold y. rewrite <- (event_shift q' (- m)). apply pf_set_monotone.
    - intros t Ht E. unfold raised; rewrite E. specialize (Hm t Ht). lra.
    - intros t Ht E. unfold raised; rewrite E. specialize (Hm t Ht). lra. }
  (* from z to d *)
  assert (B : event n S (pf s n (raised q z))
              <= exp ((d - z) / s) * event n S (pf s n (raised q d))).
  { apply pf_pure_dp; auto. intros i j Hi Hj. unfold raised.
    destruct (S i), (S j); lra. }
  (* from z to 0, outside *)
  assert (C : event n out (pf s n (raised q z)) <= w * event n out (pf s n q)).
  { unfold w. apply pf_pure_dp; auto. intros i j Hi Hj. unfold raised.
    destruct (S i), (S j); lra. }
  rewrite !pf_complement in C. fold x in C.
  assert (W : 0 < w) by apply exp_pos.
  assert (F : exp (d / s) = w * exp ((d - z) / s)).
  { unfold w. rewrite <- exp_plus. f_equal. unfold Rdiv; ring. }
  rewrite F, Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  pose proof (exp_pos ((d - z) / s)) as P.
  apply (Rmult_le_compat_l (exp ((d - z) / s))) in A; lra.
Qed.
End Approx.

Theorem pf_approx_dp s n q q' d e : 0 < s -> (0 < n)%nat ->
  range_distance n q q' d -> 0 <= e <= d / s ->
  approx_dp n (pf s n q) (pf s n q') e (1 - exp ((e - d / s) / 2)).
Proof.
  intros Hs Hn H He S.
  set (z := (d - e * s) / 2).
  assert (Es : e * s <= d).
  { replace d with (d / s * s) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  assert (Hz : 0 <= z <= d).
  { unfold z. assert (0 <= e * s) by (apply Rmult_le_pos; lra). lra. }
  pose proof (pf_tradeoff s n S Hs Hn q q' d z H Hz) as T. cbv zeta in T.
  set (x := event n S (pf s n q)) in *. set (y := event n S (pf s n q')) in *.
  set (w := exp (z / s)) in *.
  assert (W : 0 < w) by apply exp_pos.
  assert (F : exp (d / s) = w * w * exp e).
  { unfold w. rewrite <- !exp_plus. f_equal. unfold z. field. lra. }
  assert (V : exp ((e - d / s) / 2) = / w).
  { unfold w. rewrite <- exp_Ropp. f_equal. unfold z. field. lra. }
  rewrite V. rewrite F in T.
  apply (Rmult_le_reg_l (w * w)); [apply Rmult_lt_0_compat; lra|].
  replace (w * w * (exp e * y + (1 - / w))) with (w * w * exp e * y + w * w - w)
    by (field; lra).
  lra.
Qed.

(** Exact: two candidates, the first leads by g and then trails by eps - g. *)
Definition lead (g : R) (t : nat) : R := match t with O => g | _ => 0 end.
Definition trail (g : R) (t : nat) : R := match t with O => 0 | _ => g end.
Definition first (t : nat) : bool := (t =? 0)%nat.

Theorem pf_approx_dp_exact eps e delta : 0 < eps -> 0 <= e <= eps ->
  (forall n q q', (0 < n)%nat -> range_distance n q q' eps ->
     approx_dp n (pf 1 n q) (pf 1 n q') e delta) ->
  1 - exp ((e - eps) / 2) <= delta.
Proof.
  intros eps_pos He H. set (g := (eps - e) / 2).
  assert (G : 0 <= g <= eps) by (unfold g; lra).
  assert (R : range_distance 2 (lead g) (trail (eps - g)) eps).
  { intros i j Hi Hj. destruct i as [|[|i]]; [| |lia]; destruct j as [|[|j]]; simpl;
      try lia; lra. }
  specialize (H 2%nat (lead g) (trail (eps - g)) ltac:(lia) R first).
  assert (B1 : best 2 (lead g) = g).
  { apply (best_unique 2 _ g 0); [lia|reflexivity|].
    intros [|[|t]] Ht; simpl; lra. }
  assert (B2 : best 2 (trail (eps - g)) = eps - g).
  { apply (best_unique 2 _ _ 1); [lia|reflexivity|].
    intros [|[|t]] Ht; simpl; lra. }
  unfold event, candidates, first in H; simpl in H.
  rewrite !pf_two_0 in H. unfold coin in H. rewrite B1, B2 in H. simpl in H.
  replace (- (g - g) / 1) with 0 in H by lra.
  replace (- (g - 0) / 1) with ((e - eps) / 2) in H by (unfold g; lra).
  replace (- (eps - g - 0) / 1) with (- (e + eps) / 2) in H by (unfold g; lra).
  replace (- (eps - g - (eps - g)) / 1) with 0 in H by lra.
  rewrite exp_0 in H.
  assert (M : exp e * exp (- (e + eps) / 2) = exp ((e - eps) / 2))
    by (rewrite <- exp_plus; f_equal; lra).
  rewrite !Rplus_0_r in H.
  replace (exp e * (exp (- (e + eps) / 2) * (1 - 1 / 2)))
    with (exp ((e - eps) / 2) / 2) in H by (rewrite <- M; lra).
  lra.
Qed.

