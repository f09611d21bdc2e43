"""The real window: what it shows for a trace, and the effect of keys and clicks."""

import collections
import contextlib
import gzip
import html
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

import gui_harness
from gui_harness import colours_of, pixels_of, read_png

VIEWS = ["timeline", "sites", "parties", "findings", "stalls", "figures", "toggle", "compare", "live", "kernels",
         "ranks"]
SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
sys.path.insert(0, str(SOURCE / "bench"))
import made_ranks  # noqa: E402

POLLING, PARKED, AT_BARRIER, WAITING = "d55e00", "0072b2", "74c0f5", "009e73"  # of the light theme


class Screenshots(gui_harness.Case):
    def test_every_view(self):
        trace = self.make_trace("t.wicprof")
        pictures = {}
        for view in VIEWS:
            result = self.gui(trace, "--light", "--view", view, "--screenshot", f"{view}.png")
            self.assertEqual(result.returncode, 0, result.stderr)
            width, height, rows = read_png(self.work / f"{view}.png")
            self.assertEqual((width, height), (1200, 800))
            pictures[view] = rows
        self.assertEqual(len({b"".join(rows) for rows in pictures.values()}), len(VIEWS), "all views differ")

    def test_the_timeline_shows_polling_and_parking(self):
        self.gui(self.make_trace("t.wicprof"), "--light", "--screenshot", "t.png")
        colours = colours_of(self.work / "t.png")
        self.assertGreater(colours.get(POLLING, 0), 1000)
        self.assertGreater(colours.get(PARKED, 0), 1000)
        self.gui(self.make_trace("parked.wicprof", mode="park"), "--light", "--screenshot", "p.png")
        self.assertGreater(colours_of(self.work / "p.png").get(PARKED, 0), 1000)

    def test_the_mode_colours_the_waiting_height(self):
        """Before and after differ from afar: most of the waiting height has the colour of the mode."""
        for mode, colour, other in (("poll", POLLING, PARKED), ("park", PARKED, POLLING)):
            trace = self.make_trace(f"{mode}.wicprof", mode=mode)
            self.gui(trace, "--light", "--screenshot", f"{mode}.png")
            state = self.drive([trace], "wait facts", "frames 3", "dump s")
            x, y, width, height = (int(value) for value in state["items"]["timeline"])
            rows = read_png(self.work / f"{mode}.png")[2][y:y + height]
            inside = collections.Counter(pixel for row in rows for pixel in pixels_of(row)[x:x + width])
            waiting = {one: inside[one] for one in (POLLING, PARKED, AT_BARRIER)}
            self.assertGreater(waiting[colour], 1000)
            self.assertGreaterEqual(waiting[colour], sum(waiting.values()) / 2, waiting)
            self.assertLess(waiting[other], waiting[colour] / 4, waiting)

    def test_all_pictures_of_waiting_have_the_colour_of_the_mode(self):
        trace = self.make_trace("t.wicprof")
        for view in ("toggle", "compare", "figures"):
            with self.subTest(view):
                self.gui(trace, "--light", "--view", view, "--screenshot", f"{view}.png")
                colours = colours_of(self.work / f"{view}.png")
                self.assertGreater(colours.get(POLLING, 0), 500)
                self.assertGreater(colours.get(PARKED, 0), 500)
                self.assertEqual(colours.get(AT_BARRIER, 0), 0)

    def test_everything_coloured_is_in_the_legend(self):
        theme = (SOURCE / "analyzer" / "words" / "colours.h").read_text()
        light = dict(reversed(pair) for pair in re.findall(r'\{"([^"]+)", "[^"]+", \{0x(\w{6}), 0x\w{6}\}\}', theme))
        self.assertEqual(light[POLLING], "polling")
        text = "1b1f24"  # signals have the colour of text
        traces = {name: self.work / f"{name}.wicprof" for name in ("bare_poll", "hot_flag.poll", "c_h3d.park", "torch")}
        for name, trace in traces.items():
            trace.write_bytes(gzip.decompress((SOURCE / "samples" / "traces" / f"{name}.wicprof.gz").read_bytes()))
        named = set()
        for trace in (*traces.values(), self.make_trace("t.wicprof")):
            lines = ["wait facts", "frames 3"]
            for view in ("timeline", "live", "toggle", "compare", "figures"):
                lines += [f"view {view}", "frames 4", f"dump {view}", f"shot {view}.png"]
            for state in self.drive([trace], *lines, options=("--light",)):
                with self.subTest(trace=trace.name, view=state["view"]):
                    self.assertEqual(set(state["drawn"]) - set(state["legend"]), set())
                    named |= set(state["legend"])
                    if (trace.name, state["view"]) == ("torch.wicprof", "figures"):
                        self.assertIn("polling", state["legend"], "bars of the paper's figures")
                    if "timeline" not in state["items"]:
                        continue
                    self.assertGreater(len(state["legend"]), 0)
                    x, y, width, height = (int(value) for value in state["items"]["timeline"])
                    rows = read_png(self.work / f"{state['view']}.png")[2][y:y + height]
                    pixels = {pixel for row in rows for pixel in pixels_of(row)[x:x + width]}
                    others = {text, PARKED} if state["timeline"]["interventions"] else {text}  # lines of changes
                    self.assertEqual({light[one] for one in pixels - others if one in light} - set(state["legend"]),
                                     set())
        self.assertLessEqual({"polling", "polling, by samples", "parked", "computing", "transferring", "host waiting",
                              "ready, no CPU", "in a call", "signal"}, named)

    def test_twice_the_scale(self):
        trace = self.make_trace("t.wicprof")
        result = self.wic_prof("gui", trace, "--size", "800x600", "--scale", "200", "--screenshot", "t.png")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(read_png(self.work / "t.png")[:2], (1600, 1200))

    def test_two_traces(self):
        result = self.gui(self.make_trace("a.wicprof", mode="poll"), self.make_trace("b.wicprof", mode="park"),
                          "--screenshot", "c.png")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.work / "c.png").exists())

    def test_into_a_missing_folder(self):
        self.assert_refused(self.gui(self.make_trace("t.wicprof"), "--screenshot", "none/t.png"), 2, "none/t.png")


NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": ""}


