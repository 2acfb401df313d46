// Memory: storages of tensors, and the memory that ops need beyond inputs and results.
#include <ebb/core/maybe_owned.h>
#include <ebb/core/storage_handle.h>
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"
#include "support/child.h"

#include <cstdio>
#include <functional>
#include <limits>
#include <string_view>
#include <tuple>

// Storages: handles, set_, resize_, and memory of the caller.

using namespace ebb;
using support::Contains;

TEST_CASE("storage() is shared by a tensor and its views") {
  const Tensor x = arange(12, kFloat).view({3, 4});
  const Tensor row = x[1];
  CHECK(x.has_storage());
  CHECK_FALSE(Tensor().has_storage());
  CHECK(x.storage().nbytes() == 48);
  CHECK(row.storage().nbytes() == 48);
  CHECK(row.storage().is_alias_of(x.storage()));
  CHECK_FALSE(x.clone().storage().is_alias_of(x.storage()));
  CHECK(x.storage().data_ptr().get() == x.data_ptr());
  CHECK(row.storage().data() == x.data_ptr());
  CHECK(x.storage().device() == Device(kCPU));
  CHECK(x.storage().device_type() == kCPU);
  const Tensor alone = zeros({2});
  const StorageHandle kept = alone.storage();
  CHECK(kept.use_count() == 2);
  CHECK(x.is_set_to(x.view({3, 4})));
  CHECK_FALSE(x.is_set_to(x.t()));
  CHECK_FALSE(x.is_set_to(x.clone()));
}

TEST_CASE("set_ makes a tensor use another storage") {
  const Tensor source = arange(6, kFloat).view({2, 3});
  Tensor x = zeros({2});
  x.set_(source);
  CHECK(x.is_set_to(source));
  source[0][0] = 9;
  CHECK(x[0][0].item<float>() == 9);
  x.set_(source.storage());
  CHECK(x.sizes() == IntArrayRef({6}));
  x.set_(source.storage(), 1, {2, 2}, {1, 2});
  CHECK(x.equal(tensor({{1.f, 3.f}, {2.f, 4.f}})));
  x.set_(source.storage(), 2, {2, 2});
  CHECK(x.equal(tensor({{2.f, 3.f}, {4.f, 5.f}})));
  x.set_();
  CHECK(x.sizes() == IntArrayRef({0}));

  CHECK_THROWS_WITH(x.set_(source.storage(), 3, {2, 2}), Contains("take 28 bytes, but the storage has 24"));
  CHECK_THROWS_WITH(x.set_(source.storage(), -1, {1}), Contains("must not be negative"));
  CHECK_THROWS_WITH(x.set_(ones({2}, kLong)),
                    Contains("source is of dtype Long, but the tensor is of Float"));
  CHECK_THROWS_WITH(x.set_(StorageHandle()), Contains("null"));
  Tensor leaf = ones({2}).requires_grad_();
  CHECK_THROWS_WITH(leaf.set_(source), Contains("requires grad"));
  NoGradGuard no_grad;
  leaf.set_(source);
  CHECK(leaf.sizes() == source.sizes());
}

TEST_CASE("resize_ accepts a memory format") {
  Tensor x = zeros({2});
  x.resize_({1, 2, 3, 4}, MemoryFormat::ChannelsLast);
  CHECK(x.strides() == IntArrayRef({24, 1, 8, 2}));
  CHECK(x.suggest_memory_format() == MemoryFormat::ChannelsLast);
  x.resize_({2, 3});
  CHECK(x.strides() == IntArrayRef({3, 1}));
  CHECK(x.suggest_memory_format() == MemoryFormat::Contiguous);
  const Tensor like = zeros({1, 2, 3, 4}).contiguous(MemoryFormat::ChannelsLast);
  CHECK(zeros({24}).resize_as_(like, MemoryFormat::Preserve).strides() == like.strides());
  CHECK_THROWS_WITH(x.resize_({2, 3}, MemoryFormat::ChannelsLast), Contains("needs 4 dimensions"));
  CHECK_THROWS_WITH(x.resize_({2, 3}, MemoryFormat::Preserve), Contains("no memory format to preserve"));
}

TEST_CASE("from_blob accepts an offset, strides, a deleter and a device") {
  float values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(from_blob(values, {2, 2}, {1, 3}, 1).equal(tensor({{1.f, 4.f}, {2.f, 5.f}})));
  CHECK(from_blob(values, {2, 2}, {1, 3}, 1).storage_offset() == 1);
  int freed = 0;
  {
    const Tensor x = from_blob(
        values, {2}, {2}, 3,
        [&](void* data) {
          CHECK(data == values);
          ++freed;
        },
        kFloat, Device(kCPU));
    CHECK(x.equal(tensor({3.f, 5.f})));
    CHECK(freed == 0);
  }
  CHECK(freed == 1);
  {
    const Tensor x = from_blob(values, {2}, [&](void*) { ++freed; }, TensorOptions(kCUDA), Device(kCPU));
  }
  CHECK(freed == 2);
  CHECK_THROWS_WITH(from_blob(values, {2}, {1}, -1), Contains("must not be negative"));
}

