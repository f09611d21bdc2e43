#!/usr/bin/env python3
r"""Compares the predicted gain of parking with the gain that the toggle measured, for docs/results.

Record each program with a schedule that alternates between poll and park. `wic-prof compare --format json` prints the
gain predicted from the polling phases alone and the measured gain. These documents are the input:

    wic-prof run --schedule poll:300ms,park:300ms,poll:300ms,park:300ms -o g_stn.wicprof \
        -- g_stn --devices cuda:0,cuda:1 --seconds 1.3
    wic-prof compare g_stn.wicprof --format json > g_stn.json
    bench/prediction.py --machine h200 -o docs/results/prediction.h200.json hot_flag.json g_stn.json
"""

import argparse
import json
import pathlib
import statistics
import sys

import result_file

MAX_MEDIAN_ERROR = 0.10  # the bar, relative to the measured ratio


def row(name, params, value, unit, compared_to=None, ratio=None, bar=None):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to, "ratio": ratio,
            "bar": bar, "holds": None if bar is None else ratio <= bar}


def rows_of(files):
    rows, errors = [], []
    for file in files:
        said = json.loads(file.read_text())
        name = file.name.split(".")[0]
        predicted, measured = said["predicted"], said["speedup"]
        if predicted is None or measured is None or said["prediction_error"] is None:
            reason = said["predicted_reason"] if predicted is None else said["reason"]
            rows.append(row(name, {"reason": reason}, None, "could not look"))
            continue
        errors.append(abs(said["prediction_error"]))
        params = {"predicted_low": predicted["low"], "predicted_high": predicted["high"],
                  "measured_low": measured["low"], "measured_high": measured["high"], "measured": measured["value"],
                  "verdict": said["verdict"]}
        rows.append(row(name, params, predicted["value"], "times as fast, predicted",
                        "what the toggle measured; the ratio is the error", said["prediction_error"]))
    if errors:
        median = statistics.median(errors)
        rows.append(row("median_error", {"programs": len(errors)}, median, "of the measured ratio", "1", median,
                        MAX_MEDIAN_ERROR))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparisons", nargs="+", type=pathlib.Path,
                        help="NAME.json: the output of `compare` for a program")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    command = "prediction.py " + " ".join(file.name for file in options.comparisons)
    return result_file.write(options, "prediction", command, rows_of(options.comparisons))


if __name__ == "__main__":
    sys.exit(main())
