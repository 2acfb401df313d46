#!/usr/bin/env python3
"""Runs the module table of PyTorch (ModuleInfo) in ebb: values, gradients, buffers, and calls that must fail."""
import argparse
import collections
import contextlib
import copy
import inspect
import itertools
import os
import pathlib
import re
import sys
import warnings

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence
from torch.testing._internal.common_modules import module_db

import calls
import compare
import module_samples
from build import TYPES, Build, pack_list

# PyTorch options that a C++ port does not have: deprecated ones, and the factory options.
IGNORED = ("size_average", "reduce", "device", "dtype", "enable_nested_tensor", "mask_check")
RENAMED = {"lambd": "lambda", "min_value": "min_val", "max_value": "max_val"}
# Arguments of an options constructor that have a default in Python.
CONSTRUCTED = {"Softmax": ["dim"], "Softmin": ["dim"], "LogSoftmax": ["dim"]}
TAGS = {"batchmean": "BatchMean", "relu": "ReLU", "gelu": "GELU", "nearest-exact": "NearestExact"}
RECURRENT = {"mode": None, "input_size": None, "hidden_size": None, "num_layers": 1, "bias": True, "batch_first": False,
             "dropout": 0.0, "bidirectional": False, "proj_size": 0, "nonlinearity": "tanh"}


class Text(calls.Writer):
    """Writes the construction and the call of a module in C++."""

    def option(self, key, v):
        if v is None:
            return "ebb::nullopt"
        if isinstance(v, str):
            return f'"{v}"' if key == "approximate" else "ebb::k" + TAGS.get(v, v.capitalize())
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, nn.Module):
            return self.layer(v)
        if isinstance(v, (list, tuple)):
            kind = "double" if any(isinstance(e, float) for e in v) else "std::int64_t"
            if any(e is None for e in v):
                parts = ["ebb::nullopt" if e is None else f"ebb::optional<{kind}>({e})" for e in v]
                return f"std::vector<ebb::optional<{kind}>>{{{', '.join(parts)}}}"
            return f"std::vector<{kind}>{{{', '.join(self.number(e) for e in v)}}}"
        if callable(v) and v in (nn.functional.relu, nn.functional.gelu):
            return "ebb::k" + TAGS[v.__name__]
        return self.number(v)

    def layer(self, m):
        """A layer that is an option of another module."""
        if isinstance(m, nn.LayerNorm):
            return f"ebb::nn::AnyModule({self.made(nn.LayerNorm, {'normalized_shape': list(m.normalized_shape), 'eps': m.eps})})"
        if not isinstance(m, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
            raise calls.Unwritable(f"an option of type {type(m).__name__}")
        return self.made(type(m), {"d_model": m.self_attn.embed_dim, "nhead": m.self_attn.num_heads,
                                   "dim_feedforward": m.linear1.out_features, "dropout": m.dropout.p,
                                   "activation": m.activation, "layer_norm_eps": m.norm1.eps,
                                   "batch_first": m.self_attn.batch_first, "norm_first": m.norm_first,
                                   "bias": m.linear1.bias is not None})

    def made(self, cls, given):
        """ebb::nn::Name(NameOptions(...).option(...))."""
        name = cls.__name__
        if given.get("options") is not None:  # LinearCrossEntropyLoss: other options only select code
            given = {**given, "options": None, "batch_chunk_size": given["options"].batch_chunk_size}
        options = name.removeprefix("Lazy") + "Options"
        first = CONSTRUCTED.get(name) or required(cls)
        if name.startswith("Lazy"):
            options = ("ebb::nn::" + options, "std::int64_t{0}")
        else:
            options = ("ebb::nn::" + options, )
        missing = [k for k in first if given.get(k) is None]
        if missing:
            raise calls.Unwritable(f"{missing[0]} is None")
        parts = list(options[1:]) + [self.option(k, given[k]) for k in first]
        sets = [f".{RENAMED.get(k, k)}({self.option(k, v)})" for k, v in given.items()
                if k not in first and k not in IGNORED and k != "return_indices" and (v is not None or k == "momentum")]
        if not parts and not sets:
            return f"ebb::nn::{name}()"
        return f"ebb::nn::{name}({options[0]}({', '.join(parts)}){''.join(sets)})"

    def argument(self, key, v):
        if v is None:
            return "ebb::nullopt" if key in ("hx", "output_size") and self.optional_state else "Tensor()"
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, bool):
            return self.number(v)
        if isinstance(v, PackedSequence):
            parts = [v.data, v.batch_sizes, v.sorted_indices, v.unsorted_indices]
            return f"ebb::nn::utils::rnn::PackedSequence({', '.join('Tensor()' if p is None else self.tensor(p) for p in parts)})"
        if isinstance(v, tuple) and all(isinstance(e, torch.Tensor) for e in v):
            return f"std::make_tuple({', '.join(self.tensor(e) for e in v)})"
        if isinstance(v, (list, tuple)) and key == "output_size":
            return f"Ints{{{', '.join(self.number(e) for e in v)}}}"
        if isinstance(v, (list, tuple)) and v and all(isinstance(e, int) for e in v):
            return self.tensor(torch.tensor(v))
        raise calls.Unwritable(f"an argument of type {type(v).__name__}")

    def call(self, cls, given, method):
        self.optional_state = issubclass(cls, (nn.LSTM, nn.LSTMCell)) or "Unpool" in cls.__name__
        values = [self.argument(k, v) for k, v in given.items()]
        return f"{method}({', '.join(values)})"


