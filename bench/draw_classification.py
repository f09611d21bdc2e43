#!/usr/bin/env python3
"""Draws the results of bench_classification_made as pictures for docs/truth.md.

    bench/draw_classification.py docs/results/classification_made.vm2.json docs/images/truth [BEGIN]

writes FOLDER/reliability.svg (of the answers given with a confidence, how many are right) and FOLDER/confusion_HALF.svg
(what was answered to which truth); BEGIN precedes the files' names. Standard library only.
"""

import json
import pathlib
import sys

HALVES = {"improve": "used to improve", "judge": "only judged"}
QUESTIONS = {"model": ["unidirectional", "alternating", "multiple", "probabilistic", "unknown"],
             "pattern": ["streaming", "adjacent", "scatter-gather", "random", "unknown"]}
INK, FAINT, BLUE, ORANGE, GREY = "#222222", "#d0d0d0", "#1f6fb4", "#d9822b", "#9a9a9a"
FEWEST = 200  # answers in a bin whose confidence is checked


class Picture:
    def __init__(self, width, height):
        self.size = (width, height)
        self.parts = [f'<rect width="{width}" height="{height}" fill="white"/>']

    def line(self, x1, y1, x2, y2, colour=INK, dash=""):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>')

    def circle(self, x, y, radius, fill, stroke):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{stroke}"/>')

    def box(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
                          f'stroke="{FAINT}"/>')

    def text(self, x, y, words, anchor="middle", size=12, colour=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
                          f'{words}</text>')

    def write(self, path):
        width, height = self.size
        body = "\n".join(self.parts)
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                        f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n{body}\n</svg>\n')


def chosen(rows, name, half, question):
    return [row for row in rows
            if row["name"] == name and row["params"]["half"] == half and row["params"]["question"] == question]


def draw_reliability(rows, path):
    side, gap, left, top = 300, 90, 60, 50
    picture = Picture(left + 2 * side + gap + 30, top + side + 80)
    for column, question in enumerate(QUESTIONS):
        x0, y0 = left + column * (side + gap), top + side
        at = lambda confidence: x0 + (confidence - 0.5) * 2 * side
        up = lambda share: y0 - share * side
        picture.text(x0 + side / 2, top - 20, question, size=14)
        for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
            picture.line(at(tick), y0, at(tick), top, FAINT)
            picture.text(at(tick), y0 + 18, f"{tick:.1f}")
        for tick in (0, 0.25, 0.5, 0.75, 1.0):
            picture.line(x0, up(tick), x0 + side, up(tick), FAINT)
            picture.text(x0 - 8, up(tick) + 4, f"{tick:.2f}", anchor="end")
        picture.line(at(0.5), up(0.5), at(1), up(1), INK, "4 4")
        picture.text(x0 + side / 2, y0 + 38, "confidence of the answer")
        for half, colour in zip(HALVES, (ORANGE, BLUE)):
            for row in chosen(rows, "reliability", half, question):
                many = row["params"]["answers"] >= FEWEST
                radius = 2 + min(8.0, row["params"]["answers"] ** 0.5 / 3)
                picture.circle(at(row["params"]["mean_confidence"]), up(row["ratio"]), radius,
                               colour if many else "none", colour)
    y = top + side + 64
    for half, colour, x in zip(HALVES, (ORANGE, BLUE), (left, left + 190)):
        picture.circle(x, y - 4, 5, colour, colour)
        picture.text(x + 12, y, HALVES[half], anchor="start")
    picture.text(left + 380, y, f"filled: at least {FEWEST} answers; dashed: confidence",
                 anchor="start", size=11)
    picture.write(path)


def draw_confusion(rows, half, path):
    cell, left, top, gap = 74, 120, 70, 140
    width = left + 2 * 5 * cell + gap + 20
    picture = Picture(width, top + 4 * cell + 30)
    for column, (question, answers) in enumerate(QUESTIONS.items()):
        x0 = left + column * (5 * cell + gap)
        picture.text(x0 + 2.5 * cell, 22, f"{question}: {HALVES[half]}", size=14)
        picture.text(x0 + 2.5 * cell, 42, "answered (columns), true (rows)", size=11, colour=GREY)
        counts = {(row["params"]["truth"], row["params"]["answer"]): int(row["value"])
                  for row in chosen(rows, "confusion", half, question)}
        for i, answer in enumerate(answers):
            picture.text(x0 + (i + 0.5) * cell, top - 8, answer, size=10)
        for j, truth in enumerate(answers[:4]):
            picture.text(x0 - 8, top + (j + 0.5) * cell + 4, truth, anchor="end", size=11)
            whole = sum(counts.get((truth, answer), 0) for answer in answers)
            for i, answer in enumerate(answers):
                count = counts.get((truth, answer), 0)
                share = count / whole if whole else 0
                base = (31, 111, 180) if truth == answer else (150, 150, 150) if answer == "unknown" else (217, 90, 43)
                shade = "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in base)
                picture.box(x0 + i * cell, top + j * cell, cell, cell, shade)
                picture.text(x0 + (i + 0.5) * cell, top + (j + 0.5) * cell + 4, str(count),
                             colour="white" if share > 0.6 else INK)
    picture.write(path)


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())["rows"]
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    begin = sys.argv[3] if len(sys.argv) == 4 else ""
    draw_reliability(rows, folder / f"{begin}reliability.svg")
    for half in HALVES:
        draw_confusion(rows, half, folder / f"{begin}confusion_{half}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
