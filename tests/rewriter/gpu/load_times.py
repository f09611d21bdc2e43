"""How long loads of PTX take: python3 load_times.py BUILD OUT FILE.ptx... [--repeats N]

BUILD holds bin/wic-prof, bin/loads and lib/libwicprof_inject.so. `loads` loads each module twice in a process, the second time with a
text of its own, in these ways; the driver's own cache of compiled code is off but in the last one:

  jit         the program's own PTX, which the driver compiles, with the collector
  first       patched, nothing is in our cache
  cached      patched, from our cache
  jit_cached  the program's own PTX, from the driver's cache

Writes OUT/load_times.json (docs/results/README.md says what is in it).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

NOT_PATCHED, PATCHED = ("--trace", "devices"), ("--trace", "none", "--rewrite")
FIRST_BAR, CACHED_BAR_MS = 1.5, 20  # of the driver's compilation; per module


def one_load(build, image, what, folder, driver_caches=False):
    """What `loads` printed: load_ms of the first module of the process, next_load_ms of the second."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "ours"), "CUDA_CACHE_PATH": str(folder / "driver"),
                   "CUDA_CACHE_DISABLE": "0" if driver_caches else "1"}
    command = ["timeout", "60", str(build / "bin" / "wic-prof"), "run", "-q", "-f", "-o", str(folder / "x.wicprof"), *what, "--",
               str(build / "bin" / "loads"), "time", str(image)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if os.environ.get("STEPS"):
        print(done.stderr, flush=True)
    for line in done.stdout.splitlines():
        if line.startswith("{") and "load_ms" in line:
            return json.loads(line)
    raise SystemExit(f"FAILED: {' '.join(command)}: {done.stdout[-500:]}{done.stderr[-500:]}")


def measure(build, image, repeats):
    times = {}
    for _ in range(repeats):
        for way, what, again, driver_caches in (("jit", NOT_PATCHED, False, False), ("first", PATCHED, False, False),
                                                ("cached", PATCHED, True, False), ("jit_cached", NOT_PATCHED, True, True)):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                if again:
                    one_load(build, image, what, folder, driver_caches)
                for key, ms in one_load(build, image, what, folder, driver_caches).items():
                    if key.endswith("load_ms"):
                        times[way, key] = min(ms, times.get((way, key), 1e30))
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
        for (way, key), ms in times.items():
            base = times["jit", key]
            ratio = ms / base
            bar = {"first": FIRST_BAR, "cached": CACHED_BAR_MS / base}.get(way)
            rows.append({"name": f"{image.stem}_{way}_{key[:-3]}", "params": {"bytes": image.stat().st_size}, "value": ms, "unit": "ms",
                         "compared_to": None if way == "jit" else "jit", "ratio": ratio, "bar": bar,
                         "holds": None if bar is None else ratio <= bar})
            print(f"{rows[-1]['name']:36s} {ms:9.3f} ms {ratio:.3f}"
                  + ("" if bar is None else f" (bar {bar:.3f}{'' if ratio <= bar else ', MISSED'})"), flush=True)
    options.output = str(options.out / "load_times.json")
    result_file.write(options, "load_times", "load_times.py " + " ".join(sys.argv[3:]), rows)


if __name__ == "__main__":
    main()
