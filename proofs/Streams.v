(** docs/proofs/above-threshold.md, in rho: a watch over a stream, in which values may depend on earlier
    answers. *)
From Coq Require Import Reals Lra Lia List Arith Bool.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Composition AboveThreshold Crossings Divergences Totals.
Import ListNotations.
Open Scope R_scope.

Section Streams.
Variables (b1 b2 T : R).
Hypotheses (b1_pos : 0 < b1) (b2_pos : 0 < b2).
Notation told := (list (option (option nat))).

(** The values asked, with their answers, given the next value for each history. *)
Fixpoint asked (q : told -> R) (before a : told) : list (R * answer) :=
  match a with [] => [] | x :: a' => (q before, said x) :: asked q (before ++ [x]) a' end.

(** The answers to at most m values, of which at most c cross. *)
Definition stream (m c : nat) (q : told -> R) : told -> R :=
  only same_stream (streams m c) (fun a => chance b1 b2 T (asked q [] a)).

Lemma asked_sound q before a : all_sound (asked q before a).
Proof.
  revert before. induction a as [|x a IH]; intros before; cbn [asked]; constructor; [|apply IH].
  destruct x as [[g|]|]; cbn [said sound snd]; auto. rewrite S_INR. lra.
Qed.

Lemma asked_shift h d q q' before a : (forall past, 0 <= h + q past - q' past <= d) ->
  within_shift h d (asked q before a) (asked q' before a).
Proof.
  intros H. revert before. induction a as [|x a IH]; intros before; cbn [asked within_shift]; [exact I|].
  split; [reflexivity|]. split; [|split; [apply H | apply IH]].
  destruct x as [[g|]|]; cbn [said sound]; auto. rewrite S_INR. lra.
Qed.

Lemma asked_crossings m c q before a : In a (streams m c) -> (crossings (asked q before a) <= c)%nat.
Proof.
  revert c before a. induction m as [|m IH]; intros [|c] before a H; cbn [streams] in H;
    try (destruct H as [<-|[]]; simpl; lia).
  apply in_app_iff in H as [H|H]; apply in_map_iff in H as (u & <- & U);
    cbn [asked said crossings]; pose proof (IH _ (before ++ [None]) u U); pose proof (IH _ (before ++ [Some None]) u U); lia.
Qed.

Lemma asked_chances m c q before x : sum (streams m c) (fun a => chances b2 T x (asked q before a)) = 1.
Proof.
  revert c before. induction m as [|m IH]; intros [|c] before; cbn [streams];
    try (rewrite sum_one; reflexivity).
  rewrite sum_app, !sum_map. cbn [asked said chances answer_chance]. rewrite !sum_scal, !IH. ring.
Qed.

(** The density of the threshold's noise integrates to one. *)
Lemma threshold_noise_total {A} (answers : list A) (o : A -> list (R * answer)) :
  (forall x, sum answers (fun a => chances b2 T x (o a)) = 1) ->
  is_lim_seq (fun n => sum answers (fun a => transcript b1 b2 T (o a) (INR n))) 1.
Proof.
  intros One. apply (is_lim_seq_ext (fun n => 1 - exp (- INR n / b1))).
  - intros n. unfold transcript.
    rewrite <- (int_sum answers (fun a x => / b1 * exp (- x / b1) * chances b2 T x (o a)))
      by (intros a; apply cont_density; auto).
    rewrite (int_ext _ (fun x => / b1 * exp (- x / b1))).
    + rewrite (int_derive (fun x => - exp (- x / b1)) (fun x => / b1 * exp (- x / b1))).
      * replace (- 0 / b1) with 0 by (field; lra). rewrite exp_0. ring.
      * intros x. auto_derive; [auto | unfold Rdiv; ring].
      * intros x. apply (ex_derive_continuous (fun x => / b1 * exp (- x / b1))). auto_derive. auto.
    + intros x. rewrite sum_scal, One. ring.
  - replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply (is_lim_seq_ext (fun n => (exp (- (1 / b1))) ^ n)).
    + intros n. induction n as [|n IH].
      * simpl. replace (- 0 / b1) with 0 by (field; lra). now rewrite exp_0.
      * rewrite S_INR. cbn [pow]. rewrite IH, <- exp_plus. f_equal. field. lra.
    + apply is_lim_seq_geom. rewrite Rabs_right by (apply Rle_ge, Rlt_le, exp_pos).
      apply Rlt_le_trans with (exp 0); [|rewrite exp_0; lra]. apply exp_increasing.
      assert (0 < 1 / b1) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Lemma stream_total m c q : sum (streams m c) (fun a => chance b1 b2 T (asked q [] a)) = 1.
Proof.
  assert (L : forall l, is_lim_seq (fun n => sum l (fun a => transcript b1 b2 T (asked q [] a) (INR n)))
                (sum l (fun a => chance b1 b2 T (asked q [] a)))).
  { induction l as [|a l IH]; cbn [sum fold_right]; [apply is_lim_seq_const|].
    apply is_lim_seq_plus'; [|exact IH]. apply chance_is; auto. apply asked_sound. }
  specialize (L (streams m c)). apply is_lim_seq_unique in L.
  pose proof (is_lim_seq_unique _ _ (threshold_noise_total (streams m c)
    (fun a => asked q [] a) (asked_chances m c q []))) as E.
  rewrite E in L. now inversion L.
Qed.

Lemma chance_nonneg q a : 0 <= chance b1 b2 T (asked q [] a).
Proof.
  apply Rle_trans with (transcript b1 b2 T (asked q [] a) 0).
  - unfold transcript, int. rewrite RInt_point. apply Rle_refl.
  - apply transcript_below; [exact b1_pos | exact b2_pos | apply asked_sound | apply chance_is; auto; apply asked_sound | lra].
Qed.

Lemma stream_costs m c h d q q' a : 0 <= h -> 0 <= d -> (forall past, 0 <= h + q past - q' past <= d) ->
  stream m c q a <= exp (h / b1 + INR c * (d / b2)) * stream m c q' a.
Proof.
  intros H D S. unfold stream, only. destruct in_dec as [I|I]; [|lra].
  eapply Rle_trans; [apply (above_threshold_pure_dp b1 b2 T b1_pos b2_pos h d _ (asked q' [] a) H); now apply asked_shift|].
  apply Rmult_le_compat_r; [apply chance_nonneg|]. apply exp_le, Rplus_le_compat_l.
  apply Rmult_le_compat_r; [|now apply le_INR, (asked_crossings m c)].
  apply Rmult_le_pos; [exact D | now apply Rlt_le, Rinv_0_lt_compat].
Qed.

Theorem stream_concentrated m c most h h' d q q' : 0 <= h <= most -> 0 <= h' <= most -> 0 <= d ->
  0 < most / b1 + INR c * (d / b2) ->
  (forall past, 0 <= h + q past - q' past <= d) -> (forall past, 0 <= h' + q' past - q past <= d) ->
  concentrated (stream m c q) (stream m c q') (concentrated_of_pure (most / b1 + INR c * (d / b2))).
Proof.
  intros H H' D E S S'.
  assert (W : forall q, distribution (stream m c q)).
  { intros u. apply only_distribution; [intros; apply chance_nonneg | apply streams_once | apply stream_total]. }
  assert (M : forall x u u' a, 0 <= x <= most -> (forall past, 0 <= x + u past - u' past <= d) ->
    stream m c u a <= exp (most / b1 + INR c * (d / b2)) * stream m c u' a).
  { intros x u u' a X B. eapply Rle_trans; [apply (stream_costs m c x d u u' a); auto; lra|].
    apply Rmult_le_compat_r; [apply W|]. apply exp_le, Rplus_le_compat_r.
    apply Rmult_le_compat_r; [now apply Rlt_le, Rinv_0_lt_compat | lra]. }
  apply pure_concentrated; auto; intros a; [now apply (M h) | now apply (M h')].
Qed.
End Streams.
