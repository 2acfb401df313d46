// Canvas: the SVG elements.
#include <ebb/vision/image_io.h>

#include "watch/drawing/canvas.h"
#include "watch/encoding.h"

#include <fmt/format.h>

#include <iterator>

namespace ebb::watch::drawing {
namespace {

// Returns text for XML, in which control characters become spaces.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : utf8(text))
    if (std::string_view("&<>\"").find(c) != std::string_view::npos)
      result += fmt::format("&#{};", static_cast<int>(c));
    else
      result += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  return result;
}

}  // namespace

void Canvas::strokes(const std::vector<Polyline>& lines, std::uint32_t color, double width) {
  if (scale_ > 0) return raster(lines, color, width);
  std::string path;
  for (const Polyline& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', line[i].x, line[i].y);
    if (line.size() == 1) path += "h0";
  }
  constexpr const char* kElement = R"(<path d="{}" fill="none" stroke="#{:06x}" stroke-width="{:g}"/>)";
  if (!path.empty()) elements_ += fmt::format(kElement, path, color, width) + '\n';
}

void Canvas::box(Point from, Point to, std::uint32_t color) {
  if (scale_ > 0) return raster(from, to, color);
  constexpr const char* kElement =
      R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#{:06x}"/>)";
  elements_ += fmt::format(kElement, from.x, from.y, to.x - from.x, to.y - from.y, color) + '\n';
}

void Canvas::text(const std::string& text, Point at, Align align, std::uint32_t color, bool upward,
                  double size) {
  if (text.empty()) return;
  if (scale_ > 0) {
    Lettering letters = lettering_of(text, size);
    const double shift = letters.width * static_cast<double>(align) / 2;
    for (Polyline& line : letters.lines)
      for (Point& p : line)
        p = upward ? Point{at.x + p.y, at.y + shift - p.x} : Point{at.x + p.x - shift, at.y + p.y};
    return raster(letters.lines, color, size / 11);
  }
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  constexpr const char* kElement =
      R"(<text transform="translate({:.1f} {:.1f}){}" font-size="{:g}" text-anchor="{}" fill="#{:06x}">{}</text>)";
  elements_ += fmt::format(kElement, at.x, at.y, upward ? " rotate(-90)" : "", size,
                           kAnchors[static_cast<int>(align)], color, escaped(text)) +
               '\n';
}

void Canvas::image(const Variable& image, Point at) {
  const std::int64_t height = image.size(1), width = image.size(2);
  if (scale_ > 0) {
    const Variable bytes = image.permute({1, 2, 0}).contiguous();
    const auto* rgb = bytes.data_ptr<std::uint8_t>();
    for (double y = at.y; y < at.y + static_cast<double>(height); ++y)
      for (double x = at.x; x < at.x + static_cast<double>(width); ++x, rgb += 3)
        raster({x, y}, {x + 1, y + 1}, static_cast<std::uint32_t>(rgb[0] << 16 | rgb[1] << 8 | rgb[2]));
    return;
  }
  constexpr const char* kElement =
      R"(<image x="{:g}" y="{:g}" width="{}" height="{}" href="data:image/png;base64,{}"/>)";
  const Variable png = vision::encode_png(image);
  const std::string_view bytes(reinterpret_cast<const char*>(png.data_ptr<std::uint8_t>()), png.nbytes());
  elements_ += fmt::format(kElement, at.x, at.y, width, height, base64(bytes)) + '\n';
}

std::string Canvas::svg(Point size, const std::string& title) const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{0:g}" height="{1:g}" viewBox="0 0 {0:g} {1:g}"
style="max-width:100%;height:auto" font-family="sans-serif" stroke-linecap="round" stroke-linejoin="round">
<title>{2}</title>
<rect width="100%" height="100%" fill="#fff"/>
{3}</svg>
)",
      size.x, size.y, escaped(title), elements_);
}

}  // namespace ebb::watch::drawing
