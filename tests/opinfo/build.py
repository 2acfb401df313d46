"""Compiles calls against ebb, passes their tensors in files, and reads the results."""
import hashlib
import pathlib
import re
import struct
import subprocess

import torch

# The same order as in harness.h.
TYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
         torch.float64, torch.bfloat16]


def pack(x):
    if x is None:
        return struct.pack("i", -1)
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    head = struct.pack("iii", TYPES.index(x.dtype), 0, x.dim()) + struct.pack(f"{x.dim()}q", *x.shape)
    return head + (x.flatten().view(torch.uint8).numpy().tobytes() if x.numel() else b"")


def pack_list(tensors, leaves=False):
    parts = [struct.pack("i", len(tensors))]
    for x in tensors:
        data = bytearray(pack(x))
        if leaves and x.requires_grad:
            data[4:8] = struct.pack("i", 1)
        parts.append(bytes(data))
    return b"".join(parts)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def tensors(self):
        return [self.tensor() for _ in range(self.take("i")[0])]

    def tensor(self):
        kind, = self.take("i")
        if kind < 0:
            return None
        _, dims = self.take("ii")
        shape = self.take(f"{dims}q") if dims else ()
        empty = torch.empty(shape, dtype=TYPES[kind])
        size = empty.numel() * empty.element_size()
        raw = bytearray(self.data[self.at:self.at + size])
        self.at += size
        return torch.frombuffer(raw, dtype=TYPES[kind]).reshape(shape).clone() if size else empty


class Build:
    """Compiles statements against ebb and runs them."""
    header = "harness.h"
    statement = "const Tensors& t, Tensors& out) {{ push(out, {}); }}"

    def __init__(self, options):
        self.options = options
        options.out.mkdir(parents=True, exist_ok=True)
        root = pathlib.Path(__file__).resolve().parents[2]
        self.flags = ["-std=c++20", "-O0", "-w", f"-I{root}/include", f"-I{options.build}/include",
                      f"-I{pathlib.Path(__file__).resolve().parent}"]

    def source(self, texts):
        lines = [f'#include "{self.header}"', "using namespace opinfo;", "int main(int argc, char** argv) {",
                 "  std::vector<Statement> s;"]
        lines += [f"  s.push_back([]({self.statement.format(text)});" for text in texts]
        return "\n".join(lines + ["  return run(s, argc, argv);", "}"]) + "\n", 5

    def refused(self, texts):
        """The indices of the texts that do not compile."""
        source, first = self.source(texts)
        path = self.options.out / "try.cpp"
        path.write_text(source)
        done = subprocess.run(["g++", *self.flags, "-fsyntax-only", "-fmax-errors=0", str(path)], capture_output=True,
                              text=True)
        if done.returncode == 0:
            return {}
        bad, message = {}, ""
        for line in done.stderr.splitlines():
            if " error: " in line:
                message = line.split(" error: ", 1)[1]
            if place := re.match(r".*try\.cpp:(\d+):", line):
                bad.setdefault(int(place[1]) - first, message)
        return {i: m for i, m in bad.items() if 0 <= i < len(texts)}

    def choose(self, cases):
        """Sets case.text to the first candidate that compiles."""
        known, pending = {}, list(cases)
        for case in pending:
            case.turn, case.text = 0, None
        while pending:
            texts = list(dict.fromkeys(t for c in pending if (t := c.candidates[c.turn][0]) not in known))
            for start in range(0, len(texts), 400):
                part = texts[start:start + 400]
                bad = self.refused(part)
                known |= {t: bad.get(i) for i, t in enumerate(part)}
            rest = []
            for case in pending:
                text = case.candidates[case.turn][0]
                if known[text] is None:
                    case.text = text
                    continue
                case.note = case.note or known[text]
                case.turn += 1
                if case.turn < len(case.candidates):
                    rest.append(case)
                else:
                    case.verdict = "does not compile"
            pending = rest

    def run(self, cases):
        texts = list(dict.fromkeys(c.text for c in cases))
        source, _ = self.source(texts)
        name = self.options.out / hashlib.sha1(source.encode()).hexdigest()[:12]
        library = f"{self.options.build}/src"
        path, program = name.with_suffix(".cpp"), name.with_suffix("")
        path.write_text(source)
        subprocess.run(["g++", *self.flags, str(path), "-o", str(program), f"-L{library}", "-lebb",
                        f"-Wl,-rpath,{library}", "-pthread"], check=True)
        places = {t: i for i, t in enumerate(texts)}
        data = [struct.pack("i", len(cases))]
        for c in cases:
            data += [struct.pack("ii", places[c.text], c.orders), c.packed[c.turn], pack_list(c.cotangents), pack_list(c.cotangents2)]
        samples, results = name.with_suffix(".in"), name.with_suffix(".out")
        samples.write_bytes(b"".join(data))
        at = 0
        while at < len(cases):
            results.unlink(missing_ok=True)
            subprocess.run([str(program), str(samples), str(results), str(at)], stderr=subprocess.DEVNULL)
            reader = Reader(results.read_bytes())
            while reader.at < len(reader.data):
                stage, length = reader.take("ii")
                message = reader.data[reader.at:reader.at + length].decode(errors="replace")
                reader.at += length
                cases[at].judge(stage, message, reader.tensors(), reader.tensors(), reader.tensors())
                at += 1
            if at < len(cases):
                cases[at].verdict, at = "crashes", at + 1
        for file in (samples, results, program):
            file.unlink(missing_ok=True)
