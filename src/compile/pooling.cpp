// The gradient of max pooling, some planes at a time.
#include "compile/row_source.h"

#include <ebb/core/parallel.h>

#include <algorithm>

#include "ops/pool/kernels.h"

namespace ebb::compiling {
namespace {

using KeptGradient = detail::KeptSlotCall<NdArray&, const NdArray&, const NdArray&, const PoolGeometry&>;

class PoolingSource final : public RowSource {
 public:
  explicit PoolingSource(KeptGradient& call) : call_(call) {}

  const NdArray& out() const override { return std::get<0>(call_.arguments()); }
  std::vector<const NdArray*> reads() const override {
    const NdArray &grad = std::get<1>(call_.arguments()), &indices = std::get<2>(call_.arguments());
    return {&grad, &indices};
  }
  std::int64_t unit() const override { return geometry().in_plane(); }
  std::int64_t units() const override {
    constexpr std::int64_t kBlock = 4096;  // elements that stay in the cache with what rows make of them
    return std::max<std::int64_t>(kBlock / unit(), 1);
  }
  std::int64_t grain() const override { return std::int64_t{1} << 14; }

  void bring(std::int64_t first, std::int64_t last, std::byte* to) const override {
    auto& [whole, grad, indices, all] = call_.arguments();
    PoolGeometry planes = all;
    planes.planes = last - first;
    NdArray made = array_at(to, {planes.planes, unit()}, out().dtype());
    call_.function()(made, some(grad, first, last), some(indices, first, last), planes);
  }

 private:
  const PoolGeometry& geometry() const { return std::get<3>(call_.arguments()); }
  // Planes of what the windows made.
  NdArray some(const NdArray& x, std::int64_t first, std::int64_t last) const {
    const std::int64_t size = geometry().out_plane();
    return x.as_strided({last - first, size}, {size, 1}, x.offset() + first * size);
  }

  KeptGradient& call_;
};

}  // namespace

std::unique_ptr<RowSource> pooling_source(const TapeCall& call) {
  if (call.call->name() != kernels::max_pool_backward.name()) return nullptr;
  auto source = std::make_unique<PoolingSource>(static_cast<KeptGradient&>(*call.call));
  const NdArray& out = source->out();
  if (!out.device().is_cpu() || !out.is_contiguous() || out.numel() == 0) return nullptr;
  if (out.numel() < 2 * source->units() * source->unit() * get_num_threads()) return nullptr;
  return source;
}

}  // namespace ebb::compiling
