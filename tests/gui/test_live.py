"""The window on a running program: arriving events, the toggle and its effect."""

import json
import os
import signal
import unittest

import gui_harness

LONG = 120  # seconds: each program is ended by its test


class Live(gui_harness.Case):
    def driven(self, process, name, *lines):
        return self.drive([], *lines, options=("--session", name))

    def test_events_arrive_while_the_program_runs(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        first, later = self.driven(process, "s", "wait loaded", "wait waits 1", "frames 2", "dump a", "wait waits 4000",
                                   "frames 2", "dump b")
        self.assertEqual((first["view"], first["recording"]), ("live", True))
        self.assertGreater(later["timeline"]["span_ns"], first["timeline"]["span_ns"])
        self.assertEqual(first["session"]["sites"], ["left", "right"])
        self.interrupt(process)

    def test_the_toggle_is_one_click(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        parked, polled = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "click toggle.park",
                                     "wait toggled", "wait interventions 1",
                                     "frames 3", "dump a", "click toggle.poll", "wait interventions 2",
                                     "wait segments 3", "wait before_after", "frames 3", "dump b")
        toggle = parked["session"]["toggles"][0]
        self.assertEqual((toggle["mode"], toggle["site"], toggle["in_effect"], toggle["error"]),
                         ("park", "", True, None))
        self.assertEqual(len(parked["timeline"]["interventions"]), 1)
        self.assertEqual(polled["before_after"]["before"]["way"].split()[0], "park")
        self.assertEqual(polled["before_after"]["after"]["way"], "poll")
        self.assertIsNotNone(polled["before_after"]["speedup"])
        self.interrupt(process)
        ways = [row[0] for row in self.query("t.wicprof", "SELECT new_mode FROM intervention ORDER BY id")]
        self.assertEqual(ways, [1, 0], "the trace has both interventions")

    def test_a_toggle_can_be_undone(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        before, toggled, undone = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "dump a",
                                              "click toggle.park", "wait toggled", "wait interventions 1", "frames 3",
                                              "dump b", "click toggle.undo", "wait interventions 2", "frames 3",
                                              "dump c")
        self.assertEqual([state["session"]["can_undo"] for state in (before, toggled, undone)], [False, True, False])
        self.assertEqual([toggle["mode"] for toggle in undone["session"]["toggles"]],
                         ["park", before["session"]["mode"]])
        self.interrupt(process)

    def test_the_verdict_narrows_while_the_program_runs(self):
        """While both modes are compared, the interval beside the toggle narrows with the phases so far.

        Blocks in random order end alike or not: six blocks, the fewest of a comparison, make 8 segments or more.
        """
        process = self.start_app("--parked-ms", "80", run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        early, late = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "click toggle.ab",
                                  "wait segments 3 40", "wait before_after", "frames 3", "dump a",
                                  "wait segments 8 40", "frames 3", "dump b")
        for state in (early, late):
            self.assertEqual((state["view"], state["recording"]), ("live", True))
        shown = [state["before_after"] for state in (early, late)]
        self.assertEqual([s["way"].split()[0] for s in (shown[1]["before"], shown[1]["after"])], ["poll", "park"])
        self.assertIn("longer", shown[1]["sentence"])
        if len(shown[0]["segments"]) < len(shown[1]["segments"]):  # a busy machine may show no early state
            widths = [one["speedup"]["high"] / one["speedup"]["low"] for one in shown]
            self.assertLess(widths[1], widths[0])
            self.assertNotEqual(shown[0]["sentence"], shown[1]["sentence"])
        self.interrupt(process)

    def test_a_key_undoes_a_toggle(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        toggled, asked, undone = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "key K",
                                             "key K", "wait toggled", "wait interventions 1", "frames 3", "dump a",
                                             "key U", "frames 2", "dump b", "key U", "wait interventions 2",
                                             "frames 3", "dump c")
        self.assertTrue(toggled["session"]["can_undo"])
        self.assertEqual(len(asked["session"]["toggles"]), 1, "the first press only asks")
        self.assertIn("U again", asked["notice"])
        self.assertEqual([toggle["mode"] for toggle in undone["session"]["toggles"]], ["park", "poll"])
        self.assertFalse(undone["session"]["can_undo"])
        self.interrupt(process)

    def test_the_first_waits_show_before_anything_is_analysed(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        state = self.driven(process, "s", "wait waits 1", "dump s")
        self.assertEqual((state["view"], state["recording"]), ("live", True))
        self.assertGreater(state["first_waits_ms"], 0)
        self.interrupt(process)

    def test_a_key_changes_the_program_at_its_second_press(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        asked, other, done = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "key K",
                                         "frames 2", "dump a", "key w", "key K", "key B", "frames 2", "dump b",
                                         "key K", "key K", "wait toggled", "frames 3", "dump c")
        for state in (asked, other):
            self.assertEqual((state["session"]["toggles"], state["session"]["ab"]), ([], ""))
        self.assertIn("K again", asked["notice"])
        self.assertIn("U twice undoes", asked["notice"])
        self.assertEqual([toggle["mode"] for toggle in done["session"]["toggles"]], ["park"])
        self.interrupt(process)

    def test_comparing_both_modes_is_one_click(self):
        process = self.start_app("--parked-ms", "4", run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        before, after = self.driven(process, "s", "wait waits 50", "wait attached", "frames 3", "dump a",
                                    "click toggle.ab", "wait interventions 4", "frames 3", "dump b")
        self.assertEqual(before["session"]["ab"], "")
        self.assertIn("measured", after["session"]["ab"])
        self.interrupt(process)
        phases = self.query("t.wicprof", "SELECT value FROM meta WHERE key = 'ab_phases'")[0][0].split(",")
        self.assertGreaterEqual(len(phases), 2)

    def test_before_stays_when_its_rows_are_dropped(self):
        """Parked, this program waits so often that the rows before the toggle are dropped within a second."""
        process = self.start_app("--parked-rate", "100", run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        early, late = self.driven(process, "s", "wait waits 200", "wait attached", "frames 3", "click toggle.park",
                                  "wait interventions 1", "wait before_after", "dump a",
                                  "wait events 1500000 60", "frames 10", "dump b")
        self.assertTrue(late["cut"])
        self.assertGreaterEqual(early["before_after"]["before"]["iterations"], 100)
        self.assertGreaterEqual(late["before_after"]["before"]["iterations"],
                                early["before_after"]["before"]["iterations"])
        self.assertEqual([s["way"].split()[0] for s in late["before_after"]["segments"]], ["poll", "park"])
        self.assertGreater(late["before_after"]["before"]["iteration_ns_p50"], 1_000_000)
        self.assertGreater(late["before_after"]["speedup"]["value"], 2)
        self.interrupt(process)

    def test_a_site_and_a_strategy(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        state = self.driven(process, "s", "wait waits 10", "wait attached", "frames 3", "click toggle.where",
                            "frames 3", "click toggle.where.right", "frames 3",
                            "click toggle.strategy", "frames 3", "click toggle.strategy.backoff", "frames 3",
                            "click toggle.park", "wait toggled", "dump s")
        toggle = state["session"]["toggles"][-1]
        self.assertEqual((toggle["site"], toggle["strategy"], toggle["in_effect"]), ("right", "backoff", True))
        self.interrupt(process)

    def test_the_window_stays_when_the_program_ends(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        gui = self.start("gui", "--session", "s", "--drive",
                         self.script("wait waits 1", "dump a", "wait complete 40", "wait facts", "frames 3", "dump b"))
        self.until(lambda: (self.work / "a").exists(), "the window")
        self.interrupt(process)
        result = self.finish(gui)
        self.assertEqual(result.returncode, 0, result.stderr)
        state = json.loads((self.work / "b").read_text())
        self.assertEqual((state["recording"], state["error"]), (False, None))
        self.assertEqual(state["status"]["losses"], [])

    def test_a_growing_trace(self):
        """Opened as a file: the window notices that the file grows."""
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        self.until(lambda: self.sessions()[0]["waits"] > 0, "waits")
        state = self.drive(["t.wicprof"], "wait waits 100", "frames 2", "dump s")
        self.assertTrue(state["recording"])
        self.assertEqual(state["status"]["losses"], [])  # a missing end is no loss yet
        self.interrupt(process)

    def test_a_killed_recorder(self):
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"), seconds=LONG)
        self.until(lambda: self.sessions()[0]["waits"] > 0, "waits")
        gui = self.start("gui", "--session", "s", "--drive",
                         self.script("wait waits 1", "dump a", "wait complete 40", "frames 2", "dump b"))
        self.until(lambda: (self.work / "a").exists(), "the window")
        process.kill()
        process.wait(timeout=gui_harness.harness.TIMEOUT)
        result = self.finish(gui)
        self.assertEqual(result.returncode, 0, result.stderr)
        state = json.loads((self.work / "b").read_text())
        self.assertFalse(state["recording"])
        self.assertTrue(any("never closed" in loss for loss in state["status"]["losses"]))
        for pid, _ in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.until(lambda: not self.processes(), "the program to end")
        self.sessions()  # removes the stale session


class HostThreads(gui_harness.Case):
    """Run by itself: it compares the CPU time of two ways of waiting."""

    def test_of_a_program_that_nobody_changed(self):
        if gui_harness.harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": gui_harness.harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": "10",
                         "WICPROF_TEST_CUPTI": ""})
        process = self.start("run", "-f", "-o", "t.wicprof", "--name", "h", "--", gui_harness.harness.CUDA_APP, "load",
                             "context", "wait", "stream", "20000", "2", "exit", "0")
        self.until(lambda: any(s["name"] == "h" and s["answers"] and s["wic_runtime"] for s in self.sessions()),
                   "the program")
        site = "cudaStreamSynchronize in wait_in_runtime"
        parked, undone, of_site = self.drive(
            [], "wait attached", "wait events 200", "frames 3", "click toggle.where", "frames 3",
            "click toggle.where.side.host", "frames 3", "click toggle.strategy", "frames 3",
            "click toggle.strategy.block", "frames 3", "click toggle.park", "wait toggled", "wait interventions 1",
            "wait segments 2", "wait before_after", "frames 20", "dump a", "click toggle.undo",
            "wait interventions 2", "frames 20", "dump b", "click toggle.where", "frames 3",
            f"click toggle.where.{site}", "frames 3", "click toggle.park", "wait interventions 3", "frames 20",
            "dump c", options=("--session", "h"))
        toggle = parked["session"]["toggles"][0]
        self.assertEqual((toggle["side"], toggle["mode"], toggle["strategy"], toggle["in_effect"]),
                         ("host", "park", "block", True))
        self.assertEqual((parked["session"]["mode"], parked["session"]["host_mode"]), ("poll", "park"))
        self.assertEqual([segment["way"].split()[0] for segment in parked["before_after"]["segments"]],
                         ["poll", "park"])
        self.assertGreater(parked["before_after"]["after"]["iterations"], 0)
        before, after = (parked["before_after"][side]["host_cpus"] for side in ("before", "after"))
        self.assertLess(after, before)  # the program spins, wic-prof sleeps
        self.assertEqual([(one["side"], one["mode"]) for one in undone["session"]["toggles"]],
                         [("host", "park"), ("host", "poll")])
        self.assertEqual(undone["session"]["host_mode"], "poll")
        self.assertEqual(of_site["session"]["toggles"][-1]["site"], site)
        self.assertIn(site, of_site["session"]["sites"])
        self.interrupt(process)


class RunWithAWindow(gui_harness.Case):
    def test_run_gui(self):
        script = self.script("wait waits 20", "wait attached", "frames 3", "click toggle.park", "wait toggled",
                             "dump s")
        process = self.start("run", "--gui", "--gui-drive", script, "-o", "t.wicprof", "--",
                             gui_harness.harness.TRACED_APP, "--seconds", str(LONG))
        self.until(lambda: (self.work / "s").exists(), "the window")
        state = json.loads((self.work / "s").read_text())
        self.assertTrue(state["session"]["toggles"][0]["in_effect"])
        self.interrupt(process)

    def test_without_a_display(self):
        self.env["DISPLAY"] = ""
        result = self.wic_prof("run", "--gui", "-o", "t.wicprof", "--", "true")
        self.assert_refused(result, 3, "no display")
        self.assertEqual(self.traces(), [], "nothing was started")


if __name__ == "__main__":
    gui_harness.main()
