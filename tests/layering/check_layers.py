"""Reads every include line and fails on a dependency between parts that docs/architecture.md does not allow.

    protocol <- {rewriter, wic-backend, store};  {protocol, rewriter} <- collector
    {protocol, store} <- import <- cli;  {protocol, store} <- analyzer <- reports <- gui <- cli
    code <- {rewriter, analyzer}
    samples and docs/examples see only wic-backend/include
    only store sees SQLite, and bench for its baseline;  tests and bench see everything else
"""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]

PUBLIC = "wic-backend/include"  # the headers for programs that use the backend
EVERYTHING = {"protocol", "code", "rewriter", "collector", "wic-backend", PUBLIC, "store", "import", "analyzer",
              "reports", "cli", "gui", "samples", "bench", "docs", "tests"}

# part -> the other parts whose headers it may include.
MAY_SEE = {
    "protocol": set(),
    "code": set(),
    "rewriter": {"protocol", "code"},
    "collector": {"protocol", "rewriter"},
    "wic-backend": {"protocol", PUBLIC},
    PUBLIC: {"protocol"},
    "store": {"protocol"},
    "import": {"protocol", "store"},
    "analyzer": {"protocol", "code", "store"},
    "reports": {"protocol", "store", "analyzer"},
    "gui": {"protocol", "store", "analyzer", "reports"},
    "cli": {"protocol", "rewriter", "store", "import", "analyzer", "reports", "gui"},
    "samples": {PUBLIC},
    "docs": {PUBLIC},  # the examples
    "bench": EVERYTHING,
    "tests": EVERYTHING,
}


def rooms_of(page):
    """part -> its subfolders ("rooms") in the order of docs/architecture.md: a room may include earlier rooms, never
    later ones. "." is the part's folder itself."""
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| (.*) \|$", page, re.M)
    return {part: ["." if room == "top" else room.strip("`") for room in re.findall(r"`[\w/-]+`|\btop\b", rooms)]
            for part, rooms in rows if part in MAY_SEE and "in any order" not in rooms}


ROOMS = rooms_of((ROOT / "docs" / "architecture.md").read_text())

# External headers -> the parts that may include them.
GPU_PARTS = {"collector", "wic-backend", PUBLIC, "samples", "bench", "tests"}
OUTSIDE = [
    (re.compile(r"^sqlite3"), {"store", "bench"}, "SQLite"),
    (re.compile(r"^cupti"), {"collector", "bench", "tests"}, "CUPTI"),
    (re.compile(r"^(cuda|cooperative_groups|device_launch|nvtx3|nvToolsExt)"), GPU_PARTS, "CUDA"),
]

