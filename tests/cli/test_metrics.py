"""run --metrics: what is served, where, and that nobody who asks keeps wic-prof from anything."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

import harness
import mpi_case
from control_group import Group

HOT_FLAG = pathlib.Path(harness.WICPROF).with_name("hot_flag")
SHIPPED = harness.SOURCE / "docs" / "metrics"
CLIENT_TIMEOUT = 30  # seconds, which wic-prof gives a client that sends nothing
SUFFIXES = {"counter": "_total", "gauge": "", "info": "_info"}
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? ([0-9]+(?:\.[0-9]+)?)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"')


def parse(text):
    """{(sample, labels): value} of a text in OpenMetrics 1.0, and {metric: type}; strict."""
    if not text.endswith("\n# EOF\n"):
        raise ValueError("does not end with # EOF")
    types, samples, unit, metric = {}, {}, "", ""
    for line in text.removesuffix("# EOF\n").splitlines():
        if line.startswith("# TYPE "):
            _, _, metric, kind = line.split(" ")
            if metric in types:
                raise ValueError("twice: " + line)
            types[metric], unit = kind, ""
        elif line.startswith("# UNIT "):
            _, _, of, unit = line.split(" ")
            if of != metric or not metric.endswith("_" + unit):
                raise ValueError(line)
        elif line.startswith("# HELP "):
            if line.split(" ")[2] != metric or not line.endswith("."):
                raise ValueError(line)
        else:
            match = SAMPLE.fullmatch(line)
            if match is None or match[1] != metric + SUFFIXES[types[metric]]:
                raise ValueError(line)
            key = (match[1], tuple(LABEL.findall(match[2] or "")))
            if key in samples or match[2] and ",".join(f'{name}="{value}"' for name, value in key[1]) != match[2]:
                raise ValueError(line)
            samples[key] = float(match[3])
    return samples, types


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=harness.TIMEOUT)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def listening_sockets(pid):
    """The addresses, in the system's words, of the TCP sockets on which a process listens."""
    descriptors = pathlib.Path(f"/proc/{pid}/fd")
    own = {os.readlink(link) for link in descriptors.iterdir() if link.exists() or link.is_symlink()}
    found = []
    for table in ("tcp", "tcp6"):
        path = pathlib.Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in own:
                found.append(words[1])
    return found


