// TORCH_LIBRARY: ops registered by name, which ebb does not have.
#pragma once

#error "ebb registers no ops by name (TORCH_LIBRARY). A torch::autograd::Function adds a differentiable one."
