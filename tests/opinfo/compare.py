#!/usr/bin/env python3
"""Runs the OpInfo samples and invalid calls of PyTorch in ebb, and counts disagreements by op."""
import argparse
import collections
import pathlib
import re
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

import calls
from build import TYPES, Build, pack_list

TOLERANCE = {torch.float64: (1e-7, 1e-7), torch.float32: (2e-4, 2e-4), torch.bfloat16: (4e-2, 4e-2)}
# Ops out of scope, with the reasons.
OUTSIDE = [
    (r"rand|normal|uniform|bernoulli|multinomial|dropout|cauchy|exponential$|geometric|rrelu|empty|fractional|lowrank",
     "random, or uninitialised"),
    (r"^fft\.(?!fftshift|ifftshift)|stft|complex|conj|polar|angle|real$|imag|cdouble|cfloat|chalf|linalg\.eig$|eigvals$",
     "complex"),
    (r"sparse|jiterator|torch\.|^masked\.|^signal\.|_scaled|flash|efficient|triton|linear_cross_entropy|^_(?!segment)",
     "sparse, compiled, or Python's alone"),
    (r"_copy$|broadcast_shapes|item$|resize|zero_|to$|contiguous|clone|hash_tensor|unsafe_|view_as_|ctc_loss$",
     "copies and conversions, or no function of tensors"),
]
# The results are determined only up to signs or orders.
LOOSE = r"svd$|eigh$|qr|sort$|topk|kthvalue"


def outside(name):
    return next((reason for pattern, reason in OUTSIDE if re.search(pattern, name)), None)


def cotangent(x):
    """Fixed values with the shape of x, in place of a random direction."""
    return (((torch.arange(x.numel()) * 37) % 11 - 5).to(x.dtype) / 7 + 0.2).reshape(x.shape)


def tensors_of(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (bool, int, float)):
        return [torch.tensor(result)]
    if isinstance(result, (list, tuple)):
        return [t for r in result for t in tensors_of(r)]
    raise calls.Unwritable(f"a result of type {type(result).__name__}")


def in_scope(tensors):
    return all(t.device.type == "cpu" and t.layout == torch.strided and t.dtype in TYPES and not t.is_nested
               for t in tensors)


class Case:
    """One call with the results of PyTorch."""
    autocast = None  # the 16-bit dtype of an autocast around the call: then only the dtypes of results are compared

    def __init__(self, op, kind, sample, orders):
        self.op, self.kind, self.verdict, self.note = op, kind, None, ""
        self.candidates = calls.candidates(op, sample)
        if self.autocast:
            scope = f"const ebb::amp::autocast scope(ebb::kCPU, ebb::{calls.DTYPES[self.autocast]});"
            self.candidates = [(f"[&] {{ {scope} return {text}; }}()", tensors) for text, tensors in self.candidates]
        self.shapes = [(list(t.shape), str(t.dtype)[6:]) for t in self.candidates[0][1]]
        self.orders, self.values, self.grads, self.grads2, self.asked = orders, [], [], [], None
        self.cotangents, self.cotangents2 = [], []
        if not all(in_scope(t) for _, t in self.candidates):
            raise calls.Unwritable("complex, sparse or on no device")
        packed = {}  # packed before the call, which may write to its inputs
        self.packed = [packed.setdefault(tuple(map(id, t)), pack_list(t, True)) for _, t in self.candidates]
        if kind == "error":
            return
        with torch.autocast("cpu", self.autocast, enabled=self.autocast is not None):
            result = op(sample.input, *sample.args, **sample.kwargs)
        if op.name == "unique_consecutive":  # the Python function omits results that were not requested
            self.asked = [True] + [sample.kwargs.get(flag, False) for flag in ("return_inverse", "return_counts")]
        self.values = tensors_of(result)
        if not in_scope(self.values):
            raise calls.Unwritable("complex, sparse or on no device")
        leaves = [t for t in self.candidates[0][1] if t.requires_grad]
        self.orders = orders if leaves and any(v.requires_grad for v in self.values) else 0
        if self.orders:
            self.differentiate(leaves)

    def differentiate(self, leaves):
        def pull(outputs, cotangents, recorded):
            total = sum((o * c).sum() for o, c in zip(outputs, cotangents) if c is not None)
            if not isinstance(total, torch.Tensor) or not total.requires_grad:
                return [None] * len(leaves)
            return list(torch.autograd.grad(total, leaves, retain_graph=True, create_graph=recorded, allow_unused=True))
        floats = lambda x: x is not None and x.requires_grad and x.is_floating_point()
        self.cotangents = [cotangent(v) if floats(v) else None for v in self.values]
        self.grads = pull(self.values, self.cotangents, self.orders > 1)
        self.cotangents2 = [cotangent(g) if floats(g) else None for g in self.grads]
        if self.orders > 1:
            self.grads2 = pull(self.grads, self.cotangents2, False)

    def judge(self, stage, message, values, grads, grads2):
        if self.kind == "error":
            self.verdict, self.note = ("agree", "") if stage == 0 else ("accepted", "")
            return
        if stage < 1 + (self.orders > 0) + (self.orders > 1):
            self.verdict, self.note = "throws", f"at order {stage}: {message[:150]}"
            return
        if self.asked:
            values = [v for v, asked in zip(values, self.asked) if asked]
        for what, mine, theirs in (("value", values, self.values), ("gradient", grads, self.grads),
                                   ("second gradient", grads2, self.grads2)):
            note = difference(mine, theirs, what != "value", self.autocast is not None)
            if note and not (re.search(LOOSE, self.op.name) and "numbers" in note):
                self.verdict, self.note = "differ", f"{what}: {note}"
                return
        self.verdict = "agree"


