"""Every system call of wic-prof fails: each of the first 60 of its kind in a thread, and all from one on, with each
error of ERRORS. A long test by itself, which needs strace:

    tests/reliability/system_calls.py build/bin -o docs/results/system_calls.MACHINE.json [--seconds 600] [--only run]

With --seconds, each command gets that time, and tries a part in a fixed random order: the rows say how many of how
many.
A program's status is as bare; a reading command gives the usual answer, or a status of wic-prof's with a message; none
hangs for 10 s, dies by a signal or leaves a file or a session, unless removing is what fails.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
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
REMOVING = ("unlink", "unlinkat", "rmdir")
# Where all calls fail with these, nothing that waits or tries again can ever end.
NEVER_ENDS = ("EINTR", "EAGAIN")


class Command:
    """One command in a folder and with a session folder of its own."""

    def __init__(self, name, words, bin_folder):
        self.name, self.words, self.bin = name, words, bin_folder

    def run(self, folder, prefix=()):
        runtime, work, temporary = folder / "runtime", folder / "work", folder / "tmp"
        env = dict(os.environ, XDG_RUNTIME_DIR=str(runtime), TMPDIR=str(temporary), HOME=str(folder), NO_COLOR="1")
        process = subprocess.Popen([*prefix, str(self.bin / "wic-prof"), *self.words], cwd=work, env=env,
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


def judge(command, folder, usual, fault, result, before):
    """held, refused, other, before main; or what is wrong."""
    status, out, err = result
    call, error, when = fault
    ever = when.endswith("+")
    if status is None:
        return "endless by nature" if ever and error in NEVER_ENDS else "HANGS"
    ended = folder / "work" / "ended"
    if int(when.rstrip("+")) <= before[call] and not (ended.exists() or status == usual[0]):
        return "before main"
    if status < 0 or status > 128:
        return f"DIES ({status})"
    if call not in REMOVING and (left := command.left(folder)):
        # A trace's log stays where it could not be put into the trace: readers use it.
        its_log = ended.exists() and set(left) <= {"o.wicprof-wal", "o.wicprof-shm"} and b"INCOMPLETE" in err
        return "announced" if its_log and status == STATUS else f"LEAVES {left}"
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


def try_command(command, root, trace, seconds, workers):
    calls, before = calls_of(command, root, trace)
    folder = make_folder(root, trace)
    usual = command.run(folder)
    shutil.rmtree(folder)
    faults = [(call, error, when) for call in sorted(calls) if call in ERRORS for error in ERRORS[call]
              for at in range(1, min(calls[call], MOST) + 1) for when in (str(at), f"{at}+")
              if not (when.endswith("+") and at > before[call] + 3)
              and (command.name == "run" or at > before[call])]  # the loader's belong to it
    random.Random(1).shuffle(faults)
    end = time.monotonic() + seconds

    def attempt(fault):
        if time.monotonic() > end:
            return fault, None
        where = make_folder(root, trace)
        call, error, when = fault
        result = command.run(where, ["strace", "-f", "-qq", "-b", "execve", "-o", "/dev/null", "-e", f"trace={call}",
                                     "-e", f"inject={call}:error={error}:when={when}"])
        verdict = judge(command, where, usual, fault, result, before)
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
    parser.add_argument("--seconds", type=float, default=1e9, help="for each command")
    parser.add_argument("--only", default="", help="the commands whose names begin so")
    parser.add_argument("--workers", type=int, default=2)
    result_file.add_arguments(parser)
    options = parser.parse_args()
    bins = options.bin.resolve()
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
            tried, of, ends, wrong = try_command(command, root, trace, options.seconds, options.workers)
            rows.append({"name": command.name, "params": {
                "possible": of, "held": ends["held"], "refused": ends["refused"], "announced": ends["announced"],
                "another_answer": ends["another answer"], "before_main": ends["before main"],
                "endless_by_nature": ends["endless by nature"], "not_as_promised": len(wrong), "which": wrong},
                "value": tried, "unit": "runs", **claim(tried, len(wrong))})
            all_tried += tried
            all_wrong += len(wrong)
    rows.append({"name": "all", "params": {"not_as_promised": all_wrong}, "value": all_tried, "unit": "runs",
                 **claim(all_tried, all_wrong)})
    return result_file.write(options, "system_calls", "tests/reliability/system_calls.py build/bin", rows)


if __name__ == "__main__":
    sys.exit(main())
