#!/usr/bin/env python3
"""Combines schedulers at random, resumes them from a file at a random epoch, and compares the rates with PyTorch."""
import argparse
import pathlib
import random
import sys
import warnings

import torch
from torch.optim import lr_scheduler as lr
from torch.optim.swa_utils import SWALR

from build import Build, pack_list
from compare import difference

EPOCHS = 28


def number(x):
    return "{" + ", ".join(map(str, x)) + "}" if isinstance(x, list) else str(x).lower() if isinstance(x, bool) else str(x)


def per_group(x):
    return f"PerGroup{number(x)}" if isinstance(x, list) else f"PerGroup({x})"


# Each scheduler with its arguments for PyTorch and for ebb; `u(a, b)` is a random number between a and b.
LEAVES = {
    "step": (lambda r, u: [r.randint(1, 6), u(.3, 1)], lr.StepLR,
             lambda n, gamma: f"StepLR>(o, {n}u, {gamma}, StepLR::Counting::kPython"),
    "multi": (lambda r, u: [[r.randint(0, 15) for _ in range(r.randint(0, 4))], u(.3, 1)], lr.MultiStepLR,
              lambda at, gamma: f"MultiStepLR>(o, std::vector<std::int64_t>{number(at)}, {gamma}"),
    "constant": (lambda r, u: [u(.1, 1), r.randint(0, 8)], lr.ConstantLR, lambda f, n: f"ConstantLR>(o, {f}, {n}"),
    "linear": (lambda r, u: [u(.1, 1), u(.1, 1), r.randint(1, 9)], lr.LinearLR,
               lambda a, b, n: f"LinearLR>(o, {a}, {b}, {n}"),
    "exponential": (lambda r, u: [u(.7, 1)], lr.ExponentialLR, lambda gamma: f"ExponentialLR>(o, {gamma}"),
    "polynomial": (lambda r, u: [r.randint(30, 60), u(.5, 2.5)], lr.PolynomialLR,
                   lambda n, p: f"PolynomialLR>(o, {n}, {p}"),
    "cosine": (lambda r, u: [r.randint(1, 9), u(0, .05)], lr.CosineAnnealingLR,
               lambda n, least: f"CosineAnnealingLR>(o, {n}, {least}"),
    "lambda": (lambda r, u: [u(.7, 1)], lambda o, a: lr.LambdaLR(o, lambda epoch: a ** (epoch + 1)),
               lambda a: f"LambdaLR>(o, [](std::int64_t epoch) {{ return std::pow({a}, epoch + 1); }}"),
    "multiply": (lambda r, u: [u(.7, 1)], lambda o, a: lr.MultiplicativeLR(o, lambda epoch: a + epoch * .001),
                 lambda a: f"MultiplicativeLR>(o, [](std::int64_t epoch) {{ return {a} + epoch * .001; }}"),
    "cyclic": (lambda r, u: [[u(.01, .05), u(.01, .05)], u(.1, .5), r.randint(1, 6), r.randint(1, 6),
                             r.choice(["triangular", "triangular2", "exp_range"]), u(.8, 1), r.random() < .5],
               lambda o, a, b, up, down, mode, gamma, turns:
               lr.CyclicLR(o, a, b, up, down, mode, gamma, cycle_momentum=turns),
               lambda a, b, up, down, mode, gamma, turns:
               f"CyclicLR>(o, {per_group(a)}, {per_group(b)}, CyclicLROptions().step_size_up({up}).step_size_down({down})"
               f".mode(CyclicLROptions::Mode::{mode}).gamma({gamma}).cycle_momentum({number(turns)})"),
    "one": (lambda r, u: [u(.1, .5), r.randint(60, 90), u(.2, .5), r.random() < .5, r.random() < .5,
                          r.choice(["cos", "linear"])],
            lambda o, most, n, share, phases, turns, anneal:
            lr.OneCycleLR(o, most, n, pct_start=share, three_phase=phases, cycle_momentum=turns, anneal_strategy=anneal),
            lambda most, n, share, phases, turns, anneal:
            f"OneCycleLR>(o, {per_group(most)}, {n}, OneCycleLROptions().pct_start({share}).three_phase({number(phases)})"
            f".cycle_momentum({number(turns)}).anneal(OneCycleLROptions::Anneal::{anneal})"),
    "warm": (lambda r, u: [r.randint(1, 6), r.randint(1, 3), u(0, .05)], lr.CosineAnnealingWarmRestarts,
             lambda n, times, least: f"CosineAnnealingWarmRestarts>(o, {n}, {times}, {least}"),
    "swa": (lambda r, u: [u(.01, .3), r.randint(0, 8), r.choice(["cos", "linear"])], SWALR,
            lambda rate, n, anneal: f"swa_utils::SWALR>(o, {per_group(rate)}, {n}, swa_utils::SWALR::Anneal::{anneal}"),
}


