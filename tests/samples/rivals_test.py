"""Records applications with figure 17's rivals on the CPU device: who moves the messages, and the figure itself."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
os.environ.setdefault("WICPROF_TRACED_APP", "")  # the harness requires it; unused here
sys.path.append(str(SOURCE / "tests" / "cli"))

import harness

SAMPLES = pathlib.Path(os.environ["WICPROF_SAMPLES"])
FILTERS = 4  # iterations of g_c2d per step


class Rivals(harness.Case):
    def run_c2d(self, name, *options, mode="poll"):
        result = self.wic_prof("run", "-o", name, "--mode", mode, "--", SAMPLES / "g_c2d", "--timeout", 60,
                               "--iterations", 15, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(", ok", result.stdout)
        return name

    def by_site(self, trace, table, value):
        return dict(self.query(trace, f"SELECT n.value, {value} FROM {table} t JOIN site s ON s.id = t.site_id "
                                      "JOIN string n ON n.id = s.name_id GROUP BY n.value"))

    def test_with_effshare_agents_wait_for_each_message_and_push_it(self):
        trace = self.run_c2d("effshare.wicprof", "--rival", "effshare")
        waits = self.by_site(trace, "wait", "count(*)")
        self.assertEqual(waits["c2d.0-1.push.data"], waits["c2d.0-1.data"])
        signals = self.by_site(trace, "signal", "count(*)")
        self.assertEqual(signals["c2d.0-1.push.data"], signals["c2d.0-1.data"])

    def test_with_gps_a_message_is_sent_before_its_own_iteration(self):
        last = 15 * FILTERS
        early = self.by_site(self.run_c2d("gps.wicprof", "--rival", "gps"), "signal", "max(t.iteration)")
        self.assertEqual(early["c2d.0-1.data"], last + 1)
        own = self.by_site(self.run_c2d("poll.wicprof"), "signal", "max(t.iteration)")
        self.assertEqual(own["c2d.0-1.data"], last)

    def test_figure_17_compares_rivals_polling_and_parked(self):
        traces = [self.run_c2d("naive.wicprof", "--wait", "naive"), self.run_c2d("poll.wicprof"),
                  self.run_c2d("park.wicprof", mode="park")]
        for rival in ("effshare", "gps"):
            traces.append(self.run_c2d(f"{rival}.wicprof", "--rival", rival))
            traces.append(self.run_c2d(f"{rival}_park.wicprof", "--rival", rival, mode="park"))
        result = self.wic_prof("analyze", *traces, "--figure", 17, "--format=json")
        self.assertEqual(result.returncode, 0, result.stderr)
        figure = json.loads(result.stdout)
        self.assertIsNone(figure["missing"])
        self.assertEqual({row["contender"] for row in figure["rows"]},
                         {"poll", "park", "poll with effshare", "park with effshare", "poll with gps",
                          "park with gps"})
        for row in figure["rows"]:
            self.assertEqual((row["application"], row["baseline"]), ("g_c2d", "naive"))
            self.assertGreater(row["speedup"], 0)
            self.assertLessEqual(row["low"], row["speedup"])
            self.assertLessEqual(row["speedup"], row["high"])

    def test_a_rival_is_refused_with_its_reason(self):
        for app, options, reason in (("g_c2d", ("--rival", "nblocking"), "both ends are GPUs"),
                                     ("c_h3d", ("--rival", "gps"), "one end is the CPU"),
                                     ("g_c2d", ("--rival", "gps", "--wait", "naive"), "--wait naive"),
                                     ("g_kmn", ("--rival", "gps"), "which is what GPS does")):
            with self.subTest(app=app, options=options):
                result = subprocess.run([SAMPLES / app, *options], capture_output=True, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
