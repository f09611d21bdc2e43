#!/usr/bin/env python3
"""Writes the samples in a trace of run_cases as text: one line "FAMILY SYMBOL OFFSET REASON SAMPLES" per program
counter and stall reason, with gzip.

    export_samples.py TRACE FAMILIES_FOLDER OUTPUT.gz
"""

import collections
import gzip
import pathlib
import re
import sqlite3
import sys


def main():
    trace, folder, output = sys.argv[1:4]
    family_of = {}
    for source in pathlib.Path(folder).glob("*.cu"):
        for name in re.findall(r"^CASE\((\w+)\)", source.read_text(), re.M):
            family_of[name] = source.stem
    family_of.update({"beside_computes": "run_kernels", "beside_sets_words": "run_kernels"})
    rows = sqlite3.connect(trace).execute(
        "SELECT p.module, s.value, p.pc_offset, r.value, SUM(p.samples) FROM pc_sample p"
        " JOIN string s ON s.id = p.symbol_id JOIN string r ON r.id = p.stall_reason_id GROUP BY 1, 2, 3, 4").fetchall()
    modules = {module: family_of[symbol] for module, symbol, *_ in rows if symbol in family_of}
    lines = collections.Counter()
    for module, symbol, offset, reason, samples in rows:
        if module in modules:
            lines[modules[module], symbol, offset, reason] += samples
    text = "".join(f"{family} {symbol} {offset:x} {reason} {samples}\n"
                   for (family, symbol, offset, reason), samples in sorted(lines.items()))
    with open(output, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.encode())
    print(f"{output}: {len(lines)} lines, {sum(lines.values())} samples, of {len(rows)} rows")
    nameless, = sqlite3.connect(trace).execute(
        "SELECT COALESCE(SUM(samples), 0) FROM pc_sample WHERE symbol_id IS NULL").fetchone()
    if nameless > 0:
        print(f"left out: {nameless} samples of functions without a name")


if __name__ == "__main__":
    main()
