"""Loads of patched code: tried once, and found by later processes.

The program, its driver and its CUPTI are fakes; the collector, the rewriter and wic-prof are real.
"""

import json
import os
import subprocess
import unittest

import harness

APP = os.environ.get("WICPROF_REWRITTEN_APP")
NOT_PATCHED = 93  # the program's status
NAMES = harness.SOURCE / "tests" / "cli" / "names.ptx"


class Loads(harness.Case):
    def setUp(self):
        super().setUp()
        if APP is None:
            self.skipTest("built without CUPTI's headers")
        self.cache = self.work / "cache" / "wic-prof" / "rewrite"
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10",
                         "XDG_CACHE_HOME": str(self.work / "cache")})

    def notices(self, trace):
        return [text for (text,) in self.query(
            trace, "SELECT string.value FROM notice JOIN string ON string.id = notice.text_id ORDER BY notice.id")]

    def load(self, trace, status=0):
        """The notices of a process that loads the module."""
        result = self.wic_prof("run", "-f", "-o", trace, "--trace", "none", "--rewrite", "--", APP, "load")
        self.assertEqual(result.returncode, status, result.stderr)
        return self.notices(trace)

    def was_tried(self, notices):
        """Whether the module was analysed and tried, and not found in the cache."""
        took = [text for text in notices if text.startswith("rewrite: the load took ")]
        self.assertEqual(len(took), 1, notices)
        self.assertRegex(took[0], r"took [0-9.]+ ms: door [0-9.]+, .*cache [0-9.]+, .*memory [0-9.]+$")
        self.assertEqual(len([text for text in notices if text.startswith("rewrite: patched 1 loops: ")]), 1, notices)
        self.assertEqual(" analysis " in took[0], " compiler " in took[0], took)
        return " analysis " in took[0]

    def files(self):
        return sorted(path.suffix for path in self.cache.iterdir())

    def test_a_module_is_tried_by_the_first_process(self):
        self.assertTrue(self.was_tried(self.load("first.wicprof")))
        self.assertEqual(self.files(), [".json", ".ptx"])
        self.assertFalse(self.was_tried(self.load("second.wicprof")))

    def test_damaged_code_is_made_again(self):
        self.load("first.wicprof")
        [code] = self.cache.glob("*.ptx")
        whole = code.read_bytes()
        for damage in (b"", whole[:-1], b"x" * len(whole)):
            code.write_bytes(damage)
            self.assertTrue(self.was_tried(self.load("again.wicprof")))
            self.assertEqual(code.read_bytes(), whole)
        self.assertFalse(self.was_tried(self.load("last.wicprof")))

    def test_code_that_somebody_else_may_have_written_is_made_again(self):
        nobody = 65534
        self.load("first.wicprof")
        [code], [entry] = self.cache.glob("*.ptx"), self.cache.glob("*.json")

        def link(path):
            aside = self.work / ("aside" + path.suffix)
            path.replace(aside)
            path.symlink_to(aside)

        def pipe(path):
            path.unlink()
            os.mkfifo(path)  # the program would wait for a writer

        attacks = [link, pipe, lambda path: path.chmod(0o666), lambda path: path.chmod(0o620)]
        if os.geteuid() == 0:
            attacks.append(lambda path: os.chown(path, nobody, nobody))
        for attack in attacks:
            for path in (code, entry):
                attack(path)
                self.assertTrue(self.was_tried(self.load("again.wicprof")))
                self.assertTrue(path.is_file() and not path.is_symlink())
                self.assertEqual(path.stat().st_mode & 0o77, 0)
        self.assertFalse(self.was_tried(self.load("last.wicprof")))

        # A folder that is open to others is closed; one that somebody could replace is left alone.
        self.cache.chmod(0o777)
        self.load("closed.wicprof")
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        self.cache.parent.chmod(0o777)
        self.assertTrue(self.was_tried(self.load("open.wicprof")))
        self.cache.parent.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(self.cache, nobody, nobody)
            self.assertTrue(self.was_tried(self.load("foreign.wicprof")))
            os.chown(self.cache, 0, 0)
        self.cache.rename(self.work / "moved")
        self.cache.symlink_to(self.work / "moved")
        self.assertTrue(self.was_tried(self.load("linked.wicprof")))

    @unittest.skipUnless(os.geteuid() == 0, "only root can have the home of somebody else")
    def test_root_leaves_nothing_in_the_home_of_somebody_else(self):
        home = self.work / "home"
        home.mkdir()
        os.chown(home, 1000, 1000)
        del self.env["XDG_CACHE_HOME"]
        self.env["HOME"] = str(home)
        self.assertTrue(self.was_tried(self.load("t.wicprof")))
        self.assertEqual(list(home.iterdir()), [])

    def test_processes_that_load_at_the_same_time(self):
        runs = [subprocess.Popen([harness.WICPROF, "run", "-q", "-f", "-o", f"{i}.wicprof", "--trace", "none",
                                  "--rewrite", "--", APP, "load"], cwd=self.work, env=self.env) for i in range(4)]
        self.assertEqual([run.wait(60) for run in runs], [0] * 4)
        for i in range(4):
            self.was_tried(self.notices(f"{i}.wicprof"))
        self.assertEqual(self.files(), [".json", ".ptx"])
        self.assertFalse(self.was_tried(self.load("after.wicprof")))

    def test_sites_have_the_names_that_rewrite_says(self):
        names = [loop["name"] for function in json.loads(self.wic_prof("rewrite", NAMES, "--format", "json").stdout)[
            "modules"][0]["functions"] for loop in function["loops"]]
        self.assertIn("twice:3#2", names)
        process = self.start("run", "-o", "t.wicprof", "--trace", "none", "--rewrite", "--", APP, "load", NAMES, "60")
        self.until(lambda: any(len(each.get("sites", [])) == len(names) for each in self.sessions()), "sites")
        self.assertEqual(self.sessions()[0]["sites"], names)
        toggled = self.wic_prof("toggle", "park", "--site", "twice:3#2")
        self.assertEqual((toggled.returncode, "twice:3#2" in toggled.stdout), (0, True), toggled)
        self.assert_refused(self.wic_prof("toggle", "park", "--site", "twice"), 2, "twice")
        self.interrupt(process)
        of_id = "FROM %s JOIN site ON site.id = site_id JOIN string ON string.id = name_id"
        self.assertEqual([name for (name,) in self.query("t.wicprof", "SELECT string.value FROM site JOIN string ON "
                                                                      "string.id = name_id")], names)
        self.assertEqual(self.query("t.wicprof", "SELECT string.value " + of_id % "intervention"), [("twice:3#2",)])

    def test_the_program_keeps_the_code_that_the_driver_takes(self):
        self.env["FAKE_CUDA_REFUSES"] = "__wic_sites"
        notices = self.load("t.wicprof", NOT_PATCHED)
        self.assertTrue(any("refused the patched PTX" in text for text in notices), notices)
        self.assertFalse(self.cache.exists())


if __name__ == "__main__":
    harness.main()
