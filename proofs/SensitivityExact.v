(** docs/proofs/question-sensitivities.md: the range distances of Sensitivities.v are attained, so no smaller
    figure is true. *)
From Coq Require Import Reals Lra Lia List Arith Permutation.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism People Sensitivities.
Import ListNotations.
Open Scope R_scope.

(** People with one number per row; a person's value is the number in their only row. *)
Definition only (p : nat) (l : list nat) : option nat :=
  match l with [x] => Some x | _ => None end.

Lemma only_personal : personal only.
Proof.
  intros p l l' H. unfold only. destruct l as [|x [|y l]].
  - now apply Permutation_nil in H as ->.
  - now apply Permutation_length_1_inv in H as ->.
  - apply Permutation_length in H.
    destruct l' as [|x' [|y' l']]; simpl in H; try lia. reflexivity.
Qed.

(** [n] people, named 1 to [n], all with the value [k]. *)
Fixpoint crowd (k n : nat) : table nat :=
  match n with O => [] | S m => (S m, k) :: crowd k m end.

Lemma crowd_names k n p : In p (map fst (crowd k n)) -> (1 <= p <= n)%nat.
Proof.
  induction n as [|n IH]; simpl; [easy|].
  intros [<-|H]; [lia|]. apply IH in H. lia.
Qed.

Lemma rows_fresh (t : table nat) p : ~ In p (map fst t) -> rows t p = [].
Proof. intros H. apply rows_none. unfold people. now rewrite nodup_In. Qed.

Lemma rows_cons (t : table nat) p x : ~ In p (map fst t) -> rows ((p, x) :: t) p = [x].
Proof.
  intros H. apply rows_fresh in H. unfold rows in *. simpl.
  rewrite Nat.eqb_refl. simpl. now rewrite H.
Qed.

Lemma added_cons (t : table nat) p x :
  ~ In p (map fst t) -> added t ((p, x) :: t) p.
Proof.
  intros H. split; [now apply rows_fresh|]. split; [now rewrite rows_cons|].
  intros y Hy. unfold rows; simpl.
  rewrite (proj2 (Nat.eqb_neq p y)) by auto. reflexivity.
Qed.

Lemma number_cons test (t : table nat) p x : ~ In p (map fst t) ->
  number_of only test ((p, x) :: t) = number_of only test t + (if test x then 1 else 0).
Proof.
  intros H. unfold number_of.
  rewrite (total_added t _ p _ (test_personal only only_personal test) (added_cons t p x H)).
  now rewrite rows_cons.
Qed.

Lemma number_crowd test k n :
  number_of only test (crowd k n) = INR n * (if test k then 1 else 0).
Proof.
  induction n as [|n IH]; [unfold number_of, total; simpl; lra|].
  cbn [crowd]. rewrite number_cons, IH, S_INR; [ring|].
  intros H. apply crowd_names in H. lia.
Qed.

Lemma zero_fresh k n : ~ In 0%nat (map fst (crowd k n)).
Proof. intros H. apply crowd_names in H. lia. Qed.

(** These people, plus one person with the value [v]. *)
Definition joined (v k n : nat) : table nat := (0%nat, v) :: crowd k n.

Lemma joined_added v k n : added (crowd k n) (joined v k n) 0.
Proof. apply added_cons, zero_fresh. Qed.

Lemma number_joined test v k n : number_of only test (joined v k n)
  = INR n * (if test k then 1 else 0) + (if test v then 1 else 0).
Proof. unfold joined. rewrite number_cons by apply zero_fresh. now rewrite number_crowd. Qed.

(** ** Counts *)

Definition has_only (p : nat) (l : list nat) (r : nat) : bool :=
  match only p l with Some x => (x =? r)%nat | None => false end.

Lemma has_only_number r t :
  people_with has_only t r = number_of only (fun x => (x =? r)%nat) t.
Proof.
  unfold people_with, number_of, total. apply sum_ext; intros p _.
  unfold has_only. now destruct (only p (rows t p)).
