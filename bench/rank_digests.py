#!/usr/bin/env python3
"""Digests of many ranks: how long wic-prof takes to make one, and to read those of a large job together.

    rank_digests.py BUILD -o FILE [--ranks 4096] [--steps 700] [--hour-steps 360000] [--folder /tmp]

The traces are made (bench/made_ranks.py), with one late rank, which the answer must name. `digest_hour`: a rank's trace
of an hour's calls, three calls and a kernel per step. `digest_rank`: the median over the ranks of the large job.
`merge`: `wic-prof analyze` of all digests, with its largest resident memory.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import made_ranks  # noqa: E402
import result_file  # noqa: E402

DIGEST_SECONDS, DIGEST_BYTES, MERGE_SECONDS, MERGE_BYTES = 5, 1e6, 60, 4e9


def run(command, folder):
    """Seconds and the largest resident memory in bytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command[:6]))} ...")
    return seconds, used.ru_maxrss * 1024


def row(name, params, value, unit, most):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": f"at most {most:g} {unit}",
            "ratio": value / most, "bar": 1, "holds": value <= most}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--hour-steps", type=int, default=360_000)
    parser.add_argument("--folder", default="/tmp")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    wic_prof = str((options.build / "bin" / "wic-prof").resolve())
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        template = folder / "template.wicprof"
        run([wic_prof, "run", "-q", "-o", template, "--", "/bin/true"], folder)

        trace, digest = folder / "hour.wicprof", folder / "hour.digest"
        made_ranks.Job(template, 8, options.hour_steps, late=1).write(trace, 0)
        seconds, memory = run([wic_prof, "digest", trace, "-o", digest], folder)
        params = {"calls": 3 * options.hour_steps, "trace_bytes": trace.stat().st_size, "peak_bytes": memory}
        rows.append(row("digest_hour", params, seconds, "s", DIGEST_SECONDS))
        rows.append(row("digest_hour_size", params, digest.stat().st_size, "bytes", DIGEST_BYTES))
        trace.unlink()
        digest.unlink()

        late = options.ranks * 2 // 3
        job = made_ranks.Job(template, options.ranks, options.steps, late=late)
        taken = []
        for rank in range(options.ranks):
            job.write(trace, rank)
            taken.append(run([wic_prof, "digest", trace, "-o", folder / f"rank.{rank}.digest"], folder)[0])
            trace.unlink()
        digests = sorted(folder.glob("rank.*.digest"))
        params = {"ranks": options.ranks, "calls": 3 * options.steps * options.ranks,
                  "digest_bytes": sum(path.stat().st_size for path in digests)}
        rows.append(row("digest_rank", params, statistics.median(taken), "s", DIGEST_SECONDS))
        answer = folder / "answer.json"
        seconds, memory = run([wic_prof, "analyze", *[path.name for path in digests], "--format", "json", "-o",
                               answer.name], folder)
        said = json.loads(answer.read_text())
        found = next((each["text"] for each in said["findings"] if each["rule"] == "late_rank"), "")
        if not found.startswith(f"rank {late} came late"):
            sys.exit(f"the answer does not name rank {late}: {found}")
        params = {**params, "kept_calls": said["digest"]["kept_mpi_calls"]}
        rows.append(row("merge", params, seconds, "s", MERGE_SECONDS))
        rows.append(row("merge_memory", params, memory, "bytes", MERGE_BYTES))
    command = (f"python3 bench/rank_digests.py BUILD -o FILE --ranks {options.ranks} --steps {options.steps}"
               f" --hour-steps {options.hour_steps}")
    return result_file.write(options, "rank_digests", command, rows)


if __name__ == "__main__":
    sys.exit(main())
