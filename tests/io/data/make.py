"""Writes the torch.save files of this folder: python3 make.py FOLDER (torch 2.15 wrote the stored ones)."""
import io
import sys
from collections import OrderedDict

import torch
from torch import nn

folder = sys.argv[1]
torch.manual_seed(0)
base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
values = {
    "dense": base,
    "transposed": base.t(),
    "row": base[1],
    "double": torch.tensor([1.5, -2.25], dtype=torch.float64),
    "half": torch.tensor([0.5, 65504.0], dtype=torch.float16),
    "bfloat": torch.tensor([1.0, -3.0], dtype=torch.bfloat16),
    "long": torch.tensor([1 << 40, -1]),
    "byte": torch.tensor([0, 255], dtype=torch.uint8),
    "bool": torch.tensor([True, False, True]),
    "empty": torch.zeros(0, 3),
    "scalar": torch.tensor(7.0),
    "complex": torch.tensor([1 + 2j]),
    "epoch": 3,
    "loss": 0.125,
    "big": 1 << 40,
    "name": "näme",
    "flags": [True, None, (1, -2)],
    "size": torch.Size([2, 3]),
}
torch.save(values, f"{folder}/values.pt")
torch.save(values, f"{folder}/legacy.pt", _use_new_zipfile_serialization=False)
net = torch.nn.Sequential(OrderedDict(fc=torch.nn.Linear(3, 2), norm=torch.nn.BatchNorm1d(2)))
torch.save({"epoch": 1, "state_dict": net.state_dict()}, f"{folder}/checkpoint.pth")
torch.save(net, f"{folder}/module.pt")
torch.jit.script(net).save(f"{folder}/script.pt")


# For each optimizer: the model and its state after three steps, as in a checkpoint, and the model after two more steps.
def steps(model, optimizer, count):
    x = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
    y = torch.tensor([[1.0], [-2.0], [0.5]])

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(torch.tanh(model(x)), y)
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)


def model_of():
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.5, -0.25]]))
        model.bias.fill_(0.125)
    return model


def run_of(model, optimizer):
    steps(model, optimizer, 3)
    run = {"model": {k: v.clone() for k, v in model.state_dict().items()}, "epoch": 3}
    # A saved state must not change later: a round trip through memory copies it.
    state = io.BytesIO()
    torch.save(optimizer.state_dict(), state)
    state.seek(0)
    run["optimizer"] = torch.load(state)
    steps(model, optimizer, 2)
    run["after"] = model.state_dict()
    return run


runs = {}
for name, kind, options in [
    ("sgd", "SGD", dict(momentum=0.9, nesterov=True, weight_decay=0.01)),
    ("adam", "Adam", dict(amsgrad=True, betas=(0.8, 0.95))),
    ("adamw", "AdamW", dict(weight_decay=0.1)),
    ("rmsprop", "RMSprop", dict(centered=True, momentum=0.5)),
    ("adagrad", "Adagrad", dict(lr_decay=0.1)),
    ("lbfgs", "LBFGS", dict(history_size=3, max_iter=4)),
    ("nadam", "NAdam", dict(decoupled_weight_decay=True, weight_decay=0.1)),
    ("radam", "RAdam", dict()),
    ("adadelta", "Adadelta", dict()),
    ("adamax", "Adamax", dict()),
    ("asgd", "ASGD", dict(t0=2)),
    ("rprop", "Rprop", dict()),
]:
    model = model_of()
    runs[name] = run_of(model, getattr(torch.optim, kind)(model.parameters(), lr=0.05, **options))
torch.save(runs, f"{folder}/runs.pt", _use_new_zipfile_serialization=False)  # the smaller format

# The same with two parameter groups that have different learning rates (the second one maximizes), and with named
# parameters.
groups = {}
for kind in ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adadelta", "Adamax", "ASGD", "Rprop",
             "Adafactor", "Muon"]:
    model = model_of()
    named = [{"params": [named], "lr": rate} for named, rate in zip(model.named_parameters(), (0.05, 0.02))]
    if kind == "Muon":
        named = named[:1]  # only matrices
    else:
        named[1]["maximize"] = True
    options = {"SGD": {"momentum": 0.5}, "Adam": {"decoupled_weight_decay": True, "weight_decay": 0.1}}.get(kind, {})
    optimizer = getattr(torch.optim, kind)(named, **options)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)  # records the initial rates
    groups[kind.lower()] = run_of(model, optimizer)
torch.save(groups, f"{folder}/groups.pt", _use_new_zipfile_serialization=False)
# One module of each class that has a state; pytorch_test.cpp builds the same modules.
torch.manual_seed(2)
weight = torch.rand(3)
layers = nn.ModuleDict({
    "linear": nn.Linear(2, 3), "bilinear": nn.Bilinear(2, 1, 3, bias=False), "prelu": nn.PReLU(2),
    "conv1": nn.Conv1d(2, 4, 2, groups=2), "conv2": nn.Conv2d(1, 2, (1, 2), bias=False), "conv3": nn.Conv3d(1, 2, 1),
    "up1": nn.ConvTranspose1d(2, 4, 2, groups=2), "up2": nn.ConvTranspose2d(1, 2, (1, 2), bias=False),
    "up3": nn.ConvTranspose3d(1, 2, 1), "batch1": nn.BatchNorm1d(2), "batch2": nn.BatchNorm2d(2, affine=False),
    "batch3": nn.BatchNorm3d(2, bias=False), "sync": nn.SyncBatchNorm(2),
    "instance1": nn.InstanceNorm1d(2, affine=True), "instance2": nn.InstanceNorm2d(2, track_running_stats=True),
    "instance3": nn.InstanceNorm3d(2, affine=True, track_running_stats=True), "layer": nn.LayerNorm((1, 2)),
    "group": nn.GroupNorm(1, 2, bias=False), "rms": nn.RMSNorm(2), "embedding": nn.Embedding(3, 2, padding_idx=1),
    "bag": nn.EmbeddingBag(3, 2), "rnn": nn.RNN(1, 2, num_layers=2, bias=False), "gru": nn.GRU(1, 2, bidirectional=True),
    "lstm": nn.LSTM(1, 3, proj_size=2), "rnn_cell": nn.RNNCell(1, 2), "gru_cell": nn.GRUCell(1, 2, bias=False),
    "lstm_cell": nn.LSTMCell(1, 2), "attention": nn.MultiheadAttention(2, 1, add_bias_kv=True),
    "attention_of_widths": nn.MultiheadAttention(2, 1, bias=False, kdim=1, vdim=3),
    "transformer": nn.Transformer(2, 1, 1, 1, 2), "adaptive": nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4], 2.0, head_bias=True),
    "nll": nn.NLLLoss(weight), "cross_entropy": nn.CrossEntropyLoss(weight), "bce": nn.BCELoss(weight),
    "bce_logits": nn.BCEWithLogitsLoss(weight, pos_weight=weight), "margin": nn.MultiMarginLoss(weight=weight),
    "soft_margin": nn.MultiLabelSoftMarginLoss(weight), "no_weight": nn.NLLLoss(),
    "linear_cross_entropy": nn.LinearCrossEntropyLoss(2, 3, bias=True, weight=weight),
    "fractional": nn.FractionalMaxPool2d(2, 1, _random_samples=torch.rand(1, 1, 2))})
torch.save(layers.state_dict(), f"{folder}/layers.pt")
