"""As late.c, with Python's lock as the cause.

    late.py LIBRARY gil BAD LATE_US EVERY STEPS BASE_US CALL [PINNED]

Rank BAD has a second thread that computes in Python, LATE_US of each 2 * LATE_US; LATE_US is also the time after which
a thread that has the lock gives it away. LIBRARY: libmpi.so.40 or libmpich.so.12.
"""

import ctypes
import json
import os
import sys
import threading
import time

from calls import DOUBLE, SUM, WORLD, mpi, rank_and_size

_, BAD, LATE, EVERY, STEPS, BASE, CALL = sys.argv[2:9]
BAD, STEPS = int(BAD), int(STEPS)
LATE, BASE = float(LATE) / 1e6, float(BASE) / 1e6


def pin():
    launched = next(int(os.environ[name]) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ)
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[0 if launched == BAD else 1 % len(cpus)]})


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


def run():
    if sys.argv[9:] == ["1"]:
        pin()
    mpi.MPI_Init(None, None)
    (rank, size), ends = rank_and_size(), threading.Event()
    sys.setswitchinterval(LATE)

    def others():
        while not ends.is_set():
            compute(LATE)
            time.sleep(LATE)

    if rank == BAD:
        threading.Thread(target=others, daemon=True).start()
    vector = ctypes.c_double * 8
    own, all_ = vector(), vector()
    entered = (ctypes.c_double * (STEPS + 1))()
    entered[0] = time.monotonic()
    mpi.MPI_Barrier(WORLD)
    for step in range(1, STEPS + 1):
        compute(BASE)
        entered[step] = time.monotonic()
        if CALL == "allreduce":
            mpi.MPI_Allreduce(own, all_, 8, DOUBLE, SUM, WORLD)
        else:
            mpi.MPI_Barrier(WORLD)
    entries = (ctypes.c_double * ((STEPS + 1) * size))()
    mpi.MPI_Gather(entered, STEPS + 1, DOUBLE, entries, STEPS + 1, DOUBLE, 0, WORLD)
    ends.set()
    if rank == 0:
        costs = [0.0] * size
        for step in range(STEPS + 1):
            at = [entries[of * (STEPS + 1) + step] for of in range(size)]
            costs[at.index(max(at))] += sum(max(at) - each for each in at)
        print(json.dumps({"cost_ns": [round(cost * 1e9) for cost in costs]}), flush=True)
    mpi.MPI_Finalize()
    os._exit(0)


run()
