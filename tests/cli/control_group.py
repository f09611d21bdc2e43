"""Control groups with limits, of version 1 or 2, for tests of wic-prof in something like a container."""

import os
import pathlib
import unittest

ROOT = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group of the tests, with limits; None where this machine lets nobody make one."""

    def __init__(self, folder, limits):
        self.folder = folder
        self.folder.mkdir()
        for file, value in limits.items():
            (self.folder / file).write_text(str(value))

    @classmethod
    def limited(cls, controller, of_v1, of_v2):
        name = f"wicprof-test-{os.getpid()}"
        lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
        own = next((path for _, controllers, path in lines if controller in controllers.split(",")), None)
        try:
            if own is not None:
                mount = ROOT / controller
                here = mount / own.lstrip("/")
                return cls((here if here.is_dir() else mount) / name, of_v1)
            (ROOT / "cgroup.subtree_control").write_text(f"+{controller}")
            return cls(ROOT / name, of_v2)
        except OSError:
            try:
                (ROOT / name).rmdir()
            except OSError:
                pass
            raise unittest.SkipTest(f"cannot make a control group with a limit for {controller}") from None

    def is_removed(self):
        """Removes the group, once its last process has ended."""
        try:
            self.folder.rmdir()
        except OSError:
            return False
        return True
