"""run --trigger: the last minutes of a program that must not stop, written when something happens."""

import contextlib
import json
import os
import signal
import sqlite3

import harness

STUCK_APP = os.environ["WICPROF_STUCK_APP"]


class Words(harness.Case):
    def refused(self, *options, words=()):
        self.assert_refused(self.wic_prof("run", "-o", "t.wicprof", *options, "--", "touch", "started"), 2, *words)
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(self.traces(), [])

    def test_rules(self):
        for rule in ("wait", "wait>", "wait>soon", "wait>0", "wait:>20ms", "waits>20ms", "step", "step>0*p99",
                     "step>3*p50", "step>*p99", "step>-1", "stuck>", "stuck>0", "signal", "signal:TERM", "dump>3",
                     "hang"):
            with self.subTest(rule=rule):
                self.refused("--keep-last=1m", "--trigger", "dump", f"--trigger={rule}",
                             words=(f"'{rule}'", "wait>TIME", "step>N*p99", "signal:USR1", "in quotes",
                                    "--trigger 'wait>20ms'"))

    def test_what_does_not_go_together(self):
        rule = "--trigger=dump"
        self.refused(rule, words=("--keep-last",))
        for option in ("--segment=1m", "--ab", "--repeat=2", "--capture-range=step"):
            with self.subTest(option=option):
                self.refused(rule, "--keep-last=1m", option, words=("--trigger", option.split("=")[0]))
        self.refused("--keep-last=1m", "--max-dumps=3", words=("--trigger",))
        self.refused("--keep-last=1m", "--dump-pause=3s", words=("--trigger",))
        self.refused(rule, "--keep-last=1m", "--max-dumps=0", words=("--max-dumps",))
        self.refused(rule, "--keep-last=1m", "--dump-pause=soon", words=("--dump-pause", "soon"))

    def test_a_folder_that_takes_no_traces(self):
        self.assert_refused(self.wic_prof("run", "-o", "missing/t.wicprof", "--keep-last=1m", "--trigger=dump", "--",
                                          "touch", "started"), 2, "missing")
        self.assertFalse((self.work / "started").exists())

    def test_a_run_without_triggers_has_nothing_to_dump(self):
        self.assert_refused(self.wic_prof("dump"), 2, "no session is running")
        process = self.start_app(run_options=("-o", "t.wicprof", "--keep-last=1m"))
        self.assert_refused(self.wic_prof("dump"), 3, "session 'traced_app'", "--keep-last", "--trigger dump")
        self.interrupt(process)
        self.assertEqual(self.traces(), ["t.wicprof"])


