"""Names that would control a terminal, are no UTF-8, or would be run by a shell: of programs, files, folders, keys and
in traces. What wic-prof prints and writes is plain text, and the commands that it prints mean these names."""

import json
import os
import re
import shutil
import sqlite3
import subprocess

import harness

HOSTILE = b"\x1b]0;owned\x07 \xc2\x9b31m \x9b \xff \xe2\x80\xae \x7f\r $(touch owned) `touch owned` 'q' \xc3\xa9"
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SHELL = shutil.which("bash")  # $'...' is not in every sh


class Names(harness.Case):
    def wic_prof_bytes(self, *words, **options):
        options.setdefault("cwd", self.work)
        return subprocess.run([harness.WICPROF.encode(), *map(os.fsencode, words)], env=self.env, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT, **options)

    def assert_plain(self, data):
        text = data.decode().replace("\r\n", "\n")  # fails where it is no UTF-8
        self.assertEqual(CONTROL.findall(text), [], text)
        return text

    def plain(self, *words, **options):
        result = self.wic_prof_bytes(*words, **options)
        return result.returncode, self.assert_plain(result.stdout), self.assert_plain(result.stderr)

    def meanings(self, text):
        """The words of each command of wic-prof in the text, as a shell reads them."""
        if not SHELL:
            self.skipTest("needs bash")
        stub = self.work / "stub"
        stub.mkdir(exist_ok=True)
        (stub / "wic-prof").write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n")
        (stub / "wic-prof").chmod(0o755)
        words = []
        for command in re.findall(r"wic-prof (?:analyze|compare|toggle|run|gui|report) .*", text.replace("\\\n", "")):
            result = subprocess.run([SHELL, "-c", command], cwd=self.work, capture_output=True,
                                    env={**self.env, "PATH": f"{stub}:{self.env['PATH']}"}, timeout=harness.TIMEOUT)
            words.append(result.stdout.split(b"\0")[:-1])
        self.assertFalse((self.work / "owned").exists(), text)
        return words

    def test_of_a_program_and_its_arguments(self):
        program = os.fsencode(self.work) + b"/" + HOSTILE.replace(b"/", b"")
        shutil.copy(harness.TRACED_APP, program)
        status, _, err = self.plain("run", "-f", "-o", "t.wicprof", "--", program, "--waits", "3", b"--arg", HOSTILE)
        self.assertNotEqual(status, 3, err)
        for verb in (["analyze"], ["analyze", "--format=json"], ["analyze", "--verbose"], ["why"], ["why", "--verbose"],
                     ["report", "--format", "html", "-o", "-"], ["report", "--format", "md", "-o", "-"],
                     ["report", "--format", "csv", "-o", "-"], ["report", "--format", "json", "-o", "-"],
                     ["report", "--format", "perfetto", "-o", "-"]):
            status, out, err = self.plain(*verb, "t.wicprof")
            self.assertEqual(status, 0, err)
            if out.startswith("{"):
                json.loads(out)

    def test_of_programs_files_and_folders_that_are_missing(self):
        for command in ([b"run", b"--", HOSTILE], [b"run", b"--", b"./" + HOSTILE], [b"analyze", HOSTILE],
                        [b"compare", HOSTILE, HOSTILE], [b"report", HOSTILE, b"-o", b"x"], [b"rewrite", HOSTILE],
                        [b"gui", HOSTILE], [b"why", HOSTILE], [b"why", b"--", HOSTILE], [b"explain", HOSTILE],
                        [HOSTILE], [b"analyze", b"--" + HOSTILE],
                        [b"toggle", b"park", b"--session", HOSTILE], [b"toggle", HOSTILE],
                        [b"stuck", b"--session", HOSTILE], [b"ci", b"--config", HOSTILE, b"--", b"true"],
                        [b"run", b"-o", HOSTILE + b"/t", b"--", b"true"],
                        [b"run", b"--schedule", HOSTILE, b"--", b"true"], [b"demo", b"--recorded", HOSTILE]):
            with self.subTest(command=command):
                status, _, err = self.plain(*command)
                self.assertIn(status, (1, 2, 3), err)
                self.assertEqual(len(err.splitlines()), 1, err)  # no line break in a name looks like a message

    def test_of_keys_of_a_configuration(self):
        hostile = HOSTILE.decode("utf-8", "replace")
        escaped = "".join(f"\\u{ord(c):04x}" for c in hostile)
        for text in (f'"{escaped}" = 1', f'[run]\n"{escaped}" = 1', f'[limits."{escaped}"]\np99 = "{escaped}"',
                     f'[run]\nrepeat = "{escaped}"', "[run\x1b]0;owned\x07"):
            (self.work / "ci.toml").write_text(text)
            status, _, err = self.plain("ci", "--config", "ci.toml", "--", harness.TRACED_APP)
            self.assertEqual(status, 2, err)

    def test_commands_with_the_name_of_a_trace(self):
        for name in ("$(touch owned).wicprof", "`touch owned`.wicprof", "a'$(touch owned)'b.wicprof",
                     "a b; touch owned.wicprof", "x\n$(touch owned).wicprof", "=ls.wicprof", "\udcff\x1b[31m.wicprof"):
            with self.subTest(name=name):
                trace = os.fsencode(name)
                status, _, err = self.plain(b"run", b"-f", b"-o", trace, b"--", harness.TRACED_APP, "--waits", "3")
                self.assertEqual(status, 0, err)
                self.assertIn([b"analyze", trace], self.meanings(err))
                _, out, _ = self.plain("analyze", trace)
                _, page, _ = self.plain("report", "--format", "html", "-o", "-", trace)
                unescaped = page.replace("&#39;", "'").replace("&quot;", '"').replace("&gt;", ">").replace("&amp;", "&")
                for words in self.meanings(out) + self.meanings(re.sub("</code>", "\n", unescaped)):
                    self.assertFalse(any(b"touch owned" in word and word != trace for word in words), words)

    def test_a_program_that_is_not_executable(self):
        name = "$(touch owned)"
        (self.work / name).write_text("")
        _, _, err = self.plain("run", "--", "./" + name)
        command = err[err.index("chmod"):]
        subprocess.run([SHELL or "sh", "-c", command], cwd=self.work, timeout=harness.TIMEOUT)
        self.assertFalse((self.work / "owned").exists())
        self.assertTrue(os.access(self.work / name, os.X_OK))

    def test_in_a_trace_of_others(self):
        self.record("t.wicprof", "--waits", "40")
        with sqlite3.connect(self.work / "t.wicprof") as database:
            database.execute("UPDATE string SET value = CAST(? AS TEXT) WHERE value IN "
                             "(SELECT s.value FROM string s JOIN site ON site.name_id = s.id)",
                             (b"|cmd " + HOSTILE,))
            database.execute("UPDATE meta SET value = CAST(? AS TEXT) WHERE key IN ('command', 'app', 'host')",
                             (b"./app $(touch owned) ; touch owned " + HOSTILE,))
        for verb in (["analyze"], ["analyze", "--format=json"], ["analyze", "--verbose"],
                     *(["report", "--format", each, "-o", "-"] for each in ("html", "md", "csv", "json", "perfetto"))):
            with self.subTest(verb=verb):
                status, out, err = self.plain(*verb, "t.wicprof")
                self.assertEqual(status, 0, err)
                self.meanings(re.sub("</code>", "\n", out))
                if "csv" in verb:
                    self.assertNotRegex(out, r'(^|,)"?\|')
        for verb in (["compare", "t.wicprof", "t.wicprof"], ["compare", "--format=json", "t.wicprof", "t.wicprof"]):
            _, out, _ = self.plain(*verb)
            self.meanings(out)

    def test_of_the_folder_of_a_session(self):
        folder = os.fsencode(self.work) + b"/" + HOSTILE
        os.mkdir(folder)
        process = self.start_app(run_options=("--name", "here"), cwd=folder)
        for verb in (["toggle", "park"], ["toggle", "poll", "--format=json"], ["sessions"],
                     ["sessions", "--format=json"], ["stuck", "--session", "here"]):
            status, _, err = self.plain(*verb, cwd=folder)
            self.assertEqual(status, 0, err)
        self.interrupt(process)


if __name__ == "__main__":
    harness.main()
