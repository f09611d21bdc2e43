#!/usr/bin/env python3
r"""Measures how often wic-prof classifies the applications correctly; writes the confusion matrix for docs/results.

Records each application in every way of waiting, at several sizes and iteration counts, on the CPU device or on GPUs.
Analyses each trace as recorded and with some of its rows removed at random. The expected answers are in each
application's expect.json.

    bench/classification.py --wic-prof build/bin/wic-prof --programs build/bin --machine vm2 \
        -o docs/results/classification.vm2.json

Recording and judging can run on different machines; only a tar file of traces has to be copied:

    bench/classification.py --wic-prof build/bin/wic-prof --programs build/bin --devices cuda:0,cuda:1 \
        --record-to traces.tar
    bench/classification.py --wic-prof build/bin/wic-prof --traces traces.tar --machine h200 \
        -o OUT.json
"""

import argparse
import collections
import concurrent.futures
import functools
import gzip
import io
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading

import result_file

WAYS = ["naive", "poll", "park"]
# Values of --size for the CPU device: small tiles, grids, graphs, lists, images and matrices.
SIZES = {
    "c_srs": [16, 24, 48], "c_cg": [6, 8, 12], "c_fe": [5, 6, 8], "c_h3d": [8, 12, 16], "g_bfs": [512, 1024, 2048],
    "g_bs": [1024, 2048, 4096], "g_c2d": [64, 96, 160], "g_stn": [24, 32, 48], "g_gem": [64, 96, 128],
    "g_kmn": [1024, 2048, 4096],
}
# Values of --size for GPUs: enough work for real kernels, small enough for a short recording.
GPU_SIZES = {
    "c_srs": [64, 96, 128], "c_cg": [24, 32, 48], "c_fe": [16, 24, 32], "c_h3d": [32, 48, 64],
    "g_bfs": [1 << 14, 1 << 16, 1 << 18], "g_bs": [1 << 18, 1 << 19, 1 << 20], "g_c2d": [512, 1024, 2048],
    "g_stn": [64, 96, 128], "g_gem": [512, 768, 1024], "g_kmn": [1 << 16, 1 << 17, 1 << 18],
}
COUNTS = [6, 12]
TIMEOUT_S = 120  # per command
# Short recordings have tens of millions of waits per second; the default buffer would lose records.
GPU_BUFFER_MIB = 1024

Case = collections.namedtuple("Case", "app way size count")
Said = collections.namedtuple("Said", "case removed seed dimension truth answer confidence")


class Failed(Exception):
    pass


