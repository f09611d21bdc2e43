"""What a wait costs a kernel that is compiled for a GPU: instructions, registers and spills. Needs nvcc, and no GPU."""

import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

NVCC = os.environ["WICPROF_NVCC"]
SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
INSTRUCTION_BYTES = 16
LAUNCHES_1024_THREADS = 65_536 // 1024


def functions_of(cubin):
    """(name, bytes) of each function; the size of a kernel includes that of the functions in its section."""
    data = cubin.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, entries = struct.unpack_from("<HH", data, 0x3a)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(entries)]
    found = []
    for _, kind, _, _, at, size, link, _, _, each in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        names = sections[link][4]
        for place in range(at, at + size, each):
            name, info, _, _, _, length = struct.unpack_from("<IBBHQQ", data, place)
            if info & 0xf == 2:  # STT_FUNC
                found.append((data[names + name:data.index(b"\0", names + name)].decode(), length))
    return found


class Kernel:
    def __init__(self, registers, barriers, own_spills, all_spills, own_instructions):
        self.registers, self.barriers = registers, barriers
        self.own_spills, self.all_spills, self.own_instructions = own_spills, all_spills, own_instructions


def compile_kernels(*options):
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "wait_size.cubin"
        done = subprocess.run([NVCC, "-std=c++20", "-O3", "-arch=sm_90", "-Xptxas=-v", "-cubin", "-o", str(cubin),
                               f"-I{SOURCE}", f"-I{SOURCE / 'wic-backend/include'}", *options,
                               str(SOURCE / "tests/wic-backend/wait_size.cu")], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        sizes = functions_of(cubin)
    kernels = {}
    for part in done.stderr.split("Compiling entry function ")[1:]:
        name = re.match(r"'(\S+)'", part).group(1)
        if "kernel_of_this_module" in name:  # wic/own_module.h
            continue
        spills = [int(count) for count in re.findall(r"(\d+) bytes spill stores", part)]
        own = dict(sizes)[name] - sum(size for function, size in sizes if function.startswith(f"${name}$"))
        short = re.search(r"(Nothing|BlockWaits|LongForm|WarpsWait|ThreeWaits)", name).group(1)
        used = re.search(r"Used (\d+) registers, used (\d+) barriers", part)
        kernels[short] = Kernel(int(used.group(1)), int(used.group(2)), spills[0], sum(spills),
                                own // INSTRUCTION_BYTES)
    return kernels


class WaitSize(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.free = compile_kernels()
        cls.tight = compile_kernels("-maxrregcount=32")

    def test_each_wait_takes_few_instructions_of_the_kernel(self):
        # The long form knows its group only when the kernel runs.
        for kernel, waits, most in (("BlockWaits", 1, 150), ("LongForm", 2, 200), ("WarpsWait", 2, 150),
                                    ("ThreeWaits", 3, 150)):
            with self.subTest(kernel):
                inline = self.free[kernel].own_instructions - self.free["Nothing"].own_instructions
                self.assertGreater(inline, 0)
                self.assertLessEqual(inline / waits, most)

    def test_blocks_of_1024_threads_launch_without_launch_bounds(self):
        for kernel in ("BlockWaits", "LongForm", "WarpsWait"):
            with self.subTest(kernel):
                self.assertLessEqual(self.free[kernel].registers, LAUNCHES_1024_THREADS)

    def test_a_wait_itself_needs_32_registers(self):
        # Bytes that the kernel itself stores in its stack; with several waits, also what is kept from one to the next.
        for kernel, most in (("BlockWaits", 8), ("LongForm", 100), ("WarpsWait", 60)):
            with self.subTest(kernel):
                self.assertEqual(self.tight[kernel].registers, 32)
                self.assertLessEqual(self.tight[kernel].own_spills, most)

    def test_only_the_barriers_of_the_groups_are_taken(self):
        """An SM has 64: a kernel that takes 16 has four blocks per SM at most."""
        barriers = {name: kernel.barriers for name, kernel in self.free.items()}
        self.assertEqual(barriers, {"Nothing": 0, "BlockWaits": 1, "LongForm": 1, "WarpsWait": 3, "ThreeWaits": 1})

    def test_launch_bounds_spill_little(self):
        self.assertEqual(self.free["ThreeWaits"].registers, 32)
        self.assertLessEqual(self.free["ThreeWaits"].own_spills, 160)
        self.assertLessEqual(self.free["ThreeWaits"].all_spills, 500)  # 1,496 with all strategies in each wait


if __name__ == "__main__":
    unittest.main(verbosity=2)
