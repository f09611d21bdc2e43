"""How many inputs the fuzz targets took (tests/fuzz), from the tally of their runs.

    tests/fuzz/run.py --corpus build-fuzz/corpus --tally build-fuzz/tally.json --seconds 600 build-fuzz/bin
    bench/fuzzing.py --tally build-fuzz/tally.json [--earlier FILE.json] -o docs/results/fuzzing.MACHINE.json

Each row: the inputs of all runs, and in `params` the findings and the inputs since the last finding was mended.
--earlier: a result file of this script, whose inputs are added.
"""

import argparse
import json
import pathlib
import sys

import result_file

WANTED = 100_000_000


def row(name, params, value, **claim):
    return {"name": name, "params": params, "value": value, "unit": "inputs",
            **{"compared_to": None, "ratio": None, "bar": None, "holds": None, **claim}}


def add_earlier(tally, rows):
    for one in rows:
        if one["name"] == "all":
            continue
        now = tally.setdefault(one["name"], {"inputs": 0, "seconds": 0, "findings": 0, "since_finding": 0})
        now["since_finding"] += one["params"]["since_last_finding"] if now["findings"] == 0 else 0
        now["inputs"] += one["value"]
        now["seconds"] += one["params"]["seconds"]
        now["findings"] += one["params"]["findings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tally", type=pathlib.Path, required=True)
    parser.add_argument("--earlier", type=pathlib.Path)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    tally = json.loads(options.tally.read_text())
    if options.earlier:
        add_earlier(tally, json.loads(options.earlier.read_text())["rows"])
    rows = [row(name, {"seconds": round(one["seconds"]), "findings": one["findings"],
                       "since_last_finding": one["since_finding"]}, one["inputs"]) for name, one in tally.items()]
    total = sum(one["inputs"] for one in tally.values())
    rows.append(row("all", {"seconds": round(sum(one["seconds"] for one in tally.values())),
                            "findings": sum(one["findings"] for one in tally.values()),
                            "since_last_finding": sum(one["since_finding"] for one in tally.values())}, total,
                    compared_to=f"{WANTED} inputs", ratio=round(total / WANTED, 4), bar=1, holds=total >= WANTED))
    return result_file.write(options, "fuzzing", "bench/fuzzing.py --tally TALLY", rows)


if __name__ == "__main__":
    sys.exit(main())