def tree(r, depth):
    """["chain" or "sequence", milestones, [trees]], or [a leaf's name, arguments]."""
    chance = r.random()
    if depth == 0 or chance < .35:
        name = r.choice(list(LEAVES))
        return [name, LEAVES[name][0](r, lambda a, b: round(r.uniform(a, b), 3))]
    count = r.randint(1, 4)
    if chance < .7:
        return ["sequence", sorted(r.randint(1, 22) for _ in range(count - 1)), [tree(r, depth - 1) for _ in range(count)]]
    return ["chain", None, [tree(r, depth - 1) for _ in range(count)]]


def leaves(t):
    return [leaf for child in t[2] for leaf in leaves(child)] if t[0] in ("chain", "sequence") else [t[0]]


def differs_by_intent(t):
    """Differences documented in docs/semantics.md: several cycles or averages, and warm restarts in a chain."""
    names, text = leaves(t), str(t)
    return names.count("one") + names.count("cyclic") > 1 or names.count("swa") > 1 or ("warm" in names and "chain" in text)


def theirs(o, t):
    if t[0] == "chain":
        return lr.ChainedScheduler([theirs(o, child) for child in t[2]], o)
    if t[0] == "sequence":
        return lr.SequentialLR(o, [theirs(o, child) for child in t[2]], list(t[1]))
    return LEAVES[t[0]][1](o, *t[1])


def ours(t):
    if t[0] not in ("chain", "sequence"):
        return f"std::make_shared<{LEAVES[t[0]][2](*t[1])})"
    children = "EpochSchedulers{" + ", ".join(map(ours, t[2])) + "}"
    if t[0] == "chain":
        return f"std::make_shared<ChainedScheduler>({children})"
    return f"std::make_shared<SequentialLR>(o, {children}, std::vector<std::int64_t>{number(t[1])})"


def program(t, cut):
    return " ".join(f"""[&] {{ using namespace ebb::optim; Tensors out;
const auto group = [](double rate) {{ return OptimizerParamGroup({{ebb::zeros({{1}}).requires_grad_()}},
std::make_unique<SGDOptions>(SGDOptions(rate).momentum(.9))); }};
const auto optimizer = [&] {{ return std::make_unique<SGD>(std::vector{{group(.1), group(.4)}}, SGDOptions(.1)); }};
const auto schedule = [](Optimizer& o) -> std::shared_ptr<EpochScheduler> {{ return {ours(t)}; }};
auto o = optimizer(); auto s = schedule(*o);
for (int epoch = 0; epoch < {EPOCHS}; ++epoch) {{
for (auto& g : o->param_groups()) {{ push(out, g.options().get_lr()); push(out, *g.options().get_momentum()); }}
if (epoch == {cut}) {{ auto again = optimizer(); auto next = schedule(*again); std::stringstream a, b;
ebb::save(*o, a); ebb::load(*again, a); ebb::save(*s, b); ebb::load(*next, b); s = next; o = std::move(again); }}
o->step(); s->step(); }} return out; }}()""".split("\n"))


class Case:
    orders, cotangents, cotangents2, verdict, note = 0, [], [], None, ""

    def __init__(self, t, cut):
        self.tree, self.cut, self.packed = t, cut, [pack_list([])]
        self.candidates = [(program(t, cut), [])]

        def optimizer():
            p = [torch.zeros(1, requires_grad=True) for _ in range(2)]
            return torch.optim.SGD([{"params": p[:1], "lr": .1}, {"params": p[1:], "lr": .4}], lr=.1, momentum=.9)
        o, self.values = optimizer(), []
        s = theirs(o, t)
        for epoch in range(EPOCHS):
            self.values += [torch.tensor(float(g[k]), dtype=torch.float64) for g in o.param_groups for k in ("lr", "momentum")]
            if epoch == cut:
                again = optimizer()
                following = theirs(again, t)
                again.load_state_dict(o.state_dict())
                following.load_state_dict(s.state_dict())
                o, s = again, following
            o.step()
            s.step()
        if not all(v.isfinite() for v in self.values):
            raise ValueError("PyTorch's rates are not finite")

    def judge(self, stage, message, values, *_):
        self.note = message[:150] if stage == 0 else difference(values, self.values, False)
        self.verdict = "differ" if self.note else "agree"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="a build of ebb")
    parser.add_argument("--out", type=pathlib.Path, default=root / "build/opinfo", help="where programs are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    r, cases, refused = random.Random(options.seed), [], 0
    while len(cases) < options.count:
        t, cut = tree(r, 3), r.randint(0, EPOCHS - 1)
        if differs_by_intent(t):
            continue
        try:
            cases.append(Case(t, cut))
        except Exception:  # PyTorch refuses, or fails
            refused += 1
    build = Build(options)
    build.choose(cases)
    build.run([c for c in cases if c.text])
    for case in cases:
        if case.verdict != "agree":
            print(f"{case.tree} resumed at {case.cut}: {case.verdict}: {case.note}")
    agree = sum(c.verdict == "agree" for c in cases)
    print(f"{agree} of {len(cases)} agree; PyTorch refuses {refused} more")
    return agree != len(cases)


if __name__ == "__main__":
    sys.exit(main())
