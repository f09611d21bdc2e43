"""docs/how-to/kubernetes.md and its manifests: the commands of the page, in containers that are made of namespaces."""

import copy
import json
import os
import pathlib
import re
import shlex
import signal
import unittest

import harness
import yaml
from pod import Pod

EXAMPLES = harness.SOURCE / "docs/kubernetes"
PAGE = (harness.SOURCE / "docs/how-to/kubernetes.md").read_text()
MANIFESTS = {path.stem: yaml.safe_load(path.read_text()) for path in EXAMPLES.glob("*.yaml")}


def pod_of(manifest):
    return manifest["spec"]["template"]["spec"] if manifest["kind"] == "DaemonSet" else manifest["spec"]


def commands(container):
    """The words after `kubectl exec` of each line of the page for this container (None: the pod's only one)."""
    named = f"kubectl exec server -c {container} -- " if container else "kubectl exec server -- "
    return [shlex.split(line.removeprefix(named).split(" > ")[0]) for line in PAGE.splitlines()
            if line.startswith(named)]


class Manifests(unittest.TestCase):
    def test_rights_are_minimal(self):
        for name, manifest in MANIFESTS.items():
            pod = pod_of(manifest)
            self.assertIs(pod["automountServiceAccountToken"], False)
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                context = {**pod.get("securityContext", {}), **container["securityContext"]}
                self.assertEqual(context["capabilities"]["drop"], ["ALL"])
                self.assertEqual((context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"],
                                  context["seccompProfile"]["type"]), (False, True, "RuntimeDefault"))
                if name != "node":
                    self.assertIs(context["runAsNonRoot"], True)
                    self.assertNotIn("add", context["capabilities"])

    def test_volumes_and_variables_fit(self):
        for manifest in MANIFESTS.values():
            pod = pod_of(manifest)
            volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container.get("volumeMounts", [])}
                env = {each["name"]: each["value"] for each in container.get("env", [])}
                if "XDG_RUNTIME_DIR" in env:
                    self.assertEqual(mounts[env["XDG_RUNTIME_DIR"]]["emptyDir"]["medium"], "Memory")
                library = pathlib.PurePath(env.get("CUDA_INJECTION64_PATH", "/opt/wic-prof/x/x"))
                if container["name"] == "server":
                    self.assertIn(str(library.parents[1]), mounts)
                    self.assertEqual(library.name, "libwicprof_inject.so")

    def test_the_recipe_is_that_of_the_package(self):
        recipe = (EXAMPLES / "Dockerfile").read_text()
        version = re.search(r"project\(\S+ VERSION ([\d.]+)", (harness.SOURCE / "CMakeLists.txt").read_text())[1]
        archive = f"wic-prof-{version}-Linux-x86_64"
        self.assertIn(f"ADD {archive}.tar.gz /opt/", recipe)
        self.assertIn(f"RUN mv /opt/{archive} /opt/wic-prof", recipe)
        self.assertIn(f"{archive}.tar.gz docs/kubernetes", PAGE)
        for manifest in MANIFESTS.values():
            images = {container["image"] for container in pod_of(manifest)["containers"]}
            self.assertIn(f"wic-prof:{version}", {"your-server", *images} - {"your-server"} or {f"wic-prof:{version}"})
        for copied in re.findall(r"^COPY \S+ (\S+) ", recipe, re.M):
            self.assertTrue(os.access(EXAMPLES / copied, os.X_OK), copied)


