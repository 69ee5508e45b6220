(** docs/proofs/sampling.md, lemma 16: which candidate is kept first, and when. Proposals come at the times of
    a Poisson process: each wait is - ln u / Lambda for a uniform u. A proposal at time x is candidate r with
    chance w r / Lambda and is kept with chance keep r x. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk.
Import ListNotations.
Open Scope R_scope.

(** The expectation of [phi r] for the candidate r that is kept first, if it is one of the next [k] proposals
    and is kept before [T]; the time is now [t]. *)
Fixpoint kept_within (l : list nat) (w : nat -> R) (keep : nat -> R -> R) (T : R) (phi : nat -> R)
    (k : nat) (t : R) : R :=
  match k with
  | O => 0
  | S k => let Lambda := sum l w in
      int (fun u => let x := t - ln u / Lambda in
        sum l (fun r => w r / Lambda *
          (keep r x * phi r + (1 - keep r x) * kept_within l w keep T phi k x)))
        (exp (- (Lambda * (T - t)))) 1
  end.

(** ** Integrals *)

(** [ring] and [field] need equations between real numbers. *)
Ltac real := match goal with |- ?a = ?b => change (@eq RbaseSymbolsImpl.R a b) end.

Lemma int_ext_in (f g : R -> R) a b : a <= b -> (forall x, a <= x <= b -> f x = g x) -> int f a b = int g a b.
Proof.
  intros L H. unfold int. apply RInt_ext. intros x. rewrite Rmin_left, Rmax_right by exact L.
  intros X. apply H. lra.
Qed.

Lemma cont_exp (f : R -> R) : cont f -> cont (fun x => exp (f x)).
Proof. intros F x. apply (continuous_comp f exp); [apply F | apply continuous_exp]. Qed.

Lemma cont_derive (f f' : R -> R) : (forall x, is_derive f x (f' x)) -> cont f.
Proof. intros D x. apply (ex_derive_continuous f). exists (f' x). apply D. Qed.

Lemma cont_sum_in (l : list nat) (f : nat -> R -> R) :
  (forall t, In t l -> cont (f t)) -> cont (fun u => sum l (fun t => f t u)).
Proof.
  induction l as [|x l IH]; intros F; cbn [sum fold_right]; [cont|].
  apply (cont_plus (f x)); [apply F; now left | apply IH; intros; apply F; now right].
Qed.

Lemma int_sum_in (l : list nat) (f : nat -> R -> R) a b : (forall t, In t l -> cont (f t)) ->
  int (fun u => sum l (fun t => f t u)) a b = sum l (fun t => int (f t) a b).
Proof.
  induction l as [|t l IH]; intros F; cbn [sum fold_right]; [rewrite int_const; ring|].
  fold (sum l (fun t => int (f t) a b)). rewrite <- IH by (intros; apply F; now right).
  apply (int_plus (f t)); [apply F; now left | apply cont_sum_in; intros; apply F; now right].
Qed.

Lemma derive_from (f : R -> R) a x : cont f -> is_derive (fun x => int f a x) x (f x).
Proof.
  intros F. apply (is_derive_RInt f (fun x => int f a x) a); [|apply F].
  apply filter_forall. intros y. apply (RInt_correct f). now apply int_ex.
Qed.

Lemma decay_derive c a t x : is_derive (fun x => a * exp (- (c * (x - t)))) x (- (c * a) * exp (- (c * (x - t)))).
Proof. auto_derive; [exact I|]. unfold Rminus. real. ring. Qed.

Lemma decay_cont c a t : cont (fun x => a * exp (- (c * (x - t)))).
Proof. apply (cont_derive _ _ (decay_derive c a t)). Qed.

Lemma decay_cont_1 c t : cont (fun x => exp (- (c * (x - t)))).
Proof.
  intros x. apply (continuous_ext (fun x => 1 * exp (- (c * (x - t))))); [intros; apply Rmult_1_l | apply decay_cont].
Qed.

(** A uniform number makes a wait. *)
Lemma int_waits (G : R -> R) Lambda t T : 0 < Lambda -> t <= T -> cont G ->
  int (fun u => G (t - ln u / Lambda)) (exp (- (Lambda * (T - t)))) 1
  = int (fun x => Lambda * exp (- (Lambda * (x - t))) * G x) t T.
Proof.
  intros L TT C. set (g := fun x => exp (- (Lambda * (x - t)))).
  assert (E := RInt_comp (fun u => G (t - ln u / Lambda)) g (fun x => - Lambda * g x) t T).
  assert (B : forall x, t - ln (g x) / Lambda = x) by (intros x; unfold g; rewrite ln_exp; field; lra).
  assert (G1 : g t = 1) by (unfold g; replace (- (Lambda * (t - t))) with 0 by ring; apply exp_0).
  rewrite G1 in E. fold (g T). unfold int.
  rewrite <- opp_RInt_swap.
  2: { apply (ex_RInt_continuous (fun u => G (t - ln u / Lambda))). intros u U.
       assert (gT : 0 < g T) by apply exp_pos.
       assert (U0 : 0 < u).
       { eapply Rlt_le_trans; [|apply U]. apply Rmin_glb_lt; lra. }
       apply (continuous_comp (fun u => t - ln u / Lambda) G); [|apply C].
       apply (ex_derive_continuous (fun u => t - ln u / Lambda)). auto_derive. exact U0. }
  rewrite <- E.
  - change (- RInt (fun y => - Lambda * g y * G (t - ln (g y) / Lambda)) t T
      = RInt (fun x => Lambda * g x * G x) t T).
    rewrite <- (RInt_opp (fun y => - Lambda * g y * G (t - ln (g y) / Lambda))).
    + apply RInt_ext. intros x _. rewrite B. change (- (- Lambda * g x * G x) = Lambda * g x * G x). ring.
    + apply (ex_RInt_ext (fun x => - Lambda * g x * G x)); [intros x _; now rewrite B|].
      apply int_ex. apply (cont_mult (fun x => - Lambda * g x) G); [|exact C].
      apply decay_cont.
  - intros x _. apply (continuous_comp (fun u => t - ln u / Lambda) G); [|apply C].
    apply (ex_derive_continuous (fun u => t - ln u / Lambda)). auto_derive. apply exp_pos.
  - intros x _. split.
    + apply (is_derive_ext (fun x => 1 * exp (- (Lambda * (x - t))))); [intros; apply Rmult_1_l|].
      evar_last; [apply decay_derive|]. unfold g. now rewrite Rmult_1_r.
    + apply decay_cont.
Qed.

(** ** The law of the first proposal kept *)

Section Kept.
Variables (l : list nat) (w : nat -> R) (keep h : nat -> R -> R) (T : R) (phi : nat -> R).
Let Lambda := sum l w.
Hypothesis rate_pos : 0 < Lambda.
Hypothesis T_pos : 0 <= T.
Hypothesis rates : forall r, In r l -> cont (h r).
Hypothesis keeps : forall r x, In r l -> w r * keep r x = h r x.
Hypothesis h_nonneg : forall r x, In r l -> 0 <= h r x.
Hypothesis h_most : forall r x, In r l -> 0 <= x -> h r x <= w r.
Hypothesis phi_range : forall r, 0 <= phi r <= 1.

Definition all_rates x := sum l (fun r => h r x).
Definition wanted x := sum l (fun r => h r x * phi r).

Lemma all_rates_cont : cont all_rates.
Proof. now apply cont_sum_in. Qed.
Lemma wanted_cont : cont wanted.
Proof. apply cont_sum_in. intros r R. apply (cont_mult (h r) (fun _ => phi r)); [now apply rates | cont]. Qed.

Definition passed x := exp (- int all_rates 0 x).
Definition later x := int (fun y => wanted y * passed y) x T.
(** The law, from time x on. *)
Definition from x := later x / passed x.

Lemma passed_derive x : is_derive passed x (- all_rates x * passed x).
Proof.
  unfold passed. assert (D := derive_from all_rates 0 x all_rates_cont).
  evar_last. { apply (is_derive_comp exp (fun x => - int all_rates 0 x)); [apply is_derive_exp|].
    apply (is_derive_opp (fun x => int all_rates 0 x)). exact D. }
  change (- all_rates x * exp (- int all_rates 0 x) = - all_rates x * exp (- int all_rates 0 x)). ring.
Qed.

Lemma passed_pos x : 0 < passed x.
Proof. apply exp_pos. Qed.
Lemma passed_cont : cont passed.
Proof. apply (cont_derive _ _ passed_derive). Qed.

Lemma product_cont : cont (fun y => wanted y * passed y).
Proof. apply (cont_mult wanted passed); [apply wanted_cont | apply passed_cont]. Qed.

Lemma later_derive x : is_derive later x (- (wanted x * passed x)).
Proof.
  apply (is_derive_ext (fun x => - int (fun y => wanted y * passed y) T x)).
  - intros y. unfold later, int.
    change (opp (RInt (fun y => wanted y * passed y) T y) = RInt (fun y => wanted y * passed y) y T).
    apply opp_RInt_swap. apply int_ex, product_cont.
  - apply (is_derive_opp (fun x => int (fun y => wanted y * passed y) T x)).
    apply (derive_from (fun y => wanted y * passed y)), product_cont.
Qed.

Lemma from_derive x : is_derive from x (all_rates x * from x - wanted x).
Proof.
  unfold from. pose proof (passed_pos x) as P.
  evar_last. { apply (is_derive_div later passed); [apply later_derive | apply passed_derive | lra]. }
  field. lra.
Qed.

Lemma from_cont : cont from.
Proof. apply (cont_derive _ _ from_derive). Qed.

Lemma from_end : from T = 0.
Proof. unfold from, later, int. rewrite RInt_point. unfold zero; simpl. unfold Rdiv. ring. Qed.

Definition density t x := Lambda * exp (- (Lambda * (x - t))).
(** What a proposal at time x gives, if [A] is what happens afterwards. *)
Definition once (A : R -> R) x := wanted x / Lambda + (1 - all_rates x / Lambda) * A x.

Lemma density_cont t : cont (density t).
Proof.
  apply decay_cont.
Qed.

Lemma density_pos t x : 0 < density t x.
Proof. apply Rmult_lt_0_compat; [exact rate_pos | apply exp_pos]. Qed.

Lemma once_cont A : cont A -> cont (once A).
Proof.
  intros C. unfold once, Rdiv. apply (cont_plus (fun x => wanted x * / Lambda)).
  - apply (cont_mult wanted); [apply wanted_cont | cont].
  - apply (cont_mult (fun x => 1 - all_rates x * / Lambda) A); [|exact C].
    apply (cont_minus (fun _ => 1)); [cont|]. apply (cont_mult all_rates); [apply all_rates_cont | cont].
Qed.

(** The law satisfies the recursion of the proposals. *)
Lemma from_fixed t : from t = int (fun x => density t x * once from x) t T.
Proof.
  pose (F := fun x => - (exp (- (Lambda * (x - t))) * from x)).
  assert (D : forall x, is_derive F x (density t x * once from x)).
  { intros x. unfold F. assert (D1 : is_derive (fun x => exp (- (Lambda * (x - t)))) x (- density t x)).
    { apply (is_derive_ext (fun x => 1 * exp (- (Lambda * (x - t))))); [intros; apply Rmult_1_l|].
      evar_last; [apply decay_derive|]. unfold density. real. ring. }
    evar_last. { apply (is_derive_opp (fun x => exp (- (Lambda * (x - t))) * from x)).
      apply (is_derive_mult (fun x => exp (- (Lambda * (x - t)))) from); [exact D1 | apply from_derive|].
      intros; apply Rmult_comm. }
    unfold once, density. set (e := exp (- (Lambda * (x - t)))).
    change (- (- (Lambda * e) * from x + e * (all_rates x * from x - wanted x))
      = Lambda * e * (wanted x / Lambda + (1 - all_rates x / Lambda) * from x)). field. lra. }
  rewrite (int_derive F); [|exact D|].
  - unfold F. rewrite from_end. replace (- (Lambda * (t - t))) with 0 by ring. rewrite exp_0. ring.
  - apply (cont_mult (density t) (once from)); [apply density_cont | apply once_cont, from_cont].
Qed.

Let K := kept_within l w keep T phi.

Lemma one_proposal A x : sum l (fun r => w r / Lambda * (keep r x * phi r + (1 - keep r x) * A)) =
  wanted x / Lambda + (1 - all_rates x / Lambda) * A.
Proof.
  assert (E : forall m, incl m l -> sum m (fun r => w r / Lambda * (keep r x * phi r + (1 - keep r x) * A)) =
    sum m (fun r => h r x * phi r) / Lambda + (sum m w / Lambda - sum m (fun r => h r x) / Lambda) * A).
  { induction m as [|r m IH]; intros M; [simpl; unfold Rdiv; ring|].
    cbn [sum fold_right]. fold (sum m (fun r => w r / Lambda * (keep r x * phi r + (1 - keep r x) * A))).
    fold (sum m (fun r => h r x * phi r)). fold (sum m w). fold (sum m (fun r => h r x)).
    rewrite IH by (intros y Y; apply M; now right). rewrite <- (keeps r x) by (apply M; now left). field. lra. }
  rewrite E by apply incl_refl. fold Lambda. unfold wanted, all_rates. field. lra.
Qed.

Lemma K_next_and_cont k : cont (fun t => K k (Rmin t T)) /\
  forall t, t <= T -> K (S k) t = int (fun x => density t x * once (fun y => K k (Rmin y T)) x) t T.
Proof.
  assert (N : forall k, cont (fun t => K k (Rmin t T)) ->
    forall t, t <= T -> K (S k) t = int (fun x => density t x * once (fun y => K k (Rmin y T)) x) t T).
  { clear k. intros k C t H. pose (G := once (fun x => K k (Rmin x T))).
    assert (CG : cont G) by now apply once_cont.
    change (int (fun x => density t x * once (fun y => K k (Rmin y T)) x) t T)
      with (int (fun x => Lambda * exp (- (Lambda * (x - t))) * G x) t T).
    rewrite <- int_waits by assumption.
    unfold K. cbn [kept_within]. fold Lambda K.
    assert (P := exp_pos (- (Lambda * (T - t)))).
    assert (P1 : exp (- (Lambda * (T - t))) <= 1).
    { rewrite <- exp_0. apply exp_le. assert (0 <= Lambda * (T - t)) by (apply Rmult_le_pos; lra). lra. }
    apply int_ext_in; [exact P1|]. intros u U.
    assert (X : t - ln u / Lambda <= T).
    { assert (L : - (Lambda * (T - t)) <= ln u) by (rewrite <- (ln_exp (- (Lambda * (T - t)))); apply ln_le; lra).
      apply Rmult_le_reg_l with Lambda; [exact rate_pos|].
      replace (Lambda * (t - ln u / Lambda)) with (Lambda * t - ln u) by (field; lra). lra. }
    rewrite one_proposal. unfold G, once. now rewrite Rmin_left by exact X. }
  induction k as [|k [IHc IH]].
  - assert (C : cont (fun t => K 0 (Rmin t T))) by (unfold K; cbn [kept_within]; cont).
    split; [exact C | now apply N].
  - assert (C : cont (fun t => K (S k) (Rmin t T))).
    { (* the integral, written so that t is at its end and outside *)
      pose (G := once (fun x => K k (Rmin x T))).
      assert (CG : cont (fun x => exp (- (Lambda * x)) * G x)).
      { apply (cont_mult (fun x => exp (- (Lambda * x))) G); [|now apply once_cont].
        intros x. apply (continuous_ext (fun x => exp (- (Lambda * (x - 0))))); [intros; now rewrite Rminus_0_r | apply decay_cont_1]. }
      pose (J := fun t => - (Lambda * exp (Lambda * t)) * int (fun x => exp (- (Lambda * x)) * G x) T t).
      assert (CJ : cont J).
      { unfold J. apply (cont_mult (fun t => - (Lambda * exp (Lambda * t)))).
        - intros x. apply (continuous_ext (fun x => - Lambda * exp (- (- Lambda * (x - 0))))); [|apply decay_cont].
          intros y. replace (- (- Lambda * (y - 0))) with (Lambda * y) by ring.
          real. ring.
        - apply (cont_derive _ (fun x => exp (- (Lambda * x)) * G x)). intros y.
          now apply (derive_from (fun x => exp (- (Lambda * x)) * G x)). }
      assert (E : forall t, t <= T -> K (S k) t = J t).
      { intros t H. rewrite IH by exact H. unfold J.
        replace (int (fun x => exp (- (Lambda * x)) * G x) T t) with (- int (fun x => exp (- (Lambda * x)) * G x) t T).
        2: { unfold int. change (opp (RInt (fun x => exp (- (Lambda * x)) * G x) t T) = RInt (fun x => exp (- (Lambda * x)) * G x) T t).
             apply opp_RInt_swap. now apply int_ex. }
        replace (- (Lambda * exp (Lambda * t)) * - int (fun x => exp (- (Lambda * x)) * G x) t T)
          with (Lambda * exp (Lambda * t) * int (fun x => exp (- (Lambda * x)) * G x) t T) by ring.
        rewrite <- int_scal by exact CG. apply int_ext. intros x. unfold density, G.
        replace (- (Lambda * (x - t))) with (Lambda * t + - (Lambda * x)) by ring. rewrite exp_plus. ring. }
      intros t. apply (continuous_ext (fun t => J (Rmin t T))).
      - intros y. symmetry. apply E. apply Rmin_r.
      - apply (continuous_comp (fun t => Rmin t T) J); [|apply CJ].
        apply (continuous_ext (fun t => (t + T - Rabs (t - T)) / 2)).
        + intros y. unfold Rmin, Rabs. destruct Rle_dec, Rcase_abs; lra.
        + apply (continuous_mult (fun t => t + T - Rabs (t - T)) (fun _ => / 2)); [|apply continuous_const].
          apply (continuous_minus (fun t => t + T) (fun t => Rabs (t - T))).
          * apply (continuous_plus (fun t => t) (fun _ => T)); [apply continuous_id | apply continuous_const].
          * apply (continuous_comp (fun t => t - T) Rabs); [|apply continuous_Rabs].
            apply (continuous_minus (fun t => t) (fun _ => T)); [apply continuous_id | apply continuous_const]. }
    split; [exact C | now apply N].
Qed.

(** The chance that a proposal comes before the end. *)
Let rho := 1 - exp (- (Lambda * T)).

Lemma density_total t : t <= T -> int (density t) t T = 1 - exp (- (Lambda * (T - t))).
Proof.
  intros H. rewrite (int_derive (fun x => - exp (- (Lambda * (x - t))))).
  - replace (- (Lambda * (t - t))) with 0 by ring. rewrite exp_0. ring.
  - intros x. apply (is_derive_ext (fun x => -1 * exp (- (Lambda * (x - t))))).
    { intros y. real. ring. }
    evar_last; [apply decay_derive|]. unfold density. real. ring.
  - apply density_cont.
Qed.

Lemma kept_share x : 0 <= x -> 0 <= 1 - all_rates x / Lambda <= 1.
Proof.
  intros X. assert (0 <= all_rates x) by (apply sum_nonneg; intros; now apply h_nonneg).
  assert (all_rates x <= Lambda) by (apply sum_le; intros; now apply h_most).
  assert (0 < / Lambda) by now apply Rinv_0_lt_compat.
  assert (all_rates x / Lambda <= 1) by (apply Rmult_le_reg_r with Lambda; [exact rate_pos|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (0 <= all_rates x / Lambda) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma from_range t : 0 <= t <= T -> 0 <= from t <= 1.
Proof.
  intros H. pose proof (passed_pos t) as P. pose proof (passed_pos T) as PT.
  assert (L0 : 0 <= later t).
  { apply int_nonneg; [lra | apply product_cont|]. intros x X. apply Rmult_le_pos; [|apply Rlt_le, passed_pos].
    apply sum_nonneg. intros r R. apply Rmult_le_pos; [now apply h_nonneg | apply phi_range]. }
  assert (L1 : later t <= passed t).
  { apply Rle_trans with (int (fun y => all_rates y * passed y) t T).
    - apply int_le; [lra | apply product_cont | |].
      + apply (cont_mult all_rates passed); [apply all_rates_cont | apply passed_cont].
      + intros x X. apply Rmult_le_compat_r; [apply Rlt_le, passed_pos|]. apply sum_le. intros r R.
        rewrite <- (Rmult_1_r (h r x)) at 2. apply Rmult_le_compat_l; [now apply h_nonneg | apply phi_range].
    - rewrite (int_derive (fun x => - passed x)); [lra| |].
      + intros x. evar_last. { apply (is_derive_opp passed). apply passed_derive. }
        change (- (- all_rates x * passed x) = all_rates x * passed x). ring.
      + apply (cont_mult all_rates passed); [apply all_rates_cont | apply passed_cont]. }
  unfold from. split.
  - apply Rmult_le_pos; [exact L0 | now apply Rlt_le, Rinv_0_lt_compat].
  - apply Rmult_le_reg_r with (passed t); [exact P|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Theorem kept_close k : forall t, 0 <= t <= T -> 0 <= from t - K k t <= rho ^ k.
Proof.
  assert (R0 : 0 <= rho).
  { unfold rho. assert (exp (- (Lambda * T)) <= 1); [|lra]. rewrite <- exp_0. apply exp_le.
    assert (0 <= Lambda * T) by (apply Rmult_le_pos; lra). lra. }
  induction k as [|k IH]; intros t H.
  - unfold K. cbn [kept_within pow]. pose proof (from_range t H). lra.
  - destruct (K_next_and_cont k) as [C N]. rewrite N by apply H. rewrite from_fixed.
    assert (C1 : cont (fun x => density t x * once from x))
      by (apply (cont_mult (density t)); [apply density_cont | apply once_cont, from_cont]).
    assert (C2 : cont (fun x => density t x * once (fun y => K k (Rmin y T)) x))
      by (apply (cont_mult (density t)); [apply density_cont | now apply once_cont]).
    rewrite <- int_minus by assumption.
    assert (E : forall x, t <= x <= T -> density t x * once from x - density t x * once (fun y => K k (Rmin y T)) x
      = density t x * ((1 - all_rates x / Lambda) * (from x - K k x))).
    { intros x X. unfold once. rewrite Rmin_left by apply X. ring. }
    rewrite (int_ext_in _ _ t T (proj2 H) E).
    assert (CE : cont (fun x => density t x * ((1 - all_rates x / Lambda) * (from x - K k (Rmin x T))))).
    { apply (cont_mult (density t)); [apply density_cont|].
      apply (cont_mult (fun x => 1 - all_rates x / Lambda) (fun x => from x - K k (Rmin x T))).
      - unfold Rdiv. apply (cont_minus (fun _ => 1)); [cont|]. apply (cont_mult all_rates); [apply all_rates_cont | cont].
      - apply (cont_minus from); [apply from_cont | exact C]. }
    rewrite (int_ext_in _ (fun x => density t x * ((1 - all_rates x / Lambda) * (from x - K k (Rmin x T)))) t T (proj2 H)).
    2: { intros x X. now rewrite Rmin_left by apply X. }
    split.
    + apply int_nonneg; [apply H | exact CE|]. intros x X. apply Rmult_le_pos; [apply Rlt_le, density_pos|].
      rewrite Rmin_left by apply X. apply Rmult_le_pos; [apply kept_share; lra | apply IH; lra].
    + apply Rle_trans with (int (fun x => rho ^ k * density t x) t T).
      * apply int_le; [apply H | exact CE | |].
        { apply (cont_mult (fun _ => rho ^ k)); [cont | apply density_cont]. }
        intros x X. rewrite Rmin_left by apply X. rewrite (Rmult_comm (rho ^ k)).
        apply Rmult_le_compat_l; [apply Rlt_le, density_pos|].
        destruct (kept_share x ltac:(lra)) as [S0 S1]. destruct (IH x ltac:(lra)) as [I0 I1]. nra.
      * rewrite int_scal by apply density_cont. rewrite density_total by apply H. cbn [pow].
        rewrite (Rmult_comm rho). apply Rmult_le_compat_l; [now apply pow_le|]. unfold rho.
        assert (exp (- (Lambda * T)) <= exp (- (Lambda * (T - t)))); [|lra]. apply exp_le.
        assert (0 <= Lambda * t) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma kept_nonneg k : forall t, 0 <= t <= T -> 0 <= K k t.
Proof.
  induction k as [|k IH]; intros t H; [unfold K; cbn [kept_within]; lra|].
  destruct (K_next_and_cont k) as [C N]. rewrite N by apply H.
  apply int_nonneg; [apply H | apply (cont_mult (density t)); [apply density_cont | now apply once_cont]|].
  intros x X. apply Rmult_le_pos; [apply Rlt_le, density_pos|]. unfold once. rewrite Rmin_left by apply X.
  apply Rplus_le_le_0_compat.
  - apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat]. apply sum_nonneg. intros r R.
    apply Rmult_le_pos; [now apply h_nonneg | apply phi_range].
  - apply Rmult_le_pos; [apply kept_share; lra | apply IH; lra].
Qed.

(** [from 0] is the law of the candidate reached first, if that is before T. *)
Lemma passed_prod x : passed x = prod l (fun r => exp (- int (h r) 0 x)).
Proof.
  unfold passed, all_rates. rewrite int_sum_in by exact rates. clear.
  induction l as [|t m IH]; cbn [sum prod fold_right]; [rewrite Ropp_0; apply exp_0|].
  fold (sum m (fun t => int (h t) 0 x)). fold (prod m (fun r => exp (- int (h r) 0 x))).
  rewrite <- IH, <- exp_plus. f_equal. ring.
Qed.

Theorem first_kept_law k :
  0 <= int (fun x => sum l (fun r => h r x * phi r) * prod l (fun r => exp (- int (h r) 0 x))) 0 T
       - kept_within l w keep T phi k 0 <= (1 - exp (- (Lambda * T))) ^ k.
Proof.
  assert (E : from 0 = int (fun x => sum l (fun r => h r x * phi r) * prod l (fun r => exp (- int (h r) 0 x))) 0 T).
  { unfold from, later. unfold passed at 2. unfold int at 2. rewrite RInt_point. unfold zero; simpl.
    rewrite Ropp_0, exp_0. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. apply int_ext. intros x. now rewrite passed_prod. }
  rewrite <- E. apply kept_close. lra.
Qed.
End Kept.

(** ** Exponential noise *)

Section Exponential.
Variables (l : list nat) (w p : nat -> R).
Hypothesis distinct : NoDup l.
Hypothesis rates_pos : forall r, In r l -> 0 < w r.
Hypothesis chances : forall r, In r l -> 0 <= p r <= 1 /\ p r <= w r.

(** The coin p / w of a proposal, times 1 / odds. *)
Definition keep_exponential (r : nat) (x : R) : R := p r / w r / (1 + (1 - p r) * (exp x - 1)).
Definition rate_of (r : nat) (x : R) : R := p r / (1 + (1 - p r) * (exp x - 1)).
Definition unreached (r : nat) (x : R) : R := 1 - p r * (1 - exp (- x)).

Lemma odds_pos r x : In r l -> 0 < 1 + (1 - p r) * (exp x - 1).
Proof.
  intros R. destruct (chances r R) as [[P0 P1] _]. pose proof (exp_pos x) as E.
  destruct (Req_dec (p r) 0) as [Z|Z]; [rewrite Z; lra|].
  assert (0 <= (1 - p r) * exp x) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma unreached_pos r x : In r l -> 0 < unreached r x.
Proof.
  intros R. destruct (chances r R) as [[P0 P1] _]. pose proof (exp_pos (- x)) as E. unfold unreached.
  destruct (Req_dec (p r) 0) as [Z|Z]; [rewrite Z; lra|].
  assert (0 < p r * exp (- x)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma inverse_exp x : exp x * exp (- x) = 1.
Proof. rewrite <- exp_plus, Rplus_opp_r. apply exp_0. Qed.

Lemma rate_times_unreached r x : In r l -> rate_of r x * unreached r x = p r * exp (- x).
Proof.
  intros R. pose proof (odds_pos r x R) as O. unfold rate_of, unreached. pose proof (inverse_exp x) as I.
  apply Rmult_eq_reg_r with (1 + (1 - p r) * (exp x - 1)); [|lra].
  replace (p r / (1 + (1 - p r) * (exp x - 1)) * (1 - p r * (1 - exp (- x))) * (1 + (1 - p r) * (exp x - 1)))
    with (p r * (1 - p r * (1 - exp (- x)))) by (field; lra).
  replace (p r * exp (- x) * (1 + (1 - p r) * (exp x - 1)))
    with (p r * (p r * exp (- x) + (1 - p r) * (exp x * exp (- x)))) by ring. rewrite I. ring.
Qed.

Lemma rate_cont r : In r l -> cont (rate_of r).
Proof.
  intros R x. pose proof (odds_pos r x R) as O. apply (ex_derive_continuous (rate_of r)). unfold rate_of.
  auto_derive. unfold Rminus in O. lra.
Qed.

Lemma reached_late r x : In r l -> exp (- int (rate_of r) 0 x) = unreached r x.
Proof.
  intros R. rewrite (int_derive (fun x => - ln (unreached r x))).
  - unfold unreached at 2. rewrite Ropp_0, exp_0.
    replace (1 - p r * (1 - 1)) with 1 by ring. rewrite ln_1.
    replace (- (- ln (unreached r x) - - 0)) with (ln (unreached r x)) by ring.
    apply exp_ln, unreached_pos, R.
  - intros y. pose proof (unreached_pos r y R) as U. pose proof (rate_times_unreached r y R) as E.
    replace (rate_of r y) with (p r * exp (- y) / unreached r y).
    2: { rewrite <- E. field. lra. }
    unfold unreached in *. auto_derive; [unfold Rminus in U; lra|]. unfold Rminus.
    real. field. unfold Rminus in U. lra.
  - now apply rate_cont.
Qed.

Lemma rate_at_most r x : In r l -> 0 <= x -> 0 <= rate_of r x <= w r.
Proof.
  intros R X. destruct (chances r R) as [[P0 P1] W]. pose proof (odds_pos r x R) as O. unfold rate_of.
  assert (1 <= exp x) by (rewrite <- exp_0; now apply exp_le).
  assert (1 <= 1 + (1 - p r) * (exp x - 1)).
  { assert (0 <= (1 - p r) * (exp x - 1)) by (apply Rmult_le_pos; lra). lra. }
  split; [apply Rmult_le_pos; [exact P0 | now apply Rlt_le, Rinv_0_lt_compat]|].
  apply Rle_trans with (p r); [|exact W]. apply Rmult_le_reg_r with (1 + (1 - p r) * (exp x - 1)); [exact O|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_1_r. rewrite <- (Rmult_1_r (p r)) at 1.
  now apply Rmult_le_compat_l.
Qed.

Lemma sum_one (f : nat -> R) r : In r l -> sum l (fun t => f t * indicator t r) = f r.
Proof.
  intros R. rewrite (sum_without r l) by assumption. unfold indicator at 1. rewrite Nat.eqb_refl.
  rewrite (sum_ext (without r l) _ (fun _ => 0)).
  - rewrite sum_const. ring.
  - intros t H. apply in_without in H as [_ D]. unfold indicator. rewrite (proj2 (Nat.eqb_neq t r) D). ring.
Qed.

(** The first candidate kept is a uniform choice among the heads of coins [p]: the time and the number of
    proposals are bounded by T and k, and the chance of exceeding these bounds vanishes. *)
Theorem exponential_kept r T k : In r l -> 0 <= T ->
  0 <= kept_within l w keep_exponential T (fun t => indicator t r) k 0 /\
  0 <= uniform_head p l r - kept_within l w keep_exponential T (fun t => indicator t r) k 0
    <= exp (- T) + (1 - exp (- (sum l w * T))) ^ k.
Proof.
  intros R T0.
  assert (L : 0 < sum l w) by (apply sum_pos; [now intros -> | exact rates_pos]).
  assert (A := first_kept_law l w keep_exponential rate_of T (fun t => indicator t r) L T0 rate_cont).
  assert (Kp : forall t x, In t l -> w t * keep_exponential t x = rate_of t x).
  { intros t x H. unfold keep_exponential, rate_of. pose proof (rates_pos t H). pose proof (odds_pos t x H). field. lra. }
  assert (Hn : forall t x, In t l -> 0 <= rate_of t x).
  { intros t x H. destruct (chances t H) as [[P0 _] _]. apply Rmult_le_pos; [exact P0|].
    now apply Rlt_le, Rinv_0_lt_compat, odds_pos. }
  assert (Hm : forall t x, In t l -> 0 <= x -> rate_of t x <= w t) by (intros t x H X; now apply rate_at_most).
  assert (Ph : forall t, 0 <= indicator t r <= 1) by (intros t; unfold indicator; destruct (t =? r)%nat; lra).
  split.
  { apply (kept_nonneg l w keep_exponential rate_of T (fun t => indicator t r) L rate_cont Kp Hn Hm Ph). lra. }
  assert (B : forall k, 0 <= int (fun x => p r * exp (- x) * rest p (without r l) (1 - exp (- x))) 0 T
       - kept_within l w keep_exponential T (fun t => indicator t r) k 0 <= (1 - exp (- (sum l w * T))) ^ k).
  { intros j. assert (E : int (fun x => sum l (fun t => rate_of t x * indicator t r) *
        prod l (fun t => exp (- int (rate_of t) 0 x))) 0 T
      = int (fun x => p r * exp (- x) * rest p (without r l) (1 - exp (- x))) 0 T).
    { apply int_ext. intros x. rewrite (sum_one (fun t => rate_of t x) r R).
      rewrite (prod_ext l _ (fun t => unreached t x)) by (intros; now apply reached_late).
      rewrite (prod_without r l (fun t => unreached t x)) by assumption.
      rewrite <- Rmult_assoc, rate_times_unreached by exact R. f_equal. unfold rest, unreached.
      apply prod_ext. intros. ring. }
    rewrite <- E. now apply A. }
  clear A. specialize (B k).
  (* u = 1 - e^(-x) *)
  assert (C : int (fun x => p r * exp (- x) * rest p (without r l) (1 - exp (- x))) 0 T
            = p r * int (rest p (without r l)) 0 (1 - exp (- T))).
  { rewrite (int_ext _ (fun x => p r * (exp (- x) * rest p (without r l) (1 - exp (- x))))) by (intros; ring).
    assert (S := RInt_comp (rest p (without r l)) (fun x => 1 - exp (- x)) (fun x => exp (- x)) 0 T).
    cbv beta in S. rewrite Ropp_0, exp_0, Rminus_diag_eq in S by reflexivity.
    rewrite int_scal.
    - f_equal. unfold int. rewrite <- S; [apply RInt_ext; intros; reflexivity | |].
      + intros x _. apply rest_cont.
      + intros x _. split; [|apply cont_exp, (cont_derive _ (fun _ => -1)); intros y; auto_derive; [exact I | ring]].
        auto_derive; [exact I|]. real. ring.
    - apply (cont_mult (fun x => exp (- x))).
      + apply cont_exp, (cont_derive _ (fun _ => -1)). intros y. auto_derive; [exact I | ring].
      + intros x. apply (continuous_comp (fun x => 1 - exp (- x)) (rest p (without r l))); [|apply rest_cont].
        apply (ex_derive_continuous (fun x => 1 - exp (- x))). auto_derive. exact I. }
  rewrite C in B. rewrite uniform_head_law by assumption.
  rewrite (int_chasles _ 0 (1 - exp (- T)) 1) by apply rest_cont.
  pose proof (exp_pos (- T)) as ET.
  assert (ET1 : exp (- T) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
  assert (D : 0 <= int (rest p (without r l)) (1 - exp (- T)) 1 <= exp (- T)).
  { assert (Range : forall x, 1 - exp (- T) <= x <= 1 -> 0 <= rest p (without r l) x <= 1).
    { intros x X. assert (Q : forall t, In t (without r l) -> 0 <= 1 - x * p t <= 1).
      { intros t H. apply in_without in H as [H _]. destruct (chances t H) as [[P0 P1] _]. nra. }
      split; [apply prod_nonneg; intros; now apply Q|].
      apply Rle_trans with (prod (without r l) (fun _ => 1)); [now apply prod_le|].
      clear. induction (without r l) as [|y m IH]; simpl; lra. }
    split.
    - apply int_nonneg; [lra | apply rest_cont|]. intros x X. now apply Range.
    - apply Rle_trans with (int (fun _ => 1) (1 - exp (- T)) 1).
      + apply int_le; [lra | apply rest_cont | cont|]. intros x X. now apply Range.
      + rewrite int_const. lra. }
  destruct (chances r R) as [[P0 P1] _].
  assert (0 <= p r * int (rest p (without r l)) (1 - exp (- T)) 1 <= exp (- T)).
  { split; [apply Rmult_le_pos; lra|]. apply Rle_trans with (1 * int (rest p (without r l)) (1 - exp (- T)) 1); [|lra].
    apply Rmult_le_compat_r; lra. }
  lra.
Qed.
End Exponential.
