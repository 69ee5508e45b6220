(** docs/proofs/quantiles.md: several quantiles at once, depth by depth.

    The answers from the depths above cut the line into intervals, called stretches. A person is at one place
    and so in one stretch. Each stretch makes its own choice. *)
From Coq Require Import Reals Lra Lia List Arith Permutation Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism People Groups.
Import ListNotations.
Open Scope R_scope.

Section Recursion.
Context {Row Answer : Type}.
Notation table := (table Row).
(** The answers of one depth, one for each stretch. *)
Notation depth := (nat -> Answer).

Variable place : nat -> list Row -> option nat.
Hypothesis place_personal : personal place.

(** Given the answers above: the number of stretches, and the stretch in which a place lies. *)
Variable stretches : list depth -> nat.
Variable stretch_of : list depth -> nat -> nat.
Variable choice : list depth -> nat -> table -> Answer -> R.
Variable eps0 : R.
Hypothesis eps0_nonneg : 0 <= eps0.
Hypothesis choice_nonneg : forall h g t o, 0 <= choice h g t o.
Hypothesis choice_same : forall h g t t' o, same t t' -> choice h g t o = choice h g t' o.
Hypothesis choice_private : forall h g t t' o,
  add_remove t t' -> choice h g t o <= exp eps0 * choice h g t' o.

(** Each person with a value belongs to the stretch that contains their place. *)
Definition stands (h : list depth) (p : nat) (l : list Row) (g : nat) : bool :=
  match place p l with Some v => (stretch_of h v =? g)%nat | None => false end.

Definition depth_law (h : list depth) (t : table) (o : depth) : R :=
  joint (fun _ _ => true) (stands h) (stretches h) (choice h) t o.

(** All depths, each asked when the answers above are known. *)
Fixpoint recursion (h : list depth) (t : table) (os : list depth) : R :=
  match os with
  | [] => 1
  | o :: os => depth_law h t o * recursion (h ++ [o]) t os
  end.

Lemma stands_personal h g : personal (fun p l => stands h p l g).
Proof. intros p l l' H. unfold stands. now rewrite (place_personal p l l' H). Qed.

Lemma at_most_one {A} (f : A -> bool) l : NoDup l ->
  (forall x y, f x = true -> f y = true -> x = y) -> (length (filter f l) <= 1)%nat.
Proof.
  intros N H. destruct (filter f l) as [|x [|y k]] eqn:E; simpl; try lia.
  assert (X : In x (filter f l)) by (rewrite E; now left).
  assert (Y : In y (filter f l)) by (rewrite E; right; now left).
  apply filter_In in X as [_ X]. apply filter_In in Y as [_ Y].
  pose proof (H x y X Y). subst.
  pose proof (NoDup_filter f N) as M. rewrite E in M.
  inversion M as [|? ? Z _]; subst. exfalso; apply Z; now left.
Qed.

(** A person is in one stretch of a depth, so a depth costs as much as one choice. *)
Theorem depth_pure_dp h t t' o : add_remove t t' ->
  depth_law h t o <= exp eps0 * depth_law h t' o.
Proof.
  intros H. unfold depth_law.
  apply (groups_pure_dp _ _ (stands_personal h) (stretches h) (choice h) (fun _ => eps0)
           (choice_nonneg h) (choice_same h) (choice_private h) 1); [| |exact H].
  - intros p l. apply at_most_one; [apply NoDup_candidates|].
    unfold is_in, stands. intros x y X Y.
    apply andb_true_iff in X as [X _]. apply andb_true_iff in Y as [Y _].
    destruct (place p l); [|discriminate].
    apply Nat.eqb_eq in X. apply Nat.eqb_eq in Y. congruence.
  - intros l _ _ L. destruct l as [|x [|y l]]; simpl in *; [lra|lra|lia].
Qed.

Lemma depth_nonneg h t o : 0 <= depth_law h t o.
Proof. apply joint_nonneg. intros; apply choice_nonneg. Qed.

Lemma recursion_nonneg h t os : 0 <= recursion h t os.
Proof.
  revert h. induction os as [|o os IH]; intros h; simpl; [lra|].
  apply Rmult_le_pos; [apply depth_nonneg | apply IH].
Qed.

Lemma recursion_bound h t t' os : add_remove t t' ->
  recursion h t os <= exp (INR (length os) * eps0) * recursion h t' os.
Proof.
  intros H. revert h. induction os as [|o os IH]; intros h.
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - cbn [recursion length]. rewrite S_INR.
    replace ((INR (length os) + 1) * eps0) with (eps0 + INR (length os) * eps0) by ring.
    rewrite exp_plus.
    apply Rle_trans with ((exp eps0 * depth_law h t' o)
      * (exp (INR (length os) * eps0) * recursion (h ++ [o]) t' os)); [|lra].
    apply Rmult_le_compat; auto using depth_nonneg, recursion_nonneg.
    now apply depth_pure_dp.
Qed.

Theorem recursion_pure_dp L t t' os : length os = L -> add_remove t t' ->
  recursion [] t os <= exp (INR L * eps0) * recursion [] t' os.
Proof. intros <-. apply recursion_bound. Qed.

Theorem recursion_pure_dp_replace L t t' os : length os = L -> replace t t' ->
  recursion [] t os <= exp (2 * (INR L * eps0)) * recursion [] t' os.
Proof.
  intros HL (s & p & p' & H & H').
  assert (A : recursion [] t os <= exp (INR L * eps0) * recursion [] s os)
    by (apply recursion_pure_dp; [exact HL | exists p; now right]).
  assert (B : recursion [] s os <= exp (INR L * eps0) * recursion [] t' os)
    by (apply recursion_pure_dp; [exact HL | exists p'; now left]).
  replace (2 * (INR L * eps0)) with (INR L * eps0 + INR L * eps0) by ring.
  rewrite exp_plus. pose proof (exp_pos (INR L * eps0)). nra.
Qed.
End Recursion.

(** If each person flips private coins, the guarantee does not change: the law is an average over everybody's
    coins, the same on both tables. *)
Theorem average_private {C} (coins : list C) (weight : C -> R) (law law' : C -> R) E :
  (forall c, In c coins -> 0 <= weight c) ->
  (forall c, In c coins -> law c <= E * law' c) ->
  sum coins (fun c => weight c * law c) <= E * sum coins (fun c => weight c * law' c).
Proof.
  intros W H. rewrite <- sum_scal. apply sum_le; intros c Hc.
  pose proof (W c Hc). pose proof (H c Hc). nra.
Qed.

Theorem average_approx {C} (coins : list C) (weight : C -> R) (law law' : C -> R) E delta :
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c, In c coins -> law c <= E * law' c + delta) ->
  sum coins (fun c => weight c * law c) <= E * sum coins (fun c => weight c * law' c) + delta.
Proof.
  intros W T H. apply Rle_trans with (sum coins (fun c => E * (weight c * law' c) + delta * weight c)).
  - apply sum_le; intros c Hc. pose proof (W c Hc). pose proof (H c Hc). nra.
  - rewrite sum_plus, !sum_scal, T. lra.
Qed.
