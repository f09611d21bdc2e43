"""Shared by the window's tests: an X server, scripts of user actions, and the window's state."""

import collections
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
    rows = [raw[at:at + 3 * width + 1] for at in range(0, len(raw), 3 * width + 1)]
    assert len(rows) == height and not any(row[0] for row in rows), "rows are not filtered"
    return width, height, [row[1:] for row in rows]


def pixels_of(row):
    """Returns the colours of a row as hexadecimal digits, from left to right."""
    digits = row.hex()
    return [digits[at:at + 6] for at in range(0, len(digits), 6)]


def colours_of(path):
    """Returns a Counter of pixels per colour."""
    return collections.Counter(pixel for row in read_png(path)[2] for pixel in pixels_of(row))


def main():
    try:
        unittest.main(verbosity=2)
    finally:
        Display.end()
