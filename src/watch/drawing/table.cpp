// Table: the layout of an image with labels of rows and columns.
#include <ebb/ebb.h>

#include "watch/drawing/chart.h"

#include <algorithm>
#include <cmath>

namespace ebb::watch::drawing {

Point Table::draw(Canvas& canvas, Point corner) const {
  const double height = static_cast<double>(image.size(1)), width = static_cast<double>(image.size(2));
  const double rows = std::floor(height / row), columns = std::floor(width / column);
  const double label_width = widest(column_labels);
  const bool upward = label_width > column - 6;
  const double left_margin = std::ceil(std::max(widest(row_labels), lettering_of(rows_label).width)),
               title_height = title.empty() ? 0 : kTitleHeight,
               name_height = columns_label.empty() ? 0 : kRowHeight,
               label_height = column_labels.empty() ? 0
                              : upward              ? std::ceil(label_width) + 8
                                                    : kRowHeight;
  const double edge = left_margin + title_height + label_height > 0 ? kEdge : 0;  // a bare image has none
  const Point start{corner.x + edge + (left_margin > 0 ? left_margin + 8 : 0),
                    corner.y + edge + title_height + name_height + label_height};

  const auto row_at = [&](double i) { return start.y + (height - rows * row) / 2 + (i + 0.5) * row; };
  const auto column_at = [&](double i) {
    return start.x + (width - columns * column) / 2 + (i + 0.5) * column;
  };
  double far = start.x + width;
  const auto centered = [&](const std::string& text, double y, double size) {
    const double half = lettering_of(text, size).width / 2;
    const double x = std::max(start.x + width / 2, corner.x + edge + half);
    canvas.text(text, {x, y}, Align::middle, 0, false, size);
    far = std::max(far, x + half);
  };
  canvas.image(image, start);
  centered(title, corner.y + edge + 12, kTitleSize);
  centered(columns_label, corner.y + edge + title_height + 12, kFontSize);
  canvas.text(rows_label, {start.x - 8, start.y - 6}, Align::end);
  // Not all labels are written if they are closer than lines of text.
  for (double i = 0; i < static_cast<double>(row_labels.size()); i += std::ceil(14 / row))
    canvas.text(row_labels[static_cast<std::size_t>(i)], {start.x - 8, row_at(i) + 4}, Align::end);
  for (double i = 0; i < static_cast<double>(column_labels.size()); i += std::ceil(14 / column)) {
    const Point at{column_at(i) + (upward ? 4 : 0), start.y - 6};
    canvas.text(column_labels[static_cast<std::size_t>(i)], at, upward ? Align::start : Align::middle, 0,
                upward);
  }
  const Variable red = image[0];
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const double y = std::floor(static_cast<double>(i) / columns), x = static_cast<double>(i) - y * columns;
    const bool is_dark =
        red[static_cast<std::int64_t>(y * row)][static_cast<std::int64_t>(x * column)].item<int>() < 128;
    canvas.text(texts[i], {column_at(x), row_at(y) + 4}, Align::middle, is_dark ? 0xffffff : 0);
  }
  return {far + edge - corner.x, start.y + height + edge - corner.y};
}

}  // namespace ebb::watch::drawing
