(** Three descriptions of permute-and-flip have the distribution [pf] of Mechanism.v
    (docs/proofs/permute-and-flip.md, lemmas 1 and 3).

    - [uniform_head]: flip every coin, return one of the heads uniformly at random;
    - [walk]: choose uniformly among the candidates not yet visited and flip its coin; return it at heads,
      otherwise continue without it;
    - [mean_over_orders]: the mean over all n! orders of the chance that r is the
      first head. *)
From Coq Require Import Reals Lra Lia List Arith Permutation Factorial.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism.
Import ListNotations.
Open Scope R_scope.

(** ** Flip every coin *)

(** The expectation of [phi heads] when the coins of [l] are flipped independently. *)
Fixpoint flip_all (p : nat -> R) (l : list nat) (phi : list nat -> R) : R :=
  match l with
  | [] => phi []
  | x :: l =>
      p x * flip_all p l (fun heads => phi (x :: heads))
      + (1 - p x) * flip_all p l phi
  end.

Definition member (r : nat) (l : list nat) : bool := existsb (Nat.eqb r) l.

(** The chance that [r] is a uniform choice among the heads. *)
Definition uniform_head (p : nat -> R) (l : list nat) (r : nat) : R :=
  flip_all p l (fun heads =>
    if member r heads then / INR (length heads) else 0).

Lemma flip_all_ext p l phi psi :
  (forall H, incl H l -> phi H = psi H) -> flip_all p l phi = flip_all p l psi.
Proof.
  revert phi psi. induction l as [|x l IH]; simpl; intros phi psi E.
  - apply E, incl_refl.
  - rewrite (IH (fun H => phi (x :: H)) (fun H => psi (x :: H))).
    2: { intros H HH; apply E. apply incl_cons; [now left | now apply incl_tl]. }
    rewrite (IH phi psi); [reflexivity|].
    intros H HH; apply E; now apply incl_tl.
Qed.

Lemma flip_all_const p l c : flip_all p l (fun _ => c) = c.
Proof. induction l as [|x l IH]; simpl; [reflexivity|rewrite IH; ring]. Qed.

Lemma member_false r l : ~ In r l -> member r l = false.
Proof.
  intros H. unfold member. destruct (existsb _ l) eqn:E; [|reflexivity].
  apply existsb_exists in E as (x & Hx & E).
  apply Nat.eqb_eq in E; subst; contradiction.
Qed.

Definition rest (p : nat -> R) (l : list nat) (u : R) : R :=
  prod l (fun t => 1 - u * p t).

Lemma rest_cont p l : cont (rest p l).
Proof. unfold rest; cont. Qed.
#[local] Hint Resolve rest_cont : cont.

Lemma rest_cons p x l u : rest p (x :: l) u = (1 - u * p x) * rest p l u.
Proof. reflexivity. Qed.

Lemma cont_pow k : cont (fun u => (1 - u) ^ k).
Proof. induction k as [|k IH]; simpl; cont. Qed.
#[local] Hint Resolve cont_pow : cont.

Lemma int_pow k : int (fun u => (1 - u) ^ k) 0 1 = / INR (S k).
Proof.
  assert (N : INR (S k) <> 0) by (apply not_0_INR; lia).
  rewrite (int_derive (fun u => - / INR (S k) * (1 - u) ^ S k)).
  - replace (1 - 1) with 0 by ring.
    rewrite pow_i by lia. rewrite (Rminus_0_r 1), pow1. ring.
  - intros u. auto_derive; [exact I|].
    change (- / INR (S k) * (- (1) * (INR (S k) * (1 - u) ^ k)) = (1 - u) ^ k :> R).
    field. exact N.
  - cont.
Qed.

Lemma int_split p l x k :
  int (fun u => (1 - u) ^ k * rest p (x :: l) u) 0 1
  = p x * int (fun u => (1 - u) ^ S k * rest p l u) 0 1
    + (1 - p x) * int (fun u => (1 - u) ^ k * rest p l u) 0 1.
Proof.
  rewrite <- !int_scal by cont. rewrite <- int_plus by cont.
  apply int_ext; intros u. simpl. unfold rest; simpl. ring.
Qed.

Lemma inv_shift k m : / INR (k + S m) = / INR (S k + m).
Proof. do 2 f_equal; lia. Qed.

Lemma flip_all_inverse p l k :
  flip_all p l (fun heads => / INR (S k + length heads))
  = int (fun u => (1 - u) ^ k * rest p l u) 0 1.
