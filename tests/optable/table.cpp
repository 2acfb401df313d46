// Collects the rows of the table of ops.
#include "optable/table.h"

#include <memory>

namespace optable {
namespace {

std::vector<std::unique_ptr<Row>>& storage() {
  static std::vector<std::unique_ptr<Row>> all;
  return all;
}

std::string& current_family() {
  static std::string name;
  return name;
}

}  // namespace

Row& Row::pointwise(std::size_t inputs) {
  if (inputs == 1) shape_sets = {{{3, 4}}, {{}}, {{0, 2}}, {{1, 5, 2}}};
  if (inputs == 2)
    shape_sets = {{{3, 4}, {3, 4}}, {{2, 1, 3}, {4, 1}}, {{}, {3}}, {{3}, {}}, {{0, 3}, {1, 3}}};
  if (inputs == 3) shape_sets = {{{3, 4}, {3, 4}, {3, 4}}, {{2, 1}, {3}, {1}}, {{2, 0}, {1}, {}}};
  pointwise_inputs = inputs;
  return *this;
}

Row& Row::short_rows() {
  row_lengths.insert(row_lengths.end(), {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33});
  return *this;
}
Row& Row::long_rows() {
  row_lengths.insert(row_lengths.end(), {64, 128, 129, 300, 1501, 9001});
  return *this;
}

void family(std::string name) { current_family() = std::move(name); }

Row& row(std::string name, Row::Function f) {
  auto made = std::make_unique<Row>();
  made->name = std::move(name);
  made->family = current_family();
  made->function = std::move(f);
  storage().push_back(std::move(made));
  return *storage().back();
}

Row& unary(std::string name, Variable (*f)(const Variable&)) {
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0])}; }).pointwise(1);
}

Row& binary(std::string name, std::function<Variable(const Variable&, const Variable&)> f) {
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0], x[1])}; })
      .pointwise(2);
}

const std::vector<Row*>& rows() {
  static std::vector<Row*> all = [] {
    register_all();
    std::vector<Row*> out;
    for (auto& r : storage()) out.push_back(r.get());
    return out;
  }();
  return all;
}

}  // namespace optable
