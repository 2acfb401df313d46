"""Finds the places of a file that can be mutated: parses it with libclang and traverses its syntax tree."""

import ctypes
import glob
import re
import shlex
from pathlib import Path

from clang import cindex

import operators

K = cindex.CursorKind

# Headers that most sources include; parsing them once makes parsing a source five times as fast.
COMMON = """#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <ebb/ebb.h>
#include <ebb/ops/reduce.h>
#include <Eigen/Dense>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
"""

# Below these nodes, the compiler needs the value of an expression, so no choice is possible at run time.
CONSTANT = {K.ENUM_CONSTANT_DECL, K.STATIC_ASSERT, K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL,
            K.TYPEDEF_DECL, K.CXX_BASE_SPECIFIER, K.TEMPLATE_NON_TYPE_PARAMETER,
            K.TEMPLATE_TYPE_PARAMETER, K.CXX_UNARY_EXPR, K.SIZE_OF_PACK_EXPR}


def resource_dir():
    """The folder with clang's own headers (Debian's libclang-common-*-dev)."""
    found = sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/include/stddef.h"))
    return str(Path(found[-1]).parent.parent) if found else None


def flags_of(entry, copy, root):
    """The clang flags of a compile command; headers are read from the tree and not from its mutated copy."""
    words, keep, skip = shlex.split(entry["command"]), [], False
    for at, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word in ("-o", "-c", "-include"):
            skip = word != "-c"
        elif word == "-isystem":
            keep += [word, words[at + 1]]
            skip = True
        elif word.startswith(("-I", "-D", "-std", "-march")):
            keep.append(word)
    for part in ("include", "src"):
        keep = [k.replace(f"{copy}/{part}", f"{root}/{part}") for k in keep]
    return keep


class Parser:
    """Parses sources of the tree with the commands that build its copy."""

    def __init__(self, root, copy, commands):
        self.root, self.copy = Path(root), Path(copy)
        self.commands = {}
        for entry in commands:
            self.commands.setdefault(str(Path(entry["directory"], entry["file"])), entry)
        self.index = cindex.Index.create()
        self.precompiled = {}
        resources = resource_dir()
        self.extra = ["-resource-dir", resources] if resources else []

    def entry_for(self, path):
        """The command of this source; for a header, or a source in a batch, the command of a neighbour."""
        exact = self.commands.get(str(self.copy / path))
        if exact:
            return exact
        folder = (self.copy / path).parent
        while folder != self.copy.parent:
            for file, entry in self.commands.items():
                if file.startswith(f"{folder}/") and "/tests/" not in file:
                    return entry
            folder = folder.parent
        for file, entry in self.commands.items():
            if file.startswith(f"{self.copy}/src/"):
                return entry
        raise RuntimeError(f"no command compiles {path}")

    def common_headers(self, flags):
        """Parses the common headers once for the same flags, and saves the result if it has no error."""
        key = tuple(flags)
        if key not in self.precompiled:
            source, kept = self.copy / "common.hxx", self.copy / f"common.{len(self.precompiled)}.pch"
            source.write_text(COMMON)
            unit = self.index.parse(str(source), args=["-xc++-header", *flags],
                                    options=cindex.TranslationUnit.PARSE_INCOMPLETE | 0x10)
            sound = all(d.severity < cindex.Diagnostic.Error for d in unit.diagnostics)
            if sound:
                unit.save(str(kept))
            self.precompiled[key] = ["-include-pch", str(kept)] if sound else []
        return self.precompiled[key]

    def parse(self, path):
        """The syntax tree of a source of the tree."""
        flags = flags_of(self.entry_for(path), self.copy, self.root) + self.extra
        emulated = "cuda" in path
        if emulated:
            flags.append(f"-I{self.root}/src/cuda/emu/include")
        elif not path.startswith("include/"):  # the common headers already include those
            try:
                return self.index.parse(str(self.root / path), args=["-xc++", *self.common_headers(flags), *flags])
            except cindex.TranslationUnitLoadError:
                pass  # libclang sometimes cannot read its own saved file; without it, parsing takes seconds longer
        return self.index.parse(str(self.root / path), args=["-xc++", *flags])

    def mutants(self, path):
        """All mutants of a file, in the order of the file."""
        text = (self.root / path).read_bytes()
        unit = self.parse(path)
        found = []
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == str(self.root / path):
                walk(Node(cursor, text, None, False), found)
        unique, messages = {}, spans_of_messages(text.decode())
        for m in found:
            m.file = path
            if not any(begin <= m.begin and m.end <= end for begin, end in messages):
                unique.setdefault((m.begin, m.end, m.after), m)
        return sorted(unique.values(), key=lambda m: (m.begin, m.end, m.operator, m.after))


