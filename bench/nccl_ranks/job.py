#!/usr/bin/env python3
"""A training loop of two ranks on two GPUs (DistributedDataParallel, NCCL); rank 1 is late in every third step.

    job.py CAUSE STEPS LATE_MS FILE

CAUSE: none; sleep and compute (on the host); gil (another thread has Python's lock); loader (the data loader's worker
takes longer for this batch); kernel (a kernel that spins); data (a batch of three times the size); copy (from pinned
memory, before the step). By about LATE_MS each, but `data`, which is late by what the batch takes. Or graph: no rank is
late, and a step replays one captured graph of products and all-reduces, whose result is checked. The NVTX range `steps`
marks the loop. FILE gets JSON: `steps`, the times of rank 0's steps in ns, each up to the loss's value; `late`, the
numbers of the late ones; `small`, ns per all-reduce of 1 KiB, which one stream does one after the other; `nccl`, its
version. PyTorch is imported once; the ranks are forks.
"""

import datetime
import faulthandler
import json
import os
import signal
import socket
import statistics
import sys
import threading
import time

import torch
import torch.distributed as dist

RANKS, LATE_RANK, EVERY = 2, 1, 3
# The devices work longer than the hosts need to launch it.
WIDTH, LAYERS, BATCH, MORE = 4096, 8, 8192, 3
SMALL, SMALL_TIMES = 500, 7
GRAPH_SIZE, GRAPH_REDUCES = 2048, 8
LIMIT = 40  # seconds


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Batches(torch.utils.data.Dataset):
    """Batches that a worker makes, one ahead; the late ones take it `late` seconds longer than the step before."""

    def __init__(self, late):
        self.late = late

    def __len__(self):
        return 1 << 20

    def __getitem__(self, number):
        if number % EVERY == EVERY - 1:
            compute(self.late)
        return number


class Lateness:
    """What makes the late rank late."""

    def __init__(self, cause, late_ms):
        self.cause, self.late_ms = cause, late_ms
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for _ in range(2):
            begin.record()
            torch.cuda._sleep(20_000_000)
            end.record()
            torch.cuda.synchronize()
        self.cycles = int(20_000_000 / begin.elapsed_time(end) * late_ms)
        self.source = self.target = None
        if cause == "copy":
            megabytes = 256
            for _ in range(2):
                self.source = torch.empty(megabytes << 20, dtype=torch.uint8, pin_memory=True)
                self.target = torch.empty_like(self.source, device="cuda")
                begin.record()
                self.target.copy_(self.source, non_blocking=True)
                end.record()
                torch.cuda.synchronize()
            self.times = max(1, round(late_ms / begin.elapsed_time(end)))
        if cause == "gil":
            sys.setswitchinterval(late_ms / 1e3)
            self.goes = threading.Event()
            threading.Thread(target=self.hold, daemon=True).start()

    def hold(self):
        while self.goes.wait():
            self.goes.clear()
            compute(self.late_ms / 1e3)

    def inject(self):
        if self.cause == "sleep":
            time.sleep(self.late_ms / 1e3)
        elif self.cause == "compute":
            compute(self.late_ms / 1e3)
        elif self.cause == "gil":
            self.goes.set()
            time.sleep(1e-4)  # gives the lock away
        elif self.cause == "kernel":
            torch.cuda._sleep(self.cycles)
        elif self.cause == "copy":
            for _ in range(self.times):
                self.target.copy_(self.source, non_blocking=True)


def small_messages():
    small = torch.ones(256, device="cuda")
    times = []
    for _ in range(SMALL_TIMES):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(SMALL):
            dist.all_reduce(small)
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - begin) / SMALL)
        small.fill_(1)
    return statistics.median(times)


def graph_step(device):
    """Each replay doubles what it added up, since two ranks hold the same values."""
    values = torch.empty(GRAPH_SIZE, GRAPH_SIZE, device=device)
    identity = torch.eye(GRAPH_SIZE, device=device)

    def once():
        values.fill_(1)
        for _ in range(GRAPH_REDUCES):
            dist.all_reduce(values)
            torch.mm(values.clone(), identity, out=values)

    beside = torch.cuda.Stream()
    with torch.cuda.stream(beside):
        once()
    beside.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        once()

    def step(_):
        values.zero_()
        graph.replay()
        if values[-1, -1].item() != RANKS ** GRAPH_REDUCES:
            raise RuntimeError(f"a replay gave {values[-1, -1].item()}")

    return step


