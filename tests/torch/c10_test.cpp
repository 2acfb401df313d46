// Utilities of c10: irange, str, variants, temporary files, scope exits.
#include "support/catch.h"

#include <c10/util/ArrayRef.h>
#include <c10/util/Optional.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/accumulate.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/irange.h>
#include <c10/util/overloaded.h>
#include <c10/util/tempfile.h>
#include <torch/torch.h>

#include <filesystem>

TEST_CASE("irange counts in the type of its end and is empty if the end is below the start") {
  std::vector<int64_t> whole;
  for (const auto i : c10::irange(int64_t{3})) {
    static_assert(std::is_same_v<decltype(i), const int64_t>);
    whole.push_back(i);
  }
  CHECK(whole == std::vector<int64_t>{0, 1, 2});
  std::vector<size_t> seen;
  for (auto i : c10::irange(2, size_t{5})) seen.push_back(i);
  CHECK(seen == std::vector<size_t>{2, 3, 4});
  for (auto i : c10::irange(-3)) FAIL("nothing lies between 0 and -3, not " << i);
  for (auto i : c10::irange(4, 2)) FAIL("nothing lies between 4 and 2, not " << i);
  for (auto i : c10::irange(3, 3)) FAIL("nothing lies between 3 and 3, not " << i);
}

TEST_CASE("c10::str and c10::Join concatenate all streamable values") {
  CHECK(c10::str() == "");
  CHECK(c10::str("as it is") == "as it is");
  CHECK(c10::str(1, ' ', 2.5, ' ', torch::kFloat, ' ', torch::Device("cuda:1")) == "1 2.5 Float cuda:1");
  CHECK(c10::Join(", ", std::vector<int>{1, 2, 3}) == "1, 2, 3");
  CHECK(c10::guts::to_string(7) == "7");
}

TEST_CASE("c10 views and optionals are aliases of the types of std or ebb") {
  static_assert(std::is_same_v<c10::optional<int>, std::optional<int>>);
  static_assert(std::is_same_v<c10::string_view, std::string_view>);
  static_assert(std::is_same_v<at::IntArrayRef, c10::ArrayRef<int64_t>>);
  const c10::optional<int> none = c10::nullopt;
  CHECK_FALSE(none.has_value());
  CHECK(c10::make_optional(3).value() == 3);
  CHECK(c10::multiply_integers(at::IntArrayRef{2, 3, 4}) == 24);
  CHECK(c10::sum_integers(std::vector<int64_t>{2, 3, 4}) == 9);
  ska::flat_hash_map<std::string, int> map{{"one", 1}};
  CHECK(map.at("one") == 1);
}

TEST_CASE("enum options of modules support the variant functions of c10") {
  torch::nn::MSELossOptions options(torch::kSum);
  CHECK(c10::get_if<torch::enumtype::kSum>(&options.reduction()));
  CHECK_FALSE(c10::get_if<torch::enumtype::kMean>(&options.reduction()));
  CHECK(c10::holds_alternative<torch::enumtype::kSum>(options.reduction()));
  CHECK_NOTHROW(c10::get<torch::enumtype::kSum>(options.reduction()));
  CHECK_THROWS_AS(c10::get<torch::enumtype::kNone>(options.reduction()), c10::bad_variant_access);
  const auto visitor =
      c10::overloaded([](torch::enumtype::kMean) { return 1; }, [](torch::enumtype::kSum) { return 2; },
                      [](torch::enumtype::kNone) { return 3; });
  CHECK(c10::visit(visitor, options.reduction()) == 2);
  CHECK(c10::visit(visitor, options.reduction(torch::kNone).reduction()) == 3);
  CHECK(c10::visit(visitor, options.reduction(torch::kMean).reduction()) == 1);
  c10::variant<torch::enumtype::kMean, torch::enumtype::kSame> tag = torch::kSame;
  CHECK(torch::enumtype::get_enum_name(tag) == "kSame");
  CHECK(c10::get_if<torch::enumtype::kMean>(&tag) == nullptr);
}

TEST_CASE("temporary files and folders are deleted with their handles") {
  std::string file_name, folder_name;
  {
    c10::TempFile file = c10::make_tempfile("ebb-torch-");
    c10::TempFile moved = std::move(file);
    file_name = moved.name;
    c10::TempDir folder = c10::make_tempdir();
    folder_name = folder.name;
    CHECK(std::filesystem::exists(file_name));
    CHECK(std::filesystem::is_directory(folder_name));
    torch::save(torch::ones(3), moved.name);
    torch::Tensor back;
    torch::load(back, moved.name);
    CHECK(back.sum().item<float>() == 3);
  }
  CHECK_FALSE(std::filesystem::exists(file_name));
  CHECK_FALSE(std::filesystem::exists(folder_name));
}

TEST_CASE("make_scope_exit runs its function at the end of the scope unless it is released") {
  int runs = 0;
  {
    auto exit = c10::make_scope_exit([&] { ++runs; });
    auto moved = std::move(exit);
    auto released = c10::make_scope_exit([&] { runs += 10; });
    released.release();
  }
  CHECK(runs == 1);
}

TEST_CASE("argument checks name the op and the argument") {
  const torch::Tensor x = torch::ones({2, 3});
  const at::TensorArg argument(x, "input", 1);
  CHECK_NOTHROW(at::checkDim("op", argument, 2));
  CHECK_NOTHROW(at::checkSize("op", argument, {2, 3}));
  CHECK_NOTHROW(at::checkScalarType("op", argument, at::kFloat));
  CHECK_THROWS_WITH(
      at::checkDim("op", argument, 3),
      "Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'input' (while "
      "checking arguments for op)");
  CHECK_THROWS_WITH(at::checkNumel("op", argument, 5),
                    support::Contains("Expected tensor for argument #1 'input' to have 5"));
  CHECK_THROWS_WITH(at::checkSameSize("op", argument, at::TensorArg(x[0], "other", 2)),
                    support::Contains("Expected tensor for argument #1 'input' to have same size"));
  CHECK_THROWS_WITH(at::checkDefined("op", at::TensorArg(torch::Tensor(), "other", 2)),
                    support::Contains("Expected tensor for argument #2 'other' to be defined"));
  CHECK_THROWS_WITH(at::checkContiguous("op", at::TensorArg(x.t(), "other", 2)),
                    support::Contains("Expected contiguous tensor for argument #2 'other' (while"));
}

TEST_CASE("c10 constants and at::divup and thread counts have the values of libtorch") {
  static_assert(c10::pi<double> > 3.14159 && c10::pi<double> < 3.1416);
  static_assert(std::is_same_v<c10::SymInt, int64_t>);
  CHECK(at::divup(7, 2) == 4);
  CHECK(at::get_num_threads() >= 1);
  CHECK(at::get_num_interop_threads() >= 1);
  RECORD_FUNCTION("range", std::vector<int>{});
  CHECK(at::detail::createCPUGenerator(3).current_seed() == 3);
}
