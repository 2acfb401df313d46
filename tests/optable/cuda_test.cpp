// CPU against CUDA, forward and backward, for every row of the families with CUDA kernels.
#include <ebb/cuda/cuda.h>

#include "optable/checks.h"
#include "support/catch.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

namespace {

// Families with kernels on CUDA: folders of src/ops, or "nn".
const std::vector<std::string> families_on_cuda = {
    "attention", "conv", "copy", "creation", "decomposition", "elementwise", "index",
    "linalg",    "loss", "nn",   "norm",     "pool",          "random",      "reduce",
    "resample",  "rnn",  "scan", "shape",    "softmax",       "sort"};

// Returns whether the environment variable EBB_ROWS (one name per line) contains this row, for runners that
// run several rows in one process.
bool is_selected(const optable::Row& row) {
  static const char* const selected = std::getenv("EBB_ROWS");
  return !selected || ('\n' + std::string(selected) + '\n').find('\n' + row.name + '\n') != std::string::npos;
}

void compare(const std::string& family, const std::vector<const optable::Row*>& rows) {
  const bool has_kernels =
      std::find(families_on_cuda.begin(), families_on_cuda.end(), family) != families_on_cuda.end();
  if (!has_kernels || !ebb::cuda::is_available()) {
    std::cout << "rows skipped: " << rows.size() << " of " << family
              << (has_kernels ? ": there is no CUDA device\n" : ": it has no CUDA kernels\n");
    return;
  }
  std::size_t compared = 0;
  for (const optable::Row* row : rows) {
    if (!row->cuda_reason.empty() || !is_selected(*row)) continue;
    ++compared;
    DYNAMIC_SECTION(row->name) {
      optable::check_cuda(*row);
      optable::check_cuda_numbers(*row);
      optable::check_cuda_stretched(*row);
    }
  }
  REQUIRE(compared > 0);
}

const bool registered = [] {
  std::map<std::string, std::vector<const optable::Row*>> families;
  for (const optable::Row* row : optable::rows()) families[row->family].push_back(row);
  for (const auto& family : families)
    support::add_case("CPU against CUDA, " + family.first, "[cuda]",
                      [family] { compare(family.first, family.second); });
  return true;
}();

}  // namespace

TEST_CASE("the families on CUDA exist in the table") {
  REQUIRE(registered);
  for (const std::string& family : families_on_cuda) {
    INFO(family);
    CHECK(std::any_of(optable::rows().begin(), optable::rows().end(),
                      [&](const optable::Row* row) { return row->family == family; }));
  }
}

// For runners with one process per row: one line per row, by family.
TEST_CASE("list of the rows of the table by family", "[.rows]") {
  for (const optable::Row* row : optable::rows())
    if (row->cuda_reason.empty()) std::cout << "row\t" << row->family << '\t' << row->name << '\n';
  CHECK(optable::rows().size() > 400);
}

TEST_CASE("at least 90 % of the rows have larger samples") {
  std::size_t stretched = 0, all = 0;
  for (const optable::Row* row : optable::rows()) {
    if (!row->cuda_reason.empty()) continue;
    ++all;
    stretched += !optable::stretched_rows(*row).empty();
  }
  CHECK(10 * stretched >= 9 * all);
}
