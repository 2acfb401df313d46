// StreamOrder: synchronizes the streams of a device during backward.
#include "autograd/stream_order.h"

#include <algorithm>

namespace ebb::autograd {
namespace {

void* current_stream(Device device) { return detail::backend(kCUDA).current_stream(device); }

}  // namespace

void* StreamOrder::caller_of(Device device) {
  for (const Used& used : used_)
    if (used.device == device) return used.caller;
  return current_stream(device);
}

// Returns the stream of the node's forward op. An accumulator has none and runs on the caller's stream.
void* StreamOrder::stream_of(const Node& node, Device device) {
  const bool own = node.num_outputs() > 0 && node.num_inputs() > 0 && node.output_meta(0).device == device;
  return own ? node.stream() : caller_of(device);
}

void StreamOrder::Scope::enter(StreamOrder& order, const Node& node) {
  if (node.num_inputs() == 0) return;
  device_ = node.output_meta(0).device;
  if (!device_.is_cuda()) return;
  void *const stream = order.stream_of(node, device_), *const current = current_stream(device_);
  if (stream == current) return;
  auto used = std::find_if(order.used_.begin(), order.used_.end(),
                           [&](const Used& u) { return u.device == device_; });
  if (used == order.used_.end()) {
    order.used_.push_back({device_, current, {}});  // first switch: the current stream is still the caller's
    used = order.used_.end() - 1;
  }
  if (stream != used->caller &&
      std::find(used->streams.begin(), used->streams.end(), stream) == used->streams.end())
    used->streams.push_back(stream);
  order.set(device_, stream);
  previous_ = current;
  order_ = &order;
}

void StreamOrder::pass(const Variable& grad, void* to) {
  const Device device = grad.device();
  void* const from = current_stream(device);
  if (from == to) return;
  detail::backend(kCUDA).order_streams(device, from, device, to);
  grad.array().storage()->used_on(device, to);
  crossed_ = true;
}

void StreamOrder::hand_over(const Variable& grad, const Node& to) {
  if (active_ && grad.defined() && grad.is_cuda()) [[unlikely]]
    pass(grad, stream_of(to, grad.device()));
}

void StreamOrder::hand_back(const Variable& grad) {
  if (active_ && grad.defined() && grad.is_cuda()) [[unlikely]]
    pass(grad, caller_of(grad.device()));
}

void StreamOrder::finish() {
  for (const Used& used : used_)
    for (void* stream : used.streams)
      detail::backend(kCUDA).order_streams(used.device, stream, used.device, used.caller);
}

}  // namespace ebb::autograd
