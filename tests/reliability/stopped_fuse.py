"""A file system in user space whose server is stopped, below the trace: whether interruptions end wic-prof, and with
which status.

    tests/reliability/stopped_fuse.py build/bin -o docs/results/stopped_fuse.MACHINE.json [--tries 20]

A long test by itself. As root, with bindfs. A thread whose request the server has taken before it stopped cannot be
ended by anybody: the kernel waits for the answer.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
import result_file  # noqa: E402

PATIENCE = 20  # seconds, for wic-prof's end
STATUS = 7


class Disk:
    """bindfs, which can be stopped."""

    def __init__(self, root):
        self.folder, below = root / "disk", root / "below"
        self.folder.mkdir()
        below.mkdir()
        self.server = subprocess.Popen(["bindfs", "-f", str(below), str(self.folder)])
        end = time.monotonic() + PATIENCE
        while not os.path.ismount(self.folder):
            if self.server.poll() is not None or time.monotonic() > end:
                sys.exit("stopped_fuse: bindfs does not mount")
            time.sleep(0.01)

    def close(self):
        self.server.send_signal(signal.SIGCONT)
        subprocess.run(["umount", "-l", str(self.folder)], check=False)
        self.server.kill()
        self.server.wait()


def attempt(options, disk, env, before, seconds):
    """The status of wic-prof when interrupted while its disk is stopped. None: it did not end."""
    program = [str(options.bin / "traced_app"), "--seconds", str(seconds), "--status", str(STATUS)]
    if before:
        disk.server.send_signal(signal.SIGSTOP)
    process = subprocess.Popen([str(options.bin / "wic-prof"), "run", "-q", "-f", "-o", str(disk.folder / "t.wicprof"),
                                "--", *program], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.7)
        disk.server.send_signal(signal.SIGSTOP)
        time.sleep(1)
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None
    finally:
        disk.server.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--tries", type=int, default=20, help="of each case")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    rows = []
    with tempfile.TemporaryDirectory(prefix="wicprof-fuse-") as folder:
        root = pathlib.Path(folder)
        (root / "runtime").mkdir(mode=0o700)
        env = dict(os.environ, XDG_RUNTIME_DIR=str(root / "runtime"))
        disk = Disk(root)
        try:
            for name, before, seconds, wanted in (("while_it_runs", False, 60, 128 + signal.SIGTERM),
                                                  ("after_its_end", False, 1.2, STATUS),
                                                  ("before_its_start", True, 60, 128 + signal.SIGTERM)):
                ends = [attempt(options, disk, env, before, seconds) for _ in range(options.tries)]
                right = sum(end == wanted for end in ends)
                rows.append({"name": name, "params": {"tries": options.tries, "not_ended": ends.count(None),
                                                      "another_status": options.tries - right - ends.count(None)},
                             "value": right, "unit": "ends with the program's status", "compared_to": "all tries",
                             "ratio": right / options.tries, "bar": 1, "holds": right == options.tries})
                print(rows[-1]["name"], ends, flush=True)
        finally:
            disk.close()
    return result_file.write(options, "stopped_fuse", "tests/reliability/stopped_fuse.py build/bin", rows)


if __name__ == "__main__":
    sys.exit(main())
