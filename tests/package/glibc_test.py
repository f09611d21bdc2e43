"""What the recorder's package needs of the C library: its programs run, and its libraries load, from glibc 2.28 on."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = os.environ["WICPROF_BUILD"]
CMAKE = os.environ["WICPROF_CMAKE"]
NEWEST = (2, 28)  # of Debian 10 and RHEL 8

# Where glibc 2.28 has what later ones have in libc itself.
HOMES = ((r"pthread_(?!(self|equal|exit|attr_|cond|mutex_|setcancel|getschedparam|setschedparam)).*|sem_.*",
          "libpthread.so.0"),
         (r"dl(open|close|sym|vsym|error|addr1?|mopen)", "libdl.so.2"),
         (r"shm_(open|unlink)|timer_.*|mq_.*|aio_.*", "librt.so.1"))


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"


def said(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, check=True,
                          timeout=60).stdout


def needed_symbols(path):
    """Pairs of a name and its version, "" for none."""
    for line in said("readelf", "--dyn-syms", "--wide", path).splitlines():
        words = line.split()
        if len(words) > 7 and words[6] == "UND":
            name, _, version = words[7].partition("@")
            yield name, version.lstrip("@")


def is_old(version):
    match = re.fullmatch(r"GLIBC_([0-9]+)\.([0-9]+)(\.[0-9]+)?", version)
    return match is not None and (int(match[1]), int(match[2])) <= NEWEST


class Glibc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-glibc-")
        cls.addClassCleanup(folder.cleanup)
        said(CMAKE, "--install", BUILD, "--prefix", folder.name, "--component", "tool")
        cls.files = [path for path in pathlib.Path(folder.name).rglob("*") if is_elf(path)]

    def test_the_package_holds_programs(self):
        names = {path.name for path in self.files}
        self.assertLessEqual({"wic-prof", "hot_flag", "libwicprof_mpi.so", "libwicprof_nccl.so"}, names)
        if os.environ["WICPROF_HAS_COLLECTOR"] == "1":
            self.assertLessEqual({"libwicprof_inject.so", "libwicprof_nvrtc.so"}, names)

    def test_no_symbol_is_newer_than_glibc_2_28(self):
        for path in self.files:
            too_new = {f"{name} {version}" for name, version in needed_symbols(path) if version and not is_old(version)}
            # Versions that no symbol names, such as GLIBC_ABI_DT_RELR.
            versions = set(re.findall(r"Name: (\S+)", said("readelf", "--version-info", "--wide", path)))
            own = {version for version in versions if not is_old(version)}
            self.assertEqual(too_new | own, set(), f"{path.name} needs these: give old forms of them in cmake/glibc")

    def test_what_moved_into_libc_is_found_where_it_was(self):
        for path in self.files:
            libraries = set(re.findall(r"\(NEEDED\).*\[([^\]]+)\]", said("readelf", "--dynamic", "--wide", path)))
            for name, _ in needed_symbols(path):
                for pattern, home in HOMES:
                    if re.fullmatch(pattern, name):
                        self.assertIn(home, libraries, f"{path.name} needs {name}, which was in {home}")

    def test_nothing_is_visible_but_the_entries(self):
        """A name of ours could stand in for one of the program."""
        entries = {"InitializeInjection", "InitializeInjectionNvtx2", "wicprof_try_door", "wicprof_prewarm",
                   "nvrtcGetCUBIN", "wicprof_nvrtc_ptx", "chroot", "ncclProfiler_v4", "ncclProfiler_v5",
                   "ncclProfiler_v6"}
        for path in self.files:
            if path.suffix != ".so":
                continue
            rows = [line.split() for line in said("readelf", "--dyn-syms", "--wide", path).splitlines()]
            ours = {row[7] for row in rows if len(row) == 8 and row[0] != "Num:" and row[6] != "UND"}
            if path.name == "libwicprof_mpi.so":
                ours = {name for name in ours if not re.match(r"P?MPI_[A-Z]", name)}
            self.assertEqual(ours - entries, set(), path.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
