(** docs/proofs/sampling.md, lemma 1: exactly uniform integers from bits, by rejection,
    and the law of a word. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Machine Programs.
Import ListNotations.
Open Scope R_scope.

(** [w] bits appended to the number [v]. *)
Fixpoint word (w v : nat) : program nat :=
  match w with
  | O => Return v
  | S w => Draw (fun b => word w (2 * v + if b then 1 else 0)%nat)
  end.

Fixpoint average (w v : nat) (f : nat -> R) : R :=
  match w with
  | O => f v
  | S w => (average w (2 * v + 1)%nat f + average w (2 * v + 0)%nat f) / 2
  end.

Lemma mass_word w v f : mass w (word w v) f = average w v f.
Proof.
  revert v. induction w as [|w IH]; intros v; [reflexivity|].
  cbn [word]. rewrite mass_draw, !IH. cbn [average]. field.
Qed.

Lemma law_word w v f : has_law (word w v) f (average w v f).
Proof.
  revert v. induction w as [|w IH]; intros v; [apply (law_return v f)|].
  cbn [word average]. apply (law_draw (fun b => word w (2 * v + if b then 1 else 0)%nat)); apply IH.
Qed.

Lemma sum_seq (f : nat -> R) a n : sum (seq a n) f = sum (candidates n) (fun i => f (a + i)%nat).
Proof.
  unfold candidates. revert a f. induction n as [|n IH]; intros a f; [reflexivity|].
  cbn [seq sum fold_right]. fold (sum (seq (S a) n) f).
  fold (sum (seq 1 n) (fun i => f (a + i)%nat)).
  rewrite (IH (S a)), (IH 1%nat). rewrite Nat.add_0_r. f_equal.
  apply sum_ext; intros i _. f_equal; lia.
Qed.

Lemma sum_double f n : sum (candidates (n + n)) f
  = sum (candidates n) f + sum (candidates n) (fun i => f (n + i)%nat).
Proof.
  unfold candidates. rewrite seq_app, sum_app. f_equal. apply sum_seq.
Qed.

(** Every number of [w] bits is equally likely. *)
Lemma average_sum w v f : average w v f
  = / 2 ^ w * sum (candidates (2 ^ w)) (fun i => f (2 ^ w * v + i)%nat).
Proof.
  revert v. induction w as [|w IH]; intros v.
  - cbn. rewrite Nat.add_0_r, Nat.add_0_r. field.
  - cbn [average]. rewrite !IH.
    replace (2 ^ S w)%nat with (2 ^ w + 2 ^ w)%nat by (simpl; lia).
    rewrite sum_double.
    rewrite (sum_ext (candidates (2 ^ w))
      (fun i => f (2 ^ w * (2 * v + 1) + i)%nat)
      (fun i => f ((2 ^ w + 2 ^ w) * v + (2 ^ w + i))%nat)) by (intros; f_equal; lia).
    rewrite (sum_ext (candidates (2 ^ w))
      (fun i => f (2 ^ w * (2 * v + 0) + i)%nat)
      (fun i => f ((2 ^ w + 2 ^ w) * v + i)%nat)) by (intros; f_equal; lia).
    cbn [pow]. field. apply pow_nonzero; lra.
Qed.

Lemma mass_map {A B} n (p : program A) (h : A -> B) g :
  mass n (bind p (fun a => Return (h a))) g = mass n p (fun a => g (h a)).
Proof.
  revert p. induction n as [|n IH]; intros [a|k|p]; cbn; auto. now rewrite !IH.
Qed.

Lemma law_map {A B} (p : program A) (h : A -> B) g x :
  has_law p (fun a => g (h a)) x -> has_law (bind p (fun a => Return (h a))) g x.
Proof. apply is_lim_seq_ext. intros n. symmetry. apply mass_map. Qed.

(** ** Lemma 1 *)

(** [w] bits as an integer; kept if it is below [k], else fresh bits. *)
Definition uniform_below (w k : nat) : program nat :=
  iterate (fun _ => bind (word w 0) (fun v =>
    Return (if (v <? k)%nat then inr v else inl tt))) tt.

Lemma sum_below (f : nat -> R) k m : (k <= m)%nat ->
  sum (candidates m) (fun v => if (v <? k)%nat then f v else 0) = sum (candidates k) f.
Proof.
  intros H. replace m with (k + (m - k))%nat by lia.
  unfold candidates. rewrite seq_app, sum_app, Nat.add_0_l.
  rewrite (sum_ext (seq 0 k) _ f).
  - rewrite (sum_ext (seq k (m - k)) _ (fun _ => 0)).
    + rewrite sum_const. ring.
    + intros v Hv. apply in_seq in Hv. now rewrite (proj2 (Nat.ltb_ge v k)) by lia.
  - intros v Hv. apply in_seq in Hv. now rewrite (proj2 (Nat.ltb_lt v k)) by lia.
Qed.

Lemma sum_all_below (f : nat -> R) k m :
  sum (candidates m) (fun v => if (v <? k)%nat then 0 else f v)
  = sum (candidates m) f - sum (candidates m) (fun v => if (v <? k)%nat then f v else 0).
Proof.
  rewrite (sum_ext (candidates m) f (fun v => (if (v <? k)%nat then 0 else f v)
            + (if (v <? k)%nat then f v else 0))).
  - rewrite sum_plus. ring.
  - intros v _. destruct (v <? k)%nat; ring.
Qed.

Lemma INR_pow2 w : INR (2 ^ w) = 2 ^ w.
Proof. induction w as [|w IH]; [reflexivity|]. cbn [Nat.pow pow]. rewrite mult_INR, IH. reflexivity. Qed.

Theorem uniform_below_law w k f M : (1 <= k <= 2 ^ w)%nat -> (forall v, 0 <= f v <= M) ->
  has_law (uniform_below w k) f (sum (candidates k) f / INR k).
Proof.
  intros K F.
  assert (W : 0 < 2 ^ w) by (apply pow_lt; lra).
  assert (K0 : 0 < INR k) by (apply lt_0_INR; lia).
  replace (sum (candidates k) f / INR k)
    with ((/ 2 ^ w * sum (candidates k) f) / (1 - (1 - INR k / 2 ^ w))) by (field; lra).
  apply (law_reject _ f M).
  - exact F.
  - apply law_map. apply (law_ext _ (fun v => if (v <? k)%nat then f v else 0)).
    { intros v. now destruct (v <? k)%nat. }
    replace (/ 2 ^ w * sum (candidates k) f)
      with (average w 0 (fun v => if (v <? k)%nat then f v else 0)); [apply law_word|].
    rewrite average_sum. rewrite (sum_ext _ _ (fun v => if (v <? k)%nat then f v else 0))
      by (intros; now rewrite Nat.mul_0_r, Nat.add_0_l).
    now rewrite sum_below by lia.
  - apply law_map. apply (law_ext _ (fun v => if (v <? k)%nat then 0 else 1)).
    { intros v. now destruct (v <? k)%nat. }
    replace (1 - INR k / 2 ^ w)
      with (average w 0 (fun v => if (v <? k)%nat then 0 else 1)); [apply law_word|].
    rewrite average_sum. rewrite (sum_ext _ _ (fun v => if (v <? k)%nat then 0 else 1))
      by (intros; now rewrite Nat.mul_0_r, Nat.add_0_l).
    rewrite (sum_all_below (fun _ => 1)), sum_below, !sum_const by lia.
    unfold candidates. rewrite !seq_length, INR_pow2. field. lra.
  - assert (0 < INR k / 2 ^ w) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.
