#!/usr/bin/env python3
"""Judges the verdict of before and after: programs against themselves, where every change is a false alarm, and with a
delay put in, which has to be found.

    bench/calibration.py measure BUILD --state STATE [--minutes M] [--kind KIND]... [--program NAME]...
                         [--gpus N]
    bench/calibration.py shipped BUILD [--traces FOLDER] -o docs/results/calibration_shipped.MACHINE.json
    bench/calibration.py report --state STATE... --machine MACHINE -o docs/results/calibration.MACHINE.json

`measure` adds its pairs to STATE, one line of JSON each, until the time is over; it can be run again and again.
`shipped` compares the recorded pairs of samples/traces for which the careful benchmark found no change, which gives
the spread of single runs on a GPU; it adds the recorded comparisons of `run --ab`. `report` writes the result
document. Exit status 1: a claim does not hold.

Kinds of pairs (the first two judge nothing: they give the constants of analyzer/compare/spread.h, as the largest ratios
of single and toggle do for later versions):
  spread_runs  as single           spread_phases  as toggle
  single   one run each               several  four runs each, in turn
  toggle   one change within a run    ab       run --ab --placebo, 10 s
  ci       wic-prof ci, six runs of each side, the reference is the same program
  delay    run --ab, a minute at most, the parked phases are 3 % longer (WIC_SAMPLE_DELAY)
  delayed_runs  eight runs each, the second side is 3 % longer
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import result_file

KINDS = ["spread_runs", "spread_phases", "single", "several", "toggle", "ab", "ci", "delay", "delayed_runs"]
# The largest ratio of two equal units is that of all of them. The constants of analyzer/compare/spread.h are from
# earlier pairs than those that are judged.
SPREADS = {"spread_runs": "single", "spread_phases": "toggle"}
EQUAL = ["single", "several", "toggle", "ab", "ci"]
DELAY = 0.03
MOST_FALSE = 0.05
FEWEST_PAIRS = 300
LEAST_FOUND = 0.8
CI_S = 300  # twelve runs of a program that takes many seconds to start
GIVEN_UP = 1_000_000  # pairs of a kind and program that failed

# Programs and their words: how they end by themselves, and how they run for a time. In the second group an iteration is
# one step of the program, so that a delay of each step is a change of each iteration.
APPLICATIONS = ["c_srs", "c_cg", "c_fe", "c_h3d", "g_bfs", "g_bs", "g_c2d", "g_stn", "g_gem", "g_kmn"]
STEPPED = ["hot_flag", "flag_handoff", "c_h3d"]
HOST_WAITS = ["flag_handoff", "hot_flag"]
# Need a GPU: not measured without one. They do not wait through wic, so they have no modes: only whole runs compare.
# host_steps launches a kernel and waits for it in a call of CUDA, in each step.
GPU_ONLY = {"host_steps": ["bench_host_sharing_md", "1", "1.5", "stop_file", "times_file"],
            "torch": ["python3", result_file.SOURCE / "bench" / "collector" / "torch_train.py", "--launch-bound",
                      "100"]}
TWO_GPUS = {"torch": ["--gpus", "2"]}  # what these add to use both; the applications name their devices
NVTX = {"torch": "launch_bound"}  # the range that is an iteration; the others' iterations are those of their waits
WHOLE_RUNS = ["single", "several", "ci"]
CHANGED_BY_PARKING = {"hot_flag"}  # of samples/traces; the others are equal within 1 % (applications.h200.json)


def devices(name, gpus):
    if gpus == 2:
        return "cuda:0,cuda:1"
    if gpus == 1:
        return "cuda:0,cuda:0" if name.startswith("g_") else "cuda:0"
    return "simt:2" if name.startswith("g_") else "simt:1"


def words(name, gpus, seconds=None):
    if name in GPU_ONLY:
        return [str(word) for word in GPU_ONLY[name][1:]] + (TWO_GPUS[name] if gpus == 2 else [])
    list_ = ["--devices", devices(name, gpus)]
    if name == "c_srs":
        list_ += ["--tiles", "32"]
    if seconds is not None:
        return list_ + ["--seconds", str(seconds)]
    return list_ + ["--iterations", {"c_srs": "4", "hot_flag": "60", "flag_handoff": "300"}.get(name, "12")]


def mode(program):
    """The options of `run` that keep a program in one mode."""
    return [] if program in GPU_ONLY else ["--mode", "poll"]


def largest_ratio(rows):
    """The largest factor, up or down, among the rows of a comparison; 1 if none has a ratio."""
    return max((max(r["ratio"]["value"], 1 / r["ratio"]["value"]) for r in rows if r["ratio"]), default=1)


class Bench:
    def __init__(self, options):
        self.bin = pathlib.Path(options.build).resolve() / "bin"
        self.gpus = options.gpus
        self.state = pathlib.Path(options.state)
        self.end = time.monotonic() + 60 * options.minutes
        self.folder = tempfile.TemporaryDirectory(prefix="wicprof-calibration-")
        self.work = pathlib.Path(self.folder.name)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.work))

    def run(self, *command, status=(0,), env=None, timeout_s=180):
        done = subprocess.run([str(self.bin / command[0]), *map(str, command[1:])], cwd=self.work, capture_output=True,
                              text=True, env={**self.env, **(env or {})}, timeout=timeout_s)
        if done.returncode not in status:
            raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def record(self, trace, program, run_words=(), seconds=None, env=None, status=(0,)):
        self.run("wic-prof", "run", "-q", "-f", "-o", trace, "--trace", "cuda,nvtx", *run_words, "--",
                 *self.command(program, seconds), env=env, status=status)

    def command(self, program, seconds=None):
        """The program and its words. `python3` is the interpreter that holds PyTorch, not a program of ours."""
        file = GPU_ONLY.get(program, [program])[0]
        file = file if file == "python3" else str(self.bin / file)
        return [file, *words(program, self.gpus, seconds)]

    def compare(self, program, *files):
        ranges = ["--nvtx", NVTX[program]] if program in NVTX else []
        return json.loads(self.run("wic-prof", "compare", *files, *ranges, "--format", "json"))

    def keep(self, kind, program, answer, began):
        speedup = answer["speedup"] or {"value": None, "low": None, "high": None}
        line = {"kind": kind, "program": program, "gpus": self.gpus, "verdict": answer["verdict"], "why": answer["why"],
                "method": answer["method"], **speedup, "units": answer["before"]["units"],
                "waits": largest_ratio(answer["sites"]), "latencies": largest_ratio(answer["edges"]),
                "seconds": round(time.monotonic() - began, 2)}
        with self.state.open("a") as state:
            state.write(json.dumps(line) + "\n")
        print(f"{kind} {program}: {line['verdict']} {line['value']}", file=sys.stderr)

    # Each measures at least one pair.
    def single(self, program, kind="single"):
        began = time.monotonic()
        for side in ("a", "b"):
            self.record(f"{side}.wicprof", program, mode(program))
        self.keep(kind, program, self.compare(program, "a.wicprof", "b.wicprof"), began)

    def spread_runs(self, program):
        self.single(program, "spread_runs")

    def spread_phases(self, program):
        self.toggle(program, "spread_phases")

    def several(self, program):
        """Eight runs in turn: one pair of four each, and four pairs of single runs."""
        began = time.monotonic()
        files = {side: [f"{side}{i}.wicprof" for i in range(4)] for side in "ab"}
        for i in range(4):
            for side in ("ab", "ba")[i % 2]:
                self.record(files[side][i], program, mode(program))
            # At once: what is measured counts, even if the time ends before the fourth pair.
            self.keep("single", program, self.compare(program, files["a"][i], files["b"][i]), began)
        self.keep("several", program, self.compare(program, *files["a"], "--after", *files["b"]), began)

    def toggle(self, program, kind="toggle"):
        """A run that never changes, read as one whose second half was switched."""
        began = time.monotonic()
        self.record("toggle.wicprof", program, ["--ab", "--placebo", "--for", "2s", "--precision", "0%", "--end"],
                    seconds=10, status=(0,))
        self.cut_to_one_block("toggle.wicprof")
        self.keep(kind, program, self.compare(program, "toggle.wicprof"), began)

    def cut_to_one_block(self, trace):
        """Joins the schedule's phases to two: the first half and the second half of its time, as one toggle would."""
        import sqlite3
        with sqlite3.connect(self.work / trace) as database:
            (text,) = database.execute("SELECT value FROM meta WHERE key = 'ab_phases'").fetchone()
            phases = [phase.split(":") for phase in text.split(",")]
            begin, end = int(phases[0][1]), int(phases[-1][2])
            middle = (begin + end) // 2
            database.execute("UPDATE meta SET value = ? WHERE key = 'ab_phases'",
                             (f"poll:{begin}:{middle},park:{middle}:{end}",))
        database.close()

    def ab(self, program):
        began = time.monotonic()
        self.record("ab.wicprof", program, ["--ab", "--placebo", "--for", "10s", "--end"], seconds=30)
        self.keep("ab", program, self.compare(program, "ab.wicprof"), began)

    def ci(self, program):
        began = time.monotonic()
        command = self.command(program)
        config = ["[run]", "repeat = 6", "warm_up = 0", f"reference = {json.dumps(command)}", 'trace = "cuda,nvtx"']
        config += [] if program in GPU_ONLY else ['modes = ["poll"]']
        config += ["[compare]", f'nvtx = "{NVTX[program]}"'] if program in NVTX else []
        (self.work / "ci.toml").write_text("\n".join(config) + "\n")
        answer = json.loads(self.run("wic-prof", "ci", "-f", "--config", "ci.toml", "-o", "ci", "--format", "json",
                                     "--", *command, status=(0, 1, 3), timeout_s=CI_S))
        between = answer["between_sides"]
        if between is None or between["before"]["units"] == 0:
            raise RuntimeError(between["reason"] if between else f"no runs to compare: {answer['notes']}")
        self.keep("ci", program, between, began)

    def delay(self, program):
        """Poll against park with the strategy poll: the same waiting in kernels, but a longer step."""
        began = time.monotonic()
        self.record("delay.wicprof", program, ["--ab", "--strategy", "poll", "--for", "1m", "--end"], seconds=90,
                    env={"WIC_SAMPLE_DELAY": f"{DELAY}:park"})
        self.keep("delay", program, self.compare(program, "delay.wicprof"), began)

    def delayed_runs(self, program):
        began = time.monotonic()
        files = {side: [f"{side}{i}.wicprof" for i in range(8)] for side in "ab"}
        for i in range(8):
            for side in ("ab", "ba")[i % 2]:
                self.record(files[side][i], program, ["--mode", "poll"],
                            env={"WIC_SAMPLE_DELAY": str(DELAY)} if side == "b" else None)
        self.keep("delayed_runs", program, self.compare(program, *files["a"], "--after", *files["b"]), began)


