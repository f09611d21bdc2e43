"""Writes a part of a PNG picture: crop.py FROM TO WIDTHxHEIGHT+X+Y. Reads 8-bit RGB and RGBA without interlacing."""

import re
import sys

import png


def main(source, target, area):
    width, height, x, y = map(int, re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)", area).groups())
    whole, colour, pixel, rows = png.read(source)
    if x + width > whole or y + height > len(rows):
        sys.exit(f"crop.py: {source} is smaller than {area}")
    png.write(target, width, colour, [rows[line][x * pixel:(x + width) * pixel] for line in range(y, y + height)])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
