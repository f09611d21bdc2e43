#!/usr/bin/env python3
"""How often wic-prof stuck names the rank and the call for which an MPI job hangs.

    mpi_hangs.py BUILD -o FILE [--each 20] [--seed 1] [--messages]

Jobs of Open MPI that hang in the ways of tests/cli/mpi/hang.c, with 2 to 8 ranks, the rank that does otherwise and the
rounds before chosen at random. A row per way: in how many jobs the first cause has the right kind, names that rank and
its call, and is not unknown. With --messages, jobs that hang for their messages, where several ranks are named. One
question per job, two seconds after the last rank has reported. Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "tests" / "cli" / "mpi" / "hang.c"
BAR = 0.95
WORLD = r"MPI_Allreduce number {next} of MPI_COMM_WORLD"
KEEPS = r"^rank {bad} of {ranks} \(process \d+\) keeps ranks? .*waiting"
MISFIT = r"^rank {{after}} of {{ranks}} \(process \d+\) waits for a message from rank {0} with tag 5 .*but rank "
# Per way: the kind, what the first cause says, and the fewest ranks.
WAYS = {
    "late": ("absent_rank", KEEPS + ".*sleeps.*has not come to " + WORLD, 2),
    "computes": ("absent_rank", KEEPS + ".*runs on a CPU.*has not come to " + WORLD, 2),
    "stopped": ("absent_rank", KEEPS + ".*is stopped by a signal.*has not come to " + WORLD, 2),
    "collectives": ("mismatched_call", r"number 1 of .*: rank {bad} in MPI_Bcast and ranks? .* in MPI_Barrier", 3),
    "roots": ("mismatched_call", r"number {next} of MPI_COMM_WORLD .*: rank {bad} with the root", 3),
    "opposite": ("mutual_wait", r": rank {bad} in MPI_Barrier number 1 .* in MPI_Barrier number 1 .* in different", 3),
    "receives": ("mutual_wait", r"^ranks {pair} wait for each other.*rank {bad} in MPI_Recv from rank {after}", 2),
    "behind": ("absent_rank", KEEPS + ".*sleeps", 3),
    "requests": ("absent_rank", KEEPS + ".*sleeps", 2),
    "asks": ("absent_rank", KEEPS + ".*sleeps", 2),
    "finalize": ("absent_rank", KEEPS + ".*sleeps", 2),
}
# The same of messages that fit no receive, and of deadlocks.
MESSAGES = {
    "tags": ("mismatched_call", MISFIT.format("{bad}") + "{bad} has sent rank {after} a message with tag 6", 2),
    "sender": ("mismatched_call", MISFIT.format("{bad}") + "{bad} sends rank {after} one with tag 6", 2),
    "peers": ("mismatched_call", MISFIT.format("{behind}") + "{bad} has sent rank {after} a message with tag 5", 3),
    "sends": ("mutual_wait", r"^ranks {pair} wait for each other.*rank {bad} in MPI_Send to rank {after}.*deadlock", 2),
    "ring": ("mutual_wait", r"^ranks 0( to|,) {last} wait for each other.*a deadlock: each receives", 2),
}
DUPLICATES = 2  # collectives of MPI_COMM_WORLD before the rounds


def is_right(wic_prof, program, way, wanted, chosen, environment, folder):
    kind, pattern, fewest = wanted
    ranks = chosen.randint(fewest, 8)
    bad, rounds = chosen.randrange(ranks), chosen.randrange(1, 20)
    after = (bad + 1) % ranks
    pair = "{}, {}".format(*sorted((bad, after)))
    text = pattern.format(bad=bad, ranks=ranks, next=DUPLICATES + rounds + 1, after=after, pair=pair,
                          behind=(after + 1) % ranks, last=ranks - 1)
    run = subprocess.Popen([wic_prof, "run", "-q", "-f", "-o", f"{folder}/t.wicprof", "--name=hung", "--", "mpirun",
                            "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), program, way, "60", str(bad),
                            str(rounds)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True)

    def ask():
        done = subprocess.run([wic_prof, "stuck", "--session=hung", "--format=json"], env=environment, text=True,
                              capture_output=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"mpi_ranks": [], "causes": []}
    try:
        until = time.monotonic() + 30
        while len([rank for rank in ask()["mpi_ranks"] if rank["call"]]) < ranks and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(2)
        causes = ask()["causes"]
    finally:
        os.killpg(run.pid, signal.SIGINT)
        run.wait()
    first = causes[0] if causes else {"kind": "none", "confidence": "unknown", "text": ""}
    right = first["kind"] == kind and first["confidence"] != "unknown" and re.search(text, first["text"]) is not None
    if not right:
        print(f"{way}, {ranks} ranks, rank {bad}: {first['kind']} ({first['confidence']}): {first['text']}", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", action="store_true", help="jobs that hang for their messages")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "hang"
        subprocess.run(["mpicc", "-O1", "-w", SOURCE, "-o", program], check=True)
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        for way, wanted in (MESSAGES if options.messages else WAYS).items():
            right = sum(is_right(options.build / "bin/wic-prof", program, way, wanted, chosen, environment, folder)
                        for _ in range(options.each))
            rows.append({"name": way, "params": {"jobs": options.each, "seed": options.seed}, "value": right,
                         "unit": "jobs", "compared_to": "jobs that hang so", "ratio": right / options.each, "bar": BAR,
                         "holds": right / options.each >= BAR})
            print(f"{way}: {right} of {options.each}", flush=True)
    command = f"python3 bench/mpi_hangs.py BUILD -o FILE --each {options.each} --seed {options.seed}"
    command += " --messages" if options.messages else ""
    status = result_file.write(options, "mpi_message_hangs" if options.messages else "mpi_hangs", command, rows)
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
