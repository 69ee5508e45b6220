(** Chances that add up to one: the k largest with one noise value each, and the answers of a noisy threshold.
    *)
From Coq Require Import Reals Lra Lia List Arith Bool Classical.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk Composition TopK AboveThreshold Crossings Divergences.
Import ListNotations.
Open Scope R_scope.

(** The chances p of the answers on a list, and zero for all others. *)
Definition only {A} (same : forall a b : A, {a = b} + {a <> b}) (shown : list A) (p : A -> R) (a : A) : R :=
  if in_dec same a shown then p a else 0.

Lemma only_distribution {A} (same : forall a b : A, {a = b} + {a <> b}) shown (p : A -> R) :
  (forall a, 0 <= p a) -> NoDup shown -> sum shown p = 1 -> distribution (only same shown p).
Proof.
  intros P N T. set (f := only same shown p).
  assert (F : forall a, 0 <= f a) by (intros a; unfold f, only; destruct in_dec; [apply P | lra]).
  assert (S : sum shown f = 1).
  { rewrite <- T. apply sum_ext. intros a I. unfold f, only. now destruct in_dec. }
  split; [exact F|]. split.
  - intros l L. rewrite <- S.
    set (kept := filter (fun a => if in_dec same a shown then true else false) l).
    apply Rle_trans with (sum kept f).
    + right. unfold kept. clear L. induction l as [|a l IH]; [reflexivity|]. cbn [filter].
      destruct (in_dec same a shown) as [I|I]; cbn [sum fold_right]; fold (sum l f); rewrite IH; [reflexivity|].
      enough (f a = 0) by lra. unfold f, only. now destruct in_dec.
    + apply sum_incl; [exact F | now apply NoDup_filter|]. intros a H. apply filter_In in H as [_ H].
      now destruct in_dec.
  - intros e E. exists shown. split; [exact N | lra].
Qed.

Lemma NoDup_both {A} (l m : list A) : NoDup l -> NoDup m -> (forall a, In a l -> ~ In a m) -> NoDup (l ++ m).
Proof.
  intros L M D. induction L as [|a l H L IH]; [exact M|]. cbn [app]. constructor.
  - rewrite in_app_iff. intros [I|I]; [now apply H | now apply (D a (or_introl eq_refl))].
  - apply IH. intros b B. apply D. now right.
Qed.

Lemma NoDup_cons_map {A} (x : A) l : NoDup l -> NoDup (map (cons x) l).
Proof.
  induction 1 as [|o l H L IH]; cbn [map]; constructor; [|exact IH].
  rewrite in_map_iff. intros (u & E & U). inversion E. now subst.
Qed.

(** ** The k largest *)

(** [Walk.orders k l]: all ways to take k of a list in some order. *)
Lemma orders_once k l : NoDup l -> NoDup (orders k l).
Proof.
  revert l. induction k as [|k IH]; intros l N; cbn [orders]; [repeat constructor; intros []|].
  apply NoDup_flat_cons; [exact N|]. intros x _. now apply IH, NoDup_without.
Qed.

Lemma orders_known k l o : In o (orders k l) -> length o = k /\ incl o l.
Proof.
  revert l o. induction k as [|k IH]; intros l o H; cbn [orders] in H.
  - destruct H as [<-|[]]. split; [reflexivity | intros x []].
  - apply in_flat_map in H as (r & R & H). apply in_map_iff in H as (u & <- & U).
    destruct (IH _ _ U) as [L I]. split; [simpl; lia|]. intros x [<-|X]; [exact R|].
    apply I in X. now apply in_without in X.
Qed.

Section OneShot.
Variables (s : R) (q : nat -> R).
Hypothesis s_pos : 0 < s.
Let a t := exp (q t / s).
Let left l w := prod l (fun t => 1 - w * a t).

