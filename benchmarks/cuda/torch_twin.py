"""The PyTorch counterpart of the C++ programs in this folder: the same shapes, eager and with torch.compile.

Prints lines of `SIDE NAME VALUE UNIT`. SIDE is eager or compiled, and the names are those of the C++ programs.
usage: torch_twin.py [--eager] bandwidth|conv|gemm|host_cost|steps [SIZE]
--eager skips torch.compile, which takes seconds for each op.
"""
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


EAGER_ONLY = "--eager" in sys.argv
if EAGER_ONLY:
    sys.argv.remove("--eager")
BUDGET = float(os.environ.get("EBB_BENCH_SECONDS", 0.5))  # seconds for each figure


def device_us(call):
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    group = max(1, int(0.01 / max(time.perf_counter() - start, 1e-6)))
    samples, end = [], time.perf_counter() + BUDGET
    while time.perf_counter() < end or len(samples) < 5:
        start = time.perf_counter()
        for _ in range(group):
            call()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - start) / group)
    return statistics.median(samples) * 1e6


def report(side, name, value, unit="us"):
    print(f"{side} {name} {value:.6g} {unit}", flush=True)


def allow_tf32(allow):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allow


def sides(function):
    """Yields ("eager", function) and, without --eager, ("compiled", the compiled function)."""
    yield "eager", function
    if not EAGER_ONLY:
        yield "compiled", torch.compile(function, dynamic=False)


def both(name, function, *inputs):
    """Times the forward pass without gradients, eager and compiled."""
    with torch.no_grad():
        for side, run in sides(function):
            report(side, name, device_us(lambda: run(*inputs)))