Proof.
  revert k. induction l as [|x l IH]; intros k.
  - cbn [flip_all length]. rewrite Nat.add_0_r, <- int_pow.
    apply int_ext; intros u. unfold rest; simpl. ring.
  - cbn [flip_all length]. rewrite int_split, <- !IH. f_equal. f_equal.
    apply flip_all_ext; intros H _. apply inv_shift.
Qed.

Lemma flip_all_member p l r k : NoDup l -> In r l ->
  flip_all p l (fun heads =>
    if member r heads then / INR (k + length heads) else 0)
  = p r * int (fun u => (1 - u) ^ k * rest p (without r l) u) 0 1.
Proof.
  revert k. induction l as [|x l IH]; intros k N I; [easy|].
  inversion N as [|? ? Hx Hl]; subst. cbn [flip_all].
  destruct (Nat.eq_dec x r) as [->|E].
  - (* r is the first *)
    rewrite (flip_all_ext p l _ (fun heads => / INR (S k + length heads))).
    2: { intros H _. unfold member; cbn [existsb]. rewrite Nat.eqb_refl.
         cbn [orb length]. apply inv_shift. }
    rewrite flip_all_inverse.
    rewrite (flip_all_ext p l _ (fun _ => 0)).
    2: { intros H HH. rewrite member_false; [reflexivity|].
         intros HI; apply Hx, HH, HI. }
    rewrite flip_all_const.
    rewrite without_same, without_none by exact Hx. ring.
  - assert (I' : In r l) by (destruct I; [congruence|auto]).
    rewrite (flip_all_ext p l _ (fun heads =>
      if member r heads then / INR (S k + length heads) else 0)).
    2: { intros H _. unfold member; cbn [existsb].
         rewrite (proj2 (Nat.eqb_neq r x)) by congruence. cbn [orb length].
         destruct (existsb _ H); [|reflexivity]. apply inv_shift. }
    rewrite (IH (S k)), (IH k) by auto.
    rewrite without_other by auto. rewrite int_split. ring.
Qed.

Theorem uniform_head_law p l r : NoDup l -> In r l ->
  uniform_head p l r = p r * int (rest p (without r l)) 0 1.
Proof.
  intros N I. unfold uniform_head.
  rewrite (flip_all_ext p l _ (fun heads =>
    if member r heads then / INR (0 + length heads) else 0)) by reflexivity.
  rewrite flip_all_member by auto. f_equal.
  apply int_ext; intros u. simpl. ring.
Qed.

(** ** Visit in a random order *)

Definition indicator (x r : nat) : R := if (x =? r)%nat then 1 else 0.

Fixpoint walk (fuel : nat) (p : nat -> R) (l : list nat) (r : nat) : R :=
  match fuel with
  | O => 0
  | S fuel =>
      sum l (fun x => / INR (length l) *
        (p x * indicator x r + (1 - p x) * walk fuel p (without x l) r))
  end.

Lemma walk_absent k p l r : ~ In r l -> walk k p l r = 0.
Proof.
  revert l. induction k as [|k IH]; intros l H; cbn [walk]; [reflexivity|].
  rewrite (sum_ext l _ (fun _ => 0)).
  - rewrite sum_const; ring.
  - intros x Hx. rewrite IH by (rewrite in_without; tauto).
    unfold indicator. destruct (Nat.eqb_spec x r); [congruence|ring].
Qed.

(** The derivative of a product of [1 - u p t]. *)
Lemma rest_derive p l u : NoDup l ->
  is_derive (rest p l) u (- sum l (fun x => p x * rest p (without x l) u)).
Proof.
  induction l as [|x l IH]; intros N.
  - simpl. rewrite Ropp_0. apply (is_derive_ext (fun _ => 1)).
    + intros; reflexivity.
    + apply (is_derive_const 1).
  - inversion N as [|? ? Hx Hl]; subst.
    evar_last.
    + apply (is_derive_ext (fun u => (1 - u * p x) * rest p l u)).
      { intros; reflexivity. }
      apply (is_derive_mult (fun u => 1 - u * p x) (rest p l)).
      * instantiate (1 := - p x). auto_derive; [exact I | ring].
      * apply IH; exact Hl.
      * intros a b; apply Rmult_comm.
    + unfold plus, mult; cbn -[sum rest without Rminus].
      cbn [sum fold_right]. fold (sum l (fun y => p y * rest p (without y (x :: l)) u)).
      rewrite without_same, without_none by exact Hx.
      rewrite (sum_ext l (fun y => p y * rest p (without y (x :: l)) u)
                 (fun y => (1 - u * p x) * (p y * rest p (without y l) u))).
      * rewrite sum_scal. ring.
      * intros y Hy. rewrite without_other by congruence.
        rewrite rest_cons. ring.
Qed.

Lemma cont_rest_sum p l :
  cont (fun u => sum l (fun x => p x * rest p (without x l) u)).
Proof. apply (cont_sum l (fun x u => p x * rest p (without x l) u)); intro; cont. Qed.

Lemma rest_0 p l : rest p l 0 = 1.
Proof.
  unfold rest. induction l as [|x l IH]; simpl; [reflexivity|rewrite IH; ring].
Qed.

(** Integration by parts, as the recursion of the walk. *)
Lemma rest_recursion p l : NoDup l ->
  INR (S (length l)) * int (rest p l) 0 1
  = 1 + sum l (fun x => (1 - p x) * int (rest p (without x l)) 0 1).
Proof.
  intros N.
  assert (P : int (fun u => rest p l u
      + (1 - u) * sum l (fun x => p x * rest p (without x l) u)) 0 1 = 1).
  { rewrite (int_derive (fun u => - (1 - u) * rest p l u)).
    - rewrite rest_0. ring.
    - intros u. evar_last.
      + apply (is_derive_mult (fun u => - (1 - u)) (rest p l)).
        * instantiate (1 := 1). auto_derive; [exact I|ring].
        * now apply rest_derive.
        * intros a b; apply Rmult_comm.
      + unfold plus, mult; simpl. ring.
    - pose proof (cont_rest_sum p l). cont. }
  rewrite int_plus in P; [|cont|pose proof (cont_rest_sum p l); cont].
  rewrite (int_ext (fun u => (1 - u) * sum l (fun x => p x * rest p (without x l) u))
     (fun u => sum l (fun x => (1 - u) * (p x * rest p (without x l) u)))) in P
    by (intros u; now rewrite sum_scal).
  rewrite (int_sum l (fun x u => (1 - u) * (p x * rest p (without x l) u))) in P
    by (intro; cont).
  rewrite S_INR.
  rewrite (sum_ext l _ (fun x => int (rest p l) 0 1 -
     int (fun u => (1 - u) * (p x * rest p (without x l) u)) 0 1)).
  - rewrite (sum_ext l _ (fun x => int (rest p l) 0 1 + (-1) *
      int (fun u => (1 - u) * (p x * rest p (without x l) u)) 0 1))
      by (intros; ring).
    rewrite sum_plus, sum_const, sum_scal. lra.
  - intros x Hx. rewrite <- int_scal by cont. rewrite <- int_minus by cont.
    apply int_ext; intros u. unfold rest at 2.
    rewrite (prod_without x l) by auto. fold (rest p (without x l) u). ring.
Qed.

Theorem walk_law p l r : NoDup l -> In r l ->
  walk (length l) p l r = p r * int (rest p (without r l)) 0 1.
Proof.
  remember (length l) as k eqn:K. revert l K.
  induction k as [|k IH]; intros l K N H.
  - destruct l; [easy|discriminate].
  - cbn [walk]. rewrite sum_scal, (sum_without r) by auto.
    rewrite walk_absent by (rewrite in_without; tauto).
    unfold indicator at 1; rewrite Nat.eqb_refl.
    assert (L : length (without r l) = k)
      by (pose proof (length_without r l N H); lia).
    rewrite (sum_ext (without r l) _ (fun x => p r *
      ((1 - p x) * int (rest p (without x (without r l))) 0 1))).
    2: { intros x Hx. apply in_without in Hx as [Hx E].
         rewrite IH.
         - unfold indicator. rewrite (proj2 (Nat.eqb_neq x r)) by auto.
           rewrite without_comm. ring.
         - pose proof (length_without x l N Hx). lia.
         - now apply NoDup_without.
         - apply in_without; auto. }
    rewrite sum_scal.
    pose proof (rest_recursion p (without r l) (NoDup_without r l N)) as R.
    rewrite L in R. rewrite <- K.
    assert (0 < INR (S k)) by (apply lt_0_INR; lia).
    apply (Rmult_eq_reg_l (INR (S k))); [|lra].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    rewrite (Rmult_comm (INR (S k))), Rmult_assoc, (Rmult_comm _ (INR (S k))).
    rewrite R. ring.
Qed.

(** ** The mean over all orders *)

Fixpoint orders (fuel : nat) (l : list nat) : list (list nat) :=
  match fuel with
  | O => [[]]
  | S fuel => flat_map (fun x => map (cons x) (orders fuel (without x l))) l
  end.

(** The chance that [r] is the first head when visiting in this order. *)
Fixpoint first_head (p : nat -> R) (order : list nat) (r : nat) : R :=
  match order with
  | [] => 0
  | x :: order => p x * indicator x r + (1 - p x) * first_head p order r
  end.

Definition mean_over_orders (p : nat -> R) (l : list nat) (r : nat) : R :=
  / INR (length (orders (length l) l)) *
  sum (orders (length l) l) (fun order => first_head p order r).

Lemma sum_flat_map {A B} (f : A -> list B) (l : list A) (g : B -> R) :
  sum (flat_map f l) g = sum l (fun x => sum (f x) g).
Proof.
  induction l as [|x l IH]; simpl; [reflexivity|]. now rewrite sum_app, IH.
Qed.

Lemma permutation_without x l : NoDup l -> In x l ->
  Permutation l (x :: without x l).
Proof.
  intros N H. apply NoDup_Permutation; auto.
  - constructor; [rewrite in_without; tauto | now apply NoDup_without].
  - intros y; simpl. rewrite in_without.
    destruct (Nat.eq_dec x y); [subst; tauto | intuition congruence].
Qed.

(** [orders] lists every order exactly once. *)
Lemma orders_spec l order : NoDup l ->
  In order (orders (length l) l) <-> Permutation l order.
Proof.
  remember (length l) as k eqn:K. revert l K order.
  induction k as [|k IH]; intros l K order N.
  - destruct l; [|discriminate]. simpl. split.
    + intros [<-|[]]; constructor.
    + intros P; left. now apply Permutation_nil in P.
  - cbn [orders]. rewrite in_flat_map. split.
    + intros (x & Hx & Ho). apply in_map_iff in Ho as (o & <- & Ho).
      apply IH in Ho.
      * rewrite (permutation_without x l) by auto. now constructor.
      * pose proof (length_without x l N Hx); lia.
      * now apply NoDup_without.
    + intros P. destruct order as [|x o].
      { apply Permutation_sym, Permutation_nil in P; subst; discriminate. }
      assert (Hx : In x l)
        by (apply (Permutation_in x (Permutation_sym P)); now left).
      exists x; split; [exact Hx|]. apply in_map, IH.
      * pose proof (length_without x l N Hx); lia.
      * now apply NoDup_without.
      * apply (Permutation_cons_inv (a := x)).
        rewrite <- (permutation_without x l) by auto. exact P.
Qed.

Lemma NoDup_flat_cons (f : nat -> list (list nat)) l :
  NoDup l -> (forall x, In x l -> NoDup (f x)) ->
  NoDup (flat_map (fun x => map (cons x) (f x)) l).
Proof.
  induction l as [|x l IH]; simpl; intros N F; [constructor|].
  inversion N as [|? ? Hx Hl]; subst.
  assert (A : NoDup (map (cons x) (f x))).
  { apply FinFun.Injective_map_NoDup; [|auto]. intros a b E; congruence. }
  assert (B : NoDup (flat_map (fun x => map (cons x) (f x)) l)) by auto.
  assert (D : forall o, In o (map (cons x) (f x)) ->
              ~ In o (flat_map (fun x => map (cons x) (f x)) l)).
  { intros o H1 H2. apply in_map_iff in H1 as (o1 & <- & _).
    apply in_flat_map in H2 as (y & Hy & H2).
    apply in_map_iff in H2 as (o2 & E & _). injection E as -> _.
    contradiction. }
  clear - A B D. induction (map (cons x) (f x)) as [|a m IHm]; simpl; [exact B|].
  inversion A; subst. constructor.
  - rewrite in_app_iff. intros [H|H]; [contradiction|].
    apply (D a); [now left | exact H].
  - apply IHm; auto. intros o Ho; apply D; now right.
Qed.

Lemma orders_NoDup l : NoDup l -> NoDup (orders (length l) l).
Proof.
  remember (length l) as k eqn:K. revert l K.
  induction k as [|k IH]; intros l K N.
  - constructor; [easy|constructor].
  - cbn [orders]. apply NoDup_flat_cons; [exact N|].
    intros x Hx. apply IH; [|now apply NoDup_without].
    pose proof (length_without x l N Hx); lia.
Qed.

Lemma orders_length k l : length l = k -> NoDup l -> length (orders k l) = fact k.
Proof.
  revert l. induction k as [|k IH]; intros l K N; [reflexivity|].
  cbn [orders].
  assert (G : forall m, incl m l ->
    length (flat_map (fun x => map (cons x) (orders k (without x l))) m)
    = (length m * fact k)%nat).
  { induction m as [|x m IHm]; simpl; intros I; [reflexivity|].
    rewrite app_length, map_length, IH, IHm.
    - reflexivity.
    - intros y Hy; apply I; now right.
    - assert (Hx : In x l) by (apply I; now left).
      pose proof (length_without x l N Hx); lia.
    - now apply NoDup_without. }
  rewrite G by apply incl_refl. rewrite K. reflexivity.
Qed.

Lemma mean_is_walk p k l r : length l = k -> NoDup l ->
  / INR (fact k) * sum (orders k l) (fun o => first_head p o r) = walk k p l r.
Proof.
  revert l. induction k as [|k IH]; intros l K N.
  - simpl. lra.
  - cbn [orders walk]. rewrite sum_flat_map, <- sum_scal, K.
    apply sum_ext; intros x Hx.
    assert (L : length (without x l) = k)
      by (pose proof (length_without x l N Hx); lia).
    rewrite <- IH by (auto using NoDup_without).
    rewrite sum_map. cbn [first_head].
    rewrite sum_plus, sum_const, sum_scal.
    rewrite orders_length by (auto using NoDup_without).
    change (fact (S k)) with (S k * fact k)%nat. rewrite mult_INR.
    assert (0 < INR (fact k)) by apply INR_fact_lt_0.
    assert (0 < INR (S k)) by (apply lt_0_INR; lia).
    field. lra.
Qed.

Theorem mean_over_orders_law p l r : NoDup l -> In r l ->
  mean_over_orders p l r = p r * int (rest p (without r l)) 0 1.
Proof.
  intros N H. unfold mean_over_orders.
  rewrite orders_length by auto.
  rewrite mean_is_walk by auto. now apply walk_law.
Qed.

(** ** For scores *)

Theorem pf_is_uniform_head s n q r : (r < n)%nat ->
  uniform_head (coin s n q) (candidates n) r = pf s n q r.
Proof.
  intros H. apply uniform_head_law; [apply NoDup_candidates | now apply in_candidates].
Qed.

Theorem pf_is_walk s n q r : (r < n)%nat ->
  walk n (coin s n q) (candidates n) r = pf s n q r.
Proof.
  intros H. rewrite <- (seq_length n 0) at 1.
  apply walk_law; [apply NoDup_candidates | now apply in_candidates].
Qed.

Theorem pf_is_mean_over_orders s n q r : (r < n)%nat ->
  mean_over_orders (coin s n q) (candidates n) r = pf s n q r.
Proof.
  intros H. apply mean_over_orders_law; [apply NoDup_candidates | now apply in_candidates].
Qed.

(** The probabilities add to one, because a best candidate's coin is certain. *)
Theorem pf_total s n q : (0 < n)%nat -> sum (candidates n) (pf s n q) = 1.
Proof.
  intros Hn. set (p := coin s n q).
  rewrite (sum_ext _ _ (fun r => int (fun u => p r * rest p (others n r) u) 0 1)).
  2: { intros r _. rewrite int_scal by cont. reflexivity. }
  rewrite <- (int_sum (candidates n) (fun r u => p r * rest p (others n r) u))
    by (intro; cont).
  rewrite (int_derive (fun u => - rest p (candidates n) u)).
  - rewrite rest_0. destruct (best_reached n q Hn) as (i & Hi & E).
    unfold rest. rewrite (prod_without i) by
      (try apply NoDup_candidates; now apply in_candidates).
    assert (C : p i = 1).
    { unfold p, coin. rewrite E, <- exp_0. f_equal. unfold Rdiv; ring. }
    rewrite C. ring.
  - intros u. evar_last.
    + apply (is_derive_opp (rest p (candidates n))).
      apply rest_derive, NoDup_candidates.
    + unfold opp; simpl. now rewrite Ropp_involutive.
  - apply cont_rest_sum.
Qed.

