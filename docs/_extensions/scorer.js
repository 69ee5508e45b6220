"use strict";
// How a search ranks what it finds: pages, then classes and functions, then their properties and methods.
var Scorer = {
  score: ([docname, title, , description, score, , kind]) => {
    // Of two that have the same name, the one in the shorter module is the usual one.
    if (kind === "object")
      return /property|attribute|method/.test(description) ? score / 100 : score - title.length / 1000;
    return docname.startsWith("reference/") ? score / 20 : score;
  },
  objNameMatch: 11,
  objPartialMatch: -2,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
