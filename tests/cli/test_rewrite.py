"""rewrite: verdicts about the loops of the PTX in a file, and the patched text."""

import json
import re
import shutil
import struct

import harness

FLAG = harness.SOURCE / "tests" / "cli" / "flag.ptx"  # one wait, and one wait that writes memory

NAMES = harness.SOURCE / "tests" / "cli" / "names.ptx"  # see names.cu

PTX_ENTRY, CUBIN_ENTRY = 1, 2


def fat_binary(*entries, options=b"", ptx_for=90):
    """Of pairs (kind, bytes), for sm_90, stored as they are."""
    payload = b""
    block = struct.pack("<II", 72, len(options)) + options + bytes(-len(options) % 8) if options else b""
    for kind, data in entries:
        data += bytes(-len(data) % 8)
        payload += struct.pack("<HHIQIIHHIIIQQQ", kind, 0x0101, 64 + len(block), len(data), 0, 64 if options else 0, 0,
                               9, ptx_for if kind == PTX_ENTRY else 90, 0, 0, 0x11, 0, 0) + block + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(payload)) + payload


def cubin(kernel):
    """A cubin for sm_90 with one kernel."""
    names = b"\0" + kernel.encode() + b"\0"
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 0, 0, 0)
    tables = 64 + len(names) + len(symbol)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 190, 1, 0, 0, tables, 90 << 8, 64, 0, 0, 64,
                         3, 0)
    sections = [(0, 0, 0, 0), (3, 64, len(names), 0), (2, 64 + len(names), len(symbol), 1)]
    return header + names + symbol + b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 8, 0) for kind, offset, size, link in sections)


