// Figure: charts, confusion tables and grids of images, as SVG and as PNG.
#pragma once

#include <ebb/autograd/variable.h>

#include <memory>
#include <string>
#include <vector>

namespace ebb::watch {

/// A chart. The axes have round ticks, a logarithmic axis has powers of ten, and points that are not finite
/// are skipped.
///     Figure("loss", "step", "nats").line("LSTM", losses).logarithmic_y().write("loss.svg");
class EBB_API Figure {
 public:
  explicit Figure(std::string title, std::string x_label = "", std::string y_label = "");
  Figure(const Figure&);
  Figure(Figure&&) noexcept;
  Figure& operator=(const Figure&);
  Figure& operator=(Figure&&) noexcept;
  ~Figure();

  /// Adds a curve of y over 0, 1, 2, ..., or over x. A curve that an earlier one hides is dashed.
  Figure& line(const std::string& name, const std::vector<double>& y);
  Figure& line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  /// Adds points that are not joined.
  Figure& points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  /// Adds one bar for each label. Several calls with the same labels make groups.
  Figure& bars(const std::string& name, const std::vector<std::string>& labels,
               const std::vector<double>& values);
  Figure& logarithmic_x();
  Figure& logarithmic_y();

  /// A table of counts [n, n]: rows are true classes, columns predicted ones. `labels` has n names or none.
  static Figure confusion_table(std::string title, const Variable& counts,
                                const std::vector<std::string>& labels = {});
  /// Images [n, channels, height, width], Byte or floating in [0, 1], in rows of `columns` images, with
  /// labels of rows and columns or none.
  static Figure image_grid(std::string title, const Variable& images, std::int64_t columns,
                           const std::vector<std::string>& row_labels = {},
                           const std::vector<std::string>& column_labels = {});

  /// Returns the chart as an SVG element. Its texts are text, and it has a title for screen readers.
  std::string svg() const;
  /// Returns the chart as Byte [3, height, width], `scale` pixels for a unit of the SVG.
  Variable pixels(double scale = 1) const;
  /// Writes an SVG or a PNG file, by the name's ending, atomically. Throws an error that names the file.
  void write(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ebb::watch
