"""Rank 1 waits for a batch that never comes, and the others wait for rank 1 in a barrier.

One of the two processes that rank 1 has started to load batches waits for itself; the other one has nothing to do.

    hang.py LIBRARY SECONDS
"""

import multiprocessing
import queue
import sys

from calls import WORLD, mpi, rank_and_size


def decode():
    lock = multiprocessing.Lock()
    lock.acquire()
    lock.acquire(timeout=float(sys.argv[2]))


def load_batch(batches):
    fork = multiprocessing.get_context("fork")
    for target, arguments in ((decode, ()), (fork.Queue().get, (True, float(sys.argv[2])))):
        fork.Process(target=target, args=arguments, daemon=True).start()
    try:
        batches.get(timeout=float(sys.argv[2]))
    except queue.Empty:
        sys.exit(1)


mpi.MPI_Init(None, None)
mpi.MPI_Barrier(WORLD)
if rank_and_size()[0] == 1:
    load_batch(queue.Queue())
mpi.MPI_Barrier(WORLD)
