"""wic-prof attach: a program that runs already is recorded, and left as it was, any number of times."""

import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

import harness

LIBRARY = pathlib.Path(harness.WICPROF).parent.parent / "lib/libwicprof_inject.so"
QUICK = ("--buffer-size", "2", "-q", "--trace", "cuda", "-f", "-o", "t.wicprof")


@unittest.skipIf(harness.CUDA_APP is None, "built without CUPTI's headers")
class Attach(harness.Case):
    def setUp(self):
        super().setUp()
        self.end = self.work / "end"
        self.addCleanup(self.wic_prof, "sessions")  # removes what killed programs have left

    def tearDown(self):
        self.end.touch()
        for process in self.started:
            process.wait(timeout=harness.TIMEOUT)
        self.wic_prof("sessions")
        super().tearDown()

    def program(self, *words, fake="", library=LIBRARY, env=None, **popen):
        """Starts a program with the dormant library, and returns once that can be woken."""
        variables = {**self.env, "WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": fake,
                     "WICPROF_FLUSH_MS": "10", **(env or {})}
        if library:
            variables["CUDA_INJECTION64_PATH"] = str(library)
        process = subprocess.Popen([harness.CUDA_APP, *map(str, words)], env=variables, text=True, cwd=self.work,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.started.append(process)
        if library and "load" in words:
            self.until(lambda: "wicprof-dormant" in self.threads(process) and self.has_loaded(process),
                       "the dormant library")
        return process

    def busy(self, threads=3, **options):
        program = self.program("load", "context", "threads", threads, "checked", self.end, "end", "say", "right",
                               **options)
        # Its first one, those that are at work, and that of the test's GPU.
        self.until(lambda: self.threads(program).count("cuda_app") == threads + 2, "the program's threads")
        return program

    @staticmethod
    def threads(process):
        names = []
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            try:
                names.append((task / "comm").read_text().strip())
            except OSError:
                pass  # it has ended
        return sorted(names)

    @staticmethod
    def held(process):
        """The descriptors of a program, and what it has mapped of sessions."""
        maps, files = pathlib.Path(f"/proc/{process.pid}/maps").read_text(), []
        for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            try:
                files.append(os.readlink(fd))
            except OSError:
                pass  # it has been closed
        return (sorted(files),
                sorted(line.split("/", 1)[1] for line in maps.splitlines() if ".session" in line or ".dormant" in line))

    def all_given_back(self, process, before):
        end = time.monotonic() + harness.TIMEOUT
        while (self.threads(process), self.held(process)) != before and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual((self.threads(process), self.held(process)), before)

    def has_loaded(self, process):
        """All libraries, of which the test's CUPTI is the last."""
        return (harness.FAKE_CUPTI in pathlib.Path(f"/proc/{process.pid}/maps").read_text()
                and not any(file.endswith(".so") for file in self.held(process)[0]))

    def ends_well(self, process):
        self.end.touch()
        out, err = process.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((process.returncode, out, err), (0, "right\n", ""))

    def attach(self, process, *options, status=0):
        result = self.wic_prof("attach", process.pid, *options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def attached(self, process, *options):
        """Starts to attach, and returns once the program is recorded."""
        tool = self.start("attach", process.pid, "-f", "-o", "t.wicprof", *options)
        self.until(lambda: "wicprof-flush" in self.threads(process), "a recording")
        self.until(lambda: any(s["answers"] for s in self.sessions()), "the session")
        return tool

    def kernels(self):
        return self.number("t.wicprof", "SELECT count(*) FROM kernel")


class Recording(Attach):
    def test_a_dormant_library_is_one_thread_and_one_page(self):
        bare = self.program("load", "context", "until", self.end, library=None)
        dormant = self.program("load", "context", "until", self.end)
        threads = self.threads(dormant)
        threads.remove("wicprof-dormant")
        self.until(lambda: len(self.threads(bare)) == len(threads), "the same threads")
        self.until(lambda: self.has_loaded(bare), "its libraries")
        (files, maps), (files_bare, _) = self.held(dormant), self.held(bare)
        self.assertEqual(len(files), len(files_bare))
        self.assertEqual(len(maps), 1)
        page = self.runtime / "wic-prof" / pathlib.Path(maps[0]).name
        self.assertEqual(page.stat().st_mode & 0o777, 0o600)
        self.end.touch()
        self.assertEqual(dormant.communicate(timeout=harness.TIMEOUT), ("", ""))
        self.assertEqual(self.session_files(), [])

    def test_records_and_leaves_the_program_as_it_was(self):
        program = self.busy()
        before = self.threads(program), self.held(program)
        result = self.attach(program, "-o", "t.wicprof", "--for", "300ms")
        self.assertIn(f"process {program.pid} goes on without wic-prof", result.stderr)
        self.assertGreater(self.kernels(), 10)
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM host_wait"), 10)
        meta = self.meta("t.wicprof")
        self.assertEqual((meta["attached"], meta["state"], meta["pid"], meta["app"]),
                         ("1", "complete", str(program.pid), "cuda_app"))
        self.assertNotIn("app_status", meta)
        self.assertEqual(self.losses(), [])
        self.all_given_back(program, before)
        self.ends_well(program)

    def test_often_under_load(self):
        program = self.busy()
        before = self.threads(program), self.held(program)
        rooms, empty = [], 0
        for _ in range(int(os.environ.get("WICPROF_ATTACHES", 50))):
            self.attach(program, "--for", "20ms", *QUICK)
            empty += self.kernels() == 0
            status = pathlib.Path(f"/proc/{program.pid}/status").read_text()
            rooms.append(int(status.split("RssAnon:")[1].split()[0]))
        self.assertLess(empty, len(rooms) / 10)  # a busy machine may give the program no CPU for 20 ms
        self.all_given_back(program, before)
        self.assertLess(rooms[-1] - rooms[9], 2048, rooms)  # KiB; the allocator keeps some of it
        self.ends_well(program)

    def test_by_name_until_ctrl_c(self):
        program = self.busy()
        tool = self.start("attach", "cuda_app", "-o", "t.wicprof")
        self.until(lambda: "wicprof-flush" in self.threads(program), "a recording")
        result = self.interrupt(tool)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the program goes on", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.ends_well(program)

    def test_as_the_page_says(self):
        text = (harness.SOURCE / "docs/how-to/attach.md").read_text()
        commands = [line.split() for line in text.splitlines() if line.startswith("wic-prof attach ")]
        self.assertEqual(len(commands), 2)
        self.assertIn("export CUDA_INJECTION64_PATH=/opt/wic-prof/lib/" + LIBRARY.name, text)
        program = self.busy()
        words = [{"4242": program.pid, "30s": "200ms"}.get(word, word) for word in commands[0][1:]]
        result = self.wic_prof(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.number("server.wicprof", "SELECT count(*) FROM kernel"), 0)
        words = [program.pid if word == "4242" else word.strip("'") for word in commands[1][1:]]
        result = self.wic_prof(*words, "--for", "200ms", "-f")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.ends_well(program)

    def test_until_the_programs_end(self):
        program = self.busy()
        tool = self.attached(program)
        self.ends_well(program)
        result = self.finish(tool)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("has ended", result.stderr)
        self.assertGreater(self.kernels(), 0)
        self.assertEqual(self.losses(), [])

    def test_parked_threads_go_on(self):
        program = self.busy()
        for _ in range(5):
            tool = self.attached(program)
            for mode in ("park", "poll", "park"):
                strategy = ("--strategy", "block") if mode == "park" else ()
                toggled = self.wic_prof("toggle", mode, "--side", "host", "--session", "cuda_app", *strategy)
                self.assertEqual(toggled.returncode, 0, toggled.stderr)
            self.assertEqual(self.interrupt(tool).returncode, 0)
        self.ends_well(program)

    def test_the_last_minutes(self):
        program = self.busy()
        tool = self.attached(program, "--keep-last", "1m", "--trigger", "dump")
        self.assertEqual(self.wic_prof("dump").returncode, 0)
        self.until(lambda: (self.work / "t.0001.wicprof").exists(), "a dump")
        self.assertEqual(self.interrupt(tool).returncode, 0)
        self.ends_well(program)


class Accidents(Attach):
    leaves_stale_session = True

    def test_killed_while_attached(self):
        program = self.busy()
        before = self.threads(program), self.held(program)
        for _ in range(3):
            tool = self.attached(program)
            tool.kill()
            tool.wait()
        self.attach(program, "--for", "100ms", *QUICK)  # at once
        self.assertGreater(self.kernels(), 0)
        tool = self.attached(program)
        tool.kill()
        tool.wait()
        self.all_given_back(program, before)
        self.ends_well(program)

    def test_faults(self):
        """Whatever becomes of `attach`, the program goes on as it was, and the next one records it."""
        number = int(os.environ.get("WICPROF_ATTACH_FAULTS", len(self.FAULTS)))
        chosen = random.Random(number)
        program = self.busy()
        before = self.threads(program), self.held(program)
        for i in range(number):
            fault = self.FAULTS[i % len(self.FAULTS)]
            with self.subTest(fault=fault.__name__, number=i):
                fault(self, program, chosen)
                self.assertIsNone(program.poll())
                self.attach(program, "--for", "20ms", *QUICK)
                self.assertGreater(self.kernels(), 0)
        self.all_given_back(program, before)
        self.ends_well(program)

    def attacks(self, program, chosen, attack, *options, limit=None):
        """Attaches, and goes on to `attack` the tool within its first third of a second."""
        def limits():
            if limit:
                resource.setrlimit(limit[0], (limit[1], limit[1]))
        trace = self.work / "attacked" / "t.wicprof"
        trace.parent.mkdir(exist_ok=True)
        tool = self.start("attach", program.pid, "-q", "-f", "-o", trace, "--buffer-size", "2", *options,
                          preexec_fn=limits)
        time.sleep(chosen.uniform(0, 0.3))
        attack(tool)
        tool.wait(timeout=harness.TIMEOUT)
        shutil.rmtree(trace.parent, ignore_errors=True)

    def is_killed(self, program, chosen):
        self.attacks(program, chosen, lambda tool: tool.kill())

    def is_terminated(self, program, chosen):
        self.attacks(program, chosen, lambda tool: tool.terminate())

    def is_interrupted_often(self, program, chosen):
        def attack(tool):
            for _ in range(4):
                tool.send_signal(signal.SIGINT)
                time.sleep(chosen.uniform(0, 0.02))
        self.attacks(program, chosen, attack)

    def is_stopped_and_killed(self, program, chosen):
        def attack(tool):
            tool.send_signal(signal.SIGSTOP)
            time.sleep(chosen.uniform(0, 0.3))
            tool.kill()
        self.attacks(program, chosen, attack)

    def has_no_room_on_disk(self, program, chosen):
        self.attacks(program, chosen, lambda tool: tool.terminate(),
                     limit=(resource.RLIMIT_FSIZE, chosen.randrange(1 << 12, 1 << 22)))

    def has_no_memory(self, program, chosen):
        self.attacks(program, chosen, lambda tool: tool.terminate(),
                     limit=(resource.RLIMIT_AS, chosen.randrange(1 << 23, 1 << 26)))

    def loses_its_folder(self, program, chosen):
        def attack(tool):
            shutil.rmtree(self.work / "attacked", ignore_errors=True)
            time.sleep(chosen.uniform(0, 0.1))
            tool.terminate()
        self.attacks(program, chosen, attack)

    def has_no_network(self, program, chosen):
        self.attacks(program, chosen, lambda tool: tool.terminate(), "--otlp", "http://127.0.0.1:9/v1/metrics")

    def finds_a_stopped_program(self, program, chosen):
        program.send_signal(signal.SIGSTOP)
        self.attacks(program, chosen, lambda tool: tool.terminate())
        program.send_signal(signal.SIGCONT)

    def loses_the_program(self, program, chosen):
        """Another one, so that the first can show that it is unharmed."""
        other = self.busy(1)
        self.attacks(other, chosen, lambda tool: other.kill())
        other.wait()

    FAULTS = (is_killed, is_terminated, is_interrupted_often, is_stopped_and_killed, has_no_room_on_disk,
              has_no_memory, loses_its_folder, has_no_network, finds_a_stopped_program, loses_the_program)

    def test_stopped_while_attached(self):
        program = self.busy()
        tool = self.attached(program)
        tool.send_signal(signal.SIGSTOP)
        self.until(lambda: "wicprof-flush" not in self.threads(program), "the end of the recording")
        tool.send_signal(signal.SIGCONT)
        result = self.finish(tool)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("not recorded any more", result.stderr)
        self.ends_well(program)

    def test_a_program_without_calls(self):
        program = self.program("load", "context", "until", self.end, "say", "right")
        self.attach(program, "--for", "50ms", *QUICK)
        self.ends_well(program)

    def test_the_program_ends_while_attach_leaves(self):
        program = self.busy(fake="slow_disable")  # so that the exit comes meanwhile
        tool = self.attached(program)
        tool.send_signal(signal.SIGINT)
        time.sleep(0.1)
        self.ends_well(program)
        self.assertEqual(self.finish(tool).returncode, 0)

    def test_a_program_that_closes_all_descriptors(self):
        program = self.program("load", "close_all", "context", "checked", self.end, "say", "right")
        for _ in range(2):
            self.attach(program, "--for", "50ms", *QUICK)
            self.assertGreater(self.kernels(), 0)
        self.ends_well(program)

    def test_children(self):
        other = self.work / "other"
        program = self.program("load", "context", "fork", "until", other, "end", "fork", "kernels", "2", "end",
                               "checked", self.end, "say", "right")
        self.until(lambda: self.children(program), "a child")
        child = self.children(program)[0]
        self.assert_refused(self.wic_prof("attach", child), 3, "child of a process")
        tool = self.attached(program)
        other.touch()
        time.sleep(0.2)
        self.assertEqual(self.interrupt(tool).returncode, 0)
        self.assertGreater(self.kernels(), 0)
        self.ends_well(program)

    @staticmethod
    def children(process):
        return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    def test_without_a_thread_the_program_stays_bare(self):
        program = self.program("load", "context", "until", self.end, "say", "right", library=None,
                               env={"CUDA_INJECTION64_PATH": str(LIBRARY),
                                    "LD_PRELOAD": os.environ["WICPROF_REFUSE_THREADS"],
                                    "WICPROF_TEST_CALLER": "libwicprof_inject", "WICPROF_TEST_REFUSE": "all",
                                    "WICPROF_TEST_THREADS": str(self.work / "asked")})
        self.until(lambda: str(LIBRARY) in pathlib.Path(f"/proc/{program.pid}/maps").read_text(), "the library")
        time.sleep(0.1)
        self.assertEqual([name for name in self.session_files() if "dormant" in name], [])
        self.assert_refused(self.wic_prof("attach", program.pid), 3, "cannot be woken")
        self.ends_well(program)


class Refusals(Attach):
    def refused(self, status, *words, named, options=()):
        self.assert_refused(self.wic_prof("attach", named, "-o", "t.wicprof", *options), status, *words)
        self.assertEqual(self.traces(), [])

    def test_whom(self):
        self.refused(2, "no process 4194303", named=4194303)
        self.refused(2, "no process 'nobody'", named="nobody")
        program = self.program("until", self.end, library=None)
        self.refused(3, "not used CUDA yet", named=program.pid)
        self.refused(3, "CUDA_INJECTION64_PATH=", str(LIBRARY), "wic-prof run", named=program.pid,
                     options=("--no-ptrace",))
        waiting = self.program("until", self.end)
        self.until(lambda: pathlib.Path(f"/proc/{waiting.pid}/comm").read_text() == "cuda_app\n", "the program")
        self.refused(3, "not used CUDA yet", named=waiting.pid)
        several = [self.busy(1), self.busy(1)]
        self.refused(2, "several processes", str(several[0].pid), str(several[1].pid), named="cuda_app")

    def test_a_program_of_run(self):
        self.start_app(run_options=("-o", "run.wicprof"))
        pid = self.sessions()[0]["pid"]
        self.assert_refused(self.wic_prof("attach", pid), 3, "wic-prof run")
        self.interrupt(self.started[0])

    def test_two_at_once(self):
        program = self.busy()
        tool = self.attached(program)
        self.assert_refused(self.wic_prof("attach", program.pid, "-o", "other.wicprof"), 3, "attached already")
        self.assertEqual(self.interrupt(tool).returncode, 0)
        self.attach(program, "--for", "50ms", *QUICK)
        self.ends_well(program)

    def test_cupti_in_use(self):
        program = self.busy(fake="fail=cuptiSubscribe other=CUPTI_for_torch")
        before = self.threads(program), self.held(program)
        for _ in range(2):
            self.refused(3, "in use by 'CUPTI_for_torch'", named=program.pid)
        self.all_given_back(program, before)
        self.ends_well(program)

    def test_dumps_of_the_gpu(self):
        """Where the driver writes them, a fault hangs once CUPTI comes."""
        program = self.busy(env={"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1"})
        self.refused(3, "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "--trace host", named=program.pid)
        self.attach(program, "--for", "50ms", "--trace", "host")
        self.ends_well(program)

    def test_what(self):
        program = self.busy(1)
        self.refused(2, "pcsampling", "wic-prof run", named=program.pid, options=("--trace", "cuda,pcsampling"))
        self.refused(2, "mpi", "wic-prof run", named=program.pid, options=("--trace", "mpi"))
        self.refused(2, "--for", "soon", named=program.pid, options=("--for", "soon"))
        self.ends_well(program)

    @unittest.skipIf(os.geteuid() != 0, "only root starts programs of other users")
    def test_another_users_program(self):
        program = subprocess.Popen(["sleep", "60"], user=65534)
        self.started.append(program)
        self.addCleanup(program.kill)
        self.refused(3, "belongs to user 65534", "as its user", named=program.pid)
        program.kill()
        program.wait()

    def test_a_program_in_another_container(self):
        words = ["unshare", "--pid", "--fork", "--map-root-user", "--", "sleep", "60"]
        outside = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        self.started.append(outside)
        inside = []

        def found():
            inside[:] = self.children_of(outside.pid)
            return inside or outside.poll() is not None
        self.until(found, "a namespace")
        if outside.poll() is not None:
            self.skipTest("no namespaces here")
        self.until(lambda: pathlib.Path(f"/proc/{inside[0]}/comm").read_text() == "sleep\n", "the program")
        self.refused(3, "another container", named=inside[0])
        os.kill(int(inside[0]), signal.SIGKILL)
        outside.wait()

    @staticmethod
    def children_of(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []


if __name__ == "__main__":
    harness.main()
