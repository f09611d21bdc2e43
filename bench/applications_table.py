#!/usr/bin/env python3
"""Prints the tables of figures 12 and 16 of the WIC paper from the results of bench_applications.

The tables show the speed-up of parking over Algorithm 1 (naive) and over tuned polling, per application, by number of
threads and by size.

    bench/applications_table.py docs/results/applications.h200.json > docs/results/applications.h200.md
"""

import argparse
import json
import pathlib
import re
import sys

NAME = re.compile(r"(?P<app>[cg]_[a-z0-9]+?)(?:_(?P<swept>threads|size)_(?P<at>\d+))?"
                  r"_(?P<what>naive|poll|park|over_naive|over_poll)$")


def by_place(rows):
    """Groups the rows by (application, "threads" or "size" or None, swept value or None), in the file's order.

    Each group maps naive, poll, park, over_naive and over_poll to its row.
    """
    places = {}
    for row in rows:
        found = NAME.match(row["name"])
        if found:
            at = int(found["at"]) if found["at"] else None
            places.setdefault((found["app"], found["swept"], at), {})[found["what"]] = row
    return places


def milliseconds(row):
    return f"{row['value']:.4g}"


def speedup(row):
    """The median and its 95 % interval."""
    digits = 3 if row["ratio"] < 1.1 else 2 if row["ratio"] < 10 else 1 if row["ratio"] < 100 else 0
    return f"{row['ratio']:.{digits}f} ({row['params']['low']:.{digits}f} to {row['params']['high']:.{digits}f})"


def table(head, lines):
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *body, ""]


def line_of(rows):
    return [milliseconds(rows["naive"]), milliseconds(rows["poll"]), milliseconds(rows["park"]),
            speedup(rows["over_naive"]), speedup(rows["over_poll"])]


TIMES = ["naive, ms", "poll, ms", "park, ms", "park over naive", "park over poll"]


def figure_12(places, means):
    lines = [[f"`{app}`", *line_of(rows), rows["naive"]["params"]["shape"]]
             for (app, swept, _), rows in places.items() if not swept]
    over = [f"{means[f'geometric_mean_over_{way}']['ratio']:.3f}" for way in ("naive", "poll")]
    lines.append(["geometric mean", "", "", "", *over, ""])
    return ["## Speed-up of parking (figure 12)", "",
            "The median time per step, and the ratio of steps measured together, with its 95 % interval.", "",
            *table(["application", *TIMES, "work per step"], lines)]


def lines_of(places, sweep):
    return [[f"`{app}`", str(at), *line_of(rows)] for (app, swept, at), rows in places.items() if swept == sweep]


def figure_16(places):
    lines = lines_of(places, "threads")
    head = ["## By the number of consumer threads (figure 16)", ""]
    return [*head, *table(["application", "threads", *TIMES], lines)] if lines else []


def sizes(places):
    lines = lines_of(places, "size")
    return ["## By size", "", *table(["application", "size", *TIMES], lines)] if lines else []


def page(document):
    places = by_place(document["rows"])
    means = {row["name"]: row for row in document["rows"]}
    ends = sorted({rows["naive"]["params"]["devices"] for rows in places.values()})
    driver = re.search(r"\d+\.\d+(\.\d+)?", document["driver"])
    return "\n".join(["# The applications in three ways of waiting", "",
                      f"Machine `{document['machine']}`, driver {driver[0] if driver else document['driver']}, "
                      f"{document['date'][:10]}, commit {document['commit']}; "
                      f"devices {' and '.join(f'`{end}`' for end in ends)}.",
                      "Written by `bench/applications_table.py` from the JSON file with the same name.", "",
                      *figure_12(places, means), *figure_16(places), *sizes(places)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="JSON file written by bench_applications")
    options = parser.parse_args()
    try:
        document = json.loads(options.results.read_text())
        text = page(document)
    except (OSError, ValueError, KeyError) as error:
        print(f"applications_table.py: {options.results}: {error!r}; name a file written by bench_applications",
              file=sys.stderr)
        return 2
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