def signature(cls):
    if issubclass(cls, nn.RNNBase):
        own = {k: v for k, v in RECURRENT.items() if k != "mode" and (k != "proj_size" or cls is nn.LSTM)
               and (k != "nonlinearity" or cls is nn.RNN)}
        kinds = inspect.Parameter
        return inspect.Signature([kinds(k, kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if v is None else v)
                                  for k, v in own.items()])
    found = inspect.signature(cls.__init__)
    return found.replace(parameters=[p for p in list(found.parameters.values())[1:]
                                     if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)])


def required(cls):
    return [k for k, p in signature(cls).parameters.items() if p.default is p.empty]


def forward_arguments(cls, args, kwargs):
    """Arguments by name and in order, up to the last given one."""
    found = inspect.signature(cls.forward)
    bound = found.bind(None, *args, **kwargs)
    last = list(bound.arguments)[-1] if len(bound.arguments) > 1 else None
    bound.apply_defaults()
    given = {}
    for k, v in list(bound.arguments.items())[1:]:
        given[k] = v
        if k == last:
            break
    return given


def tensors_of(result):
    if result is None:
        return [None]
    if isinstance(result, PackedSequence):
        return [result.data, result.batch_sizes]
    if isinstance(result, (list, tuple)):
        if hasattr(result, "loss"):  # a scalar in C++
            return [result.output, result.loss.detach().double()]
        return [t for r in result for t in tensors_of(r)]
    return compare.tensors_of(result)


def moved(v, change):
    """v with each tensor replaced by change(tensor)."""
    if isinstance(v, torch.Tensor):
        return change(v)
    if isinstance(v, PackedSequence):
        return v
    if isinstance(v, dict):
        return {k: moved(e, change) for k, e in v.items()}
    if isinstance(v, (list, tuple)):
        return type(v)(moved(e, change) for e in v)
    return v


@contextlib.contextmanager
def tolerance(kind):
    """The tolerance of values that were rounded to BFloat16, for calls under autocast."""
    usual = compare.TOLERANCE
    if kind == "autocast":
        compare.TOLERANCE = {dtype: (0.1, 0.1) for dtype in usual}
    try:
        yield
    finally:
        compare.TOLERANCE = usual


