"""Runs the containers of a pod's manifest without a cluster: in namespaces, with the manifest's users, capabilities,
read-only roots, volumes and memory limits. Their images are this machine's files. No seccomp profile is applied."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness
from control_group import Group

BUILD = pathlib.Path(harness.WICPROF).parent.parent
UNITS = {"Mi": 1 << 20, "Gi": 1 << 30}

# Makes a root of a container, of which the upper layer is empty, and becomes its program.
# ROOT LAYERS READ_ONLY CGROUP "SOURCE TARGET MODE ..." WORDS...
BEGIN = """
set -e
root=$1 layers=$2 read_only=$3 group=$4 volumes=$5
shift 5
[ -z "$group" ] || echo $$ > "$group/cgroup.procs"
mount -t tmpfs none "$layers"
mkdir "$layers/upper" "$layers/work"
mount -t overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" none "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o size=64m,mode=1777 none "$root/dev/shm"
set_volumes() {
  while [ $# -gt 0 ]; do
    mkdir -p "$root$2"
    mount --bind "$1" "$root$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
    shift 3
  done
}
set_volumes $volumes
mkdir -p "$root/before"
[ "$read_only" = no ] || mount -o remount,ro "$root"
cd "$root"
pivot_root . before
umount -l /before
exec "$@"
"""


class Pod:
    """One pod on "a node", which is this machine. unittest.SkipTest: nobody may make namespaces here."""

    def __init__(self, case, spec, env=None):
        self.case, self.spec, self.more_env = case, spec, env or {}
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "-p", "-f", "true"], capture_output=True).returncode:
            raise unittest.SkipTest("needs the right to make namespaces")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pod-", dir=case.folder))
        self.volumes = {volume["name"]: self.make_volume(volume) for volume in spec.get("volumes", [])}
        self.image = self.folder / "image"  # what the image wic-prof has in /opt/wic-prof
        (self.image / "bin").mkdir(parents=True)
        (self.image / "lib").mkdir()
        shutil.copy(harness.WICPROF, self.image / "bin")
        for library in (BUILD / "lib").glob("libwicprof_*.so"):
            shutil.copy(library, self.image / "lib")
        self.groups = {}  # of the containers with a memory limit
        self.running = {}  # name: (its manifest, the process as this machine sees it)
        self.pause = None

    def make_volume(self, volume):
        in_memory = volume["emptyDir"].get("medium") == "Memory"
        folder = tempfile.mkdtemp(prefix="wicprof-pod-", dir="/dev/shm" if in_memory else self.folder)
        self.case.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chown(folder, 0, self.spec.get("securityContext", {}).get("fsGroup", 0))
        os.chmod(folder, 0o2777)
        return pathlib.Path(folder)

    def path(self, volume):
        """Where a volume lies on this machine."""
        return self.volumes[volume]

    def environment(self, container):
        given = {each["name"]: each["value"] for each in container.get("env", [])}
        return {"PATH": "/opt/wic-prof/bin:/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": "10.0.0.1", **given,
                **self.more_env}

    def as_its_user(self, container, words):
        """The words that become the program of a container, with its user and its rights."""
        context = {**self.spec.get("securityContext", {}), **container.get("securityContext", {})}
        capabilities = context["capabilities"]
        self.case.assertEqual(capabilities["drop"], ["ALL"])
        kept = "".join(f",+{name.lower()}" for name in capabilities.get("add", []))
        user, group = context["runAsUser"], context.get("runAsGroup", 0)
        new_privileges = ["--no-new-privs"] if context["allowPrivilegeEscalation"] is False else []
        env = [f"{name}={value}" for name, value in self.environment(container).items()]
        return ["setpriv", f"--bounding-set=-all{kept}", "--inh-caps=-all", f"--regid={group}", f"--reuid={user}",
                "--clear-groups", *new_privileges, "env", "-i", *env, "sh", "-c", 'cd "$0" && exec "$@"',
                container.get("workingDir", "/"), *map(str, words)]

    def begin(self, container, words):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=self.folder))
        root, layers = folder / "root", folder / "layers"
        root.mkdir()
        layers.mkdir()
        mounts = [(self.volumes[each["name"]], each["mountPath"], "ro" if each.get("readOnly") else "rw")
                  for each in container.get("volumeMounts", [])]
        if container["image"].startswith("wic-prof:"):
            mounts.append((self.image, "/opt/wic-prof", "ro"))
            examples = harness.SOURCE / "docs/kubernetes"
            mounts.append((examples, "/opt/kubernetes", "ro"))
        read_only = "yes" if container["securityContext"]["readOnlyRootFilesystem"] else "no"
        own_pids = ["nsenter", "-t", str(self.pause_pid()), "-p", "-i", "-u"] if self.pause_pid() else []
        if self.pause and not self.spec.get("shareProcessNamespace"):
            own_pids += ["unshare", "-p", "-f"]
        return subprocess.Popen(
            [*own_pids, "unshare", "-m", "sh", "-c", BEGIN, "sh", root, layers, read_only, self.memory(container),
             " ".join(str(word) for mount in mounts for word in mount), *self.as_its_user(container, words)],
            env={"PATH": os.environ["PATH"]}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)

    def memory(self, container):
        limit = container.get("resources", {}).get("limits", {}).get("memory")
        if limit is None:
            return ""
        size = int(limit[:-2]) * UNITS[limit[-2:]]
        group = Group.limited("memory", {"memory.limit_in_bytes": size}, {"memory.max": size})
        self.groups[container["name"]] = group
        return str(group.folder)

    def pause_pid(self):
        return self.children(self.pause.pid)[0] if self.pause else 0

    @staticmethod
    def children(pid):
        try:
            return [int(each) for each in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []

    def start(self, commands):
        """Runs the init containers to their ends, and starts the others. commands: {container: words} in the place of
        the manifest's, of images that are the user's own."""
        self.case.addCleanup(self.stop)
        if not self.spec.get("hostPID"):
            self.pause = subprocess.Popen(["unshare", "-p", "-f", "-i", "-u", "sleep", "600"], start_new_session=True,
                                          stderr=subprocess.DEVNULL)
            self.case.until(lambda: self.children(self.pause.pid), "the pod")
        for container in self.spec.get("initContainers", []):
            done = self.begin(container, container["command"])
            out, err = done.communicate(timeout=harness.TIMEOUT)
            self.case.assertEqual(done.returncode, 0, out + err)
        for container in self.spec["containers"]:
            name, words = container["name"], commands.get(container["name"], container["command"])
            process = self.begin(container, words)
            self.case.started.append(process)
            self.running[name] = (container, process)
            program = pathlib.Path(words[0]).name
            self.case.until(lambda: self.program_of(self.pid(name)) == program or process.poll() is not None,
                            f"container {name}")

    def stop(self):
        """Ends all that still runs."""
        if self.pause and self.pause.poll() is None:
            for pid in self.children(self.pause.pid):  # the first process of the namespace: all others end with it
                os.kill(pid, 9)
            self.pause.wait()
        for _, process in self.running.values():
            process.wait(timeout=harness.TIMEOUT)
        for name in list(self.groups):
            self.case.until(self.groups.pop(name).is_removed, "the group's end")

    def pid(self, name):
        """Of a container's first process, as this machine sees it; 0: it is not there."""
        pid = self.running[name][1].pid
        for _ in range(0 if not self.pause else 1 if self.spec.get("shareProcessNamespace") else 2):
            pid = next(iter(self.children(pid)), 0)
        return pid

    @staticmethod
    def program_of(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return None

    def inner_pid(self, name):
        """The same as its pod sees it."""
        status = pathlib.Path(f"/proc/{self.pid(name)}/status").read_text()
        return status.split("NSpid:")[1].splitlines()[0].split()[-1]

    def execute(self, name, *words):
        """As `kubectl exec POD -c NAME -- WORDS`."""
        container = self.running[name][0]
        there = ["nsenter", "-t", str(self.pid(name)), "-m", "-p", "-i", "-u"]
        if name in self.groups:
            there = ["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', str(self.groups[name].folder), *there]
        return subprocess.run([*there, *self.as_its_user(container, words)], env={"PATH": os.environ["PATH"]},
                              text=True, errors="replace", capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=harness.TIMEOUT)
