(** docs/proofs/sampling.md, theorem 1: the plans of a release, as programs that draw bits. Each returns r with
    the chance that r is a uniform choice among the heads. *)
From Coq Require Import Reals Lra Lia List Arith Permutation.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk Machine Programs UniformBelow Comparison Heads Merging.
Import ListNotations.
Open Scope R_scope.

(** ** Laws lie within the bounds of what they average *)

Lemma law_range {A} (p : program A) f x : (forall a, 0 <= f a <= 1) -> has_law p f x -> 0 <= x <= 1.
Proof.
  intros F L. split.
  - apply Rle_trans with (mass 0 p f); [apply mass_nonneg; intros; apply F|].
    apply law_above; [intros; apply F | exact L].
  - apply (is_lim_seq_le (fun n => mass n p f) (fun _ => 1) x 1); [|exact L | apply is_lim_seq_const].
    intros n. apply mass_le_const; [lra | intros; apply F].
Qed.

Lemma coin_range p c : is_coin p c -> 0 <= c <= 1.
Proof. intros [H _]. apply (law_range p (says true)); [|exact H]. intros []; cbn; lra. Qed.

(** ** Uniform heads of sets *)

Lemma flip_all_nonneg c l phi : (forall x, In x l -> 0 <= c x <= 1) -> (forall H, 0 <= phi H) -> 0 <= flip_all c l phi.
Proof.
  revert phi. induction l as [|x l IH]; intros phi C P; cbn [flip_all]; [apply P|].
  destruct (C x ltac:(now left)).
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply IH; auto; intros; apply C; now right.
Qed.

Lemma flip_all_coins c c' l phi : (forall x, In x l -> c x = c' x) -> flip_all c l phi = flip_all c' l phi.
Proof.
  revert phi. induction l as [|x l IH]; intros phi E; cbn [flip_all]; [reflexivity|].
  rewrite (E x) by now left. rewrite !IH by (intros; apply E; now right). reflexivity.
Qed.

(** Coins of chance zero may be left out. *)
Lemma flip_all_left c (left : nat -> bool) l phi : (forall x, In x l -> left x = false -> c x = 0) ->
  flip_all c l phi = flip_all c (filter left l) phi.
