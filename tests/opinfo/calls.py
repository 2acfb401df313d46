"""Writes a sample of OpInfo as C++ calls of ebb: its arguments are bound to the ATen schemas, in the order of ebb."""
import inspect
import itertools
import math
import re

import torch

DTYPES = {torch.bool: "kBool", torch.uint8: "kByte", torch.int8: "kChar", torch.int16: "kShort", torch.int32: "kInt",
          torch.int64: "kLong", torch.float16: "kHalf", torch.float32: "kFloat", torch.float64: "kDouble",
          torch.bfloat16: "kBFloat16"}
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
NAMES = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "logsigmoid": "log_sigmoid",
         "_segment_reduce": "segment_reduce"}
OPTION_TENSORS = ("weight", "pos_weight", "per_sample_weights", "offsets")
CAMEL = {"Nll": "NLL", "KlDiv": "KLDiv", "PoissonNll": "PoissonNLL", "Silu": "SiLU"}
# Options that are constructor arguments and not setters.
CONSTRUCTED = {"kernel_size", "output_size", "size", "pad", "dim", "upscale_factor", "downscale_factor", "groups"}
# The name of an argument in a schema, and its possible names in Python.
ALIASES = {"self": ("input", "x", "tensor", "tensors", "data", "A", "mat"), "input": ("self", "x"), "dim": ("axis",), "axis": ("dim",),
           "indices": ("input",), "x1": ("input1",), "x2": ("input2",), "query": ("q",)}
DEPRECATED = ("inplace", "size_average", "reduce", "sparse")
FILLS = {"cudnn_enabled": True, "generator": None}
OPERATORS = {"__radd__": "t[1] + t[0]", "__rsub__": "t[1] - t[0]", "__rmul__": "t[1] * t[0]", "__rdiv__": "t[1] / t[0]",
             "__rand__": "t[1] & t[0]", "__ror__": "t[1] | t[0]", "__rxor__": "t[1] ^ t[0]"}


class Unwritable(Exception):
    """The call cannot be written in C++: an argument has another type than in the schema."""


class Writer:
    """Collects the tensors of a call in `tensors`; the written code names them t[0], t[1], ..."""

    def __init__(self):
        self.tensors = []

    def tensor(self, x):
        for i, known in enumerate(self.tensors):
            if known is x:
                return f"t[{i}]"
        self.tensors.append(x)
        return f"t[{len(self.tensors) - 1}]"

    def number(self, v):
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, int):
            if not -2**63 < v < 2**63:
                raise Unwritable("a number of more than 64 bits")
            return f"std::int64_t{{{v}}}"
        if isinstance(v, float):
            if math.isnan(v):
                return "double(NAN)"
            return ("-" if v < 0 else "") + "double(INFINITY)" if math.isinf(v) else f"double({v!r})"
        raise Unwritable(f"a number {type(v).__name__}")

    def value(self, v, kind, name=""):
        """v as an argument of the schema type `kind`."""
        if kind.startswith("Optional["):
            inner = kind[9:-1]
            if v is None:
                return "ebb::optional<Tensor>()" if inner == "Tensor" else "ebb::nullopt"
            text = self.value(v, inner, name)
            of = {"number": "ebb::Scalar", "bool": "bool", "float": "double"}.get(inner)
            return f"ebb::optional<{of}>({text})" if of else text
        if isinstance(v, torch.dtype):
            if v not in DTYPES:
                raise Unwritable("dtype")
            return "ebb::" + DTYPES[v]
        if kind == "Tensor":
            if isinstance(v, torch.Tensor):
                return self.tensor(v)
            raise Unwritable("not a tensor")
        if kind == "number" and isinstance(v, (bool, int, float)):
            return self.number(v)
        if kind == "int":
            if name == "reduction" and v in REDUCTIONS:
                v = REDUCTIONS[v]
            if isinstance(v, int):
                return self.number(int(v))
        if kind == "float" and isinstance(v, (int, float)) and not isinstance(v, bool):
            return self.number(float(v))
        if kind == "bool" and isinstance(v, bool):
            return self.number(v)
        if kind == "str" and isinstance(v, str):
            return '"' + v + '"'
        if kind.startswith("List["):
            return self.list(v, kind[5:-1])
        raise Unwritable(f"{type(v).__name__} for {kind}")

    def list(self, v, kind):
        names = {"int": "Ints", "bool": "std::vector<bool>", "float": "std::vector<double>", "Tensor": "Tensors",
                 "Optional[Tensor]": "MaybeTensors", "number": "std::vector<ebb::Scalar>"}
        if kind not in names:
            raise Unwritable(kind)
        if isinstance(v, (int, float)) and kind in ("int", "float"):
            return f"{names[kind]}{{{self.value(v, kind)}}}"
        if not isinstance(v, (list, tuple)):
            raise Unwritable("not a list")
        return names[kind] + "{" + ", ".join(self.value(e, kind) for e in v) + "}"

    def index(self, v):
        """An index of x[...]."""
        if isinstance(v, slice):
            ends = [e if e is None else int(e) for e in (v.start, v.stop, v.step)]
            return "ebb::indexing::Slice(" + ", ".join("ebb::indexing::None" if e is None else str(e) for e in ends) + ")"
        if v is None:
            return "ebb::indexing::None"
        if v is Ellipsis:
            return '"..."'
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, (list, tuple)):
            return self.tensor(torch.tensor(v))
        return self.number(v)


