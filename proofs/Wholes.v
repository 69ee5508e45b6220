(** From a table to everything that an answer says, with chances that add up to one, as the step from epsilon
    to rho requires. The grammar is that of Answers.v; each constructor also lists the answers that it can
    give.

    [whole A law eps eps']: [law t a] is the chance of the answer a about the table t; it costs eps for a
    person who is added or removed, and eps' for one who is replaced. *)
From Coq Require Import Reals Lra Lia List Arith Bool ZArith FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Constants Mechanism Walk Privacy PureDP Exponential Range Laplace Measures
  People Sensitivities Groups Composition Selections Recursion NoisyCount Lead JointTopK Questions Answers TopK Crossings Divergences
  Together Totals.
Import ListNotations.
Open Scope R_scope.

(** ** Chances that add up to one *)

Lemma distribution_at_most {A} (p : A -> R) : distribution p -> at_most_one p.
Proof. intros (P & P1 & _). now split. Qed.

(** By a sequence of lists that eventually contain every answer. *)
Lemma distribution_from {A} (p : A -> R) (shown : nat -> list A) : (forall a, 0 <= p a) ->
  (forall k, NoDup (shown k)) -> (forall k, sum (shown k) p <= 1) ->
  (forall missing, 0 < missing -> exists k, 1 - missing <= sum (shown k) p) ->
  (forall a, 0 < p a -> exists k, forall j, (k <= j)%nat -> In a (shown j)) -> distribution p.
Proof.
  intros P N U L I. split; [exact P|]. split.
  - intros l Nl.
    assert (K : exists k, forall a, In a l -> 0 < p a -> forall j, (k <= j)%nat -> In a (shown j)).
    { clear Nl. induction l as [|a l (k & K)]; [exists 0%nat; intros a []|].
      destruct (Rlt_dec 0 (p a)) as [H|H].
      - destruct (I a H) as (k' & K'). exists (Nat.max k k'). intros b [<-|B] Hb j J; [apply K'; lia | apply K; auto; lia].
      - exists k. intros b [<-|B] Hb; [contradiction | now apply K]. }
    destruct K as (k & K). set (big := filter (fun a => if Rlt_dec 0 (p a) then true else false) l).
    apply Rle_trans with (sum big p).
    + right. unfold big. rewrite Dominance.sum_filter. apply sum_ext. intros a _.
      destruct Rlt_dec; [reflexivity|]. specialize (P a). lra.
    + apply Rle_trans with (sum (shown k) p); [|apply U]. apply sum_incl; [exact P | now apply NoDup_filter|].
      intros a H. apply filter_In in H as [H H']. destruct (Rlt_dec 0 (p a)); [|discriminate]. now apply K.
  - intros e E. destruct (L e E) as (k & K). exists (shown k). now split.
Qed.

Lemma distribution_then {A B} (p : A -> R) (p2 : A -> B -> R) : distribution p -> (forall a, distribution (p2 a)) ->
  distribution (fun o => p (fst o) * p2 (fst o) (snd o)).
Proof.
  intros D D2.
  destruct (at_most_one_then p p2 (distribution_at_most p D) (fun a => distribution_at_most _ (D2 a))) as (F & F1).
  split; [exact F|]. split; [exact F1|]. intros e E. destruct D as (P & P1 & PL).
  set (h := Rmin (e / 2) 1).
  assert (H : 0 < h <= 1) by (split; [apply Rmin_glb_lt; lra | apply Rmin_r]).
  assert (H2 : 2 * h <= e) by (pose proof (Rmin_l (e / 2) 1); unfold h; lra).
  destruct (PL h ltac:(lra)) as (u & U & Su).
  assert (X : exists l, NoDup l /\ (forall o, In o l -> In (fst o) u) /\
    (1 - h) * sum u p <= sum l (fun o => p (fst o) * p2 (fst o) (snd o))).
  { clear Su. induction U as [|a u Na U (l & Nl & Il & Sl)]; [exists []; repeat split; [constructor | intros o [] | cbn; lra]|].
    destruct (D2 a) as (Q & Q1 & QL). destruct (QL h ltac:(lra)) as (v & V & Sv).
    exists (map (pair a) v ++ l). split; [|split].
    - apply NoDup_both; [|exact Nl|].
      + clear - V. induction V as [|b v Hb V IH]; cbn [map]; constructor; [|exact IH].
        rewrite in_map_iff. intros (c & Ec & C). inversion Ec. now subst.
      + intros o O O'. apply in_map_iff in O as (b & <- & _). apply Il in O'. now apply Na.
    - intros o O. apply in_app_iff in O as [O|O]; [|right; now apply Il].
      apply in_map_iff in O as (b & <- & _). now left.
    - rewrite sum_app, sum_map. cbn [fst snd sum fold_right]. fold (sum u p).
      rewrite sum_scal. specialize (P a). nra. }
  destruct X as (l & Nl & _ & Sl). exists l. split; [exact Nl|]. nra.
Qed.

Lemma distribution_each {A} (f : nat -> A -> R) groups : (forall g, distribution (f g)) -> distribution (each f groups).
Proof.
  intros D. destruct (each_at_most_one f groups (fun g => distribution_at_most _ (D g))) as (F & F1).
  split; [exact F|]. split; [exact F1|]. clear F F1. induction groups as [|g groups IH]; intros e E.
  - exists [[]]. split; [repeat constructor; intros []|]. cbn. lra.
  - assert (W : distribution (each f groups)).
    { destruct (each_at_most_one f groups (fun g => distribution_at_most _ (D g))) as (F & F1). now split. }
    destruct (distribution_then (f g) (fun _ => each f groups) (D g) (fun _ => W)) as (_ & _ & L).
    destruct (L e E) as (l & N & S). exists (map (fun o => fst o :: snd o) l). split.
    + clear S. induction N as [|[a o] l H N IHl]; cbn [map]; constructor; [|exact IHl].
      rewrite in_map_iff. intros ([a' o'] & Eq & I). inversion Eq. now subst.
    + rewrite sum_map. exact S.
Qed.

Lemma distribution_drawn {A C} (coins : list C) weight (p : C -> A -> R) :
  (forall c, In c coins -> 0 <= weight c) -> sum coins weight = 1 -> (forall c, In c coins -> distribution (p c)) ->
  distribution (fun a => sum coins (fun c => weight c * p c a)).
Proof.
  intros W W1 D. split; [|split].
  - intros a. apply sum_nonneg. intros c I. apply Rmult_le_pos; [now apply W | now apply (D c I)].
  - intros l N. rewrite sum_swap, <- W1. apply sum_le. intros c I. rewrite sum_scal.
    destruct (D c I) as (_ & D1 & _). specialize (D1 l N). specialize (W c I). nra.
  - intros e E.
    assert (X : exists l, NoDup l /\ forall c, In c coins -> 1 - e <= sum l (p c)).
    { clear W W1. induction coins as [|c coins IH]; [exists []; split; [constructor | intros c []]|].
      destruct IH as (l & N & L); [intros; apply D; now right|].
      destruct (D c (or_introl eq_refl)) as (_ & _ & Dl). destruct (Dl e E) as (m & M & S).
      destruct (both_lists l m N) as (u & U & Il & Im). exists u. split; [exact U|]. intros b [<-|B].
      - apply Rle_trans with (1 := S). apply sum_incl; [apply (D c (or_introl eq_refl)) | exact M | exact Im].
      - apply Rle_trans with (sum l (p b)); [now apply L|]. apply sum_incl; [apply (D b (or_intror B)) | exact N | exact Il]. }
    destruct X as (l & N & L). exists l. split; [exact N|]. rewrite sum_swap.
    apply Rle_trans with (sum coins (fun c => (1 - e) * weight c)); [rewrite sum_scal, W1; lra|].
    apply sum_le. intros c I. rewrite sum_scal. specialize (L c I). specialize (W c I). nra.
Qed.

(** ** A count *)

Fixpoint around (c : Z) (t : nat) : list Z :=
  match t with O => [c] | S t' => (c + Z.of_nat t)%Z :: (c - Z.of_nat t)%Z :: around c t' end.

Lemma in_around c t z : In z (around c t) <-> (Z.abs (z - c) <= Z.of_nat t)%Z.
Proof.
  induction t as [|t IH]; cbn [around In]; [lia|]. rewrite IH. lia.
Qed.

Lemma around_once c t : NoDup (around c t).
Proof.
  induction t as [|t IH]; cbn [around]; [repeat constructor; intros []|].
  constructor; [|constructor; [|exact IH]]; cbn [In]; rewrite in_around; lia.
Qed.

Lemma around_within eps c t : sum (around c t) (fun z => discrete_laplace eps (z - c)) = within eps t.
Proof.
  induction t as [|t IH].
  - cbn. replace (c - c)%Z with 0%Z by lia. unfold within. cbn. ring.
  - cbn [around sum fold_right]. fold (sum (around c t) (fun z => discrete_laplace eps (z - c))). rewrite IH.
    replace (c + Z.of_nat (S t) - c)%Z with (Z.of_nat (S t)) by lia.
    replace (c - Z.of_nat (S t) - c)%Z with (- Z.of_nat (S t))%Z by lia.
    unfold within, candidates. rewrite seq_S, sum_app, sum_one, Nat.add_0_l. ring.
Qed.

Lemma count_distribution eps c : 0 < eps -> distribution (fun z => discrete_laplace eps (z - c)).
Proof.
  intros E. pose proof (lambda_range eps E) as L. apply (distribution_from _ (around c)).
  - intros z. now apply Rlt_le, discrete_laplace_pos.
  - apply around_once.
  - intros t. rewrite around_within. pose proof (noise_within eps E t) as N.
    assert (0 <= 2 * exp (- eps) ^ S t / (1 + exp (- eps))); [|lra].
    apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [lra | apply pow_le; lra].
  - intros e He. destruct (pow_lt_1_zero (exp (- eps)) ltac:(rewrite Rabs_right; lra) (e / 2) ltac:(lra)) as (k & K).
    exists k. rewrite around_within. pose proof (noise_within eps E k) as N.
    specialize (K (S k) ltac:(lia)). rewrite Rabs_right in K by (apply Rle_ge, pow_le; lra).
    assert (2 * exp (- eps) ^ S k / (1 + exp (- eps)) <= e); [|lra].
    apply (Rmult_le_reg_r (1 + exp (- eps))); [lra|].
    replace (2 * exp (- eps) ^ S k / (1 + exp (- eps)) * (1 + exp (- eps))) with (2 * exp (- eps) ^ S k) by (field; lra).
    nra.
  - intros z _. exists (Z.to_nat (Z.abs (z - c))). intros j J. apply in_around. lia.
Qed.

(** ** The winner and its lead *)

Section Leads.
Variables (s : R) (n : nat) (q : nat -> R).
Hypotheses (s_pos : 0 < s) (two : (2 <= n)%nat).

Lemma beyond_nonneg r g : 0 <= beyond s n q r g.
Proof.
  apply int_nonneg; [lra | apply all_below_cont|]. intros u U. apply prod_nonneg. intros t _.
  apply factor_range. apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos].
Qed.

(** The chance that r wins by more than g falls exponentially with g. *)
Lemma beyond_far r : (r < n)%nat -> exists c, 0 < c /\ forall g, beyond s n q r g <= c * exp (- (g / s)).
Proof.
  intros R. assert (T : exists t, In t (others n r)).
  { exists (if (r =? 0)%nat then 1%nat else 0%nat). apply in_others. destruct (Nat.eqb_spec r 0); lia. }
  destruct T as (t & T). exists (exp 1 * exp ((q r - q t) / s)).
  split; [apply Rmult_lt_0_compat; apply exp_pos|]. intros g.
  set (b := reach s q r g t). assert (B : 0 < b) by apply exp_pos.
  assert (Bc : exp 1 * exp ((q r - q t) / s) * exp (- (g / s)) = exp 1 * / b).
  { unfold b, reach. rewrite Rmult_assoc, <- exp_plus, <- exp_Ropp. do 2 f_equal. field. lra. }
  rewrite Bc. unfold beyond.
  assert (C : cont (fun u => exp (1 - b * u))).
  { intros x. apply (ex_derive_continuous (fun u => exp (1 - b * u))). auto_derive. exact I. }
  apply Rle_trans with (int (fun u => exp (1 - b * u)) 0 1).
  - apply int_le; [lra | apply all_below_cont | exact C |]. intros u U.
    assert (P : forall x, 0 <= 1 - Rmin 1 (u * reach s q r g x) <= 1).
    { intros x. apply factor_range. apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos]. }
    apply Rle_trans with (1 - Rmin 1 (u * b)).
    + unfold all_below, others in *. rewrite (prod_without t _ _ (NoDup_without r _ (NoDup_candidates n)) T). fold b.
      assert (Q : prod (without t (without r (candidates n))) (fun x => 1 - Rmin 1 (u * reach s q r g x)) <= 1).
      { clear T. induction (without t (without r (candidates n))) as [|x l IH]; cbn [prod fold_right]; [lra|].
        fold (prod l (fun x => 1 - Rmin 1 (u * reach s q r g x))). specialize (P x).
        assert (0 <= prod l (fun x => 1 - Rmin 1 (u * reach s q r g x))).
        { apply prod_nonneg. intros y _. apply factor_range. apply Rmult_le_pos; [lra | apply Rlt_le, exp_pos]. }
        nra. }
      specialize (P t). fold b in P. nra.
    + pose proof (exp_ineq1_le (1 - b * u)). pose proof (exp_pos (1 - b * u)). unfold Rmin. destruct Rle_dec; lra.
  - rewrite (int_derive (fun u => - / b * exp (1 - b * u)) (fun u => exp (1 - b * u))); [|intros x; auto_derive; [exact I | unfold Rminus; field; lra] | exact C].
    rewrite Rmult_0_r, Rminus_0_r. pose proof (exp_pos (1 - b * 1)). pose proof (Rinv_0_lt_compat b B). nra.
Qed.

Lemma all_beyond_far l : incl l (candidates n) ->
  exists c, 0 < c /\ forall g, sum l (fun r => beyond s n q r g) <= c * exp (- (g / s)).
Proof.
  induction l as [|r l IH]; intros H.
  - exists 1. split; [lra|]. intros g. cbn. pose proof (exp_pos (- (g / s))). lra.
  - destruct IH as (c & C & L); [intros x X; apply H; now right|].
    destruct (beyond_far r) as (c' & C' & L'); [apply in_candidates, H; now left|].
    exists (c' + c). split; [lra|]. intros g. cbn [sum fold_right]. fold (sum l (fun r => beyond s n q r g)).
    specialize (L g). specialize (L' g). lra.
Qed.

Lemma NoDup_pairs (u v : list nat) : NoDup u -> NoDup v -> NoDup (list_prod u v).
Proof.
  intros U V. induction U as [|a u Na U IH]; cbn [list_prod]; [constructor|]. apply NoDup_both; [|exact IH|].
  - clear - V. induction V as [|b v Hb V IH]; cbn [map]; constructor; [|exact IH].
    rewrite in_map_iff. intros (c & Ec & C). inversion Ec. now subst.
  - intros o O O'. apply in_map_iff in O as (b & <- & _). apply in_prod_iff in O' as [O' _]. contradiction.
Qed.

Definition with_its_lead (a : nat * nat) : R :=
  if (fst a <? n)%nat
  then beyond s n q (fst a) (INR (snd a)) - beyond s n q (fst a) (INR (S (snd a))) else 0.

Lemma leads_up_to k :
  sum (list_prod (candidates n) (candidates k)) with_its_lead = 1 - sum (candidates n) (fun r => beyond s n q r (INR k)).
Proof.
  rewrite sum_prod.
  assert (T : sum (candidates n) (pf s n q) = 1) by (apply pf_is_law; [exact s_pos | lia]).
  rewrite <- T.
  rewrite (sum_ext (candidates n) _ (fun r => pf s n q r + - 1 * beyond s n q r (INR k))); [rewrite sum_plus, sum_scal; ring|].
  intros r R. apply in_candidates in R. unfold with_its_lead. cbn [fst snd]. rewrite (proj2 (Nat.ltb_lt r n) R).
  rewrite <- (beyond_nothing s n q r s_pos R). unfold candidates. induction k as [|k IH].
  - cbn. ring.
  - rewrite seq_S, sum_app, IH, sum_one, Nat.add_0_l. ring.
Qed.

Lemma leads_distribution : (forall a, 0 <= with_its_lead a) -> distribution with_its_lead.
Proof.
  intros P. apply (distribution_from _ (fun k => list_prod (candidates n) (candidates k))); [exact P | | | |].
  - intros k. apply NoDup_pairs; apply NoDup_candidates.
  - intros k. rewrite leads_up_to. enough (0 <= sum (candidates n) (fun r => beyond s n q r (INR k))) by lra.
    apply sum_nonneg. intros r _. apply beyond_nonneg.
  - intros e E. destruct (all_beyond_far (candidates n) (fun x X => X)) as (c & C & L).
    destruct (Rcomplements.nfloor_ex (Rmax 0 (s * ln (c / e))) (Rmax_l _ _)) as (f & _ & K).
    pose proof (Rmax_r 0 (s * ln (c / e))) as M. rewrite <- S_INR in K. revert K. generalize (S f). intros k K. exists k. rewrite leads_up_to. specialize (L (INR k)).
    enough (c * exp (- (INR k / s)) <= e) by lra.
    assert (D : ln (c / e) <= INR k / s).
    { apply (Rmult_le_reg_l s); [exact s_pos|]. replace (s * (INR k / s)) with (INR k) by (field; lra). lra. }
    apply Rle_trans with (c * exp (- ln (c / e))).
    + apply Rmult_le_compat_l; [lra | apply exp_le; lra].
    + rewrite exp_Ropp, exp_ln by now apply Rdiv_lt_0_compat. right. field. lra.
  - intros [r g] H. exists (S g). intros j J. unfold with_its_lead in H. cbn [fst snd] in H.
    destruct (Nat.ltb_spec r n) as [R|R]; [|lra]. apply in_prod; apply in_candidates; lia.
Qed.
End Leads.

(** ** The grammar *)

Section Whole.
Context {Row : Type}.
Notation table := (table Row).

(** Scores for the exponential mechanism: of a question, of tuples, and of sets. *)
Inductive weighed : (table -> nat -> R) -> R -> R -> Prop :=
  | one_by_one q d d' : scored q d d' -> weighed q d d'
  | tuples N k tuple has : (1 <= k)%nat -> (forall i j, (tuple i j < N)%nat) ->
      (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      weighed (fun t i => joint_score N k (counts_of has t) (tuple i)) d (2 * d)
  | tuples_one N k tuple value : (2 <= k)%nat -> (forall i j, (tuple i j < N)%nat) -> personal value ->
      weighed (fun t i => joint_score N k (counts_of (has_value value) t) (tuple i)) 2 3
  | sets N k m tuple has : (1 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < N)%nat) ->
      (forall r, personal (fun p l => has p l r)) ->
      let d := if (k =? 1)%nat then 1 else 2 in
      weighed (fun t i => best m (fun o => joint_score N k (counts_of has t) (tuple i o))) d (2 * d)
  | sets_one N k m tuple value : (2 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < N)%nat) ->
      personal value ->
      weighed (fun t i => best m (fun o => joint_score N k (counts_of (has_value value) t) (tuple i o))) 2 3.

Inductive whole : forall A : Type, (table -> A -> R) -> R -> R -> Prop :=
  (** One of n by one of the three selections, and by the exponential mechanism also among tuples and sets. *)
  | one_of choose s n q d d' : In choose selections -> 0 < s -> (0 < n)%nat -> scored q d d' ->
      whole nat (chosen choose s n q) (d / s) (d' / s)
  | one_weighed s n q d d' : 0 < s -> (0 < n)%nat -> weighed q d d' ->
      whole nat (chosen em s n q) (d / s) (d' / s)
  | one_with_lead s n q d d' : 0 < s -> (2 <= n)%nat -> scored q d d' ->
      whole (nat * nat) (chosen_with_lead s n q) (d / s) (d' / s)
  (** The k largest of n, in order, with one noise value per candidate. *)
  | largest s n k q d d' : 0 < s -> (1 <= k <= n)%nat -> scored q d d' ->
      whole (list nat)
        (fun t => only (list_eq_dec Nat.eq_dec) (orders k (candidates n)) (chosen_at_once s n k q t))
        (INR k * (d / s)) (INR k * (d' / s))
  (** Which of m numbers of people cross a noisy threshold, up to the c-th. *)
  | watching b1 b2 T m c has : 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p l r)) ->
      whole (list (option (option nat)))
        (fun t => only same_stream (streams m c) (crossed b1 b2 T c (people_with has t)))
        (1 / b1 + INR c * (1 / b2)) (1 / b1 + INR c * (2 / b2))
  (** A bound among m places: the first that covers about a/b of the people. *)
  | bounded b1 b2 T m value a b : 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b ->
      whole (list (option (option nat)))
        (fun t => only same_stream (streams m 1) (crossed b1 b2 T 1 (people_short value a b t)))
        (sensitivity_quantile a b / b1 + b / b2) (sensitivity_quantile_replace a b / b1 + b / b2)
  | counted eps which : 0 < eps -> personal which -> whole Z (noisy_number eps which) eps eps
  | nothing : whole unit (fun _ _ => 1) 0 0
  (** A second release, which may depend on the answer of the first. *)
  | one_then A B law law2 eps eps' more more' : whole A law eps eps' ->
      (forall a, whole B (law2 a) more more') ->
      whole (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (eps + more) (eps' + more')
  (** One answer for each of [count] groups; a person counts in at most m of them. *)
  | for_groups A law eps eps' inside kept count m : 0 <= eps ->
      (forall g, whole A (law g) eps (eps' g)) -> (forall g, personal (fun p l => kept p l g)) ->
      (forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat) ->
      whole (list A) (fun t => each (fun g => law g (part inside kept g t)) (candidates count))
        (INR m * eps) (2 * (INR m * eps))
  (** Secret coins, such as a key. *)
  | with_coins A C coins weight law eps eps' : (forall c : C, In c coins -> 0 <= weight c) ->
      sum coins weight = 1 -> (forall c, In c coins -> whole A (law c) eps eps') ->
      whole A (fun t a => sum coins (fun c => weight c * law c t a)) eps eps'
  | costs_at_most A law eps eps' more more' : whole A law eps eps' -> eps <= more -> eps' <= more' ->
      whole A law more more'.

(** ** Each constructor has its stated cost *)

Lemma cut_distribution n p : is_law n p -> distribution (fun r => if (r <? n)%nat then p r else 0).
Proof.
  intros (P & T). set (f := fun r => if (r <? n)%nat then p r else 0).
  assert (F : forall r, 0 <= f r) by (intros r; unfold f; destruct (Nat.ltb_spec r n); [now apply P | lra]).
  assert (S : sum (candidates n) f = 1).
  { rewrite <- T. apply sum_ext. intros r H. apply in_candidates in H. unfold f.
    now rewrite (proj2 (Nat.ltb_lt r n) H). }
  split; [exact F|]. split.
  - intros l N. rewrite <- S. apply Rle_trans with (sum (filter (fun r => r <? n)%nat l) f).
    + rewrite Dominance.sum_filter. apply Req_le, sum_ext. intros r _. unfold f. now destruct (r <? n)%nat.
    + apply sum_incl; [exact F | now apply NoDup_filter|]. intros r H. apply filter_In in H as [_ H].
      now apply in_candidates, Nat.ltb_lt.
  - intros e E. exists (candidates n). split; [apply NoDup_candidates | lra].
Qed.

Lemma weighed_is q d d' : weighed q d d' ->
  distance add_remove q d /\ distance replace q d' /\ forall t t' i, same t t' -> q t i = q t' i.
Proof.
  intros [q0 x x' S | N k tuple has K T P e | N k tuple value K T P | N k m tuple has K M T P e
         | N k m tuple value K M T P].
  - now apply scored_is.
  - split; [|split].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_move].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_move].
    + intros t t' i H. now rewrite (counts_of_same has t t' P H).
  - split; [|split].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_one_move].
    + intros t t' H n. apply (tuples_move N k); [exact T | now apply counts_of_one_move].
    + intros t t' i H. now rewrite (counts_of_same _ t t' (fun r => has_value_personal value r P) H).
  - split; [|split].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_move].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_move].
    + intros t t' i H. now rewrite (counts_of_same has t t' P H).
  - split; [|split].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_one_move].
    + intros t t' H n. apply (set_moves N k); [exact M | exact T | now apply counts_of_one_move].
    + intros t t' i H. now rewrite (counts_of_same _ t t' (fun r => has_value_personal value r P) H).
Qed.

(** Both facts: the chances add up to one, and they have the stated cost. *)
Definition adds_up {A} (law : table -> A -> R) (eps eps' : R) : Prop :=
  (forall t, distribution (law t)) /\ (forall t t', same t t' -> law t = law t') /\
  costs add_remove law eps /\ costs replace law eps'.

Lemma adds_up_of A law eps eps' : release A law eps eps' -> (forall t, distribution (law t)) -> adds_up law eps eps'.
Proof.
  intros Rl D. destruct (release_is A law eps eps' Rl) as ((_ & Sm) & Ad & Re). split; [exact D|]. split; [|now split].
  intros t t' H. apply functional_extensionality. intros a. now apply Sm.
Qed.

Lemma only_adds_up A same shown law eps eps' : release A law eps eps' -> NoDup shown ->
  (forall t, sum shown (law t) = 1) -> adds_up (fun t => only same shown (law t)) eps eps'.
Proof.
  intros Rl N T. destruct (release_is A law eps eps' Rl) as ((P & Sm) & Ad & Re).
  split; [intros t; apply only_distribution; auto; intros a; apply P|]. split; [|split].
  - intros t t' H. apply functional_extensionality. intros a. unfold only. destruct in_dec; [now apply Sm | reflexivity].
  - intros t t' a H. unfold only. destruct in_dec; [now apply Ad | lra].
  - intros t t' a H. unfold only. destruct in_dec; [now apply Re | lra].
Qed.

Lemma each_costs A (f f' : nat -> A -> R) cost groups o : (forall g a, 0 <= f g a) ->
  (forall g a, f g a <= exp (cost g) * f' g a) -> each f groups o <= exp (sum groups cost) * each f' groups o.
Proof.
  intros F C. assert (N : forall groups o, 0 <= each f groups o).
  { clear groups o. induction groups as [|g groups IH]; intros [|a o]; cbn [each]; try lra. now apply Rmult_le_pos. }
  revert o. induction groups as [|g groups IH]; intros [|a o]; cbn [each sum fold_right]; try (rewrite exp_0; lra); try lra.
  fold (sum groups cost). rewrite exp_plus.
  replace (exp (cost g) * exp (sum groups cost) * (f' g a * each f' groups o))
    with ((exp (cost g) * f' g a) * (exp (sum groups cost) * each f' groups o)) by ring.
  now apply Rmult_le_compat.
Qed.

Theorem whole_is A law eps eps' : whole A law eps eps' -> adds_up law eps eps'.
Proof.
  induction 1 as
    [choose s n q d d' C S N Q | s n q d d' S N Q | s n q d d' S N Q | s n k q d d' S K Q
    | b1 b2 T m c has B1 B2 P | b1 b2 T m value a b B1 B2 P L | eps which E P |
    | A B law law2 eps eps' more more' _ (F & Sm & Ad & Re) _ IH
    | A law eps eps' inside kept count m E _ IH K F
    | A C coins weight law eps eps' W W1 _ IH
    | A law eps eps' more more' _ (F & Sm & Ad & Re) L L'].
  - apply adds_up_of; [now apply choosing|]. intros t. apply cut_distribution.
    destruct C as [<-|[<-|[<-|[]]]]; [now apply pf_is_law | now apply em_is_law | now apply laplace_is_law].
  - destruct (weighed_is q d d' Q) as (Ad & Re & Sm).
    assert (Use : forall x t t' i, range_distance n (q t) (q t') x -> chosen em s n q t i <= exp (x / s) * chosen em s n q t' i).
    { intros x t t' i H. unfold chosen. destruct (Nat.ltb_spec i n) as [I|I]; [|lra].
      apply (pure_dp_outcome n); [|exact I]. apply (selection_pure_dp em); [right; now left | exact S | exact H]. }
    split; [intros t; now apply cut_distribution, em_is_law|]. split; [|split].
    + intros t t' H. apply functional_extensionality. intros r. unfold chosen.
      replace (q t') with (q t); [reflexivity|]. apply functional_extensionality. intros i. now apply Sm.
    + intros t t' i H. now apply Use, Ad.
    + intros t t' i H. now apply Use, Re.
  - apply adds_up_of; [now apply with_lead|]. intros t. apply leads_distribution; auto.
    apply (release_is _ _ _ _ (with_lead s n q d d' S Q)).
  - assert (KP : 0 < INR k) by (apply lt_0_INR; lia).
    apply only_adds_up; [apply at_once; auto; lia | apply orders_once, NoDup_candidates |].
    intros t. rewrite <- (one_shot_total s n k (q t) S) by lia. apply sum_ext. intros o O.
    destruct (orders_known _ _ _ O) as [Lo I]. unfold chosen_at_once. rewrite Lo, Nat.eqb_refl. cbn [andb].
    replace (forallb (fun r => r <? n)%nat o) with true; [reflexivity|]. symmetry. apply forallb_forall.
    intros r R. apply Nat.ltb_lt, in_candidates, I, R.
  - apply only_adds_up; [now apply crossing | apply streams_once | intros t; now apply streams_add_up].
  - apply only_adds_up; [now apply bounding | apply streams_once | intros t; now apply streams_add_up].
  - apply adds_up_of; [now apply counting|]. intros t. now apply count_distribution.
  - apply adds_up_of; [apply silence|]. intros t. split; [intros; lra|]. split.
    + intros answers N. rewrite sum_const. destruct answers as [|[] [|[] l]]; simpl; try lra.
      inversion N as [|? ? X]; subst. exfalso; apply X; now left.
    + intros e E. exists [tt]. split; [repeat constructor; intros [] | simpl; lra].
  - assert (Fair : fair law) by (split; [intros t; apply F | intros t t' a H; now rewrite (Sm t t' H)]).
    assert (Fair2 : forall a, fair (law2 a)).
    { intros a. destruct (IH a) as (F2 & Sm2 & _). split; [intros t; apply F2 | intros t t' b H; now rewrite (Sm2 t t' H)]. }
    split; [intros t; apply (distribution_then (law t) (fun a => law2 a t)); [apply F | intros a; apply (IH a)]|].
    split; [|split].
    + intros t t' H. apply functional_extensionality. intros o. rewrite (Sm t t' H).
      now rewrite (proj1 (proj2 (IH (fst o))) t t' H).
    + apply followed_costs; auto; intros a; apply (IH a).
    + apply followed_costs; auto; intros a; apply (IH a).
  - set (f := fun t g => law g (part inside kept g t)).
    assert (O : forall t g, distribution (f t g)) by (intros t g; apply (IH g)).
    assert (Eq : forall t t' g, same (part inside kept g t) (part inside kept g t') -> f t g = f t' g)
      by (intros t t' g H; now apply (proj1 (proj2 (IH g)))).
    assert (Cost : forall t t' p l o,
      (forall g a, f t g a <= exp (if is_in inside kept p l g then eps else 0) * f t' g a) ->
      each (f t) (candidates count) o <= exp (INR m * eps) * each (f t') (candidates count) o).
    { intros t t' p l o C. eapply Rle_trans; [apply each_costs; [intros; apply O | exact C]|].
      apply Rmult_le_compat_r; [apply distribution_each, O|]. apply exp_le.
      rewrite <- (Dominance.sum_filter (is_in inside kept p l) (candidates count) (fun _ => eps)), sum_const.
      apply Rmult_le_compat_r; [exact E | apply le_INR, F]. }
    assert (Ad : costs add_remove (fun t => each (f t) (candidates count)) (INR m * eps)).
    { intros t t' o (p & [H|H]).
      - apply (Cost t t' p (rows t' p)). intros g a. pose proof (part_added inside kept K g t t' p H) as S.
        destruct (is_in inside kept p (rows t' p) g); [apply (IH g); exists p; now left|].
        rewrite (Eq t t' g S), exp_0. lra.
      - apply (Cost t t' p (rows t p)). intros g a. pose proof (part_added inside kept K g t' t p H) as S.
        destruct (is_in inside kept p (rows t p) g); [apply (IH g); exists p; now right|].
        rewrite <- (Eq t' t g S), exp_0. lra. }
    split; [intros t; apply distribution_each, O|]. split; [|split].
    + intros t t' H. change (each (f t) (candidates count) = each (f t') (candidates count)).
      f_equal. apply functional_extensionality. intros g. apply Eq. intros p. now apply rows_part_same.
    + exact Ad.
    + intros t t' o (u & p & p' & H & H').
      eapply Rle_trans; [apply (Ad t u o); exists p; now right|].
      replace (2 * (INR m * eps)) with (INR m * eps + INR m * eps) by ring. rewrite exp_plus, Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. apply (Ad u t' o). exists p'. now left.
  - split; [intros t; apply distribution_drawn; auto; intros c I; now apply (IH c I)|]. split; [|split].
    + intros t t' H. apply functional_extensionality. intros a. apply sum_ext. intros c I.
      now rewrite (proj1 (proj2 (IH c I)) t t' H).
    + intros t t' a H. apply average_private; [exact W|]. intros c I. now apply (IH c I).
    + intros t t' a H. apply average_private; [exact W|]. intros c I. now apply (IH c I).
  - assert (Fair : fair law) by (split; [intros t; apply F | intros t t' a H; now rewrite (Sm t t' H)]).
    split; [exact F|]. split; [exact Sm|]. split; [now apply costs_more with eps | now apply costs_more with eps'].
Qed.
End Whole.
