"""Runs the fuzz targets under libFuzzer: without options, a fixed number of inputs for each.

    run.py [--runs N | --seconds S] [--corpus FOLDER] [--tally FILE] [--keep] PROGRAMS [TARGET...]

PROGRAMS is the folder of the programs fuzz_NAME (build-fuzz/bin). Each target begins with its seeds and the inputs of
corpus/NAME.txt. An input that breaks a target is printed as a line for that file, and the exit status is 1.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
KEPT_BYTES = 6_000  # of a target's corpus in the tree, beside the inputs that once broke it


@dataclasses.dataclass
class Target:
    runs: int  # of a short run: about three seconds on one core
    max_length: int = 1024


TARGETS = {
    "ring": Target(200_000),
    "session": Target(50_000, 256),
    "control_messages": Target(10_000),
    "lane_block": Target(50_000),
    "cupti_records": Target(40_000, 512),
    "machine_code": Target(10_000, 4096),
    "import_json": Target(20_000),
    "import_pickle": Target(100_000, 512),
    "rewriter": Target(2_000, 4096),
    "ci_config": Target(5_000),
    "recorder": Target(50, 4096),
    "trace_file": Target(30, 256),
    "facts": Target(5_000, 16_384),
}
# Only an input that hangs takes long: the slowest takes about 0.1 s on an idle core.
LIMITS = ["-timeout=60", "-rss_limit_mb=3000", "-detect_leaks=0", "-print_final_stats=1", "-reload=0", "-verbosity=1"]


def environment(folder):
    return {**os.environ, "TMPDIR": str(folder), "UBSAN_OPTIONS": "print_stacktrace=1",
            "ASAN_OPTIONS": "malloc_context_size=2:quarantine_size_mb=16:handle_sigbus=0"}


def corpus_lines(name):
    path = CORPUS / f"{name}.txt"
    return path.read_text().splitlines() if path.is_file() else []


def put_corpus(name, folder):
    inputs = [bytes.fromhex(line) for line in corpus_lines(name) if line and not line.startswith("#")]
    for number, data in enumerate(inputs):
        (folder / f"corpus{number}").write_bytes(data)


def put_seeds(program, folder):
    done = subprocess.run([program], env={**environment(folder), "WICPROF_FUZZ_SEEDS": str(folder)}, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{program} does not write its seeds")


@dataclasses.dataclass
class Outcome:
    inputs: int
    seconds: float
    broke: bytes | None
    report: str


def fuzz(program, target, inputs, scratch, runs, seconds, seed):
    """One process of libFuzzer. `inputs`: the folder where it begins, and keeps what reaches new code."""
    found = scratch / "found"
    found.mkdir(exist_ok=True)
    command = [program, f"-max_len={target.max_length}", f"-artifact_prefix={found}/", *LIMITS, f"-seed={seed}"]
    command += [f"-max_total_time={seconds}"] if seconds else [f"-runs={runs}"]
    began = time.monotonic()
    done = subprocess.run([*command, inputs], env=environment(scratch), capture_output=True, text=True,
                          errors="replace")
    number = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    broken = sorted(found.iterdir())
    if done.returncode != 0 and not broken:
        raise SystemExit(f"{program} ended with status {done.returncode}:\n{done.stderr[-3000:]}")
    return Outcome(int(number.group(1)) if number else 0, time.monotonic() - began,
                   broken[0].read_bytes() if broken else None, done.stderr)


def finding(name, outcome):
    lines = outcome.report.splitlines()
    first = next((i for i, line in enumerate(lines) if re.search(r"ERROR:|runtime error|contract is broken", line)), 0)
    return "\n".join([f"{name}: an input breaks it", *lines[first:first + 30],
                      f"mend the cause, and add the input to tests/fuzz/corpus/{name}.txt:", outcome.broke.hex()])


def add_to_tally(path, name, outcome):
    tally = json.loads(path.read_text()) if path.is_file() else {}
    one = tally.setdefault(name, {"inputs": 0, "seconds": 0.0, "since_finding": 0, "findings": 0})
    one["inputs"] += outcome.inputs
    one["seconds"] = round(one["seconds"] + outcome.seconds, 1)
    one["since_finding"] = 0 if outcome.broke is not None else one["since_finding"] + outcome.inputs
    one["findings"] += outcome.broke is not None
    path.write_text(json.dumps(tally, indent=2) + "\n")


def keep(program, name, inputs, scratch):
    """Puts the smallest inputs that reach all of the code known so far into the tree."""
    merged = scratch / "merged"
    merged.mkdir()
    subprocess.run([program, "-merge=1", *LIMITS, merged, inputs], env=environment(scratch), check=True,
                   capture_output=True)
    lines, kept = corpus_lines(name), []
    for i, line in enumerate(lines):
        if line.startswith("#") and i + 1 < len(lines):
            kept += [line, lines[i + 1]]
    space = KEPT_BYTES
    for data in sorted((path.read_bytes() for path in merged.iterdir()), key=lambda data: (len(data), data)):
        if not data or len(data) > space or data.hex() in kept:
            continue
        space -= len(data)
        kept.append(data.hex())
    (CORPUS / f"{name}.txt").write_text("\n".join(kept) + "\n")


def run_target(program, name, options):
    """Returns what it found."""
    target = TARGETS[name]
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="wicprof-fuzz-", dir=shared) as folder:
        scratch = pathlib.Path(folder)
        inputs = options.corpus / name if options.corpus else scratch / "inputs"
        inputs.mkdir(parents=True, exist_ok=True)
        put_seeds(program, inputs)
        put_corpus(name, inputs)
        outcome = fuzz(program, target, inputs, scratch, options.runs or target.runs, options.seconds, options.seed)
        if options.keep and outcome.broke is None:
            keep(program, name, inputs, scratch)
        return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help="inputs per target")
    parser.add_argument("--seconds", type=int, default=0, help="time per target, instead of a number of inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=pathlib.Path, help="a folder that keeps inputs from run to run")
    parser.add_argument("--tally", type=pathlib.Path, help="a file that counts the inputs of all runs")
    parser.add_argument("--keep", action="store_true", help="update tests/fuzz/corpus")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", default=[], metavar="target")
    options = parser.parse_args()
    names = options.targets or [name for name in TARGETS if (options.programs / f"fuzz_{name}").is_file()]
    if not names:
        raise SystemExit(f"{options.programs} has no program fuzz_NAME; build the preset fuzz")
    status = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run_target, (options.programs / f"fuzz_{name}").resolve(), name, options): name
                   for name in names}
        for done in concurrent.futures.as_completed(running):
            name, outcome = running[done], done.result()
            if options.tally:
                add_to_tally(options.tally, name, outcome)
            print(f"{name}: {outcome.inputs} inputs in {outcome.seconds:.0f} s", flush=True)
            if outcome.broke is not None:
                print(finding(name, outcome), flush=True)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