Proof.
  revert phi. induction l as [|x l IH]; intros phi E; [reflexivity|]. cbn [filter flip_all].
  assert (E' : forall y, In y l -> left y = false -> c y = 0) by (intros; apply E; auto; now right).
  destruct (left x) eqn:L; cbn [flip_all]; rewrite !(IH _ E'); [reflexivity|].
  rewrite (E x) by (auto; now left). ring.
Qed.

Lemma prod_permutation l l' f : Permutation l l' -> prod l f = prod l' f.
Proof. induction 1; simpl; [reflexivity | congruence | ring | congruence]. Qed.

Lemma uniform_head_absent c l r : ~ In r l -> uniform_head c l r = 0.
Proof.
  intros A. unfold uniform_head. rewrite (flip_all_ext c l _ (fun _ => 0)); [apply flip_all_const|].
  intros H HH. rewrite member_false; [reflexivity|]. intros I. apply A, HH, I.
Qed.

Lemma uniform_head_set c l l' r : NoDup l -> NoDup l' -> (forall x, In x l <-> In x l') ->
  uniform_head c l r = uniform_head c l' r.
Proof.
  intros N N' E. destruct (in_dec Nat.eq_dec r l) as [I|I].
  - rewrite !uniform_head_law by (auto; now apply E). f_equal. apply int_ext. intros u. unfold rest.
    apply prod_permutation. apply NoDup_Permutation; try now apply NoDup_without.
    intros x. rewrite !in_without, E. reflexivity.
  - rewrite !uniform_head_absent by (auto; rewrite <- E; auto). reflexivity.
Qed.

Lemma uniform_head_walk c l r : NoDup l -> uniform_head c l r = walk (length l) c l r.
Proof.
  intros N. destruct (in_dec Nat.eq_dec r l) as [I|I].
  - now rewrite uniform_head_law, walk_law.
  - now rewrite uniform_head_absent, walk_absent.
Qed.

Lemma share_is_chance_in r heads : NoDup heads -> share r heads = chance_in r heads.
Proof.
  intros N. unfold share, chance_in. rewrite sum_member by exact N. destruct (member r heads); unfold Rdiv; ring.
Qed.

(** ** The list: near candidates one by one, heads among the far ones by thinning *)

(** [marking] returns the places marked independently with chance [m]. *)
Definition is_marking (marking : program (list nat)) (m : R) (l : list nat) : Prop :=
  forall phi, (forall H, 0 <= phi H) -> has_law marking phi (flip_all (fun _ => m) l phi).

Definition near_of (far : nat -> bool) l := filter (fun x => negb (far x)) l.

Definition list_plan (marking : program (list nat)) (coin boosted : nat -> program bool) (far : nat -> bool)
    (l : list nat) : program (option nat) :=
  bind (flips coin (near_of far l)) (fun near => bind marking (fun marked =>
    bind (flips boosted (filter far marked)) (fun beyond => one_of (near ++ beyond)))).

Theorem list_plan_law marking coin boosted m c far l r : NoDup l -> 0 < m <= 1 -> is_marking marking m l ->
  (forall x, In x l -> far x = false -> is_coin (coin x) (c x)) ->
  (forall x, far x = true -> is_coin (boosted x) (c x / m)) ->
  has_law (list_plan marking coin boosted far l) (is_answer r) (uniform_head c l r).
Proof.
  intros N M Mk C B.
  set (near := near_of far l). set (beyond := filter far l).
  assert (NN : NoDup (near ++ beyond)).
  { assert (G : forall a b : list nat, NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b)).
    { clear. induction a as [|x a IH]; intros b A Bb D; [exact Bb|]. inversion A; subst. cbn. constructor.
      - rewrite in_app_iff. intros [I|I]; [contradiction | now apply (D x); [left|]].
      - apply IH; auto. intros y Y. apply D. now right. }
    apply G; [now apply NoDup_filter | now apply NoDup_filter|].
    intros x X Y. apply filter_In in X as [_ X]. apply filter_In in Y as [_ Y]. rewrite Y in X. discriminate. }
  assert (S : uniform_head c l r = flip_all c near (fun H => flip_all c beyond (fun H' => share r (H ++ H')))).
  { rewrite (uniform_head_set c l (near ++ beyond) r N NN).
    - unfold uniform_head. rewrite (flip_all_NoDup c (near ++ beyond) _ (share r) NN).
      + apply flip_all_app.
      + intros H NH _. now rewrite share_is_chance_in.
    - intros x. rewrite in_app_iff. unfold near, beyond, near_of. rewrite !filter_In. destruct (far x); cbn; tauto. }
  rewrite S. apply (law_bind _ _ _ (fun H => flip_all c beyond (fun H' => share r (H ++ H')))).
  - intros o. apply is_answer_range.
  - intros H.
    apply (law_bind _ _ _ (fun marked => flip_all (fun x => c x / m) (filter far marked) (fun H' => share r (H ++ H')))).
    + intros o. apply is_answer_range.
    + intros marked. apply (law_bind _ _ _ (fun H' => share r (H ++ H'))).
      * intros o. apply is_answer_range.
      * intros H'. apply one_of_law.
      * apply flips_law; [|intros; apply share_nonneg]. intros x X. apply B. now apply filter_In in X.
    + unfold beyond. rewrite <- (thinning m c far l) by lra. apply Mk.
      intros marked. apply flip_all_nonneg; [|intros; apply share_nonneg].
      intros x X. apply (coin_range (boosted x)), B. now apply filter_In in X.
  - apply flips_law.
    + intros x X. apply filter_In in X as [X F]. apply C; [exact X|]. now destruct (far x).
    + intros H. apply flip_all_nonneg; [|intros; apply share_nonneg].
      intros x X. apply filter_In in X as [X F]. specialize (B x F). apply coin_range in B.
      split.
      * replace (c x) with (c x / m * m) by (field; lra). apply Rmult_le_pos; lra.
      * replace (c x) with (c x / m * m) by (field; lra).
        apply Rle_trans with (1 * m); [apply Rmult_le_compat_r|]; lra.
Qed.

(** Marks one by one, with independent coins. *)
Theorem marks_one_by_one mark m l : is_coin mark m -> is_marking (flips (fun _ => mark) l) m l.
Proof. intros M phi P. now apply flips_law. Qed.

(** ** A random order, and draws with replacement *)