def programs_of(kind, gpus):
    if kind in ("delay", "delayed_runs"):
        return STEPPED
    whole = [name for name in GPU_ONLY if gpus and kind in WHOLE_RUNS and (gpus == 1 or name in TWO_GPUS)]
    return APPLICATIONS + (HOST_WAITS if gpus < 2 else []) + whole


def measure(options):
    bench = Bench(options)
    for name in GPU_ONLY:
        if not options.gpus:
            print(f"{name}: needs a GPU, not measured", file=sys.stderr)
    known = lines_of(options.state)
    count = {}
    for line in known:
        count[line["kind"], line["program"]] = count.get((line["kind"], line["program"]), 0) + 1
    while time.monotonic() < bench.end:
        # The kind and program with the fewest pairs are next, so that an interrupted measurement stays balanced.
        pairs = [(kind, program) for kind in options.kind or KINDS for program in programs_of(kind, options.gpus)
                 if not options.program or program in options.program]
        if not pairs:
            return 2
        kind, program = min(pairs, key=lambda pair: count.get(pair, 0))
        if count.get((kind, program), 0) >= GIVEN_UP:
            break
        count[kind, program] = count.get((kind, program), 0) + 1
        try:
            getattr(bench, kind)(program)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{kind} {program}: {error}", file=sys.stderr)
            count[kind, program] += GIVEN_UP  # not again in this run
    return 0


