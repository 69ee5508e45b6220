"""How far one person moves the scores of a question, and what says so."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.questions import median, mode, quantiles, top_k


def test_an_answer_names_the_theorems_from_its_table_to_its_cost() -> None:
    table = pl.DataFrame({"who": range(30), "code": ["a", "b", "b"] * 10, "age": range(30)})
    asked: dict[str, Any] = {"epsilon": 1, "user": "who"}
    codes: dict[str, Any] = {"column": "code", "candidates": ["a", "b"], **asked}
    ages: dict[str, Any] = {"column": "age", "bounds": (0, 30), **asked}
    for release, theorem in (
        (mode(table, **codes), "counts_add_remove"),
        (mode(table, **codes, neighbours="replace"), "counts_replace"),
        (mode(table, **codes, mechanism="large-gap"), "large_gap_approx_dp"),
        (top_k(table, **codes, k=2), "one_shot_pure_dp"),
        (top_k(table, **codes, k=2, method="joint"), "joint_top_k_add_remove"),
        (top_k(table, **codes, k=2, method="peeling"), "adaptive_pure_composition"),
        (median(table, **ages), "quantiles_add_remove"),
        (median(table, **ages, neighbours="replace"), "quantiles_replace"),
    ):
        proof = release.guarantee.proof
        assert proof is not None
        assert proof.checked
        assert theorem in proof.theorems
    # One step without a theorem, and the whole is proved on paper.
    for release in (
        mode(table, **codes, with_count=True),
        mode(table, **codes, with_gap=True),
        mode(table, **codes, by="age", groups=[1, 2]),
        median(table, **ages, per_person="random"),
        quantiles(table, **ages, at=[0.1, 0.5]),
    ):
        assert "proved on paper" in str(release.guarantee.proof)
