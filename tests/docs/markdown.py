"""Markdown for the tests of documents: lines without code, code blocks, links, headings."""

import re

FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\S*)")


def split_fences(text):
    """(number, line, language) of every line; language is None outside of code blocks, and for their fences."""
    fence, language = None, None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence, language = mark.group(1), mark.group(2)
            yield number, "", None
        elif fence is not None and mark and mark.group(1).startswith(fence) and not mark.group(2):
            fence = None
            yield number, "", None
        else:
            yield number, line, language if fence is not None else None


def prose(text):
    """(number, line) outside of code blocks, with code spans blanked."""
    for number, line, language in split_fences(text):
        if language is None:
            yield number, re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)


def code_spans(text):
    """(number, content) of the code spans outside of code blocks."""
    for number, line, language in split_fences(text):
        if language is None:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))


def shell_lines(text):
    """(number, line) of the code blocks marked sh; a line that ends in a backslash continues in the next one."""
    begun, whole = None, ""
    for number, line, language in split_fences(text):
        if language != "sh":
            continue
        begun = begun or number
        whole += line.strip()
        if whole.endswith("\\"):
            whole = whole[:-1] + " "
            continue
        yield begun, whole
        begun, whole = None, ""


def anchors(text):
    """The anchors of the headings, as links name them."""
    names, seen = set(), {}
    for _, line, language in split_fences(text):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line) if language is None else None
        if not heading:
            continue
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(name if count == 0 else f"{name}-{count}")
    return names


def links(text):
    """(number, target) of every inline link, image and link definition."""
    for number, line in prose(text):
        for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", line):
            yield number, match.group(1)
        definition = re.match(r"\s{0,3}\[[^]]+\]:\s*<?(\S+?)>?(?:\s|$)", line)
        if definition:
            yield number, definition.group(1)
