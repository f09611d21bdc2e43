#!/usr/bin/env python3
r"""Compares the predicted gain of parking with the gain that the toggle measured, for docs/results.

`bench/record_predictions.py` records the cases and writes their documents, which are the input:

    bench/record_predictions.py --bin build/bin --devices cuda:0 -o predictions
    bench/prediction.py --machine h200 -o docs/results/prediction.h200.json predictions/*.json

Cases that the prediction was improved on (record_predictions.IMPROVE) and cases that only judge it have separate rows.
"""

import argparse
import json
import pathlib
import statistics
import sys

import record_predictions
import result_file

MAX_MEDIAN_ERROR = 0.10  # relative to the measured ratio
MAX_P90_ERROR = 0.25
MIN_INSIDE = 0.9  # of the measured ratios, in the stated interval
MAX_WIDTH = 3.0   # high over low


def row(name, params, value, unit, compared_to=None, ratio=None, bar=None):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to, "ratio": ratio,
            "bar": bar, "holds": None if bar is None else ratio <= bar}


class Judgement:
    """The errors, widths and hits of one set of cases."""

    def __init__(self, name):
        self.name, self.errors, self.widths, self.inside = name, [], [], []

    def add(self, predicted, measured, error):
        self.errors.append(abs(error))
        self.widths.append(predicted["high"] / predicted["low"])
        self.inside.append(predicted["low"] <= measured["value"] <= predicted["high"])

    def rows(self):
        if not self.errors:
            return []
        cases = {"cases": len(self.errors)}
        median, ordered = statistics.median(self.errors), sorted(self.errors)
        p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
        inside = sum(self.inside) / len(self.inside)
        widest = max(self.widths)
        return [row("median_error_" + self.name, cases, median, "of the measured ratio", "1", median, MAX_MEDIAN_ERROR),
                row("p90_error_" + self.name, cases, p90, "of the measured ratio", "1", p90, MAX_P90_ERROR),
                row("outside_" + self.name, cases, 1 - inside, "of the measured ratios, outside of the interval", "1",
                    1 - inside, 1 - MIN_INSIDE),
                row("widest_" + self.name, cases, widest, "high over low", "1", widest, MAX_WIDTH)]


def rows_of(files):
    rows, errors = [], []
    sets = {"improve": Judgement("improve"), "judged": Judgement("judged")}
    for file in files:
        said = json.loads(file.read_text())
        name = file.name.split(".")[0]
        predicted, measured = said["predicted"], said["speedup"]
        if predicted is None or measured is None or said["prediction_error"] is None:
            reason = said["predicted_reason"] if predicted is None else said["reason"]
            rows.append(row(name, {"reason": reason}, None, "could not look"))
            continue
        errors.append(abs(said["prediction_error"]))
        for case_set, names in (("improve", record_predictions.IMPROVE), ("judged", record_predictions.JUDGED)):
            if name in names:
                sets[case_set].add(predicted, measured, said["prediction_error"])
        params = {"predicted_low": predicted["low"], "predicted_high": predicted["high"],
                  "measured_low": measured["low"], "measured_high": measured["high"], "measured": measured["value"],
                  "verdict": said["verdict"]}
        rows.append(row(name, params, predicted["value"], "times as fast, predicted",
                        "what the toggle measured; the ratio is the error", said["prediction_error"]))
    if errors:
        median = statistics.median(errors)
        rows.append(row("median_error", {"programs": len(errors)}, median, "of the measured ratio", "1", median,
                        MAX_MEDIAN_ERROR))
    return rows + sets["improve"].rows() + sets["judged"].rows()


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
