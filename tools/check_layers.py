#!/usr/bin/env python3
"""Include arrows against tools/layers.txt: only downwards, no cycle, and no foreign runtime named outside leaf/."""

import fnmatch
import pathlib
import re
import sys

import cpp_scan

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_NAMING = re.compile(r"^[ \t]*#[ \t]*(?:include|if|ifdef|ifndef|elif)\b.*", re.MULTILINE)
_FOREIGN = re.compile(r"(?<![a-z])(cuda|ucx|torch)(?![a-z])", re.IGNORECASE)


class Layers:
    def __init__(self, text):
        self.row_of, self.allowed = {}, []
        rows = [line.split("#")[0].strip() for line in text.splitlines()]
        for number, row in enumerate(filter(None, rows)):
            if "->" in row:
                folder, header = (part.strip() for part in row.split("->"))
                self.allowed.append((folder, header))
            else:
                self.row_of.update((folder, number) for folder in row.split())

    def refusal(self, folder, header):
        """Why folder may not include header, or None."""
        target = header.split("/")[0]
        if target == folder:
            return None
        for name in (folder, target):
            if name not in self.row_of:
                return f"folder {name} has no row in layers.txt"
        if self.row_of[target] < self.row_of[folder]:
            return None
        if self.row_of[target] > self.row_of[folder]:
            return f"{folder} may not include {header}: {target} is a higher row"
        if any(f == folder and fnmatch.fnmatch(header, pattern) for f, pattern in self.allowed):
            return None
        return f"{folder} may not include {header}: same row and not listed in layers.txt"


def folder_of(path):
    """The layer a file belongs to, or None when it may include anything (tests, benchmarks)."""
    parts = path.split("/")
    if parts[0] in ("src", "include"):
        return parts[1] if len(parts) > 2 else None
    return parts[0] if parts[0] in ("tools", "leaf") else None


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(root, path, text):
    """(header, line) of every quoted include that names a layer; a tool's own headers sit beside its files."""
    for match in _INCLUDE.finditer(text):
        header = match[1]
        bases = (pathlib.Path(path).parent, "tools/hocket")
        own = any((pathlib.Path(root) / base / header).is_file() for base in bases)
        if not (own and path.startswith(("tools/", "leaf/"))):
            yield header, line_of(text, match.start())


def foreign_names(path, text):
    for match in _NAMING.finditer(text):
        found = _FOREIGN.search(match[0])
        if found and not path.startswith(("leaf/", "src/leaf/")):
            yield f"{path}:{line_of(text, match.start())}: only leaf/ may name {found[1].lower()}"


def cycle(edges):
    """One cycle of folders, or None."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for target in sorted(edges.get(folder, ())):
            found = visit(target)
            if found:
                return found
        path.pop()
        done.add(folder)
        return None

    return next(filter(None, map(visit, sorted(edges))), None)


def check(root):
    layers = Layers(cpp_scan.read(root, "tools/layers.txt"))
    edges = {}
    for path in cpp_scan.files(root):
        text = cpp_scan.blank(cpp_scan.read(root, path), strings=False)
        yield from foreign_names(path, text)
        folder = folder_of(path)
        if folder is None:
            continue
        for header, line in includes(root, path, text):
            refusal = layers.refusal(folder, header)
            if refusal:
                yield f"{path}:{line}: {refusal}"
            if header.split("/")[0] != folder:
                edges.setdefault(folder, set()).add(header.split("/")[0])
    found = cycle(edges)
    if found:
        yield f"tools/layers.txt:1: cycle of folders: {' -> '.join(found)}"


if __name__ == "__main__":
    sys.exit(cpp_scan.report("layers", check(cpp_scan.root_of(sys.argv))))
