"""Try an installed discreet, whatever extras it has: a release, the command line, hints for the absent."""

import importlib
import subprocess
import sys

from discreet import PermuteAndFlip, PureDP, Scores
from discreet.errors import MissingExtraError

scores = Scores({"flu": 412, "cold": 12}, sensitivity=1, monotonic=True)
mechanism = PermuteAndFlip(epsilon=1)
if mechanism.select(scores) != "flu" or mechanism.guarantee(scores) != PureDP(1):
    sys.exit("a release went wrong")
proof = mechanism.guarantee(scores).proof
if proof is None or not proof.addresses:
    sys.exit("the proof of a guarantee cannot be opened")
print(f"proof: {proof.addresses[0].rpartition('/')[2]}")
subprocess.run([sys.executable, "-m", "discreet", "--help"], check=True, stdout=subprocess.DEVNULL)
for name in ("ledger", "questions", "analysis", "audit", "sklearn", "opendp", "diffprivlib"):
    try:
        importlib.import_module(f"discreet.{name}")
    except MissingExtraError as hint:
        print(f"discreet.{name}: {hint}")
    else:
        print(f"discreet.{name}: there")
