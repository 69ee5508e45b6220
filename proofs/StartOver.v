(** docs/proofs/lazy-evaluation.md: "starting over until heads" is not epsilon-private.

    Coins are compared with a public bound [B] that no score exceeds; if all coins come up tails, the walk
    starts again. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy Walk Refuted.
Import ListNotations.
Open Scope R_scope.

Definition coin_below (s B : R) (q : nat -> R) (t : nat) : R := exp (- (B - q t) / s).

Definition start_over (s B : R) (n : nat) (q : nat -> R) (r : nat) : R :=
  coin_below s B q r *
  int (fun u => prod (others n r) (fun t => 1 - u * coin_below s B q t)) 0 1
  / (1 - prod (candidates n) (fun t => 1 - coin_below s B q t)).

Definition two (x y : R) (t : nat) : R := match t with O => x | _ => y end.

Lemma start_over_second s B x y :
  let a := exp (- (B - x) / s) in let b := exp (- (B - y) / s) in
  start_over s B 2 (two x y) 1 = b * (1 - a / 2) / (1 - (1 - a) * (1 - b)).
Proof.
  intros a b. unfold start_over.
  rewrite (int_ext _ (fun u => 1 - u * a)).
  2: { intros u. unfold others, without, candidates, coin_below, two; simpl.
       fold a. ring. }
  rewrite int_affine. unfold candidates, coin_below, two; simpl. fold a b.
  rewrite Rmult_1_r. reflexivity.
Qed.

Lemma none_after_one a k : (2 <= a)%nat -> filter (Nat.eqb 1) (seq a k) = [].
Proof.
  revert a. induction k as [|k IH]; intros a A; [reflexivity|].
  cbn [seq filter]. destruct (Nat.eqb_spec 1 a); [lia|]. apply IH; lia.
Qed.

Lemma event_second n p : (2 <= n)%nat -> event n (Nat.eqb 1) p = p 1%nat.
Proof.
  intros H. unfold event, candidates. destruct n as [|[|n]]; [lia|lia|].
  cbn [seq filter Nat.eqb]. rewrite none_after_one by lia. simpl. ring.
Qed.

(** Before: scores (0, -c). After: (-x, y - c). Bound 0. With h = e^(-x/s) and k = e^(y/s)
    the second candidate's probability grows by the factor k (2 - h) / (h + p k (1 - h)),
    which tends to k (2 - h) / h. *)
Section Growth.
Variables s x y e : R.
Hypothesis s_pos : 0 < s.
Hypothesis x_pos : 0 < x.

Let h := exp (- x / s).
Let k := exp (y / s).

Lemma h_range : 0 < h < 1.
Proof.
  split; [apply exp_pos|]. unfold h. rewrite <- exp_0. apply exp_increasing.
  pose proof (Rdiv_lt_0_compat x s x_pos s_pos). unfold Rdiv in *. lra.
Qed.

Lemma growth c :
  pure_dp 2 (start_over s 0 2 (two (- x) (y - c))) (start_over s 0 2 (two 0 (- c))) e ->
  k * (2 - h) <= exp e * (h + exp (- c / s) * k * (1 - h)).
Proof.
  intros P. specialize (P (Nat.eqb 1)). rewrite !event_second in P by lia.
  rewrite !start_over_second in P.
  replace (- (0 - - x) / s) with (- x / s) in P by (field; lra).
  replace (- (0 - 0) / s) with 0 in P by (field; lra).
  replace (- (0 - (y - c)) / s) with (y / s + - c / s) in P by (field; lra).
  replace (- (0 - - c) / s) with (- c / s) in P by (field; lra).
  rewrite exp_plus, exp_0 in P. fold h k in P.
  set (p := exp (- c / s)) in *.
  assert (0 < p) by apply exp_pos. assert (0 < k) by apply exp_pos.
  pose proof h_range as HR.
  assert (N : 0 < h + p * k * (1 - h)).
  { assert (0 < p * k * (1 - h)) by (repeat apply Rmult_lt_0_compat; lra). lra. }
  replace (1 - (1 - h) * (1 - k * p)) with (h + p * k * (1 - h)) in P by ring.
  replace (p * (1 - 1 / 2) / (1 - (1 - 1) * (1 - p))) with (p / 2) in P by field.
  apply (Rmult_le_compat_r (2 * (h + p * k * (1 - h)) / p)) in P.
  2: { apply Rlt_le, Rdiv_lt_0_compat; lra. }
  replace (k * p * (1 - h / 2) / (h + p * k * (1 - h)) * (2 * (h + p * k * (1 - h)) / p))
    with (k * (2 - h)) in P by (field; lra).
  replace (exp e * (p / 2) * (2 * (h + p * k * (1 - h)) / p))
    with (exp e * (h + p * k * (1 - h))) in P by (field; lra).
  exact P.
Qed.

Lemma growth_limit :
  (forall c, 0 < c -> y <= c ->
    pure_dp 2 (start_over s 0 2 (two (- x) (y - c))) (start_over s 0 2 (two 0 (- c))) e) ->
  ln (k * (2 - h) / h) <= e.
Proof.
  intros P. pose proof h_range as H. assert (K : 0 < k) by apply exp_pos.
  apply Rnot_lt_le. intros L.
  assert (Q : exp e < k * (2 - h) / h).
  { rewrite <- (exp_ln (k * (2 - h) / h)); [now apply exp_increasing|].
    apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra | lra]. }
  apply (Rmult_lt_compat_r h) in Q; [|lra].
  replace (k * (2 - h) / h * h) with (k * (2 - h)) in Q by (field; lra).
  (* a p so small that the factor still exceeds exp e *)
  set (p0 := (k * (2 - h) - exp e * h) / (2 * (exp e * k))).
  pose proof (exp_pos e) as E.
  assert (P0 : 0 < p0) by (apply Rdiv_lt_0_compat; [lra | nra]).
  set (c := Rmax (Rmax 1 y) (- s * ln p0)).
  assert (C1 : 1 <= c) by (eapply Rle_trans; [apply Rmax_l | apply Rmax_l]).
  assert (C2 : y <= c) by (eapply Rle_trans; [apply Rmax_r | apply Rmax_l]).
  assert (C3 : - s * ln p0 <= c) by apply Rmax_r.
  specialize (P c ltac:(lra) C2). apply growth in P.
  assert (Small : exp (- c / s) <= p0).
  { rewrite <- (exp_ln p0) by exact P0. apply exp_le.
    apply (Rmult_le_reg_r s); [exact s_pos|].
    replace (- c / s * s) with (- c) by (field; lra). lra. }
  assert (exp e * (exp (- c / s) * k * (1 - h)) <= exp e * (p0 * k * 1)).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; [|lra| |lra].
    - apply Rmult_le_pos; [apply Rlt_le, exp_pos | lra].
    - apply Rmult_le_compat_r; lra. }
  assert (exp e * (p0 * k * 1) = (k * (2 - h) - exp e * h) / 2)
    by (unfold p0; field; lra).
  lra.
