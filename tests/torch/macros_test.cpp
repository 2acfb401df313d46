// libtorch's macros for checks, warnings, options, modules and dtypes.
#include "support/catch.h"

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <torch/torch.h>

// libtorch's macros for checks, warnings, options and modules.

namespace {

// Returns the message of the exception that `call` throws, which must be an E.
template <class E, class F>
std::string message_of(F&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

struct Recorder : c10::WarningHandler {
  void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
  std::vector<std::string> messages;
};

// A warning handler as written for libtorch 1.13.
struct OldRecorder : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string& message, bool) override {
    messages.push_back(message);
  }
  std::vector<std::string> messages;
};

struct Options {
  TORCH_ARG(int64_t, size) = 3;
  TORCH_ARG(std::string, name);
};

class ScaleImpl : public torch::nn::Cloneable<ScaleImpl> {
 public:
  explicit ScaleImpl(double factor) : factor_(factor) { reset(); }
  void reset() override { weight = register_parameter("weight", torch::full({1}, factor_)); }
  torch::Tensor forward(const torch::Tensor& x) { return weight * x; }
  torch::Tensor weight;

 private:
  double factor_;
};
TORCH_MODULE(Scale);
TORCH_MODULE_IMPL(Scaling, ScaleImpl);

// A module whose forward has arguments that a Sequential does not pass.
struct AffineImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, double slope = 2, int64_t offset = 5) { return slope * x + offset; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(3.0)}, {2, torch::nn::AnyValue(int64_t{7})})
};
TORCH_MODULE(Affine);

}  // namespace

TEST_CASE("each TORCH_CHECK macro throws the error class in its name with the formatted message") {
  const torch::Tensor x = torch::ones({2, 3});
  CHECK_NOTHROW([&] { TORCH_CHECK(x.dim() == 2, "never"); }());
  CHECK(message_of<c10::Error>([&] {
          TORCH_CHECK(x.dim() == 3, "got ", x.sizes(), " of ", x.scalar_type(), " and ", 1.5f, '!');
        }) == "got [2, 3] of Float and 1.5!");
  CHECK(message_of<c10::Error>([&] { TORCH_CHECK(x.dim() == 3); }) ==
        "Expected x.dim() == 3 to be true, but got false.");
  CHECK(message_of<c10::IndexError>([] { TORCH_CHECK_INDEX(false, "index ", 4); }) == "index 4");
  CHECK(message_of<c10::ValueError>([] { TORCH_CHECK_VALUE(false, "value"); }) == "value");
  CHECK(message_of<c10::TypeError>([] { TORCH_CHECK_TYPE(false, "type"); }) == "type");
  CHECK(message_of<c10::LinAlgError>([] { TORCH_CHECK_LINALG(false, "singular"); }) == "singular");
  CHECK(message_of<c10::NotImplementedError>([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "later"); }) == "later");
  CHECK(message_of<std::exception>([] { AT_ERROR("an ", "error"); }) == "an error");
  CHECK(message_of<c10::Error>([] { AT_ASSERTM(1 == 2, "unequal"); }) == "unequal");
  CHECK(message_of<c10::Error>([] { CAFFE_ENFORCE_EQ(1, 2, "why"); }).find("1 and 2. why") !=
        std::string::npos);
}

TEST_CASE("a failed TORCH_INTERNAL_ASSERT names the condition and the file and line") {
  const std::string message = message_of<c10::Error>([] { TORCH_INTERNAL_ASSERT(1 > 2, "order"); });
  CHECK(message.find("1 > 2 INTERNAL ASSERT FAILED at ") == 0);
  CHECK(message.find("macros_test.cpp:") != std::string::npos);
  CHECK(message.find("order") != std::string::npos);
  CHECK_NOTHROW([] { TORCH_INTERNAL_ASSERT(true); }());
}

TEST_CASE("TORCH_CHECK is one statement and evaluates its message only on failure") {
  int evaluated = 0;
  const auto note = [&] { return ++evaluated; };
  if (evaluated == 0)
    TORCH_CHECK(true, note());
  else
    FAIL("the else belongs to the if before the check");
  CHECK(evaluated == 0);
}

TEST_CASE("TORCH_WARN calls the handler each time and TORCH_WARN_ONCE only once") {
  Recorder recorder;
  c10::WarningHandlerGuard guard(&recorder);
  for (int i = 0; i < 3; ++i) {
    TORCH_WARN("turn ", i);
    TORCH_WARN_ONCE("first turn ", i);
  }
  CHECK(recorder.messages == std::vector<std::string>{"turn 0", "first turn 0", "turn 1", "turn 2"});
}

TEST_CASE("a warning handler with the interface of libtorch 1.13 receives warnings") {
  OldRecorder recorder;
  c10::WarningHandler* const before = c10::Warning::get_warning_handler();
  c10::Warning::set_warning_handler(&recorder);
  TORCH_WARN("heard");
  c10::Warning::set_warning_handler(before);
  CHECK(recorder.messages == std::vector<std::string>{"heard"});
  CHECK(c10::get_warning_handler() == before);
  const c10::Warning::WarningHandlerGuard guard(&recorder);
  torch::warn("heard again");
  CHECK(recorder.messages.back() == "heard again");
  torch::nn::Module().register_parameter("bias", torch::Tensor());
  CHECK(recorder.messages.back().find("Ignoring the `requires_grad=true`") != std::string::npos);
  torch::nn::Module().register_parameter("bias", torch::Tensor(), /*requires_grad=*/false);
  CHECK(recorder.messages.size() == 3);
}