class WithoutDisplay(gui_harness.Case):
    """Pictures and scripts on a machine without any display."""

    def without_egl(self):
        (self.work / "libEGL.so.1").write_text("not a library")
        return dict(NO_DISPLAY, LD_LIBRARY_PATH=str(self.work))

    def test_a_picture_is_the_same_as_on_a_display(self):
        trace = self.make_trace("t.wicprof")
        for view in ("timeline", "sites"):
            result = self.gui(trace, "--light", "--view", view, "--screenshot", "none.png", env=NO_DISPLAY)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, "", "no warning of a driver")
            script = self.script("wait facts", "frames 4", "shot display.png")
            result = self.gui(trace, "--light", "--view", view, "--drive", script)
            self.assertEqual(result.returncode, 0, result.stderr)
            none, display = (read_png(self.work / name) for name in ("none.png", "display.png"))
            self.assertEqual(none[:2], display[:2])
            # Drivers round colours differently.
            self.assertLessEqual(max(abs(a - b) for one, two in zip(none[2], display[2]) for a, b in zip(one, two)), 3)

    def test_sizes(self):
        trace = self.make_trace("t.wicprof")
        for size, scale, pixels in (("1440x900", 100, (1440, 900)), ("800x600", 200, (1600, 1200))):
            result = self.wic_prof("gui", trace, "--size", size, "--scale", scale, "--screenshot", "t.png",
                                   env=NO_DISPLAY)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(read_png(self.work / "t.png")[:2], pixels)

    def test_a_script_finds_no_display(self):
        script = self.script("wait facts", "key /", "frames 2", "type reduce", "frames 4", "enter", "frames 4",
                             "resize 1000 700", "dump s", "shot t.png")
        result = self.gui(self.make_trace("t.wicprof"), "--drive", script, env=NO_DISPLAY)
        self.assertEqual(result.returncode, 0, result.stderr)
        state = json.loads((self.work / "s").read_text())
        self.assertEqual(state["selected"]["title"], "reduce_norm")
        self.assertEqual(read_png(self.work / "t.png")[:2], (1000, 700))

    def test_neither_a_display_nor_egl(self):
        result = self.gui(self.make_trace("t.wicprof"), "--screenshot", "t.png", env=self.without_egl())
        self.assert_refused(result, 3, "libEGL.so.1", "libegl1", "no display", "xvfb-run")
        self.assertFalse((self.work / "t.png").exists())

    def test_a_window_needs_a_display(self):
        result = self.gui(self.make_trace("t.wicprof"), env=NO_DISPLAY)
        self.assert_refused(result, 3, "no display", "xvfb-run", "--screenshot")


class Refusals(gui_harness.Case):

    def test_no_such_trace(self):
        self.assert_refused(self.gui("none.wicprof"), 2, "none.wicprof")

    def test_no_session_and_no_file(self):
        self.assert_refused(self.gui(), 2, "no session is running")

    def test_no_size(self):
        self.assert_refused(self.wic_prof("gui", self.make_trace("t.wicprof"), "--size", "big"), 2, "big", "1440x900")

    def test_a_broken_trace(self):
        """For a picture: an error. For a window: an error message in the window, which stays open."""
        trace = self.make_trace("t.wicprof")
        data = bytearray(trace.read_bytes())
        data[4096:] = b"\xa5" * (len(data) - 4096)
        trace.write_bytes(data)
        self.assert_refused(self.gui(trace, "--screenshot", "t.png"), 2, "t.wicprof")
        state = self.drive([trace], "wait error", "frames 3", "dump s")
        self.assertIn("t.wicprof", state["error"])
        self.assertNotIn("timeline", state)

    def test_a_file_of_another_kind(self):
        (self.work / "x").write_text("hello " * 1000)
        self.assert_refused(self.gui("x", "--screenshot", "t.png"), 2, "x")


