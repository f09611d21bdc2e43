#!/usr/bin/env python3
"""Whether analyze names what slows programs with one common mistake each, and nothing in programs without one.

    common_mistakes.py BUILD -o FILE [--seconds 1] [--traces FOLDER]

On a GPU; needs BUILD/bin (wic-prof, bench_common_mistakes) and BUILD/lib/libwicprof_inject.so. Each program is
recorded once. The answer is right if the expected rule is among the findings that cost time and are no mere
information; where nothing is wrong, if there are none. The rules were improved on one half of the programs; the other
half was written before it was recorded, and has served nothing else. --traces: keeps the traces there. Prints PASS or
FAIL.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

BAR = 0.9


def named(options, program, folder):
    """The rules with findings that cost time, the costliest first."""
    wic_prof, trace = str(options.build / "bin" / "wic-prof"), str(folder / f"{program}.wicprof")
    environment = {**os.environ, "XDG_RUNTIME_DIR": options.runtime}
    subprocess.run(["timeout", "-k", "5", "60", wic_prof, "run", "-q", "-f", "-o", trace, "--",
                    str(options.build / "bin" / "bench_common_mistakes"), program, str(options.seconds)],
                   env=environment, stdin=subprocess.DEVNULL, check=True)
    answer = subprocess.run([wic_prof, "analyze", "--format=json", trace], text=True, env=environment,
                            capture_output=True, timeout=120, check=True)
    found = {}
    for finding in json.loads(answer.stdout)["findings"]:
        cost = finding.get("cost")
        if finding["severity"] != "info" and cost and cost["unit"] == "time":
            found.setdefault(finding["rule"], round(cost["amount"], 3))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--traces", type=lambda path: pathlib.Path(path).resolve())
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    listed = subprocess.run([options.build / "bin" / "bench_common_mistakes", "--list"], text=True,
                            capture_output=True, check=True).stdout
    halves = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        options.runtime = folder
        for line in listed.splitlines():
            program, half, expected = line.split()
            found = named(options, program, options.traces or pathlib.Path(folder))
            right = not found if expected == "-" else expected in found
            print(f"{half} {program}: {'right' if right else 'WRONG'}: expected {expected}, found {found}", flush=True)
            halves.setdefault(half, {})[program] = {"expected": expected, "found": found, "right": right}
    rows = []
    for half, programs in halves.items():
        right = sum(each["right"] for each in programs.values())
        rows.append({"name": f"{half}_right", "params": programs, "value": right, "unit": "programs",
                     "compared_to": "programs of this half", "ratio": right / len(programs), "bar": BAR,
                     "holds": right / len(programs) >= BAR})
    command = f"python3 bench/common_mistakes.py BUILD -o FILE --seconds {options.seconds:g}"
    status = result_file.write(options, "common_mistakes", command, rows)
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