(** Visit candidates in a random order until a coin is heads. *)
Fixpoint in_order (coin : nat -> program bool) (fuel : nat) (l : list nat) : program (option nat) :=
  match fuel, l with
  | S fuel, x0 :: _ => bind (uniform_below (Nat.log2_up (length l)) (length l)) (fun i =>
      let x := nth i l x0 in
      bind (coin x) (fun b : bool => if b then Return (Some x) else in_order coin fuel (without x l)))
  | _, _ => Return None
  end.

Lemma sum_places l x0 (f : nat -> R) : sum (candidates (length l)) (fun i => f (nth i l x0)) = sum l f.
Proof.
  induction l as [|y h IH]; [reflexivity|].
  change (f y + sum (seq 1 (length h)) (fun i => f (nth i (y :: h) x0)) = f y + sum h f).
  rewrite sum_seq, <- IH. reflexivity.
Qed.

(** A uniform place in a list that is not empty, and what follows. *)
Lemma law_place {A} x0 l (k : nat -> program A) f (L : nat -> R) : (forall a, 0 <= f a <= 1) ->
  (forall x, In x (x0 :: l) -> has_law (k x) f (L x)) ->
  has_law (bind (uniform_below (Nat.log2_up (length (x0 :: l))) (length (x0 :: l)))
    (fun i => k (nth i (x0 :: l) x0))) f (sum (x0 :: l) (fun x => / INR (length (x0 :: l)) * L x)).
Proof.
  intros F K. set (h := x0 :: l) in *.
  assert (K1 : (1 <= length h)%nat) by (unfold h; simpl; lia).
  assert (In0 : forall i, In (nth i h x0) h).
  { intros i. destruct (nth_in_or_default i h x0) as [|E]; [assumption|]. rewrite E. now left. }
  rewrite sum_scal, <- (sum_places h x0 L), Rmult_comm.
  apply (law_bind _ _ _ (fun i => L (nth i h x0))).
  - intros a. apply F.
  - intros i. apply K, In0.
  - apply (uniform_below_law _ _ _ 1).
    + split; [exact K1|]. destruct (Nat.eq_dec (length h) 1) as [->|D]; [simpl; lia|]. apply Nat.log2_up_spec. lia.
    + intros i. apply (law_range (k (nth i h x0)) f); [exact F | apply K, In0].
Qed.

Theorem in_order_law coin c r : forall l, NoDup l -> (forall x, In x l -> is_coin (coin x) (c x)) ->
  has_law (in_order coin (length l) l) (is_answer r) (uniform_head c l r).
Proof.
  intros l N C. rewrite uniform_head_walk by exact N. remember (length l) as k eqn:K. revert l K N C.
  induction k as [|k IH]; intros l K N C.
  - destruct l; [|discriminate]. apply (law_return None (is_answer r)).
  - destruct l as [|x0 l]; [discriminate|]. cbn [in_order]. set (h := x0 :: l) in *.
    apply (law_place x0 l (fun x => bind (coin x) (fun b : bool => if b then Return (Some x) else in_order coin k (without x h)))
      (is_answer r) (fun x => c x * indicator x r + (1 - c x) * walk k c (without x h) r)).
    + intros o. apply is_answer_range.
    + intros x X. fold h in X. pose (v := fun b : bool => if b then indicator x r else walk k c (without x h) r).
      apply (law_bind _ _ _ v); [intros o; apply is_answer_range | | apply (law_coin _ _ v), C, X].
      intros []; [apply (law_return (Some x) (is_answer r))|]. apply IH.
      * pose proof (length_without x h N X) as Lw. rewrite <- K in Lw. now injection Lw.
      * now apply NoDup_without.
      * intros y Y. apply C. now apply in_without in Y.
Qed.

(** ** The first bits of every coin *)

(** The other bits of a uniform number whose first [k] bits are [b]. *)
Definition flip_after (low high : nat -> R) (step k w : nat) (guess : nat -> option bool) (b : nat) : program bool :=
  bind (word w b) (fun U =>
    match guess U with Some b => Return b | None => is_below low high step (k + w) U end).

Lemma clamp_rest t : clamp (1 - t) = 1 - clamp t.
Proof. clamped. Qed.

