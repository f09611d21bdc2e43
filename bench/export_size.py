"""How large the exports for Perfetto's viewer are: of all shipped traces, and of a run of 4 s on the CPU device. At
most 10 MB each; of a larger trace the export keeps stretches of time (reports/perfetto).

    python3 bench/export_size.py --wic-prof build/bin/wic-prof --hot-flag build/bin/hot_flag -o FILE.json
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import result_file

BAR_BYTES = 10_000_000
RUN = ("--devices", "simt:1", "--seconds", "4")
SCHEDULE = "poll:1s,park:1s,poll:1s,park:1s"


def export(wic_prof, trace, folder):
    """(size of the export in bytes, number of its slices, rows that it lacks)"""
    path = folder / "export.json"
    subprocess.run([wic_prof, "report", trace, "--format", "perfetto", "-f", "-o", path], check=True,
                   stderr=subprocess.DEVNULL)
    events = json.loads(path.read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    gaps = [event for event in slices if event["cat"] == "left_out"]
    return path.stat().st_size, len(slices) - len(gaps), sum(event["args"]["rows"] for event in gaps)


def row(name, trace, measured):
    size, slices, left_out = measured
    return {"name": name, "params": {"trace": trace, "slices": slices, "rows_left_out": left_out}, "value": size,
            "unit": "bytes", "compared_to": None, "ratio": size / BAR_BYTES, "bar": 1, "holds": size <= BAR_BYTES}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wic-prof", required=True)
    parser.add_argument("--hot-flag", required=True, help="the sample that runs for four seconds")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="wicprof-export-") as name:
        folder = pathlib.Path(name)
        for trace in sorted((result_file.SOURCE / "samples" / "traces").glob("*.wicprof.gz")):
            rows.append(row(trace.name.removesuffix(".wicprof.gz"), f"samples/traces/{trace.name}",
                            export(options.wic_prof, trace, folder)))
        run = folder / "four_seconds.wicprof"
        subprocess.run([options.wic_prof, "run", "-o", run, "--schedule", SCHEDULE, "--", options.hot_flag, *RUN],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows.append(row("four_seconds", f"hot_flag {' '.join(RUN)}, --schedule {SCHEDULE}",
                        export(options.wic_prof, run, folder)))
        largest = max(rows, key=lambda one: one["value"])
        rows.insert(0, dict(largest, name="largest", params=dict(largest["params"], of=largest["name"])))
    return result_file.write(options, "export_size", "export_size.py", rows)


if __name__ == "__main__":
    sys.exit(main())
