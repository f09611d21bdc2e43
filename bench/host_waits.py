#!/usr/bin/env python3
"""Host threads of an unchanged program, toggled while it runs: the program's own way, block and hybrid in turn.

    host_waits.py BUILD -o FILE [--cases 5000,cost,...] [--seconds 150] [--phase 0.7]

On a GPU, at most SECONDS; needs wic-prof, host_waits_app (tests/collector/gpu) and bench_capture_turns in BUILD/bin
and, to tell CUPTI's part of a call's cost, BUILD/lib/libhost_waits_empty_callbacks.so. Cases: 5000, 5000+-50, 200,
200+-50, 20, 20+-50, device, event, copy, plane, to_device, pageable, pageable_plane, cost, quota0.5, quota0.2; all
unless given.

Writes a result document, also after each case: a row per claim. `late_us` is the time by which an iteration is longer
than its kernel; speeds compare the mean kernel plus that time, so that the random lengths of kernels do not enter.
Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ratios  # noqa: E402
import result_file  # noqa: E402
import torch_wait_cost  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("--cases", type=lambda text: text.split(","), default=[])
parser.add_argument("--seconds", type=int, default=150)
parser.add_argument("--phase", type=float, default=0.7,
                    help="seconds; half of that for short kernels, whose times drift by more than the bar allows")
result_file.add_arguments(parser)
options = parser.parse_args()
WIC_PROF, APP = options.build / "bin" / "wic-prof", options.build / "bin" / "host_waits_app"
EMPTY_CALLBACKS = options.build / "lib" / "libhost_waits_empty_callbacks.so"
ENDS = time.monotonic() + options.seconds - 10
WAYS = {"spin": ("poll", None), "block": ("park", "block"), "hybrid": ("park", "hybrid")}
ROUNDS = 2  # twice as many for short kernels
GROUP = pathlib.Path("/sys/fs/cgroup/wicprof_host_waits")

work = pathlib.Path(tempfile.mkdtemp())
# In memory, as where a session lies by default: the pages of a file system cost a program's first events a microsecond.
environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp(dir="/dev/shm")}


def wic_prof(*words, timeout=60):
    return subprocess.run(["timeout", str(timeout), WIC_PROF, *words], env=environment, cwd=work, text=True,
                          capture_output=True)


def toggle(way):
    mode, strategy = WAYS[way]
    words = ["toggle", mode, "--side=host", "--session=host", "--format=json"]
    answer = wic_prof(*words, *(["--strategy", strategy] if strategy else []), timeout=10)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr)
    return json.loads(answer.stdout)


def record(what, microseconds, spread, quota=None):
    """Runs the program while it is toggled. Returns the phases as (way, begin_ns, end_ns), and the toggles' delays."""
    parts = 2 if microseconds < 1000 else 1
    order, phase_s = list(WAYS) * ROUNDS * parts, options.phase / parts
    seconds = 1.0 + (phase_s + 0.07) * len(order) * (1 if quota is None else 1.5)
    words = ["run", "-q", "-f", "-o", "t.wicprof", "--name", "host", "--", APP, what, str(microseconds), str(spread),
             f"{seconds:.2f}"]
    run = subprocess.Popen(["timeout", "60", WIC_PROF, *words], env=environment, cwd=work, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    phases, delays = [], []
    try:
        session = None
        while run.poll() is None and time.monotonic() < ENDS:
            listed = json.loads(wic_prof("sessions", "--format=json", timeout=10).stdout)["sessions"]
            session = next((s for s in listed if s["name"] == "host" and s.get("wic_runtime")), None)
            if session:
                break
            time.sleep(0.05)
        if session is None:
            raise RuntimeError("the program did not join the session: " + run.communicate()[0][-500:])
        if quota is not None:
            (GROUP / "cpu.max").write_text(f"{int(quota * 100_000)} 100000")
            (GROUP / "cgroup.procs").write_text(str(session["pid"]))
        for way in order:
            answer = toggle(way)
            delays.append(answer["took_ns"])
            begin = answer["effective_ns"] + 50_000_000  # without the first waits after the change
            time.sleep(phase_s)
            phases.append((way, begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
    finally:
        output = run.communicate(timeout=60)[0] if run.poll() is None else run.stdout.read()
    if run.returncode != 0:
        raise RuntimeError(f"the program ended with {run.returncode}: {output[-500:]}")
    return phases, delays


def figures(phases):
    database = sqlite3.connect(work / "t.wicprof")
    kernels = database.execute("SELECT k.start_ns, k.end_ns FROM kernel k JOIN string s ON s.id = k.name_id "
                               "WHERE s.value LIKE '%busy%' ORDER BY k.start_ns").fetchall()
    waits = database.execute("SELECT w.begin_ns, w.end_ns, w.cpu_ns, w.strategy_id, w.naps, n.value FROM host_wait w "
                             "LEFT JOIN site p ON p.id = w.site_id LEFT JOIN string n ON n.id = p.name_id "
                             "ORDER BY w.begin_ns").fetchall()
    found = {}
    for way in WAYS:
        late, lengths, cpu, wall, strategies = [], [], 0, 0, set()
        for begin, end in (phase[1:] for phase in phases if phase[0] == way):
            mine = [wait for wait in waits if begin <= wait[0] and wait[1] <= end]
            at, before = 0, None
            for wait in mine:
                while at < len(kernels) and kernels[at][1] <= wait[1]:
                    at += 1
                kernel = kernels[at - 1] if at else None
                if kernel is None or kernel[1] < wait[0] - 1_000_000 or kernel[0] < begin:
                    continue
                if before is not None:
                    late.append(wait[1] - before - (kernel[1] - kernel[0]))
                    lengths.append(kernel[1] - kernel[0])
                before = wait[1]
                strategies.add(wait[3])
                if wait[2] is not None:
                    cpu += wait[2]
                    wall += wait[1] - wait[0]
        if not late:
            raise RuntimeError(f"no waits were recorded while the program waited by {way}")
        late.sort()
        found[way] = {"waits": len(late), "kernel_us": statistics.mean(lengths) / 1e3,
                      "late_us": statistics.mean(late) / 1e3,
                      **{f"late_p{part}_us": late[len(late) * part // 100] / 1e3 for part in (50, 90, 99)},
                      "cpu_share": cpu / wall, "cpu_us_per_wait": cpu / len(late) / 1e3,
                      "strategies": sorted(s or 0 for s in strategies)}
    sites = sorted({wait[5] for wait in waits if wait[5]})
    wake = database.execute("SELECT value FROM meta WHERE key = 'host_wake_ns'").fetchone()
    return found, sites, int(wake[0]) if wake else None


def speed(found, way, over):
    """The speed-up over another way, for the hybrid's kernels."""
    kernel = found["hybrid"]["kernel_us"]
    return (kernel + found[over]["late_us"]) / (kernel + found[way]["late_us"])


def add(rows, name, value, unit, compared_to, ratio, bar, holds, **params):
    rows.append({"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
                 "ratio": ratio, "bar": bar, "holds": bool(holds)})
    result_file.write(options, "host_waits", "python3 bench/host_waits.py BUILD -o FILE", rows)


def case(rows, name, what, microseconds, spread, quota=None):
    if time.monotonic() > ENDS - 12:
        print(f"{name}: skipped: no time left", flush=True)
        return
    try:
        phases, delays = record(what, microseconds, spread, quota)
        found, sites, wake = figures(phases)
    except Exception as error:  # the other cases go on
        subprocess.run(["sleep", "1"], check=False)
        add(rows, name, 0, "us", None, None, None, False, error=str(error)[-300:])
        print(f"{name}: {error}", flush=True)
        return
    over_spin, over_block = speed(found, "hybrid", "spin"), speed(found, "hybrid", "block")
    bar = {None: 0.99, 0.5: 1.8, 0.2: 4.0}[quota]
    late = {way: one["late_us"] for way, one in found.items()}
    for way, one in found.items():
        one.pop("strategies")
        for key, value in one.items():
            one[key] = round(value, 4)
    add(rows, f"{name}_hybrid_over_spin", late["hybrid"], "us", f"{name}_spin", over_spin, bar, over_spin >= bar,
        what=what, kernel_us=microseconds, spread=spread, quota=quota, ways=found,
        slowest_toggle_ms=max(delays) / 1e6, sites=sites, wake_us=wake / 1e3 if wake else None)
    add(rows, f"{name}_hybrid_over_block", late["hybrid"], "us", f"{name}_block", over_block, 0.98, over_block >= 0.98)
    cpu = found["hybrid"]["cpu_share"]
    if microseconds >= 5000 and quota is None:
        add(rows, f"{name}_cpu", cpu, "CPUs", "one CPU", cpu, 0.25, cpu <= 0.25)
    print(f"{name}: hybrid over spin {over_spin:.4f}, over block {over_block:.4f}; CPU " +
          ", ".join(f"{way} {one['cpu_share']:.3f}" for way, one in found.items()) + "; late us " +
          ", ".join(f"{way} {one:.1f}" for way, one in late.items()), flush=True)


def added(turns, times):
    """ns that phases with callbacks add to a call, by pairs of phases side by side: (mean, low, high, without)."""
    calls = [line.split() for line in times.read_text().splitlines()]
    calls = [(float(begin), float(ns)) for begin, ns in calls]
    medians = []
    for begin, end, on in torch_wait_cost.phases_of(turns):
        within = [ns for at, ns in calls if begin + 30_000_000 < at < end - 10_000_000]
        if len(within) >= 5:
            medians.append((on, statistics.median(within)))
    pairs = [(a, b) if b[0] else (b, a) for a, b in zip(medians[::2], medians[1::2]) if a[0] != b[0]]
    if len(pairs) < 3:
        raise RuntimeError(f"{len(medians)} phases")
    ratio, low, high = ratios.mean_ratio([on[1] / off[1] for off, on in pairs])
    without = statistics.median(off[1] for off, _ in pairs)
    return {"ns": (ratio - 1) * without, "low": (low - 1) * without, "high": (high - 1) * without, "without": without,
            "pairs": len(pairs)}


def cost_of_a_call(rows, seconds=5.0):
    """ns that the source host_waits adds to a call that finds its work done, while the program's own way is in force:
    recording stops and goes on in one process. Beside that, the same for callbacks of CUPTI that do nothing, which
    show how much of the cost is CUPTI's."""
    times, turns = work / "times", work / "turns"
    found = {}
    try:
        run = subprocess.Popen(["timeout", "30", WIC_PROF, "run", "-q", "-f", "-o", "idle.wicprof",
                                "--trace=kernels,host_waits", "--delay=50ms", "--mode=poll", "--", APP, "idle",
                                str(seconds + 2), times], env=environment, cwd=work, stdout=subprocess.DEVNULL)
        try:
            time.sleep(1.5)  # the runtime's callbacks are disabled by now, where they are not needed
            session, = pathlib.Path(environment["XDG_RUNTIME_DIR"]).glob("wic-prof/*.session")
            turns = torch_wait_cost.record_in_turns(options.build / "bin", session, seconds - 0.5)
        finally:
            run.wait(timeout=30)
        found["wic-prof"] = added(turns, times)
        for calls in ("driver", "both"):
            file = work / f"turns_{calls}"
            subprocess.run(["timeout", "30", APP, "idle", str(seconds / 2), times], check=False, env={
                **os.environ, "CUDA_INJECTION64_PATH": str(EMPTY_CALLBACKS), "EMPTY_CALLBACKS": calls,
                "EMPTY_TURNS": str(file)})
            if file.exists():
                found[f"empty callbacks: {calls}"] = added(file.read_text(), times)
    except Exception as error:
        print(f"call_cost: {error}", flush=True)
    if "wic-prof" not in found:
        return add(rows, "call_cost", 0, "ns", None, None, 500, False)
    cost = found["wic-prof"]
    add(rows, "call_cost", cost["ns"], "ns", "the same call while nothing is recorded",
        1 + cost["ns"] / cost["without"], 500, cost["ns"] <= 500, **found)
    print(json.dumps(rows[-1]), flush=True)


def quota_possible():
    try:
        controllers = pathlib.Path("/sys/fs/cgroup/cgroup.subtree_control")
        if "cpu" not in controllers.read_text().split():
            controllers.write_text("+cpu")
        GROUP.mkdir(exist_ok=True)
        (GROUP / "cpu.max").write_text("max 100000")
        return None
    except OSError as error:
        return str(error)


def main():
    result_file.name_gpu(options)
    rows = []

    def wanted(name):
        return not options.cases or name in options.cases

    for what, microseconds, spread in (("stream", 5000, 0), ("stream", 5000, 0.5), ("stream", 200, 0),
                                       ("stream", 20, 0), ("stream", 200, 0.5), ("stream", 20, 0.5)):
        if wanted(f"{microseconds}" + ("+-50" if spread else "")):
            case(rows, f"{what}_{microseconds}" + ("_spread" if spread else ""), what, microseconds, spread)
    for what in ("device", "event", "copy", "plane", "to_device", "pageable", "pageable_plane"):
        if wanted(what):
            case(rows, f"{what}_5000", what, 5000, 0)
    if wanted("cost"):
        cost_of_a_call(rows)
    why_not = quota_possible()
    for quota in (0.5, 0.2):
        name = f"stream_5000_quota_{quota}"
        if not wanted(f"quota{quota}"):
            continue
        if why_not:
            print(f"{name}: skipped: {why_not}", flush=True)
        else:
            case(rows, name, "stream", 5000, 0, quota)
    for row in rows:
        print(row["name"], "holds" if row["holds"] else "MISSED")
    print("PASS" if rows and all(row["holds"] for row in rows) else "FAIL")


signal.alarm(options.seconds)
main()
