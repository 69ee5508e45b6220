(** docs/proofs/sampling.md, lemma 7 as a program that draws bits: the distance to the next mark is found from the
    first bits of a uniform number, and from more of them if these leave it open. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Common Mechanism Walk Machine Programs UniformBelow Comparison Heads Plans Visits.
Import ListNotations.
Open Scope R_scope.

Lemma average_plus w v f g : average w v (fun V => f V + g V) = average w v f + average w v g.
Proof. revert v. induction w as [|w IH]; intros v; cbn [average]; [reflexivity|]. rewrite !IH. field. Qed.

Lemma average_scal w v c f : average w v (fun V => c * f V) = c * average w v f.
Proof. revert v. induction w as [|w IH]; intros v; cbn [average]; [reflexivity|]. rewrite !IH. field. Qed.

Lemma average_zero w v : average w v (fun _ => 0) = 0.
Proof. revert v. induction w as [|w IH]; intros v; cbn [average]; [reflexivity|]. rewrite !IH. field. Qed.

Lemma average_ext w v f g : (forall V, f V = g V) -> average w v f = average w v g.
Proof. intros E. revert v. induction w as [|w IH]; intros v; cbn [average]; [apply E|]. now rewrite !IH. Qed.

Lemma average_sum_of w v (l : list nat) (f : nat -> nat -> R) :
  average w v (fun V => sum l (fun k => f k V)) = sum l (fun k => average w v (f k)).
Proof.
  induction l as [|k l IH]; cbn [sum fold_right]; [apply average_zero|].
  fold (sum l (fun k => average w v (f k))). rewrite <- IH. apply (average_plus w v (f k) (fun V => sum l (fun k => f k V))).
Qed.

Lemma clamp_le x y : x <= y -> clamp x <= clamp y.
Proof. intros H. unfold clamp. apply Rle_max_compat_l, Rle_min_compat_l, H. Qed.

Lemma clamp_near x d : 0 <= d -> clamp (x + d) - clamp (x - d) <= 2 * d.
Proof. intros D. pose proof (clamp_shift (x + d) (2 * d) ltac:(lra)) as S. replace (x + d - 2 * d) with (x - d) in S by ring. lra. Qed.

Lemma sum_single n (f : nat -> R) k : (k < n)%nat -> (forall i, (i < n)%nat -> i <> k -> f i = 0) -> sum (candidates n) f = f k.
Proof.
  intros K Z. rewrite (sum_without k) by (try apply NoDup_candidates; now apply in_candidates).
  rewrite (sum_ext (without k (candidates n)) f (fun _ => 0)).
  - rewrite sum_const. ring.
  - intros i I. apply in_without in I as [I D]. apply Z; [now apply in_candidates | exact D].
Qed.

(** ** One distance *)

Section Skip.
Variables (kappa : R) (n : nat).
Hypothesis kappa_range : 0 < kappa < 1.

(** The uniform numbers of distance k: those in [kappa^(k+1), kappa^k), and all below kappa^n for k = n. *)
Definition upper (k : nat) : R := kappa ^ k.
Definition lower (k : nat) : R := if (k <? n)%nat then kappa ^ S k else 0.

(** The whole interval [U 2^-w, (U + 1) 2^-w) has the distance k. *)
Definition within (w U k : nat) : Prop := (k <= n)%nat /\ 2 ^ w * lower k <= INR U /\ INR U + 1 <= 2 ^ w * upper k.

(** What balls decide from w bits: the distance is right, and it is found unless a bound is near. *)
Variable decide : nat -> nat -> option nat.
Hypothesis sound : forall w U k, decide w U = Some k -> within w U k.
Hypothesis complete : forall w U, (U < 2 ^ w)%nat -> decide w U = None ->
  exists j, (j <= n)%nat /\ Rabs (2 ^ w * kappa ^ j - INR U) <= 2.
Variable step : nat.
Hypothesis step_pos : (1 <= step)%nat.

Definition seek (state : nat * nat) : program (nat * nat + nat) :=
  let (w, U) := state in
  match decide w U with
  | Some k => Return (inr k)
  | None => bind (word step U) (fun V => Return (inl ((w + step)%nat, V)))
  end.

Lemma upper_le j k : (j <= k)%nat -> upper k <= upper j.
Proof.
  intros H. induction H as [|k H IH]; [lra|]. eapply Rle_trans; [|exact IH]. unfold upper. cbn [pow].
  assert (0 < kappa ^ k) by (apply pow_lt; lra). nra.
Qed.

Lemma upper_range k : 0 < upper k <= 1.
Proof. split; [apply pow_lt; lra|]. apply (upper_le 0 k). lia. Qed.

Lemma lower_upper k : 0 <= lower k <= upper k.
Proof.
  pose proof (upper_range k). unfold lower. destruct (k <? n)%nat; [|lra]. change (kappa ^ S k) with (upper (S k)).
  pose proof (upper_range (S k)). pose proof (upper_le k (S k) ltac:(lia)). lra.
Qed.

Section Value.
Variable f : nat -> R.
Hypothesis f_nonneg : forall k, 0 <= f k.

Definition part (w U k : nat) : R := clamp (2 ^ w * upper k - INR U) - clamp (2 ^ w * lower k - INR U).
Definition value (s : nat * nat) : R := sum (candidates (S n)) (fun k => f k * part (fst s) (snd s) k).

Lemma part_range w U k : 0 <= part w U k <= 1.
Proof.
  unfold part. pose proof (clamp_range (2 ^ w * upper k - INR U)). pose proof (clamp_range (2 ^ w * lower k - INR U)).
  assert (clamp (2 ^ w * lower k - INR U) <= clamp (2 ^ w * upper k - INR U)); [|lra].
  apply clamp_le. assert (2 ^ w * lower k <= 2 ^ w * upper k); [|lra].
  apply Rmult_le_compat_l; [apply pow_le; lra | apply lower_upper].
Qed.

Lemma value_nonneg s : 0 <= value s.
Proof. apply sum_nonneg. intros k _. apply Rmult_le_pos; [apply f_nonneg | apply part_range]. Qed.

Lemma value_within w U k : within w U k -> value (w, U) = f k.
Proof.
  intros (K & L & H). assert (P : 0 < 2 ^ w) by (apply pow_lt; lra). unfold value. cbn [fst snd].
  rewrite (sum_single (S n) _ k); [|lia|].
  - unfold part. rewrite clamp_one, clamp_zero by lra. ring.
  - intros i I D. enough (Z : part w U i = 0) by (rewrite Z; ring). unfold part.
    destruct (Nat.lt_total i k) as [Lt|[E|Gt]]; [|contradiction|].
    + assert (M : upper k <= lower i).
      { unfold lower. rewrite (proj2 (Nat.ltb_lt i n)) by lia. apply (upper_le (S i) k). lia. }
      pose proof (lower_upper i).
      assert (2 ^ w * upper k <= 2 ^ w * lower i) by (apply Rmult_le_compat_l; lra).
      assert (2 ^ w * lower i <= 2 ^ w * upper i) by (apply Rmult_le_compat_l; lra).
      rewrite !clamp_one by lra. ring.
    + assert (M : upper i <= lower k).
      { unfold lower. rewrite (proj2 (Nat.ltb_lt k n)) by lia. apply (upper_le (S k) i). lia. }
      pose proof (lower_upper i).
      assert (2 ^ w * upper i <= 2 ^ w * lower k) by (apply Rmult_le_compat_l; lra).
      assert (2 ^ w * lower i <= 2 ^ w * upper i) by (apply Rmult_le_compat_l; lra).
      rewrite !clamp_zero by lra. ring.
Qed.

Lemma average_clamp s w U y d : average s U (fun V => clamp (2 ^ (w + s) * y + d - INR V)) = clamp (2 ^ w * y + d / 2 ^ s - INR U).
Proof.
  rewrite <- (average_below s). apply average_ext. intros V. f_equal. rewrite pow_add. field. apply pow_nonzero; lra.
Qed.

Lemma value_average s w U : average s U (fun V => value ((w + s)%nat, V)) = value (w, U).
Proof.
  unfold value. cbn [fst snd]. rewrite (average_sum_of s U (candidates (S n)) (fun k V => f k * part (w + s) V k)).
  apply sum_ext. intros k _. rewrite (average_scal s U (f k) (fun V => part (w + s) V k)). f_equal. unfold part.
  transitivity (average s U (fun V => clamp (2 ^ (w + s) * upper k + 0 - INR V) + -1 * clamp (2 ^ (w + s) * lower k + 0 - INR V))).
  { apply average_ext. intros V. rewrite !Rplus_0_r. ring. }
  rewrite average_plus, average_scal, !average_clamp. unfold Rdiv. rewrite Rmult_0_l, !Rplus_0_r. ring.
Qed.

(** The part of the interval within d 2^-w of a bound. *)
Definition near (d : R) (s : nat * nat) : R := sum (candidates (S n)) (fun j =>
  clamp (2 ^ fst s * kappa ^ j + d - INR (snd s)) + -1 * clamp (2 ^ fst s * kappa ^ j + - d - INR (snd s))).

Lemma near_term d x : 0 <= d -> 0 <= clamp (x + d) + -1 * clamp (x + - d) <= 2 * d.
Proof.
  intros D. pose proof (clamp_near x d D). pose proof (clamp_le (x + - d) (x + d) ltac:(lra)).
  replace (x - d) with (x + - d) in * by ring. lra.
Qed.

Lemma near_range d s : 0 <= d -> 0 <= near d s <= INR (S n) * (2 * d).
Proof.
  intros D. assert (T : forall j, 0 <= clamp (2 ^ fst s * kappa ^ j + d - INR (snd s)) + -1 * clamp (2 ^ fst s * kappa ^ j + - d - INR (snd s)) <= 2 * d).
  { intros j. replace (2 ^ fst s * kappa ^ j + d - INR (snd s)) with (2 ^ fst s * kappa ^ j - INR (snd s) + d) by ring.
    replace (2 ^ fst s * kappa ^ j + - d - INR (snd s)) with (2 ^ fst s * kappa ^ j - INR (snd s) + - d) by ring.
    now apply near_term. }
  unfold near. split; [apply sum_nonneg; intros; apply T|].
  replace (INR (S n)) with (INR (length (candidates (S n)))) by (unfold candidates; now rewrite seq_length).
  rewrite <- (sum_const (candidates (S n)) (2 * d)). apply sum_le. intros. apply T.
Qed.

Lemma near_average s w U d : average s U (fun V => near d ((w + s)%nat, V)) = near (d / 2 ^ s) (w, U).
Proof.
  unfold near. cbn [fst snd]. rewrite (average_sum_of s U (candidates (S n)) (fun j V =>
    clamp (2 ^ (w + s) * kappa ^ j + d - INR V) + -1 * clamp (2 ^ (w + s) * kappa ^ j + - d - INR V))).
  apply sum_ext. intros j _. rewrite average_plus, average_scal, !average_clamp.
  replace (- d / 2 ^ s) with (- (d / 2 ^ s)) by (field; apply pow_nonzero; lra). reflexivity.
Qed.

Lemma near_undecided w U : (U < 2 ^ w)%nat -> decide w U = None -> 1 <= near 3 (w, U).
Proof.
  intros Uw E. destruct (complete w U Uw E) as (j & J & C). apply Rabs_le_between in C. unfold near. cbn [fst snd].
  rewrite (sum_without j) by (try apply NoDup_candidates; apply in_candidates; lia).
  rewrite (clamp_one (2 ^ w * kappa ^ j + 3 - INR U)), (clamp_zero (2 ^ w * kappa ^ j + Ropp 3 - INR U)) by lra.
  match goal with |- _ <= _ + ?s => enough (0 <= s) by lra end.
  apply sum_nonneg. intros i _.
  replace (2 ^ w * kappa ^ i + 3 - INR U) with (2 ^ w * kappa ^ i - INR U + 3) by ring.
  replace (2 ^ w * kappa ^ i + Ropp 3 - INR U) with (2 ^ w * kappa ^ i - INR U + Ropp 3) by ring.
  now apply near_term; lra.
Qed.

Lemma value_beyond w U : (2 ^ w <= U)%nat -> value (w, U) = 0.
Proof.
  intros H. apply le_INR in H. rewrite INR_pow2 in H. assert (P : 0 < 2 ^ w) by (apply pow_lt; lra).
  unfold value. cbn [fst snd]. rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring|].
  intros k _. enough (Z : part w U k = 0) by (rewrite Z; ring).
  pose proof (lower_upper k) as L. pose proof (upper_range k) as Up.
  assert (2 ^ w * upper k <= 2 ^ w * 1) by (apply Rmult_le_compat_l; lra).
  assert (2 ^ w * lower k <= 2 ^ w * upper k) by (apply Rmult_le_compat_l; lra).
  unfold part. rewrite !clamp_zero by lra. ring.
