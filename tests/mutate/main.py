"""Mutation testing with operators: draws mutants, builds a copy with all of them, and lets the tests judge them."""

import argparse
import concurrent.futures
import fcntl
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import alone
import exclusions
import judging
import sampling
import tracing
from copying import Copy

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(__file__).resolve().parent


def say(text):
    print(f"== {text}", flush=True)


def parsed_options():
    p = argparse.ArgumentParser(prog="tests/mutate/run", description=__doc__)
    p.add_argument("--sample", type=int, default=100, metavar="N", help="how many mutants are drawn (100)")
    p.add_argument("--seed", type=int, default=1, metavar="S", help="what the draw begins with (1)")
    p.add_argument("--files", nargs="+", default=[], metavar="GLOB", help="only of these files, e.g. 'src/optim/*'")
    p.add_argument("--emu", action="store_true", help="the CUDA backend, emulated on the CPU, instead of the rest")
    p.add_argument("--run-time-only", action="store_true", help="leave out mutants that must be built alone")
    p.add_argument("--list", action="store_true", help="print the mutants and end")
    p.add_argument("--survivors", action="store_true", help="judge those again that survived")
    p.add_argument("--fresh", action="store_true", help="judge all again, and run all tests again to see what they reach")
    p.add_argument("--at-least", type=float, default=95, metavar="P", help="end with status 1 below P percent (95)")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N", help="build and judge with N jobs")
    return p.parse_args()


def difference(mutant):
    before, after = exclusions.lines_of(mutant, (ROOT / mutant.file).read_bytes())
    return "\n".join(["  - " + line.strip() for line in before.split("\n")] +
                     ["  + " + line.strip() for line in after.split("\n")])


def stamp_of(build_folder):
    """A stamp that changes whenever a program or library of the copy changes."""
    names = sorted(p for p in build_folder.rglob("*") if p.is_file() and os.access(p, os.X_OK) and
                   "CMakeFiles" not in p.parts)
    return json.dumps([(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in names])


def traced(copy, programs, again):
    """The cases of all programs with the mutants that they reach; cached until the next build."""
    kept, stamp = copy.folder / "cases.json", stamp_of(copy.build_folder)
    if kept.exists() and not again:
        old = json.loads(kept.read_text())
        if old["stamp"] == stamp:
            return {name: [tracing.Case(**c) for c in cases] for name, cases in old["cases"].items()}
    say(f"running {len(programs)} programs with no mutant awake")
    folder = copy.folder / "traces"
    folder.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(copy.jobs) as pool:
        parts = [(p, part) for p in programs.values() for part in tracing.parts_of(p)]
        parts.sort(key=lambda part: -len(part[1]))
        found = {name: [] for name in programs}
        for cases in pool.map(lambda part: tracing.trace(*part, say, folder), parts):
            for case in cases:
                found[case.program].append(case)
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    kept.write_text(json.dumps({"stamp": stamp, "cases": {n: [vars(c) for c in cs] for n, cs in found.items()}}))
    return found


class Verdicts:
    """The verdicts, stored in a file so that an interrupted run can resume."""

    def __init__(self, path, fresh, survivors):
        self.path, self.known = path, {}
        if path.exists() and not fresh:
            for line in path.read_text().split("\n"):
                if line:
                    name, verdict, how = line.split("\t")
                    self.known[name] = (verdict, how)
        if survivors:
            self.known = {n: v for n, v in self.known.items() if v[0] != "survived"}
        path.write_text("".join(f"{n}\t{v}\t{h}\n" for n, (v, h) in self.known.items()))

    def add(self, mutant, verdict, how):
        self.known[mutant.id] = (verdict, how)
        with open(self.path, "a") as out:
            out.write(f"{mutant.id}\t{verdict}\t{how}\n")


def main():
    options = parsed_options()
    began = time.monotonic()
    folder = ROOT / "build" / "mutate" / ("emu" if options.emu else "host")
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit(f"another run is at work in {folder}")
    copy = Copy(ROOT, folder, options.emu, options.jobs, say)
    excluded = exclusions.Exclusions((TOOL / "equivalent.txt").read_text())

    def make_parser():
        import places
        copy.write([])
        copy.configure()
        return places.Parser(ROOT, folder, json.loads((copy.build_folder / "compile_commands.json").read_text()))

    tool = b"".join((TOOL / name).read_bytes() for name in ("places.py", "operators.py"))
    all_places = sampling.Places(ROOT, folder, make_parser, tool)
    paths = sampling.sources(ROOT, options.files, options.emu)
    drawn, left_out = sampling.draw(options.sample, options.seed, ROOT, paths, all_places,
                                    lambda m: excluded.reason(m, (ROOT / m.file).read_bytes()), options.run_time_only)
    for reason, mutants in sorted(left_out.items()):
        say(f"{len(mutants)} drawn are left out: {reason}")
    sampling.number(drawn)
    if options.list:
        for m in drawn:
            how = "  (built alone)" if m.constant else ""
            print(f"{m.id}  {m.number}  {m.file}:{m.line}  {m.operator}{how}\n{difference(m)}")
        return 0

    at_run_time = [m for m in drawn if not m.constant]
    say(f"building {len(at_run_time)} mutants of {len({m.file for m in drawn})} files in {folder.relative_to(ROOT)}")
    awake, failed = copy.build_without_those_that_fail(at_run_time)
    built = time.monotonic()
    say(f"{len(failed)} of them cannot be compiled, built in {built - began:.0f} s")
    programs = tracing.programs_of(copy.build_folder, copy.folders())
    cases = traced(copy, programs, options.fresh)

    verdicts = Verdicts(folder / "results.tsv", options.fresh, options.survivors)
    waiting = [m for m in awake if m.id not in verdicts.known]
    say(f"judging {len(waiting)} of {len(awake)} mutants")

    def show(m, verdict, how):
        shown = "SURVIVED" if verdict == "survived" else verdict
        print(f"  {shown:9} {m.id}  {m.number:5}  {m.file}:{m.line}  {m.operator}  ({how})", flush=True)

    def judge(m):
        verdict, how = judging.judge(m, programs, cases)
        verdicts.add(m, verdict, how)
        show(m, verdict, how)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(judge, waiting))
    single = [m for m in drawn if m.constant]
    if single:
        say(f"building {len(single)} mutants alone, one after the other")
        refused = alone.judge(copy, single, awake, programs, cases, verdicts, show)
        failed += refused
        awake += [m for m in single if m not in refused]
    return report(awake, failed, verdicts, options.at_least, time.monotonic() - began)


def report(mutants, failed, verdicts, at_least, seconds):
    """Prints the survivors and the score."""
    alive = [m for m in mutants if verdicts.known[m.id][0] == "survived"]
    say("survivors")
    for m in alive:
        print(f"{m.id}  {m.number}  {m.file}:{m.line}  {m.operator}  ({verdicts.known[m.id][1]})\n{difference(m)}")
    counts, dead = Counter(m.operator for m in mutants), Counter(m.operator for m in mutants if m not in alive)
    for operator in sorted(counts):
        print(f"  {operator:11} {dead[operator]:4} of {counts[operator]:4} killed")
    score = 100 * (len(mutants) - len(alive)) / max(1, len(mutants))
    say(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed ({score:.1f} %), "
        f"{len(failed)} could not be compiled, {seconds / 60:.0f} minutes")
    return score < at_least


if __name__ == "__main__":
    sys.exit(main())