def lines_of(path):
    path = pathlib.Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def row(name, params, value, unit, compared_to=None, ratio=None, bar=None, holds=None):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
            "ratio": ratio, "bar": bar, "holds": holds}


def changed(line):
    return line["verdict"] in ("improvement", "regression")


def spread_rows(name, lines):
    """The largest ratios of two equal units, each over one iteration time, wait or wake latency."""
    largest = lambda values: max((max(v, 1 / v) for v in values if v), default=None)
    rows = []
    for what, values in (("iterations", [l["value"] for l in lines]), ("waits", [l["waits"] for l in lines]),
                         ("latencies", [l["latencies"] for l in lines])):
        rows.append(row(f"{name}_{what}", {"pairs": len(lines)}, largest(values), "ratio"))
    return rows


def group_of(program):
    return "torch" if program == "torch" else "applications" if program in APPLICATIONS else "host_waits"


def cell_rows(equal):
    """One row for each kind of programs, number of GPUs (0: the CPU device) and kind of pairs that was measured."""
    cells = {}
    for line in equal:
        cells.setdefault((group_of(line["program"]), line["gpus"], line["kind"]), []).append(line)
    return [row(f"false_{group}_gpus{gpus}_{kind}", {"programs": group, "gpus": gpus, "kind": kind, "pairs": len(some),
                         "no_change": sum(line["verdict"] == "no change" for line in some)},
                sum(map(changed, some)), "false verdicts") for (group, gpus, kind), some in sorted(cells.items())]


