#!/usr/bin/env python3
"""Whether samples of program counters show how fast the work beside pollers would run without them.

    wic-prof run --trace cuda,pcsampling --schedule poll:3s,park:0.2s -o NAME.wicprof -- hot_flag --devices cuda:0 ...
    bench/work_bound.py [--fit NAME]... --machine MACHINE -o docs/results/work_bound.MACHINE.json NAME.wicprof[.gz]...

The idea. Of the samples taken while hot_flag polls, those with the reason `selected` say how many instructions the
streamers issue: a sample takes one of an SM's resident warps, so that

    issued per cycle and SM = resident warps * selected samples / all samples.

The width of loads and stores makes bytes of them. What an SM can issue, what it can multiply and what the memory can
deliver bound how much faster the same instructions can run; the nearest bound is the predicted slowdown. The rates of
the memory come from the recordings named by --fit alone; the others only judge. The measured gain is that of the
parked phase in the same recording.

Each recording must be of hot_flag; its options are read from the trace.
"""

import argparse
import collections
import gzip
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile

import result_file

WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}  # bytes per thread; 4 without one of these
LANES = 32
MOST_ISSUED = 4.0      # instructions per cycle and SM: one per scheduler
MOST_MULTIPLIED = 2.0  # integer multiplications of warps per cycle and SM: half of the lanes
L2_BYTES = 50 << 20    # of an H100
MEDIAN_BAR, P90_BAR = 0.10, 0.25  # as bench/prediction.py


def operation(text):
    words = text.split()
    return words[words[0].startswith("@"):][0] if words else ""


