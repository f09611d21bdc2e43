#!/usr/bin/env python3
"""kill -9 of the recorder while park is in force, on a GPU: the program waits in its own way again.

    recorder_killed.py BUILD    about 20 s; needs BUILD/bin/wic-prof and BUILD/bin/host_waits_app

A thread that spins in its wait uses a CPU, and one that is parked next to nothing: compares the program's CPU time
before the kill with that from one second after it. Prints both, then PASS or FAIL.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def share(pid, seconds):
    """Of a CPU, over so many seconds from now."""
    before, begin = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / (time.monotonic() - begin)


def child_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + 20
    while not children.read_text().split():
        if time.monotonic() > end:
            raise SystemExit("the program did not start")
        time.sleep(0.01)
    return int(children.read_text().split()[0])


def main():
    work = tempfile.mkdtemp()
    run = subprocess.Popen([BUILD / "bin/wic-prof", "run", "-q", "-f", "-o", "t.wicprof", "--mode=park", "--side=host",
                            "--strategy=block", "--", BUILD / "bin/host_waits_app", "stream", "20000", "0", "15"],
                           cwd=work, stdout=subprocess.PIPE, text=True,
                           env={**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp()})
    app = child_of(run.pid)
    time.sleep(4)  # until the context is made and the sites have names
    parked = share(app, 2)
    run.kill()
    time.sleep(1)
    own = share(app, 2)
    output, _ = run.communicate(timeout=60)  # the program's, to its end
    good = parked < 0.5 < own and output.strip() != ""
    print(f"host threads: {parked:.2f} of a CPU parked, {own:.2f} from one second after the kill on; "
          f"it printed: {output.strip()}: " + ("as by itself" if good else "BAD"))
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