def program(fat):
    """A program for this machine's CPU with device code, as far as `rewrite` reads it."""
    names = b"\0.nv_fatbin\0.shstrtab\0"
    tables = 64 + len(fat) + len(names)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0, 0, tables, 0, 64, 0, 0, 64, 3, 2)
    sections = [(0, 0, 0, 0), (1, 1, 64, len(fat)), (12, 3, 64 + len(fat), len(names))]
    return header + fat + names + b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 8, 0) for name, kind, offset, size in sections)


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
        first, second = document["modules"][0]["functions"][0]["loops"]
        self.assertEqual((first["verdict"], first["site"], first["source"]),
                         ("wait", 0, {"file": "/src/flag.cu", "line": 7}))
        self.assertEqual((first["wants"], second["wants"]), ("other than 0", None))
        self.assertEqual((first["name"], second["name"]), ("wait:7", None))
        self.assertEqual(first["polls"][0]["instruction"], "ld.volatile.global.u32")
        self.assertEqual((second["verdict"], second["site"]), ("wait_not_patchable", None))
        self.assertIn("st.volatile.global.u32", second["reason"])

    def names(self, file):
        """Of each loop that waits: its site's name, the line where it stands, and the line of its kernel."""
        document = json.loads(self.wic_prof("rewrite", file, "--format", "json").stdout)
        return [(loop["name"], "%s:%s" % (*loop["source"].values(),), loop["called_at"]["line"])
                for module in document["modules"] for function in module["functions"] for loop in function["loops"]
                if loop["verdict"] == "wait"]

    def test_names_waits_by_the_programs_own_lines(self):
        shutil.copy(NAMES, self.work)
        self.assertEqual(self.names("names.ptx"), [
            ("uses_atomic:21", "/src/names.cu:21", 21),
            ("uses_wait:28", "/src/names.cu:28", 28), ("uses_wait:28#2", "/src/names.cu:28", 28),  # one in the other
            ("uses_grid:34", "/src/names.cu:34", 34), ("uses_grid:36", "/src/names.cu:36", 36),
            ("twice:3", "/src/names.h:3", 41), ("twice:3#2", "/src/names.h:3", 43),
            ("twice:15", "/src/names.cu:15", 45), ("twice:15#2", "/src/names.cu:15", 47),
            ("instance:52", "/src/names.cu:52", 52), ("instance:52#2", "/src/names.cu:52", 52)])
        text = self.wic_prof("rewrite", "names.ptx").stdout
        self.assertRegex(text, r"site twice:3#2, .*/src/names\.h:3, called at /src/names\.cu:43: ")
        self.assertNotRegex(text, "site instance.*called at")

    def test_no_two_sites_of_a_program_have_one_name(self):
        ptx = NAMES.read_bytes()
        modules = [ptx + b"\0", ptx.replace(b".reg .pred", b".reg  .pred") + b"\0", FLAG.read_bytes() + b"\0"]
        (self.work / "app").write_bytes(program(fat_binary(*((PTX_ENTRY, each) for each in modules))))
        names = [name for name, _, _ in self.names("app")]
        self.assertEqual(len(set(names)), 2 * 11 + 1, names)
        self.assertEqual([name for name in names if name.startswith("twice:3")],
                         ["twice:3", "twice:3#2", "twice:3#3", "twice:3#4"])
        # run --rewrite leaves it as it is, so that it has no sites.
        left = program(fat_binary((PTX_ENTRY, modules[2]), options=b"-dlcm=cg"))
        (self.work / "app").write_bytes(left)
        self.assertEqual([name for name, _, _ in self.names("app")], [None])

    def test_writes_the_patched_text(self):
        result = self.wic_prof("rewrite", "flag.ptx", "-o", "patched.ptx")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        patched = (self.work / "patched.ptx").read_text()
        self.assertEqual(self.wic_prof("rewrite", "flag.ptx", "-o", "-").stdout, patched)
        self.assertIn("nanosleep", patched)
        original = re.sub(r"(?s)/\*__wic_begin\*/.*?/\*__wic_end\*/", "", patched)
        self.assertEqual(original, (self.work / "flag.ptx").read_text())
        self.assert_refused(self.wic_prof("rewrite", "flag.ptx", "-o", "patched.ptx"), 2, "patched.ptx", "-f")
        self.assert_refused(self.wic_prof("rewrite", "patched.ptx"), 2, "patched already")

    def test_reads_fat_binaries(self):
        ptx = FLAG.read_bytes() + b"\0"
        other = ptx.replace(b"_Z4wait", b"_Z4rest")
        (self.work / "two.fatbin").write_bytes(
            fat_binary((PTX_ENTRY, ptx), (PTX_ENTRY, other), (CUBIN_ENTRY, cubin("_Z4hardPi"))))
        result = self.wic_prof("rewrite", "two.fatbin")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = " ".join(result.stdout.split())
        self.assertIn("2 of 3 kernels have PTX, in 2 modules; loops: 2 wait, 2 wait_not_patchable", text)
        self.assertIn("kernel hard(int*) (sm_90)", text)
        self.assertIn("-gencode arch=compute_90,code=compute_90", text)

        document = json.loads(self.wic_prof("rewrite", "two.fatbin", "--format", "json").stdout)
        self.assertEqual(document["kernels"], {"with_ptx": 2, "machine_code_only": 1})
        self.assertEqual(document["machine_code_only"],
                         [{"name": "hard(int*)", "symbol": "_Z4hardPi", "architectures": [90]}])
        self.assertEqual([module["totals"]["wait"] for module in document["modules"]], [1, 1])

        self.assert_refused(self.wic_prof("rewrite", "two.fatbin", "-o", "-"), 2, "2 PTX modules", "--module")
        self.assert_refused(self.wic_prof("rewrite", "two.fatbin", "-o", "-", "--module", "2"), 2, "0 to 1")
        patched = self.wic_prof("rewrite", "two.fatbin", "-o", "-", "--module", "1").stdout
        self.assertIn("_Z4rest", patched)
        self.assertIn("nanosleep", patched)

        (self.work / "hard.cubin").write_bytes(cubin("_Z4hardPi"))
        self.assertIn("0 of 1 kernels have PTX", self.wic_prof("rewrite", "hard.cubin").stdout)
        self.assert_refused(self.wic_prof("rewrite", "hard.cubin", "-o", "-"), 2, "no PTX")
        (self.work / "cut.fatbin").write_bytes(fat_binary((PTX_ENTRY, ptx))[:-8])
        self.assert_refused(self.wic_prof("rewrite", "cut.fatbin"), 2, "cut.fatbin", "cut off")

    def test_shows_the_loop_beside_its_verdict(self):
        source = self.work / "flag.cu"
        source.write_text("\n" * 6 + "  while (*flag == 0) {}\n")
        ptx = FLAG.read_text().replace("/src/flag.cu", str(source))
        (self.work / "flag.ptx").write_text(ptx)
        result = self.wic_prof("rewrite", "flag.ptx", "--source")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("7    while (*flag == 0) {}\n", result.stdout)
        self.assertRegex(result.stdout, r"\n +\d+ .*ld\.volatile\.global\.u32")
        self.assertNotIn("ld.volatile", self.wic_prof("rewrite", "flag.ptx").stdout)

    def test_fails_on_a_verdict(self):
        for words, status in (["wait"], 1), (["wait_not_patchable"], 1), (["unknown"], 0), (["unknown,wait"], 1):
            result = self.wic_prof("rewrite", "flag.ptx", "--fail-on", *words)
            self.assertEqual((result.returncode, result.stderr), (status, ""), words)
            self.assertIn("1 wait", result.stdout)
        document = self.wic_prof("rewrite", "flag.ptx", "--fail-on", "wait", "--format", "json")
        self.assertEqual((document.returncode, json.loads(document.stdout)["totals"]["wait"]), (1, 1))
        self.assert_refused(self.wic_prof("rewrite", "flag.ptx", "--fail-on", "waits"), 2, "waits")

    def test_folds_nothing_in_a_pipe(self):
        path = "/a/" + "long/" * 60 + "flag.cu"
        (self.work / "flag.ptx").write_text(FLAG.read_text().replace("/src/flag.cu", path))
        lines = self.wic_prof("rewrite", "flag.ptx").stdout.splitlines()
        self.assertTrue(any(line.startswith("  wait, ") and path + ":7" in line for line in lines), lines)

    def test_breaks_no_path_on_a_terminal(self):
        """Others copy it, or their terminal makes a link of it."""
        folder = self.work / ("my folder " + "long" * 20)
        folder.mkdir()
        source = "/my src/" + "deep/" * 20 + "flag.cu"
        (folder / "flag.ptx").write_text(FLAG.read_text().replace("/src/flag.cu", source))
        text = self.wic_prof("rewrite", folder / "flag.ptx", "--source", env={"COLUMNS": "80"}).stdout
        self.assertGreater(len(text.splitlines()), 10)
        for path in str(folder / "flag.ptx"), source + ":7", source + ":9":
            self.assertIn(path, text)

    def test_says_what_to_do_next(self):
        (self.work / "kernel.cu").write_text("__global__ void k() {}\n")
        self.assert_refused(self.wic_prof("rewrite", "kernel.cu"), 2, "nvcc", "-ptx kernel.cu", "program")
        image = fat_binary((PTX_ENTRY, FLAG.read_bytes() + b"\0"))
        run = "wic-prof run --rewrite --ab -- ./app\n"
        app = self.work / "app"
        app.write_bytes(program(image))
        self.assertNotIn(run, self.wic_prof("rewrite", "app").stdout)
        app.chmod(0o755)
        self.assertIn(run, self.wic_prof("rewrite", "app").stdout)
        # The driver would compile it without that option.
        app.write_bytes(program(fat_binary((PTX_ENTRY, FLAG.read_bytes() + b"\0"), options=b"-dlcm=cg")))
        stays = self.wic_prof("rewrite", "app").stdout
        self.assertIn("run --rewrite leaves it as it is: it was compiled with -dlcm=cg", stays)
        self.assertNotIn(run, stays)
        # The command comes last, whatever else there is to say.
        hard = fat_binary((PTX_ENTRY, FLAG.read_bytes() + b"\0"), (CUBIN_ENTRY, cubin("_Z4hardPi")))
        app.write_bytes(program(hard))
        self.assertTrue(self.wic_prof("rewrite", "app").stdout.endswith(run))

    def test_says_what_run_rewrite_leaves_alone(self):
        app = self.work / "app"

        def left_alone(*entries, **options):
            app.write_bytes(program(fat_binary(*entries, **options)))
            module = json.loads(self.wic_prof("rewrite", "app", "--format", "json").stdout)["modules"][0]
            return module["left_alone"], module["later_machine_code"], self.wic_prof("rewrite", "app").stdout

        ptx, code = FLAG.read_bytes(), (CUBIN_ENTRY, cubin("_Z4waitPj"))
        why, later, text = left_alone((PTX_ENTRY, ptx + b"\0"), code)
        self.assertEqual((why, later), ("", []))
        self.assertNotIn("leaves it", text)
        why, later, text = left_alone((PTX_ENTRY, ptx + b"\0"), code, ptx_for=80)
        self.assertEqual((why, later), ("", [90]))
        self.assertIn("leaves it as it is on sm_90, for which there is later machine code\n", text)
        why, _, text = left_alone((PTX_ENTRY, ptx.replace(b"_Z4wait", b"_ZN3wic4waitE") + b"\0"))
        self.assertEqual(why, "its kernels wait through wic")
        self.assertIn("run --rewrite leaves it as it is: its kernels wait through wic\n", text)
        why, _, _ = left_alone((PTX_ENTRY, ptx + b"//" + b"x" * (2 << 20) + b"\0"))
        self.assertIn("bytes, more than 2097152", why)

    def test_refuses_what_is_no_ptx(self):
        (self.work / "text.ptx").write_text("hello\n")
        self.assert_refused(self.wic_prof("rewrite", "text.ptx"), 2, "text.ptx", "line 1")
        self.assert_refused(self.wic_prof("rewrite", "absent.ptx"), 2, "absent.ptx")
        self.assert_refused(self.wic_prof("rewrite", "."), 2, "folder")
        (self.work / "empty.ptx").write_text("")
        self.assert_refused(self.wic_prof("rewrite", "empty.ptx"), 2, "empty.ptx")


if __name__ == "__main__":
    harness.main()
