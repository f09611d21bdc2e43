"""Programs that overwrite the memory that they share with wic-prof, and files of sessions that somebody truncates:
wic-prof passes on the program's exit status and completes the trace."""

import json
import os
import subprocess
import sys
import unittest

import harness

# Writes numbers at random into the session: its header, its rings' headers and their first records.
OVERWRITE = """
import mmap, os, random, struct, sys
random.seed(int(sys.argv[1]))
with open(os.environ["WICPROF_SESSION"], "rb") as file:
    _, pid, number = struct.unpack("<Qii", file.read(16))
with open(f"/proc/{pid}/fd/{number}", "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
    classes = struct.unpack_from("<8Q", memory, 16)  # count and capacity of each
    offset, = struct.unpack_from("<Q", memory, 96)
    rings, begin = [], offset
    for count, capacity in zip(classes[::2], classes[1::2]):
        for _ in range(count):
            rings.append((begin, min(capacity, 16384)))
            begin += 256 + capacity
    for _ in range(60000):
        ring, room = random.choice(rings[:16])
        at = random.choice((random.randrange(0, offset, 8), ring + random.randrange(0, 256, 8),
                            ring + 256 + random.randrange(0, room, 8)))
        value = random.choice((random.getrandbits(64), random.randrange(0, 65536, 8), 0, 2**63,
                               random.randrange(40) | random.randrange(0, 600) * 8 << 16,
                               (os.getpid() if random.random() < 0.5 else random.getrandbits(31))))
        struct.pack_into("<Q", memory, at, value)
    struct.pack_into("<I", memory, 140, 16)  # rings that producers have claimed: only these are read
sys.exit(7)
"""

TRUNCATE = """
import os, sys, time
os.truncate(os.environ["WICPROF_SESSION"], 0)
time.sleep(0.5)
sys.exit(7)
"""


class HostileProgram(harness.Case):
    def expect_survival(self, *command):
        result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", sys.executable, "-c", *command)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        analyzed = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertEqual(analyzed.returncode, 0, analyzed.stderr)
        return json.loads(analyzed.stdout)

    def test_overwrites_the_shared_memory(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                answer = self.expect_survival(OVERWRITE, seed)
                self.assertIn("ring_corrupt", [loss["name"] for loss in answer["loss"]])

    def test_truncates_the_session_file(self):
        answer = self.expect_survival(TRUNCATE)
        lost = [loss for loss in answer["loss"] if loss["name"] == "ring_corrupt"]
        self.assertIn("truncated", json.dumps(lost))


class CutFile(harness.Case):
    """The memory of a session is not its file: nothing is lost with that."""

    def recorded(self, script, prefix=()):
        """Runs a script; returns the processes whose waits were recorded, all of them."""
        done = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", *prefix, "sh", "-c", script)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        counts = self.query("t.wicprof",
                            "SELECT count(*), max(iteration) FROM wait WHERE site_id = 1 GROUP BY process_id")
        self.assertTrue(all(count == last for count, last in counts), counts)
        return len(counts)

    def test_while_a_program_waits(self):
        for cut in (': > "$WICPROF_SESSION"', 'truncate -s 4 "$WICPROF_SESSION"', 'echo nonsense > "$WICPROF_SESSION"',
                    'rm "$WICPROF_SESSION"'):
            with self.subTest(cut=cut):
                self.assertEqual(self.recorded(f"{harness.TRACED_APP} --seconds 0.4 --status 7 & sleep 0.1; {cut}; "
                                               "wait $!"), 1)

    def test_programs_that_start_afterwards(self):
        one = f"{harness.TRACED_APP} --seconds 0.1"
        self.assertEqual(self.recorded(f'{one}; : > "$WICPROF_SESSION"; {one} --ignore-toggles; {one}; exit 7'), 3)

    @unittest.skipUnless(os.geteuid() == 0 and subprocess.run(["unshare", "-p", "-f", "--mount-proc", "true"],
                                                              capture_output=True).returncode == 0,
                         "needs the right to make namespaces")
    def test_programs_that_do_not_see_the_tools_process(self):
        for prefix in (["unshare", "-p", "-f", "--mount-proc"],
                       ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"],
                       ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]):
            with self.subTest(prefix=prefix):
                self.assertEqual(self.recorded(f"{harness.TRACED_APP} --seconds 0.2 --status 7", prefix), 1)


if __name__ == "__main__":
    harness.main()
