
type ('a, 'b) sum =
| Inl of 'a
| Inr of 'b

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

type comparison =
| Eq
| Lt
| Gt

(** val add : int -> int -> int **)

let rec add = (+)

(** val mul : int -> int -> int **)

let rec mul = ( * )

module Nat =
 struct
  (** val pred : int -> int **)

  let pred n =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> n)
      (fun u -> u)
      n

  (** val ltb : int -> int -> bool **)

  let ltb n m =
    (<=) (Stdlib.Int.succ n) m

  (** val compare : int -> int -> comparison **)

  let rec compare = fun n m -> if n=m then Eq else if n<m then Lt else Gt

  (** val log2_iter : int -> int -> int -> int -> int **)

  let rec log2_iter k p q r =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> p)
      (fun k' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ ->
        log2_iter k' (Stdlib.Int.succ p) (Stdlib.Int.succ q) q)
        (fun r' -> log2_iter k' p (Stdlib.Int.succ q) r')
        r)
      k

  (** val log2 : int -> int **)

  let log2 n =
    log2_iter (pred n) 0 (Stdlib.Int.succ 0) 0

  (** val log2_up : int -> int **)

  let log2_up a =
    match compare (Stdlib.Int.succ 0) a with
    | Lt -> Stdlib.Int.succ (log2 (pred a))
    | _ -> 0
 end

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n l default =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t -> nth m t default)
    n

(** val seq : int -> int -> int list **)

let rec seq start len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start :: (seq (Stdlib.Int.succ start) len0))
    len

(** val candidates : int -> int list **)

let candidates n =
  seq 0 n

type 'a program = 'a __program Lazy.t
and 'a __program =
| Return of 'a
| Draw of (bool -> 'a program)
| Later of 'a program

(** val bind : 'a1 program -> ('a1 -> 'a2 program) -> 'a2 program **)

let rec bind p k =
  match Lazy.force
  p with
  | Return a -> k a
  | Draw g -> lazy (Draw (fun b -> bind (g b) k))
  | Later p0 -> lazy (Later (bind p0 k))

(** val resume :
    ('a1 -> ('a1, 'a2) sum program) -> ('a1, 'a2) sum program -> 'a2 program **)

let rec resume body p =
  match Lazy.force
  p with
  | Return a0 ->
    (match a0 with
     | Inl s -> lazy (Later (resume body (body s)))
     | Inr a -> lazy (Return a))
  | Draw k -> lazy (Draw (fun b -> resume body (k b)))
  | Later p0 -> lazy (Later (resume body p0))

(** val iterate : ('a1 -> ('a1, 'a2) sum program) -> 'a1 -> 'a2 program **)

let iterate body s =
  resume body (body s)

(** val word : int -> int -> int program **)

let rec word w v =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> lazy (Return v))
    (fun w0 -> lazy (Draw (fun b ->
    word w0
      (add (mul (Stdlib.Int.succ (Stdlib.Int.succ 0)) v)
        (if b then Stdlib.Int.succ 0 else 0)))))
    w

(** val uniform_below : int -> int -> int program **)

let uniform_below w k =
  iterate (fun _ ->
    bind (word w 0) (fun v ->
      lazy (Return (if Nat.ltb v k then Inr v else Inl ())))) ()

(** val flips : (int -> bool program) -> int list -> int list program **)

let rec flips coin = function
| [] -> lazy (Return [])
| x :: l0 ->
  bind (coin x) (fun b ->
    bind (flips coin l0) (fun heads ->
      lazy (Return (if b then x :: heads else heads))))

(** val one_of : int list -> int option program **)

let one_of heads = match heads with
| [] -> lazy (Return None)
| _ :: _ ->
  bind (uniform_below (Nat.log2_up (length heads)) (length heads)) (fun i ->
    lazy (Return (Some (nth i heads 0))))

(** val head_or_none :
    (int -> bool program) -> int list -> int option program **)

let head_or_none coin l =
  bind (flips coin l) one_of

(** val whole_ask :
    (int -> int) -> (int -> int) -> int -> (int * int) -> (int * int, bool)
    sum program **)

let whole_ask low high step = function
| (w, u) ->
  if (<=) (Stdlib.Int.succ u) (low w)
  then lazy (Return (Inr true))
  else if (<=) (high w) u
       then lazy (Return (Inr false))
       else bind (word step u) (fun v -> lazy (Return (Inl ((add w step),
              v))))

(** val whole_coin :
    (int -> int) -> (int -> int) -> int -> int -> bool program **)

let whole_coin low high step w =
  bind (word w 0) (fun u -> iterate (whole_ask low high step) (w, u))

(** val whole_sampler :
    (int -> int -> int) -> (int -> int -> int) -> int -> int -> int -> int
    option program **)

let whole_sampler low high step w n =
  head_or_none (fun t -> whole_coin (low t) (high t) step w) (candidates n)

(** val run : int -> 'a1 program -> bool list -> ('a1 * bool list) option **)

let rec run steps p tape =
  match Lazy.force
  p with
  | Return a -> Some (a, tape)
  | Draw k ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> None)
       (fun steps0 ->
       match tape with
       | [] -> None
       | b :: tape0 -> run steps0 (k b) tape0)
       steps)
  | Later p0 ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> None)
       (fun steps0 -> run steps0 p0 tape)
       steps)
