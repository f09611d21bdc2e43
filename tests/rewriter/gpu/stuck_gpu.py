"""What wic-prof stuck says of patched waits that nobody ends, on a GPU:

python3 stuck_gpu.py BUILD -o FILE [--each 3] [--only NAME,...] [--limit SECONDS]

BUILD holds bin/wic-prof, bin/votes, bin/shared_flags and lib/libwicprof_inject.so; `all_reduce` needs two GPUs, PyTorch
and Triton. A row per program: in how many runs the first cause has the right kind and names the right party. One
question per run, once a wait has lasted for two seconds. Prints each answer, and PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench"))
import result_file  # noqa: E402

BAR = 0.95
# Per program: the first cause's kind, what it says, and the command.
BLOCKS = r"blocks 0 to 130( of 132)? wait for word 0x[0-9a-f]+ of site {site}"
PEER = r"^process \d+ \(shared_flags\), which "
PROGRAMS = {
    "vote": ("missing_signal", BLOCKS.format(site="vote:site"), ["votes", "vote_128", "40", "missing"]),
    "semaphore": ("missing_signal", BLOCKS.format(site="semaphore:site"), ["votes", "semaphore_128", "40", "missing"]),
    "passed_on": ("missing_signal", BLOCKS.format(site="passed_on:site"), ["votes", "passed_on", "40", "missing"]),
    "queues": ("missing_signal", r"block 0( of 132)? waits for a word of site queues:site",
               ["votes", "queues", "40", "missing"]),
    "any_of": ("missing_signal", r"block 0( of 132)? waits for a word of site first_of:site",
               ["votes", "any_of", "40", "missing"]),
    "killed_peer": ("absent_rank", PEER + "(shares memory of GPUs|runs the same program), has ended; in process",
                    ["shared_flags", "2000", "killed"]),
    "all_reduce": ("absent_rank", r"rank 1 of 2 \(process \d+\) does not wait there; its thread \d+ sleeps in ",
                   [sys.executable, HERE / "symmetric_all_reduce.py", "--absent-after", "3"]),
}
LASTS, PATIENCE = 2_000_000_000, 40  # ns of a wait; seconds until it has


class Bench:
    def __init__(self, options, folder):
        self.bin, self.folder = options.build / "bin", folder
        self.end = time.monotonic() + options.limit
        self.environment = {"TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_NVLS_ENABLE": "0",
                            "NCCL_SOCKET_IFNAME": "lo", **os.environ, "XDG_RUNTIME_DIR": str(folder)}

    def ask(self):
        """Once a wait has lasted, or the answer at the end of the patience."""
        answer, until = {}, min(self.end, time.monotonic() + PATIENCE)
        while time.monotonic() < until:
            time.sleep(0.3)
            done = subprocess.run([self.bin / "wic-prof", "stuck", "--session=hung", "--format=json"], text=True,
                                  env=self.environment, capture_output=True, timeout=20, check=False)
            if done.returncode != 0:
                continue
            answer = json.loads(done.stdout)
            if any(wait["source"] == "patched" and wait["age_ns"] > LASTS for wait in answer["waits"]):
                break
        return answer.get("causes", [])

    def is_right(self, name):
        kind, pattern, command = PROGRAMS[name]
        if isinstance(command[0], str) and (self.bin / command[0]).exists():
            command = [self.bin / command[0], *command[1:]]
        run = subprocess.Popen([self.bin / "wic-prof", "run", "-q", "-f", "-o", self.folder / "t.wicprof",
                                "--name=hung", "--rewrite", "--", *command], env=self.environment,
                               start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            causes = self.ask()
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        first = causes[0] if causes else {"kind": "none", "confidence": "unknown", "text": ""}
        right = first["kind"] == kind and re.search(pattern, first["text"]) is not None
        print(f"{'right' if right else 'WRONG'}: {name}: {first['kind']} ({first['confidence']}): {first['text']}",
              flush=True)
        if not right:
            print(json.dumps(causes)[:3000], flush=True)
        return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--only", default=",".join(PROGRAMS), help="programs, separated by commas")
    parser.add_argument("--limit", type=float, default=200, help="seconds after which no program begins")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        bench = Bench(options, pathlib.Path(name))
        for program in options.only.split(","):
            answers = [bench.is_right(program) for _ in range(options.each) if time.monotonic() < bench.end]
            if not answers:
                continue
            ratio = sum(answers) / len(answers)
            rows.append({"name": program, "params": {"runs": len(answers)}, "value": sum(answers), "unit": "runs",
                         "compared_to": "runs that hang so", "ratio": ratio, "bar": BAR, "holds": ratio >= BAR})
    command = f"tests/rewriter/gpu/stuck_gpu.py BUILD -o FILE --each {options.each}"
    status = result_file.write(options, "stuck_gpu", command, rows) if rows else 1
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
