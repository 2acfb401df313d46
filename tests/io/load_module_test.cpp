// Loading modules: partial, in place, without initialization, and to a device.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

// Loading modules: partial, in place, and without initialization.

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

using Names = std::vector<std::string>;

nn::Sequential three_layers(std::int64_t width) {
  return nn::Sequential(nn::Linear(width, width), nn::Linear(width, width), nn::Linear(width, width));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Bytes of memory in use, as counted by the kernel: "VmRSS", "VmHWM".
std::size_t in_use(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::stoull(line.substr(what.size() + 1)) * 1024;
  return 0;
}
#endif

}  // namespace

TEST_CASE("load with strict=false loads the matching names and returns the other names") {
  nn::Sequential net(nn::Linear(2, 3), nn::Linear(3, 2)),
      longer(nn::Linear(2, 3), nn::Linear(3, 2), nn::Linear(2, 1));
  const std::string path = temporary("part.safetensors");
  save(net, path);
  CHECK_THROWS_WITH(load(longer, path),
                    Contains("\"2.weight\"") && Contains("strict=false") && Contains(path));
  CHECK_FALSE(equal(longer->named_parameters()["0.weight"], net->named_parameters()["0.weight"]));
  nn::IncompatibleKeys keys = load(longer, path, /*strict=*/false);
  CHECK(keys.missing_keys == Names{"2.weight", "2.bias"});
  CHECK(keys.unexpected_keys.empty());
  CHECK(equal(longer->named_parameters()["0.weight"], net->named_parameters()["0.weight"]));

  std::stringstream stream;
  save(longer, stream);
  keys = load(net, stream, /*strict=*/false);
  CHECK(keys.unexpected_keys == Names{"2.weight", "2.bias"});
  nn::Linear alone(2, 3);
  keys = load(*alone, path, false);
  CHECK(keys.missing_keys == Names{"weight", "bias"});
  std::shared_ptr<nn::SequentialImpl> pointer = net.ptr();
  CHECK(load(pointer, path).missing_keys.empty());

  // The shape differs: strict=false does not help, and the error does not suggest it.
  nn::Sequential wider(nn::Linear(2, 5), nn::Linear(5, 2));
  for (const bool strict : {true, false})
    CHECK_THROWS_WITH(load(wider, path, strict), Contains("[3, 2]") && Contains("[5, 2]") &&
                                                     Contains("shapes differ") &&
                                                     !Contains("or pass strict=false"));
}

TEST_CASE("load converts to the dtype of the module's tensors, or replaces the tensors with assign") {
  nn::Linear net(3, 2), other(3, 2);
  net->to(kDouble);
  const std::string path = temporary("double.safetensors");
  save(net, path);
  const void* address = other->weight.data_ptr();
  load(other, path);
  CHECK(other->weight.dtype() == kFloat);
  CHECK(other->weight.data_ptr() == address);
  CHECK(allclose(other->weight.to(kDouble), net->weight, 1e-6));

  other->weight.sum().backward();
  optim::SGD optimizer(other->parameters(), optim::SGDOptions(0.1));
  load(other, path, /*strict=*/true, /*assign=*/true);
  CHECK(other->weight.dtype() == kDouble);
  CHECK(equal(other->weight, net->weight));
  CHECK(other->weight.requires_grad());
  CHECK(other->weight.is_leaf());
  CHECK_FALSE(other->weight.grad().defined());
  other->weight.sum().backward();
  optimizer.step();
  CHECK(allclose(other->weight, net->weight - 0.1));
}

TEST_CASE("a file with invalid booleans does not change the module") {
  nn::Module net("Net");
  net.register_parameter("a", zeros({1}));
  net.register_buffer("mask", zeros({2}, kBool));
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]}})";
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  std::stringstream stream(bytes + header + std::string("\0\0\x80\x3f", 4) + "\1\2");
  CHECK_THROWS_WITH(load(net, stream), Contains("\"mask\"") && Contains("other than 0 and 1"));
  CHECK(net.named_parameters()["a"].item<float>() == 0);
  CHECK_FALSE(net.named_buffers()["mask"][0].item<bool>());
}

