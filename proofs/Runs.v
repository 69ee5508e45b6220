(** The best of several private runs, from the runs themselves: docs/proofs/tuning.md.

    Runs are made one after the other, and the best so far is kept. Among equally good runs, each is kept with
    the same chance: the j-th of them replaces the kept one with chance 1/j. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy Measures Tuning.
Import ListNotations.
Open Scope R_scope.

Lemma sum_pick n o (f : nat -> R) : (o < n)%nat ->
  sum (candidates n) (fun x => if (x =? o)%nat then f x else 0) = f o.
Proof.
  intros H. unfold candidates. revert H. generalize (Nat.le_0_l o).
  assert (G : forall m a, (a <= o)%nat -> (o < a + m)%nat ->
    sum (seq a m) (fun x => if (x =? o)%nat then f x else 0) = f o).
  { induction m as [|m IH]; intros a L U; [lia|]. cbn [seq sum fold_right].
    fold (sum (seq (S a) m) (fun x => if (x =? o)%nat then f x else 0)).
    destruct (Nat.eqb_spec a o) as [->|D].
    - rewrite (sum_ext _ _ (fun _ => 0)).
      + rewrite sum_const. ring.
      + intros x X. apply in_seq in X. destruct (Nat.eqb_spec x o); [lia | reflexivity].
    - rewrite IH by lia. ring. }
  intros L H. now apply G.
Qed.

(** The chances of the numbers of runs, which add up to one. *)
Definition of_number (w : nat -> R) : Prop := (forall k, 0 <= w k) /\ is_series w 1.

Lemma series_zero (a : nat -> R) : (forall k, a k = 0) -> Series a = 0.
Proof.
  intros H. rewrite (Series_ext a (fun k => 0 * a k)) by (intros k; rewrite (H k); ring).
  rewrite Series_scal_l. ring.
Qed.

Section Run.
Variables (n : nat) (value : nat -> R) (p : nat -> R).

(** The state: nothing yet, or the kept outcome and the number of runs as good as it. [next psi kept x] is the
    expectation of psi of the state after the next run gives x. *)
Definition next (psi : option (nat * nat) -> R) (kept : option (nat * nat)) (x : nat) : R :=
  match kept with
  | None => psi (Some (x, 1%nat))
  | Some (y, j) =>
      if Rlt_dec (value y) (value x) then psi (Some (x, 1%nat))
      else if Rlt_dec (value x) (value y) then psi (Some (y, j))
      else / INR (S j) * psi (Some (x, S j)) + (1 - / INR (S j)) * psi (Some (y, S j))
  end.

(** The expectation of psi of the state after k runs, each of which gives x with chance p x. *)
Fixpoint after (k : nat) (psi : option (nat * nat) -> R) : R :=
  match k with
  | O => psi None
  | S k => after k (fun kept => sum (candidates n) (fun x => p x * next psi kept x))
  end.

(** The answer: the kept outcome, or n if there was no run. *)
Definition answered (o : nat) (kept : option (nat * nat)) : R :=
  match kept with
  | Some (y, _) => if (y =? o)%nat then 1 else 0
  | None => if (o =? n)%nat then 1 else 0
  end.

(** The number of runs is k with chance w k. *)
Definition best_of (w : nat -> R) (o : nat) : R := Series (fun k => w k * after k (answered o)).

(** ** Expectations *)

Lemma next_ext psi psi' kept x : (x < n)%nat ->
  (match kept with Some (y, _) => (y < n)%nat | None => True end) ->
  (forall y j, (y < n)%nat -> psi (Some (y, j)) = psi' (Some (y, j))) ->
  next psi kept x = next psi' kept x.
Proof.
  intros X K H. unfold next. destruct kept as [[y j]|]; [|now apply H].
  destruct Rlt_dec; [now apply H|]. destruct Rlt_dec; [now apply H|]. now rewrite !H.
Qed.

Lemma after_ext k psi psi' : psi None = psi' None ->
  (forall y j, (y < n)%nat -> psi (Some (y, j)) = psi' (Some (y, j))) -> after k psi = after k psi'.
Proof.
  revert psi psi'. induction k as [|k IH]; intros psi psi' N H; simpl; [exact N|].
  apply IH.
  - apply sum_ext. intros x X. apply in_candidates in X. f_equal. now apply next_ext.
  - intros y j Y. apply sum_ext. intros x X. apply in_candidates in X. f_equal. now apply next_ext.
Qed.

Lemma next_nonneg psi kept x : (forall s, 0 <= psi s) -> 0 <= next psi kept x.
Proof.
  intros H. unfold next. destruct kept as [[y j]|]; [|apply H].
  destruct Rlt_dec; [apply H|]. destruct Rlt_dec; [apply H|].
  assert (0 < / INR (S j) <= 1).
  { split; [apply Rinv_0_lt_compat, lt_0_INR; lia|]. rewrite <- Rinv_1 at 1.
    apply Rinv_le_contravar; [lra|]. rewrite S_INR. pose proof (pos_INR j). lra. }
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; try apply H; lra.
Qed.

Lemma next_linear a b psi psi' kept x :
  next (fun s => a * psi s + b * psi' s) kept x = a * next psi kept x + b * next psi' kept x.
Proof.
  unfold next. destruct kept as [[y j]|]; [|reflexivity].
  destruct Rlt_dec; [reflexivity|]. destruct Rlt_dec; [reflexivity|]. ring.
Qed.

Lemma after_linear k a b psi psi' :
  after k (fun s => a * psi s + b * psi' s) = a * after k psi + b * after k psi'.
Proof.
  revert psi psi'. induction k as [|k IH]; intros psi psi'; simpl; [reflexivity|].
  rewrite <- IH. apply after_ext; [|intros y j _];
    rewrite <- !sum_scal, <- sum_plus; apply sum_ext; intros x _; rewrite next_linear; ring.
Qed.

Lemma after_scal k a psi : after k (fun s => a * psi s) = a * after k psi.
Proof.
  transitivity (after k (fun s => a * psi s + 0 * psi s)).
  - apply after_ext; intros; ring.
  - rewrite after_linear. ring.
Qed.

(** ** Worse and equally good outcomes *)

Definition worse (c : R) : R := sum (candidates n) (fun x => if Rlt_dec (value x) c then p x else 0).
Definition equal (c : R) : R := sum (candidates n) (fun x => if Req_EM_T (value x) c then p x else 0).

Let lower c (kept : option (nat * nat)) : R :=
  match kept with None => 1 | Some (y, _) => if Rlt_dec (value y) c then 1 else 0 end.
Let one o g (kept : option (nat * nat)) : R :=
  match kept with Some (y, j) => if (y =? o)%nat then g j else 0 | None => 0 end.
Let class c g (kept : option (nat * nat)) : R :=
  match kept with Some (y, j) => if Req_EM_T (value y) c then g j else 0 | None => 0 end.

Lemma step_lower c kept :
  sum (candidates n) (fun x => p x * next (lower c) kept x) = worse c * lower c kept.
Proof.
  unfold worse. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros x _.
  unfold next, lower. destruct kept as [[y j]|].
  - repeat (destruct Rlt_dec; try lra); ring.
  - destruct Rlt_dec; ring.
Qed.

Lemma after_lower c k : after k (lower c) = worse c ^ k.
Proof.
  induction k as [|k IH]; [reflexivity|]. simpl.
  rewrite (after_ext k _ (fun s => worse c * lower c s)); [|apply step_lower | intros; apply step_lower].
  now rewrite after_scal, IH.
Qed.

Lemma step_class (c : R) (g : nat -> R) kept :
  sum (candidates n) (fun x => p x * next (class c g) kept x)
  = equal c * g 1%nat * lower c kept + class c (fun j => worse c * g j + equal c * g (S j)) kept.
Proof.
  transitivity (sum (candidates n) (fun x =>
    (g 1%nat * lower c kept + class c (fun j => g (S j)) kept) * (if Req_EM_T (value x) c then p x else 0)
    + class c g kept * (if Rlt_dec (value x) c then p x else 0))).
  - apply sum_ext. intros x _. unfold next, lower, class. destruct kept as [[y j]|].
    + repeat (destruct Rlt_dec || destruct Req_EM_T; try lra); ring.
    + destruct Req_EM_T; destruct Rlt_dec; try lra; ring.
  - rewrite sum_plus, !sum_scal. fold (equal c) (worse c). unfold class.
    destruct kept as [[y j]|]; [destruct Req_EM_T|]; ring.
Qed.

Lemma step_one o (g : nat -> R) kept c : (o < n)%nat -> c = value o ->
  sum (candidates n) (fun x => p x * next (one o g) kept x)
  = p o * (g 1%nat * lower c kept + class c (fun j => / INR (S j) * g (S j)) kept)
    + one o (fun j => worse c * g j + equal c * ((1 - / INR (S j)) * g (S j))) kept.
Proof.
  intros O ->. set (c := value o).
  transitivity (sum (candidates n) (fun x =>
    (g 1%nat * lower c kept + class c (fun j => / INR (S j) * g (S j)) kept) * (if (x =? o)%nat then p x else 0)
    + one o g kept * (if Rlt_dec (value x) c then p x else 0)
    + one o (fun j => (1 - / INR (S j)) * g (S j)) kept * (if Req_EM_T (value x) c then p x else 0))).
  - apply sum_ext. intros x _. unfold next, lower, class, one, c. destruct kept as [[y j]|].
    + destruct (Nat.eqb_spec x o) as [->|X]; destruct (Nat.eqb_spec y o) as [->|Y];
        repeat (destruct Rlt_dec || destruct Req_EM_T; try lra); try ring.
    + destruct (Nat.eqb_spec x o); ring.
  - rewrite !sum_plus, !sum_scal. fold (worse c) (equal c). rewrite (sum_pick n o p O).
    unfold one. destruct kept as [[y j]|]; [destruct (y =? o)%nat|]; ring.
Qed.

(** Among equally good outcomes, each is kept with a chance in proportion to its chance in one run. *)
Lemma shares k o g : (o < n)%nat ->
  equal (value o) * after k (one o g) = p o * after k (class (value o) g).
Proof.
  intros O. revert g. induction k as [|k IH]; intros g; [simpl; ring|]. simpl.
  set (c := value o). set (h := fun j => / INR (S j) * g (S j)).
  set (m := fun j => worse c * g j + equal c * ((1 - / INR (S j)) * g (S j))).
  transitivity (equal c * after k (fun s => p o * (g 1%nat * lower c s + 1 * class c h s) + 1 * one o m s)).
  { f_equal. apply after_ext; [|intros y j _]; rewrite (step_one o g _ c O eq_refl); fold h m; ring. }
  transitivity (p o * after k (fun s => equal c * g 1%nat * lower c s + 1 * (1 * class c m s + equal c * class c h s))).
  2: { f_equal. apply after_ext; [|intros y j _]; rewrite step_class; unfold m, h, class; try ring.
       destruct Req_EM_T; ring. }
  rewrite !after_linear. specialize (IH m). fold c in IH. nra.
Qed.

Lemma after_class c k : after k (class c (fun _ => 1)) = (worse c + equal c) ^ k - worse c ^ k.
Proof.
  induction k as [|k IH]; [simpl; ring|]. simpl.
  rewrite (after_ext k _ (fun s => equal c * lower c s + (worse c + equal c) * class c (fun _ => 1) s)).
  - rewrite after_linear, IH, after_lower. simpl. ring.
  - rewrite step_class. unfold class. ring.
  - intros y j _. rewrite step_class. unfold class. destruct Req_EM_T; ring.
Qed.

Lemma answered_one k o : (o < n)%nat -> after k (answered o) = after k (one o (fun _ => 1)).
Proof.
  intros O. apply after_ext; [|reflexivity]. unfold answered, one. destruct (Nat.eqb_spec o n); [lia | reflexivity].
Qed.

Theorem kept_of_runs k o : (o < n)%nat ->
  equal (value o) * after k (answered o)
  = p o * ((worse (value o) + equal (value o)) ^ k - worse (value o) ^ k).
Proof. intros O. now rewrite answered_one, shares, after_class. Qed.

Lemma kept_never k o : (o < n)%nat -> p o = 0 -> after k (answered o) = 0.
Proof.
  intros O Z. rewrite answered_one by exact O. generalize (fun _ : nat => 1).
  induction k as [|k IH]; intros g; [reflexivity|]. simpl.
  rewrite <- (IH (fun j => worse (value o) * g j + equal (value o) * ((1 - / INR (S j)) * g (S j)))).
  apply after_ext; [|intros y j _]; rewrite (step_one o g _ (value o) O eq_refl), Z; ring.
Qed.

Lemma kept_none k : after k (answered n) = if (k =? 0)%nat then 1 else 0.
Proof.
  destruct k as [|k]; [simpl; now rewrite Nat.eqb_refl|]. simpl.
  transitivity (after k (fun s => 0 * answered n s)); [|rewrite after_scal; ring].
  assert (E : forall x, (x < n)%nat -> (x =? n)%nat = false) by (intros x X; apply Nat.eqb_neq; lia).
  apply after_ext; [|intros y j Y]; rewrite (sum_ext _ _ (fun _ => 0)); try (rewrite sum_const; ring);
    intros x X; apply in_candidates in X; unfold next, answered; rewrite ?(E x X), ?(E y Y); [ring|].
  destruct Rlt_dec; [ring|]. destruct Rlt_dec; ring.
Qed.

Hypotheses (p_nonneg : forall x, (x < n)%nat -> 0 <= p x) (p_total : sum (candidates n) p = 1).

Lemma after_nonneg k psi : (forall s, 0 <= psi s) -> 0 <= after k psi.
Proof.
  revert psi. induction k as [|k IH]; intros psi H; simpl; [apply H|]. apply IH. intros s.
  apply sum_nonneg. intros x X. apply in_candidates in X.
  apply Rmult_le_pos; [now apply p_nonneg | now apply next_nonneg].
Qed.

Lemma after_total k : after k (fun _ => 1) = 1.
Proof.
  induction k as [|k IH]; [reflexivity|]. simpl. transitivity (after k (fun _ => 1)); [|exact IH].
  apply after_ext; [|intros y j _]; (transitivity (sum (candidates n) p); [apply sum_ext | exact p_total]);
    intros x _; unfold next; [ring|].
  destruct Rlt_dec; [ring|]. destruct Rlt_dec; ring.
Qed.

Lemma answers_total k : sum (candidates (S n)) (fun o => after k (answered o)) = 1.
Proof.
  assert (G : forall l, sum l (fun o => after k (answered o)) = after k (fun s => sum l (fun o => answered o s))).
  { induction l as [|o l IH]; [|cbn [sum fold_right]; fold (sum l (fun o => after k (answered o))); rewrite IH].
    - transitivity (after k (fun s => 0 * 1)); [rewrite after_scal; simpl; ring | apply after_ext; intros; simpl; ring].
    - transitivity (after k (fun s => 1 * answered o s + 1 * sum l (fun o => answered o s)));
        [rewrite after_linear; ring | apply after_ext; intros; simpl; unfold sum; ring]. }
  rewrite G, <- (after_total k). apply after_ext.
  - transitivity (sum (candidates (S n)) (fun o => if (o =? n)%nat then 1 else 0)); [reflexivity|].
    apply (sum_pick (S n) n (fun _ => 1)). lia.
  - intros y j Y. transitivity (sum (candidates (S n)) (fun o => if (o =? y)%nat then 1 else 0)).
    + apply sum_ext. intros o _. simpl. now rewrite Nat.eqb_sym.
    + apply (sum_pick (S n) y (fun _ => 1)). lia.
Qed.

Lemma worse_equal c : 0 <= worse c /\ 0 <= equal c /\ worse c + equal c <= 1.
Proof.
  split; [|split].
  - apply sum_nonneg. intros x X. apply in_candidates in X. destruct Rlt_dec; [now apply p_nonneg | lra].
  - apply sum_nonneg. intros x X. apply in_candidates in X. destruct Req_EM_T; [now apply p_nonneg | lra].
  - unfold worse, equal. rewrite <- sum_plus, <- p_total. apply sum_le. intros x X. apply in_candidates in X.
    specialize (p_nonneg x X). destruct Rlt_dec; destruct Req_EM_T; lra.
Qed.

Lemma equal_own o : (o < n)%nat -> p o <= equal (value o).
Proof.
  intros O. rewrite <- (sum_pick n o p O). apply sum_le. intros x X. apply in_candidates in X.
  specialize (p_nonneg x X). destruct (Nat.eqb_spec x o) as [->|]; destruct Req_EM_T; lra.
Qed.

(** ** With a random number of runs *)

Section Number.
Variable w : nat -> R.
Hypotheses (w_nonneg : forall k, 0 <= w k) (w_total : is_series w 1).

Lemma after_at_most k o : 0 <= after k (answered o) <= 1.
Proof.
  split.
  - apply after_nonneg. intros [[y j]|]; simpl; destruct Nat.eqb; lra.
  - rewrite <- (after_total k). apply Rminus_le.
    replace (after k (answered o) - after k (fun _ => 1)) with (- after k (fun s => 1 * 1 + (-1) * answered o s)).
    + assert (0 <= after k (fun s => 1 * 1 + (-1) * answered o s)); [|lra].
      apply after_nonneg. intros [[y j]|]; simpl; destruct Nat.eqb; lra.
    + rewrite (after_linear k 1 (-1) (fun _ => 1) (answered o)). ring.
Qed.

Lemma best_of_converges o : ex_series (fun k => w k * after k (answered o)).
Proof.
  apply (ex_series_le (K := R_AbsRing) (V := R_CompleteNormedModule) _ w); [|exists 1; exact w_total].
  intros k. change (Rabs (w k * after k (answered o)) <= w k).
  pose proof (after_at_most k o). specialize (w_nonneg k). rewrite Rabs_right; nra.
Qed.

Theorem best_of_is_law : is_law (S n) (best_of w).
Proof.
  split.
  - intros o _. unfold best_of. apply Rle_trans with (Series (fun _ => 0)).
    + right. symmetry. now apply series_zero.
    + apply Series_le; [|apply best_of_converges].
      intros k. pose proof (after_at_most k o). specialize (w_nonneg k). split; [lra | nra].
  - assert (G : forall l, is_series (fun k => sum l (fun o => w k * after k (answered o))) (sum l (best_of w))).
    { induction l as [|o l IH].
      - cbn [sum fold_right]. replace 0 with (0 * 1) by ring.
        apply (is_series_ext (fun k : nat => 0 * w k)); [intros k; change (0 * w k = 0 * 1 :> R); ring | apply (is_series_scal_l 0 w 1 w_total)].
      - cbn [sum fold_right].
        apply (is_series_plus (fun k => w k * after k (answered o)) (fun k => sum l (fun o => w k * after k (answered o))));
          [apply Series_correct, best_of_converges | exact IH]. }
    apply is_series_unique in w_total. rewrite <- w_total. rewrite <- (is_series_unique _ _ (G (candidates (S n)))).
    apply Series_ext. intros k. rewrite sum_scal, answers_total. ring.
Qed.

(** The law of the winner, in terms of the generating function. *)
Theorem winner_of_runs o : (o < n)%nat -> let c := value o in
  equal c * best_of w o = p o * (PSeries w (worse c + equal c) - PSeries w (worse c)).
Proof.
  intros O c. destruct (worse_equal c) as (A & B & C).
  assert (E : forall x, 0 <= x <= 1 -> ex_series (fun k => w k * x ^ k)).
  { intros x X. apply (ex_series_le (K := R_AbsRing) (V := R_CompleteNormedModule) _ w); [|exists 1; exact w_total].
    intros k. change (Rabs (w k * x ^ k) <= w k).
    assert (0 <= x ^ k <= 1) by (split; [apply pow_le; lra | rewrite <- (pow1 k); apply pow_incr; lra]).
    specialize (w_nonneg k). rewrite Rabs_right; nra. }
  unfold best_of, PSeries. rewrite <- Series_minus by (apply E; lra). rewrite <- !Series_scal_l.
  apply Series_ext. intros k. pose proof (kept_of_runs k o O) as K. fold c in K.
  replace (equal c * (w k * after k (answered o))) with (w k * (equal c * after k (answered o))) by ring.
  rewrite K. ring.
Qed.

Lemma best_of_none : best_of w n = w 0%nat.
Proof.
  unfold best_of. rewrite (Series_ext _ (fun k => w k * if (k =? 0)%nat then 1 else 0)) by (intros; now rewrite kept_none).
  rewrite Series_incr_1; [|apply (ex_series_ext (fun k => w k * after k (answered n)));
    [intros; now rewrite kept_none | apply best_of_converges]].
  rewrite series_zero by (intros; cbn [Nat.eqb]; ring). cbn [Nat.eqb]. ring.
Qed.
End Number.
End Run.

(** ** What it costs *)

Lemma slopes_compare (f f' : R -> R) c F P F' P' :
  (forall x, 0 <= x <= 1 -> is_derive f x (f' x)) ->
  0 <= F -> 0 < P -> F + P <= 1 -> 0 <= F' -> 0 < P' -> F' + P' <= 1 ->
  (forall t, 0 <= t <= 1 -> f' (F + t * P) <= exp c * f' (F' + t * P')) ->
  (f (F + P) - f F) / P <= exp c * ((f (F' + P') - f F') / P').
Proof.
  intros D A B C A' B' C' H.
  set (h := fun t => exp c * (/ P' * f (F' + t * P')) - / P * f (F + t * P)).
  set (dh := fun t => exp c * f' (F' + t * P') - f' (F + t * P)).
  assert (I : 0 < / P) by now apply Rinv_0_lt_compat. assert (I' : 0 < / P') by now apply Rinv_0_lt_compat.
  assert (Dh : forall t, 0 <= t <= 1 -> is_derive h t (dh t)).
  { intros t T. unfold h, dh.
    assert (G : forall a b, 0 <= a -> 0 < b -> a + b <= 1 ->
      is_derive (fun t => f (a + t * b)) t (b * f' (a + t * b))).
    { intros a b Ha Hb Hab. apply (is_derive_comp f (fun t => a + t * b)); [apply D; nra|].
      auto_derive; [trivial | ring]. }
    replace (exp c * f' (F' + t * P') - f' (F + t * P))
      with (minus (exp c * (/ P' * (P' * f' (F' + t * P')))) (/ P * (P * f' (F + t * P)))).
    - apply @is_derive_minus; [apply is_derive_scal|]; apply is_derive_scal; apply G; assumption.
    - change (exp c * (/ P' * (P' * f' (F' + t * P'))) - / P * (P * f' (F + t * P))
              = exp c * f' (F' + t * P') - f' (F + t * P)). field. lra. }
  destruct (MVT_gen h 0 1 dh) as (t & T & E).
  - intros x X. rewrite Rmin_left, Rmax_right in X by lra. apply Dh; lra.
  - intros x X. rewrite Rmin_left, Rmax_right in X by lra.
    apply derivable_continuous_pt. exists (dh x). apply is_derive_Reals, Dh; lra.
  - rewrite Rmin_left, Rmax_right in T by lra. specialize (H t T). unfold dh in E. unfold h in E.
    rewrite !Rmult_1_l, !Rmult_0_l, !Rplus_0_r in E. unfold Rdiv. lra.
Qed.

Section Private.
Variables (n : nat) (value : nat -> R) (w p p' : nat -> R) (f' : R -> R) (eps c : R).
Hypotheses (w_nonneg : forall k, 0 <= w k) (w_total : is_series w 1)
  (slope : forall x, 0 <= x <= 1 -> is_derive (PSeries w) x (f' x))
  (ratio : forall u v, 0 <= u <= 1 -> 0 <= v <= 1 ->
     v <= exp eps * u -> 1 - u <= exp eps * (1 - v) -> f' v <= exp c * f' u)
  (c_nonneg : 0 <= c) (eps_nonneg : 0 <= eps) (P : is_law n p) (P' : is_law n p')
  (D : forall r, (r < n)%nat -> p r <= exp eps * p' r) (D' : forall r, (r < n)%nat -> p' r <= exp eps * p r).

Theorem best_of_pure_dp : pure_dp (S n) (best_of n value p w) (best_of n value p' w) (eps + c).
Proof.
  destruct P as [P0 P1]. destruct P' as [Q0 Q1].
  pose proof (exp_pos eps) as E0. pose proof (exp_pos c) as C0.
  assert (E1 : 1 <= exp (eps + c)) by (rewrite <- exp_0 at 1; apply exp_le; lra).
  apply pure_dp_pointwise. intros o O. destruct (Nat.eq_dec o n) as [->|No].
  { rewrite !best_of_none by assumption. specialize (w_nonneg 0%nat). nra. }
  assert (On : (o < n)%nat) by lia. clear O No.
  pose proof (winner_of_runs n value p P0 P1 w w_nonneg w_total o On) as W.
  pose proof (winner_of_runs n value p' Q0 Q1 w w_nonneg w_total o On) as W'. cbv zeta in W, W'.
  pose proof (best_of_is_law n value p' Q0 Q1 w w_nonneg w_total) as (L' & _).
  specialize (L' o ltac:(lia)).
  destruct (worse_equal n value p P0 P1 (value o)) as (A & B & C).
  destruct (worse_equal n value p' Q0 Q1 (value o)) as (A' & B' & C').
  set (F := worse n value p (value o)) in *. set (G := equal n value p (value o)) in *.
  set (F' := worse n value p' (value o)) in *. set (G' := equal n value p' (value o)) in *.
  pose proof (equal_own n value p P0 o On) as Own. fold G in Own. specialize (P0 o On) as Po.
  destruct (Req_dec (p o) 0) as [Z|Z].
  { replace (best_of n value p w o) with 0; [apply Rmult_le_pos; lra|]. unfold best_of. symmetry. apply series_zero.
    intros k. rewrite (kept_never n value p k o On Z). ring. }
  assert (Gp : 0 < G) by lra.
  assert (Equal : forall a b, (forall r, (r < n)%nat -> a r <= exp eps * b r) ->
    equal n value a (value o) <= exp eps * equal n value b (value o)).
  { intros a b H. unfold equal. rewrite <- sum_scal. apply sum_le. intros x X. apply in_candidates in X.
    destruct Req_EM_T; [now apply H | lra]. }
  assert (GG : G <= exp eps * G') by now apply Equal.
  assert (G'p : 0 < G') by nra.
  assert (FF : F <= exp eps * F').
  { unfold F, F', worse. rewrite <- sum_scal. apply sum_le. intros x X. apply in_candidates in X.
    destruct Rlt_dec; [now apply D | lra]. }
  assert (Rest : 1 - (F' + G') <= exp eps * (1 - (F + G))).
  { assert (T : forall q, sum (candidates n) q = 1 ->
      1 - (worse n value q (value o) + equal n value q (value o))
      = sum (candidates n) (fun x => if Rlt_dec (value o) (value x) then q x else 0)).
    { intros q Tq. rewrite <- Tq. unfold worse, equal. rewrite <- sum_plus.
      replace (sum (candidates n) q) with
        (sum (candidates n) (fun x => ((if Rlt_dec (value x) (value o) then q x else 0)
           + (if Req_EM_T (value x) (value o) then q x else 0))
           + (if Rlt_dec (value o) (value x) then q x else 0))).
      - rewrite sum_plus. ring.
      - apply sum_ext. intros x _. repeat (destruct Rlt_dec || destruct Req_EM_T; try lra). }
    unfold F, G, F', G'. rewrite !T by assumption. rewrite <- sum_scal.
    apply sum_le. intros x X. apply in_candidates in X. destruct Rlt_dec; [now apply D' | lra]. }
  pose proof (slopes_compare (PSeries w) f' c F G F' G' slope A Gp C A' G'p C') as S.
  assert (H : forall t, 0 <= t <= 1 -> f' (F + t * G) <= exp c * f' (F' + t * G')).
  { intros t T. apply ratio; [nra | nra | nra |].
    replace (1 - (F' + t * G')) with ((1 - (F' + G')) + (1 - t) * G') by ring.
    replace (exp eps * (1 - (F + t * G))) with (exp eps * (1 - (F + G)) + (1 - t) * (exp eps * G)) by ring.
    apply Rplus_le_compat; [exact Rest|]. apply Rmult_le_compat_l; [lra|].
    now apply Equal. }
  specialize (S H).
  assert (B1 : best_of n value p w o = p o * ((PSeries w (F + G) - PSeries w F) / G))
    by (apply (Rmult_eq_reg_l G); [rewrite W; field; lra | lra]).
  assert (B2 : best_of n value p' w o = p' o * ((PSeries w (F' + G') - PSeries w F') / G'))
    by (apply (Rmult_eq_reg_l G'); [rewrite W'; field; lra | lra]).
  set (x := (PSeries w (F + G) - PSeries w F) / G) in *.
  set (y := (PSeries w (F' + G') - PSeries w F') / G') in *.
  rewrite B1, B2, exp_plus. rewrite B2 in L'.
  pose proof (best_of_is_law n value p P0 P1 w w_nonneg w_total) as (L & _).
  specialize (L o ltac:(lia)). rewrite B1 in L.
  assert (0 <= x) by (apply (Rmult_le_reg_l (p o)); lra).
  replace (exp eps * exp c * (p' o * y)) with ((exp eps * p' o) * (exp c * y)) by ring.
  apply Rmult_le_compat; auto.
Qed.
End Private.

(** ** The truncated negative binomial law of shape eta: geometric for 1, logarithmic for 0 *)

Definition halting_number (gamma eta : R) (w : nat -> R) : Prop :=
  w 0%nat = 0 /\ 0 < w 1%nat /\ is_series w 1 /\
  forall k, (1 <= k)%nat -> w (S k) = w k * ((1 - gamma) * ((INR k + eta) / (INR k + 1))).

Section Halting.
Variables (gamma eta : R) (w : nat -> R).
Hypotheses (g_range : 0 < gamma < 1) (eta_range : -1 < eta) (number : halting_number gamma eta w).
Let q := 1 - gamma.
Let b := PS_derive w.

Lemma halting_pos k : 0 < w (S k).
Proof.
  destruct number as (_ & W1 & _ & R). induction k as [|k IH]; [exact W1|]. rewrite (R (S k)) by lia.
  apply Rmult_lt_0_compat; [exact IH|]. apply Rmult_lt_0_compat; [lra|].
  pose proof (pos_INR k). rewrite S_INR. apply Rdiv_lt_0_compat; lra.
Qed.

Lemma halting_nonneg k : 0 <= w k.
Proof. destruct k; [rewrite (proj1 number); lra | apply Rlt_le, halting_pos]. Qed.

Lemma b_pos k : 0 < b k.
Proof. unfold b, PS_derive. apply Rmult_lt_0_compat; [apply lt_0_INR; lia | apply halting_pos]. Qed.

Lemma b_next k : INR (S k) * b (S k) = q * (INR (S k) + eta) * b k.
Proof.
  destruct number as (_ & _ & _ & R). unfold b, PS_derive. rewrite (R (S k)) by lia. fold q.
  rewrite (S_INR (S k)). pose proof (pos_INR (S k)). field. lra.
Qed.

Lemma halting_radius : CV_radius b = Finite (/ q).
Proof.
  apply CV_radius_finite_DAlembert.
  - intros k. apply Rgt_not_eq, b_pos.
  - unfold q. lra.
  - apply (is_lim_seq_ext (fun k => q * (1 + eta * / INR (S k)))).
    + intros k. pose proof (b_pos k) as A. pose proof (b_next k) as E.
      assert (K : 0 < INR (S k)) by (apply lt_0_INR; lia).
      rewrite Rabs_right by (apply Rle_ge, Rlt_le, Rdiv_lt_0_compat; apply b_pos).
      apply (Rmult_eq_reg_r (INR (S k) * b k)); [|apply Rgt_not_eq, Rmult_lt_0_compat; assumption].
      transitivity (q * (INR (S k) + eta) * b k); [field; lra|]. rewrite <- E. field. lra.
    + replace (Finite q) with (Finite (q * (1 + eta * 0))) by (f_equal; ring).
      apply (is_lim_seq_scal_l _ q (Finite (1 + eta * 0))).
      apply is_lim_seq_plus'; [apply is_lim_seq_const|].
      apply (is_lim_seq_scal_l _ eta (Finite 0)).
      apply (is_lim_seq_incr_1 (fun k => / INR k)).
      apply (is_lim_seq_inv INR p_infty is_lim_seq_INR). discriminate.
Qed.

Lemma inside x : 0 <= x <= 1 -> Rbar_lt (Finite (Rabs x)) (CV_radius b).
Proof.
  intros X. rewrite halting_radius. simpl. rewrite Rabs_right by lra.
  apply Rle_lt_trans with 1; [lra|]. rewrite <- Rinv_1 at 1. apply Rinv_lt_contravar; unfold q; lra.
Qed.

Lemma halting_equation x : 0 <= x <= 1 ->
  (1 - q * x) * PSeries (PS_derive b) x = q * (1 + eta) * PSeries b x.
Proof.
  intros X. pose proof (inside x X) as I.
  assert (E : PSeries (PS_derive b) x
    = PSeries (PS_plus (PS_scal q (PS_incr_1 (PS_derive b))) (PS_scal (q * (1 + eta)) b)) x).
  { apply PSeries_ext. intros k. unfold PS_derive at 1, PS_plus, PS_scal, PS_incr_1. rewrite b_next.
    destruct k as [|k].
    - change (q * (INR 1 + eta) * b 0 = q * 0 + q * (1 + eta) * b 0). simpl. ring.
    - change (q * (INR (S (S k)) + eta) * b (S k) = q * (INR (S k) * b (S k)) + q * (1 + eta) * b (S k)).
      rewrite (S_INR (S k)). ring. }
  assert (X1 : ex_pseries (PS_derive b) x).
  { apply CV_radius_inside. now rewrite CV_radius_derive. }
  assert (X2 : ex_pseries b x) by now apply CV_radius_inside.
  rewrite PSeries_plus, !PSeries_scal, PSeries_incr_1 in E.
  - set (y := PSeries (PS_derive b) x) in *. lra.
  - apply ex_pseries_scal; [apply Rmult_comm|]. now apply ex_pseries_incr_1.
  - apply ex_pseries_scal; [apply Rmult_comm | exact X2].
Qed.

Lemma halting_generating x : 0 <= x <= 1 ->
  PSeries b x = w 1%nat * exp (- ((1 + eta) * ln gamma)) * halting_slope gamma eta x.
Proof.
  intros X. set (h := fun x => PSeries b x * exp ((1 + eta) * ln (1 - q * x))).
  assert (Hz : h 0 = w 1%nat).
  { unfold h. rewrite PSeries_0, Rmult_0_r, Rminus_0_r, ln_1, Rmult_0_r, exp_0.
    unfold b, PS_derive. simpl. ring. }
  assert (Left : forall y, 0 <= y <= 1 -> 0 < 1 - q * y) by (intros y Y; unfold q; nra).
  assert (K : h x = h 0).
  { destruct (Req_dec x 0) as [->|Nx]; [reflexivity|]. symmetry. apply eq_is_derive; [|lra].
    intros y Y. assert (Yr : 0 <= y <= 1) by lra. unfold h.
    pose proof (is_derive_PSeries b y (inside y Yr)) as D1.
    assert (D2 : is_derive (fun x => exp ((1 + eta) * ln (1 - q * x))) y
      (- (q * (1 + eta) / (1 - q * y)) * exp ((1 + eta) * ln (1 - q * y)))).
    { specialize (Left y Yr). auto_derive; [lra|]. unfold Rminus. field. lra. }
    pose proof (is_derive_mult _ _ _ _ _ D1 D2 Rmult_comm) as D3.
    evar_last; [exact D3|].
    change (PSeries (PS_derive b) y * exp ((1 + eta) * ln (1 - q * y))
      + PSeries b y * (- (q * (1 + eta) / (1 - q * y)) * exp ((1 + eta) * ln (1 - q * y))) = 0).
    specialize (Left y Yr).
    apply (Rmult_eq_reg_l (1 - q * y)); [|lra]. rewrite Rmult_0_r.
    replace ((1 - q * y) * (PSeries (PS_derive b) y * exp ((1 + eta) * ln (1 - q * y))
      + PSeries b y * (- (q * (1 + eta) / (1 - q * y)) * exp ((1 + eta) * ln (1 - q * y)))))
      with (exp ((1 + eta) * ln (1 - q * y))
            * ((1 - q * y) * PSeries (PS_derive b) y - q * (1 + eta) * PSeries b y)) by (field; lra).
    rewrite (halting_equation y Yr). ring. }
  specialize (Left x X). unfold halting_slope. fold q. rewrite ln_div by lra.
  rewrite <- Hz, <- K. unfold h. rewrite !Rmult_assoc, <- !exp_plus.
  replace ((1 + eta) * ln (1 - q * x) + (- ((1 + eta) * ln gamma) + (1 + eta) * (ln gamma - ln (1 - q * x))))
    with 0 by ring.
  rewrite exp_0. ring.
Qed.

Theorem halting_runs_pure_dp eps n value p p' : 0 <= eps -> is_law n p -> is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) -> (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (best_of n value p w) (best_of n value p' w) (cost_of_halting eps gamma eta).
Proof.
  intros E P P' D D'. set (mean := w 1%nat * exp (- ((1 + eta) * ln gamma))).
  assert (M : 0 <= mean) by (apply Rmult_le_pos; [apply halting_nonneg | apply Rlt_le, exp_pos]).
  apply (best_of_pure_dp n value w p p' (fun x => mean * halting_slope gamma eta x)); auto using halting_nonneg.
  - apply number.
  - intros x X. unfold mean. rewrite <- halting_generating by exact X. apply is_derive_PSeries.
    rewrite <- CV_radius_derive. now apply inside.
  - intros u v U V A B.
    pose proof (halting_slope_ratio eps gamma eta u v E ltac:(lra) eta_range U V A B) as R.
    apply (Rmult_le_compat_l mean) in R; [|exact M]. lra.
  - apply Rmult_le_pos; [lra|].
    assert (E1 : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
    rewrite <- ln_1. apply ln_le_inv'; [lra|].
    apply Rmult_le_reg_r with (1 + gamma * exp eps); [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra.
Qed.
End Halting.

(** The geometric law is a special case. *)
Theorem geometric_number gamma : 0 < gamma < 1 ->
  halting_number gamma 1 (fun k => match k with O => 0 | S k => gamma * (1 - gamma) ^ k end).
Proof.
  intros G. split; [reflexivity|]. split; [simpl; lra|]. split.
  - assert (H : is_series (fun k => gamma * (1 - gamma) ^ k) (gamma * / (1 - (1 - gamma)))).
    { apply (is_series_scal_l gamma (fun k => (1 - gamma) ^ k)). apply is_series_geom. rewrite Rabs_right; lra. }
    apply is_series_decr_1. evar_last; [exact H|].
    change (gamma * / (1 - (1 - gamma)) = 1 + - 0). field. lra.
  - intros [|k] K; [lia|]. cbn [pow]. pose proof (pos_INR (S k)). field. lra.
Qed.

(** ** A Poisson number of runs *)

Definition poisson_number (mu : R) (k : nat) : R := exp (- mu) * mu ^ k / INR (fact k).

Lemma poisson_generating mu x : is_series (fun k => poisson_number mu k * x ^ k) (exp (mu * (x - 1))).
Proof.
  replace (exp (mu * (x - 1))) with (exp (- mu) * exp (mu * x)) by (rewrite <- exp_plus; f_equal; ring).
  apply (is_series_ext (fun k => exp (- mu) * ((mu * x) ^ k * / INR (fact k)))).
  - intros k. unfold poisson_number. rewrite Rpow_mult_distr.
    change (exp (- mu) * (mu ^ k * x ^ k * / INR (fact k)) = exp (- mu) * mu ^ k / INR (fact k) * x ^ k :> R).
    unfold Rdiv. ring.
  - apply (is_series_scal_l (exp (- mu)) (fun k => (mu * x) ^ k * / INR (fact k))).
    pose proof (is_exp_Reals (mu * x)) as H. unfold is_pseries in H.
    eapply is_series_ext; [|exact H]. intros k. rewrite pow_n_pow. reflexivity.
Qed.

Theorem poisson_runs_pure_dp eps mu n value p p' : 0 <= eps -> 0 <= mu -> is_law n p -> is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) -> (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (best_of n value p (poisson_number mu)) (best_of n value p' (poisson_number mu))
    (cost_of_poisson eps mu).
Proof.
  intros E M P P' D D'.
  assert (E1 : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  apply (best_of_pure_dp n value (poisson_number mu) p p' (fun x => mu * exp (mu * (x - 1)))); auto.
  - intros k. unfold poisson_number. apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rlt_le, exp_pos | now apply pow_le]|].
    apply Rlt_le, Rinv_0_lt_compat, INR_fact_lt_0.
  - pose proof (poisson_generating mu 1) as H. rewrite Rminus_diag_eq, Rmult_0_r, exp_0 in H by reflexivity.
    apply (is_series_ext (fun k => poisson_number mu k * 1 ^ k)); [|exact H].
    intros k. rewrite pow1. apply Rmult_1_r.
  - intros x X. apply (is_derive_ext (fun x => exp (mu * (x - 1)))).
    + intros y. symmetry. apply is_series_unique, poisson_generating.
    + auto_derive; [trivial|]. unfold Rminus. ring.
  - intros u v U V A B. pose proof (poisson_gap eps u v E U V A B) as Q.
    assert (X : exp (mu * (v - 1)) <= exp (mu * ((exp eps - 1) / (exp eps + 1))) * exp (mu * (u - 1))).
    { rewrite <- exp_plus. apply exp_le. rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; lra. }
    apply (Rmult_le_compat_l mu) in X; lra.
  - apply Rmult_le_pos; [lra|]. unfold Rdiv. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; lra.
Qed.

(** ** A known number of runs *)

Lemma after_monotone n value p k psi psi' : (forall x, (x < n)%nat -> 0 <= p x) -> (forall s, psi s <= psi' s) ->
  after n value p k psi <= after n value p k psi'.
Proof.
  intros P H. apply Rminus_le.
  replace (after n value p k psi - after n value p k psi') with (- after n value p k (fun s => 1 * psi' s + (-1) * psi s))
    by (rewrite after_linear; ring).
  enough (0 <= after n value p k (fun s => 1 * psi' s + -1 * psi s)) by lra.
  apply after_nonneg; [exact P|]. intros s. specialize (H s). lra.
Qed.

Theorem fixed_runs_pure_dp eps k n value p p' : is_law n p -> is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) ->
  pure_dp (S n) (fun o => after n value p k (answered n o)) (fun o => after n value p' k (answered n o)) (INR k * eps).
Proof.
  intros [P _] [P' _] D. apply pure_dp_pointwise. intros o _.
  assert (G : forall psi, (forall s, 0 <= psi s) -> after n value p k psi <= exp (INR k * eps) * after n value p' k psi).
  { clear o. induction k as [|k IH]; intros psi H; [simpl; rewrite Rmult_0_l, exp_0; lra|].
    cbn [after]. eapply Rle_trans; [apply IH|].
    - intros s. apply sum_nonneg. intros x X. apply in_candidates in X. apply Rmult_le_pos; [now apply P | now apply next_nonneg].
    - rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. rewrite <- after_scal.
      apply after_monotone; [exact P'|]. intros s. rewrite <- sum_scal. apply sum_le. intros x X.
      apply in_candidates in X. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [now apply next_nonneg | now apply D]. }
  apply G. intros [[y j]|]; simpl; destruct Nat.eqb; lra.
Qed.

(** ** The first run to reach a target *)

Section Target.
Variables (n : nat) (reaches : nat -> bool) (gamma : R).
Hypothesis g_range : 0 < gamma < 1.

Section Search.
Variable p : nat -> R.

(** The expectation of psi of the answer of a search that ends within k runs. After a run that does not reach
    the target, the search stops with chance gamma and answers "none". *)
Fixpoint searched (k : nat) (psi : option nat -> R) : R :=
  match k with
  | O => 0
  | S k => sum (candidates n) (fun x => p x *
             if reaches x then psi (Some x) else gamma * psi None + (1 - gamma) * searched k psi)
  end.

Definition replied (o : nat) (found : option nat) : R :=
  match found with Some x => if (x =? o)%nat then 1 else 0 | None => if (o =? n)%nat then 1 else 0 end.

(** The chance of the answer o, which is n for "none". *)
Definition first_of (o : nat) : R := real (Lim_seq (fun k => searched k (replied o))).

Definition success : R := sum (candidates n) (fun x => if reaches x then p x else 0).

Hypotheses (p_law : is_law n p).

Lemma success_range : 0 <= success <= 1.
Proof.
  destruct p_law as [P T]. split.
  - apply sum_nonneg. intros x X. apply in_candidates in X. destruct (reaches x); [now apply P | lra].
  - rewrite <- T. apply sum_le. intros x X. apply in_candidates in X. specialize (P x X). destruct (reaches x); lra.
Qed.

Let once psi := sum (candidates n) (fun x => if reaches x then p x * psi (Some x) else 0)
  + (1 - success) * (gamma * psi None).

Lemma searched_next k psi : searched (S k) psi = once psi + (1 - success) * (1 - gamma) * searched k psi.
Proof.
  cbn [searched]. unfold once.
  transitivity (sum (candidates n) (fun x => (if reaches x then p x * psi (Some x) else 0)
    + (gamma * psi None + (1 - gamma) * searched k psi) * (p x + (-1) * (if reaches x then p x else 0)))).
  - apply sum_ext. intros x _. destruct (reaches x); ring.
  - rewrite sum_plus, sum_scal, sum_plus, sum_scal. fold success. rewrite (proj2 p_law). ring.
Qed.

Lemma searched_limit psi : is_lim_seq (fun k => searched k psi) (once psi / (gamma + (1 - gamma) * success)).
Proof.
  pose proof success_range as S. set (r := (1 - success) * (1 - gamma)).
  assert (R : 0 <= r < 1) by (unfold r; nra).
  assert (E : forall k, searched k psi = once psi * ((1 - r ^ k) / (1 - r))).
  { induction k as [|k IH]; [simpl; field; lra|]. rewrite searched_next, IH. fold r. simpl. field. lra. }
  apply (is_lim_seq_ext (fun k => once psi * ((1 - r ^ k) / (1 - r)))); [intros; now rewrite E|].
  replace (once psi / (gamma + (1 - gamma) * success)) with (once psi * ((1 - 0) / (1 - r)))
    by (unfold r; field; nra).
  apply (is_lim_seq_scal_l _ (once psi) (Finite ((1 - 0) / (1 - r)))).
  apply (is_lim_seq_scal_r _ (/ (1 - r)) (Finite (1 - 0))).
  apply is_lim_seq_minus'; [apply is_lim_seq_const | apply is_lim_seq_geom; rewrite Rabs_right; lra].
Qed.

Lemma first_of_is o : is_lim_seq (fun k => searched k (replied o)) (first_of o).
Proof. unfold first_of. rewrite (is_lim_seq_unique _ _ (searched_limit (replied o))). apply searched_limit. Qed.

Lemma first_of_run o : (o < n)%nat ->
  first_of o = (if reaches o then p o else 0) / (gamma + (1 - gamma) * success).
Proof.
  intros O. unfold first_of. rewrite (is_lim_seq_unique _ _ (searched_limit (replied o))). cbn [real]. f_equal.
  unfold once, replied. destruct (Nat.eqb_spec o n); [lia|].
  rewrite <- (sum_pick n o (fun x => if reaches x then p x else 0) O), Rmult_0_r, Rmult_0_r, Rplus_0_r.
  apply sum_ext. intros x _. destruct (x =? o)%nat, (reaches x); ring.
Qed.

Lemma first_of_none : first_of n = gamma * (1 - success) / (gamma + (1 - gamma) * success).
Proof.
  unfold first_of. rewrite (is_lim_seq_unique _ _ (searched_limit (replied n))). cbn [real]. f_equal.
  unfold once, replied. rewrite Nat.eqb_refl.
  rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring|]. intros x X. apply in_candidates in X.
  destruct (Nat.eqb_spec x n); [lia|]. destruct (reaches x); ring.
Qed.
End Search.

Theorem target_pure_dp eps p p' : 0 <= eps -> is_law n p -> is_law n p' ->
  (forall r, (r < n)%nat -> p r <= exp eps * p' r) -> (forall r, (r < n)%nat -> p' r <= exp eps * p r) ->
  pure_dp (S n) (first_of p) (first_of p') (cost_of_halting eps gamma 0).
Proof.
  intros E L L' D D'. destruct (success_range p L) as [S0 S1]. destruct (success_range p' L') as [T0 T1].
  pose proof (proj1 L) as P. pose proof (proj1 L') as P'. pose proof (proj2 L) as T. pose proof (proj2 L') as T'.
  assert (E1 : 1 <= exp eps) by (rewrite <- exp_0; apply exp_le; lra).
  assert (S : success p' <= exp eps * success p).
  { unfold success. rewrite <- sum_scal. apply sum_le. intros x X. apply in_candidates in X.
    destruct (reaches x); [now apply D' | lra]. }
  assert (F : 1 - success p <= exp eps * (1 - success p')).
  { assert (G : forall q, sum (candidates n) q = 1 ->
      1 - success q = sum (candidates n) (fun x => if reaches x then 0 else q x)).
    { intros q Tq. rewrite <- Tq. unfold success.
      replace (sum (candidates n) q) with (sum (candidates n)
        (fun x => (if reaches x then q x else 0) + (if reaches x then 0 else q x))).
      - rewrite sum_plus. ring.
      - apply sum_ext. intros x _. destruct (reaches x); ring. }
    rewrite !G by assumption. rewrite <- sum_scal. apply sum_le. intros x X. apply in_candidates in X.
    destruct (reaches x); [lra | now apply D]. }
  set (a := gamma + (1 - gamma) * success p). set (a' := gamma + (1 - gamma) * success p').
  assert (A : 0 < a) by (unfold a; nra). assert (A' : 0 < a') by (unfold a'; nra).
  pose proof (halting_ratio eps gamma (1 - success p') (1 - success p) E ltac:(lra) ltac:(lra) ltac:(lra) F ltac:(lra)) as R.
  replace (1 - (1 - gamma) * (1 - success p')) with a' in R by (unfold a'; ring).
  replace (1 - (1 - gamma) * (1 - success p)) with a in R by (unfold a; ring).
  assert (K : exp (cost_of_halting eps gamma 0) = exp eps * ((exp eps + gamma) / (1 + gamma * exp eps))).
  { unfold cost_of_halting. rewrite exp_plus, Rplus_0_r, Rmult_1_l, exp_ln; [reflexivity|].
    apply Rdiv_lt_0_compat; nra. }
  assert (Use : forall x x', 0 <= x' -> x <= exp eps * x' -> x / a <= exp (cost_of_halting eps gamma 0) * (x' / a')).
  { intros x x' X' X. rewrite K. apply (Rmult_le_reg_r (a * (a' * (1 + gamma * exp eps)))); [repeat apply Rmult_lt_0_compat; nra|].
    replace (x / a * (a * (a' * (1 + gamma * exp eps)))) with (x * (a' * (1 + gamma * exp eps))) by (field; lra).
    replace (exp eps * ((exp eps + gamma) / (1 + gamma * exp eps)) * (x' / a') * (a * (a' * (1 + gamma * exp eps))))
      with (exp eps * x' * ((exp eps + gamma) * a)) by (field; split; nra).
    apply Rle_trans with (exp eps * x' * (a' * (1 + gamma * exp eps))).
    - apply Rmult_le_compat_r; [apply Rmult_le_pos; nra | exact X].
    - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact R]. }
  apply pure_dp_pointwise. intros o O. destruct (Nat.eq_dec o n) as [->|No].
  - rewrite !first_of_none by assumption. apply Use; [nra|].
    replace (exp eps * (gamma * (1 - success p'))) with (gamma * (exp eps * (1 - success p'))) by ring.
    apply Rmult_le_compat_l; lra.
  - assert (On : (o < n)%nat) by lia. rewrite !first_of_run by assumption.
    specialize (P' o On). specialize (D o On). apply Use; destruct (reaches o); lra.
Qed.
End Target.
