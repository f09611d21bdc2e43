"""Makes PNG pictures of the window small, in place: at most 256 colours, each close to those that it replaces.

    shrink.py PICTURE...        indexed pictures stay as they are
"""

import sys

import png

COLOURS = 256
FREQUENT = 128  # of them the most frequent ones; the others are those that the ones before replace worst


def distance(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


def palette_of(counts):
    """(colours of the palette, colour -> index)"""
    colours = sorted(counts, key=counts.get, reverse=True)
    chosen = colours[:COLOURS if len(colours) <= COLOURS else FREQUENT]
    best = {}
    for colour in colours:
        best[colour] = min((distance(colour, one), index) for index, one in enumerate(chosen))
    while len(chosen) < COLOURS:
        worst = max(best, key=best.get)
        if best[worst][0] == 0:
            break
        index = len(chosen)
        chosen.append(worst)
        for colour, (far, _) in best.items():
            new = distance(colour, worst)
            if new < far:
                best[colour] = (new, index)
    return chosen, {colour: index for colour, (_, index) in best.items()}


def shrink(path):
    if png.colour_type(path) == 3:
        return
    width, _, pixel, rows = png.read(path)
    counts = {}
    rows = [[bytes(row[at:at + 3]) for at in range(0, len(row), pixel)] for row in rows]
    for row in rows:
        for colour in row:
            counts[colour] = counts.get(colour, 0) + 1
    chosen, index = palette_of(counts)
    png.write(path, width, 3, [bytes(index[colour] for colour in row) for row in rows], b"".join(chosen))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        shrink(name)