class ModuleCase(compare.Case):
    """One module that is constructed and called, with the results of PyTorch."""

    def __init__(self, name, cls, constructor, call, dtype, training, kind, file=None):
        self.op, self.full = argparse.Namespace(name=name), name
        self.kind, self.verdict, self.note, self.orders = kind, None, "", 0
        self.values, self.grads, self.grads2, self.cotangents, self.cotangents2 = [], [], [], [], []
        args, kwargs = constructor[0], {k: v for k, v in constructor[1].items() if k not in IGNORED}
        copied = lambda t: t.detach().clone().requires_grad_(t.requires_grad)
        if "LazyInstanceNorm" in name:  # its defaults differ from those of its options
            kwargs = {"affine": True, "track_running_stats": True, **kwargs}
        given, call_args, call_kwargs = dict(signature(cls).bind(*args, **kwargs).arguments), *moved(call, copied)
        writer = Text()
        made = writer.made(cls, given)
        indices = given.get("return_indices", False)
        text = writer.call(cls, forward_arguments(cls, call_args, call_kwargs), "m->forward_with_indices" if indices else
                           "m->forward_with_packed_input" if any(isinstance(a, PackedSequence) for a in call_args) else "m")
        inputs = list(writer.tensors)
        at = len(inputs)
        self.label = re.sub(r"ebb::nn::|ebb::|std::int64_t(?=\{)|double(?=\()", "", f"{made} {text}")
        declared = f"auto m = {made}; prepare(*m, t, {at}); "
        text = declared + f"ebb::amp::autocast casting(ebb::kCPU, ebb::kBFloat16, is_cast(t, {at})); finish(out, {text}, *m);"
        torch.manual_seed(3)
        module = error = None
        try:
            module = cls(*args, **kwargs).to(dtype).train(training)
            if "Lazy" in name:
                with torch.no_grad():
                    module(*call_args, **call_kwargs)
        except TypeError as e:
            raise calls.Unwritable("an option of a type that C++ refuses") from e
        except Exception as e:
            module, error = None, e
        state = module.state_dict(keep_vars=True) if module else {}
        names = "".join(k + "\n" for k in state).encode()
        self.module = copy.deepcopy(module) if file and state else None
        self.file = file if file and state else None
        number = -1 if module else -2
        if self.file:
            number = int(file.stem)
            torch.save(module.state_dict(), file)
        header = [torch.tensor([training, TYPES.index(dtype), 3, number, kind == "autocast"]), torch.tensor(list(names), dtype=torch.uint8)]
        everything = inputs + header + list(state.values())
        if sum(t.numel() for t in everything) > 10**5:
            raise calls.Unwritable("too large")
        self.shapes = [(list(t.shape), str(t.dtype)[6:]) for t in inputs] + ["training" if training else "evaluating"]
        if not compare.in_scope(inputs):
            raise calls.Unwritable("complex, sparse or on no device")
        self.packed = [pack_list(everything, True)]
        self.candidates = [(text, everything)]
        if module:
            try:
                self.measure(module, call_args, call_kwargs, [t for t in everything if t.requires_grad])
            except calls.Unwritable:
                raise
            except Exception as e:
                error = e
        if error is None:
            self.kind = "sample" if kind == "refused" else kind
        else:
            self.kind, self.expected = "refused" if kind == "refused" else kind + " refused", f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"

    def measure(self, module, args, kwargs, leaves):
        torch.manual_seed(3)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.kind == "autocast"):
            self.values = tensors_of(module(*args, **kwargs)) + [b.clone() for b in module.buffers()]
        if sum(v.numel() for v in self.values if v is not None) > 10**6:
            raise calls.Unwritable("too large")
        if not compare.in_scope([v for v in self.values if v is not None]):
            raise calls.Unwritable("complex, sparse or on no device")
        if not leaves or not any(v is not None and v.requires_grad for v in self.values):
            return
        self.orders = 1
        self.differentiate(leaves)
        if not compare.in_scope([g for g in self.grads if g is not None]):
            raise calls.Unwritable("complex, sparse or on no device")
        self.values = [v if v is None else v.detach().clone() for v in self.values]

    def judge(self, stage, message, values, grads, grads2):
        if "refused" in self.kind:
            wrong = stage == 0 and re.match("state:|.* has another requires_grad", message)
            self.verdict = "differ" if wrong else "agree" if stage < 1 + self.orders else "accepted"
            self.note = message if stage == 0 else self.expected
        else:
            with tolerance(self.kind):
                super().judge(stage, message, values, grads, grads2)
        if self.file and self.verdict == "agree":
            self.read_back()

    def read_back(self):
        """Checks that PyTorch loads the state that ebb wrote."""
        back = torch.load(f"{self.file}.ebb", weights_only=True)
        before = self.module.state_dict()
        self.module.load_state_dict(back, strict=True)
        if list(back) != list(before) or not all(torch.equal(back[k], v) for k, v in before.items()):
            self.verdict, self.note = "differ", "the file that ebb wrote"