Lemma left_derive l w : NoDup l -> is_derive (left l) w (- sum l (fun r => a r * left (without r l) w)).
Proof.
  intros N. unfold left. induction N as [|x l H N IH]; cbn [prod fold_right sum].
  - evar_last; [apply (is_derive_const 1) | simpl; change (@zero R_NormedModule) with 0; ring].
  - fold (prod l (fun t => 1 - w * a t)). evar_last.
    + apply (is_derive_mult (fun w => 1 - w * a x) (fun w => prod l (fun t => 1 - w * a t))).
      * auto_derive; [exact I | reflexivity].
      * exact IH.
      * intros; apply Rmult_comm.
    + rewrite without_same, (without_none x l H).
      fold (sum l (fun r => a r * prod (without r (x :: l)) (fun t => 1 - w * a t))).
      rewrite (sum_ext l (fun r => a r * prod (without r (x :: l)) (fun t => 1 - w * a t))
        (fun r => (1 - w * a x) * (a r * prod (without r l) (fun t => 1 - w * a t)))).
      * rewrite sum_scal. simpl. change (plus ?u ?v) with (u + v). change (mult ?u ?v) with (u * v). ring.
      * intros r R. rewrite without_other by (intros ->; contradiction). cbn [prod fold_right].
        fold (prod (without r l) (fun t => 1 - w * a t)). ring.
Qed.

Lemma left_cont l : cont (left l).
Proof. apply (cont_prod l (fun t w => 1 - w * a t)). intros t. cont. Qed.

(** The largest score of a list. *)
Lemma top_of r l o : NoDup l -> In r l -> incl o (without r l) ->
  top_score q r (o ++ without_all o (without r l)) = top_score q r l.
Proof.
  intros N R I. apply Rle_antisym; (apply top_score_le; [apply top_score_ge; now right|]).
  - intros t T. apply top_score_ge. left. apply in_app_iff in T as [T|T].
    + apply I in T. now apply in_without in T.
    + apply filter_In in T as [T _]. now apply in_without in T.
  - intros t T. apply top_score_ge. destruct (Nat.eq_dec t r) as [E|E]; [now right | left].
    apply in_app_iff. destruct (in_dec Nat.eq_dec t o) as [O|O]; [now left | right].
    apply filter_In. split; [now apply in_without|]. apply negb_true_iff, not_true_iff_false.
    intros X. apply existsb_exists in X as (u & U & Y). apply Nat.eqb_eq in Y. now subst.
Qed.

Lemma top_same r r' l : In r l -> In r' l -> top_score q r l = top_score q r' l.
Proof.
  intros R R'. apply Rle_antisym; (apply top_score_le; [apply top_score_ge; now left|]);
    intros t T; apply top_score_ge; now left.
Qed.

Lemma top_reached r l : exists t, (In t l \/ t = r) /\ top_score q r l = q t.
Proof.
  induction l as [|x l (t & T & E)]; cbn [top_score fold_right]; [exists r; auto|].
  fold (top_score q r l). destruct (Rle_dec (q x) (top_score q r l)) as [L|L].
  - exists t. rewrite Rmax_right by exact L. split; [destruct T; [left; now right | now right] | exact E].
  - exists x. rewrite Rmax_left by lra. split; [left; now left | reflexivity].
Qed.

Lemma without_all_cons r o l : without_all (r :: o) l = without_all o (without r l).
Proof.
  unfold without_all, without. induction l as [|x l IH]; [reflexivity|]. cbn [filter existsb].
  destruct (x =? r)%nat; cbn [negb orb filter]; [exact IH|].
  destruct (existsb (Nat.eqb x) o); cbn [negb]; [exact IH | f_equal; exact IH].
Qed.

Theorem one_shot_adds_up k l w : NoDup l -> (k <= length l)%nat ->
  sum (orders k l) (fun o => one_shot_from s q (without_all o l) o w) = left l w.