class Timeline(gui_harness.Case):
    def setUp(self):
        super().setUp()
        self.trace = self.make_trace("t.wicprof")

    def test_has_a_track_for_everything(self):
        state = self.drive([self.trace], "wait facts", "frames 4", "dump s")
        groups = {}
        for track in state["timeline"]["tracks"]:
            groups.setdefault(track["group"], []).append(track)
        self.assertEqual({name: len(tracks) for name, tracks in groups.items()},
                         {"NVTX": 1, "Host threads": 1, "Streams": 2, "Managed memory": 1, "Signals": 1, "SMs": 4})
        self.assertEqual(sum(track["events"] for track in groups["SMs"]), 120 * 32)
        self.assertEqual(sum(track["events"] for track in groups["Streams"]), 120 * 3)
        self.assertEqual([mark["label"] for mark in state["timeline"]["interventions"]], ["park (shared_watch)"])
        self.assertEqual(state["timeline"]["edges"], 120 * 32)
        self.assertEqual(state["status"]["losses"], [])

    def test_power_clock_and_temperature(self):
        trace = self.make_trace("e.wicprof", 128, "energy")
        state = self.drive([trace], "wait facts", "frames 4", "dump s")
        tracks = [track for track in state["timeline"]["tracks"] if track["group"] == "Power and clocks"]
        self.assertEqual([(track["key"].split("/")[0], track["most"]) for track in tracks],
                         [("power", 184), ("clock", 1800), ("temperature", 46)])
        # The picture has the power of each phase as a height: parked phases take about three quarters of it.
        self.gui(trace, "--light", "--screenshot", "e.png")
        left, top, width, height = (int(value) for value in state["items"][f"track.{tracks[0]['key']}"])
        rows = [pixels_of(row) for row in read_png(self.work / "e.png")[2][top:top + height]]
        lane = rows[0][left + width + 2]
        filled = [sum(row[x] != lane for row in rows) for x in range(left + width + 20, 1180)]
        for share in (1, 131 / 184):
            at = height * share
            self.assertGreater(sum(abs(one - at) < 1.5 for one in filled), len(filled) / 4, share)

    def test_draws_few_rectangles_at_any_zoom(self):
        long = self.make_trace("long.wicprof", iterations=4000)
        steps = [step for i in range(8) for step in ("key w", "key w", "frames 2", f"dump s{i}")]
        for state in self.drive([long], "wait facts 60", "frames 3", "dump all", *steps):
            self.assertLess(state["timeline"]["drawn"], 60000)
            self.assertGreater(state["timeline"]["drawn"], 20)

    def test_keys_zoom_and_move(self):
        steps = ("w", "d", "a", "s", "s", "0")
        keys = [line for i, key in enumerate(steps) for line in (f"key {key}", "frames 2", f"dump {i}{key}")]
        states = self.drive([self.trace], "wait facts", "frames 2", "dump start", *keys)
        windows = [(s["timeline"]["begin_ns"], s["timeline"]["end_ns"]) for s in states]
        start, zoomed, right, left, out, all_of_it, home = windows
        span = states[0]["timeline"]["span_ns"]
        self.assertEqual(start, (0, span))
        self.assertAlmostEqual((zoomed[1] - zoomed[0]) * 1.5, span, delta=span / 1000)
        self.assertGreater(right[0], zoomed[0])
        self.assertAlmostEqual(left[0], zoomed[0], delta=2)
        self.assertEqual(home, (0, span))

    def test_search_lists_its_hits(self):
        states = self.drive([self.trace], "wait facts", "frames 2", "key /", "frames 2", "type reduce", "frames 4",
                            "enter", "frames 4", "dump found", "click hit.2", "frames 3", "dump third")
        self.assertEqual(states[0]["search"]["hits"], 120)
        self.assertIn("hit.0", states[0]["items"])
        self.assertEqual(states[1]["search"]["at"], 2)
        self.assertEqual(states[1]["selected"]["title"], "reduce_norm")
        self.assertGreater(states[1]["selected"]["begin_ns"], states[0]["selected"]["begin_ns"])

    def test_a_search_is_narrowed_by_a_click_on_a_kind(self):
        every, waits, again, wrong = self.drive(
            [self.trace], "wait facts", "frames 2", "key /", "frames 2", "type halo.ready", "frames 18", "enter",
            "frames 4", "dump all", "click hits.signal", "frames 4", "dump signals", "click hits.all", "frames 4",
            "dump again", "key /", "frames 2", "type  kind:x", "frames 18", "enter", "frames 4", "dump wrong")
        self.assertEqual(waits["search"]["text"], "halo.ready kind:signal")
        self.assertEqual(waits["selected"]["kind"], "signal")
        self.assertLess(waits["search"]["hits"], every["search"]["hits"])
        self.assertEqual(again["search"], every["search"])
        self.assertIn("the kinds are wait, signal, host, kernel", wrong["notice"])

    def test_before_a_click_the_pane_has_the_answer(self):
        state = self.drive([self.trace], "wait facts", "frames 3", "dump s")
        self.assertIsNone(state["selected"])
        self.assertIn("answer.next", state["items"])
        self.assertEqual(sum(name.startswith("worst.") for name in state["items"]), min(3, len(state["findings"])))
        opened = self.drive([self.trace], "wait facts", "frames 3", "click worst.0", "frames 2", "dump s")
        self.assertEqual(opened["view"], "findings")

    def test_search_selects_and_focus_zooms(self):
        states = self.drive([self.trace], "wait facts", "frames 2", "key /", "frames 2", "type reduce", "frames 4",
                            "enter", "frames 4", "dump found",
                            "key f", "frames 2", "dump focused", "key n", "frames 2", "dump next", "key escape",
                            "frames 2", "dump cleared")
        found, focused, following, cleared = states
        self.assertEqual((found["search"]["text"], found["search"]["hits"]), ("reduce", 120))
        self.assertFalse(found["searching"])
        self.assertEqual((found["selected"]["kind"], found["selected"]["title"]), ("kernel", "reduce_norm"))
        self.assertLessEqual(focused["timeline"]["begin_ns"], found["selected"]["begin_ns"])
        self.assertGreaterEqual(focused["timeline"]["end_ns"], found["selected"]["end_ns"])
        self.assertLess(focused["timeline"]["end_ns"] - focused["timeline"]["begin_ns"],
                        found["timeline"]["span_ns"] / 10)
        self.assertGreater(following["selected"]["begin_ns"], found["selected"]["begin_ns"])
        self.assertIsNone(cleared["selected"])

    def test_steps_along_wake_edges_and_rows(self):
        steps = ["[", "]", "]", ".", ","]
        lines = ["wait facts", "frames 2", "key /", "frames 2", "type halo.ready", "frames 12", "enter", "frames 4",
                 "dump start"]
        for i, key in enumerate(steps):
            lines += [f"key {key}", "frames 2", f"dump w{i}"]
        start, signal, woken, _, _, _ = self.drive([self.trace], *lines)
        self.assertEqual(start["selected"]["kind"], "wait")
        self.assertEqual(signal["selected"]["kind"], "signal")
        self.assertLessEqual(signal["selected"]["begin_ns"], start["selected"]["end_ns"])
        self.assertEqual(woken["selected"]["kind"], "wait")

    def test_a_wait_names_the_signal_that_ended_it(self):
        begin = ["wait facts", "frames 2", "key /", "frames 2", "type wait at halo.ready", "frames 26", "enter",
                 "frames 4", "dump wait"]
        wait, signal, back = self.drive([self.trace], *begin, "click fact.ended", "frames 4", "dump signal",
                                        "click fact.ended", "frames 4", "dump back")
        self.assertEqual(wait["selected"]["kind"], "wait")
        self.assertEqual(signal["selected"]["kind"], "signal")
        self.assertEqual(wait["selected"]["facts"]["ended"],
                         f"by the signal of {signal['selected']['facts']['from']} at "
                         f"{signal['selected']['begin_ns'] / 1e9:.6f} s")
        self.assertLessEqual(signal["selected"]["begin_ns"], wait["selected"]["end_ns"])
        self.assertEqual(back["selected"]["kind"], "wait")
        self.assertIn("ended", back["selected"]["facts"])

    def test_a_drag_sums_up_a_stretch(self):
        dragged, zoomed = self.drive([self.trace], "wait facts", "frames 3", "drag timeline 0.4 0.1 0.8 0.95",
                                     "frames 3", "dump area",
                                     "key f", "frames 2", "dump zoomed")
        area, span = dragged["area"], dragged["timeline"]["span_ns"]
        self.assertAlmostEqual(area["begin_ns"] / span, 0.4, delta=0.02)
        self.assertAlmostEqual(area["end_ns"] / span, 0.8, delta=0.02)
        states = {one["state"]: one["time_ns"] for one in area["sums"]}
        self.assertGreater(states["polling"], 0)
        self.assertGreater(states["parked"], 0)
        self.assertAlmostEqual(zoomed["timeline"]["begin_ns"], area["begin_ns"], delta=2)
        ways = {(one["name"], one["way"]): one for one in area["sites"]}
        for way in ("polling", "parked"):
            self.assertGreater(ways["halo.ready", way]["waits"], 0)
            self.assertGreater(ways["halo.ready", way]["waiting_ns"], 0)
            self.assertIsNotNone(ways["halo.ready", way]["wake_p50_ns"])

    def test_a_dragged_area_counts_what_it_shades(self):
        lines = ("wait facts", "frames 3", "drag timeline 0.3 0.02 0.6 0.3", "frames 3", "dump some",
                 "key escape", "frames 2", "drag timeline 0.3 -0.02 0.6 0.3", "frames 3", "dump ruler")
        some, ruler = self.drive([self.trace], *lines)
        for state in (some, ruler):
            shaded = {name.removeprefix("area.") for name in state["items"] if name.startswith("area.")}
            self.assertEqual(len(shaded), state["area"]["tracks"])
        tracks = [track["key"] for track in some["timeline"]["tracks"]]
        self.assertLess(some["area"]["tracks"], len(tracks))
        self.assertEqual(ruler["area"]["tracks"], len(tracks), "a drag along the ruler takes all")

    def test_opening_and_pinning(self):
        first = self.drive([self.trace], "wait facts", "frames 3", "dump s")
        key = next(t["key"] for t in first["timeline"]["tracks"] if t["strip"])
        states = self.drive([self.trace], "wait facts", "frames 3", f"click track.{key}", "frames 3", "key p",
                            "frames 2", "dump s", "key p", "key o", "frames 2", "dump t")
        track = lambda state: next(t for t in state["timeline"]["tracks"] if t["key"] == key)
        self.assertEqual((track(states[0])["opened"], track(states[0])["pinned"]), (True, True))
        self.assertEqual((track(states[1])["opened"], track(states[1])["pinned"]), (False, False))

    def test_marks_are_kept_beside_the_trace(self):
        before = self.trace.read_bytes()
        self.drive([self.trace], "wait facts", "frames 2", "key w", "key m", "key l", "frames 2", "dump s")
        self.assertEqual(self.trace.read_bytes(), before, "never inside the trace")
        kept = json.loads((self.work / "t.wicprof.gui.json").read_text())
        self.assertEqual((len(kept["marks"]), kept["dark"]), (1, True))
        again = self.drive([self.trace], "wait facts", "frames 2", "dump again", "key w", "key m", "frames 2",
                           "dump removed")
        self.assertEqual((len(again[0]["marks"]), again[0]["dark"]), (1, True))
        self.assertEqual(again[1]["marks"], [])

    def test_wheel_zooms_where_the_mouse_is(self):
        state = self.drive([self.trace], "wait facts", "frames 3", "wheel timeline 0.0 0.5 2", "frames 2", "dump s")
        self.assertAlmostEqual(state["timeline"]["begin_ns"], 0, delta=state["timeline"]["span_ns"] / 100)
        self.assertLess(state["timeline"]["end_ns"], state["timeline"]["span_ns"] * 0.9)

    def test_real_keys(self):
        """Keys through the X server: tests the window's own key handling instead of the script's."""
        xdotool = shutil.which("xdotool")
        if xdotool is None:
            self.skipTest("no xdotool")
        process = self.start("gui", "--size", "1200x800", self.trace)

        def find():
            search = [xdotool, "search", "--name", "wic-prof"]
            return subprocess.run(search, env=self.env, capture_output=True, text=True, timeout=20).stdout.split()

        self.until(find, "the window")
        subprocess.run([xdotool, "windowfocus", find()[0]], env=self.env, timeout=20, check=False)
        kept = self.work / "t.wicprof.gui.json"

        def press_until(key, condition):
            end = time.monotonic() + gui_harness.harness.TIMEOUT
            while not condition():
                self.assertLess(time.monotonic(), end, f"{key} had no effect")
                subprocess.run([xdotool, "key", key], env=self.env, timeout=20, check=True)
                time.sleep(0.3)
        press_until("m", lambda: kept.exists() and json.loads(kept.read_text())["marks"])
        press_until("ctrl+q", lambda: process.poll() is not None)
        self.assertEqual(self.finish(process).returncode, 0)


