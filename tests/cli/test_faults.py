"""Faults of the machine: system calls of wic-prof that fail, suspended processes, clock steps, many threads and
processes, full shared memory. Whatever happens: the program runs with its own exit status or not at all, no event is
missing without being counted or announced, and nothing is left behind.

The suite tries a fixed sample. All of it: WICPROF_FAULTS=all (every system call in turn), WICPROF_SUSPEND=60 (seconds),
WICPROF_THREADS=10000, WICPROF_PROCESSES=250. docs/reliability.md has the results."""

import collections
import json
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
import unittest

import harness

FAULTS = os.environ.get("WICPROF_FAULTS", "24")  # a number, "all", or "SYSCALL:ERROR:N"
SUSPEND = float(os.environ.get("WICPROF_SUSPEND", "1"))
THREADS = int(os.environ.get("WICPROF_THREADS", "1000"))
PROCESSES = int(os.environ.get("WICPROF_PROCESSES", "24"))
TIMEOUT = max(120, 4 * SUSPEND)

# The errors that a call is made to fail with: those that its manual page names and that a machine in trouble gives.
ERRORS = {
    "accept4": "EMFILE", "access": "EACCES", "bind": "EACCES", "chdir": "EACCES", "chmod": "EPERM",
    "clone": "EAGAIN", "clone3": "EAGAIN", "connect": "ECONNREFUSED", "dup2": "EBADF", "dup3": "EBADF",
    "epoll_create1": "EMFILE", "epoll_ctl": "ENOMEM", "eventfd2": "EMFILE", "execve": "EAGAIN", "fallocate": "ENOSPC",
    "fchmod": "EPERM", "fchown": "EPERM", "fcntl": "EINVAL", "fdatasync": "EIO", "flock": "ENOLCK", "fork": "EAGAIN",
    "fstat": "EIO", "fstatfs": "EIO", "fsync": "EIO", "ftruncate": "ENOSPC", "getcwd": "ENOENT", "getdents64": "EIO",
    "getrandom": "EAGAIN", "getsockname": "ENOBUFS", "ioctl": "ENOTTY", "link": "EPERM", "listen": "EADDRINUSE",
    "lseek": "EINVAL", "lstat": "EACCES", "memfd_create": "EMFILE", "mkdir": "ENOSPC", "mmap": "ENOMEM",
    "mprotect": "ENOMEM", "mremap": "ENOMEM", "munmap": "ENOMEM", "newfstatat": "EACCES", "open": "EMFILE",
    "openat": "EMFILE", "pipe2": "EMFILE", "poll": "EINTR", "ppoll": "EINTR", "prctl": "EINVAL", "pread64": "EIO",
    "prlimit64": "EPERM", "pwrite64": "ENOSPC", "read": "EIO", "readlink": "EACCES", "recvfrom": "ECONNRESET",
    "recvmsg": "ECONNRESET", "rename": "EACCES", "rmdir": "EBUSY", "rt_sigtimedwait": "EINTR", "sendmsg": "EPIPE",
    "sendto": "EPIPE", "setsockopt": "ENOMEM", "shutdown": "ENOTCONN", "socket": "EMFILE", "socketpair": "EMFILE",
    "statfs": "EIO", "statx": "EIO", "symlink": "ENOSPC", "truncate": "ENOSPC", "uname": "EFAULT", "unlink": "EACCES",
    "unlinkat": "EACCES", "wait4": "EINTR", "waitid": "EINTR", "write": "ENOSPC", "writev": "ENOSPC",
}
# Calls that cannot fail, whose failure ends any program (glibc does so), or whose failure strace cannot imitate: brk
# has no error number, and close releases the descriptor even when it fails.
NEVER_FAIL = {
    "arch_prctl", "brk", "close", "clock_gettime", "clock_nanosleep", "exit", "exit_group", "futex", "getegid",
    "geteuid", "getgid", "getpgid", "getpgrp", "getpid", "getppid", "gettid", "getuid", "kill", "madvise",
    "membarrier", "nanosleep", "restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    "sched_getaffinity", "sched_yield", "set_robust_list", "set_tid_address", "sigaltstack", "sysinfo", "tgkill",
    "umask", "vfork", "gettimeofday",
}
# These once hung wic-prof (the program's start, the control socket's end), or left a socket behind.
FOUND = [("write", "ENOSPC", 1), ("write", "ENOSPC", 3), ("unlink", "EACCES", 10)]
MOST_CALLS = 40  # of one kind in one thread
ITERATIONS = 300
STATUS = 7


