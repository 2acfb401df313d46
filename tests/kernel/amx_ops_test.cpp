// Ops with AMX: the first large product checks that AMX works, and results are close to those of AVX512-BF16.
#include <ebb/core/parallel.h>
#include <ebb/core/warning.h>
#include <ebb/ebb.h>

#include "amx_in_software.h"
#include "core/isa.h"
#include "support/catch.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace ebb;

namespace {

struct Messages : WarningHandler {
  std::vector<std::string> all;
  using WarningHandler::process;
  void process(const Warning& warning) override { all.push_back(warning.msg()); }
};

using Results = std::vector<Tensor>;

Tensor numbers(IntArrayRef sizes) { return randn(sizes).to(kBFloat16); }

Results products() {
  manual_seed(3);
  const Tensor a = numbers({65, 130}), b = numbers({130, 40}), batch = numbers({3, 40, 50});
  return {a.mm(b), b.t().mm(a.t()), batch.bmm(batch.transpose(1, 2))};
}

Results convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                    std::int64_t stride) {
  manual_seed(3);
  const Tensor x = numbers({2, in, size, size}).requires_grad_(),
               w = numbers({out, in, kernel, kernel}).requires_grad_();
  const Tensor y = conv2d(x, w, numbers({out}), stride, kernel / 2);
  y.backward(numbers(y.sizes()));
  return {y.detach(), x.grad(), w.grad()};
}

Results recurrent(std::int64_t batch) {
  manual_seed(3);
  nn::LSTM layer(nn::LSTMOptions(33, 130));
  layer->to(kBFloat16);
  const Tensor x = numbers({3, 19, 33}).slice(1, 0, batch).contiguous().requires_grad_();
  const Tensor y = std::get<0>(layer->forward(x));
  y.backward(numbers({3, 19, 130}).slice(1, 0, batch).contiguous());
  return {y.detach(), x.grad()};
}

Results without_amx(const std::function<Results()>& run) {
  detail::amx = detail::Amx::off;
  Results results = run();
  detail::amx = detail::Amx::unasked;
  return results;
}

// Returns whether AMX is on, which the first product with tiles determines.
bool was_needed() { return detail::amx == detail::Amx::on; }

// Compares a function with and without tiles. Both sum in floats and round once, to 8 bits; a recurrent layer
// propagates each rounding.
void check_near(const std::function<Results()>& run, float steps = 1) {
  const Results expected = without_amx(run);
  const AmxInSoftware amx;
  const Results found = run();
  CHECK(was_needed() == AmxInSoftware::is_used());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const Tensor wide = expected[i].to(kFloat), off = (found[i].to(kFloat) - wide).abs();
    const Tensor bound = steps * (wide.abs() * 0x1p-7f + wide.abs().max() * 0x1p-12f);
    CHECK((off <= bound).all().item<bool>());
  }
}

void check_threads(const std::function<Results()>& run) {
  const AmxInSoftware amx;
  const int threads = get_num_threads();
  set_num_threads(1);
  const Results one = run();
  set_num_threads(3);
  const Results three = run();
  set_num_threads(threads);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(three[i].equal(one[i]));
}

}  // namespace

TEST_CASE("ops with AMX agree with AVX512-BF16 and do not depend on the number of threads") {
  const std::function<Results()> layers[] = {products, [] { return convolution(64, 64, 9, 3, 1); },
                                             [] { return convolution(33, 48, 12, 3, 2); },
                                             [] { return convolution(64, 80, 6, 1, 1); }};
  for (const auto& layer : layers) {
    check_near(layer);
    check_threads(layer);
  }
  check_near([] { return recurrent(19); }, 3);
  check_threads([] { return recurrent(19); });
  CHECK(AmxInSoftware::refused() == 0);
  CHECK(AmxInSoftware::shaped() == 0);
}

TEST_CASE("an LSTM with AMX gives a sequence the same result in every batch") {
  const AmxInSoftware amx;
  {
    const NoGradGuard no_gradients;  // so the only products are those of the two sequences
    nn::LSTM layer(nn::LSTMOptions(8, 130));
    layer->to(kBFloat16);
    layer->forward(numbers({3, 2, 8}));
    CHECK(was_needed() == AmxInSoftware::is_used());
  }
  const Results many = recurrent(19), few = recurrent(2);
  for (std::size_t i = 0; i < few.size(); ++i) CHECK(few[i].equal(many[i].slice(1, 0, 2)));
}

TEST_CASE("AMX is not used if its products are wrong") {
  for (const Formula formula :
       {Formula::swaps_pairs, Formula::loses_last_pair, Formula::forgets_sum, Formula::mixes_rows}) {
    CAPTURE(int(formula));
    const Results expected = without_amx(products);
    const AmxInSoftware amx(formula);
    const std::int64_t before = AmxInSoftware::computed();
    Messages messages;
    const WarningHandlerGuard guard(&messages);
    const Results found = products(), again = products();
    if (AmxInSoftware::computed() == before) return;  // the processor computes AMX itself, and correctly
    CHECK(detail::amx == detail::Amx::off);
    REQUIRE(messages.all.size() == 1);
    CHECK(messages.all[0].starts_with("AMX, which this processor says it has, multiplied"));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(found[i].equal(expected[i]));
      CHECK(again[i].equal(expected[i]));
    }
  }
}

TEST_CASE("the check that AMX works runs once") {
  static std::atomic<int> asked{0};
  asked = 0;
  const auto ask = [] {
    return detail::decide_amx([] {
      ++asked;
      return true;
    });
  };
  {
    const AmxInSoftware amx;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { ask(); });
    for (std::thread& t : threads) t.join();
    CHECK(detail::amx == (asked > 0 ? detail::Amx::on : detail::Amx::granted));
    CHECK(asked <= 1);
  }
  // Without AmxInSoftware, processor and system decide, and the decision is final.
  const bool there = ask();
  CHECK(detail::amx == (there ? detail::Amx::on : detail::Amx::off));
  CHECK(ask() == there);
  detail::amx = detail::Amx::unasked;
}
