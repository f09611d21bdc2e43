"""Writes result documents for docs/results, for the benchmarks written in Python."""

import datetime
import json
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def add_arguments(parser):
    parser.add_argument("--machine", default="unknown")
    parser.add_argument("--driver", default="none")
    parser.add_argument("--commit", default=None, help="commit that the programs were built from (default: git HEAD)")
    parser.add_argument("--date", default=None, help="date of the measurement (default: now)")
    parser.add_argument("-o", "--output", default="-")


def commit():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=SOURCE, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def name_gpu(options):
    """Fills in the machine and the driver, where the command line does not name them: those of the first GPU."""
    if options.machine != "unknown":
        return
    asked = subprocess.run("nvidia-smi --query-gpu=name,driver_version --format=csv,noheader", shell=True, text=True,
                           capture_output=True, check=False).stdout.partition("\n")[0].split(", ")
    options.machine = next((name.lower() for name in ("H100", "H200") if name in asked[0]), "unknown")
    options.driver = asked[-1] or "none"


def write(options, bench, command, rows):
    """Writes the document to options.output. Returns the exit status: 1 if a claim does not hold."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {"bench": bench, "date": options.date or now, "machine": options.machine, "driver": options.driver,
                "commit": options.commit or commit(), "command": command, "rows": rows}
    text = json.dumps(document, indent=2) + "\n"
    if options.output == "-":
        print(text, end="")
    else:
        pathlib.Path(options.output).write_text(text)
    return 0 if all(row["holds"] is not False for row in rows) else 1
