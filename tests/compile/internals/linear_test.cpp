// The work of preparing a tape grows linearly with the number of calls.
#include "../twins.h"
#include "compile/fuse.h"

using namespace twins;

namespace {

/// Returns the number of comparisons that the preparation of the function's tape needs.
template <class F>
std::uint64_t comparisons(F&& body) {
  auto f = compile(body);
  const std::uint64_t before = detail::compile::comparisons;
  for (int i = 0; i < 3; ++i) f();
  REQUIRE(f.report().replays >= 1);
  return detail::compile::comparisons - before;
}

}  // namespace

TEST_CASE("the comparisons to prepare a tape grow linearly with the number of calls") {
  const std::pair<const char*, std::function<void(int)>> functions[] = {
      {"a chain of new tensors",
       [](int n) {
         Tensor x = ones({8});
         for (int i = 0; i < n; ++i) x = x * 1.5;
       }},
      {"one tensor that is written again and again",
       [](int n) {
         Tensor x = ones({8});
         for (int i = 0; i < n; ++i) x.add_(1);
       }},
      {"views of one tensor",
       [](int n) {
         const Tensor x = ones({n, 8});
         for (int i = 0; i < n; ++i) x[i].mul_(2);
       }},
      {"products, whose results live to the end",
       [](int n) {
         const Tensor a = ones({4, 4});
         std::vector<Tensor> all;
         for (int i = 0; i < n; ++i) all.push_back(a.matmul(a));
       }},
      {"random draws",
       [](int n) {
         const Tensor x = ones({8});
         for (int i = 0; i < n; ++i) dropout(x, 0.5, true);
       }},
  };
  for (const auto& [name, body] : functions) {
    INFO(name);
    const std::uint64_t few = comparisons([&] { body(3000); });
    const std::uint64_t many = comparisons([&] { body(30000); });
    CHECK(many <= 15 * few + 100000);
  }
}
