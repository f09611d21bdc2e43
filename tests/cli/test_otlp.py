"""run --otlp: what is sent, in which form, and that no receiver keeps wic-prof from anything."""

import http.server
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

import harness

# The messages of opentelemetry-proto's metrics.proto, common.proto and resource.proto that may be sent, in protobuf's
# JSON: the fields in lowerCamelCase, 64-bit integers as decimal strings, and enumerations as numbers.
MESSAGES = {
    "ExportMetricsServiceRequest": {"resourceMetrics": ["ResourceMetrics"]},
    "ResourceMetrics": {"resource": "Resource", "scopeMetrics": ["ScopeMetrics"], "schemaUrl": "string"},
    "Resource": {"attributes": ["KeyValue"], "droppedAttributesCount": "uint32"},
    "ScopeMetrics": {"scope": "InstrumentationScope", "metrics": ["Metric"], "schemaUrl": "string"},
    "InstrumentationScope": {"name": "string", "version": "string", "attributes": ["KeyValue"],
                             "droppedAttributesCount": "uint32"},
    "Metric": {"name": "string", "description": "string", "unit": "string", "gauge": "Gauge", "sum": "Sum",
               "metadata": ["KeyValue"]},
    "Gauge": {"dataPoints": ["NumberDataPoint"]},
    "Sum": {"dataPoints": ["NumberDataPoint"], "aggregationTemporality": "uint32", "isMonotonic": "bool"},
    "NumberDataPoint": {"attributes": ["KeyValue"], "startTimeUnixNano": "uint64", "timeUnixNano": "uint64",
                        "asDouble": "double", "asInt": "int64", "flags": "uint32"},
    "KeyValue": {"key": "string", "value": "AnyValue"},
    "AnyValue": {"stringValue": "string", "boolValue": "bool", "intValue": "int64", "doubleValue": "double"},
}
CUMULATIVE = 2
SCALARS = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "uint32": lambda value: type(value) is int and 0 <= value < 1 << 32,
    "uint64": lambda value: isinstance(value, str) and re.fullmatch(r"\d+", value) and int(value) < 1 << 64,
    "int64": lambda value: (isinstance(value, str) and re.fullmatch(r"-?\d+", value)
                            and -1 << 63 <= int(value) < 1 << 63),
    "double": lambda value: type(value) in (int, float),
}


