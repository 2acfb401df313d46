// Every public op has a row, and every row says what it leaves out.
#include "optable/declarations.h"
#include "optable/table.h"

#include <map>
#include <set>

#include "lint/tree.h"
#include "support/catch.h"

using optable::Declaration;
using optable::Row;

namespace {

// Public functions that are no ops, and why.
const std::map<std::string, std::string> kNoOps = {
    {"result_type", "a question about dtypes"},
    {"can_cast", "a question about dtypes"},
    {"is_same_size", "a question about shapes"},
    {"createCPUGenerator", "makes a generator"},
    {"getDefaultCPUGenerator", "gives the generator"},
    {"write_out", "what the _out forms share"},
    {"spread", "makes options of four arguments"},
    {"eig", "always throws"},
    {"eigvals", "always throws"},
    {"linalg_eig", "always throws"},
    {"linalg_eigvals", "always throws"},
    {"is_neg", "a question about views"},
};

// Methods without a function of that name: each is written in terms of ops that have a row.
const std::map<std::string, std::string> kMethods = {
    {"reshape_as", "reshape"},
    {"expand_as", "expand"},
    {"mT", "transpose"},
    {"mH", "transpose"},
    {"adjoint", "transpose"},
    {"swapaxes_", "transpose"},
    {"swapdims_", "transpose"},
    {"resize_as_", "resize_"},
    {"toType", "to"},
    {"pin_memory", "to"},
    {"is_pinned", "to"},
    {"type_as", "to"},
    {"cpu", "to"},
    {"cuda", "to"},
    {"new_empty", "empty"},
    {"new_zeros", "zeros"},
    {"new_empty_strided", "empty_strided"},
    {"new_ones", "ones"},
    {"new_full", "full"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"has_storage", "as_strided"},
    {"is_set_to", "as_strided"},
    {"set_", "as_strided"},
};

// Functions of nn::functional that take options and call an op of another name.
const std::map<std::string, std::string> kOptionForms = {
    {"logsigmoid", "log_sigmoid"},
    {"fold", "col2im"},
    {"unfold", "im2col"},
    {"cross_entropy", "cross_entropy_loss"},
    {"dropout1d", "feature_dropout"},
    {"dropout2d", "feature_dropout"},
    {"dropout3d", "feature_dropout"},
    {"adaptive_max_pool1d_with_indices", "adaptive_max_pool1d"},
    {"adaptive_max_pool2d_with_indices", "adaptive_max_pool2d"},
    {"adaptive_max_pool3d_with_indices", "adaptive_max_pool3d"},
};

std::string base_of(const std::string& row) { return row.substr(0, row.find('.')); }

struct Covered {
  std::set<std::string> names;
  Covered() {
    for (const Row* row : optable::rows()) {
      names.insert(base_of(row->name));
      if (row->in_place_function) names.insert(base_of(row->name) + "_");
    }
  }
  bool operator()(const std::string& name) const { return names.contains(name); }
};

std::vector<Declaration> declared_in(const std::string& folder) {
  std::vector<Declaration> all;
  for (const lint::File& file : lint::tree())
    if (file.in("include/ebb/" + folder) && file.ends_with(".h"))
      for (Declaration& d : optable::declarations(file)) all.push_back(std::move(d));
  return all;
}

void require_none(const std::vector<std::string>& complaints) {
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

}  // namespace

TEST_CASE("declarations are found") {
  const lint::File file{
      "x.h",
      {"/// EBB_API Variable comment(const Variable& x);", "EBB_API Variable one(const Variable& x,",
       "                     int y);", "EBB_API std::tuple<Variable, Variable> two(const Variable& x);",
       "class EBB_API Three {};", "inline Variable& four_(const Variable& x) { return one_(x); }",
       "inline Variable ops::Methods::five() const { return one(*this); }",
       "EBB_API Variable operator-(const Scalar& a, const Variable& b);", "  Variable six(int d) const;"}};
  const std::vector<Declaration> found = optable::declarations(file);
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "one");
  CHECK(found[1].name == "two");
  CHECK(found[2].name == "four_");
  CHECK(found[2].calls == "one_");
  CHECK(found[0].calls.empty());
  CHECK(optable::methods(file) == std::vector<std::string>{"six"});
  const lint::File list{"y.h",
                        {"// X(comment)", "#define EBB_OPS(X) \\", "  X(seven) X(eight) \\", "  X(nine)"}};
  CHECK(optable::methods(list) ==
        std::vector<std::string>{"eight", "eight_", "nine", "nine_", "seven", "seven_"});
}

