"""Many processes in one session: the trace has each process, none blocks another, and toggles reach all of them."""

import json
import os
import pathlib
import signal
import sys

import harness

KERNELS = "SELECT process_id, count(*) FROM kernel GROUP BY process_id"


class Processes(harness.Case):
    def test_process_has_command_parent_and_rank(self):
        result = self.run_cuda("load", "kernels", "3", env={"RANK": "2", "LOCAL_RANK": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("t.wicprof", "SELECT p.id, n.value, c.value, p.rank, p.local_rank FROM process p "
                          "JOIN string n ON n.id = p.name_id JOIN string c ON c.id = p.command_id "
                          "WHERE n.value = 'cuda_app'")
        self.assertEqual(len(rows), 1)
        pid, _, command, rank, local = rows[0]
        self.assertEqual(str(pid), self.meta("t.wicprof")["pid"])
        self.assertTrue(command.endswith("load kernels 3"), command)
        self.assertEqual((rank, local), (2, 1))
        self.assertEqual(self.query("t.wicprof", KERNELS), [(pid, 3)])

    def test_forty_short_children_lose_nothing(self):
        result = self.run_cuda("children", "40", "load", "kernels", "25", "end")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("t.wicprof", KERNELS)
        self.assertEqual([count for _, count in rows], [25] * 40)
        self.assertEqual(self.losses(), [])
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel k JOIN process p ON p.id = k.process_id "
                                     "JOIN string s ON s.id = k.name_id WHERE s.value = 'work(float*)'"), 1000)

    def test_forty_programs_in_one_process_lose_nothing(self):
        """Repeated exec: the process continues, and its earlier programs hold no ring."""
        result = self.run_cuda("chain", "40", "load", "context", "kernels", "25", "flush")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([count for _, count in self.query("t.wicprof", KERNELS)], [40 * 25])
        self.assertEqual(self.losses(), [])

    def test_child_of_a_fork_before_cuda(self):
        result = self.run_cuda("fork", "load", "kernels", "5", "end", "load", "kernels", "7")
        self.assertEqual(result.returncode, 0, result.stderr)
        program = int(self.meta("t.wicprof")["pid"])
        counts = dict(self.query("t.wicprof", KERNELS))
        self.assertEqual(counts.pop(program), 7)
        self.assertEqual(list(counts.values()), [5])
        child = next(iter(counts))
        self.assertEqual(self.query("t.wicprof", f"SELECT parent FROM process WHERE id = {child}"), [(program,)])

    def test_child_of_a_fork_after_cuda_records_nothing_and_disturbs_nothing(self):
        result = self.run_cuda("load", "kernels", "2", "fork", "kernels", "5", "end", "kernels", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.query("t.wicprof", KERNELS), [(int(self.meta("t.wicprof")["pid"]), 4)])

    def test_more_processes_than_rings_is_reported(self):
        """Each takes two rings, of which a mebibyte has room for 56."""
        script = f"for i in $(seq 40); do {harness.TRACED_APP} --seconds 3 & done; wait"
        process = self.start("run", "-o", "t.wicprof", "--buffer-size", "1", "--name", "many", "--", "sh", "-c", script)
        self.until(lambda: any(s["answers"] and s["unrecorded"] > 0 for s in self.sessions()), "a refusal")
        self.assertRegex(self.wic_prof("sessions").stdout,
                         r"\d+ parts? of the program not recorded, since no ring was free")
        answer = self.wic_prof("toggle", "park", "--session=many")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"in effect .*, but not known to be in \d+ parts? of the program")
        result = self.finish(process)
        self.assertEqual(result.returncode, 0, result.stderr)
        refused = self.stats("t.wicprof").get("producers_refused", 0)
        self.assertGreaterEqual(refused, 1)
        self.assertIn("producers_refused", result.stdout + result.stderr)


