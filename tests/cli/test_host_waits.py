"""Host threads that wait in calls of CUDA, in a program that nobody changed: wait sites, the toggle, and what stays.

The program, its driver and its CUPTI are fakes; the collector and wic-prof are real.
"""

import json
import shlex
import unittest

import harness

# name, mode and figures of each wait
WAITS = ("SELECT s.value, w.strategy_id, w.polls, w.naps, w.cpu_ns, w.end_ns - w.begin_ns, w.awaited, w.iteration "
         "FROM host_wait w LEFT JOIN site p ON p.id = w.site_id LEFT JOIN string s ON s.id = p.name_id ORDER BY w.id")
SPIN, BLOCK, HYBRID = 64, 65, 66
# Each way in which a program keeps its waits for itself.
KEPT = ("blocking_event", "blocking_context", "captured_stream", "blocking_stream", "blocking_other_context",
        "stream_of_blocking_context")


class HostWaits(harness.Case):
    def waits(self):
        return self.query("t.wicprof", WAITS)

    def record(self, *words, options=()):
        result = self.run_cuda("load", "context", *words, "exit", "0", options=options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_each_place_is_a_site(self):
        self.record("wait", "stream", "5", "1", "wait", "event", "3", "1", "wait", "device", "2", "1")
        waits = self.waits()
        self.assertEqual([(wait[0], wait[6], wait[7]) for wait in waits],
                         [("cudaStreamSynchronize in wait_in_runtime", 1, i) for i in range(5)] +
                         [("cudaEventSynchronize in wait_in_runtime", 2, i) for i in range(3)] +
                         [("cudaDeviceSynchronize in wait_in_runtime", 3, i) for i in range(2)])
        self.assertTrue(all(wait[1] is None and wait[3] is None for wait in waits), waits)  # the program's own way
        self.assertEqual(self.query("t.wicprof", "SELECT DISTINCT side FROM site"), [(1,)])
        analysis = json.loads(self.wic_prof("analyze", "t.wicprof", "--format=json").stdout)
        self.assertEqual({site["site"] for site in analysis["sites"]}, {wait[0] for wait in waits})
        self.assertIn("cudaStreamSynchronize in wait_in_runtime",
                      {wait["site"] for wait in analysis["host_waits"]})

    def test_copies_that_keep_their_thread_waiting_are_waits(self):
        for copy in ("pageable_copy", "default_copy", "hosts_copy", "pinned_hosts_copy", "large_copy",
                     "copy_to_device"):
            name = ("cudaMemcpy" if copy == "copy_to_device" else "cudaMemcpyAsync") + " in copy_memory"
            self.record("wait", copy, "3", "20", options=("--mode", "poll"))
            waits = self.waits()
            self.assertEqual([(wait[0], wait[6], wait[7]) for wait in waits], [(name, 4, i) for i in range(3)])
            self.assertTrue(all(wait[5] > 15e6 for wait in waits[1:]), waits)  # before the first, its site gets a name
            self.record("wait", copy, "3", "60", options=("--mode", "park", "--side=host", "--strategy=block"))
            for _, strategy, polls, naps, cpu, length, _, _ in self.waits()[1:]:  # the first: its site gets a name
                self.assertEqual(strategy, BLOCK)
                self.assertGreater(naps, 10)
                self.assertLess(cpu, length / 2)

    def test_other_copies_are_no_waits(self):
        copies = ("pinned_copy", "captured_copy", "small_copy", "large_pinned_copy", "copy_within_device")
        for mode in (("--mode", "poll"), ("--mode", "park", "--side=host")):
            self.record(*(word for copy in copies for word in ("wait", copy, "3", "1")), options=mode)
            self.assertEqual(self.waits(), [])

    def test_memory_that_is_pinned_later_ends_the_waits_of_its_copies(self):
        self.record("wait", "pinned_later", "6", "5", options=("--mode", "poll"))
        self.assertEqual([wait[0] for wait in self.waits()], ["cudaMemcpyAsync in copy_memory"] * 3)

    def test_a_site_has_its_line(self):
        self.record("wait", "stream", "2", "1")
        place, = self.query("t.wicprof", "SELECT value FROM string JOIN site ON site.place_id = string.id")[0]
        name, _, line = place.partition(":")
        self.assertEqual(name, "cuda_app.cpp")
        source = (harness.SOURCE / "tests/cli/cuda_app.cpp").read_text().splitlines()
        self.assertIn("cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API", source[int(line) - 1])
        shown = f"cudaStreamSynchronize in wait_in_runtime ({place})"
        self.assertIn(shown, " ".join(self.wic_prof("analyze", "t.wicprof").stdout.split()))
        for form in ("html", "md"):
            report = self.wic_prof("report", "t.wicprof", "--format", form, "-o", "-").stdout
            self.assertIn(place, report.replace("\\_", "_"))
        waits = json.loads(self.wic_prof("analyze", "t.wicprof", "--format=json").stdout)["host_waits"]
        self.assertEqual([wait["place"] for wait in waits], [place])

    def test_waits_in_a_range_have_its_name(self):
        self.record("in_range", "forward", "wait", "stream", "2", "1", "end", "in_range", "step 17", "wait", "stream",
                    "1", "1", "end", "in_range", "step 18", "wait", "stream", "1", "1", "end", "wait", "stream", "1",
                    "1", options=("--trace", "cuda,nvtx"))
        self.assertEqual([(wait[0], wait[7]) for wait in self.waits()],
                         [("cudaStreamSynchronize in forward", 0), ("cudaStreamSynchronize in forward", 1),
                          ("cudaStreamSynchronize in step", 0), ("cudaStreamSynchronize in step", 1),
                          ("cudaStreamSynchronize in wait_in_runtime", 0)])
        places = dict(self.query("t.wicprof", "SELECT n.value, p.value FROM site JOIN string n ON n.id = name_id "
                                              "JOIN string p ON p.id = place_id"))
        self.assertEqual(places["cudaStreamSynchronize in forward"], "NVTX range")

    def test_ranges_leave_room_for_places(self):
        words = []
        for i in range(70):
            words += ["in_range", f"{chr(97 + i % 26) * (i // 26 + 1)} range", "wait", "stream", "1", "0.1", "end"]
        self.record(*words)
        names = {wait[0] for wait in self.waits()}
        self.assertEqual(len(names), 65)  # 64 ranges, and the place of the others
        self.assertIn("cudaStreamSynchronize in wait_in_runtime", names)

    def test_poll_is_the_programs_own_way(self):
        self.record("unasked", "wait", "stream", "3", "2", "wait", "event", "3", "2", "wait", "device", "3", "2", "end",
                    options=("--mode", "poll"))

    def test_block_sleeps_in_the_calls_place(self):
        for what in ("stream", "event", "device"):
            self.record("wait", what, "3", "60", options=("--mode", "park", "--side=host", "--strategy=block"))
            for name, strategy, polls, naps, cpu, length, _, _ in self.waits()[1:]:
                self.assertEqual(strategy, BLOCK)
                self.assertGreater(naps, 10)
                self.assertGreater(polls, 10)
                self.assertLess(cpu, length / 2)  # a wait that spins takes all of it

    def test_spin_asks_without_a_pause(self):
        self.record("wait", "stream", "4", "20", options=("--mode", "park", "--strategy=spin"))
        for _, strategy, polls, naps, _, _, _, _ in self.waits()[1:]:  # before the first, its site gets a name
            self.assertEqual((strategy, naps), (SPIN, None))
            self.assertGreater(polls, 100)

    def test_hybrid_predicts_and_gives_its_reason(self):
        self.record("wait", "stream", "60", "10", options=("--mode", "park", "--side=host"))
        waits = self.waits()
        self.assertTrue(all(wait[1] == HYBRID for wait in waits))
        predicted = self.query("t.wicprof", "SELECT predicted_ns FROM host_wait ORDER BY id")
        self.assertEqual([row[0] for row in predicted[:3]], [None] * 3)
        # Where waits stay uncertain, the collector begins to watch launches, and learns anew.
        self.assertGreater(sum(1 for row in predicted if row[0]), 40, predicted)
        self.assertGreater(int(self.meta("t.wicprof")["host_wake_ns"]), 0)
        reasons = self.query("t.wicprof", "SELECT r.value FROM choice c JOIN string r ON r.id = c.reason_id")
        self.assertTrue(reasons)
        self.assertIn("waking up takes", reasons[0][0])
        analysis = self.wic_prof("analyze", "t.wicprof", "--format=json").stdout
        self.assertIn("waking up takes", analysis)

    def test_what_the_program_asked_for_stays(self):
        for what in KEPT:
            with self.subTest(what=what):
                self.record("unasked", "wait", what, "3", "20", "end",
                            options=("--mode", "park", "--side=host", "--strategy=block"))
                self.assertEqual([wait[1] for wait in self.waits()], [None] * 3)

    def test_a_wait_within_a_callback_is_left_to_the_call(self):
        self.record("wait", "within_callback", "3", "20", options=("--mode", "park", "--side=host", "--strategy=block"))
        waits = self.waits()
        self.assertEqual([(wait[2], wait[3]) for wait in waits], [(None, None)] * 3)

    def test_each_thread_waits_for_itself(self):
        self.record("threads", "4", "wait", "event", "5", "20", "end",
                    options=("--mode", "park", "--side=host", "--strategy=block"))
        rows = self.query("t.wicprof", "SELECT thread, count(*), min(strategy_id), max(strategy_id) FROM host_wait "
                                       "GROUP BY thread")
        self.assertEqual([row[1:] for row in rows], [(5, BLOCK, BLOCK)] * 4)

    def test_default_streams_and_contexts_are_the_calls_own(self):
        legacy, per_thread = "1", "2"  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
        self.record("wait", "stream", "1", "60", "asked_of", legacy, "wait", "per_thread_stream", "1", "60", "asked_of",
                    per_thread, "wait", "other_context", "1", "60", "asked_of", legacy, "wait",
                    "stream_of_other_context", "1", "60", "asked_of", "78",
                    options=("--mode", "park", "--side=host", "--strategy=block"))
        self.assertEqual([wait[1] for wait in self.waits()], [BLOCK] * 4)

    def test_each_of_two_gpus_is_waited_for_by_itself(self):
        # The other GPU is at work for longer than the test may take.
        for waited, other, asked in (("device", "other", None), ("stream", "other", "1"), ("event", "other", None),
                                     ("other_context", "own", "1"), ("stream_of_other_context", "own", "78")):
            with self.subTest(waited=waited):
                words = ["busy_gpu", other, "600000", "wait", waited, "3", "20"]
                for strategy in ("block", "hybrid"):
                    self.record(*words, *(("asked_of", asked) if asked else ()),
                                options=("--mode", "park", "--side=host", f"--strategy={strategy}"))
                    self.assertEqual([wait[1] for wait in self.waits()],
                                     [BLOCK if strategy == "block" else HYBRID] * 3)

    def test_a_gpu_whose_context_blocks_leaves_waits_for_another_alone(self):
        self.record("wait", "stream_from_blocking_context", "3", "20",
                    options=("--mode", "park", "--side=host", "--strategy=block"))
        self.assertEqual([wait[1] for wait in self.waits()], [BLOCK] * 3)

    def test_no_short_wait_is_lost_or_counted_twice(self):
        # They reach the trace in groups.
        self.record("flush", "wait", "stream", "150", "0", "threads", "3", "wait", "stream", "100", "0", "end", "fork",
                    "wait", "stream", "3", "0", "end", "wait", "stream", "70", "0")
        rows = self.query("t.wicprof", "SELECT count(*), count(DISTINCT iteration) FROM host_wait GROUP BY thread "
                                       "ORDER BY count(*)")
        self.assertEqual(rows, [(100, 100)] * 3 + [(220, 220)])

    def test_sigkill_loses_few_short_waits_and_no_long_one(self):
        self.run_cuda("load", "context", "wait", "stream", "5", "20", "flush", "threads", "2", "wait", "stream", "200",
                      "0", "end", "wait", "stream", "1", "20", "kill")
        main, *others = [count for count, in self.query("t.wicprof", "SELECT count(*) FROM host_wait GROUP BY thread "
                                                                     "ORDER BY count(*)")]
        self.assertEqual(main, 6)
        self.assertEqual(len(others), 2)
        for count in others:
            self.assertGreaterEqual(count, 200 - 64)  # collector/waits/short_waits.h

    def test_the_child_of_a_fork_waits_by_itself(self):
        self.record("wait", "stream", "2", "5", "fork", "unasked", "wait", "stream", "3", "20", "end", "end",
                    options=("--mode", "park", "--strategy=block"))
        self.assertEqual([wait[1] for wait in self.waits()], [BLOCK] * 2)

    def test_schedule_changes_the_running_program(self):
        self.record("wait", "stream", "150", "5",
                    options=("--schedule", "poll:200ms,park:200ms,poll:10s", "--side=host", "--strategy=block"))
        strategies = [wait[1] for wait in self.waits()]
        changes = [now for before, now in zip([0] + strategies, strategies) if before != now]
        self.assertEqual(changes, [None, BLOCK, None])
        rows = self.query("t.wicprof", "SELECT old_mode, new_mode, side, effective_ns - requested_ns FROM intervention "
                                       "ORDER BY id")
        self.assertEqual([row[:3] for row in rows], [(0, 1, 2), (1, 0, 2)])
        compared = json.loads(self.wic_prof("compare", "t.wicprof", "--format=json").stdout)
        self.assertEqual(len(compared["segments"]), 3)
        self.assertGreater(compared["before"]["iterations"], 5)
        self.assertGreater(compared["after"]["iterations"], 5)

    def start_waiting(self, session, *then, flush_ms=10):
        """A run whose program waits in its call's place until the file "ended" exists, whatever a busy machine does."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": str(flush_ms),
                         "WICPROF_TEST_CUPTI": ""})
        run = self.start("run", "-q", "-f", "-o", "t.wicprof", "--name", session, "--mode", "park", "--side=host",
                         "--strategy=block", "--", harness.CUDA_APP, "load", "context", "wait_until", "ended", *then)
        self.until((self.work / "ended.asked").exists, "the wait in the call's place")
        return run

    def test_a_killed_recorder_leaves_the_program_its_own_way(self):
        run = self.start_waiting("killed", "unasked", "wait", "stream", "3", "20", "end", "say", "its own way", "exit",
                                 "0")
        run.kill()
        self.until((self.work / "ended.left").exists, "the driver's own wait")
        (self.work / "ended").touch()
        out, _ = run.communicate(timeout=harness.TIMEOUT)
        self.assertIn("its own way", out)
        self.until(lambda: self.processes() == [], "the program's end")
        self.wic_prof("sessions")  # removes what the killed one left

    def test_toggle_right_after_the_first_wait_began(self):
        run = self.start_waiting("early", "exit", "0", flush_ms=600)  # the place has no name before the next flush
        toggled = self.wic_prof("toggle", "poll", "--side=host", "--session=early")
        (self.work / "ended").touch()
        self.assertEqual(self.finish(run).returncode, 0)
        self.assertEqual(toggled.returncode, 0, toggled.stderr)

    def test_toggle_in_the_middle_of_a_wait(self):
        run = self.start_waiting("mid", "exit", "0")
        refused = self.wic_prof("toggle", "park", "--side=device", "--strategy=hybrid", "--session=mid")
        self.assert_refused(refused, 2, "not a strategy of the side device")
        answer = json.loads(self.wic_prof("toggle", "poll", "--side=host", "--session=mid", "--format=json").stdout)
        self.assertEqual((answer["side"], answer["mode"]), ("host", "poll"))
        self.assertEqual(answer["undo"], ["wic-prof toggle park --side host --strategy block --session mid"])
        (self.work / "ended").touch()
        done = self.finish(run)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.query("t.wicprof", "SELECT old_strategy_id, new_mode, side, effective_ns FROM intervention")
        self.assertEqual([row[:3] for row in rows], [(BLOCK, 0, 2)])
        during = self.number("t.wicprof", f"SELECT count(*) FROM host_wait WHERE begin_ns < {rows[0][3]} "
                                          f"AND end_ns > {rows[0][3]}")
        self.assertEqual(during, 1)  # it took effect while the wait went on

    def compared(self):
        answer = json.loads(self.wic_prof("compare", "t.wicprof", "--format=json").stdout)
        self.assertEqual((answer["before"]["label"], answer["after"]["label"]), ("poll", "park"))
        self.assertGreaterEqual(min(answer[side]["units"] for side in ("before", "after")), 2)
        self.assertEqual(answer["measured_at"], "launches of work on device 0")
        self.assertIn("no NVTX range repeats", answer["timed"])
        self.assertIn("--nvtx", answer["timed"])
        self.assertEqual(self.meta("t.wicprof")["ab_side"], "host")
        self.assertEqual(self.query("t.wicprof", "SELECT DISTINCT side FROM intervention"), [(2,)])
        parked = dict(self.query("t.wicprof", "SELECT strategy_id, count(*) FROM host_wait GROUP BY strategy_id"))
        self.assertGreater(parked[BLOCK], 10)
        self.assertGreater(parked[None], 10)
        return answer

    def test_ab(self):
        result = self.run_cuda("load", "context", "wait", "stream", "9999", "5", "exit", "0",
                               options=("--ab", "--side=host", "--strategy=block", "--for=2s", "--precision=0%",
                                        "--end"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Verdict: ", result.stderr)
        self.assertIn("Unit: the time from one of the launches of work to the next", " ".join(result.stderr.split()))
        answer = self.compared()
        if answer["settle"]:
            self.assertTrue(answer["settle"].startswith("wic-prof run --ab --side host "), answer["settle"])

    def test_ab_paces_its_phases_by_numbered_ranges(self):
        # Steps of about 60 ms with six launches each: phases by launches would end within a step. Some short ones at
        # the begin show that the ranges repeat before the warm-up ends.
        steps = [word for number in range(200) for word in
                 ("marked", f"step {number}", "wait", "stream", *(("6", "10") if number > 20 else ("1", "1")), "end")]
        result = self.run_cuda("load", "context", *steps, "exit", "0",
                               options=("--ab", "--side=host", "--for=6s", "--precision=0%", "--end",
                                        "--trace=cuda,nvtx,host_waits"))
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(self.wic_prof("compare", "t.wicprof", "--format=json").stdout)
        self.assertEqual(answer["measured_at"], "NVTX range step # on the CPU")
        *phases, _ = [segment["iterations"] for segment in answer["segments"]]  # the end of the time cuts the last
        self.assertGreaterEqual(min(phases), 3, phases)

    def test_ab_without_a_side_compares_the_waits_that_there_are(self):
        result = self.run_cuda("load", "context", "wait", "stream", "9999", "5", "exit", "0",
                               options=("--ab", "--for=2s", "--precision=0%", "--end"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("comparing how host threads wait in calls of CUDA (--side host)", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["ab_side"], "host")
        self.assertEqual(self.query("t.wicprof", "SELECT DISTINCT side FROM intervention"), [(2,)])
        waits = dict(self.query("t.wicprof", "SELECT strategy_id, count(*) FROM host_wait GROUP BY strategy_id"))
        self.assertGreater(waits[HYBRID], 10)
        self.assertGreater(waits[None], 10)
        # The collector has handed over what it knows before the signal ends the program.
        unrecorded = self.query("t.wicprof", "SELECT value - (SELECT max(end_ns) FROM host_wait) FROM meta "
                                             "WHERE key = 'ended_ns'")
        self.assertGreater(unrecorded[0][0], 50_000_000)

    def test_ab_keeps_the_side_that_is_named(self):
        result = self.run_cuda("load", "context", "wait", "stream", "9999", "5", "exit", "0",
                               options=("--ab", "--side=device", "--for=1s", "--precision=0%", "--end"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("comparing how", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["ab_side"], "device")
        self.assertEqual(self.query("t.wicprof", "SELECT DISTINCT strategy_id FROM host_wait"), [(None,)])

    def test_ab_of_a_program_with_both_kinds_compares_its_wait_sites(self):
        words = [harness.CUDA_APP, "load", "context", "wait", "stream", "9999", "5", "exit", "0"]
        both = f"{harness.TRACED_APP} --seconds 60 & {shlex.join(map(str, words))}"
        result = self.run_cuda(options=("--ab", "--for=2s", "--precision=0%", "--end", "--wait=all", "--", "sh", "-c",
                                        both))
        self.assertEqual(result.returncode, 0, result.stderr)
        # The second part where a thread has waited in a call before the comparison begins.
        self.assertRegex(result.stderr, r"comparing how the program's wait sites wait \(--side device\)"
                                        r"(; --side host compares its host threads' waits in calls of CUDA)?\n")
        self.assertEqual(self.meta("t.wicprof")["ab_side"], "device")

    def test_runs_of_both_modes_park_the_waits_that_there_are(self):
        result = self.run_cuda("load", "context", "wait", "stream", "20", "5", "exit", "0",
                               options=("--ab", "--repeat=2"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("comparing how host threads wait in calls of CUDA (--side host)", result.stderr)
        for run in (1, 2):
            for mode, strategy in (("poll", None), ("park", HYBRID)):
                rows = self.query(f"t.{mode}.{run}.wicprof", "SELECT DISTINCT strategy_id FROM host_wait")
                self.assertEqual(rows, [(strategy,)])

    def test_ab_of_a_program_that_does_not_wait(self):
        result = self.run_cuda("load", "context", "exit", "0", options=("--ab", "--side=host", "--for=1s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing was compared: the program has no host thread that waited in a call", result.stderr)

    def test_toggle_ab(self):
        run = self.start_waiting("ab", "wait", "stream", "9999", "5", "exit", "0")
        (self.work / "ended").touch()
        self.assert_refused(self.wic_prof("toggle", "ab", "--side=host", "--strategy=backoff", "--session=ab"), 2,
                            "not a strategy of the side host")
        self.assert_refused(self.wic_prof("toggle", "ab", "--site=x", "--session=ab"), 2, "leave --site out")
        begun = self.wic_prof("toggle", "ab", "--strategy=block", "--for=2s", "--precision=0%", "--session=ab",
                              "--format=json")
        self.assertEqual(begun.returncode, 0, begun.stderr)
        self.assertEqual(json.loads(begun.stdout)["side"], "host")
        self.until(lambda: not self.wic_prof("toggle", "poll", "--side=host", "--session=ab").returncode,
                   "the comparison's end")
        self.interrupt(run)
        self.compared()

    def test_toggle_ab_without_a_side_compares_the_waits_that_there_are(self):
        run = self.start_waiting("unnamed", "wait", "stream", "9999", "5", "exit", "0")
        (self.work / "ended").touch()
        begun = self.wic_prof("toggle", "ab", "--for=1s", "--session=unnamed", "--format=json")
        self.assertEqual(begun.returncode, 0, begun.stderr)
        self.assertEqual(json.loads(begun.stdout)["side"], "host")
        self.interrupt(run)
        self.assertEqual(self.meta("t.wicprof")["ab_side"], "host")

    def test_a_schedule_of_host_waits_has_a_unit(self):
        self.record("wait", "stream", "150", "5",
                    options=("--schedule", "poll:200ms,park:200ms,poll:10s", "--side=host", "--strategy=block"))
        answer = json.loads(self.wic_prof("compare", "t.wicprof", "--format=json").stdout)
        self.assertNotEqual(answer["why"], "no iterations")
        self.assertTrue(answer["timed"].startswith("the time from one of the launches of work"), answer["timed"])
        self.assertIn(" --side host ", answer["settle"])


if __name__ == "__main__":
    harness.main()
