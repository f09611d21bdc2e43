"""Sampled program counters under run: the modules folder, nvdisasm, and the loop in analyze."""

import json
import os
import pathlib
import sqlite3

import harness

SAMPLED_APP = os.environ["WICPROF_SAMPLED_APP"]

LISTING = r"""
	.section	.text._Z4spinPi,"ax",@progbits
        .global         _Z4spinPi
        .type           _Z4spinPi,@function
_Z4spinPi:
.text._Z4spinPi:
	//## File "/home/user/spin.cu", line 3
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   ULDC.64 UR4, c[0x0][0x208] ;
.L_x_0:
	//## File "/home/user/spin.cu", line 4
        /*0020*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0030*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0040*/              @!P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
"""


class Sampling(harness.Case):
    def disassembler(self, script):
        """Replaces nvdisasm by a script."""
        path = self.folder / "nvdisasm"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return str(path)

    def printing(self, condition="true"):
        listing = self.folder / "listing"
        listing.write_text(LISTING)
        return self.disassembler(f"{condition} || {{ echo no line information >&2; exit 1; }}\n"
                                 f"echo \"$@\" >> {self.folder}/calls\nfor f; do :; done\n"
                                 f"[ \"$(cat $f)\" = 'a module' ] && cat {listing}\n")

    def run_sampled(self, nvdisasm, *options, sources="cuda,pcsampling"):
        env = {"WICPROF_NVDISASM": nvdisasm, "WICPROF_TRACE": sources}
        result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", SAMPLED_APP, *options, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def analysis(self):
        answer = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def sass(self):
        with sqlite3.connect(self.work / "t.wicprof") as database:
            return database.execute("SELECT printf('%016x', module), s.value, pc_offset, t.value, target_offset, line "
                                    "FROM sass JOIN string s ON s.id = symbol_id JOIN string t ON t.id = text_id "
                                    "ORDER BY pc_offset").fetchall()

    def test_the_loop_is_found_with_its_line(self):
        folder = self.run_sampled(self.printing())
        self.assertFalse(pathlib.Path(folder).exists(), "the folder is removed")
        rows = self.sass()
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows[4], ("00feed0000000001", "_Z4spinPi", 0x40, "@!P0 BRA `(.L_x_0)", 0x20, 4))
        self.assertNotIn("sass_missing", self.meta("t.wicprof"))
        analysis = self.analysis()
        self.assertEqual([loop["kind"] for loop in analysis["polling_loops"]], ["poll"])
        self.assertEqual(analysis["polling_loops"][0]["line"], 4)
        self.assertEqual(analysis["polling_loops"][0]["copies"], 1)
        findings = [f for f in analysis["findings"] if f["rule"] == "polling_kernel"]
        self.assertIn("spin polls a word at spin.cu:4", findings[0]["text"])

    def test_retries_without_lines(self):
        self.run_sampled(self.printing('[ "$2" != -gi ] && [ "$2" != -g ]'))
        self.assertEqual(len(self.sass()), 6)
        self.assertNotIn("-g", (self.folder / "calls").read_text().split())

    def test_retries_without_inlining(self):
        self.run_sampled(self.printing('[ "$2" != -gi ]'))
        self.assertEqual(self.sass()[4][5], 4)
        self.assertEqual((self.folder / "calls").read_text().split()[:2], ["-c", "-g"])

    def test_folder_is_owner_only_and_beside_the_session(self):
        look = self.wic_prof("run", "-q", "-o", "t.wicprof", "--", "sh", "-c", 'stat -c "%a %n" "$WICPROF_MODULES"',
                             env={"WICPROF_TRACE": "pcsampling"})
        mode, path = look.stdout.split()
        self.assertEqual(mode, "700")
        self.assertEqual(pathlib.Path(path).parent, self.runtime / "wic-prof")

    def test_no_folder_unless_program_counters_are_sampled(self):
        self.assertEqual(self.run_sampled("/nonexistent", sources="cuda,nvtx"), "no folder")

    def test_no_message_without_samples(self):
        self.run_sampled("/nonexistent", "none")
        self.assertNotIn("sass_missing", self.meta("t.wicprof"))

    def test_without_nvdisasm_loops_come_from_samples(self):
        self.run_sampled("/nonexistent/nvdisasm")
        self.assertIn("/nonexistent/nvdisasm", self.meta("t.wicprof")["sass_missing"])
        analysis = self.analysis()
        self.assertIn("nvdisasm", analysis["pc_sampling"]["sass_missing"])
        self.assertEqual([loop["from_instructions"] for loop in analysis["polling_loops"]], [False])
        text = self.wic_prof("analyze", "--verbose", "t.wicprof").stdout
        self.assertIn("instructions are missing", text)

    def test_quotes_a_failing_disassembler(self):
        self.run_sampled(self.disassembler("echo 'fatal: Unknown architecture' >&2; exit 3\n"))
        missing = self.meta("t.wicprof")["sass_missing"]
        self.assertIn("Unknown architecture", missing)
        self.assertIn("WICPROF_NVDISASM", missing)

    def test_disassembler_without_usable_output(self):
        self.run_sampled(self.disassembler("head -c 100000 /dev/urandom\n"))
        self.assertEqual(self.sass(), [])
        self.assertIn("printed none of the sampled functions", self.meta("t.wicprof")["sass_missing"])

    def test_reports_a_module_that_was_not_saved(self):
        self.run_sampled(self.printing(), "forget")
        self.assertIn("did not save 1 of 1 modules", self.meta("t.wicprof")["sass_missing"])

    def test_removes_the_folder_of_a_killed_recorder(self):
        self.env["WICPROF_TRACE"] = "pcsampling"
        process = self.start("run", "-q", "-o", "t.wicprof", "--", "sh", "-c", 'echo "$WICPROF_MODULES"; sleep 1')
        folder = pathlib.Path(process.stdout.readline().strip())
        self.assertTrue(folder.is_dir())
        process.kill()
        self.finish(process)  # waits for the program, which holds the pipes
        self.assertTrue(folder.is_dir())
        self.wic_prof("sessions")
        self.assertFalse(folder.exists())


if __name__ == "__main__":
    harness.main()
