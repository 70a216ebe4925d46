#!/usr/bin/env python3
"""Names and words of the house style: banned names, the opening comment of headers, banned parts of the language."""

import pathlib
import re
import sys

import cpp_scan

# A banned word counts anywhere in a name; the second group only at its end (a DataType is a type, not data).
BANNED_ANYWHERE = {"manager", "helper", "helpers", "util", "utils", "utility", "utilities", "misc", "impl"}
BANNED_LAST = {"common", "data", "info"}
ALLOWED_FILES = {"tools/hocket/verbs/info.cpp"}
BANNED_CODE = (
    (re.compile(r"\bstd\s*::\s*(?:v?format(?:_to(?:_n)?)?)\b|#\s*include\s*<format>"), "std::format: use fmt"),
    (re.compile(r"\bstd\s*::\s*expected\b|#\s*include\s*<expected>"), "std::expected: use hocket::Result"),
    (re.compile(r"\bvolatile\b"), "volatile"),
    (re.compile(r"(?:\.|->)\s*detach\s*\(\s*\)"), "a detached thread"),
    (re.compile(r"\bthread_local\b"), "thread-local state"),
    (re.compile(r"\bprint\s*\(\s*stderr\b|\bstd\s*::\s*cerr\b"), "a print to stderr may throw: say() of base/say.h"),
)
ATOMIC = re.compile(r"\bstd\s*::\s*atomic|#\s*include\s*<atomic>")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
COMMENT_LINES = range(3, 11)


def banned_word(words):
    for word in words:
        if word in BANNED_ANYWHERE:
            return word
    return words[-1] if words and words[-1] in BANNED_LAST else None


def words_of_type(name):
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def check_names(path, text):
    word = banned_word(re.split(r"[_\-.]", pathlib.PurePosixPath(path).stem.lower()))
    if word and path not in ALLOWED_FILES:
        yield f"{path}:1: file name with the banned word '{word}'"
    for name, line in cpp_scan.scan(text)[1]:
        word = banned_word(words_of_type(name))
        if word:
            yield f"{path}:{line}: type {name} with the banned word '{word}'"


def opening_comment_lines(text):
    """Lines of the comment right before or right after #pragma once."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line != "#pragma once"]
    count, in_block = 0, False
    for line in lines:
        in_block = in_block or line.startswith("/*")
        if not in_block and not line.startswith("//"):
            break
        count += 1 if re.search(r"\w", line) else 0
        in_block = in_block and "*/" not in line
    return count


def check_header(path, text):
    if not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield f"{path}:1: header without #pragma once"
    count = opening_comment_lines(text)
    if count not in COMMENT_LINES:
        yield f"{path}:1: header opens with {count} lines of comment, wanted 3 to 10"


def check_code(path, text, atomics_allowed):
    code = cpp_scan.blank(text)
    patterns = list(BANNED_CODE)
    if not path.startswith(tuple(atomics_allowed)):
        patterns.append((ATOMIC, "an atomic outside the places in tools/atomics.txt"))
    patterns = [(pattern, code, what) for pattern, what in patterns] + [(UNFINISHED, text, "an unfinished note")]
    for pattern, where, what in patterns:
        for match in pattern.finditer(where):
            yield f"{path}:{where.count(chr(10), 0, match.start()) + 1}: {what}"


def check(root):
    rows = (line.split("#")[0].strip() for line in cpp_scan.read(root, "tools/atomics.txt").splitlines())
    atomics_allowed = list(filter(None, rows))
    for path in cpp_scan.files(root):
        text = cpp_scan.read(root, path)
        yield from check_names(path, text)
        yield from check_code(path, text, atomics_allowed)
        if path.endswith((".h", ".hpp", ".cuh")):
            yield from check_header(path, text)


if __name__ == "__main__":
    sys.exit(cpp_scan.report("names", check(cpp_scan.root_of(sys.argv))))
