// save and load through memory and user functions, for all types that archives support.
#include "support/catch.h"

#include <torch/torch.h>

#include <cstring>

namespace {

namespace samplers = torch::data::samplers;

// A file in memory that is written and read in small pieces.
struct Memory {
  std::string bytes;
  size_t reads = 0;

  auto writer() {
    return [this](const void* data, size_t size) {
      bytes.append(static_cast<const char*>(data), size);
      return size;
    };
  }
  auto reader() {
    return [this](uint64_t position, void* to, size_t size) -> size_t {
      ++reads;
      const size_t n = std::min<size_t>({size, bytes.size() - position, 64});
      std::memcpy(to, bytes.data() + position, n);
      return n;
    };
  }
  auto size() {
    return [this] { return bytes.size(); };
  }
};

}  // namespace

TEST_CASE("data saved with a write function is loaded with a read function or from memory") {
  Memory memory;
  const torch::Tensor x = torch::randn({4, 5});
  torch::save(x, memory.writer());
  torch::Tensor y, z;
  torch::load(y, memory.bytes.data(), memory.bytes.size());
  torch::load(z, memory.reader(), memory.size());
  CHECK(torch::equal(x, y));
  CHECK(torch::equal(x, z));
  CHECK(memory.reads > 2);
}

TEST_CASE("save and load with functions work for modules and optimizers and lists") {
  Memory net, state, list;
  torch::nn::Linear from(2, 3), to(2, 3);
  torch::optim::SGD a(from->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)),
      b(to->parameters(), 0.5);
  torch::save(from, net.writer());
  torch::save(a, state.writer());
  torch::save(std::vector<torch::Tensor>{torch::ones(1), torch::zeros(2)}, list.writer());
  torch::load(to, net.reader(), net.size());
  torch::load(b, state.bytes.data(), state.bytes.size());
  std::vector<torch::Tensor> tensors;
  torch::load(tensors, list.reader(), list.size());
  CHECK(torch::equal(from->weight, to->weight));
  CHECK(b.param_groups()[0].options().get_lr() == 0.1);
  CHECK(tensors.size() == 2);
  torch::serialize::InputArchive archive;
  archive.load_from(net.bytes.data(), net.bytes.size());
  CHECK(archive.keys() == std::vector<std::string>{"weight", "bias"});
}

TEST_CASE("a read or write function that fails is an error") {
  const torch::Tensor x = torch::ones(3);
  CHECK_THROWS_WITH(torch::save(x, [](const void*, size_t size) { return size - 1; }),
                    support::Contains("the function that writes took"));
  CHECK_THROWS_WITH(torch::save(x, [](const void*, size_t) -> size_t { throw std::runtime_error("disk"); }),
                    "disk");
  Memory memory;
  torch::save(x, memory.writer());
  torch::Tensor y;
  CHECK_THROWS_WITH(torch::load(y, memory.reader(), [&] { return memory.bytes.size() + 1; }),
                    support::Contains("the function that reads gave 0 bytes at position"));
  CHECK_THROWS_WITH(torch::load(y, memory.bytes.data(), 5),
                    support::Contains("safetensors: the file is not sound: it has 5 bytes, fewer"));
  CHECK_FALSE(y.defined());
}

TEST_CASE("samplers are saved and loaded like modules") {
  samplers::SequentialSampler from(5), to(5);
  from.next(3);
  std::stringstream stream;
  torch::save(from, stream);
  torch::load(to, stream);
  CHECK(to.index() == 3);
  Memory memory;
  samplers::RandomSampler order(8), same(8);
  order.next(2);
  torch::save(order, memory.writer());
  torch::load(same, memory.reader(), memory.size());
  CHECK(order.next(6) == same.next(6));
}

TEST_CASE("an IValue round trip through an archive keeps type and value") {
  torch::serialize::OutputArchive out;
  out.write("count", c10::IValue(int64_t{3}));
  out.write("rate", c10::IValue(0.1));
  out.write("on", c10::IValue(true));
  out.write("name", c10::IValue("Adam"));
  out.write("sizes", c10::IValue(std::vector<int64_t>{1, 2}));
  out.write("rates", c10::IValue(std::vector<double>{0.5}));
  out.write("weight", c10::IValue(torch::ones({2, 2})));
  CHECK_THROWS_WITH(out.write("none", c10::IValue()), support::Contains("\"none\" is none"));
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  const auto read = [&](const char* key) {
    c10::IValue value;
    in.read(key, value);
    return value;
  };
  CHECK((read("count").isInt() && read("count").toInt() == 3));
  CHECK((read("rate").isDouble() && read("rate").toDouble() == 0.1));
  CHECK((read("on").isBool() && read("on").toBool()));
  CHECK((read("name").isString() && read("name").toStringRef() == "Adam"));
  CHECK((read("sizes").isIntList() && read("sizes").toIntVector() == std::vector<int64_t>{1, 2}));
  CHECK((read("rates").isDoubleList() && read("rates").toDoubleVector() == std::vector<double>{0.5}));
  CHECK((read("weight").isTensor() && read("weight").toTensor().sum().item<float>() == 4));
  c10::IValue value;
  CHECK_FALSE(in.try_read("missing", value));
  CHECK_THROWS_WITH(in.read("nam", value), support::Contains("\"name\""));
}
