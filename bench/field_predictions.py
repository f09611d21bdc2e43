#!/usr/bin/env python3
"""What a recording of polling alone predicts for the programs of samples/field, against what parking measured.

The measured gains are those of bench_field, whose programs nobody records. Each program is then recorded while it
polls, and `analyze` predicts what parking would do to its rate; no constant of the prediction has seen these programs.

    build/bin/bench_field --devices cuda:0 --pair cuda:0,cuda:1 -o field.json
    bench/field_predictions.py build field.json --machine h200 -o docs/results/field_predictions.h200.json

A row per program: the predicted gain and its bounds beside the measured one. A prediction that only has bounds counts
as open, not as right.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import prediction
import result_file

PARKED = "_park"


def measured_gains(field):
    """(case, command of the polled program, {"value", "low", "high"} of its rate when parked) for each case."""
    for row in json.loads(field.read_text())["rows"]:
        case, found, contender = row["name"].rpartition("_rate")
        if not found or contender != PARKED or row["ratio"] is None:
            continue
        yield case, row["params"]["command"].split(), {"value": row["ratio"], "low": row["params"]["low"],
                                                        "high": row["params"]["high"]}


def predict(options, command, folder):
    """The `prediction` of `analyze` for a recording of polling."""
    binaries, trace = options.build / "bin", folder / "t.wicprof"
    run = [binaries / "wic-prof", "run", "-q", "-f", "-o", trace, "--mode", "poll", "--", binaries / command[0],
           *command[1:], "--wait", "poll", "--seconds", str(options.seconds)]
    ran = subprocess.run(run, text=True, capture_output=True, timeout=options.seconds + 60, check=False)
    if ran.returncode != 0:
        return None, f"status {ran.returncode}: {(ran.stdout + ran.stderr)[-300:]}"
    said = subprocess.run([binaries / "wic-prof", "analyze", "--format", "json", trace], text=True, capture_output=True,
                          timeout=120, check=True)
    return json.loads(said.stdout)["prediction"], ""


def row_of(case, gains, said, judgement):
    params = {"measured": gains["value"], "measured_low": gains["low"], "measured_high": gains["high"]}
    if said["bounds"] is None:
        return prediction.row(case, {**params, "reason": said["reason"]}, 0, "no prediction")
    params |= {"predicted_low": said["bounds"]["low"], "predicted_high": said["bounds"]["high"]}
    if said["gain"] is None:
        judgement.leave_open(said["bounds"], gains)
        return prediction.row(case, {**params, "open": True, "reason": said["reason"]}, 0, "no prediction")
    error = said["gain"]["value"] / gains["value"] - 1
    judgement.add(said["gain"], gains, error)
    return prediction.row(case, params, said["gain"]["value"], "predicted gain of the rate",
                          "what bench_field measured; the ratio is the error", error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("field", type=pathlib.Path, help="a result of bench_field from the same machine")
    parser.add_argument("--seconds", type=float, default=3, help="of each recording")
    parser.add_argument("--limit", type=float, default=200, help="seconds after which no recording begins")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    judgement, rows, end = prediction.Judgement("field"), [], time.monotonic() + options.limit
    with tempfile.TemporaryDirectory(prefix="wicprof-field-") as name:
        for case, command, gains in measured_gains(options.field):
            if time.monotonic() > end:
                print(f"# {case}: no time left", flush=True)
                continue
            said, why = predict(options, command, pathlib.Path(name))
            if said is None:
                print(f"# {case}: {why}", flush=True)
                continue
            rows.append(row_of(case, gains, said, judgement))
            print(f"# {case}: {json.dumps(rows[-1]['params'])} predicted {rows[-1]['value']:.3f}", flush=True)
    if not rows:
        print("FAIL: nothing was recorded")
        return 1
    command = f"field_predictions.py build {options.field.name} --seconds {options.seconds:g}"
    return result_file.write(options, "field_predictions", command, rows + judgement.rows())


if __name__ == "__main__":
    sys.exit(main())