class ShippedTraces(gui_harness.Case):
    """Recordings of real programs on a GPU, in samples/traces."""

    def first_view(self, name):
        packed = SOURCE / "samples" / "traces" / f"{name}.wicprof.gz"
        trace = self.work / f"{name}.wicprof"
        trace.write_bytes(gzip.decompress(packed.read_bytes()))
        first, whole = self.drive([trace], "wait facts", "frames 3", "dump first", "key 0", "frames 2", "dump whole")
        return trace, first["timeline"], whole["timeline"]

    def test_the_first_view_holds_the_waits_and_0_shows_all(self):
        for name in ("hot_flag.poll", "c_h3d.park", "g_stn.poll", "c_fe.poll"):
            with self.subTest(trace=name):
                trace, first, whole = self.first_view(name)
                with contextlib.closing(sqlite3.connect(trace)) as opened:
                    begins = [opened.execute(f"SELECT MIN({begin}) FROM {table}").fetchone()[0]
                              for table, begin in (("wait", "arrived_ns"), ("signal", "at_ns"), ("kernel", "start_ns"),
                                                   ("copy", "start_ns"))]
                    zero = min(begin for begin in begins if begin is not None)
                    waits, inside = opened.execute(
                        "SELECT COUNT(*), SUM(arrived_ns >= ? AND resumed_ns <= ?) FROM wait",
                        (zero + first["begin_ns"], zero + first["end_ns"])).fetchone()
                self.assertEqual((whole["begin_ns"], whole["end_ns"]), (0, whole["span_ns"]))
                self.assertGreaterEqual(inside, waits / 2)

    def test_the_first_view_leaves_out_what_is_not_looked_for(self):
        _, first, whole = self.first_view("c_h3d.park")
        self.assertLess(first["end_ns"] - first["begin_ns"], whole["span_ns"] / 4, "waits lie in a sixtieth of it")

    def test_kernels_that_poll_by_their_samples_are_hatched(self):
        trace, _, _ = self.first_view("bare_poll")
        drawn, found = self.drive([trace], "wait facts", "frames 3", "shot t.png", "dump s", "key /", "frames 2",
                                  "type wait_for_word", "frames 16", "enter", "frames 4", "dump found",
                                  options=("--light",))
        self.assertRegex(found["selected"]["facts"]["polls"],
                         r"^9\d.\d % of its samples, at bare_poll.cu:58 \(2\d.\d % in the loop, 7\d.\d % at the barr")
        rows = read_png(self.work / "t.png")[2]
        across = slice(*(int(drawn["items"]["timeline"][0] + part * drawn["items"]["timeline"][2])
                         for part in (0.1, 0.9)))
        colours = {}
        for track in drawn["timeline"]["tracks"]:
            if not track["key"].startswith("stream/") or track["folded"]:
                continue
            x, y, width, height = drawn["items"]["track." + track["key"]]
            pixels = pixels_of(rows[int(y + height / 2)])[across]
            colours[track["name"].split()[-1]] = {one: pixels.count(one) / len(pixels) for one in set(pixels)}
        self.assertGreater(colours["14"].get(POLLING, 0), 0.3, "stripes")
        self.assertGreater(colours["14"].get("8a939c", 0), 0.3, "on the colour of kernels")
        self.assertNotIn(POLLING, colours["15"], "the kernel that computes")

    def test_the_runtimes_own_rows_are_folded(self):
        _, first, _ = self.first_view("g_stn.poll")
        folded = [track["name"] for track in first["tracks"] if track["folded"]]
        shown = [track["name"] for track in first["tracks"] if not track["folded"]]
        self.assertTrue(any(name.startswith("wic") for name in folded), folded)
        self.assertIn("main thread", shown)
        self.assertFalse(any("wicprof" in name or "cuda-Evt" in name for name in shown), shown)
        order = [track["folded"] for track in first["tracks"]]
        self.assertEqual(order, sorted(order), "folded tracks come last")

    def test_kernels_of_the_runtime_are_not_among_the_programs(self):
        trace, _, _ = self.first_view("hot_flag.poll")
        with contextlib.closing(sqlite3.connect(trace)) as opened:
            names = [name for name, in opened.execute("SELECT value FROM kernel JOIN string ON string.id = name_id")]
        own = sum("answer_pings" in name for name in names)
        self.assertGreater(own, 0)
        state = self.drive([trace], "wait facts", "frames 3", "dump s")
        self.assertIn(f" {len(names) - own} kernels", state["status"]["contents"])
        self.assertIn(f"{len(names) - own} kernels in", self.wic_prof("analyze", trace).stdout)
        for format in ("html", "md", "perfetto", "json"):
            self.wic_prof("report", trace, "--format", format, "-o", f"r.{format}")
            self.assertNotIn("answer_pings", (self.work / f"r.{format}").read_text(), format)

    def test_kernels_have_the_names_of_the_program(self):
        trace, _, _ = self.first_view("hot_flag.poll")
        state = self.drive([trace], "wait facts", "frames 2", "key /", "frames 2", "type HotFlagKernel", "frames 4",
                           "enter", "frames 4", "dump s")
        self.assertEqual((state["selected"]["kind"], state["selected"]["title"]), ("kernel", "sample::HotFlagKernel"))


