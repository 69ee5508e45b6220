(** Permute-and-flip is noisy max with exponential noise:
    docs/proofs/permute-and-flip.md, lemma 2.

    [density] is the density at y of "r's noisy score is y and all others are below". No winner lies below the
    best score; the integral from there up to b tends to [pf], with an explicit remainder instead of a limit.
    *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism PureDP.
Import ListNotations.
Open Scope R_scope.

Definition density (s : R) (n : nat) (q : nat -> R) (r : nat) (y : R) : R :=
  / s * exp (- (y - q r) / s) *
  prod (others n r) (fun t => 1 - exp (- (y - q t) / s)).

Lemma cont_exp f : cont f -> cont (fun x => exp (f x)).
Proof.
  intros F x. apply (continuous_comp f exp); [apply F|].
  apply (ex_derive_continuous exp). auto_derive. exact I.
Qed.

Lemma density_cont s n q r : cont (density s n q r).
Proof.
  assert (E : forall t, cont (fun y => exp (- (y - q t) / s))).
  { intros t. apply cont_exp. intros x.
    apply (ex_derive_continuous (fun y => - (y - q t) / s)).
    auto_derive. exact I. }
  pose proof (E r). unfold density.
  apply (cont_mult (fun y => / s * exp (- (y - q r) / s))); [cont|].
  apply (cont_prod _ (fun t y => 1 - exp (- (y - q t) / s))); intros t.
  pose proof (E t). cont.
Qed.

Section Noisy.
Variables (s : R) (n : nat) (q : nat -> R) (r : nat).
Hypotheses (s_pos : 0 < s) (r_ok : (r < n)%nat).
Let W := rivals s q (others n r).
Let G v := int W 0 v.

Lemma G_derive v : is_derive G v (W v).
Proof.
  apply (is_derive_RInt W G 0 v).
  - apply filter_forall. intros x. apply (RInt_correct W), int_ex, rivals_cont.
  - apply rivals_cont.
Qed.

Lemma exp_shift t y : exp (- y / s) * exp (q t / s) = exp (- (y - q t) / s).
Proof. rewrite <- exp_plus. f_equal. unfold Rdiv; ring. Qed.

Lemma antiderivative y :
  is_derive (fun y => - exp (q r / s) * G (exp (- y / s))) y (density s n q r y).
Proof.
  assert (D : is_derive (fun y => exp (- y / s)) y (- / s * exp (- y / s))).
  { auto_derive; [exact I|]. unfold Rdiv; ring. }
  evar_last.
  - apply (is_derive_scal (fun y => G (exp (- y / s))) y (- exp (q r / s))).
    apply (is_derive_comp G (fun y => exp (- y / s))); [apply G_derive | exact D].
  - unfold scal, mult; simpl; unfold mult; simpl. unfold density.
    rewrite <- exp_shift.
    replace (prod (others n r) (fun t => 1 - exp (- (y - q t) / s)))
      with (W (exp (- y / s))).
    + ring.
    + apply prod_ext; intros t _. now rewrite exp_shift.
Qed.

Theorem noisy_max_law b : best n q <= b ->
  pf s n q r - exp (- (b - q r) / s)
  <= int (density s n q r) (best n q) b <= pf s n q r.
Proof.
  intros Hb.
  rewrite (int_derive _ _ _ _ antiderivative) by apply density_cont.
  rewrite pf_raw. fold W. fold (G (exp (- best n q / s))).
  set (v := exp (- b / s)).
  assert (V0 : 0 < v) by apply exp_pos.
  assert (VT : v <= exp (- best n q / s)) by (apply exp_le, div_le; auto; lra).
  assert (W01 : forall x, 0 <= x <= v -> 0 <= W x <= 1).
  { intros x Hx. split.
    - apply (rivals_nonneg s n); [auto | apply others_known | lra].
    - replace 1 with (prod (others n r) (fun _ => 1)).
      + apply prod_le; intros t Ht. apply others_known in Ht.
        pose proof (below_T s n q t x s_pos Ht ltac:(lra)).
        assert (0 <= x * exp (q t / s))
          by (apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos]). lra.
      + induction (others n r) as [|t l IH]; [reflexivity|].
        cbn [prod fold_right]. fold (prod l (fun _ => 1)). rewrite IH. ring. }
  assert (GV : 0 <= G v <= v).
  { split.
    - apply int_nonneg; [lra | apply rivals_cont | apply W01].
    - unfold G. replace v with (int (fun _ => 1) 0 v) at 2
        by (rewrite int_const; ring).
      apply int_le; [lra | apply rivals_cont | cont | apply W01]. }
  rewrite <- exp_shift. fold v.
  pose proof (exp_pos (q r / s)) as P. nra.