Qed.

Let most := sum (candidates (S n)) f.
Let slack (j : nat) := 3 / (2 ^ step) ^ j.

Lemma most_nonneg : 0 <= most.
Proof. apply sum_nonneg. intros. apply f_nonneg. Qed.

Lemma value_most s : value s <= most.
Proof.
  apply sum_le. intros k _. rewrite <- (Rmult_1_r (f k)) at 2. apply Rmult_le_compat_l; [apply f_nonneg | apply part_range].
Qed.

Lemma slack_pos j : 0 < slack j.
Proof. apply Rdiv_lt_0_compat; [lra|]. apply pow_lt, pow_lt; lra. Qed.

Lemma seek_next w U (W : nat * nat -> R) : decide w U = None ->
  mass step (seek (w, U)) (with_value f W) = average step U (fun V => W ((w + step)%nat, V)).
Proof. intros E. unfold seek. rewrite E, mass_map, mass_word. reflexivity. Qed.

Theorem skip_law w U : has_law (iterate seek (w, U)) f (value (w, U)).
Proof.
  apply law_sandwich; [| |exact f_nonneg].
  - intros m. apply (iterate_upper seek f value value_nonneg). intros [w' U'] m'. unfold seek.
    destruct (decide w' U') as [k|] eqn:E.
    + rewrite mass_return. cbn [with_value]. rewrite (value_within w' U' k (sound w' U' k E)). lra.
    + rewrite <- (value_average step). apply law_above.
      * intros [s|k]; cbn [with_value]; [apply value_nonneg | apply f_nonneg].
      * apply law_map. cbn [with_value]. apply law_word.
  - intros e He. pose proof most_nonneg as M0.
    assert (P : 2 <= 2 ^ step) by (rewrite <- (pow_1 2) at 1; apply Rle_pow; [lra | exact step_pos]).
    set (W := fun (j : nat) (s : nat * nat) => value s - most * near (slack j) s).
    assert (J : exists j, most * (INR (S n) * (2 * slack j)) <= e).
    { set (q := most * (INR (S n) * 6)). assert (q0 : 0 <= q) by (apply Rmult_le_pos; [exact M0 | apply Rmult_le_pos; [apply pos_INR | lra]]).
      destruct (pow_lt_1_zero (/ 2 ^ step)) with (y := e / (q + 1)) as [j J].
      - rewrite Rabs_pos_eq by (apply Rlt_le, Rinv_0_lt_compat; lra). rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
      - apply Rdiv_lt_0_compat; lra.
      - exists j. specialize (J j (le_n j)). apply Rabs_def2 in J. rewrite pow_inv in J.
        replace (most * (INR (S n) * (2 * slack j))) with (q * / (2 ^ step) ^ j) by (unfold q, slack, Rdiv; ring).
        assert (0 < / (2 ^ step) ^ j) by (apply Rinv_0_lt_compat, pow_lt; lra).
        apply Rle_trans with ((q + 1) * (e / (q + 1))); [apply Rmult_le_compat; lra | right; field; lra]. }
    destruct J as [j J]. exists ((1 + j) * (step + 1))%nat.
    apply Rle_trans with (W j (w, U)).
    { unfold W. pose proof (near_range (slack j) (w, U) (Rlt_le _ _ (slack_pos j))) as [_ N].
      assert (most * near (slack j) (w, U) <= most * (INR (S n) * (2 * slack j))) by now apply Rmult_le_compat_l. lra. }
    assert (Dec : forall i w U k X, decide w U = Some k -> W i (w, U) <= mass step (seek (w, U)) (with_value f X)).
    { intros i w' U' k X E. unfold seek. rewrite E, mass_return. cbn [with_value]. unfold W.
      rewrite (value_within w' U' k (sound w' U' k E)).
      pose proof (near_range (slack i) (w', U') (Rlt_le _ _ (slack_pos i))) as [N _].
      assert (0 <= most * near (slack i) (w', U')) by now apply Rmult_le_pos. lra. }
    apply (iterate_lower seek f f_nonneg step W).
    + intros [w' U']. destruct (decide w' U') as [k|] eqn:E; [now apply (Dec 0%nat w' U' k)|].
      apply Rle_trans with 0.
      * unfold W, slack. cbn [pow]. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
        destruct (le_lt_dec (2 ^ w') U') as [Far|In0].
        { rewrite value_beyond by exact Far. pose proof (near_range 3 (w', U') ltac:(lra)) as [N _].
          assert (0 <= most * near 3 (w', U')) by now apply Rmult_le_pos. lra. }
        pose proof (near_undecided w' U' In0 E) as N.
        pose proof (value_most (w', U')). assert (most * 1 <= most * near 3 (w', U')) by now apply Rmult_le_compat_l. lra.
      * apply mass_nonneg. intros [s|k]; cbn [with_value]; [lra | apply f_nonneg].
    + intros i [w' U']. destruct (decide w' U') as [k|] eqn:E; [now apply (Dec (1 + i)%nat w' U' k)|].
      rewrite (seek_next w' U' (W i) E). unfold W.
      apply Rle_trans with (average step U' (fun V => value ((w' + step)%nat, V) + - most * near (slack i) ((w' + step)%nat, V))).
      2: { right. apply average_ext. intros V. ring. }
      rewrite average_plus, average_scal, value_average, near_average. right.
      replace (slack i / 2 ^ step) with (slack (1 + i)).
      * ring.
      * unfold slack. cbn [Nat.add pow]. field. split; [apply pow_nonzero, pow_nonzero | apply pow_nonzero]; lra.
Qed.

(** A word of [w] bits; integers or floats may decide ([guess]), otherwise balls and more bits. *)
Definition draw_skip (w : nat) (guess : nat -> option nat) : program nat :=
  bind (word w 0) (fun U => match guess U with Some k => Return k | None => iterate seek (w, U) end).

Theorem draw_skip_law w guess : (forall U k, guess U = Some k -> within w U k) ->
  has_law (draw_skip w guess) f (sum (candidates n) (fun k => kappa ^ k * (1 - kappa) * f k) + kappa ^ n * f n).
Proof.
  intros G. apply (law_bind _ _ _ (fun U => value (w, U))); [exact f_nonneg | |].
  - intros U. destruct (guess U) as [k|] eqn:E; [|apply skip_law].
    rewrite (value_within w U k (G U k E)). apply (law_return k f).
  - pose proof (law_word w 0 (fun U => value (w, U))) as L.
    replace (average w 0 (fun U => value (w, U))) with (value (0%nat, 0%nat)) in L by (symmetry; apply (value_average w 0 0)).
    replace (sum (candidates n) (fun k => kappa ^ k * (1 - kappa) * f k) + kappa ^ n * f n) with (value (0%nat, 0%nat)); [exact L|].
    unfold value. cbn [fst snd]. unfold candidates. rewrite seq_S, sum_app. cbn [sum fold_right Nat.add].
    assert (E : forall k, part 0 0 k = upper k - lower k).
    { intros k. unfold part. pose proof (lower_upper k). pose proof (upper_range k).
      rewrite !clamp_id by (simpl; lra). simpl. ring. }
    assert (Ln : f n * part 0 0 n = kappa ^ n * f n) by (rewrite E; unfold lower, upper; rewrite Nat.ltb_irrefl; ring).
    rewrite Ln, Rplus_0_r. f_equal.
    apply sum_ext. intros k K. apply in_seq in K. rewrite E. unfold upper, lower.
    rewrite (proj2 (Nat.ltb_lt k n)) by lia. cbn [pow]. ring.
Qed.
End Value.
End Skip.

(** ** All marks *)

(** The next mark after the distance [skip (length l)], and so on. *)
Fixpoint marks_by (skip : nat -> program nat) (fuel : nat) (l : list nat) : program (list nat) :=
  match fuel with
  | O => Return []
  | S fuel => bind (skip (length l)) (fun k => if (k <? length l)%nat
      then bind (marks_by skip fuel (skipn (S k) l)) (fun H => Return (nth k l 0%nat :: H))
      else Return [])
  end.

Theorem marks_by_law skip m l : 0 < m < 1 ->
  (forall n f, (forall k, 0 <= f k) -> has_law (skip n) f
     (sum (candidates n) (fun k => (1 - m) ^ k * m * f k) + (1 - m) ^ n * f n)) ->
  is_marking (marks_by skip (length l) l) m l.
Proof.
  intros M S phi P. rewrite <- (marks_by_skips m l (length l) phi (le_n _)).
  generalize (length l) at 1 2. intros fuel. revert l phi P. induction fuel as [|fuel IH]; intros l phi P.
  - apply (law_return [] phi).
  - cbn [marks_by by_skips].
    pose (f := fun k => if (k <? length l)%nat
      then by_skips m fuel (skipn (Datatypes.S k) l) (fun H => phi (nth k l 0%nat :: H)) else phi []).
    assert (Lf : forall k, has_law (if (k <? length l)%nat
        then bind (marks_by skip fuel (skipn (Datatypes.S k) l)) (fun H => Return (nth k l 0%nat :: H))
        else Return []) phi (f k)).
    { intros k. unfold f. destruct (k <? length l)%nat; [|apply (law_return [] phi)].
      apply law_map. apply (IH _ (fun H => phi (nth k l 0%nat :: H))). auto. }
    assert (F : forall k, 0 <= f k).
    { intros k. eapply Rle_trans; [|apply (law_above _ phi _ 0 P (Lf k))]. now apply mass_nonneg. }
    apply (law_bind _ _ phi f); [exact P | exact Lf|].
    replace (sum (candidates (length l)) (fun k => (1 - m) ^ k * m * by_skips m fuel (skipn (Datatypes.S k) l) (fun H => phi (nth k l 0%nat :: H))))
      with (sum (candidates (length l)) (fun k => (1 - m) ^ k * m * f k)).
    + replace (phi []) with (f (length l)) by (unfold f; now rewrite Nat.ltb_irrefl). now apply S.
    + apply sum_ext. intros k K. apply in_candidates in K. unfold f. now rewrite (proj2 (Nat.ltb_lt k (length l)) K).
Qed.

Lemma within_of_all kappa n w U k : (k <= n)%nat ->
  (forall x, INR U / 2 ^ w <= x < INR (S U) / 2 ^ w -> ((k < n)%nat -> kappa ^ S k <= x) /\ x < kappa ^ k) ->
  within kappa n w U k.
Proof.
  intros K H. assert (P : 0 < 2 ^ w) by (apply pow_lt; lra). rewrite S_INR in H.
  assert (Q : INR U / 2 ^ w < (INR U + 1) / 2 ^ w) by (apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat | lra]).
  assert (E : forall y, 2 ^ w * (y / 2 ^ w) = y) by (intros; field; lra).
  split; [exact K|]. split.
  - unfold lower. destruct (Nat.ltb_spec k n) as [L|L].
    + destruct (H (INR U / 2 ^ w) ltac:(lra)) as [A _]. specialize (A L).
      apply (Rmult_le_compat_l (2 ^ w)) in A; [|lra]. now rewrite E in A.
    + rewrite Rmult_0_r. apply pos_INR.
  - unfold upper. destruct (Rle_dec ((INR U + 1) / 2 ^ w) (kappa ^ k)) as [L|L].
    + apply (Rmult_le_compat_l (2 ^ w)) in L; [|lra]. now rewrite E in L.
    + exfalso. destruct (H (Rmax (INR U / 2 ^ w) (kappa ^ k))) as [_ B].
      * split; [apply Rmax_l | apply Rmax_lub_lt; lra].
      * pose proof (Rmax_r (INR U / 2 ^ w) (kappa ^ k)). lra.
Qed.

(** Marks from words of [w] bits. *)
Theorem marks_from_bits m w step (decide : nat -> nat -> nat -> option nat) (guess : nat -> nat -> option nat) l :
  0 < m < 1 -> (1 <= step)%nat ->
  (forall n w U k, decide n w U = Some k -> within (1 - m) n w U k) ->
  (forall n w U, (U < 2 ^ w)%nat -> decide n w U = None -> exists j, (j <= n)%nat /\ Rabs (2 ^ w * (1 - m) ^ j - INR U) <= 2) ->
  (forall n U k, guess n U = Some k -> (k <= n)%nat /\ forall x, INR U / 2 ^ w <= x < INR (S U) / 2 ^ w ->
     ((k < n)%nat -> (1 - m) ^ S k <= x) /\ x < (1 - m) ^ k) ->
  is_marking (marks_by (fun n => draw_skip (decide n) step w (guess n)) (length l) l) m l.
Proof.
  intros M St Sd Co Gu. apply marks_by_law; [exact M|]. intros n f F.
  replace (sum (candidates n) (fun k => (1 - m) ^ k * m * f k))
    with (sum (candidates n) (fun k => (1 - m) ^ k * (1 - (1 - m)) * f k)) by (apply sum_ext; intros; ring).
  apply draw_skip_law; auto; [lra|]. intros U k H. destruct (Gu n U k H). now apply within_of_all.
Qed.

(** Such decisions exist. *)
Theorem decisions_exist kappa n : 0 < kappa < 1 -> exists decide : nat -> nat -> option nat,
  (forall w U k, decide w U = Some k -> within kappa n w U k) /\
  (forall w U, (U < 2 ^ w)%nat -> decide w U = None -> exists j, (j <= n)%nat /\ Rabs (2 ^ w * kappa ^ j - INR U) <= 2).
Proof.
  intros K. pose (test := fun w U k => if Rle_dec (2 ^ w * lower kappa n k) (INR U) then
    (if Rle_dec (INR U + 1) (2 ^ w * upper kappa k) then true else false) else false).
  exists (fun w U => find (test w U) (candidates (S n))). split.
  - intros w U k F. apply find_some in F as [I T]. apply in_candidates in I. unfold test in T.
    destruct Rle_dec as [L|]; [|discriminate]. destruct Rle_dec as [H|]; [|discriminate]. repeat split; [lia | lra | lra].
  - intros w U Uw F. apply le_INR in Uw. rewrite S_INR, INR_pow2 in Uw.
    assert (No : forall k, (k <= n)%nat -> 2 ^ w * lower kappa n k <= INR U -> 2 ^ w * kappa ^ k < INR U + 1).
    { intros k Kn L. pose proof (find_none _ _ F k ltac:(apply in_candidates; lia)) as T. unfold test, upper in T.
      destruct Rle_dec as [|N]; [|contradiction]. destruct Rle_dec; [discriminate | lra]. }
    assert (Go : forall k, (k <= n)%nat -> (exists j, (j <= n)%nat /\ Rabs (2 ^ w * kappa ^ j - INR U) <= 2) \/ INR U + 1 <= 2 ^ w * kappa ^ k).
    { induction k as [|k IH]; intros Kn; [right; simpl; lra|].
      destruct (IH ltac:(lia)) as [D|G]; [now left|].
      specialize (No k ltac:(lia)). unfold lower in No. rewrite (proj2 (Nat.ltb_lt k n)) in No by lia.
      destruct (Rle_dec (INR U + 1) (2 ^ w * kappa ^ S k)) as [|N]; [now right|]. left. exists (S k). split; [exact Kn|].
      destruct (Rle_dec (2 ^ w * kappa ^ S k) (INR U)) as [L|L]; [specialize (No L); lra|]. apply Rabs_le. lra. }
    destruct (Go n (le_n n)) as [D|G]; [exact D|]. exfalso. specialize (No n (le_n n)).
    unfold lower in No. rewrite Nat.ltb_irrefl in No. pose proof (pos_INR U). lra.
Qed.
