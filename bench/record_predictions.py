#!/usr/bin/env python3
r"""Records the programs and shapes on which predicted gains are judged, for bench/prediction.py.

Each case runs under `wic-prof run --ab`, which polls and parks in turn; `wic-prof compare --format json` prints the
gain predicted from the polling phases alone and the gain that the phases measured. A case's file is NAME.json in the
output folder. The prediction was improved on the cases of IMPROVE only; JUDGED holds the rest. The split is by
position: every second case of a family.

    bench/record_predictions.py --bin build/bin --devices cuda:0 -o predictions
    bench/prediction.py --machine h200 -o docs/results/prediction.h200.json predictions/*.json

With two devices (`--devices cuda:0,cuda:1`), the programs that use several devices run on both, one after the other;
the others then run on one device each, two at a time.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

Case = collections.namedtuple("Case", "name program options several_devices")
LONGEST_REST_S = 30  # of a run beyond its comparison: the start, and completing a trace of many waits
MOST_GROUPS = 24        # of waits, calls and kernels, whose lengths a document has
PROGRAM_S = 60        # the program runs longer than its comparison, which ends it


def one_device(program, shapes):
    return [Case("%s_%s" % (program, name), program, options, False) for name, options in shapes]


def several_devices(program, shapes):
    return [Case("%s_%s_devices2" % (program, name), program, options, True) for name, options in shapes]


# several shapes per family, from few pollers to many
HOT_FLAG = one_device("hot_flag", (
    ("default", []),
    ("w396", ["--waiters", "396", "--streamers", "264"]),
    ("w132", ["--waiters", "132"]),
    ("w264", ["--waiters", "264"]),
    ("w33", ["--waiters", "33"]),
    ("w528_s132", ["--waiters", "528", "--streamers", "132"]),
    ("w8", ["--waiters", "8"]),
    ("w528_mib16", ["--waiters", "528", "--size", "16"]),
    ("w66_mib16", ["--waiters", "66", "--size", "16"]),
    ("w528_passes8", ["--waiters", "528", "--passes", "8"]),
    ("w2", ["--waiters", "2"]),
    ("w264_passes4", ["--waiters", "264", "--passes", "4"]),
))
HANDOFF = one_device("flag_handoff", (
    ("b1", ["--blocks", "1"]), ("b8", ["--blocks", "8"]), ("b64", ["--blocks", "64"]),
    ("b64_n65536", ["--blocks", "64", "--size", "65536"])))
GRID = [case for program in ("c_cg", "c_fe", "c_h3d") for case in one_device(program, (
    ("n96", ["--size", "96"]), ("n128", ["--size", "128"])))]
OTHERS = [Case("c_srs", "c_srs", [], False), Case("g_kmn", "g_kmn", [], False),
          Case("g_bs_20", "g_bs", ["--size", str(1 << 20)], False),
          Case("g_bs_24", "g_bs", ["--size", str(1 << 24)], False),
          *[Case(name, name, [], False) for name in ("g_bfs", "g_c2d", "g_stn", "g_gem")]]
PEERS = [case for program, shapes in (
    ("g_stn", (("n512", []), ("n256", ["--size", "256"]))),
    ("g_c2d", (("n16384", []), ("n4096", ["--size", "4096"]))),
    ("g_gem", (("n4096", []), ("n2048", ["--size", "2048"]))),
    ("g_kmn", (("c16", []), ("c64", ["--clusters", "64"]))),
    ("g_bs", (("20", ["--size", str(1 << 20)]), ("24", ["--size", str(1 << 24)]))),
    ("g_bfs", (("20", []), ("18", ["--size", str(1 << 18)]))),
) for case in several_devices(program, shapes)]
CPU_AND_PEERS = [case for program, shapes in (
    ("c_fe", (("n64", []), ("n96", ["--size", "96"]))),
    ("c_cg", (("n96", []), ("n64", ["--size", "64"]))),
    ("c_h3d", (("n192", []), ("n96", ["--size", "96"]))),
    ("c_srs", (("t128", []), ("t256", ["--size", "256"]))),
) for case in several_devices(program, shapes)]
# Made programs (bench/made_run): the first from seed 1 on that one GPU can play and whose iterations have numbers.
MADE_SEEDS = (4, 10, 16, 26, 28, 34, 36, 38, 40, 43, 53, 54)
MADE = [Case("made_%d" % seed, "bench_made_run", ["--seed", str(seed)], False) for seed in MADE_SEEDS]
FAMILIES = [HOT_FLAG, HANDOFF, GRID, OTHERS, PEERS, CPU_AND_PEERS, MADE]

IMPROVE = {case.name for family in FAMILIES for case in family[0::2]}
JUDGED = {case.name for family in FAMILIES for case in family[1::2]}


def record(case, device, options):
    """Records one case. Returns its trace, or why there is none."""
    trace = options.output / (case.name + ".wicprof")
    environment = dict(os.environ)
    devices = device or options.devices
    if devices.startswith("cuda:") and "," not in devices:  # the program sees no other device
        environment["CUDA_VISIBLE_DEVICES"] = devices.removeprefix("cuda:")
        devices = "cuda:0"
    if case.program.startswith("g_") and "," not in devices:  # one device plays both ends
        devices = "simt:2" if devices.startswith("simt:") else "%s,%s" % (devices, devices)
    run = [options.bin / "wic-prof", "run", "-q", "-f", "-o", trace, "--ab", "--end", "--for", "%gs" % options.seconds,
           "--precision", "0.5%", "--seed", "1", "--", options.bin / case.program, "--devices", devices,
           "--seconds", str(PROGRAM_S), *case.options]
    ran = subprocess.Popen([str(word) for word in run], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           env=environment, start_new_session=True)
    try:
        _, said = ran.communicate(timeout=options.seconds + LONGEST_REST_S)
    except subprocess.TimeoutExpired as late:
        os.killpg(ran.pid, signal.SIGKILL)  # the program, too: it would disturb the next cases
        ran.wait()
        trace.unlink(missing_ok=True)
        return None, "did not end within %g s" % late.timeout
    if ran.returncode != 0 or not trace.exists():
        trace.unlink(missing_ok=True)
        return None, "could not run: " + (said.strip().splitlines() or ["no message"])[-1]
    return trace, ""


FACTS = {
    "waits": "SELECT arrived_ns, site_id, resumed_ns - arrived_ns, polls, resumed_ns - ready_ns FROM wait "
             "ORDER BY arrived_ns",
    "calls": "SELECT start_ns, string.value, end_ns - start_ns, 0, NULL FROM call JOIN string ON string.id = name_id "
             "ORDER BY start_ns",
    "kernels": "SELECT start_ns, string.value, end_ns - start_ns, 0, NULL FROM kernel JOIN string "
               "ON string.id = name_id ORDER BY start_ns",
}


def facts_of(trace, segments):
    """What the phases of each mode look like: waits by site, calls and kernels by name, with their median lengths."""
    database = sqlite3.connect("file:%s?mode=ro" % trace, uri=True)
    facts = {}
    for table, query in FACTS.items():
        groups = collections.defaultdict(lambda: ([], [], []))
        at = 0
        for begin, name, length, looks, wake in database.execute(query):
            while at < len(segments) and segments[at]["end_ns"] <= begin:
                at += 1
            if at == len(segments):
                break
            if begin < segments[at]["begin_ns"]:
                continue
            lengths, all_looks, wakes = groups[segments[at]["mode"], name]
            lengths.append(length)
            all_looks.append(looks)
            if wake is not None:
                wakes.append(wake)
        most = sorted(groups.items(), key=lambda group: -sum(group[1][0]))[:MOST_GROUPS]
        facts[table] = [{"mode": mode, "of": name, "count": len(lengths), "median_ns": statistics.median(lengths),
                         "sum_ns": sum(lengths), "looks": sum(looks),
                         "wake_median_ns": statistics.median(wakes) if wakes else None}
                        for (mode, name), (lengths, looks, wakes) in most]
    database.close()
    return facts


def made_class(case, trace, options):
    """The class of a made program, and what `analyze` says about its recording."""
    described = subprocess.run([str(options.bin / case.program), "--describe", *case.options], capture_output=True,
                               text=True, check=True)
    answer = json.loads(subprocess.run([str(options.bin / "wic-prof"), "analyze", str(trace), "--format", "json"],
                                       capture_output=True, text=True, timeout=300, check=True).stdout)
    said = {name: answer["classification"][name] for name in ("model", "model_confidence", "pattern",
                                                               "pattern_confidence")}
    return {"program": json.loads(described.stdout), "said": said}


def compare(case, trace, options):
    """Writes the case's document. Returns what the document says, in a few words."""
    said = subprocess.run([str(options.bin / "wic-prof"), "compare", str(trace), "--format", "json"],
                          capture_output=True, text=True, timeout=300, check=False)
    if not said.stdout.startswith("{"):
        return "could not compare: " + said.stderr.strip()
    document = json.loads(said.stdout)
    if case.program == "bench_made_run":
        document["made"] = made_class(case, trace, options)
    try:
        document["facts"] = facts_of(trace, document["segments"])
    except sqlite3.Error as error:
        document["facts"] = str(error)
    (options.output / (case.name + ".json")).write_text(json.dumps(document))
    if case.name not in options.keep:
        trace.unlink()
    words = []
    for name in ("predicted", "speedup"):
        gain = document.get(name)
        words.append("%.4g (%.4g to %.4g)" % (gain["value"], gain["low"], gain["high"]) if gain else "-")
    if not document["predicted"] and document["predicted_bounds"]:
        words[0] = "%.4g to %.4g" % (document["predicted_bounds"]["low"], document["predicted_bounds"]["high"])
    return "predicted %s, measured %s%s" % (*words, "" if document.get("speedup") else ": " + document["reason"])


