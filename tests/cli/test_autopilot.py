"""run --auto and toggle auto: what pays is kept, what does not is given up, and each decision can be looked up."""

import json
import socket

import harness

LONG = 60  # seconds: each program is ended by its test
TRIAL, KEEP, REFUSE, STAY, GO_BACK, END = 1, 2, 3, 4, 5, 6
DEVICE, HOST = 1, 2
FIGURES = ("SELECT decision, side, blocks, ratio_ppm, low_ppm, high_ppm, poll_ns, park_ns, poll_p99_ns, park_p99_ns, "
           "poll_units, park_units, at_ns, from_ns, r.value, u.value FROM decision LEFT JOIN string r ON "
           "r.id = reason_id LEFT JOIN string u ON u.id = unit_id ORDER BY decision.id")
NAMES = ("decision", "side", "blocks", "ratio", "low", "high", "poll", "park", "poll_p99", "park_p99", "poll_units",
         "park_units", "at", "from", "reason", "unit")


class Autopilot(harness.Case):
    def decisions(self, trace="t.wicprof"):
        return [dict(zip(NAMES, row)) for row in self.query(trace, FIGURES)]

    def last_mode(self, trace="t.wicprof"):
        return self.number(trace, "SELECT new_mode FROM intervention ORDER BY effective_ns DESC LIMIT 1")

    def run_auto(self, *app, seconds=6, options=()):
        result = self.wic_prof("run", "-o", "t.wicprof", "--auto", *options, "--", harness.TRACED_APP, "--seconds",
                               seconds, *app)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def state(self, name="traced_app"):
        return next((s for s in self.sessions() if s["name"] == name), {}).get("autopilot") or ""

    def scrape(self, path):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return b"".join(iter(lambda: client.recv(65536), b"")).decode()

    def start_auto(self, *app, options=()):
        return self.start_app("--polled-ms", 5, "--parked-ms", 1, *app,
                              run_options=("-o", "t.wicprof", "--auto", *options), seconds=LONG)

    def record_until(self, text, *app):
        """Records a program until the autopilot has come to that state."""
        process = self.start_app(*app, run_options=("-o", "t.wicprof", "--auto"), seconds=LONG)
        self.until(lambda: text in self.state(), text)
        return self.interrupt(process)

    def test_keeps_what_pays(self):
        result = self.record_until("keeps parking", "--polled-ms", 5, "--parked-ms", 1)
        trial, keep = self.decisions()[:2]
        self.assertEqual((trial["decision"], trial["ratio"], trial["blocks"]), (TRIAL, None, 0))
        self.assertEqual((keep["decision"], keep["side"]), (KEEP, DEVICE))
        self.assertGreaterEqual(keep["blocks"], 6)
        self.assertTrue(1_000_000 < keep["low"] <= keep["ratio"] <= keep["high"], keep)
        self.assertGreater(keep["poll"], keep["park"])
        self.assertLessEqual(keep["park_p99"], 1.02 * keep["poll_p99"])
        self.assertGreaterEqual(keep["poll_units"], 3 * keep["blocks"])
        self.assertGreater(keep["at"], keep["from"])
        self.assertIn("more than its error", keep["reason"])
        self.assertIn("wait site", keep["unit"])
        self.assertIn("autopilot: keeps parking of device waits", " ".join(result.stderr.split()))

    def test_calls_of_the_start_are_not_what_it_times(self):
        self.record_until("keeps parking of device waits", "--first-call", "--polled-ms", 5, "--parked-ms", 1)
        self.assertIn("wait site", self.decisions()[1]["unit"])

    def test_every_answer_names_the_decisions(self):
        self.record_until("keeps parking", "--polled-ms", 5, "--parked-ms", 1)
        answer = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)
        self.assertEqual([d["decision"] for d in answer["decisions"]][:2], ["trial", "keep"])
        self.assertGreater(answer["decisions"][1]["low"], 1)
        self.assertIn("Decision of the autopilot", self.wic_prof("analyze", "t.wicprof").stdout)
        compared = json.loads(self.wic_prof("compare", "t.wicprof", "--format", "json").stdout)
        self.assertTrue(any("the autopilot decided" in note for note in compared["notes"]), compared["notes"])
        for kind in ("html", "md"):
            text = self.wic_prof("report", "t.wicprof", "--format", kind, "-o", "-").stdout
            self.assertIn("ecision of the autopilot", text)
            self.assertIn("parking gains more than its error", text)

    def test_leaves_what_costs(self):
        self.record_until("does not park device waits", "--polled-ms", 1, "--parked-ms", 5)
        kinds = [d["decision"] for d in self.decisions()]
        self.assertEqual(kinds, [TRIAL, REFUSE])
        self.assertEqual(self.last_mode(), 0)
        # In the dearer mode for the warm-up and a few phases, and for none of the rest.
        parked = self.query("t.wicprof", "SELECT effective_ns, new_mode FROM intervention ORDER BY effective_ns")
        ends = [at for at, _ in parked[1:]] + [parked[-1][0]]
        self.assertLess(sum(end - at for (at, mode), end in zip(parked, ends) if mode == 1), 1.5e9)

    def test_equal_modes_are_left_alone(self):
        self.run_auto("--polled-ms", 2, "--parked-ms", 2, seconds=8)
        decisions = self.decisions()
        self.assertEqual(decisions[0]["decision"], TRIAL)
        self.assertNotIn(KEEP, [d["decision"] for d in decisions])

    def parked_for(self, length, trace="t.wicprof"):
        """When the program had been parked for so long in all."""
        changes = self.query(trace, "SELECT effective_ns, new_mode FROM intervention ORDER BY effective_ns")
        for (at, mode), (until, _) in zip(changes, changes[1:]):
            if mode == 1 and until - at >= length:
                return at + length
            length -= (until - at) * mode
        self.fail("the program was never parked for so long")

    def test_goes_back_when_parking_costs(self):
        process = self.start_auto("--later", 4, "--parked-later-ms", 20)
        self.until(lambda: "keeps parking" in self.state(), "parking")
        self.until(lambda: "gives up parking" in self.state(), "the way back")
        self.interrupt(process)
        decisions = self.decisions()
        back = next(d for d in decisions if d["decision"] == GO_BACK)
        self.assertLess(back["at"] - self.parked_for(4e9), 10e9)
        after = [d for d in decisions if d["at"] > back["at"]]
        self.assertEqual(after, [], "a side was touched again within a minute")
        self.assertEqual(self.last_mode(), 0)

    def test_an_explicit_toggle_ends_it(self):
        process = self.start_auto()
        self.until(lambda: "keeps parking" in self.state(), "parking")
        self.assertTrue(self.sessions()[0]["autopilot_on"])
        self.assertIn("  autopilot keeps parking of device waits", self.wic_prof("sessions").stdout)
        self.assertEqual(self.wic_prof("toggle", "poll").returncode, 0)
        session = self.sessions()[0]
        self.assertEqual((session["autopilot_on"], session["mode"]), (False, "poll"))
        self.assertIn("toggle poll was asked for", session["autopilot"])
        refused = self.wic_prof("toggle", "auto", "--off")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("is off already", refused.stderr)
        result = self.interrupt(process)
        self.assertEqual(result.returncode, 130, result.stderr)
        self.assertEqual(self.decisions()[-1]["decision"], END)
        self.assertEqual(self.last_mode(), 0)
        self.assertEqual(self.wic_prof("analyze", "t.wicprof").returncode, 0)

    def test_in_a_running_program_and_off(self):
        process = self.start_app("--polled-ms", 5, "--parked-ms", 1, run_options=("-o", "t.wicprof"), seconds=LONG)
        begun = self.wic_prof("toggle", "auto", "--format", "json")
        self.assertEqual(begun.returncode, 0, begun.stderr)
        self.assertEqual((json.loads(begun.stdout)["mode"], json.loads(begun.stdout)["on"]), ("auto", True))
        self.assertEqual(self.wic_prof("toggle", "auto").returncode, 3)
        self.until(lambda: "keeps parking" in self.state(), "parking")
        off = self.wic_prof("toggle", "auto", "--off")
        self.assertEqual(off.returncode, 0, off.stderr)
        self.until(lambda: self.sessions()[0]["mode"] == "poll", "the program's own way")
        self.interrupt(process)
        self.assertIn("toggle auto --off was asked for", self.decisions()[-1]["reason"])
        self.assertEqual(self.last_mode(), 0)

    def test_it_brings_back_what_it_found(self):
        process = self.start_app("--polled-ms", 1, "--parked-ms", 5,
                                 run_options=("-o", "t.wicprof", "--mode", "park"), seconds=LONG)
        self.assertEqual(self.wic_prof("toggle", "auto").returncode, 0)
        self.until(lambda: "does not park device waits" in self.state(), "polling")
        self.assertEqual(self.wic_prof("toggle", "auto", "--off").returncode, 0)
        self.until(lambda: self.sessions()[0]["mode"] == "park", "the way before")
        self.interrupt(process)

    def test_metrics_have_the_numbers(self):
        path = self.work / "metrics"
        process = self.start_auto(options=("--metrics", str(path)))
        self.until(lambda: 'decisions_total{side="device",decision="keep"} 1' in self.scrape(path), "the metric")
        text = self.scrape(path)
        self.interrupt(process)
        keep = next(d for d in self.decisions() if d["decision"] == KEEP)
        for bound in ("value", "low", "high"):
            ppm = keep["ratio" if bound == "value" else bound]
            self.assertIn(f'wicprof_autopilot_ratio{{side="device",bound="{bound}"}} {ppm // 10**6}.{ppm % 10**6:06}',
                          text)
        self.assertIn(f'wicprof_autopilot_blocks{{side="device"}} {keep["blocks"]}', text)
        self.assertIn('wicprof_autopilot_unit_time_seconds{side="device",mode="park",of="p99"} '
                      f'{keep["park_p99"] // 10**9}.{keep["park_p99"] % 10**9:09}', text)
        self.assertIn("wicprof_autopilot_on 1", text)

    def test_options_that_exclude_each_other(self):
        for options in (["--ab"], ["--mode", "park"], ["--schedule", "poll:1s,park:1s"], ["--repeat", "2"]):
            with self.subTest(options=options):
                refused = self.wic_prof("run", "--auto", *options, "--", "true")
                self.assertEqual(refused.returncode, 2)
                self.assertIn("--auto", refused.stderr)
                self.assertIn(options[0], refused.stderr)
        self.assertEqual(self.traces(), [])
        for words, text in ((["park", "--off"], "toggle auto --off"), (["auto", "--site", "x"], "leave --site out")):
            refused = self.wic_prof("toggle", *words)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(text, refused.stderr)

    def test_host_waits(self):
        result = self.run_cuda("load", "context", "wait", "stream", "1200", "5", "exit", "0",
                               options=("--auto", "--side=host", "--strategy=block"))
        self.assertEqual(result.returncode, 0, result.stderr)
        decisions = self.decisions()
        self.assertTrue(decisions, result.stderr)
        self.assertEqual((decisions[0]["decision"], decisions[0]["side"]), (TRIAL, HOST))
        parked = "SELECT count(*) FROM intervention WHERE side = 2 AND new_mode = 1"
        self.assertGreater(self.number("t.wicprof", parked), 1)


if __name__ == "__main__":
    harness.main()
