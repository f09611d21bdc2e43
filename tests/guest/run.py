"""Asks each question of tests/guest of the bare program, and of the same under wic-prof in each of its ways.

run.py BUILD_DIR [-o OUT.json] [NAME...]: at most 8 minutes on a GPU; needs BUILD_DIR/bin with wic-prof and the programs
of the target `guest`. NAME: a theme (streams), a question (streams.fed_by_another) or a way (hybrid); by default all.
run.py BUILD_DIR --without-gpu PROGRAM CUPTI [NAME...]: the same for the program whose driver is the tests' own, with
the tests' CUPTI; of its questions, those that do not ask about an end share a process.
Prints a line per question and way that differs, with what was expected and what was seen, then the counts. A question
whose answer is not what its program states when it runs bare is a wrong question, and is listed apart.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
import result_file  # noqa: E402

LONGEST = 20  # seconds for one process; only a hang takes this long
BUDGET = 470  # seconds for all
AT_ONCE = 12   # processes that share the GPU where nothing is about time
PARKED = ["--mode=park", "--side=host"]
WAYS = {
    "bare": None,
    "recorded": [],
    "hybrid": [*PARKED, "--strategy=hybrid"],
    "block": [*PARKED, "--strategy=block"],
    "spin": [*PARKED, "--strategy=spin"],
    "toggled": ["--schedule=" + ",".join(["poll:5ms,park:5ms"] * 600), "--side=host"],
    "rewrite": ["--rewrite"],
    "dormant": None,
    "attached": None,
}
# What wic-prof itself may leave in the program beyond what it had when the question began: its threads that start with
# the first wait, their descriptors, and what CUPTI allocates on the GPU.
MORE_LEFT = {"threads": 5, "descriptors": 4, "files": 0, "memory": 8 << 20}
# More where a recording began after the question's first look, or goes on.
ATTACHED_MORE = {"threads": 4, "resident_kb": 2048}
# Patched loops have a thread that calls the driver, and one that never does.
REWRITE_MORE = {"threads": 1}
START = 10  # per cent that a time may be longer
# The driver denies these to a process that CUPTI has been in, also after cuptiFinalize: asked where it never was.
DENIED_BY_CUPTI = {"driver.put_away_and_brought_back": ["dormant"], "driver.dumped_after_a_fault": ["dormant"]}


class Question:
    def __init__(self, theme, program, words):
        name, status, alone, gpus = words.split()
        self.name, self.theme, self.program = f"{theme}.{name}", theme, program
        self.status, self.alone, self.gpus = int(status), alone == "1", int(gpus)
        self.words = [name]


class Answer:
    """What one process said."""

    def __init__(self, status, text, errors, seconds):
        self.status, self.errors, self.seconds = status, errors, seconds
        lines = text.splitlines()
        self.digest = [line for line in lines if line.split(" ")[0] not in ("TIME", "LEFT", "GREW")]
        self.wrong = [line for line in self.digest if ", not " in line]
        self.times, self.left, self.grew = {}, {}, {}
        for line in lines:
            if found := re.fullmatch(r"TIME (.*) ([\d.]+) ([\d.]+)", line):
                self.times.setdefault((found[1], float(found[3])), []).append(float(found[2]))
            if line.startswith("LEFT "):
                for key, value in re.findall(r"(\w+)=(-?\d+)", line):
                    self.left[key] = self.left.get(key, 0) + int(value)
            if found := re.fullmatch(r"GREW (\w+) (-?\d+) (\d+)", line):
                self.grew[found[1]] = int(found[2]), int(found[3])


def end_session(session):
    """Kills all processes of a session: wic-prof puts the program into a process group of its own."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:  # it has ended
            pass


def attach_again(build, process, folder):
    """Attaches to the program and leaves it, over and over, until it ends."""
    while process.poll() is None:
        subprocess.run([str(build / "bin/wic-prof"), "attach", str(process.pid), "-q", "-f", "-o",
                        str(folder / "trace/t.wicprof"), "--for=20ms", "--buffer-size=4"], cwd=folder / "work",
                       env={**os.environ, "XDG_RUNTIME_DIR": str(folder / "runtime")}, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.005)  # it has not used CUDA yet


