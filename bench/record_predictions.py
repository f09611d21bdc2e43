#!/usr/bin/env python3
"""Records the programs and shapes on which predicted gains are judged, for bench/prediction.py.

Each case runs under `wic-prof run` with a schedule that alternates between poll and park; then `wic-prof compare
--format json` prints the gain predicted from the polling phases alone and the gain that the toggle measured. A case's
file is NAME.json in the output folder. The prediction was improved on the cases of IMPROVE only; JUDGED holds the rest.
The split is by position: every second case of a family.

    bench/record_predictions.py --bin build/bin --devices cuda:0 -o predictions
    bench/prediction.py --machine h200 -o docs/results/prediction.h200.json predictions/*.json
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

SCHEDULE = "poll:1200ms,park:400ms,poll:1200ms,park:400ms"
SECONDS = 3.3

# name, program, options; several shapes per family, from few pollers to many
HOT_FLAG = [("hot_flag_%s" % name, "hot_flag", options) for name, options in (
    ("default", []),
    ("w396", ["--waiters", "396", "--streamers", "264"]),
    ("w132", ["--waiters", "132"]),
    ("w264", ["--waiters", "264"]),
    ("w33", ["--waiters", "33"]),
    ("w528_s132", ["--waiters", "528", "--streamers", "132"]),
    ("w8", ["--waiters", "8"]),
    ("w528_mib16", ["--waiters", "528", "--size", "16"]),
    ("w66_mib16", ["--waiters", "66", "--size", "16"]),
    ("w528_passes8", ["--waiters", "528", "--passes", "8"]),
    ("w2", ["--waiters", "2"]),
    ("w264_passes4", ["--waiters", "264", "--passes", "4"]),
)]
HANDOFF = [("flag_handoff_%s" % name, "flag_handoff", options) for name, options in (
    ("b1", ["--blocks", "1"]), ("b8", ["--blocks", "8"]), ("b64", ["--blocks", "64"]),
    ("b64_n65536", ["--blocks", "64", "--size", "65536"]))]
GRID = [("%s_%s" % (program, name), program, options) for program in ("c_cg", "c_fe", "c_h3d") for name, options in (
    ("n96", ["--size", "96"]), ("n128", ["--size", "128"]))]
OTHERS = [("c_srs", "c_srs", []), ("g_kmn", "g_kmn", []), ("g_bs_20", "g_bs", ["--size", str(1 << 20)]),
          ("g_bs_24", "g_bs", ["--size", str(1 << 24)]), ("g_bfs", "g_bfs", []), ("g_c2d", "g_c2d", []),
          ("g_stn", "g_stn", []), ("g_gem", "g_gem", [])]
FAMILIES = [HOT_FLAG, HANDOFF, GRID, OTHERS]

IMPROVE = {case[0] for family in FAMILIES for case in family[0::2]}
JUDGED = {case[0] for family in FAMILIES for case in family[1::2]}


def record(case, options):
    name, program, extra = case
    trace = options.output / (name + ".wicprof")
    run = [options.bin / "wic-prof", "run", "-f", "-o", trace, "--schedule", SCHEDULE, "--", options.bin / program,
           "--devices", options.devices, "--seconds", str(SECONDS), *extra]
    began = time.monotonic()
    ran = subprocess.run([str(word) for word in run], capture_output=True, text=True, timeout=60)
    if ran.returncode != 0 and not trace.exists():
        return "could not run: " + (ran.stderr.strip().splitlines() or ["no message"])[-1]
    said = subprocess.run([str(options.bin / "wic-prof"), "compare", str(trace), "--format", "json"],
                          capture_output=True, text=True, timeout=120)
    if not said.stdout.startswith("{"):
        return "could not compare: " + said.stderr.strip()
    (options.output / (name + ".json")).write_text(said.stdout)
    document = json.loads(said.stdout)
    predicted, measured = document.get("predicted"), document.get("speedup")
    if name not in options.keep:
        trace.unlink()
    return "predicted %s, measured %s, %.1f s" % (
        "%.3g (%.3g to %.3g)" % (predicted["value"], predicted["low"], predicted["high"]) if predicted else "-",
        "%.4g" % measured["value"] if measured else "-", time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of wic-prof and the samples")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--cases", nargs="*", help="only these cases (default: all)")
    parser.add_argument("--keep", nargs="*", default=[], help="keep these cases' traces")
    parser.add_argument("--for", dest="limit", type=float, default=1e9, help="start no case after so many seconds")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for family in FAMILIES:
        for case in family:
            if options.cases and case[0] not in options.cases:
                continue
            if time.monotonic() - began > options.limit:
                print(case[0] + ": no time left", flush=True)
                continue
            try:
                print(case[0] + ": " + record(case, options), flush=True)
            except subprocess.TimeoutExpired as late:
                print("%s: %s did not end within %g s" % (case[0], late.cmd[1], late.timeout), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
