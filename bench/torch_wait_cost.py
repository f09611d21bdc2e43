#!/usr/bin/env python3
"""What the recording of host threads' waits costs an unmodified PyTorch loop while the program's own way is in force.

    torch_wait_cost.py BUILD -o FILE [--seconds 70] [--programs train,decode]   on a GPU; needs PyTorch and
                                                                                BUILD/bin/wic-prof

Runs a training step (the loss read every step) and a decode step (the tokens read every step) without and with the
source host_waits, alternately, each recording kernels, too. The claim compares the medians of the steps.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

STEPS = pathlib.Path(__file__).resolve().parent / "host_sharing" / "torch_steps.py"
MOST = 1.01      # of a step without the source
SECONDS = 4.0    # of steps per run
WARM_UP = 50     # steps at the begin that do not count
ROUNDS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=70)
    parser.add_argument("--programs", type=lambda text: text.split(","), default=["train", "decode"])
    result_file.add_arguments(parser)
    options = parser.parse_args()
    signal.alarm(int(options.seconds) + 5)
    ends = time.monotonic() + options.seconds - 8
    work = pathlib.Path(tempfile.mkdtemp())
    environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp()}
    rows = []
    for what in options.programs:
        medians = {"kernels": [], "kernels,host_waits": []}
        for _ in range(ROUNDS):
            for words, list_ in medians.items():
                if time.monotonic() > ends:
                    continue
                done = subprocess.run(
                    ["timeout", "40", options.build / "bin" / "wic-prof", "run", "-q", "-f", "-o", "t.wicprof",
                     f"--trace={words}", "--mode=poll", "--", sys.executable, STEPS, what, str(SECONDS), work / "stop",
                     work / "times", "1"], env=environment, cwd=work, text=True, capture_output=True, check=False)
                if done.returncode != 0:
                    print(what, words, done.stderr[-300:], flush=True)
                    continue
                times = [int(line) for line in (work / "times").read_text().split()][WARM_UP:]
                if len(times) < 2 * WARM_UP:
                    print(what, words, "made only", len(times), "steps that count", flush=True)
                    continue
                list_.append(statistics.median(b - a for a, b in zip(times, times[1:])))
        without, with_source = (min(one, default=None) for one in medians.values())
        known = without is not None and with_source is not None
        rows.append({"name": f"{what}_step", "params": {"medians_ns": list(medians.values())},
                     "value": with_source or 0, "unit": "ns", "compared_to": "the same without host_waits",
                     "ratio": with_source / without if known else None, "bar": MOST,
                     "holds": bool(known and with_source / without <= MOST)})
        print(json.dumps(rows[-1]), flush=True)
    print("PASS" if result_file.write(options, "torch_wait_cost", "python3 bench/torch_wait_cost.py BUILD -o FILE",
                                      rows) == 0 else "FAIL")


main()
