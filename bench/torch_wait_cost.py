#!/usr/bin/env python3
"""What the recording of host threads' waits costs an unmodified PyTorch loop while the program's own way is in force.

    torch_wait_cost.py BUILD -o FILE [--seconds 60] [--programs train,decode]

On a GPU; needs PyTorch, and in BUILD/bin wic-prof and bench_capture_turns.

Runs a training step (the loss read every step) and a decode step (the tokens read every step) under wic-prof, which
records nothing but the waits of host threads, and stops and goes on recording every PERIOD: one process shows both. The
claim compares the median steps of phases side by side: the median over the pairs, with its 95 % interval (bootstrap),
which must end below the bar.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ratios  # noqa: E402
import result_file  # noqa: E402

STEPS = pathlib.Path(__file__).resolve().parent / "host_sharing" / "torch_steps.py"
MOST = 1.01      # of a step without the recording
PERIOD = 0.1     # seconds per phase
FEWEST = 3       # steps of a phase


def record_in_turns(binaries, session, seconds):
    """Stops and goes on recording. Returns a line per phase: its begin, and 1 for a recording one."""
    return subprocess.run([binaries / "bench_capture_turns", session, str(int(PERIOD * 1000)), str(seconds)], text=True,
                          capture_output=True, check=True).stdout


def phases_of(turns):
    """(begin, end, recording) of each phase."""
    begins = [(int(line.split()[0]), line.split()[1] == "1") for line in turns.splitlines()]
    return [(begin, after, on) for (begin, on), (after, _) in zip(begins, begins[1:])]


def measure(options, environment, work, what, seconds):
    """Returns the phases, and the ends of the steps."""
    stop = work / "stop"
    stop.unlink(missing_ok=True)
    run = subprocess.Popen(["timeout", "-k", "2", "100", options.build / "bin" / "wic-prof", "run", "-q", "-f", "-o",
                            "t.wicprof", "--trace=host_waits", "--delay=100ms", "--mode=poll", "--name=cost", "--",
                            sys.executable, STEPS, what, "90", stop, work / "times", "1"], env=environment, cwd=work,
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        while run.poll() is None:  # until the program waits
            listed = subprocess.run([options.build / "bin" / "wic-prof", "sessions", "--format=json"], text=True,
                                    env=environment, capture_output=True, check=False).stdout
            if any(one.get("wic_runtime") for one in json.loads(listed or '{"sessions": []}')["sessions"]):
                break
            time.sleep(0.1)
        time.sleep(1)
        session, = pathlib.Path(environment["XDG_RUNTIME_DIR"]).glob("wic-prof/*.session")
        turns = record_in_turns(options.build / "bin", session, seconds)
    finally:
        stop.touch()
        output = run.communicate(timeout=30)[0]
    if run.returncode != 0:
        raise RuntimeError(output[-300:])
    return phases_of(turns), [int(line) for line in (work / "times").read_text().split()]


def row_of(name, phases, ends):
    medians = []
    for begin, end, on in phases:
        within = [(a, b) for a, b in zip(ends, ends[1:]) if a > begin + 5_000_000 and b < end]
        medians.append((on, statistics.median(b - a for a, b in within) if len(within) >= FEWEST else None))
    pairs = [(a[1], b[1]) if b[0] else (b[1], a[1]) for a, b in zip(medians[::2], medians[1::2])
             if a[0] != b[0] and a[1] and b[1]]
    if len(pairs) < 10:
        return {"name": name, "params": {"phases": len(medians)}, "value": 0, "unit": "ns",
                "compared_to": "the same without a recording", "ratio": None, "bar": MOST, "holds": False}
    each = [round(on / off, 5) for off, on in pairs]
    ratio, low, high = ratios.median_ratio(each)
    return {"name": name, "params": {"pairs": len(pairs), "low": low, "high": high, "ratios": each},
            "value": statistics.median(on for _, on in pairs), "unit": "ns",
            "compared_to": "the same without a recording", "ratio": ratio, "bar": MOST, "holds": high <= MOST}


def late(*_):
    raise TimeoutError("no time left")  # so that the program is stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--programs", type=lambda text: text.split(","), default=["train", "decode"])
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    signal.signal(signal.SIGALRM, late)
    signal.alarm(int(options.seconds) + 5)
    work = pathlib.Path(tempfile.mkdtemp())
    # Lazy loading, which the program has without wic-prof: PyTorch's modules take 10 s otherwise.
    environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp(dir="/dev/shm"), "CUDA_MODULE_LOADING": "LAZY"}
    rows, status = [], 1
    for what in options.programs:
        try:
            phases, ends = measure(options, environment, work, what,
                                   options.seconds / len(options.programs) - 20)  # without its start and end
            rows.append(row_of(f"{what}_step", phases, ends))
        except Exception as error:  # the other one goes on
            rows.append({"name": f"{what}_step", "params": {"error": str(error)[:300]}, "value": 0, "unit": "ns",
                         "compared_to": "the same without a recording", "ratio": None, "bar": MOST, "holds": False})
        print(json.dumps(rows[-1]), flush=True)
        status = result_file.write(options, "torch_wait_cost", "python3 bench/torch_wait_cost.py BUILD -o FILE", rows)
    print("PASS" if status == 0 else "FAIL")


if __name__ == "__main__":
    main()