Qed.
End Growth.

(** Monotonic scores, s = D/eps: only the first candidate moves, by D. *)
Theorem start_over_monotonic eps D x : 0 < eps -> 0 < D ->
  (forall c, 0 < c -> pure_dp 2 (start_over (D / eps) 0 2 (two (- D) (- c)))
                                (start_over (D / eps) 0 2 (two 0 (- c))) x) ->
  eps + ln (2 - exp (- eps)) <= x.
Proof.
  intros E HD P.
  assert (S : 0 < D / eps) by (apply Rdiv_lt_0_compat; lra).
  pose proof (h_range (D / eps) D S HD) as H.
  replace (- D / (D / eps)) with (- eps) in H by (field; lra).
  pose proof (growth_limit (D / eps) D 0 x S HD) as G.
  replace (- D / (D / eps)) with (- eps) in G by (field; lra).
  replace (0 / (D / eps)) with 0 in G by (field; lra). rewrite exp_0, Rmult_1_l in G.
  rewrite ln_div, ln_exp in G by lra.
  assert (ln (2 - exp (- eps)) - - eps <= x); [|lra].
  apply G. intros c C _. rewrite Rminus_0_l. now apply P.
Qed.

(** General scores, s = 2D/eps: the first falls by D, the second rises by D. *)
Theorem start_over_general eps D x : 0 < eps -> 0 < D ->
  (forall c, 0 < c -> D <= c ->
    pure_dp 2 (start_over (2 * D / eps) 0 2 (two (- D) (D - c)))
              (start_over (2 * D / eps) 0 2 (two 0 (- c))) x) ->
  eps + ln (2 - exp (- (eps / 2))) <= x.
Proof.
  intros E HD P.
  assert (S : 0 < 2 * D / eps) by (apply Rdiv_lt_0_compat; lra).
  pose proof (h_range (2 * D / eps) D S HD) as H.
  replace (- D / (2 * D / eps)) with (- (eps / 2)) in H by (field; lra).
  pose proof (growth_limit (2 * D / eps) D D x S HD P) as G.
  replace (- D / (2 * D / eps)) with (- (eps / 2)) in G by (field; lra).
  replace (D / (2 * D / eps)) with (eps / 2) in G by (field; lra).
  rewrite ln_div, ln_mult, !ln_exp in G; try lra; try apply exp_pos.
  apply Rmult_lt_0_compat; [apply exp_pos | lra].
Qed.

(** So the true epsilon is above eps, for every eps. *)
Theorem start_over_excess eps : 0 < eps -> eps < eps + ln (2 - exp (- eps)).
Proof.
  intros E. assert (exp (- eps) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (ln 1 < ln (2 - exp (- eps))) by (apply ln_increasing; lra).
  rewrite ln_1 in *. lra.
Qed.
