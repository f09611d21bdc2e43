#!/usr/bin/env python3
r"""Compares the predicted gain of parking with the gain that the toggle measured, for docs/results.

`bench/record_predictions.py` records the cases and writes their documents, which are the input:

    bench/record_predictions.py --bin build/bin --devices cuda:0 -o predictions
    bench/prediction.py --machine h200 -o docs/results/prediction.h200.json predictions/*.json

Cases that the prediction was improved on (record_predictions.IMPROVE) and cases that only judge it have separate rows.
Where the polling does not show the gain, there is no prediction, only bounds: such cases count as open, not as right.
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
MEASURED_WIDTH = 1.5  # high over low of a measured gain that is no judge
CHANGED_BY_REPEATING = ("a greeting", "a result", "rounds")  # words of a made program's kind
NO_GAIN = 0.05    # a prediction closer to 1 says that parking changes nothing, and may not be further off than this


def row(name, params, value, unit, compared_to=None, ratio=None, bar=None):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to, "ratio": ratio,
            "bar": bar, "holds": None if bar is None else ratio <= bar}


class Judgement:
    """The errors, widths and hits of one set of cases."""

    def __init__(self, name):
        self.name, self.errors, self.widths, self.inside, self.no_gain_errors = name, [], [], [], []
        self.within_bounds = []  # of the open cases

    def add(self, predicted, measured, error):
        self.errors.append(abs(error))
        self.widths.append(predicted["high"] / predicted["low"])
        self.inside.append(predicted["low"] <= measured["value"] <= predicted["high"])
        if abs(predicted["value"] - 1) <= NO_GAIN:
            self.no_gain_errors.append(abs(error))

    def leave_open(self, bounds, measured):
        self.within_bounds.append(bounds["low"] <= measured["value"] <= bounds["high"])

    def rows(self):
        all_cases = len(self.errors) + len(self.within_bounds)
        if all_cases == 0:
            return []
        rows = [row("answered_" + self.name, {"cases": all_cases}, len(self.errors), "cases", "all cases",
                    len(self.errors) / all_cases)]
        if self.within_bounds:
            rows.append(row("open_outside_" + self.name, {"cases": len(self.within_bounds)},
                            self.within_bounds.count(False), "open cases, measured outside of the bounds", "open cases",
                            self.within_bounds.count(False) / len(self.within_bounds)))
        if not self.errors:
            return rows
        cases = {"cases": len(self.errors)}
        median, ordered = statistics.median(self.errors), sorted(self.errors)
        p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
        inside = sum(self.inside) / len(self.inside)
        widest = max(self.widths)
        rows += [
            row("median_error_" + self.name, cases, median, "of the measured ratio", "1", median, MAX_MEDIAN_ERROR),
            row("p90_error_" + self.name, cases, p90, "of the measured ratio", "1", p90, MAX_P90_ERROR),
            row("outside_" + self.name, cases, 1 - inside, "of the measured ratios, outside of the interval", "1",
                1 - inside, 1 - MIN_INSIDE),
            row("widest_" + self.name, cases, widest, "high over low", "1", widest, MAX_WIDTH)]
        if self.no_gain_errors:
            worst = max(self.no_gain_errors)
            rows.append(row("no_gain_error_" + self.name, {"cases": len(self.no_gain_errors)}, worst,
                            "of the measured ratio, at worst", "1", worst, NO_GAIN))
        return rows


def earlier_rows(file, known):
    """The cases of an earlier result that are not among `known`."""
    return [found for found in json.loads(file.read_text())["rows"]
            if found["name"] not in known and ("half" in found["params"] or "reason" in found["params"])]


def add_row(sets, found):
    params = found["params"]
    bounds = {"low": params["predicted_low"], "high": params["predicted_high"], "value": found["value"]}
    measured = {"value": params["measured"]}
    for judgement in (sets["all"], sets[params["half"]]):
        if params.get("open"):
            judgement.leave_open(bounds, measured)
        else:
            judgement.add(bounds, measured, found["ratio"])


def rows_of(files, earlier=()):
    rows, made = [], []
    sets = {"all": Judgement("all"), "improve": Judgement("improve"), "judged": Judgement("judged")}
    for file in earlier:
        for found in earlier_rows(file, {file.name.split(".")[0] for file in files}):
            rows.append(found)
            if "half" in found["params"]:
                add_row(sets, found)
    for file in files:
        said = json.loads(file.read_text())
        name = file.name.split(".")[0]
        if "made" in said:
            made.append(said["made"])
        predicted, measured, bounds = said["predicted"], said["speedup"], said["predicted_bounds"]
        if bounds is None or measured is None:
            reason = said["predicted_reason"] if bounds is None else said["reason"]
            rows.append(row(name, {"reason": reason}, 0, "could not look"))
            continue
        if measured["high"] > MEASURED_WIDTH * measured["low"]:
            reason = "measured too roughly: %.3g to %.3g" % (measured["low"], measured["high"])
            rows.append(row(name, {"reason": reason}, 0, "could not look"))
            continue
        half = "judged" if name in record_predictions.JUDGED else "improve"
        for judgement in (sets["all"], sets[half]):
            if predicted is None:
                judgement.leave_open(bounds, measured)
            else:
                judgement.add(predicted, measured, said["prediction_error"])
        params = {"half": half, "predicted_low": bounds["low"], "predicted_high": bounds["high"],
                  "measured_low": measured["low"], "measured_high": measured["high"], "measured": measured["value"],
                  "verdict": said["verdict"]}
        if predicted is None:
            rows.append(row(name, {**params, "open": True}, 0, "no prediction"))
            continue
        rows.append(row(name, params, predicted["value"], "predicted speed-up",
                        "what the toggle measured; the ratio is the error", said["prediction_error"]))
    return rows + made_rows(made) + [found for judgement in sets.values() for found in judgement.rows()]


def made_rows(made):
    """What `analyze` said about the class of the made programs, from recordings on a device: sums, and no cases, since
    half of the kinds only judge. The class of a program that greets or ends with a result is that of one run of it,
    and a recording has many, one after the other: such programs count apart."""
    rows = []
    for question in ("model", "pattern"):
        for repeats, name in ((True, ""), (False, "_changed_by_repeating")):
            some = [m for m in made if repeats != any(word in m["program"]["kind"] for word in CHANGED_BY_REPEATING)]
            if question == "pattern":
                some = [m for m in some if m["program"]["pattern_shown"]]
            if not some:
                continue
            truth = [m["program"][question] == m["said"][question] for m in some]
            unknown = [not right and m["said"][question] == "unknown" for right, m in zip(truth, some)]
            wrong = [m["said"][question + "_confidence"] for right, un, m in zip(truth, unknown, some)
                     if not right and not un]
            rows.append(row("made_%s%s" % (question, name),
                            {"programs": len(some), "unknown": sum(unknown), "wrong": len(wrong),
                             "most_confidence_of_wrong": max(wrong, default=0)},
                            sum(truth), "right", "made programs", sum(truth) / len(some)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparisons", nargs="+", type=pathlib.Path,
                        help="NAME.json: the output of `compare` for a program")
    parser.add_argument("--with", dest="earlier", action="append", default=[], type=pathlib.Path, metavar="RESULT",
                        help="an earlier result of the same machine, whose other cases count, too")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    command = "prediction.py " + " ".join([*("--with " + file.name for file in options.earlier),
                                           *(file.name for file in options.comparisons)])
    return result_file.write(options, "prediction", command, rows_of(options.comparisons, options.earlier))


if __name__ == "__main__":
    sys.exit(main())
