#!/usr/bin/env python3
"""Jobs of two ranks on two GPUs (NCCL by PyTorch) that hang, one after the other.

    hang.py FOLDER WAY[:BAD] ...

WAY: how rank BAD (default: 1) keeps the other from the end of an all-reduce: left_out (it leaves the all-reduce out and
sleeps), computes (it computes on the host instead), loader (it waits for a data loader's process that is deadlocked),
died, size (half the bytes), order (two communicators in the other order). For job N, FOLDER/hangs.N appears when each
rank has come so far, and FOLDER/next.N ends the job. PyTorch is imported once; the ranks are forks.
"""

import datetime
import os
import pathlib
import signal
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing

RANKS, LIMIT = 2, 40  # seconds of a job


def load(queue):
    lock = torch.multiprocessing.Lock()
    lock.acquire()
    lock.acquire(timeout=LIMIT)
    queue.put(1)


def be_rank(rank, number, way, bad, folder):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank))
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    store = dist.FileStore(str(folder / f"store.{number}"), RANKS)
    dist.init_process_group("nccl", store=store, rank=rank, world_size=RANKS, device_id=device,
                            timeout=datetime.timedelta(seconds=LIMIT))
    values = torch.ones(1 << 20, device=device)
    other = dist.new_group([0, 1]) if way == "order" else None
    if other is not None:
        dist.all_reduce(values, group=other)
    for _ in range(3 + number % 5):
        dist.all_reduce(values)
    torch.cuda.synchronize()
    (folder / f"came.{number}.{rank}").touch()
    while not all((folder / f"came.{number}.{each}").exists() for each in range(RANKS)):
        time.sleep(0.001)
    (folder / f"hangs.{number}").touch()
    if rank != bad:
        dist.all_reduce(values)
    elif way == "left_out":
        time.sleep(LIMIT)
    elif way == "computes":
        while True:
            pass
    elif way == "loader":
        queue = torch.multiprocessing.Queue()
        torch.multiprocessing.Process(target=load, args=(queue,), daemon=True).start()
        queue.get()
    elif way == "died":
        os._exit(1)
    elif way == "size":
        dist.all_reduce(values[:1 << 19])
    elif way == "order":
        dist.all_reduce(values, group=other)
    torch.cuda.synchronize()
    time.sleep(LIMIT)


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, words in enumerate(sys.argv[2:]):
        way, _, bad = words.partition(":")
        ranks = []
        for rank in range(RANKS):
            child = os.fork()
            if child == 0:
                try:
                    be_rank(rank, number, way, int(bad or 1), folder)
                except BaseException as error:  # a fork must not go on with its parent's program
                    print(f"rank {rank}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                os._exit(1)
            ranks.append(child)
        end = time.monotonic() + LIMIT
        while not (folder / f"next.{number}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        for rank in ranks:
            os.kill(rank, signal.SIGKILL)
            os.waitpid(rank, 0)


if __name__ == "__main__":
    main()