def report(options):
    lines = [line for state in options.state for line in lines_of(state)]
    rows = []
    equal = [line for line in lines if line["kind"] in EQUAL]
    wrong = [line for line in equal if changed(line)]
    if not lines:
        print("no pairs are measured yet", file=sys.stderr)
        return 2
    if equal:
        share = len(wrong) / len(equal)
        rows.append(row("false_verdicts", {"pairs": len(equal), "false": len(wrong), "fewest_pairs": FEWEST_PAIRS},
                        share, "share", "no change", share, MOST_FALSE,
                        None if len(equal) < FEWEST_PAIRS else share <= MOST_FALSE))
    for kind in EQUAL:
        some = [line for line in equal if line["kind"] == kind]
        if not some:
            continue
        verdicts = {name: sum(line["verdict"] == name for line in some)
                    for name in ("improvement", "regression", "no change", "inconclusive")}
        rows.append(row(f"false_verdicts_{kind}", {"pairs": len(some), **verdicts},
                        sum(map(changed, some)) / len(some), "share"))
    rows += cell_rows(equal)
    for kind in ("delay", "delayed_runs"):
        some = [line for line in lines if line["kind"] == kind]
        if not some:
            continue
        found = sum(line["verdict"] == "regression" for line in some)
        wrong = sum(line["verdict"] == "improvement" for line in some)
        rows.append(row(f"found_{kind}", {"pairs": len(some), "found": found, "wrong": wrong, "delay": DELAY,
                                          "longest_s": max(line["seconds"] for line in some)},
                        found / len(some), "share", f"a delay of {DELAY:.0%}", found / len(some), LEAST_FOUND,
                        found / len(some) >= LEAST_FOUND if kind == "delay" else None))
        for program in sorted({line["program"] for line in some}):
            of = [line for line in some if line["program"] == program]
            rows.append(row(f"found_{kind}_{program}", {"pairs": len(of)},
                            sum(line["verdict"] == "regression" for line in of) / len(of), "share"))
    for name, judged in SPREADS.items():
        some = [line for line in lines if line["kind"] in (name, judged)]
        if some:
            rows += spread_rows(name, some)
    for program in sorted({line["program"] for line in equal}):
        of = [line for line in equal if line["program"] == program]
        rows.append(row(f"program_{program}", {"pairs": len(of)}, sum(map(changed, of)) / len(of), "share"))
    for name in GPU_ONLY:
        if equal and not any(line["program"] == name for line in lines):
            why = "out of time" if any(line["gpus"] for line in lines) else "needs a GPU"
            rows.append(row(f"program_{name}", {"skipped": why}, 0, "pairs"))
    if options.traces:
        rows += both_modes(pathlib.Path(options.traces))
    return result_file.write(options, "calibration", "bench/calibration.py measure, report", rows)


