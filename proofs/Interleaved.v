(** docs/proofs/composition.md, "Interleaved": mechanisms that stay open and answer in turns.

    Mechanism i is a function of transcripts: [f i t] is the chance of its own answers t, each with the
    question that it answers. The mechanisms' noise is independent. The next question, and the mechanism that
    it goes to, may depend on all answers. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism PureDP Divergences.
Import ListNotations.
Open Scope R_scope.

Section Interleaved.
Context {Question Answer : Type}.

(** One mechanism gives every transcript a chance; the chances of the next answers add up to the chance of the
    transcript so far. *)
Definition interactive (f : list (Question * Answer) -> R) : Prop :=
  f [] = 1 /\ (forall t, 0 <= f t) /\ forall t x,
  (forall answers, NoDup answers -> sum answers (fun a => f (t ++ [(x, a)])) <= f t) /\
  forall missing, 0 < missing ->
    exists answers, NoDup answers /\ f t - missing <= sum answers (fun a => f (t ++ [(x, a)])).

Definition entry : Type := nat * (Question * Answer).

(** The questions to mechanism i, with its answers. *)
Definition own (i : nat) (t : list entry) : list (Question * Answer) :=
  map snd (filter (fun e => (fst e =? i)%nat) t).

Variable asks : list entry -> nat * Question.

(** The chance of the answer a in the next step, from the mechanism that is asked, given its earlier answers.
    *)
Definition step (f : nat -> list (Question * Answer) -> R) (h : list entry) (a : Answer) : R :=
  let (i, x) := asks h in f i (own i h ++ [(x, a)]) / f i (own i h).

(** The chance of the answers t, after the answers h. *)
Fixpoint interleaved (f : nat -> list (Question * Answer) -> R) (h : list entry) (t : list Answer) : R :=
  match t with
  | [] => 1
  | a :: t => step f h a * interleaved f (h ++ [(fst (asks h), (snd (asks h), a))]) t
  end.

(** Everything known once t is answered. *)
Fixpoint known (h : list entry) (t : list Answer) : list entry :=
  match t with
  | [] => h
  | a :: t => known (h ++ [(fst (asks h), (snd (asks h), a))]) t
  end.

Definition opened (t : list entry) : list nat := nodup Nat.eq_dec (map fst t).

Lemma own_next i h j x a : own i (h ++ [(j, (x, a))]) = own i h ++ (if (j =? i)%nat then [(x, a)] else []).
Proof.
  unfold own. rewrite filter_app, map_app. cbn [filter fst]. now destruct (j =? i)%nat.
Qed.

(** The chance of all answers is the product of the chances from the mechanisms that take part. *)
Definition together (f : nat -> list (Question * Answer) -> R) (l : list nat) (t : list entry) : R :=
  prod l (fun i => f i (own i t)).

Lemma prod_change l (g g' : nat -> R) j : NoDup l -> In j l -> (forall i, i <> j -> g' i = g i) ->
  g j <> 0 -> prod l g' = prod l g * (g' j / g j).
