#!/usr/bin/env python3
"""One ratio of many: the rows of result documents whose names end with some words, weighted by their intervals.

    together.py docs/results/host_sharing_train.h100.json ... [--rows hybrid_over_block] [--only train_1_]

Each row counts with the inverse square of the standard error of its logarithm, as its 95 % interval has it
(inverse-variance weighting); the rows' errors are taken as independent. Prints the number of rows, the ratio and its
95 % interval.
"""

import argparse
import json
import math
import pathlib
import sys

NORMAL = 1.96  # 95 % of a normal distribution lie within so many standard deviations


def together(rows):
    """(ratio, low, high)."""
    total = weights = 0
    for row in rows:
        error = math.log(row["params"]["high"] / row["params"]["low"]) / (2 * NORMAL)
        total += math.log(row["ratio"]) / error ** 2
        weights += 1 / error ** 2
    middle, wide = total / weights, NORMAL / math.sqrt(weights)
    return tuple(math.exp(one) for one in (middle, middle - wide, middle + wide))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--rows", default="hybrid_over_block", help="how the rows' names end")
    parser.add_argument("--only", default="", help="how the rows' names begin")
    options = parser.parse_args()
    rows = [row for path in options.files for row in json.loads(path.read_text())["rows"]
            if row["name"].startswith(options.only) and row["name"].endswith(options.rows)
            and row["params"].get("low") and row["params"]["low"] < row["params"]["high"]]
    if not rows:
        sys.exit(f"no row begins with '{options.only}' and ends with '{options.rows}' and has an interval")
    print("{} rows: {:.4f} ({:.4f} to {:.4f})".format(len(rows), *together(rows)))


if __name__ == "__main__":
    main()