def record_all(cases, options):
    """Yields each case with its trace or the reason why there is none."""
    began = time.monotonic()
    devices = options.devices.split(",")

    def timed(case, device):
        if time.monotonic() - began > options.limit:
            return case, (None, "no time left")
        return case, record(case, device, options)

    if len(devices) > 1:
        for case in cases:
            if case.several_devices:
                yield timed(case, None)
    free = queue.SimpleQueue()
    for device in devices:
        free.put(device)

    def on_free_device(case):
        device = free.get()
        try:
            return timed(case, device)
        finally:
            free.put(device)

    with concurrent.futures.ThreadPoolExecutor(len(devices)) as lanes:
        yield from lanes.map(on_free_device, [case for case in cases if not case.several_devices])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder of wic-prof and the samples")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--cases", nargs="*", help="only these cases, in this order (default: all)")
    parser.add_argument("--keep", nargs="*", default=[], help="keep these cases' traces")
    parser.add_argument("--seconds", type=float, default=8, help="the longest comparison of a case")
    parser.add_argument("--for", dest="limit", type=float, default=1e9, help="start no case after so many seconds")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    cases = [case for family in FAMILIES for case in family]
    if options.cases:
        by_name = {case.name: case for case in cases}
        cases = [by_name[name] for name in options.cases]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 4)) as comparisons:
        pending = {}
        for case, (trace, why) in record_all(cases, options):
            if trace is None:
                print("%s: %s" % (case.name, why), flush=True)
            else:
                pending[comparisons.submit(compare, case, trace, options)] = case
        for done in concurrent.futures.as_completed(pending):
            print("%s: %s" % (pending[done].name, done.result()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
