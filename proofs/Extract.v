(** Writes extracted/sampler.ml: the sampler over whole numbers, and its run on a tape of bits, as OCaml.
    Whole numbers become OCaml integers, which hold numbers below 2^62. *)
From Coq Require Import ExtrOcamlBasic ExtrOcamlNatInt Extraction.
From Discreet Require Import WholeNumbers.
Extraction "extracted/sampler.ml" whole_sampler run.
