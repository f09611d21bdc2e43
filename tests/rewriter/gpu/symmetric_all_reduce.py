"""One-shot all-reduces between two GPUs, in Triton with symmetric memory, in the manner of kraken: the blocks of all
ranks wait for each other by words in each other's memory.

python3 symmetric_all_reduce.py [--rounds N] [--late-us T] [--absent-after N]: rank 1 computes for T us before each
round; after N rounds, it sleeps for 10 s in place of its part, and rank 0's kernel waits until its deadline. Rank 0
prints one line of JSON: the median time of a round, and a checksum. Needs two GPUs with peer access, PyTorch and
Triton.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import torch.multiprocessing as mp
import triton
import triton.language as tl

RANKS, BLOCKS, BLOCK = 2, 24, 1024


@triton.jit
def thread_number():
    return tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r", [], dtype=tl.uint32, is_pure=True, pack=1)


@triton.jit
def set_word(addresses):
    """0 becomes 1, once the last reader has taken the 1 before away; or gives up after 10 s."""
    tl.inline_asm_elementwise(
        """{
        .reg .u32 %seen;
        .reg .u64 %now, %end;
        .reg .pred %again;
        mov.u64 %end, %globaltimer;
        add.u64 %end, %end, 10000000000;
    set:
        atom.global.release.sys.cas.b32 %seen, [$1], 0, 1;
        mov.u64 %now, %globaltimer;
        setp.lt.u64 %again, %now, %end;
        setp.ne.and.u32 %again, %seen, 0, %again;
        @%again bra set;
        mov.u32 $0, %seen;
        }""", "=r, l", [addresses], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def take_word(addresses):
    """1 becomes 0; or gives up after 10 s: the sums are wrong then."""
    tl.inline_asm_elementwise(
        """{
        .reg .u32 %seen;
        .reg .u64 %now, %end;
        .reg .pred %again;
        mov.u64 %end, %globaltimer;
        add.u64 %end, %end, 10000000000;
    take:
        atom.global.acquire.sys.cas.b32 %seen, [$1], 1, 0;
        mov.u64 %now, %globaltimer;
        setp.lt.u64 %again, %now, %end;
        setp.ne.and.u32 %again, %seen, 1, %again;
        @%again bra take;
        mov.u32 $0, %seen;
        }""", "=r, l", [addresses], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def barrier_of_blocks(pads, rank: tl.constexpr, ranks: tl.constexpr):
    """Of the blocks with the same number in all ranks."""
    block = tl.program_id(0)
    others = tl.arange(0, ranks)
    words = tl.load(pads.to(tl.pointer_type(tl.uint64)) + others).to(tl.pointer_type(tl.uint32))
    own = tl.load(pads.to(tl.pointer_type(tl.uint64)) + rank).to(tl.pointer_type(tl.uint32))
    if thread_number() < ranks:
        set_word((words + block * ranks + rank).to(tl.uint64, bitcast=True))
        take_word((own + block * ranks + others).to(tl.uint64, bitcast=True))


@triton.jit
def all_reduce(buffers, pads, output, count, rank: tl.constexpr, ranks: tl.constexpr, BLOCK: tl.constexpr):
    barrier_of_blocks(pads, rank, ranks)
    tl.debug_barrier()
    pointers = buffers.to(tl.pointer_type(tl.uint64))
    for begin in range(tl.program_id(0) * BLOCK, count, tl.num_programs(0) * BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for i in tl.static_range(ranks):
            total += tl.load(tl.load(pointers + i).to(tl.pointer_type(tl.float32)) + at, mask=at < count)
        tl.store(output + at, total, mask=at < count)
    tl.debug_barrier()
    barrier_of_blocks(pads, rank, ranks)


def rank_main(rank, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=RANKS, device_id=torch.device("cuda", rank))
    buffer = symm_mem.empty(options.count, dtype=torch.float32, device=f"cuda:{rank}")
    handle = symm_mem.rendezvous(buffer, group=dist.group.WORLD)
    output = torch.empty_like(buffer)
    buffer.copy_((torch.arange(options.count, device=buffer.device) % 251 + rank).float())

    def reduce_all():
        for _ in range(options.inner):
            all_reduce[(BLOCKS,)](handle.buffer_ptrs_dev, handle.signal_pad_ptrs_dev, output, options.count, rank=rank,
                                  ranks=RANKS, BLOCK=BLOCK, num_warps=4)

    reduce_all()  # compiles and loads the kernel
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()  # Python's launches would take longer than the kernels
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        reduce_all()
    times, checksum = [], 0
    for step in range(options.rounds):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        if rank == 1 and step == options.absent_after:
            time.sleep(10)
            break
        if rank == 1 and options.late_us:
            torch.cuda._sleep(int(options.late_us * 1980))
        graph.replay()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
        checksum += int(output.sum().item())
        if step == options.absent_after:
            break
    if rank == 0:
        print(json.dumps({"scenario": "symmetric", "ms": statistics.median(times[len(times) // 4:]),
                          "checksum": str(checksum), "rounds": options.rounds, "failed": 0}), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--inner", type=int, default=200, help="all-reduces per round")
    parser.add_argument("--late-us", type=float, default=0)
    parser.add_argument("--absent-after", type=int, default=-1)
    parser.add_argument("--count", type=int, default=65536)
    parser.add_argument("--port", type=int, default=29511)
    options = parser.parse_args()
    if torch.cuda.device_count() < RANKS:
        sys.exit("symmetric_all_reduce.py: needs two GPUs")
    mp.spawn(rank_main, args=(options,), nprocs=RANKS)


if __name__ == "__main__":
    main()