Qed.

Theorem count_distance_exact d : distance add_remove (people_with has_only) d -> 1 <= d.
Proof.
  intros H.
  specialize (H (crowd 0 0) (joined 0 0 0) ltac:(exists 0%nat; left; apply joined_added)
                2%nat 0%nat 1%nat ltac:(lia) ltac:(lia)).
  rewrite !has_only_number, !number_joined, !number_crowd in H. simpl in H. lra.
Qed.

Theorem count_distance_replace_exact d :
  distance replace (people_with has_only) d -> 2 <= d.
Proof.
  intros H.
  specialize (H (joined 1 0 0) (joined 0 0 0)
    ltac:(exists (crowd 0 0), 0%nat, 0%nat; split; apply joined_added)
    2%nat 0%nat 1%nat ltac:(lia) ltac:(lia)).
  rewrite !has_only_number, !number_joined in H. simpl in H. lra.
Qed.

(** ** Quantiles *)

Lemma many x y : 0 < y -> exists n, x <= INR n * y.
Proof.
  intros Y. destruct (nfloor_ex (Rmax 0 (x / y)) (Rmax_l _ _)) as (n & _ & H).
  exists (S n). rewrite S_INR. pose proof (Rmax_r 0 (x / y)).
  replace x with (x / y * y) by (field; lra). apply Rmult_le_compat_r; lra.
Qed.

Ltac numbers H :=
  unfold quantile_score, plain_score, everyone, at_most, less_than in H;
  rewrite !number_joined, ?number_crowd in H; cbn in H;
  unfold Rmax, Rabs in H |- *;
  repeat (match goal with
          | |- context [Rle_dec ?u ?v] => destruct (Rle_dec u v)
          | H : context [Rle_dec ?u ?v] |- _ => destruct (Rle_dec u v)
          | H : context [Rcase_abs ?u] |- _ => destruct (Rcase_abs u)
          end); try lra.

Section Exact.
Variables a b : R.
Hypothesis level : 0 < a < b.

(** Both scores, from the same four pairs of tables. *)
Definition is_score (q : table nat -> nat -> R) : Prop :=
  q = quantile_score only a b \/ q = plain_score only a b.

Lemma enough : exists n, b <= INR n * a /\ b <= INR n * (b - a).
Proof.
  destruct (many b (b - a) ltac:(lra)) as [n N]. destruct (many b a ltac:(lra)) as [m M].
  exists (n + m)%nat. rewrite plus_INR.
  pose proof (pos_INR n). pose proof (pos_INR m). split; nra.
Qed.

Theorem quantile_distance_exact q d : is_score q ->
  distance add_remove q d -> 2 * Rmax a (b - a) <= d.
Proof.
  intros Q H. apply Rmult_le_reg_l with (/ 2); [lra|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
  destruct enough as (n & N & M).
  apply Rmax_lub.
  - (* one person above the others *)
    specialize (H (crowd 1 n) (joined 3 1 n) ltac:(exists 0%nat; left; apply joined_added)
                  4%nat 2%nat 0%nat ltac:(lia) ltac:(lia)).
    destruct Q as [-> | ->]; numbers H.
  - (* one person below the others *)
    specialize (H (crowd 2 n) (joined 0 2 n) ltac:(exists 0%nat; left; apply joined_added)
                  4%nat 1%nat 3%nat ltac:(lia) ltac:(lia)).
    destruct Q as [-> | ->]; numbers H.
Qed.

Theorem quantile_distance_replace_exact q d : is_score q ->
  distance replace q d -> 2 * b <= d.
Proof.
  intros Q H. destruct enough as (n & N & M).
  specialize (H (joined 4 2 n) (joined 0 2 n)
    ltac:(exists (crowd 2 n), 0%nat, 0%nat; split; apply joined_added)
    4%nat 1%nat 3%nat ltac:(lia) ltac:(lia)).
  destruct Q as [-> | ->]; numbers H.
Qed.
End Exact.