def check(kind, value, path=""):
    """Raises ValueError where a value is no message, or no scalar, of this kind."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise ValueError(f"{path} is no list")
        for i, element in enumerate(value):
            check(kind[0], element, f"{path}[{i}]")
    elif kind in SCALARS:
        if not SCALARS[kind](value):
            raise ValueError(f"{path} is no {kind}: {value!r}")
    else:
        if not isinstance(value, dict):
            raise ValueError(f"{path} is no {kind}: {value!r}")
        for field, inner in value.items():
            if field not in MESSAGES[kind]:
                raise ValueError(f"{kind} has no field {field} ({path})")
            check(MESSAGES[kind][field], inner, f"{path}.{field}")


def attributes(message):
    return {pair["key"]: pair["value"]["stringValue"] for pair in message["attributes"]}


class Receiver:
    """Takes requests on a thread. Answers each with `status`, `headers` and `body`."""

    def __init__(self, case, status=200, headers=(), body=b"{}"):
        taken = self.taken = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                content = self.rfile.read(int(self.headers["Content-Length"]))
                taken.append((self.path, dict(self.headers), content))
                self.send_response(status)
                for name, value in (*headers, ("Content-Length", str(len(body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        case.addCleanup(self.server.server_close)
        case.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def documents(self):
        return [json.loads(content) for _, _, content in self.taken]


class Otlp(harness.Case):
    def record_to(self, url, *words, options=()):
        """Records a program to its end; returns the result, and how long all took."""
        begin = time.monotonic()
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--otlp", url, *options, "--",
                               *(words or (harness.TRACED_APP, "--sites", 2, "--iterations", 100, "--period-us", 1000,
                                           "--wait-us", 500)))
        return result, time.monotonic() - begin

    def metrics(self, document):
        return {metric["name"]: metric for metric in document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}

    def test_form_and_content(self):
        receiver = Receiver(self)
        before = time.time_ns()
        result, _ = self.record_to(receiver.url)
        after = time.time_ns()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("warning: ", result.stderr)
        self.assertIn("metrics sent to " + receiver.url, result.stderr)
        self.assertGreaterEqual(len(receiver.taken), 1)
        for (path, headers, content), document in zip(receiver.taken, receiver.documents()):
            self.assertEqual((path, headers["Content-Type"]), ("/v1/metrics", "application/json"))
            self.assertEqual(headers["Host"], receiver.url.removeprefix("http://"))
            check("ExportMetricsServiceRequest", document)
            for name, metric in self.metrics(document).items():
                self.assertEqual(("sum" in metric) + ("gauge" in metric), 1, name)
                data = metric.get("sum") or metric["gauge"]
                if "sum" in metric:
                    self.assertEqual((data["aggregationTemporality"], data["isMonotonic"]), (CUMULATIVE, True))
                self.assertTrue(metric["unit"] and metric["description"], name)
                self.assertNotEqual(data["dataPoints"], [])
                for point in data["dataPoints"]:
                    self.assertEqual(("asInt" in point) + ("asDouble" in point), 1)
                    self.assertTrue(before <= int(point["startTimeUnixNano"]) <= int(point["timeUnixNano"]) <= after)
        last = receiver.documents()[-1]["resourceMetrics"][0]
        self.assertEqual(attributes(last["resource"]),
                         {"service.name": "traced_app", "service.instance.id": "traced_app"})
        self.assertEqual(last["scopeMetrics"][0]["scope"]["name"], "wic-prof")
        metrics = self.metrics(receiver.documents()[-1])
        for name, field, value in (("wicprof.waits", "asInt", "100"), ("wicprof.wait.time", "asDouble", 0.05)):
            points = {attributes(point)["site"]: point for point in metrics[name]["sum"]["dataPoints"]}
            self.assertEqual(set(points), {"left", "right"})
            for point in points.values():
                self.assertEqual({key: attributes(point)[key] for key in ("side", "strategy")},
                                 {"side": "device", "strategy": "poll"})
                if field == "asInt":
                    self.assertEqual(point[field], value)
                else:
                    self.assertAlmostEqual(point[field], value)

    def test_the_same_list_as_openmetrics(self):
        """Under the names that OpenTelemetry's rules make of these for Prometheus."""
        receiver = Receiver(self)
        socket_file = self.folder / "m.sock"
        process = self.start("run", "-o", "t.wicprof", "--metrics", socket_file, "--otlp", receiver.url, "--",
                             "sh", "-c", f"'{harness.TRACED_APP}' --iterations 100; exec sleep 60",
                             start_new_session=True)
        words = {"s": "_seconds", "By": "_bytes"}

        def scraped():
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(socket_file))
                client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                return b"".join(iter(lambda: client.recv(65536), b"")).decode()
        self.until(lambda: socket_file.exists() and "wicprof_waits_total{" in scraped(), "waits")
        text = scraped()
        os.killpg(process.pid, signal.SIGINT)
        self.finish(process)
        samples = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line.startswith("wicprof_")}
        sent = {name.replace(".", "_") + words.get(metric["unit"], "") + ("_total" if "sum" in metric else "")
                for name, metric in self.metrics(receiver.documents()[-1]).items()}
        self.assertEqual(sent, samples)

    def test_a_path_of_its_own(self):
        receiver = Receiver(self)
        self.record_to(receiver.url.replace("127.0.0.1", "localhost") + "/tenant/1/metrics?a=b", "true")
        self.assertEqual({path for path, _, _ in receiver.taken}, {"/tenant/1/metrics?a=b"})

    def test_no_argument_and_no_variable_is_told(self):
        receiver = Receiver(self)
        self.env["WICPROF_TEST_SECRET"] = "of-the-environment"
        self.record_to(receiver.url, "sh", "-c", f"'{harness.TRACED_APP}' --seconds 0.1", "arg-of-the-program")
        sent = b"".join(content for _, _, content in receiver.taken).decode()
        self.assertIn("wicprof.waits", sent)
        for secret in ("arg-of", "of-the-environment", "traced_app", str(self.work)):
            self.assertNotIn(secret, sent)

    def test_sites_are_bounded(self):
        receiver = Receiver(self)
        self.record_to(receiver.url, harness.TRACED_APP, "--sites", 100, "--period-us", 1000, "--iterations", 10)
        points = self.metrics(receiver.documents()[-1])["wicprof.waits"]["sum"]["dataPoints"]
        self.assertEqual(len({attributes(point)["site"] for point in points}), 65)

    def test_a_receiver_that_refuses(self):
        """It is named once, and the trace is complete."""
        for status, headers in ((429, [("Retry-After", "1")]), (503, [("Retry-After", "junk")]), (301, []), (500, [])):
            with self.subTest(status=status):
                receiver = Receiver(self, status, headers)
                result, _ = self.record_to(receiver.url)
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stderr.count(receiver.url + ": "), 1, result.stderr)
                self.assertIn(f"it answered {status}", result.stderr)
                self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM wait"), 200)

    def test_a_receiver_that_takes_a_part(self):
        body = json.dumps({"partialSuccess": {"rejectedDataPoints": "3", "errorMessage": "no \u001b[31mroom"}}).encode()
        result, _ = self.record_to(Receiver(self, body=body).url)
        self.assertIn("it rejected 3 data points: no", result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        for body in (b'{"partialSuccess":{}}', b'{"partialSuccess":{"rejectedDataPoints":0}}', b"no JSON", b""):
            result, _ = self.record_to(Receiver(self, body=body).url)
            self.assertNotIn("warning: ", result.stderr, body)

    def test_a_receiver_that_is_gone(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
        result, _ = self.record_to(url)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count(f"warning: metrics do not get to {url}: "), 1, result.stderr)
        self.assertIn("refused", result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM wait"), 200)

    def hanging(self, talk):
        """A server that accepts, and then does as `talk` does with the connection."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def serve():
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(client,), daemon=True).start()
        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    def test_receivers_that_hang_hold_up_neither_program_nor_end(self):
        """wic-prof gives each of them ten seconds for an answer, which no run waits for."""
        ended = threading.Event()
        self.addCleanup(ended.set)

        def silent(client):
            ended.wait(harness.TIMEOUT)
            client.close()

        def dripping(client):
            try:
                client.sendall(b"HTTP/1.1 200 OK\r\n")
                while not ended.wait(0.1):
                    client.sendall(b"X: y\r\n")
            except OSError:
                pass
            client.close()

        def cut(client):
            client.recv(100)
            client.close()

        full = socket.create_server(("127.0.0.1", 0), backlog=0)  # nobody accepts: further ones get no connection
        self.addCleanup(full.close)
        self.addCleanup(socket.create_connection(full.getsockname()).close)
        for name, url in (("silent", self.hanging(silent)), ("dripping", self.hanging(dripping)),
                          ("cut", self.hanging(cut)), ("full", f"http://127.0.0.1:{full.getsockname()[1]}")):
            with self.subTest(name):
                result, took = self.record_to(url, "sh", "-c", "exit 7")
                self.assertEqual(result.returncode, 7, result.stderr)
                self.assertEqual(result.stderr.count(f"warning: metrics do not get to {url}: "), 1, result.stderr)
                self.assertLess(took, 8)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_the_program_does_not_get_the_socket(self):
        accepted = threading.Event()
        ended = threading.Event()
        self.addCleanup(ended.set)

        def silent(client):
            accepted.set()
            ended.wait(harness.TIMEOUT)
            client.close()
        process = self.start("run", "-o", "t.wicprof", "--otlp", self.hanging(silent), "--", "sleep", "60")
        self.assertTrue(accepted.wait(harness.TIMEOUT))
        self.until(lambda: self.sessions() and self.sessions()[0].get("pid"), "the program")
        program = pathlib.Path(f"/proc/{self.sessions()[0]['pid']}")
        self.until(lambda: (program / "comm").read_text() == "sleep\n", "the program in place of wic-prof's child")
        links = [os.readlink(link) for link in (program / "fd").iterdir()]
        self.assertEqual([link for link in links if link.startswith("socket:")], [])
        self.interrupt(process)

    def test_what_is_no_receiver(self):
        for url, words in (("https://127.0.0.1:4318", ["http alone", "Collector"]),
                           ("127.0.0.1:4318", ["no http address"]), ("ftp://127.0.0.1:1", ["no http address"]),
                           ("http://127.0.0.1", ["lacks a port"]), ("http://127.0.0.1:0", ["lacks a port"]),
                           ("http://127.0.0.1:70000", ["lacks a port"]), ("http://127.0.0.1:4318/a b", ["no address"]),
                           ("http://127.0.0.1:4318/a\r\nX: y", ["no address"]), ("http://[::1:4318", ["no address"]),
                           ("http://collector:4318", ["no IP address", "name server"]),
                           ("http://me:word@127.0.0.1:4318", ["no IP address"])):
            result = self.wic_prof("run", f"--otlp={url}", "--", "touch", "started")
            self.assert_refused(result, 2, *words)
        self.assertEqual(list(self.work.iterdir()), [])


if __name__ == "__main__":
    harness.main()
