(** docs/proofs/sampling.md: a coin decided by floats or by balls (lemma 6), heads by
    thinning (lemma 8), and "flip a coin for everyone and choose uniformly among the heads"
    as a program that draws bits (theorem 1, without the plans). *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk Machine Programs UniformBelow Comparison.
Import ListNotations.
Open Scope R_scope.

(** ** One coin *)

(** [p] comes up heads with probability exactly [c], and tails with probability 1 - c. *)
Definition is_coin (p : program bool) (c : R) : Prop :=
  has_law p (says true) c /\ has_law p (says false) (1 - c).

(** A word of [w] bits. Floats may decide ([guess]); otherwise more bits and balls decide. *)
Definition flip (low high : nat -> R) (step w : nat) (guess : nat -> option bool) : program bool :=
  bind (word w 0) (fun U =>
    match guess U with Some b => Return b | None => is_below low high step w U end).

Theorem flip_law c low high step w guess : 0 <= c <= 1 ->
  (forall w, low w <= 2 ^ w * c <= high w) ->
  (forall w, 2 ^ w * c - 1 <= low w /\ high w <= 2 ^ w * c + 1) -> (1 <= step)%nat ->
  (forall U, guess U = Some false -> 2 ^ w * c <= INR U) ->
  (forall U, guess U = Some true -> INR U + 1 <= 2 ^ w * c) ->
  is_coin (flip low high step w guess) c.
Proof.
  intros C E N S T H. split.
  - apply (law_bind _ _ _ (fun U => clamp (2 ^ w * c - INR U))); [apply says_nonneg| |].
    + intros U. destruct (guess U) as [[]|] eqn:G.
      * rewrite clamp_one by (specialize (H U G); lra). apply (law_return true (says true)).
      * rewrite clamp_zero by (specialize (T U G); lra). apply (law_return false (says true)).
      * apply (is_below_law c low high E N step S w U true).
    + pose proof (law_word w 0 (fun U => clamp (2 ^ w * c - INR U))) as L.
      rewrite average_below, clamp_id in L by (simpl; lra).
      now replace (c - INR 0) with c in L by (simpl; ring).
  - apply (law_bind _ _ _ (fun U => clamp (INR U + 1 - 2 ^ w * c))); [apply says_nonneg| |].
    + intros U. destruct (guess U) as [[]|] eqn:G.
      * rewrite clamp_zero by (specialize (H U G); lra). apply (law_return true (says false)).
      * rewrite clamp_one by (specialize (T U G); lra). apply (law_return false (says false)).
      * apply (is_below_law c low high E N step S w U false).
    + pose proof (law_word w 0 (fun U => clamp (INR U + 1 - 2 ^ w * c))) as L.
      rewrite average_above, clamp_id in L by (simpl; lra).
      now replace (INR 0 + 1 - c) with (1 - c) in L by (simpl; ring).
Qed.

Lemma law_coin p c (f : bool -> R) : is_coin p c ->
  has_law p f (c * f true + (1 - c) * f false).
Proof.
  intros [H T]. apply (law_ext p (fun b => f true * says true b + f false * says false b)).
  - intros []; cbn; ring.
  - rewrite (Rmult_comm c), (Rmult_comm (1 - c)). apply law_plus; now apply law_scal.
Qed.

(** ** Many coins *)

Fixpoint flips (coin : nat -> program bool) (l : list nat) : program (list nat) :=
  match l with
  | [] => Return []
  | x :: l => bind (coin x) (fun b =>
      bind (flips coin l) (fun heads => Return (if b then x :: heads else heads)))
  end.

Theorem flips_law coin c l phi :
  (forall x, In x l -> is_coin (coin x) (c x)) -> (forall H, 0 <= phi H) ->
  has_law (flips coin l) phi (flip_all c l phi).
Proof.
  revert phi. induction l as [|x l IH]; intros phi C P; cbn [flips flip_all].
  - apply (law_return [] phi).
  - apply (law_bind _ _ _ (fun b : bool => if b then
      flip_all c l (fun H => phi (x :: H)) else flip_all c l phi)); [exact P| |].
    + intros []; apply law_map.
      * apply (IH (fun H => phi (x :: H))); [intros; apply C; now right | auto].
      * apply (IH phi); [intros; apply C; now right | auto].
    + apply (law_coin (coin x) (c x) (fun b : bool => if b then
        flip_all c l (fun H => phi (x :: H)) else flip_all c l phi)).
      apply C; now left.
Qed.

(** ** Lemma 8 *)

Lemma flip_all_linear p l a b f g :
  flip_all p l (fun H => a * f H + b * g H) = a * flip_all p l f + b * flip_all p l g.
Proof.
  revert f g. induction l as [|y l IH]; intros f g; cbn [flip_all]; [reflexivity|].
  rewrite (IH (fun H => f (y :: H)) (fun H => g (y :: H))), (IH f g). ring.
Qed.

(** Marking everybody with chance [m] and flipping a coin c/m for the marked members of a set is the same as
    flipping coins c for its members. *)
Lemma thinning m c (far : nat -> bool) l phi : m <> 0 ->
  flip_all (fun _ => m) l (fun marked =>
    flip_all (fun x => c x / m) (filter far marked) phi)
  = flip_all c (filter far l) phi.
Proof.
  intros M. revert phi. induction l as [|x l IH]; intros phi; [reflexivity|].
  cbn [flip_all filter]. destruct (far x); cbn [flip_all].
  - rewrite <- (IH phi), <- (IH (fun H => phi (x :: H))).
    rewrite (flip_all_linear _ l (c x / m) (1 - c x / m)
      (fun marked => flip_all (fun y => c y / m) (filter far marked) (fun H => phi (x :: H)))
      (fun marked => flip_all (fun y => c y / m) (filter far marked) phi)).
    field. exact M.
  - rewrite <- (IH phi). ring.
Qed.

Definition thinned (mark : program bool) (coin : nat -> program bool) (far : nat -> bool)
    (l : list nat) : program (list nat) :=
  bind (flips (fun _ => mark) l) (fun marked => flips coin (filter far marked)).

Theorem thinned_law mark coin m c far l phi : 0 < m ->
  is_coin mark m -> (forall x, far x = true -> is_coin (coin x) (c x / m)) ->
  (forall H, 0 <= phi H) ->
  has_law (thinned mark coin far l) phi (flip_all c (filter far l) phi).
Proof.
  intros M HM HC P.
  apply (law_bind _ _ _ (fun marked =>
    flip_all (fun x => c x / m) (filter far marked) phi)); [exact P| |].
  - intros marked. apply flips_law; [|exact P].
    intros x Hx. apply HC. now apply filter_In in Hx.
  - rewrite <- (thinning m c far l phi) by lra. apply flips_law; [auto|].
    intros marked. clear - P HC M HM.
    assert (N : has_law (flips coin (filter far marked)) phi
                  (flip_all (fun x => c x / m) (filter far marked) phi)).
    { apply flips_law; [|exact P]. intros x Hx. apply HC. now apply filter_In in Hx. }
    eapply Rle_trans; [|apply (law_above _ phi _ 0 P N)]. now apply mass_nonneg.
Qed.

(** ** A uniform choice among the heads *)

Definition one_of (heads : list nat) : program (option nat) :=
  match heads with
  | [] => Return None
  | _ => bind (uniform_below (Nat.log2_up (length heads)) (length heads))
           (fun i => Return (Some (nth i heads 0%nat)))
  end.

Definition head_or_none (coin : nat -> program bool) (l : list nat) : program (option nat) :=
  bind (flips coin l) one_of.

Definition is_answer (r : nat) (o : option nat) : R :=
  match o with Some x => if (x =? r)%nat then 1 else 0 | None => 0 end.

Lemma is_answer_range r o : 0 <= is_answer r o <= 1.
Proof. destruct o as [x|]; cbn; [destruct (x =? r)%nat|]; lra. Qed.

Lemma sum_nth (heads : list nat) (f : nat -> R) :
  sum (candidates (length heads)) (fun i => f (nth i heads 0%nat)) = sum heads f.
Proof.
  induction heads as [|x l IH]; [reflexivity|].
  change (f x + sum (seq 1 (length l)) (fun i => f (nth i (x :: l) 0%nat)) = f x + sum l f).
  rewrite sum_seq, <- IH. reflexivity.
Qed.

Lemma sum_member r l : NoDup l ->
  sum l (fun x => if (x =? r)%nat then 1 else 0) = if member r l then 1 else 0.
Proof.
  unfold member. induction 1 as [|x l Hx Hl IH]; simpl; [reflexivity|].
  rewrite IH, (Nat.eqb_sym r x). destruct (Nat.eqb_spec x r) as [->|D]; simpl; [|ring].
  change (existsb (Nat.eqb r) l) with (member r l).
  rewrite member_false by exact Hx. ring.
Qed.

(** The share of [r] in the list of heads. *)
Definition share (r : nat) (heads : list nat) : R :=
  sum heads (fun x => if (x =? r)%nat then 1 else 0) / INR (length heads).

Lemma one_of_law r heads : has_law (one_of heads) (is_answer r) (share r heads).
Proof.
  destruct heads as [|x l].
  { unfold share. simpl sum. unfold Rdiv. rewrite Rmult_0_l.
    apply (law_return None (is_answer r)). }
  set (h := x :: l) in *.
  assert (K : (1 <= length h)%nat) by (unfold h; simpl; lia).
  change (one_of h) with (bind (uniform_below (Nat.log2_up (length h)) (length h))
           (fun i => Return (Some (nth i h 0%nat)))).
  apply law_map. cbn [is_answer]. unfold share.
  rewrite <- (sum_nth h (fun x => if (x =? r)%nat then 1 else 0)).
  apply (uniform_below_law _ _ _ 1).
  - split; [exact K|]. destruct (Nat.eq_dec (length h) 1) as [->|D]; [simpl; lia|].
    apply Nat.log2_up_spec. lia.
  - intros i. destruct (nth i h 0%nat =? r)%nat; lra.
Qed.

Lemma share_nonneg r heads : 0 <= share r heads.
Proof.
  eapply Rle_trans; [|apply (law_above _ (is_answer r) _ 0 (fun o => proj1 (is_answer_range r o))
                         (one_of_law r heads))].
  apply mass_nonneg. intros o; apply is_answer_range.
Qed.

Lemma flip_all_NoDup p l phi psi : NoDup l ->
  (forall H, NoDup H -> incl H l -> phi H = psi H) -> flip_all p l phi = flip_all p l psi.
Proof.
  revert phi psi. induction l as [|x l IH]; simpl; intros phi psi N E.
  - apply E; [constructor | apply incl_refl].
  - inversion N as [|? ? Hx Hl]; subst.
    rewrite (IH (fun H => phi (x :: H)) (fun H => psi (x :: H)) Hl).
    2: { intros H NH HH; apply E.
         - constructor; [intros I; apply Hx, HH, I | exact NH].
         - apply incl_cons; [now left | now apply incl_tl]. }
    rewrite (IH phi psi Hl); [reflexivity|].
    intros H NH HH; apply E; [exact NH | now apply incl_tl].
Qed.

(** The law of a uniform choice among the heads, or of "none". *)
Theorem head_or_none_law coin c l r : NoDup l ->
  (forall x, In x l -> is_coin (coin x) (c x)) ->
  has_law (head_or_none coin l) (is_answer r) (uniform_head c l r).
Proof.
  intros N C. unfold head_or_none, uniform_head.
  rewrite (flip_all_NoDup c l _ (share r) N).
  - apply (law_bind _ _ _ (share r)); [intros o; apply is_answer_range | apply one_of_law |].
    apply flips_law; [exact C | apply share_nonneg].
  - intros H NH _. unfold share. rewrite sum_member by exact NH.
    destruct (member r H); unfold Rdiv; ring.
Qed.

(** Theorem 1, for the coins of permute-and-flip. *)
Theorem uniform_head_program_law s n q coin r : (r < n)%nat ->
  (forall x, (x < n)%nat -> is_coin (coin x) (Mechanism.coin s n q x)) ->
  has_law (head_or_none coin (candidates n)) (is_answer r) (pf s n q r).
Proof.
  intros Hr C. rewrite <- pf_is_uniform_head by exact Hr.
  apply head_or_none_law; [apply NoDup_candidates|].
  intros x Hx. apply C. now apply in_candidates.
Qed.
