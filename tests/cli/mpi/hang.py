"""Rank 1 waits for a batch that never comes, and the others wait for rank 1 in a barrier.

    hang.py LIBRARY SECONDS
"""

import queue
import sys

from calls import WORLD, mpi, rank_and_size


def load_batch(batches):
    try:
        batches.get(timeout=float(sys.argv[2]))
    except queue.Empty:
        sys.exit(1)


mpi.MPI_Init(None, None)
mpi.MPI_Barrier(WORLD)
if rank_and_size()[0] == 1:
    load_batch(queue.Queue())
mpi.MPI_Barrier(WORLD)