def have(tool):
    return shutil.which(tool) is not None


def traces_processes():
    with tempfile.NamedTemporaryFile() as log:
        try:
            done = subprocess.run(["strace", "-f", "-b", "execve", "-o", log.name, "true"], capture_output=True,
                                  timeout=60)
        except OSError:
            return False
        return done.returncode == 0


class Recorded(harness.Case):
    def run_it(self, words, env=None, prefix=(), timeout=TIMEOUT):
        try:
            return subprocess.run([*prefix, harness.WICPROF, *map(str, words)], cwd=self.work, text=True,
                                  env={**self.env, **(env or {})}, errors="replace", capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=timeout)
        except subprocess.TimeoutExpired:
            for pid, _ in self.processes():  # of this test only
                os.kill(pid, signal.SIGKILL)
            raise

    def assert_counted(self, trace, written=None):
        """No wait is missing without a loss that says so. Returns (waits, losses)."""
        stats = self.stats(trace)
        lost = sum(value for name, value in stats.items() if name in
                   ("ring_dropped", "store_lost", "damaged_records", "impossible_rows", "clock_lost", "ring_corrupt"))
        waits = self.number(trace, "SELECT count(*) FROM wait WHERE site_id = 1")
        last = written or self.number(trace, "SELECT ifnull(max(iteration), 0) FROM wait WHERE site_id = 1")
        self.assertLessEqual(last - waits, lost, f"{last} written, {waits} kept: {stats}")
        return waits, lost