class Keys(gui_harness.Case):
    def test_the_guide_has_the_keys_of_the_window(self):
        state = self.drive([self.make_trace("t.wicprof")], "wait facts", "frames 2", "dump s")
        wanted = sorted((action["keys"], action["name"]) for action in state["keys"])
        guide = (SOURCE / "docs" / "user-guide.md").read_text()
        table = guide.split("| keys | do |\n| --- | --- |\n")[1].split("\n\n")[0]
        found = []
        for line in table.splitlines():
            keys, name = (cell.strip() for cell in line.strip("|").split(" | "))
            found.append((" ".join(html.unescape(key) for key in re.findall("<kbd>(.*?)</kbd>", keys)), name))
        self.assertEqual(sorted(found), wanted)


class Panels(gui_harness.Case):
    def setUp(self):
        super().setUp()
        self.trace = self.make_trace("t.wicprof")

    def test_sites(self):
        state = self.drive([self.trace], "view sites", "wait facts", "frames 3", "dump s")
        lines = state["sites"]["lines"]
        self.assertEqual([line["name"] for line in lines], ["halo.ready"])
        self.assertEqual(lines[0]["count"], "3,840")
        self.assertEqual(state["sites"]["detail"]["site"], "halo.ready")
        bins = state["sites"]["detail"]["histogram"]
        self.assertEqual(sum(b["polling"] for b in bins), 60 * 32)
        self.assertEqual(sum(b["parked"] for b in bins), 60 * 32)

    def test_a_click_sorts_the_sites(self):
        states = self.drive([self.trace], "view sites", "wait facts", "frames 3", "click sites.sort.p99", "frames 2",
                            "dump a", "click sites.sort.p99", "frames 2", "dump b")
        self.assertEqual([(s["sites"]["sort"], s["sites"]["descending"]) for s in states],
                         [("p99", True), ("p99", False)])

    def test_the_panels_agree_with_analyze(self):
        answer = json.loads(self.wic_prof("analyze", self.trace, "--format=json").stdout)
        state = self.drive([self.trace], "wait facts", "frames 3", "dump s")
        self.assertEqual([f["rule"] for f in state["findings"]], [f["rule"] for f in answer["findings"]])
        self.assertEqual(state["classification"]["model"], answer["classification"]["model"])
        gain = answer["sites"][0]["predicted_gain"]
        shown = state["sites"]["lines"][0]["gain"]
        if gain is None:
            self.assertEqual(shown, "-")
        elif gain["value"] >= 2:
            self.assertTrue(shown.startswith(f"{gain['value']:.3g} times shorter ("), (gain, shown))
        else:
            self.assertRegex(shown, r"^[-+0-9.]+ % \(")
            self.assertAlmostEqual(float(shown.split(" ")[0]), 100 * (1 / gain["value"] - 1), delta=0.51)
        compared = json.loads(self.wic_prof("compare", self.trace, "--format=json").stdout)
        self.assertEqual(state["before_after"]["verdict"], compared["verdict"])
        self.assertAlmostEqual(state["before_after"]["speedup"]["value"], compared["speedup"]["value"], places=6)

    def test_a_finding_links_to_its_evidence(self):
        state = self.drive([self.trace], "view findings", "wait facts", "frames 4", "click finding.0.jump", "frames 3",
                           "dump s")
        self.assertEqual(state["view"], "timeline")
        self.assertIn("halo.ready", state["selected"]["title"])
        self.assertLessEqual(state["timeline"]["begin_ns"], state["selected"]["begin_ns"])

    def test_a_finding_offers_its_remedy_if_that_is_a_command(self):
        trace = self.work / "hot_flag.wicprof"
        packed = SOURCE / "samples" / "traces" / "hot_flag.poll.wicprof.gz"
        trace.write_bytes(gzip.decompress(packed.read_bytes()))
        state = self.drive([trace], "view findings", "wait facts", "frames 4", "click finding.0.copy", "frames 3",
                           "dump s")
        self.assertEqual(state["notice"], "copied: wic-prof run --ab -- hot_flag --devices cuda:0 --iterations 12 "
                                          "--size 64 --passes 1")

    def test_iterations_of_a_trace_without_a_change(self):
        """One way of waiting is no reason to show no iterations."""
        state = self.drive([self.make_trace("p.wicprof", mode="poll")], "view figures", "wait facts", "frames 3",
                           "dump s")
        self.assertIsNone(state["nothing"])

    def test_compare_segments(self):
        state = self.drive([self.trace], "view compare", "wait facts", "frames 3", "dump s")
        first = state["differences"][0]
        self.assertEqual((first["what"], first["better"], first["worse"]), ("iteration, median", True, False))
        self.assertEqual([s["way"] for s in state["before_after"]["segments"]], ["poll", "park (shared_watch)"])

    def test_a_comparison_of_both_modes_shows_all_phases(self):
        trace = self.make_trace("ab.wicprof", iterations=160, mode="ab")
        answer = json.loads(self.wic_prof("compare", trace, "--format=json").stdout)
        all_phases, pair, again = self.drive(
            [trace], "view compare", "wait facts", "frames 3", "dump s", "click compare.before", "frames 2",
            "click compare.before.0", "frames 3", "dump pair", "click compare.after", "frames 2",
            "click compare.after.all", "frames 3", "dump again")
        for state in (all_phases, again):
            shown = state["pair"]
            self.assertEqual((shown["before"]["way"], shown["after"]["way"]), ("poll", "park (shared_watch)"))
            self.assertEqual(shown["before"]["iterations"], answer["before"]["iterations"])
            self.assertEqual(shown["verdict"], answer["verdict"])
            self.assertAlmostEqual(shown["speedup"]["value"], answer["speedup"]["value"], places=6)
            self.assertTrue(state["differences"][0]["better"])
            self.assertEqual(state["compared"]["segments"], [7, 6], "the pictures show the last phase of each side")
        self.assertEqual(pair["pair"]["before"]["iterations"], pair["before_after"]["segments"][0]["iterations"])

    def test_both_sides_of_a_comparison_move_together(self):
        begun, moved, zoomed = self.drive([self.trace], "view compare", "wait facts", "frames 3", "dump a",
                                          "drag compare.sides 0.45 0.5 0.1 0.5",
                                          "frames 2", "dump b", "wheel compare.sides 0.3 0.5 1", "frames 2", "dump c")
        self.assertEqual(begun["compared"]["iteration"], 1, "the first iteration in which all SMs take part")
        self.assertGreater(moved["compared"]["iteration"], 2)
        self.assertEqual(moved["compared"]["width_ns"], begun["compared"]["width_ns"])
        self.assertAlmostEqual(zoomed["compared"]["width_ns"] * 1.3, moved["compared"]["width_ns"], delta=10)
        self.assertEqual(zoomed["compared"]["iteration"], moved["compared"]["iteration"])

    def test_kernels_that_could_start_earlier(self):
        pairs = self.make_trace("pairs.wicprof", mode="pairs")
        answer = json.loads(self.wic_prof("analyze", pairs, "--format=json").stdout)["dependent_kernels"]
        state = self.drive([pairs], "view kernels", "wait facts", "frames 3", "dump s")
        self.assertEqual(state["kernels"], {"pairs": len(answer["pairs"]), "launches": 120, "crowded": 1})
        x, y, width, height = (int(value) for value in state["items"]["kernels.0.waves"])
        self.gui(pairs, "--light", "--view", "kernels", "--screenshot", "k.png")
        rows = read_png(self.work / "k.png")[2]

        def colour(across, down):
            at = x + int(width * across)
            return pixels_of(rows[y + int(height * down)])[at]
        # 1.25 waves of 100 us, then 2 of 50 us: the last wave of the first kernel fills a quarter of the height.
        self.assertEqual([colour(0.2, 0.9), colour(0.2, 0.1), colour(0.5, 0.9)], ["8a939c"] * 3)
        self.assertEqual(colour(0.5, 0.5), "eceff2")
        self.assertEqual([colour(0.8, 0.1), colour(0.8, 0.9)], ["1b1f24"] * 2)
        without = self.drive([self.trace], "view kernels", "wait facts", "frames 3", "dump s")
        self.assertEqual(without["kernels"]["pairs"], 0)
        self.assertNotIn("kernels.0.waves", without["items"])

    def test_the_papers_figures(self):
        state = self.drive([self.trace], "view figures", "wait facts", "frames 3", "dump s")
        self.assertEqual([f["number"] for f in state["figures"]], [2, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17])
        for figure in state["figures"]:
            self.assertEqual(f"figure.{figure['number']}" in state["items"], bool(figure["series"]),
                             "a plot if there is data")
            self.assertTrue(figure["series"] or figure["missing"], "else a reason")
        second = state["figures"][0]["series"]
        answer = json.loads(self.wic_prof("analyze", self.trace, "--figure", "2", "--format=json").stdout)
        shares = [row["consumer_share"] for row in answer["rows"]]
        self.assertEqual([s["points"][0][1] for s in second], [share for share in shares if share is not None])
        self.assertEqual({s["state"] for s in second}, {"polling", "parked"}, "one colour language")

    def test_warps_at_the_barrier(self):
        state = self.drive([self.trace], "wait facts", "frames 3", "drag timeline 0.0 0.05 1.0 0.97", "frames 3",
                           "dump s")
        times = {one["state"]: one["time_ns"] for one in state["area"]["sums"]}
        # Of the 32 blocks, the first has the same number as the other kernel's only block, so its kernel is unclear.
        self.assertAlmostEqual(times["waiting on a barrier"] / (times["polling"] + times["parked"]), 3 * 31 / 32,
                               delta=0.05)

    def test_compare_two_traces(self):
        state = self.drive([self.make_trace("a.wicprof", mode="park"), self.make_trace("b.wicprof", mode="poll")],
                           "wait facts", "frames 4", "dump s")
        self.assertEqual(state["view"], "compare")
        self.assertTrue(state["differences"][0]["worse"])
        self.assertRegex(state["differences"][0]["change"], r"^\+\d+ %$")
        self.assertEqual((state["traces"]["before"]["way"], state["traces"]["after"]["way"]),
                         ("park (auto)", "poll"))
        self.assertEqual(state["traces"]["before"]["iterations"], state["traces"]["after"]["iterations"])
        self.assertIn("strip", state["items"])

    def test_traces_of_a_program_without_wait_sites(self):
        """The plot shows what the verdict names, though waits of the program's start come more often."""
        packed = SOURCE / "samples" / "traces" / "torch.wicprof.gz"
        for name in ("a.wicprof", "b.wicprof"):
            (self.work / name).write_bytes(gzip.decompress(packed.read_bytes()))
        state, one = self.drive([self.work / "a.wicprof", self.work / "b.wicprof"], "wait facts", "frames 4", "dump s",
                                "view figures", "frames 4", "dump t")
        self.assertTrue(state["traces"]["measured_at"].startswith("NVTX range busy"), state["traces"])
        self.assertEqual(state["traces"]["before"]["iterations"], 10)
        self.assertIn("strip", state["items"])
        took = state["traces"]["before"]["iteration_ns_p50"]
        self.assertEqual(state["differences"][0]["before"], state["differences"][0]["after"])
        self.assertAlmostEqual(float(state["differences"][0]["before"].split()[0]) * 1e6, took, delta=0.01 * took)
        self.assertTrue(one["before_after"]["measured_at"].startswith("NVTX range busy"))

    def ranks_of_job(self, name, count):
        template = self.work / "template.wicprof"
        if not template.exists():
            self.assertEqual(self.wic_prof("run", "-q", "-o", template, "--", "/bin/true").returncode, 0)
        job = made_ranks.Job(template, ranks=3, steps=200, per_host=3, late=1)
        files = [self.work / f"{name}.{rank}.wicprof" for rank in range(count)]
        for rank, file in enumerate(files):
            job.write(file, rank)
        return files

    def test_traces_of_one_job(self):
        """Made traces of three ranks, of which rank 1 is late: the matrix, its parts, and the way to the timeline."""
        files = self.ranks_of_job("rank", 3)
        ranks, clicked, timeline = self.drive(
            files, "wait facts", "frames 3", "dump r", "click ranks.waited", "frames 2", "click ranks.matrix",
            "frames 2", "dump c", "click ranks.part", "frames 3", "dump t")
        self.assertEqual(ranks["view"], "ranks")
        self.assertIn("late_rank", [finding["rule"] for finding in ranks["findings"]])
        for item in ("ranks.matrix", "ranks.part", "ranks.waited_for"):
            self.assertIn(item, ranks["items"])
        self.assertIn("call", " ".join(ranks["legend"]))
        self.assertEqual(clicked["view"], "ranks")
        self.assertEqual(timeline["view"], "timeline")
        shown = timeline["timeline"]
        self.assertLess(shown["end_ns"] - shown["begin_ns"], shown["span_ns"] / 20)
        result = self.gui(*files, "--light", "--screenshot", "ranks.png")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(colours_of(self.work / "ranks.png").get(WAITING, 0), 1000)

    def test_a_trace_that_is_not_of_the_job(self):
        result = self.gui(*self.ranks_of_job("rank", 2), self.make_trace("t.wicprof"), "--screenshot", "x.png")
        self.assertEqual(result.returncode, 2)
        self.assertIn("t.wicprof has no calls of MPI", result.stderr)
        self.assertFalse((self.work / "x.png").exists())

    def test_one_rank_alone(self):
        state = self.drive([self.trace], "view ranks", "wait facts", "frames 3", "dump s")
        self.assertIn("no calls of MPI", state["nothing"]["reason"])

    def test_tabs_help_and_palette(self):
        lines = ["wait facts", "frames 2"]
        for view in VIEWS:
            lines += [f"click tab.{view}", "frames 2", f"dump {view}"]
        for view, state in zip(VIEWS, self.drive([self.trace], *lines)):
            self.assertEqual(state["view"], view)
        states = self.drive([self.trace], "wait facts", "frames 2", "key ?", "frames 3", "dump help", "key escape",
                            "key :", "frames 3", "type Find",
                            "frames 8", "dump open", "enter", "frames 4", "dump done")
        self.assertTrue(states[0]["help"])
        self.assertEqual((states[1]["help"], states[1]["palette"]), (False, True))
        self.assertEqual((states[2]["palette"], states[2]["view"]), (False, "findings"))

    def test_the_tabs_of_a_change_say_what_they_show(self):
        """The toggle itself is under Live."""
        names = {action["keys"]: action["name"] for action in
                 self.drive([self.trace], "wait facts", "dump s")["keys"] if action["group"] == "Views"}
        self.assertEqual((names["7"], names["8"], names["9"]), ("Change", "A/B", "Live"))

    def test_a_script_that_names_a_missing_item(self):
        result = self.gui(self.trace, "--drive", self.script("wait loaded", "click no such thing"))
        self.assert_refused(result, 2, "no such thing")


