#!/usr/bin/env python3
"""How small a change a comparison of a minute can find beside the noise of the machine, by the length of its phases.

    bench/phase_noise.py BUILD [--seconds S] [--program NAME]... --machine MACHINE
                         -o docs/results/phase_noise.MACHINE.json

Each program polls all the time (`run --ab --placebo`). Its iterations are then divided anew into phases, which last at
least as long and hold at least as many iterations as each rule says; one iteration is left out at each change. Two
neighbours are a block, and the two sides of each block are a coin's choice. The block's difference is that of the
logarithms of both sides' iteration times, summed up by a quantile (the median is what `run --ab` uses). With the
interval of Wilcoxon's signed-rank test over all blocks of a minute, the rows say how wide the interval is to either
side. A change of 3 % is found in 80 % of the recordings if that half width is at most 2.1 %: 3 % over (1.96 + 0.84)
times 1.96.
"""

import argparse
import math
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import result_file

PROGRAMS = ["flag_handoff", "hot_flag", "c_h3d"]  # as the known change of bench/calibration.py
RULES = [(0.02, 4), (0.05, 3), (0.05, 4), (0.05, 8), (0.05, 16), (0.1, 8), (0.2, 8), (0.5, 8), (1.0, 8), (2.0, 8)]
QUANTILES = [0.1, 0.25, 0.5]
MINUTE_S = 60
FEWEST_BLOCKS = 6
MOST_BLOCKS = 400  # the pairwise means grow with the square
CHANGE = 0.03
NEEDED = CHANGE / (1.96 + 0.84) * 1.96


def iterations(trace):
    """The (end, duration) of the iterations of the site with the most of them, in ns: from the first arrival to the
    next iteration's."""
    database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    (text,) = database.execute("SELECT value FROM meta WHERE key = 'ab_phases'").fetchone()
    begin, end = int(text.split(",")[0].split(":")[1]), int(text.split(",")[-1].split(":")[2])
    (site,) = database.execute("SELECT site_id FROM wait GROUP BY site_id ORDER BY count(DISTINCT iteration) DESC, "
                               "site_id LIMIT 1").fetchone()
    arrivals = [row[0] for row in database.execute(
        "SELECT min(arrived_ns) FROM wait WHERE site_id = ? GROUP BY iteration ORDER BY 1", (site,))]
    database.close()
    return [(b, b - a) for a, b in zip(arrivals, arrivals[1:]) if a >= begin and b <= end and b > a]


def quantile(values, share):
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def differences(times, shortest_s, iterations_of_phase, share, rng):
    """One per block: two neighbouring phases. And how many blocks a minute has."""
    phases, current, began = [], [], times[0][0]
    skip = False
    for end, duration in times:
        if skip:
            skip, began = False, end
            continue
        current.append(duration)
        if end - began >= shortest_s * 1e9 and len(current) >= iterations_of_phase:
            phases.append(math.log(quantile(current, share)))
            current, skip = [], True
    found = [(b - a) * rng.choice((-1, 1)) for a, b in zip(phases[0::2], phases[1::2])]
    return found, len(found) * MINUTE_S * 1e9 / (times[-1][0] - times[0][0])


def signed_rank_half_width(values):
    """Half the width of the 95 % interval of the pseudo-median, by the normal approximation of the ranks."""
    n = len(values)
    walsh = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
    middle, spread = len(walsh) / 2, 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    low, high = max(0, round(middle - spread)), min(len(walsh) - 1, round(middle + spread))
    return (walsh[high] - walsh[low]) / 2


def rows_of(program, times, rng):
    rows = []
    for share in QUANTILES:
        for shortest, count in RULES:
            found, blocks = differences(times, shortest, count, share, rng)
            if len(found) < FEWEST_BLOCKS:
                continue
            used = found[:MOST_BLOCKS]
            half = signed_rank_half_width(used) * math.sqrt(len(used) / blocks)
            rows.append({"name": program, "params": {"shortest_phase_s": shortest, "iterations": count,
                                                     "quantile": share, "blocks_of_a_minute": blocks,
                                                     "deviation": statistics.stdev(used)},
                         "value": half, "unit": "half width of a minute's interval, as a logarithm",
                         "compared_to": "what finds 3 % in 80 % of the recordings", "ratio": half / NEEDED,
                         "bar": None, "holds": None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=MINUTE_S)
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--devices", default="simt:1")
    parser.add_argument("--traces", type=pathlib.Path, help="a folder of NAME.wicprof, recorded before")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    rng = random.Random(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for program in options.program or PROGRAMS:
            trace = (options.traces or pathlib.Path(folder)) / f"{program}.wicprof"
            if options.traces is None:
                binaries = options.build.resolve() / "bin"
                subprocess.run([binaries / "wic-prof", "run", "-q", "-f", "-o", trace, "--trace", "none", "--ab",
                                "--placebo", "--for", f"{options.seconds:g}s", "--precision", "0%", "--end", "--",
                                binaries / program, "--devices", options.devices, "--seconds",
                                f"{2 * options.seconds + 10:g}"], check=True, timeout=options.seconds + 120)
            rows += rows_of(program, iterations(trace), rng)
    return result_file.write(options, "phase_noise", f"bench/phase_noise.py --seconds {options.seconds:g}", rows)


if __name__ == "__main__":
    sys.exit(main())
