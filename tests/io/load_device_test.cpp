// load() with the device that things are to come to.
#include <ebb/ebb.h>

#include <sstream>

#include "support/catch.h"

using namespace ebb;

namespace {

// On a machine without a CUDA device the CPU is the only one, and asking for the other is an error.
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

TEST_CASE("tensors, lists and modules are loaded to a device") {
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

TEST_CASE("an archive gives everything on the device it was loaded to") {
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

TEST_CASE("a device that is not there is an error that names it") {
  if (cuda::is_available()) return;
  Tensor x;
  std::istringstream stream(bytes_of(ones({2})));
  CHECK_THROWS_WITH(load(x, stream, Device(kCUDA)), support::Contains("Device::CUDA: "));
  CHECK_FALSE(x.defined());
}
