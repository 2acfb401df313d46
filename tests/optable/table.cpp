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

// Functions, as rows are registered before the constants of this file are.
std::vector<std::vector<Sizes>> unary_shapes() { return {{{3, 4}}, {{}}, {{0, 2}}, {{1, 5, 2}}}; }
std::vector<std::vector<Sizes>> binary_shapes() {
  return {{{3, 4}, {3, 4}}, {{2, 1, 3}, {4, 1}}, {{}, {3}}, {{3}, {}}, {{0, 3}, {1, 3}}};
}

}  // namespace

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
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0])}; })
      .shapes(unary_shapes());
}

Row& binary(std::string name, std::function<Variable(const Variable&, const Variable&)> f) {
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0], x[1])}; })
      .shapes(binary_shapes());
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
