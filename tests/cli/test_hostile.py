"""A program that overwrites the memory that it shares with wic-prof, or truncates the file of that memory: wic-prof
passes on the program's exit status and completes the trace."""

import json
import sys
import unittest

import harness

# Writes numbers at random into the session: its header, its rings' headers and their first records.
OVERWRITE = """
import mmap, os, random, struct, sys
random.seed(int(sys.argv[1]))
with open(os.environ["WICPROF_SESSION"], "r+b") as file:
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


if __name__ == "__main__":
    unittest.main()
