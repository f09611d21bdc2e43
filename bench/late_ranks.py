#!/usr/bin/env python3
"""How often analyze names the rank of an MPI job that comes late, and why; and what it says of equal ranks.

    late_ranks.py BUILD -o FILE [--jobs 200] [--equal 100] [--seed 1] [--weight 1] [--only sleep,...]
                         [--keep FOLDER]

Jobs of Open MPI and MPICH, of 2 to 16 ranks, in each of which one rank is late for a known cause (tests/cli/mpi/late.c,
late.py), at random: the rank, the cause, by how much and in how many of the steps, the call, one trace of all ranks or
a trace for each. Half of the jobs (rows `improve_...`) served to improve the analysis; the others
(`judge_...`), from another seed, only judge it. A job is drawn again where, by the program's own clock, the other ranks
cost as much: the machine makes ranks late, too. Rows: of how many jobs the finding `late_rank` names the right rank; of
how many also the right cause; how many answers have a wrong rank or cause and a confidence above 0.8; and how far the
finding's cost is off what the program measured itself; and of how many the digests of the traces say the same cause.
Equal ranks: jobs with that finding, or with `imbalance`.

The late rank has one CPU for itself, and the others share a second one, since ranks that wait in a call poll, and a
late rank that shares its CPU with them also lacks it. `co_runner`: a program that computes shares the late rank's CPU.
`throttled`: a control group with a CPU quota has the late rank and its recorder; as root, else left out. `gil`: another
thread of the late rank computes in Python. Equal ranks are on the CPUs where the system puts them.

Not injected here, since they need a GPU: slow kernels and slow copies. Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "tests" / "cli" / "mpi"
RANK_RIGHT, CAUSE_RIGHT, SURE, COST_OFF = 0.98, 0.9, 0.8, 0.1
DRAWS = 5
WORST = 0.6  # a job counts where the rank cost the others at least that share of what all ranks did
LIMIT = 60  # seconds that a job may take
JUDGING = 1_000_000  # added to the seed
# What analyze calls each cause.
CAUSES = {"sleep": "slept", "compute": "computed", "data": "more data", "loader": "child process",
          "gil": "other thread", "co_runner": "no CPU", "throttled": "throttled"}
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
RANK_VARIABLES = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
# MPICH's ranks do not give up their CPU while they wait, so that two on one make each other late.
MOST_RANKS = {"openmpi": 16, "mpich": 2}


class Groups:
    """A control group for all jobs, which has more weight than others, and one within it that has a CPU quota."""

    def __init__(self, weight):
        self.why_not, self.all = None, None
        root = pathlib.Path("/sys/fs/cgroup")
        self.is_v1 = (root / "cpu" / "cpu.cfs_quota_us").exists()
        try:
            if not self.is_v1 and "cpu" not in (root / "cgroup.subtree_control").read_text().split():
                (root / "cgroup.subtree_control").write_text("+cpu")
            self.all = root / ("cpu" if self.is_v1 else "") / f"wicprof_late_{os.getpid()}"
            # Of version 2, a group with processes has no group within it that has a quota.
            self.jobs, self.slow = self.all / "jobs", self.all / "slow"
            self.all.mkdir()
            if not self.is_v1:
                (self.all / "cgroup.subtree_control").write_text("+cpu")
            self.jobs.mkdir()
            self.slow.mkdir()
            share, unit = ("cpu.shares", 1024) if self.is_v1 else ("cpu.weight", 100)
            (self.all / share).write_text(str(weight * unit))
            self.limit(0.4, 20_000)
            (self.jobs / "cgroup.procs").write_text(str(os.getpid()))
        except OSError as error:
            self.why_not = str(error)

    def limit(self, share, period_us):
        if self.is_v1:
            (self.slow / "cpu.cfs_period_us").write_text(str(period_us))
            (self.slow / "cpu.cfs_quota_us").write_text(str(int(share * period_us)))
        else:
            (self.slow / "cpu.max").write_text(f"{int(share * period_us)} {period_us}")

    def remove(self):
        if self.all is None or not self.all.exists():
            return
        (self.all.parent / "cgroup.procs").write_text(str(os.getpid()))
        for folder in (self.jobs, self.slow, self.all):
            if folder.exists():
                folder.rmdir()


class Job:
    def __init__(self, cause, chosen, implementations):
        self.cause, self.mpi = cause, chosen.choice(implementations)
        self.ranks = chosen.choice([n for n in (2, 3, 4, 6, 8, 12, 16) if n <= MOST_RANKS[self.mpi]])
        if cause == "gil":
            self.ranks = min(self.ranks, 8)  # each is a Python
        self.bad = chosen.randrange(self.ranks)
        self.every = chosen.choice((1, 1, 2, 5))
        # Later than the ranks that share the other CPU.
        self.late_us = chosen.randrange(3000, 12000) + 600 * self.ranks
        # As many late steps as chance does not bring.
        self.base_us, self.steps = chosen.randrange(100, 400), chosen.randrange(20, 40) * self.every
        self.call = chosen.choice(("allreduce", "barrier", "alltoall", "allgatherv"))
        self.many_traces = chosen.random() < 0.5
        if cause == "data":
            self.call = "allgatherv"
            self.ranks = min(self.ranks, 4)
            self.base_us = self.late_us // chosen.randrange(4 * self.ranks, 8 * self.ranks)
        if cause in ("co_runner", "throttled"):
            self.ranks, self.every, self.base_us, self.steps = 2, 1, chosen.randrange(4000, 15000), 40
        if cause == "throttled":
            self.many_traces = True  # a container's trace has its quota
        if cause == "gil":
            self.every, self.base_us, self.steps = 1, chosen.randrange(1000, 3000) // (self.ranks - 1), 120
            self.late_us = chosen.randrange(3000, 8000)
            self.call = chosen.choice(("allreduce", "barrier"))
        self.bad %= self.ranks
        if cause == "none":
            self.base_us = chosen.randrange(200, 2000)

    def __str__(self):
        return (f"{self.cause}: {self.mpi}, rank {self.bad} of {self.ranks}, {self.late_us} us in one of {self.every} "
                f"of {self.steps} steps of {self.base_us} us, {self.call}, "
                f"{'a trace for each rank' if self.many_traces else 'one trace'}")


class Bench:
    def __init__(self, options, folder):
        self.folder, self.options, self.rows, self.not_late = pathlib.Path(folder), options, [], 0
        self.wic_prof = options.build / "bin" / "wic-prof"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        self.implementations = [name for name in LIBRARIES if shutil.which(f"mpicc.{name}")]
        for name in self.implementations:
            subprocess.run([f"mpicc.{name}", "-O1", "-w", SOURCES / "late.c", "-o", self.folder / f"late_{name}"],
                           check=True)
        self.groups = Groups(options.weight)
        self.cpu = sorted(os.sched_getaffinity(0))[0]

    def command(self, job):
        words = [job.bad, job.late_us, job.every, job.steps, job.base_us, job.call]
        if job.cause == "gil":
            app = ["python3", SOURCES / "late.py", LIBRARIES[job.mpi], "gil", *words, 1]
        else:
            own = job.cause if job.cause not in ("co_runner", "throttled") else "given"
            app = [self.folder / f"late_{job.mpi}", own, *words, int(job.cause != "none")]
        root = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if job.mpi == "openmpi" else []
        launcher = [f"mpirun.{job.mpi}", *root, "-n", job.ranks]
        run = [self.wic_prof, "run", "-q", "-f", "--trace=mpi,host", "-o"]
        if job.many_traces:
            if job.cause == "throttled":  # the whole rank, as in a container of its own
                move = f'[ "${RANK_VARIABLES[job.mpi]}" = {job.bad} ] && echo $$ > {self.groups.slow}/cgroup.procs; '
                launcher += ["sh", "-c", move + 'exec "$@"', "sh"]
            return [*launcher, *run, f"rank.%q{{{RANK_VARIABLES[job.mpi]}}}.wicprof", "--", *app]
        return [*run, "rank.all.wicprof", "--", *launcher, *app]

    def run(self, job):
        """(late rank or None, cause, confidence, cost, true cost, whether digests say the same, whether ranks are late
        in turn); None where the job failed, or where by the program's own clock another rank cost as much."""
        for trace in self.folder.glob("rank.*"):
            trace.unlink()
        runner = None
        if job.cause == "co_runner":
            runner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            os.sched_setaffinity(runner.pid, {self.cpu})
        app = subprocess.Popen(list(map(str, self.command(job))), cwd=self.folder, env=self.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            output, errors = app.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(app.pid, signal.SIGKILL)
            output, errors = app.communicate()
        finally:
            if runner is not None:
                runner.kill()
                runner.wait()
        if app.returncode != 0:
            print(f"failed: {job}: {errors[-300:]}", flush=True)
            return None
        costs = json.loads(output.strip().splitlines()[-1])["cost_ns"]
        truth = costs[job.bad]
        if job.cause != "none" and truth < WORST * sum(costs):
            self.not_late += 1
            return None
        traces = sorted(self.folder.glob("rank.*.wicprof"))
        answer, digest = self.analysis(traces), self.analysis(self.digests(traces))
        rules = [each["rule"] for each in answer["findings"]]
        first, why = answer["mpi"]["ranks"][0], answer["mpi"]["late_cause"] or {"cause": "unknown", "confidence": 0}
        same = all(digest["mpi"][part] == answer["mpi"][part] for part in ("late_cause", "efficiency"))
        late = first["rank"] if "late_rank" in rules else None
        return late, why["cause"], why["confidence"], first["cost_ns"], truth, same, "imbalance" in rules

    def analysis(self, files):
        done = subprocess.run([self.wic_prof, "analyze", "--format=json", *files], env=self.environment, text=True,
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    def digests(self, traces):
        made = [trace.with_suffix(".digest") for trace in traces]
        for trace, to in zip(traces, made):
            subprocess.run([self.wic_prof, "digest", trace, "-f", "-o", to], env=self.environment, capture_output=True,
                           check=True)
        return made

    def add(self, name, value, unit, bar=None, ratio=None, compared_to=None, at_most=False, **params):
        holds = None if bar is None or ratio is None else ratio <= bar if at_most else ratio >= bar
        self.rows.append({"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
                          "ratio": ratio, "bar": bar, "holds": holds})
        print(json.dumps(self.rows[-1]), flush=True)

    def kinds(self):
        kinds = [kind for kind in CAUSES if not self.options.only or kind in self.options.only]
        if self.groups.why_not and "throttled" in kinds:
            kinds.remove("throttled")
            self.add("throttled_left_out: " + self.groups.why_not, 0, "jobs")
        return kinds

    def half(self, half):
        chosen = random.Random(self.options.seed + (JUDGING if half == "judge" else 0))
        kinds, answers, self.not_late = self.kinds(), [], 0
        for number in range(self.options.jobs):
            for _ in range(DRAWS):
                job = Job(kinds[number % len(kinds)], chosen, self.implementations)
                answer = self.run(job)
                if answer is not None:
                    break
            else:
                continue
            rank, cause, confidence, cost, truth, same, _ = answer
            right, why = rank == job.bad, cause == CAUSES[job.cause]
            answers.append((job, right, right and why, not (right and why) and rank is not None and confidence > SURE,
                            abs(cost / truth - 1) if right and truth > 0 else None, same, cause))
            if not (right and why) or self.options.verbose:
                print(f"{half}: {job}: named rank {rank}, {cause} ({confidence:.2f}), cost {cost / 1e6:.1f} of "
                      f"{truth / 1e6:.1f} ms", flush=True)
                self.keep(half, number)
        self.add(f"{half}_drawn_again", self.not_late, "jobs", drawn=len(answers) + self.not_late)
        for kind in [None, *kinds]:
            self.add_half(half, kind, [each for each in answers if kind in (None, each[0].cause)])

    def keep(self, half, number):
        if self.options.keep is None:
            return
        folder = self.options.keep / f"{half}_{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for trace in self.folder.glob("rank.*.wicprof"):
            shutil.copy(trace, folder)

    def add_half(self, half, kind, answers):
        if not answers:
            return
        bars, name, jobs = half == "judge" and kind is None, f"{half}_{kind or 'all'}", len(answers)
        said = {}
        for *_, cause in answers:
            said[cause] = said.get(cause, 0) + 1
        rank, why, wrong = (sum(each[column] for each in answers) for column in (1, 2, 3))
        self.add(f"{name}_rank_right", rank, "jobs", RANK_RIGHT if bars else None, rank / jobs, "all jobs", jobs=jobs)
        self.add(f"{name}_cause_right", why, "jobs", CAUSE_RIGHT if bars else None, why / jobs, "all jobs", jobs=jobs,
                 said=said)
        same = sum(each[5] for each in answers)
        self.add(f"{name}_digests_say_the_same", same, "jobs", 1 if bars else None, same / jobs, "all jobs", jobs=jobs)
        self.add(f"{name}_surely_wrong", wrong, "jobs", 0 if bars else None, wrong / jobs, "all jobs", True, jobs=jobs)
        off = sorted(each[4] for each in answers if each[4] is not None)
        if not off:
            return
        self.add(f"{name}_cost_off_median", statistics.median(off), "of the cost", None, statistics.median(off),
                 "what the program measured", jobs=len(off))
        near = sum(each <= COST_OFF for each in off) / len(off)
        self.add(f"{name}_cost_within_10_percent", near * len(off), "jobs", CAUSE_RIGHT if bars else None, near,
                 "jobs whose rank is right", jobs=len(off), worst=off[-1])

    def equal(self):
        chosen, found, done, in_turn = random.Random(self.options.seed), 0, 0, 0
        for _ in range(self.options.equal):
            for _ in range(DRAWS):
                job = Job("none", chosen, self.implementations)
                answer = self.run(job)
                if answer is not None:
                    break
            else:
                continue
            done += 1
            in_turn += answer[-1]
            if answer[-1]:
                print(f"{job}: late in turn", flush=True)
                self.keep("equal_turn", done)
            if answer[0] is not None:
                found += 1
                print(f"{job}: named rank {answer[0]}, {answer[1]} ({answer[2]:.2f})", flush=True)
                self.keep("equal", done)
        if done:
            self.add("equal_findings", found, "jobs", 0, found / done, "all jobs", True, jobs=done)
            self.add("equal_late_in_turn", in_turn, "jobs", 0, in_turn / done, "all jobs", True, jobs=done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--jobs", type=int, default=200, help="of each half")
    parser.add_argument("--equal", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weight", type=int, default=1,
                        help="of the jobs' control group; more than 1 where other programs run meanwhile")
    parser.add_argument("--half", choices=("improve", "judge"), help="only this half")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--keep", type=pathlib.Path, help="where to copy traces whose answer is wrong")
    parser.add_argument("--verbose", action="store_true")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        try:
            for half in ("improve", "judge"):
                if options.half in (None, half):
                    bench.half(half)
            bench.equal()
        finally:
            bench.groups.remove()
    command = (f"python3 bench/late_ranks.py BUILD -o FILE --jobs {options.jobs} --equal {options.equal} "
               f"--seed {options.seed} --weight {options.weight}")
    status = result_file.write(options, "late_ranks", command, bench.rows)
    print("PASS" if status == 0 else "FAIL", f"{time.monotonic() - begun:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