class ModuleBuild(Build):
    header = "modules.h"
    statement = "Tensors& t, Tensors& out) {{ {} }}"


def changed_inputs(call):
    """The same call with other inputs: with an empty dimension, another number of dimensions, or integers."""
    args, kwargs = call
    for dim in (0, 1):
        yield f"empty {dim}", moved(call, lambda t: t.detach().narrow(dim, 0, 0).requires_grad_(t.requires_grad) if t.dim() > dim else t)
    if args and isinstance(args[0], torch.Tensor):
        first = args[0].detach()
        for what, x in (("one dimension less", first[0] if first.dim() and len(first) else first), ("one dimension more", first.unsqueeze(0)),
                        ("two dimensions more", first[None, None]), ("a number", torch.ones((), dtype=first.dtype)), ("integers", first.long())):
            yield what, ((x, *args[1:]), kwargs)


def changed_options(cls, constructor):
    """The same construction with an option set to 0, -1, a larger number, or another length."""
    bound = dict(signature(cls).bind(*constructor[0], **constructor[1]).arguments)
    defaults = {k: p.default for k, p in signature(cls).parameters.items() if p.default is not p.empty}
    for key, v in {**defaults, **bound}.items():
        if key in IGNORED:
            continue
        values = []
        if isinstance(v, bool):
            values = [not v]
        elif isinstance(v, (int, float)):
            values = [type(v)(n) for n in (0, -1, 20)] + ([v + 1] if isinstance(v, int) else [0.5, 1.5])
        elif isinstance(v, (list, tuple)) and all(isinstance(e, (int, float)) for e in v):
            values = [[type(v[0])(n)] * len(v) for n in (0, -1, 20)] + [list(v) + [v[0]]] if v else []
        elif v is None and key in module_samples.UNSET:
            values = module_samples.UNSET[key]
        for new in values:
            yield f"{key} = {new}", ((), {**bound, key: new})


