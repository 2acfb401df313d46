// Every row of the table on CUDA: compared with the CPU, and captured in a graph and replayed.
#include <ebb/cuda/cuda.h>

#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

// CPU against CUDA, forward and backward, for every row of the families with CUDA kernels.

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

TEST_CASE("every family of the CUDA tests has rows in the table") {
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

TEST_CASE("at least 90 % of the rows that run on CUDA also have enlarged samples") {
  std::size_t stretched = 0, all = 0;
  for (const optable::Row* row : optable::rows()) {
    if (!row->cuda_reason.empty()) continue;
    ++all;
    stretched += !optable::stretched_rows(*row).empty();
  }
  CHECK(10 * stretched >= 9 * all);
}

// Every op of the table in a captured CUDA graph: its replay gives the results of an eager call, or the
// capture throws because the op must read values on the host. The list below contains exactly these ops.

namespace {

using optable::Row;
using optable::Variable;
using optable::variable_list;

const std::set<std::string> reads_on_the_host = {
    // The shape of the result depends on values.
    "_unique", "_unique2", "unique_dim", "unique_consecutive", "nonzero", "nonzero_numpy", "nonzero_static",
    "nonzero_static.filled", "unique_dim_consecutive", "masked_select", "repeat_interleave",
    "repeat_interleave.tensor", "bincount", "bincount.weights", "one_hot",
    // Values are checked first: divisors of 0, counts, variances, positions.
    "div.trunc_of_integers", "div.floor_of_integers", "fmod.of_integers", "remainder.of_integers",
    "masked_scatter", "gaussian_nll_loss", "quantile", "quantile.dim", "nanquantile", "nanquantile.dim",
    "cov.weights", "cov.counts", "segment_reduce", "segment_reduce.mean", "segment_reduce.max",
    "segment_reduce.prod", "segment_reduce.offsets",
    // These ops check whether a factorisation succeeded, or how often to square.
    "cholesky", "cholesky_inverse", "cond", "cond.by_inverse", "eigh", "eigvalsh", "inv", "inverse",
    "ldl_factor", "ldl_solve", "lstsq", "lstsq.gels", "lstsq.gelss", "lu_factor", "lu_unpack", "matrix_exp",
    "matrix_exp.large", "matrix_norm.values", "matrix_power.negative", "matrix_rank", "matrix_sqrth",
    "nuclear_norm", "pca_lowrank", "pca_lowrank.mean", "polar", "svd_lowrank", "pinv", "pinv.hermitian",
    "pinv.rank_two", "pinverse", "solve", "solve.right", "solve.vectors", "svd", "svd.full", "svdvals",
    "tensorinv", "tensorsolve",
    // The gradient searches for zeros.
    "prod", "prod.dim", "prod.zeros", "prod.zeros.dim"};

// Computes results and first derivatives of a row from inputs and seeds that are already on the device.
class Step {
 public:
  explicit Step(const Row& row) : row_(row) {
    for (const Variable& x : optable::to(optable::make_inputs(row, 0), dtype_of(row)))
      inputs_.push_back(x.to(ebb::TensorOptions(ebb::kCUDA)));
  }
  variable_list operator()() {
    const variable_list leaves = optable::with_grad(row_, inputs_), wanted = optable::leaves_of(leaves);
    variable_list all = row_.function(leaves), outputs;
    for (const Variable& y : all)
      if (y.defined() && y.is_floating_point() && y.requires_grad()) outputs.push_back(y);
    if (row_.derivative_order > 0 && !outputs.empty() && !wanted.empty()) {
      if (seeds_.empty())
        for (const Variable& y : outputs) seeds_.push_back(ebb::ones_like(y.detach()));
      for (const Variable& g : ebb::autograd::grad(outputs, wanted, seeds_, false, false, true))
        all.push_back(g);
    }
    for (Variable& y : all)
      if (y.defined()) y = y.detach();
    return all;
  }

 private:
  static ebb::DType dtype_of(const Row& row) { return row.dtype_reason.empty() ? ebb::kF32 : ebb::kF64; }
  const Row& row_;
  variable_list inputs_, seeds_;
};

// Returns the message of the error that ends the capture of the row, or an empty string if it can be
// captured.
std::string captured(const Row& row) {
  Step step(row);
  ebb::manual_seed(7);
  const variable_list expected = step();
  variable_list got;
  ebb::cuda::Graph graph;
  try {
    graph.capture([&] { got = step(); });
  } catch (const ebb::Error& error) {
    return error.what();
  }
  ebb::manual_seed(7);
  graph.replay();
  optable::require_same(got, expected, row.float_tolerance);
  return "";
}

void capture(const std::vector<const Row*>& rows) {
  if (!ebb::cuda::is_available()) {
    std::cout << "rows skipped: " << rows.size() << ": there is no CUDA device\n";
    return;
  }
  for (const Row* row : rows) DYNAMIC_SECTION(row->name) {
      const std::string said = captured(*row);
      INFO(said);
      CHECK(said.empty() == !reads_on_the_host.contains(row->name));
      if (!said.empty()) CHECK_THAT(said, support::Contains("captured"));
      CHECK(ebb::ones({4}, ebb::TensorOptions(ebb::kCUDA)).sum().item<float>() == 4);
    }
}

const bool registered_captures = [] {
  std::map<std::string, std::vector<const Row*>> families;
  for (const Row* row : optable::rows())
    if (row->cuda_reason.empty()) families[row->family].push_back(row);
  for (const auto& family : families)
    support::add_case("captured and replayed, " + family.first, "[cuda][capture]",
                      [rows = family.second] { capture(rows); });
  return true;
}();

}  // namespace

TEST_CASE("the list of ops that read on the host contains only ops of the table") {
  REQUIRE(registered_captures);
  for (const std::string& name : reads_on_the_host) {
    INFO(name);
    CHECK(std::any_of(optable::rows().begin(), optable::rows().end(),
                      [&](const Row* row) { return row->name == name; }));
  }
}
