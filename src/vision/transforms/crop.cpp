// resize, crop, center_crop, pad and flips of images.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/geometry.h>

#include "vision/transforms/image.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ebb::vision::transforms::functional {
namespace {

struct Area {
  std::int64_t height, width;
};

Area resized(const ImageSize& image, IntArrayRef size, optional<std::int64_t> max_size) {
  EBB_CHECK(size.size() == 1 || size.size() == 2,
            "resize: expected a size {height, width} or {shorter side}, got ", size, ".");
  EBB_CHECK(size.front() > 0 && size.back() > 0, "resize: sizes must be positive, got ", size, ".");
  if (size.size() == 2) {
    EBB_CHECK(!max_size, "resize: max_size needs a size of one value, the shorter side, got ", size, ".");
    return {size[0], size[1]};
  }
  const auto [shorter, longer] = std::minmax(image.height, image.width);
  const auto part = [](std::int64_t whole, std::int64_t of, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<double>(whole * of) / static_cast<double>(by));
  };
  std::int64_t new_shorter = size[0], new_longer = part(size[0], longer, shorter);
  if (max_size) {
    EBB_CHECK(*max_size > size[0],
              "resize: max_size must be greater than the requested size of the shorter side, ", size[0],
              ", got ", *max_size, ".");
    if (new_longer > *max_size) {
      new_shorter = part(*max_size, new_shorter, new_longer);
      new_longer = *max_size;
    }
  }
  return image.width <= image.height ? Area{new_longer, new_shorter} : Area{new_shorter, new_longer};
}

Variable interpolated(const Variable& batch, Area to, InterpolationMode mode, bool antialias) {
  const std::array<std::int64_t, 2> size = {to.height, to.width};
  switch (mode) {
    case InterpolationMode::nearest:
      return upsample_nearest2d(batch, size);
    case InterpolationMode::nearest_exact:
      return _upsample_nearest_exact2d(batch, size);
    case InterpolationMode::bilinear:
      return antialias ? _upsample_bilinear2d_aa(batch, size, false)
                       : upsample_bilinear2d(batch, size, false);
    default:
      return antialias ? _upsample_bicubic2d_aa(batch, size, false) : upsample_bicubic2d(batch, size, false);
  }
}

// Converts the padding to {left, right, top, bottom}, the order of ebb::pad.
std::array<std::int64_t, 4> sides(IntArrayRef padding) {
  switch (padding.size()) {
    case 1:
      return {padding[0], padding[0], padding[0], padding[0]};
    case 2:
      return {padding[0], padding[0], padding[1], padding[1]};
    case 4:
      return {padding[0], padding[2], padding[1], padding[3]};
    default:
      ebb::detail::fail("pad: padding must have 1, 2 or 4 values, got ", padding, ".");
  }
}

// Returns the indices 0, ..., size - 1 with `before` and `after` mirrored indices around them.
Variable mirrored(std::int64_t size, std::int64_t before, std::int64_t after, Device device) {
  EBB_CHECK(before <= size && after <= size, "pad: symmetric padding must be at most the image's ", size,
            " pixels, got ", std::max(before, after), ".");
  std::vector<std::int64_t> indices;
  for (std::int64_t i = -before; i < size + after; ++i)
    if (i < 0)
      indices.push_back(-i - 1);
    else
      indices.push_back(i < size ? i : 2 * size - 1 - i);
  return tensor(indices, TensorOptions(kLong).device(device));
}

Variable symmetric(const Variable& image, const std::array<std::int64_t, 4>& around) {
  const Variable cut =
      constant_pad_nd(image, {std::min<std::int64_t>(around[0], 0), std::min<std::int64_t>(around[1], 0),
                              std::min<std::int64_t>(around[2], 0), std::min<std::int64_t>(around[3], 0)});
  const auto more = [&](std::size_t side) { return std::max<std::int64_t>(around[side], 0); };
  return cut.index_select(-2, mirrored(cut.size(-2), more(2), more(3), image.device()))
      .index_select(-1, mirrored(cut.size(-1), more(0), more(1), image.device()));
}

