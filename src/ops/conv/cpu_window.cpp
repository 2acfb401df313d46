// The layout of the windows of an image. Each tap of the kernel reads a window at a constant shift
// (window.h).
#include "ops/conv/loads.h"

#include <algorithm>

namespace ebb::cpu::conv {

Reading forward_reading(const ConvGeometry& g, const Layout& layout) {
  Reading r;
  r.channels = g.group_in();
  r.layout = layout;
  std::vector<std::int64_t> used[3];  // the phases that taps use
  for (int a = 0; a < 3; ++a) {
    r.axis[a] = {g.in[a], g.out[a], (g.kernel[a] - 1) * g.dilation[a] / g.stride[a], g.stride[a],
                 g.padding[a]};
    for (std::int64_t k = 0; k < g.kernel[a]; ++k) {
      const std::int64_t phase = k * g.dilation[a] % g.stride[a];
      if (std::find(used[a].begin(), used[a].end(), phase) == used[a].end()) used[a].push_back(phase);
    }
  }
  for (const std::int64_t i : used[0])
    for (const std::int64_t j : used[1])
      for (const std::int64_t k : used[2]) r.phases.push_back({{i, j, k}});
  const std::int64_t taps = ConvGeometry::volume(g.kernel);
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t k[3] = {t / (g.kernel[1] * g.kernel[2]), t / g.kernel[2] % g.kernel[1],
                               t % g.kernel[2]};
    Tap tap{t, 0, {}};
    for (int a = 0; a < 3; ++a) {
      tap.shift[a] = k[a] * g.dilation[a] / g.stride[a];
      const auto at =
          std::find(used[a].begin(), used[a].end(), k[a] * g.dilation[a] % g.stride[a]) - used[a].begin();
      tap.phase = tap.phase * static_cast<int>(used[a].size()) + static_cast<int>(at);
    }
    r.taps.push_back(tap);
  }
  return r;
}

namespace {

// Returns whether the results of each pixel depend on this pixel only, and the pixels are one row.
bool combines_channels(const Reading& r) {
  const auto& [a, b, c] = r.axis;
  return r.taps.size() == 1 && a.source == 1 && b.source == 1 && c.source == c.out && c.step == 1 &&
         c.padding == 0;
}

// Returns the distance of pixels in an interleaved window. Pixels must not be a multiple of two cache lines
// apart, because the pixels of a channel would then map to a few sets of the cache.
std::int64_t spread_pixels(std::int64_t channels) {
  if (channels < 16) return channels;
  const std::int64_t whole = (channels + 15) / 16 * 16;
  return whole % 32 == 0 ? whole + 16 : whole;
}

}  // namespace

Window::Window(const Reading& reading, std::int64_t rows, std::int64_t columns)
    : reading_(reading),
      in_place_(reading.layout.interleaved() && combines_channels(reading)),
      pixel_step_(!reading.layout.interleaved() ? 1
                  : in_place_                   ? reading.layout.pixel
                                                : spread_pixels(reading.channels)),
      pitch_(columns + reading.axis[2].reach),
      height_(rows + reading.axis[1].reach),
      slice_size_(height_ * pitch_),
      phase_size_((1 + reading.axis[0].reach) * slice_size_),
      channel_step_(static_cast<std::int64_t>(reading.phases.size()) * phase_size_),
      size_(channel_step_ * pixel_step_) {
  if (reading.layout.interleaved()) {
    channel_step_ = 1;
  } else {
    // The distance between channels must not be a multiple of 64 elements, because all channels would then
    // map to a few sets of the cache.
    if (channel_step_ % 64 == 0) channel_step_ += 16;
    size_ = reading.channels * channel_step_;
  }
  shifts_.reserve(static_cast<std::size_t>(reading.depth()));
  for (std::int64_t c = 0; c < reading.channels; ++c)
    for (const Tap& tap : reading.taps)
      shifts_.push_back(c * channel_step_ +
                        pixel_step_ * (tap.phase * phase_size_ + tap.shift[0] * slice_size_ +
                                       tap.shift[1] * pitch_ + tap.shift[2]));
}

namespace {

// Returns the number of bytes of one window row of `columns` columns, over all channels, phases and slices.
std::int64_t bytes_of_columns(const Reading& r, std::int64_t columns, std::int64_t element_size) {
  return std::max<std::int64_t>(r.channels, 1) * static_cast<std::int64_t>(r.phases.size()) *
         (1 + r.axis[0].reach) * columns * element_size;
}

// Returns the length of the parts if n is divided into the smallest number of nearly equal parts of at most
// `most`.
std::int64_t even(std::int64_t n, std::int64_t most) {
  const std::int64_t pieces = (n + std::max<std::int64_t>(most, 1) - 1) / std::max<std::int64_t>(most, 1);
  return (n + pieces - 1) / pieces;
}

// Returns even(), rounded up to an even length if n is even.
std::int64_t even_columns(std::int64_t n, std::int64_t most) {
  const std::int64_t columns = even(n, most);
  return n % 2 == 0 ? (columns + 1) / 2 * 2 : columns;
}

}  // namespace

std::int64_t rows_of_blocks(const Reading& reading, std::int64_t element_size) {
  constexpr std::int64_t kBytes = 384 * 1024;
  const std::int64_t pitch = reading.axis[2].out + reading.axis[2].reach;
  const std::int64_t row_bytes = bytes_of_columns(reading, pitch, element_size);
  const std::int64_t fit = kBytes / row_bytes - reading.axis[1].reach;
  // A block has at least `least` rows. With fewer rows, adjacent blocks would overlap so much that elements
  // would be read too often.
  const std::int64_t least = std::max<std::int64_t>(2 * reading.axis[1].reach, 64 / pitch + 1);
  const std::int64_t rows = std::min(std::max(fit, least), reading.axis[1].out);
  const std::int64_t blocks = (reading.axis[1].out + rows - 1) / std::max<std::int64_t>(rows, 1);
  return blocks <= 1 ? reading.axis[1].out : (reading.axis[1].out + blocks - 1) / blocks;
}

Loads::Loads(const Reading& r, std::int64_t batch, std::int64_t pixels, std::int64_t bytes,
             std::int64_t element_size)
    : width_(r.axis[2].out),
      height_(r.axis[1].out),
      slices_(r.axis[0].out),
      columns_(even_columns(width_, pixels)),
      rows_(even(height_, std::min(pixels / columns_,
                                   bytes / bytes_of_columns(r, columns_ + r.axis[2].reach, element_size) -
                                       r.axis[1].reach))),
      window_(r, rows_, columns_),
      across_((width_ + columns_ - 1) / columns_),
      down_((height_ + rows_ - 1) / rows_),
      entries_(batch * slices_ * down_ * across_),
      per_load_(1) {
  const std::int64_t window_bytes = std::max<std::int64_t>(window_.size() * element_size, 1);
  if (down_ * across_ == 1)
    per_load_ =
        std::clamp<std::int64_t>(std::min(pixels / (height_ * width_), bytes / window_bytes), 1, entries_);
  positions_.reserve(static_cast<std::size_t>(this->pixels()));
  for (std::int64_t e = 0; e < per_load_; ++e)
    for (std::int64_t j = 0; j < rows_; ++j)
      for (std::int64_t u = 0; u < columns_; ++u)
        positions_.push_back(e * window_.size() + j * window_.pitch() + u * window_.pixel_step());
}

}  // namespace ebb::cpu::conv
