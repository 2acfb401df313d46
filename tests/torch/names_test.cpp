// Names of modules as libtorch prints them, and what it asks of types.
#include <torch/csrc/utils/variadic.h>
#include <torch/detail/static.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "support/catch.h"

namespace {

struct EncoderImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE(Encoder);

}  // namespace

namespace webb {
struct Page : torch::nn::Module {};
}  // namespace webb

namespace {

// Programs name types of TorchScript in places that they do not reach.
[[maybe_unused]] void describe(const torch::jit::script::Module&) {}

}  // namespace

namespace torch::nn {
template <class T>
struct BoxImpl : Module {};
}  // namespace torch::nn

TEST_CASE("names of modules begin with torch") {
  CHECK(torch::nn::LinearImpl(2, 3).name() == "torch::nn::LinearImpl");
  CHECK(c10::str(torch::nn::Linear(2, 3)) == "torch::nn::Linear(in_features=2, out_features=3, bias=true)");
  CHECK(c10::str(torch::nn::Conv2d(1, 2, 3)).find("torch::nn::Conv2d(1, 2, kernel_size=[3, 3]") == 0);
  CHECK(c10::str(torch::nn::Sequential(torch::nn::ReLU(), torch::nn::Functional(torch::relu))) ==
        "torch::nn::Sequential(\n  (0): torch::nn::ReLU()\n  (1): torch::nn::Functional()\n)");
  CHECK(c10::str(torch::nn::ModuleList()).find("torch::nn::ModuleList") == 0);
  CHECK(c10::str(torch::nn::ModuleDict()).find("torch::nn::ModuleDict") == 0);
  CHECK(c10::str(torch::nn::LazyLinear(3)).find("torch::nn::LazyLinear(") == 0);
  CHECK(c10::str(torch::nn::FractionalMaxPool2d(torch::nn::FractionalMaxPool2dOptions(5).output_size(1))) ==
        "torch::nn::FractionalMaxPool2d()");
  CHECK(torch::nn::BoxImpl<torch::nn::LinearImpl>().name() == "torch::nn::BoxImpl<torch::nn::LinearImpl>");
  CHECK_THROWS_WITH(torch::nn::BoxImpl<int>().clone(),
                    support::Contains("Subclass torch::nn::Cloneable<torch::"));
}

TEST_CASE("multi-head attention prints as its handle, and names of programs as they are") {
  CHECK(c10::str(torch::nn::MultiheadAttention(4, 2)) ==
        "torch::nn::MultiheadAttention(\n  (out_proj): torch::nn::Linear(in_features=4, out_features=4, "
        "bias=true)\n)");
  CHECK(EncoderImpl().name() == "(anonymous namespace)::EncoderImpl");
  CHECK(webb::Page().name() == "webb::Page");
}

TEST_CASE("values and modules of any type name types in errors") {
  torch::nn::AnyValue value(3);
  CHECK_THROWS_WITH(value.get<float>(), "Attempted to cast AnyValue to float, but its actual type is int");
  torch::nn::AnyModule none;
  CHECK_THROWS_WITH(none.get<torch::nn::LinearImpl>(), "Cannot call get() on an empty AnyModule");
  CHECK_THROWS_WITH(none.ptr<torch::nn::LinearImpl>(), "Cannot call ptr() on an empty AnyModule");
  CHECK_THROWS_WITH(none.type_info(), "Cannot call type_info() on an empty AnyModule");
  torch::OrderedDict<std::string, int> empty;
  CHECK_THROWS_WITH(empty.front(), "Called front() on an empty OrderedDict");
  CHECK_THROWS_WITH(empty.back(), "Called back() on an empty OrderedDict");
}

TEST_CASE("types answer what libtorch's templates ask") {
  static_assert(torch::all_of<>::value && torch::all_of<true, true>::value &&
                !torch::all_of<true, false>::value);
  static_assert(!torch::any_of<>::value && torch::any_of<false, true>::value && torch::none_of<false>::value);
  static_assert(torch::detail::is_module<EncoderImpl&>::value && !torch::detail::is_module<int>::value);
  static_assert(torch::detail::check_not_lvalue_references<int, std::string>());
  static_assert(!torch::detail::check_not_lvalue_references<int, std::string&>());
  static_assert(
      std::is_same_v<torch::detail::return_type_of_forward_t<EncoderImpl, torch::Tensor>, torch::Tensor>);
  static_assert(std::is_same_v<torch::detail::return_type_of_forward_t<EncoderImpl, int, int>, void>);
  std::vector<int> seen;
  torch::apply([&](int x) { seen.push_back(x); }, 1, 2, 3);
  CHECK(seen == std::vector<int>{1, 2, 3});
  CHECK_FALSE(at::hasMAGMA());
}
