"""Patched loops on a GPU: python3 rewrite_gpu.py BUILD OUT

BUILD holds bin/wic-prof, bin/untouched, bin/bare_poll and lib/libwicprof_inject.so. Writes OUT/rewrite.json with three
rows per scenario (the original image, the driver's compilation without a patch, the patch with poll in force) and with
what recording and the modes change; prints PASS or FAIL. Takes about two minutes.
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
REPEATS = 3
WITH_COLLECTOR = ("--trace", "devices")  # in all rows, so that the rows differ in the patch alone
EVERY_5_MS = ",".join(["poll:5ms", "park:5ms"] * 400)
ENDS_BY = time.monotonic() + 140


def say(text):
    print(text, flush=True)


def run(name, *options, app, environment=None, what=("--trace", "none", "--rewrite")):
    """One recorded run: what the program printed, and the notices of its trace."""
    trace = OUT / f"{name}.wicprof"
    left = max(5, min(30, ENDS_BY - time.monotonic()))
    command = ["timeout", "-k", "2", str(left), str(WICPROF), "run", "-q", "-f", "-o", str(trace), *what, *options,
               "--", *map(str, app)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
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
            row["waits"] = {
                site: {"count": count, "mean_us": mean, "strategies": strategies, "blocks": blocks}
                for site, count, mean, strategies, blocks in database.execute(
                    "SELECT string.value, count(*), avg(wait.resumed_ns - wait.arrived_ns) / 1e3,"
                    " group_concat(DISTINCT wait.strategy_id), count(DISTINCT wait.block)"
                    " FROM wait JOIN site ON site.id = wait.site_id JOIN string ON string.id = site.name_id"
                    " GROUP BY site.id")}
            row["clock_error_ns"] = [error for (error,) in database.execute(
                "SELECT clock_error_ns FROM device WHERE clock_error_ns IS NOT NULL")]
            row["lost"] = database.execute(
                "SELECT name.value, detail.value, stat.value FROM stat JOIN string AS name ON name.id = stat.name_id"
                " LEFT JOIN string AS detail ON detail.id = stat.detail_id"
                " WHERE stat.value <> 0 AND stat.severity > 0").fetchall()
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
    run("probe", app=[APP, "barrier", 10])
    with sqlite3.connect(f"file:{OUT / 'probe.wicprof'}?mode=ro", uri=True) as database:
        sm_count = database.execute("SELECT max(sm_count) FROM device").fetchone()[0]
    document["sm_count"] = sm_count
    ways = {  # name: options, environment
        "original": ([], {}),
        "recompiled": (["--mode", "poll"], {"WICPROF_REWRITE": "recompile"}),
        "patched_quiet": (["--mode", "poll", "--delay", "10m"], {}),  # nothing is recorded
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
                what = ("--trace", "none", "--rewrite") if way != "original" else WITH_COLLECTOR
                row = run(name, *options, app=[APP, scenario, rounds], environment=environment, what=what)
                row.update(scenario=scenario, way=way)
                if way == "patched_poll" and not any("rewrite: patched" in text for text in row["notices"]):
                    say("FAIL: nothing was patched: " + "; ".join(row["notices"]))
                    return 1
                rows[way].append(row)
                document["rows"].append(row)
        if scenario == "host":
            row = run("host.nobody", app=[APP, scenario, 0], what=WITH_COLLECTOR)
            document["rows"].append({**row, "way": "nobody_waits"})
            document["summary"]["host_nobody_beside_ms"] = row.get("beside_ms")
        checksums = {row.get("checksum") for way in ways for row in rows[way]}
        if len(checksums) != 1 or None in checksums:
            failures.append(f"{scenario}: results differ: {sorted(map(str, checksums))}")
        if any(row["status"] != 0 or row.get("failed") for way in ways for row in rows[way]):
            failures.append(f"{scenario}: a run failed")
        for way in ("patched_quiet", "patched_poll", "patched_park", "toggled"):
            if not all(any("rewrite: patched" in text for text in row["notices"]) for row in rows[way]):
                failures.append(f"{scenario}: {way}: nothing was patched")
        if not any(row.get("toggles", 0) > 2 for row in rows["toggled"]):
            failures.append(f"{scenario}: toggled: no toggle took effect")
        summary = {way: best(rows[way]) for way in ways}
        if scenario == "host":
            summary = {way: best(rows[way], "beside_ms") for way in ways}
        if summary["recompiled"] and summary["patched_poll"]:
            summary["quiet_over_recompiled"] = summary["patched_quiet"] / summary["recompiled"]
            summary["recording_over_recompiled"] = summary["patched_poll"] / summary["recompiled"]
        document["summary"][scenario] = summary
        (OUT / "rewrite.json").write_text(json.dumps(document, indent=1))
        # Each run has one warm-up and five repeats.
        expected = {"host": 6 * 4 * sm_count}.get(scenario)
        for row in rows["patched_poll"] + rows["patched_park"] + rows["toggled"]:
            waits = sum(site["count"] for site in row.get("waits", {}).values())
            if expected is not None and waits != expected:
                failures.append(f"{row['name']}: {waits} waits recorded, {expected} made")
        if any(row.get("waits") for row in rows["patched_quiet"]):
            failures.append(f"{scenario}: waits were recorded outside of the recording")
    row = run("bare_poll", "--mode", "park", app=[BUILD / "bin" / "bare_poll"], what=("--rewrite",))
    document["rows"].append(row)
    if row["status"] != 0 or not any("rewrite: patched" in text for text in row["notices"]):
        failures.append("bare_poll: not patched")
    if sum(site["count"] for site in row.get("waits", {}).values()) != 20 * sm_count:
        failures.append("bare_poll: not every wait was recorded")
    (OUT / "rewrite.json").write_text(json.dumps(document, indent=1))
    say(json.dumps(document["summary"], indent=1))
    for failure in failures:
        say("FAILED: " + failure)
    say("FAIL" if failures else "PASS")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
