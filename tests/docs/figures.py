"""Measured figures in a document against docs/results.

A document binds its figures in one block at its end, so that its sentences can be read as text:

    <!-- figures
    BEGIN OF A LINE
      FILE ROW FIELD [FORMAT [SCALE]]
      ...
    -->

The line of the document that begins so, and only one does, must show each of the figures below it. FORMAT is that of
Python; SCALE is *NUMBER or /NUMBER; a row is NAME or NAME[PARAM=VALUE,...], in quotation marks if it has spaces.

To write figures, put <!-- figure: FILE ROW FIELD [FORMAT [SCALE]] --> behind each, and move them into the block:
python3 tests/docs/figures.py PAGE...
"""

import json
import pathlib
import re
import shlex
import sys

from markdown import prose

TOP = {"bench": str, "date": str, "machine": str, "driver": str, "commit": str, "command": str, "rows": list}
NUMBER_OR_NONE = (int, float, type(None))
ROW = {"name": str, "params": dict, "value": (int, float), "unit": str, "compared_to": (str, type(None)),
       "ratio": NUMBER_OR_NONE, "bar": NUMBER_OR_NONE, "holds": (bool, type(None))}

BLOCK = re.compile(r"^<!-- figures\n((?:(?!-->).)*)^-->\n*\Z", re.M | re.S)
MARKER = re.compile(r"\s*<!--\s*figure:\s*(.*?)\s*-->")
COMMENT = re.compile(r"<!--.*?-->")
SHORTEST_BEGIN = 24  # characters: a shorter begin of a line says little to a reader
ROW_NAME = re.compile(r"^([^\[\]]+)(?:\[([^\[\]]*)\])?$")
SCALE = re.compile(r"^([*/])(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$")


class Wrong(Exception):
    """A marker that cannot be resolved; the message says why."""


def shape_problems(document, schema, where):
    if not isinstance(document, dict):
        return [f"{where}: not a JSON object"]
    problems = [f"{where}: no field '{name}'" for name in schema if name not in document]
    problems += [f"{where}: field '{name}' is not known" for name in document if name not in schema]
    for name, kinds in schema.items():
        value = document.get(name)
        allowed = kinds if isinstance(kinds, tuple) else (kinds,)
        if name in document and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in allowed)):
            problems.append(f"{where}: field '{name}' has the wrong type: {value!r}")
    return problems


def file_problems(path, benchmarks, mentions):
    """The problems of one result file. `benchmarks`: the folder of the benchmarks' sources. `mentions`: the documents
    that name the file, one of which must name each row that does not hold."""
    try:
        document = json.loads(path.read_text())
    except ValueError as error:
        return [f"{path.name}: not JSON: {error}"]
    problems = shape_problems(document, TOP, path.name)
    if problems:
        return problems
    if not re.fullmatch(r"\w+\.[\w.-]+\.json", path.name):
        problems.append(f"{path.name}: the name does not say the machine; call it NAME.MACHINE.json")
    is_bench = any((benchmarks / f"{document['bench']}{kind}").is_file() for kind in (".cpp", ".cu", ".py"))
    # A script may write several documents.
    script = re.match(r"python3 bench/(\w+\.py) ", document["command"])
    is_bench = is_bench or script is not None and (benchmarks / script[1]).is_file()
    # Tests that measure as well, on a GPU or for long.
    tests = benchmarks.parent / "tests"
    is_test = any(next(tests.glob(each), None) for each in (f"*/gpu/{document['bench']}.py",
                                                            f"reliability/{document['bench']}.py",
                                                            f"{document['bench']}/run.py"))
    if not is_bench and not is_test:
        problems.append(f"{path.name}: there is no bench/{document['bench']}.cpp")
    if not document["rows"]:
        problems.append(f"{path.name}: no rows")
    for number, row in enumerate(document["rows"]):
        where = f"{path.name}: row {number}"
        wrong = shape_problems(row, ROW, where)
        problems += wrong
        if wrong:
            continue
        if row["holds"] is not None and (row["ratio"] is None or row["bar"] is None):
            problems.append(f"{where}: 'holds' without a ratio and a bar")
        name = re.compile(r"(?<!\w)" + re.escape(row["name"]) + r"(?!\w)")
        if row["holds"] is False and not any(name.search(text) for text in mentions):
            problems.append(f"{where}: '{row['name']}' does not hold; say so in a document that names the file")
    return problems


def load_row(results, file, row_name):
    path = results / file
    if not path.is_file():
        raise Wrong(f"there is no docs/results/{file}")
    match = ROW_NAME.match(row_name)
    if not match:
        raise Wrong(f"cannot read the row '{row_name}'; write NAME or NAME[PARAM=VALUE,...]")
    wanted = [condition.split("=", 1) for condition in match.group(2).split(",")] if match.group(2) else []
    rows = [row for row in json.loads(path.read_text())["rows"]
            if row["name"] == match.group(1) and
            all(len(c) == 2 and c[0] in row["params"] and str(row["params"][c[0]]) == c[1] for c in wanted)]
    if len(rows) != 1:
        raise Wrong(f"docs/results/{file} has {len(rows)} rows '{row_name}'; choose one with NAME[PARAM=VALUE]")
    return rows[0]


