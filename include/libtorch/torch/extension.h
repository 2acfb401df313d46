// Extensions of Python's torch, which ebb cannot be part of.
#pragma once

#error \
    "ebb's tensors are not those of Python's torch: an extension needs libtorch itself. A program of C++ alone includes <torch/torch.h>."
