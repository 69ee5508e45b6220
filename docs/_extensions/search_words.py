"""The words under which people look for a page, where its text uses others: entries of the site's index.

The search ranks such an entry above everything else. A page with ``#`` names one of its headings.
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

WORDS = {
    "install": "install, installation, pip, extras, requirements, windows, macos",
    "start": "getting started, quick start, quickstart, tutorial, first steps, hello world, pandas, "
    "dataframe",
    "start#words": "glossary, terminology, definitions, sensitivity, monotonic, neighbours, range distance, "
    "candidate",
    "start#questions-people-ask": "faq, questions, seed, random state, reproducible, telemetry",
    "epsilon": "epsilon, privacy loss, privacy parameter, delta, rho, zcdp, differential privacy, dp",
    "choose": "which mechanism, choose a mechanism, recommend, decision",
    "databases": "sql, postgresql, postgres, sqlite, duckdb, database, warehouse",
    "desk": "server, analysts, mcp, assistants, llm, rest api, openapi, http",
    "auditing-in-ci": "ci, continuous integration, github actions, pytest plugin",
    "officer": "gdpr, dpia, data protection, data protection officer, dpo, compliance, legal, anonymisation, "
    "anonymization, hipaa, privacy officer",
    "limits": "timing, side channel, vulnerability, threat model, what is not protected, limitations, leak",
    "peers": "opendp, diffprivlib, tumult, alternatives, comparison with other libraries, smartnoise, pydp",
    "peers#what-discreet-does-not-do-and-who-does": "mean, average, sum, histogram, histograms, count, "
    "counts, variance, standard deviation, regression, synthetic data, gaussian, laplace mechanism, dp-sgd, "
    "machine learning training",
    "claims": "counterexample, refuted, papers, figures, permute-and-flip paper",
    "observatory": "other libraries audited, audited libraries",
    "benchmarks": "speed, performance, benchmark, how fast, memory",
    "compatibility": "versions, deprecation, semantic versioning, public api, stability",
    "cite": "citation, cite, bibtex, reference, doi",
    "explore": "gui, browser, web page, attack, membership inference",
    "command-line": "cli, terminal, options, man page",
    "reference": "api, api reference",
    "tutorials/median-and-quantiles": "percentile, percentiles, quantile, quantiles, median, "
    "quartile, salary",
    "tutorials/most-common-diagnosis": "mode, most common, argmax, group by, groupby",
    "tutorials/top-ten-pages": "top-k, top k, most popular, heavy hitters, ranking",
    "tutorials/first-week-above": "sparse vector, svt, above threshold, threshold, alert",
    "tutorials/weeks-and-months": "weeks, months, quarters, dates, time series, calendar",
    "tutorials/choosing-epsilon": "choosing epsilon, accuracy, error, utility, choose epsilon",
    "tutorials/composing-many": "composition, many releases, accountant, accounting",
    "tutorials/team-budget": "budget, privacy budget, ledger, team, allotment",
    "tutorials/plan-before-you-pay": "plan, price, cost, dry run",
    "tutorials/honest-tuning": "hyperparameter, hyperparameters, tuning, grid search",
    "tutorials/which-of-my-models": "model selection, machine learning, best model, cross-validation",
    "tutorials/feature-selection": "feature selection, selectkbest, pipeline, scikit-learn, sklearn",
    "tutorials/laptop-to-spark": "spark, pyspark, cluster, polars, big data, parquet",
    "tutorials/moving-over": "migrate, migration, porting",
    "tutorials/notebook": "jupyter, notebook, colab",
    "tutorials/auditing-your-own": "audit, audit my mechanism, test my mechanism",
    "tutorials/study": "study, protocol, preregistration",
    "proofs/checked-by-coq": "coq, formal verification, theorem prover, rocq",
    "proofs/permute-and-flip": "permute-and-flip, report noisy max, noisy max",
    "proofs/exponential": "exponential mechanism",
    "proofs/sampling": "floating point, floats, secure random, random number generator, exact sampling",
}


def _add(app: Sphinx, doctree: nodes.document) -> None:
    for place, words in WORDS.items():
        name, _, target = place.partition("#")
        if name == app.env.docname:
            entries = [("single", word, target, "main", None) for word in words.split(", ")]
            doctree.insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the entries to each page as it is read."""
    app.connect("doctree-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