@unittest.skipIf(harness.CUDA_APP is None, "built without CUPTI's headers")
class Pods(harness.Case):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)

    def pod(self, name):
        return Pod(self, copy.deepcopy(pod_of(MANIFESTS[name])),
                   {"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10"})

    def start(self, pod, end="/run/wic-prof/end"):
        """Starts a pod whose server works until a file `end` is there."""
        pod.start({"server": [harness.CUDA_APP, "load", "context", "threads", 3, "checked", end, "end", "say",
                              "right"]})
        self.until(lambda: "wicprof-dormant" in self.threads(pod.pid("server")), "the dormant library")
        self.until(lambda: self.threads(pod.pid("server")).count("cuda_app") == 5, "the server's threads")
        return pod

    @staticmethod
    def threads(pid):
        names = []
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
            try:
                names.append(task.read_text().strip())
            except OSError:
                pass
        return names

    def ends_well(self, pod):
        (pod.path("sessions") / "end").touch()
        server = pod.running["server"][1]
        out, err = server.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((server.returncode, out, err), (0, "right\n", ""))

    def execute(self, pod, container, *words, status=0):
        done = pod.execute(container, *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_the_sidecar_as_the_page_says(self):
        pod = self.start(self.pod("sidecar"))
        words = {"your_app": "cuda_app", "30s": "300ms"}
        said = {}
        for command in commands("wic-prof"):
            said[command[1]] = self.execute(pod, "wic-prof", *[words.get(word, word) for word in command])
        self.assertEqual(list(said), ["attach", "analyze", "first.wicprof", "doctor"])
        self.assertIn("goes on without wic-prof", said["attach"].stderr)
        trace = pod.path("traces") / "first.wicprof"
        self.assertEqual((trace.stat().st_mode & 0o777, trace.stat().st_uid), (0o600, 1000))
        self.assertGreater(self.number(trace, "SELECT count(*) FROM kernel"), 0)
        self.ends_well(pod)
        pod.stop()

    def test_each_lack_is_named(self):
        """With the words of the page's table."""
        def without_shared_processes(pod):
            pod["shareProcessNamespace"] = False

        def without_library(pod):
            del pod["containers"][0]["env"][0]

        def with_two_users(pod):
            pod["containers"][1]["securityContext"]["runAsUser"] = 1001

        def without_a_folder_for_the_server(pod):
            pod["containers"][0]["env"][1]["value"] = "/nowhere"

        def with_the_volume_elsewhere(pod):
            pod["containers"][1]["volumeMounts"][0]["mountPath"] = "/run/other"
        said = dict(re.findall(r"^\| `([^`]+)` \|(.*)\|$", PAGE.split("## When something is missing")[1], re.M))
        for change, words in ((without_shared_processes, "no process"), (with_two_users, "belongs to user"),
                              (without_library, "cannot load the library of wic-prof"),
                              (without_a_folder_for_the_server, "cannot be woken"),
                              (with_the_volume_elsewhere, "cannot open")):
            with self.subTest(change.__name__):
                self.assertIn(words, said)
                pod = self.pod("sidecar")
                change(pod.spec)
                pod.start({"server": [harness.CUDA_APP, "load", "context", "until", "/run/wic-prof/end"]})
                self.until(lambda: harness.FAKE_CUPTI in self.maps(pod) or change is without_library and
                           "cuda_app" in self.maps(pod), "the server")
                pid = pod.inner_pid("server") if words != "no process" else "cuda_app"
                self.until(lambda: words in self.attach_error(pod, pid), words)
                pod.stop()

    @staticmethod
    def maps(pod):
        try:
            return pathlib.Path(f"/proc/{pod.pid('server')}/maps").read_text()
        except OSError:
            return ""

    def attach_error(self, pod, pid):
        done = pod.execute("wic-prof", "wic-prof", "attach", pid, "--for", "50ms", "-f", "-o", "t.wicprof")
        self.assertIn(done.returncode, (2, 3), done.stderr)
        return done.stderr

    def test_doctor_names_the_lacks_of_a_pod(self):
        pod = self.pod("sidecar")
        wic_prof = pod.spec["containers"][1]
        wic_prof["env"] = [{"name": "XDG_RUNTIME_DIR", "value": "/nowhere"}]
        wic_prof["resources"] = {"limits": {"memory": "24Mi"}}
        self.start(pod)
        checks = {check["name"]: check for check in
                  json.loads(self.execute(pod, "wic-prof", "wic-prof", "doctor", "--format", "json",
                                          status=3).stdout)["checks"]}
        self.assertEqual(checks["session folder"]["state"], "missing")
        self.assertRegex(checks["shared memory"]["detail"], r"the memory limit leaves (1?\d|2[0-4]) MiB")
        self.assertIn("emptyDir: {medium: Memory}", checks["session folder"]["cure"])
        self.assertIn("nvidia.com/gpu", checks["container"]["detail"])
        self.ends_well(pod)
        pod.stop()

    def test_a_node_is_watched(self):
        server = self.start(self.pod("prepared"))
        bystander = self.start(self.pod("prepared"))
        of_root = self.pod("prepared")
        of_root.spec["securityContext"].update(runAsUser=0, runAsGroup=0)
        self.start(of_root)
        roots_pid = of_root.pid("server")
        node = self.pod("node")
        watch, *options = node.spec["containers"][0]["command"]
        node.start({"watch": ["/opt/kubernetes/" + watch, *options]})
        for pod in (server, bystander):
            self.until(lambda: "wicprof-flush" in self.threads(pod.pid("server")), "attach")
        watcher = node.running["watch"][1]
        self.until(lambda: "sleep" in map(node.program_of, node.children(watcher.pid)), "a look at all processes")
        words = commands(None)
        self.assertEqual([command[-1] for command in words], ["dump", "/traces"])
        self.until(lambda: server.execute("server", *words[0]).returncode == 0, "a dump")
        traces = server.path("traces")
        self.until(lambda: list(traces.glob("server.*.0001.wicprof")), "a dump's trace")
        self.assertIn("0001.wicprof", self.execute(server, "server", *words[1]).stdout)
        self.assertEqual({path.stat().st_uid for path in traces.iterdir()}, {1000})
        os.kill(watcher.pid, signal.SIGTERM)
        out, err = watcher.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(watcher.returncode, 0, out + err)
        self.assertIn(f"process {server.pid('server')}: ", out)
        self.assertNotIn(f"process {roots_pid}: ", out)
        self.assertEqual(list(of_root.path("traces").iterdir()), [])
        for pod in (server, bystander):
            self.until(lambda: "wicprof-flush" not in self.threads(pod.pid("server")), "the end of attach")
            for trace in pod.path("traces").glob("*.wicprof"):
                self.assertEqual(self.meta(trace)["state"], "complete")
            self.ends_well(pod)
            pod.stop()
        self.ends_well(of_root)


if __name__ == "__main__":
    harness.main()
