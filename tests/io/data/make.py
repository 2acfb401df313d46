# Writes the files of this folder: what PyTorch itself saves. usage: python3 make.py FOLDER (torch 2.15 wrote those kept here)
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
