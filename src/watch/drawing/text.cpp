// lettering_of: the strokes of texts in the font of hershey.jhf. Other characters than ASCII are boxes.
#include "watch/drawing/canvas.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ebb::watch::drawing {
namespace {

constexpr std::string_view kFont =
#include "watch/drawing/hershey.jhf"
    ;
constexpr double kUnits = 30;  // the size of the font in units of the glyphs

struct Glyph {
  std::vector<Polyline> lines;
  double advance;
};

Glyph parsed(std::string_view line) {
  Glyph glyph{{{}}, static_cast<double>(line[1] - line[0])};
  for (std::size_t i = 2; i + 1 < line.size(); i += 2)
    if (line[i] == ' ')
      glyph.lines.emplace_back();
    else
      glyph.lines.back().push_back(
          {static_cast<double>(line[i] - line[0]), static_cast<double>(line[i + 1] - 'R' - 9)});
  return glyph;
}

// Returns the glyph that begins with the byte. The later bytes of a character have none.
const Glyph& glyph_of(unsigned char byte) {
  static const auto glyphs = [] {
    const Polyline box = {{2, 0}, {2, -21}, {16, -21}, {16, 0}, {2, 0}};
    std::array<Glyph, 256> all;
    all.fill({{}, 0});
    std::fill(all.begin() + 0xc0, all.begin() + 0xe1, Glyph{{box}, 20});
    std::fill(all.begin() + 0xe1, all.end(), Glyph{{box}, kUnits});  // these may be as wide as high
    std::string_view left = kFont.substr(kFont.find("\n\nM") + 2);
    for (std::size_t c = 32; c < 127; ++c) {
      const std::size_t end = left.find('\n');
      all[c] = parsed(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
    std::fill(all.begin(), all.begin() + 32, all[' ']);
    return all;
  }();
  return glyphs[byte];
}

}  // namespace

Lettering lettering_of(const std::string& text, double size) {
  Lettering result;
  for (const char c : text) {
    const Glyph& glyph = glyph_of(static_cast<unsigned char>(c));
    for (Polyline line : glyph.lines) {
      for (Point& p : line) p = {result.width + p.x * size / kUnits, p.y * size / kUnits};
      result.lines.push_back(std::move(line));
    }
    result.width += glyph.advance * size / kUnits;
  }
  return result;
}

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, lettering_of(text).width);
  return width;
}

}  // namespace ebb::watch::drawing
