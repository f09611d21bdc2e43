#!/usr/bin/env python3
"""What a program has asked of its waits itself stays as it was, while host threads are parked; on a GPU.

    host_manners.py BUILD [CASE...]      at most 110 s; needs BUILD/bin/wic-prof and BUILD/bin/host_manners_app

Each case, or each that is named, runs by itself, and parked with block, hybrid and spin: the program prints the same.
In the cases that keep their waits for themselves, wic-prof waits in no call's place; in the others it does. Cases with
two GPUs are skipped where there are fewer. Prints a line per case, then PASS or FAIL.
"""

import concurrent.futures
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
WIC_PROF, APP = BUILD / "bin" / "wic-prof", BUILD / "bin" / "host_manners_app"
# Cases that share a process, and whether wic-prof waits in their calls' place (None: in some).
CASES = [(("flags", "capture", "per_thread", "threads", "fork"), True), (("callback", "captured"), None),
         (("copies", "other_copies"), True), (("contexts",), None), (("failed",), None), (("blocking_flags",), False),
         (("blocking_event", "blocking_stream"), False), (("two_gpus",), True), (("gpu_threads",), True),
         (("blocking_gpu",), False)]
OF_TWO_GPUS = ("two_gpus", "gpu_threads", "blocking_gpu")


def run(*words):
    """Status, output, errors, waits in the trace, and how many of them were wic-prof's."""
    work = pathlib.Path(tempfile.mkdtemp())
    done = subprocess.run(["timeout", "-k", "2", "25", *words], cwd=work, text=True, capture_output=True, check=False,
                          env={**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp()})
    waits, parked = 0, 0
    if (work / "t.wicprof").exists():
        waits, parked = sqlite3.connect(work / "t.wicprof").execute(
            "SELECT count(*), count(strategy_id) FROM host_wait").fetchone()
    return done.returncode, done.stdout, done.stderr, waits, parked


def judge(case):
    """The case's lines, and how many of its runs are not as they should be."""
    words, parks = case
    status, expected, errors, _, _ = run(APP, *words)
    lines = [f"{' '.join(words)}, by itself: status {status}: {'; '.join(expected.splitlines())} {errors[-200:]}"]
    failures = 0 if expected else 1
    for strategy in ("block", "hybrid", "spin"):
        got, output, errors, waits, parked = run(WIC_PROF, "run", "-q", "-f", "-o", "t.wicprof", "--mode=park",
                                                 "--side=host", f"--strategy={strategy}", "--", APP, *words)
        good = (got, output) == (status, expected) and waits > 0 and (parks is None or (parked > 0) == parks)
        failures += not good
        lines.append(f"  {strategy}: {waits} waits, {parked} by wic-prof: " +
                     ("as by itself" if good else f"BAD, status {got}: {output} {errors[-400:]}"))
    return lines, failures


def main():
    named = set(sys.argv[2:])
    cases = [case for case in CASES if not named or named & set(case[0])]
    gpus = int((run(APP, "gpus")[1].split() or ["0"])[-1])
    for words, _ in cases:
        if gpus < 2 and words[0] in OF_TWO_GPUS:
            print(f"{words[0]}: skipped: {gpus} GPU")
    cases = [case for case in cases if gpus >= 2 or case[0][0] not in OF_TWO_GPUS]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        for lines, bad in pool.map(judge, cases):
            print("\n".join(lines), flush=True)
            failures += bad
    print("PASS" if cases and failures == 0 else "FAIL")
    return not cases or failures != 0


signal.alarm(110)
sys.exit(main())