Theorem flip_after_law c low high step k w guess b :
  (forall w, low w <= 2 ^ w * c <= high w) ->
  (forall w, 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1) -> (1 <= step)%nat ->
  (forall U, guess U = Some false -> 2 ^ (k + w) * c <= INR U) ->
  (forall U, guess U = Some true -> INR U + 1 <= 2 ^ (k + w) * c) ->
  is_coin (flip_after low high step k w guess b) (clamp (2 ^ k * c - INR b)).
Proof.
  intros E N S T H. assert (P : forall v, 2 ^ (k + w) * c - v = 2 ^ w * (2 ^ k * c) - v) by (intros; rewrite pow_add; ring).
  split.
  - apply (law_bind _ _ _ (fun U => clamp (2 ^ (k + w) * c - INR U))); [apply says_nonneg| |].
    + intros U. destruct (guess U) as [[]|] eqn:G.
      * rewrite clamp_one by (specialize (H U G); lra). apply (law_return true (says true)).
      * rewrite clamp_zero by (specialize (T U G); lra). apply (law_return false (says true)).
      * apply (is_below_law c low high E N step S (k + w) U true).
    + pose proof (law_word w b (fun U => clamp (2 ^ w * (2 ^ k * c) - INR U))) as L.
      rewrite average_below in L. revert L. apply law_ext. intros U. now rewrite P.
  - rewrite <- clamp_rest.
    apply (law_bind _ _ _ (fun U => clamp (INR U + 1 - 2 ^ (k + w) * c))); [apply says_nonneg| |].
    + intros U. destruct (guess U) as [[]|] eqn:G.
      * rewrite clamp_zero by (specialize (H U G); lra). apply (law_return true (says false)).
      * rewrite clamp_one by (specialize (T U G); lra). apply (law_return false (says false)).
      * apply (is_below_law c low high E N step S (k + w) U false).
    + pose proof (law_word w b (fun U => clamp (INR U + 1 - 2 ^ w * (2 ^ k * c)))) as L.
      rewrite average_above in L. replace (1 - (2 ^ k * c - INR b)) with (INR b + 1 - 2 ^ k * c) by ring.
      revert L. apply law_ext. intros U. f_equal. rewrite pow_add. ring.
Qed.

(** The first [k] bits of the uniform number of every candidate. *)
Fixpoint first_words (k : nat) (l : list nat) : program (nat -> nat) :=
  match l with
  | [] => Return (fun _ => 0%nat)
  | x :: l => bind (word k 0) (fun b => bind (first_words k l) (fun B =>
      Return (fun y => if (y =? x)%nat then b else B y)))
  end.

(** The chance of a coin, given the first bits of its uniform number. *)
Definition given (k : nat) (c : nat -> R) (B : nat -> nat) (x : nat) : R := clamp (2 ^ k * c x - INR (B x)).

Lemma given_range k c B x : 0 <= given k c B x <= 1.
Proof. apply clamp_range. Qed.

Theorem first_words_law k c l : NoDup l -> (forall x, In x l -> 0 <= c x <= 1) ->
  forall phi, (forall H, 0 <= phi H) ->
  has_law (first_words k l) (fun B => flip_all (given k c B) l phi) (flip_all c l phi).
