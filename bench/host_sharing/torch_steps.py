"""PyTorch programs as host_sharing.py measures them; they know nothing of wic-prof.

    torch_steps.py train|decode|decode_wide SECONDS STOP_FILE TIMES_FILE CHECKED

A training step (four dense layers, Adam, the loss read every step) or a decode step (a cache of keys and values, the
tokens read every step): of twelve layers that are 4,096 wide, whose launches take longer than its kernels, or of six
that are 12,288 wide, which waits for its kernels. Ends after SECONDS (0: after CHECKED steps), or once STOP_FILE
exists. Writes the end of each step (CLOCK_MONOTONIC, ns) to TIMES_FILE, and prints the digest of what the first
CHECKED steps computed: the loss of each, or the scores of all words.
"""

import hashlib
import os
import pathlib
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the same sums in every run

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402


def training():
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    inputs, targets = torch.randn(2048, 2048, device="cuda"), torch.randn(2048, 2048, device="cuda")

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item().hex().encode()

    return step


def decoding(width, depth):
    heads, batch, longest, words = width // 128, 8, 256, 8192
    make = {"device": "cuda", "dtype": torch.bfloat16}

    def matrix(rows, columns):
        return torch.randn(rows, columns, **make) * rows ** -0.5

    layers = [[matrix(width, 3 * width), matrix(width, width), matrix(width, 4 * width), matrix(4 * width, width)]
              for _ in range(depth)]
    embedding = torch.randn(words, width, **make)
    keys = [torch.zeros(batch, heads, longest, width // heads, **make) for _ in range(depth)]
    values = [torch.zeros_like(one) for one in keys]
    state = {"at": 0, "tokens": torch.arange(batch, device="cuda")}

    def step(is_checked):
        at = state["at"]
        x = embedding[state["tokens"]]
        for (qkv, out, up, down), key, value in zip(layers, keys, values):
            q, k, v = (F.rms_norm(x, (width,)) @ qkv).view(batch, 3, heads, -1).unbind(1)
            key[:, :, at], value[:, :, at] = k, v
            seen = F.scaled_dot_product_attention(q.unsqueeze(2), key[:, :, :at + 1], value[:, :, :at + 1])
            x = x + seen.reshape(batch, width) @ out
            x = x + F.gelu(F.rms_norm(x, (width,)) @ up) @ down
        scores = F.rms_norm(x, (width,)) @ embedding.T
        state["tokens"] = scores.argmax(-1)
        state["at"] = (at + 1) % longest
        state["tokens"].tolist()
        return scores.cpu().view(torch.int16).numpy().tobytes() if is_checked else None

    return step


PROGRAMS = {"train": training, "decode": lambda: decoding(4096, 12), "decode_wide": lambda: decoding(12288, 6)}


def main():
    what, seconds, checked = sys.argv[1], float(sys.argv[2]), int(sys.argv[5])
    stop, times = map(pathlib.Path, sys.argv[3:5])
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    step = PROGRAMS[what]()
    ends, digest = [], hashlib.sha256()
    with torch.inference_mode(what != "train"):
        until = time.monotonic() + seconds
        while not (len(ends) % 16 == 0 and stop.exists()):
            over = len(ends) >= checked if seconds == 0 else time.monotonic() >= until
            if over:
                break
            result = step(len(ends) < checked)
            if len(ends) < checked:
                digest.update(result)
            ends.append(time.monotonic_ns())
    times.write_text("\n".join(map(str, ends)) + "\n")
    print(f"digest {digest.hexdigest() if len(ends) >= checked else 'none'}", flush=True)


if __name__ == "__main__":
    main()
