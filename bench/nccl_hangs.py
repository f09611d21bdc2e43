#!/usr/bin/env python3
"""How often wic-prof stuck names the rank and the collective for which an NCCL job hangs.

    nccl_hangs.py BUILD -o FILE [--each 4] [--seed 1] [--limit 200]

On two GPUs with PyTorch; needs BUILD/bin/wic-prof, and in BUILD/lib libwicprof_inject.so and libwicprof_nccl.so. Jobs
of two ranks hang in the ways of nccl_ranks/hang.py; which rank does otherwise is chosen at random. A row per way: in
how many jobs the first cause has the right kind, names that rank and its collective, and is not unknown. One question
per job, two seconds after it hangs. Prints PASS or FAIL.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

JOB = pathlib.Path(__file__).resolve().parent / "nccl_ranks" / "hang.py"
BAR = 0.95
KEEPS = r"^rank {bad} of 2 \(process \d+\) keeps rank {other} waiting: it "
MISSES = r"it has not enqueued ncclAllReduce number {next} of "
# Per way: the kind, and what the first cause says.
WAYS = {
    "left_out": ("absent_rank", KEEPS + "enqueued .*sleeps.*" + MISSES),
    "computes": ("absent_rank", KEEPS + "enqueued .*runs on a CPU.*" + MISSES),
    "loader": ("absent_rank", KEEPS + "enqueued .*sleeps.*" + MISSES),
    "died": ("absent_rank", KEEPS + "has ended.*" + MISSES),
    "size": ("mismatched_call", r"^number {next} of .* is not the same call in all ranks: .*rank {bad} with 2097152"),
    "order": ("mutual_wait", r"^ranks 0, 1 wait for each other.*in different orders"),
}
PATIENCE = 30  # seconds until a job has started


def ask(wic_prof, environment):
    done = subprocess.run([wic_prof, "stuck", "--session=hung", "--format=json"], env=environment, text=True,
                          capture_output=True, timeout=20, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"causes": []}


def judge(jobs, wic_prof, environment, folder, end):
    """By way, whether each answer was right."""
    right = {way: [] for way in WAYS}
    for number, (way, bad) in enumerate(jobs):
        until = min(end, time.monotonic() + PATIENCE)
        while not (folder / f"hangs.{number}").exists() and time.monotonic() < until:
            time.sleep(0.02)
        if not (folder / f"hangs.{number}").exists():
            print(f"# {way}: no time left, or the job did not start", flush=True)
            break
        time.sleep(2)
        causes = ask(wic_prof, environment)["causes"]
        (folder / f"next.{number}").touch()
        first = causes[0] if causes else {"kind": "none", "confidence": "unknown", "text": ""}
        kind, pattern = WAYS[way]
        wanted = pattern.format(bad=bad, other=1 - bad, next=3 + number % 5 + 1)
        right[way].append(first["kind"] == kind and first["confidence"] != "unknown"
                          and re.search(wanted, first["text"]) is not None)
        print(f"{'right' if right[way][-1] else 'WRONG'}: {way}, rank {bad}: {first['kind']} ({first['confidence']}): "
              f"{first['text']}", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=200, help="seconds after which no job begins")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    chosen = random.Random(options.seed)
    jobs = [(way, chosen.randrange(2)) for _ in range(options.each) for way in WAYS]
    wic_prof = options.build / "bin" / "wic-prof"
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = pathlib.Path(name)
        environment = {"NCCL_NVLS_ENABLE": "0", "NCCL_SOCKET_IFNAME": "lo", **os.environ, "XDG_RUNTIME_DIR": name}
        run = subprocess.Popen([wic_prof, "run", "-q", "-f", "-o", folder / "t.wicprof", "--name=hung",
                                "--trace=cuda,nvtx,host,nccl", "--", sys.executable, JOB, folder,
                                *(f"{way}:{bad}" for way, bad in jobs)], env=environment, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            right = judge(jobs, wic_prof, environment, folder, time.monotonic() + options.limit)
        finally:
            os.killpg(run.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(timeout=30)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)  # also what is left of the jobs
    rows = [{"name": way, "params": {"jobs": len(each), "seed": options.seed}, "value": sum(each), "unit": "jobs",
             "compared_to": "jobs that hang so", "ratio": sum(each) / len(each), "bar": BAR,
             "holds": sum(each) / len(each) >= BAR} for way, each in right.items() if each]
    command = f"python3 bench/nccl_hangs.py BUILD -o FILE --each {options.each} --seed {options.seed}"
    status = result_file.write(options, "nccl_hangs", command, rows) if rows else 1
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