def spelled(name):
    """The ATen name and the ebb name."""
    for prefix in ("linalg.", "special.", "fft."):
        if name.startswith(prefix):
            return name.replace(".", "_"), "ebb::" + prefix[:-1] + "::" + name[len(prefix):]
    short = name.removeprefix("nn.functional.")
    if name == "nn.functional.unfold":
        return "im2col", "ebb::im2col"
    aten = NAMES.get(short, short)
    return aten, "ebb::" + aten


def bound(schema, args, kwargs, fills, writer):
    """The arguments in the order of the schema, up to the last given one."""
    kwargs, values, used = dict(kwargs), [], 0
    positional = [a for a in schema.arguments if not a.kwarg_only]
    if len(args) > len(positional):
        raise Unwritable("too many arguments")
    given = dict(zip((a.name for a in positional), args))
    for a in schema.arguments:
        name = next((n for n in (a.name, *ALIASES.get(a.name, ())) if n in kwargs), None)
        if name and a.name in given:
            raise Unwritable("given twice")
        if a.name in ("layout", "device", "pin_memory") and str(a.type) != "Device":
            kwargs.pop(name, None)
            continue
        if a.name in given or name:
            v = given[a.name] if a.name in given else kwargs.pop(name)
            if a.N and (isinstance(v, int) or (isinstance(v, (list, tuple)) and len(v) == 1)):
                v = [v] * a.N if isinstance(v, int) else list(v) * a.N
            values.append(writer.value(v, str(a.type), a.name))
            used = len(values)
        elif a.has_default_value():
            values.append(("default", a))
        elif a.name in fills or a.name in FILLS:
            values.append(writer.value(fills.get(a.name, FILLS.get(a.name)), str(a.type), a.name))
            used = len(values)
        else:
            raise Unwritable(f"{a.name} is missing")
    if kwargs:
        raise Unwritable(f"{list(kwargs)[0]} is left over")
    return [writer.value(v[1].default_value, str(v[1].type), v[1].name) if isinstance(v, tuple) else v
            for v in values[:used]]


def signature_of(op):
    """The parameters of a function written in Python, or None."""
    target = op.op
    if op.name.startswith("nn.functional."):
        functions, short = torch.nn.functional, op.name[14:]
        target = getattr(functions, "_" + short, None) or getattr(functions, short, None)
    if not inspect.isfunction(target) or op.name.startswith("__"):
        return None
    found = inspect.signature(target)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found.parameters.values()):
        return None
    return found


