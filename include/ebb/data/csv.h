// Tables in text files: comma-separated values (RFC 4180).
#pragma once

#include <ebb/core/arg.h>
#include <ebb/data/datasets.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::data {

/// Options of read_csv.
class EBB_API CSVOptions {
 public:
  EBB_ARG(char, separator) = ',';  ///< between cells
  EBB_ARG(bool, header) = true;    ///< the first record names the columns; else they are "0", "1", ...
  EBB_ARG(DType, dtype) = kFloat;  ///< of numbers: kFloat, kDouble or kLong
  EBB_ARG(std::vector<std::string>, text);  ///< columns of text, even if all their cells are numbers
  /// Cells that stand for no value.
  EBB_ARG(std::vector<std::string>, missing) = { "", "NA", "N/A", "NaN", "nan", "NULL", "null" };
  EBB_ARG(bool, allow_missing) = true;  ///< missing numbers become NaN; else they are an error
};

/// A table. A column whose cells are all numbers, or missing, is numeric; any other is text.
class EBB_API CSV {
 public:
  std::int64_t rows() const { return values_.size(0); }
  /// Of all columns, in the order of the file.
  const std::vector<std::string>& column_names() const { return names_; }
  /// Of the numeric ones.
  const std::vector<std::string>& numeric_names() const { return numeric_names_; }
  bool is_numeric(const std::string& name) const;
  /// The numeric columns, [rows, columns].
  const Variable& values() const { return values_; }
  /// A numeric column, [rows]; throws for a text column, naming the first cell that is no number.
  Variable column(const std::string& name) const;
  /// Numeric columns, [rows, columns], in the order asked for.
  Variable columns(const std::vector<std::string>& names) const;
  /// The cells of a text column.
  const std::vector<std::string>& text(const std::string& name) const;

 private:
  friend EBB_API CSV parse_csv(std::string_view, const CSVOptions&, const std::string&);

  struct Place {
    bool numeric;
    std::size_t index;          // among the numeric columns, or among the text columns
    std::string why_no_number;  // of a text column
  };
  const Place& place(const std::string& name) const;

  std::vector<std::string> names_, numeric_names_;
  std::vector<Place> places_;
  Variable values_;
  std::vector<std::vector<std::string>> texts_;
};

/// Reads a table. Cells may be quoted: "a, ""b""" is a, "b"; quoted cells may hold line ends. Lines end in LF
/// or CRLF, empty ones are passed over, as is a byte order mark; spaces around numbers do not count. Throws,
/// with line and column, for records that are not as long as the first, quotes that do not end, names that
/// occur twice, and for missing numbers where there must be none: in kLong, which has no NaN, and without
/// allow_missing.
EBB_API CSV read_csv(const std::string& path, const CSVOptions& options = {});
/// The same of text in memory, called `name` in errors.
EBB_API CSV parse_csv(std::string_view text, const CSVOptions& options = {},
                      const std::string& name = "the text");

namespace datasets {

/// The rows of a table: features, [columns], and a target, []. A numeric target is a value of the table's
/// dtype; of a text target it is its class, kLong, the place of the cell among classes().
class EBB_API CSVDataset : public Dataset<CSVDataset> {
 public:
  CSVDataset(const CSV& table, const std::vector<std::string>& features, const std::string& target);
  /// All numeric columns but the target are features.
  CSVDataset(const CSV& table, const std::string& target);

  Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override { return static_cast<std::size_t>(features_.size(0)); }
  /// [rows, columns] and [rows].
  const Variable& features() const { return features_; }
  const Variable& targets() const { return targets_; }
  /// The different cells of a text target, sorted; none of a numeric one.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  Variable features_, targets_;
  std::vector<std::string> classes_;
};

}  // namespace datasets
}  // namespace ebb::data