def be_rank(rank, port, cause, steps, late_ms, file):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank))
    faulthandler.dump_traceback_later(LIMIT - 10)  # where it hangs
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    limit = datetime.timedelta(seconds=LIMIT)
    store = dist.TCPStore("127.0.0.1", port, RANKS, rank == 0, timeout=limit)

    def meet(name):
        store.add(name, 1)
        end = time.monotonic() + LIMIT
        while int(store.add(name, 0)) < RANKS:
            if time.monotonic() > end:
                raise RuntimeError(f"the other rank did not come to {name}")
            time.sleep(0.0005)

    dist.init_process_group("nccl", store=dist.PrefixStore("job", store), rank=rank, world_size=RANKS, timeout=limit,
                            device_id=device)
    torch.manual_seed(1)
    layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers).to(device=device, dtype=torch.bfloat16)
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    usual = torch.randn(BATCH, WIDTH, device=device, dtype=torch.bfloat16)
    large = torch.randn(MORE * BATCH, WIDTH, device=device, dtype=torch.bfloat16)
    lateness = Lateness(cause, late_ms)

    def step(batch):
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    if cause == "graph":
        step = graph_step(device)
    base = []
    for batch in (usual, large, usual, large) + (usual,) * 12:  # both ranks alike
        begin = time.perf_counter_ns()
        step(batch)
        base.append((time.perf_counter_ns() - begin) / 1e6)
    loader = None
    if cause == "loader":
        slow = (late_ms + statistics.median(base)) / 1e3 if rank == LATE_RANK else 0
        loader = iter(torch.utils.data.DataLoader(Batches(slow), num_workers=1, prefetch_factor=1))
    torch.cuda.synchronize()
    meet("begin")
    late, times = [], []
    torch.cuda.nvtx.range_push("steps")
    for number in range(steps):
        is_late = cause not in ("none", "graph") and number % EVERY == EVERY - 1
        begin = time.perf_counter_ns()
        if is_late and rank == LATE_RANK:
            lateness.inject()
        if loader is not None:
            next(loader)
        step(large if is_late and rank == LATE_RANK and cause == "data" else usual)
        times.append(time.perf_counter_ns() - begin)
        if is_late:
            late.append(number)
    torch.cuda.nvtx.range_pop()
    meet("end")
    small = small_messages()
    if rank == 0:
        with open(file, "w") as out:
            json.dump({"steps": times, "late": late, "small": small,
                       "nccl": ".".join(map(str, torch.cuda.nccl.version()))}, out)
    meet("written")
    store.add("leaves", 1)
    while rank == 0 and int(store.add("leaves", 0)) < RANKS:  # the store is its
        time.sleep(0.001)
    if cause != "graph":  # which waits for the captured graph to be gone
        dist.destroy_process_group()


def main():
    cause, steps, late_ms, file = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    ranks = []
    for rank in range(RANKS):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                be_rank(rank, port, cause, steps, late_ms, file)
                status = 0
            except BaseException as error:  # a fork must not go on with its parent's program
                print(f"rank {rank}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            sys.stdout.flush()
            os._exit(status)
        ranks.append(child)
    end, worst = time.monotonic() + LIMIT, 0
    while ranks:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended:
            ranks.remove(ended)
            worst = max(worst, abs(os.waitstatus_to_exitcode(status)))
        if worst or time.monotonic() > end:  # the other rank would wait for the one that failed
            for rank in ranks:
                os.kill(rank, signal.SIGKILL)
                os.waitpid(rank, 0)
            if ranks and not worst:
                print(f"killed after {LIMIT} s: {len(ranks)} of {RANKS} ranks", file=sys.stderr)
            return worst or 1
        time.sleep(0.01)
    return worst


if __name__ == "__main__":
    sys.exit(main())
