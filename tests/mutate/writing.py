"""Writes mutants into a source; each is inactive until the environment variable EBB_MUTANT names it."""


def chosen(mutant):
    return f"::ebb::mutate::chosen({mutant.number})"


def on_one_line(code):
    """Code on one line, so that all other lines keep their numbers."""
    out = []
    for line in code.split("\n"):
        comment = line.find("//")
        while comment > 0 and line[:comment].count('"') % 2:  # inside a string
            comment = line.find("//", comment + 2)
        out.append(line if comment < 0 else line[:comment])
    return " ".join(out)


def written(text, mutants):
    """The text (bytes) with all mutants as choices; those that overlap without being nested are refused."""
    order = sorted(mutants, key=lambda m: (m.begin, -m.end, not m.statement))
    accepted, refused, open_ends = [], [], []
    for m in order:
        while open_ends and open_ends[-1] <= m.begin:
            open_ends.pop()
        if open_ends and m.end > open_ends[-1]:
            refused.append(m)
            continue
        open_ends.append(m.end)
        accepted.append(m)
    position = 0

    def part(begin, end):
        nonlocal position
        out = b""
        while position < len(accepted) and accepted[position].begin < end:
            m = accepted[position]
            position += 1
            out += text[begin:m.begin]
            original = part(m.begin, m.end)
            after = on_one_line(m.after)
            if m.statement:
                out += b"{ if (!" + chosen(m).encode() + b") " + original + b" }"
            else:
                out += f"({chosen(m)} ? ({after}) : (".encode() + original + b"))"
            begin = m.end
        return out + text[begin:end]

    body = part(0, len(text))
    return b'#include <ebb/mutate.h>\n#line 1\n' + body, refused


def alone(text, mutant):
    """The text (bytes) with one mutant in place of the original."""
    after = on_one_line(mutant.after).encode()
    if not mutant.statement:
        after = b"(" + after + b")" if mutant.operator not in ("enumerator", "bool") else after
    lines = text.count(b"\n", mutant.begin, mutant.end)
    return text[:mutant.begin] + after + b"\n" * lines + text[mutant.end:]
