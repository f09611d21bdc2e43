"""What happens at every call of wic-prof: each of the first 60 of its kind, and all from one on.

    tests/reliability/system_calls.py build/bin -o docs/results/system_calls.MACHINE.json [--seconds 600] [--only run]
    tests/reliability/system_calls.py build/bin --kind short -o docs/results/short_calls.MACHINE.json

A long test by itself. The kinds, with --kind:
    errors   a system call fails, with each error of ERRORS; needs strace
    short    a call of the C library that reads or writes moves half of its bytes
    signals  a signal for the process arrives in a call of the C library
With --limit, under a limit as prlimit names it, as "nofile=30". With --seconds, each command gets that time, and tries
a part in a fixed random order: the rows say how many of how many.
A program's status is as bare; a reading command gives the usual answer, or a status of wic-prof's with a message; none
hangs for 10 s, dies by a signal or leaves a file or a session, unless removing is what fails. A signal that ends a
program ends wic-prof with the program's status, and a reading command as usual.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
import result_file  # noqa: E402

MOST = 60
HANG = 10.0  # seconds
STATUS = 7
# As the manual pages have them, of what a machine in trouble gives.
ERRORS = {
    "accept4": ("EMFILE", "ENOMEM"), "access": ("EACCES", "EIO"), "bind": ("EACCES", "EADDRINUSE"),
    "chdir": ("EACCES",), "chmod": ("EPERM", "EROFS"), "clone": ("EAGAIN", "ENOMEM"), "clone3": ("EAGAIN", "ENOMEM"),
    "connect": ("ECONNREFUSED", "EAGAIN"), "dup2": ("EBADF", "EMFILE"), "dup3": ("EBADF", "EMFILE"),
    "eventfd2": ("EMFILE", "ENOMEM"), "fallocate": ("ENOSPC", "EIO", "EOPNOTSUPP"), "fchmod": ("EPERM", "EIO"),
    "fchown": ("EPERM",), "fcntl": ("EINVAL", "EIO", "ENOLCK"), "fdatasync": ("EIO", "ENOSPC"),
    "flock": ("ENOLCK", "EINTR"), "fork": ("EAGAIN", "ENOMEM"), "fstat": ("EIO", "ENOMEM"),
    "fstatfs": ("EIO", "ENOSYS"),
    "fsync": ("EIO", "ENOSPC"), "ftruncate": ("EIO", "ENOSPC"), "getcwd": ("ENOENT", "EACCES"), "getdents64": ("EIO",),
    "getrandom": ("EAGAIN", "ENOSYS"), "ioctl": ("ENOTTY",), "link": ("EPERM", "ENOSPC"), "listen": ("EADDRINUSE",),
    "lseek": ("EINVAL",), "lstat": ("EACCES", "EIO"), "mkdir": ("ENOSPC", "EACCES"), "mmap": ("ENOMEM", "EAGAIN"),
    "mprotect": ("ENOMEM",), "mremap": ("ENOMEM",), "munmap": ("ENOMEM",), "newfstatat": ("EACCES", "EIO"),
    "open": ("EMFILE", "EACCES"), "openat": ("EMFILE", "EACCES", "EIO"), "pipe2": ("EMFILE", "ENFILE"),
    "poll": ("EINTR", "ENOMEM"), "ppoll": ("EINTR",), "prctl": ("EINVAL",), "pread64": ("EIO", "EINTR"),
    "prlimit64": ("EPERM",), "pwrite64": ("ENOSPC", "EIO", "EINTR"), "read": ("EIO", "EINTR", "EAGAIN"),
    "readlink": ("EACCES", "EIO"), "recvfrom": ("ECONNRESET",), "rename": ("EACCES", "ENOSPC"), "rmdir": ("EBUSY",),
    "sendto": ("EPIPE",), "setsockopt": ("ENOMEM",), "socket": ("EMFILE", "ENOMEM"), "statfs": ("EIO", "ENOSYS"),
    "statx": ("EIO",), "symlink": ("ENOSPC",), "uname": ("EFAULT",), "unlink": ("EACCES", "EIO"),
    "unlinkat": ("EACCES", "EIO"), "wait4": ("EINTR",), "write": ("ENOSPC", "EIO", "EINTR"), "writev": ("ENOSPC",),
}
MOVING = ("read", "write", "pread64", "pwrite64", "writev", "recv", "send")
# What ends a program, and what does not.
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SIGNALS = (*ENDING, signal.SIGWINCH)
REMOVING = ("unlink", "unlinkat", "rmdir")
# Where all calls fail with these, nothing that waits or tries again can ever end.
NEVER_ENDS = ("EINTR", "EAGAIN")


class Command:
    """One command in a folder and with a session folder of its own."""

    def __init__(self, name, words, bin_folder):
        self.name, self.words, self.bin = name, words, bin_folder
        self.limits = []

    def run(self, folder, prefix=(), **variables):
        runtime, work, temporary = folder / "runtime", folder / "work", folder / "tmp"
        env = dict(os.environ, XDG_RUNTIME_DIR=str(runtime), TMPDIR=str(temporary), HOME=str(folder), NO_COLOR="1",
                   **variables)
        limits = ["prlimit", *(f"--{limit}" for limit in self.limits)] if self.limits else []
        process = subprocess.Popen([*limits, *prefix, str(self.bin / "wic-prof"), *self.words], cwd=work, env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with its program
            process.communicate()
            return None, b"", b""
        return process.returncode, out, err

    def left(self, folder):
        names = [path.name for path in (folder / "work").iterdir()] + [p.name for p in (folder / "tmp").iterdir()]
        sessions = folder / "runtime" / "wic-prof"
        names += [path.name for path in sessions.iterdir()] if sessions.is_dir() else []
        return [name for name in names if name not in ("t.wicprof", "flag.ptx", "out", "o.wicprof", "ended")]


def make_folder(root, trace):
    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
    for part in ("runtime", "work", "tmp"):
        (folder / part).mkdir(mode=0o700)
    if trace:
        shutil.copy(trace, folder / "work" / "t.wicprof")
    shutil.copy(SOURCE / "tests" / "cli" / "flag.ptx", folder / "work")
    return folder


def calls_of(command, root, trace):
    """(call, how often the busiest thread made it), and those before main()."""
    folder = make_folder(root, trace)
    log = folder / "log"
    command.run(folder, ["strace", "-f", "-qq", "-b", "execve", "--signal=none", "-o", str(log)])
    per_thread, loading, main, before = collections.Counter(), True, None, collections.Counter()
    for line in log.read_text(errors="replace").splitlines():
        made = re.match(r"(\d+) +(\w+)\(", line)
        if not made:
            continue
        per_thread[made.groups()] += 1
        main = main or made.group(1)
        loading = loading and made.groups() != (main, "munmap")  # the loader gives its cache back, and is done
        if loading and made.group(1) == main:
            before[made.group(2)] += 1
    shutil.rmtree(folder)
    most = collections.Counter()
    for (_, name), count in per_thread.items():
        most[name] = max(most[name], count)
    return most, before


class Errors:
    """System calls fail."""

    def faults(self, command, root, trace):
        calls, self.before = calls_of(command, root, trace)
        return [(call, error, when) for call in sorted(calls) if call in ERRORS for error in ERRORS[call]
                for at in range(1, min(calls[call], MOST) + 1) for when in (str(at), f"{at}+")
                if not (when.endswith("+") and at > self.before[call] + 3)
                and (command.name == "run" or at > self.before[call])]  # the loader's belong to it

    def run(self, command, folder, fault):
        call, error, when = fault
        return command.run(folder, ["strace", "-f", "-qq", "-b", "execve", "-o", "/dev/null", "-e", f"trace={call}",
                                    "-e", f"inject={call}:error={error}:when={when}"])

    def is_before_main(self, fault):
        call, _, when = fault
        return int(when.rstrip("+")) <= self.before[call]


class AtCalls:
    """Calls of the C library, by a library that is preloaded into wic-prof (at_call.cpp)."""

    def __init__(self, library):
        self.library = str(library)

    def tally(self, command, root, trace):
        folder = make_folder(root, trace)
        command.run(folder, LD_PRELOAD=self.library, WICPROF_TEST_TALLY=str(folder / "tally"))
        made = [line.split() for line in (folder / "tally").read_text().splitlines()]
        shutil.rmtree(folder)
        return {name: int(count) for name, count in made}

    def run(self, command, folder, fault):
        call, action, when = fault
        number = action if action == "short" else int(signal.Signals[action])
        return command.run(folder, LD_PRELOAD=self.library, WICPROF_TEST_AT=f"{call} {when} {number}")

    def is_before_main(self, fault):
        return False


class Short(AtCalls):
    def faults(self, command, root, trace):
        calls = self.tally(command, root, trace)
        return [(call, "short", when) for call in MOVING for at in range(1, min(calls.get(call, 0), MOST) + 1)
                for when in (str(at), f"{at}+")]


class Signals(AtCalls):
    def faults(self, command, root, trace):
        calls = self.tally(command, root, trace)
        return [(call, number.name, str(at)) for call in sorted(calls) for number in SIGNALS
                for at in range(1, min(calls[call], MOST) + 1)]


def is_of_signal(command, folder, fault, result):
    """Whether a command ended as one that gets this signal: a program by the signal or as usual, as the trace says."""
    number, (status, _, _) = signal.Signals[fault[1]], result
    trace = folder / "work" / "o.wicprof"
    if status == -number:  # before a program was there to get it, or a reading command
        return not trace.exists()
    if command.name != "run" or not trace.exists():
        return False
    with contextlib.closing(sqlite3.connect(trace)) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
    ended = (folder / "work" / "ended").exists()
    return (meta["state"] == "complete" and meta["app_status"] == str(status)
            and status in ((STATUS, 128 + number) if ended else (128 + number,)))


def judge(command, folder, usual, kind, fault, result):
    """held, refused, other, before main; or what is wrong."""
    status, out, err = result
    call, error, when = fault
    ever = when.endswith("+")
    if status is None:
        return "endless by nature" if ever and error in NEVER_ENDS else "HANGS"
    ended = folder / "work" / "ended"
    if kind.is_before_main(fault) and not (ended.exists() or status == usual[0]):
        return "before main"
    ending = error in [number.name for number in ENDING]
    if (status < 0 or status > 128) and not ending:
        return f"DIES ({status})"
    if (ending or call not in REMOVING) and (left := command.left(folder)):
        # A trace's log stays where it could not be put into the trace: readers use it.
        its_log = ended.exists() and set(left) <= {"o.wicprof-wal", "o.wicprof-shm"} and b"INCOMPLETE" in err
        return "announced" if its_log and status == STATUS else f"LEAVES {left}"
    if ending and (status, out) != usual[:2]:
        return "held" if is_of_signal(command, folder, fault, result) else f"STATUS {status}"
    if ended.exists():  # the recorded program ran
        return "held" if status == STATUS else f"STATUS {status}"
    if command.name == "run" and (folder / "work" / "o.wicprof").exists() and call not in REMOVING:
        return "LEAVES a trace of a program that did not run"
    if status == usual[0] and out == usual[1]:
        return "held"
    silent = not err and call not in ("write", "writev", "dup2", "poll")
    if status in (1, 2, 3):
        return "SILENT" if silent and status != usual[0] else "refused"
    return "announced" if err and not silent else "another answer"


def try_command(kind, command, root, trace, seconds, workers):
    folder = make_folder(root, trace)
    usual = command.run(folder)
    shutil.rmtree(folder)
    faults = kind.faults(command, root, trace)
    random.Random(1).shuffle(faults)
    end = time.monotonic() + seconds

    def attempt(fault):
        if time.monotonic() > end:
            return fault, None
        where = make_folder(root, trace)
        verdict = judge(command, where, usual, kind, fault, kind.run(command, where, fault))
        shutil.rmtree(where, ignore_errors=True)
        return fault, verdict

    ends, wrong = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for fault, verdict in pool.map(attempt, faults):
            if verdict is None:
                continue
            bad = verdict.split(" ")[0].isupper()
            ends["not as promised" if bad else verdict] += 1
            if bad:
                wrong.append(f"{':'.join(fault)} {verdict}")
                print(f"{command.name}: {wrong[-1]}", flush=True)
    tried = sum(ends.values())
    print(f"{command.name}: {tried} of {len(faults)}: {dict(ends)}", flush=True)
    return tried, len(faults), ends, wrong


def claim(tried, wrong):
    return {"compared_to": "all runs as promised", "ratio": round(1 - wrong / max(tried, 1), 4), "bar": 1,
            "holds": wrong == 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--kind", choices=("errors", "short", "signals"), default="errors")
    parser.add_argument("--limit", action="append", default=[], help="as prlimit names it: nofile=30")
    parser.add_argument("--seconds", type=float, default=1e9, help="for each command")
    parser.add_argument("--only", default="", help="the commands whose names begin so")
    parser.add_argument("--workers", type=int, default=2)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    bins = options.bin.resolve()
    library = bins.parent / "lib" / "libwicprof_at_call.so"
    kind = {"errors": Errors, "short": lambda: Short(library), "signals": lambda: Signals(library)}[options.kind]()
    program = f"{bins}/traced_app --period-us 100 --iterations 100 --status {STATUS}; s=$?; echo $s > ended; exit $s"
    commands = [
        Command("run", ["run", "-o", "o.wicprof", "--buffer-size", "2", "--", "/bin/sh", "-c", program], bins),
        Command("analyze", ["analyze", "t.wicprof"], bins),
        Command("analyze_json", ["analyze", "--format=json", "t.wicprof"], bins),
        Command("compare", ["compare", "t.wicprof", "t.wicprof"], bins),
        *(Command(f"report_{each}", ["report", "t.wicprof", "--format", each, "-o", "out"], bins)
          for each in ("html", "md", "json", "csv", "perfetto")),
        Command("rewrite", ["rewrite", "flag.ptx", "-o", "out"], bins),
        Command("sessions", ["sessions"], bins),
        Command("toggle", ["toggle", "park"], bins),
        Command("stuck", ["stuck"], bins),
        Command("explain", ["explain"], bins),
    ]
    rows, all_tried, all_wrong = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="wicprof-calls-") as root:
        folder = make_folder(root, None)
        made = Command("trace", ["run", "-o", "t.wicprof", "--", f"{bins}/traced_app", "--waits", "100"], bins)
        if made.run(folder)[0] != 0:
            sys.exit("no trace could be recorded")
        trace = folder / "work" / "t.wicprof"
        for command in commands:
            if not command.name.startswith(options.only):
                continue
            command.limits = options.limit
            tried, of, ends, wrong = try_command(kind, command, root, trace, options.seconds, options.workers)
            rows.append({"name": command.name, "params": {
                "possible": of, "held": ends["held"], "refused": ends["refused"], "announced": ends["announced"],
                "another_answer": ends["another answer"], "before_main": ends["before main"],
                "endless_by_nature": ends["endless by nature"], "not_as_promised": len(wrong), "which": wrong},
                "value": tried, "unit": "runs", **claim(tried, len(wrong))})
            all_tried += tried
            all_wrong += len(wrong)
    rows.append({"name": "all", "params": {"not_as_promised": all_wrong}, "value": all_tried, "unit": "runs",
                 **claim(all_tried, all_wrong)})
    words = [] if options.kind == "errors" else ["--kind", options.kind]
    words += [word for limit in options.limit for word in ("--limit", limit)]
    command = " ".join(["tests/reliability/system_calls.py build/bin", *words])
    return result_file.write(options, "system_calls", command, rows)


if __name__ == "__main__":
    sys.exit(main())
