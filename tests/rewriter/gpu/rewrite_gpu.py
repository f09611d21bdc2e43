"""Patched loops on a GPU: python3 rewrite_gpu.py BUILD OUT

BUILD holds bin/wic-prof, bin/untouched, bin/bare_poll and lib/libwicprof_inject.so. Writes OUT/rewrite.json with three
rows per scenario (the original image, the driver's compilation without a patch, the patch with poll in force) and with
what the modes change; prints PASS or FAIL. Takes about two minutes.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

BUILD, OUT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
WICPROF, APP = BUILD / "bin" / "wic-prof", BUILD / "bin" / "untouched"
SCENARIOS = {"chain": 400, "barrier": 4000, "host": 1}
REPEATS = 2
EVERY_5_MS = ",".join(["poll:5ms", "park:5ms"] * 400)
ENDS_BY = time.monotonic() + 140


def say(text):
    print(text, flush=True)


def run(name, *options, app, environment=None, trace_words="none"):
    """One recorded run: what the program printed, and the notices of its trace."""
    trace = OUT / f"{name}.wicprof"
    left = max(5, min(30, ENDS_BY - time.monotonic()))
    command = ["timeout", "-k", "2", str(left), str(WICPROF), "run", "-q", "-f", "-o", str(trace), *options,
               "--", *map(str, app)]
    words = {"WICPROF_TRACE": trace_words}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **words, **(environment or {})})
    row = {"name": name, "status": done.returncode, "notices": []}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            row.update(json.loads(line))
    if done.returncode != 0:
        row["messages"] = (done.stdout + done.stderr)[-1500:]
    try:
        with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
            row["notices"] = [text for (text,) in database.execute(
                "SELECT string.value FROM notice JOIN string ON string.id = notice.text_id ORDER BY notice.id")]
            row["toggles"] = database.execute("SELECT count(*) FROM intervention").fetchone()[0]
    except sqlite3.Error as error:
        row["messages"] = row.get("messages", "") + f"; trace: {error}"
    say(json.dumps(row))
    return row


def best(rows, field="ms"):
    values = [row[field] for row in rows if field in row]
    return min(values) if values else None


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True).stdout.strip()
    document = {"device": device, "rows": [], "summary": {}, "failures": []}
    failures = document["failures"]
    ways = {  # name: options, environment
        "original": ([], {}),
        "recompiled": (["--mode", "poll"], {"WICPROF_REWRITE": "recompile"}),
        "patched_poll": (["--mode", "poll"], {}),
        "patched_park": (["--mode", "park"], {}),
        "toggled": (["--schedule", EVERY_5_MS], {}),
    }
    for scenario, rounds in SCENARIOS.items():
        rows = {way: [] for way in ways}
        for repeat in range(REPEATS):
            for way, (options, environment) in ways.items():
                if time.monotonic() > ENDS_BY - 10:
                    continue
                name = f"{scenario}.{way}.{repeat}"
                words = "devices" if way == "original" else "rewrite"  # the collector is there in all rows
                row = run(name, *options, app=[APP, scenario, rounds], environment=environment, trace_words=words)
                row.update(scenario=scenario, way=way)
                rows[way].append(row)
                document["rows"].append(row)
        if scenario == "host":
            row = run("host.nobody", app=[APP, scenario, 0], trace_words="devices")
            document["rows"].append({**row, "way": "nobody_waits"})
            document["summary"]["host_nobody_beside_ms"] = row.get("beside_ms")
        checksums = {row.get("checksum") for way in ways for row in rows[way]}
        if len(checksums) != 1 or None in checksums:
            failures.append(f"{scenario}: results differ: {sorted(map(str, checksums))}")
        if any(row["status"] != 0 or row.get("failed") for way in ways for row in rows[way]):
            failures.append(f"{scenario}: a run failed")
        for way in ("patched_poll", "patched_park", "toggled"):
            if not all(any("rewrite: patched" in text for text in row["notices"]) for row in rows[way]):
                failures.append(f"{scenario}: {way}: nothing was patched")
        if not any(row.get("toggles", 0) > 2 for row in rows["toggled"]):
            failures.append(f"{scenario}: toggled: no toggle took effect")
        summary = {way: best(rows[way]) for way in ways}
        if scenario == "host":
            summary = {way: best(rows[way], "beside_ms") for way in ways}
        if summary["recompiled"] and summary["patched_poll"]:
            summary["patched_over_recompiled"] = summary["patched_poll"] / summary["recompiled"]
        document["summary"][scenario] = summary
        (OUT / "rewrite.json").write_text(json.dumps(document, indent=1))
    row = run("bare_poll", "--mode", "park", app=[BUILD / "bin" / "bare_poll"], trace_words="rewrite")
    document["rows"].append(row)
    if row["status"] != 0 or not any("rewrite: patched" in text for text in row["notices"]):
        failures.append("bare_poll: not patched")
    (OUT / "rewrite.json").write_text(json.dumps(document, indent=1))
    say(json.dumps(document["summary"], indent=1))
    for failure in failures:
        say("FAILED: " + failure)
    say("FAIL" if failures else "PASS")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
