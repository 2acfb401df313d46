// Max pooling in tapes: its gradient as a producer, and the pass that masks gradients before pooling spreads
// them.

#include <ebb/core/parallel.h>

#include "compile/fuse.h"
#include "compile/programs.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/formulas/piecewise.h"
#include "ops/elementwise/kernels.h"
#include "ops/pool/kernels.h"

#include <algorithm>

namespace ebb::detail::compile {
namespace {

using KeptGradient = decltype(kernels::max_pool_backward)::Kept;

/// Produces planes of the gradient of max pooling.
class PoolingProducer final : public Producer {
 public:
  explicit PoolingProducer(KeptGradient& call) : call_(call) {}

  const NdArray& out() const override { return std::get<0>(call_.arguments()); }
  std::vector<const NdArray*> reads() const override {
    const NdArray &grad = std::get<1>(call_.arguments()), &indices = std::get<2>(call_.arguments());
    return {&grad, &indices};
  }
  std::int64_t unit() const override { return geometry().in_plane(); }
  std::int64_t units() const override {
    constexpr std::int64_t kBlock = 4096;  // elements of a block; with the results of rows they fit the cache
    return std::max<std::int64_t>(kBlock / unit(), 1);
  }
  std::int64_t grain() const override { return std::int64_t{1} << 14; }

  void produce(std::int64_t first, std::int64_t last, std::byte* to) const override {
    auto& [whole, grad, indices, all] = call_.arguments();
    PoolGeometry planes = all;
    planes.planes = last - first;
    NdArray made = array_at(to, {planes.planes, unit()}, out().dtype());
    call_.function()(made, planes_of(grad, first, last), planes_of(indices, first, last), planes);
  }

 private:
  const PoolGeometry& geometry() const { return std::get<3>(call_.arguments()); }
  // Returns the planes [first, last) of an array that has one element for each pooling window.
  NdArray planes_of(const NdArray& x, std::int64_t first, std::int64_t last) const {
    const std::int64_t size = geometry().out_plane();
    return x.as_strided({last - first, size}, {size, 1}, x.offset() + first * size);
  }

  KeptGradient& call_;
};

}  // namespace

std::unique_ptr<Producer> pooling_producer(const TapeCall& call) {
  KeptGradient* const gradient = call.call->as(kernels::max_pool_backward);
  if (!gradient) return nullptr;
  auto producer = std::make_unique<PoolingProducer>(*gradient);
  const NdArray& out = producer->out();
  if (!out.device().is_cpu() || !out.is_contiguous() || out.numel() == 0) return nullptr;
  if (out.numel() < 2 * producer->units() * producer->unit() * get_num_threads()) return nullptr;
  return producer;
}

namespace {

/// Replaces the arrays of a call in the order of a visit.
struct ReplaceArrays final : detail::ArgumentVisitor {
  const NdArray* next;
  explicit ReplaceArrays(const NdArray* first) : next(first) {}
  void array(NdArray& array) override { array = *next++; }
  void address(void*&) override {}
  void words(Philox&) override {}
  void plain(const void*, std::size_t) override {}
};

bool same_array(const ElementOperand& a, const ElementOperand& b) {
  return a.buffer == b.buffer && a.same_elements(b);
}

}  // namespace

void mask_pooled_gradients(Tape& tape, AccessIndex& accesses) {
  const auto call_at = [&](int at) -> TapeCall& { return tape.calls[static_cast<std::size_t>(at)]; };
  bool changed = false;
  for (TapeCall& spreading : tape.calls) {
    KeptGradient* const spread = spreading.call->as(kernels::max_pool_backward);
    if (!spread) continue;
    NdArray &out = std::get<0>(spread->arguments()), &gradient = std::get<1>(spread->arguments());
    const NdArray& indices = std::get<2>(spread->arguments());
    const int to = accesses.buffer(out), last = accesses.calls(to).back();
    Buffer& buffer = tape.buffers[static_cast<std::size_t>(to)];
    auto* const relu = call_at(last).call->as(kernels::Binary<ops::Gradient<ops::Relu>>::slot);
    if (!relu || buffer.kind != Buffer::Kind::temporary || accesses.calls(to).size() != 2) continue;
    const std::optional<ElementCall> mask = element_call(call_at(last), accesses);
    const int pool = accesses.writers(accesses.buffer(indices)).front();
    auto* const pooling = call_at(pool).call->as(kernels::max_pool);
    if (!mask || !pooling || accesses.writers(accesses.buffer(indices)).size() != 1) continue;

    const NdArray &greatest = std::get<0>(pooling->arguments()),
                  &positions = std::get<1>(pooling->arguments()),
                  &activation = std::get<2>(pooling->arguments());
    const int first = accesses.calls(to).front();
    const bool matches = mask->device.is_cpu() && mask->count == activation.numel() &&
                         mask->in[0].buffer == to &&
                         same_array(operand_of(activation, accesses), mask->in[1]) &&
                         same_array(operand_of(positions, accesses), operand_of(indices, accesses)) &&
                         gradient.is_contiguous() && gradient.sizes() == greatest.sizes() &&
                         greatest.is_contiguous() && greatest.numel() <= activation.numel();
    const bool unchanged = !accesses.written_between(accesses.buffer(greatest), pool, first) &&
                           !accesses.written_between(mask->in[1].buffer, pool, last);
    const bool aliases = mask->out.buffer == to || mask->out.buffer == accesses.buffer(indices);
    if (!matches || !unchanged || aliases) continue;

    const NdArray masked(buffer.placeholder, DimVector(gradient.sizes()), DimVector(gradient.strides()), 0,
                         gradient.dtype());
    buffer.bytes = static_cast<std::size_t>(masked.numel() * element_size(masked.dtype()));
    const NdArray arrays[] = {masked, gradient, greatest};
    const NdArray& result = std::get<0>(relu->arguments());
    out = result;
    gradient = masked;
    ReplaceArrays replace(arrays);
    relu->visit(replace);
    std::swap(spreading.call, call_at(last).call);
    changed = true;
  }
  if (changed) accesses = AccessIndex(tape);
}

}  // namespace ebb::detail::compile