def options_of(name, given, writer):
    """The call of nn::functional with an options object."""
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    tags = {"mode", "reduction", "padding_mode"}
    given = dict(given)
    tensors, sets, made = [], [], ""
    returns = given.pop("return_indices", False)
    for key, v in given.items():
        option = key in OPTION_TENSORS and re.search("loss|entropy|bag|logits", name) and (name, key) != ("embedding_bag", "weight")
        if isinstance(v, torch.Tensor) and not option:
            tensors.append(writer.tensor(v))
        elif v is not None:
            if key in tags and isinstance(v, str):
                text = "ebb::k" + "".join(p.capitalize() for p in v.replace("-", "_").replace("batchm", "batch_m").split("_"))
            elif isinstance(v, torch.Tensor):
                text = writer.tensor(v)
            elif key == "scale_factor":
                text = writer.list(v if isinstance(v, (list, tuple)) else [v] * (writer.tensors[0].dim() - 2), "float")
            elif isinstance(v, (list, tuple)):
                text = writer.list(v, "float" if any(isinstance(e, float) for e in v) else "int")
            elif isinstance(v, str):
                text = '"' + v + '"'
            else:
                text = writer.number(v)
            if key in CONSTRUCTED and not made and name not in ("interpolate", "softshrink", "normalize", "cosine_similarity"):
                made = text
            else:
                sets.append(f".{key}({text})")
    function = f"ebb::nn::functional::{name}" + ("_with_indices" if returns else "")
    for plain, ebbs in CAMEL.items():
        camel = camel.replace(plain, ebbs)
    options = f"ebb::nn::functional::{camel}FuncOptions({made})" + "".join(sets)
    sets += [made] if made else []
    return f"{function}({', '.join(tensors + [options] if sets else tensors)})"


def candidates(op, sample):
    """Candidate expressions for the call, each with its tensors; the first that compiles is used."""
    args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
    if kwargs.get("dropout_p", 0) or (kwargs.get("p") and "dropout" in op.name):
        raise Unwritable("random")
    found, reasons = [], []
    signature, fills = signature_of(op), {}
    if op.name in ("nn.functional.embedding", "nn.functional.embedding_bag", "where"):
        args = (args[1], args[0], *args[2:])  # the order of these arguments is swapped in OpInfo
    if op.name == "__getitem__":
        writer = Writer()
        first = writer.tensor(args[0])
        rest = args[1] if isinstance(args[1], tuple) else (args[1],)
        return [(f"{first}.index({{{', '.join(writer.index(v) for v in rest)}}})", writer.tensors)]
    if op.name in OPERATORS and all(isinstance(a, torch.Tensor) for a in args):
        return [(OPERATORS[op.name], list(args))]
    ways = [(args, kwargs)]
    if all(isinstance(a, torch.Tensor) for a in args):
        ways.append(((list(args),), kwargs))  # Python functions with any number of tensors
    if signature:
        try:
            named = dict(signature.bind(*args, **kwargs).arguments)
            fills = {k: p.default for k, p in signature.parameters.items() if p.default is not p.empty}
            ways = [((), {k: v for k, v in named.items() if not (k.startswith("_") or k in DEPRECATED)})]
        except TypeError as error:
            raise Unwritable(str(error)) from error
    aten, name = spelled(op.name)
    schemas = torch._C._jit_get_schemas_for_operator("aten::" + aten)
    for schema, (given, named) in itertools.product(schemas, ways):
        if schema.overload_name.endswith("out") or any(a.name == "out" for a in schema.arguments):
            continue
        writer = Writer()
        try:
            values = bound(schema, given, named, fills, writer)
        except Unwritable as reason:
            reasons.append(str(reason))
            continue
        calls = [f"{name}({', '.join(values)})"]
        if values and values[0].startswith("t[") and values[0].endswith("]"):
            calls.append(f"{values[0]}.{aten}({', '.join(values[1:])})")
        found += [(call, writer.tensors) for call in calls]
    if op.name.startswith("nn.functional.") and signature:
        writer = Writer()
        try:
            call = options_of(op.name[14:], ways[0][1], writer)
            found.append((call, writer.tensors))
        except Unwritable as reason:
            reasons.append(str(reason))
    if not found:
        raise Unwritable(reasons[0] if reasons else "no schema")
    return found
