"""How long loads of PTX take: python3 load_times.py BUILD OUT FILE.ptx... [--repeats N]

BUILD holds bin/wic-prof, bin/loads and lib/libwicprof_inject.so. `loads` loads each module twice in a process, the
second time with a text of its own, in these ways; a cache that is on is empty before the run, or holds what one run
has left:

  jit         the program's own PTX, which the driver compiles, with the collector; the driver's cache is off
  first       patched; our cache and the driver's are on and empty
  cached      patched, from our cache and the driver's
  ours_only   patched, from our cache; the driver's is off, so that it compiles the patched text
  jit_cached  the program's own PTX, from the driver's cache

A row has the best of N runs, and with a patch the steps of that load, in ms, as the trace names them. Writes
OUT/load_times.json (docs/results/README.md says what is in it).
"""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

NOT_PATCHED, PATCHED = ("--trace", "devices"), ("--trace", "none", "--rewrite")
WAYS = (  # name, what is traced, whether a run before fills the caches, whether the driver's cache is on
    ("jit", NOT_PATCHED, False, False),
    ("first", PATCHED, False, True),
    ("cached", PATCHED, True, True),
    ("ours_only", PATCHED, True, False),
    ("jit_cached", NOT_PATCHED, True, True),
)
FIRST_BAR, CACHED_BAR_MS = 1.5, 20  # of the driver's compilation; per module


KEYS = ("load_ms", "next_load_ms")  # what `loads` prints: the first module of the process, and the second
TOOK = "rewrite: the load took "


def steps_of(trace):
    """Per patched module, in the order of the loads, its steps with their times in ms; and the reasons of those that
    were not patched."""
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        notices = [text for (text,) in database.execute(
            "SELECT string.value FROM notice JOIN string ON string.id = notice.text_id ORDER BY notice.id")]
    steps = []
    for text in notices:
        if text.startswith(TOOK):
            pairs = [step.rpartition(" ") for step in text[len(TOOK):].partition(" ms: ")[2]
                     .replace(" meanwhile", "").split(", ")]
            steps.append({name: float(ms) for name, _, ms in pairs if name})
    return steps, [text for text in notices if " stays as it is" in text]


def one_load(build, image, what, folder, driver_caches=False):
    """What `loads` printed, and steps_of() its trace."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "ours"), "CUDA_CACHE_PATH": str(folder / "driver"),
                   "CUDA_CACHE_DISABLE": "0" if driver_caches else "1"}
    trace = folder / "x.wicprof"
    command = ["timeout", "60", str(build / "bin" / "wic-prof"), "run", "-q", "-f", "-o", str(trace),
               *what, "--", str(build / "bin" / "loads"), "time", str(image)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    for line in done.stdout.splitlines():
        if line.startswith("{") and "load_ms" in line:
            return json.loads(line), *steps_of(trace)
    raise SystemExit(f"FAILED: {' '.join(command)}: {done.stdout[-500:]}{done.stderr[-500:]}")


def measure(build, image, repeats):
    """Of each way and module of the process: ms, steps, and why it was not patched, of the fastest run."""
    times = {}
    for _ in range(repeats):
        for way, what, again, driver_caches in WAYS:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                if again:
                    one_load(build, image, what, folder, driver_caches)
                took, steps, reasons = one_load(build, image, what, folder, driver_caches)
                for number, key in enumerate(KEYS):
                    if (way, key) not in times or took[key] < times[way, key][0]:
                        times[way, key] = took[key], steps[number] if number < len(steps) else None, reasons
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("images", type=pathlib.Path, nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for image in options.images:
        times = measure(options.build.resolve(), image, options.repeats)
        for (way, key), (ms, steps, reasons) in times.items():
            base = times["jit", key][0]
            ratio = ms / base
            bar = {"first": FIRST_BAR, "cached": CACHED_BAR_MS / base}.get(way)
            rows.append({"name": f"{image.stem}_{way}_{key[:-3]}",
                         "params": {"bytes": image.stat().st_size, "steps": steps, "not_patched": reasons},
                         "value": ms, "unit": "ms", "compared_to": None if way == "jit" else "jit", "ratio": ratio,
                         "bar": bar, "holds": None if bar is None else ratio <= bar})
            print(f"{rows[-1]['name']:36s} {ms:9.3f} ms {ratio:.3f}"
                  + ("" if bar is None else f" (bar {bar:.3f}{'' if ratio <= bar else ', MISSED'})")
                  + (f" {steps}" if steps else "") + (f" {reasons}" if reasons and key == "load_ms" else ""),
                  flush=True)
    result_file.name_gpu(options)
    options.output = str(options.out / "load_times.json")
    result_file.write(options, "load_times", "load_times.py " + " ".join(sys.argv[3:]), rows)


if __name__ == "__main__":
    main()
