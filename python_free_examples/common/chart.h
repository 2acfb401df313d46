// Chart: writes lines and points to an SVG file.
#pragma once

#include <string>
#include <vector>

namespace example {

/// A chart of lines and points.
///     Chart("loss", "step", "nats").line("LSTM", losses).write("loss.svg");
class Chart {
 public:
  Chart(std::string title, std::string x_label, std::string y_label);
  /// Adds y over 0, 1, 2, ..., or over x. Values that are not finite are skipped.
  Chart& line(const std::string& name, const std::vector<double>& y);
  Chart& line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  Chart& points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  /// Makes the y axis logarithmic.
  Chart& logarithmic();
  /// Writes the SVG file. Throws std::runtime_error if the file cannot be written.
  void write(const std::string& path) const;

 private:
  struct Series {
    std::string name;
    std::vector<double> x, y;
    bool joined;
  };
  Chart& add(const std::string& name, std::vector<double> x, std::vector<double> y, bool joined);

  std::string title_, x_label_, y_label_;
  std::vector<Series> series_;
  bool logarithmic_ = false;
};

}  // namespace example
