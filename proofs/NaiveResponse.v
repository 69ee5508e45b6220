(** docs/proofs/exponential-randomized-response.md, the naive reading (Algorithm 2): T are the
    best candidates. It has no finite epsilon either. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Privacy Walk RandomizedResponse.
Import ListNotations.
Open Scope R_scope.

Definition naive (n : nat) (q : nat -> R) (T : list nat) : Prop :=
  NoDup T /\ forall r, In r T <-> (r < n)%nat /\ q r = best n q.

(** All candidates tied, and one candidate ahead by one person. *)
Definition level (t : nat) : R := 0.
Definition leader (t : nat) : R := match t with O => 1 | _ => 0 end.

Lemma first_event n p : (1 <= n)%nat -> event n (Nat.eqb 0) p = p 0%nat.
Proof.
  intros H. unfold event, candidates. destruct n as [|n]; [lia|]. cbn [seq filter Nat.eqb].
  assert (Z : forall a k, (1 <= a)%nat -> filter (Nat.eqb 0) (seq a k) = []).
  { intros a k. revert a. induction k as [|k IH]; intros a A; [reflexivity|].
    cbn [seq filter]. destruct (Nat.eqb_spec 0 a); [lia|]. apply IH; lia. }
  rewrite Z by lia. simpl. ring.
Qed.

Lemma best_level n : (1 <= n)%nat -> best n level = 0.
Proof. intros H. apply (best_unique n level 0 0); [lia | reflexivity | intros; unfold level; lra]. Qed.

Lemma best_leader n : (1 <= n)%nat -> best n leader = 1.
Proof.
  intros H. apply (best_unique n leader 1 0); [lia | reflexivity |].
  intros [|t] _; simpl; lra.
Qed.

Theorem naive_refuted s pi B : 0 < s -> 0 < pi <= 1 -> refuted s pi B naive.
Proof.
  intros S P. pose proof (exp_pos B) as E.
  destruct (nfloor_ex (exp B / pi)) as (k & _ & K).
  { apply Rlt_le, Rdiv_lt_0_compat; lra. }
  set (n := Datatypes.S k). assert (N : (1 <= n)%nat) by (unfold n; lia).
  assert (N0 : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Big : exp B < pi * INR n).
  { unfold n. rewrite S_INR. apply (Rmult_lt_compat_l pi) in K; [|lra].
    replace (pi * (exp B / pi)) with (exp B) in K by (field; lra). exact K. }
  exists n, level, leader, (candidates n), [0%nat]. split; [|split; [|split]].
  - split; [apply NoDup_candidates|]. intros r. rewrite in_candidates, best_level by exact N.
    unfold level. tauto.
  - split; [repeat constructor; easy|]. intros r. rewrite best_leader by exact N.
    split.
    + intros [<-|[]]. split; [lia | reflexivity].
    + intros [_ H]. destruct r; [now left|]. simpl in H. lra.
  - right. intros [|r]; unfold level; simpl; lra.
  - intros D. specialize (D (Nat.eqb 0)). rewrite !first_event in D by exact N.
    unfold response in D.
    assert (Z : em s n level 0 = / INR n).
    { unfold em, coin. rewrite best_level by exact N. unfold level.
      rewrite (sum_const (candidates n)). unfold candidates. rewrite seq_length.
      replace (- (0 - 0) / s) with 0 by (field; lra). rewrite exp_0. field. lra. }
    assert (M : member 0 (candidates n) = true).
    { apply existsb_exists. exists 0%nat. split; [now apply in_candidates | reflexivity]. }
    rewrite Z, M in D. cbn [member existsb Nat.eqb orb length] in D.
    unfold candidates in D. rewrite seq_length in D.
    pose proof (em_nonneg s n leader 0 N) as G.
    assert (L : pi <= (1 - pi) * em s n leader 0 + pi / INR 1).
    { simpl INR. assert (0 <= (1 - pi) * em s n leader 0) by (apply Rmult_le_pos; lra).
      unfold Rdiv. rewrite Rinv_1. lra. }
    assert (R : exp B * ((1 - pi) * / INR n + pi / INR n) = exp B / INR n) by (field; lra).
    change (INR (length [0%nat])) with (INR 1) in D.
    rewrite R in D.
    assert (F : pi * INR n <= exp B); [|lra].
    apply (Rmult_le_reg_r (/ INR n)); [now apply Rinv_0_lt_compat|].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. unfold Rdiv in D. lra.
Qed.
