"""Shared by the window's tests: an X server, scripts of user actions, and the window's state."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(os.environ["WICPROF_SOURCE"]) / "tests" / "cli"))
import harness  # noqa: E402

MAKE_TRACE = os.environ["WICPROF_MAKE_TRACE"]


class Display:
    """One X server for all tests of a file, on a free display number."""

    process = None
    name = None

    @classmethod
    def get(cls):
        if cls.process is None:
            xvfb = shutil.which("Xvfb")
            if xvfb is None:
                raise unittest.SkipTest("no Xvfb: install xvfb")
            read, write = os.pipe()
            # Without -noreset the server restarts when its last client ends, and refuses clients meanwhile.
            cls.process = subprocess.Popen([xvfb, "-displayfd", str(write), "-screen", "0", "3200x2000x24",
                                            "-nolisten", "tcp", "-noreset"],
                                           pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.close(write)
            with os.fdopen(read) as numbers:
                cls.name = ":" + numbers.readline().strip()
        return cls.name

    @classmethod
    def end(cls):
        if cls.process is not None:
            cls.process.terminate()
            cls.process.wait(timeout=harness.TIMEOUT)
            cls.process = None


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.env["DISPLAY"] = Display.get()
        self.env["LIBGL_ALWAYS_SOFTWARE"] = "1"

    def make_trace(self, name, iterations=120, mode="both"):
        subprocess.run([MAKE_TRACE, str(self.work / name), str(iterations), mode], check=True, timeout=harness.TIMEOUT)
        return self.work / name

    def script(self, *lines):
        path = self.work / f"script{len(list(self.work.glob('script*')))}"
        path.write_text("\n".join(lines) + "\n")
        return path

    def gui(self, *words, env=None):
        return self.wic_prof("gui", "--size", "1200x800", "--scale", "100", *words, env=env)

    def drive(self, files, *lines, options=()):
        """Runs the script and returns the window's state at each `dump NAME`, in order; for one dump, one state."""
        names = [line.split(" ", 1)[1] for line in lines if line.startswith("dump ")]
        result = self.gui(*files, *options, "--drive", self.script(*lines))
        self.assertEqual(result.returncode, 0, result.stderr)
        states = [json.loads((self.work / name).read_text()) for name in names]
        return states[0] if len(states) == 1 else states


def read_png(path):
    """Returns width, height and rows of RGB bytes."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2)
        elif kind == b"IDAT":
            pixels += body
        at += 12 + length
    raw = zlib.decompress(pixels)
    rows, previous, stride = [], bytearray(width * 3), width * 3
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = line[x - 3] if x >= 3 else 0
            up, corner = previous[x], previous[x - 3] if x >= 3 else 0
            if method == 1:
                line[x] = (line[x] + left) & 255
            elif method == 2:
                line[x] = (line[x] + up) & 255
            elif method == 3:
                line[x] = (line[x] + (left + up) // 2) & 255
            elif method == 4:
                guess = left + up - corner
                choices = [left, up, corner]
                nearest = min(choices, key=lambda value: abs(guess - value))
                line[x] = (line[x] + nearest) & 255
        rows.append(bytes(line))
        previous = line
    return width, height, rows


def colours_of(path):
    """Returns a dict from colour to its number of pixels."""
    _, _, rows = read_png(path)
    counts = {}
    for row in rows:
        for x in range(0, len(row), 3):
            pixel = row[x:x + 3]
            counts[pixel] = counts.get(pixel, 0) + 1
    return {key.hex(): count for key, count in counts.items()}


def main():
    try:
        unittest.main(verbosity=2)
    finally:
        Display.end()
