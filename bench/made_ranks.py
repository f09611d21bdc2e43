"""Made traces of an MPI program, one per rank, whose late rank is known: for tests and benchmarks of many ranks.

In each step, a rank works, sends to the next rank, receives from the one before, works, and meets all others in an
MPI_Allreduce. One rank works longer in some steps. Ranks of one machine share a clock; each machine has its own.
"""

import random
import shutil
import sqlite3

SEND, RECV, ALLREDUCE = 4, 6, 22  # docs/schema.md, mpi_call
WORLD = 0x77
BASE, NOISE, LATENCY = 1_000_000, 40_000, 3_000  # ns: a step's work, the most that it varies, a message's way
BEGIN = 10**12


class Job:
    def __init__(self, template, ranks, steps, per_host=8, late=None, late_ns=300_000, late_every=1, seed=1):
        """`template`: a trace of any program, recorded by the wic-prof to be tested."""
        self.template, self.ranks, self.steps, self.per_host, self.seed = template, ranks, steps, per_host, seed
        self.late, self.late_ns, self.late_every = late, late_ns, late_every
        entered = [0] * steps  # of the last rank, from the step's begin
        left = self.halves(ranks - 1)
        for rank in range(ranks):
            own = self.halves(rank)
            for step, times in enumerate(self.step_times(own, left)):
                if times[-1] > entered[step]:
                    entered[step] = times[-1]
            left = own
        self.begins = [BEGIN]
        for length in entered:
            self.begins.append(self.begins[-1] + length + LATENCY)

    def halves(self, rank):
        """By step, half of the rank's work."""
        draw = random.Random(self.seed * 1_000_003 + rank).random
        halves = [(BASE + int(NOISE * draw())) // 2 for _ in range(self.steps)]
        if rank == self.late:
            for step in range(0, self.steps, self.late_every):
                halves[step] += self.late_ns
        return halves

    @staticmethod
    def step_times(own, left):
        """By step, from its begin: when the rank sends, has sent, has received, and enters the collective."""
        for mine, theirs in zip(own, left):
            sent = mine + 1_000
            received = max(sent, theirs + LATENCY)
            yield mine, sent, received, received + mine

    def host(self, rank):
        return rank // self.per_host

    def rows(self, rank):
        """Of mpi_call: operation, communicator, sequence, peer, tag, bytes, begin and end in true time."""
        right, left = (rank + 1) % self.ranks, (rank - 1) % self.ranks
        for step, times in enumerate(self.step_times(self.halves(rank), self.halves(left))):
            begin = self.begins[step]
            sends, sent, received, enters = (begin + at for at in times)
            yield SEND, WORLD, step + 1, right, 5, 8192, sends, sent
            yield RECV, WORLD, step + 1, left, 5, 8192, sent, received
            yield ALLREDUCE, WORLD, step + 1, None, None, 64, enters, self.begins[step + 1]

    def write(self, path, rank):
        shutil.copy(self.template, path)
        host, pid = self.host(rank), 1000 + rank % self.per_host
        clock = (host * 7_919_000_000_007) % 10**14  # what the machine's clock shows more than the first one's
        with sqlite3.connect(path, isolation_level=None) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = MEMORY")
            database.execute("BEGIN")
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                if table not in ("meta", "string") and not table.startswith("sqlite_"):
                    database.execute(f"DELETE FROM {table}")
            end = self.begins[-1] + clock
            for key, value in {"host": f"node{host}", "started_ns": BEGIN + clock, "ended_ns": end, "app": "made",
                               "command": "made", "state": "complete", "app_status": 0}.items():
                database.execute("REPLACE INTO meta (id, key, value) VALUES ((SELECT id FROM meta WHERE key = ?1), ?1, "
                                 "?2)", (key, str(value)))
            database.execute("DELETE FROM meta WHERE key = 'started_utc'")
            texts = {text: 1_000_000 + number for number, text in enumerate(("made", "step_kernel", "MPI_COMM_WORLD"))}
            database.executemany("INSERT INTO string (id, value) VALUES (?2, ?1)", texts.items())
            database.execute("INSERT INTO process (id, parent, name_id, command_id, rank, seen_ns) VALUES (?, 1, ?, ?, "
                             "?, ?)", (pid, texts["made"], texts["made"], rank, BEGIN + clock))
            database.execute("INSERT INTO mpi_communicator (process_id, communicator, name_id, rank, size, world_rank) "
                             "VALUES (?, ?, ?, ?, ?, ?)",
                             (pid, WORLD, texts["MPI_COMM_WORLD"], rank, self.ranks, rank))
            database.executemany(
                "INSERT INTO mpi_call (process_id, operation, communicator, sequence, peer, tag, bytes, thread, "
                "begin_ns, end_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((pid, *row[:6], pid, row[6] + clock, row[7] + clock) for row in self.rows(rank)))
            halves = self.halves(rank)
            others = [name for _, name, _, known, *_ in database.execute("PRAGMA table_info(kernel)")
                      if known and name not in ("id", "start_ns", "end_ns")]
            database.executemany(
                f"INSERT INTO kernel (process_id, name_id, start_ns, end_ns, {', '.join(others)}) "
                f"VALUES (?, ?, ?, ?, {', '.join('0' for _ in others)})",
                ((pid, texts["step_kernel"], self.begins[step] + clock + 1_000, self.begins[step] + clock + half)
                 for step, half in enumerate(halves)))
            database.execute("COMMIT")
        database.close()
