"""The targets, their lists and their kept inputs agree, and the kept inputs stay small."""

import pathlib
import re
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run

MOST_BYTES = 64 << 10  # of one file of the corpus; an input takes two digits per byte


class Corpus(unittest.TestCase):
    def test_each_target_is_listed(self):
        sources = {path.stem for path in HERE.glob("*.cpp")} - {"libfuzzer", "replay"}
        self.assertEqual(sources, set(run.TARGETS))
        self.assertEqual(sources, set(re.findall(r"wic_add_fuzz\((\w+) ", (HERE / "CMakeLists.txt").read_text())))
        self.assertEqual(sources, {path.stem for path in run.CORPUS.iterdir()})

    def test_inputs_are_small_and_hexadecimal(self):
        for path in run.CORPUS.iterdir():
            with self.subTest(path=path.name):
                self.assertLess(path.stat().st_size, MOST_BYTES)
                for line in path.read_text().splitlines():
                    if not line.startswith("#"):
                        self.assertGreater(len(bytes.fromhex(line)), 0)


class Runs(unittest.TestCase):
    """run.py with a program that behaves as libFuzzer does."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-fuzz-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def outcome(self, ending):
        program = self.folder / "fuzz_ring"
        program.write_text("#!/bin/sh\necho stat::number_of_executed_units: 70 >&2\n" + ending)
        program.chmod(0o755)
        return run.fuzz(program, run.TARGETS["ring"], self.folder, self.folder, 70, 0, 1)

    def test_inputs_are_counted(self):
        outcome = self.outcome("exit 0\n")
        self.assertEqual((outcome.inputs, outcome.broke), (70, None))

    def test_a_broken_target_is_reported_with_its_input(self):
        found = self.folder / "found" / "crash-1"
        outcome = self.outcome(f"echo 'ERROR: AddressSanitizer: x' >&2; printf ab > {found}; exit 77\n")
        self.assertEqual(outcome.broke, b"ab")
        text = run.finding("ring", outcome)
        self.assertIn("AddressSanitizer", text)
        self.assertIn("6162", text)
        tally = self.folder / "tally.json"
        run.add_to_tally(tally, "ring", outcome)
        self.assertIn('"findings": 1', tally.read_text())

    def test_a_program_that_cannot_run_is_no_success(self):
        with self.assertRaises(SystemExit):
            self.outcome("exit 1\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