def both_ways(name, function, *inputs):
    """Times the forward pass, and separately the backward pass through a recorded graph, eager and compiled."""
    both(name, function, *inputs)
    leaves = [x.detach().clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    wanted = [x for x in leaves if x.requires_grad]
    for side, run in sides(function):
        y = run(*leaves)
        seed = torch.ones_like(y)
        try:
            value = device_us(lambda: torch.autograd.grad(y, wanted, seed, retain_graph=True))
        except RuntimeError as error:  # compiled graphs may not support retain_graph
            print(f"# {side} {name}.backward: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        report(side, name + ".backward", value)


def bandwidth(n):
    for dtype, short in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        def name(op):
            return f"bandwidth.{op}.{short}"

        options = {"device": "cuda", "dtype": dtype}
        x, y, z = torch.randn(n, **options), torch.randn(n, **options), torch.empty(n, **options)
        report("eager", name("copy"), device_us(lambda: z.copy_(x)))
        rows, columns, images = x.view(-1, 4096), x.view(4096, -1), x.view(-1, 64, 32, 32)
        bias, channel = torch.randn(4096, **options), torch.randn(1, 64, 1, 1, **options)
        both(name("add"), lambda a, b: a + b, x, y)
        both(name("gelu"), F.gelu, x)
        both(name("exp"), torch.exp, x)
        both(name("addcmul"), torch.addcmul, x, y, z)
        both(name("bias_add"), lambda a, b: a + b, rows, bias)
        both(name("channel_add"), lambda a, b: a + b, images, channel)
        both(name("transpose"), lambda a: a.t().contiguous(), rows)
        both(name("nchw_to_nhwc"), lambda a: a.permute(0, 2, 3, 1).contiguous(), images)
        both(name("stride_2"), lambda a: a[:, ::2].contiguous(), rows)
        both(name("cat"), lambda a, b: torch.cat([a, b], 1), rows, y.view(-1, 4096))
        both_ways(name("dropout"), lambda a: F.dropout(a, 0.5, True), x)
        both(name("sum"), lambda a: a.sum(), x)
        both(name("sum.rows"), lambda a: a.sum(1), rows)
        both(name("sum.columns"), lambda a: a.sum(0), columns)
        both(name("sum.short_rows"), lambda a: a.sum(1), x.view(-1, 16))
        both(name("max.rows"), lambda a: a.max(1), rows)
        both(name("var.rows"), lambda a: a.var(1), rows)
        both(name("cumsum.rows"), lambda a: a.cumsum(1), rows)
        both_ways(name("softmax"), lambda a: torch.softmax(a, 1), rows)
        both_ways(name("log_softmax"), lambda a: torch.log_softmax(a, 1), rows)
        weight, shift = torch.ones(4096, **options), torch.zeros(4096, **options)
        both_ways(name("layer_norm"), lambda a, w, b: F.layer_norm(a, (4096,), w, b), rows, weight, shift)
        weight, shift = torch.ones(64, **options), torch.zeros(64, **options)
        both_ways(name("batch_norm"), lambda a, w, b: F.batch_norm(a, None, None, w, b, True), images, weight, shift)
        labels = torch.arange(n // 4096, device="cuda") % 4096
        both_ways(name("cross_entropy"), F.cross_entropy, rows, labels)
        if dtype is not torch.float32:
            continue
        for tensors in (1, 256):
            parameters = [torch.randn(n // tensors, **options, requires_grad=True) for _ in range(tensors)]
            for p in parameters:
                p.grad = torch.randn_like(p)
            adam = torch.optim.Adam(parameters, 1e-3, fused=True)
            report("eager", name(f"adam.{tensors}"), device_us(adam.step))
            sgd = torch.optim.SGD(parameters, 1e-3, momentum=0.9, fused=True)
            report("eager", name(f"sgd.{tensors}"), device_us(sgd.step))


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def train(name, net, make_optimizer, images):
    net = net.cuda()
    labels = torch.arange(images.shape[0], device="cuda") % 10
    for side, forward in sides(net):
        optimizer = make_optimizer(net.parameters())

        def step():
            optimizer.zero_grad(set_to_none=False)
            F.cross_entropy(forward(images), labels).backward()
            optimizer.step()

        report(side, name, device_us(step))
        report(side, name + ".captured", device_us(captured(step)))


def steps():
    for batch in (64, 1024):
        mlp = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        train(f"step.mlp.{batch}", mlp, lambda p: torch.optim.SGD(p, 0.01, fused=True),
              torch.rand(batch, 784, device="cuda"))
        cnn = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                            nn.MaxPool2d(2), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64),
                            nn.ReLU(), nn.Linear(64, 10))
        train(f"step.cnn.{batch}", cnn, lambda p: torch.optim.Adam(p, 1e-3, fused=True, capturable=True),
              torch.rand(batch, 1, 28, 28, device="cuda"))


def gemm(largest):
    n = min(512, largest)
    while n <= largest:
        for name, dtype in (("f32", torch.float32), ("tf32", torch.float32), ("bf16", torch.bfloat16)):
            allow_tf32(name == "tf32")
            a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
            both(f"gemm.{name}.{n}", torch.matmul, a, b)
        n *= 2


def conv(batch):
    shapes = (("7x7.3.64", 3, 224, 64, 7, 2), ("1x1.64.256", 64, 56, 256, 1, 1), ("3x3.64.64", 64, 56, 64, 3, 1),
              ("3x3.128.128", 128, 28, 128, 3, 1), ("3x3.256.256.s2", 256, 28, 256, 3, 2),
              ("1x1.1024.256", 1024, 14, 256, 1, 1), ("3x3.512.512", 512, 7, 512, 3, 1))
    for shape, channels, size, filters, kernel, stride in shapes:
        for layout, memory in (("nchw", torch.contiguous_format), ("nhwc", torch.channels_last)):
            for name, dtype in (("f32", torch.float32), ("tf32", torch.float32), ("bf16", torch.bfloat16)):
                allow_tf32(name == "tf32")
                x = torch.randn(batch, channels, size, size, device="cuda", dtype=dtype).contiguous(memory_format=memory)
                w = torch.randn(filters, channels, kernel, kernel, device="cuda", dtype=dtype)
                both_ways(f"conv.{shape}.{name}.{layout}",
                          lambda a, b: F.conv2d(a, b, None, stride, kernel // 2), x, w.contiguous(memory_format=memory))


def host_us(call, ops):
    """Returns the median host microseconds per op, measured until the last launch is queued."""
    for _ in range(20):
        call()
    samples, end = [], time.perf_counter() + BUDGET
    while time.perf_counter() < end or len(samples) < 5:
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    return statistics.median(samples) / ops * 1e6


def host_cost(_):
    ops = 240
    for elements in (1, 4096):
        c = torch.full((elements,), 0.99, device="cuda")
        for name, ops_a_step, step in (("mul_add_tanh", 4, lambda y: torch.tanh(y * c + c) * y),
                                       ("sin", 1, torch.sin), ("mul_scalar", 1, lambda y: y * 1.0001)):
            x, seed = torch.full((elements,), 0.5, device="cuda"), torch.ones(elements, device="cuda")

            def chain():
                y = x
                for _ in range(ops // ops_a_step):
                    y = step(y)
                return y

            def both_passes():
                chain().backward(seed)
                x.grad = None

            full = f"host_cost.{name}.{elements}"
            with torch.no_grad():
                report("eager", full + ".no_grad", host_us(chain, ops), "us/op")
            x.requires_grad_()
            report("eager", full + ".forward", host_us(chain, ops), "us/op")
            report("eager", full + ".forward_backward", host_us(both_passes, ops), "us/op")


WORKLOADS = {"bandwidth": (bandwidth, 1 << 26), "conv": (conv, 64), "gemm": (gemm, 8192), "host_cost": (host_cost, 0),
             "steps": (lambda _: steps(), 0)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in WORKLOADS:
        sys.exit("usage: torch_twin.py [--eager] " + "|".join(WORKLOADS) + " [SIZE]")
    if not torch.cuda.is_available():
        sys.exit("This benchmark needs a CUDA device; there is none.")
    torch.manual_seed(1)
    run, size = WORKLOADS[sys.argv[1]]
    run(int(sys.argv[2]) if len(sys.argv) > 2 else size)
