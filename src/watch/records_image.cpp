// add_image, add_images and add_figure: pictures as PNG.
#include <ebb/ebb.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>
#include <ebb/watch/figure.h>

#include "watch/record.h"

#include <algorithm>

namespace ebb::watch {
namespace {

nlohmann::json encoded(const Variable& picture) {
  const Variable png = vision::encode_png(picture);
  const auto* bytes = png.data_ptr<std::uint8_t>();
  return {{"height", picture.size(1)},
          {"width", picture.size(2)},
          {"channels", picture.size(0)},
          {"png", std::string(bytes, bytes + png.numel())}};
}

// Returns the image as Byte [C, H, W]. Several images become one grid.
Variable picture_of(const Variable& image, std::string_view format) {
  const NoGradGuard guard;
  Variable picture = image.detach();
  if (picture.dtype() != kByte) {
    if (picture.dtype() != kDouble) picture = picture.to(kFloat);
    picture = (picture.nan_to_num(0) * 255).clamp(0, 255).to(kByte);
  }
  std::vector<std::int64_t> order;
  for (const char dimension : std::string_view("NCHW"))
    if (const auto at = format.find(dimension); at != format.npos)
      order.push_back(static_cast<std::int64_t>(at));
  picture = picture.permute(order);
  if (format.find('C') == format.npos) picture = picture.unsqueeze(-3);
  return picture.dim() == 4 ? vision::make_grid(picture, 8, 0) : picture;
}

}  // namespace

void Recorder::add_image(const std::string& tag, const Variable& image, Step step, WallTime wall_time,
                         std::string_view dataformats) {
  std::string sorted(dataformats);
  std::sort(sorted.begin(), sorted.end());
  EBB_CHECK(sorted == "HW" || sorted == "CHW" || sorted == "CHNW" || sorted == "HNW",
            "add_image: dataformats must be an order of NCHW, NHW, CHW or HW, got \"", dataformats,
            "\" for \"", tag, "\".");
  EBB_CHECK(image.defined() && image.numel() > 0 && image.dim() == static_cast<std::int64_t>(sorted.size()) &&
                (image.dtype() == kByte || image.is_floating_point()),
            "add_image: expected Byte or floating pixels [", dataformats, "] for \"", tag, "\", got ", image,
            ".");
  const auto at = dataformats.find('C');
  const std::int64_t channels = at == dataformats.npos ? 1 : image.size(static_cast<std::int64_t>(at));
  EBB_CHECK(channels == 1 || channels == 3 || channels == 4, "add_image: expected 1, 3 or 4 channels for \"",
            tag, "\", got ", channels, " in ", image, " with dataformats \"", dataformats, "\".");
  record("add_image",
         {"image", tag, step, wall_time, writes() ? encoded(picture_of(image, dataformats)) : nullptr});
}

void Recorder::add_figure(const std::string& tag, const Figure& figure, Step step, WallTime wall_time) {
  record("add_figure", {"image", tag, step, wall_time, writes() ? encoded(figure.pixels()) : nullptr});
}

}  // namespace ebb::watch
