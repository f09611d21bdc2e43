#!/usr/bin/env python3
"""Checks shared_watch.pml with Spin: all states of the model, then that every waiter leaves (under weak fairness).

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


def check(model: str, defines: list[str], compiler: str, folder: str, what: str) -> Verdict:
    run(["spin", "-a", *defines, model], folder)
    if what == "safety":
        run([compiler, "-O2", "-DSAFETY", "-DNOCLAIM", "-DCOLLAPSE", "-o", "pan", "pan.c"], folder)
        return Verdict(run(["./pan", "-m2000000"], folder))
    run([compiler, "-O2", "-DCOLLAPSE", "-DNFAIR=3", "-o", "pan", "pan.c"], folder)
    return Verdict(run(["./pan", "-m2000000", "-a", "-f"], folder))


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    model = str(pathlib.Path(sys.argv[1]).resolve())
    compiler = next((c for c in (os.environ.get("CC", ""), "cc", "gcc") if c and shutil.which(c)), None)
    if shutil.which("spin") is None or compiler is None:
        print("skipped: spin and a C compiler are needed")
        return 77
    mutant = sys.argv[2:]
    defines = [f"-D{name}" for name in mutant]
    runs = [(2, 1, "safety"), (2, 1, "progress"), (3, 0, "safety"), (3, 0, "progress")]
    with tempfile.TemporaryDirectory() as folder:
        for waiters, changes, what in runs:
            verdict = check(model, [f"-DWAITERS={waiters}", f"-DCHANGES={changes}", *defines], compiler, folder, what)
            print(f"{waiters} waiters, {changes} changes of strategy, {what}: {verdict.states} states, "
                  f"{verdict.errors} errors {verdict.first_line}", flush=True)
            if mutant and verdict.errors > 0:
                return 0
            if not mutant and verdict.errors > 0:
                return 1
    return 1 if mutant else 0


sys.exit(main())
