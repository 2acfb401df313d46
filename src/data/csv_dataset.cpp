// Rows of a table as a dataset.
#include <ebb/data/csv.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>

#include <algorithm>

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
