(** docs/proofs/unknown-domain.md, from a table: the most common values of a domain without a list, one round
    after the other. *)
From Coq Require Import Reals Lra Lia List Arith Bool Permutation.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy ApproxDP People Groups Composition ListLaw
  UnknownDomain LimitedDomain Answers.
Import ListNotations.
Open Scope R_scope.

Definition among (l : list nat) (r : nat) : bool := existsb (Nat.eqb r) l.

Lemma among_In l r : among l r = true <-> In r l.
Proof.
  unfold among. rewrite existsb_exists. split.
  - intros (x & I & E). apply Nat.eqb_eq in E. now subst.
  - intros I. exists r. now rewrite Nat.eqb_refl.
Qed.

Lemma event_among n l (A : nat -> bool) f : NoDup l -> (forall r, In r l -> (r < n)%nat) ->
  event n A (fun r => if among l r then f r else 0) = sum (filter A l) f.
Proof.
  intros D I. unfold event.
  rewrite <- (Groups.sum_filter (among l) (filter A (candidates n)) f). apply sum_permutation, NoDup_Permutation.
  - apply NoDup_filter, NoDup_filter, NoDup_candidates.
  - now apply NoDup_filter.
  - intros r. rewrite !filter_In, among_In, in_candidates. firstorder.
Qed.

Section Rounds.
Context {Row : Type}.
Variables (N k m : nat) (tau eps delta : R) (has : nat -> list Row -> nat -> bool).
Hypotheses (tau_nonneg : 0 <= tau) (eps_pos : 0 < eps) (delta_pos : 0 < delta)
  (k_pos : (1 <= k)%nat) (m_pos : (1 <= m)%nat)
  (has_personal : forall r, personal (fun p l => has p l r))
  (few : forall p l, (length (filter (has p l) (candidates N)) <= m)%nat)
  (margin : margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau).

Definition people_of (t : table Row) (v : nat) : nat := number_with (fun p l => has p l v) t.

(** A round after the answers [h]: a value that was not chosen yet, or N, which is "nothing". *)
Definition round (t : table Row) (h : list nat) (r : nat) : R :=
  if among (N :: options N k (among h) (people_of t)) r
  then limited N k (scale_of eps 1) tau (among h) (people_of t) r else 0.

Lemma scale_pos : 0 < scale_of eps 1.
Proof. apply Rdiv_lt_0_compat; lra. Qed.

Lemma competing_below t h r : In r (N :: options N k (among h) (people_of t)) -> (r < S N)%nat.
Proof. intros [<-|I]; [lia|]. apply options_below in I. lia. Qed.

Lemma round_event t h A :
  event (S N) A (round t h) = answers N k (scale_of eps 1) tau (among h) (people_of t) A.
Proof. apply event_among; [apply options_NoDup | apply competing_below]. Qed.

Lemma round_nonneg t h r : 0 <= round t h r.
Proof. unfold round. destruct (among _ r); [apply list_pf_nonneg, scale_pos | lra]. Qed.

Lemma round_total t h : sum (candidates (S N)) (round t h) = 1.
Proof.
  pose proof (event_among (S N) (N :: options N k (among h) (people_of t)) (fun _ => true)
    (limited N k (scale_of eps 1) tau (among h) (people_of t)) (options_NoDup _ _ _ _) (competing_below t h)) as E.
  unfold event in E.
  assert (F : forall l : list nat, filter (fun _ => true) l = l)
    by (induction l as [|x l IH]; simpl; [reflexivity | now rewrite IH]).
  rewrite !F in E. unfold round. rewrite E. apply list_pf_total, options_NoDup.
Qed.

Lemma round_added t t' p h : added t t' p ->
  approx_dp (S N) (round t h) (round t' h) eps delta /\ approx_dp (S N) (round t' h) (round t h) eps delta.
Proof.
  intros H.
  assert (C : forall v, people_of t' v = (people_of t v + if has p (rows t' p) v then 1 else 0)%nat)
    by (intros v; now apply (number_with_added (fun p l => has p l v))).
  assert (L : forall A, answers N k (scale_of eps 1) tau (among h) (people_of t) A
      <= exp eps * answers N k (scale_of eps 1) tau (among h) (people_of t') A + delta /\
      answers N k (scale_of eps 1) tau (among h) (people_of t') A
      <= exp eps * answers N k (scale_of eps 1) tau (among h) (people_of t) A + delta).
  { intros A. apply limited_approx_dp_margin with m; auto.
    - intros v _. rewrite C. destruct (has p (rows t' p) v); lia.
    - eapply Nat.le_trans; [|apply (few p (rows t' p))]. apply filter_le. intros v _. rewrite C.
      destruct (has p (rows t' p) v); [easy|]. rewrite Nat.add_0_r, Nat.eqb_refl. easy. }
  split; intros A; rewrite !round_event; apply L.
Qed.

Lemma round_add_remove t t' h : add_remove t t' -> approx_dp (S N) (round t h) (round t' h) eps delta.
Proof. intros (p & [H|H]); [apply (round_added t t' p h H) | apply (round_added t' t p h H)]. Qed.

Lemma round_replace t t' h : replace t t' ->
  approx_dp (S N) (round t h) (round t' h) (2 * eps) (delta * (1 + exp eps)).
Proof.
  intros (u & p & p' & H & H') A.
  pose proof (round_add_remove t u h ltac:(exists p; now right) A) as X.
  pose proof (round_add_remove u t' h ltac:(exists p'; now left) A) as Y.
  replace (2 * eps) with (eps + eps) by ring. rewrite exp_plus.
  apply (Rmult_le_compat_l (exp eps)) in Y; [|left; apply exp_pos]. lra.
Qed.

Lemma within_same n cost K h : 0 <= cost -> Composition.within n (fun _ => cost) K h (INR K * cost).
Proof.
  intros C. revert h. induction K as [|K IH]; intros h.
  - cbn [Composition.within]. simpl. lra.
  - cbn [Composition.within]. rewrite S_INR. split.
    + pose proof (pos_INR K). nra.
    + intros r _. replace ((INR K + 1) * cost - cost) with (INR K * cost) by ring. apply IH.
Qed.

Theorem unknown_domain_rounds rounds phi t t' : (forall h, 0 <= phi h <= 1) ->
  let mean t := sum (transcripts (fun _ => S N) rounds [])
                    (fun h => phi h * path (round t) [] h) in
  (add_remove t t' -> mean t <= exp (INR rounds * eps) * mean t' + INR rounds * delta) /\
  (replace t t' ->
     mean t <= exp (INR rounds * (2 * eps)) * mean t' + INR rounds * (delta * (1 + exp eps))).
Proof.
  intros Phi mean. unfold mean.
  assert (Use : forall e d, 0 <= e -> 0 <= d ->
    (forall h, approx_dp (S N) (round t h) (round t' h) e d) ->
    sum (transcripts (fun _ => S N) rounds []) (fun h => phi h * path (round t) [] h)
    <= exp (INR rounds * e) * sum (transcripts (fun _ => S N) rounds []) (fun h => phi h * path (round t') [] h)
       + INR rounds * d).
  { intros e d E D H.
    apply (approx_composition (fun _ => S N) (round t) (round t')) with (eps := fun _ => e) (delta := fun _ => d);
      auto using within_same; intros; try apply round_nonneg. rewrite round_total. lra. }
  split; intros H; apply Use; try lra.
  - intros h. now apply round_add_remove.
  - apply Rmult_le_pos; [lra|]. pose proof (exp_pos eps). lra.
  - intros h. now apply round_replace.
Qed.
End Rounds.