class Recording:
    """`polled`, `parked`: median ns per iteration. Rates are per cycle and SM, while the program polls."""

    def __init__(self, path):
        self.name = pathlib.Path(path).name.split(".")[0]
        with tempfile.NamedTemporaryFile(suffix=".wicprof") as plain:
            with (gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")) as source:
                shutil.copyfileobj(source, plain)
            plain.flush()
            self.database = sqlite3.connect(f"file:{plain.name}?mode=ro", uri=True)
            self.read()
            self.database.close()

    def rows(self, query, *values):
        return self.database.execute(query, values).fetchall()

    def read(self):
        (self.device, self.sms, clock_khz), = self.rows("SELECT id, sm_count, clock_khz FROM device WHERE kind = 1")
        self.cycles_per_ns = clock_khz / 1e6
        words = self.rows("SELECT value FROM meta WHERE key = 'command'")[0][0].split()
        option = lambda name, otherwise: int(words[words.index(name) + 1]) if name in words else otherwise
        self.bytes = 2 * (option("--size", 1024) << 20) * option("--passes", 1)  # read and written
        self.data = option("--size", 1024) << 20
        self.waiters = option("--waiters", 4 * self.sms)
        self.kernels = self.rows("SELECT start_ns, end_ns, grid_x, block_x FROM kernel JOIN string ON string.id = "
                                 "name_id WHERE value LIKE '%HotFlagKernel%' ORDER BY start_ns")
        warps_of_block = self.kernels[0][3] // LANES
        self.warps = self.kernels[0][2] * warps_of_block / self.sms
        self.behind_pollers = self.waiters * (warps_of_block - 1) / self.sms
        changes = self.rows("SELECT new_mode, requested_ns, effective_ns FROM intervention WHERE side IS NULL ORDER BY "
                            "requested_ns")
        asked, parks = next((asked, done) for mode, asked, done in changes if mode == 1)
        again = next((asked for mode, asked, _ in changes if mode == 0 and asked > parks), self.kernels[-1][0])
        self.polled, self.kernel = self.medians(self.kernels[0][0], asked)
        self.parked, _ = self.medians(parks, again)
        self.count_samples(self.kernels[0][0], asked)

    def medians(self, begin, end):
        inside = [(a, b) for a, b in zip(self.kernels, self.kernels[1:]) if a[0] >= begin and b[0] <= end]
        return (statistics.median(b[0] - a[0] for a, b in inside), statistics.median(a[1] - a[0] for a, _ in inside))

    def count_samples(self, begin, end):
        whole = self.rows("SELECT min(begin_ns), max(end_ns) FROM pc_interval WHERE device_id = ? AND end_ns > ? AND "
                          "end_ns <= ?", self.device, begin, end)[0]
        samples = collections.defaultdict(collections.Counter)
        for module, symbol, offset, reason, count in self.rows(
                "SELECT module, symbol_id, pc_offset, value, sum(samples) FROM pc_sample JOIN string ON string.id = "
                "stall_reason_id WHERE device_id = ? AND begin_ns >= ? AND at_ns <= ? GROUP BY 1, 2, 3, 4",
                self.device, *whole):
            samples[module, symbol][offset, reason] += count
        function, counts = max(samples.items(), key=lambda item: sum(item[1].values()))
        self.samples = sum(counts.values())
        code = {offset: (operation(text), target) for offset, text, target in self.rows(
            "SELECT pc_offset, value, target_offset FROM sass JOIN string ON string.id = text_id WHERE module = ? AND "
            "symbol_id = ?", *function)}
        waits = self.waiting(code)
        issued = collections.Counter()
        for offset, (name, _) in code.items():
            if any(first <= offset <= last for first, last in waits):
                continue
            selected = counts[offset, "selected"]
            parts = name.split(".")
            issued["all"] += selected
            issued["multiplied"] += selected * (parts[0] in ("IMAD", "IMUL") and "MOV" not in parts)
            if parts[0] in ("LDG", "STG") and "STRONG" not in parts:
                issued["memory"] += selected
                issued["bytes"] += selected * LANES * next((WIDTHS[part] for part in parts[1:] if part in WIDTHS), 4)
        self.issued = issued
        self.at_barrier = max((count for (_, reason), count in counts.items() if reason == "barrier"), default=0)
        self.rate = {what: self.warps * count / self.samples for what, count in issued.items()}

    @staticmethod
    def waiting(code):
        """The loops that read a word which another processor stores."""
        loops = [(target, offset) for offset, (name, target) in code.items()
                 if target is not None and target <= offset and name.startswith("BRA")]
        return [(first, last) for first, last in loops if any(
            first <= offset <= last and ("STRONG" in name or name.startswith("ATOM"))
            for offset, (name, _) in code.items())
            and not any(first <= offset <= last and name.startswith("STG") and "STRONG" not in name
                        for offset, (name, _) in code.items())]

    def bytes_seen(self):
        """Bytes per iteration, by the samples."""
        return self.rate["bytes"] * self.cycles_per_ns * self.kernel * self.sms

    def mean_warps(self):
        """The resident warps, mean over the kernel's life: those at the barrier behind the pollers are known. Nothing
        without samples of them."""
        return self.behind_pollers * self.samples / self.at_barrier if self.at_barrier else None

    def memory_bound(self, bytes_per_ns):
        return bytes_per_ns / max(1e-12, self.rate["bytes"] * self.cycles_per_ns * self.sms)

    def in_l2(self):
        return self.data < L2_BYTES

    def slowdown(self, rates):
        return max(1.0, min(MOST_ISSUED / max(1e-12, self.rate["all"]),
                            MOST_MULTIPLIED / max(1e-12, self.rate["multiplied"]),
                            self.memory_bound(rates["l2" if self.in_l2() else "memory"])))

    def predicted(self, rates):
        return self.polled / (self.polled - self.kernel + self.kernel / self.slowdown(rates))

    def measured(self):
        return self.polled / self.parked


def fitted(recordings):
    """The most bytes per ns that one of the recordings moved while it parked, for each memory."""
    rates = {}
    for memory in ("l2", "memory"):
        some = []
        for recording in recordings:
            kernel = recording.parked - (recording.polled - recording.kernel)
            if recording.in_l2() == (memory == "l2") and kernel > 0 and recording.issued["bytes"] > 0:
                some.append(recording.bytes_seen() / kernel)
        rates[memory] = max(some, default=float("inf"))
    return rates


def row(name, params, value, unit, ratio=None, bar=None, holds=None):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": None, "ratio": ratio,
            "bar": bar, "holds": holds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--fit", action="append", default=[], help="a recording that gives the memory's rates")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    recordings = [Recording(path) for path in options.traces]
    rates = fitted([recording for recording in recordings if recording.name in options.fit])
    rows, errors = [], {"fit": [], "judged": []}
    for recording in recordings:
        half = "fit" if recording.name in options.fit else "judged"
        predicted, measured = recording.predicted(rates), recording.measured()
        error = abs(predicted / measured - 1)
        errors[half].append(error)
        rows.append(row(recording.name, {
            "half": half, "measured": measured,
            "polled_ms": recording.polled / 1e6, "parked_ms": recording.parked / 1e6,
            "samples": recording.samples, "selected": recording.issued["all"], "memory": recording.issued["memory"],
            "issued_per_cycle": recording.rate["all"], "multiplied_per_cycle": recording.rate["multiplied"],
            "bytes_seen": recording.bytes_seen(), "bytes": recording.bytes, "warps": recording.warps,
            "mean_warps": recording.mean_warps()}, predicted, "ratio", error))
    for half, some in errors.items():
        if some:
            ordered = sorted(some)
            rows.append(row(f"median_error_{half}", {"recordings": len(some)}, statistics.median(some), "share",
                            statistics.median(some), MEDIAN_BAR, statistics.median(some) <= MEDIAN_BAR))
            p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
            rows.append(row(f"p90_error_{half}", {"recordings": len(some)}, p90, "share", p90, P90_BAR, p90 <= P90_BAR))
    seen = [recording.bytes_seen() / recording.bytes for recording in recordings]
    rows.append(row("bytes_seen", {"low": min(seen), "high": max(seen)}, statistics.median(seen), "ratio"))
    return result_file.write(options, "work_bound", "bench/work_bound.py", rows)


if __name__ == "__main__":
    sys.exit(main())