def field_of(row, field):
    if field in ("value", "ratio"):
        value = row[field]
    elif field.startswith("params."):
        value = row["params"].get(field[len("params."):])
    else:
        raise Wrong(f"there is no field '{field}'; write value, ratio or params.NAME")
    if value is None:
        raise Wrong(f"row '{row['name']}' has no {field}")
    return value


def words_of(marker):
    """A row's name with spaces is in quotation marks."""
    try:
        return shlex.split(marker)
    except ValueError as error:
        raise Wrong(f"cannot read '{marker}': {error}") from None


def figure_of(results, words):
    """The figure as the document must show it."""
    if len(words) not in (3, 4, 5):
        raise Wrong("write FILE ROW FIELD [FORMAT [SCALE]]")
    value = field_of(load_row(results, words[0], words[1]), words[2])
    if len(words) == 5:
        scale = SCALE.match(words[4])
        if not scale or isinstance(value, str) or float(scale.group(2)) == 0:
            raise Wrong(f"cannot scale by '{words[4]}'; write *NUMBER or /NUMBER, for a number")
        factor = float(scale.group(2))
        value = value * factor if scale.group(1) == "*" else value / factor
    form = words[3] if len(words) > 3 else "%s" if isinstance(value, str) else "%g"
    try:
        return form % value
    except (TypeError, ValueError) as error:
        raise Wrong(f"cannot write {value!r} as '{form}': {error}") from None


def occurrences(figure, line):
    """How often the line has the whole figure: 9.5 does not occur in 19.5, 9.53 or 1,9.5."""
    return len(re.findall(r"(?<![\w.,])" + re.escape(figure) + r"(?![\w]|[.,]\d)", line)) if figure[:1].isdigit() else \
        line.count(figure)


def shown_lines(text):
    """(number, line, the line without code) of the document's sentences."""
    text = BLOCK.sub(lambda block: "\n" * block.group(0).count("\n"), text)
    lines = text.splitlines()
    return [(number, COMMENT.sub(" ", lines[number - 1]).strip(), COMMENT.sub(" ", line))
            for number, line in prose(text)]


def begin_of(line, lines):
    """The shortest begin of the line, in whole words, that no other line has."""
    for word in re.finditer(r"\S+", line):
        begin = line[:word.end()]
        if len(begin) >= SHORTEST_BEGIN and sum(each.startswith(begin) for each in lines) == 1:
            return begin
    return line


def bindings(text):
    """(number of the block's line, begin of the document's line, marker)"""
    for block in BLOCK.finditer(text):
        begin, first = "", text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block.group(1).splitlines(), first):
            if line.startswith("  "):
                yield number, begin, line.strip()
            else:
                begin = line


def marker_problems(text, results, where):
    """(number of figures, list of problems)."""
    problems = [f"{where}:{number}: figures are bound in one block at the end: python3 tests/docs/figures.py {where}"
                for number, line in prose(BLOCK.sub("", text)) if re.search(r"<!--\s*figure", line)]
    lines, needed, count = shown_lines(text), {}, 0
    for number, begin, marker in bindings(text):
        count += 1
        found = [(at, bare) for at, line, bare in lines if begin and line.startswith(begin)]
        if len(found) != 1:
            problems.append(f"{where}:{number}: {len(found)} lines begin with '{begin}'")
            continue
        try:
            figure = figure_of(results, words_of(marker))
        except Wrong as wrong:
            problems.append(f"{where}:{number}: {wrong}")
            continue
        at, line = found[0]
        needed[at, figure] = needed.get((at, figure), 0) + 1
        if occurrences(figure, line) < needed[at, figure]:
            problems.append(f"{where}:{at}: {marker} is {figure}, which the line does not say")
    return count, problems


def with_block(text):
    """The text with the marks behind its figures moved into its block."""
    bound = {}  # begin of a line as it was: markers
    for _, begin, marker in bindings(text):
        bound.setdefault(begin, []).append(marker)
    text = BLOCK.sub("", text).rstrip("\n") + "\n"
    in_prose = {number for number, line in prose(text) if MARKER.search(line)}
    lines, own = text.splitlines(), {}
    for number in sorted(in_prose):
        own[number] = MARKER.findall(lines[number - 1])
        lines[number - 1] = MARKER.sub("", lines[number - 1])
    bare = "\n".join(lines) + "\n"
    shown = [(number, line) for number, line, _ in shown_lines(bare)]
    for begin in bound:
        if (count := sum(line.startswith(begin) for _, line in shown)) != 1:
            raise Wrong(f"{count} lines begin with '{begin}', which the block binds figures to")
    block = ""
    for number, line in shown:
        markers = [each for begin, marks in bound.items() if line.startswith(begin) for each in marks]
        markers += own.get(number, [])
        if markers:
            block += begin_of(line, [each for _, each in shown]) + "\n" + "".join(f"  {each}\n" for each in markers)
    return bare if not block else f"{bare}\n<!-- figures\n{block}-->\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = pathlib.Path(name)
        try:
            page.write_text(with_block(page.read_text()))
        except Wrong as wrong:
            sys.exit(f"{name}: {wrong}")