class Parties(gui_harness.Case):
    """Who waited for whom."""

    def setUp(self):
        super().setUp()
        self.trace = self.make_trace("t.wicprof")
        self.begin = ["view parties", "wait facts", "frames 3"]

    def test_agrees_with_analyze(self):
        answer = json.loads(self.wic_prof("analyze", self.trace, "--format=json").stdout)
        clicks = [line for one in answer["parties"]
                  for line in (f"click parties.by.{one['by']}", "frames 2", f"dump {one['by']}")]
        states = self.drive([self.trace], *self.begin, *clicks)
        for wanted, state in zip(answer["parties"], states):
            shown = state["parties"]
            self.assertEqual(shown["by"], wanted["by"])
            self.assertEqual(len(shown["waiters"]), len(wanted["waiters"]))
            self.assertEqual([(c["waiter"], c["releaser"], c["waits"], c["waiting_ns"]) for c in shown["cells"]],
                             [(c["waiter"], c["releaser"], c["figures"]["waits"], c["figures"]["waiting_ns"])
                              for c in wanted["cells"]])
            self.assertEqual(sum(c["waits"] for c in shown["cells"]), 120 * 32 + 120)

    def test_names_kernels_and_threads(self):
        state = self.drive([self.trace], *self.begin, "dump s")
        self.assertIn("stencil<float>", state["parties"]["waiters"])
        self.assertIn("thread 4243", state["parties"]["waiters"])
        self.assertIn("waited longest for", state["parties"]["sentence"])

    def test_a_click_on_a_cell_goes_to_its_longest_wait(self):
        before, after = self.drive([self.trace], *self.begin, "dump a", "click parties.cell.0.0", "frames 3", "dump b")
        self.assertEqual(after["view"], "timeline")
        self.assertEqual(after["selected"]["row"], before["parties"]["cells"][0]["longest"])
        self.assertEqual(after["selected"]["kind"], "wait")

    def test_a_click_on_a_row_goes_to_its_longest_wait(self):
        state = self.drive([self.trace], *self.begin, "click parties.rows.0", "frames 3", "dump s")
        self.assertEqual((state["view"], state["selected"]["kind"]), ("timeline", "wait"))

    def test_filters(self):
        site, segment = self.drive([self.trace], *self.begin, "click parties.site", "frames 3",
                                   "click parties.site.halo.ready", "frames 3", "dump a", "click parties.window",
                                   "frames 3", "click parties.window.segment.1", "frames 3", "dump b")
        self.assertEqual(sum(c["waits"] for c in site["parties"]["cells"]), 120 * 32)
        self.assertEqual({one["way"]: one["waits"] for one in site["parties"]["lengths"]},
                         {"poll": 60 * 32, "park": 60 * 32})
        self.assertEqual(sum(c["waits"] for c in segment["parties"]["cells"]), 60 * 32)
        self.assertEqual([one["way"] for one in segment["parties"]["lengths"]], ["park"])

    def test_the_heads_of_figures_fit_their_columns(self):
        """Also in a small window: a title that is too wide takes a second line."""
        result = self.wic_prof("gui", "--size", "1280x720", "--scale", "100", self.trace, "--drive",
                               self.script(*self.begin, "dump s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        items = json.loads((self.work / "s").read_text())["items"]
        for table in ("lengths.figures", "parties.rows"):
            heads = sorted(rect for name, rect in items.items() if name.startswith(f"{table}.head."))
            self.assertGreaterEqual(len(heads), 6)
            row = items[f"{table}.0"]
            for left, right in zip(heads, heads[1:] + [[row[0] + row[2]]]):
                self.assertLessEqual(left[0] + left[2], right[0], (table, left))

    def test_the_histogram_is_filtered_by_the_way_of_waiting(self):
        park, every = self.drive([self.trace], *self.begin, "click lengths.park", "frames 2", "dump a",
                                 "click lengths.all", "frames 2", "dump b")
        self.assertEqual((park["parties"]["lengths_way"], every["parties"]["lengths_way"]), ("park", None))


class Toggle(gui_harness.Case):
    """The change of how the program waits, as an event to look at."""

    def test_before_after_and_the_verdict(self):
        trace = self.make_trace("t.wicprof")
        shown, jumped = self.drive([trace], "view toggle", "wait facts", "frames 3", "dump a", "click toggle.jump",
                                   "frames 3", "dump b")
        toggle = shown["toggle"]
        self.assertEqual((toggle["event"], toggle["before"]["way"], toggle["after"]["way"]),
                         (0, "poll", "park (shared_watch)"))
        self.assertEqual(toggle["verdict"], shown["before_after"]["verdict"])
        self.assertIn("shorter", toggle["sentence"])
        self.assertIn("strip.change.0", shown["items"])
        timeline = jumped["timeline"]
        self.assertEqual(jumped["view"], "timeline")
        self.assertAlmostEqual((timeline["begin_ns"] + timeline["end_ns"]) / 2, timeline["interventions"][0]["at_ns"],
                               delta=(timeline["end_ns"] - timeline["begin_ns"]) / 20)

    def test_the_wheel_zooms_both_pictures(self):
        trace = self.make_trace("t.wicprof")
        before, after = self.drive([trace], "view toggle", "wait facts", "frames 3", "dump a",
                                   "wheel toggle.sides 0.5 0.5 1", "frames 2", "dump b")
        self.assertAlmostEqual(after["toggle"]["zoom"], before["toggle"]["zoom"] * 1.3, places=6)


class Nothing(gui_harness.Case):
    """A view without contents gives the reason and the next command."""

    def test_a_trace_with_one_way_of_waiting(self):
        trace = self.make_trace("t.wicprof", mode="poll")
        lines = ["wait facts"]
        for view in ("toggle", "compare", "live", "parties"):
            lines += [f"view {view}", "frames 3", f"dump {view}"]
        toggle, compare, live, parties = self.drive([trace], *lines)
        for state in (toggle, compare):
            self.assertIn("one way (poll)", state["nothing"]["reason"])
            self.assertEqual(state["nothing"]["command"], "wic-prof run --ab -- ./halo")
        self.assertEqual(live["nothing"]["command"], "wic-prof run --gui -- ./halo")
        self.assertIsNone(parties["nothing"])


if __name__ == "__main__":
    gui_harness.main()
