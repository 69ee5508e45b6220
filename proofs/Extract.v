(** Writes extracted/sampler.ml: the sampler over whole numbers and what it does with a tape, as OCaml. Whole
    numbers become OCaml's, which hold those below 2^62. *)
From Coq Require Import ExtrOcamlBasic ExtrOcamlNatInt Extraction.
From Discreet Require Import WholeNumbers.
Extraction "extracted/sampler.ml" whole_sampler run.
