// A header of libtorch about the stable ABI, which ebb does not have.
#pragma once

#error "ebb has not the ABI that this header is for: <torch/torch.h> has the interface of C++."
