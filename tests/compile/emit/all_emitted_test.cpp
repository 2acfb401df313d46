// Emitted sources of more functions, which are compiled with EBB_TEST_ALL_EMITTED.
#include "comparison.h"
#include "emitted_adds.h"
#include "emitted_cnn.h"
#include "emitted_curvature.h"
#include "emitted_gradients.h"
#include "emitted_mlp.h"
#include "emitted_shared.h"
#include "emitted_transformer.h"

using namespace ebb;
using namespace emitted_tests;
using support::Contains;

TEST_CASE("an emitted perceptron gives the bits of the eager one") {
  require_same(functions::Mlp(), EmittedMlp(weights("mlp")));
}

TEST_CASE("an emitted convolutional network gives the bits of the eager one") {
  require_same(functions::Cnn(), EmittedCnn(weights("cnn")));
}

TEST_CASE("an emitted transformer layer gives the bits of the eager one") {
  require_same(functions::Transformer(), EmittedTransformer(weights("transformer")));
}

TEST_CASE("an emitted function gives the bits of eager second derivatives") {
  require_same(functions::Curvature(), EmittedCurvature(weights("curvature")));
}

TEST_CASE("an emitted loss and its gradients have the bits of the eager ones") {
  require_same(functions::Gradients(), EmittedGradients(weights("gradients")));
}

TEST_CASE("an emitted function requires arguments that share memory as in the recording") {
  EmittedShared shared;
  manual_seed(100);
  for (int round = 0; round < 3; ++round) {
    const Tensor all = randn({16}), twin = all.clone();
    const std::int64_t a = 6 + round, b = 8 + round;
    const auto [expected, element] = functions::Shared()(all.slice(0, a, a + 4), all.slice(0, b, b + 4));
    const auto [found, there] = shared(twin.slice(0, a, a + 4), twin.slice(0, b, b + 4));
    CHECK(same_bits(found, expected));
    CHECK(same_bits(there, element));
    CHECK(there.is_alias_of(twin));
    CHECK(twin.equal(all));
  }
  const Tensor all = randn({12});
  CHECK_THROWS_WITH(shared(all.slice(0, 3, 7), all.slice(0, 6, 10)),
                    Contains("arguments 1 and 2 lay on the same"));
  CHECK_THROWS_WITH(shared(randn({4}), randn({4})), Contains("arguments 1 and 2 lay on the same"));

  EmittedAdds adds;
  const Tensor a = randn({3}), b = randn({3}), sum = a + b;
  adds(a, b);
  CHECK(a.equal(sum));
  CHECK_THROWS_WITH(adds(a, a), Contains("arguments 1 and 2 share memory") && Contains("clone()"));
  CHECK(a.equal(sum));
}
