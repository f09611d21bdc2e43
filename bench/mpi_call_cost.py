#!/usr/bin/env python3
"""What recording adds to a call of MPI: one process that sends bytes to itself, bare and recorded by turns.

    mpi_call_cost.py BUILD -o FILE [--turns 15] [--calls 4000]

Needs wic-prof and libwicprof_mpi.so in BUILD, and mpicc and mpirun of Open MPI, MPICH or both. Each turn is a process,
which takes the fastest of five rounds of MPI_Isend, MPI_Recv and MPI_Wait. The two ways of a turn come in random
order. A row has the median over the turns of recorded minus bare. `dropped` is the share of records that found the ring
full, which costs less than to write them: nothing else happens in these programs, so more calls do not fit.
"""

import argparse
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

MOST = 300  # ns
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpirun.mpich"]}


def ns_per_call(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=True)
    return float(done.stdout.split()[-1])


def measure(implementation, options, folder):
    program = folder / implementation
    source = result_file.SOURCE / "tests" / "cli" / "mpi" / "app.c"
    subprocess.run([f"mpicc.{implementation}", "-O2", "-w", source, "-o", program], check=True)
    app = [*LAUNCHERS[implementation], "-n", "1", str(program), "calls", str(options.calls)]
    record = [str(options.build / "bin" / "wic-prof"), "run", "-q", "-f", "-o", "t.wicprof", "--"]
    ways = {"bare": app, "recorded": [*record, *app]}
    times = {way: [] for way in ways}
    for _ in range(options.turns):
        for way in random.sample(sorted(ways), len(ways)):
            times[way].append(ns_per_call(ways[way], folder))
    kept, lost = sqlite3.connect(folder / "t.wicprof").execute(
        "SELECT (SELECT count(*) FROM mpi_call) + (SELECT count(*) FROM mpi_request), "
        "(SELECT coalesce(sum(s.value), 0) FROM stat s JOIN string n ON n.id = s.name_id "
        "WHERE n.value = 'ring_dropped')"
    ).fetchone()
    added = statistics.median(r - b for r, b in zip(times["recorded"], times["bare"]))
    bare = statistics.median(times["bare"])
    return {"name": f"{implementation}_added",
            "params": {"bare": bare, "recorded": statistics.median(times["recorded"]), "turns": options.turns,
                       "dropped": round(lost / (kept + lost), 3)},
            "value": added, "unit": "ns", "compared_to": f"at most {MOST} ns", "ratio": added / MOST, "bar": 1,
            "holds": added <= MOST}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--calls", type=int, default=4000)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for implementation in LAUNCHERS:
            if shutil.which(f"mpicc.{implementation}") and shutil.which(LAUNCHERS[implementation][0]):
                rows.append(measure(implementation, options, pathlib.Path(folder)))
            else:
                print(f"{implementation} is not installed", file=sys.stderr)
    if not rows:
        sys.exit("no MPI is installed: install openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev")
    status = result_file.write(options, "mpi_call_cost", f"bench/mpi_call_cost.py build --turns {options.turns} "
                               f"--calls {options.calls}", rows)
    for row in rows:
        print(f"{row['name']}: {row['value']:.0f} ns {'PASS' if row['holds'] else 'FAIL'}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
