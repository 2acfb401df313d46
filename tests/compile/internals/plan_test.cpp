// emitted::Plan checks the mark of its file of weights.
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "compile/emitted.h"
#include "support/catch.h"
#include "support/files.h"

using namespace ebb;

namespace {

struct OfOneWeight : emitted::Plan {
  explicit OfOneWeight(const std::string& path) : Plan("OfOneWeight", path, 7, 0, {}) { weight("w0", 8); }
  void run() override {}
  std::vector<Variable> results() override { return {}; }
};

}  // namespace

TEST_CASE(
    "an emitted plan accepts weights with its own mark or without a mark, and throws for another mark") {
  const std::string path = support::temporary("weights.safetensors");
  const safetensors::NamedTensors weights = {{"w0", ones({2})}};
  safetensors::write(path, weights, {{"emitted_as", "7"}});
  CHECK_NOTHROW(OfOneWeight(path));
  safetensors::write(path, weights);
  CHECK_NOTHROW(OfOneWeight(path));
  safetensors::write(path, weights, {{"emitted_as", "8"}});
  CHECK_THROWS_WITH(OfOneWeight(path), support::Contains("was emitted with another source"));
}
