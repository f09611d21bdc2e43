#!/usr/bin/env python3
"""Programs in PyTorch that run alone, and then beside others on the same GPU.

    programs.py FOLDER SECONDS

A line of JSON per job: `program`, `neighbour` (none: alone), `pid`, `steps`, and `seconds` that these took. Each job is
a process; it runs as many steps as the program runs in SECONDS alone. The last job has two programs at once, of which
each is the other's neighbour. Neighbours, but of that job, run without wic-prof. PyTorch is imported once; the
processes are forks.
"""

import json
import os
import pathlib
import signal
import sys
import time

import torch

DEADLINE = time.monotonic() + 300


def matrices(*sizes):
    torch.manual_seed(1)
    return [torch.randn(size, size, device="cuda") for size in sizes]


def gemms():
    all_ = matrices(256, 512, 1024, 2048)
    return lambda: [each @ each for each in all_]


def large():
    (values,) = matrices(12288)
    small = torch.randn(1 << 20, device="cuda")
    return lambda: [values @ values, small.sin(), small.sum()]


def convolutions():
    layers = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64),
                                                       torch.nn.ReLU()) for _ in range(6))).cuda()
    batch = torch.randn(32, 64, 56, 56, device="cuda")
    return lambda: layers(batch).mean().backward()


def attention():
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, device="cuda", dtype=torch.bfloat16)
    batch = torch.randn(16, 512, 1024, device="cuda", dtype=torch.bfloat16)
    return lambda: layer(batch).sum().backward()


def elementwise():
    all_ = [torch.randn(1 << power, device="cuda") for power in (16, 20, 23, 25)]
    return lambda: [(each * 2 + 1).sigmoid_().sum() for each in all_]


def sorts():
    all_ = [torch.randn(1 << power, device="cuda") for power in (14, 18, 22)]
    return lambda: [each.sort() for each in all_]


def transforms():
    all_ = [torch.randn(64, 1 << power, device="cuda") for power in (10, 13, 16)]
    return lambda: [torch.fft.irfft(torch.fft.rfft(each) * 0.5) for each in all_]


def embeddings():
    table = torch.nn.Embedding(1 << 20, 128, device="cuda")
    head = torch.nn.Linear(128, 4096, device="cuda")
    rows = torch.randint(1 << 20, (1 << 14,), device="cuda")
    return lambda: head(table(rows)).logsumexp(1).sum().backward()


def graph():
    step = gemms()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
    stream.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(5):
            step()
    return captured.replay


PROGRAMS = (gemms, convolutions, attention, elementwise, sorts, transforms, embeddings, graph, large)


def spin():
    """One kernel of 20 ms after the other."""
    torch.cuda._sleep(30_000_000)
    torch.cuda.synchronize()


def products():
    """Kernels of half a millisecond, without a gap."""
    values = products.values = getattr(products, "values", None) or matrices(3072)
    for _ in range(20):
        values[0] @ values[0]
    torch.cuda.synchronize()


def bursts():
    """Kernels for about 3 ms, and as long nothing."""
    values = bursts.values = getattr(bursts, "values", None) or matrices(1536)
    for _ in range(20):
        values[0] @ values[0]
    torch.cuda.synchronize()
    time.sleep(0.003)


NEIGHBOURS = (spin, products, bursts)


def fork(work):
    child = os.fork()
    if child != 0:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException as error:  # a fork must not go on with its parent's program
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(status)


def wait_for(*files):
    while not all(file.exists() for file in files):
        if time.monotonic() > DEADLINE:
            raise RuntimeError(f"{files} did not come")
        time.sleep(0.001)


def be_neighbour(neighbour, folder):
    for name in ("CUDA_INJECTION64_PATH", "LD_PRELOAD"):
        os.environ.pop(name, None)
    neighbour()
    (folder / f"ready.{neighbour.__name__}").touch()
    goes = folder / f"go.{neighbour.__name__}"
    while time.monotonic() < DEADLINE:
        if goes.exists():
            neighbour()
        else:
            time.sleep(0.001)


def be_program(program, neighbour, steps, seconds, folder, meets=()):
    step = program()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if steps is None:  # alone: as many as fit
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds / 4:
            step()
            torch.cuda.synchronize()
            steps += 4
    if meets:
        (folder / f"meets.{program.__name__}").touch()
        wait_for(*(folder / f"meets.{each.__name__}" for each in meets))
    begin = time.perf_counter()
    for _ in range(steps):
        step()
        torch.cuda.synchronize()
    line = {"program": program.__name__, "neighbour": neighbour, "pid": os.getpid(), "steps": steps,
            "seconds": time.perf_counter() - begin}
    (folder / f"{program.__name__}.{neighbour}").write_text(json.dumps(line))
    print(json.dumps(line), flush=True)


def main():
    folder, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    neighbours = [fork(lambda each=each: be_neighbour(each, folder)) for each in NEIGHBOURS]
    try:
        wait_for(*(folder / f"ready.{each.__name__}" for each in NEIGHBOURS))
        for program in PROGRAMS:
            steps = None
            for neighbour in ("none", *(each.__name__ for each in NEIGHBOURS)):
                goes = folder / f"go.{neighbour}"
                goes.touch()
                os.waitpid(fork(lambda: be_program(program, neighbour, steps, seconds, folder)), 0)
                goes.unlink()
                alone = folder / f"{program.__name__}.none"
                if not alone.exists():
                    break
                steps = json.loads(alone.read_text())["steps"]
        both = (gemms, attention)
        steps = [json.loads((folder / f"{each.__name__}.none").read_text())["steps"] for each in both]
        for child in [fork(lambda each=each, of=of: be_program(each, "recorded", of, seconds, folder, both))
                      for each, of in zip(both, steps)]:
            os.waitpid(child, 0)
    finally:
        for child in neighbours:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main()
