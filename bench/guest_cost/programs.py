"""PyTorch and cuBLAS programs as guest_cost.py measures them; they know nothing of wic-prof.

    programs.py engine|train|ranks|start|cublas [--kineto]
    programs.py threads COUNT [GROUP]

engine  one CUDA graph of some 670 kernels per step, and the result read every step
train   a training step (four dense layers, Adam, the loss read every step)
ranks   two processes of train that add up their gradients: NCCL with two GPUs, else Gloo on one
start   from the process's start (GUEST_BEGIN, CLOCK_MONOTONIC in ns) to the first results of PyTorch
cublas  the same to the first product of cuBLAS, without PyTorch
threads COUNT threads, each with a CUDA graph of some 4 ms on a stream of its own, that wait for it and compute for
        0.5 ms; measured once the process has joined the cgroup GROUP
--kineto: the measured steps run under torch.profiler, with its usual activities. Prints one JSON document.
"""

import contextlib
import ctypes
import json
import os
import sys
import time

WARM_SECONDS = 1.0  # before the measured steps
SECONDS = 2.0       # of the measured steps


def since_begin():
    return (time.monotonic_ns() - int(os.environ["GUEST_BEGIN"])) / 1e9


def profiled(kineto):
    if not kineto:
        return contextlib.nullcontext()
    import torch.profiler
    return torch.profiler.profile()


def rate(step, kineto, seconds=SECONDS):
    """Steps per second, after a warm-up."""
    warm = time.monotonic() + WARM_SECONDS
    while time.monotonic() < warm:
        step()
    with profiled(kineto):
        step()
        count, begin = 0, time.monotonic()
        while (now := time.monotonic()) < begin + seconds:
            step()
            count += 1
    return count / (now - begin)


def engine(kineto):
    import torch
    width, rows, pairs = 4096, 64, 335
    matrices = [torch.randn(width, width, device="cuda", dtype=torch.bfloat16) * (2 / width) ** 0.5
                for _ in range(8)]
    x = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)

    def layers():
        y = x
        for number in range(pairs):
            y = torch.relu(y @ matrices[number % len(matrices)])
        return y.sum()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        layers()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total = layers()

    def step():
        graph.replay()
        return total.item()

    return {"rate": rate(step, kineto), "unit": "steps/s"}


def threads(count, group):
    import threading

    import torch
    width, rows, pairs, computing_ns = 4096, 64, 250, 500_000
    matrices = [torch.randn(width, width, device="cuda", dtype=torch.bfloat16) * (2 / width) ** 0.5
                for _ in range(8)]

    def graph_of(stream):
        x = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)

        def layers():
            y = x
            for number in range(pairs):
                y = torch.relu(y @ matrices[number % len(matrices)])
            return y
        with torch.cuda.stream(stream):
            layers()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            layers()
        return graph

    streams = [torch.cuda.Stream() for _ in range(count)]
    graphs = [graph_of(stream) for stream in streams]
    counts, ends = [0] * count, threading.Event()

    def run(number):
        with torch.cuda.stream(streams[number]):
            while not ends.is_set():
                graphs[number].replay()
                streams[number].synchronize()
                until = time.thread_time_ns() + computing_ns
                while time.thread_time_ns() < until:
                    pass
                counts[number] += 1

    all_ = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for one in all_:
        one.start()
    if group:
        with open(group + "/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write(str(os.getpid()))
    time.sleep(WARM_SECONDS)
    begin, before = time.monotonic(), sum(counts)
    time.sleep(SECONDS)
    steps, took = sum(counts) - before, time.monotonic() - begin
    ends.set()
    for one in all_:
        one.join()
    return {"rate": steps / took, "unit": "steps/s"}


def training_step(reduce=None):
    import torch
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    inputs, targets = torch.randn(2048, 2048, device="cuda"), torch.randn(2048, 2048, device="cuda")
    run = reduce(model) if reduce else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(run(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def train(kineto):
    return {"rate": rate(training_step(), kineto), "unit": "steps/s"}


def rank(number, kineto, port, answers):
    """Counts a number of steps, so that no process waits for one that has ended."""
    import torch
    import torch.distributed
    several = torch.cuda.device_count() > 1
    torch.cuda.set_device(number if several else 0)
    torch.distributed.init_process_group("nccl" if several else "gloo", init_method=f"tcp://127.0.0.1:{port}",
                                         rank=number, world_size=2)
    parallel = torch.nn.parallel.DistributedDataParallel
    step = training_step(lambda model: parallel(model, device_ids=[torch.cuda.current_device()]))
    step()
    early, begin = 0, time.monotonic()
    while True:
        ended = torch.tensor([0 if time.monotonic() < begin + 2 else 1], device="cuda")  # both end after the same step
        torch.distributed.all_reduce(ended)
        if ended.item():
            break
        step()
        early += 1
    count = 300 if several else 40
    with profiled(kineto):
        step()
        begin = time.monotonic()
        for _ in range(count):
            step()
        took = time.monotonic() - begin
    if number == 0:
        answers.put({"rate": count / took, "unit": "steps/s", "steps_of_the_first_2_s": early,
                     "processes": "one GPU each" if several else "one GPU, Gloo"})
    torch.distributed.destroy_process_group()


def ranks(kineto):
    import socket

    import torch.multiprocessing
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    processes = [context.Process(target=rank, args=(number, kineto, port, answers)) for number in (0, 1)]
    for one in processes:
        one.start()
    for one in processes:
        one.join(90)
    if any(one.exitcode != 0 for one in processes):
        sys.exit("a rank failed")
    return answers.get()


def start(_):
    import torch
    values = torch.randn(1024, 1024, device="cuda")
    total = torch.nn.functional.softmax(values @ values, 1).sum().item()
    free, whole = torch.cuda.mem_get_info()
    return {"seconds": since_begin(), "unit": "s", "gpu_mb": (whole - free) / 1e6, "total": total}


def library(*names):
    for name in names:
        for folder in ("", "/usr/local/cuda/lib64/"):
            with contextlib.suppress(OSError):
                return ctypes.CDLL(folder + name)
    sys.exit(f"none of {names} can be loaded")


def cublas(_):
    blas, runtime = library("libcublas.so.13", "libcublas.so.12"), library("libcudart.so.13", "libcudart.so.12")
    size, handle, one = 1024, ctypes.c_void_p(), ctypes.c_float(1)
    memory = [ctypes.c_void_p() for _ in range(3)]
    calls = [blas.cublasCreate_v2(ctypes.byref(handle))]
    calls += [runtime.cudaMalloc(ctypes.byref(each), ctypes.c_size_t(4 * size * size)) for each in memory]
    calls.append(blas.cublasSgemm_v2(handle, 0, 0, size, size, size, ctypes.byref(one), memory[0], size, memory[1],
                                     size, ctypes.byref(one), memory[2], size))
    calls.append(runtime.cudaDeviceSynchronize())
    if any(calls):
        sys.exit(f"a call failed: {calls}")
    free, whole = ctypes.c_size_t(), ctypes.c_size_t()
    runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(whole))
    return {"seconds": since_begin(), "unit": "s", "gpu_mb": (whole.value - free.value) / 1e6}


PROGRAMS = {"engine": engine, "train": train, "ranks": ranks, "start": start, "cublas": cublas}

if __name__ == "__main__":
    if sys.argv[1:2] == ["threads"]:
        print(json.dumps(threads(int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)), flush=True)
        sys.exit()
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        sys.exit(__doc__)
    print(json.dumps(PROGRAMS[sys.argv[1]]("--kineto" in sys.argv[2:])), flush=True)
