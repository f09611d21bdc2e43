"""Ratios of measurements that were made in turns."""

import math
import random
import statistics
import time

# Student's t for 95 %, by degrees of freedom; beyond the list the last one.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.13)


def mean_ratio(ratios):
    """Geometric mean with its 95 % interval: (value, low, high). Of one ratio there is no interval."""
    logs = [math.log(one) for one in ratios]
    middle = statistics.mean(logs)
    if len(logs) < 2:
        return math.exp(middle), None, None
    wide = STUDENT[min(len(logs) - 2, len(STUDENT) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - wide), math.exp(middle + wide)


def median_ratio(ratios, samples=4000):
    """Median with its 95 % interval (bootstrap): (value, low, high). For ratios of which a few are far off."""
    rng = random.Random(1)
    drawn = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(samples))
    return statistics.median(ratios), drawn[samples // 40], drawn[-samples // 40]


def in_turn(ways, rounds, seconds, measure, most_failures=5):
    """Calls measure(way) once per round and way, in another order each round. Nothing begins after `seconds`."""
    ends, failed = time.monotonic() + seconds, 0
    for _ in range(rounds):
        for way in random.sample(ways, len(ways)):
            if time.monotonic() > ends or failed > most_failures:
                return
            try:
                measure(way)
            except Exception as error:  # a process that failed, or said something else
                failed += 1
                print(f"{way}: {error}", flush=True)
