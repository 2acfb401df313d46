// A header of libtorch about Python, which ebb does not have.
#pragma once

#error \
    "ebb's tensors are not those of Python's torch: a module of Python needs libtorch. A program of C++ includes <torch/torch.h>."
