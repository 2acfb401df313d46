// Archives: whose the tensors are that are read from them, and in which order they come.
#include <ebb/ebb.h>

#include <sstream>

#include "support/catch.h"

using namespace ebb;

namespace {

serialize::InputArchive reread(const serialize::OutputArchive& out) {
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  return in;
}

}  // namespace

TEST_CASE("a tensor read from an archive may be written to, and the archive keeps its own") {
  serialize::OutputArchive out;
  out.write("x", tensor({1, 2}));
  serialize::InputArchive in = reread(out);
  Variable first, second, placed = zeros({2}, kLong);
  in.read("x", first);
  in.read("x", placed);
  first.fill_(7);
  placed.fill_(8);
  in.read("x", second);
  CHECK(second.equal(tensor({1, 2})));
  CHECK(first.equal(tensor({7, 7})));
}

TEST_CASE("tensors that begin at one address come back with their own sizes and elements") {
  const Tensor a = arange(9, kDouble).view({3, 3});
  const std::vector<std::pair<const char*, Tensor>> tensors = {{"a", a},
                                                               {"again", a.view({3, 3})},
                                                               {"transposed", a.t()},
                                                               {"row", a[0]},
                                                               {"column", a.select(1, 0)},
                                                               {"part", a.narrow(0, 0, 2)},
                                                               {"diagonal", a.diagonal()},
                                                               {"flat", a.view({9})},
                                                               {"expanded", a[0].expand({3, 3})},
                                                               {"behind", a[1]},
                                                               {"empty", a.narrow(0, 0, 0)}};
  std::stringstream file;
  serialize::OutputArchive out;
  for (const auto& [name, tensor] : tensors) out.write(name, tensor);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    Tensor read;
    in.read(name, read);
    CHECK(equal(read, tensor));
  }
}

TEST_CASE("an archive within another keeps the order of the file") {
  serialize::OutputArchive inner, out;
  for (const char* name : {"c", "a", "b"}) inner.write(name, tensor(1));
  out.write("inner", inner);
  serialize::InputArchive in = reread(out), nested;
  in.read("inner", nested);
  CHECK(nested.keys() == std::vector<std::string>{"c", "a", "b"});
}

TEST_CASE("a tensor that is loaded keeps its requires_grad") {
  for (const bool requires_grad : {false, true}) {
    std::stringstream bytes;
    save(tensor({1.0, 2.0}), bytes);
    Variable x = zeros({3}).requires_grad_(requires_grad);
    load(x, bytes);
    CHECK(equal(x, tensor({1.0, 2.0})));
    CHECK(x.requires_grad() == requires_grad);
  }
}

TEST_CASE("values of every kind come back from an archive as they were written") {
  using autograd::SavedValue;
  serialize::OutputArchive out;
  out.write("tensor", SavedValue(tensor({{1.5, 2.5}})));
  out.write("text", SavedValue(std::string("sixteen")));
  out.write("integers", SavedValue(std::vector<std::int64_t>{3, -4}));
  out.write("doubles", SavedValue(std::vector<double>{0.25, -8}));
  out.write("number", SavedValue(2.5));
  serialize::InputArchive in = reread(out);
  const auto read = [&](const char* key) {
    SavedValue value;
    REQUIRE(in.try_read(key, value));
    return value;
  };
  CHECK(equal(read("tensor").toTensor(), tensor({{1.5, 2.5}})));
  CHECK(read("text").toStringRef() == "sixteen");
  CHECK(read("integers").toIntVector() == std::vector<std::int64_t>{3, -4});
  CHECK(read("doubles").toDoubleVector() == std::vector<double>{0.25, -8});
  CHECK(read("number").toDouble() == 2.5);
}

TEST_CASE("a module that is loaded from an archive misses nothing and keeps its tensors") {
  nn::Linear from(2, 3), into(2, 3);
  const Tensor weight = into->weight;
  serialize::OutputArchive out;
  from->save(out);
  serialize::InputArchive in = reread(out);
  into->load(in);
  CHECK(equal(weight, from->weight));
  CHECK(into->weight.is_same(weight));
  serialize::OutputArchive part;
  part.write("weight", from->weight);
  serialize::InputArchive short_one = reread(part);
  CHECK_THROWS_WITH(into->load(short_one), support::Contains("bias"));
}
