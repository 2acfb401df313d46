"""The steps of measure.cpp in PyTorch's DistributedDataParallel with Gloo: the same nets, batches and threads.

Prints lines of NAME MEDIAN BEST UNIT on rank 0. usage: torchrun --nproc_per_node 2 torch_twin.py [ROUNDS]
"""
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

figures = []


def take_sample(figure):
    name, calls, call, samples = figure
    dist.barrier()
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    slowest = torch.tensor([sorted(times)[calls // 2]], dtype=torch.double)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    samples.append(slowest.item())


def add_steps(name, net, x, y, calls):
    parallel = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step(forward):
        optimizer.zero_grad()
        nn.functional.cross_entropy(forward(x), y).backward()
        optimizer.step()

    figures.append((name + ".step", calls, lambda: step(parallel), []))
    figures.append((name + ".local", calls, lambda: step(net), []))


def mlp(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (self.downsample(x) if self.downsample else x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(1 + dist.get_rank())
add_steps("tiny_mlp", mlp(20, 32, 32, 10), torch.rand(32, 20), torch.randint(0, 10, (32,)), 100)
add_steps("mlp", mlp(784, 1024, 1024, 1024, 10), torch.rand(32, 784), torch.randint(0, 10, (32,)), 4)
add_steps("cnn", cnn(), torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,)), 4)
add_steps("resnet18", resnet18(), torch.rand(4, 3, 64, 64), torch.randint(0, 1000, (4,)), 1)
for figure in figures:
    for _ in range(2):
        figure[2]()
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 15):
    for figure in figures:
        take_sample(figure)
if dist.get_rank() == 0:
    for name, _, _, samples in figures:
        samples.sort()
        print(f"{name} {samples[len(samples) // 2]:.4g} {samples[len(samples) // 10]:.4g} us", flush=True)
dist.destroy_process_group()
