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
