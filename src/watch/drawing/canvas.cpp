// Canvas: the shapes and their SVG elements. Letters are strokes of the font in hershey.jhf.
#include "watch/drawing/canvas.h"

#include <ebb/vision/image_io.h>

#include "watch/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

namespace ebb::watch::drawing {
namespace {

constexpr double kMargin = 10;
constexpr std::string_view kFont =
#include "watch/drawing/hershey.jhf"
    ;
constexpr double kUnits = 30;  // the size of the font in units of the glyphs

// Returns the glyph of the character that begins with the byte, and no strokes for a later byte.
std::string_view glyph_of(char c) {
  static const auto glyphs = [] {
    std::array<std::string_view, 97> lines;  // the characters 32 to 126, and two boxes
    std::string_view left = kFont.substr(kFont.find("\n\nM") + 2);
    for (std::string_view& line : lines) {
      line = left.substr(0, left.find('\n'));
      left.remove_prefix(line.size() + 1);
    }
    return lines;
  }();
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80 && byte < 0xc0) return "RR";
  return glyphs[byte < 32 ? 0 : byte < 127 ? byte - 32U : byte < 0xe1 ? 95 : 96];  // 0xe1: also wide letters
}

// Returns the strokes of a text that begins at {0, 0}.
std::vector<Polyline> letters_of(const std::string& text, double size) {
  std::vector<Polyline> lines;
  double x = 0;
  for (const char c : text) {
    const std::string_view glyph = glyph_of(c);
    for (std::size_t i = 2; i + 1 < glyph.size(); i += 2) {
      if (i == 2 || glyph[i] == ' ') lines.emplace_back();
      if (glyph[i] != ' ')
        lines.back().push_back(
            {(x + glyph[i] - glyph[0]) * size / kUnits, (glyph[i + 1] - '[') * size / kUnits});
    }
    x += glyph[1] - glyph[0];
  }
  return lines;
}

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

double width_of(const std::string& text, double size) {
  double width = 0;
  for (const char c : text) width += glyph_of(c)[1] - glyph_of(c)[0];
  return width * size / kUnits;
}

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  return width;
}

void Canvas::add(Shape&& shape, const std::string& element) {
  low_ = {std::min(low_.x, shape.low.x), std::min(low_.y, shape.low.y)};
  high_ = {std::max(high_.x, shape.high.x), std::max(high_.y, shape.high.y)};
  shapes_.push_back(std::move(shape));
  elements_ += element.empty() ? "" : element + '\n';
}

void Canvas::strokes(const std::vector<Polyline>& lines, std::uint32_t color, double width) {
  std::string path;
  Point low{1e9, 1e9}, high{-1e9, -1e9};
  for (const Polyline& line : lines) {
    for (const Point& p : line) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", &p == &line[0] ? 'M' : 'L', p.x, p.y);
      low = {std::min(low.x, p.x - width / 2), std::min(low.y, p.y - width / 2)};
      high = {std::max(high.x, p.x + width / 2), std::max(high.y, p.y + width / 2)};
    }
    if (line.size() == 1) path += "h0";
  }
  constexpr const char* kElement = R"(<path d="{}" fill="none" stroke="#{:06x}" stroke-width="{:g}"/>)";
  if (!path.empty()) add({low, high, color, lines, width}, fmt::format(kElement, path, color, width));
}

void Canvas::box(Point low, Point high, std::uint32_t color) {
  constexpr const char* kElement =
      R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#{:06x}"/>)";
  add({low, high, color}, fmt::format(kElement, low.x, low.y, high.x - low.x, high.y - low.y, color));
}

void Canvas::text(const std::string& text, Point at, Align align, std::uint32_t color, bool upward,
                  double size) {
  if (text.empty()) return;
  const double width = width_of(text, size), start = -width * static_cast<double>(align) / 2;
  const auto placed = [&](Point p) {
    return upward ? Point{at.x + p.y, at.y - start - p.x} : Point{at.x + start + p.x, at.y + p.y};
  };
  std::vector<Polyline> lines = letters_of(text, size);
  for (Polyline& line : lines) std::transform(line.begin(), line.end(), line.begin(), placed);
  const Point a = placed({0, -0.8 * size}), b = placed({width, 0.25 * size});
  const auto [top, bottom] = std::minmax(a.y, b.y);
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  constexpr const char* kElement =
      R"(<text transform="translate({:.1f} {:.1f}){}" font-size="{:g}" text-anchor="{}" fill="#{:06x}">{}</text>)";
  margin_ = kMargin;
  add({{a.x, top}, {b.x, bottom}, color, std::move(lines), size / 11},
      fmt::format(kElement, at.x, at.y, upward ? " rotate(-90)" : "", size, kAnchors[static_cast<int>(align)],
                  color, escaped(text)));
}

void Canvas::image(const Variable& image, Point at) {
  const auto height = static_cast<double>(image.size(1)), width = static_cast<double>(image.size(2));
  const Variable png = vision::encode_png(image);
  const std::string_view bytes(reinterpret_cast<const char*>(png.data_ptr<std::uint8_t>()), png.nbytes());
  constexpr const char* kElement =
      R"(<image x="{:g}" y="{:g}" width="{}" height="{}" href="data:image/png;base64,{}"/>)";
  add({at, {at.x + width, at.y + height}, 0, {}, 0, image.permute({1, 2, 0}).contiguous()},
      fmt::format(kElement, at.x, at.y, width, height, base64(bytes)));
}

void Canvas::canvas(const Canvas& other, Point at) {
  const Point shift{at.x - other.corner().x, at.y - other.corner().y};
  elements_ += fmt::format("<g transform=\"translate({:g} {:g})\">\n", shift.x, shift.y);
  const auto moved = [&](Point p) { return Point{p.x + shift.x, p.y + shift.y}; };
  for (Shape shape : other.shapes_) {
    for (Polyline& line : shape.lines) std::transform(line.begin(), line.end(), line.begin(), moved);
    shape.low = moved(shape.low);
    shape.high = moved(shape.high);
    add(std::move(shape), "");
  }
  elements_ += other.elements_ + "</g>\n";
  margin_ = std::max(margin_, other.margin_);
}

Point Canvas::corner() const { return {std::floor(low().x) - margin_, std::floor(low().y) - margin_}; }

Point Canvas::size() const {
  return {std::ceil(high().x) + margin_ - corner().x, std::ceil(high().y) + margin_ - corner().y};
}

std::string Canvas::svg(const std::string& title) const {
  constexpr const char* kElement =
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{0:g}" height="{1:g}" viewBox="0 0 {0:g} {1:g}"
style="max-width:100%;height:auto" font-family="sans-serif" stroke-linecap="round" stroke-linejoin="round">
<title>{2}</title>
<rect width="100%" height="100%" fill="#fff"/>
<g transform="translate({3:g} {4:g})">
{5}</g>
</svg>
)svg";
  return fmt::format(kElement, size().x, size().y, escaped(title), 0 - corner().x, 0 - corner().y, elements_);
}

}  // namespace ebb::watch::drawing
