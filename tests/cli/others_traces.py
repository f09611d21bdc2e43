"""Makes files as Nsight Systems, torch.profiler and PyTorch's Flight Recorder write them, for the tests of import."""

import gzip
import json
import pickle
import sqlite3

SHIFT = 5_000_000_000  # of Nsight's times, which count from the session's start
UTC = 1_700_000_000_000_000_000
QUARTER = 7_889_238_000_000_000  # in ns: Kineto's times count from a multiple
BASE = UTC // QUARTER * QUARTER
SECRET = "hunter2-in-the-environment"
COPY_KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "UvmHtoD": 11}


def pid_bits(pid, tid=0):
    return (1 << 48) | (pid << 24) | tid


class Nsys:
    """A database with the tables and columns that a version of the schema has."""

    def __init__(self, path, version="3.24.7"):
        self.path, self.version = path, tuple(map(int, version.split(".")))
        self.strings, self.database = {}, sqlite3.connect(path)
        newer, since = self.version >= (3, 4, 0), lambda *wanted: self.version >= wanted
        # Up to 3.1 the table of the export has another name.
        self.make("META_DATA_EXPORT" if newer else "EXPORT_META_DATA", "name", "value")
        self.put("META_DATA_EXPORT" if newer else "EXPORT_META_DATA", "EXPORT_SCHEMA_VERSION", version)
        self.put("META_DATA_EXPORT" if newer else "EXPORT_META_DATA", "EXPORT_PRODUCT_VERSION", "2026.1")
        self.database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        monotonic = ["systemClockNs"] if since(3, 24, 7) else []
        self.make("TARGET_INFO_SESSION_START_TIME", "utcEpochNs", *monotonic)
        self.put("TARGET_INFO_SESSION_START_TIME", UTC, *([SHIFT] if monotonic else []))
        self.make("ANALYSIS_DETAILS", "duration", "startTime")
        self.put("ANALYSIS_DETAILS", 10**9, SHIFT)
        self.make("TARGET_INFO_SYSTEM_ENV", "name", "value")
        self.put("TARGET_INFO_SYSTEM_ENV", "DeviceEnvironment", f"HF_API_KEY={SECRET};PATH=/bin")
        self.make("PROCESSES", "globalPid", "pid", "name")
        green = ["greenContextId"] if since(3, 17, 2) else []
        on_device = ["start", "end", "deviceId", "contextId", *green, "streamId", "correlationId", "globalPid"]
        self.columns = {
            "KERNEL": [*on_device, "demangledName", "shortName", "registersPerThread", "gridX", "gridY", "gridZ",
                       "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory",
                       "localMemoryPerThread", "graphNodeId", *(["graphId", "clusterX"] if since(3, 24, 0) else [])],
            "MEMCPY": [*on_device, "bytes", "copyKind", "srcKind", "dstKind"],
            "RUNTIME": ["start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue"],
            "SYNCHRONIZATION": [*on_device, "syncType", "eventId", *(["eventSyncId"] if since(3, 17, 2) else [])],
        }

    def make(self, table, *columns):
        self.database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")

    def put(self, table, *values):
        self.database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 10
            self.put("StringIds", self.strings[text], text)
        return self.strings[text]

    def activity(self, kind, **values):
        table = f"CUPTI_ACTIVITY_KIND_{kind}"
        if not self.database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            self.make(table, *self.columns[kind])
        self.put(table, *(values.get(column, 0) for column in self.columns[kind]))

    def process(self, pid, name):
        self.put("PROCESSES", pid_bits(pid), pid, name)

    def kernel(self, name, start, end, pid=100, **more):
        self.activity("KERNEL", start=start, end=end, globalPid=pid_bits(pid), demangledName=self.string(name),
                      shortName=self.string(name), **{"gridX": 4, "gridY": 1, "gridZ": 1, "blockX": 64, "blockY": 1,
                                                      "blockZ": 1, "streamId": 7, **more})

    def call(self, name, start, end, correlation=0, pid=100, tid=101):
        self.activity("RUNTIME", start=start, end=end, globalTid=pid_bits(pid, tid), correlationId=correlation,
                      nameId=self.string(name))

    def copy(self, kind, start, end, pid=100, **more):
        self.activity("MEMCPY", start=start, end=end, globalPid=pid_bits(pid), copyKind=COPY_KINDS[kind], **more)

    def ranges(self, *ranges):
        self.make("NVTX_EVENTS", "start", "end", "eventType", "text", "textId", "globalTid", "domainId")
        for start, end, text, domain in ranges:
            self.put("NVTX_EVENTS", start, end, 59, text, None, pid_bits(100, 101), domain)

    def domain(self, number, name):
        self.put("NVTX_EVENTS", 0, None, 75, None, self.string(name), pid_bits(100, 101), number)

    def close(self):
        self.database.commit()
        self.database.close()
        return self.path


