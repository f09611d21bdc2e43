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


def recurrent():
    layer = torch.nn.LSTM(512, 512, 2).cuda()
    batch = torch.randn(50, 64, 512, device="cuda")
    return lambda: layer(batch)[0].sum().backward()


def scans():
    all_ = [torch.randn(1 << power, device="cuda") for power in (12, 17, 21, 24)]
    return lambda: [(each.cumsum(0), each.topk(100)) for each in all_]


def solvers():
    systems = [torch.randn(count, size, size, device="cuda") + size * torch.eye(size, device="cuda")
               for count, size in ((256, 32), (32, 128), (1, 1024))]
    return lambda: [torch.linalg.solve_ex(each, each) for each in systems]


def decoding():
    """One token after the other, each read by the host."""
    layers = [torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) / 64 for _ in range(12)]
    token = torch.randn(1, 4096, device="cuda", dtype=torch.bfloat16)

    def step():
        state = token
        for layer in layers:
            state = torch.nn.functional.silu(state @ layer)
        return state.argmax().item()
    return step


def pipeline():
    """Copies from pinned memory on a stream of their own, beside the work on the batch before."""
    source = torch.randn(32, 3, 128, 128).pin_memory()
    batches, net = [source.cuda(), source.cuda()], torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, 2), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(64, 128, 3)).cuda()
    copies, number = torch.cuda.Stream(), [0]

    def step():
        for _ in range(4):
            number[0] ^= 1
            copies.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(copies):
                batches[number[0]].copy_(source, non_blocking=True)
            net(batches[number[0] ^ 1]).mean()
            torch.cuda.current_stream().wait_stream(copies)
    return step


def images():
    batch = torch.randn(16, 8, 256, 256, device="cuda", dtype=torch.float16)
    grid = torch.rand(16, 200, 200, 2, device="cuda", dtype=torch.float16) * 2 - 1
    work = torch.nn.functional
    return lambda: (work.interpolate(batch, scale_factor=2.0), work.avg_pool2d(batch, 3), work.grid_sample(
        batch, grid, align_corners=False))


def optimizer():
    net = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(8))).cuda()
    adam, batch = torch.optim.Adam(net.parameters()), torch.randn(256, 1024, device="cuda")

    def step():
        adam.zero_grad()
        net(batch).square().mean().backward()
        adam.step()
    return step


def replays():
    values = torch.randn(1 << 22, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        values.cos().exp().sum()
    stream.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(20):
            values.cos().exp().sum()
    return captured.replay


def long_kernels():
    (values,) = matrices(7168)
    return lambda: values @ values


PROGRAMS = (recurrent, scans, solvers, decoding, pipeline, images, optimizer, replays, long_kernels)


def pulses():
    """A kernel of about 1 ms, and 4 ms nothing."""
    torch.cuda._sleep(1_700_000)
    torch.cuda.synchronize()
    time.sleep(0.004)


def training():
    """Steps without a pause."""
    training.step = getattr(training, "step", None) or optimizer()
    for _ in range(10):
        training.step()
    torch.cuda.synchronize()


def copies():
    """Copies within the GPU's memory, without a gap."""
    values = copies.values = getattr(copies, "values", None) or matrices(8192, 8192)
    for _ in range(20):
        values[0].copy_(values[1])
    torch.cuda.synchronize()


NEIGHBOURS = (pulses, training, copies)


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
        both = (recurrent, images)
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