TEST_CASE("packed accessors contain their sizes and strides") {
  const Tensor x = arange(6, kFloat).view({2, 3}).t();
  const auto narrow = x.packed_accessor32<float, 2>();
  static_assert(std::is_same_v<decltype(narrow.size(0)), std::int32_t>);
  CHECK(narrow[2][1] == 5);
  CHECK(narrow.size(0) == 3);
  CHECK(narrow.stride(0) == 1);
  const auto restricted = x.packed_accessor64<float, 2, RestrictPtrTraits>();
  CHECK(restricted[1][0] == 1);
  restricted[1][0] = 7;
  CHECK(x.accessor<float, 2>()[1][0] == 7);
  const auto generic = x.generic_packed_accessor<float, 2, DefaultPtrTraits, std::int32_t>();
  CHECK(generic.data() == x.data_ptr<float>());
  CHECK(x[0].packed_accessor<float, 1>().size(0) == 2);
  CHECK(x.data<float>() == x.data_ptr<float>());
  CHECK_THROWS_WITH((x.packed_accessor32<double, 2>()),
                    Contains("expected scalar type Double but found Float"));
  CHECK_THROWS_WITH((x.packed_accessor32<float, 3>()), Contains("expected 2 dims"));
  const Tensor wide = zeros({1}, kByte).expand({std::int64_t{1} << 31});
  CHECK_THROWS_WITH((wide.packed_accessor32<std::uint8_t, 1>()), Contains("Use packed_accessor64"));
  CHECK(wide.packed_accessor64<std::uint8_t, 1>().size(0) == std::int64_t{1} << 31);
}

TEST_CASE("expect_contiguous copies only tensors that are not contiguous") {
  const Tensor x = arange(6, kFloat).view({2, 3});
  const auto borrowed = x.expect_contiguous();
  CHECK_FALSE(borrowed.is_owned());
  CHECK(borrowed->data_ptr() == x.data_ptr());
  const Tensor turned = x.t();
  const auto owned = turned.expect_contiguous();
  CHECK(owned.is_owned());
  CHECK(owned->is_contiguous());
  CHECK((*owned).equal(turned));
}

TEST_CASE("empty_permuted orders the dimensions in memory as given") {
  // torch 2.15: torch.empty_permuted((2, 3, 5), (1, 2, 0)).stride()
  CHECK(empty_permuted({2, 3, 5}, {1, 2, 0}).strides() == IntArrayRef({1, 10, 2}));
  CHECK_THROWS_WITH(empty_permuted({2, 3}, {0}), Contains("differ in length"));
}

TEST_CASE("as_strided, set_ and from_blob throw for geometry beyond the memory, even for huge strides") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Tensor x = arange(6, kFloat), empty = zeros({0});
  const std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>, std::int64_t> geometries[] = {
      {{1}, {1}, most},
      {{3}, {most / 2 + 1}, 2},
      {{3}, {most / 2}, 0},
      {{2, 2}, {most, most}, 0},
      {{2}, {most / 4 + 1}, 0},
      {{1}, {1}, most / 4 + 1},
      {{5}, {std::int64_t{1} << 62}, 0},
      {{7}, {1}, 0}};
  for (const auto& [sizes, strides, offset] : geometries) {
    INFO("sizes " << IntArrayRef(sizes) << ", strides " << IntArrayRef(strides) << ", offset " << offset);
    CHECK_THROWS_AS(x.as_strided(sizes, strides, offset), Error);
    CHECK_THROWS_AS(x.as_strided_(sizes, strides, offset), Error);
    CHECK_THROWS_AS(as_strided_scatter(x, ones(sizes), sizes, strides, offset), Error);
    CHECK_THROWS_AS(empty.set_(x.storage(), offset, sizes, strides), Error);
    CHECK(x.equal(arange(6, kFloat)));
  }
  CHECK_THROWS_WITH(from_blob(x.data_ptr(), {3}, {most / 2 + 1}, kFloat),
                    Contains("from_blob") && Contains("reach further than memory can address"));
  CHECK_THROWS_WITH(empty_strided({3}, {most / 2 + 1}), Contains("reach further than memory can address"));
  CHECK(x.as_strided({1, 2}, {most, 1}, 4).equal(tensor({{4.F, 5.F}})));
}

// The memory that ops need beyond inputs and results, and failed allocations.

using namespace op_tests;

namespace {

using Unary = std::function<Variable(const Variable&)>;
struct Case {
  const char* name;
  Unary run;
};

constexpr std::int64_t kRows = 1024, kTable = kRows * kRows;
constexpr std::size_t kSlack = 1536 << 10;  // rounding of block sizes, and indices of masks

// Returns the peak of memory during `run` above the memory before.
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

// Runs an op in a child process with 64 MiB of memory left; returns whether it throws an Error with its name.
bool names_itself(const Case& op, const Variable& x) {
  return support::status_of_child([&] {
           set_num_threads(1);  // because the stack of a thread would count
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
    {"matmul", [](auto& x) { return mv(x.view({1, kMany}).expand({40, kMany}), x); }},
    {"select_element", [](auto& x) { return kFirst(x.kthvalue(3)); }},
    {"select_element", [](auto& x) { return kFirst(x.median(0)); }},
    {"topk", [](auto& x) { return kFirst(x.topk(3)); }},
    {"cdist", [](auto& x) { return cdist(x.view({1, kMany}), x.view({1, kMany}), 1); }},
    {"softmax", [](auto& x) { return softmax(x.to(kHalf), 0); }},
};

}  // namespace

TEST_CASE("the backward pass of index ops allocates only the gradient of the input") {
  for (const Case& pick : kPicks) {
    INFO(pick.name);
    const Variable x = rand({kRows, kRows}, requires_grad());
    const Variable y = pick.run(x), grad = ones_like(y);
    CHECK(peak_of([&] { y.backward(grad); }) <= kTable * sizeof(float) + kSlack);
    CHECK(x.grad().sum().item<double>() == static_cast<double>(y.numel()));
  }
}

TEST_CASE("reductions with another dtype do not copy the input") {
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

TEST_CASE("an op that cannot allocate memory throws an error with its name") {
  if (!support::kChildrenRun) return;
  const Variable x = rand({kMany});
  empty_cache();
  for (const Case& op : kBuffers) {
    INFO(op.name);
    CHECK(names_itself(op, x));
  }
}
