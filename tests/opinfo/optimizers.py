#!/usr/bin/env python3
"""Runs ebb's optimizers with the options of PyTorch's optimizer tests, and counts differing parameters."""
import argparse
import collections
import pathlib
import sys
import warnings

import torch
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

from build import Build, pack_list
from compare import difference

# L-BFGS amplifies rounding errors from step to step.
STEPS = collections.defaultdict(lambda: 6, LBFGS=2)
# Options that select the implementation, which ebb may choose freely.
HOW = {"foreach", "fused", "capturable", "differentiable"}
OUTSIDE = {"SparseAdam": "sparse"}


class Unwritable(Exception):
    pass


def word(value):
    if isinstance(value, torch.Tensor):
        return word(value.item())
    if isinstance(value, (tuple, list)):
        return "{" + ", ".join(map(word, value)) + "}"
    return {None: "ebb::nullopt", True: "true", False: "false"}.get(value, f'"{value}"') \
        if value is None or isinstance(value, (bool, str)) else repr(value)


def options_text(name, kwargs):
    text = f"ebb::optim::{name}Options()"
    for key, value in kwargs.items():
        if key not in HOW and not (value is None and key != "eps"):
            text += f".{key}({word(value)})"
    return text


def loss_of(params, step, sign):
    return sign * sum(((p - 0.3).pow(4) + (p * (step + 2)).sin() * 0.5).sum() for p in params)


LOSS = """const auto loss = [&] { o.zero_grad(); Tensor sum;
for (const Tensor& p : all) { const Tensor part = ((p - 0.3).pow(4) + (p * (step + 2)).sin() * 0.5).sum();
sum = sum.defined() ? sum + part : part; } sum = sum * SIGN; sum.backward(); return sum; };"""


def program(name, options, groups, sign):
    """An expression that trains parameter groups, given as lists of indices into t; `sign` multiplies the loss."""
    lines = ["Tensors all; for (const Tensor& x : t) all.push_back(x.clone().detach().requires_grad_());",
             f"const auto options = {options}; std::vector<ebb::optim::OptimizerParamGroup> groups;"]
    for i, places in enumerate(groups):
        list_ = ", ".join(f"all[{place}]" for place in places)
        lines.append(f"{{ auto own = options; own.lr(own.lr() / {i + 1}); "
                     f"groups.emplace_back(Tensors{{{list_}}}, own.clone()); }}")
    lines += [f"ebb::optim::{name} o(groups, options);", f"for (int step = 0; step < {STEPS[name]}; ++step) {{", LOSS.replace("SIGN", str(sign)),
              "o.step(loss); }", "return all;"]
    return "[&] { " + " ".join(" ".join(lines).split("\n")) + " }()"


class Case:
    orders, cotangents, cotangents2 = 0, [], []

    def __init__(self, info, kind, kwargs, tensors, groups, desc):
        self.name, self.kind, self.desc, self.verdict, self.note = info.optim_cls.__name__, kind, desc, None, ""
        sign = -1 if kwargs.get("maximize") else 1  # so that there is an optimum
        self.candidates = [(program(self.name, options_text(self.name, kwargs), groups, sign), tensors)]
        self.packed, self.values = [pack_list(tensors)], []
        if kind == "error":
            return
        params = [x.clone().requires_grad_() for x in tensors]
        optimizer = info.optim_cls([{"params": [params[i] for i in places]} for places in groups], **kwargs)
        for i, group in enumerate(optimizer.param_groups):
            group["lr"] = group["lr"] / (i + 1)
        for step in range(STEPS[self.name]):
            def closure():
                optimizer.zero_grad(set_to_none=False)
                loss = loss_of(params, step, sign)
                loss.backward()
                return loss
            optimizer.step(closure)
        self.values = params

    def judge(self, stage, message, values, *_):
        if self.kind == "error":
            self.verdict = "agree" if stage == 0 else "accepted"
        elif stage == 0:
            self.verdict, self.note = "throws", message[:150]
        else:
            self.note = difference(values, self.values, False)
            self.verdict = "differ" if self.note else "agree"


def places_of(params, tensors):
    """Parameter groups as indices, from the arguments of invalid PyTorch calls."""
    if not isinstance(params, list) or any(isinstance(p, tuple) for p in params):
        raise Unwritable("no list of parameters or groups")
    known, shapes, groups = {}, {}, []
    for group in params if isinstance(params[0], dict) else [{"params": params}]:
        own = group["params"] if isinstance(group["params"], list) else [group["params"]]
        if any(isinstance(p, tuple) for p in own):
            raise Unwritable("names of parameters")
        groups.append([known.setdefault(id(p), len(known)) for p in own])
        shapes |= {known[id(p)]: p.shape for p in own}
    tensors += [torch.zeros(shapes[i]) for i in range(len(known))]
    return groups


def collect():
    cases, skipped = [], collections.Counter()
    torch.manual_seed(3)
    for info in optim_db:
        if reason := OUTSIDE.get(info.optim_cls.__name__):
            skipped[f"{info.optim_cls.__name__}: {reason}"] += 1
            continue
        shapes = [(3, 4), (2, 5), (4, 1)] if info.optim_cls.__name__ == "Muon" else [(3, 4), (5,), (), (2, 1, 3)]
        for dtype in (torch.float64, torch.float32):
            torch.set_default_dtype(dtype)  # the dtype of the scalars that ASGD and NAdam store
            for given in info.optim_inputs_func("cpu", dtype):
                tensors = [torch.randn(shape, dtype=dtype) for shape in shapes]
                every = list(range(len(shapes)))
                for groups in ([every], [every[:1], every[1:]]) if info.supports_param_groups else ([every],):
                    cases.append(Case(info, "sample", given.kwargs, tensors, groups, given.desc))
        for error in info.optim_error_inputs_func("cpu", torch.float32):
            given, tensors = error.optimizer_error_input, []
            try:
                if issubclass(error.error_type, Warning) or error.error_on is not OptimizerErrorEnum.CONSTRUCTION_ERROR:
                    raise Unwritable("a warning, or an error of a step")
                if any(isinstance(v, torch.Tensor) for v in [given.kwargs.get("lr"), *given.kwargs.get("betas", ())]):
                    raise Unwritable("options that are tensors")
                groups = [[0]] if given.params is None else places_of(given.params, tensors)
                tensors = tensors or [torch.zeros(1, 1)]
                cases.append(Case(info, "error", given.kwargs, tensors, groups, given.desc))
            except Unwritable as reason:
                skipped[f"an error that cannot be said: {given.desc}: {reason}"] += 1
    return cases, skipped


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="a build of ebb")
    parser.add_argument("--out", type=pathlib.Path, default=root / "build/opinfo", help="where programs are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases, skipped = collect()
    build = Build(options)
    build.choose(cases)
    build.run([c for c in cases if c.text])
    for case in cases:
        if case.verdict != "agree":
            print(f"{case.name} [{case.kind}] {case.desc}: {case.verdict}: {case.note}")
    for reason, count in sorted(skipped.items()):
        print(f"skipped {count}: {reason}")
    agree = sum(c.verdict == "agree" for c in cases)
    print(f"{agree} of {len(cases)} agree")
    return agree != len(cases)


if __name__ == "__main__":
    sys.exit(main())