class Collection:
    """The cases without duplicates, and the samples that cannot be a case."""

    def __init__(self, options):
        self.options, self.cases, self.skipped, self.seen = options, [], collections.Counter(), set()
        self.files = options.out / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        os.environ["OPINFO_FILES"] = str(self.files)

    def add(self, *arguments):
        try:
            case = ModuleCase(*arguments)
        except calls.Unwritable as reason:
            self.skipped[f"cannot be said: {arguments[0]}: {reason}"] += 1
            return
        except Exception as error:
            self.skipped[f"no sample: {arguments[0]}: {type(error).__name__}: {error}"] += 1
            return
        if case.kind == "file" and not case.file:  # it has no state
            return
        key = (case.candidates[0][0], case.packed[0])
        if key not in self.seen:
            self.seen.add(key)
            self.cases.append(case)

    def add_samples(self, info, dtype, training):
        name, cls = info.name.removeprefix("nn."), info.module_cls
        torch.manual_seed(1)
        samples = list(info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training))
        for i, sample in enumerate(samples[::1 + len(samples) // self.options.most]):
            constructor = (sample.constructor_input.args, sample.constructor_input.kwargs)
            if sample.forward_input is None:
                continue
            call = (sample.forward_input.args, sample.forward_input.kwargs)
            if self.options.options:
                if i == 0 or len(samples) < 4:
                    for _, other in changed_options(cls, constructor):
                        self.add(name, cls, other, call, dtype, training, "option")
                continue
            self.add(name, cls, constructor, call, dtype, training, "sample")
            if dtype == torch.float32 and training:
                self.add(name, cls, constructor, call, dtype, training, "file", self.files / f"{len(self.cases)}.pt")
            if dtype == torch.float32 and not training:
                self.add(name, cls, constructor, call, dtype, training, "autocast")
            if dtype == torch.float64:
                for _, other in changed_inputs(call):
                    self.add(name, cls, constructor, other, dtype, training, "input")

    def add_refused(self, info, dtype, training):
        for e in info.module_error_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training):
            constructor, call = e.module_error_input.constructor_input, e.module_error_input.forward_input
            call = (call.args, call.kwargs) if call else ((torch.ones(2, 3, dtype=dtype),), {})
            self.add(info.name.removeprefix("nn."), info.module_cls, (constructor.args, constructor.kwargs), call, dtype, training,
                     "refused")


def collect(options):
    found = Collection(options)
    ways = [(torch.float64, True)] if options.options else itertools.product((torch.float64, torch.float32), (True, False))
    for info, (dtype, training) in itertools.product(module_samples.extra() + list(module_db), list(ways)):
        if re.search(options.modules, info.name.removeprefix("nn.")):
            found.add_samples(info, dtype, training)
            if info.module_error_inputs_func and not options.options:
                found.add_refused(info, dtype, training)
    return found.cases, found.skipped


def report(cases, skipped, out):
    totals = collections.defaultdict(collections.Counter)
    with open(out / "modules.txt", "w") as file:
        said = set()
        for c in cases:
            totals[c.kind][c.verdict] += 1
            if c.verdict != "agree" and (c.full, c.kind, c.note, c.label) not in said:
                said.add((c.full, c.kind, c.note, c.label))
                print(f"{c.full} [{c.kind}] {c.verdict}: {c.label} {c.shapes}\n    {c.note}", file=file)
    refused = {f"{c.full}: {c.expected}\n    {c.note}\n" for c in cases if "refused" in c.kind}
    (out / "modules_refused.txt").write_text("".join(sorted(refused)))
    (out / "modules_skipped.txt").write_text("".join(f"{n:5} {why}\n" for why, n in sorted(skipped.items())))
    worst = collections.Counter((c.full, c.kind, c.verdict) for c in cases if c.verdict != "agree")
    for (name, kind, verdict), n in sorted(worst.items()):
        print(f"{name:30} {kind:8} {n:4} {verdict}")
    for kind, counts in totals.items():
        judged = sum(n for v, n in counts.items() if v != "does not compile") or 1
        print(f"{kind}: {dict(counts)}: {100 * counts['agree'] / judged:.2f} % of those that compile agree")
    print(f"out of scope: {sum(skipped.values())}, with reasons in modules_skipped.txt")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", default="", help="a pattern of the classes' names (default: all)")
    parser.add_argument("--options", action="store_true", help="changes each option of each module instead")
    parser.add_argument("--most", type=int, default=150, help="samples of a class, dtype and mode (default: 150)")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="a build of ebb")
    parser.add_argument("--out", type=pathlib.Path, default=root / "build/opinfo", help="where disagreements are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    cases, skipped = collect(options)
    print(f"{len(cases)} calls of {len({c.candidates[0][0] for c in cases})} kinds", file=sys.stderr)
    build = ModuleBuild(options)
    build.choose(cases)
    ready = [c for c in cases if c.text]
    texts = list(dict.fromkeys(c.text for c in ready))
    for start in range(0, len(texts), 300):
        part = set(texts[start:start + 300])
        build.run([c for c in ready if c.text in part])
    report(cases, skipped, options.out)


if __name__ == "__main__":
    main()
