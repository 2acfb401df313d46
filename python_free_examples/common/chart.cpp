// Chart: the SVG output.
#include "common/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace example {

namespace {

constexpr double kLeft = 70, kRight = 620, kTop = 52, kBottom = 360, kEdge = 10;
constexpr double kLegend = kRight + 32;  // the left end of the legend's names
constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"};

// An axis: maps values to coordinates.
struct Axis {
  double low, high, from, to;
  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

Axis axis_of(const std::vector<double>& values, double from, double to) {
  if (values.empty()) return {0, 1, from, to};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double margin = *low == *high ? 0.5 : 0;
  return {*low - margin, *high + margin, from, to};
}

// Returns about five round numbers on the axis.
std::vector<double> ticks(const Axis& axis) {
  const double span = axis.high - axis.low, power = std::pow(10.0, std::floor(std::log10(span / 5)));
  const double ratio = span / 5 / power, step = power * (ratio < 1.5   ? 1
                                                         : ratio < 3.5 ? 2
                                                         : ratio < 7.5 ? 5
                                                                       : 10);
  std::vector<double> result;
  for (double t = std::ceil(axis.low / step) * step; t <= axis.high + 1e-9 * span; t += step)
    result.push_back(std::abs(t) < 1e-9 * span ? 0 : t);
  return result;
}

// Returns an upper estimate of the width of a text in common sans-serif fonts.
double width_of(const std::string& text) { return 7.2 * static_cast<double>(text.size()); }

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else
      result += c;
  }
  return result;
}

}  // namespace

Chart::Chart(std::string title, std::string x_label, std::string y_label)
    : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

Chart& Chart::add(const std::string& name, std::vector<double> x, std::vector<double> y, bool joined) {
  if (x.size() != y.size()) throw std::invalid_argument("Chart: x and y of " + name + " differ in length");
  series_.push_back({name, std::move(x), std::move(y), joined});
  return *this;
}

Chart& Chart::line(const std::string& name, const std::vector<double>& y) {
  std::vector<double> x(y.size());
  std::iota(x.begin(), x.end(), 0.0);
  return add(name, std::move(x), y, true);
}

Chart& Chart::line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add(name, x, y, true);
}

Chart& Chart::points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add(name, x, y, false);
}

Chart& Chart::logarithmic() {
  logarithmic_ = true;
  return *this;
}

void Chart::write(const std::string& path) const {
  const auto height = [&](double y) { return logarithmic_ ? std::log10(y) : y; };
  std::vector<double> xs, ys;
  for (const Series& s : series_)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!std::isfinite(s.x[i]) || !std::isfinite(height(s.y[i]))) continue;
      xs.push_back(s.x[i]);
      ys.push_back(height(s.y[i]));
    }
  const Axis across = axis_of(xs, kLeft, kRight), up = axis_of(ys, kBottom, kTop);

  // The chart is wide enough for the longest name.
  double width = 800;
  for (const Series& s : series_) width = std::max(width, kLegend + width_of(s.name) + kEdge);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} 410\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0:.0f}\" height=\"410\" fill=\"white\"/>\n",
      width);
  const auto out = std::back_inserter(svg);
  const auto text = [&](double x, double y, const char* anchor, const std::string& what,
                        const char* more = "") {
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                   more, escaped(what));
  };
  for (const double t : ticks(across)) text(across.at(t), kBottom + 18, "middle", fmt::format("{:.6g}", t));
  for (const double t : ticks(up)) {
    fmt::format_to(out, "<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", kLeft, up.at(t), kRight);
    text(kLeft - 6, up.at(t) + 4, "end", fmt::format("{:.3g}", logarithmic_ ? std::pow(10, t) : t));
  }
  fmt::format_to(out, "<path d=\"M{} {}V{}H{}\" fill=\"none\" stroke=\"black\"/>\n", kLeft, kTop, kBottom,
                 kRight);
  text((kLeft + kRight) / 2, 20, "middle", title_, " font-size=\"15\"");
  text((kLeft + kRight) / 2, kBottom + 40, "middle", x_label_);
  text(std::max(kLeft, kEdge + width_of(y_label_) / 2), kTop - 12, "middle", y_label_);

  for (std::size_t k = 0; k < series_.size(); ++k) {
    const Series& s = series_[k];
    const char* colour = kColours[k % std::size(kColours)];
    std::string path_data;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!std::isfinite(s.x[i]) || !std::isfinite(height(s.y[i]))) continue;
      const double x = across.at(s.x[i]), y = up.at(height(s.y[i]));
      if (s.joined)
        path_data += fmt::format("{}{:.1f} {:.1f}", path_data.empty() ? "M" : "L", x, y);
      else
        fmt::format_to(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\"/>\n", x, y, colour);
    }
    if (s.joined)
      fmt::format_to(out, "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path_data,
                     colour);
    const double y = kTop + 18 * static_cast<double>(k);
    fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", kRight + 14, y,
                   colour);
    text(kLegend, y + 10, "start", s.name);
  }
  svg += "</svg>\n";
  std::ofstream file(path);
  if (!(file << svg)) throw std::runtime_error("cannot write " + path);
}

}  // namespace example
