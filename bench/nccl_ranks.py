#!/usr/bin/env python3
"""Whether analyze names the rank of an NCCL job that is late, and why; and what recording costs such a job.

    nccl_ranks.py BUILD -o FILE [--rounds 2] [--steps 90] [--late-ms 15] [--limit 260] [--keep FOLDER]
                  [--job COMMAND] [--range steps]

On two GPUs with PyTorch; needs BUILD/bin/wic-prof, and in BUILD/lib libwicprof_inject.so, libwicprof_nccl.so and
libhost_waits_empty_callbacks.so.
The job (nccl_ranks/job.py) trains by DistributedDataParallel; its rank 1 is late in every third step for a known cause.
Each cause runs once under `wic-prof run`, and analyze's answer is judged: the rank, the cause, and the cost, which must
be within 10 % of what rank 0's late steps took longer than the median of its others, by its own clock. Equal ranks must
have no finding.

Then the job of equal ranks in four ways in turn, each a process of its own: bare; recorded without NCCL's plugin;
recorded with the plugin; and with CUPTI's records of kernels and calls alone, without wic-prof. Rows compare the
medians over the rounds of the median steps, and of an all-reduce of 1 KiB, which takes the host longer than the GPU.
Last, equal ranks that replay a captured graph of all-reduces, which are not recorded: bare, and recorded with the
plugin.

Prints each answer, and where one is wrong all that analyze says. Ends within --limit seconds: rounds that do not fit
are left out. --job and --range: another job of the same arguments, and the NVTX range of its steps ('': all of it).
Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

JOB = pathlib.Path(__file__).resolve().parent / "nccl_ranks" / "job.py"
# What analyze may call each cause.
CAUSES = {"none": None, "graph": None, "sleep": {"slept"}, "compute": {"computed"}, "gil": {"other thread"},
          "loader": {"child process"}, "kernel": {"kernels"}, "data": {"kernels", "more data"}, "copy": {"copies"}}
LATE_RANK = 1
RANK_RIGHT, CAUSE_RIGHT, COST_OFF = 0.98, 0.9, 0.1
MOST = 1 / 0.99  # of a bare step
WAYS = {"bare": None, "recorded": "host,cuda,nvtx", "plugin": "host,cuda,nvtx,nccl", "cupti": None}  # --trace
CUPTI_ALONE = "libhost_waits_empty_callbacks.so"
ONE_RUN = 70    # seconds that a job may take
LAST_START = 20  # no run begins with fewer seconds left


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.end = time.monotonic() + options.limit
        self.rows = []
        # NVLink multicast is off where others share the host's GPUs, and the ranks meet on this machine.
        self.environment = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
                            "NCCL_SOCKET_IFNAME": "lo", **os.environ, "XDG_RUNTIME_DIR": str(work)}
        for name in ("NCCL_PROFILER_PLUGIN", "RANK", "WORLD_SIZE", "LOCAL_RANK", "WICPROF_TRACE"):
            self.environment.pop(name, None)

    def row(self, name, params, value, unit, compared_to=None, ratio=None, bar=None, holds=None):
        self.rows.append({"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
                          "ratio": ratio, "bar": bar, "holds": holds})
        print(json.dumps(self.rows[-1]), flush=True)

    def left(self):
        return self.end - time.monotonic()

    def run(self, way, cause, **environment):
        """Runs the job. Returns what it measured; None where it failed, which is printed."""
        times = self.work / "times.json"
        times.unlink(missing_ok=True)
        command = [*self.options.job, cause, str(self.options.steps), str(self.options.late_ms), str(times)]
        if way == "cupti":
            environment.update(CUDA_INJECTION64_PATH=str(self.options.build / "lib" / CUPTI_ALONE),
                               EMPTY_CALLBACKS="none", EMPTY_ACTIVITIES="kernels,runtime,driver,copies,syncs,events")
        elif way != "bare":
            within = ["--capture-range", self.options.range] if self.options.range else []
            command = [str(self.options.build / "bin" / "wic-prof"), "run", "-q", "-f", "-o", "t.wicprof", *within,
                       f"--trace={WAYS[way]}", "--", *command]
        limit = max(5, min(ONE_RUN, self.left()))
        begin = time.monotonic()
        done = subprocess.run(["timeout", "-k", "5", str(limit), *command], cwd=self.work, text=True,
                              env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        took = f"{time.monotonic() - begin:.1f} s"
        if done.returncode != 0 or not times.exists():
            print(f"FAILED: {way} {cause}: status {done.returncode} after {took}:", done.stdout[-3000:], flush=True)
            return None
        found = json.loads(times.read_text())
        print(f"# {way} {cause}: {took}, NCCL {found.get('nccl')}, median step "
              f"{statistics.median(found['steps']) / 1e6:.3f} ms, 1 KiB {found['small'] / 1e3:.2f} us"
              f"{', said: ' + done.stdout.strip()[-500:] if done.stdout.strip() else ''}", flush=True)
        return found

    def wic_prof(self, *words):
        done = subprocess.run([self.options.build / "bin" / "wic-prof", *words], cwd=self.work, text=True,
                              env=self.environment, capture_output=True, timeout=60, check=False)
        if done.returncode != 0:
            print(f"FAILED: wic-prof {' '.join(words)}: {done.stderr[-1000:]}", flush=True)
        return done.stdout

    def show_rows(self):
        """What the plugin wrote."""
        with sqlite3.connect(self.work / "t.wicprof") as trace:
            print("#   operation, calls, kernels, mean kernel in us:", trace.execute(
                "WITH r AS (SELECT operation, count(*) AS kernels, round(avg(end_ns - begin_ns) / 1e3, 1) AS mean "
                "FROM mpi_request GROUP BY 1) SELECT c.operation, count(*), r.kernels, r.mean "
                "FROM mpi_call c LEFT JOIN r USING (operation) GROUP BY 1").fetchall(), flush=True)

    def judge(self, cause, found):
        answer = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json") or "{}")
        self.show_rows()
        findings = [each["text"] for each in answer.get("findings", []) if each["rule"] == "late_rank"]
        mpi = answer.get("mpi", {})
        ranks, why = mpi.get("ranks") or [{}], mpi.get("late_cause") or {}
        if CAUSES[cause] is None:
            self.row("equal_findings" if cause == "none" else f"{cause}_findings",
                     {"collectives": mpi.get("collectives"), "text": findings}, len(findings), "findings",
                     "jobs of equal ranks", float(len(findings)), 0,
                     len(findings) == 0 and (cause == "graph" or bool(mpi.get("collectives"))))
            right = self.rows[-1]["holds"]
        else:
            late = set(found["late"])
            others = statistics.median(time for number, time in enumerate(found["steps"]) if number not in late)
            truth = sum(found["steps"][number] - others for number in late)
            cost = ranks[0].get("cost_ns", 0)
            rank_right = bool(findings) and ranks[0].get("rank") == LATE_RANK
            cause_right = rank_right and why.get("cause") in CAUSES[cause]
            off = abs(cost / truth - 1) if truth > 0 else None
            self.row(f"{cause}_cost", {"rank": ranks[0].get("rank"), "cause": why.get("cause"),
                                       "confidence": why.get("confidence"), "late_steps": len(late),
                                       "rank_right": rank_right, "cause_right": cause_right,
                                       "others_cost_ms": [one.get("cost_ns", 0) / 1e6 for one in ranks[1:]]},
                     cost / 1e6, "ms", f"what rank 0 measured, {truth / 1e6:.1f} ms",
                     cost / truth if truth > 0 else None, 1 + COST_OFF, off is not None and off <= COST_OFF)
            right = rank_right and cause_right and self.rows[-1]["holds"]
        if not right:
            print(f"WRONG: {cause}: {findings}\n" + self.wic_prof("analyze", "--verbose", "t.wicprof")[:6000],
                  flush=True)
            print(json.dumps({key: mpi.get(key) for key in ("collectives", "incomplete", "operations", "ranks",
                                                            "late_cause")})[:3000], flush=True)
        if self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            (self.options.keep / f"{cause}.wicprof").write_bytes((self.work / "t.wicprof").read_bytes())

    def causes(self):
        for cause in CAUSES:
            if self.left() < LAST_START:
                print(f"# no time left for {cause}", flush=True)
                continue
            log = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT", "NCCL_DEBUG_FILE": str(self.work / "nccl.%p")}
            found = self.run("plugin", cause, **(log if cause == "none" else {}))
            if cause == "none":
                said = {line.split("NCCL INFO ")[-1] for file in self.work.glob("nccl.*")
                        for line in file.read_text(errors="replace").splitlines() if "profiler" in line.lower()}
                print("# NCCL says:", sorted(said)[:8], flush=True)
            if found is None and cause == "none":
                return False  # nothing runs
            if found is not None:
                self.judge(cause, found)
        costs = [row for row in self.rows if row["name"].endswith("_cost")]
        if costs:
            right_of = {what: [row["params"][what] for row in costs] for what in ("rank_right", "cause_right")}
            for what, right, bar in (("rank_right", right_of["rank_right"], RANK_RIGHT),
                                     ("cause_right", right_of["cause_right"], CAUSE_RIGHT),
                                     ("cost_within_10_percent", [row["holds"] for row in costs], None)):
                share = sum(right) / len(costs)
                self.row(what, {"jobs": len(costs)}, sum(right), "jobs", "all jobs", share, bar,
                         None if bar is None else share >= bar)
        return True

    def cost(self):
        steps, small = {way: [] for way in WAYS}, {way: [] for way in WAYS}
        for number in range(self.options.rounds):
            for way in (list(WAYS) if number % 2 == 0 else list(reversed(WAYS))):
                if self.left() < LAST_START:
                    continue
                found = self.run(way, "none")
                if found is None:
                    return
                steps[way].append(statistics.median(found["steps"]))
                small[way].append(found["small"])
        for name, times, unit, scale in (("step", steps, "ms", 1e6), ("small", small, "us", 1e3)):
            if not all(times.values()):
                return print("# no time left for the rounds", flush=True)
            medians = {way: statistics.median(each) for way, each in times.items()}
            for way, to in (("recorded", "bare"), ("plugin", "bare"), ("plugin", "recorded"), ("cupti", "bare"),
                            ("plugin", "cupti")):
                ratio = medians[way] / medians[to]
                bar = MOST if (name, way, to) == ("step", "plugin", "bare") else None
                of_rounds = {each: [round(time / scale, 4) for time in times[each]] for each in (way, to)}
                self.row(f"{name}_{way}_over_{to}", {"rounds": len(times[way]), "of_rounds": of_rounds},
                         medians[way] / scale, unit, f"{name}_{to}", ratio, bar, None if bar is None else ratio <= bar)

    def graphs(self):
        times = {way: [] for way in ("bare", "plugin")}
        for way in [*times, *reversed(times)]:
            found = self.run(way, "graph") if self.left() > LAST_START else None
            if found is not None:
                times[way].append(statistics.median(found["steps"]))
        if all(times.values()):
            medians = {way: statistics.median(each) for way, each in times.items()}
            ratio = medians["plugin"] / medians["bare"]
            self.row("graph_plugin_over_bare", {"of_rounds": {way: [round(time / 1e6, 4) for time in each]
                                                              for way, each in times.items()}},
                     medians["plugin"] / 1e6, "ms", "graph_bare", ratio, MOST, ratio <= MOST)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--late-ms", type=float, default=15)
    parser.add_argument("--limit", type=float, default=260)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--job", type=shlex.split, default=[sys.executable, str(JOB)])
    parser.add_argument("--range", default="steps")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.keep = options.keep and options.keep.resolve()
    for file in ("bin/wic-prof", "lib/libwicprof_nccl.so", f"lib/{CUPTI_ALONE}"):
        if not (options.build / file).exists():
            parser.error(f"{options.build / file} is missing")
    result_file.name_gpu(options)
    command = " ".join(["bench/nccl_ranks.py", "build", *(f"--{name} {value}" for name, value in (
        ("rounds", options.rounds), ("steps", options.steps), ("late-ms", options.late_ms)))])
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        bench = Bench(options, pathlib.Path(folder))
        if bench.causes():
            bench.cost()
            bench.graphs()
    if not bench.rows:
        print("FAIL: no job ran")
        return 1
    status = result_file.write(options, "nccl_ranks", command, bench.rows)
    print("PASS" if status == 0 else "FAIL: " + ", ".join(row["name"] for row in bench.rows if row["holds"] is False))
    return status


if __name__ == "__main__":
    sys.exit(main())
