"""Reads the list of equivalent mutants, which are not faults."""

import fnmatch
import re

OPERATORS = ("condition", "statement", "arguments", "one", "comparison", "enumerator", "bool", "term", "arithmetic",
             "bound", "*")


def normalized(code):
    """Code without comments and with single spaces, so that formatting does not matter."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", code, flags=re.S)
    code = re.sub(r"\s+", " ", code)
    return re.sub(r" ?([()\[\]{},;]) ?", r"\1", code).strip()


class Exclusions:
    """Entries of four lines: the files, the operators, a pattern of "line => changed line", the reason."""

    def __init__(self, text):
        self.entries = []
        for block in re.split(r"\n\s*\n", text):
            lines = [line for line in block.strip().split("\n") if not line.startswith("#")]
            if not lines or lines == [""]:
                continue
            fields = dict(line.split(": ", 1) for line in lines if ": " in line)
            if set(fields) != {"files", "operators", "code", "reason"} or len(fields) != len(lines):
                raise ValueError(f"an exclusion has the lines files, operators, code and reason, each once:\n{block}")
            names = fields["operators"].split()
            unknown = [name for name in names if name not in OPERATORS]
            if unknown:
                raise ValueError(f"there is no operator {unknown[0]}:\n{block}")
            if len(fields["reason"].split()) < 5:
                raise ValueError(f"the reason is missing:\n{block}")
            self.entries.append((fields["files"].split(), names, re.compile(fields["code"]), fields["reason"]))

    def reason(self, mutant, text):
        """The reason why a mutant is not a fault, or nothing. `text` is the file."""
        code = describe(mutant, text)
        for files, names, pattern, reason in self.entries:
            if (mutant.operator in names or "*" in names) and pattern.search(code) and \
                    any(fnmatch.fnmatch(mutant.file, f) for f in files):
                return reason
        return None


def lines_of(mutant, text):
    """The lines that a mutant changes, before and after."""
    data = text if isinstance(text, bytes) else text.encode()
    begin = data.rfind(b"\n", 0, mutant.begin) + 1
    end = data.find(b"\n", mutant.end)
    end = len(data) if end < 0 else end
    before = data[begin:end].decode()
    head, tail = data[begin:mutant.begin].decode(), data[mutant.end:end].decode()
    after = mutant.after
    if not mutant.statement and not before.strip() == mutant.before.strip():
        bare = mutant.operator in ("enumerator", "bool", "comparison", "arguments", "bound", "condition")
        after = after if bare else f"({after})"
    return before, head + after + tail


def describe(mutant, text):
    """The text that the pattern of an exclusion is compared with."""
    before, after = lines_of(mutant, text)
    return f"{normalized(before)} => {normalized(after)}"
