(* Answers to tapes of bits. Standard input: a line "step width candidates"; for each candidate and each of
   the widths "width, width + step, ..." a line "width low high", and a line "."; then a tape on each line.
   Standard output: for each tape the answer and the number of bits drawn, or "-" if the tape is too short. *)
let () =
  let step, width, candidates = Scanf.scanf " %d %d %d" (fun a b c -> (a, b, c)) in
  let table = Hashtbl.create 64 in
  for candidate = 0 to candidates - 1 do
    let rec read () =
      match Scanf.scanf " %s" (fun word -> word) with
      | "." -> ()
      | word ->
          let low, high = Scanf.scanf " %d %d" (fun low high -> (low, high)) in
          Hashtbl.add table (candidate, int_of_string word) (low, high);
          read ()
    in
    read ()
  done;
  let low candidate width = fst (Hashtbl.find table (candidate, width)) in
  let high candidate width = snd (Hashtbl.find table (candidate, width)) in
  let sampler = Sampler.whole_sampler low high step width candidates in
  try
    while true do
      let line = Scanf.scanf " %s" (fun word -> word) in
      if line = "" then raise End_of_file;
      let tape = List.init (String.length line) (fun place -> line.[place] = '1') in
      match Sampler.run 100_000 sampler tape with
      | None -> print_endline "-"
      | Some (answer, left) ->
          let said = match answer with None -> "none" | Some place -> string_of_int place in
          Printf.printf "%s %d\n" said (List.length tape - List.length left)
    done
  with End_of_file -> ()
