"""Judges mutants that cannot be selected at run time: each is built alone."""

import judging
import writing


def judge(copy, mutants, awake, programs, cases, verdicts, show):
    """Builds and judges one mutant after the other, then restores the copy. Returns those that cannot be compiled."""
    failed = []
    for mutant in mutants:
        if mutant.id in verdicts.known:
            continue
        original = (copy.root / mutant.file).read_bytes()
        path = copy.folder / mutant.file
        before = path.read_bytes()
        copy.put(mutant.file, writing.alone(original, mutant))
        try:
            if copy.build():
                failed.append(mutant)
                continue
            verdict, how = judging.judge(mutant, programs, cases, neighbours(mutant, awake))
        finally:
            copy.put(mutant.file, before)
        verdicts.add(mutant, verdict, how)
        show(mutant, verdict, how)
    if mutants:
        copy.build()
    return failed


def neighbours(mutant, awake):
    """The numbers of the mutants of the same file: cases that reach them run before the others."""
    return {m.number for m in awake if m.file == mutant.file}
