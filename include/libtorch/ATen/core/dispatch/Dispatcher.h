// A header of libtorch about the dispatcher, which ebb does not have.
#pragma once

#error "ebb looks up no ops by name: call the function itself. TORCH_LIBRARY of <torch/library.h> may stand."
