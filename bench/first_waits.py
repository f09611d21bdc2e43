"""How long a user waits for the first waits in the window: from the start of `wic-prof run --gui -- APP` until a frame
that shows waits is drawn. At most a second. Without a display, under an X server of its own (Xvfb).

    python3 bench/first_waits.py --wic-prof build/bin/wic-prof --hot-flag build/bin/hot_flag -o FILE.json
"""

import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import result_file

BAR_S = 1.0
TIMEOUT_S = 60
SCRIPT = "wait waits 1\nframes 1\ndump shown\nquit\n"


class Display:
    """The user's display, or an X server that ends with this object."""

    def __init__(self):
        self.server = None
        self.name = os.environ.get("DISPLAY", "")
        if self.name:
            return
        if shutil.which("Xvfb") is None:
            sys.exit("first_waits.py: no display and no Xvfb: install xvfb")
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1920x1200x24", "-nolisten",
                                        "tcp", "-noreset"], pass_fds=[write], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ":" + number.readline().strip()

    def end(self):
        if self.server is not None:
            self.server.terminate()
            self.server.wait(timeout=TIMEOUT_S)


def measure(options, display, folder):
    """Seconds until waits were shown: from the start of wic-prof, of the window, and from the program's first wait."""
    (folder / "script").write_text(SCRIPT)
    trace, shown = folder / "t.wicprof", folder / "shown"
    environment = dict(os.environ, DISPLAY=display.name)
    began = time.time()
    between_clocks = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
    subprocess.run([options.wic_prof, "run", "-f", "-o", trace, "--gui", "--gui-drive", folder / "script", "--",
                    options.hot_flag, *options.app.split()], check=True, timeout=TIMEOUT_S, env=environment, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    state = json.loads(shown.read_text())
    if state["view"] != "live" or state["timeline"]["drawn"] == 0:
        sys.exit("first_waits.py: the frame shows no waits")
    at = shown.stat().st_mtime
    with sqlite3.connect(trace) as database:
        first = database.execute("SELECT MIN(arrived_ns) FROM wait").fetchone()[0] / 1e9 + between_clocks
    database.close()
    shown.unlink()
    return at - began, state["first_waits_ms"] / 1e3, at - first


def row(name, seconds, bar, params):
    value = max(seconds)
    return {"name": name, "params": dict(params, median=statistics.median(seconds), runs=len(seconds)), "value": value,
            "unit": "s", "compared_to": None, "ratio": value / bar if bar else None, "bar": 1 if bar else None,
            "holds": value <= bar if bar else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wic-prof", required=True)
    parser.add_argument("--hot-flag", required=True, help="the sample that waits at once")
    parser.add_argument("--app", default="--devices simt:1 --seconds 2", help="the sample's arguments")
    parser.add_argument("--runs", type=int, default=7)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    options.wic_prof, options.hot_flag = (pathlib.Path(path).resolve() for path in (options.wic_prof, options.hot_flag))
    display = Display()
    try:
        with tempfile.TemporaryDirectory(prefix="wicprof-first-") as name:
            measured = [measure(options, display, pathlib.Path(name)) for _ in range(options.runs)]
    finally:
        display.end()
    params = {"app": f"hot_flag {options.app}"}
    all_of_it, window, first_wait = zip(*measured)
    rows = [row("from_start", all_of_it, BAR_S, params), row("from_window", window, None, params),
            row("from_first_wait", first_wait, None, params)]
    command = f"first_waits.py --app '{options.app}' --runs {options.runs}"
    return result_file.write(options, "first_waits", command, rows)


if __name__ == "__main__":
    sys.exit(main())
