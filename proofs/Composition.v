(** Several releases: docs/proofs/composition.md.

    The question in round i may depend on the answers so far, the history h. It has [n h] possible answers,
    with the laws [law h] and [law' h] on the two neighbours. A transcript is the list of the answers of k
    rounds. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Privacy PureDP Dominance ApproxDP.
Import ListNotations.
Open Scope R_scope.

Fixpoint transcripts (n : list nat -> nat) (k : nat) (h : list nat) : list (list nat) :=
  match k with
  | O => [[]]
  | S k => flat_map (fun r => map (cons r) (transcripts n k (h ++ [r]))) (candidates (n h))
  end.

(** The probability of the answers [t] after the history [h]. *)
Fixpoint path (law : list nat -> nat -> R) (h t : list nat) : R :=
  match t with
  | [] => 1
  | r :: t => law h r * path law (h ++ [r]) t
  end.

(** On every transcript the costs of the rounds add up to at most the cap, because a filter refuses a round
    that would exceed it. *)
Fixpoint within (n : list nat -> nat) (cost : list nat -> R) (k : nat) (h : list nat) (cap : R)
  : Prop :=
  match k with
  | O => 0 <= cap
  | S k => 0 <= cap - cost h /\
           forall r, (r < n h)%nat -> within n cost k (h ++ [r]) (cap - cost h)
  end.

Definition hockey_stick {A} (l : list A) (p p' : A -> R) (x y : R) : R :=
  sum l (fun r => Rmax 0 (x * p r - y * p' r)).

Lemma sum_flat_map {A B} (g : A -> list B) l f :
  sum (flat_map g l) f = sum l (fun a => sum (g a) f).
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. now rewrite sum_app, IH. Qed.

Lemma sum_swap {A B} (l : list A) (m : list B) f :
  sum l (fun a => sum m (fun b => f a b)) = sum m (fun b => sum l (fun a => f a b)).
Proof.
  induction l as [|a l IH]; simpl.
  - rewrite sum_const. ring.
  - rewrite sum_plus. f_equal. exact IH.
Qed.

Lemma sum_transcripts n k h f :
  sum (transcripts n (S k) h) f
  = sum (candidates (n h)) (fun r => sum (transcripts n k (h ++ [r])) (fun t => f (r :: t))).
Proof.
  cbn [transcripts]. rewrite sum_flat_map. apply sum_ext; intros r _. apply sum_map.
Qed.

Lemma sum_one {A} (x : A) f : sum [x] f = f x.
Proof. simpl. ring. Qed.

Lemma pure_dp_outcome n p p' eps r : pure_dp n p p' eps -> (r < n)%nat -> p r <= exp eps * p' r.
Proof.
  intros H Hr. specialize (H (fun t => (t =? r)%nat)). rewrite !event_average in H.
  assert (E : forall g, average n (fun t => if (t =? r)%nat then 1 else 0) g = g r).
  { intros g. unfold average.
    rewrite (sum_without r) by (try apply NoDup_candidates; now apply in_candidates).
    rewrite Nat.eqb_refl, (sum_ext _ _ (fun _ => 0)).
    - rewrite sum_const. ring.
    - intros t Ht. apply in_without in Ht as [_ Ht].
      rewrite (proj2 (Nat.eqb_neq t r) Ht). ring. }
  now rewrite !E in H.
Qed.

Lemma approx_dp_test n p p' eps delta phi : approx_dp n p p' eps delta -> test n phi ->
  average n phi p <= exp eps * average n phi p' + delta.
Proof.
  intros H T.
  cut (0 <= (-1) * average n phi p + exp eps * average n phi p' + delta); [lra|].
  apply sets_to_tests; [|exact T]. intros S. specialize (H S). lra.
Qed.

Section Interaction.
Variables (n : list nat -> nat) (law law' : list nat -> nat -> R).
Hypotheses
  (law_nonneg : forall h r, (r < n h)%nat -> 0 <= law h r)
  (law'_nonneg : forall h r, (r < n h)%nat -> 0 <= law' h r).

Lemma path_nonneg k h t : In t (transcripts n k h) -> 0 <= path law h t /\ 0 <= path law' h t.
Proof.
  revert h t. induction k as [|k IH]; intros h t Ht.
  - destruct Ht as [<-|[]]. cbn [path]. lra.
  - cbn [transcripts] in Ht. apply in_flat_map in Ht as (x & Hx & Ht).
    apply in_map_iff in Ht as (u & <- & Hu). cbn [path]. apply in_candidates in Hx.
    destruct (IH _ _ Hu). split; apply Rmult_le_pos; auto.
Qed.

Lemma sum_path k h (l : list nat -> nat -> R) phi :
  sum (transcripts n (S k) h) (fun t => phi t * path l h t)
  = sum (candidates (n h)) (fun r => l h r *
      sum (transcripts n k (h ++ [r])) (fun t => phi (r :: t) * path l (h ++ [r]) t)).
Proof.
  rewrite sum_transcripts. apply sum_ext; intros r _. rewrite <- sum_scal.
  apply sum_ext; intros t _. cbn [path]. ring.
Qed.

(** Theorem 1 (a). *)
Theorem pure_composition eps :
  (forall h, pure_dp (n h) (law h) (law' h) (eps h)) ->
  forall k h cap, within n eps k h cap -> forall phi, (forall t, 0 <= phi t) ->
  sum (transcripts n k h) (fun t => phi t * path law h t)
  <= exp cap * sum (transcripts n k h) (fun t => phi t * path law' h t).
Proof.
  intros P. induction k as [|k IH]; intros h cap W phi F.
  - cbn [transcripts]. rewrite !sum_one. cbn [path]. cbn [within] in W.
    assert (1 <= exp cap) by (rewrite <- exp_0; now apply exp_le).
    specialize (F []). nra.
  - cbn [within] in W. destruct W as [_ W]. rewrite !sum_path, <- sum_scal.
    apply sum_le; intros r Hr. apply in_candidates in Hr.
    specialize (IH (h ++ [r]) (cap - eps h) (W r Hr) (fun t => phi (r :: t)) (fun t => F (r :: t))).
    pose proof (pure_dp_outcome _ _ _ _ r (P h) Hr) as O.
    set (X := sum _ _) in *. set (X' := sum (transcripts n k (h ++ [r])) (fun t => phi (r :: t) * path law' (h ++ [r]) t)) in *.
    replace (exp cap) with (exp (eps h) * exp (cap - eps h))
      by (rewrite <- exp_plus; f_equal; ring).
    replace (exp (eps h) * exp (cap - eps h) * (law' h r * X'))
      with (exp (eps h) * law' h r * (exp (cap - eps h) * X')) by ring.
    assert (X'0 : 0 <= X).
    { apply sum_nonneg. intros t Ht. apply Rmult_le_pos; [apply F | now apply (path_nonneg k)]. }
    apply Rmult_le_compat; auto.
Qed.

Lemma path_total : (forall h, sum (candidates (n h)) (law h) = 1) ->
  forall k h, sum (transcripts n k h) (path law h) = 1.
Proof.
  intros T. induction k as [|k IH]; intros h.
  - cbn [transcripts]. now rewrite sum_one.
  - rewrite sum_transcripts. rewrite <- (T h). apply sum_ext; intros r _.
    cbn [path]. rewrite sum_scal, IH. ring.
Qed.

(** There may be more answers than 0, ..., n h - 1. *)
Hypothesis law_part : forall h, sum (candidates (n h)) (law h) <= 1.

Lemma path_part k h : sum (transcripts n k h) (path law h) <= 1.
Proof.
  revert h. induction k as [|k IH]; intros h.
  - cbn [transcripts]. rewrite sum_one. cbn [path]. lra.
  - rewrite sum_transcripts. eapply Rle_trans; [|apply (law_part h)]. apply sum_le; intros r Hr.
    apply in_candidates in Hr. cbn [path]. rewrite sum_scal. specialize (IH (h ++ [r])).
    specialize (law_nonneg h r Hr). nra.
Qed.

(** Theorem 1 (c), without the decomposition that the page uses: the rounds after an answer count as a test,
    cut off at 1. *)
Theorem approx_composition eps delta :
  (forall h, approx_dp (n h) (law h) (law' h) (eps h) (delta h)) ->
  forall k h cap cap', within n eps k h cap -> within n delta k h cap' ->
  forall phi, (forall t, 0 <= phi t <= 1) ->
  sum (transcripts n k h) (fun t => phi t * path law h t)
  <= exp cap * sum (transcripts n k h) (fun t => phi t * path law' h t) + cap'.
Proof.
  intros P. induction k as [|k IH]; intros h cap cap' W W' phi F.
  - cbn [transcripts]. rewrite !sum_one. cbn [path]. cbn [within] in W, W'.
    assert (1 <= exp cap) by (rewrite <- exp_0; now apply exp_le).
    specialize (F []). nra.
  - cbn [within] in W, W'. destruct W as [_ W], W' as [D0 W']. rewrite !sum_path.
    set (X := fun r => sum (transcripts n k (h ++ [r])) (fun t => phi (r :: t) * path law (h ++ [r]) t)).
    set (X' := fun r => sum (transcripts n k (h ++ [r])) (fun t => phi (r :: t) * path law' (h ++ [r]) t)).
    set (psi := fun r => Rmin 1 (exp (cap - eps h) * X' r)).
    assert (X1 : forall r, X r <= 1).
    { intros r. eapply Rle_trans; [|apply (path_part k (h ++ [r]))]. apply sum_le. intros t Ht.
      destruct (path_nonneg k (h ++ [r]) t Ht).
      specialize (F (r :: t)). nra. }
    assert (X'0 : forall r, 0 <= X' r).
    { intros r. apply sum_nonneg. intros t Ht.
      apply Rmult_le_pos; [apply F | now apply (path_nonneg k)]. }
    assert (T : test (n h) psi).
    { intros r _. unfold psi. split; [|apply Rmin_l]. apply Rmin_glb; [lra|].
      apply Rmult_le_pos; [apply Rlt_le, exp_pos | apply X'0]. }
    pose proof (approx_dp_test _ _ _ _ _ psi (P h) T) as A. unfold average in A.
    assert (B : sum (candidates (n h)) (fun r => law h r * X r)
                <= sum (candidates (n h)) (fun r => psi r * law h r) + (cap' - delta h)).
    { apply Rle_trans with (sum (candidates (n h)) (fun r => psi r * law h r)
                            + (cap' - delta h) * sum (candidates (n h)) (law h));
        [|specialize (law_part h); nra].
      rewrite <- sum_scal, <- sum_plus. apply sum_le; intros r Hr. apply in_candidates in Hr.
      specialize (IH (h ++ [r]) (cap - eps h) (cap' - delta h) (W r Hr) (W' r Hr)
                    (fun t => phi (r :: t)) (fun t => F (r :: t))).
      change (X r <= exp (cap - eps h) * X' r + (cap' - delta h)) in IH.
      assert (X r <= psi r + (cap' - delta h)).
      { unfold psi, Rmin. destruct Rle_dec; [specialize (X1 r); lra | lra]. }
      specialize (law_nonneg h r Hr). nra. }
    assert (C : exp (eps h) * sum (candidates (n h)) (fun r => psi r * law' h r)
                <= exp cap * sum (candidates (n h)) (fun r => law' h r * X' r)).
    { rewrite <- !sum_scal. apply sum_le; intros r Hr. apply in_candidates in Hr.
      replace (exp cap) with (exp (eps h) * exp (cap - eps h))
        by (rewrite <- exp_plus; f_equal; ring).
      specialize (law'_nonneg h r Hr). pose proof (exp_pos (eps h)).
      assert (psi r <= exp (cap - eps h) * X' r) by apply Rmin_r.
      replace (exp (eps h) * exp (cap - eps h) * (law' h r * X' r))
        with (exp (eps h) * (exp (cap - eps h) * X' r * law' h r)) by ring.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra. }
    change (sum (candidates (n h)) (fun r => law h r * X r)
            <= exp cap * sum (candidates (n h)) (fun r => law' h r * X' r) + cap'). lra.
Qed.
End Interaction.

(** Fixed lists: if each round is dominated by a pair that depends only on its place in the
    list, the product of the pairs dominates, even if the questions are adaptive. No appeal to
    Blackwell's theorem is needed: the pairs are exchanged one after another. *)
Section Dominating.
Variables (n : list nat -> nat) (law law' : list nat -> nat -> R).
Variables (m : nat -> nat) (a b : nat -> nat -> R).
Hypotheses
  (law_nonneg : forall h r, (r < n h)%nat -> 0 <= law h r /\ 0 <= law' h r)
  (pair_nonneg : forall i r, (r < m i)%nat -> 0 <= a i r /\ 0 <= b i r)
  (round_dominated : forall h x y, 0 <= x -> 0 <= y ->
     hockey_stick (candidates (n h)) (law h) (law' h) x y
     <= hockey_stick (candidates (m (length h))) (a (length h)) (b (length h)) x y).

Let sizes (h : list nat) := m (length h).
Let first (h : list nat) := a (length h).
Let second (h : list nat) := b (length h).

Lemma path_pair_nonneg k h t : In t (transcripts sizes k h) ->
  0 <= path first h t /\ 0 <= path second h t.
Proof. apply path_nonneg; intros; now apply pair_nonneg. Qed.

(** For a list fixed in advance, transcripts depend only on the length of the history. *)
Lemma same_length k h h' : length h = length h' ->
  transcripts sizes k h = transcripts sizes k h' /\
  forall t, path first h t = path first h' t /\ path second h t = path second h' t.
Proof.
  revert h h'. induction k as [|k IH]; intros h h' E.
  - split; [reflexivity|]. intros t. revert h h' E. induction t as [|r t IHt]; intros h h' E;
      [split; reflexivity|]. cbn [path].
    destruct (IHt (h ++ [r]) (h' ++ [r])) as [A B]; [rewrite !app_length; simpl; lia|].
    rewrite A, B. unfold first, second. rewrite E. split; reflexivity.
  - split.
    + cbn [transcripts]. replace (sizes h) with (sizes h') by (unfold sizes; now rewrite E).
      unfold sizes at 2 4.
      induction (candidates (m (length h'))) as [|r l IHl]; [reflexivity|].
      cbn [flat_map]. rewrite IHl. f_equal. f_equal. apply IH. rewrite !app_length; simpl; lia.
    + apply (IH h h' E).
Qed.

Theorem dominated_composition k h x y : 0 <= x -> 0 <= y ->
  hockey_stick (transcripts n k h) (path law h) (path law' h) x y
  <= hockey_stick (transcripts sizes k h) (path first h) (path second h) x y.
Proof.
  revert h x y. induction k as [|k IH]; intros h x y X Y.
  - unfold hockey_stick. cbn [transcripts]. rewrite !sum_one. cbn [path]. lra.
  - unfold hockey_stick. rewrite !sum_transcripts.
    set (h0 := h ++ [0%nat]).
    assert (L : forall r, length (h ++ [r]) = length h0)
      by (intros; unfold h0; rewrite !app_length; reflexivity).
    apply Rle_trans with (sum (candidates (n h)) (fun r =>
      sum (transcripts sizes k h0) (fun t =>
        Rmax 0 (x * path first h0 t * law h r - y * path second h0 t * law' h r)))).
    + apply sum_le; intros r Hr. apply in_candidates in Hr.
      destruct (law_nonneg h r Hr) as [P Q].
      specialize (IH (h ++ [r]) (x * law h r) (y * law' h r)
                    (Rmult_le_pos _ _ X P) (Rmult_le_pos _ _ Y Q)).
      destruct (same_length k (h ++ [r]) h0 (L r)) as [E Ep].
      unfold hockey_stick in IH. rewrite E in IH.
      rewrite (sum_ext _ _ (fun t => Rmax 0 (x * law h r * path law (h ++ [r]) t
        - y * law' h r * path law' (h ++ [r]) t))) by (intros; cbn [path]; f_equal; ring).
      eapply Rle_trans; [exact IH|]. apply Req_le, sum_ext; intros t _.
      destruct (Ep t) as [-> ->]. f_equal. ring.
    + rewrite sum_swap.
      apply Rle_trans with (sum (transcripts sizes k h0) (fun t =>
        sum (candidates (m (length h))) (fun j =>
          Rmax 0 (x * path first h0 t * a (length h) j - y * path second h0 t * b (length h) j)))).
      * apply sum_le; intros t Ht. destruct (path_pair_nonneg k h0 t Ht) as [P Q].
        exact (round_dominated h (x * path first h0 t) (y * path second h0 t)
                 (Rmult_le_pos _ _ X P) (Rmult_le_pos _ _ Y Q)).
      * rewrite sum_swap. apply Req_le. unfold sizes at 2. apply sum_ext; intros j _.
        destruct (same_length k (h ++ [j]) h0 (L j)) as [E Ep]. rewrite E.
        apply sum_ext; intros t _. cbn [path]. destruct (Ep t) as [-> ->].
        f_equal. unfold first, second. ring.
Qed.
End Dominating.

(** The hockey-stick of the Laplace pair. *)
Definition laplace_curve (eps tau : R) : R :=
  if Rle_dec tau (exp (- eps)) then 1 - tau
  else if Rle_dec tau (exp eps) then 1 - sqrt (tau * exp (- eps))
  else 0.

Lemma hockey_stick_average n p p' tau : exists phi, test n phi /\
  hockey_stick (candidates n) p p' 1 tau = average n phi p - tau * average n phi p'.
Proof.
  exists (fun r => if Rle_dec (1 * p r - tau * p' r) 0 then 0 else 1). split.
  - intros r _. destruct Rle_dec; lra.
  - unfold hockey_stick, average.
    replace (sum (candidates n) _ - tau * sum (candidates n) _) with
      (sum (candidates n) (fun r => (if Rle_dec (1 * p r - tau * p' r) 0 then 0 else 1) * p r)
       + (- tau) * sum (candidates n)
           (fun r => (if Rle_dec (1 * p r - tau * p' r) 0 then 0 else 1) * p' r)) by ring.
    rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros r _.
    destruct Rle_dec; [rewrite Rmax_left by lra | rewrite Rmax_right by lra]; lra.
Qed.

Theorem dominated_hockey_stick n p p' eps tau : 0 <= eps -> 0 <= tau ->
  (forall r, (r < n)%nat -> 0 <= p r) -> sum (candidates n) p = 1 ->
  laplace_dominated n p p' eps ->
  hockey_stick (candidates n) p p' 1 tau <= laplace_curve eps tau.
Proof.
  intros He Ht P M D. destruct (hockey_stick_average n p p' tau) as (phi & T & ->).
  assert (Y : 0 <= average n phi p').
  { pose proof (dominated_approx_dp n p p' eps eps phi ltac:(lra) T P M D) as A.
    unfold delta_laplace in A. replace ((eps - eps) / 2) with 0 in A by lra.
    rewrite exp_0 in A. pose proof (average_le_total n phi p T P). pose proof (exp_pos eps).
    apply (Rmult_le_reg_l (exp eps)); lra. }
  pose proof (average_le_total n phi p T P) as [X0 X1]. rewrite M in X1.
  unfold laplace_curve. destruct Rle_dec as [A|A]; [|destruct Rle_dec as [B|B]].
  - pose proof (dominated_approx_dp n p p' eps (- eps) phi ltac:(lra) T P M D) as L.
    unfold delta_laplace in L. replace ((- eps - eps) / 2) with (- eps) in L by lra.
    assert (Y1 : (1 - average n phi p') * exp (- eps) <= 1 - average n phi p) by lra.
    destruct (Rle_dec (average n phi p') 1); [|nra].
    assert ((1 - average n phi p') * tau <= (1 - average n phi p') * exp (- eps))
      by (apply Rmult_le_compat_l; lra). lra.
  - assert (0 < tau) by (pose proof (exp_pos (- eps)); lra).
    assert (E : exp (ln tau) = tau) by now apply exp_ln.
    assert (R : - eps <= ln tau <= eps).
    { split; [rewrite <- (ln_exp (- eps)) | rewrite <- (ln_exp eps)]; apply ln_le_inv';
        try apply exp_pos; lra. }
    pose proof (dominated_approx_dp n p p' eps (ln tau) phi R T P M D) as L.
    rewrite E in L. unfold delta_laplace in L.
    replace (sqrt (tau * exp (- eps))) with (exp ((ln tau - eps) / 2)); [lra|].
    symmetry. apply sqrt_lem_1; [| apply Rlt_le, exp_pos |].
    + apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos].
    + rewrite <- exp_plus. replace ((ln tau - eps) / 2 + (ln tau - eps) / 2) with (ln tau + - eps) by lra.
      now rewrite exp_plus, E.
  - pose proof (dominated_approx_dp n p p' eps eps phi ltac:(lra) T P M D) as L.
    unfold delta_laplace in L. replace ((eps - eps) / 2) with 0 in L by lra. rewrite exp_0 in L.
    assert (exp eps * average n phi p' <= tau * average n phi p')
      by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma hockey_stick_scale {A} (l : list A) p p' x y : 0 < x ->
  hockey_stick l p p' x y = x * hockey_stick l p p' 1 (y / x).
Proof.
  intros X. unfold hockey_stick. rewrite <- sum_scal. apply sum_ext; intros r _.
  replace (x * p r - y * p' r) with (x * (1 * p r - y / x * p' r)) by (field; lra).
  rewrite <- (Rmult_0_r x) at 1. rewrite RmaxRmult by lra. reflexivity.
Qed.

(** Lists, fixed in advance, of releases that the Laplace pair dominates; any finite pairs above its curve,
    such as those of a grid, may be used to compose them. *)
Theorem laplace_list_composition n law law' eps m a b :
  (forall i, 0 <= eps i) ->
  (forall h r, (r < n h)%nat -> 0 <= law h r /\ 0 <= law' h r) ->
  (forall h, sum (candidates (n h)) (law h) = 1) ->
  (forall h, laplace_dominated (n h) (law h) (law' h) (eps (length h))) ->
  (forall i r, (r < m i)%nat -> 0 <= a i r /\ 0 <= b i r) ->
  (forall i tau, 0 <= tau ->
     laplace_curve (eps i) tau <= hockey_stick (candidates (m i)) (a i) (b i) 1 tau) ->
  forall k tau, 0 <= tau ->
  hockey_stick (transcripts n k []) (path law []) (path law' []) 1 tau
  <= hockey_stick (transcripts (fun h => m (length h)) k [])
       (path (fun h => a (length h)) []) (path (fun h => b (length h)) []) 1 tau.
Proof.
  intros He N M D B C k tau Ht. apply dominated_composition; auto; [|lra].
  intros h x y X Y. destruct (Rle_lt_or_eq_dec 0 x X) as [X'|<-].
  - rewrite !(hockey_stick_scale _ _ _ x) by auto. apply Rmult_le_compat_l; [lra|].
    assert (0 <= y / x) by (apply Rmult_le_pos; [auto | apply Rlt_le, Rinv_0_lt_compat, X']).
    eapply Rle_trans; [|now apply C].
    apply dominated_hockey_stick; auto. intros; now apply N.
  - apply Rle_trans with 0.
    + unfold hockey_stick. rewrite (sum_ext _ _ (fun _ => 0)).
      * rewrite sum_const. lra.
      * intros r Hr. apply in_candidates in Hr. destruct (N h r Hr). rewrite Rmax_left; nra.
    + apply sum_nonneg; intros; apply Rmax_l.
Qed.
