"""Installs the build into a temporary folder and uses it there as a CMake package and as a tool."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["WICPROF_BUILD"]
VERSION = os.environ["WICPROF_VERSION"]
CMAKE = os.environ["WICPROF_CMAKE"]
NVCC = os.environ["WICPROF_NVCC"]
HAS_COLLECTOR = os.environ["WICPROF_HAS_COLLECTOR"] == "1"
APP = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "app"


def call(*command, timeout=300, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=timeout, **options)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        cls.prefix = cls.folder / "prefix"
        done = call(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        assert done.returncode == 0, done.stdout
        # An installation must work after a move.
        (cls.folder / "first").rename(cls.prefix)

    def configure(self, source, build, *options):
        return call(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                    f"-DCMAKE_CXX_COMPILER={os.environ['WICPROF_CXX']}", "-DCMAKE_BUILD_TYPE=Release", *options)

    def build_app(self, name, *options):
        """Builds the documentation's program outside the tree with warnings enabled, once per name."""
        source, build = self.folder / f"{name}-source", self.folder / f"{name}-build"
        if not source.exists():
            shutil.copytree(APP, source)
            done = self.configure(source, build, "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", *options)
            self.assertEqual(done.returncode, 0, done.stdout)
            done = call(CMAKE, "--build", build)
            self.assertEqual(done.returncode, 0, done.stdout)
        return build / "app"

    def build_plain_app(self):
        return self.build_app("cxx", "-DCMAKE_CXX_FLAGS=-Wall -Wextra")

    def assert_right(self, done):
        self.assertEqual((done.returncode, done.stdout), (0, "sum 5050000\n"))

    def test_a_program_builds_and_runs(self):
        app = self.build_plain_app()
        self.assert_right(call(app, timeout=60))
        self.assertNotEqual(call(app, "simt:0", timeout=60).returncode, 0)

    @unittest.skipUnless(NVCC, "built without CUDA")
    def test_the_same_source_builds_as_cuda(self):
        app = self.build_app("cuda", "-DAPP_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=90")
        self.assert_right(call(app, "simt:1", timeout=60))
        done = call(app, "cuda:0", timeout=60)
        if done.returncode == 0:
            self.assert_right(done)
        else:  # without a GPU the program must print a message
            self.assertRegex(done.stdout, "^app: .*(CUDA|GPU|cuda)")

    def test_installs_exactly_the_headers_of_this_tree(self):
        include = self.prefix / "include" / "wic-prof"
        root = pathlib.Path(__file__).resolve().parents[2]
        for part, source in (("wic", root / "wic-backend" / "include" / "wic"), ("protocol", root / "protocol")):
            names = sorted(p.relative_to(source) for p in source.rglob("*.h"))
            self.assertGreater(len(names), 10)
            installed = sorted(p.relative_to(include / part) for p in (include / part).rglob("*") if p.is_file())
            self.assertEqual(installed, names)

    def test_nothing_installed_points_into_the_build(self):
        package = list((self.prefix).rglob("cmake/wic/*.cmake"))
        self.assertGreaterEqual(len(package), 4)
        for path in package:
            for folder in (BUILD, str(APP.parents[2])):
                self.assertNotIn(folder, path.read_text(), path.name)

    def test_versions(self):
        major, minor, patch = (int(part) for part in VERSION.split("."))
        source = self.folder / "version"  # one build folder, in which CMake asks the compiler once
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
            "separate_arguments(WANTED)\nfind_package(wic ${WANTED} REQUIRED)\n"
            "if(NOT TARGET wic::wic)\n  message(FATAL_ERROR \"no target\")\nendif()\n"
            "message(STATUS \"wic ${wic_VERSION}, CUDA ${wic_CUDA}\")\n")
        for wanted, found in ((VERSION, True), (f"{major}.{minor}", True), ("", True), ("0.0.1", False),
                              (f"{major}.{minor}.{patch + 1}", False), (f"{major}.{minor + 1}", False),
                              (f"{major + 1}.0", False), (f"{VERSION} EXACT", True)):
            with self.subTest(wanted=wanted):
                done = self.configure(source, source / "build", f"-DWANTED={wanted}", "-Uwic_DIR")
                if found:
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn(f"wic {VERSION}, CUDA {'TRUE' if NVCC else 'FALSE'}", done.stdout)
                else:
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"version: {VERSION}", done.stdout)  # found but rejected

    def test_the_tool_records_a_program_of_the_package(self):
        tool = self.prefix / "bin" / "wic-prof"
        app = self.build_plain_app()
        trace = self.folder / "app.wicprof"
        done = call(tool, "run", "--mode", "park", "-q", "-o", trace, "--", app, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("sum 5050000", done.stdout)
        done = call(tool, "analyze", trace, "--format", "json", timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)
        sites = {site["site"]: site["count"] for site in json.loads(done.stdout)["sites"]}
        self.assertEqual(sites, {"app.numbers": 100})

    def test_the_tool_finds_its_parts(self):
        tool = self.prefix / "bin" / "wic-prof"
        if HAS_COLLECTOR:
            done = call(tool, "doctor", "--format", "json", timeout=60)
            self.assertIn(str(self.prefix / "lib" / "libwicprof_inject.so"), done.stdout)
        folder = self.folder / "demo"
        folder.mkdir()
        done = call(tool, "demo", "-o", folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue((folder / "report.html").is_file())


if __name__ == "__main__":
    unittest.main(verbosity=2)
