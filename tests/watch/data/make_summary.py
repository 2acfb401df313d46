"""Writes summary.txt: the rows that torchinfo prints for the networks of ebb::models.

Usage: python3 make_summary.py > summary.txt (it contains results of torchinfo 1.8.0 with torch 2.15, torchvision 0.29
and transformers 5.24). A line is "network NAME PARAMS MULT_ADDS OUTPUT_BYTES", then for each call of a module
"PATH TYPE OUTPUT PARAMS MULT_ADDS". PARAMS of a network is the sum over parameters(), because torchinfo 1.8.0 counts
shared parameters twice. Modules that ebb's networks do not have, as activations, are left out.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchinfo
import torchvision.models as tv
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

LEFT_OUT = ("act", "act_fn", "rotary_emb")


def show(title, net, x):
    stats = torchinfo.summary(net, input_data=x, depth=20, verbose=0)
    params = sum(p.numel() for p in net.parameters())
    print("network", title, params, stats.total_mult_adds, stats.total_output_bytes)
    for row in stats.summary_list:
        names, info = [], row
        while info.depth > 0:
            names.append(info.var_name)
            info = info.parent_info
        if not row.executed or row.var_name in LEFT_OUT:
            continue
        shape = ",".join(map(str, row.output_size))
        print(".".join(reversed(names)) or ".", row.class_name, shape or ".", row.num_params, row.macs)


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(self.conv1(x).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2).flatten(1)
        return self.fc3(self.fc2(self.fc1(x).relu()).relu())


class CharRNN(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.drop, self.encoder, self.rnn, self.decoder = nn.Dropout(0), nn.Embedding(30, 4), layer, nn.Linear(5, 30)

    def forward(self, ids):
        return self.decoder(self.drop(self.rnn(self.drop(self.encoder(ids)))[0]))


class DoubleConv(nn.Module):
    def __init__(self, a, b, mid=None):
        super().__init__()
        mid = mid or b
        self.double_conv = nn.Sequential(
            nn.Conv2d(a, mid, 3, padding=1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(True),
            nn.Conv2d(mid, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(True))

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(a, b))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, a, b, bilinear):
        super().__init__()
        self.up = (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True) if bilinear
                   else nn.ConvTranspose2d(a, a // 2, 2, stride=2))
        self.conv = DoubleConv(a, b, a // 2 if bilinear else None)

    def forward(self, x, skip):
        return self.conv(torch.cat([skip, self.up(x)], 1))


class OutConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, channels, classes, bilinear, w):
        super().__init__()
        f = 2 if bilinear else 1
        self.inc = DoubleConv(channels, w)
        self.down1, self.down2 = Down(w, 2 * w), Down(2 * w, 4 * w)
        self.down3, self.down4 = Down(4 * w, 8 * w), Down(8 * w, 16 * w // f)
        self.up1, self.up2 = Up(16 * w, 8 * w // f, bilinear), Up(8 * w, 4 * w // f, bilinear)
        self.up3, self.up4 = Up(4 * w, 2 * w // f, bilinear), Up(2 * w, w, bilinear)
        self.outc = OutConv(w, classes)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        x = self.up1(self.down4(x4), x4)
        return self.outc(self.up4(self.up3(self.up2(x, x3), x2), x1))


def vgg(make):
    net = make(num_classes=10)
    net.classifier = nn.Sequential(nn.Linear(512 * 49, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 64),
                                   nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
    return net


images, ids = torch.zeros(2, 3, 64, 64), torch.zeros(2, 7, dtype=torch.long)
show("mlp", nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 10)), torch.zeros(4, 20))
show("lenet5", LeNet5(), torch.zeros(2, 1, 28, 28))
show("vgg11", vgg(tv.vgg11), images)
show("vgg16_bn", vgg(tv.vgg16_bn), images)
show("resnet18", tv.resnet18(), images)
show("resnet50", tv.resnet50(), images)
show("resnext50_32x4d", tv.resnext50_32x4d(), images)
show("mobilenet_v3_large", tv.mobilenet_v3_large(), images)
show("mobilenet_v3_small", tv.mobilenet_v3_small(), images)
show("efficientnet_b0", tv.efficientnet_b0(), images)
show("unet", UNet(3, 2, False, 8), images)
show("unet_bilinear", UNet(3, 2, True, 8), images)
show("vit", tv.VisionTransformer(64, 16, 2, 4, 32, 48, num_classes=10), images)
show("char_lstm", CharRNN(nn.LSTM(4, 5, 2, batch_first=True)), ids)
show("char_gru", CharRNN(nn.GRU(4, 5, 1, batch_first=True)), ids)
show("char_rnn", CharRNN(nn.RNN(4, 5, 1, batch_first=True)), ids)
gpt2 = dict(vocab_size=50, n_positions=16, n_embd=8, n_layer=2, n_head=2, use_cache=False)
show("gpt2", GPT2LMHeadModel(GPT2Config(**gpt2)), ids)
llama = dict(vocab_size=50, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, use_cache=False)
show("llama", LlamaForCausalLM(LlamaConfig(**llama)), ids)
show("llama_tied", LlamaForCausalLM(LlamaConfig(**llama, tie_word_embeddings=True)), ids)