Proof.
  induction l as [|x l IH]; intros N C phi P.
  - apply (law_return (fun _ => 0%nat) (fun B => flip_all (given k c B) [] phi)).
  - inversion N as [|? ? Hx Hl]; subst. cbn [first_words].
    assert (C' : forall y, In y l -> 0 <= c y <= 1) by (intros; apply C; now right).
    set (F1 := flip_all c l (fun H => phi (x :: H))). set (F2 := flip_all c l phi).
    apply (law_bind _ _ _ (fun b => clamp (2 ^ k * c x - INR b) * F1 + (1 - clamp (2 ^ k * c x - INR b)) * F2)).
    + intros B. apply flip_all_nonneg; [intros; apply given_range | exact P].
    + intros b. apply law_map. set (a := clamp (2 ^ k * c x - INR b)).
      apply (law_ext _ (fun B => a * flip_all (given k c B) l (fun H => phi (x :: H)) + (1 - a) * flip_all (given k c B) l phi)).
      * intros B. cbn [flip_all].
        replace (given k c (fun y => if (y =? x)%nat then b else B y) x) with a
          by (unfold given; now rewrite Nat.eqb_refl).
        rewrite !(flip_all_coins (given k c (fun y => if (y =? x)%nat then b else B y)) (given k c B)); [reflexivity| |];
          intros y Y; unfold given; rewrite (proj2 (Nat.eqb_neq y x)) by (intros ->; contradiction); reflexivity.
      * apply law_plus; apply law_scal; [apply (IH Hl C' (fun H => phi (x :: H))) | apply (IH Hl C' phi)]; auto.
    + cbn [flip_all]. fold F1 F2.
      pose proof (law_word k 0 (fun b => clamp (2 ^ k * c x - INR b))) as L.
      rewrite average_below, clamp_id in L by (simpl; specialize (C x ltac:(now left)); lra).
      replace (c x - INR 0) with (c x) in L by (simpl; ring).
      pose proof (law_word k 0 (fun b => 1)) as L1. rewrite average_sum, sum_const in L1. unfold candidates in L1.
      rewrite seq_length, INR_pow2, Rmult_1_r, Rinv_l in L1 by (apply pow_nonzero; lra).
      apply (law_ext _ (fun b => (F1 - F2) * clamp (2 ^ k * c x - INR b) + F2 * 1)); [intros; ring|].
      replace (c x * F1 + (1 - c x) * F2) with ((F1 - F2) * c x + F2 * 1) by ring.
      apply law_plus; now apply law_scal.
Qed.

(** [out] are candidates known to be tails; [beyond x b] says that the first bits [b] show that x is tails. The
    others are flipped all at once, or visited in a random order until one is heads. *)
Definition first_bits_plan (k : nat) (beyond : nat -> nat -> bool) (at_once : (nat -> nat) -> bool)
    (coin : nat -> nat -> program bool) (out l : list nat) : program (option nat) :=
  bind (first_words k l) (fun B =>
    let left := filter (fun x => negb (member x out) && negb (beyond x (B x)))%bool l in
    let rest x := coin x (B x) in
    if at_once B then head_or_none rest left else in_order rest (length left) left).

Definition outside (out l : list nat) : list nat := filter (fun x => negb (member x out)) l.

(** Candidates outside [out] only: as if the coins of [out] had chance zero. *)
Definition zeroed (out : list nat) (c : nat -> R) (x : nat) : R := if member x out then 0 else c x.

Lemma uniform_head_outside c out l r : uniform_head c (outside out l) r = uniform_head (zeroed out c) l r.
Proof.
  unfold uniform_head. rewrite (flip_all_left (zeroed out c) (fun x => negb (member x out)) l).
  - fold (outside out l). apply flip_all_coins. intros x X. apply filter_In in X as [_ X]. unfold zeroed.
    now destruct (member x out).
  - intros x _ X. unfold zeroed. now destruct (member x out).
Qed.

Theorem first_bits_plan_law k beyond at_once coin c out l r : NoDup l ->
  (forall x, In x l -> 0 <= c x <= 1) ->
  (forall x b, In x l -> beyond x b = true -> 2 ^ k * c x <= INR b) ->
  (forall x b, In x l -> is_coin (coin x b) (clamp (2 ^ k * c x - INR b))) ->
  has_law (first_bits_plan k beyond at_once coin out l) (is_answer r) (uniform_head c (outside out l) r).
Proof.
  intros N C T Co. set (c0 := zeroed out c).
  assert (C0 : forall x, In x l -> 0 <= c0 x <= 1).
  { intros x X. unfold c0, zeroed. specialize (C x X). destruct (member x out); lra. }
  rewrite uniform_head_outside. fold c0.
  apply (law_bind _ _ _ (fun B => uniform_head (given k c0 B) l r)).
  - intros o. apply is_answer_range.
  - intros B. set (left := filter _ l).
    assert (U : uniform_head (given k c0 B) l r = uniform_head (given k c B) left r).
    { unfold uniform_head. rewrite (flip_all_left (given k c0 B) (fun x => negb (member x out) && negb (beyond x (B x)))%bool l).
      - apply flip_all_coins. intros x X. apply filter_In in X as [_ X]. unfold given, c0, zeroed. now destruct (member x out).
      - intros x X L. unfold given, c0, zeroed. destruct (member x out); cbn in L.
        + apply clamp_zero. rewrite Rmult_0_r. pose proof (pos_INR (B x)). lra.
        + apply clamp_zero. specialize (T x (B x) X). destruct (beyond x (B x)); [|discriminate].
          specialize (T eq_refl). lra. }
    rewrite U. assert (NL : NoDup left) by now apply NoDup_filter.
    assert (CL : forall x, In x left -> is_coin (coin x (B x)) (given k c B x)).
    { intros x X. apply filter_In in X as [X _]. now apply Co. }
    destruct (at_once B); [now apply head_or_none_law | now apply in_order_law].
  - apply (first_words_law k c0 l N C0 (fun heads => if member r heads then / INR (length heads) else 0)).
    intros H. destruct (member r H) eqn:M; [|lra]. apply Rlt_le, Rinv_0_lt_compat. now apply (Merging.member_length r).
Qed.

(** ** Visits *)

(** At most [k] draws with replacement; a candidate that was drawn before is skipped. [more] decides from what
    was seen whether to go on. The result is a head, or the candidates that were visited, all tails. *)
Fixpoint visits (coin : nat -> program bool) (more : nat -> list nat -> bool) (l : list nat) (k : nat)
    (seen : list nat) : program (nat + list nat) :=
  match k, l with
  | S k, x0 :: _ => if more k seen then
      bind (uniform_below (Nat.log2_up (length l)) (length l)) (fun i =>
        let x := nth i l x0 in
        if member x seen then visits coin more l k seen
        else bind (coin x) (fun b : bool => if b then Return (inl x) else visits coin more l k (x :: seen)))
      else Return (inr seen)
  | _, _ => Return (inr seen)
  end.

(** The chance of [r] after the visits, if [after seen] is its chance when all visits were tails. *)
Definition visited (r : nat) (after : list nat -> R) (o : nat + list nat) : R :=
  match o with inl x => indicator x r | inr seen => after seen end.

Lemma outside_cons x seen l : outside (x :: seen) l = without x (outside seen l).
Proof.
  induction l as [|y l IH]; [reflexivity|]. cbn [outside filter]. unfold member at 1. cbn [existsb].
  fold (member y seen). unfold without. destruct (y =? x)%nat eqn:E, (member y seen) eqn:M; cbn [orb negb filter];
    rewrite ?E; cbn [negb]; fold (outside (x :: seen) l); fold (outside seen l); rewrite IH; reflexivity.
Qed.

Lemma flip_all_most c l phi : (forall x, In x l -> 0 <= c x <= 1) -> (forall H, 0 <= phi H <= 1) -> flip_all c l phi <= 1.
Proof.
  revert phi. induction l as [|x l IH]; intros phi C B; cbn [flip_all]; [apply B|].
  assert (C' : forall y, In y l -> 0 <= c y <= 1) by (intros; apply C; now right).
  pose proof (IH phi C' B). pose proof (IH (fun H => phi (x :: H)) C' ltac:(intros; apply B)).
  destruct (C x ltac:(now left)). nra.
Qed.

Lemma uniform_head_range c l r : NoDup l -> (forall x, In x l -> 0 <= c x <= 1) -> 0 <= uniform_head c l r <= 1.
Proof.
  intros N C. assert (B : forall H, 0 <= (if member r H then / INR (length H) else 0) <= 1).
  { intros H. destruct (member r H) eqn:M; [|lra]. pose proof (Merging.member_length r H M) as P.
    split; [now apply Rlt_le, Rinv_0_lt_compat|]. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|].
    apply (le_INR 1). destruct H; [discriminate | simpl; lia]. }
  split.
  - apply flip_all_nonneg; [exact C | intros; apply B].
  - now apply flip_all_most.
Qed.

Theorem visits_law coin more c l r : NoDup l -> (forall x, In x l -> is_coin (coin x) (c x)) ->
  let after seen := uniform_head c (outside seen l) r in
  forall k seen, has_law (visits coin more l k seen) (visited r after) (after seen).
Proof.
  destruct l as [|x0 l0]; [intros _ _ after [|k] seen; apply (law_return (inr seen) (visited r after))|].
  set (l := x0 :: l0). intros N C after. assert (Cr : forall x, In x l -> 0 <= c x <= 1) by (intros; now apply (coin_range (coin x)), C).
  assert (NO : forall seen, NoDup (outside seen l)) by (intros; now apply NoDup_filter).
  assert (A : forall seen, 0 <= after seen <= 1).
  { intros seen. apply uniform_head_range; [apply NO|]. intros x X. apply filter_In in X. now apply Cr. }
  assert (V : forall o, 0 <= visited r after o <= 1).
  { intros [x|seen]; [cbn; unfold indicator; destruct (x =? r)%nat; lra | apply A]. }
  induction k as [|k IH]; intros seen.
  - apply (law_return (inr seen) (visited r after)).
  - change (visits coin more l (S k) seen) with (if more k seen then
      bind (uniform_below (Nat.log2_up (length l)) (length l)) (fun i =>
        let x := nth i l x0 in
        if member x seen then visits coin more l k seen
        else bind (coin x) (fun b : bool => if b then Return (inl x) else visits coin more l k (x :: seen)))
      else Return (inr seen)).
    destruct (more k seen); [|apply (law_return (inr seen) (visited r after))].
    pose (g := fun x => c x * indicator x r + (1 - c x) * after (x :: seen)).
    assert (Sum : after seen = sum l (fun x => / INR (length l) * (if member x seen then after seen else g x))).
    { rewrite sum_scal.
      assert (Split : forall m, sum m (fun x => if member x seen then after seen else g x)
        = (INR (length m) - INR (length (outside seen m))) * after seen + sum (outside seen m) g).
      { induction m as [|x m IHm]; [simpl; ring|]. cbn [outside filter]. fold (outside seen m).
        destruct (member x seen) eqn:M; cbn [negb]; cbn [length]; rewrite !S_INR;
          cbn [sum fold_right]; fold (sum m (fun x => if member x seen then after seen else g x));
          fold (sum (outside seen m) g); rewrite IHm, ?M; ring. }
      rewrite Split. assert (P : 0 < INR (length l)) by (apply lt_0_INR; unfold l; simpl; lia).
      assert (W : sum (outside seen l) g = INR (length (outside seen l)) * after seen).
      { unfold after at 1. rewrite uniform_head_walk by apply NO.
        destruct (length (outside seen l)) as [|j] eqn:J.
        - apply length_zero_iff_nil in J. rewrite J. simpl. ring.
        - cbn [walk]. rewrite sum_scal, J.
          rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by (apply not_0_INR; lia).
          apply sum_ext. intros x X. unfold g, after. rewrite outside_cons.
          rewrite uniform_head_walk by apply NoDup_without, NO.
          pose proof (length_without x _ (NO seen) X). replace (length (without x (outside seen l))) with j by lia.
          reflexivity. }
      rewrite W. field. lra. }
    rewrite Sum at 1.
    apply (law_place x0 l0 (fun x => if member x seen then visits coin more l k seen
        else bind (coin x) (fun b : bool => if b then Return (inl x) else visits coin more l k (x :: seen)))
      (visited r after) (fun x => if member x seen then after seen else g x)); [exact V|].
    intros x X. fold l in X. destruct (member x seen); [apply IH|].
    pose (v := fun b : bool => if b then indicator x r else after (x :: seen)).
    apply (law_bind _ _ _ v); [intros o; apply V | | apply (law_coin _ _ v), C, X].
    intros []; [apply (law_return (inl x) (visited r after)) | apply IH].
Qed.

(** Visits, and then any program that chooses among the heads of the others. *)
Definition visits_then (coin : nat -> program bool) (more : nat -> list nat -> bool) (l : list nat) (k : nat)
    (next : list nat -> program (option nat)) : program (option nat) :=
  bind (visits coin more l k []) (fun o => match o with inl x => Return (Some x) | inr seen => next seen end).

Theorem visits_then_law coin more c l r k next : NoDup l -> (forall x, In x l -> is_coin (coin x) (c x)) ->
  (forall seen, has_law (next seen) (is_answer r) (uniform_head c (outside seen l) r)) ->
  has_law (visits_then coin more l k next) (is_answer r) (uniform_head c l r).
Proof.
  intros N C K.
  assert (E : outside [] l = l).
  { unfold outside, member. clear. induction l as [|x l IH]; cbn; [reflexivity | f_equal; exact IH]. }
  replace (uniform_head c l r) with (uniform_head c (outside [] l) r) by now rewrite E.
  apply (law_bind _ _ _ (visited r (fun seen => uniform_head c (outside seen l) r))).
  - intros o. apply is_answer_range.
  - intros [x|seen]; [apply (law_return (Some x) (is_answer r)) | apply K].
  - now apply (visits_law coin more c l r N C k []).
Qed.
