"""The processor time of a block beyond its function, measured by a stand-in for the server.

The stand-in imports only what the server would, because the cost of copying a process grows with its size.
``benchmarks.votes`` runs it, with the modules to import as arguments and a block's rows on standard input.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import tempfile

from discreet._isolated import server

BLOCKS = 40


def _used() -> tuple[float, float]:
    each = (resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    theirs, own = (usage.ru_utime + usage.ru_stime for usage in each)
    return theirs, own


def main() -> None:
    """Print the milliseconds per block: in the block's own process, and in the server."""
    enclosed, *modules = sys.argv[1:]
    rows, folder, walls = sys.stdin.buffer.read(), tempfile.mkdtemp(), enclosed == "enclosed"
    if walls:
        server._own_users()
        server._own_processes()
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    terms = {"folder": folder, "enclosed": walls, "network": False, "memory": 4 << 30}
    terms |= {"seconds": 60, "candidates": ["a"], "function": lambda _rows: "a"}
    before = _used()
    for _ in range(BLOCKS):
        given, gives = os.pipe()
        answer, answers = os.pipe()
        os.write(gives, rows)
        os.close(gives)
        block = server._copied(walls)
        if block == 0:
            try:
                server._run(terms, given, answers, telling=False)
            finally:
                os._exit(0)
        os.close(given)
        os.close(answers)
        assert os.read(answer, 8) == server.VOTE.pack(0)
        os.close(answer)
        os.waitpid(block, 0)
    spent = [1000 * (now - then) / BLOCKS for then, now in zip(before, _used(), strict=True)]
    os.rmdir(folder)
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
