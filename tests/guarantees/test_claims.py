"""The table that links claims to theorems; ``tests/proofs/test_tie.py`` reads the theorems."""

from __future__ import annotations

import pickle

import pytest

from discreet import PureDP
from discreet.guarantees import Proof, measures
from discreet.guarantees.claims import CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_proof_is_one_thing_or_the_other(claim: tuple[str, str]) -> None:
    proof = CLAIMS[claim]
    assert ("checked by Coq" in str(proof)) != str(proof).partition(";")[0].endswith(
        "proved on paper"
    )
    assert pickle.loads(pickle.dumps(proof)) == proof  # noqa: S301 - our own bytes


def test_a_step_that_is_not_in_the_table_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    promise = PureDP(1).resting_on(Proof("page", "one"))
    proof = promise.for_people(2).proof
    assert proof == Proof("page", "one").then(CLAIMS["PureDP", "people"])
    others = {claim: proof for claim, proof in CLAIMS.items() if claim != ("PureDP", "people")}
    monkeypatch.setattr(measures, "CLAIMS", others)  # a removed key is added back at the end
    assert promise.for_people(2).proof is None
    assert promise.for_people(1).proof == promise.proof
