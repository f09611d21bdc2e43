#!/usr/bin/env python3
"""How small a change a comparison of a minute can find beside the noise of the machine, by the length of its phases.

    bench/phase_noise.py BUILD --machine MACHINE -o docs/results/phase_noise.MACHINE.json [--seconds S] [--program NAME]...

Each program polls all the time (`run --ab --placebo`). Its iterations are then divided anew into phases of each length;
two neighbours are a block, and the two sides of each block are a coin's choice. The block's difference is that of the
logarithms of both sides' iteration times, summed up by a quantile (the median is what `run --ab` uses). With the
interval of Wilcoxon's signed-rank test over all blocks of a minute, the rows say how wide the interval is to either side.
A change of 3 % is found in 80 % of the recordings if that half width is at most 2.1 %: 3 % over (1.96 + 0.84) times 1.96.
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
LENGTHS_S = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
QUANTILES = [0.1, 0.25, 0.5]
MINUTE_S = 60
FEWEST_BLOCKS = 6
FEWEST_ITERATIONS = 3  # of a phase
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


def differences(times, length_s, share, rng):
    """One per block: two neighbouring phases."""
    phases, current, until = [], [], times[0][0] + length_s * 1e9
    for end, duration in times:
        if end > until:
            phases.append(math.log(quantile(current, share)) if len(current) >= FEWEST_ITERATIONS else None)
            current = []
            while end > until:
                until += length_s * 1e9
        current.append(duration)
    pairs = zip(phases[0::2], phases[1::2])
    return [(b - a) * rng.choice((-1, 1)) for a, b in pairs if a is not None and b is not None]


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
        for length in LENGTHS_S:
            found = differences(times, length, share, rng)[:400]  # the Walsh averages grow with the square
            if len(found) < FEWEST_BLOCKS:
                continue
            blocks = MINUTE_S / (2 * length)
            half = signed_rank_half_width(found) * math.sqrt(len(found) / blocks)
            rows.append({"name": program, "params": {"phase_s": length, "quantile": share, "blocks": len(found),
                                                     "deviation": statistics.stdev(found)},
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
