// Channels dealt out anew, as a module.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Options of ChannelShuffle.
class EBB_API ChannelShuffleOptions {
 public:
  ChannelShuffleOptions(std::int64_t groups) : groups_(groups) {}

  EBB_ARG(std::int64_t, groups);  ///< divides the channels
};

/// Deals the channels of the groups out in turn (torch.nn.ChannelShuffle).
struct EBB_API ChannelShuffleImpl : detail::Stateless<ChannelShuffleImpl, ChannelShuffleOptions, Variable> {
  using Stateless::Stateless;
  explicit ChannelShuffleImpl(std::int64_t groups) : ChannelShuffleImpl(ChannelShuffleOptions(groups)) {}
};
EBB_LIBRARY_MODULE(ChannelShuffle);

}  // namespace ebb::nn