@unittest.skipUnless(have("strace") and traces_processes(), "needs strace, and the right to trace")
class SystemCalls(Recorded):
    """Each system call of wic-prof fails once, in each of its threads."""

    def setUp(self):
        super().setUp()
        self.loader = collections.Counter()  # calls before main(); the loader may crash
        self.script = (f"{harness.TRACED_APP} --period-us 100 --iterations {ITERATIONS} --status {STATUS}; s=$?; "
                       f"echo $s > {self.work}/ended; exit $s")

    def words(self):
        return ["run", "-o", "t.wicprof", "--", "/bin/sh", "-c", self.script]

    def strace(self, *options):
        # -b execve: lets the program go when it begins, so that only wic-prof is traced.
        return ["strace", "-f", "-qq", "-b", "execve", *options]

    def calls(self):
        """(system call, how often the busiest thread made it), of a run without a fault."""
        log = self.work / "strace.log"
        done = self.run_it(self.words(), prefix=self.strace("-o", str(log), "--signal=none"))
        self.assertEqual(done.returncode, STATUS, done.stderr)
        per_thread, loading, main = collections.Counter(), True, None
        for line in log.read_text(errors="replace").splitlines():
            made = re.match(r"(\d+) +(\w+)\(", line)
            if not made:
                continue
            per_thread[made.groups()] += 1
            main = main or made.group(1)
            loading = loading and made.groups() != (main, "munmap")  # the loader gives its cache back, and is done
            if loading and made.group(1) == main:
                self.loader[made.group(2)] += 1
        calls = collections.Counter()
        for (_, name), count in per_thread.items():
            calls[name] = max(calls[name], count)
        self.clean()
        return calls

    def clean(self):
        for entry in self.work.iterdir():
            entry.unlink()

    def faults(self):
        """(call, error, the how-manyeth)"""
        if ":" in FAULTS:
            call, error, at = FAULTS.split(":")
            return [(call, error, int(at))]
        calls = self.calls()
        if unknown := sorted(set(calls) - set(ERRORS) - NEVER_FAIL):
            print(f"not tried, because ERRORS does not say how they fail: {unknown}", flush=True)
        # Later calls are made at the same places again and again, most of them by SQLite and the host's sampler.
        every = [(call, ERRORS[call], at) for at in range(1, MOST_CALLS + 1) for call in sorted(calls)
                 if call in ERRORS and at <= calls[call]]
        if FAULTS == "all":
            return every
        others = [fault for fault in every if fault not in FOUND]
        return FOUND + random.Random(1).sample(others, min(int(FAULTS), len(others)))

    def try_fault(self, call, error, at):
        done = self.run_it(self.words(), prefix=self.strace("-o", "/dev/null", "-e", f"trace={call}", "-e",
                                                            f"inject={call}:error={error}:when={at}"))
        said = done.stderr
        if at <= self.loader[call] and not (self.work / "ended").exists():
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(self.traces() + self.session_files(), [])
            return "before main"
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {said}")
        self.assertLess(done.returncode, 128, f"killed by a signal: {said}")
        if call in ("unlink", "unlinkat", "rmdir"):
            self.wic_prof("sessions")  # removes what could not be removed
        self.until(lambda: self.processes() == [], "the end of all processes")
        self.assertEqual(self.session_files(), [], said)
        if not (self.work / "ended").exists():
            self.assertNotEqual(done.returncode, 0, said)
            self.assertTrue(said or call in ("write", "writev", "dup2"), "refused without a word")
            if call not in ("unlink", "unlinkat"):
                self.assertEqual(self.traces(), [], said)
            return "refused"
        self.assertEqual((self.work / "ended").read_text().strip(), str(STATUS), said)
        self.assertEqual(done.returncode, STATUS, said)
        trace = self.work / "t.wicprof"
        self.assertTrue(trace.exists(), said)
        announced = re.search("INCOMPLETE|RECORDING STOPPED|failed|cannot|warning", said) is not None
        read = self.wic_prof("analyze", "--format=json", trace)
        if read.returncode != 0:
            self.assertTrue(announced, f"unreadable and not announced: {said}{read.stderr}")
            return "announced"
        json.loads(read.stdout)
        complete = self.meta(trace)["state"] == "complete"
        waits = self.number(trace, "SELECT count(*) FROM wait WHERE site_id = 1")
        losses = self.number(trace, "SELECT count(*) FROM stat WHERE severity > 0 AND value > 0")
        if complete and waits == ITERATIONS and losses == 0:
            return "held"
        self.assertTrue(losses > 0 or announced, f"{waits} of {ITERATIONS} waits, complete: {complete}; {said}")
        return "counted"

    def test_a_log_that_cannot_be_put_into_the_trace_is_named(self):
        done = self.run_it(self.words(), prefix=self.strace("-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                                                            "inject=fdatasync:error=EIO:when=2+"))
        self.assertEqual(done.returncode, STATUS, done.stderr)
        if "t.wicprof-wal" in self.traces():
            self.assertRegex(done.stderr, "t.wicprof still needs its log t.wicprof-wal.*keep both")
        answer = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertTrue(json.loads(answer.stdout)["complete"], answer.stderr)
        self.assertEqual(self.traces(), ["t.wicprof"])

    def test_each_fails_once(self):
        ends = collections.Counter()
        failed = []
        for call, error, at in self.faults():
            with self.subTest(call=call, error=error, at=at):
                try:
                    ends[self.try_fault(call, error, at)] += 1
                except BaseException as reason:
                    failed.append(f"{call}:{error}:{at}")
                    print(f"{call}:{error}:{at}: {reason}", flush=True)
                    raise
                finally:
                    self.clean()
                    for left in self.runtime.glob("wic-prof/*"):
                        left.unlink() if not left.is_dir() else shutil.rmtree(left)
        print(f"{sum(ends.values())} system calls failed in turn: {dict(ends)}; not as promised: {failed}", flush=True)


@unittest.skipUnless(have("strace") and traces_processes(), "needs strace, and the right to trace")
class FailingLocks(Recorded):
    """A lock that is not given back: SQLite then waits for itself."""

    SECONDS = 0.5

    def run_with(self, error, when):
        script = f"{harness.TRACED_APP} --seconds {self.SECONDS} --status {STATUS}"
        begin = time.monotonic()
        done = self.run_it(["run", "-q", "-f", "-o", "t.wicprof", "--", "/bin/sh", "-c", script],
                           prefix=["strace", "-f", "-qq", "-b", "execve", "-o", "/dev/null", "-e", "trace=fcntl", "-e",
                                   f"inject=fcntl:error={error}:when={when}"])
        return done, time.monotonic() - begin

    def test_one_that_fails_loses_nothing(self):
        for error, when in (("EIO", 31), ("EIO", 44), ("ENOLCK", 44), ("ENOLCK", 45), ("EIO", 60), ("ENOLCK", 61)):
            with self.subTest(error=error, when=when):
                done, _ = self.run_with(error, when)
                self.assertEqual(done.returncode, STATUS, done.stderr)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")
                self.assertEqual(self.assert_counted("t.wicprof")[1], 0)

    def test_all_fail_from_some_time_on(self):
        for error, when in (("EIO", "50+"), ("ENOLCK", "61+"), ("EIO", "62+")):
            with self.subTest(error=error, when=when):
                done, took = self.run_with(error, when)
                self.assertLess(took, 30)  # SQLite's own patience was ten seconds, several times
                self.assertIn(done.returncode, (STATUS, 3), done.stderr)
                self.assertRegex(done.stderr, "INCOMPLETE|error: ")
                self.assertNotIn("end that program", done.stderr)


class Suspended(Recorded):
    """SIGSTOP of either side while the program writes."""

    def suspend(self, whom):
        process = self.start_app(run_options=("-o", "t.wicprof", "--name", "s", "--buffer-size", "1"),
                                 seconds=2 + SUSPEND)
        pid = process.pid if whom == "tool" else self.sessions()[0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(SUSPEND)
        finally:
            os.kill(pid, signal.SIGCONT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        waits, lost = self.assert_counted("t.wicprof")
        self.assertGreater(waits, 0)
        print(f"{whom} suspended for {SUSPEND:g} s: {waits} waits of each site kept, {lost} events lost and counted",
              flush=True)

    def test_wic_prof(self):
        self.suspend("tool")

    def test_program(self):
        self.suspend("program")


def faketime_library():
    for folder in ("/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime"):
        library = pathlib.Path(folder, "libfaketime.so.1")
        if library.exists():
            return library
    return None


@unittest.skipUnless(faketime_library(), "needs libfaketime")
class ClockSteps(Recorded):
    """CLOCK_REALTIME jumps; CLOCK_MONOTONIC does not, as on a machine whose date is set."""

    def test_the_date_is_set_while_recording(self):
        offset = self.folder / "offset"
        offset.write_text("+0")
        self.env.update(LD_PRELOAD=str(faketime_library()), FAKETIME_TIMESTAMP_FILE=str(offset), FAKETIME_NO_CACHE="1",
                        FAKETIME_DONT_FAKE_MONOTONIC="1")
        process = self.start("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "1.5")
        self.until(lambda: (self.work / "t.wicprof").exists(), "the trace")
        for step in ("-7200", "+864000", "-40000000", "+0"):
            time.sleep(0.2)
            offset.write_text(step)
        result = self.finish(process)
        del self.env["LD_PRELOAD"]
        self.assertEqual(result.returncode, 0, result.stderr)
        meta = self.meta("t.wicprof")
        began, ended = int(meta["started_ns"]), int(meta["ended_ns"])
        self.assertLess(ended - began, TIMEOUT * 1e9)
        stats = self.stats("t.wicprof")
        self.assertNotIn("impossible_rows", stats)
        waits, lost = self.assert_counted("t.wicprof")
        self.assertEqual(lost, 0)
        first, last = self.query("t.wicprof", "SELECT min(arrived_ns), max(resumed_ns) FROM wait")[0]
        self.assertGreaterEqual(first, began)
        self.assertLessEqual(last, ended)
        self.assertGreater(waits, 100)


class ManyThreads(Recorded):
    def test_threads(self):
        program = ("import threading, time\n"
                   "threading.stack_size(65536)\n"
                   "go = threading.Event()\n"
                   f"all = [threading.Thread(target=go.wait) for _ in range({THREADS})]\n"
                   "for t in all: t.start()\n"
                   "end = time.monotonic() + 1\n"
                   "while time.monotonic() < end: pass\n"
                   "go.set()\n"
                   "for t in all: t.join()\n"
                   "raise SystemExit(9)\n")
        result = self.run_it(["run", "-o", "t.wicprof", "--", sys.executable, "-c", program])
        if result.returncode == 1 and "can't start new thread" in result.stderr:
            self.skipTest(f"this machine does not allow {THREADS} threads")
        self.assertEqual(result.returncode, 9, result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM thread_sample"), 0)
        self.assert_counted("t.wicprof")


class ManyProcesses(Recorded):
    def test_processes(self):
        # Each takes two of the 512 rings.
        script = (f"one() {{ {harness.TRACED_APP} --seconds 1 --ignore-toggles > /dev/null; echo $? >> statuses; }}; "
                  f"for i in $(seq {PROCESSES}); do one & done; wait; exit 11")
        result = self.run_it(["run", "-o", "t.wicprof", "--", "/bin/sh", "-c", script])
        self.assertEqual(result.returncode, 11, result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        statuses = collections.Counter((self.work / "statuses").read_text().split())
        self.assertEqual(statuses, {"0": PROCESSES})
        recorded = self.number("t.wicprof", "SELECT count(DISTINCT process_id) FROM wait")
        self.assertEqual(recorded, PROCESSES)
        self.assertEqual(self.stats("t.wicprof").get("producers_refused", 0), 0)
        print(f"{PROCESSES} processes at one time, and each is recorded", flush=True)


def may_mount():
    return os.geteuid() == 0 and have("unshare") and subprocess.run(["unshare", "-m", "true"], capture_output=True,
                                                                    timeout=60).returncode == 0


@unittest.skipUnless(may_mount(), "needs the right to mount")
class FullSharedMemory(Recorded):
    """Sessions in a small tmpfs, as /dev/shm in a container: their memory lies elsewhere."""

    def run_in(self, size, *words):
        # The folder's content is seen in the mount namespace only, so that it is listed there.
        script = (f"mount -t tmpfs -o size={size},mode=700 none {self.runtime} || exit 99; "
                  '"$@"; s=$?; ls -A ' f"{self.runtime}/wic-prof > {self.work}/left 2>/dev/null; exit $s")
        return self.run_it(words, prefix=["unshare", "-m", "/bin/sh", "-c", script, "sh"])

    def left(self):
        return (self.work / "left").read_text().split()

    def test_smaller_than_the_rings(self):
        for size in ("1m", "8m", "64m"):
            result = self.run_in(size, "run", "-f", "-o", "t.wicprof", "--", harness.TRACED_APP, "--burst", "20000",
                                 "--status", "5")
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertNotIn("buffer", result.stderr)
            self.assertEqual(self.meta("t.wicprof")["state"], "complete")
            waits, _ = self.assert_counted("t.wicprof")
            self.assertGreater(waits, 0)
            self.assertEqual(self.left(), [])

    def test_full_while_recording(self):
        script = (f"dd if=/dev/zero of={self.runtime}/fill bs=64K 2>/dev/null; "
                  f"{harness.TRACED_APP} --burst 20000 --status 5")
        result = self.run_in("16m", "run", "-o", "t.wicprof", "--buffer-size", "8", "--", "/bin/sh", "-c", script)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        waits, _ = self.assert_counted("t.wicprof")
        self.assertGreater(waits, 0)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    harness.main()
