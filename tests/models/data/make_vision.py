#!/usr/bin/env python3
"""Writes vision.txt: double precision results of torchvision models for weights that both sides compute.

python3 make_vision.py > vision.txt        (torch 2.15, torchvision 0.29)
"""
import math
from unittest import mock

import numpy as np
import torch
import torchvision
from torch import nn
from torchvision.models import efficientnet, mobilenetv3, resnet, vgg


def noise(key, count):
    """Values in [-1, 1) with 24 bits, equal to those of noise() in golden.h."""
    i = np.arange(count, dtype=np.uint64)
    x = (i * 0x9E3779B1 + key * 0x85EBCA6B) & 0xFFFFFFFF
    x ^= x >> 15
    x = (x * 0x2C1B3C6D) & 0xFFFFFFFF
    x ^= x >> 12
    x = (x * 0x297A2D39) & 0xFFFFFFFF
    x ^= x >> 15
    return (x >> 8).astype(np.float64) / 2**23 - 1


def tensor(key, shape):
    return torch.from_numpy(noise(key, math.prod(shape)).reshape(shape))


def fill(net):
    for key, (name, value) in enumerate(net.state_dict().items()):
        if name.endswith("num_batches_tracked"):
            continue
        x = tensor(key, tuple(value.shape))
        if value.dim() >= 2:
            x = x * math.sqrt(6 / (value.numel() // value.shape[0]))
        elif name.endswith("weight"):
            x = 1 + 0.2 * x
        elif name.endswith("running_var"):
            x = 1 + 0.5 * x
        else:
            x = 0.1 * x
        value.copy_(x)


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def ends(t):
    """The norm, and four entries."""
    flat = t.detach().double().flatten()
    at = [0, flat.numel() // 3, flat.numel() // 2, flat.numel() - 1]
    return numbers([flat.norm(), *flat[at]])


def case(name, net, shape):
    net = net.double()
    fill(net)
    images = tensor(1000001, shape)
    print(f"case {name}")
    net.eval()
    with torch.no_grad():
        print("eval", ends(net(images)))
    net.train()
    images.requires_grad_()
    out = net(images)
    print("train", ends(out))
    (out * tensor(1000003, tuple(out.shape))).sum().backward()
    print("grad images", ends(images.grad))
    # A bias before a normalization has a gradient that consists only of rounding errors.
    named = [item for item in net.named_parameters() if item[1].grad.norm() > 1e-9]
    n = len(named)
    for i in sorted({0, 1, n // 3, n // 2, 2 * n // 3, n - 2, n - 1}):
        print("grad", named[i][0], ends(named[i][1].grad))
    means = [item for item in net.named_buffers() if item[0].endswith(("running_mean", "running_var"))]
    for item in means[:2] + means[-2:]:
        print("buffer", item[0], ends(item[1]))


def keys(name, net):
    count, h = 0, 0xCBF29CE484222325
    for key, value in net.state_dict().items():
        count += 1
        for byte in f"{key} {'x'.join(map(str, value.shape))}\n".encode():
            h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    print(f"keys {name} {count} {h:016x}")


def initial(name, make):
    torch.manual_seed(7)
    net = make()
    values = [p.detach().double() for p in net.parameters()]
    total = sum(float(v.sum()) for v in values), sum(float((v * v).sum()) for v in values)
    print(f"initial {name}", numbers(total), ends(values[0]), ends(values[-2]))


def narrow_vgg(cfg, batch_norm, width=8, hidden=32):
    """torchvision's VGG with fewer channels."""

    class Linear(nn.Linear):
        def __init__(self, inputs, outputs):
            inputs = {512 * 7 * 7: 8 * width * 7 * 7, 4096: hidden}[inputs]
            super().__init__(inputs, hidden if outputs == 4096 else outputs)

    channels = [c if c == "M" else c * width // 64 for c in vgg.cfgs[cfg]]
    with mock.patch.object(nn, "Linear", Linear):
        return vgg.VGG(vgg.make_layers(channels, batch_norm), num_classes=10, dropout=0)


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2).flatten(1)
        return self.fc3(self.fc2(self.fc1(x).relu()).relu())


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs, mid=None):
        super().__init__()
        parts = []
        for a, b in [(inputs, mid or outputs), (mid or outputs, outputs)]:
            parts += [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
        self.double_conv = nn.Sequential(*parts)

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs, bilinear):
        super().__init__()
        self.up = (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True) if bilinear
                   else nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2))
        self.conv = DoubleConv(inputs, outputs, inputs // 2 if bilinear else None)

    def forward(self, x, skip):
        x = self.up(x)
        rows, columns = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = nn.functional.pad(x, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
        return self.conv(torch.cat([skip, x], 1))


class OutConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, inputs, outputs, bilinear, w=64):
        super().__init__()
        f = 2 if bilinear else 1
        self.inc = DoubleConv(inputs, w)
        self.down1, self.down2 = Down(w, 2 * w), Down(2 * w, 4 * w)
        self.down3, self.down4 = Down(4 * w, 8 * w), Down(8 * w, 16 * w // f)
        self.up1, self.up2 = Up(16 * w, 8 * w // f, bilinear), Up(8 * w, 4 * w // f, bilinear)
        self.up3, self.up4 = Up(4 * w, 2 * w // f, bilinear), Up(2 * w, w, bilinear)
        self.outc = OutConv(w, outputs)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(self.down4(x4), x4)
        return self.outc(self.up4(self.up3(self.up2(x, x3), x2), x1))


def mobilenet(name, **options):
    return mobilenetv3.MobileNetV3(*mobilenetv3._mobilenet_v3_conf(name, **options), num_classes=6, dropout=0)


def bottlenecks():
    return resnet.ResNet(resnet.Bottleneck, [1, 2, 1, 2], num_classes=5, groups=4, width_per_group=8,
                         replace_stride_with_dilation=[False, True, True])


def b0(**options):
    return torchvision.models.efficientnet_b0(num_classes=6, **options)


case("lenet5", LeNet5(), (2, 1, 28, 28))
case("vgg11", narrow_vgg("A", False), (2, 3, 32, 32))
case("vgg16_bn", narrow_vgg("D", True), (4, 3, 32, 40))
case("resnet18", torchvision.models.resnet18(num_classes=5), (2, 3, 64, 64))
case("resnet50", torchvision.models.resnet50(num_classes=5), (2, 3, 64, 64))
case("bottlenecks", bottlenecks(), (2, 3, 40, 48))
case("mobilenet_v3_large", mobilenet("mobilenet_v3_large"), (4, 3, 64, 64))
case("mobilenet_v3_small", mobilenet("mobilenet_v3_small"), (4, 3, 64, 64))
case("mobilenet_v3_dilated",
     mobilenet("mobilenet_v3_large", width_mult=0.5, reduced_tail=True, dilated=True), (4, 3, 48, 48))
case("efficientnet_b0", b0(dropout=0, stochastic_depth_prob=0), (4, 3, 64, 64))
case("unet", UNet(3, 2, False, 4), (2, 3, 36, 42))
case("unet_bilinear", UNet(1, 2, True, 4), (2, 1, 36, 42))

with torch.device("meta"):
    for depth in (11, 13, 16, 19):
        for name in (f"vgg{depth}", f"vgg{depth}_bn"):
            keys(name, getattr(torchvision.models, name)())
    for name in ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
                 "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2",
                 "mobilenet_v3_large", "mobilenet_v3_small", "efficientnet_b0", "efficientnet_b3"):
        keys(name, getattr(torchvision.models, name)())
    keys("bottlenecks", bottlenecks())
    keys("lenet5", LeNet5())
    keys("unet", UNet(3, 2, False))
    keys("unet_bilinear", UNet(3, 2, True))

initial("resnet18", lambda: torchvision.models.resnet18(num_classes=5))
initial("bottlenecks", bottlenecks)
initial("vgg11", lambda: narrow_vgg("A", False))
initial("mobilenet_v3_small", lambda: mobilenet("mobilenet_v3_small"))
initial("efficientnet_b0", b0)
