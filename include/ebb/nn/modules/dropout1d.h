// Dropout of whole channels of sequences as a module.
#pragma once

#include <ebb/nn/functional/dropout1d.h>
#include <ebb/nn/modules/dropout.h>

namespace ebb::nn {

/// Dropout of whole channels of (N, C, L) or (C, L) (torch.nn.Dropout1d).
struct EBB_API Dropout1dImpl : detail::AnyDropout<Dropout1dImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Dropout1d);

}  // namespace ebb::nn
