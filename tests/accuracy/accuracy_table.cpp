// Measures every function over all arguments and writes docs/accuracy.md: accuracy_table FILE [OP...].
// Returns 1 if a function exceeds its bound without an exception, or if an exception is no longer needed.
#include "accuracy/measure.h"

#include <fstream>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>

namespace {

using namespace accuracy;

struct Counts {
  int measured = 0, excepted = 0, wrong = 0;
};

// Returns the text of the largest error, or a word if a number would be meaningless.
std::string shown(const Worst& worst) {
  std::ostringstream out;
  if (worst.points == 0) return "";
  if (worst.ulps > 1e6) return "lost";
  out << std::setprecision(worst.ulps < 100 ? 2 : 3) << worst.ulps;
  return out.str();
}

// Writes one row of the table, with a cell per part and an entry per dtype.
void measure_row(const optable::Row& row, const Exact& exact, std::ostream& table, Counts& counts) {
  std::array<std::string, kParts> cells;
  bool excepted = false;
  for (const ebb::DType dtype : kDtypes) {
    if (!is_measured(row, dtype)) continue;
    const Errors errors = measure(row, exact, dtype, points_of(row, dtype, Extent::whole));
    for (int i = 0; i < kParts; ++i) {
      const auto part = static_cast<Part>(i);
      const Worst& worst = errors[static_cast<std::size_t>(i)];
      if (worst.points == 0) continue;
      std::string& cell = cells[static_cast<std::size_t>(i)];
      const bool listed = !exception_of(row.name, part, dtype).empty(), held = holds(worst, dtype);
      cell += (cell.empty() ? "" : ", ") + (held ? shown(worst) : "**" + shown(worst) + "**");
      excepted = excepted || listed;
      if (listed != held) continue;
      ++counts.wrong;
      std::cerr << row.name << ' ' << name_of(part) << ' ' << ebb::to_string(dtype) << ": "
                << (held ? "holds and is to come off the list" : "is off by ") << (held ? "" : shown(worst))
                << std::setprecision(17) << " at " << worst.a << ", " << worst.b << ": " << worst.got
                << ", exactly " << worst.expected << '\n';
    }
  }
  ++counts.measured;
  counts.excepted += excepted;
  table << "| " << row.name;
  for (const std::string& cell : cells) table << " | " << cell;
  table << " |\n";
}

constexpr const char* kIntroduction = R"(# Accuracy

The table gives the largest errors of every op of one or two floating numbers, with its first and second derivatives,
over the whole range of each dtype. `tests/accuracy` computes the exact function with
[Arb](https://arblib.org), with as many bits as rounding it needs. The arguments are dense near zeros, poles, kinks,
changes of the branch, subnormal numbers and overflow.

The bound is 4 units in the last place in f64 and f32, and 1 unit in f16 and bf16. If the condition number of the
function or its derivative exceeds 1, the bound is that many times as large. For a second derivative the condition
number counts only where the derivative changes its sign nearby.

The ordinary tests measure a tenth of the arguments. They also run on a device. Its kernels are the same formulas over
CUDA's own functions, whose errors reach 6 units (`tests/cuda/unit/elementwise_test.cpp` has the bounds that NVIDIA states).

Errors are in units of the last place, in f64, f32, f16 and bf16 in turn. Bold numbers miss the bound. "lost" means that
no digit is right, or that the result is NaN or infinite and the exact value is finite.
`tests/accuracy/exceptions.cpp` lists these cases with the reason. The columns are the function, its derivatives with
respect to the first and the second operand, and its second derivatives.

| op | f | f_a | f_b | f_aa | f_ab | f_bb |
|---|---|---|---|---|---|---|
)";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::cerr << "usage: accuracy_table FILE [OP...]\n", 2;
  const std::set<std::string> chosen(argv + 2, argv + argc);
  std::ostringstream table;
  Counts counts;
  for (const optable::Row* row : optable::rows()) {
    const auto exact = functions().find(row->name);
    if (!is_measured(*row) || exact == functions().end()) continue;
    if (chosen.empty() || chosen.contains(row->name)) measure_row(*row, exact->second, table, counts);
  }
  std::ofstream out(argv[1]);
  out << kIntroduction << table.str() << "\nOf " << counts.measured << " rows " << counts.excepted
      << " have an exception.\n";
  std::cerr << counts.measured << " rows, " << counts.excepted << " with an exception, " << counts.wrong
            << " disagreements with the list\n";
  return out.flush() && counts.wrong == 0 ? 0 : 1;
}
