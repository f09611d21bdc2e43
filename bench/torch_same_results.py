#!/usr/bin/env python3
"""Does an unmodified PyTorch program compute the same while its host threads' waits are toggled? Bit for bit.

    torch_same_results.py BUILD -o FILE [--programs train,decode]

On a GPU, about 25 s; needs PyTorch, and BUILD/bin/wic-prof. Runs each program (host_sharing/torch_steps.py) by itself
and under wic-prof, all at once, and toggles the latter every 50 ms between the program's own way, block and hybrid. The
claim compares the digests of what the first STEPS steps computed, and counts only if the waits of these steps were
toggled.
"""

import argparse
import itertools
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "host_sharing" / "torch_steps.py"
STEPS = 100
WAYS = (["park", "--strategy=hybrid"], ["poll"], ["park", "--strategy=block"], ["poll"])


def row_of(what, work, alone, toggled):
    """Compares the digests, which the programs print last."""
    there, here = (text.rpartition("digest ")[2].split() for text in (alone, toggled))
    same = bool(here) and here != ["none"] and here == there
    ends = [int(line.split()[0]) for line in (work / what / "times").read_text().splitlines()][:STEPS]
    database = sqlite3.connect(work / f"{what}.wicprof")
    toggles = database.execute("SELECT count(*) FROM intervention WHERE effective_ns BETWEEN ? AND ?",
                               (ends[0], ends[-1])).fetchone()[0]
    waits = dict(database.execute("SELECT coalesce(strategy_id, 0), count(*) FROM host_wait WHERE begin_ns BETWEEN ? "
                                  "AND ? GROUP BY 1", (ends[0], ends[-1])).fetchall())
    if not same:
        print(alone[-300:], toggled[-300:], flush=True)
    return {"name": f"{what}_same_results", "value": int(same), "unit": "bool", "compared_to": f"{what} by itself",
            "ratio": int(same), "bar": 1, "holds": same and toggles > 2,
            "params": {"steps": len(ends), "toggles": toggles, "own_waits": waits.get(0, 0),
                       "block_waits": waits.get(65, 0), "hybrid_waits": waits.get(66, 0)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--programs", type=lambda text: text.split(","), default=["train", "decode"])
    parser.add_argument("--seconds", type=float, default=60, help="at most")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    signal.alarm(int(options.seconds))
    work = pathlib.Path(tempfile.mkdtemp())
    environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp(dir="/dev/shm")}
    wic_prof = options.build / "bin" / "wic-prof"
    runs = {}
    for what, under in itertools.product(options.programs, (False, True)):
        folder = work / (what if under else what + "_alone")
        folder.mkdir()
        words = [sys.executable, PROGRAM, what, "0", folder / "stop", folder / "times", str(STEPS)]
        if under:
            words = [wic_prof, "run", "-q", "-f", "-o", work / f"{what}.wicprof", "--trace=host_waits",
                     f"--name={what}", "--", *words]
        runs[what, under] = subprocess.Popen(["timeout", "55", *words], env=environment, cwd=work, text=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for way in itertools.cycle(WAYS):
        if all(run.poll() is not None for run in runs.values()):
            break
        for what in options.programs:
            if runs[what, True].poll() is None:  # refused before the program waits for the first time
                subprocess.run([wic_prof, "toggle", *way, "--side=host", f"--session={what}"], env=environment,
                               capture_output=True, check=False, timeout=20)
        time.sleep(0.05)
    outputs = {key: run.communicate()[0] for key, run in runs.items()}
    rows = []
    for what in options.programs:
        try:
            rows.append(row_of(what, work, outputs[what, False], outputs[what, True]))
        except (OSError, sqlite3.Error, IndexError, ValueError) as error:
            rows.append({"name": f"{what}_same_results", "params": {"error": str(error)[:300]}, "value": 0,
                         "unit": "bool", "compared_to": f"{what} by itself", "ratio": None, "bar": 1, "holds": False})
            print(outputs[what, False][-300:], outputs[what, True][-300:], flush=True)
        print(json.dumps(rows[-1]), flush=True)
    command = "python3 bench/torch_same_results.py BUILD -o FILE"
    print("PASS" if result_file.write(options, "torch_same_results", command, rows) == 0 else "FAIL")


if __name__ == "__main__":
    main()
