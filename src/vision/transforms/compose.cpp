// Compose, Resize, CenterCrop, Pad, ToDtype and Normalize: transforms without random numbers.
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/pixels.h>
#include <ebb/vision/transforms/resize.h>

namespace ebb::vision::transforms {

Variable Compose::forward(const Variable& image) const {
  Variable out = image;
  for (const Step& step : steps_) out = step(out);
  return out;
}

Variable Resize::forward(const Variable& image) const {
  return functional::resize(image, size_, interpolation_, max_size_, antialias_);
}
Variable CenterCrop::forward(const Variable& image) const { return functional::center_crop(image, size_); }
Variable Pad::forward(const Variable& image) const {
  return functional::pad(image, padding_, fill_, padding_mode_);
}
Variable ToDtype::forward(const Variable& image) const { return functional::to_dtype(image, dtype_, scale_); }
Variable Normalize::forward(const Variable& image) const { return functional::normalize(image, mean_, std_); }

}  // namespace ebb::vision::transforms
