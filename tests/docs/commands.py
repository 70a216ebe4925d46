#!/usr/bin/env python3
"""Runs every command that the documents show and compares its output with what they print.

A document is README.md, CONTRIBUTING.md or a page of docs/ (measured.md apart: it records past runs). Each has a
scratch folder of its own, with `examples` beside, and its commands run in the order of the text:

* a block fenced with ```console: lines after `$ ` are commands, the lines below their output, stdout and stderr
  together. `...` alone on a line stands for any lines, ` ...` at its end for the rest of the line. `(exit 2)` as last
  line: that exit status, otherwise 0.
  ```console varying: times differ from run to run, so every number counts as equal to every other.
* a code span or table cell that starts with `hocket `: it must succeed. Words in capitals are placeholders: not run.

`--examples` checks the example that each verb prints under --help instead.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(.*)$")
SPAN = re.compile(r"`(hocket [^`]+)`")
PLACEHOLDER = re.compile(r"(^|[ =,|])(?!B\b)[A-Z][A-Z_]+([ .|,]|$)|\.\.\.|…")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
UNIT = re.compile(r"# ?(?:ns|us|ms|s|[kMGT]?B/s)(?=\W|$)")
SECONDS_MAX = 120


class Command:
    def __init__(self, line, number, expected=None, varying=False):
        self.line, self.number, self.expected, self.varying, self.status = line, number, expected, varying, 0


def commands_of_block(lines, first, varying):
    found = []
    for offset, line in enumerate(lines):
        if line.startswith("$ "):
            found.append(Command(line[2:], first + offset, [], varying))
        elif not found:
            raise SystemExit(f"line {first + offset}: a console block starts with '$ '")
        elif re.fullmatch(r"\(exit \d+\)", line):
            found[-1].status = int(line[6:-1])
        else:
            found[-1].expected.append(line)
    return found


def commands_of(text):
    found, block, info, first = [], None, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and block is None:
            block, info, first = [], fence.group(1).split(), number + 1
        elif fence:
            if info[:1] == ["console"]:
                found += commands_of_block(block, first, "varying" in info)
            block = None
        elif block is not None:
            block.append(line)
        else:
            found += [Command(span, number) for span in SPAN.findall(line) if not PLACEHOLDER.search(span)]
    return found


def normal(line, varying):
    line = line.rstrip()
    if varying:
        line = re.sub(r"\s+", " ", UNIT.sub("#", NUMBER.sub("#", line)))
    return line


def same_line(expected, actual):
    return actual.startswith(expected[:-3]) if expected.endswith(" ...") else expected == actual


def matches(expected, actual):
    """True when `actual` lines are those of `expected`, where '...' stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and same_line(expected[0], actual[0]) and matches(expected[1:], actual[1:])


def trimmed(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def complaint(command, folder, path):
    run = subprocess.run(["bash", "-c", command.line], cwd=folder, env={"PATH": path, "LC_ALL": "C.UTF-8"},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=SECONDS_MAX)
    if run.returncode != command.status:
        return f"exit status {run.returncode}, expected {command.status}\n{run.stdout}"
    if command.expected is None:
        return None
    expected = trimmed([normal(line, command.varying) for line in command.expected])
    actual = trimmed([normal(line, command.varying) for line in run.stdout.splitlines()])
    if matches(expected, actual):
        return None
    return "prints other lines; now:\n" + run.stdout


def check_document(document, root, path):
    bad = 0
    commands = commands_of(document.read_text())
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "examples", pathlib.Path(folder) / "examples")
        for command in commands:
            text = complaint(command, folder, path)
            if text is not None:
                bad += 1
                print(f"{document.relative_to(root)}:{command.number}: {command.line}\n  {text}")
    print(f"{document.relative_to(root)}: {len(commands)} commands, {bad} wrong")
    return len(commands), bad


def check_examples(binary, root, path):
    text = subprocess.run([binary, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    verbs = re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[1], re.MULTILINE)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "examples", pathlib.Path(folder) / "examples")
        subprocess.run([binary, "plan", "all_reduce", "--topo", "torus:4x4", "-o", "plan.hkt"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        for verb in verbs:
            text = subprocess.run([binary, verb, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
            example = re.search(r"Example:\n\s*(hocket .*)", text)
            wrong = complaint(Command(example.group(1), 0), folder, path) if example else "no example in its --help"
            if wrong is not None:
                bad += 1
                print(f"hocket {verb}: {wrong}")
    print(f"{len(verbs)} verbs, {bad} wrong")
    return len(verbs), bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--examples", action="store_true")
    options = parser.parse_args()
    options.binary, options.root = options.binary.resolve(), options.root.resolve()
    path = f"{options.binary.parent}:/usr/bin:/bin"
    if options.examples:
        count, bad = check_examples(options.binary, options.root, path)
    else:
        documents = [options.root / "README.md", options.root / "CONTRIBUTING.md"]
        documents += sorted(page for page in (options.root / "docs").rglob("*.md") if page.name != "measured.md")
        results = [check_document(document, options.root, path) for document in documents]
        count, bad = (sum(column) for column in zip(*results))
    if count == 0:
        sys.exit("no command found: the check itself is broken")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
