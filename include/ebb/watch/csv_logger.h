// CSVLogger: the numbers of a training run as a file of comma-separated values (RFC 4180).
#pragma once

#include <ebb/autograd/variable.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ebb::watch {

/// Writes one row for each step (Keras and Lightning: CSVLogger). ebb::data::read_csv reads the file.
///
///     CSVLogger log("run.csv", epoch);  // epoch > 0 if the run continues from a checkpoint
///     log.log(epoch, {{"loss", loss}, {"accuracy", valid.accuracy()}, {"note", "warm-up"}});
///
/// A row is in the file when log() returns, and a killed process leaves whole rows. The first column is
/// "step". A new name adds a column, for which the whole file is rewritten; a missing value is an empty cell.
/// Numbers have as few digits as distinguish them from their neighbours; NaN and infinities are "nan", "inf"
/// and "-inf". Only rank 0 writes. One thread may use it at a time.
class EBB_API CSVLogger {
 public:
  /// A number, a text or a tensor of one element.
  struct EBB_API Cell {
    template <std::integral T>
    Cell(T value) : text(std::to_string(value)) {}
    Cell(float value);
    Cell(double value);
    Cell(std::string value) : text(std::move(value)) {}
    Cell(const char* value) : text(value) {}
    Cell(const Variable& value);
    std::string text;
  };

  /// Opens a file, of which only rows of steps before `first_step` stay, and creates missing folders. Throws
  /// if the file cannot be written, or if such rows are sought in a file that is not of a CSVLogger.
  explicit CSVLogger(std::string path, std::int64_t first_step = 0);
  /// Appends one row. Throws if the disk is full; the file then ends with the last whole row.
  void log(std::int64_t step, const std::vector<std::pair<std::string, Cell>>& row);

 private:
  void write(const std::vector<std::string>& columns, const std::vector<std::string>& lines) const;

  std::string path_;
  std::vector<std::string> columns_{"step"};
};

}  // namespace ebb::watch
