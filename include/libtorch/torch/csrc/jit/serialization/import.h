// A header of libtorch about TorchScript, which ebb does not have.
#pragma once

#error "ebb has no TorchScript: call the module of C++ itself. <torch/script.h> may be included."
