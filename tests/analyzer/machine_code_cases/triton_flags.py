"""Waits by loads, and work, in Triton."""

import triton
import triton.language as tl


@triton.jit
def wait_volatile(word, data, out, want):
    while tl.load(word + tl.program_id(0), volatile=True) != want:
        pass
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + at, tl.load(data + at))


@triton.jit
def wait_at_least(word, data, out, want):
    pid = tl.program_id(0)
    seen = tl.load(word + pid, volatile=True)
    while seen < want:
        seen = tl.load(word + pid, volatile=True)
    tl.debug_barrier()
    at = pid * 128 + tl.arange(0, 128)
    tl.store(out + at, tl.load(data + at) * 2)


@triton.jit
def wait_acquire(word, data, out, want):
    pid = tl.program_id(0)
    seen = 0
    while seen != want:
        seen = tl.inline_asm_elementwise("ld.acquire.gpu.global.b32 $0, [$1];", "=r,l", [word + pid], dtype=tl.int32,
                                         is_pure=False, pack=1)
    at = pid * 128 + tl.arange(0, 128)
    tl.store(out + at, tl.load(data + at))


@triton.jit
def work_softmax(word, data, out, want):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    for i in range(want):
        x = tl.load(data + at + i * 1024)
        x = tl.exp(x - tl.max(x, 0))
        tl.store(out + at + i * 1024, x / tl.sum(x, 0))


@triton.jit
def work_product(word, data, out, want):
    i = tl.arange(0, 32)
    total = tl.zeros((32, 32), dtype=tl.float32)
    for k in range(want):
        a = tl.load(data + k * 1024 + i[:, None] * 32 + i[None, :])
        b = tl.load(data + k * 2048 + i[:, None] * 32 + i[None, :])
        total += tl.dot(a, b)
    tl.store(out + i[:, None] * 32 + i[None, :], total)


@triton.jit
def work_count_to_bound(word, data, out, want):
    i = 0
    total = 0
    while i < tl.load(word, volatile=True):
        total += i * 3
        i += 1
    tl.store(out + tl.program_id(0), total.to(tl.float32))


@triton.jit
def work_binary_search(word, data, out, want):
    low = 0
    high = want
    while low < high:
        middle = (low + high) // 2
        if tl.load(word + middle) < want:
            low = middle + 1
        else:
            high = middle
    tl.store(out + tl.program_id(0), low.to(tl.float32))