def run(words, folder, allowed=(0,)):
    done = subprocess.run([str(word) for word in words], cwd=folder, text=True, capture_output=True, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL)
    if done.returncode not in allowed:
        raise Failed(f"{' '.join(map(str, words))}: status {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
    return done.stdout


def truth_of(app):
    """The application's expect.json; None if it has none."""
    file = result_file.SOURCE / "samples" / app / "expect.json"
    return json.loads(file.read_text()) if file.exists() else None


def applications(programs):
    """The built applications that support the three ways of waiting."""
    return [app for app in SIZES if truth_of(app) and (programs / app).exists()
            and "naive" in run([programs / app, "--help"], programs)]


def devices_of(app, devices):
    """The application's --devices. `devices`: GPUs, or None for the CPU devices that expect.json names."""
    if devices is None:
        return truth_of(app).get("devices")
    ends = devices.split(",")
    return ends[0] if app.startswith("c_") else ",".join(ends if len(ends) > 1 else ends * 2)


def record(tools, case, folder, devices=None):
    trace = folder / f"{case.app}.{case.way}.{case.size}.{case.count}.wicprof"
    own = devices_of(case.app, devices)
    buffer = ["--buffer-size", GPU_BUFFER_MIB] if devices else []
    words = [tools["wic_prof"], "run", "-q", "-f", *buffer, "-o", trace, "--", tools["programs"] / case.app,
             "--wait", case.way, "--size", case.size, "--iterations", case.count]
    run(words + (["--devices", own] if own else []), folder)
    return trace


def case_of(name):
    app, way, size, count = name.split(".")[:4]
    return Case(app, way, int(size), int(count))


def all_cases(apps, sizes):
    return [Case(app, way, size, count) for app in apps for way in WAYS for size in sizes[app] for count in COUNTS]


def record_to(tar, tools, apps, devices, jobs):
    """Packs all recordings into `tar`, prints the failed ones and returns their number."""
    failures = 0
    with tempfile.TemporaryDirectory(prefix="wic-prof-classification-") as folder, tarfile.open(tar, "w") as pack, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        cases = all_cases(apps, SIZES if devices is None else GPU_SIZES)
        recordings = {pool.submit(record, tools, case, pathlib.Path(folder), devices): case for case in cases}
        for done in concurrent.futures.as_completed(recordings):
            try:
                trace = done.result()
            except (Failed, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"{recordings[done]}: {error}", file=sys.stderr, flush=True)
                continue
            packed = gzip.compress(trace.read_bytes(), mtime=0)
            trace.unlink()
            entry = tarfile.TarInfo(trace.name + ".gz")
            entry.size = len(packed)
            pack.addfile(entry, io.BytesIO(packed))
    print(f"{len(cases) - failures} of {len(cases)} recorded", file=sys.stderr)
    return failures


def remove_rows(trace, to, part, seed):
    """Copies the trace to `to` and removes each wait, signal and host_wait row with probability `part`."""
    shutil.copy(trace, to)
    draw = random.Random(seed)
    with sqlite3.connect(to) as file:
        for table in ("wait", "signal", "host_wait"):
            ids = [row[0] for row in file.execute(f"SELECT id FROM {table} ORDER BY id")]
            gone = [(row,) for row in ids if draw.random() < part]
            file.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
    file.close()


def classification(tools, trace, folder):
    return json.loads(run([tools["wic_prof"], "analyze", trace, "--format", "json"], folder))["classification"]


def answers(case, removed, seed, said):
    truth = truth_of(case.app)
    return [Said(case, removed, seed, dimension, truth[dimension], said[dimension], said[f"{dimension}_confidence"])
            for dimension in ("model", "pattern")]


def ask(tools, case, trace, folder, seeds):
    """The answers for one recording, complete and with half of its rows removed."""
    all_said = answers(case, 0.0, 0, classification(tools, trace, folder))
    for seed in seeds:
        thin = folder / "thin.wicprof"
        remove_rows(trace, thin, 0.5, seed)
        all_said += answers(case, 0.5, seed, classification(tools, thin, folder))
        thin.unlink()
    return all_said


def is_wrong(said):
    return said.answer not in (said.truth, "unknown")


def row(name, params, value, of=None, bar=None):
    """`of`: number of analysed traces; `bar`: the required ratio (1: all, 0: none)."""
    ratio = value / of if of else None
    return {"name": name, "params": params, "value": value, "unit": "traces",
            "compared_to": "all traces" if of else None, "ratio": ratio, "bar": bar,
            "holds": None if bar is None else ratio == bar}


def rows_of(all_said):
    rows = []
    for removed in sorted({said.removed for said in all_said}):
        some = [said for said in all_said if said.removed == removed]
        for dimension in ("model", "pattern"):
            asked = [said for said in some if said.dimension == dimension]
            right = sum(said.answer == said.truth for said in asked)
            wrong = sum(map(is_wrong, asked))
            params = {"dimension": dimension, "removed": removed, "traces": len(asked)}
            # Answers for complete traces must be correct; other answers must not be wrong.
            rows.append(row("right", params, right, len(asked), 1 if removed == 0 else None))
            rows.append(row("wrong", params, wrong, len(asked), 0))
            matrix = collections.Counter((said.truth, said.answer) for said in asked)
            rows += [row("confusion",
                         {"dimension": dimension, "removed": removed, "truth": truth, "answer": answer}, count)
                     for (truth, answer), count in sorted(matrix.items())]
        for app in SIZES:
            mine = [said for said in some if said.case.app == app]
            if mine:
                rows.append(row("application_right", {"application": app, "removed": removed, "answers": len(mine)},
                                sum(said.answer == said.truth for said in mine)))
    return rows


def packed_traces(tar):
    """Pairs (case, function that unpacks its trace into a folder) for a file written by --record-to."""
    one_at_a_time = threading.Lock()

    def unpack(entry, folder):
        trace = folder / pathlib.PurePath(entry.name).name.removesuffix(".gz")
        with one_at_a_time, tarfile.open(tar) as pack:
            packed = pack.extractfile(entry).read()
        trace.write_bytes(gzip.decompress(packed))
        return trace

    with tarfile.open(tar) as pack:
        entries = sorted(pack.getmembers(), key=lambda entry: entry.name)
    return [(case_of(entry.name), functools.partial(unpack, entry)) for entry in entries]


def recordings(options, tools):
    """Pairs (case, function that puts its trace into a folder) for all requested cases."""
    if options.traces:
        return packed_traces(options.traces)
    sizes = SIZES if options.devices is None else GPU_SIZES
    cases = all_cases(options.applications or applications(tools["programs"]), sizes)
    return [(case, lambda folder, case=case: record(tools, case, folder, options.devices)) for case in cases]


def judge(tools, case, have_trace, seeds, keep):
    """Returns the answers for one case. `keep`: folder for recordings with an incorrect answer, or None."""
    with tempfile.TemporaryDirectory(prefix="wic-prof-classification-") as name:
        folder = pathlib.Path(name)
        trace = have_trace(folder)
        said = ask(tools, case, trace, folder, seeds)
        if keep and any(one.answer != one.truth for one in said):
            keep.mkdir(parents=True, exist_ok=True)
            shutil.move(trace, keep / trace.name)
        return said


def judge_all(options, tools):
    """The answers for all recordings, and the number of recordings or analyses that failed."""
    all_said, failures = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers_of = [(case, pool.submit(judge, tools, case, have_trace, range(options.seeds), options.keep))
                      for case, have_trace in recordings(options, tools)]
        for case, answer in answers_of:
            try:
                said = answer.result()
            except (Failed, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"{case}: {error}", file=sys.stderr, flush=True)
                continue
            all_said += said
            for one in said:
                if one.answer != one.truth:
                    print(f"{one}", file=sys.stderr, flush=True)
    return all_said, failures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wic-prof", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, help="folder with the applications")
    parser.add_argument("--applications", nargs="*", help="only these applications")
    parser.add_argument("--devices",
                        help="GPUs, such as cuda:0,cuda:1; a single GPU plays both ends (default: the CPU device)")
    parser.add_argument("--record-to", metavar="TAR", help="only record, into this file")
    parser.add_argument("--traces", metavar="TAR", help="only judge the recordings in this file")
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path,
                        help="keep recordings with incorrect answers in this folder")
    parser.add_argument("--jobs", type=int, default=1, help="concurrent recordings or judgements (default: 1)")
    parser.add_argument("--seeds", type=int, default=3, help="number of random removals per trace (default: 3)")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    if not options.traces and not options.programs:
        parser.error("--programs is missing: name the folder with the applications, such as build/bin")
    return options


def command_of(options):
    words = ["classification.py", "--seeds", str(options.seeds)]
    words += ["--devices", options.devices] if options.devices else []
    words += ["--applications", *options.applications] if options.applications else []
    return " ".join(words)


def main():
    options = arguments()
    tools = {"wic_prof": options.wic_prof.resolve(), "programs": options.programs and options.programs.resolve()}
    if options.record_to:
        apps = options.applications or applications(tools["programs"])
        return 1 if record_to(options.record_to, tools, apps, options.devices, options.jobs) else 0
    all_said, failures = judge_all(options, tools)
    status = result_file.write(options, "classification", command_of(options), rows_of(all_said))
    return 1 if failures else status


if __name__ == "__main__":
    sys.exit(main())