TEST_CASE("loading a module holds its weights in memory only once") {
  constexpr std::int64_t kWidth = 1536;
  constexpr std::size_t kLayer = kWidth * kWidth * sizeof(float), kAll = 3 * kLayer;
  const std::string path = temporary("large.safetensors");
  save(three_layers(kWidth), path);
  empty_cache();
  auto net = [&] {
    const nn::utils::SkipInitGuard guard;
    return three_layers(kWidth);
  }();
  reset_peak();
  const std::size_t before = memory_stats().current;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::size_t resident = in_use("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
  load(net, path);
  CHECK(in_use("VmHWM") < resident + kAll + kLayer / 2);
#else
  load(net, path);
#endif
  CHECK(memory_stats().peak < before + kLayer / 2);
  CHECK(memory_stats().current < before + kAll / 2);
  // Conversion to another dtype, one tensor at a time.
  net->to(kDouble);
  reset_peak();
  const std::size_t doubled = memory_stats().current;
  load(net, path);
  CHECK(memory_stats().peak < doubled + 2 * kLayer);
  reset_peak();
  load(net, path, true, /*assign=*/true);
  CHECK(memory_stats().peak < doubled + 2 * kLayer);
  std::filesystem::remove(path);
}

TEST_CASE("nested SkipInitGuards skip initialization until the outer guard ends") {
  const auto draws = [] {
    manual_seed(3);
    const nn::Linear made(3, 4);
    const Tensor after = randn({1});
    manual_seed(3);
    return !equal(after, randn({1}));
  };
  CHECK(draws());
  {
    const nn::utils::SkipInitGuard outer;
    CHECK_FALSE(draws());
    {
      const nn::utils::SkipInitGuard inner;
    }
    CHECK_FALSE(draws());
    nn::utils::skip_init<nn::Linear>(3, 4);
    const nn::LazyLinear lazy(4);
    CHECK_FALSE(draws());
  }
  CHECK(draws());
}

TEST_CASE("skip_init builds modules without drawing random numbers") {
  manual_seed(5);
  const float expected = rand({1}).item<float>();
  manual_seed(5);
  auto linear = nn::utils::skip_init<nn::Linear>(3, 4);
  static_assert(std::is_same_v<decltype(linear), nn::Linear>);
  auto conv = nn::utils::skip_init<nn::Conv2dImpl>(nn::Conv2dOptions(1, 2, 3));
  static_assert(std::is_same_v<decltype(conv), std::shared_ptr<nn::Conv2dImpl>>);
  nn::BatchNorm1d norm{nullptr};
  Variable filled = zeros({4, 4});
  {
    const nn::utils::SkipInitGuard guard;
    norm = nn::BatchNorm1d(2);
    nn::Embedding embedding(4, 2);
    for (const Variable& x :
         {nn::init::ones_(filled), nn::init::uniform_(filled), nn::init::normal_(filled),
          nn::init::eye_(filled), nn::init::orthogonal_(filled), nn::init::sparse_(filled, 0.5),
          nn::init::trunc_normal_(filled), nn::init::dirac_(filled.view({4, 4, 1})),
          nn::init::xavier_uniform_(filled), nn::init::kaiming_normal_(filled)})
      CHECK(x.defined());
  }
  CHECK(filled.abs().sum().item<float>() == 0);
  CHECK(rand({1}).item<float>() == expected);
  CHECK(linear->weight.requires_grad());
  CHECK(norm->running_var[1].item<float>() == 1);
  CHECK(norm->num_batches_tracked.item<int>() == 0);
  linear->reset_parameters();  // no guard is alive
  CHECK(linear->weight.abs().max().item<float>() <= 1 / std::sqrt(3.0F));
  std::stringstream stream;
  nn::Linear trained(3, 4);
  save(trained, stream);
  load(linear, stream);
  CHECK(equal(linear->weight, trained->weight));
}

// load() with a target device.

namespace {

// Without a CUDA device the CPU is the only one, and asking for CUDA is an error.
std::vector<Device> devices() {
  if (cuda::is_available()) return {Device(kCPU), Device(kCUDA, 0)};
  return {Device(kCPU)};
}

template <class T>
std::string bytes_of(const T& value) {
  std::ostringstream bytes;
  save(value, bytes);
  return bytes.str();
}

}  // namespace

TEST_CASE("load puts tensors, lists of tensors and modules on the given device") {
  const Tensor x = arange(4, kFloat);
  for (const Device device : devices()) {
    INFO(device.str());
    Tensor loaded;
    std::istringstream one(bytes_of(x));
    load(loaded, one, device);
    CHECK(loaded.device() == device);
    CHECK(loaded.cpu().equal(x));

    std::vector<Tensor> list;
    std::istringstream many(bytes_of(std::vector<Tensor>{x, x + 1}));
    load(list, many, device);
    REQUIRE(list.size() == 2);
    CHECK(list[1].device() == device);
    CHECK(list[1].cpu().equal(x + 1));

    nn::Linear from(2, 3), to(2, 3);
    const std::string module = bytes_of(from);
    std::istringstream first(module), second(module), third(module);
    load(to, first, device);
    CHECK(to->weight.device() == device);
    CHECK(to->weight.cpu().equal(from->weight));
    load(*to, second, device.str().c_str());
    CHECK(to->weight.device() == device);
    std::shared_ptr<nn::LinearImpl> pointer = nn::Linear(2, 3).ptr();
    load(pointer, third, device);
    CHECK(pointer->weight.cpu().equal(from->weight));
  }
}

TEST_CASE("an archive that was loaded to a device returns all tensors on that device") {
  serialize::OutputArchive out, inner;
  inner.write("y", ones({2}));
  out.write("x", arange(3));
  out.write("inner", inner);
  std::stringstream bytes;
  out.save_to(bytes);
  for (const Device device : devices()) {
    std::istringstream stream(bytes.str());
    serialize::InputArchive in, nested;
    in.load_from(stream, device);
    Tensor x, y = zeros({2});
    in.read("x", x);
    CHECK(x.device() == device);
    in.read("inner", nested);
    nested.read("y", y);
    CHECK(y.device() == device);
    CHECK(y.cpu().equal(ones({2})));
  }
}

TEST_CASE("loading to a device that does not exist is an error that names the device") {
  if (cuda::is_available()) return;
  Tensor x;
  std::istringstream stream(bytes_of(ones({2})));
  CHECK_THROWS_WITH(load(x, stream, Device(kCUDA)), support::Contains("Device::CUDA: "));
  CHECK_FALSE(x.defined());
}
