"""wic-prof attach to a program without wic-prof's library: it is loaded by ptrace, and the program goes on as it was.

WICPROF_JOINS: how many fresh programs are joined under load; 500 for a release.
"""

import ctypes
import os
import pathlib
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
import test_attach

JOIN_APP = os.environ.get("WICPROF_JOIN_APP")
JOINS = int(os.environ.get("WICPROF_JOINS", "12"))
CHILDREN = max(JOINS // 4, 1)
QUICK = ("--for", "1ms", "--buffer-size", "1", "--trace", "host_waits", "-f", "-o", "t.wicprof")
LOADED = "loaded wic-prof's library into"


def why_not_here():
    """Why nothing can be tested here; None: it can."""
    if JOIN_APP is None:
        return "built without CUPTI's headers"
    if platform.machine() != "x86_64":
        return "x86-64 alone"
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        seize, detach = 0x4206, 17
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if libc.ptrace(seize, sleeper.pid, None, None) != 0:
            return f"no ptrace here: {os.strerror(ctypes.get_errno())}"
        return None
    finally:
        sleeper.kill()
        sleeper.wait()


WHY_NOT = why_not_here()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Join(test_attach.Attach):
    def tearDown(self):
        for end in range(JOINS):
            (self.work / f"end{end}").touch()
        super().tearDown()

    def join_app(self, *what, end=None, wrapper=(), env=None, **popen):
        """Starts the program, and returns once it uses CUDA and does all of `what`."""
        words = [*wrapper, JOIN_APP, str(end or self.end), *what]
        variables = {**self.env, "WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": "10", **(env or {})}
        process = subprocess.Popen(words, env=variables, text=True, cwd=self.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.started.append(process)
        if not wrapper:
            self.until(lambda: self.uses_cuda(process.pid) or process.poll() is not None, "the program")
            self.until(lambda: len(self.threads(process)) >= len(what) or process.poll() is not None, "its threads")
        time.sleep(0.02)
        return process

    @staticmethod
    def uses_cuda(pid):
        return harness.FAKE_LIBCUDA in pathlib.Path(f"/proc/{pid}/maps").read_text()

    def joins(self, process, *options):
        """Tries again, as wic-prof says, where the only thread is nearly always in the loader or the allocator."""
        for _ in range(5):
            result = self.wic_prof("attach", process.pid, *QUICK, *options)
            if "none of its threads came to a place where that is safe" not in result.stderr:
                break
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(LOADED, result.stderr)
        stopped = float(result.stderr.split("stopped one thread for ")[1].split(" ms")[0])
        self.assertLess(stopped, 5000)  # the bar of 50 ms is for a machine with a free CPU
        return result

    def refused(self, process, *words, options=()):
        self.assert_refused(self.wic_prof("attach", process.pid, *QUICK, *options), 3, *words)
        self.assertNotIn("wicprof-dormant", self.threads(process))


class Programs(Join):
    """What a program does at that moment."""

    def test_one_thread(self):
        for what in ("malloc", "vectors", "error", "futex", "condition", "nanosleep", "poll", "epoll", "read",
                     "signals", "blocked", "load", "fork", "sleep"):
            with self.subTest(what=what):
                program = self.join_app(what)
                self.joins(program)
                self.assertIn("wicprof-dormant", self.threads(program))
                self.ends_well(program)
                self.end.unlink()

    def test_all_at_once(self):
        program = self.join_app("sleep", "malloc", "vectors", "error", "futex", "condition", "nanosleep", "poll",
                                "read", "signals", "blocked", "load", "coroutine", "small_stack", "handler")
        self.joins(program)
        again = self.attach(program, *QUICK)
        self.assertNotIn(LOADED, again.stderr)
        self.ends_well(program)

    def test_no_safe_place(self):
        for what, why in (("handler", "in a handler of a signal"), ("coroutine", "not on the stack of a thread"),
                          ("cuda", "in CUDA")):
            with self.subTest(what=what):
                program = self.join_app(what)
                self.refused(program, "none of its threads", why, "CUDA_INJECTION64_PATH")
                self.ends_well(program)
                self.end.unlink()

    def test_time_limits_that_a_stop_would_change(self):
        """Such a thread is stopped only where it computes, so that it may have to be waited for in vain."""
        for what, why in (("epoll_limit", "epoll_wait with a time limit"),
                          ("socket_limit", "socket with a time limit")):
            with self.subTest(what=what):
                program = self.join_app(what)
                result = self.wic_prof("attach", program.pid, *QUICK)
                if result.returncode != 0:
                    self.assert_refused(result, 3, "none of its threads", why)
                self.ends_well(program)
                self.end.unlink()

    def test_two_hundred_threads(self):
        program = self.join_app(*["sleep", "futex", "nanosleep", "condition"] * 50)
        self.joins(program)
        self.ends_well(program)

    def test_python(self):
        code = (f"import ctypes, os, threading, time\n"
                f"ctypes.CDLL({harness.FAKE_LIBCUDA!r}).cuInit(0)\n"
                f"sums = []\n"
                f"def add():\n"
                f"    total = 0\n"
                f"    while not os.path.exists({str(self.end)!r}):\n"
                f"        total += sum(range(1000)) - 499500\n"
                f"    sums.append(total)\n"
                f"threads = [threading.Thread(target=add) for _ in range(2)]\n"
                f"for each in threads: each.start()\n"
                f"for each in threads: each.join()\n"
                f"print('right' if sums == [0, 0] else sums)\n")
        variables = {**self.env, "WICPROF_CUPTI_PATH": harness.FAKE_CUPTI}
        program = subprocess.Popen([sys.executable, "-c", code], env=variables, text=True, cwd=self.work,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(program)
        self.until(lambda: self.uses_cuda(program.pid), "the program")
        self.joins(program)
        self.ends_well(program)

    def test_a_recording_has_what_happens(self):
        program = self.program("load", "context", "threads", "2", "checked", self.end, "end", "say", "right",
                               library=None)
        self.until(lambda: self.threads(program).count("cuda_app") == 4, "the program's threads")
        result = self.attach(program, "-o", "t.wicprof", "--for", "200ms")
        self.assertIn(LOADED, result.stderr)
        self.assertGreater(self.kernels(), 10)
        self.assertEqual((self.meta("t.wicprof")["attached"], self.losses()), ("1", []))
        before = self.threads(program), self.held(program)
        for _ in range(3):
            result = self.attach(program, "--for", "50ms", "-f", "-o", "t.wicprof")
            self.assertNotIn(LOADED, result.stderr)
            self.assertGreater(self.kernels(), 0)
        self.all_given_back(program, before)
        self.ends_well(program)

    def test_by_name(self):
        program = self.join_app("sleep")
        result = self.wic_prof("attach", "join_app", *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(LOADED, result.stderr)
        self.ends_well(program)

    def test_children(self):
        """Each allocates and loads a library, while the loader of the parent works on ours."""
        for _ in range(CHILDREN):
            program = self.join_app("fork", "fork", "condition")
            self.joins(program)
            self.ends_well(program)
            self.end.unlink()

    def test_constructors_that_open_files(self):
        """They want the lock that fork() waits for, while their thread is in the loader."""
        program = self.join_app("sleep", "construct", "construct")
        self.joins(program)
        self.ends_well(program)

    def test_many_under_load(self):
        """Fresh programs, beside others that keep the CPUs busy."""
        busy = [self.join_app("vectors", "malloc") for _ in range(2)]
        whats = ["malloc", "vectors", "error", "futex", "condition", "nanosleep", "poll", "read", "blocked", "load"]
        for i in range(JOINS):
            program = self.join_app(*random.Random(i).sample(whats, 1 + i % 3), end=self.work / f"end{i}")
            self.joins(program)
            (self.work / f"end{i}").touch()
            self.assertEqual(program.communicate(timeout=harness.TIMEOUT), ("right\n", ""))
            self.started.remove(program)
        self.end.touch()
        for program in busy:
            self.assertEqual(program.communicate(timeout=harness.TIMEOUT), ("right\n", ""))


class Accidents(Join):
    leaves_stale_session = True

    def killed(self, program, call):
        """Kills wic-prof before its call number `call` of ptrace(). Returns whether it came so far."""
        variables = {"LD_PRELOAD": os.environ["WICPROF_AT_CALL"], "WICPROF_TEST_AT": f"ptrace {call} 9"}
        result = self.wic_prof("attach", program.pid, *QUICK, env=variables)
        self.assertIn(result.returncode, (0, -signal.SIGKILL), result.stderr)
        return result.returncode != 0

    def test_killed_at_each_step(self):
        """While one thread makes another, and while that loads the library. A program is joined by the first that gets
        through; then comes the next program."""
        whats = [("vectors", "error", "malloc"), ("signals", "condition"), ("condition", "blocked"), ("fork", "read"),
                 ("error", "load")]
        last, step = 200, 1 if JOINS >= 500 else 7
        for number, what in enumerate(whats):
            program = self.join_app(*what)
            for call in range(1 + number, last, step):
                if not self.killed(program, call):
                    break
            self.attach(program, *QUICK)
            self.assertIn("wicprof-dormant", self.threads(program))
            self.ends_well(program)
            self.end.unlink()

    def test_the_program_ends_meanwhile(self):
        for delay in range(8):
            program = self.join_app("sleep", "malloc")
            tool = self.start("attach", program.pid, *QUICK)
            time.sleep(0.02 * delay)
            self.end.touch()
            out, err = program.communicate(timeout=harness.TIMEOUT)
            self.assertEqual((program.returncode, out, err), (0, "right\n", ""))
            self.assertIn(self.finish(tool).returncode, (0, 2, 3))
            self.end.unlink()

    def test_the_program_starts_another_meanwhile(self):
        for delay in range(6):
            code = (f"import ctypes, os, time\nctypes.CDLL({harness.FAKE_LIBCUDA!r}).cuInit(0)\ntime.sleep(0.3)\n"
                    f"os.execvp('sh', ['sh', '-c', 'sleep 0.2; echo right'])\n")
            program = subprocess.Popen([sys.executable, "-c", code], env=self.env, text=True, cwd=self.work,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.started.append(program)
            self.until(lambda: self.uses_cuda(program.pid), "the program")
            time.sleep(0.15 + 0.03 * delay)
            result = self.wic_prof("attach", program.pid, *QUICK)
            self.assertIn(result.returncode, (0, 3), result.stderr)
            out, err = program.communicate(timeout=harness.TIMEOUT)
            self.assertEqual((program.returncode, out, err), (0, "right\n", ""))


class Refusals(Join):
    def test_children_of_a_program_with_an_allocator_of_its_own(self):
        program = self.join_app("fork", "condition", env={"LD_PRELOAD": os.environ["WICPROF_OWN_ALLOCATOR"]})
        self.refused(program, "makes children by fork()", "an allocator of its own", "CUDA_INJECTION64_PATH=")
        self.ends_well(program)

    def test_without_ptrace(self):
        program = self.join_app("sleep")
        self.refused(program, "has no library of wic-prof", "CUDA_INJECTION64_PATH=", options=("--no-ptrace",))
        self.ends_well(program)

    def test_a_program_without_cuda(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.started.append(sleeper)
        self.refused(sleeper, "has not used CUDA yet")
        sleeper.kill()
        sleeper.wait()

    def test_a_program_in_a_debugger(self):
        program = self.join_app("sleep")
        tracer = subprocess.Popen([sys.executable, "-c",
                                   "import ctypes, sys\n"
                                   "l = ctypes.CDLL(None)\n"
                                   f"print(l.ptrace(0x4206, {program.pid}, None, None), flush=True)\n"
                                   "sys.stdin.read()\n"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(tracer.stdout.readline(), "0\n")
        self.refused(program, f"process {tracer.pid}", "traces it already")
        tracer.communicate("")
        self.joins(program)
        self.ends_well(program)

    def test_a_program_that_is_stopped(self):
        program = self.join_app("sleep")
        program.send_signal(signal.SIGSTOP)
        self.until(lambda: "T (stopped)" in pathlib.Path(f"/proc/{program.pid}/status").read_text(), "the stop")
        self.refused(program, "is stopped", "CONT")
        program.send_signal(signal.SIGCONT)
        self.joins(program)
        self.ends_well(program)

    def test_a_program_with_filters(self):
        program = self.join_app("filter")
        self.until(lambda: "Seccomp:\t2" in pathlib.Path(f"/proc/{program.pid}/status").read_text(), "the filter")
        self.refused(program, "seccomp")
        self.ends_well(program)

    def test_filters_of_the_same_number(self):
        """As those of one container: what they forbid shows at the call."""
        for what, why in (("no_threads", "the system refuses it a thread"),
                          ("no_code", "failed to map segment from shared object")):
            with self.subTest(what=what):
                program = self.join_app(what)
                self.until(lambda: "Seccomp:\t2" in pathlib.Path(f"/proc/{program.pid}/status").read_text(), "a filter")
                result = subprocess.run([JOIN_APP, str(self.end), "filter_and", harness.WICPROF, "attach",
                                         str(program.pid), *QUICK], env=self.env, cwd=self.work, text=True,
                                        capture_output=True)
                self.assert_refused(result, 3, why)
                self.ends_well(program)
                self.end.unlink()

    def test_programs_of_other_kinds(self):
        source = pathlib.Path(__file__).with_name("foreign_app.c")
        for kind, compiler, why in (("static", "gcc -static", "it has no glibc"),
                                    ("musl", "musl-gcc", "it is built for glibc, the program for musl"),
                                    ("static_musl", "musl-gcc -static", "it has no glibc"),
                                    ("32_bits", "gcc -m32 -nostdlib -static -ffreestanding", "the program for i386")):
            with self.subTest(kind=kind):
                app = self.work / kind
                made = shutil.which(compiler.split()[0]) and subprocess.run(
                    [*compiler.split(), "-O1", "-o", app, source], capture_output=True).returncode == 0
                tried = made and subprocess.run(["sh", "-c", '"$0" "$0" "$0"', app], capture_output=True)
                if not made or tried.stdout != b"right\n":
                    self.skipTest(f"no programs of {compiler} here")
                program = subprocess.Popen([app, harness.FAKE_LIBCUDA, self.end], env=self.env, text=True,
                                           cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.started.append(program)
                self.until(lambda: self.uses_cuda(program.pid), "the program")
                self.refused(program, why, "CUDA_INJECTION64_PATH=")
                self.ends_well(program)
                self.end.unlink()

    @unittest.skipIf(os.geteuid() != 0, "only root makes namespaces here")
    def test_a_library_that_cannot_be_executed(self):
        """In the mounts of the program alone."""
        here = self.work / "installed"
        for name in (pathlib.Path(harness.WICPROF), test_attach.LIBRARY):
            (here / name.parent.name).mkdir(parents=True)
            shutil.copy(name, here / name.parent.name)
        hide = f"mount --bind {here}/lib {here}/lib && mount -o remount,bind,noexec {here}/lib && exec \"$@\""
        if subprocess.run(["unshare", "--mount", "sh", "-c", hide, "sh", "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        program = self.join_app("sleep", wrapper=["unshare", "--mount", "sh", "-c", hide, "sh"])
        self.until(lambda: self.uses_cuda(program.pid), "the program")
        result = subprocess.run([here / "bin/wic-prof", "attach", str(program.pid), *QUICK], env=self.env,
                                cwd=self.work, text=True, capture_output=True)
        self.assert_refused(result, 3, "noexec", "install wic-prof elsewhere")
        self.ends_well(program)

    @unittest.skipIf(os.geteuid() != 0, "only root makes namespaces here")
    def test_yama(self):
        """Without Yama: its file, and a file of memory that the user may not open."""
        self.runtime.chmod(0o777)
        self.folder.chmod(0o755)
        self.work.chmod(0o777)
        program = self.join_app("sleep", user=65534)
        for scope, cure in (("1", "sysctl kernel.yama.ptrace_scope=0"), ("2", "SYS_PTRACE"),
                            ("3", "until it starts anew")):
            with self.subTest(scope=scope):
                hide = (f"mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && "
                        f"echo {scope} > /proc/sys/kernel/yama/ptrace_scope && touch {self.work}/none && "
                        f"chmod 0 {self.work}/none && mount --bind {self.work}/none /proc/{program.pid}/mem && "
                        f"exec setpriv --reuid 65534 \"$@\"")
                shell = ["unshare", "--mount", "sh", "-c", hide, "sh"]
                if subprocess.run([*shell, "true"], capture_output=True).returncode != 0:
                    self.skipTest("no namespaces here")
                result = subprocess.run([*shell, harness.WICPROF, "attach", str(program.pid), *QUICK], env=self.env,
                                        cwd=self.work, text=True, capture_output=True)
                self.assert_refused(result, 3, f"kernel.yama.ptrace_scope is {scope}", cure, "CUDA_INJECTION64_PATH=")
        self.ends_well(program)

    @unittest.skipIf(os.geteuid() != 0, "only root starts programs of other users")
    def test_a_program_that_may_not_be_traced(self):
        """Not even by its own user."""
        self.runtime.chmod(0o777)
        self.folder.chmod(0o755)
        self.work.chmod(0o777)
        program = self.join_app("undumpable", user=65534)
        self.until(lambda: os.stat(f"/proc/{program.pid}/maps").st_uid == 0, "the program")
        result = subprocess.run([harness.WICPROF, "attach", str(program.pid), *QUICK], env=self.env, cwd=self.work,
                                text=True, capture_output=True, user=65534)
        self.assert_refused(result, 3, "does not show", "Permission denied")
        self.ends_well(program)

    @unittest.skipIf(os.geteuid() != 0, "only root makes namespaces here")
    def test_a_program_with_another_root(self):
        """Its own mounts, in which the folder of wic-prof's library is empty."""
        hide = f"mount -t tmpfs none {test_attach.LIBRARY.parent} && exec \"$@\""
        probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no namespaces here")
        keep = self.work / "lib"
        keep.mkdir()
        # The test's libcuda lies in that folder, too.
        hide = (f"cp {harness.FAKE_LIBCUDA} {keep} && mount -t tmpfs none {test_attach.LIBRARY.parent} && "
                f"cp {keep}/* {test_attach.LIBRARY.parent} && exec \"$@\"")
        program = self.join_app("sleep", wrapper=["unshare", "--mount", "sh", "-c", hide, "sh"])
        self.until(lambda: self.uses_cuda(program.pid), "the program")
        self.refused(program, "has another root", str(test_attach.LIBRARY), "is missing")
        self.ends_well(program)

    @unittest.skipIf(os.geteuid() != 0, "only root makes namespaces here")
    def test_a_program_with_mounts_of_its_own(self):
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        program = self.join_app("sleep", wrapper=["unshare", "--mount"])
        self.until(lambda: self.uses_cuda(program.pid), "the program")
        self.joins(program)
        self.ends_well(program)


if __name__ == "__main__":
    harness.main()
