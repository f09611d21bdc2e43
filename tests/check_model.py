#!/usr/bin/env python3
"""Checks a model with Spin, as the model's own lines say:

    check: [-DNAME=VALUE ...] safety          all states: no assertion fails, no process is stuck
    check: [-DNAME=VALUE ...] always CLAIM    all runs, with the ltl claim of that name
    check: [-DNAME=VALUE ...] finally CLAIM   the claim holds in the end (under weak fairness)

usage: check_model.py MODEL [MUTANT]

With a mutant (see the model), exits with 0 only if Spin finds the mistake. 77: spin or a C compiler is missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMPILED = {"safety": ["-DSAFETY", "-DNOCLAIM"], "always": [], "finally": ["-DNFAIR=3"]}
SEARCHED = {"safety": [], "always": ["-a", "-N"], "finally": ["-a", "-f", "-N"]}


def run(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=150)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Verdict:
    def __init__(self, report: str):
        errors = re.search(r"errors: (\d+)", report)
        states = re.search(r"^\s*(\d+) states, stored", report, re.MULTILINE)
        if not errors or not states or "max search depth too small" in report:
            sys.exit("the search did not end:\n" + report)
        self.errors = int(errors[1])
        self.states = int(states[1])
        self.first_line = next((l for l in report.splitlines() if l.startswith("pan:1:")), "")


def check(model: str, defines: list[str], compiler: str, folder: str, kind: str, claim: list[str]) -> Verdict:
    run(["spin", "-a", *defines, model], folder)
    run([compiler, "-O2", *COMPILED[kind], "-o", "pan", "pan.c"], folder)
    return Verdict(run(["./pan", "-m20000", *SEARCHED[kind], *claim], folder))


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    model = pathlib.Path(sys.argv[1]).resolve()
    compiler = next((c for c in (os.environ.get("CC", ""), "cc", "gcc") if c and shutil.which(c)), None)
    if shutil.which("spin") is None or compiler is None:
        print("skipped: spin and a C compiler are needed")
        return 77
    mutant = sys.argv[2:]
    runs = re.findall(r"^ \* check: ((?:-D\S+ )*)(safety|always|finally) ?(\w*)$", model.read_text(), re.MULTILINE)
    if not runs:
        sys.exit(f"{model} has no line 'check: ...'")
    with tempfile.TemporaryDirectory() as folder:
        for defines, kind, claim in runs:
            verdict = check(str(model), [*defines.split(), *(f"-D{name}" for name in mutant)], compiler, folder, kind,
                            [claim] if claim else [])
            print(f"{defines}{kind} {claim}: {verdict.states} states, {verdict.errors} errors {verdict.first_line}",
                  flush=True)
            if mutant and verdict.errors > 0:
                return 0
            if not mutant and verdict.errors > 0:
                return 1
    return 1 if mutant else 0


sys.exit(main())