def run(build, question, way, longest=LONGEST):
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="guest-"))
    for name in ("work", "runtime", "trace"):
        (folder / name).mkdir(mode=0o700)
    words = [str(question.program), *question.words]
    if WAYS[way] is not None:
        words = [str(build / "bin/wic-prof"), "run", "-q", "-f", "-o", str(folder / "trace/t.wicprof"), *WAYS[way],
                 "--", *words]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder / "runtime")}
    if way in ("dormant", "attached"):
        environment["CUDA_INJECTION64_PATH"] = str(build / "lib/libwicprof_inject.so")
    process = subprocess.Popen(words, cwd=folder / "work", env=environment, text=True, errors="replace",
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    attaching = threading.Thread(target=attach_again, args=(build, process, folder))
    if way == "attached":
        attaching.start()
    try:
        text, errors = process.communicate(timeout=longest)
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        text, errors = process.communicate()
        status = "no end"
    if way == "attached":
        attaching.join()
    shutil.rmtree(folder, ignore_errors=True)
    return Answer(status, text, errors, time.monotonic() - began)


def longer(bare, seen):
    """The times that are beyond their bounds, as texts; both lists of answers give medians."""
    texts, worst = [], 0
    for key in bare[0].times:
        expected, got = (statistics.median(ms for one in some for ms in one.times.get(key, [float("inf")]))
                         for some in (bare, seen))
        worst = max(worst, got / expected if expected else 1)
        if got > expected * (1 + START / 100) + key[1]:
            texts.append(f"{key[0]} took {got:.3g} ms, bare {expected:.3g} (at most {key[1]:g} ms and {START} % more)")
    return texts, worst


def by_question(digest):
    """The lines of each question that the process was asked."""
    sections, lines = {}, []
    for line in digest:
        if line.startswith("== "):
            lines = sections.setdefault(line[3:], [])
        else:
            lines.append(line)
    return sections


def first_differences(expected, got):
    """Of each question that differs, as texts."""
    expected, got = by_question(expected), by_question(got)
    for question, lines in expected.items():
        seen = got.get(question, [])
        for pair in itertools.zip_longest(lines, seen, fillvalue="nothing more"):
            if pair[0] != pair[1]:
                yield f"{question}: expected '{pair[0]}', seen '{pair[1]}'"
                break


def differences(build, question, way, bare, longest):
    """Texts that say how the way is not as bare, and the worst ratio of times."""
    seen = run(build, question, way, longest)
    texts = []
    if seen.status != bare.status:
        texts.append(f"status {seen.status}, expected {bare.status}: {seen.errors.strip()[-300:]}")
    if seen.digest != bare.digest:
        # Lines of several threads have no order of their own, if they have several bare.
        same_lines = sorted(seen.digest) == sorted(bare.digest)
        has_order = way != "attached"  # which can hold up a call for some milliseconds
        if not same_lines or (has_order and all(run(build, question, "bare").digest == bare.digest for _ in range(3))):
            texts += first_differences(bare.digest, seen.digest)
    more = {"attached": ATTACHED_MORE, "rewrite": REWRITE_MORE}.get(way, {})
    for key, most in MORE_LEFT.items():
        most += more.get(key, 0)
        if key in bare.left and seen.left.get(key, bare.left[key]) - bare.left[key] > most:
            texts.append(f"left {seen.left[key]} {key} more than it found, bare {bare.left[key]}")
    for key, (grown, most) in seen.grew.items():
        most += more.get(key, 0)
        if grown - bare.grew.get(key, (0, 0))[0] > most:
            texts.append(f"{key} grew by {grown}, bare {bare.grew[key][0]} (at most {most} more)")
    late, ratio = longer([bare], [seen])
    if late and seen.status == bare.status:
        again = [(run(build, question, "bare"), run(build, question, way)) for _ in range(2)]
        late, ratio = longer([bare, *(pair[0] for pair in again)], [seen, *(pair[1] for pair in again)])
    return texts + late, ratio


def listed(program, theme):
    text = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return [Question(theme, program, words) for words in text.splitlines()]


class Suite:
    def __init__(self, options):
        self.build = options.build.resolve()
        names = set(options.names)
        self.ways = [way for way in WAYS if way != "bare" and (not names & set(WAYS) or way in names)]
        names -= set(WAYS)
        gpus = subprocess.run("nvidia-smi -L", shell=True, capture_output=True, text=True,
                              check=False).stdout.count("GPU ")
        MORE_LEFT["descriptors"] += max(gpus - 1, 0)
        self.at_once, self.longest = AT_ONCE, None  # None: by how long the bare program takes
        if options.without_gpu:
            program, cupti = (str(pathlib.Path(word).resolve()) for word in options.without_gpu)
            os.environ.update(WICPROF_CUPTI_PATH=cupti, WICPROF_FLUSH_MS="10", WICPROF_TEST_CUPTI="")
            gpus, self.at_once = 1, len(os.sched_getaffinity(0))
            questions = listed(program, "without_gpu")
        else:
            questions = [question for program in sorted((self.build / "bin").glob("guest_*"))
                         if program.name not in ("guest_without_gpu", "guest_with_sanitizer")
                         for question in listed(program, program.name.removeprefix("guest_"))]
        questions = [question for question in questions if not names or {question.theme, question.name} & names]
        questions = [question for question in questions if self.ways_of(question)]
        self.questions = [question for question in questions if question.gpus <= gpus]
        self.skipped = len(questions) - len(self.questions)
        if options.without_gpu:
            together = [question for question in self.questions if not question.alone]
            for question in together[1:]:
                together[0].words += question.words
                together[0].name = "without_gpu.together"
            self.questions = together[:1] + [question for question in self.questions if question.alone]
            for question in self.questions:  # none is about time, on a machine that may be busy
                question.alone = False
            self.longest = 3 * LONGEST
        self.end = time.monotonic() + BUDGET
        self.rows, self.wrong, self.failures, self.late = [], 0, 0, []

    def ways_of(self, question):
        return [way for way in self.ways if way in DENIED_BY_CUPTI.get(question.name, self.ways)]

    def ask(self, question):
        """The result row, and the lines to print."""
        if time.monotonic() > self.end:
            self.late.append(question.name)
            return None, []
        lines, ways, worst = [], {}, 0
        bare = run(self.build, question, "bare")
        if bare.status != question.status or bare.wrong:
            self.wrong += 1
            stated = f"status {bare.status}, stated {question.status}; " if bare.status != question.status else ""
            lines.append(f"WRONG QUESTION {question.name}: bare: {stated}{'; '.join(bare.wrong)} "
                         f"{bare.errors.strip()[-300:]}".rstrip())
        longest = self.longest or min(LONGEST, 8 + 4 * bare.seconds)
        asked = self.ways_of(question)
        for way in asked if bare.status != "no end" else []:
            texts, ratio = differences(self.build, question, way, bare, longest)
            worst = max(worst, ratio)
            ways[way] = "; ".join(texts) or "as bare"
            if texts:
                lines.append(f"DIFFERS {question.name} {way}: {ways[way]}")
        same = sum(text == "as bare" for text in ways.values())
        self.failures += len(ways) - same
        params = {"as_stated": bare.status == question.status and not bare.wrong, **ways}
        if worst:
            params["slowest"] = worst  # of its times, the largest ratio to bare
        return {"name": question.name, "params": params, "value": same, "unit": "ways as bare", "compared_to": "bare",
                "ratio": same / len(asked), "bar": 1, "holds": same == len(asked)}, lines

    def keep(self, answer):
        row, lines = answer
        if lines:
            print("\n".join(lines), flush=True)
        if row is not None:
            self.rows.append(row)

    def run(self):
        together = [question for question in self.questions if not question.alone]
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            for answer in pool.map(self.ask, together):
                self.keep(answer)
        for question in self.questions:
            if question.alone:
                self.keep(self.ask(question))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--without-gpu", nargs=2, metavar=("PROGRAM", "CUPTI"))
    result_file.add_arguments(parser)
    options = parser.parse_intermixed_args()
    began = time.monotonic()
    suite = Suite(options)
    suite.run()
    print(f"{len(suite.rows)} questions in {len(suite.ways)} ways: {suite.failures} differ, "
          f"{suite.wrong} questions wrong, "
          f"{suite.skipped} skipped for lack of GPUs, {len(suite.late)} for lack of time, "
          f"{time.monotonic() - began:.0f} s")
    result_file.name_gpu(options)
    if options.output != "-":
        result_file.write(options, "guest", "python3 tests/guest/run.py build " + " ".join(options.names), suite.rows)
    return 0 if suite.rows and not (suite.failures or suite.wrong or suite.late) else 1


sys.exit(main())
