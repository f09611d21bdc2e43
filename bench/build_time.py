#!/usr/bin/env python3
"""What building costs: objects, CPU seconds, wall seconds and bytes on disk of each build command, for docs/results.

Each step is a command that runs in the source folder, in the order given; a step's row says what that step added. The
build folder is removed first, and the compiler cache is switched off.

    bench/build_time.py --step demo="make build-demo" --step tests="make build" --machine vm2 \\
        -o docs/results/build_time.vm2.json

CPU seconds do not depend on what else the machine does; wall seconds do, so no bar is set on them here.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import result_file


def objects_in(build):
    """Object files that ninja has made in `build`: paths of its log that end in `.o`."""
    log = build / ".ninja_log"
    if not log.exists():
        return set()
    lines = log.read_text().splitlines()[1:]
    return {line.split("\t")[3] for line in lines if line.count("\t") >= 4 and line.split("\t")[3].endswith(".o")}


def bytes_in(folder):
    """Bytes that the files below `folder` take, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name, command, source, build):
    """The rows of one step. Ends the benchmark when the command fails."""
    objects, cpu, begin = objects_in(build), cpu_seconds(), time.monotonic()
    print(f"{name}: {command}", file=sys.stderr, flush=True)
    done = subprocess.run(command, shell=True, cwd=source, stdout=sys.stderr, env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode != 0:
        sys.exit(f"build_time: `{command}` ended with status {done.returncode}")
    values = {"cpu": (cpu_seconds() - cpu, "s"), "wall": (time.monotonic() - begin, "s"),
              "objects": (len(objects_in(build) - objects), "1"), "folder": (bytes_in(build), "bytes")}
    params = {"command": command, "cores": os.cpu_count()}
    return {f"{name}_{what}": {"params": params, "value": value, "unit": unit}
            for what, (value, unit) in values.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", action="append", required=True, metavar="NAME=COMMAND", help="in the order to run")
    parser.add_argument("--source", type=pathlib.Path, default=result_file.SOURCE, help="the tree to build")
    parser.add_argument("--bar", action="append", default=[], metavar="ROW=NUMBER", help="at most that for a row")
    result_file.add_arguments(parser)
    options = parser.parse_args()

    bars = {name: float(number) for name, number in (text.split("=", 1) for text in options.bar)}
    source = options.source.resolve()
    build = source / "build"
    shutil.rmtree(build, ignore_errors=True)
    measured = {}
    for step in options.step:
        name, command = step.split("=", 1)
        measured |= measure(name, command, source, build)
    if unknown := set(bars) - set(measured):
        sys.exit(f"build_time: no row is named {', '.join(sorted(unknown))}; there are {', '.join(measured)}")

    rows = []
    for name, row in measured.items():
        bar = bars.get(name)
        rows.append({"name": name, **row, "compared_to": "bar" if bar else None,
                     "ratio": row["value"] / bar if bar else None, "bar": 1.0 if bar else None,
                     "holds": row["value"] <= bar if bar else None})
    words = " ".join(f"--step {step!r}" for step in options.step)
    return result_file.write(options, "build_time", f"build_time {words}", rows)


if __name__ == "__main__":
    sys.exit(main())
