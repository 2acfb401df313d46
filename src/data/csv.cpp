// read_csv, CSV and CSVDataset: tables of comma-separated values.
#include <ebb/data/csv.h>
#include <ebb/data/text.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>

#include "data/csv_records.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace ebb::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Parses a number independently of the locale. Returns whether the whole text is a number.
template <class T>
bool number(std::string_view text, T& value) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class Reader {
 public:
  Reader(std::string_view text, const CSVOptions& options, const std::string& name)
      : options_(options), name_(name), records_(csv_records(text, options.separator(), name)) {
    EBB_CHECK(options_.dtype() == kFloat || options_.dtype() == kDouble || options_.dtype() == kLong,
              "read_csv: dtype must be Float, Double or Long, not ", options_.dtype(), ".");
    EBB_CHECK(records_.size() > 0, "read_csv: ", name_, " holds no records.");
    first_ = options_.header() ? 1 : 0;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    names.reserve(records_.width);
    for (std::size_t column = 0; column < records_.width; ++column)
      names.push_back(options_.header() ? std::string(records_.cell(0, column)) : std::to_string(column));
    std::vector<std::string_view> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    EBB_CHECK(twice == sorted.end(), "read_csv: ", name_, ": two columns have the name \"",
              std::string(*twice), "\".");
    return names;
  }

  std::size_t rows() const { return records_.size() - first_; }
  std::size_t columns() const { return records_.width; }

  /// Returns a sentence about the first cell of the column that is neither a number nor missing. Returns an
  /// empty string if there is none.
  std::string why_no_number(std::size_t column) const {
    for (std::size_t row = first_; row < records_.size(); ++row) {
      const std::string_view cell = records_.cell(row, column);
      double floating = 0;
      std::int64_t integer = 0;
      if (is_missing(cell) || (options_.dtype() == kLong ? number(cell, integer) : number(cell, floating)))
        continue;
      return ebb::detail::text(place(row, column), ": \"", cell, "\" is not a number of dtype ",
                               options_.dtype());
    }
    return {};
  }

  template <class T>
  void numbers(std::size_t column, T* to, std::size_t stride) const {
    for (std::size_t row = first_; row < records_.size(); ++row, to += stride) {
      const std::string_view cell = records_.cell(row, column);
      if (is_missing(cell)) {
        EBB_CHECK(options_.allow_missing(), "read_csv: ", place(row, column),
                  ": a number is missing. With allow_missing it becomes NaN.");
        EBB_CHECK(std::numeric_limits<T>::has_quiet_NaN, "read_csv: ", place(row, column),
                  ": a number is missing, and Long has no NaN. Read floating numbers.");
        *to = std::numeric_limits<T>::quiet_NaN();
      } else if constexpr (std::is_floating_point_v<T>) {
        double value = 0;
        number(cell, value);
        *to = static_cast<T>(value);
      } else {
        number(cell, *to);
      }
    }
  }

  std::vector<std::string> texts(std::size_t column) const {
    std::vector<std::string> texts;
    texts.reserve(rows());
    for (std::size_t row = first_; row < records_.size(); ++row)
      texts.emplace_back(records_.cell(row, column));
    return texts;
  }

 private:
  bool is_missing(std::string_view cell) const {
    const auto& missing = options_.missing();
    return std::find(missing.begin(), missing.end(), trimmed(cell)) != missing.end();
  }

  std::string place(std::size_t row, std::size_t column) const {
    return ebb::detail::text(name_, ", line ", records_.lines[row], ", column ", std::uint64_t{column + 1});
  }

  const CSVOptions& options_;
  const std::string& name_;
  CSVRecords records_;
  std::size_t first_ = 0;  // the first record after the header
};

}  // namespace

