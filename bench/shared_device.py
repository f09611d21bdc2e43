#!/usr/bin/env python3
"""Whether analyze names a GPU that another program has by turns, and what that costs.

    shared_device.py BUILD -o FILE [--seconds 1] [--limit 240] [--keep FILE]

On a GPU with PyTorch; needs BUILD/bin/wic-prof and BUILD/lib/libwicprof_inject.so. Nine programs
(shared_device/programs.py) run alone, and beside each of three neighbours that are not recorded; two run beside each
other, both recorded. None of them has served to choose the constants of analyzer/waits/interrupted_kernels.cpp. Rows:
the programs alone of which the analysis says that others have the GPU (none may be); per neighbour, the programs of
which it says so, of those that take a tenth longer beside it; and what it says is lost, by what they take longer.
Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "shared_device" / "programs.py"
LONGER = 1.1
FOUND, LOST_OFF = 0.9, 0.25


def record(options, work):
    """The jobs, and what analyze says of each process."""
    wic_prof, trace = str(options.build / "bin" / "wic-prof"), str(work / "t.wicprof")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(work)}
    done = subprocess.run(["timeout", "-k", "5", "-s", "INT", str(options.limit), wic_prof, "run", "-q", "-f", "-o",
                           trace, "--trace=cuda,host", "--", sys.executable, PROGRAMS, work, str(options.seconds)],
                          env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    jobs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    answer = subprocess.run([wic_prof, "analyze", "--format=json", trace], text=True, env=environment,
                            capture_output=True, timeout=120, check=False)
    if answer.returncode != 0:
        print(answer.stderr[-2000:], flush=True)
    found = {}
    for each in json.loads(answer.stdout or "{}").get("interrupted_kernels") or []:
        found.setdefault(each["process"], []).append(each)
    return jobs, found


def rows_of(jobs, found):
    alone = {job["program"]: job for job in jobs if job["neighbour"] == "none"}
    rows = []

    def add(name, params, value, unit, compared_to, ratio, bar, holds):
        rows.append({"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
                     "ratio": ratio, "bar": bar, "holds": holds})

    wrong = sorted(name for name, job in alone.items() if job["pid"] in found)
    add("alone_found", {"programs": len(alone), "which": wrong}, len(wrong), "programs", "programs that run alone",
        len(wrong) / max(1, len(alone)), 0, bool(alone) and not wrong)
    for neighbour in dict.fromkeys(job["neighbour"] for job in jobs if job["neighbour"] != "none"):
        right, all_, shares = [], {}, []
        for job in (each for each in jobs if each["neighbour"] == neighbour and each["program"] in alone):
            further = job["seconds"] - alone[job["program"]]["seconds"]
            times = job["seconds"] / alone[job["program"]]["seconds"]
            of = found.get(job["pid"], [])
            all_[job["program"]] = {"times": round(times, 3), "turn_us": [each["turn_ns"] / 1e3 for each in of],
                                    "sure": [each["sure"] for each in of],
                                    "lost_of_further": round(sum(each["lost_ns"] for each in of) / 1e9 / further, 3)
                                    if further > 0 else None, "others": [len(each["others"]) for each in of]}
            if times < LONGER:
                continue
            right.append(bool(of) and (neighbour != "recorded" or all(each["others"] for each in of)))
            if of:
                shares.append(all_[job["program"]]["lost_of_further"])
        if right:
            add(f"{neighbour}_found", all_, sum(right), "programs", "programs that take a tenth longer",
                sum(right) / len(right), FOUND, sum(right) / len(right) >= FOUND)
        if shares:
            middle = statistics.median(shares)
            add(f"{neighbour}_lost", {"programs": len(shares)}, middle, "of the further time",
                "the time that the programs take longer", middle, 1 - LOST_OFF, abs(middle - 1) <= LOST_OFF)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=1, help="of a job that runs alone")
    parser.add_argument("--limit", type=float, default=240, help="seconds for all jobs")
    parser.add_argument("--keep", type=pathlib.Path, help="where the trace goes")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        jobs, found = record(options, pathlib.Path(folder))
        if options.keep:
            options.keep.write_bytes((pathlib.Path(folder) / "t.wicprof").read_bytes())
    rows = rows_of(jobs, found)
    for row in rows:
        print(json.dumps(row), flush=True)
    command = f"python3 bench/shared_device.py BUILD -o FILE --seconds {options.seconds}"
    status = result_file.write(options, "shared_device", command, rows)
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
