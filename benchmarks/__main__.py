"""Run the benchmarks: ``python -m benchmarks [--large] [NAME ...]``.

Each benchmark is a module with a ``main(arguments)``; it prints its table and, with ``--record``, writes
it to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil

import benchmarks

# Modules that the benchmarks use, and the mutation run, which has its own target: `make mutants`.
_NOT_BENCHMARKS = {"__main__", "block_overhead", "many_groups", "mutants", "shapes", "timing"}


def names() -> list[str]:
    """Return the names of all benchmarks."""
    found = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    return sorted(found - _NOT_BENCHMARKS)


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"from: {', '.join(names())}")
    parser.add_argument("--large", action="store_true", help="full sizes, which take long")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results")
    chosen = parser.parse_args()
    flags = [flag for flag in ("--large", "--record") if getattr(chosen, flag[2:])]
    unknown = set(chosen.names) - set(names())
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    for name in chosen.names or names():
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main(flags)


if __name__ == "__main__":
    main()
