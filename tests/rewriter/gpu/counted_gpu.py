"""Whether the waits of patched loops are counted right, on a GPU: python3 counted_gpu.py BUILD OUT

BUILD holds bin/wic-prof, bin/counted and lib/libwicprof_inject.so. bin/counted knows how often its consumers wait, and
how long. The estimated number of short waits may be off by four times its standard error, as the trace has it; that of
long ones, which are counted one by one, by nothing. A wait of 20 us or more is recorded, but for two kinds: its record
was overwritten, which the trace counts; or its thread looked while another one read the host's word, as all threads but
one may do at the program's first looks. Writes OUT/counted.json (docs/results/README.md says what is in it); prints
PASS or FAIL.
"""

import argparse
import json
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

MOST_ERRORS = 4  # standard errors
# The time of a wait goes from its first round's clock to its last one's: it lacks the first look and the last, of some
# 0.7 us each, and what the program's own clock takes.
SHORTER_BY_NS = 2_500
CASES = {  # name: lanes, rounds, delay
    "close_0us": (1, 400_000, "0"),  # a thread's waits follow each other closely
    "short_3us": (1, 20_000, "3000"),
    "short_10us": (1, 10_000, "10000"),
    "warp_5us": (32, 10_000, "5000"),
    "long_60us": (1, 2_000, "60000"),
    "ready": (1, 20_000, "ready"),
}
PAIRS = 32
COUNTS = """
SELECT coalesce(sum(waits), 0), coalesce(sum(looked), 0), coalesce(sum(sampled), 0), coalesce(sum(timed_rounds), 0),
       coalesce(sum(timed_ns), 0), coalesce(sum(timed), 0),
       coalesce(sum(one_in * (one_in - 1.0) * 8 / 7 * (sampled_squares - sampled * sampled / 8.0)), 0)
FROM wait_count JOIN site ON site.id = wait_count.site_id JOIN string ON string.id = site.name_id
WHERE string.value LIKE '%consume%'
"""
RECORDED = """
SELECT count(*) FROM wait JOIN site ON site.id = wait.site_id JOIN string ON string.id = site.name_id
WHERE string.value LIKE '%consume%'
"""
LOST = """
SELECT coalesce(sum(stat.value), 0) FROM stat JOIN string ON string.id = stat.name_id
WHERE string.value = 'device_ring_dropped'
"""


def run(build, out, name, arguments, delay=None):
    """What the program knows, and what its trace says."""
    trace = out / f"{name}.wicprof"
    command = [build / "bin" / "wic-prof", "run", "-q", "-f", "-o", trace, "--trace", "none", "--rewrite", "--mode",
               "poll", *(["--delay", delay] if delay else []), "--", build / "bin" / "counted", *arguments]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"error": (done.stdout + done.stderr)[-1000:]}
    row = json.loads(lines[-1])
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        (row["counted"], row["looked"], row["sampled"], row["rounds"], row["ns"], row["timed"],
         variance) = database.execute(COUNTS).fetchone()
        row["standard_error"] = max(0, variance) ** 0.5
        row["recorded"] = database.execute(RECORDED).fetchone()[0]
        row["lost"] = database.execute(LOST).fetchone()[0]
    trace.unlink()
    return row


def rows_of(name, row, is_long):
    def result(what, value, unit, truth, holds):
        params = ("looked", "recorded", "lost", "sampled", "timed", "standard_error")
        return {"name": f"{name}_{what}", "params": {"right": holds, **{key: row[key] for key in params}},
                "value": value, "unit": unit, "compared_to": "truth", "ratio": value / truth if truth else None,
                "bar": None, "holds": None}

    truth = row["waits"]
    yield result("counted", row["counted"], "waits", truth,
                 abs(row["counted"] - truth) <= MOST_ERRORS * row["standard_error"])
    longer = truth if is_long else 0
    yield result("longer", row["looked"], "waits", longer or None, row["looked"] == longer)
    # A wait has two records.
    missing = row["looked"] - row["recorded"]
    beside_reader = min(longer, PAIRS - 1)
    yield result("recorded", row["recorded"], "waits", longer or None,
                 row["lost"] / 2 <= missing <= row["lost"] + beside_reader)
    if truth and not is_long:
        mean = row["ns"] / row["timed"] if row["timed"] else 0
        yield result("mean", mean, "ns", row["mean_ns"], 0 <= row["mean_ns"] - mean <= SHORTER_BY_NS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    options.out.mkdir(parents=True, exist_ok=True)
    rows, failures = [], []
    build = options.build.resolve()
    for case, (lanes, rounds, delay) in CASES.items():
        row = run(build, options.out, case, [PAIRS, lanes, rounds, delay])
        print(case, json.dumps(row), flush=True)
        if "error" in row or row["failed"]:
            failures.append(f"{case}: the run failed")
            continue
        rows.extend(rows_of(case, row, is_long=case.startswith("long")))
    # While nothing is recorded nothing is counted.
    quiet = run(build, options.out, "quiet", [PAIRS, 1, 2_000, "3000"], delay="10m")
    print("quiet", json.dumps(quiet), flush=True)
    if "error" in quiet or quiet["counted"] != 0:
        failures.append("quiet: counted while nothing was recorded, or failed")
    failures += [f"{row['name']}: {row['value']}" for row in rows if not row["params"]["right"]]
    options.output = str(options.out / "counted.json")
    result_file.write(options, "counted_gpu", "counted_gpu.py", rows)
    for failure in failures:
        print("FAILED: " + failure)
    print("FAIL" if failures else "PASS")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
