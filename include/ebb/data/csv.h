// read_csv and CSVDataset: tables of comma-separated values (RFC 4180).
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
  EBB_ARG(bool, header) = true;    ///< the first record names the columns; if false, they are "0", "1", ...
  EBB_ARG(DType, dtype) = kFloat;  ///< dtype of numeric columns: kFloat, kDouble or kLong
  EBB_ARG(std::vector<std::string>, text);  ///< columns read as text, even if all their cells are numbers
  /// Cells that mean a missing value.
  EBB_ARG(std::vector<std::string>, missing) = { "", "NA", "N/A", "NaN", "nan", "NULL", "null" };
  EBB_ARG(bool, allow_missing) = true;  ///< missing numbers become NaN; if false, they are an error
};

/// A table. A column is numeric if each of its cells is a number or missing; any other column is text.
class EBB_API CSV {
 public:
  std::int64_t rows() const { return values_.size(0); }
  /// Returns the names of all columns, in the order of the file.
  const std::vector<std::string>& column_names() const { return names_; }
  /// Returns the names of the numeric columns.
  const std::vector<std::string>& numeric_names() const { return numeric_names_; }
  bool is_numeric(const std::string& name) const;
  /// Returns the numeric columns: [rows, columns].
  const Variable& values() const { return values_; }
  /// Returns a numeric column: [rows]. Throws for a text column and names its first cell that is not a
  /// number.
  Variable column(const std::string& name) const;
  /// Returns numeric columns in the order of `names`: [rows, columns].
  Variable columns(const std::vector<std::string>& names) const;
  /// Returns the cells of a text column.
  const std::vector<std::string>& text(const std::string& name) const;

 private:
  friend EBB_API CSV parse_csv(std::string_view, const CSVOptions&, const std::string&);

  struct Column {
    bool numeric;
    std::size_t index;          // the index among the numeric columns, or among the text columns
    std::string why_no_number;  // the reason why a text column is not numeric
  };
  const Column& find_column(const std::string& name) const;

  std::vector<std::string> names_, numeric_names_;
  std::vector<Column> columns_;
  Variable values_;
  std::vector<std::vector<std::string>> texts_;
};

/// Reads a table. Cells may be quoted: "a, ""b""" is a, "b". Quoted cells may contain line ends. Lines end in
/// LF or CRLF. Empty lines, a byte order mark and spaces around numbers are ignored. Throws an error with
/// line and column for a record that differs in length from the first one, an unterminated quote, a duplicate
/// name, and a missing number that is not allowed. A missing number is not allowed in kLong, which has no
/// NaN, or without allow_missing.
EBB_API CSV read_csv(const std::string& path, const CSVOptions& options = {});
/// Reads a table from text in memory; errors refer to it as `name`.
EBB_API CSV parse_csv(std::string_view text, const CSVOptions& options = {},
                      const std::string& name = "the text");

namespace datasets {

/// The rows of a table: features [columns] and a target []. A numeric target is a value of the table's dtype.
/// A text target is the index of its class in classes(), in kLong.
class EBB_API CSVDataset : public Dataset<CSVDataset> {
 public:
  CSVDataset(const CSV& table, const std::vector<std::string>& features, const std::string& target);
  /// Uses all numeric columns except the target as features.
  CSVDataset(const CSV& table, const std::string& target);

  Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override { return static_cast<std::size_t>(features_.size(0)); }
  /// Returns the features, [rows, columns]. targets() returns [rows].
  const Variable& features() const { return features_; }
  const Variable& targets() const { return targets_; }
  /// Returns the distinct cells of a text target, sorted. Empty for a numeric target.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  Variable features_, targets_;
  std::vector<std::string> classes_;
};

}  // namespace datasets
}  // namespace ebb::data
