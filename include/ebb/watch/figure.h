// Figure: charts, confusion tables and grids of images, as SVG and as PNG.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ebb::watch {

namespace drawing {
class Canvas;
struct Chart;
struct Series;
}  // namespace drawing

/// A chart. The axes have round ticks, a logarithmic axis has powers of ten. Values that are not finite, and
/// on a logarithmic axis those that are not positive, are left out and interrupt a curve. Margins are as wide
/// as the longest label. Texts are UTF-8.
///     Figure("loss", "step", "nats").line("LSTM", losses).logarithmic_y().write("loss.svg");
class EBB_API Figure {
 public:
  explicit Figure(std::string title, std::string x_label = "", std::string y_label = "");

  /// Adds a curve of y over 0, 1, 2, ..., or over x. A curve that hides an earlier one is dashed. A curve of
  /// at most 30 points has markers. An empty name has no line in the legend.
  Figure& line(const std::string& name, const std::vector<double>& y);
  Figure& line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  /// Adds points that are not joined. Each call has another marker.
  Figure& points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  /// Adds one bar for each label. Several calls with the same labels make groups. The i-th label is at x = i,
  /// for curves in the same figure.
  Figure& bars(const std::string& name, const std::vector<std::string>& labels,
               const std::vector<double>& values);
  Figure& logarithmic_x();
  Figure& logarithmic_y();
  /// Sets the lengths of the axes in units of the SVG, 550 and 310 by default.
  Figure& size(double width, double height);

  /// A table of counts [n, n]: rows are true classes, columns predicted ones. `labels` has n names or none. A
  /// cell is as dark as its part of the row's sum. Fractions are possible too.
  static Figure confusion_table(std::string title, const Variable& counts,
                                const std::vector<std::string>& labels = {});
  /// Images [n, channels, height, width], Byte or floating in [0, 1] (values outside are clamped), with 1, 3
  /// or 4 channels, in rows of `columns` images, with labels of rows and columns or none. Images below 48
  /// pixels are enlarged by a whole factor.
  static Figure image_grid(std::string title, const Variable& images, std::int64_t columns,
                           const std::vector<std::string>& row_labels = {},
                           const std::vector<std::string>& column_labels = {});
  /// Figures side by side, in rows of `columns` figures. Neighbours with the same legend share one.
  static Figure panels(std::string title, const std::vector<Figure>& figures, std::int64_t columns);

  /// Returns the chart as an SVG element. Its texts are text, and it has a title for screen readers.
  std::string svg() const;
  /// Returns the chart as Byte [3, height, width], `scale` pixels for a unit of the SVG. Characters that are
  /// not ASCII are boxes.
  Variable pixels(double scale = 1) const;
  /// Writes an SVG or a PNG file, by the name's ending, atomically. Throws an error that names the file.
  void write(const std::string& path, double scale = 1) const;

 private:
  Figure(std::string title, drawing::Canvas&& canvas, double middle);
  drawing::Chart& changed(const char* method);
  Figure& add(const char* method, drawing::Series&& series);
  std::shared_ptr<drawing::Chart> chart_;
};

}  // namespace ebb::watch
