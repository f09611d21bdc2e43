#!/usr/bin/env python3
"""What run --ab --energy says of the power that polling takes, against runs of one mode each; and of equal modes.

    energy.py BUILD -o FILE [--ab 40] [--reference 14] [--limit 150] [--device cuda:0]

On a GPU with NVML; needs BUILD/bin/wic-prof and BUILD/bin/hot_flag. Per program: a comparison of --ab seconds, and a
reference: a run per mode, of which the last --reference seconds count. Rows compare the difference in power, what of it
is at the one site that waits, and the ratio of the energies per iteration (bar: within 20 % where polling takes more
than 5 W). Then a comparison of equal modes (--placebo), which should be below resolution. Prints PASS or FAIL.
"""

import argparse
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

START = 3  # seconds of a run that do not count: the program's start, and the way to its power
BAR, FROM_WATTS = 0.2, 5
# Their waiters read a word of the host: beside blocks that compute, which polling hardly slows, and beside blocks that
# stream memory, which it slows very much. Iterations are long enough for traces that are soon read.
PROGRAMS = {"computing": ["--arithmetic", "400", "--streamers", "132", "--waiters", "924", "--size", "64", "--passes",
                          "20"],
            "streaming": ["--waiters", "132", "--passes", "2"]}


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.bin = options.build / "bin"
        self.end = time.monotonic() + options.limit

    def record(self, words, program, seconds):
        trace = self.folder / "t.wicprof"
        command = [self.bin / "wic-prof", "run", "-q", "-f", "-o", trace, "--energy", *words, "--",
                   self.bin / "hot_flag", "--devices", self.options.device, "--seconds", str(seconds), *program]
        begin = time.monotonic()
        done = subprocess.run(command, text=True, capture_output=True, timeout=seconds + 60, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}: {done.stdout[-500:]}{done.stderr[-1000:]}")
        answer = subprocess.run([self.bin / "wic-prof", "analyze", "--format", "json", trace], text=True,
                                capture_output=True, timeout=60, check=True)
        meters = json.loads(answer.stdout)["energy"]
        print(f"# {' '.join(words)}: {time.monotonic() - begin:.1f} s, {trace.stat().st_size >> 20} MiB", flush=True)
        return next((meter for meter in meters if meter["meter"].startswith("GPU")), None), trace

    def reference(self, mode, program):
        """Watts, and joules per iteration, in the last seconds of a run."""
        seconds = START + self.options.reference
        meter, trace = self.record(["--mode", mode], program, seconds)
        with sqlite3.connect(trace) as database:
            readings = database.execute(
                "SELECT at_ns, energy_uj FROM energy JOIN string ON string.id = meter_id WHERE value = ? ORDER BY 1",
                (meter["meter"],)).fetchall()
        late = [one for one in readings if one[0] > readings[-1][0] - self.options.reference * 1e9]
        watts = (late[-1][1] - late[0][1]) * 1e3 / (late[-1][0] - late[0][0])
        return watts, meter[f"{mode}_joules_per_iteration"]

    def compare(self, name, program):
        found, _ = self.record(["--ab", "--for", f"{self.options.ab}s", "--precision", "0%", "--end"], program,
                               self.options.ab + 60)
        (poll, poll_joules), (park, park_joules) = (self.reference(mode, program) for mode in ("poll", "park"))
        print(f"# {name}: polling takes {found['polling_watts']:.2f} W ({found['polling_watts_low']:.2f} to "
              f"{found['polling_watts_high']:.2f}) by {found['poll_segments']} and {found['park_segments']} phases; "
              f"reference: {poll:.2f} W and {park:.2f} W; per iteration "
              f"{found['poll_joules_per_iteration']:.4g} and {found['park_joules_per_iteration']:.4g} J, reference "
              f"{poll_joules:.4g} and {park_joules:.4g} J", flush=True)
        more = poll - park
        ratio = found["polling_watts"] / more
        counts = abs(more) > FROM_WATTS
        rows = [{"name": f"{name}_watts", "params": {
            "poll_watts": found["poll_watts"], "park_watts": found["park_watts"], "low": found["polling_watts_low"],
            "high": found["polling_watts_high"], "phases": found["poll_segments"] + found["park_segments"],
            "reference_poll_watts": poll, "reference_park_watts": park, "seconds": self.options.ab},
            "value": found["polling_watts"], "unit": "W", "compared_to": f"runs of one mode each: {more:.2f} W",
            "ratio": ratio, "bar": 1 + BAR if counts else None, "holds": abs(ratio - 1) <= BAR if counts else None}]
        # One site waits in these programs, so it takes all.
        for site in found["sites"]:
            share = site["watts"] / more
            rows.append({"name": f"{name}_site_watts", "params": {
                "site": site["site"], "waiters": site["waiters"], "low": site["watts_low"], "high": site["watts_high"]},
                "value": site["watts"], "unit": "W", "compared_to": f"runs of one mode each: {more:.2f} W",
                "ratio": share, "bar": 1 + BAR if counts else None,
                "holds": abs(share - 1) <= BAR if counts else None})
        if None not in (poll_joules, park_joules, found["poll_joules_per_iteration"]):
            gain = found["poll_joules_per_iteration"] / found["park_joules_per_iteration"]
            ratio = gain / (poll_joules / park_joules)
            rows.append({"name": f"{name}_joules_per_iteration", "params": {
                "poll_joules": found["poll_joules_per_iteration"], "park_joules": found["park_joules_per_iteration"]},
                "value": gain, "unit": "polling over parked", "compared_to": "runs of one mode each", "ratio": ratio,
                "bar": 1 + BAR, "holds": abs(ratio - 1) <= BAR})
        return rows

    def equal(self, name, program):
        found, _ = self.record(["--ab", "--placebo", "--for", f"{self.options.ab}s", "--precision", "0%", "--end"],
                               program, self.options.ab + 60)
        print(f"# {name}, equal modes: {found['polling_watts']:.2f} W ({found['polling_watts_low']:.2f} to "
              f"{found['polling_watts_high']:.2f})", flush=True)
        told_apart = 0.0 if found["below_resolution"] else 1.0
        return [{"name": f"{name}_equal_told_apart", "params": {
            "low": found["polling_watts_low"], "high": found["polling_watts_high"]}, "value": told_apart,
            "unit": "comparisons of equal modes that were told apart", "compared_to": "all", "ratio": told_apart,
            "bar": 0, "holds": told_apart == 0}]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--ab", type=int, default=40, help="seconds of a comparison")
    parser.add_argument("--reference", type=int, default=14, help="seconds of a run that count")
    parser.add_argument("--limit", type=float, default=150, help="seconds after which nothing begins")
    parser.add_argument("--device", default="cuda:0")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        jobs = [(name, bench.compare, program) for name, program in PROGRAMS.items()]
        for name, job, program in [jobs[0], ("computing", bench.equal, PROGRAMS["computing"]), *jobs[1:]]:
            if time.monotonic() > bench.end:
                print(f"# no time left for {name}", flush=True)
                continue
            try:
                rows += job(name, program)
            except (RuntimeError, TypeError, subprocess.SubprocessError) as error:
                failed = True
                print(f"FAILED: {name}: {error}", flush=True)
    command = f"bench/energy.py build --ab {options.ab} --reference {options.reference}"
    status = result_file.write(options, "energy", command, rows) if rows else 1
    print("PASS" if status == 0 and not failed else "FAIL")
    return status or failed


if __name__ == "__main__":
    sys.exit(main())
