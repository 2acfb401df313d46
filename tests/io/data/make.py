"""Writes the files of this folder that torch.save makes: python3 make.py FOLDER (torch 2.15 wrote those kept here)."""
import io
import sys
from collections import OrderedDict

import torch

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


# Of every optimizer: the model and its state after three steps, as a checkpoint has them, and the model after two more.
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
    # What is saved must not move on: copied by way of a file in memory.
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
torch.save(runs, f"{folder}/runs.pt", _use_new_zipfile_serialization=False)  # the smaller

# The same of two groups with rates of their own, of which the second climbs, and parameters with names.
groups = {}
for kind in ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adadelta", "Adamax", "ASGD", "Rprop",
             "Adafactor", "Muon"]:
    model = model_of()
    named = [{"params": [named], "lr": rate} for named, rate in zip(model.named_parameters(), (0.05, 0.02))]
    if kind == "Muon":
        named = named[:1]  # of matrices
    else:
        named[1]["maximize"] = True
    options = {"SGD": {"momentum": 0.5}, "Adam": {"decoupled_weight_decay": True, "weight_decay": 0.1}}.get(kind, {})
    optimizer = getattr(torch.optim, kind)(named, **options)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)  # which notes the initial rates
    groups[kind.lower()] = run_of(model, optimizer)
torch.save(groups, f"{folder}/groups.pt", _use_new_zipfile_serialization=False)
