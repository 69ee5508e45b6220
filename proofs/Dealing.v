(** docs/proofs/votes.md: averages over the dealing of people into blocks, in every measure. Two neighbouring
    tables are dealt by a coupling, so all blocks except one have the same rows. *)
From Coq Require Import Reals Lra Lia List Arith Bool ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Exponential Range ApproxDP Laplace Measures People
  Groups Composition Recursion Selections Dominance Divergences LaplacePair NoisyCount Wholes Spending Votes.
Import ListNotations.
Open Scope R_scope.

(** ** Averages of what the Laplace pair dominates *)

Lemma parabolas_below eps x w : 0 <= eps -> x <= 1 -> 1 <= w <= exp eps ->
  w * (1 - w * (1 - x)) <= exp eps * tradeoff_laplace eps x.
Proof.
  intros E X W. pose proof (exp_pos eps) as P. pose proof (exp_pos (- eps)) as Pm.
  assert (I : exp eps * exp (- eps) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  set (v := 1 - x). unfold tradeoff_laplace. destruct Rle_dec as [A|A]; [|destruct Rle_dec as [B|B]].
  - rewrite <- Rmult_assoc, I. replace (1 * x) with (1 - v) by (unfold v; ring).
    assert (0 <= (w - 1) * (v * (w + 1) - 1)); [|nra]. apply Rmult_le_pos; [lra|]. unfold v. nra.
  - fold v. assert (V : 0 < v) by (unfold v; lra).
    replace (exp eps * (exp (- eps) / (4 * v))) with (exp eps * exp (- eps) * / (4 * v)) by (field; lra).
    rewrite I, Rmult_1_l. apply (Rmult_le_reg_r (4 * v)); [lra|]. rewrite Rinv_l by lra.
    pose proof (Rle_0_sqr (2 * w * v - 1)) as Q. unfold Rsqr in Q. nra.
  - fold v. assert (V : 0 <= v) by (unfold v; lra). assert (H : 2 * v * exp eps <= 1).
    { apply Rle_trans with (exp (- eps) * exp eps); [apply Rmult_le_compat_r; unfold v; lra | rewrite Rmult_comm, I; lra]. }
    assert (0 <= (exp eps - w) * (1 - v * (exp eps + w))); [|nra]. apply Rmult_le_pos; nra.
Qed.

Theorem average_dominated {C} (coins : list C) (weight : C -> R) n (p p' : C -> nat -> R) eps : 0 <= eps ->
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 ->
  (forall c, In c coins -> is_law n (p c)) ->
  (forall c, In c coins -> laplace_dominated n (p c) (p' c) eps) ->
  laplace_dominated n (fun r => sum coins (fun c => weight c * p c r))
    (fun r => sum coins (fun c => weight c * p' c r)) eps.
Proof.
  intros E W T L H phi Phi.
  assert (A : forall q : C -> nat -> R, average n phi (fun r => sum coins (fun c => weight c * q c r))
    = sum coins (fun c => weight c * average n phi (q c))).
  { intros q. unfold average. rewrite (sum_ext _ _ (fun r => sum coins (fun c => weight c * (phi r * q c r)))).
    - rewrite sum_swap. apply sum_ext. intros c _. apply sum_scal.
    - intros r _. rewrite <- sum_scal. apply sum_ext. intros c _. ring. }
  assert (X1 : forall c, In c coins -> average n phi (p c) <= 1).
  { intros c I. destruct (L c I) as [L0 L1]. rewrite <- L1. now apply (average_le_total n phi (p c)). }
  rewrite !A. apply tradeoff_laplace_envelope; [exact E| |].
  - rewrite <- T. apply sum_le. intros c I. specialize (X1 c I). specialize (W c I). nra.
  - intros w Hw.
    replace (w * (1 - w * (1 - sum coins (fun c => weight c * average n phi (p c)))))
      with (sum coins (fun c => weight c * (w * (1 - w * (1 - average n phi (p c)))))).
    + rewrite <- sum_scal. apply sum_le. intros c I. specialize (H c I phi Phi).
      pose proof (parabolas_below eps _ w E (X1 c I) Hw) as B. pose proof (exp_pos eps). specialize (W c I).
      apply (Rmult_le_compat_l (exp eps)) in H; [|lra].
      apply Rle_trans with (weight c * (exp eps * average n phi (p' c))); [apply Rmult_le_compat_l; lra | right; ring].
    + rewrite (sum_ext _ _ (fun c => (w - w * w) * weight c + w * w * (weight c * average n phi (p c))))
        by (intros; ring).
      rewrite sum_plus, !sum_scal, T. ring.
Qed.

(** ** The coupling *)

Section Dealing.
Context {Row : Type}.
Notation table := (table Row).
Variable m : nat.
Hypothesis some_block : (1 <= m)%nat.

(** All ways to deal the people in l into blocks, starting with one block per person on the two sides. *)
Fixpoint dealings (l : list nat) (block block' : nat -> nat) : list ((nat -> nat) * (nat -> nat)) :=
  match l with
  | [] => [(block, block')]
  | p :: l => flat_map (fun b => dealings l (put block p b) (put block' p b)) (candidates m)
  end.

Lemma dealt_sides l : forall block block' F,
  dealt m l block F = sum (dealings l block block') (fun c => (/ INR m) ^ length l * F (fst c)) /\
  dealt m l block' F = sum (dealings l block block') (fun c => (/ INR m) ^ length l * F (snd c)).
Proof.
  induction l as [|p l IH]; intros block block' F; [simpl; split; ring|].
  cbn [dealt dealings length pow]. rewrite !sum_flat_map.
  split; apply sum_ext; intros b _; destruct (IH (put block p b) (put block' p b) F) as [A B];
    [rewrite A | rewrite B]; rewrite <- sum_scal; apply sum_ext; intros; ring.
Qed.

Lemma dealings_agree l : forall block block' c, In c (dealings l block block') ->
  (forall x, In x l -> fst c x = snd c x) /\ (forall x, ~ In x l -> fst c x = block x /\ snd c x = block' x).
Proof.
  induction l as [|p l IH]; intros block block' c; cbn [dealings].
  - intros [<-|[]]. split; [intros x [] | auto].
  - intros H. apply in_flat_map in H as (b & _ & H). destruct (IH _ _ _ H) as [A O]. split.
    + intros x [<-|I]; [|now apply A]. destruct (in_dec Nat.eq_dec p l) as [I|I]; [now apply A|].
      destruct (O p I) as [-> ->]. unfold put. now rewrite Nat.eqb_refl.
    + intros x N. destruct (O x ltac:(intros I; apply N; now right)) as [-> ->]. unfold put.
      destruct (Nat.eqb_spec x p) as [->|_]; [exfalso; apply N; now left | split; reflexivity].
Qed.

Lemma blocks_total : INR m * / INR m = 1.
Proof. apply Rinv_r, not_0_INR. lia. Qed.

Lemma dealt_one l : forall block, dealt m l block (fun _ => 1) = 1.
Proof.
  induction l as [|p l IH]; intros block; cbn [dealt]; [reflexivity|].
  rewrite (sum_ext _ _ (fun _ => / INR m)) by (intros; rewrite IH; ring).
  rewrite sum_const. unfold candidates. rewrite seq_length. apply blocks_total.
Qed.

(** The coins of two neighbours, drawn together. *)
Theorem coupled (u t t' : table) who who' : beside u t who -> beside u t' who' ->
  exists coins w, 0 <= w /\ sum coins (fun _ => w) = 1 /\
  (forall F, dealt m (people t) (fun _ => 0%nat) F = sum coins (fun c => w * F (fst c))) /\
  (forall F, dealt m (people t') (fun _ => 0%nat) F = sum coins (fun c => w * F (snd c))) /\
  forall c, In c coins -> exists b0, forall vote : nat -> table -> option nat,
    (forall b v v', same v v' -> vote b v = vote b v') ->
    forall b, b <> b0 -> vote b (in_block (fst c) b t) = vote b (in_block (snd c) b t').
Proof.
  intros H H'.
  set (start := fun (w : option nat) b => match w with Some p => put (fun _ => 0%nat) p b | None => fun _ => 0%nat end).
  set (deals := fun b => dealings (people u) (start who b) (start who' b)).
  set (w := (/ INR m) ^ length (people u)).
  assert (Wm : 0 <= / INR m) by (apply Rlt_le, Rinv_0_lt_compat, lt_0_INR; lia).
  assert (Spread : forall v who F, beside u v who -> dealt m (people v) (fun _ => 0%nat) F
    = sum (candidates m) (fun b => / INR m * dealt m (people u) (start who b) F)).
  { intros v [p|] F Hv; simpl in Hv.
    - rewrite (dealt_permutation m _ _ _ (people_added u v p Hv)) by apply NoDup_people. reflexivity.
    - subst v. now apply dealt_twice. }
  exists (flat_map deals (candidates m)), (/ INR m * w).
  split; [apply Rmult_le_pos; [exact Wm | now apply pow_le]|]. split; [|split; [|split]].
  - rewrite <- (dealt_one (people t) (fun _ => 0%nat)), (Spread t who _ H), sum_flat_map.
    apply sum_ext. intros b _. rewrite (proj1 (dealt_sides (people u) (start who b) (start who' b) _)).
    fold w. rewrite <- sum_scal. apply sum_ext. intros. ring.
  - intros F. rewrite (Spread t who _ H), sum_flat_map. apply sum_ext. intros b _.
    rewrite (proj1 (dealt_sides (people u) (start who b) (start who' b) F)).
    fold w. rewrite <- sum_scal. apply sum_ext. intros. ring.
  - intros F. rewrite (Spread t' who' _ H'), sum_flat_map. apply sum_ext. intros b _.
    rewrite (proj2 (dealt_sides (people u) (start who b) (start who' b) F)).
    fold w. rewrite <- sum_scal. apply sum_ext. intros. ring.
  - intros c I. apply in_flat_map in I as (b0 & _ & I). exists b0. intros vote V.
    destruct (dealings_agree _ _ _ _ I) as [A O].
    assert (Own : forall v who, beside u v who -> forall p, who = Some p -> start who b0 p = b0 /\ ~ In p (people u)).
    { intros v who0 Hv p ->. destruct Hv as (N & _). split; [unfold start, put; now rewrite Nat.eqb_refl|].
      now apply rows_none. }
    apply (ballots_beside vote V u t t' who who' (fst c) (snd c) b0 H H' A).
    + intros p E. destruct (Own t who H p E) as [S N]. now rewrite (proj1 (O p N)).
    + intros p E. destruct (Own t' who' H' p E) as [S N]. now rewrite (proj2 (O p N)).
Qed.

(** ** Releases about the ballots of the blocks *)

Section Release.
Context {C A : Type}.
Variables (coins : list C) (weight : C -> R) (vote : C -> nat -> table -> option nat)
  (body : C -> (nat -> option nat) -> A -> R).
Hypotheses (weights : forall c, In c coins -> 0 <= weight c)
  (looks_at_rows : forall c b t t', same t t' -> vote c b t = vote c b t')
  (body_nonneg : forall c say a, 0 <= body c say a).

Definition averaged (t : table) (a : A) : R :=
  sum coins (fun c => weight c * dealt m (people t) (fun _ => 0%nat)
    (fun block => body c (fun b => vote c b (in_block block b t)) a)).

(** Both laws as averages over the same coins; given the coins, one ballot differs. *)
Lemma drawn_together t t' : add_remove t t' \/ replace t t' ->
  exists (both : list (C * ((nat -> nat) * (nat -> nat)))) w,
  (forall c, In c both -> 0 <= w c) /\ sum both w = sum coins weight /\
  (averaged t = fun a => sum both (fun c => w c * body (fst c) (fun b => vote (fst c) b (in_block (fst (snd c)) b t)) a)) /\
  (averaged t' = fun a => sum both (fun c => w c * body (fst c) (fun b => vote (fst c) b (in_block (snd (snd c)) b t')) a)) /\
  forall c, In c both -> exists b0, forall b, b <> b0 ->
    vote (fst c) b (in_block (fst (snd c)) b t) = vote (fst c) b (in_block (snd (snd c)) b t').
Proof.
  intros H.
  assert (N : exists u who who', beside u t who /\ beside u t' who').
  { destruct H as [(p & [H|H])|(u & p & p' & H & H')].
    - exists t, None, (Some p). split; [reflexivity | exact H].
    - exists t', (Some p), None. split; [exact H | reflexivity].
    - exists u, (Some p), (Some p'). split; assumption. }
  destruct N as (u & who & who' & N & N').
  destruct (coupled u t t' who who' N N') as (deals & w & W & T & D & D' & B).
  exists (list_prod coins deals), (fun c => weight (fst c) * w).
  split; [intros [c d] I; apply in_prod_iff in I as [I _]; apply Rmult_le_pos; [now apply weights | exact W]|].
  split; [|split; [|split]].
  - rewrite sum_prod. apply sum_ext. intros c _. cbn [fst]. rewrite sum_scal, T. ring.
  - apply functional_extensionality. intros a. unfold averaged. rewrite sum_prod. apply sum_ext. intros c _.
    rewrite D, <- sum_scal. apply sum_ext. intros d _. cbn [fst snd]. ring.
  - apply functional_extensionality. intros a. unfold averaged. rewrite sum_prod. apply sum_ext. intros c _.
    rewrite D', <- sum_scal. apply sum_ext. intros d _. cbn [fst snd]. ring.
  - intros [c d] I. apply in_prod_iff in I as [_ I]. destruct (B d I) as (b0 & V). exists b0.
    intros b Nb. cbn [fst snd]. apply (V (vote c)); [intros; now apply looks_at_rows | exact Nb].
Qed.

Theorem dealt_concentrated rho t t' : sum coins weight <= 1 ->
  (forall c say say' b0, (forall b, b <> b0 -> say b = say' b) -> concentrated (body c say) (body c say') rho) ->
  add_remove t t' \/ replace t t' -> concentrated (averaged t) (averaged t') rho.
Proof.
  intros S H N. destruct (drawn_together t t' N) as (both & w & W & T & -> & -> & B).
  apply (concentrated_drawn both w (fun c => body (fst c) (fun b => vote (fst c) b (in_block (fst (snd c)) b t)))
    (fun c => body (fst c) (fun b => vote (fst c) b (in_block (snd (snd c)) b t')))); auto; [lra|].
  intros c I. destruct (B c I) as (b0 & E). apply (H _ _ _ b0); exact E.
Qed.

Theorem dealt_costs eps t t' a :
  (forall c say say' b0, (forall b, b <> b0 -> say b = say' b) -> body c say a <= exp eps * body c say' a) ->
  add_remove t t' \/ replace t t' -> averaged t a <= exp eps * averaged t' a.
Proof.
  intros H N. destruct (drawn_together t t' N) as (both & w & W & T & -> & -> & B).
  apply average_private; [exact W|]. intros c I. destruct (B c I) as (b0 & E). apply (H _ _ _ b0); exact E.
Qed.
End Release.

(** ** The choice, and the number of blocks that voted *)

Section Choice.
Context {C : Type}.
Variables (coins : list C) (weight : C -> R) (vote : C -> nat -> table -> option nat)
  (choose : R -> nat -> (nat -> R) -> nat -> R) (s : R) (n : nat) (t t' : table).
Hypotheses (weights : forall c, In c coins -> 0 <= weight c)
  (looks_at_rows : forall c b t t', same t t' -> vote c b t = vote c b t')
  (s_pos : 0 < s) (n_pos : (0 < n)%nat) (near : add_remove t t' \/ replace t t').

Let law t r := sum coins (fun c => weight c * dealt m (people t) (fun _ => 0%nat)
  (fun block => choose s n (votes m (vote c) block t) r)).

Definition tally (say : nat -> option nat) (r : nat) : R := sum (candidates m) (fun b => ballot (say b) r).

Lemma tally_moves say say' b0 : (forall b, b <> b0 -> say b = say' b) ->
  range_distance n (tally say) (tally say') 2 /\ range_distance n (tally say') (tally say) 2.
Proof. intros H. split; apply (one_ballot m n _ _ b0); intros b D; [|symmetry]; now apply H. Qed.

Lemma listed_only_averaged u : listed_only n (law u)
  = averaged coins weight vote (fun _ say r => if (r <? n)%nat then choose s n (tally say) r else 0) u.
Proof.
  apply functional_extensionality. intros r. unfold listed_only, averaged, law. destruct (r <? n)%nat; [reflexivity|].
  symmetry. rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring|]. intros c _.
  assert (Z : forall l block, dealt m l block (fun _ => 0) = 0).
  { induction l as [|p l IH]; intros block; cbn [dealt]; [reflexivity|].
    rewrite (sum_ext _ _ (fun _ => 0)) by (intros; rewrite IH; ring). rewrite sum_const. ring. }
  rewrite Z. ring.
Qed.

Theorem votes_concentrated rho : sum coins weight = 1 ->
  (In choose [pf; laplace_max] /\ rho = concentrated_of_laplace (2 / s)) \/
  (choose = em /\ rho = concentrated_of_range (2 / s)) ->
  concentrated (listed_only n (law t)) (listed_only n (law t')) rho.
Proof.
  intros T K. rewrite !listed_only_averaged.
  assert (E : 0 < 2 / s) by (apply Rdiv_lt_0_compat; lra).
  assert (L : forall q, is_law n (choose s n q)).
  { intros q. destruct K as [([<-|[<-|[]]] & _)|(-> & _)];
      [now apply pf_is_law | now apply laplace_is_law | now apply em_is_law]. }
  apply dealt_concentrated; auto; [| lra |].
  - intros c say r. destruct (Nat.ltb_spec r n); [now apply L | lra].
  - intros c say say' b0 H. destruct (tally_moves say say' b0 H) as [A B].
    destruct K as [(I & ->)|(-> & ->)].
    + assert (Dm : forall q q', range_distance n q q' 2 -> laplace_dominated n (choose s n q) (choose s n q') (2 / s))
        by (intros q q' X; destruct I as [<-|[<-|[]]]; [apply pf_dominated | apply laplace_max_dominated]; auto; lra).
      apply (dominated_concentrated n (choose s n (tally say)) (choose s n (tally say')) (2 / s)); auto. lra.
    + apply range_of_cut; auto. now apply em_bounded_range.
Qed.

Theorem votes_dominated : sum coins weight = 1 -> In choose [pf; laplace_max] ->
  laplace_dominated n (law t) (law t') (2 / s).
Proof.
  intros T I.
  destruct (drawn_together coins weight vote (fun _ say r => choose s n (tally say) r) weights looks_at_rows t t' near)
    as (both & w & W & Tw & A & A' & B).
  change (law t) with (averaged coins weight vote (fun _ say r => choose s n (tally say) r) t).
  change (law t') with (averaged coins weight vote (fun _ say r => choose s n (tally say) r) t'). rewrite A, A'.
  apply (average_dominated both w n
    (fun c => choose s n (tally (fun b => vote (fst c) b (in_block (fst (snd c)) b t))))
    (fun c => choose s n (tally (fun b => vote (fst c) b (in_block (snd (snd c)) b t'))))); auto.
  - apply Rlt_le, Rdiv_lt_0_compat; lra.
  - now rewrite Tw.
  - intros c _. destruct I as [<-|[<-|[]]]; [now apply pf_is_law | now apply laplace_is_law].
  - intros c Ic. destruct (B c Ic) as (b0 & E). destruct (tally_moves _ _ b0 E) as [X _].
    destruct I as [<-|[<-|[]]]; [apply pf_dominated | apply laplace_max_dominated]; auto; lra.
Qed.

(** How many blocks voted for a candidate. *)
Definition voted (say : nat -> option nat) : nat :=
  length (filter (fun b => match say b with Some r => (r <? n)%nat | None => false end) (candidates m)).

Lemma voted_moves say say' b0 : (forall b, b <> b0 -> say b = say' b) ->
  (Z.abs (Z.of_nat (voted say) - Z.of_nat (voted say')) <= 1)%Z.
Proof.
  intros H. unfold voted.
  set (f := fun b => match say b with Some r => (r <? n)%nat | None => false end).
  set (f' := fun b => match say' b with Some r => (r <? n)%nat | None => false end).
  assert (E : forall b, b <> b0 -> f b = f' b) by (intros b D; unfold f, f'; now rewrite (H b D)).
  assert (G : forall l, NoDup l -> (Z.abs (Z.of_nat (length (filter f l)) - Z.of_nat (length (filter f' l))) <= 1)%Z
    /\ (~ In b0 l -> length (filter f l) = length (filter f' l))).
  { induction l as [|b l IH]; intros N; [simpl; split; [lia | reflexivity]|].
    apply NoDup_cons_iff in N as [N N']. destruct (IH N') as [I1 I2]. cbn [filter].
    destruct (Nat.eq_dec b b0) as [->|D].
    - specialize (I2 N). split; [|intros X; exfalso; apply X; now left].
      destruct (f b0), (f' b0); cbn [length]; rewrite ?I2; lia.
    - rewrite (E b D). split.
      + destruct (f' b); cbn [length]; lia.
      + intros X. specialize (I2 (fun Y => X (or_intror Y))). destruct (f' b); cbn [length]; now rewrite I2. }
  apply G, NoDup_candidates.
Qed.

Theorem votes_with_number_costs eps : 0 < eps -> In choose selections -> forall r z, (r < n)%nat ->
  let both t := sum coins (fun c => weight c * dealt m (people t) (fun _ => 0%nat) (fun block =>
    choose s n (votes m (vote c) block t) r
    * discrete_laplace eps (z - Z.of_nat (voted (fun b => vote c b (in_block block b t)))))) in
  both t <= exp (2 / s + eps) * both t'.
Proof.
  intros E I r z R both.
  apply (dealt_costs coins weight vote (fun _ say (o : nat * Z) => choose s n (tally say) (fst o)
    * discrete_laplace eps (snd o - Z.of_nat (voted say))) weights looks_at_rows (2 / s + eps) t t' (r, z)); [|exact near].
  intros c say say' b0 H. cbn [fst snd]. destruct (tally_moves say say' b0 H) as [X _].
  pose proof (voted_moves say say' b0 H) as V.
  rewrite exp_plus. replace (exp (2 / s) * exp eps * (choose s n (tally say') r * discrete_laplace eps (z - Z.of_nat (voted say'))))
    with ((exp (2 / s) * choose s n (tally say') r) * (exp eps * discrete_laplace eps (z - Z.of_nat (voted say')))) by ring.
  apply Rmult_le_compat.
  - destruct I as [<-|[<-|[<-|[]]]]; [now apply pf_is_law | now apply em_is_law | now apply laplace_is_law].
  - apply Rlt_le, discrete_laplace_pos, E.
  - apply (pure_dp_outcome n); [now apply selection_pure_dp | exact R].
  - pose proof (noisy_count_pure_dp eps E (Z.of_nat (voted say)) (Z.of_nat (voted say')) [z] V) as Q.
    unfold sum in Q. simpl in Q. lra.
Qed.
End Choice.
End Dealing.
