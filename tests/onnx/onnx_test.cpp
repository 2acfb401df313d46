// ONNX backend node tests: references by NumPy, compared with the corresponding ops of ebb. Debian's
// libonnx-testdata contains the data; without it the test reports that it is skipped.
#include "onnx/cases.h"
#include "support/catch.h"

#include <set>

using namespace onnx;

namespace {

// The memory layout of the inputs; the values are equal.
struct Layout {
  const char* name;
  Tensor (*apply)(const Tensor&);
};
const Layout kLayouts[] = {
    {"contiguous", [](const Tensor& x) { return x; }},
    {"in column-major order", [](const Tensor& x) { return x.numpy_T().contiguous().numpy_T(); }},
    {"every second element",
     [](const Tensor& x) {
       return x.dim() == 0
                  ? x
                  : ebb::repeat_interleave(x, 2, x.dim() - 1).slice(-1, ebb::nullopt, ebb::nullopt, 2);
     }},
};

// Returns an empty string if ebb's outputs are the expected ones.
std::string run(const std::string& folder, const std::string& name) {
  try {
    const Case test = load_case(folder, name);
    for (const Layout& layout : kLayouts) {
      Tensors inputs;
      for (const Tensor& x : test.inputs) inputs.push_back(layout.apply(x));
      const std::string trouble = difference(evaluate(test.model, inputs), test);
      if (!trouble.empty()) return "inputs " + std::string(layout.name) + ": " + trouble;
    }
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("ONNX node tests pass or are listed as skipped with a reason") {
  const std::string folder = data_folder();
  if (folder.empty()) {
    WARN("skipped: libonnx-testdata is not installed");
    return;
  }
  std::set<const Skip*> used;
  int passed = 0, skipped = 0;
  const std::vector<std::string> names = case_names(folder);
  for (const std::string& name : names) {
    if (const Skip* skip = skip_for(name, load_model(folder, name))) {
      used.insert(skip);
      ++skipped;
      continue;
    }
    const std::string trouble = run(folder, name);
    INFO(name << ": " << trouble);
    CHECK(trouble.empty());
    passed += trouble.empty();
  }
  WARN(passed << " of " << names.size() << " cases pass; " << skipped << " are listed as skipped, with "
              << skipped_ops().size() + skipped_cases().size() << " reasons");
  for (const std::vector<Skip>* table : {&skipped_ops(), &skipped_cases()})
    for (const Skip& skip : *table) {
      INFO("no case is skipped for " << skip.what << ": " << skip.reason);
      CHECK(used.count(&skip) == 1);
    }
}