CSV parse_csv(std::string_view text, const CSVOptions& options, const std::string& name) {
  const Reader reader(text, options, name);
  CSV table;
  table.names_ = reader.names();
  const std::unordered_set<std::string_view> text_names(options.text().begin(), options.text().end());
  std::unordered_set<std::string_view> missing = text_names;
  for (const std::string& own : table.names_) missing.erase(own);
  for (const std::string& requested : options.text())
    EBB_CHECK(!missing.contains(requested), "read_csv: ", name, " has no column \"", requested,
              "\", which CSVOptions::text() names.");
  table.columns_.reserve(reader.columns());
  std::vector<std::size_t> numeric;
  for (std::size_t column = 0; column < reader.columns(); ++column) {
    const std::string& own = table.names_[column];
    std::string why = text_names.contains(own) ? "CSVOptions::text names it" : reader.why_no_number(column);
    if (why.empty()) {
      table.columns_.push_back({true, numeric.size(), {}});
      table.numeric_names_.push_back(own);
      numeric.push_back(column);
    } else {
      table.columns_.push_back({false, table.texts_.size(), std::move(why)});
      table.texts_.push_back(reader.texts(column));
    }
  }
  const std::size_t width = numeric.size();
  table.values_ = Variable(
      NdArray::empty(DimVector{static_cast<std::int64_t>(reader.rows()), static_cast<std::int64_t>(width)},
                     options.dtype()));
  const auto fill = [&](auto* to) {
    for (std::size_t i = 0; i < width; ++i) reader.numbers(numeric[i], to + i, width);
  };
  if (options.dtype() == kFloat)
    fill(table.values_.data_ptr<float>());
  else if (options.dtype() == kDouble)
    fill(table.values_.data_ptr<double>());
  else
    fill(table.values_.data_ptr<std::int64_t>());
  return table;
}

CSV read_csv(const std::string& path, const CSVOptions& options) {
  return parse_csv(read_text(path), options, "\"" + path + "\"");
}

const CSV::Column& CSV::find_column(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    std::string all;
    for (const std::string& each : names_) all += (all.empty() ? "\"" : ", \"") + each + "\"";
    ebb::detail::fail("CSV: there is no column \"", name, "\" among ", all, ".");
  }
  return columns_[static_cast<std::size_t>(found - names_.begin())];
}

bool CSV::is_numeric(const std::string& name) const { return find_column(name).numeric; }

Variable CSV::column(const std::string& name) const {
  const Column& at = find_column(name);
  EBB_CHECK(at.numeric, "CSV: the column \"", name, "\" is text: ", at.why_no_number, ".");
  return values_.select(1, static_cast<std::int64_t>(at.index));
}

Variable CSV::columns(const std::vector<std::string>& names) const {
  EBB_CHECK(!names.empty(), "CSV::columns: expected at least one name.");
  std::unordered_map<std::string_view, std::size_t> columns;  // avoids a linear search for each name
  for (std::size_t i = 0; i < numeric_names_.size(); ++i) columns.emplace(numeric_names_[i], i);
  std::vector<std::int64_t> all;
  all.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = columns.find(name);
    if (found == columns.end()) column(name);  // throws the error
    all.push_back(static_cast<std::int64_t>(found->second));
  }
  return values_.index_select(1, tensor(all, kLong));
}

const std::vector<std::string>& CSV::text(const std::string& name) const {
  const Column& at = find_column(name);
  EBB_CHECK(!at.numeric, "CSV: the column \"", name, "\" is numeric. Read it with CSVOptions().text({\"",
            name, "\"}) to have its text.");
  return texts_[at.index];
}

}  // namespace ebb::data

namespace ebb::data::datasets {
namespace {

std::vector<std::string> all_but(const std::vector<std::string>& names, const std::string& one) {
  std::vector<std::string> others;
  std::remove_copy(names.begin(), names.end(), std::back_inserter(others), one);
  return others;
}

}  // namespace

CSVDataset::CSVDataset(const CSV& table, const std::vector<std::string>& features, const std::string& target)
    : features_(table.columns(features)) {
  if (table.is_numeric(target)) {
    targets_ = table.column(target).contiguous();
    return;
  }
  const std::vector<std::string>& cells = table.text(target);
  classes_ = cells;
  std::sort(classes_.begin(), classes_.end());
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  std::vector<std::int64_t> indices;
  for (const std::string& cell : cells)
    indices.push_back(std::lower_bound(classes_.begin(), classes_.end(), cell) - classes_.begin());
  targets_ = tensor(indices, kLong);
}

CSVDataset::CSVDataset(const CSV& table, const std::string& target)
    : CSVDataset(table, all_but(table.numeric_names(), target), target) {}

Example<> CSVDataset::get(std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {features_[i], targets_[i]};
}

}  // namespace ebb::data::datasets