class Runtimes(harness.Case):
    def start_two(self):
        script = f"{harness.TRACED_APP} --seconds 30 --sites 2 & {harness.TRACED_APP} --seconds 30 --sites 3; wait"
        process = self.start("run", "-o", "t.wicprof", "--name", "two", "--", "sh", "-c", script,
                             start_new_session=True)
        self.until(lambda: any(s["answers"] and len(s["sites"]) == 3 for s in self.sessions()), "the sites")
        self.until(lambda: len(self.query("t.wicprof", "SELECT DISTINCT process_id FROM wait")) == 2, "waits of both")
        self.addCleanup(self.end_what_is_left)
        return process

    def end_what_is_left(self):
        """Continues and ends the processes of a failed test."""
        for pid, _ in self.processes():
            os.kill(pid, signal.SIGKILL)

    def end(self, process):
        os.killpg(process.pid, signal.SIGTERM)  # background jobs of sh ignore SIGINT
        self.finish(process)

    def test_two_share_sites_by_name_and_toggles_reach_both(self):
        process = self.start_two()
        self.assertEqual(self.sessions()[0]["sites"], ["left", "right", "site3"])
        parked = self.wic_prof("toggle", "park")
        self.assertRegex(parked.stdout, r"(?m)^in effect [\d.]+ ms after .*, in 2 processes within [\d.]+ ms$")
        polled = json.loads(self.wic_prof("toggle", "poll", "--format", "json").stdout)
        self.end(process)
        rows = self.query("t.wicprof", "SELECT process_id, old_mode, new_mode FROM intervention")
        self.assertEqual(sorted(row[1:] for row in rows), [(0, 1), (0, 1), (1, 0), (1, 0)])
        self.assertEqual(polled["processes"], 2)
        self.assertTrue(0 < polled["span_ns"] <= polled["took_ns"], polled)
        self.assertEqual(len({row[0] for row in rows}), 2)
        sites = self.query("t.wicprof", "SELECT s.value, count(DISTINCT w.process_id) FROM wait w "
                           "JOIN site t ON t.id = w.site_id JOIN string s ON s.id = t.name_id "
                           "GROUP BY s.value ORDER BY s.value")
        self.assertEqual(sites, [("left", 2), ("right", 2), ("site3", 1)])

    def test_256_at_once(self):
        """As a launcher starts them on one machine: each has its place and its rings, and takes toggles."""
        script = (f"for i in $(seq 256); do {harness.TRACED_APP} --seconds 60 --sites 1 --polled-ms 500 "
                  "--parked-ms 500 & done; wait")
        process = self.start("run", "-q", "-o", "t.wicprof", "--name", "many", "--", "sh", "-c", script,
                             start_new_session=True)
        self.addCleanup(self.end_what_is_left)
        self.until(lambda: any(s["answers"] for s in self.sessions()), "the session")
        self.until(lambda: self.number("t.wicprof", "SELECT count(DISTINCT process_id) FROM wait") == 256, "all waits")
        answer = json.loads(self.wic_prof("toggle", "park", "--session", "many", "--format", "json").stdout)
        self.assertEqual((answer["processes"], answer["unreached"]), (256, 0))
        self.end(process)
        self.assertEqual(self.losses(), [])
        self.assertNotIn("producers_refused", self.stats("t.wicprof"))
        self.assertEqual(self.number("t.wicprof", "SELECT count(DISTINCT process_id) FROM intervention"), 256)

    def test_toggle_does_not_wait_for_a_killed_process(self):
        process = self.start_two()
        victim = self.number("t.wicprof", "SELECT min(process_id) FROM wait")
        os.kill(victim, signal.SIGKILL)
        answer = self.wic_prof("toggle", "park")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.end(process)
        rows = self.query("t.wicprof", "SELECT DISTINCT process_id FROM intervention")
        self.assertEqual(len(rows), 1)
        self.assertNotEqual(rows[0][0], victim)

    def test_toggle_waits_for_a_stopped_process(self):
        process = self.start_two()
        stopped = self.number("t.wicprof", "SELECT min(process_id) FROM wait")
        os.kill(stopped, signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{stopped}/task")
        states = lambda: {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks.iterdir()}
        self.until(lambda: states() == {"T"}, "all of its threads to stop")
        self.assert_refused(self.wic_prof("toggle", "park"), 3,
                            f"process {stopped} of the app did not apply the change")
        os.kill(stopped, signal.SIGCONT)
        self.until(lambda: len(self.query("t.wicprof", "SELECT DISTINCT process_id FROM intervention")) == 2, "both")
        self.end(process)


class RealRuntimes(harness.Case):
    """Same with the real backend, on the CPU device."""

    def test_two_at_once(self):
        sample = os.path.join(os.path.dirname(harness.WICPROF), "hot_flag")
        if not os.access(sample, os.X_OK):
            self.skipTest("built without the samples")
        script = f"{sample} --devices simt:1 --seconds 3 & {sample} --devices simt:1 --seconds 3; wait"
        result = self.wic_prof("run", "-o", "t.wicprof", "--schedule", "poll:1s,park:1s", "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("did not take up", result.stderr)
        waits = self.query("t.wicprof", "SELECT process_id, count(*) FROM wait WHERE site_id IS NOT NULL "
                           "GROUP BY process_id")
        self.assertEqual(len(waits), 2)
        named = self.number("t.wicprof", "SELECT count(*) FROM process p JOIN string n ON n.id = p.name_id "
                            "WHERE n.value = 'hot_flag'")
        self.assertEqual(named, 2)
        sites = self.query("t.wicprof", "SELECT count(*), count(DISTINCT name_id) FROM site")[0]
        self.assertEqual(sites[0], sites[1])
        toggled = self.query("t.wicprof", "SELECT count(DISTINCT process_id), min(new_mode) FROM intervention "
                             "WHERE site_id IS NULL")[0]
        self.assertEqual(toggled, (2, 1))
        self.assertEqual(self.losses("t.wicprof"), [])


class Threads(harness.Case):
    def test_samples_distinguish_spinning_from_sleeping(self):
        script = ("import threading, time\n"
                  "end = time.monotonic() + 1.5\n"
                  "def spin():\n while time.monotonic() < end: pass\n"
                  "def doze():\n while time.monotonic() < end: time.sleep(0.01)\n"
                  "t = threading.Thread(target=doze); t.start()\n"
                  "open('ids', 'w').write(f'{threading.get_native_id()} {t.native_id}'); spin(); t.join()\n")
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "python3", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        spinner, dozer = map(int, (self.work / "ids").read_text().split())
        of = lambda thread, column: self.number(
            "t.wicprof", f"SELECT ifnull(sum({column}), 0) FROM thread_sample WHERE thread = {thread}")
        self.assertGreater(of(spinner, "cpu_ns + ifnull(run_delay_ns, 0)"), 500_000_000)
        self.assertGreater(of(spinner, "cpu_ns"), 4 * of(dozer, "cpu_ns"))
        self.assertGreater(of(dozer, "voluntary_switches"), 20)
        bad = self.number("t.wicprof", "SELECT count(*) FROM thread_sample "
                          "WHERE end_ns <= begin_ns OR cpu_ns < 0 OR run_delay_ns < 0")
        self.assertEqual(bad, 0)

    def test_samples_include_wic_prof(self):
        self.record("t.wicprof", "--seconds", 1)
        rows = self.query("t.wicprof", "SELECT DISTINCT s.value FROM thread_sample t JOIN string s ON s.id = t.name_id "
                          "JOIN process p ON p.id = t.process_id JOIN string n ON n.id = p.name_id "
                          "WHERE n.value = 'wic-prof'")
        names = {row[0] for row in rows}
        self.assertIn("wicprof-drain", names)
        self.assertIn("wicprof-host", names)

    def test_samples_include_children_without_a_session(self):
        """The child runs as a shell first, and is sampled as one: exec makes it another program."""
        spin = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
        script = f"(i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; exec {sys.executable} -c '{spin}') & wait"
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("t.wicprof", "SELECT p.parent, sum(t.cpu_ns) FROM thread_sample t "
                          "JOIN process p ON p.id = t.process_id JOIN string c ON c.id = p.command_id "
                          f"WHERE c.value LIKE '{sys.executable} -c%' GROUP BY p.id")
        self.assertEqual([row[0] for row in rows], [int(self.meta("t.wicprof")["pid"])])
        self.assertGreater(rows[0][1], 0)

    def test_no_samples_without_the_word_host(self):
        self.record("t.wicprof", run_options=("--trace", "cuda,nvtx"))
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM thread_sample"), 0)
        self.assertNotIn("steal_ns", self.stats("t.wicprof"))


if __name__ == "__main__":
    harness.main()