Proof.
  intros N. induction N as [|i l X N IH]; intros I E Z; [destruct I|]. cbn [prod fold_right].
  fold (prod l g) (prod l g'). destruct (Nat.eq_dec i j) as [->|D].
  - rewrite (prod_ext l g' g); [field; exact Z|]. intros i Hi. apply E. intros ->. now apply X.
  - destruct I as [->|I]; [now elim D|]. rewrite (IH I E Z), (E i D). ring.
Qed.

Lemma fading f t u : interactive f -> f (t ++ u) <= f t.
Proof.
  intros (_ & _ & F). revert t. induction u as [|[x a] u IH]; intros t; [rewrite app_nil_r; lra|].
  replace (t ++ (x, a) :: u) with ((t ++ [(x, a)]) ++ u) by (now rewrite <- app_assoc).
  eapply Rle_trans; [apply IH|]. destruct (F t x) as [L _]. specialize (L [a] ltac:(repeat constructor; intros [])).
  unfold sum in L. cbn [fold_right] in L. lra.
Qed.

Lemma own_known i t : forall h, exists u, own i (known h t) = own i h ++ u.
Proof.
  induction t as [|a t IH]; intros h; cbn [known]; [exists []; now rewrite app_nil_r|].
  destruct (IH (h ++ [(fst (asks h), (snd (asks h), a))])) as (u & ->). rewrite own_next.
  rewrite <- app_assoc. now eexists.
Qed.

Lemma known_extends t : forall h, incl (map fst h) (map fst (known h t)).
Proof.
  induction t as [|a t IH]; intros h i I; cbn [known]; [exact I|]. apply IH. rewrite map_app. apply in_or_app. now left.
Qed.

Lemma prod_zero l (g : nat -> R) j : In j l -> g j = 0 -> prod l g = 0.
Proof.
  intros I Z. induction l as [|i l IH]; [destruct I|]. cbn [prod fold_right]. fold (prod l g).
  destruct I as [->|I]; [rewrite Z; ring | rewrite IH by exact I; ring].
Qed.

Lemma interleaved_product f l : (forall i, interactive (f i)) -> NoDup l -> forall t h,
  incl (map fst (known h t)) l -> (forall i, 0 < f i (own i h)) ->
  together f l h * interleaved f h t = together f l (known h t).
Proof.
  intros F N. induction t as [|a t IH]; intros h I P; cbn [interleaved known] in *; [ring|].
  destruct (asks h) as [j x] eqn:E. cbn [fst snd] in *. set (h' := h ++ [(j, (x, a))]) in *.
  assert (Ij : In j l).
  { apply I, known_extends. unfold h'. rewrite map_app. apply in_or_app. right. now left. }
  assert (Oj : own j h' = own j h ++ [(x, a)]) by (unfold h'; rewrite own_next, Nat.eqb_refl; reflexivity).
  assert (Oi : forall i, i <> j -> own i h' = own i h).
  { intros i D. unfold h'. rewrite own_next. destruct (Nat.eqb_spec j i) as [->|_]; [now elim D | apply app_nil_r]. }
  assert (T : together f l h' = together f l h * (f j (own j h') / f j (own j h))).
  { apply (prod_change l (fun i => f i (own i h)) (fun i => f i (own i h')) j N Ij).
    - intros i D. now rewrite Oi.
    - apply Rgt_not_eq, P. }
  unfold step. rewrite E, <- Oj, <- Rmult_assoc, <- T.
  destruct (proj1 (proj2 (F j)) (own j h')) as [Pos|Zero].
  - apply IH; [exact I|]. intros i. destruct (Nat.eq_dec i j) as [->|D]; [exact Pos | rewrite (Oi i D); apply P].
  - rewrite T, <- Zero. unfold Rdiv. rewrite Rmult_0_l, Rmult_0_r, Rmult_0_l. symmetry.
    apply (prod_zero l _ j Ij). destruct (own_known j t h') as (u & ->).
    pose proof (fading (f j) (own j h') u (F j)). pose proof (proj1 (proj2 (F j)) (own j h' ++ u)). lra.
Qed.

Lemma interleaved_is f t : (forall i, interactive (f i)) ->
  interleaved f [] t = together f (opened (known [] t)) (known [] t).
Proof.
  intros F. rewrite <- (interleaved_product f (opened (known [] t)) F (NoDup_nodup _ _) t []).
  - unfold together. rewrite (prod_ext _ _ (fun _ => 1)); [|intros i _; apply (F i)].
    replace (prod (opened (known [] t)) (fun _ => 1)) with 1; [ring|].
    induction (opened (known [] t)) as [|i l IH]; cbn [prod fold_right]; [reflexivity|].
    fold (prod l (fun _ => 1)). rewrite <- IH. ring.
  - intros i I. now apply nodup_In.
  - intros i. cbn. rewrite (proj1 (F i)). lra.
Qed.

Theorem interleaved_pure f f' eps cap answers : (forall i, interactive (f i)) -> (forall i, interactive (f' i)) ->
  (forall i t, f i t <= exp (eps i) * f' i t) ->
  (forall t, In t answers -> sum (opened (known [] t)) eps <= cap) ->
  sum answers (interleaved f []) <= exp cap * sum answers (interleaved f' []).
Proof.
  intros F F' H C. rewrite <- sum_scal. apply sum_le. intros t I. specialize (C t I).
  rewrite !interleaved_is by assumption. unfold together.
  apply Rle_trans with (exp (sum (opened (known [] t)) eps) * prod (opened (known [] t)) (fun i => f' i (own i (known [] t)))).
  - clear C. induction (opened (known [] t)) as [|i l IH]; cbn [prod sum fold_right]; [rewrite exp_0; lra|].
    fold (prod l (fun i => f i (own i (known [] t)))) (prod l (fun i => f' i (own i (known [] t)))) (sum l eps).
    rewrite exp_plus. specialize (H i (own i (known [] t))).
    replace (exp (eps i) * exp (sum l eps) * (f' i (own i (known [] t)) * prod l (fun i => f' i (own i (known [] t)))))
      with ((exp (eps i) * f' i (own i (known [] t))) * (exp (sum l eps) * prod l (fun i => f' i (own i (known [] t))))) by ring.
    apply Rmult_le_compat; auto; [apply (F i)|]. apply prod_nonneg. intros; apply F.
  - apply Rmult_le_compat_r; [apply prod_nonneg; intros; apply F' | now apply exp_le].
Qed.
End Interleaved.

(** An interactive eps-private pair is one draw of randomized response, followed by an interaction that does
    not know which side it is on. *)
Section Coin.
Context {Question Answer : Type}.
Implicit Types f : list (Question * Answer) -> R.

Lemma interactive_part f f' e : 1 < e -> interactive f -> interactive f' -> (forall t, f' t <= e * f t) ->
  interactive (fun t => (e * f t - f' t) / (e - 1)).
Proof.
  intros E (F0 & F1 & F2) (G0 & G1 & G2) H.
  assert (I : 0 < / (e - 1)) by (apply Rinv_0_lt_compat; lra).
  assert (P : forall t, 0 <= (e * f t - f' t) / (e - 1)).
  { intros t. apply Rmult_le_pos; [specialize (H t); lra | lra]. }
  assert (S : forall t x l, sum l (fun a => (e * f (t ++ [(x, a)]) - f' (t ++ [(x, a)])) / (e - 1))
    = (e * sum l (fun a => f (t ++ [(x, a)])) - sum l (fun a => f' (t ++ [(x, a)]))) / (e - 1)).
  { intros t x l. rewrite (sum_ext _ _ (fun a => e / (e - 1) * f (t ++ [(x, a)]) + (- / (e - 1)) * f' (t ++ [(x, a)])))
      by (intros; field; lra). rewrite sum_plus, !sum_scal. field. lra. }
  split; [rewrite F0, G0; field; lra|]. split; [exact P|]. intros t x.
  destruct (F2 t x) as [A B]. destruct (G2 t x) as [A' B']. split.
  - intros l N. apply le_epsilon. intros d D.
    destruct (B' (d * (e - 1)) ltac:(nra)) as (m & M & L). destruct (both_lists l m N) as (u & U & Lu & Mu).
    eapply Rle_trans; [apply (sum_incl l u); [intros a; apply P | exact N | exact Lu]|]. rewrite S.
    specialize (A u U).
    pose proof (sum_incl m u (fun a => f' (t ++ [(x, a)])) (fun a => G1 _) M Mu) as K.
    apply (Rmult_le_reg_r (e - 1)); [lra|].
    replace ((e * sum u (fun a => f (t ++ [(x, a)])) - sum u (fun a => f' (t ++ [(x, a)]))) / (e - 1) * (e - 1))
      with (e * sum u (fun a => f (t ++ [(x, a)])) - sum u (fun a => f' (t ++ [(x, a)]))) by (field; lra).
    replace (((e * f t - f' t) / (e - 1) + d) * (e - 1)) with (e * f t - f' t + d * (e - 1)) by (field; lra).
    nra.
  - intros d D. destruct (B (d * (e - 1) / e) ltac:(apply Rdiv_lt_0_compat; nra)) as (l & N & L).
    exists l. split; [exact N|]. rewrite S. specialize (A' l N).
    apply (Rmult_le_reg_r (e - 1)); [lra|].
    replace ((e * sum l (fun a => f (t ++ [(x, a)])) - sum l (fun a => f' (t ++ [(x, a)]))) / (e - 1) * (e - 1))
      with (e * sum l (fun a => f (t ++ [(x, a)])) - sum l (fun a => f' (t ++ [(x, a)]))) by (field; lra).
    replace (((e * f t - f' t) / (e - 1) - d) * (e - 1)) with (e * (f t - d * (e - 1) / e) - f' t) by (field; lra).
    nra.
Qed.

Theorem interactive_coin f f' eps : 0 < eps -> interactive f -> interactive f' ->
  (forall t, f t <= exp eps * f' t) -> (forall t, f' t <= exp eps * f t) ->
  exists g g', interactive g /\ interactive g' /\ forall t,
    f t = exp eps / (1 + exp eps) * g t + / (1 + exp eps) * g' t /\
    f' t = / (1 + exp eps) * g t + exp eps / (1 + exp eps) * g' t.
Proof.
  intros E F F' H H'. set (e := exp eps) in *.
  assert (E1 : 1 < e) by (unfold e; rewrite <- exp_0; now apply exp_increasing). clearbody e.
  exists (fun t => (e * f t - f' t) / (e - 1)), (fun t => (e * f' t - f t) / (e - 1)).
  split; [now apply interactive_part|]. split; [now apply interactive_part|].
  intros t. split; field; lra.
Qed.
End Coin.
