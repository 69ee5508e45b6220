(** docs/proofs/sampling.md, lemma 17: the clock of the proposals in floats. *)
From Coq Require Import Reals ZArith Lra Lia List Permutation.
From Flocq Require Import Core.
From Coquelicot Require Rcomplements.
From Discreet Require Import Common Machine Floats Gaps GapBranches Thresholds Sampler Waits.
Import ListNotations.
Open Scope R_scope.

#[local] Instance prec_pos : Prec_gt_0 prec := eq_refl.
#[local] Instance exp_valid : Valid_exp (FLT_exp emin prec) := FLT_exp_valid emin prec.

Lemma ln2_least : 67 / 100 <= ln 2.
Proof.
  rewrite <- (ln_exp (67 / 100)). apply Rcomplements.ln_le; [apply exp_pos|].
  assert (A : (1 - 67 / 3200) ^ 32 <= exp (- (67 / 100))).
  { replace (exp (- (67 / 100))) with (exp (- (67 / 3200)) ^ 32).
    - apply pow_incr. split; [lra|]. pose proof (exp_ineq1_le (- (67 / 3200))). lra.
    - rewrite <- (Rpower_pow 32) by apply exp_pos. unfold Rpower. rewrite ln_exp. f_equal. simpl. lra. }
  assert (B : exp (67 / 100) * exp (- (67 / 100)) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (C : 1 / 2 <= (1 - 67 / 3200) ^ 32) by lra.
  pose proof (exp_pos (67 / 100)). nra.
Qed.

(** ** Sums of floats, in any order *)

Inductive summed : list R -> R -> Prop :=
| one_float x : summed [x] x
| two_sums l l' a b : summed l a -> summed l' b -> summed (l ++ l') (fl (a + b))
| reordered l l' a : Permutation l l' -> summed l a -> summed l' a.

Definition total (l : list R) : R := sum l (fun x => x).
Definition size (l : list R) : R := sum l Rabs.

Lemma size_nonneg l : 0 <= size l.
Proof. apply sum_nonneg. intros. apply Rabs_pos. Qed.

Lemma sum_permutation (l l' : list R) f : Permutation l l' -> sum l f = sum l' f.
Proof. induction 1; simpl; [reflexivity | congruence | ring | congruence]. Qed.

Lemma summed_close l x : summed l x -> Forall format l ->
  format x /\ (1 <= length l)%nat /\ Rabs (x - total l) <= ((1 + u) ^ (length l - 1) - 1) * size l.
Proof.
  pose proof u_range as U. induction 1 as [x|l l' a b Ha IHa Hb IHb|l l' a P Ha IHa]; intros F.
  - split; [now inversion F|]. split; [simpl; lia|]. unfold total, size. simpl.
    replace (x - (x + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - apply Forall_app in F as [F F']. destruct (IHa F) as (Fa & La & Ca). destruct (IHb F') as (Fb & Lb & Cb).
    split; [apply fl_format|]. rewrite app_length. split; [lia|].
    unfold total, size in *. rewrite !sum_app.
    set (A := sum l (fun x => x)) in *. set (B := sum l' (fun x => x)) in *.
    set (SA := sum l Rabs) in *. set (SB := sum l' Rabs) in *.
    assert (SA0 : 0 <= SA) by apply size_nonneg. assert (SB0 : 0 <= SB) by apply size_nonneg.
    assert (TA : forall m, Rabs (sum m (fun x => x)) <= sum m Rabs).
    { induction m as [|y m IH]; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|].
      apply Rplus_le_compat_l, IH. }
    assert (AA := TA l). assert (BB := TA l'). fold A SA in AA. fold B SB in BB.
    destruct (rounding_minus a (- b) Fa (generic_format_opp _ _ _ Fb)) as (e & E & Eq).
    unfold Rminus in Eq at 1 2. rewrite Ropp_involutive in Eq. rewrite Eq. clear Eq.
    set (p := (1 + u) ^ (length l - 1)) in *. set (q := (1 + u) ^ (length l' - 1)) in *.
    assert (P1 : 1 <= p) by (apply pow_R1_Rle; lra). assert (Q1 : 1 <= q) by (apply pow_R1_Rle; lra).
    set (g := (1 + u) ^ (length l + length l' - 1)).
    assert (G : (1 + u) * p <= g /\ (1 + u) * q <= g).
    { unfold p, q, g. split; [change ((1 + u) * (1 + u) ^ (length l - 1)) with ((1 + u) ^ S (length l - 1))
        | change ((1 + u) * (1 + u) ^ (length l' - 1)) with ((1 + u) ^ S (length l' - 1))]; apply Rle_pow; try lra; lia. }
    assert (Na : Rabs a <= p * SA).
    { replace a with (a - A + A) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (Nb : Rabs b <= q * SB).
    { replace b with (b - B + B) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    replace ((a + b) * (1 + e) - (A + B)) with ((a - A) + (b - B) + (a + b) * e) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (X1 : Rabs (a - A + (b - B)) <= (p - 1) * SA + (q - 1) * SB) by (eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (X2 : Rabs ((a + b) * e) <= (p * SA + q * SB) * u).
    { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [|apply Rabs_le; lra].
      eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert ((1 + u) * p * SA <= g * SA) by (apply Rmult_le_compat_r; lra).
    assert ((1 + u) * q * SB <= g * SB) by (apply Rmult_le_compat_r; lra). lra.
  - assert (F' : Forall format l).
    { apply Forall_forall. intros y Y. apply (proj1 (Forall_forall _ _) F). now apply (Permutation_in _ P). }
    specialize (IHa F'). rewrite (Permutation_length P) in IHa. unfold total, size in *.
    now rewrite (sum_permutation l l' (fun x => x) P), (sum_permutation l l' Rabs P) in IHa.
Qed.

Lemma growth n : INR n * u < 1 -> (1 + u) ^ n * (1 - INR n * u) <= 1.
Proof.
  pose proof u_range as U. induction n as [|n IH]; intros N; [simpl; lra|]. rewrite S_INR in *. cbn [pow].
  pose proof (pos_INR n). assert (0 <= INR n * u) by (apply Rmult_le_pos; lra).
  specialize (IH ltac:(lra)). assert (P : 0 < (1 + u) ^ n) by (apply pow_lt; lra).
  apply Rle_trans with ((1 + u) ^ n * (1 - INR n * u)); [|exact IH].
  replace ((1 + u) * (1 + u) ^ n * (1 - (INR n + 1) * u)) with ((1 + u) ^ n * ((1 + u) * (1 - (INR n + 1) * u))) by ring.
  apply Rmult_le_compat_l; [lra|]. assert (0 <= INR n * u * u) by (apply Rmult_le_pos; lra). nra.
Qed.

(** ** The time *)

Section Time.
Variables (m : machine) (w : nat).
Hypothesis w_range : (32 <= w <= 64)%nat.

Definition wait (word : nat) : R := fl (width_log m w - word_log m word).

(** [x] is a uniform number that begins with the bits of [word]. *)
Definition begins (word : nat) (x : R) : Prop :=
  (word < 2 ^ w)%nat /\ INR word / 2 ^ w <= x < INR (S word) / 2 ^ w.

Let unknown := 2 ^ 23 / 2 ^ w.

Lemma wait_close word x : begins word x -> wait word <= 16 ->
  0 < x < 1 /\ Rabs (wait word - - ln x) <= 1530 * u + unknown /\ - (1530 * u) <= wait word.
Proof.
  intros [R X] L. assert (W1 : (1 <= w <= 64)%nat) by lia.
  destruct (word_bounds w word W1 R) as (W0 & Wt & W2).
  pose proof u_range as U. pose proof tiny_most as T. pose proof ln2_least as L2. pose proof ln2_most as L3.
  assert (C := word_log_close m w word W1 R). unfold wait in *.
  assert (Rd := round_close (width_log m w - word_log m word)).
  set (wt := fl (width_log m w - word_log m word)) in *. set (c := width_log m w - word_log m word) in *.
  set (v := ln ((INR word + 1 / 2) / 2 ^ w)) in *.
  assert (Cv : Rabs (c + v) <= 1475 * u).
  { replace (c + v) with (- (word_log m word - width_log m w - v)) by (unfold c; ring). now rewrite Rabs_Ropp. }
  assert (z0 : 0 < (INR word + 1 / 2) / 2 ^ w) by (apply Rdiv_lt_0_compat; lra).
  assert (v0 : v <= 0).
  { unfold v. rewrite <- ln_1. apply Rcomplements.ln_le; [exact z0|].
    apply Rmult_le_reg_r with (2 ^ w); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (v1 : - (4507 / 100) <= v).
  { unfold v. apply Rle_trans with (ln (/ 2 ^ 65)).
    - rewrite ln_Rinv, ln_pow2 by apply pow2_pos. replace (INR 65) with 65 by (simpl; ring). lra.
    - apply Rcomplements.ln_le; [apply Rinv_0_lt_compat, pow2_pos|].
      apply Rmult_le_reg_r with (2 ^ w); [lra|]. unfold Rdiv. rewrite (Rmult_assoc (INR word + 1 / 2)), Rinv_l, Rmult_1_r by lra.
      apply Rle_trans with (/ 2 ^ 65 * 2 ^ 64); [apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, pow2_pos | lra]|]. lra. }
  assert (Ca : Rabs c <= 46).
  { apply Rabs_le_inv in Cv. apply Rabs_le. lra. }
  assert (Uc : u * Rabs c <= u * 46) by (apply Rmult_le_compat_l; lra).
  assert (Rw : - (47 * u) <= wt - c <= 47 * u) by (apply Rabs_le_inv in Rd; lra).
  apply Rabs_le_inv in Cv.
  assert (Big : (2 ^ (w - 24) <= word)%nat).
  { destruct (le_lt_dec (2 ^ (w - 24)) word) as [B|B]; [exact B|]. exfalso.
    assert (A : INR (S word) <= INR (2 ^ (w - 24))) by (apply le_INR; lia).
    rewrite S_INR, pow_INR in A. change (INR 2) with 2 in A.
    assert (v <= - (24 * ln 2)); [|lra].
    replace (- (24 * ln 2)) with (ln (/ 2 ^ 24)).
    - apply Rcomplements.ln_le; [exact z0|]. rewrite (pow2_split 24 (w - 24) w) by lia.
      apply Rmult_le_reg_r with (2 ^ 24 * 2 ^ (w - 24)); [apply Rmult_lt_0_compat; apply pow2_pos|].
      assert (0 < 2 ^ (w - 24)) by apply pow2_pos.
      replace ((INR word + 1 / 2) / (2 ^ 24 * 2 ^ (w - 24)) * (2 ^ 24 * 2 ^ (w - 24))) with (INR word + 1 / 2) by (field; lra).
      replace (/ 2 ^ 24 * (2 ^ 24 * 2 ^ (w - 24))) with (2 ^ (w - 24)) by (field; lra). lra.
    - rewrite ln_Rinv, ln_pow2 by apply pow2_pos. replace (INR 24) with 24 by (simpl; ring). ring. }
  destruct (unknown_bits w word W1 R x Big X) as [X0 Un]. fold v in Un.
  split; [split; [exact X0|]|].
  - apply Rlt_le_trans with (INR (S word) / 2 ^ w); [apply X|]. rewrite S_INR.
    apply Rmult_le_reg_r with (2 ^ w); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - fold unknown in Un. apply Rabs_le_inv in Un. split; [apply Rabs_le; lra | lra].
Qed.

Variables (words : list nat) (xs : list R) (waited rate : R).
Hypothesis known : Forall2 begins words xs.
Hypothesis not_long : Forall (fun word => wait word <= 16) words.
Hypothesis not_many : INR (length words) <= 2 ^ 16.
Hypothesis added : summed (map wait words) waited.
Hypothesis rate_least : 1 <= rate.

Definition float_time : R := fl (waited / rate).
Definition time : R := sum xs (fun x => - ln x) / rate.
Definition doubt : R := fl (fl (fl (INR (length words) / rate) * fl (2 ^ 24 / 2 ^ w + / 2 ^ 40)) + / 2 ^ 30).

Lemma waits_close : let n := INR (length words) in
  0 <= sum xs (fun x => - ln x) /\ Rabs (total (map wait words) - sum xs (fun x => - ln x)) <= n * (1530 * u + unknown) /\
  size (map wait words) <= total (map wait words) + n * (3060 * u) /\ - (n * (1530 * u)) <= total (map wait words).
Proof.
  pose proof u_range as U. revert not_long. clear - known U w_range. unfold total, size.
  induction known as [|word x ws ys B Ks IH]; intros N.
  - simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - inversion N as [|? ? N1 N2]; subst. specialize (IH Ks N2). destruct IH as (I0 & I1 & I2 & I3).
    destruct (wait_close word x B N1) as (X & C & L). cbn [length map]. rewrite S_INR.
    cbn [sum fold_right]. fold (sum ys (fun x => - ln x)). fold (sum (map wait ws) (fun x => x)). fold (sum (map wait ws) Rabs).
    assert (Lx : ln x <= 0) by (rewrite <- ln_1; apply Rcomplements.ln_le; lra).
    apply Rabs_le_inv in C. apply Rabs_le_inv in I1.
    assert (Rabs (wait word) <= wait word + 3060 * u) by (apply Rabs_le; lra).
    split; [lra|]. split; [apply Rabs_le; lra|]. split; lra.
Qed.

Theorem time_close : float_time <= 32 ->
  0 <= time /\ Rabs (float_time - time) <= 51 / 100 * doubt /\ - / 2 ^ 20 <= float_time /\ 99 / 100 * / 2 ^ 30 <= doubt.
Proof.
  intros T32. destruct waits_close as (W0 & W1 & W2 & W3).
  pose proof u_range as U. pose proof tiny_most as T. assert (T4 : tiny <= u / 100) by lra.
  assert (F : Forall format (map wait words)).
  { apply Forall_forall. intros y Y. apply in_map_iff in Y as (z & <- & _). apply fl_format. }
  destruct (summed_close _ _ added F) as (_ & L1 & S). rewrite map_length in *.
  set (n := INR (length words)) in *. set (A := total (map wait words)) in *. set (Z := size (map wait words)) in *.
  assert (Z0 : 0 <= Z) by apply size_nonneg.
  set (W := sum xs (fun x => - ln x)) in *.
  assert (n1 : 1 <= n) by (apply (le_INR 1); lia).
  assert (u53 : 2 ^ 16 * u = / 2 ^ 37) by (rewrite (inv_pow_u 37 16) by reflexivity; reflexivity).
  (* the growth of the error *)
  assert (G : (1 + u) ^ (length words - 1) - 1 <= 1001 / 1000 * / 2 ^ 37).
  { assert (k : INR (length words - 1) * u <= / 2 ^ 37).
    { rewrite <- u53. apply Rmult_le_compat_r; [lra|]. eapply Rle_trans; [|exact not_many]. apply le_INR. lia. }
    pose proof (growth (length words - 1) ltac:(lra)) as Q. set (p := (1 + u) ^ (length words - 1)) in *.
    assert (P1 : 1 <= p) by (apply pow_R1_Rle; lra).
    assert (p * (1 - / 2 ^ 37) <= 1) by (apply Rle_trans with (p * (1 - INR (length words - 1) * u)); [apply Rmult_le_compat_l|]; lra).
    lra. }
  assert (S1 : Rabs (waited - A) <= 1001 / 1000 * / 2 ^ 37 * Z) by (eapply Rle_trans; [exact S|]; apply Rmult_le_compat_r; lra).
  apply Rabs_le_inv in S1. apply Rabs_le_inv in W1.
  (* everything divided by the rate *)
  assert (r0 : 0 < / rate <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  set (N := n / rate). set (a := A / rate). set (z := Z / rate). set (s := waited / rate).
  assert (D : forall y y', y <= y' -> y / rate <= y' / rate) by (intros; apply Rmult_le_compat_r; lra).
  assert (N0 : 0 < N <= n).
  { unfold N, Rdiv. split; [apply Rmult_lt_0_compat; lra|]. rewrite <- (Rmult_1_r n) at 2. apply Rmult_le_compat_l; lra. }
  assert (z0 : 0 <= z) by (apply Rmult_le_pos; lra).
  assert (E1 : s - a <= 1001 / 1000 * / 2 ^ 37 * z /\ - (1001 / 1000 * / 2 ^ 37 * z) <= s - a).
  { unfold s, a, z. split.
    - replace (waited / rate - A / rate) with ((waited - A) / rate) by (field; lra).
      replace (1001 / 1000 * / 2 ^ 37 * (Z / rate)) with (1001 / 1000 * / 2 ^ 37 * Z / rate) by (field; lra). apply D. lra.
    - replace (waited / rate - A / rate) with ((waited - A) / rate) by (field; lra).
      replace (- (1001 / 1000 * / 2 ^ 37 * (Z / rate))) with (- (1001 / 1000 * / 2 ^ 37 * Z) / rate) by (field; lra). apply D. lra. }
  set (P := N * u). set (Q := N * unknown).
  assert (UP : 0 < unknown) by (apply Rdiv_lt_0_compat; apply pow2_pos).
  assert (P0 : 0 < P) by (apply Rmult_lt_0_compat; lra). assert (Q0 : 0 < Q) by (apply Rmult_lt_0_compat; lra).
  assert (Pm : P <= / 2 ^ 37) by (unfold P; rewrite <- u53; apply Rmult_le_compat_r; lra).
  assert (E2 : - (1530 * P + Q) <= a - time <= 1530 * P + Q).
  { unfold a, time. fold W. replace (A / rate - W / rate) with ((A - W) / rate) by (field; lra).
    replace (1530 * P + Q) with (n * (1530 * u + unknown) / rate) by (unfold P, Q, N; field; lra).
    replace (- (n * (1530 * u + unknown) / rate)) with (- (n * (1530 * u + unknown)) / rate) by (field; lra).
    split; apply D; lra. }
  assert (E3 : z <= a + 3060 * P).
  { unfold z, a. replace (A / rate + 3060 * P) with ((A + n * (3060 * u)) / rate) by (unfold P, N; field; lra). now apply D. }
  assert (E4 : - (1530 * P) <= a).
  { unfold a. replace (- (1530 * P)) with (- (n * (1530 * u)) / rate) by (unfold P, N; field; lra). now apply D. }
  assert (E5 : a <= z) by (apply D, sum_le; intros; apply Rle_abs).
  assert (t0 : 0 <= time) by (apply Rmult_le_pos; [exact W0 | lra]).
  (* the quotient *)
  assert (Rd := round_close s). fold float_time in Rd. change (fl s) with float_time in Rd. apply Rabs_le_inv in Rd.
  assert (sz : Rabs s <= 2 * z + 3060 * P).
  { apply Rabs_le. lra. }
  assert (us : u * Rabs s <= u * (2 * z + 3060 * P)) by (apply Rmult_le_compat_l; lra).
  assert (uz : u * z <= / 2 ^ 40 * z) by (apply Rmult_le_compat_r; [exact z0 | unfold u; apply inv_pow_le; lia]).
  assert (uP : u * P <= / 2 ^ 40 * P) by (apply Rmult_le_compat_r; [lra | unfold u; apply inv_pow_le; lia]).
  assert (z33 : z <= 33) by lra.
  assert (uz2 : u * z <= u * 33) by (apply Rmult_le_compat_l; lra).
  (* the doubt *)
  assert (I40 : / 2 ^ 40 = 8192 * u) by (rewrite (inv_pow_u 40 13) by reflexivity; simpl; ring).
  assert (un : 2 ^ 24 / 2 ^ w = 2 * unknown) by (unfold unknown; replace (2 ^ 24) with (2 * 2 ^ 23) by ring; field; apply Rgt_not_eq, pow2_pos).
  assert (Dt : 2 * Q * (1 - / 2 ^ 40) + 8000 * P + 99 / 100 * / 2 ^ 30 <= doubt).
  { unfold doubt. fold n N. rewrite un.
    assert (B1 := round_close N). set (d1 := fl N) in *. rewrite (Rabs_pos_eq N) in B1 by lra. apply Rabs_le_inv in B1.
    assert (B2 := round_close (2 * unknown + / 2 ^ 40)). set (d2 := fl (2 * unknown + / 2 ^ 40)) in *.
    rewrite (Rabs_pos_eq (2 * unknown + / 2 ^ 40)) in B2 by lra. apply Rabs_le_inv in B2.
    set (g := 2 * unknown + / 2 ^ 40) in *.
    assert (ug : u * g <= / 2 ^ 50 * g) by (apply Rmult_le_compat_r; [unfold g; lra | unfold u; apply inv_pow_le; lia]).
    assert (uN : u * N <= / 2 ^ 50 * N) by (apply Rmult_le_compat_r; [lra | unfold u; apply inv_pow_le; lia]).
    assert (tiny_g : tiny <= / 2 ^ 50 * g).
    { apply Rle_trans with (/ 2 ^ 50 * / 2 ^ 40); [|apply Rmult_le_compat_l; unfold g; lra].
      replace (/ 2 ^ 50 * / 2 ^ 40) with (/ 2 ^ 90) by (exact (inv_pow2_split 50 40 90 eq_refl)).
      unfold tiny. apply inv_pow_le. lia. }
    assert (d1l : N * (1 - / 2 ^ 49) - tiny <= d1) by lra.
    assert (d2l : g * (1 - / 2 ^ 48) <= d2) by lra.
    assert (d1p : 0 <= d1) by (apply fl_nonneg; lra). assert (d2p : 0 <= d2) by (apply fl_nonneg; unfold g; lra).
    assert (g0 : 0 < g <= 1 / 64 + 1).
    { split; [unfold g; lra|]. unfold g. assert (unknown <= / 2 ^ 9); [|lra].
      unfold unknown. rewrite (pow2_split 23 (w - 23) w) by lia. assert (0 < 2 ^ (w - 23)) by apply pow2_pos.
      replace (2 ^ 23 / (2 ^ 23 * 2 ^ (w - 23))) with (/ 2 ^ (w - 23)) by (field; lra). apply inv_pow_le. lia. }
    assert (d12 : N * g * (1 - / 2 ^ 47) - 2 * tiny <= d1 * d2).
    { apply Rle_trans with (d1 * (g * (1 - / 2 ^ 48))); [|apply Rmult_le_compat_l; lra].
      apply Rle_trans with ((N * (1 - / 2 ^ 49) - tiny) * (g * (1 - / 2 ^ 48))); [|apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]].
      assert (0 < N * g) by (apply Rmult_lt_0_compat; lra).
      assert (tiny * (g * (1 - / 2 ^ 48)) <= tiny * 2) by (apply Rmult_le_compat_l; lra).
      replace ((N * (1 - / 2 ^ 49) - tiny) * (g * (1 - / 2 ^ 48)))
        with (N * g * ((1 - / 2 ^ 49) * (1 - / 2 ^ 48)) - tiny * (g * (1 - / 2 ^ 48))) by ring.
      assert (N * g * (1 - / 2 ^ 47) <= N * g * ((1 - / 2 ^ 49) * (1 - / 2 ^ 48))) by (apply Rmult_le_compat_l; lra). lra. }
    assert (Ng : N * g = 2 * Q + 8192 * P) by (unfold g, Q, P; rewrite I40; ring). rewrite Ng in d12.
    assert (B3 := round_close (d1 * d2)). set (d3 := fl (d1 * d2)) in *.
    rewrite (Rabs_pos_eq (d1 * d2)) in B3 by (now apply Rmult_le_pos). apply Rabs_le_inv in B3.
    assert (u3 : u * (d1 * d2) <= / 2 ^ 50 * (d1 * d2)) by (apply Rmult_le_compat_r; [now apply Rmult_le_pos | unfold u; apply inv_pow_le; lia]).
    assert (d3p : 0 <= d3) by (apply fl_nonneg, Rmult_le_pos; lra).
    assert (B4 := round_close (d3 + / 2 ^ 30)). rewrite (Rabs_pos_eq (d3 + / 2 ^ 30)) in B4 by lra. apply Rabs_le_inv in B4.
    assert (u4 : u * (d3 + / 2 ^ 30) <= / 2 ^ 50 * (d3 + / 2 ^ 30)) by (apply Rmult_le_compat_r; [lra | unfold u; apply inv_pow_le; lia]).
    assert (ty : tiny <= / 2 ^ 50) by (unfold tiny; apply inv_pow_le; lia).
    set (dd := d1 * d2) in *. clearbody dd. lra. }
  split; [exact t0|]. split; [|split; lra].
  assert (zz : 1001 / 1000 * / 2 ^ 37 * z <= 1001 / 1000 * / 2 ^ 37 * 33) by (apply Rmult_le_compat_l; lra).
  assert (u33 : u * 33 <= / 2 ^ 47) by (rewrite (inv_pow_u 47 6) by reflexivity; lra).
  apply Rabs_le. lra.
Qed.
End Time.

(** ** Is the time over, and is a proposal kept *)

Section Decisions.
Variables (m : machine) (w : nat) (words : list nat) (xs : list R) (waited rate : R).
Hypothesis w_range : (32 <= w <= 64)%nat.
Hypothesis known : Forall2 (begins w) words xs.
Hypothesis not_long : Forall (fun word => wait m w word <= 16) words.
Hypothesis not_many : INR (length words) <= 2 ^ 16.
Hypothesis added : summed (map (wait m w) words) waited.
Hypothesis rate_least : 1 <= rate.
Hypothesis not_late : float_time waited rate <= 32.

Let t_hat := float_time waited rate.
Let t := time xs rate.
Let d := doubt w words rate.

Lemma time_facts : 0 <= t /\ Rabs (t_hat - t) <= 51 / 100 * d /\ - / 2 ^ 20 <= t_hat <= 32 /\ 99 / 100 * / 2 ^ 30 <= d.
Proof.
  destruct (time_close m w w_range words xs waited rate known not_long not_many added rate_least not_late) as (A & B & C & D).
  now repeat split.
Qed.

Theorem over_right : d < Rabs (fl (t_hat - 1)) -> (1 < t_hat <-> 1 < t).
Proof.
  intros H. destruct time_facts as (T0 & C & _ & D0). apply Rabs_le_inv in C.
  assert (R := round_close (t_hat - 1)). set (f := fl (t_hat - 1)) in *. pose proof u_range as U. pose proof tiny_most as T.
  assert (T1 : tiny <= / 2 ^ 50) by (unfold tiny; apply inv_pow_le; lia).
  set (y := t_hat - 1) in *. assert (Rabs f <= Rabs y + u * Rabs y + tiny).
  { replace f with (f - y + y) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (u * Rabs y <= / 2 ^ 20 * Rabs y) by (apply Rmult_le_compat_r; [apply Rabs_pos | lra]).
  assert (Y : 9 / 10 * d < Rabs y) by lra. clear - Y C D0 y T0. unfold y in *.
  unfold Rabs in Y. destruct Rcase_abs; split; lra.
Qed.

(** The odds of exponential noise: 1 + (1 - e^-gamma)(e^t - 1). *)
Definition odds (gamma t : R) : R := 1 + (1 - exp (- gamma)) * (exp t - 1).
Definition float_odds (floated : R) : R :=
  fl (1 - fl (math_expm1 m (- floated) * math_expm1 m t_hat)).

Variables (gamma floated : R).
Hypothesis gamma_nonneg : 0 <= gamma.
Hypothesis good : good_gap floated gamma.
Hypothesis floated_range : format floated /\ 0 <= floated <= 601.

Let A := 1 - exp (- gamma).

Lemma A_range : 0 <= A <= 1.
Proof.
  unfold A. pose proof (exp_pos (- gamma)).
  assert (exp (- gamma) <= 1); [|lra]. rewrite <- exp_0. apply Mechanism.exp_le. lra.
Qed.

Lemma A_close : Rabs (- math_expm1 m (- floated) - A) <= 25 * u * A + / 2 ^ 89.
Proof.
  destruct floated_range as [F [F0 F1]]. destruct good as [Near Far]. pose proof u_range as U. pose proof A_range as [A0 A1].
  assert (I49 : / 2 ^ 49 = 16 * u) by (rewrite (inv_pow_u 49 4) by reflexivity; simpl; ring).
  assert (I51 : / 2 ^ 51 = 4 * u) by (rewrite (inv_pow_u 51 2) by reflexivity; simpl; ring).
  assert (E := math_expm1_accurate m (- floated) (generic_format_opp _ _ _ F) ltac:(lra)). rewrite I49 in E.
  set (B := 1 - exp (- floated)).
  assert (B0 : 0 <= B <= 1).
  { unfold B. pose proof (exp_pos (- floated)). assert (exp (- floated) <= 1); [|lra]. rewrite <- exp_0. apply Mechanism.exp_le. lra. }
  replace (exp (- floated) - 1) with (- B) in E by (unfold B; ring). rewrite Rabs_Ropp, (Rabs_pos_eq B) in E by lra.
  apply Rabs_le_inv in E. set (e1 := math_expm1 m (- floated)) in *. clearbody e1.
  assert (Close : - (41 / 10 * u * A + 11 / 10 * / 2 ^ 90) <= B - A <= 41 / 10 * u * A + 11 / 10 * / 2 ^ 90).
  { destruct (Rle_dec gamma 599) as [S|S].
    - specialize (Near S). rewrite I51 in Near. set (x := gamma - floated).
      assert (X : Rabs x <= 4 * u * gamma + / 2 ^ 90) by (unfold x; rewrite Rabs_minus_sym; exact Near).
      assert (ug : u * gamma <= u * 599) by (apply Rmult_le_compat_l; lra).
      assert (u599 : u * 2400 <= / 2 ^ 41) by (rewrite (inv_pow_u 41 12) by reflexivity; lra).
      pose proof (exp_near x ltac:(lra)) as N. pose proof (Rabs_pos x) as X0.
      assert (N2 : Rabs (exp x - 1) <= Rabs x * (1001 / 1000)).
      { eapply Rle_trans; [exact N|]. apply Rmult_le_compat_l; lra. }
      assert (Ex : exp (- floated) = exp (- gamma) * exp x) by (rewrite <- exp_plus; f_equal; unfold x; ring).
      set (g := exp (- gamma)) in *. assert (g0 : 0 < g) by apply exp_pos. assert (g1 : g <= 1) by (unfold A in A0; lra).
      assert (gg : g * gamma <= A).
      { pose proof (exp_ineq1_le gamma) as I. assert (g * exp gamma = 1) by (unfold g; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
        assert (g * (1 + gamma) <= g * exp gamma) by (apply Rmult_le_compat_l; lra). unfold A. fold g. lra. }
      assert (Eq : B - A = - (g * (exp x - 1))) by (unfold B, A; fold g; rewrite Ex; ring).
      assert (Ba : Rabs (B - A) <= g * (Rabs x * (1001 / 1000))).
      { rewrite Eq, Rabs_Ropp, Rabs_mult, (Rabs_pos_eq g) by lra. apply Rmult_le_compat_l; lra. }
      assert (g * Rabs x <= g * (4 * u * gamma + / 2 ^ 90)) by (apply Rmult_le_compat_l; lra).
      assert (u * (g * gamma) <= u * A) by (apply Rmult_le_compat_l; lra).
      assert (g * / 2 ^ 90 <= 1 * / 2 ^ 90) by (apply Rmult_le_compat_r; lra).
      assert (0 <= u * A) by (apply Rmult_le_pos; lra).
      apply Rabs_le_inv in Ba. lra.
    - specialize (Far ltac:(lra)).
      assert (L : forall y, 598 <= y -> 0 < exp (- y) <= / 2 ^ 90).
      { intros y Y. split; [apply exp_pos|]. rewrite <- exp_ln2. apply Mechanism.exp_le. pose proof ln2_most.
        replace (INR 90) with 90 by (simpl; ring). lra. }
      assert (L1 := L gamma ltac:(lra)). assert (L2 := L floated Far).
      assert (0 <= u * A) by (apply Rmult_le_pos; lra). unfold A, B in *. lra. }
  assert (0 <= u * A) by (apply Rmult_le_pos; lra).
  assert (u * (u * A) <= / 2 ^ 20 * (u * A)) by (apply Rmult_le_compat_r; lra).
  assert (u * B <= u * (A + (41 / 10 * u * A + 11 / 10 * / 2 ^ 90))) by (apply Rmult_le_compat_l; lra).
  assert (u * / 2 ^ 90 <= / 2 ^ 20 * / 2 ^ 90) by (apply Rmult_le_compat_r; lra).
  apply Rabs_le. lra.
Qed.

Lemma odds_close : 9 / 10 <= odds gamma t_hat /\
  Rabs (float_odds floated - odds gamma t_hat) <= / 2 ^ 36 * odds gamma t_hat.
Proof.
  destruct time_facts as (_ & _ & [T0 T1] & _). pose proof u_range as U. pose proof A_range as [A0 A1].
  pose proof A_close as AC. pose proof tiny_most as T.
  assert (I49 : / 2 ^ 49 = 16 * u) by (rewrite (inv_pow_u 49 4) by reflexivity; simpl; ring).
  assert (E := math_expm1_accurate m t_hat (fl_format _) ltac:(lra)). rewrite I49 in E.
  unfold odds, float_odds. fold A. set (B := exp t_hat - 1) in *.
  set (a := math_expm1 m (- floated)) in *. set (b := math_expm1 m t_hat) in *.
  assert (Bl : - / 2 ^ 20 <= B) by (unfold B; pose proof (exp_ineq1_le t_hat); lra).
  assert (Bm : B <= 2 ^ 51).
  { unfold B. assert (exp t_hat <= 2 ^ 51); [|lra]. apply Rle_trans with (exp 1 ^ 32).
    - rewrite <- (Rpower_pow 32) by apply exp_pos. unfold Rpower. rewrite ln_exp. apply Mechanism.exp_le.
      replace (INR 32) with 32 by (simpl; ring). lra.
    - apply Rle_trans with (3 ^ 32); [apply pow_incr; split; [apply Rlt_le, exp_pos | apply exp_le_3] | lra]. }
  assert (Babs : Rabs B <= 2 ^ 51) by (apply Rabs_le; lra).
  pose proof (Rabs_pos B) as B0.
  assert (AB : A * Rabs B <= 1 + A * B /\ 9 / 10 <= 1 + A * B).
  { unfold Rabs. destruct Rcase_abs as [N|N].
    - assert (- / 2 ^ 20 <= A * B) by (apply Rle_trans with (1 * B); [lra|]; replace (A * B) with (- (A * - B)) by ring;
        replace (1 * B) with (- (1 * - B)) by ring; apply Ropp_le_contravar, Rmult_le_compat_r; lra). lra.
    - assert (0 <= A * B) by (apply Rmult_le_pos; lra). lra. }
  destruct AB as [AB O1]. split; [exact O1|].
  set (o := 1 + A * B) in *.
  (* the product *)
  assert (P : Rabs (- a * b - A * B) <= 45 * u * o + / 2 ^ 37).
  { replace (- a * b - A * B) with ((- a - A) * b + A * (b - B)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq A) by lra.
    assert (bB : Rabs b <= Rabs B * (1 + 16 * u)).
    { replace b with (b - B + B) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (X1 : Rabs (- a - A) * Rabs b <= (25 * u * A + / 2 ^ 89) * (Rabs B * (1 + 16 * u))).
    { apply Rmult_le_compat; try apply Rabs_pos; assumption. }
    assert (X2 : A * Rabs (b - B) <= A * (16 * u * Rabs B)) by (apply Rmult_le_compat_l; lra).
    assert (Y1 : u * (A * Rabs B) <= u * o) by (apply Rmult_le_compat_l; lra).
    assert (Y0 : 0 <= u * (A * Rabs B)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
    assert (Y2 : u * (u * (A * Rabs B)) <= / 2 ^ 20 * (u * (A * Rabs B))) by (apply Rmult_le_compat_r; lra).
    assert (Y3 : / 2 ^ 89 * Rabs B <= / 2 ^ 89 * 2 ^ 51) by (apply Rmult_le_compat_l; lra).
    assert (Y4 : u * (/ 2 ^ 89 * Rabs B) <= / 2 ^ 20 * (/ 2 ^ 89 * Rabs B)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos|]; lra).
    lra. }
  assert (Pn : Rabs (A * B) <= 2 * o).
  { rewrite Rabs_mult, (Rabs_pos_eq A); lra. }
  assert (R1 := round_close (a * b)). set (p := fl (a * b)) in *.
  assert (R2 := round_close (1 - p)). set (f := fl (1 - p)) in *.
  assert (u45 : u <= / 2 ^ 53) by (unfold u; lra).
  assert (uo9 : u * (9 / 10) <= u * o) by (apply Rmult_le_compat_l; lra).
  assert (uo : 0 < u * o) by lra.
  assert (uo2 : u * o <= / 2 ^ 53 * o) by (apply Rmult_le_compat_r; lra).
  assert (ab : Rabs (a * b) <= 3 * o).
  { replace (a * b) with (- (- a * b - A * B) - A * B) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_Ropp. lra. }
  assert (uab : u * Rabs (a * b) <= u * (3 * o)) by (apply Rmult_le_compat_l; lra).
  assert (p1 : Rabs (1 - p - o) <= 50 * u * o + / 2 ^ 37).
  { replace (1 - p - o) with (- (p - a * b) + (- a * b - A * B)) by (unfold o; ring).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  assert (p2 : Rabs (1 - p) <= 2 * o).
  { replace (1 - p) with (1 - p - o + o) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq o) by lra. lra. }
  assert (up : u * Rabs (1 - p) <= u * (2 * o)) by (apply Rmult_le_compat_l; lra).
  replace (f - o) with (f - (1 - p) + (1 - p - o)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma exp_short x : 0 <= x <= 52 / 100 -> exp x - 1 <= 16 / 10 * x.
Proof.
  intros X. assert (Y : 1 - x / 2 <= exp (- (x / 2))) by (pose proof (exp_ineq1_le (- (x / 2))); lra).
  assert (E : exp x * (exp (- (x / 2)) * exp (- (x / 2))) = 1).
  { rewrite <- !exp_plus. replace (x + (- (x / 2) + - (x / 2))) with 0 by field. apply exp_0. }
  set (y := exp (- (x / 2))) in *. set (z := exp x) in *. assert (z0 : 0 < z) by apply exp_pos. clearbody y z.
  assert (Z : z * ((1 - x / 2) * (1 - x / 2)) <= 1).
  { rewrite <- E. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; lra. }
  enough (z <= 1 + 16 / 10 * x) by lra.
  apply Rmult_le_reg_r with ((1 - x / 2) * (1 - x / 2)); [apply Rmult_lt_0_compat; lra|].
  eapply Rle_trans; [exact Z|]. assert (0 <= x * (6 / 10 - 135 / 100 * x + 4 / 10 * x * x)); [|lra].
  apply Rmult_le_pos; [lra|]. nra.
Qed.

(** The word that decides, and the number that begins with it. *)
Variables (word : nat) (v : R).
Hypothesis v_begins : begins w word v.

Definition found : R := fl (fl (middle word * / 2 ^ w) * float_odds floated).

Lemma word_close : 0 <= v <= 1 /\ Rabs (fl (middle word * / 2 ^ w) - v) <= / 2 ^ 32 * (51 / 100).
Proof.
  destruct v_begins as [R X]. assert (W1 : (1 <= w <= 64)%nat) by lia.
  destruct (word_bounds w word W1 R) as (W0 & Wt & W2). rewrite S_INR in X.
  pose proof u_range as U. pose proof tiny_most as T. assert (T4 : tiny <= u / 100) by lra.
  assert (i0 : 0 < / 2 ^ w) by (apply Rinv_0_lt_compat; lra).
  assert (i1 : / 2 ^ w <= / 2 ^ 32) by (apply inv_pow_le; lia).
  assert (one : 2 ^ w * / 2 ^ w = 1) by (apply Rinv_r; lra).
  set (V := INR word) in *. unfold Rdiv in X.
  assert (Vi : 0 <= V * / 2 ^ w) by (apply Rmult_le_pos; lra).
  assert (Vt : (V + 1) * / 2 ^ w <= 1) by (rewrite <- one; apply Rmult_le_compat_r; lra).
  (* the middle *)
  assert (M : Rabs (middle word - (V + 1 / 2)) <= 3 * u * 2 ^ w).
  { assert (A1 := round_close V). assert (A2 := round_close (fl V + 1 / 2)). unfold middle. fold V.
    set (f := fl V) in *. set (g := fl (f + 1 / 2)) in *. rewrite (Rabs_pos_eq V) in A1 by lra.
    assert (f0 : 0 <= f) by (now apply fl_nonneg). rewrite (Rabs_pos_eq (f + 1 / 2)) in A2 by lra.
    apply Rabs_le_inv in A1. apply Rabs_le_inv in A2.
    assert (uV : u * V <= u * (2 ^ w - 1)) by (apply Rmult_le_compat_l; lra).
    assert (uf : u * f <= u * (V + u * V + tiny)) by (apply Rmult_le_compat_l; lra).
    assert (u2 : u * (u * V) <= / 2 ^ 20 * (u * V)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]).
    assert (ut : u * tiny <= 1 * tiny) by (apply Rmult_le_compat_r; lra).
    assert (0 <= u * V) by (apply Rmult_le_pos; lra). assert (u * 2 <= u * 2 ^ w) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le. lra. }
  assert (Mi : Rabs (middle word * / 2 ^ w - (V + 1 / 2) * / 2 ^ w) <= 3 * u).
  { rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (/ 2 ^ w)) by lra.
    apply Rle_trans with (3 * u * 2 ^ w * / 2 ^ w); [apply Rmult_le_compat_r; lra|]. rewrite Rmult_assoc, one. lra. }
  assert (Rd := round_close (middle word * / 2 ^ w)). set (h := middle word * / 2 ^ w) in *. set (k := fl h) in *.
  apply Rabs_le_inv in Mi.
  assert (H2 : Rabs h <= 2) by (apply Rabs_le; lra).
  assert (uh : u * Rabs h <= u * 2) by (apply Rmult_le_compat_l; lra).
  assert (u6 : 6 * u <= / 2 ^ 50) by (rewrite (inv_pow_u 50 3) by reflexivity; lra).
  apply Rabs_le_inv in Rd. split; [lra|]. apply Rabs_le. lra.
Qed.

Theorem keeps_right : fl (d * float_odds floated) < Rabs (fl (found - 1)) -> (found < 1 <-> v * odds gamma t < 1).
Proof.
  intros H. destruct time_facts as (t0 & TC & [T0 T1] & D0). destruct odds_close as [O1 OC].
  destruct word_close as [V0 VC]. pose proof u_range as U. pose proof tiny_most as T. pose proof A_range as [A0 A1].
  assert (T5 : tiny <= / 2 ^ 50 * / 2 ^ 31).
  { rewrite <- (inv_pow2_split 50 31 81 eq_refl). unfold tiny. apply inv_pow_le. lia. }
  assert (u50 : u <= / 2 ^ 50) by (unfold u; apply inv_pow_le; lia).
  unfold found in *. set (o := float_odds floated) in *. set (vh := fl (middle word * / 2 ^ w)) in *.
  set (oh := odds gamma t_hat) in *. apply Rabs_le_inv in OC. apply Rabs_le_inv in VC.
  assert (o1 : 89 / 100 <= o) by lra. assert (oo : oh <= o * (1 + / 2 ^ 35)) by lra.
  assert (R1 := round_close (vh * o)). set (f := fl (vh * o)) in *.
  assert (R2 := round_close (f - 1)). set (g := fl (f - 1)) in *.
  assert (R3 := round_close (d * o)). set (c := fl (d * o)) in *.
  assert (do : 0 < d * o) by (apply Rmult_lt_0_compat; lra). rewrite (Rabs_pos_eq (d * o)) in R3 by lra.
  assert (ud : u * (d * o) <= / 2 ^ 50 * (d * o)) by (apply Rmult_le_compat_r; lra).
  assert (dol : / 2 ^ 31 * (89 / 100) <= d * o) by (apply Rmult_le_compat; lra).
  apply Rabs_le_inv in R3.
  assert (G : Rabs g <= Rabs (f - 1) * (1 + / 2 ^ 50) + tiny).
  { replace g with (g - (f - 1) + (f - 1)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    assert (u * Rabs (f - 1) <= / 2 ^ 50 * Rabs (f - 1)) by (apply Rmult_le_compat_r; [apply Rabs_pos | lra]). lra. }
  assert (Far : d * o * (1 - / 2 ^ 45) < Rabs (f - 1)) by lra.
  assert (vo : Rabs (vh * o) <= 101 / 100 * o).
  { rewrite Rabs_mult, (Rabs_pos_eq o) by lra. apply Rmult_le_compat_r; [lra|]. apply Rabs_le. lra. }
  assert (uvo : u * Rabs (vh * o) <= / 2 ^ 50 * (101 / 100 * o)) by (apply Rmult_le_compat; try apply Rabs_pos; lra).
  assert (tyo : tiny <= / 2 ^ 50 * o) by lra.
  assert (fv : - (/ 2 ^ 48 * o) <= f - vh * o <= / 2 ^ 48 * o) by (apply Rabs_le_inv in R1; lra).
  assert (vu : vh * o <= (1 + / 2 ^ 32) * o) by (apply Rmult_le_compat_r; lra).
  assert (vl : - / 2 ^ 32 * o <= vh * o) by (apply Rmult_le_compat_r; lra).
  assert (Dm : d <= 101 / 100).
  { destruct (Rle_dec d (101 / 100)) as [L|L]; [exact L|]. exfalso.
    assert (dd : 101 / 100 * o <= d * o) by (apply Rmult_le_compat_r; lra).
    assert (o2 : 1 - / 2 ^ 18 <= o).
    { assert (1 - / 2 ^ 19 <= oh); [|lra]. unfold oh, odds. fold A.
      pose proof (exp_ineq1_le t_hat) as I. assert (- / 2 ^ 20 <= exp t_hat - 1) by lra.
      assert (A * - / 2 ^ 20 <= A * (exp t_hat - 1)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (Rabs (f - 1) <= 1005 / 1000 * o); [apply Rabs_le|]; lra. }
  (* the odds at the true time *)
  set (ot := odds gamma t).
  assert (Ot : Rabs (ot - oh) <= oh * (816 / 1000 * d)).
  { set (y := t - t_hat). unfold ot, oh, odds. fold A.
    replace (1 + A * (exp t - 1) - (1 + A * (exp t_hat - 1))) with (A * exp t_hat * (exp y - 1)).
    2: { replace (exp t) with (exp t_hat * exp y) by (rewrite <- exp_plus; f_equal; unfold y; ring). ring. }
    assert (E0 : 0 < exp t_hat) by apply exp_pos. assert (AE : 0 <= A * exp t_hat) by (apply Rmult_le_pos; lra).
    rewrite Rabs_mult, (Rabs_pos_eq (A * exp t_hat)) by exact AE.
    apply Rmult_le_compat; [exact AE | apply Rabs_pos | lra|].
    assert (Y : Rabs y <= 51 / 100 * d) by (unfold y; rewrite Rabs_minus_sym; exact TC).
    pose proof (Rabs_pos y) as Y0. pose proof (exp_short (Rabs y) ltac:(lra)) as S.
    apply Rle_trans with (exp (Rabs y) - 1); [|lra].
    destruct (Rle_dec 0 y) as [P|P].
    - rewrite (Rabs_pos_eq y) by lra. pose proof (exp_ineq1_le y). rewrite Rabs_pos_eq; lra.
    - rewrite (Rabs_left y) by lra. pose proof (exp_ineq1_le y). pose proof (exp_ineq1_le (- y)).
      rewrite Rabs_left1; [lra|]. rewrite <- exp_0. apply Rle_minus, Mechanism.exp_le. lra. }
  apply Rabs_le_inv in Ot.
  assert (dd : oh * d <= o * (1 + / 2 ^ 35) * d) by (apply Rmult_le_compat_r; lra).
  assert (B1 : Rabs (o - ot) <= 817 / 1000 * (d * o) + / 2 ^ 35 * o) by (apply Rabs_le; lra).
  assert (B2 : Rabs (vh * o - v * ot) <= 817 / 1000 * (d * o) + / 2 ^ 35 * o + / 2 ^ 32 * (51 / 100) * o).
  { replace (vh * o - v * ot) with ((vh - v) * o + v * (o - ot)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq o), (Rabs_pos_eq v) by lra.
    pose proof (Rabs_pos (o - ot)).
    assert (v * Rabs (o - ot) <= 1 * Rabs (o - ot)) by (apply Rmult_le_compat_r; lra).
    assert (Rabs (vh - v) * o <= / 2 ^ 32 * (51 / 100) * o) by (apply Rmult_le_compat_r; [lra | apply Rabs_le; lra]). lra. }
  apply Rabs_le_inv in B2.
  assert (dl : 99 / 100 * / 2 ^ 30 * o <= d * o) by (apply Rmult_le_compat_r; lra).
  unfold Rabs in Far. destruct Rcase_abs; split; lra.
Qed.
End Decisions.