// Pads with zeros and replaces them by `fill`.
Variable filled(const Variable& image, const std::array<std::int64_t, 4>& around, ArrayRef<double> fill) {
  if (fill.size() <= 1) return constant_pad_nd(image, around, fill.empty() ? 0 : fill[0]);
  const std::int64_t channels = image.size(-3);
  EBB_CHECK(static_cast<std::int64_t>(fill.size()) == channels,
            "pad: expected a fill of one value or one for each of ", channels, " channels, got ",
            static_cast<std::uint64_t>(fill.size()), ".");
  const Variable inside = constant_pad_nd(ones_like(image, kBool), around, false);
  const Variable color = tensor(fill, kDouble).to(image.options()).reshape({-1, 1, 1});
  return where(inside, constant_pad_nd(image, around), color);
}

}  // namespace

Variable resize(const Variable& image, IntArrayRef size, InterpolationMode interpolation,
                optional<std::int64_t> max_size, bool antialias) {
  const ImageSize now = size_of("resize", image);
  EBB_CHECK(now.height > 0 && now.width > 0, "resize: ", image, " has no pixels.");
  const Area to = resized(now, size, max_size);
  if (to.height == now.height && to.width == now.width) return image;
  const auto through = [&](const Variable& x) {
    return of_batch(x,
                    [&](const Variable& batch) { return interpolated(batch, to, interpolation, antialias); });
  };
  const DType dtype = image.scalar_type();
  const bool as_it_is = dtype == kFloat || dtype == kDouble || dtype == kByte;
  if (as_it_is) return through(image);
  const Variable out = through(image.to(kFloat));
  return (image.is_floating_point() ? out : out.round()).to(dtype);
}

Variable crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
              std::int64_t width) {
  const ImageSize size = size_of("crop", image);
  EBB_CHECK(height >= 0 && width >= 0, "crop: height and width must not be negative, got ", height, " and ",
            width, ".");
  const std::int64_t bottom = top + height, right = left + width;
  const auto within = [](std::int64_t at, std::int64_t end) { return std::clamp<std::int64_t>(at, 0, end); };
  const std::int64_t first_row = within(top, size.height), rows = within(bottom, size.height) - first_row;
  const std::int64_t first_column = within(left, size.width),
                     columns = within(right, size.width) - first_column;
  const Variable inside = image.narrow(-2, first_row, rows).narrow(-1, first_column, columns);
  if (rows == height && columns == width) return inside;
  const std::int64_t before = left < 0 ? std::min(-left, width) : 0,
                     above = top < 0 ? std::min(-top, height) : 0;
  return constant_pad_nd(inside, {before, width - columns - before, above, height - rows - above});
}

Variable center_crop(const Variable& image, IntArrayRef output_size) {
  const ImageSize size = size_of("center_crop", image);
  EBB_CHECK(output_size.size() == 1 || output_size.size() == 2,
            "center_crop: expected an output_size of 1 or 2 values, got ", output_size, ".");
  const std::int64_t height = output_size.front(), width = output_size.back();
  // If the difference is odd, the start of a crop is rounded half to even, and padding adds the extra zero at
  // the end.
  const auto start = [](std::int64_t has, std::int64_t wants) {
    return wants > has ? -((wants - has) / 2)
                       : static_cast<std::int64_t>(std::nearbyint(static_cast<double>(has - wants) / 2));
  };
  return crop(image, start(size.height, height), start(size.width, width), height, width);
}

Variable resized_crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
                      std::int64_t width, IntArrayRef size, InterpolationMode interpolation, bool antialias) {
  return resize(crop(image, top, left, height, width), size, interpolation, nullopt, antialias);
}

Variable pad(const Variable& image, IntArrayRef padding, ArrayRef<double> fill, PaddingMode padding_mode) {
  size_of("pad", image);
  const std::array<std::int64_t, 4> around = sides(padding);
  EBB_CHECK(padding_mode == PaddingMode::constant || fill.size() <= 1,
            "pad: only constant padding takes a fill for each channel.");
  switch (padding_mode) {
    case PaddingMode::constant:
      return filled(image, around, fill);
    case PaddingMode::symmetric:
      return symmetric(image, around);
    default:
      return in_floating(image, [&](const Variable& floating) {
        return of_batch(floating, [&](const Variable& batch) {
          return ebb::pad(batch, around, padding_mode == PaddingMode::edge ? "replicate" : "reflect");
        });
      });
  }
}

Variable hflip(const Variable& image) {
  size_of("hflip", image);
  return image.flip({-1});
}

Variable vflip(const Variable& image) {
  size_of("vflip", image);
  return image.flip({-2});
}

}  // namespace ebb::vision::transforms::functional
