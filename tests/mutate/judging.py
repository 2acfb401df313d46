"""Judges mutants: runs the cases that reach a mutant, the closest and quickest first, until one fails."""

import re

import tracing

# Test folders that cover a source folder of another name.
CLOSE = {"ops": ("ops", "optable", "autograd"), "derivatives": ("optable", "autograd", "ops"),
         "serialize": ("io", "checkpoint"),
         "archive": ("io", "checkpoint"), "device": ("core", "kernel"), "print": ("core", "ops"),
         "include": ("core", "autograd"), "kernel": ("kernel", "optable"), "compile": ("compile", "emit")}


def is_close(program, mutant):
    room = mutant.file.split("/")[2 if mutant.file.startswith("include/") else 1]
    return program.folder in CLOSE.get(room, (room,))


def batches(mutant, programs, cases, neighbours=None):
    """The runs that judge a mutant: (program, names of cases, seconds), the closest and quickest first. A mutant
    that is reached before the first case, or in few cases (for example by cached results), is run with all cases of
    the program at the end. One that is built alone cannot be traced: all cases are asked, those that reach its
    neighbours before the others."""
    plans, ends = [], []
    for program in programs.values():
        all_cases = cases.get(program.name, [])
        reached = [c for c in all_cases if mutant.number in c.reaches] if neighbours is None else \
            [c for c in all_cases if neighbours & set(c.reaches)]
        distance = 0 if is_close(program, mutant) else 1
        if neighbours is not None and not reached:
            reached, distance = all_cases, distance + 1
        if not reached:
            continue
        if not program.cases:
            plans.append((distance, reached[0].seconds, program, []))
            continue
        named = sorted((c for c in reached if c.name), key=lambda c: c.seconds)
        limit, batch, took = 0.5, [], 0.0
        for case in named:
            batch.append(case.name)
            took += case.seconds
            if took > limit:
                plans.append((distance, took, program, batch))
                limit, batch, took = limit * 4, [], 0.0
        if batch:
            plans.append((distance, took, program, batch))
        asked = {c.name for c in named}
        others = [c for c in all_cases if c.name and c.name not in asked]
        if others and (len(named) <= 2 or neighbours is not None):
            ends.append((1, sum(c.seconds for c in others), program, [c.name for c in others]))
    order = lambda plan: plan[:2]
    return [(p, names, seconds) for _, seconds, p, names in sorted(plans, key=order) + sorted(ends, key=order)]


def judge(mutant, programs, cases, neighbours=None):
    """("killed", the case), ("survived", the number of cases) or ("survived", "reached by no test")."""
    plan = batches(mutant, programs, cases, neighbours)
    if not plan:
        return "survived", "reached by no test"
    asked = 0
    for program, names, seconds in plan:
        limit = max(20.0, 10 * seconds)
        awake = {} if neighbours is not None else {"EBB_MUTANT": str(mutant.number)}
        good, how, said = tracing.run(program, names, limit, awake)
        asked += max(1, len(names))
        if not good:
            return "killed", f"{program.name}: {how}"
        ran = re.search(r"No test cases matched|No tests ran", said)
        if ran:
            raise RuntimeError(f"{program.name} does not find {names[:3]}: {said[-500:]}")
    return "survived", f"{asked} cases were asked"