def spans_of_messages(text):
    """The places of texts of errors and warnings, which do not count as behavior: (begin, end) in bytes."""
    found = []
    for call in re.finditer(r"\b(EBB_CHECK(?:_INDEX)?|(?:::ebb::)?(?:detail::)?fail|warn(?:_once)?)(?:<[\w:]+>)?\(", text):
        depth, begin = 1, None if call.group(1).startswith("EBB_CHECK") else call.end()
        for part in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[()\[\]{},]', text[call.end():]):
            sign, at = part.group(), call.end() + part.start()
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 1 and begin is None:
                begin = at + 1
            if depth == 0:
                if begin is not None:
                    found.append((len(text[:begin].encode()), len(text[:at].encode())))
                break
    return found


def offset(location):
    """The offset of a location in the file; for an argument of a macro, the offset of the argument."""
    file, where = ctypes.c_void_p(), [ctypes.c_uint() for _ in range(3)]
    cindex.conf.lib.clang_getFileLocation(location, ctypes.byref(file), *map(ctypes.byref, where))
    return where[2].value


class Node:
    """A cursor with its position, its parent and whether the compiler needs its value."""

    def __init__(self, cursor, text, parent, constant):
        self.cursor, self.text, self.parent, self.constant = cursor, text, parent, constant
        self.kind = cursor.kind
        extent = cursor.extent
        self.begin, self.end = offset(extent.start), offset(extent.end)
        self._children = None

    @property
    def children(self):
        if self._children is None:
            self._children = []
            for position, cursor in enumerate(self.cursor.get_children()):
                self._children.append(Node(cursor, self.text, self, self.constant or self.needs_value(position, cursor)))
        return self._children

    def needs_value(self, position, child):
        """Whether the compiler needs the value of this child."""
        kind, is_expression = self.kind, child.kind.is_expression()
        if kind in CONSTANT:
            return True
        if kind == K.CASE_STMT:
            return position == 0
        if kind == K.IF_STMT:
            return position == 0 and b"constexpr" in self.text[self.begin:self.begin + 14]
        if kind in (K.VAR_DECL, K.UNEXPOSED_DECL):  # the latter for a template
            head = self.text[self.begin:offset(child.extent.start)].rstrip()
            return is_expression and (b"constexpr" in head or b"constinit" in head or head.endswith((b"[", b"<")))
        if kind == K.FIELD_DECL:
            before = self.text[self.begin:offset(child.extent.start)].rstrip()
            return is_expression and before.endswith((b":", b"[", b"<"))
        if kind in (K.DECL_REF_EXPR, K.TYPE_REF, K.TEMPLATE_REF):
            return True
        if kind == K.MEMBER_REF_EXPR:
            return position > 0
        if kind in (K.FUNCTION_DECL, K.CXX_METHOD, K.FUNCTION_TEMPLATE, K.PARM_DECL, K.CONVERSION_FUNCTION):
            if kind == K.PARM_DECL:
                return self.text[self.begin:offset(child.extent.start)].rstrip().endswith((b"[", b"<"))
            return is_expression
        return False

    def source(self):
        return self.text[self.begin:self.end].decode()

    def arguments(self):
        """The arguments of a call."""
        return [Node(c, self.text, self, self.constant) for c in self.cursor.get_arguments() if c is not None]


def within_angles(node):
    """Whether this is a template argument: clang-format writes these without a space next to < and >."""
    before, after = node.text[:node.begin], node.text[node.end:node.end + 1]
    return (before.endswith(b"<") and not before.endswith(b" <")) or (after == b">")


def walk(node, found):
    """Adds the mutants of a node, then those of its children."""
    if node.kind.is_declaration() and node.kind == K.FRIEND_DECL:
        return
    for mutant in operators.mutants_of(node):
        mutant.constant = node.constant or within_angles(node)
        found.append(mutant)
    for child in node.children:
        walk(child, found)
