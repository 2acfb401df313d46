"""Draws mutants: first a folder, then a file, then an operator, then a place, so that none dominates."""

import fnmatch
import hashlib
import json
import math
import random
import re
from dataclasses import asdict
from pathlib import Path

from mutant import Mutant

CUDA = re.compile(r"src/cuda/|src/kernel/cuda/|/cuda[^/]*\.(cu|cpp|h|cuh)$|\.cuh?$")


def sources(root, globs, emulated):
    """The files that can be mutated, of the host or of the CUDA backend."""
    root = Path(root)
    found = []
    for part in ("src", "include/ebb"):
        for path in sorted((root / part).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cpp", ".h", ".cu", ".cuh") or name.startswith("src/cuda/nvidia/"):
                continue
            if bool(CUDA.search(name)) != emulated or (globs and not any(fnmatch.fnmatch(name, g) for g in globs)):
                continue
            if "src/cuda/emu/" not in name:
                found.append(name)
    return found


def room_of(path):
    """src/<room>, or all public headers."""
    return "include" if path.startswith("include/") else "/".join(path.split("/")[:2])


def weighted(generator, weights):
    """Draws one key of a dictionary by its weight."""
    keys = sorted(weights)
    return generator.choices(keys, [weights[k] for k in keys])[0]


class Places:
    """The mutants of each file; parsed on first use and cached for the next run."""

    def __init__(self, root, copy, make_parser, tool):
        self.root, self.folder, self.make_parser = Path(root), Path(copy) / "places", make_parser
        self.folder.mkdir(parents=True, exist_ok=True)
        self.parser, self.known, self.tool = None, {}, tool

    def of(self, path):
        if path in self.known:
            return self.known[path]
        text = (self.root / path).read_bytes()
        kept = self.folder / (hashlib.sha1(text + path.encode() + self.tool).hexdigest() + ".json")
        if kept.exists():
            mutants = [Mutant(**m) for m in json.loads(kept.read_text())]
        else:
            self.parser = self.parser or self.make_parser()
            mutants = self.parser.mutants(path)
            for m in mutants:
                m.line = text.count(b"\n", 0, m.begin) + 1
                m.id = identity(m, text)
            kept.write_text(json.dumps([asdict(m) for m in mutants]))
        self.known[path] = mutants
        return mutants


def identity(mutant, text):
    """A name that does not change while the file does not change."""
    words = (mutant.file, hashlib.sha1(text).hexdigest(), mutant.begin, mutant.end, mutant.operator, mutant.after)
    return hashlib.sha1(repr(words).encode()).hexdigest()[:8]


def draw(count, seed, root, paths, places, is_excluded, only_at_run_time):
    """Draws `count` mutants, and counts the excluded ones by reason. The order of draws depends only on
    the seed and the sources: an exclusion removes a mutant and adds one at the end."""
    generator = random.Random(seed)
    size = {p: math.sqrt((Path(root) / p).read_bytes().count(b"\n") + 1) for p in paths}
    rooms = {}
    for p in paths:
        rooms.setdefault(room_of(p), {})[p] = size[p]
    room_size = {r: math.sqrt(sum(w * w for w in files.values())) for r, files in rooms.items()}
    taken, drawn, left_out = set(), [], {}
    while len(drawn) < count and room_size:
        room = weighted(generator, room_size)
        path = weighted(generator, rooms[room])
        by_operator = {}
        for m in places.of(path):
            if m.id not in taken:
                by_operator.setdefault(m.operator, []).append(m)
        if not by_operator:
            del rooms[room][path]
            if not rooms[room]:
                del room_size[room]
            continue
        mutant = generator.choice(by_operator[generator.choice(sorted(by_operator))])
        taken.add(mutant.id)
        reason = is_excluded(mutant)
        if not reason and mutant.constant and only_at_run_time:
            reason = "can only be chosen when it is compiled"
        if reason:
            left_out.setdefault(reason, []).append(mutant)
        else:
            drawn.append(mutant)
    return drawn, left_out


def number(mutants):
    """Gives mutants numbers below 2^16 from a hash of their names, so most sources stay equal in the next sample."""
    taken = set()
    for m in mutants:
        m.number = 1 + int(m.id, 16) % 65000
        while m.number in taken:
            m.number += 1
        taken.add(m.number)
