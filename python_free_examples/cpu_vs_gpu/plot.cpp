// write_svg: charts of the timings.
#include "workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace {

constexpr double kWidth = 420, kHeight = 320, kLeft = 70, kBottom = 50, kTop = 40, kRight = 20;

struct Line {
  const char* name;
  const char* colour;
  double Timing::* seconds;
};
constexpr Line kLines[] = {{"CPU", "#4477aa", &Timing::cpu},
                           {"GPU", "#228833", &Timing::gpu},
                           {"GPU with transfer", "#ee6677", &Timing::gpu_with_transfer}};

// The logarithmic axes of a panel: seconds upwards, sizes to the right.
struct Axes {
  double left, low_x = std::numeric_limits<double>::infinity(), high_x = -low_x, low_y = low_x,
               high_y = high_x;

  Axes(double at, const Workload& w) : left(at) {
    for (const Timing& t : w.timings) {
      low_x = std::min(low_x, std::log10(static_cast<double>(t.size)));
      high_x = std::max(high_x, std::log10(static_cast<double>(t.size)));
      for (const Line& line : kLines) {
        if (t.*line.seconds <= 0) continue;
        low_y = std::min(low_y, std::floor(std::log10(t.*line.seconds)));
        high_y = std::max(high_y, std::ceil(std::log10(t.*line.seconds)));
      }
    }
    if (high_x <= low_x) high_x = low_x + 1;
    if (high_y <= low_y) high_y = low_y + 1;
  }
  double x(double log_size) const {
    return left + kLeft + (log_size - low_x) / (high_x - low_x) * (kWidth - kLeft - kRight);
  }
  double y(double log_seconds) const {
    return kHeight - kBottom - (log_seconds - low_y) / (high_y - low_y) * (kHeight - kBottom - kTop);
  }
};

std::string text(double x, double y, const char* anchor, const std::string& content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, content);
}

std::string panel(double left, const Workload& w) {
  const Axes axes(left, w);
  std::string svg = text(left + kWidth / 2, 20, "middle", w.title);
  for (double power = axes.low_y; power <= axes.high_y; ++power) {
    svg += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n",
                       left + kLeft, left + kWidth - kRight, axes.y(power), axes.y(power));
    svg += text(left + kLeft - 6, axes.y(power) + 4, "end", fmt::format("1e{} s", static_cast<int>(power)));
  }
  for (const Timing& t : w.timings)
    svg += text(axes.x(std::log10(static_cast<double>(t.size))), kHeight - kBottom + 16, "middle",
                fmt::format("{:g}", static_cast<double>(t.size)));
  svg += text(left + kWidth / 2, kHeight - 12, "middle", w.size_name);
  for (const Line& line : kLines) {
    std::string points;
    for (const Timing& t : w.timings)
      if (t.*line.seconds > 0)
        points += fmt::format("{:.1f},{:.1f} ", axes.x(std::log10(static_cast<double>(t.size))),
                              axes.y(std::log10(t.*line.seconds)));
    if (points.empty()) continue;
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points,
                       line.colour);
  }
  return svg;
}

}  // namespace

void write_svg(const std::string& path, const std::vector<Workload>& workloads) {
  const double width = kWidth * static_cast<double>(workloads.size());
  std::ofstream file(path);
  file << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, kHeight + 30);
  for (std::size_t i = 0; i < workloads.size(); ++i)
    file << panel(kWidth * static_cast<double>(i), workloads[i]);
  double x = kLeft;
  for (const Line& line : kLines) {
    file << fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, kHeight + 8,
                        line.colour);
    file << text(x + 18, kHeight + 18, "start", line.name);
    x += 150;
  }
  file << "</svg>\n";
  file.close();
  EBB_CHECK(file, "cannot write ", path, ". Choose another path with --svg.");
}
