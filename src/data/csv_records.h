// The records of a file of comma-separated values.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::data {

/// The cells of a table. A cell is a view of the text, or of `unquoted` if it contains doubled quotes.
struct CSVRecords {
  std::size_t width = 0;  // the number of cells of every record
  std::vector<std::string_view> cells;
  std::vector<std::int64_t> lines;  // the line of the text on which each record begins, from 1
  std::deque<std::string> unquoted;

  std::size_t size() const { return lines.size(); }
  std::string_view cell(std::size_t record, std::size_t column) const {
    return cells[record * width + column];
  }
};

/// Splits the text. Errors begin with `name`. The text must outlive the records.
CSVRecords csv_records(std::string_view text, char separator, const std::string& name);

}  // namespace ebb::data
