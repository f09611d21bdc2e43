"""Reads and writes PNG pictures, 8-bit RGB, RGBA or indexed, without interlacing; for the scripts beside this file."""

import struct
import sys
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += size + 12


def nearest(left, above, corner):
    """The Paeth predictor of the PNG specification."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def colour_type(path):
    """2 RGB, 3 indexed, 6 RGBA."""
    with open(path, "rb") as file:
        return file.read(26)[25]


def read(path):
    """(width, colour type, bytes per pixel, rows)"""
    with open(path, "rb") as file:
        parts = list(chunks(file.read()))
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", dict(parts)[b"IHDR"])
    if depth != 8 or colour not in (2, 6) or interlace:
        sys.exit(f"{path}: neither 8-bit RGB nor RGBA without interlacing")
    pixel = 3 if colour == 2 else 4
    data = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    stride = width * pixel
    rows, above = [], bytearray(stride)
    for y in range(height):
        begin = y * (stride + 1)
        method, row = data[begin], bytearray(data[begin + 1:begin + 1 + stride])
        for x in range(stride if method else 0):
            left, corner = (row[x - pixel], above[x - pixel]) if x >= pixel else (0, 0)
            guess = (0, left, above[x], (left + above[x]) // 2, None)[method]
            row[x] = (row[x] + (nearest(left, above[x], corner) if guess is None else guess)) & 255
        rows.append(row)
        above = row
    return width, colour, pixel, rows


def write(path, width, colour, rows, palette=b""):
    """`rows`: bytes of each row, unfiltered. `palette`: RGB triples, for colour type 3."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, len(rows), 8, colour, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + (chunk(b"PLTE", palette) if palette else b"") +
                   chunk(b"IDAT", data) + chunk(b"IEND", b""))