Qed.
End Noisy.

(** The exponential mechanism is noisy max with Gumbel noise: docs/proofs/exponential.md.
    Here the integral over [a, b] has a closed form, which tends to [em] as a falls and
    b grows without bound. *)
Definition gumbel_density (s : R) (n : nat) (q : nat -> R) (r : nat) (y : R) : R :=
  / s * exp (- (y - q r) / s) * exp (- exp (- (y - q r) / s)) *
  prod (others n r) (fun t => exp (- exp (- (y - q t) / s))).

Lemma prod_exp l g : prod l (fun t => exp (g t)) = exp (sum l g).
Proof.
  induction l as [|t l IH]; [symmetry; apply exp_0|].
  cbn [prod sum fold_right]. fold (prod l (fun t => exp (g t))) (sum l g).
  now rewrite IH, exp_plus.
Qed.

Section Gumbel.
Variables (s : R) (n : nat) (q : nat -> R) (r : nat).
Hypotheses (s_pos : 0 < s) (r_ok : (r < n)%nat).
Let Z := sum (candidates n) (fun t => exp (q t / s)).

Lemma gumbel_closed y :
  gumbel_density s n q r y
  = exp (q r / s) * (/ s * exp (- y / s) * exp (- (Z * exp (- y / s)))).
Proof.
  unfold gumbel_density. rewrite (prod_exp _ (fun t => - exp (- (y - q t) / s))).
  rewrite (Rmult_assoc (/ s * _)), <- exp_plus.
  replace (- exp (- (y - q r) / s) + sum (others n r) (fun t => - exp (- (y - q t) / s)))
    with (- (Z * exp (- y / s))).
  - rewrite <- exp_shift. ring.
  - unfold Z. rewrite (sum_without r) by
      (try apply NoDup_candidates; now apply in_candidates).
    fold (others n r). rewrite Rmult_plus_distr_r, Ropp_plus_distr.
    f_equal; [rewrite <- exp_shift; ring|].
    rewrite (sum_ext _ (fun t => - exp (- (y - q t) / s))
               (fun t => - exp (- y / s) * exp (q t / s)))
      by (intros; rewrite <- exp_shift; ring).
    rewrite sum_scal. ring.
Qed.

Lemma em_closed : em s n q r = exp (q r / s) / Z.
Proof.
  unfold em. rewrite coin_split.
  rewrite (sum_ext _ (coin s n q) (fun t => exp (- best n q / s) * exp (q t / s)))
    by (intros; apply coin_split).
  rewrite sum_scal. fold Z.
  assert (0 < Z).
  { apply sum_pos; [destruct n; [lia|discriminate]|]. intros; apply exp_pos. }
  pose proof (exp_pos (- best n q / s)). field. lra.
Qed.

Theorem gumbel_max_law a b :
  int (gumbel_density s n q r) a b
  = em s n q r * (exp (- (Z * exp (- b / s))) - exp (- (Z * exp (- a / s)))).
Proof.
  assert (HZ : 0 < Z).
  { apply sum_pos; [destruct n; [lia|discriminate]|]. intros; apply exp_pos. }
  rewrite em_closed.
  rewrite (int_derive (fun y => exp (q r / s) / Z * exp (- (Z * exp (- y / s))))).
  - ring.
  - intros y. rewrite gumbel_closed. auto_derive; [exact I|]. unfold Rdiv.
    field. lra.
  - intros y.
    apply (continuous_ext (fun y => exp (q r / s) * (/ s * exp (- y / s)
             * exp (- (Z * exp (- y / s)))))).
    { intros x. now rewrite gumbel_closed. }
    apply (ex_derive_continuous (fun y => exp (q r / s) * (/ s * exp (- y / s)
             * exp (- (Z * exp (- y / s)))))).
    auto_derive. exact I.
Qed.
End Gumbel.