class Metrics(harness.Case):
    def serve(self, *words, options=(), address="0", env=None):
        """Starts a run whose metrics are served at a port that the system picks. Sets self.port and self.messages."""
        self.env.update(env or {})
        process = self.start("run", "--metrics", address, "-o", "t.wicprof", *options, "--", *words,
                             start_new_session=True)
        self.messages = ""
        while "metrics at " not in self.messages:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", self.messages)
            self.messages += line
        match = re.search(r"http://(127\.0\.0\.1|\[::1\]):([0-9]+)/metrics", self.messages)
        self.port = int(match[2]) if match else 0
        return process

    def get(self, target="/metrics", method="GET", connection=None, host=None):
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.TIMEOUT)
        connection.request(method, target, headers={} if host is None else {"Host": host})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def scrape(self):
        answer, text = self.get()
        self.assertEqual(answer.status, 200)
        return parse(text)[0]

    def total(self, samples, name, **labels):
        return sum(value for (sample, given), value in samples.items()
                   if sample == name and labels.items() <= dict(given).items())

    def sites(self, samples):
        return {dict(labels)["site"] for name, labels in samples if name == "wicprof_waits_total"}

    def stop(self, process):
        """Ctrl-C. Returns how long wic-prof took to end."""
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        self.finish(process)
        return time.monotonic() - begin

    def assert_monotone(self, scrapes):
        for before, after in zip(scrapes, scrapes[1:]):
            for key, value in before.items():
                self.assertIn(key, after)
                if key[0].endswith("_total"):
                    self.assertGreaterEqual(after[key], value, key)

    def serve_known_waits(self, sites=2, options=()):
        """A program whose waits are over, in a run that goes on. Each site has 100 waits of half a millisecond."""
        waits = f"--sites {sites} --period-us 1000 --iterations 100 --wait-us 500"
        program = f"'{harness.TRACED_APP}' {waits}; exec sleep 60"
        process = self.serve("sh", "-c", program, options=options)
        self.until(lambda: self.total(self.scrape(), "wicprof_waits_total") == 100 * sites, "all waits")
        return process

    def test_the_sums_are_those_of_the_waits(self):
        process = self.serve_known_waits()
        samples = self.scrape()
        for site in ("left", "right"):
            labels = {"site": site, "side": "device", "strategy": "poll"}
            self.assertEqual(self.total(samples, "wicprof_waits_total", **labels), 100)
            self.assertAlmostEqual(self.total(samples, "wicprof_wait_time_seconds_total", **labels), 0.05)
        self.assertEqual(self.sites(samples), {"left", "right"})
        self.assertEqual(samples[("wicprof_recording", ())], 1)
        self.assertGreater(samples[("wicprof_trace_size_bytes", ())], 4096)
        self.assertGreater(self.total(samples, "wicprof_own_cpu_time_seconds_total", part="recorder"), 0)
        self.assertEqual(self.total(samples, "wicprof_lost_events_total"), 0)
        sessions = self.sessions()[0]
        self.assertEqual(self.total(samples, "wicprof_session_info", session=sessions["name"], app="sh"), 1)
        self.stop(process)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM wait"), 200)

    def test_a_site_that_is_one_too_many_is_other(self):
        process = self.serve_known_waits(sites=100)
        samples = self.scrape()
        sites = self.sites(samples)
        self.assertEqual(len(sites), 65)
        self.assertLessEqual({"left", "right", "site64", "other"}, sites)
        self.assertEqual(self.total(samples, "wicprof_waits_total", site="other"), 3600)
        self.stop(process)

    def test_a_run_on_the_cpu_device(self):
        """Counters never fall, whatever the mode and the segment, and no answer is anything but OpenMetrics."""
        if not HOT_FLAG.exists():
            self.skipTest("built without samples")
        process = self.serve(HOT_FLAG, "--devices", "simt:1", "--seconds", "30",
                             options=("--segment", "500ms", "--schedule", "poll:600ms,park:10m"))
        scrapes = []
        self.until(lambda: scrapes.append(self.scrape()) or
                   self.total(scrapes[-1], "wicprof_waits_total", strategy="shared_watch") > 0, "parked waits")
        scrapes.append(self.scrape())
        self.assert_monotone(scrapes)
        last = scrapes[-1]
        self.assertGreater(self.total(last, "wicprof_waits_total", site="hot.flag", strategy="poll"), 0)
        wakes = self.total(last, "wicprof_wakes_total", site="hot.flag")
        self.assertGreater(wakes, 0)
        self.assertLessEqual(wakes, self.total(last, "wicprof_waits_total", site="hot.flag"))
        self.assertGreater(self.total(last, "wicprof_wake_time_seconds_total", site="hot.flag"), 0)
        self.assertGreater(self.total(last, "wicprof_wait_time_seconds_total", site="hot.flag"), 0)
        self.assertGreater(self.total(last, "wicprof_wait_cpu_time_seconds_total", site="hot.streamed", side="host"), 0)
        self.assertEqual(self.total(last, "wicprof_interventions_total", mode="park"), 1)
        self.assertEqual(self.total(last, "wicprof_interventions_total"), 1)
        self.assertEqual(self.total(last, "wicprof_parked", side="device"), 1)
        self.assertEqual(self.total(scrapes[0], "wicprof_parked", side="device"), 0)
        self.stop(process)
        self.assertGreater(len(self.traces()), 1)

    def test_host_threads_of_a_cuda_program(self):
        """A place has waits before it has its name; those are not lost."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        process = self.serve("sh", "-c", f"'{harness.CUDA_APP}' load context wait stream 50 2 exit 0; exec sleep 60",
                             env={"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": "",
                                  "WICPROF_FLUSH_MS": "10"})
        here = {"site": "cudaStreamSynchronize in wait_in_runtime", "side": "host"}
        self.until(lambda: self.total(self.scrape(), "wicprof_waits_total", **here) == 50, "the waits")
        samples = self.scrape()
        self.assertEqual(self.sites(samples), {here["site"]})
        cpu, wall = (self.total(samples, f"wicprof_wait_{name}_seconds_total", **here) for name in ("cpu_time", "time"))
        self.assertTrue(0 < cpu <= wall, samples)
        self.stop(process)
        exact = self.query("t.wicprof", "SELECT sum(end_ns - begin_ns) / 1e9, sum(cpu_ns) / 1e9 FROM host_wait")[0]
        self.assertAlmostEqual(wall, exact[0])
        self.assertAlmostEqual(cpu, exact[1])

    def test_a_cpu_quota(self):
        group = Group.limited("cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 20_000},
                              {"cpu.max": "20000 100000"})
        self.addCleanup(lambda: self.until(group.is_removed, "the group's end"))
        process = self.serve("sh", "-c", f"echo $$ > {group.folder}/cgroup.procs && while :; do :; done")
        name = "wicprof_cpu_throttled_{}_total"
        self.until(lambda: self.total(self.scrape(), name.format("time_seconds")) > 0.1, "throttled time")
        self.assertGreater(self.total(self.scrape(), name.format("periods")), 0)
        self.stop(process)
        self.assertGreater(self.stats("t.wicprof")["throttled_ns"], 1e8)

    def test_another_parser(self):
        process = self.serve_known_waits()
        text = self.get()[1]
        self.stop(process)
        program = ("import sys\nfrom prometheus_client.openmetrics import parser\n"
                   "print(sum(len(f.samples) for f in parser.text_string_to_metric_families(sys.stdin.read())))")
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import prometheus_client"], capture_output=True).returncode == 0:
                counted = subprocess.run([python, "-c", program], input=text, text=True, capture_output=True)
                self.assertEqual(counted.returncode, 0, counted.stderr)
                self.assertEqual(int(counted.stdout), len(parse(text)[0]))
                return
        self.skipTest("python3-prometheus-client is missing")

    def test_late_rank_of_a_job_that_runs(self):
        """Rank 1 of 3 is late by 60 ms at each of 20 collectives."""
        for name in list(self.env):  # of a launcher around the tests
            if name.startswith(("OMPI_", "PMI", "SLURM_")):
                del self.env[name]
        job = " ".join(map(str, [*mpi_case.launcher("openmpi", 3), mpi_case.program("openmpi"), "late", 1, 60,
                                 "allreduce", 20]))
        process = self.serve("sh", "-c", f"{job}; exec sleep 60", options=("--trace", "mpi,host"))
        late, waited = "wicprof_rank_late_time_seconds_total", "wicprof_rank_wait_time_seconds_total"
        self.until(lambda: self.total(self.scrape(), late, rank="1") > 0.9 * 20 * 2 * 0.060, "late arrivals")
        samples = self.scrape()
        self.stop(process)
        self.assertGreaterEqual(self.total(samples, "wicprof_rank_late_arrivals_total", rank="1"), 15)
        for rank in "02":
            self.assertGreater(self.total(samples, waited, rank=rank), 0.8 * 20 * 0.060)
            self.assertLess(self.total(samples, late, rank=rank), self.total(samples, late, rank="1") / 2)
        self.assertAlmostEqual(self.total(samples, late), self.total(samples, waited), places=6)

    def test_what_ships_names_every_metric(self):
        """The dashboard and the page, and neither names one that does not exist."""
        process = self.serve_known_waits()
        text = self.get()[1]
        self.stop(process)
        names = {metric + SUFFIXES[kind] for metric, kind in parse(text)[1].items()}
        page = (harness.SOURCE / "docs" / "how-to" / "metrics.md").read_text()
        self.assertEqual(set(re.findall(r"^\| `(wicprof_\w+)` \|", page, re.M)), names)
        self.assertIn(re.search(r"```yaml\n(.*?)```", page, re.S)[1], (SHIPPED / "prometheus.yml").read_text())
        dashboard = json.loads((SHIPPED / "grafana-dashboard.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertEqual(set(re.findall(r"wicprof_\w+", " ".join(queries))), names)
        alerts = re.findall(r"wicprof_\w+", (SHIPPED / "wic-prof-rules.yml").read_text())
        self.assertLessEqual(set(alerts), names)

    def test_no_argument_and_no_variable_is_told(self):
        process = self.serve("sh", "-c", f"'{harness.TRACED_APP}' --seconds 0.1; exec sleep 60", "arg-of-the-program",
                             env={"WICPROF_TEST_SECRET": "of-the-environment"})
        self.until(lambda: self.total(self.scrape(), "wicprof_waits_total") > 0, "waits")
        text = self.get()[1]
        self.stop(process)
        for secret in ("arg-of", "of-the", "traced_app", "sleep", str(self.work)):
            self.assertNotIn(secret, text)

    def test_requests(self):
        process = self.serve_known_waits(options=("-q",))
        answer, text = self.get()
        self.assertEqual(answer.getheader("Content-Type"), "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertEqual(self.get("/metrics?x=1")[0].status, 200)
        answer, nothing = self.get(method="HEAD")
        self.assertEqual((answer.status, nothing), (200, ""))
        self.assertAlmostEqual(int(answer.getheader("Content-Length")), len(text), delta=50)
        self.assertEqual(self.get("/")[0].status, 404)
        self.assertEqual(self.get(method="POST")[0].status, 405)
        for bad in (b"nonsense\r\n\r\n", b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100_000):
            with socket.create_connection(("127.0.0.1", self.port), harness.TIMEOUT) as client:
                try:
                    client.sendall(bad)
                    self.assertIn(client.recv(1000)[:12], (b"HTTP/1.1 400", b""))
                except ConnectionError:
                    pass  # refused before everything was sent
        self.assertEqual(self.get()[0].status, 200)
        self.stop(process)

    def test_a_page_of_another_site_gets_nothing(self):
        """Whose name was made to mean 127.0.0.1: DNS rebinding."""
        process = self.serve("sleep", "60")
        here = f"127.0.0.1:{self.port}"
        for host in (here, f"localhost:{self.port}", "LocalHost", "[::1]:80", "127.9.9.9"):
            self.assertEqual(self.get(host=host)[0].status, 200, host)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", "localhost.evil.example",
                     "evil.example@127.0.0.1", f"{here}:evil", "192.168.0.1", "0.0.0.0", "[::1", "[::1]evil",
                     "[localhost]", ""):
            answer, text = self.get(host=host)
            self.assertEqual((answer.status, "wicprof_" in text), (403, False), host)
            self.assertIn("Host header", text)
        self.stop(process)

    def test_addresses_beyond_this_machine_are_refused(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.168.0.1:9464", "8.8.8.8:0", "[2001:db8::1]:9464"):
            result = self.wic_prof("run", "--metrics", address, "--", "touch", "started")
            self.assert_refused(result, 2, address, "127.0.0.1:9464", "not on loopback")
        for address in ("hosts", "65536", "-1", "localhost:9464", "127.0.0.1", "127.0.0.1:x", "::1:9464", "[::1]"):
            result = self.wic_prof("run", f"--metrics={address}", "--", "touch", "started")
            self.assert_refused(result, 2, "is no address", "127.0.0.1:9464")
        self.assertEqual(list(self.work.iterdir()), [])

    def test_an_address_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            result = self.wic_prof("run", "--metrics", port, "--", "touch", "started")
            self.assert_refused(result, 3, f"127.0.0.1:{port}", "another program", "port 0")
        path = self.folder / "metrics.sock"
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            other.listen()
            self.assert_refused(self.wic_prof("run", "--metrics", path, "--", "touch", "started"), 3, path)
        path.unlink()
        path.write_text("a file")
        self.assert_refused(self.wic_prof("run", "--metrics", path, "--", "touch", "started"), 2, path, "no socket")
        self.assertEqual(path.read_text(), "a file")
        self.assert_refused(self.wic_prof("run", "--metrics", "/nowhere/m", "--", "touch", "started"), 3, "/nowhere")
        self.assertEqual(list(self.work.iterdir()), [])

    def test_a_unix_socket(self):
        path = self.folder / "metrics.sock"
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(path))  # and never listens: left behind
        process = self.serve(harness.TRACED_APP, "--seconds", "60", address=str(path))
        self.assertIn(f"curl --unix-socket {path} http://localhost/metrics", self.messages)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        answer, text = self.get(connection=UnixConnection(path), host="any.example")
        self.assertEqual(answer.status, 200)
        parse(text)
        self.assertEqual(listening_sockets(process.pid), [])
        self.stop(process)
        self.assertFalse(path.exists())

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this machine has no IPv6")
        process = self.serve(harness.TRACED_APP, "--seconds", "60", address="[::1]:0")
        connection = http.client.HTTPConnection("::1", self.port, timeout=harness.TIMEOUT)
        self.assertEqual(self.get(connection=connection)[0].status, 200)
        self.stop(process)

    def test_clients_that_hang(self):
        """They keep neither others from an answer nor wic-prof from its end."""
        process = self.serve_known_waits()
        clients = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        for client in clients[::2]:
            client.sendall(b"GET /metrics HTT")
        self.assertEqual(self.total(self.scrape(), "wicprof_waits_total"), 200)
        self.assertLess(len(os.listdir(f"/proc/{process.pid}/fd")), len(clients))
        self.assertLess(self.stop(process), CLIENT_TIMEOUT / 2)
        for client in clients:
            client.close()
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM wait"), 200)

    def test_who_listens(self):
        """wic-prof on loopback where it was asked to, and neither the program nor anybody else."""
        process = self.serve("sleep", "60")
        self.assertEqual(listening_sockets(process.pid), [f"0100007F:{self.port:04X}"])
        self.until(lambda: self.sessions() and self.sessions()[0].get("pid"), "the session")
        self.assertEqual(listening_sockets(self.sessions()[0]["pid"]), [])
        self.stop(process)
        quiet = self.start_app()
        self.assertEqual(listening_sockets(quiet.pid), [])
        self.interrupt(quiet)


if __name__ == "__main__":
    harness.main()
