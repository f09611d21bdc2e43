"""The exact output of the verbs for traces in which every time is known; golden/ holds documents for machines, and
golden/80 and golden/120 hold the texts of all verbs on terminals of so many columns.

To change the output on purpose: WICPROF_UPDATE_GOLDEN=1 ctest -R cli.golden, then read the difference in git.
"""

import gzip
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess

import golden_files
import harness

MAKE_TRACE = os.environ["WICPROF_MAKE_TRACE"]
WIDTHS = (80, 120)  # columns
# Recordings on a GPU that are part of the repository.
RECORDED = ("hot_flag.poll", "hot_flag.park", "bare_poll", "c_h3d.poll")
# Documents for machines: the width of the terminal does not matter.
ANSWERS = {
    "analyze.json": ["analyze", "both.wicprof", "--format", "json"],
    "rewrite.json": ["rewrite", "flag.ptx", "--format", "json"],
    "patched.ptx": ["rewrite", "flag.ptx", "-o", "-"],
    "compare.json": ["compare", "both.wicprof", "--format", "json"],
    "compare_two.json": ["compare", "poll.wicprof", "park.wicprof", "--format", "json"],
    "report.md": ["report", "both.wicprof", "--format", "md"],
    "report.json": ["report", "both.wicprof", "--format", "json"],
    "pairs.json": ["analyze", "pairs.wicprof", "--format", "json"],
    "pairs.md": ["report", "pairs.wicprof", "--format", "md"],
    "report.csv": ["report", "both.wicprof", "--format", "csv"],
}
# Texts for people, at each width: name of the file -> the words after wic-prof. Each runs in a folder with the traces
# both, poll, park, pairs (tests/gui/make_trace.cpp) and RECORDED. To add a text, add a line here and update the golden
# files.
SCREENS = {
    "analyze": ["analyze", "both.wicprof"],
    "analyze_verbose": ["analyze", "--verbose", "both.wicprof"],
    "analyze_hot_flag": ["analyze", "hot_flag.poll.wicprof"],
    "analyze_hot_flag_parked": ["analyze", "hot_flag.park.wicprof"],
    "analyze_hot_flag_verbose": ["analyze", "--verbose", "hot_flag.poll.wicprof"],
    "analyze_bare_poll": ["analyze", "bare_poll.wicprof"],
    "analyze_bare_poll_verbose": ["analyze", "--verbose", "bare_poll.wicprof"],
    "analyze_c_h3d_verbose": ["analyze", "--verbose", "c_h3d.poll.wicprof"],
    "analyze_pairs": ["analyze", "pairs.wicprof"],
    "analyze_pairs_verbose": ["analyze", "--verbose", "pairs.wicprof"],
    "figure_2": ["analyze", "--figure", "2", "both.wicprof"],
    "figure_12": ["analyze", "--figure", "12", "both.wicprof"],
    "compare": ["compare", "both.wicprof"],
    "compare_two": ["compare", "poll.wicprof", "park.wicprof"],
    "compare_hot_flag": ["compare", "hot_flag.poll.wicprof", "hot_flag.park.wicprof"],
    "why_hot_flag": ["why", "hot_flag.poll.wicprof"],
    "why_bare_poll_verbose": ["why", "--verbose", "bare_poll.wicprof"],
    "rewrite": ["rewrite", "flag.ptx"],
    "explain": ["explain"],
    "explain_share": ["explain", "share"],
    "help": ["--help"],
    **{f"help_{verb}": [verb, "--help"] for verb in harness.VERBS},
}
# Texts about running programs, with each number as N and columns two spaces apart.
LIVE = ("sessions", "toggle", "toggle_refused", "run_failed", "run")
BUNDLED = "demo_recorded"
# A gate with known times: its answer is Markdown, whatever the width.
GATE = """
[run]
repeat = 4
modes = ["poll", "park"]
[limits]
wait_share = 0.6
[gain]
at_least = 1.5
"""
SYNTHETIC = ("--period-us", 1000, "--wait-us", 500, "--late-us", 10, "--polls", 10, "--park-period-us", 600)


