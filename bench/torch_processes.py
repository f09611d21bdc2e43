#!/usr/bin/env python3
"""What wic-prof's presence costs an unmodified PyTorch step: many processes side by side.

    torch_processes.py BUILD -o FILE [--program decode] [--processes 12] [--seconds 40] [--steps 60]
                       [--ways bare,host_waits,...]

On a GPU; needs PyTorch, BUILD/bin/wic-prof and BUILD/lib/libhost_waits_empty_callbacks.so. This process imports PyTorch
once and forks before CUDA begins; each child is one way and times the same steps of a program (train or decode), some
4 s with all that comes before them. The ways of a round come in random order:
  bare         without wic-prof
  subscriber   CUPTI is loaded and has a subscriber, without callbacks
  callbacks    the same with empty callbacks at the calls of the driver that wait
  host_waits   in a session of wic-prof that records the waits of host threads alone; the program's own way is in force
  kernels      the same, with kernels recorded, too
A row compares the median steps of the processes of two ways: the ratio, with its 95 % interval (bootstrap over
processes). Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "host_sharing"))
import ratios  # noqa: E402
import result_file  # noqa: E402

WAYS = ("bare", "subscriber", "callbacks", "host_waits", "kernels")
TRACES = {"host_waits": "host_waits", "kernels": "kernels,host_waits"}
WARM = 12        # steps
MOST = 1.01
SAMPLES = 4000   # of the bootstrap
COMPARED = (("host_waits", "bare", MOST), ("host_waits", "callbacks", None), ("callbacks", "subscriber", None),
            ("subscriber", "bare", None), ("kernels", "host_waits", None))


class Session:
    """A session of wic-prof, for a program that joins it by its environment."""

    def __init__(self, build, work, trace):
        words = [build / "bin" / "wic-prof", "run", "-q", "-f", "-o", work / "t.wicprof", f"--trace={trace}",
                 "--mode=poll", "--", "sh", "-c", "env -0; echo; cat >&2"]
        self.run = subprocess.Popen(words, env={**os.environ, "XDG_RUNTIME_DIR": str(work)}, cwd=work,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines = self.run.stdout.readline().decode().rstrip("\n").split("\0")
        self.environment = dict(one.split("=", 1) for one in lines if "=" in one)

    def end(self):
        self.run.stdin.close()
        self.run.wait(timeout=20)


def steps(environment, program, count):
    """In the child: the median step, and the median CPU time of the thread in a step (ns)."""
    os.environ.update(environment)
    import torch  # imported before the fork
    import torch_steps
    torch.manual_seed(1)
    step, walls, cpus = torch_steps.PROGRAMS[program](), [], []
    with torch.inference_mode(program == "decode"):
        for number in range(WARM + count):
            wall, cpu = time.monotonic_ns(), time.thread_time_ns()
            step()
            if number >= WARM:
                walls.append(time.monotonic_ns() - wall)
                cpus.append(time.thread_time_ns() - cpu)
    return {"wall": statistics.median(walls), "mean": statistics.mean(walls), "cpu": statistics.median(cpus)}


def measure(options, way, work):
    environment, session = {"CUDA_MODULE_LOADING": "LAZY"}, None
    if way in TRACES:
        session = Session(options.build, work, TRACES[way])
        environment.update((name, text) for name, text in session.environment.items()
                           if name.startswith("WICPROF_") or name.endswith("_INJECTION64_PATH"))
        if "CUDA_INJECTION64_PATH" not in environment:
            raise RuntimeError("wic-prof did not name its library")
    elif way != "bare":
        environment.update(CUDA_INJECTION64_PATH=str(options.build / "lib" / "libhost_waits_empty_callbacks.so"),
                           EMPTY_CALLBACKS="driver" if way == "callbacks" else "none")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            text = json.dumps(steps(environment, options.program, options.steps))
        except Exception as error:
            text = json.dumps({"error": str(error)[:300]})
        os.write(write, text.encode())
        os.close(write)
        # As a program ends, without Python's own end, which another process's state would disturb.
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    waits = None
    if session:
        session.end()
        import sqlite3
        with sqlite3.connect(work / "t.wicprof") as trace:
            waits = trace.execute("SELECT count(*) FROM host_wait").fetchone()[0]
    found = json.loads(text or '{"error": "the child ended early"}')
    if "error" in found or waits == 0:
        raise RuntimeError(f"{way}: {found}, {waits} waits recorded")
    return {**found, "waits": waits}


def compare(above, below, rng):
    def ratio(pick):
        return statistics.median(pick(above)) / statistics.median(pick(below))
    drawn = sorted(ratio(lambda all_: rng.choices(all_, k=len(all_))) for _ in range(SAMPLES))
    return ratio(lambda all_: all_), drawn[SAMPLES // 40], drawn[-SAMPLES // 40]


def rows_of(program, found):
    rows, rng = [], random.Random(1)
    for above, below, bar in COMPARED:
        if min(len(found.get(above, [])), len(found.get(below, []))) < 3:
            continue
        params = {"processes": [len(found[above]), len(found[below])]}
        for key in ("wall", "mean", "cpu"):
            ratio, low, high = compare([one[key] for one in found[above]], [one[key] for one in found[below]], rng)
            params[key] = {"ratio": ratio, "low": low, "high": high}
        wall = params["wall"]
        rows.append({"name": f"{program}_{above}_over_{below}", "params": params,
                     "value": statistics.median(one["wall"] for one in found[above]), "unit": "ns",
                     "compared_to": below, "ratio": wall["ratio"], "bar": bar,
                     "holds": None if bar is None else wall["high"] <= bar})
        print(rows[-1]["name"], json.dumps(params), flush=True)
    for way, all_ in found.items():
        if all_:
            rows.append({"name": f"{program}_{way}", "params": {"processes": all_},
                         "value": statistics.median(one["wall"] for one in all_), "unit": "ns", "compared_to": None,
                         "ratio": None, "bar": None, "holds": None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--program", choices=("train", "decode"), default="decode")
    parser.add_argument("--processes", type=int, default=12, help="of each way")
    parser.add_argument("--seconds", type=float, default=40, help="no process begins later")
    parser.add_argument("--steps", type=int, default=60, help="of each process")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    work = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    import torch  # noqa: F401
    import torch_steps  # noqa: F401
    print(f"PyTorch {torch.__version__} was imported", flush=True)
    found = {way: [] for way in options.ways}

    def one(way):
        begin = time.monotonic()
        found[way].append(measure(options, way, work))
        print(way, json.dumps(found[way][-1]), f"{time.monotonic() - begin:.1f} s", flush=True)
    ratios.in_turn(options.ways, options.processes, options.seconds, one)
    rows = rows_of(options.program, found)
    status = result_file.write(options, "torch_processes", "python3 bench/torch_processes.py BUILD -o FILE", rows)
    print("PASS" if status == 0 and any(row["bar"] for row in rows) else "FAIL")


if __name__ == "__main__":
    main()