def shipped(options):
    """Poll against park of the traces in samples/traces, which the applications benchmark found equal within 1 %, and
    the comparisons of both modes within one longer run that came with them."""
    wic_prof = pathlib.Path(options.build).resolve() / "bin" / "wic-prof"
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for packed in sorted(pathlib.Path(options.traces).glob("*.poll.wicprof.gz")):
            if packed.name.split(".")[0] in CHANGED_BY_PARKING:
                continue
            files = []
            for mode in ("poll", "park"):
                of_mode = packed.with_name(packed.name.replace(".poll.", f".{mode}."))
                file = pathlib.Path(folder) / of_mode.name[:-3]
                file.write_bytes(gzip.decompress(of_mode.read_bytes()))
                files.append(file)
            done = subprocess.run([wic_prof, "compare", *files, "--format", "json"], capture_output=True, text=True,
                                  check=True)
            answer = json.loads(done.stdout)
            lines.append({"program": packed.name.split(".")[0], "verdict": answer["verdict"],
                          "value": (answer["speedup"] or {}).get("value"), "waits": largest_ratio(answer["sites"]),
                          "latencies": largest_ratio(answer["edges"])})
    share = sum(map(changed, lines)) / len(lines)
    rows = [row("false_verdicts_shipped", {"pairs": len(lines)}, share, "share", "no change", share, MOST_FALSE,
                share <= MOST_FALSE)]
    return result_file.write(options, "calibration", "bench/calibration.py shipped",
                             rows + spread_rows("spread_runs", lines) + both_modes(pathlib.Path(options.traces)))


def both_modes(traces):
    """The rows of the comparisons NAME.ab.json: `wic-prof run --ab`, which ended by its precision or by its time."""
    rows = []
    for file in sorted(traces.glob("*.ab.json")):
        answer = json.loads(file.read_text())
        speedup = answer["speedup"]
        name = file.name.split(".")[0]
        equal = None if name in CHANGED_BY_PARKING else not changed(answer)
        rows.append(row(f"ab_{name}", {"low": speedup["low"], "high": speedup["high"], "verdict": answer["verdict"]},
                        speedup["value"], "ratio", "poll", speedup["value"], None if equal is None else 1, equal))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    measuring = verbs.add_parser("measure")
    measuring.add_argument("build")
    measuring.add_argument("--state", required=True)
    measuring.add_argument("--minutes", type=float, default=10)
    measuring.add_argument("--kind", action="append", choices=KINDS)
    measuring.add_argument("--program", action="append")
    measuring.add_argument("--gpus", type=int, default=0, choices=(0, 1, 2), help="0: the CPU device")
    reporting = verbs.add_parser("report")
    reporting.add_argument("--state", required=True, nargs="+")
    reporting.add_argument("--traces", help="a folder of NAME.ab.json, which become rows, too")
    result_file.add_arguments(reporting)
    comparing = verbs.add_parser("shipped")
    comparing.add_argument("build")
    comparing.add_argument("--traces", default=str(result_file.SOURCE / "samples" / "traces"))
    result_file.add_arguments(comparing)
    options = parser.parse_args()
    return {"measure": measure, "report": report, "shipped": shipped}[options.verb](options)


if __name__ == "__main__":
    sys.exit(main())
