"""Triton kernels with loops that wait: python3 triton_spin.py [ROUNDS]; prints one line of JSON with a checksum."""

import json
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def chain_poll(flags, values, rounds, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    before = (pid + tl.num_programs(0) - 1) % tl.num_programs(0)
    for r in range(1, rounds + 1):
        want = tl.where(pid == 0, r - 1, r)
        while tl.load(flags + before * 32, volatile=True) < want:
            pass
        tl.debug_barrier()
        offs = tl.arange(0, BLOCK)
        x = tl.load(values + before * BLOCK + offs, volatile=True)
        tl.store(values + pid * BLOCK + offs, x * 3 + pid + r)
        tl.debug_barrier()
        tl.atomic_xchg(flags + pid * 32, r, sem="release")


@triton.jit
def chain_acquire(flags, values, rounds, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    before = (pid + tl.num_programs(0) - 1) % tl.num_programs(0)
    for r in range(1, rounds + 1):
        want = tl.where(pid == 0, r - 1, r)
        while tl.atomic_add(flags + before * 32, 0, sem="acquire") < want:
            pass
        offs = tl.arange(0, BLOCK)
        x = tl.load(values + before * BLOCK + offs, volatile=True)
        tl.store(values + pid * BLOCK + offs, x * 3 + pid + r)
        tl.debug_barrier()
        tl.atomic_xchg(flags + pid * 32, r, sem="release")


@triton.jit
def lock_cas(lock, value, rounds):
    for _ in range(rounds):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
            pass
        v = tl.load(value, volatile=True)
        tl.store(value, v * 5 + 1)
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem="release")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    times, sums = {}, []
    for name, kernel in (("poll", chain_poll), ("acquire", chain_acquire)):
        times[name] = 1e30
        for _ in range(5):
            flags = torch.zeros(blocks * 32, dtype=torch.int32, device="cuda")
            values = torch.zeros(blocks * 128, dtype=torch.int32, device="cuda")
            torch.cuda.synchronize()
            begin = time.perf_counter()
            kernel[(blocks,)](flags, values, rounds, BLOCK=128, num_warps=4)
            torch.cuda.synchronize()
            times[name] = min(times[name], (time.perf_counter() - begin) * 1e3)
        sums.append(int(values.long().sum()))
    times["lock"] = 1e30
    for _ in range(5):
        lock = torch.zeros(1, dtype=torch.int32, device="cuda")
        value = torch.zeros(1, dtype=torch.int32, device="cuda")
        torch.cuda.synchronize()
        begin = time.perf_counter()
        lock_cas[(blocks,)](lock, value, 20)
        torch.cuda.synchronize()
        times["lock"] = min(times["lock"], (time.perf_counter() - begin) * 1e3)
    sums.append(int(value[0]))
    print(json.dumps({"scenario": "triton", "ms": times["poll"] + times["acquire"], "checksum": str(sums),
                      "parts": times, "failed": 0}), flush=True)


if __name__ == "__main__":
    main()
