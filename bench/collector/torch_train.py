"""A PyTorch training loop in two forms, timed per iteration after a warm-up. `busy` keeps the GPU busy with large
matrices; `launch_bound` uses tiny matrices, so that the CPU limits it. Each iteration is an NVTX range.

Example: python3 torch_train.py --busy 60 --launch-bound 200
Prints `startup_ms`, `busy_ms` and `launch_bound_ms`, one per line. Exit status 3: no torch, or no GPU.
"""

import argparse
import statistics
import sys
import time

BEGIN = time.monotonic()


def layers(torch, width, depth, gpus):
    """`depth` layers, the first half of them on GPU 0 and the other on GPU 1 if there are two."""
    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleList()
            for gpu in range(gpus):
                part = []
                for _ in range(depth // gpus):
                    part += [torch.nn.Linear(width, width), torch.nn.ReLU()]
                self.parts.append(torch.nn.Sequential(*part).cuda(gpu))

        def forward(self, values):
            for gpu, part in enumerate(self.parts):
                values = part(values.cuda(gpu))
            return values

    return Layers()


def train(torch, name, width, depth, batch, warm_up, blocks, iterations_per_block, gpus):
    """Returns the median of `blocks` timings of `iterations_per_block` iterations each, in ms per iteration."""
    torch.manual_seed(1)
    model = layers(torch, width, depth, gpus)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    inputs = torch.randn(batch, width, device="cuda")
    wanted = torch.randn(batch, width, device=f"cuda:{gpus - 1}")

    def iterate():
        torch.cuda.nvtx.range_push(name)
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        torch.cuda.nvtx.range_pop()
        return loss

    for _ in range(warm_up):
        iterate()
    torch.cuda.synchronize()
    times = []
    for _ in range(blocks):
        begin = time.perf_counter()
        for _ in range(iterations_per_block):
            loss = iterate()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3 / iterations_per_block)
    if not torch.isfinite(loss).item():
        sys.exit(f"torch_train: the loss of {name} is not finite")
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="iterations with large layers")
    parser.add_argument("--launch-bound", type=int, default=0, metavar="N", help="iterations with tiny layers")
    parser.add_argument("--gpus", type=int, default=1, choices=(1, 2), help="with 2, each has half of the layers")
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"torch_train: {error}", file=sys.stderr)
        sys.exit(3)
    if not torch.cuda.is_available():
        print("torch_train: torch finds no GPU", file=sys.stderr)
        sys.exit(3)
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    print(f"startup_ms {(time.monotonic() - BEGIN) * 1e3:.1f}", flush=True)
    if options.busy:
        took = train(torch, "busy", 4096, 8, 4096, 5, 5, max(options.busy // 5, 1), options.gpus)
        print(f"busy_ms {took:.4f}", flush=True)
    if options.launch_bound:
        took = train(torch, "launch_bound", 64, 32, 64, 20, 5, max(options.launch_bound // 5, 1),
                     options.gpus)
        print(f"launch_bound_ms {took:.4f}", flush=True)


if __name__ == "__main__":
    main()
