"""Waits by atomics, and work, in Triton."""

import triton
import triton.language as tl


@triton.jit
def wait_cas_same(word, data, out, want):
    while tl.atomic_cas(word + tl.program_id(0), 1, 1) != 1:
        pass
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + at, tl.load(data + at))


# The lock of Triton's tutorial on layer normalisation.
@triton.jit
def wait_lock(word, data, out, want):
    at = tl.arange(0, 128)
    while tl.atomic_cas(word, 0, 1) == 1:
        pass
    tl.store(out + at, tl.load(out + at) + tl.load(data + tl.program_id(0) * 128 + at))
    tl.debug_barrier()
    tl.atomic_xchg(word, 0)


@triton.jit
def wait_add_zero(word, data, out, want):
    pid = tl.program_id(0)
    while tl.atomic_add(word + pid, 0) < want:
        pass
    at = pid * 128 + tl.arange(0, 128)
    tl.store(out + at, tl.load(data + at))


# Stream-K: the next block takes the token and adds its part.
@triton.jit
def wait_token(word, data, out, want):
    pid = tl.program_id(0)
    at = tl.arange(0, 128)
    part = tl.load(data + pid * 128 + at)
    while tl.atomic_cas(word + pid, 1, 0) != 1:
        pass
    tl.store(out + at, tl.load(out + at) + part)
    tl.debug_barrier()
    tl.atomic_xchg(word + pid + 1, 1)


@triton.jit
def wait_exchange(word, data, out, want):
    while tl.atomic_xchg(word, 1, sem="acquire") != 0:
        pass
    at = tl.arange(0, 128)
    tl.store(out + at, tl.load(out + at) * 2)
    tl.debug_barrier()
    tl.atomic_xchg(word, 0, sem="release")


@triton.jit
def work_persistent(word, data, out, want):
    at = tl.arange(0, 128)
    tile = tl.atomic_add(word, 1)
    while tile < want:
        tl.store(out + tile * 128 + at, tl.load(data + tile * 128 + at) * 2)
        tile = tl.atomic_add(word, 1)


@triton.jit
def work_histogram(word, data, out, want):
    for i in range(want):
        bins = tl.load(word + 64 + i * 128 + tl.arange(0, 128)) & 63
        tl.atomic_add(word + bins, 1)


@triton.jit
def work_normalise(word, data, out, want):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    x = tl.load(data + at)
    for _ in range(want):
        mean = tl.sum(x, 0) / 1024
        x = x - mean
        x = x / tl.sqrt(tl.sum(x * x, 0) / 1024 + 1e-5)
    tl.store(out + at, x)


@triton.jit
def work_maximum_update(word, data, out, want):
    for i in range(want):
        tl.atomic_max(word + 3, tl.load(word + 64 + i))
