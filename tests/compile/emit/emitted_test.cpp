// Emitted sources are bitwise equal to their functions, and check their arguments and weights. With
// EBB_TEST_ALL_EMITTED, the sources of all functions are compiled and compared.
#include "emitted_mixed.h"
#include "emitted_pair.h"
#include "emitted_recurrent.h"
#include "functions.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"
#ifdef EBB_TEST_ALL_EMITTED
#include "emitted_adds.h"
#include "emitted_cnn.h"
#include "emitted_curvature.h"
#include "emitted_gradients.h"
#include "emitted_mlp.h"
#include "emitted_shared.h"
#include "emitted_transformer.h"
#endif

#include <cstring>
#include <thread>
#include <tuple>
#include <utility>

using namespace ebb;
using support::Contains;

namespace {

/// Returns the path of the file of weights that was emitted with the function.
std::string weights(const std::string& name) { return EMITTED_FOLDER "/emitted_" + name + ".safetensors"; }

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || a.requires_grad()) return false;
  const Tensor x = a.contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.numel() * x.element_size()) == 0;
}

/// Requires equal bits for five sets of new arguments. Later calls must not overwrite earlier results.
template <class Fn, class Emitted>
void require_same(Fn function, Emitted emitted) {
  manual_seed(100);
  std::vector<std::pair<Tensor, Tensor>> held;
  const auto hold = [&](const Tensor& a, const Tensor& b) { held.emplace_back(a, b); };
  for (int round = 0; round < 5; ++round) {
    const auto arguments = Fn::inputs();
    const auto expected = std::apply(function, arguments);
    const auto found = std::apply(emitted, arguments);
    if constexpr (std::is_same_v<decltype(found), const Tensor>) {
      hold(expected, found);
    } else {
      hold(std::get<0>(expected), std::get<0>(found));
      hold(std::get<1>(expected), std::get<1>(found));
    }
  }
  for (const auto& [a, b] : held) REQUIRE(same_bits(b, a));
  REQUIRE_FALSE(held.front().first.equal(held.back().first));
}

}  // namespace

TEST_CASE("both results of an emitted function of two tensors are bitwise equal to the eager ones") {
  require_same(functions::Pair(), EmittedPair());
}

TEST_CASE("an emitted recurrent network and its loss are bitwise equal to the eager ones") {
  require_same(functions::Recurrent(), EmittedRecurrent(weights("recurrent")));
}

TEST_CASE("an emitted function writes to its argument and to its own copy of a captured tensor") {
  functions::Mixed function;
  EmittedMixed emitted(weights("mixed"));
  // The emitted state includes the changes of the calls before emit().
  manual_seed(1);
  int calls = 0;
  auto compiled = compile(functions::Mixed());
  for (; calls < 5 && !compiled.report().replayed; ++calls) std::apply(compiled, functions::Mixed::inputs());
  manual_seed(1);
  for (int i = 0; i < calls; ++i) std::apply(function, functions::Mixed::inputs());
  std::vector<Tensor> before;
  for (int round = 0; round < 4; ++round) {
    const auto [tensors, rate] = functions::Mixed::inputs();
    const Tensor index = tensors[0], x = tensors[1].clone();
    const auto version = x._version();
    const std::vector<Tensor> expected = function(tensors, rate);
    const auto [rows, state, sums, argument, greatest, any] = emitted(index, x);
    CHECK(same_bits(rows, expected[0]));
    CHECK(same_bits(state, expected[1]));
    CHECK(same_bits(sums, expected[2]));
    CHECK(same_bits(argument, expected[3]));
    CHECK(argument.is_alias_of(x));
    CHECK(x._version() > version);
    CHECK(same_bits(greatest, expected[4]));
    CHECK(same_bits(any, expected[5]));
    if (!before.empty()) CHECK_FALSE(before[0].equal(rows));
    before = {rows};
  }
  manual_seed(2);
  const auto [tensors, rate] = functions::Mixed::inputs();
  CHECK_THROWS_WITH(emitted(tensors[0], tensors[0]), Contains("EmittedMixed: argument 2 is Long [4, 3]"));
}