TEST_CASE("every public op has a row") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> names;
  std::map<std::string, std::string> aliases;
  for (const Declaration& d : declared_in("ops/")) aliases[d.name] = d.calls;
  for (const Declaration& d : declared_in("ops/")) {
    names.insert(d.name);
    // An alias is covered by what it calls.
    if (covered(d.name) || covered(d.calls) || kNoOps.contains(d.name)) continue;
    // f_out copies what f gives (tests/ops/methods_test.cpp).
    const std::string base = d.name.ends_with("_out") ? d.name.substr(0, d.name.size() - 4) : "";
    if (covered(base) || covered(aliases[base])) continue;
    complaints.push_back(d.where + ": " + d.name + " has no row in tests/optable" +
                         (d.name.back() == '_' ? ", or its row no in_place" : ""));
  }
  CHECK(names.size() > 500);
  for (const auto& [name, reason] : kNoOps)
    if (!names.contains(name) || covered(name)) complaints.push_back(name + " is excused for nothing");
  require_none(complaints);
}

TEST_CASE("every method is an op with a row") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> functions, names;
  for (const Declaration& d : declared_in("ops/")) functions.insert(d.name);
  for (const lint::File& file : lint::tree()) {
    if (!file.in("include/ebb/methods/")) continue;
    for (const std::string& name : optable::methods(file)) {
      names.insert(name);
      const auto other = kMethods.find(name);
      if (covered(name) || functions.contains(name)) continue;
      if (other == kMethods.end() || !covered(other->second)) complaints.push_back(name + " has no row");
    }
  }
  CHECK(names.size() > 300);
  for (const auto& [name, op] : kMethods)
    if (!names.contains(name)) complaints.push_back(name + " is excused for nothing");
  require_none(complaints);
}

TEST_CASE("every function of nn is an op with a row") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> names;
  for (const Declaration& d : declared_in("nn/functional/")) {
    names.insert(d.name);
    const auto op = kOptionForms.find(d.name);
    if (covered(d.name) || (op != kOptionForms.end() && covered(op->second))) continue;
    complaints.push_back(d.where + ": " + d.name + " has no row in tests/optable");
  }
  CHECK(names.size() > 70);
  for (const auto& [name, op] : kOptionForms)
    if (!names.contains(name)) complaints.push_back(name + " is excused for nothing");
  require_none(complaints);
}

TEST_CASE("every row is about a public op, and is proved or says why not") {
  std::set<std::string> names, families;
  for (const Declaration& d : declared_in("ops/")) names.insert(d.name);
  for (const Declaration& d : declared_in("nn/functional/")) names.insert(d.name);
  std::vector<std::string> complaints;
  std::map<std::string, int> errors;
  for (const Row* row : optable::rows()) {
    if (!names.contains(base_of(row->name))) complaints.push_back(row->name + " is no public op");
    if (!row->reference_function && row->reference_reason.empty())
      complaints.push_back(row->name + " has neither a reference nor a reason");
    if (row->derivative_order < 2 && row->reason.empty())
      complaints.push_back(row->name + " does not say why its derivatives end");
    errors[row->family] += static_cast<int>(row->error_cases.size());
    for (const optable::ErrorCase& e : row->error_cases)
      if (e.message.empty()) complaints.push_back(row->name + " has an error case that any message fits");
  }
  for (const auto& [family, count] : errors)
    if (count == 0) complaints.push_back("the family " + family + " has no error case");
  require_none(complaints);
}
