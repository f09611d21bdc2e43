#!/usr/bin/env python3
"""Draws the results of bench/prediction.py as a picture for docs/truth.md.

    bench/draw_prediction.py docs/results/prediction.h100.json docs/images/truth

writes FOLDER/prediction.svg: the gain of parking that was measured, against the predicted one, with its interval. Cases
without a prediction have only the line between their bounds. Standard library only.
"""

import json
import math
import pathlib
import sys

from draw_classification import BLUE, FAINT, GREY, INK, ORANGE, Picture

HALVES = {"improve": ("cases used to improve", ORANGE), "judged": ("cases only judged", BLUE)}
SIDE, GAP, LEFT, TOP = 320, 110, 70, 60
# Least and largest gain, ticks, and whether the scale is logarithmic.
VIEWS = {"all cases": (0.7, 500, (1, 3, 10, 30, 100, 300), True),
         "around no gain": (0.9, 1.1, (0.9, 0.95, 1.0, 1.05, 1.1), False)}


def draw_view(picture, x0, title, cases):
    least, most, ticks, logarithmic = VIEWS[title]
    scale = math.log if logarithmic else float
    part = lambda gain: (scale(min(max(gain, least), most)) - scale(least)) / (scale(most) - scale(least))
    across = lambda gain: x0 + part(gain) * SIDE
    up = lambda gain: TOP + SIDE - part(gain) * SIDE
    picture.text(x0 + SIDE / 2, TOP - 24, title, size=14)
    for tick in ticks:
        picture.line(across(tick), TOP, across(tick), TOP + SIDE, FAINT)
        picture.line(x0, up(tick), x0 + SIDE, up(tick), FAINT)
        picture.text(across(tick), TOP + SIDE + 18, f"{tick:g}")
        picture.text(x0 - 8, up(tick) + 4, f"{tick:g}", anchor="end")
    picture.line(across(least), up(least), across(most), up(most), INK, "4 4")
    picture.text(x0 + SIDE / 2, TOP + SIDE + 38, "predicted speed-up")
    picture.text(x0 - 40, TOP - 8, "measured", anchor="start", size=11)
    for case in cases:
        params = case["params"]
        predicted = None if params.get("open") else case["value"]
        measured = params["measured"]
        if not least <= measured <= most:
            continue
        colour = HALVES[params["half"]][1]
        interval = GREY if predicted is None else colour
        picture.line(across(params["predicted_low"]), up(measured), across(params["predicted_high"]), up(measured),
                     interval, "2 3" if predicted is None else "")
        if predicted is None:
            if logarithmic:
                picture.circle(across(params["predicted_high"]), up(measured), 3, "none", colour)
            continue
        picture.line(across(predicted), up(params["measured_low"]), across(predicted), up(params["measured_high"]),
                     colour)
        picture.circle(across(predicted), up(measured), 4, colour, colour)


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())["rows"]
    cases = [row for row in rows if "half" in row["params"]]
    picture = Picture(LEFT + 2 * SIDE + GAP + 40, TOP + SIDE + 96)
    for column, title in enumerate(VIEWS):
        draw_view(picture, LEFT + column * (SIDE + GAP), title, cases)
    y = TOP + SIDE + 78
    for (words, colour), x in zip(HALVES.values(), (LEFT, LEFT + 180)):
        picture.circle(x, y - 4, 5, colour, colour)
        picture.text(x + 12, y, words, anchor="start")
    picture.text(LEFT + 350, y, "dotted, with a ring: no prediction, only bounds", anchor="start", size=11)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    picture.write(folder / "prediction.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