TEST_CASE("the memory of an emitted function's result is reused once the caller has released it") {
  EmittedPair emitted;
  const auto [a, b] = functions::Pair::inputs();
  const void* const first = std::get<0>(emitted(a, b)).data_ptr();
  const auto held = emitted(a, b);
  CHECK(std::get<0>(held).data_ptr() == first);
  CHECK(std::get<0>(emitted(a, b)).data_ptr() != first);
}

TEST_CASE("an emitted function throws for arguments of another layout, dtype or shape") {
  EmittedPair emitted;
  const auto [a, b] = functions::Pair::inputs();
  CHECK_THROWS_WITH(emitted(a.contiguous(), b),
                    Contains("EmittedPair: argument 1 is Float [4, 5] with strides "
                             "[5, 1] on cpu; the calls were recorded for Float [4, 5] "
                             "with strides [1, 4] on cpu"));
  CHECK_THROWS_WITH(emitted(a, b.to(kFloat)), Contains("argument 2 is Float [4, 5]"));
  CHECK_THROWS_WITH(emitted(a, Tensor()), Contains("argument 2 is undefined"));
  CHECK_THROWS_WITH(emitted(a[0], b), Contains("argument 1 is Float [5]"));
  CHECK_NOTHROW(emitted(a, b));
}

TEST_CASE("an emitted function accepts arguments at any offset in their memory") {
  EmittedPair emitted;
  functions::Pair function;
  const Tensor wide = randn({3, 5, 4}), b = randn({4, 5}, kDouble);
  const Tensor a = wide[2].t();
  CHECK(same_bits(std::get<0>(emitted(a, b)), std::get<0>(function(a, b))));
}

TEST_CASE(
    "the constructor of an emitted class throws if the weights are missing or belong to another source") {
  CHECK_THROWS_WITH(EmittedRecurrent("/nowhere/emitted_recurrent.safetensors"),
                    Contains("/nowhere/emitted_recurrent.safetensors"));
  CHECK_THROWS_WITH(EmittedRecurrent(weights("cnn")),
                    Contains("EmittedRecurrent") && Contains("emitted with another source"));
  const std::string unmarked = support::temporary("unmarked.safetensors");
  safetensors::write(unmarked, safetensors::read(weights("cnn")).tensors);
  CHECK_THROWS_WITH(EmittedRecurrent(unmarked), Contains("EmittedRecurrent") && Contains("bytes of w0"));
}

TEST_CASE("objects of an emitted class run in parallel on several threads") {
  functions::Recurrent function;
  manual_seed(7);
  const auto [x, y] = functions::Recurrent::inputs();
  const auto [expected, loss] = function(x, y);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&, &x = x, &y = y, &expected = expected, &loss = loss] {
      EmittedRecurrent own(weights("recurrent"));
      for (int i = 0; i < 50; ++i) {
        const auto [out, error] = own(x, y);
        count += !same_bits(out, expected) || !same_bits(error, loss);
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a compiled function that calls an emitted source stays eager") {
  const support::Warnings quiet;
  EmittedPair emitted;
  functions::Pair function;
  auto compiled = compile([&](const Tensor& a, const Tensor& b) { return std::get<0>(emitted(a, b)) + 1; });
  for (int i = 0; i < 5; ++i) {
    const auto [a, b] = functions::Pair::inputs();
    CHECK(same_bits(compiled(a, b), std::get<0>(function(a, b)) + 1));
  }
  CHECK_THAT(compiled.report().reason, Contains("emitted source"));
}

#ifdef EBB_TEST_ALL_EMITTED

TEST_CASE("an emitted perceptron is bitwise equal to the eager one") {
  require_same(functions::Mlp(), EmittedMlp(weights("mlp")));
}

TEST_CASE("an emitted convolutional network is bitwise equal to the eager one") {
  require_same(functions::Cnn(), EmittedCnn(weights("cnn")));
}

TEST_CASE("an emitted transformer layer is bitwise equal to the eager one") {
  require_same(functions::Transformer(), EmittedTransformer(weights("transformer")));
}

TEST_CASE("emitted second derivatives are bitwise equal to the eager ones") {
  require_same(functions::Curvature(), EmittedCurvature(weights("curvature")));
}

TEST_CASE("an emitted loss and its gradients are bitwise equal to the eager ones") {
  require_same(functions::Gradients(), EmittedGradients(weights("gradients")));
}

TEST_CASE(
    "an emitted function requires that its arguments share memory in the same way as in the recording") {
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

#endif