SOURCES = {".h", ".hpp", ".cuh", ".cpp", ".cc", ".c", ".cu", ".inl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def part_of(path, root):
    relative = path.relative_to(root).as_posix()
    if relative.startswith(PUBLIC + "/"):
        return PUBLIC
    return relative.split("/")[0]


def room_of(path, root):
    """The room that contains the file; None if the part has no rooms."""
    relative = path.relative_to(root).as_posix()
    part = part_of(path, root)
    if part not in ROOMS:
        return None
    inside = relative[len(part) + 1:]
    for room in sorted(ROOMS[part], key=len, reverse=True):
        if room != "." and inside.startswith(room + "/"):
            return room
    return "." if "/" not in inside else inside.rsplit("/", 1)[0]


def room_violation(source, header, root):
    """Describes a forbidden include between two rooms of one part, or None."""
    part, inner, outer = part_of(source, root), room_of(source, root), room_of(header, root)
    if inner == outer:
        return None
    for room in (inner, outer):
        if room not in ROOMS[part]:
            return f"{part}/{room} is not listed in docs/architecture.md"
    if ROOMS[part].index(outer) > ROOMS[part].index(inner):
        return f"{part}/{inner} comes before {part}/{outer} and may not include {header.relative_to(root)}"
    return None


def find_header(name, source, root):
    """The header in the tree that the include line names; None for an external header."""
    for folder in (source.parent, root, root / PUBLIC, root / part_of(source, root)):
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path
    return None


def source_files(root):
    for part in sorted({name.split("/")[0] for name in MAY_SEE}):
        for path in sorted((root / part).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                yield path


def violations(root):
    for source in source_files(root):
        part = part_of(source, root)
        text = source.read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            name = match.group(2)
            where = f"{source.relative_to(root)}:{text.count(chr(10), 0, match.start(1)) + 1}"
            header = find_header(name, source, root)
            if header is not None:
                seen = part_of(header, root)
                if seen != part and seen not in MAY_SEE[part]:
                    yield f"{where}: {part} may not include {name}, which belongs to {seen}"
                elif seen == part and part in ROOMS:
                    problem = room_violation(source, header, root)
                    if problem:
                        yield f"{where}: {problem}"
                continue
            if match.group(1) == '"' and name.split("/")[0] in MAY_SEE:
                yield f"{where}: {name} does not exist"
            for pattern, parts, what in OUTSIDE:
                if pattern.match(name) and part not in parts:
                    yield f"{where}: {part} may not include {name}; only {', '.join(sorted(parts))} may use {what}"


class Tree(unittest.TestCase):
    def test_rooms_are_listed(self):
        page = "| `store` | files | `sqlite`, `read/deep`, top |\n| `protocol` | x | top, in any order |\n"
        self.assertEqual(rooms_of(page), {"store": ["sqlite", "read/deep", "."]})
        for part, rooms in ROOMS.items():
            self.assertEqual([room for room in rooms if not (ROOT / part / room).is_dir()], [], part)
        self.assertEqual(sorted(ROOMS), ["analyzer", "cli", "code", "collector", "gui", "import", "reports", "rewriter",
                                         "store", "wic-backend"])

    def test_has_files(self):
        self.assertGreater(len(list(source_files(ROOT))), 30)

    def test_has_only_the_allowed_arrows(self):
        self.assertEqual(list(violations(ROOT)), [])


class Checker(unittest.TestCase):
    """Plants forbidden includes, to prove that the test above can fail."""

    def found(self, source, line, *headers):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name in (source, *headers):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).touch()
            (root / source).write_text(f"// first line\n{line}\n")
            return list(violations(root))

    def test_every_pair_of_parts(self):
        for part, allowed in MAY_SEE.items():
            for other in MAY_SEE:
                header = f"{other}/thing.h"
                found = self.found(f"{part}/source.cpp", f'#include "{header}"', header)
                self.assertEqual(len(found), 0 if other == part or other in allowed else 1, (part, other, found))

    def test_every_pair_of_rooms(self):
        for part, rooms in ROOMS.items():
            for inner, room in enumerate(rooms):
                for outer, other in enumerate(rooms):
                    source = f"{part}/{room}/source.cpp".replace("/./", "/")
                    header = f"{part}/{other}/thing.h".replace("/./", "/")
                    found = self.found(source, f'#include "{header}"', header)
                    self.assertEqual(len(found), 1 if outer > inner else 0, (source, header, found))

    def test_unknown_room(self):
        self.assertEqual(len(self.found("store/attic/a.cpp", '#include "store/format/b.h"', "store/format/b.h")), 1)

    def test_public_header_by_its_short_name(self):
        self.assertEqual(self.found("samples/a/a.cu", '#include "wic/wait.h"', f"{PUBLIC}/wic/wait.h"), [])
        self.assertEqual(len(self.found("collector/a.cpp", "#include <wic/wait.h>", f"{PUBLIC}/wic/wait.h")), 1)

    def test_relative_path(self):
        found = self.found("collector/a.cpp", '#include "../wic-backend/src/b.h"', "wic-backend/src/b.h")
        self.assertEqual(len(found), 1)

    def test_outside_headers(self):
        self.assertEqual(self.found("store/a.cpp", "#include <sqlite3.h>"), [])
        for part in set(MAY_SEE) - {"store", "bench"}:
            self.assertEqual(len(self.found(f"{part}/a.cpp", "  #  include <sqlite3.h>")), 1, part)
        self.assertEqual(len(self.found("protocol/a.h", "#include <cuda_runtime.h>")), 1)
        self.assertEqual(len(self.found("cli/a.cpp", "#include <cupti.h>")), 1)

    def test_missing_header(self):
        self.assertEqual(len(self.found("cli/a.cpp", '#include "protocol/none.h"')), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
