// The weight's gradient with channels of the result in vector lanes.
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/amx.h"
#include "kernel/cpu/transpose.h"
#include "ops/conv/correlate.h"
#include "ops/conv/loads.h"

#include <algorithm>

namespace ebb::cpu::conv {
namespace {

// Adds the results of loads (groups of blocks that are computed together, see loads.h) in three levels:
// within a load, over kLoads loads, and over all loads. The rounding error of a level grows with the square
// root of the number of terms. The last level is in double, so its error is negligible.
template <class T>
class Cascade {
 public:
  Cascade(T* memory, std::int64_t size, std::int64_t loads) : memory_(memory), size_(size), loads_(loads) {
    if (loads > 1) std::fill(memory + size, memory + 2 * size, T(0));
    if (loads <= kLoads) return;
    all_ = NdArray::empty({size}, kDouble);
    std::fill_n(all_.address_as<double>(), size, 0.0);
  }
  T* of_load() { return memory_; }
  void end_load() {
    if (loads_ == 1) return;
    for (std::int64_t i = 0; i < size_; ++i) memory_[size_ + i] += memory_[i];
    if (++added_ % kLoads == 0) flush();
  }
  const T* total() {
    if (loads_ == 1) return memory_;
    if (loads_ <= kLoads) return memory_ + size_;
    flush();
    std::copy_n(all_.address_as<double>(), size_, memory_);
    return memory_;
  }

 private:
  static constexpr std::int64_t kLoads = 16;

  void flush() {
    if (loads_ <= kLoads) return;
    double* const all = all_.address_as<double>();
    for (std::int64_t i = 0; i < size_; ++i) all[i] += memory_[size_ + i];
    std::fill(memory_ + size_, memory_ + 2 * size_, T(0));
  }