class Dumps(harness.Case):
    def begin(self, *rules, app=(), keep="60s", options=(), seconds=60):
        words = [f"--trigger={rule}" for rule in rules]
        return self.start_app(*app, run_options=("-o", "t.wicprof", f"--keep-last={keep}", *words, *options),
                              seconds=seconds)

    def until_complete(self, number):
        """Returns the trace once it is a whole one."""
        name = f"t.{number:04}.wicprof"

        def complete():  # closes the trace at once: a reader keeps its log there
            if not (self.work / name).exists():
                return False
            with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(  # it has no tables yet
                    sqlite3.connect(f"file:{self.work / name}?mode=ro", uri=True)) as database:
                return database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone() == ("complete",)
        self.until(complete, name)
        self.until(lambda: not (self.work / f"{name}-wal").exists(), f"{name} as one file")
        return name

    def check_period(self, name):
        """All that the trace holds is in the period that it names. Returns that period."""
        meta = self.meta(name)
        begin, end = int(meta["capture_from_ns"]), int(meta["ended_ns"])
        first, last = self.query(name, "SELECT min(resumed_ns), max(arrived_ns) FROM wait")[0]
        self.assertGreaterEqual(first, begin - 1_000_000_000)  # what was recorded since then had ended before
        self.assertLessEqual(last, end)
        return begin, end

    def iterations(self, *names):
        return [row[0] for name in names
                for row in self.query(name, "SELECT iteration FROM wait WHERE site_id = 1 ORDER BY id")]

    def test_a_long_wait(self):
        process = self.begin("wait:right>1s", "wait:left>60m", app=("--parked-ms", 1500))
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        first = self.until_complete(1)
        self.assertEqual(self.wic_prof("toggle", "poll").returncode, 0)
        waits = int(self.sessions()[0]["waits"])
        self.until(lambda: int(self.sessions()[0]["waits"]) > waits + 10, "further waits")
        meta = self.meta(first)
        self.assertEqual((meta["dump_rule"], meta["dump_limit_ns"]), ("wait:right>1s", "1000000000"))
        self.assertGreater(int(meta["dump_value_ns"]), 1_500_000_000)
        self.assertRegex(meta["dump_why"], r"^a wait at right took 1\.\d+ s$")
        self.assertEqual(meta["capture_triggers"], "wait:right>1s, wait:left>60m")
        begin, end = self.check_period(first)
        self.assertTrue(begin < int(meta["dump_at_ns"]) < end)
        self.assertRegex(meta["dump_at_utc"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        result = self.interrupt(process)
        self.assertEqual(result.returncode, 128 + signal.SIGINT)
        self.assertIn(f"{first} has been written: a wait at right took", result.stderr)
        self.assertIn("1 dump before t.0002.wicprof, which has what was left at the end", result.stderr)
        self.assertEqual(self.traces(), [first, "t.0002.wicprof"])
        last = self.meta("t.0002.wicprof")
        self.assertEqual((last["dump_rule"], last["state"]), ("end", "complete"))
        self.assertIn("interrupted", last["dump_why"])
        self.check_period("t.0002.wicprof")
        # One follows the other without a gap.
        iterations = self.iterations(first, "t.0002.wicprof")
        self.assertEqual(iterations, list(range(1, len(iterations) + 1)))
        self.check_answers(first, meta)

    def check_answers(self, trace, meta):
        answer = self.wic_prof("analyze", trace)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        head = " ".join(answer.stdout.split())
        self.assertIn(f"written as a dump: {meta['dump_why']} (wait:right>1s), at {meta['dump_at_utc']}; covers ", head)
        dump = json.loads(self.wic_prof("analyze", "--format=json", trace).stdout)["dump"]
        self.assertEqual((dump["rule"], dump["why"]), (meta["dump_rule"], meta["dump_why"]))
        for key, name in (("at_ns", "dump_at_ns"), ("value_ns", "dump_value_ns"), ("limit_ns", "dump_limit_ns"),
                          ("covers_from_ns", "capture_from_ns"), ("covers_until_ns", "ended_ns"),
                          ("suppressed", "dump_suppressed")):
            self.assertEqual(dump[key], int(meta[name]), key)
        for format in ("html", "md", "csv", "perfetto"):
            report = self.wic_prof("report", f"--format={format}", "-o", f"r.{format}", trace)
            self.assertEqual(report.returncode, 0, report.stderr)
        for page in ("r.html", "r.md"):
            self.assertIn("written as a dump", (self.work / page).read_text())

    def test_a_long_step(self):
        process = self.begin("step>20*p99", app=("--parked-ms", 2000))
        self.until(lambda: int(self.sessions()[0]["waits"]) > 600, "steps of the usual length")
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        meta = self.meta(self.until_complete(1))
        self.interrupt(process)
        self.assertEqual(meta["dump_rule"], "step>20*p99")
        self.assertRegex(meta["dump_why"], r"^a step \(iteration at wait site \d\) took .*, and the 99th percentile of "
                                           r"the last \d+ steps was ")
        self.assertGreater(int(meta["dump_value_ns"]), int(meta["dump_limit_ns"]))

    def test_a_hang_is_written_once(self):
        process = self.start("run", "-o", "t.wicprof", "--name=hung", "--keep-last=60s", "--trigger=stuck>3s",
                             "--dump-pause=1ms", "--", STUCK_APP, "missing_signal", "simt:1", "60",
                             start_new_session=True)
        meta = self.meta(self.until_complete(1))
        self.assertEqual(meta["dump_rule"], "stuck>3s")
        self.assertRegex(meta["dump_why"], r"^a warp waits at first for .*, and no wait, kernel, copy or call of MPI "
                                           r"has ended for ")
        self.assertEqual(self.wic_prof("dump").returncode, 0)  # the pause is over by then
        self.assertEqual(self.meta("t.0002.wicprof")["dump_rule"], "dump")
        os.killpg(process.pid, signal.SIGINT)
        self.finish(process)
        self.assertEqual(self.traces(), [f"t.{number:04}.wicprof" for number in (1, 2, 3)])
        self.assertEqual(self.meta("t.0003.wicprof")["dump_rule"], "end")

    def test_a_signal_to_wic_prof(self):
        process = self.begin("signal:USR1")
        process.send_signal(signal.SIGUSR1)
        meta = self.meta(self.until_complete(1))
        self.assertEqual(meta["dump_rule"], "signal:USR1")
        self.assertNotIn("dump_limit_ns", meta)
        self.assertIsNone(process.poll())  # the program, which would end by that signal, did not get it
        self.assertEqual(self.interrupt(process).returncode, 128 + signal.SIGINT)

    def test_requests(self):
        process = self.begin("wait>60m")
        result = self.wic_prof("dump")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^t\.0001\.wicprof: the last \d.* of traced_app \(pid \d+\); next: wic-prof "
                                        r"analyze t\.0001\.wicprof\n$")
        self.assertEqual(self.meta("t.0001.wicprof")["state"], "complete")
        result = self.wic_prof("dump", "traced_app", "--format=json")
        (dump,) = json.loads(result.stdout)["dumps"]
        self.assertEqual((dump["session"], dump["trace"]), ("traced_app", str(self.work / "t.0002.wicprof")))
        self.assertEqual((dump["begin_ns"], dump["end_ns"]), self.check_period("t.0002.wicprof"))
        self.assertEqual(self.wic_prof("dump", "--session=traced_app").returncode, 0)
        self.interrupt(process)
        names = [f"t.{number:04}.wicprof" for number in (1, 2, 3, 4)]
        self.assertEqual(self.traces(), names)
        iterations = self.iterations(*names)
        self.assertEqual(iterations, list(range(1, len(iterations) + 1)))

    def test_a_run_per_rank(self):
        """As under mpirun: each run has its own ring, and one command writes all of them."""
        options = ("--keep-last=60s", "--trigger=dump")
        runs = [self.start_app(run_options=("-o", f"{rank}.wicprof", "--name", f"rank{rank}", *options))
                for rank in (0, 1)]
        self.assert_refused(self.wic_prof("dump"), 2, "rank0, rank1")
        result = self.wic_prof("dump", "rank0", "rank1", "--format=json")
        self.assertEqual(result.returncode, 0, result.stderr)
        dumps = json.loads(result.stdout)["dumps"]
        self.assertEqual([dump["session"] for dump in dumps], ["rank0", "rank1"])
        # Their periods share most of their time.
        self.assertLess(max(d["begin_ns"] for d in dumps), min(d["end_ns"] for d in dumps))
        for run in runs:
            self.interrupt(run)

    def test_one_run_around_several_processes(self):
        process = self.begin("dump", app=("--child", 2))
        self.until(lambda: int(self.sessions()[0]["waits"]) > 1000, "waits of both")
        self.assertEqual(self.wic_prof("dump").returncode, 0)
        self.interrupt(process)
        self.assertEqual(self.number("t.0001.wicprof", "SELECT count(DISTINCT process_id) FROM wait"), 2)
        self.until(lambda: self.processes() == [], "the child's end")

    def test_the_oldest_are_removed(self):
        process = self.begin("dump", options=("--max-dumps=2",))
        for number in (1, 2, 3, 4):
            self.assertEqual(self.wic_prof("dump").returncode, 0, number)
        result = self.interrupt(process)
        self.assertEqual(self.traces(), [f"t.{number:04}.wicprof" for number in (3, 4, 5)])
        for number in (1, 2):
            self.assertIn(f"removed t.{number:04}.wicprof, the oldest of more than 2 dumps (--max-dumps)",
                          result.stderr)

    def test_a_name_that_is_taken_meanwhile(self):
        process = self.begin("dump")
        (self.work / "t.0002.wicprof").mkdir()
        self.assert_refused(self.wic_prof("dump"), 3, "not written yet", "t.0002.wicprof")
        result = self.interrupt(process)
        self.assertIn("the next trace cannot begin", result.stderr)
        self.assertEqual(self.meta("t.0001.wicprof")["dump_rule"], "dump")  # nothing was lost: it has it all
        self.assertEqual(self.meta("t.0001.wicprof")["state"], "complete")

    def test_a_trace_that_is_full_is_followed_by_another(self):
        process = self.begin("dump", app=("--burst", 60000), options=("--max-size=1M",))
        self.until(lambda: len(self.traces()) > 1 and "t.0002.wicprof" in self.traces() and
                   self.sessions()[0]["recording_stopped"] is None, "a trace that goes on")
        events = int(self.sessions()[0]["events"])
        self.until(lambda: int(self.sessions()[0]["events"]) > events, "further events")
        result = self.interrupt(process)
        self.assertEqual(self.meta("t.0001.wicprof")["dump_rule"], "stopped")
        self.assertIn("RECORDING STOPPED", result.stderr)
        self.assertIn("THE TRACE IS INCOMPLETE", result.stderr)
        self.assertGreater(self.stats("t.0001.wicprof")["store_lost"], 1000)
        self.assertGreater(self.number(self.traces()[-1], "SELECT count(*) FROM wait"), 0)

    def test_the_ring_ends_with_the_duration(self):
        process = self.begin("dump", keep="400ms", options=("--duration=2s",), seconds=6)
        self.until(lambda: "recording ends" in process.stderr.readline(), "the end of the recording")
        self.assert_refused(self.wic_prof("dump"), 3, "nothing is recorded now")
        result = self.finish(process)
        self.assertEqual(result.returncode, 0, result.stderr)
        meta = self.meta("t.0001.wicprof")
        end = int(meta["capture_until_ns"])
        self.assertEqual(meta["dump_rule"], "end")
        self.assertGreaterEqual(int(meta["capture_from_ns"]), end - 400_000_000)
        self.assertGreater(self.number("t.0001.wicprof", "SELECT count(*) FROM wait"), 50)

    def test_the_programs_end(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--keep-last=1m", "--trigger=wait>60m", "--",
                               harness.TRACED_APP, "--crash")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assertIn("no dump was written; t.0001.wicprof has what was left at the end", result.stderr)
        self.assertIn("was killed by signal 11", self.meta("t.0001.wicprof")["dump_why"])

    def test_quiet(self):
        process = self.start_app(run_options=("-q", "-o", "t.wicprof", "--keep-last=60s", "--trigger=dump"))
        self.assertEqual(self.wic_prof("dump").returncode, 0)
        self.assertNotIn("written", self.interrupt(process).stderr)


if __name__ == "__main__":
    harness.main()
