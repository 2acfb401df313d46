// Finds a row's expression.
#include "random_programs/torch_rows.h"

#include <algorithm>

namespace programs {
namespace {

const TorchRow* entry_of(const std::string& row) {
  for (const auto* rows : {&pointwise_rows(), &line_rows(), &place_rows(), &layer_rows(), &matrix_rows()}) {
    const auto at =
        std::lower_bound(rows->begin(), rows->end(), row,
                         [](const TorchRow& each, const std::string& name) { return each.row < name; });
    if (at != rows->end() && at->row == row) return &*at;
  }
  return nullptr;
}

// "torch.NAME(x[0], REST)" becomes "x[0].NAME_(REST)"; functions of F have twins among the operators of aten.
std::string twin_of(const std::string& expression) {
  const std::size_t open = expression.find('('), dot = expression.find('.');
  const std::string name = expression.substr(dot + 1, open - dot - 1) + "_(",
                    rest = expression.substr(open + 1);
  if (expression.starts_with("F.")) return "aten." + name + rest;
  const std::size_t first = rest.find_first_of(",)");
  return "x[0]." + name + rest.substr(rest[first] == ',' ? first + 2 : first);
}

}  // namespace

std::string torch_row(const std::string& row, bool in_place) {
  if (const TorchRow* entry = entry_of(row)) {
    const std::string expression = entry->expression, twin = entry->in_place;
    if (!in_place || expression.empty()) return expression;
    return twin.empty() ? twin_of(expression) : twin;
  }
  if (row.find('.') != std::string::npos) return "";
  if (in_place) return "x[0]." + row + "_(*x[1:])";
  if (row.starts_with("special_")) return "torch.special." + row.substr(8) + "(*x)";
  return "torch." + row + "(*x)";
}

}  // namespace programs