def nsys(path, version="3.24.7", name="./app"):
    """One process that launches two kernels and waits for the second in the range "step"."""
    made = Nsys(path, version)
    made.process(100, f"{name} --token={SECRET}")
    made.process(1, "systemd")
    made.kernel("first(int)", 1000, 3000, correlationId=1)
    made.kernel("second(int)", 4000, 9000, correlationId=2)
    made.call("cudaLaunchKernel_v7000", 500, 700, 1)
    made.call("cudaLaunchKernel_v7000", 800, 900, 2)
    made.call("cudaStreamSynchronize_v3020", 1000, 9100, 3)
    made.activity("SYNCHRONIZATION", start=1001, end=9050, syncType=3, streamId=7, correlationId=3,
                  globalPid=pid_bits(100))
    made.ranges((400, 9500, "step", 0), (900, 9300, "ncclGroupEnd", 3), (950, None, "never closed", 0))
    made.domain(3, "NCCL")
    return made.close()


def kineto(path, rank=0, pid=4321, absolute=False, begin_us=1000, device=0, more=(), **head):
    """One process of a job: an annotation, an operator, two launches with their kernels, and a wait."""
    offset = BASE // 1000 if absolute else 0
    time = (lambda ts: offset + 7_000_000 + int(ts)) if absolute else (lambda ts: 7_000_000 + ts)

    def event(category, name, ts, duration, on=None, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid if on is None else on,
                "tid": 1 if on is None else 7, "ts": time(begin_us + ts), "dur": duration, "args": args}

    on_device = {"on": device, "device": device, "context": 1, "stream": 7}
    kernel = {**on_device, "grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 32}
    events = [
        # What runs on a device may stand before what launched it.
        event("kernel", "gemm", 20, 30.25, correlation=11, **kernel),
        event("kernel", "ncclDevKernel_AllReduce", 60, 40.5, correlation=12, **kernel),
        event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 101, 2, correlation=13, bytes=64, **on_device),
        event("user_annotation", "ProfilerStep#3", 0, 200),
        event("cpu_op", "aten::item", 95, 30),
        event("python_function", "train.py(12): step", 90, 50),
        event("python_function", "torch/_tensor.py(9): item", 92, 40),
        event("cuda_runtime", "cudaLaunchKernel", 5, 4.125, correlation=11),
        event("cuda_runtime", "cudaLaunchKernel", 15, 4, correlation=12),
        event("cuda_runtime", "cudaMemcpyAsync", 96, 12, correlation=13),
        event("cuda_runtime", "cudaStreamSynchronize", 110, 5, correlation=14),
        {"ph": "s", "id": 11, "pid": pid, "tid": 1, "ts": time(begin_us + 5), "cat": "ac2g", "name": "ac2g"},
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": time(0), "args": {"name": "python3 x.py"}},
        {"ph": "X", "cat": "Trace", "pid": "Spans", "tid": "PyTorch Profiler", "ts": time(0), "dur": 9, "name": "P"},
        *more,
    ]
    document = {"schemaVersion": 1, "username": SECRET, "deviceProperties": [
        {"id": device, "name": "NVIDIA H100", "totalGlobalMem": 85899345920, "computeMajor": 9, "computeMinor": 0,
         "numSms": 132}], "traceEvents": events, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}}
    if not absolute:
        document["baseTimeNanoseconds"] = BASE
    text = json.dumps({**document, **head}).encode()
    path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
    return path


def flight(path, protocol=2, entries=None):
    """A dump of a rank that has completed one collective and waits for the next."""
    entry = {"record_id": 0, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 41, "p2p_seq_id": 0,
             "profiling_name": "nccl:all_reduce", "time_created_ns": UTC, "state": "completed", "is_p2p": False,
             "time_discovered_started_ns": None, "time_discovered_completed_ns": UTC + 5_000, "thread_id": "777"}
    waiting = {**entry, "collective_seq_id": 42, "time_created_ns": UTC + 6_000, "state": "started",
               "time_discovered_completed_ns": None}
    dump = {"version": "2.9", "pg_config": {"0": {"ranks": "[0, 1]"}},
            "entries": [entry, waiting] if entries is None else entries}
    path.write_bytes(pickle.dumps(dump, protocol=protocol))
    return path
