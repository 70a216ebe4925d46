#!/usr/bin/env python3
"""Sizes of files, lines and functions against the limits of the house style. One line per offence: file:line: what.

The limits are a ratchet: they may be tightened, never loosened.
"""

import sys

import cpp_scan

FILE_LINES = 600
FILE_LINES_P95 = 400
PUBLIC_HEADER_LINES = 400
LINE_COLUMNS = 120
FUNCTION_LINES = 70
FUNCTION_PARAMETERS = 5
FUNCTION_NESTING = 4
TEXT_SUFFIXES = cpp_scan.CPP_SUFFIXES | {".py", ".sh", ".cmake"}


def check_lines(path, text):
    lines = text.splitlines()
    public = path.startswith("include/")
    limit = PUBLIC_HEADER_LINES if public else FILE_LINES
    if len(lines) > limit:
        yield f"{path}:{limit + 1}: {'public header' if public else 'file'} of {len(lines)} lines, limit {limit}"
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS:
            yield f"{path}:{number}: line of {len(line)} columns, limit {LINE_COLUMNS}"


def check_functions(path, text):
    for function in cpp_scan.scan(text)[0]:
        where = f"{path}:{function.first}: {function.name}"
        if function.lines > FUNCTION_LINES:
            yield f"{where} has {function.lines} lines, limit {FUNCTION_LINES}"
        # The C interface takes NCCL's arguments, so that a port is a change of prefix.
        foreign = function.name.startswith("hkt")
        if function.parameters > FUNCTION_PARAMETERS and not foreign:
            yield f"{where} takes {function.parameters} parameters, limit {FUNCTION_PARAMETERS}: pass an options struct"
        if function.depth > FUNCTION_NESTING:
            yield f"{where} nests {function.depth} deep, limit {FUNCTION_NESTING}"


def check_p95(sizes):
    """Nineteen files of twenty stay below FILE_LINES_P95."""
    ordered = sorted(sizes, reverse=True)
    allowed = len(ordered) // 20
    for lines, path in ordered[allowed:]:
        if lines > FILE_LINES_P95:
            yield (f"{path}:1: file of {lines} lines; only {allowed} of {len(ordered)} files may have more than "
                   f"{FILE_LINES_P95}")


def check(root):
    sizes = []
    for path in cpp_scan.files(root, suffixes=TEXT_SUFFIXES):
        text = cpp_scan.read(root, path)
        yield from check_lines(path, text)
        if path.endswith(tuple(cpp_scan.CPP_SUFFIXES)):
            sizes.append((text.count("\n"), path))
            yield from check_functions(path, text)
    yield from check_p95(sizes)


if __name__ == "__main__":
    sys.exit(cpp_scan.report("size", check(cpp_scan.root_of(sys.argv))))
