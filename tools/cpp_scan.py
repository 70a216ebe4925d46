"""A small C++ scanner for the style checks: no compiler, no preprocessor, about a million characters a second.

It knows comments, strings, raw strings, digit separators, templates, lambdas, constructors with initialiser lists and
test macros well enough to say where functions begin and end, how deep they nest and how many parameters they take.
Where C++ cannot be told apart without types it errs towards saying nothing.
"""

import pathlib
import re

CPP_SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".c", ".cu", ".cuh"}
CODE_FOLDERS = ("src", "include", "tools", "tests", "bench", "leaf")

_LEXEME = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
      | (?P<number>(?<![\w])\.?\d(?:'?[\w.])*)
      | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
      | [A-Za-z_]\w*""",
    re.VERBOSE | re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")
_TOKEN = re.compile(r"\n|[A-Za-z_]\w*|\.?\d[\w.']*|::|->|<<=|<=>|<<|<=|>=|==|!=|&&|\|\||[^\s\w]")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:[^\\\n]|\\.|\\\n)*", re.MULTILINE)


def files(root, folders=CODE_FOLDERS, suffixes=CPP_SUFFIXES):
    """Paths relative to root of all files with one of the suffixes, in order of name."""
    root = pathlib.Path(root)
    found = [p for f in folders for p in (root / f).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(p.relative_to(root).as_posix() for p in found)


def read(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8", errors="replace")


def blank(text, strings=True):
    """The text with comments (and the insides of strings) as spaces; every other character keeps line and column."""

    def replace(match):
        kind = match.lastgroup
        if kind == "comment":
            return _NOT_NEWLINE.sub(" ", match[0])
        if kind in ("raw", "tag", "string", "char") and strings:
            return '"' + _NOT_NEWLINE.sub(" ", match[0])[1:-1] + '"'
        return match[0]

    return _LEXEME.sub(replace, text)


def blank_directives(text):
    """Preprocessor lines as spaces, and of every #if only the first branch kept: one set of braces, not two."""
    spans, dead_from = [], []
    for match in _DIRECTIVE.finditer(text):
        spans.append(match.span())
        if match[1] in ("if", "ifdef", "ifndef"):
            dead_from.append(None)
        elif match[1] in ("else", "elif") and dead_from and dead_from[-1] is None:
            dead_from[-1] = match.end()
        elif match[1] == "endif" and dead_from:
            start = dead_from.pop()
            if start is not None:
                spans.append((start, match.start()))
    out, position = [], 0
    for start, end in sorted(spans):
        if end > position:
            start = max(start, position)
            out += (text[position:start], _NOT_NEWLINE.sub(" ", text[start:end]))
            position = end
    return "".join(out) + text[position:]


class Group:
    """A bracketed part of a statement: the opening bracket and what stands inside."""

    def __init__(self, bracket, items):
        self.bracket, self.items = bracket, items


class Function:
    def __init__(self, name, first, last, parameters, depth):
        self.name, self.first, self.last, self.parameters, self.depth = name, first, last, parameters, depth

    @property
    def lines(self):
        return self.last - self.first + 1


class _Frame:
    def __init__(self, kind, bracket, line, level, function=None):
        self.kind, self.bracket, self.line, self.level, self.function = kind, bracket, line, level, function
        self.items, self.first_line, self.is_lambda = [], line, False

    def clear(self):
        self.items = []


_DECLARATIVE = ("file", "namespace", "class")
_TYPE_WORDS = {"class", "struct", "union", "enum"}
_SPECIFIERS = {"static", "inline", "constexpr", "constinit", "consteval", "const", "typedef", "friend", "extern"}
_NOT_PARAMETERS = {"alignas", "noexcept", "decltype", "explicit", "requires", "__attribute__", "operator"}
_CONTROL = {"if", "for", "while", "switch", "catch"}
_AFTER_LAMBDA = {"mutable", "noexcept", "constexpr", "requires", "->", "::", "<", ">", "*", "&", "&&", ",", "const"}
_BEFORE_LAMBDA = {"return", "co_return", "co_yield", "case", "else"}


def _is(item, bracket):
    return isinstance(item, Group) and item.bracket == bracket


def _is_word(item):
    return isinstance(item, str) and (item[0].isalpha() or item[0] == "_")


def _without_angles(items):
    """Template arguments and parameters left out; attributes too."""
    out, depth, before = [], 0, None
    for item in items:
        if item == "<" and before != "operator" and (depth or _is_word(before)):
            depth += 1
        elif item == ">" and depth:
            depth -= 1
        elif not depth and not (_is(item, "[") and len(item.items) == 1 and _is(item.items[0], "[")):
            out.append(item)
        before = item
    return out


def _count_parameters(group):
    items = _without_angles(group.items)
    return 1 + items.count(",") if items and items != ["void"] else 0


def _lambda_parameters(items):
    """The number of parameters when `{` after these items opens a lambda's body, else None."""
    at = next((i for i in reversed(range(len(items))) if _is(items[i], "[")), None)
    if at is None:
        return None
    before = items[at - 1] if at else None
    if isinstance(before, Group) or (_is_word(before) and before not in _BEFORE_LAMBDA):
        return None
    group = None
    for item in items[at + 1:]:
        if _is(item, "(") and group is None:
            group = item
        elif not _is(item, "(") and item not in _AFTER_LAMBDA and not _is_word(item):
            return None
        elif _is_word(item) and group is None and items[at + 1] != "<" and item not in _AFTER_LAMBDA:
            return None
    return _count_parameters(group) if group else 0


def _parameter_group(items):
    """(index, name) of the parameter list in a declaration without angles, or None when it declares no function."""
    for i, item in enumerate(items):
        before = items[i - 1] if i else None
        if item == "=" and before != "operator":
            return None
        if _is(item, "(") and before not in _NOT_PARAMETERS and i:
            return i, before if isinstance(before, str) else "operator()"
    return None


def _opens_block(items):
    """How many levels `{` after these statement items adds, 0 when it opens no block."""
    rest = [i for i in items if not (_is(i, "[") and len(i.items) == 1 and _is(i.items[0], "["))]
    if not rest:
        return 1
    levels = 0
    while rest:
        word = rest.pop(0)
        if word in ("else", "do", "try"):
            levels = max(levels, 1) if word == "else" else levels + 1
            continue
        if word not in _CONTROL:
            return 0
        if rest and rest[0] in ("constexpr", "consteval"):
            rest.pop(0)
        if rest and _is(rest[0], "("):
            rest.pop(0)
        levels += 1
    return max(levels - (1 if items[:2] == ["else", "if"] else 0), 1)


class _Scanner:
    def __init__(self):
        self.frames = [_Frame("file", "", 1, 0)]
        self.functions, self.types = [], []
        self.line = 1

    def feed(self, token):
        frame = self.frames[-1]
        if token == "{":
            self.open_brace(frame)
        elif token in "([":
            self.push(_Frame("group", token, self.line, frame.level, frame.function))
        elif token in ")]}":
            self.close(token)
        elif token == ";" and frame.kind != "group":
            self.declaration(frame)
            frame.clear()
        elif token == ":" and self.is_label(frame):
            frame.clear()
        else:
            if not frame.items:
                frame.first_line = self.line
            frame.items.append(token)

    def push(self, frame):
        if not self.frames[-1].items:
            self.frames[-1].first_line = self.line
        self.frames.append(frame)

    @staticmethod
    def is_label(frame):
        first = frame.items[0] if frame.items else None
        return first in ("case", "default") or (len(frame.items) == 1 and first in ("public", "private", "protected"))

    def open_brace(self, frame):
        items = frame.items
        parameters = _lambda_parameters(items)
        if parameters is not None:
            level = frame.level + 1 if frame.function else 0
            self.open_function("lambda", self.line, parameters, level)
        elif frame.kind in _DECLARATIVE:
            self.open_declaration(frame, _without_angles(items))
        elif frame.kind in ("body", "block"):
            self.open_statement(frame, items)
        else:
            self.push(_Frame("init", "{", self.line, frame.level, frame.function))

    def open_declaration(self, frame, items):
        while items and items[0] in _SPECIFIERS | {"template"}:
            items = items[1:]
        kind = "init"
        if frame.items and ("namespace" in items[:2] or (frame.items[0] == "extern" and items[:2] == ['"', '"'])):
            kind = "namespace"
        elif items and items[0] in _TYPE_WORDS:
            kind = self.open_type(items)
        else:
            found = _parameter_group(items)
            if found and not self.is_member_init(items, found[0]):
                first = frame.first_line
                self.open_function(found[1], first, _count_parameters(items[found[0]]), 0)
                return
        self.push(_Frame(kind, "{", self.line, frame.level, frame.function))

    def open_type(self, items):
        name = next((i for i in items[1:] if _is_word(i) and i not in _TYPE_WORDS | {"alignas", "final"}), "")
        self.types.append((name, self.line))
        return "init" if items[0] == "enum" else "class"

    @staticmethod
    def is_member_init(items, parameters_at):
        tail = items[parameters_at + 1:]
        if items[-3:-1] == ["requires", "requires"] or items[-1] == "requires":
            return True
        return ":" in tail and isinstance(items[-1], str)

    def open_statement(self, frame, items):
        levels = _opens_block(items)
        bare = [i for i in items if i not in _SPECIFIERS]
        if levels:
            level = frame.level + levels
            frame.function.depth = max(frame.function.depth, level)
            self.push(_Frame("block", "{", self.line, level, frame.function))
        elif bare and bare[0] in _TYPE_WORDS and "=" not in bare:
            self.push(_Frame(self.open_type(bare), "{", self.line, 0, None))
        else:
            self.push(_Frame("init", "{", self.line, frame.level, frame.function))

    def open_function(self, name, first, parameters, level):
        function = Function(name, first, first, parameters, level)
        self.functions.append(function)
        outer = self.frames[-1].function
        if name == "lambda" and outer:
            outer.depth = max(outer.depth, level)
        frame = _Frame("body", "{", self.line, level, function)
        frame.is_lambda = name == "lambda"
        self.push(frame)

    def close(self, token):
        if len(self.frames) == 1:
            return
        frame = self.frames.pop()
        parent = self.frames[-1]
        if frame.kind == "body":
            frame.function.last = self.line
        if frame.kind == "body" and parent.function and frame.is_lambda:
            parent.function.depth = max(parent.function.depth, frame.function.depth)
        if frame.kind in ("group", "init") or (frame.kind == "body" and frame.is_lambda):
            parent.items.append(Group(frame.bracket, frame.items))
        else:
            parent.clear()

    def declaration(self, frame):
        if frame.kind not in _DECLARATIVE or not frame.items or frame.items[0] in ("using", "typedef", "static_assert"):
            return
        items = _without_angles(frame.items)
        found = _parameter_group(items)
        if found and not (found[0] == 1 and found[1].isupper()):
            function = Function(found[1], frame.first_line, frame.first_line, _count_parameters(items[found[0]]), 0)
            self.functions.append(function)


def scan(text):
    """(functions, types): every function, lambda and declaration; every named type with its line."""
    scanner = _Scanner()
    for match in _TOKEN.finditer(blank_directives(blank(text))):
        if match[0] == "\n":
            scanner.line += 1
        else:
            scanner.feed(match[0])
    return scanner.functions, scanner.types


def root_of(argv):
    return argv[1] if len(argv) > 1 else pathlib.Path(__file__).resolve().parent.parent


def report(name, offences):
    """Prints the offences; the exit status of a check."""
    count = 0
    for count, offence in enumerate(offences, 1):
        print(offence)
    print(f"{name}: {count} offences" if count else f"{name}: ok")
    return 1 if count else 0