TEST_CASE("TORCH_ARG declares options and TORCH_MODULE declares module holders") {
  CHECK(Options().size() == 3);
  CHECK(Options().size(4).name("four").name() == "four");
  Scale scale(2.0);
  CHECK(scale(torch::ones(3)).sum().item<double>() == 6);
  static_assert(std::is_same_v<Scale::Impl, ScaleImpl>);
  Scaling empty{nullptr};
  CHECK(empty.is_empty());
  empty = Scaling(std::dynamic_pointer_cast<ScaleImpl>(scale->clone()));
  CHECK(empty->weight.item<float>() == 2);
  CHECK_FALSE(empty->weight.is_alias_of(scale->weight));
  torch::nn::Sequential chain(scale, torch::nn::ReLU(), Scale(0.5));
  CHECK(chain->forward(torch::ones(1)).item<float>() == 1);
}

TEST_CASE("FORWARD_HAS_DEFAULT_ARGS supplies the arguments that a Sequential omits") {
  torch::nn::Sequential chain(Affine(), Scale(1.0));
  CHECK(chain->forward(torch::ones(1)).item<float>() == 10);
  torch::nn::AnyModule any(Affine{});
  CHECK(any.forward(torch::ones(1), 4.0).item<float>() == 11);
  CHECK(any.forward(torch::ones(1), 4.0, int64_t{1}).item<float>() == 5);
}

TEST_CASE("TORCH_VERSION consists of the major, minor and patch numbers") {
  CHECK(std::string(TORCH_VERSION) ==
        c10::str(TORCH_VERSION_MAJOR, '.', TORCH_VERSION_MINOR, '.', TORCH_VERSION_PATCH));
}

// AT_DISPATCH_...: call a lambda with the C++ type of a dtype.

namespace {

int64_t bytes_of_floating(const at::Tensor& x) {
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "bytes_of_floating",
                                    [&] { return static_cast<int64_t>(sizeof(scalar_t)); });
}

double first(const at::Tensor& x) {
  return AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, x.scalar_type(), "first",
      [&]() -> double { return static_cast<double>(x.data_ptr<scalar_t>()[0]); });
}

}  // namespace

TEST_CASE("AT_DISPATCH calls its lambda with the scalar type of the tensor") {
  CHECK(bytes_of_floating(at::ones(1, at::kFloat)) == 4);
  CHECK(bytes_of_floating(at::ones(1, at::kDouble)) == 8);
  for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                    at::kFloat, at::kDouble, at::kBool, at::kBFloat16})
    CHECK(first(at::ones(2, type)) == 1);
}

TEST_CASE("AT_DISPATCH throws for a type that it does not list, and the error names the op and the type") {
  try {
    bytes_of_floating(at::ones(1, at::kLong));
    FAIL("a Long is no floating type");
  } catch (const c10::Error& error) {
    CHECK(std::string(error.what()) == "\"bytes_of_floating\" not implemented for 'Long'");
  }
}

TEST_CASE("each AT_DISPATCH macro accepts the types in its name") {
  const auto count = [](auto&& dispatch) {
    int types = 0;
    for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                      at::kFloat, at::kDouble, at::kBool, at::kBFloat16}) {
      try {
        dispatch(type);
        ++types;
      } catch (const c10::Error&) {
      }
    }
    return types;
  };
  const auto nothing = [] {};
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES(t, "t", nothing); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND_HALF(t, "t", nothing); }) == 3);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, t, "t", nothing); }) == 3);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, t, "t", nothing); }) ==
        4);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(t, "t", nothing); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_INTEGRAL_TYPES(t, "t", nothing); }) == 5);
  CHECK(count([&](auto t) { AT_DISPATCH_INTEGRAL_TYPES_AND(at::kBool, t, "t", nothing); }) == 6);
  CHECK(count([&](auto t) { AT_DISPATCH_INDEX_TYPES(t, "t", [] { static_cast<void>(index_t{}); }); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES(t, "t", nothing); }) == 7);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND(at::kBool, t, "t", nothing); }) == 8);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND2(at::kBool, at::kHalf, t, "t", nothing); }) == 9);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(at::kHalf, t, "t", nothing); }) == 8);
  CHECK(count([&](auto t) {
          AT_DISPATCH_SWITCH(t, "t",
                             AT_DISPATCH_CASE(at::kByte, nothing) AT_DISPATCH_CASE(at::kLong, nothing));
        }) == 2);
}

TEST_CASE("acc_type and opmath_type are the types of libtorch") {
  static_assert(std::is_same_v<at::acc_type<float, false>, double>);
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<at::Half, true>, float>);
  static_assert(std::is_same_v<at::acc_type<int8_t, true>, int64_t>);
  static_assert(std::is_same_v<at::opmath_type<at::BFloat16>, float>);
  static_assert(std::is_same_v<at::opmath_type<double>, double>);
  static_assert(c10::CppTypeToScalarType<int64_t>::value == at::kLong);
  static_assert(std::is_same_v<c10::impl::ScalarTypeToCPPTypeT<at::kShort>, int16_t>);
  SUCCEED();
}
