(** Programs that draw bits, and the law of what they return.

    A program returns, or draws a bit and continues, or continues without one. [mass n p f] is the expectation
    of [f] over the runs that return within [n] steps; the law of a program is its limit. So "the program
    returns r with probability x" is [has_law p (indicator of r) x], and "it ends with probability one" is
    [has_law p (fun _ => 1) 1]. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Machine.
Import ListNotations.
Open Scope R_scope.

CoInductive program (A : Type) : Type :=
| Return (a : A)
| Draw (k : bool -> program A)
| Later (p : program A).
Arguments Return {A} a.
Arguments Draw {A} k.
Arguments Later {A} p.

Fixpoint mass {A} (n : nat) (p : program A) (f : A -> R) : R :=
  match p, n with
  | Return a, _ => f a
  | _, O => 0
  | Draw k, S n => fair * mass n (k true) f + (1 - fair) * mass n (k false) f
  | Later p, S n => mass n p f
  end.

Definition has_law {A} (p : program A) (f : A -> R) (x : R) : Prop :=
  is_lim_seq (fun n => mass n p f) x.

CoFixpoint bind {A B} (p : program A) (k : A -> program B) : program B :=
  match p with
  | Return a => k a
  | Draw g => Draw (fun b => bind (g b) k)
  | Later p => Later (bind p k)
  end.

(** Repeat [body] until it returns [inr]; [inl] is the state to continue with. *)
CoFixpoint resume {S A} (body : S -> program (S + A)) (p : program (S + A)) : program A :=
  match p with
  | Return (inr a) => Return a
  | Return (inl s) => Later (resume body (body s))
  | Draw k => Draw (fun b => resume body (k b))
  | Later p => Later (resume body p)
  end.

Definition iterate {S A} (body : S -> program (S + A)) (s : S) : program A :=
  resume body (body s).

(** ** Mass *)

Lemma fair_value : fair = 1 / 2.
Proof. reflexivity. Qed.

Lemma mass_nonneg {A} n (p : program A) f : (forall a, 0 <= f a) -> 0 <= mass n p f.
Proof.
  intros F. revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto; try lra.
  rewrite fair_value. pose proof (IH (k true)). pose proof (IH (k false)). lra.
Qed.

Lemma mass_le {A} n (p : program A) f g :
  (forall a, f a <= g a) -> mass n p f <= mass n p g.
Proof.
  intros F. revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto; try lra.
  rewrite fair_value. pose proof (IH (k true)). pose proof (IH (k false)). lra.
Qed.

Lemma mass_ext {A} n (p : program A) f g :
  (forall a, f a = g a) -> mass n p f = mass n p g.
Proof. intros F. apply Rle_antisym; apply mass_le; intros a; rewrite F; lra. Qed.

Lemma mass_draw {A} n (k : bool -> program A) f :
  mass (S n) (Draw k) f = 1 / 2 * mass n (k true) f + 1 / 2 * mass n (k false) f.
Proof. cbn. rewrite fair_value. lra. Qed.

Lemma mass_later {A} n (p : program A) f : mass (S n) (Later p) f = mass n p f.
Proof. reflexivity. Qed.

Lemma mass_return {A} n (a : A) f : mass n (Return a) f = f a.
Proof. now destruct n. Qed.

Lemma mass_grows {A} n (p : program A) f :
  (forall a, 0 <= f a) -> mass n p f <= mass (S n) p f.
Proof.
  intros F. revert p. induction n as [|n IH]; intros [a|k|p];
    rewrite ?mass_return, ?mass_draw, ?mass_later; try lra.
  - change (mass 0 (Draw k) f) with 0.
    pose proof (mass_nonneg 0 (k true) f F). pose proof (mass_nonneg 0 (k false) f F). lra.
  - change (mass 0 (Later p) f) with 0. now apply mass_nonneg.
  - pose proof (IH (k true)). pose proof (IH (k false)). lra.
  - apply IH.
Qed.

Lemma mass_grows_to {A} n m (p : program A) f :
  (forall a, 0 <= f a) -> (n <= m)%nat -> mass n p f <= mass m p f.
Proof.
  intros F. induction 1 as [|m _ IH]; [lra|].
  eapply Rle_trans; [exact IH | now apply mass_grows].
Qed.

Lemma mass_plus {A} n (p : program A) f g :
  mass n p (fun a => f a + g a) = mass n p f + mass n p g.
Proof.
  revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto; try lra.
  rewrite !IH. ring.
Qed.

Lemma mass_scal {A} n (p : program A) c f :
  mass n p (fun a => c * f a) = c * mass n p f.
Proof.
  revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto; try lra.
  rewrite !IH. ring.
Qed.

Lemma mass_le_const {A} n (p : program A) f M : 0 <= M ->
  (forall a, f a <= M) -> mass n p f <= M.
Proof.
  intros M0 F. revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto.
  rewrite fair_value. pose proof (IH (k true)). pose proof (IH (k false)). lra.
Qed.

Lemma mass_limit {A} n (p : program A) (g : nat -> A -> R) (L : A -> R) :
  (forall a, is_lim_seq (fun m => g m a) (L a)) ->
  is_lim_seq (fun m => mass n p (g m)) (mass n p L).
Proof.
  intros G. revert p. induction n as [|n IH]; intros [a|k|p]; simpl; auto;
    try apply is_lim_seq_const.
  apply (is_lim_seq_plus' (fun m => fair * mass n (k true) (g m))
           (fun m => (1 - fair) * mass n (k false) (g m))).
  - apply (is_lim_seq_scal_l (fun m => mass n (k true) (g m)) fair (mass n (k true) L)), IH.
  - apply (is_lim_seq_scal_l (fun m => mass n (k false) (g m)) (1 - fair)
             (mass n (k false) L)), IH.
Qed.

(** ** Laws *)

Lemma law_above {A} (p : program A) f x n :
  (forall a, 0 <= f a) -> has_law p f x -> mass n p f <= x.
Proof.
  intros F H. apply (is_lim_seq_incr_compare (fun n => mass n p f) x H).
  intros m. now apply mass_grows.
Qed.

Lemma law_unique {A} (p : program A) f x y : has_law p f x -> has_law p f y -> x = y.
Proof.
  intros H H'. apply is_lim_seq_unique in H. apply is_lim_seq_unique in H'.
  rewrite H in H'. now injection H'.
Qed.

Lemma law_ext {A} (p : program A) f g x :
  (forall a, f a = g a) -> has_law p f x -> has_law p g x.
Proof.
  intros E. apply is_lim_seq_ext. intros n. now apply mass_ext.
Qed.

Lemma law_return {A} (a : A) f : has_law (Return a) f (f a).
Proof.
  apply (is_lim_seq_ext (fun _ => f a)); [intros [|n]; reflexivity|].
  apply is_lim_seq_const.
Qed.

Lemma law_later {A} (p : program A) f x : has_law p f x -> has_law (Later p) f x.
Proof.
  intros H. apply is_lim_seq_incr_1.
  apply (is_lim_seq_ext (fun n => mass n p f)); [reflexivity | exact H].
Qed.

Lemma law_draw {A} (k : bool -> program A) f x y :
  has_law (k true) f x -> has_law (k false) f y -> has_law (Draw k) f ((x + y) / 2).
Proof.
  intros H H'. apply is_lim_seq_incr_1.
  replace ((x + y) / 2) with (fair * x + (1 - fair) * y) by (rewrite fair_value; field).
  apply (is_lim_seq_plus' (fun n => fair * mass n (k true) f)
           (fun n => (1 - fair) * mass n (k false) f)).
  - apply (is_lim_seq_scal_l (fun n => mass n (k true) f) fair x), H.
  - apply (is_lim_seq_scal_l (fun n => mass n (k false) f) (1 - fair) y), H'.
Qed.

Lemma law_plus {A} (p : program A) f g x y :
  has_law p f x -> has_law p g y -> has_law p (fun a => f a + g a) (x + y).
Proof.
  intros H H'. apply (is_lim_seq_ext (fun n => mass n p f + mass n p g)).
  - intros n. symmetry. apply mass_plus.
  - now apply is_lim_seq_plus'.
Qed.

Lemma law_scal {A} (p : program A) c f x :
  has_law p f x -> has_law p (fun a => c * f a) (c * x).
Proof.
  intros H. apply (is_lim_seq_ext (fun n => c * mass n p f)).
  - intros n. symmetry. apply mass_scal.
  - apply (is_lim_seq_scal_l (fun n => mass n p f) c x), H.
Qed.

(** Bounds that converge determine a law. *)
Lemma law_sandwich {A} (p : program A) f x :
  (forall n, mass n p f <= x) -> (forall e, 0 < e -> exists n, x - e <= mass n p f) ->
  (forall a, 0 <= f a) -> has_law p f x.
Proof.
  intros U L F. apply is_lim_seq_spec. intros [e He]. simpl.
  destruct (L (e / 2) ltac:(lra)) as [n N]. exists n. intros m Hm.
  pose proof (mass_grows_to n m p f F Hm). pose proof (U m).
  apply Rabs_def1; lra.
Qed.

(** ** One program after another *)

Lemma mass_bind_le {A B} n (p : program A) (k : A -> program B) f (L : A -> R) :
  (forall a, 0 <= L a) -> (forall m a, mass m (k a) f <= L a) ->
  mass n (bind p k) f <= mass n p L.
Proof.
  intros L0 H. revert p. induction n as [|n IH]; intros [a|g|p]; cbn.
  - specialize (H O a). destruct (k a); exact H.
  - lra.
  - lra.
  - specialize (H (S n) a). destruct (k a); exact H.
  - rewrite fair_value. pose proof (IH (g true)). pose proof (IH (g false)). lra.
  - apply IH.
Qed.

Lemma mass_bind_ge {A B} n m (p : program A) (k : A -> program B) f :
  (forall b, 0 <= f b) ->
  mass n p (fun a => mass m (k a) f) <= mass (n + m) (bind p k) f.
Proof.
  intros F. revert p. induction n as [|n IH]; intros [a|g|p].
  - assert (E : mass (0 + m) (bind (Return a) k) f = mass m (k a) f)
      by (destruct m; cbn; destruct (k a); reflexivity).
    rewrite E. cbn. lra.
  - cbn [mass]. now apply mass_nonneg.
  - cbn [mass]. now apply mass_nonneg.
  - assert (E : mass (S n + m) (bind (Return a) k) f = mass (S n + m) (k a) f)
      by (cbn; destruct (k a); reflexivity).
    rewrite E. cbn [mass]. apply mass_grows_to; [exact F | lia].
  - cbn. rewrite fair_value. pose proof (IH (g true)). pose proof (IH (g false)). lra.
  - cbn. apply IH.
Qed.

Theorem law_bind {A B} (p : program A) (k : A -> program B) f (L : A -> R) x :
  (forall b, 0 <= f b) -> (forall a, has_law (k a) f (L a)) -> has_law p L x ->
  has_law (bind p k) f x.
Proof.
  intros F K P.
  assert (L0 : forall a, 0 <= L a).
  { intros a. eapply Rle_trans; [|apply (law_above (k a) f (L a) 0 F (K a))].
    now apply mass_nonneg. }
  apply law_sandwich; [| |exact F].
  - intros n. eapply Rle_trans; [|apply (law_above p L x n L0 P)].
    apply mass_bind_le; [exact L0|]. intros m a. now apply law_above.
  - intros e He.
    destruct (proj2 (is_lim_seq_spec _ _) P (mkposreal (e / 2) ltac:(lra))) as [n N].
    specialize (N n (le_n n)). simpl in N. apply Rabs_def2 in N.
    destruct (proj2 (is_lim_seq_spec _ _)
      (mass_limit n p (fun m a => mass m (k a) f) L K) (mkposreal (e / 2) ltac:(lra)))
      as [m M].
    specialize (M m (le_n m)). simpl in M. apply Rabs_def2 in M.
    exists (n + m)%nat. pose proof (mass_bind_ge n m p k f F). lra.
Qed.

(** ** Repetition *)

Lemma mass_resume {S A} n (body : S -> program (S + A)) p f :
  mass n (resume body p) f = mass n (bind p (fun r =>
    match r with inr a => Return a | inl s => Later (iterate body s) end)) f.
Proof.
  revert p. induction n as [|n IH]; intros [[s|a]|k|p]; cbn; auto.
  now rewrite !IH.
Qed.

(** Independent rounds until one is kept: the law of a round, given that it is kept. *)
Theorem law_reject {A} (body : program (unit + A)) f M x rho :
  (forall a, 0 <= f a <= M) ->
  has_law body (fun r => match r with inr a => f a | inl _ => 0 end) x ->
  has_law body (fun r => match r with inr _ => 0 | inl _ => 1 end) rho ->
  rho < 1 -> has_law (iterate (fun _ => body) tt) f (x / (1 - rho)).
Proof.
  intros F X R R1.
  set (again := iterate (fun _ : unit => body) tt).
  assert (F0 : forall a, 0 <= f a) by (intros a; apply F).
  assert (E : ex_finite_lim_seq (fun n => mass n again f)).
  { apply (ex_finite_lim_seq_incr _ (Rabs M)).
    - intros n. now apply mass_grows.
    - intros n. apply mass_le_const; [apply Rabs_pos|]. intros a.
      apply Rle_trans with M; [apply F | apply Rle_abs]. }
  destruct E as [y Y].
  assert (B : has_law again f (x + y * rho)).
  { apply (is_lim_seq_ext (fun n => mass n (bind body (fun r =>
      match r with inr a => Return a | inl s => Later (iterate (fun _ => body) s) end)) f)).
    { intros n. symmetry. apply mass_resume. }
    apply (law_bind body _ f (fun r => match r with inr a => f a | inl _ => y end)).
    - exact F0.
    - intros [[]|a]; [now apply law_later | apply law_return].
    - apply (law_ext body (fun r => match r with inr a => f a | inl _ => 0 end
                          + y * match r with inr _ => 0 | inl _ => 1 end)).
      + intros [[]|a]; ring.
      + apply law_plus; [exact X | now apply law_scal]. }
  pose proof (law_unique _ _ _ _ Y B) as U.
  replace (x / (1 - rho)) with y; [exact Y|].
  apply (Rmult_eq_reg_r (1 - rho)); [|lra].
  replace (x / (1 - rho) * (1 - rho)) with x by (field; lra). lra.
Qed.
