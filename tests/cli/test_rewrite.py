"""rewrite: verdicts about the loops of a PTX text, and the patched text."""

import json
import shutil

import harness

FLAG = harness.SOURCE / "tests" / "cli" / "flag.ptx"  # one wait, and one wait that writes memory


class Rewrite(harness.Case):
    def setUp(self):
        super().setUp()
        shutil.copy(FLAG, self.work)

    def test_says_which_loops_wait_and_where(self):
        result = self.wic_prof("rewrite", "flag.ptx")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("1 wait, 1 wait_not_patchable, 0 unknown, 0 not_a_wait", " ".join(result.stdout.split()))
        self.assertIn("kernel wait(unsigned int*)", result.stdout)
        self.assertIn("/src/flag.cu:7", result.stdout)

    def test_json_has_the_same_loops(self):
        result = self.wic_prof("rewrite", "flag.ptx", "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        self.assertEqual(document["totals"], {"wait": 1, "wait_not_patchable": 1, "unknown": 0, "not_a_wait": 0})
        first, second = document["functions"][0]["loops"]
        self.assertEqual((first["verdict"], first["site"], first["source"]),
                         ("wait", 0, {"file": "/src/flag.cu", "line": 7}))
        self.assertEqual(first["polls"][0]["instruction"], "ld.volatile.global.u32")
        self.assertEqual((second["verdict"], second["site"]), ("wait_not_patchable", None))
        self.assertIn("st.volatile.global.u32", second["reason"])

    def test_writes_the_patched_text(self):
        result = self.wic_prof("rewrite", "flag.ptx", "-o", "patched.ptx")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        patched = (self.work / "patched.ptx").read_text()
        self.assertEqual(self.wic_prof("rewrite", "flag.ptx", "-o", "-").stdout, patched)
        self.assertEqual(patched.count("nanosleep"), 1)
        self.assert_refused(self.wic_prof("rewrite", "flag.ptx", "-o", "patched.ptx"), 2, "patched.ptx", "-f")
        self.assert_refused(self.wic_prof("rewrite", "patched.ptx"), 2, "patched already")

    def test_refuses_what_is_no_ptx(self):
        (self.work / "text.ptx").write_text("hello\n")
        self.assert_refused(self.wic_prof("rewrite", "text.ptx"), 2, "text.ptx", "line 1")
        self.assert_refused(self.wic_prof("rewrite", "absent.ptx"), 2, "absent.ptx")
        self.assert_refused(self.wic_prof("rewrite", "."), 2, "folder")
        (self.work / "empty.ptx").write_text("")
        self.assert_refused(self.wic_prof("rewrite", "empty.ptx"), 2, "empty.ptx")


if __name__ == "__main__":
    harness.main()
