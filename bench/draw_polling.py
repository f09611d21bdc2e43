#!/usr/bin/env python3
"""Draws the results of bench_polling as a picture for docs/truth.md.

    bench/draw_polling.py docs/results/polling.vm2.json docs/images/truth

writes FOLDER/polling.svg: per build and half, which share of the kernels that wait is named (recall), and which share
of the kernels that work is named above `info` (false alarms). Standard library only.
"""

import json
import pathlib
import sys

from draw_classification import BLUE, FAINT, GREY, INK, ORANGE, Picture

HALVES = {"improve": ("half for improving", ORANGE), "judged": ("judged half", BLUE)}
BUILDS = {"O3_sm_80": "-O3, sm_80", "O3_sm_90": "-O3, sm_90", "O1_sm_80": "-O1, sm_80", "O1_sm_90": "-O1, sm_90",
          "G_sm_80": "-G, sm_80", "G_sm_90": "-G, sm_90", "triton_sm_80": "Triton, sm_80",
          "triton_sm_90": "Triton, sm_90", "all_all": "all, samples made up", "O3_h100": "-O3, samples of an H100",
          "O1_h100": "-O1, samples of an H100", "G_h100": "-G, samples of an H100"}
# Titles, the count of kernels in a row's parameters, and whether the row has a bar worth a line.
SIDES = {"recall": ("waits that are named", "waits", True),
         "false_alarms": ("work that is named above info", "kernels_that_work", False)}
BAR_HEIGHT, ROW_HEIGHT, SIDE, GAP, LEFT, TOP = 11, 32, 300, 100, 180, 50


def draw(rows, path):
    by_name = {row["name"]: row for row in rows}
    bottom = TOP + ROW_HEIGHT * len(BUILDS)
    picture = Picture(LEFT + 2 * SIDE + GAP + 75, bottom + 60)
    for column, (side, (title, counted, has_bar)) in enumerate(SIDES.items()):
        x0 = LEFT + column * (SIDE + GAP)
        picture.text(x0 + SIDE / 2, TOP - 28, title, size=14)
        for share in (0, 0.25, 0.5, 0.75, 1.0):
            picture.line(x0 + share * SIDE, TOP, x0 + share * SIDE, bottom, FAINT)
            picture.text(x0 + share * SIDE, TOP - 8, f"{share:.0%}", size=11, colour=GREY)
        for i, (build, label) in enumerate(BUILDS.items()):
            y = TOP + i * ROW_HEIGHT + 4
            if column == 0:
                picture.text(LEFT - 10, y + BAR_HEIGHT + 4, label, anchor="end")
            for j, (half, (_, colour)) in enumerate(HALVES.items()):
                row = by_name[f"{side}_{half}_{build}"]
                width = row["ratio"] * SIDE
                picture.box(x0, y + j * BAR_HEIGHT, width, BAR_HEIGHT, colour)
                # Right of the widest bar, so that no line crosses the words.
                picture.text(x0 + SIDE + 8, y + (j + 1) * BAR_HEIGHT - 2,
                             f"{row['value']:.0f} of {row['params'][counted]}", anchor="start", size=9)
        if has_bar:
            least = by_name[f"{side}_judged_all_all"]["bar"]
            picture.line(x0 + least * SIDE, TOP, x0 + least * SIDE, bottom, INK, "4 4")
    y = bottom + 32
    for (words, colour), x in zip(HALVES.values(), (LEFT, LEFT + 170)):
        picture.circle(x, y - 4, 5, colour, colour)
        picture.text(x + 12, y, words, anchor="start")
    picture.text(LEFT + 310, y, "dashed: the bar for recall", anchor="start", size=11)
    picture.write(path)


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text())["rows"], folder / "polling.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
