"""What Coq has checked, in one file that people and the tests read.

``check.py compare`` asks Coq what each theorem of Statements.v says and rests on and compares that with
checked.txt, ``check.py accept`` writes checked.txt, ``check.py recheck`` has coqchk read the compiled files.
That nothing is assumed beside the four axioms is read from the kernel's own list, never from the sources.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
EXTRACTED = "extracted/sampler.ml"
KIND = re.compile(r"^(?:Inductive|CoInductive|Record|Variant) (\w+)", re.M)
THEOREM = re.compile(r"^Theorem (\w+)", re.M)


def sources() -> list[str]:
    """The files of the project, in the order of _CoqProject."""
    return re.findall(r"^\w+\.v$", (HERE / "_CoqProject").read_text(), re.M)


def digest(texts: list[str]) -> str:
    """One number for the sources that Coq has read: after a change Coq must read them again."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def read_sources() -> list[str]:
    """The texts of all sources, and of what is extracted from them."""
    return [(HERE / name).read_text() for name in [*sources(), "Extract.v", EXTRACTED]]


def extract() -> str:
    """What Coq extracts; the file is left as it was."""
    file = HERE / EXTRACTED
    before = file.read_text()
    command = ["coqc", "-q", "-w", "none", "-Q", str(HERE), "Discreet", "Extract.v"]
    subprocess.run(command, check=True, cwd=HERE)
    text = file.read_text()
    file.write_text(before)
    return text


def ask(*commands: str) -> str:
    """What Coq prints."""
    listing = HERE / "Listing.v"
    opening = ["From Coq Require Import Reals List ZArith. From Discreet Require Statements."]
    opening += ["Set Printing Width 100. Open Scope R_scope."]
    listing.write_text("\n".join([*opening, *commands, ""]))
    command = ["coqc", "-Q", str(HERE), "Discreet", "-w", "-ambiguous-paths", str(listing)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stdout


def axioms_in(printed: str) -> set[str]:
    """The names in the answer to Print Assumptions, which lists unsafe fixpoints and types as well."""
    head, colon, body = printed.partition("Axioms:\n")
    if not colon or head.strip():
        sys.exit(f"not what Print Assumptions prints: {printed[:200]!r}")
    return {re.split(r"[\s:]", line)[0] for line in body.splitlines() if not line.startswith(" ")}


def constants_in(printed: str) -> list[str]:
    """Our own names in the answer to Print Transparent Dependencies."""
    ours = "|".join(name.removesuffix(".v") for name in sources())
    return sorted(set(re.findall(rf"^(?:Discreet\.)?((?:{ours})\.\w+)\s*:", printed, re.M)))


def listing() -> str:
    """Every statement with all definitions it rests on, as Coq prints them; the axioms are compared."""
    names = THEOREM.findall((HERE / "Statements.v").read_text())
    kinds = [
        f"{file.removesuffix('.v')}.{name}"
        for file in sources()
        for name in KIND.findall((HERE / file).read_text())
    ]
    types = [
        f"Definition say_{name} : Prop := ltac:(let t := type of @Statements.{name} in exact t)."
        for name in names
    ]
    gathered = "(" + ", ".join(f"@Statements.{name}" for name in names) + ")"
    found = axioms_in(ask(f"Definition all := {gathered}.", "Print Assumptions all."))
    if found != AXIOMS:
        sys.exit(f"the axioms differ: {', '.join(sorted(found ^ AXIOMS))}")
    said = "(" + ", ".join(f"say_{name}" for name in names) + ")"
    constants = constants_in(
        ask(*types, f"Definition all := {said}.", "Print Transparent Dependencies all.")
    )
    text = ask(*(f"Check @Statements.{name}." for name in names))
    definitions = re.sub(
        r"\n(\nArguments .*(\n  .*)*)+",
        "\n",
        ask(*(f"Print {name}." for name in constants + kinds)),
    )
    of = ["SOURCES", digest(read_sources()), ""]
    printed = "\n".join([*of, "THEOREMS", "", text, "DEFINITIONS", "", definitions])
    return re.sub(r" +$", "", printed, flags=re.M).rstrip() + "\n"


def recheck() -> None:
    """The kernel alone reads the compiled files again, with everything they rest on."""
    command = ["coqchk", "-silent", "-o", "-Q", str(HERE), "Discreet", "Discreet.Statements"]
    said = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    found = {".".join(name.split(".")[-2:]) for name in re.findall(r"^    (\S+)$", said, re.M)}
    if found != AXIOMS or said.count("<none>") != 3:
        sys.exit(f"coqchk does not agree:\n{said}")
    print("coqchk agrees")


def main(task: str) -> None:
    """One task, by name."""
    if task == "recheck":
        recheck()
        return
    extracted = extract()
    if task == "accept":
        (HERE / EXTRACTED).write_text(extracted)
    elif extracted != (HERE / EXTRACTED).read_text():
        sys.exit(f"{EXTRACTED} is not what Coq extracts: make accept")
    agreed, text = HERE / "checked.txt", listing()
    if task == "accept":
        agreed.write_text(text)
    elif text != agreed.read_text():
        (HERE / "checked.new").write_text(text)
        sys.exit(
            "the statements or definitions differ from checked.txt: see checked.new, or make accept"
        )
    count = len(THEOREM.findall((HERE / "Statements.v").read_text()))
    print(
        f"{count} theorems, which rest on the four axioms of Coq's classical reals and nothing else"
    )


if __name__ == "__main__":
    main(sys.argv[1])