def difference(mine, theirs, zero_is_none, only_dtypes=False):
    if len(mine) != len(theirs):
        return f"{len(mine)} tensors, PyTorch {len(theirs)}"
    for a, b in zip(mine, theirs):
        if a is None and b is None:
            continue
        if a is None or b is None:
            if zero_is_none and not (a if b is None else b).any():
                continue
            return "one is undefined"
        b = b.detach().resolve_conj().resolve_neg()
        if a.shape != b.shape:
            return f"shape {list(a.shape)}, PyTorch {list(b.shape)}"
        if a.dtype != b.dtype:
            return f"dtype {a.dtype}, PyTorch {b.dtype}"
        if only_dtypes:
            continue
        rtol, atol = TOLERANCE.get(a.dtype, (1e-2, 1e-2)) if a.is_floating_point() else (0, 0)
        if not torch.allclose(a.double(), b.double(), rtol, atol * max(1.0, finite_size(b)), equal_nan=True):
            return f"numbers {a.flatten()[:6].tolist()}, PyTorch {b.flatten()[:6].tolist()}"
    return ""


def finite_size(x):
    x = x.double()
    x = x[x.isfinite()]
    return x.abs().max().item() if x.numel() and x.numel() < 10**6 and x.is_floating_point() else 1.0


def collect(options):
    cases, skipped = [], collections.Counter()
    for op in op_db:
        if not re.search(options.ops, op.name):
            continue
        full = op.name + ("/" + op.variant_test_name if op.variant_test_name else "")
        if reason := outside(op.name):
            skipped[reason] += 1
            continue
        every = torch.float64, torch.float32, torch.int64, torch.bool, torch.bfloat16
        for dtype in (torch.float32, torch.bfloat16, torch.float16) if Case.autocast else every:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            grad = dtype == torch.float64 and op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
            orders = (2 if op.supports_gradgrad else 1) if grad else 0
            few = None if dtype in (torch.float64, torch.float32) and not Case.autocast else options.few
            add(cases, skipped, op, full, "sample", op.sample_inputs("cpu", dtype, requires_grad=grad), orders, few)
        if op.error_inputs_func and not Case.autocast:
            add(cases, skipped, op, full, "error", (e.sample_input for e in op.error_inputs("cpu")), 0, None)
    return cases, skipped


def add(cases, skipped, op, full, kind, samples, orders, few):
    try:
        for i, sample in enumerate(samples):
            if few is not None and i >= few:
                return
            try:
                case = Case(op, kind, sample, orders)
            except calls.Unwritable as reason:
                skipped[f"{kind} cannot be said: {full}: {reason}"] += 1
                continue
            except Exception as error:  # PyTorch itself refuses the call
                skipped[f"PyTorch refuses: {full}: {type(error).__name__}"] += 1
                continue
            case.full = full
            cases.append(case)
    except Exception as error:  # samples that cannot be created here
        skipped[f"no samples: {full}: {type(error).__name__}"] += 1


def report(cases, skipped, out):
    table = collections.defaultdict(collections.Counter)
    with open(out / "disagreements.txt", "w") as file:
        for c in cases:
            table[c.full, c.kind][c.verdict] += 1
            if c.verdict != "agree":
                print(f"{c.full} [{c.kind}] {c.verdict}: {c.text or c.candidates[0][0]} {c.shapes}\n    {c.note}", file=file)
    (out / "skipped.txt").write_text("".join(f"{n:5} {why}\n" for why, n in sorted(skipped.items())))
    for (name, kind), counts in sorted(table.items()):
        if set(counts) != {"agree"}:
            print(f"{name:45} {kind:7} " + "  ".join(f"{v} {n}" for v, n in sorted(counts.items())))
    for kind in ("sample", "error"):
        counts = sum((c for (_, k), c in table.items() if k == kind), collections.Counter())
        judged = sum(n for v, n in counts.items() if v != "does not compile") or 1
        print(f"{kind}s: {dict(counts)}: {100 * counts['agree'] / judged:.2f} % of those that compile agree")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default="", help="a pattern of the ops' names (default: all)")
    parser.add_argument("--few", type=int, default=6, help="samples of an op in Long, Bool and BFloat16 each (default: 6)")
    parser.add_argument("--autocast", choices=("bfloat16", "float16"), help="compare dtypes under autocast, of a few samples")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="a build of ebb")
    parser.add_argument("--out", type=pathlib.Path, default=root / "build/opinfo", help="where disagreements are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    Case.autocast = getattr(torch, options.autocast) if options.autocast else None
    cases, skipped = collect(options)
    print(f"{len(cases)} calls", file=sys.stderr)
    build = Build(options)
    build.choose(cases)
    ready = [c for c in cases if c.text]
    for start in range(0, len(ready), 1500):
        build.run(ready[start:start + 1500])
    report(cases, skipped, options.out)


if __name__ == "__main__":
    main()
