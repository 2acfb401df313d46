// The memory that ops take besides their inputs and results, and what happens where the system refuses it.
#include "check.h"

#include <cstdio>
#include <functional>
#include <string_view>

#include "support/child.h"

using namespace op_tests;
using namespace ebb;

namespace {

using Unary = std::function<Variable(const Variable&)>;
struct Case {
  const char* name;
  Unary run;
};

constexpr std::int64_t kRows = 1024, kTable = kRows * kRows;
constexpr std::size_t kSlack = 1536 << 10;  // of sizes that blocks come in, and of masks' places

// How many bytes `run` takes at most beyond what there was.
std::size_t peak_of(const std::function<void()>& run) {
  const std::size_t before = memory_stats().current;
  reset_peak();
  run();
  return memory_stats().peak - before;
}

Variable few() { return longs({3, 1, 3}); }
constexpr auto kFirst = [](auto&& values) { return std::get<0>(values); };

const Case kPicks[] = {
    {"index_select", [](auto& x) { return x.index_select(0, few()); }},
    {"index", [](auto& x) { return x.index({few()}); }},
    {"gather", [](auto& x) { return x.gather(0, few().unsqueeze(1)); }},
    {"take", [](auto& x) { return x.take(few()); }},
    {"masked_select", [](auto& x) { return x.masked_select(x.detach() > 0.9); }},
    {"max", [](auto& x) { return kFirst(x.max(1)); }},
    {"min", [](auto& x) { return kFirst(x.min(0)); }},
    {"median", [](auto& x) { return kFirst(x.median(1)); }},
    {"kthvalue", [](auto& x) { return kFirst(x.kthvalue(3, 1)); }},
    {"mode", [](auto& x) { return kFirst(x.mode(1)); }},
    {"topk", [](auto& x) { return kFirst(x.topk(3, 1)); }},
    {"sort", [](auto& x) { return kFirst(x.sort(1)); }},
    {"cummax", [](auto& x) { return kFirst(x.cummax(1)); }},
};

const Case kInDouble[] = {
    {"sum", [](auto& x) { return x.sum(kDouble); }},
    {"sum of rows", [](auto& x) { return x.sum({1}, false, kDouble); }},
    {"mean", [](auto& x) { return x.mean({0}, false, kDouble); }},
    {"nansum", [](auto& x) { return nansum(x, {}, false, kDouble); }},
    {"prod", [](auto& x) { return x.prod(1, false, kDouble); }},
    {"cumsum", [](auto& x) { return x.cumsum(1, kDouble); }},
    {"cumprod", [](auto& x) { return x.cumprod(0, kDouble); }},
    {"softmax", [](auto& x) { return x.softmax(1, kDouble); }},
    {"log_softmax", [](auto& x) { return x.log_softmax(0, kDouble); }},
};

// Runs an op in a child that has 64 MiB left: whether it throws an Error that names it.
bool names_itself(const Case& op, const Variable& x) {
  return support::status_of_child([&] {
           set_num_threads(1);  // a thread's stack would count
           if (!support::limit_memory(64 << 20)) return false;
           try {
             op.run(x);
           } catch (const Error& error) {
             const std::string_view said = error.what();
             if (said.starts_with(std::string(op.name) + ": out of memory: the system refused ")) return true;
             std::fprintf(stderr, "%s\n", error.what());
           }
           return false;
         }) == 0;
}

constexpr std::int64_t kMany = std::int64_t{1} << 23;
const Case kBuffers[] = {
    {"matmul",
     [](auto& x) {
       return mv(x.view({1, kMany}).expand({40, kMany}), x);
     }},
    {"select_element", [](auto& x) { return kFirst(x.kthvalue(3)); }},
    {"select_element", [](auto& x) { return kFirst(x.median(0)); }},
    {"topk", [](auto& x) { return kFirst(x.topk(3)); }},
    {"cdist",
     [](auto& x) {
       return cdist(x.view({1, kMany}), x.view({1, kMany}), 1);
     }},
    {"softmax", [](auto& x) { return softmax(x.to(kHalf), 0); }},
};

}  // namespace

TEST_CASE("the gradient of what picks elements takes the memory of the table once") {
  for (const Case& pick : kPicks) {
    INFO(pick.name);
    const Variable x = rand({kRows, kRows}, requires_grad());
    const Variable y = pick.run(x), grad = ones_like(y);
    CHECK(peak_of([&] { y.backward(grad); }) <= kTable * sizeof(float) + kSlack);
    CHECK(x.grad().sum().item<double>() == static_cast<double>(y.numel()));
  }
}

TEST_CASE("a result in another dtype takes no copy of the input") {
  for (const Case& op : kInDouble)
    for (const DType dtype : {kFloat, kBFloat16, kInt}) {
      INFO(op.name << " of " << dtype);
      const Variable x = ones({kRows, kRows}, dtype);
      Variable y;
      const std::size_t peak = peak_of([&] { y = op.run(x); });
      CHECK(peak <= static_cast<std::size_t>(y.numel()) * sizeof(double) + kSlack);
      CHECK(equal(y, op.run(x.to(kDouble))));
    }
  const Variable x = ones({kRows, kRows}, kBFloat16);
  CHECK(peak_of([&] { CHECK(norm(x).item<float>() == kRows); }) <= kSlack);
}

TEST_CASE("an op that the system refuses memory to compute with says so by its name") {
  if (!support::kChildrenRun) return;
  const Variable x = rand({kMany});
  empty_cache();
  for (const Case& op : kBuffers) {
    INFO(op.name);
    CHECK(names_itself(op, x));
  }
}
