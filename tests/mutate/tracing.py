"""Finds the cases of all programs that reach a mutant, with one run of each while no mutant is active."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Program:
    """A test program, or a command of ctest, with its environment."""
    name: str
    command: list
    environment: dict
    folder: str
    passes: str = ""          # a pattern that the output must match; if empty, the exit status counts
    skips: list = field(default_factory=list)
    cases: list = field(default_factory=list)  # Catch2 cases; if empty, the command is run as a whole
    directory: str = ""


@dataclass
class Case:
    """A case with its run time and the numbers of the mutants that it reaches."""
    program: str
    name: str
    seconds: float
    reaches: list


def programs_of(build_folder, folders):
    """Lists the built tests of these folders with ctest."""
    said = subprocess.run(["ctest", "--test-dir", str(build_folder), "--show-only=json-v1"], capture_output=True, text=True)
    found = {}
    for test in json.loads(said.stdout)["tests"]:
        command = test.get("command")
        if not command or not Path(command[0]).exists() and not shutil.which(command[0]):
            continue
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        folder = (properties.get("LABELS") or [""])[0]
        if properties.get("DISABLED") or folder not in folders:
            continue
        words = [w for w in command if w.startswith(str(build_folder))] + [
            w.split("=", 1)[1] for w in command if w.startswith("-D") and str(build_folder) in w and "REPORT" not in w]
        if any(not Path(w).exists() for w in words if not w.endswith(".txt")):
            continue
        environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        binary = Path(command[0])
        one_case = len(command) > 1 and not re.search(r"(?<!\\)[*,]", command[1])
        if binary.name.startswith("test_") and one_case and "PASS_REGULAR_EXPRESSION" not in properties:
            arguments = command[2:]
            key = " ".join([binary.name, *sorted(f"{k}={v}" for k, v in environment.items()), *arguments[2:]])
            program = found.setdefault(key, Program(key, [command[0], *arguments], environment, folder))
            program.cases.append(re.sub(r"\\(.)", r"\1", command[1]))
        else:
            program = Program(test["name"], command, environment, folder)
            found[program.name] = program
        program.passes = "|".join(properties.get("PASS_REGULAR_EXPRESSION", []))
        program.skips = properties.get("SKIP_REGULAR_EXPRESSION", [])
        program.directory = properties.get("WORKING_DIRECTORY", "")
    return found


def quoted(name):
    """The name as a Catch2 test spec, with escaped commas: a comma ends a name even inside quotes."""
    return '"' + re.sub(r'([\\",])', r"\\\1", name) + '"'


def run(program, cases, limit, environment, abort=True):
    """Runs a program or some of its cases; returns whether it passes, and the kind of failure."""
    with tempfile.TemporaryDirectory(prefix="ebb_mutant_") as folder:
        command = list(program.command)
        if cases:
            names = Path(folder, "cases")
            names.write_text("".join(quoted(c) + "\n" for c in cases))
            command += ["--input-file", str(names)] + (["--abort"] if abort else [])
        work = program.directory or folder
        # Separate folders, because judges run in parallel.
        more = {**os.environ, **program.environment, **environment, "TMPDIR": folder}
        log = Path(folder, "log")
        with open(log, "wb") as out:
            try:
                # Mutants of sizes must not fill the machine; emulated devices reserve more address space than there is
                # memory.
                limits = "ulimit -c 0" if program.folder == "cuda" else "ulimit -c 0 -v $((16 << 20))"
                process = subprocess.Popen(["bash", "-c", limits + '; exec "$@"', "run", *command],
                                           cwd=work, env=more, stdout=out, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, start_new_session=True)
                status = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                kill_group(process)
                return False, "time limit", ""
            kill_group(process)
        said = log.read_bytes()[-400000:].decode(errors="replace")
        if status == 77 or any(re.search(s, said) for s in program.skips):
            return True, "skipped", said
        if program.passes:
            good = re.search(program.passes, said) is not None and status >= 0
        else:
            good = status == 0
        if good:
            return True, "", said
        failed = re.search(r"([\w./-]+:\d+): (?:FAILED|error)", said)
        return False, f"signal {-status}" if status < 0 else (failed.group(1) if failed else f"status {status}"), said


def kill_group(process):
    """Ends processes that a program has left behind."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait()


def parts_of(program, size=100):
    """The cases of a program in parts that can run in parallel; each part repeats one-time initialization."""
    return [program.cases[at:at + size] for at in range(0, len(program.cases), size)] or [[]]


def trace(program, cases, log, folder):
    """Runs cases of a program, or all of it, and returns them with the mutants that they reach; a case that fails
    without an active mutant is dropped."""
    path = Path(tempfile.mkdtemp(dir=folder), "reached")
    began = time.monotonic()
    good, how, said = run(program, cases, 3600, {"EBB_MUTANT_TRACE": str(path)}, abort=False)
    seconds = time.monotonic() - began
    if how == "skipped":
        log(f"{program.name} is skipped here: it is not asked")
        return []
    reached = [i for i, b in enumerate(path.read_bytes()) if b] if path.exists() else []
    lines = Path(f"{path}.cases")
    if not cases or (good and not lines.exists()):  # there is no listener in the program: its cases count as one
        if not good:
            log(f"{program.name} fails without a mutant ({how}): it is not asked")
        return [Case(program.name, c, seconds / max(1, len(cases)), reached) for c in cases or [""]] if good else []
    found = []
    for line in lines.read_text().split("\n") if lines.exists() else []:
        if not line:
            continue
        name, took, passed, numbers = line.split("\t")
        found.append(Case(program.name, name, float(took), [int(n) for n in numbers.split()]))
        if passed != "1":
            log(f"{program.name}: \"{name}\" fails without a mutant: it is not asked")
            found[-1].seconds = -1
    seen = {c.name for c in found}
    lost = [c for c in cases if c not in seen]
    if lost:
        log(f"{program.name}: {len(lost)} of {len(cases)} cases are not seen, such as \"{lost[0]}\" {how}")
    return [c for c in found if c.seconds >= 0]
