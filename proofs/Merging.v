(** docs/proofs/sampling.md, lemma 12: each of two parts of the candidates reports its number of heads and one
    uniform head. Choosing between the two in proportion to the numbers of heads gives a uniform head of all.
    *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk Heads.
Import ListNotations.
Open Scope R_scope.

Lemma flip_all_app p l l' phi :
  flip_all p (l ++ l') phi = flip_all p l (fun H => flip_all p l' (fun H' => phi (H ++ H'))).
Proof.
  revert phi. induction l as [|x l IH]; intros phi; [reflexivity|].
  cbn [app flip_all]. now rewrite (IH (fun H => phi (x :: H))), (IH phi).
Qed.

(** The chance of [r] if a uniform head is drawn from [heads]. *)
Definition chance_in (r : nat) (heads : list nat) : R :=
  if member r heads then / INR (length heads) else 0.

Lemma member_app r l l' : member r (l ++ l') = (member r l || member r l')%bool.
Proof. apply existsb_app. Qed.

Lemma member_length r l : member r l = true -> 0 < INR (length l).
Proof. destruct l; [discriminate|]. intros _. apply lt_0_INR. simpl; lia. Qed.

Lemma merged r H H' : (forall x, In x H -> ~ In x H') ->
  let h := INR (length H) in let h' := INR (length H') in
  chance_in r (H ++ H') = h / (h + h') * chance_in r H + h' / (h + h') * chance_in r H'.
Proof.
  intros D h h'. unfold chance_in. rewrite member_app, app_length, plus_INR. fold h h'.
  assert (P : 0 <= h) by apply pos_INR. assert (P' : 0 <= h') by apply pos_INR.
  destruct (member r H) eqn:M; cbn [orb].
  - assert (M' : member r H' = false).
    { apply member_false. apply D. apply existsb_exists in M as (x & X & E).
      apply Nat.eqb_eq in E. now subst. }
    rewrite M'. apply member_length in M. fold h in M. field. lra.
  - destruct (member r H') eqn:M'; [|ring].
    apply member_length in M'. fold h' in M'. field. lra.
Qed.

Theorem merging p l l' r : NoDup (l ++ l') ->
  uniform_head p (l ++ l') r =
  flip_all p l (fun H => flip_all p l' (fun H' =>
    let h := INR (length H) in let h' := INR (length H') in
    h / (h + h') * chance_in r H + h' / (h + h') * chance_in r H')).
Proof.
  intros N. unfold uniform_head. rewrite flip_all_app.
  apply flip_all_ext. intros H I. apply flip_all_ext. intros H' I'.
  apply (merged r H H'). intros x X X'. apply I in X. apply I' in X'.
  clear - N X X'. induction l as [|y l IH]; [easy|]. inversion N as [|? ? Hy Hl]; subst.
  destruct X as [->|X]; [|now apply IH]. apply Hy, in_or_app. now right.
Qed.
