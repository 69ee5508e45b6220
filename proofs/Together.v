(** Several releases together, in rho: docs/proofs/composition.md, and one answer for each of several groups. *)
From Coq Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Divergences.
Import ListNotations.
Open Scope R_scope.

(** ** Chances that add up to at most one *)

Definition at_most_one {A} (p : A -> R) : Prop :=
  (forall a, 0 <= p a) /\ forall answers, NoDup answers -> sum answers p <= 1.

Lemma at_most_one_then {A B} (p : A -> R) (p2 : A -> B -> R) : at_most_one p -> (forall a, at_most_one (p2 a)) ->
  at_most_one (fun o => p (fst o) * p2 (fst o) (snd o)).
Proof.
  intros (P & P1) H. split; [intros o; apply Rmult_le_pos; [apply P | apply H]|].
  intros answers N. destruct (pairs answers) as (u & v & U & V & I).
  eapply Rle_trans; [apply (sum_incl answers (list_prod u v)); auto;
    intros o; apply Rmult_le_pos; [apply P | apply H]|].
  rewrite sum_prod. cbn [fst snd].
  apply Rle_trans with (sum u p); [|now apply P1]. apply sum_le. intros a _.
  rewrite sum_scal. pose proof (proj2 (H a) v V). specialize (P a). nra.
Qed.

Lemma concentrated_same {A} (p : A -> R) : at_most_one p -> concentrated p p 0.
Proof.
  intros (P & P1). split; [auto|]. intros order answers O N. rewrite Rmult_0_r, exp_0.
  apply Rle_trans with (sum answers p); [|now apply P1]. apply sum_le. intros a _. unfold powers.
  destruct Rlt_dec as [H|H]; [|apply P]. rewrite <- Rpower_plus.
  replace (order + (1 - order)) with 1 by ring. now rewrite Rpower_1 by exact H; right.
Qed.