class Golden(golden_files.Case):
    def setUp(self):
        super().setUp()
        shutil.copy(harness.SOURCE / "tests" / "cli" / "flag.ptx", self.work)
        for mode in ("both", "poll", "park", "pairs"):
            trace = self.work / f"{mode}.wicprof"
            subprocess.run([MAKE_TRACE, trace, "48", mode], check=True)
            # Differs between recordings and machines.
            with sqlite3.connect(trace) as database:
                for key, value in (("pid", "4242"), ("host", "machine"), ("started_ns", "1000000000"),
                                   ("ended_ns", "2000000000"), ("started_utc", "2025-01-01T00:00:00Z"),
                                   ("wic_prof_version", "0.0.0")):
                    database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
            database.close()

    def test_answers(self):
        for name, words in ANSWERS.items():
            with self.subTest(name):
                result = self.wic_prof(*words)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.keep(name, result.stdout)

    def test_screens(self):
        for name in RECORDED:
            source = harness.SOURCE / "samples" / "traces" / f"{name}.wicprof.gz"
            with gzip.open(source) as packed, open(self.work / f"{name}.wicprof", "wb") as trace:
                shutil.copyfileobj(packed, trace)
        for width in WIDTHS:
            for name, words in SCREENS.items():
                with self.subTest(name, width=width):
                    result = self.wic_prof(*words, env={"COLUMNS": str(width)})
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    for line in result.stdout.splitlines():
                        self.assertLessEqual(len(line), width, line)
                    self.assertNotIn("\x1b", result.stdout)
                    self.keep(f"{width}/{name}.txt", result.stdout)

    def test_bundled_recordings(self):
        folder = pathlib.Path(harness.WICPROF).resolve().parent.parent / "share" / "wic-prof" / "traces"
        for width in WIDTHS:
            with self.subTest(width=width):
                result = self.wic_prof("demo", "--recorded", env={"COLUMNS": str(width)})
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                # The folder's name may be of any length.
                text = re.sub(r"every verb takes.*\Z", "", result.stdout.replace(str(folder), "FOLDER"), flags=re.S)
                for line in text.splitlines():
                    self.assertLessEqual(len(line), width, line)
                self.keep(f"{width}/{BUNDLED}.txt", re.sub(r" \\\n +", " ", text))

    def test_gate(self):
        (self.work / "wic-prof.toml").write_text(GATE)
        result = self.wic_prof("ci", "--config", "wic-prof.toml", "--", harness.TRACED_APP, *SYNTHETIC)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.keep("ci.md", self.without_numbers(result.stdout.replace(str(harness.TRACED_APP), "traced_app")))

    def test_running_programs(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        trace = self.work / "halo.wicprof"
        process = self.start_app(run_options=("--name", "halo", "-o", trace), start_new_session=True)
        for width in WIDTHS:
            env = {"COLUMNS": str(width)}
            said = {
                "sessions": self.wic_prof("sessions", env=env).stdout,
                "toggle": self.wic_prof("toggle", "park", env=env).stdout,
                "toggle_refused": self.wic_prof("toggle", "park", env=env, cwd=elsewhere).stderr.splitlines(True)[-1],
                "run_failed": self.wic_prof("run", "-f", "-o", "t.wicprof", "--", "sh", "-c", "exit 3", env=env).stderr,
            }
            # Without the tool's own cost, whose length decides where its lines break.
            # Found by its name, since the length of its folder's name decides where the command is shortened.
            program = pathlib.Path(harness.TRACED_APP)
            found = env | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
            run = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", program.name, *SYNTHETIC, env=found).stderr
            said["run"] = re.sub(r"wic-prof itself:.*?\n\n", "", run, flags=re.S)
            self.assertEqual(self.wic_prof("toggle", "poll").returncode, 0)
            self.assertEqual(tuple(said), LIVE)
            for name, text in said.items():
                with self.subTest(name, width=width):
                    self.assertLessEqual(max(map(len, said["sessions"].splitlines())), width)
                    self.keep(f"{width}/{name}.txt", self.without_numbers(text))
        self.interrupt(process)

    def test_doctor_fits(self):
        """Its words depend on the machine."""
        for width in (50, *WIDTHS):
            with self.subTest(width=width):
                result = self.wic_prof("doctor", env={"COLUMNS": str(width)})
                self.assertIn(result.returncode, (0, 3), result.stderr)
                self.assertLessEqual(max(map(len, result.stdout.splitlines())), width, result.stdout)

    def test_doctor_keeps_paths_whole(self):
        """A path that fits the terminal can be copied."""
        library = self.work / ("a" * (80 - 4 - len(f"{self.work}//libcupti.so"))) / "libcupti.so"
        library.parent.mkdir()
        library.write_text("no library")
        result = self.wic_prof("doctor", env={"COLUMNS": "80", "WICPROF_CUPTI_PATH": str(library)})
        self.assertIn(str(library), result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80, result.stdout)

    def test_golden_files_are_all_in_use(self):
        golden = golden_files.GOLDEN
        used = {str(golden / name) for name in (*ANSWERS, "ci.md")}
        used |= {str(golden / str(width) / f"{name}.txt") for width in WIDTHS for name in (*SCREENS, *LIVE, BUNDLED)}
        used |= {str(golden / "newcomers" / f"{name}.txt") for name in golden_files.NEWCOMERS}
        self.assertEqual({str(file) for file in golden.rglob("*") if file.is_file()}, used)

    def test_damaged(self):
        """On a damaged trace, the verbs answer or fail with the name of the file. tests/analyzer tries hundreds."""
        whole = (self.work / "both.wicprof").read_bytes()
        middle = len(whole) // 2
        damages = {
            "cut": whole[:middle],
            "empty pages": whole[:middle] + bytes(8192) + whole[middle + 8192:],
            "turned": bytes(b ^ (0x55 if i % 997 == 500 else 0) for i, b in enumerate(whole)),
            "begins only": whole[:4096],
        }
        for what, data in damages.items():
            (self.work / "damaged.wicprof").write_bytes(data)
            self.answer_or_error(what)
        for sql in ("UPDATE wait SET arrived_ns = resumed_ns, resumed_ns = arrived_ns",
                    "UPDATE wait SET resumed_ns = 9223372036854775807 WHERE id % 3 = 0",
                    "UPDATE kernel SET start_ns = -9223372036854775808",
                    "UPDATE signal SET site_id = 4000000000, value = -1",
                    "UPDATE wait SET device_id = 31000, strategy_id = 200, polls = 4294967295",
                    "DELETE FROM string", "DELETE FROM device", "DELETE FROM meta", "DROP TABLE signal"):
            (self.work / "damaged.wicprof").write_bytes(whole)
            with sqlite3.connect(self.work / "damaged.wicprof") as database:
                database.execute(sql)
            database.close()
            self.answer_or_error(sql)

    def answer_or_error(self, what):
        for words in (["analyze", "damaged.wicprof", "--format", "json"], ["compare", "damaged.wicprof"],
                      ["compare", "poll.wicprof", "damaged.wicprof"],
                      ["report", "damaged.wicprof", "--format", "html"]):
            with self.subTest(damage=what, verb=words[0]):
                result = self.wic_prof(*words)
                self.assertIn(result.returncode, (0, 2), result.stderr)
                if result.returncode == 0:
                    self.assertTrue(result.stdout)
                else:
                    self.assertIn("damaged.wicprof", result.stderr)


if __name__ == "__main__":
    harness.main()
