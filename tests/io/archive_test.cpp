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