  T* memory_;
  NdArray all_;
  std::int64_t size_, loads_, added_ = 0;
};

// Does the same as transpose(), but reads few rows at a time. The rows are planes of an image, and the
// processor prefetches only from few pages.
template <class T>
void transpose_planes(const T* from, std::int64_t from_pitch, std::int64_t rows, std::int64_t columns, T* to,
                      std::int64_t to_pitch) {
  constexpr std::int64_t kSide = tiles::kWidth<T>;
  for (; rows >= 2 * kSide; rows -= kSide, from += kSide * from_pitch, to += kSide)
    transpose(from, from_pitch, kSide, columns, to, to_pitch);
  transpose(from, from_pitch, rows, columns, to, to_pitch);
}

}  // namespace

template <class T, class Operand>
void weight_by_channels(const ConvGeometry& g, const Reading& reading, const Operand* in, const Operand* out,
                        const Layout& layout, const Weights<T>& weight) {
  using Element = std::conditional_t<std::is_same_v<T, Operand>, T, tiles::Pair>;
  constexpr std::int64_t kPacked = sizeof(T) / sizeof(Operand);  // results in one Element
  const std::int64_t taps = static_cast<std::int64_t>(reading.taps.size());
  const std::int64_t depth = reading.depth(), rows_out = g.group_out(), numel = g.out_channels * depth;
  const std::int64_t out_plane = ConvGeometry::volume(g.out);
  if (g.batch * out_plane == 0) return std::fill(weight.data, weight.data + numel, T(0));
  if (numel == 0) return;
  // A thread computes the product of some channels of `out` and some channels of `in`, so that the sums stay
  // in the cache. More channels of `out` per job mean that windows are read less often.
  const std::int64_t most = std::max<std::int64_t>(576 / taps, 1);
  const std::int64_t blocks = (g.group_in() + most - 1) / most;
  const std::int64_t block_channels = (g.group_in() + blocks - 1) / blocks;
  const std::int64_t together = std::clamp<std::int64_t>(1152 / (block_channels * taps), 1,
                                                         std::min<std::int64_t>(panels_of<T>(rows_out), 4));
  const std::int64_t wide = together * kPanel<T>, panels = (rows_out + wide - 1) / wide;
  Reading part = reading;
  part.channels = block_channels;
  const Loads loads(part, g.batch, together == 1 ? 512 : 256, 320 * 1024, sizeof(Operand));
  std::vector<std::int64_t> positions;  // the positions of elements
  for (std::size_t q = 0; q < loads.positions().size(); q += kPacked)
    positions.push_back(loads.positions()[q]);
  // If there are few such jobs, the loads of each job are divided into slices, which are then separate jobs.
  // The sums of the slices are added at the end.
  const std::int64_t pieces = g.groups * panels * blocks;
  std::int64_t slices = std::clamp<std::int64_t>(16 / pieces, 1, loads.count());
  const std::int64_t each = (loads.count() + slices - 1) / slices;
  slices = (loads.count() + each - 1) / each;
  const NdArray partial = NdArray::empty({slices == 1 ? 0 : slices * numel}, dtype_of<T>());
  T* const results = slices == 1 ? weight.data : partial.address_as<T>();
  parallel_for(0, pieces * slices, 1, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t most_rows = block_channels * taps;
    const NdArray of_windows =
        NdArray::empty({loads.window().in_place() ? 0 : loads.size()}, dtype_of<Operand>());
    Operand* const windows = of_windows.template address_as<Operand>();
    const std::int64_t most_elements = loads.pixels() / kPacked;
    const NdArray scratch = NdArray::empty({most_elements * wide + 2 * most_rows * wide}, dtype_of<T>());
    T* const packed = scratch.address_as<T>();
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t slice = i / pieces, group = i / (panels * blocks) % g.groups;
      const std::int64_t first_in = i / panels % blocks * block_channels;
      const std::int64_t first_out = i % panels * wide;
      const std::int64_t channels = std::min(block_channels, g.group_in() - first_in), rows = channels * taps;
      const std::int64_t lanes = std::min(wide, rows_out - first_out), pitch = tiles::padded<T>(lanes);
      const std::int64_t first_load = slice * each, last_load = std::min(first_load + each, loads.count());
      Cascade<T> sums(packed + most_elements * wide, rows * pitch, last_load - first_load);
      for (std::int64_t load = first_load; load < last_load; ++load) {
        const Operand* left = windows;
        const T* right = packed;
        const std::int64_t pixels =
            loads.for_blocks(load, [&](std::int64_t image, const Block& block, std::int64_t q,
                                       std::int64_t count, std::int64_t window) {
              const Operand* const source = in + image * reading.layout.image +
                                            (group * g.group_in() + first_in) * reading.layout.channel;
              if (!loads.window().in_place())
                loads.window().fill(windows + window, source, channels, block);
              else if (q == 0)
                left = source + block.column * reading.layout.pixel;
              const std::int64_t pixel = (block.slice * g.out[1] + block.row) * g.out[2] + block.column;
              const T* const from_out = reinterpret_cast<const T*>(
                  out + image * layout.image + (group * rows_out + first_out) * layout.channel +
                  pixel * layout.pixel);
              if (!layout.interleaved())
                transpose_planes(from_out, layout.channel / kPacked, lanes, count / kPacked,
                                 packed + q / kPacked * pitch, pitch);
              else if (layout.pixel != pitch)
                copy_pixels(from_out, layout.pixel, count, lanes, packed + q * pitch, pitch);
              else if (q == 0)
                right = from_out;
            });
        const std::int64_t elements = pixels / kPacked, length = part_of<96>(elements);
        for (std::int64_t q = 0; q < elements; q += length)
          tiles::fastest_product<Element>(
              rows, pitch, std::min(length, elements - q),
              tiles::ScatteredLeft<Operand>{left, loads.window().shifts().data(), positions.data() + q},
              reinterpret_cast<const Element*>(right + q * pitch), pitch, sums.of_load(), pitch, q > 0);
        sums.end_load();
      }
      T* const to_weight = results + slice * numel + group * weight.group_step + first_out * weight.row_step +
                           first_in * weight.channel_step;
      if (weight.tap_step == 1)
        transpose(sums.total(), pitch, rows, lanes, to_weight, weight.row_step);
      else
        for (std::int64_t t = 0; t < taps; ++t)
          transpose(sums.total() + t * pitch, taps * pitch, channels, lanes, to_weight + t * weight.tap_step,
                    weight.row_step);
    }
  });
  if (slices == 1) return;
  parallel_for(0, numel, kGrain / slices, [&](std::int64_t from, std::int64_t to) {
    std::copy(results + from, results + to, weight.data + from);
    for (std::int64_t s = 1; s < slices; ++s)
      for (std::int64_t i = from; i < to; ++i) weight.data[i] += results[s * numel + i];
  });
}

template void weight_by_channels(const ConvGeometry&, const Reading&, const float*, const float*,
                                 const Layout&, const Weights<float>&);
template void weight_by_channels(const ConvGeometry&, const Reading&, const double*, const double*,
                                 const Layout&, const Weights<double>&);
#if EBB_BFLOAT16_PAIRS
template void weight_by_channels(const ConvGeometry&, const Reading&, const BFloat16*, const BFloat16*,
                                 const Layout&, const Weights<float>&);
#endif

}  // namespace ebb::cpu::conv