Proof.
  revert l w. induction k as [|k IH]; intros l w N K.
  - cbn [orders]. rewrite sum_one. cbn [one_shot_from]. unfold left. f_equal.
    unfold without_all. clear. induction l as [|x l IH]; [reflexivity|]. cbn. f_equal. exact IH.
  - cbn [orders]. rewrite sum_flat_map.
    assert (L : exists r, In r l) by (destruct l as [|y l]; [simpl in K; lia | exists y; now left]).
    destruct L as (r0 & R0). set (b := exp (- top_score q r0 l / s)).
    rewrite (sum_ext l _ (fun r => int (fun w => a r * left (without r l) w) w b)).
    + rewrite <- (int_sum l (fun r w => a r * left (without r l) w))
        by (intros r; apply (cont_mult (fun _ => a r)); [cont | apply left_cont]).
      assert (D : forall x, is_derive (fun x => - left l x) x (sum l (fun r => a r * left (without r l) x))).
      { intros x. evar_last; [apply (is_derive_opp (left l)), left_derive, N|].
        change (opp ?u) with (- u). ring. }
      rewrite (int_derive (fun x => - left l x)); [|exact D|].
      * enough (left l b = 0) by lra.
        destruct (top_reached r0 l) as (u & U & Eu). assert (Ul : In u l) by (destruct U as [U|U]; [exact U | now rewrite U]).
        unfold left. clear - Ul Eu s_pos. unfold b. rewrite Eu. clear Eu.
        induction l as [|x l IH]; [destruct Ul|]. cbn [prod fold_right].
        fold (prod l (fun t => 1 - exp (- q u / s) * a t)). destruct Ul as [->|Ul]; [|rewrite IH by exact Ul; ring].
        unfold a. rewrite <- exp_plus. replace (- q u / s + q u / s) with 0 by (field; lra). rewrite exp_0. ring.
      * apply (cont_sum l (fun r w => a r * left (without r l) w)).
        intros r. apply (cont_mult (fun _ => a r)); [cont | apply left_cont].
    + intros r R. rewrite sum_map. cbn [one_shot_from]. fold (a r).
      assert (Nr : NoDup (without r l)) by (unfold without; now apply NoDup_filter).
      assert (Kr : (k <= length (without r l))%nat).
      { apply (NoDup_incl_length (l := l) (l' := r :: without r l)) in N.
        - simpl in N. lia.
        - intros y Y. destruct (Nat.eq_dec y r) as [->|E]; [now left | right; now apply in_without]. }
      rewrite int_scal by apply left_cont. rewrite sum_scal. f_equal.
      rewrite (sum_ext _ _ (fun o => int (one_shot_from s q (without_all o (without r l)) o) w b)).
      * rewrite <- (int_sum (orders k (without r l)) (fun o => one_shot_from s q (without_all o (without r l)) o))
          by (intros o; apply one_shot_cont).
        apply int_ext. intros y. now apply IH.
      * intros o O. rewrite without_all_cons. f_equal. unfold b.
        destruct (orders_known _ _ _ O) as [_ I]. rewrite (top_of r l o N R I).
        now rewrite (top_same r r0 l R R0).
Qed.
End OneShot.

(** ** A noisy threshold *)

(** All transcripts of m values, of which at most c may cross: "below" or "above" for each, up to the c-th
    crossing. *)
Fixpoint streams (m c : nat) : list (list (option (option nat))) :=
  match m, c with
  | S m, S c => map (cons None) (streams m (S c)) ++ map (cons (Some None)) (streams m c)
  | _, _ => [[]]
  end.

Lemma streams_once m c : NoDup (streams m c).
Proof.
  revert c. induction m as [|m IH]; intros [|c]; cbn [streams]; try (repeat constructor; intros []).
  apply NoDup_both; try now apply NoDup_cons_map.
  intros o O I. apply in_map_iff in O as (u & <- & _). apply in_map_iff in I as (v & E & _). discriminate.
Qed.

Section Threshold.
Variables (b1 b2 T : R) (q : nat -> R).
Hypotheses (b1_pos : 0 < b1) (b2_pos : 0 < b2).
Let asked i a := combine (map q (seq i (length a))) (map said a).

Lemma streams_crossings m c i a : In a (streams m c) -> (crossings (asked i a) <= c)%nat.
Proof.
  unfold asked. revert c i a. induction m as [|m IH]; intros [|c] i a H; cbn [streams] in H;
    try (destruct H as [<-|[]]; simpl; lia).
  apply in_app_iff in H as [H|H]; apply in_map_iff in H as (u & <- & U);
    cbn [length seq map combine said crossings]; specialize (IH _ (S i) u U); lia.
Qed.

Lemma streams_chances m c i x : sum (streams m c) (fun a => chances b2 T x (asked i a)) = 1.
Proof.
  unfold asked. revert c i. induction m as [|m IH]; intros [|c] i; cbn [streams];
    try (rewrite sum_one; reflexivity).
  rewrite sum_app, !sum_map. cbn [length seq map combine said chances answer_chance].
  rewrite !sum_scal, !IH. ring.
Qed.

Theorem streams_add_up m c : sum (streams m c) (fun a => crossed b1 b2 T c q a) = 1.
Proof.
  rewrite (sum_ext _ _ (fun a => chance b1 b2 T (asked 0 a))).
  2: { intros a A. unfold crossed. fold (asked 0 a). change (combine _ _) with (asked 0 a).
       pose proof (streams_crossings m c 0 a A) as L. apply Nat.leb_le in L. now rewrite L. }
  assert (L : forall l, is_lim_seq (fun n => sum l (fun a => transcript b1 b2 T (asked 0 a) (INR n)))
                (sum l (fun a => chance b1 b2 T (asked 0 a)))).
  { induction l as [|a l IH]; cbn [sum fold_right]; [apply is_lim_seq_const|].
    apply is_lim_seq_plus'; [|exact IH]. apply chance_is; auto. apply said_sound. }
  specialize (L (streams m c)). apply is_lim_seq_unique in L.
  enough (E : is_lim_seq (fun n => sum (streams m c) (fun a => transcript b1 b2 T (asked 0 a) (INR n))) 1).
  { apply is_lim_seq_unique in E. rewrite E in L. now inversion L. }
  apply (is_lim_seq_ext (fun n => 1 - exp (- INR n / b1))).
  - intros n. unfold transcript.
    rewrite <- (int_sum (streams m c) (fun a x => / b1 * exp (- x / b1) * chances b2 T x (asked 0 a)))
      by (intros a; apply cont_density; auto).
    rewrite (int_ext _ (fun x => / b1 * exp (- x / b1))).
    + rewrite (int_derive (fun x => - exp (- x / b1)) (fun x => / b1 * exp (- x / b1))).
      * replace (- 0 / b1) with 0 by (field; lra). rewrite exp_0. ring.
      * intros x. auto_derive; [auto | unfold Rdiv; ring].
      * intros x. apply (ex_derive_continuous (fun x => / b1 * exp (- x / b1))). auto_derive. auto.
    + intros x. rewrite sum_scal, streams_chances. ring.
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
End Threshold.

Theorem one_shot_total s n k q : 0 < s -> (k <= n)%nat ->
  sum (orders k (candidates n)) (fun o => one_shot s n q o) = 1.
Proof.
  intros S K. unfold one_shot. rewrite one_shot_adds_up; [|exact S|apply NoDup_candidates|].
  - induction (candidates n) as [|x l IH]; cbn [prod fold_right]; [reflexivity|].
    fold (prod l (fun t => 1 - 0 * exp (q t / s))). rewrite IH. ring.
  - unfold candidates. now rewrite seq_length.
Qed.

Lemma same_stream (a b : list (option (option nat))) : {a = b} + {a <> b}.
Proof. repeat decide equality. Qed.