(** The same chances, with the answers renamed. *)
Lemma relabelled {A B} (label : A -> option B) l : NoDup l ->
  (forall a a' b, label a = Some b -> label a' = Some b -> a = a') ->
  exists m, NoDup m /\ (forall b, In b m -> exists a, In a l /\ label a = Some b) /\
  forall (f : A -> R) (g : B -> R), (forall a, label a = None -> f a = 0) ->
    (forall a b, label a = Some b -> f a = g b) -> sum l f = sum m g.
Proof.
  intros N I. induction N as [|a l X0 N (m & M & F & S)].
  - exists []. split; [constructor|]. split; [intros b []|]. reflexivity.
  - destruct (label a) as [b|] eqn:E.
    + exists (b :: m). split; [|split].
      * constructor; [|exact M]. intros H. destruct (F b H) as (x & X & Lx).
        pose proof (I a x b E Lx). now subst.
      * intros b' [<-|H]; [exists a; split; [now left | exact E]|].
        destruct (F b' H) as (x & X & Lx). exists x. split; [now right | exact Lx].
      * intros f g Z G. cbn [sum fold_right]. fold (sum l f) (sum m g).
        now rewrite (S f g Z G), (G a b E).
    + exists m. split; [exact M|]. split.
      * intros b H. destruct (F b H) as (x & X & Lx). exists x. split; [now right | exact Lx].
      * intros f g Z G. cbn [sum fold_right]. fold (sum l f). now rewrite (S f g Z G), (Z a E), Rplus_0_l.
Qed.

Section Relabel.
Context {A B : Type}.
Variables (label : A -> option B) (p p' : A -> R) (q q' : B -> R).
Hypotheses (label_once : forall a a' b, label a = Some b -> label a' = Some b -> a = a')
  (p_none : forall a, label a = None -> p a = 0) (p_some : forall a b, label a = Some b -> p a = q b)
  (p'_some : forall a b, label a = Some b -> p' a = q' b).

Lemma at_most_one_relabelled : at_most_one q -> at_most_one p.
Proof.
  intros (Q & Q1). split.
  - intros a. destruct (label a) as [b|] eqn:E; [rewrite (p_some a b E); apply Q | rewrite (p_none a E); lra].
  - intros l N. destruct (relabelled label l N label_once) as (m & M & _ & S).
    rewrite (S p q p_none p_some). now apply Q1.
Qed.

Lemma concentrated_relabelled rho : concentrated q q' rho -> concentrated p p' rho.
Proof.
  intros (Q & Z). split.
  - intros a H. destruct (label a) as [b|] eqn:E; [|rewrite (p_none a E) in H; lra].
    rewrite (p'_some a b E). apply Q. now rewrite <- (p_some a b E).
  - intros order l O N. destruct (relabelled label l N label_once) as (m & M & _ & S).
    rewrite (S _ (fun b => powers order (q b) (q' b))); [now apply Z| |].
    + intros a E. unfold powers. rewrite (p_none a E). destruct Rlt_dec; lra.
    + intros a b E. now rewrite (p_some a b E), (p'_some a b E).
Qed.
End Relabel.

(** ** One answer for each of a list of groups *)

Fixpoint each {A} (f : nat -> A -> R) (groups : list nat) (o : list A) : R :=
  match groups, o with
  | [], [] => 1
  | g :: groups, a :: o => f g a * each f groups o
  | _, _ => 0
  end.

Definition first {A} (o : list A) : option (A * list A) :=
  match o with [] => None | a :: o => Some (a, o) end.

Lemma first_once {A} (o o' : list A) b : first o = Some b -> first o' = Some b -> o = o'.
Proof. destruct o, o'; simpl; congruence. Qed.

Lemma each_at_most_one {A} (f : nat -> A -> R) groups : (forall g, at_most_one (f g)) -> at_most_one (each f groups).
Proof.
  intros F. induction groups as [|g groups IH].
  - split; [intros [|]; simpl; lra|]. intros answers N.
    apply Rle_trans with (sum [[]] (fun o : list A => if o then 1 else 0)); [|simpl; lra].
    destruct (relabelled (fun o : list A => if o then Some tt else None) answers N) as (m & M & _ & S).
    { intros [|] [|] b; simpl; congruence. }
    rewrite (S _ (fun _ => 1)); [|now intros [|] E|now intros [|] [] E].
    rewrite sum_const. simpl. destruct m as [|[] [|[] m]]; simpl; try lra.
    inversion M as [|? ? X]; subst. exfalso; apply X; now left.
  - apply (at_most_one_relabelled first _ (fun o => f g (fst o) * each f groups (snd o)) first_once);
      [now intros [|] E | now intros [|a o] b E; inversion E |].
    now apply (at_most_one_then (f g) (fun _ => each f groups)).
Qed.

Lemma each_concentrated {A} (f f' : nat -> A -> R) cost groups : (forall g, at_most_one (f g)) ->
  (forall g, concentrated (f g) (f' g) (cost g)) ->
  concentrated (each f groups) (each f' groups) (sum groups cost).
Proof.
  intros F C. induction groups as [|g groups IH].
  - replace (each f' []) with (each f []) by (apply functional_extensionality; now intros [|]).
    now apply concentrated_same, each_at_most_one.
  - apply (concentrated_relabelled first _ _ (fun o => f g (fst o) * each f groups (snd o))
             (fun o => f' g (fst o) * each f' groups (snd o)) first_once);
      [now intros [|] E | now intros [|a o] b E; inversion E | now intros [|a o] b E; inversion E |].
    apply (concentrated_then (f g) (f' g) (fun _ => each f groups) (fun _ => each f' groups));
      [apply F | intros; now apply each_at_most_one | apply C | intros; apply IH].
Qed.

(** ** Any number of rounds *)

Section Rounds.
Context {A : Type}.

(** The chance of the answers t in k rounds, after the answers h. *)
Fixpoint rounds (law : list A -> A -> R) (k : nat) (h t : list A) : R :=
  match k, t with
  | O, [] => 1
  | S k, a :: t => law h a * rounds law k (h ++ [a]) t
  | _, _ => 0
  end.

(** Whatever is answered, the costs of k rounds add up to at most [cap]. *)
Fixpoint affords (rho : list A -> R) (k : nat) (h : list A) (cap : R) : Prop :=
  match k with
  | O => 0 <= cap
  | S k => forall a, affords rho k (h ++ [a]) (cap - rho h)
  end.

Lemma rounds_at_most_one law k h : (forall h, at_most_one (law h)) -> at_most_one (rounds law k h).
Proof.
  intros L. revert h. induction k as [|k IH]; intros h.
  - replace (rounds law 0 h) with (each (fun _ => law h) []) by (apply functional_extensionality; now intros [|]).
    now apply each_at_most_one.
  - apply (at_most_one_relabelled first _ (fun o => law h (fst o) * rounds law k (h ++ [fst o]) (snd o)) first_once);
      [now intros [|] E | now intros [|a o] b E; inversion E |].
    apply (at_most_one_then (law h) (fun a => rounds law k (h ++ [a]))); auto.
Qed.

Theorem rounds_concentrated law law' rho k h cap : (forall h, at_most_one (law h)) ->
  (forall h, concentrated (law h) (law' h) (rho h)) -> affords rho k h cap ->
  concentrated (rounds law k h) (rounds law' k h) cap.
Proof.
  intros L C. revert h cap. induction k as [|k IH]; intros h cap W; cbn [affords] in W.
  - replace (rounds law' 0 h) with (rounds law 0 h) by (apply functional_extensionality; now intros [|]).
    apply concentrated_more with 0; [|exact W]. now apply concentrated_same, rounds_at_most_one.
  - replace cap with (rho h + (cap - rho h)) by ring.
    apply (concentrated_relabelled first _ _ (fun o => law h (fst o) * rounds law k (h ++ [fst o]) (snd o))
             (fun o => law' h (fst o) * rounds law' k (h ++ [fst o]) (snd o)) first_once);
      [now intros [|] E | now intros [|a o] b E; inversion E | now intros [|a o] b E; inversion E |].
    apply (concentrated_then (law h) (law' h) (fun a => rounds law k (h ++ [a])) (fun a => rounds law' k (h ++ [a])));
      [apply L | intros; now apply rounds_at_most_one | apply C | intros a; now apply IH].
Qed.
End Rounds.
