"""Manages the copy of the tree with the mutants in build/mutate, and builds it."""

import re
import subprocess
from pathlib import Path

import writing

PARTS = ("cmake", "include", "python_free_examples", "src", "tests")
# Test folders that do not test what the library computes, or that need files that the copy does not have.
NOT_ASKED = {"lint", "mutate", "package", "gpu", "gradbench", "report", "cartpole", "nvrtc", "cuda_build", "dnn",
             "plugin", "torch", "support", "cuda", "emu"}
EMULATED = ("ebb_cuda", "test_cuda", "test_emu", "test_optable_cuda")


class Copy:
    """The copy of the tree, and the messages of the compiler."""

    def __init__(self, root, folder, emulated, jobs, log):
        self.root, self.folder, self.emulated, self.jobs, self.log = Path(root), Path(folder), emulated, jobs, log
        self.preset = "emu" if emulated else "release"
        self.build_folder = self.folder / "build" / self.preset

    def put(self, path, data):
        """Writes a file if it differs, so that unchanged files are not built again."""
        to = self.folder / path
        if to.exists() and to.read_bytes() == data:
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)

    def write(self, mutants):
        """Writes the tree with these mutants; returns those that overlap with others."""
        by_file, refused, kept = {}, [], set()
        for m in mutants:
            by_file.setdefault(m.file, []).append(m)
        for part in PARTS:
            for path in sorted((self.root / part).rglob("*")):
                name = path.relative_to(self.root).as_posix()
                if not path.is_file() or name.startswith("tests/mutate/"):
                    continue
                kept.add(name)
                data = path.read_bytes()
                if name in by_file:
                    data, overlapping = writing.written(data, by_file[name])
                    refused += overlapping
                elif name == "src/cli/CMakeLists.txt":  # the program `ebb` does not link libebb
                    data += b"\ntarget_sources(ebb_cli PRIVATE ../core/mutate.cpp)\n"
                elif name.startswith("tests/") and b"CATCH_REGISTER_LISTENER" in data:
                    data += b'\n#include "support/mutate_trace.h"\n'
                self.put(name, data)
        for name in ("CMakeLists.txt", "CMakePresets.json", "LICENSE"):
            self.put(name, (self.root / name).read_bytes())
        for name in ("include/ebb/mutate.h", "src/core/mutate.cpp", "tests/support/mutate_trace.h"):
            self.put(name, (self.root / "tests/mutate/copied" / Path(name).name).read_bytes())
            kept.add(name)
        for part in PARTS:
            for path in (self.folder / part).rglob("*"):
                if path.is_file() and path.relative_to(self.folder).as_posix() not in kept:
                    path.unlink()
        return refused

    def configure(self):
        backend = [] if self.emulated else ["-DEBB_CUDA=OFF"]
        run = subprocess.run(["cmake", "--preset", self.preset, "-DEBB_BUILD_EXAMPLES=OFF", "-DEBB_BUILD_BENCHMARKS=OFF", "-DEBB_UNITY=OFF", "-DEBB_WERROR=OFF",
                              "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "--log-level=WARNING", *backend],
                             cwd=self.folder, capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(run.stdout + run.stderr)

    def folders(self):
        """The folders of the tests that judge, as labelled in ctest."""
        if self.emulated:
            return ["cuda"]
        return [folder.name for folder in sorted((self.folder / "tests").iterdir())
                if folder.name not in NOT_ASKED and ((folder / "CMakeLists.txt").exists() or any(folder.glob("*.cpp")))]

    def targets(self):
        if self.emulated:
            return list(EMULATED)
        return [f"tests/{name}/all" if (self.folder / "tests" / name / "CMakeLists.txt").exists() else f"test_{name}"
                for name in self.folders()]

    def build(self, targets=None):
        """Builds and continues after errors; returns the messages of the compiler, or nothing if all is built."""
        command = ["nice", "cmake", "--build", str(self.build_folder), "-j", str(self.jobs), "--target",
                   *(targets or self.targets()), "--", "-k", "0"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        (self.folder / "build.log").write_text(run.stdout)
        return run.stdout if run.returncode else ""

    def build_without_those_that_fail(self, mutants):
        """Builds all mutants together; removes those that cannot be compiled until the rest can. The reasons are in
        failed.log."""
        failed = self.write(mutants)
        why = self.folder / "failed.log"
        why.write_text("")
        self.configure()
        awake = [m for m in mutants if m not in failed]
        while True:
            said = self.build()
            if not said:
                return awake, failed
            guilty = blamed(said, awake, self.root)
            if not guilty:
                raise SystemExit(f"{said[-6000:]}\nthe copy does not build, and no mutant is to blame")
            with open(why, "a") as out:
                out.write("".join(f"{m.id} {m.file}:{m.line} {m.operator}: {m.before} => {m.after}\n" for m in guilty))
                out.write("".join(line + "\n" for line in said.split("\n") if "error:" in line))
            self.log(f"{len(guilty)} mutants cannot be compiled: building without them")
            failed += guilty
            awake = [m for m in awake if m not in guilty]
            failed += self.write(awake)


def blamed(said, mutants, root):
    """The mutants on the lines that the compiler complains about."""
    place = re.compile(r"((?:src|include/ebb)/[\w/.]+):(\d+)(?::\d+)?:? *(.*)")
    guilty, texts = [], {}

    def spans(m):
        text = texts.setdefault(m.file, (Path(root) / m.file).read_bytes())
        return m.line, m.line + text.count(b"\n", m.begin, m.end)

    for target in re.split(r"^FAILED: ", said, flags=re.M)[1:]:
        found = [(file, int(line), rest) for file, line, rest in place.findall(target)]
        errors = {(file, line) for file, line, rest in found if "error:" in rest}
        anywhere = {(file, line) for file, line, rest in found}
        for places in (errors, anywhere):
            hit = [m for m in mutants if any(m.file == f and spans(m)[0] <= line <= spans(m)[1] for f, line in places)]
            if hit:
                break
        if not hit:  # the mutants of the files that are named in messages
            named = re.findall(r"(?:src|include/ebb)/[\w/.]+\.(?:cpp|cuh?|h)", target[:3000])
            files = {file for file, _, _ in found} | set(named)
            hit = [m for m in mutants if m.file in files]
        guilty += [m for m in hit if m not in guilty]
    return guilty
