// AMX: products of bfloat16 and ops that use them, with instructions that run in software on processors
// without AMX.
#include <ebb/core/parallel.h>
#include <ebb/core/warning.h>
#include <ebb/ebb.h>

#include "amx_in_software.h"
#include "core/isa.h"
#include "halves.h"
#include "kernel/cpu/gemm.h"
#include "support/catch.h"

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace ebb;
using namespace halves;

namespace {

// Checks the conditions that hold whenever tiles are used: a processor accepts each instruction, and no
// thread leaves its tiles configured. Kernels built for all processors never use AMX here; ops do (see
// below).
void check_conduct(std::int64_t computed_before) {
  CHECK(AmxInSoftware::refused() == 0);
  CHECK(AmxInSoftware::shaped() == 0);
  if (AmxInSoftware::computed() > computed_before) CHECK(detail::amx == detail::Amx::on);
}

void check_large(std::int64_t m, std::int64_t n, std::int64_t k, Arranged of_a = Arranged::rows,
                 Arranged of_b = Arranged::rows, Arranged of_c = Arranged::rows, float alpha = 1,
                 float beta = 0) {
  check_product<BFloat16, float>(m, n, k, of_a, of_b, of_c, alpha, beta);
}

}  // namespace

TEST_CASE("AMX products are right for every size") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged layout : {Arranged::wide_rows, Arranged::columns}) {
    for (std::int64_t m = 16; m <= 50; m += m == 33 ? 15 : 1)
      check_large(m, 33, 133, layout, Arranged::columns);
    for (std::int64_t n = 16; n <= 50; n += n == 33 ? 15 : 1) check_large(33, n, 133, layout, layout);
    for (std::int64_t k = 64; k <= 100; ++k) check_large(33, 33, k, layout, layout);
  }
  check_large(17, 16, 1801, Arranged::columns);  // several blocks of the sum
  // several pieces, and less than a tile in the sum
  check_large(530, 270, 3, Arranged::rows, Arranged::columns);
  check_conduct(before);
}

TEST_CASE("AMX products are right for every layout") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged of_a : kArranged)
    for (const Arranged of_b : kArranged)
      for (const Arranged of_c : kArranged) {
        check_large(33, 37, 70, of_a, of_b, of_c);
        check_large(33, 37, 97, of_a, of_b, of_c);
        check_product<BFloat16, BFloat16>(49, 34, 64, of_a, of_b, of_c);
      }
  for (const float alpha : {1.f, -0.5f})
    for (const float beta : {0.f, 2.5f})
      check_large(40, 33, 77, Arranged::rows, Arranged::columns, Arranged::wide_rows, alpha, beta);
  check_conduct(before);
}

TEST_CASE("NaN of an AMX product does not reach the next product") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged layout : {Arranged::rows, Arranged::columns}) {
    // A sum that ends within a tile, after one that filled more of it: the memory of the tile is reused.
    Stored<BFloat16> a(33, 94, layout), b(94, 33, layout);
    Stored<float> c(33, 33, Arranged::rows);
    for (BFloat16& x : a.memory) x = std::numeric_limits<float>::quiet_NaN();
    for (BFloat16& x : b.memory) x = std::numeric_limits<float>::quiet_NaN();
    cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
    for (std::int64_t i = 0; i < 33 * 33; ++i) REQUIRE(std::isnan(c.memory[static_cast<std::size_t>(i)]));
    check_large(33, 33, 65, layout, layout);
  }
  check_conduct(before);
}

TEST_CASE("AMX products are never minus zero") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  // The first product is the smallest normal number. The last block of 32 products, which one instruction
  // combines, subtracts 1.5 times as much, so the sum is a negative denormal number.
  Stored<BFloat16> a(16, 256, Arranged::rows), b(256, 16, Arranged::rows);
  Stored<float> c(16, 16, Arranged::rows);
  for (BFloat16& x : a.memory) x = 0;
  for (BFloat16& x : b.memory) x = 0;
  for (std::int64_t i = 0; i < 16; ++i) {
    a.view(i, 0) = a.view(i, 255) = BFloat16(0x1p-63f);
    b.view(0, i) = BFloat16(0x1p-63f);
    b.view(255, i) = BFloat16(-0x1.8p-63f);
  }
  cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  for (std::int64_t i = 0; i < 16 * 16; ++i) {
    const float x = c.memory[static_cast<std::size_t>(i)];
    REQUIRE((x <= 0 && x >= -0x1p-127f && !(x == 0 && std::signbit(x))));
  }
  check_conduct(before);
}

TEST_CASE("AMX products do not depend on the number of threads") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  const int threads = get_num_threads();
  set_num_threads(1);
  const std::vector<float> one = product<BFloat16>(130, 200, 161, Arranged::rows, Arranged::columns);
  set_num_threads(3);
  const std::vector<float> three = product<BFloat16>(130, 200, 161, Arranged::rows, Arranged::columns);
  set_num_threads(threads);
  for (std::size_t i = 0; i < 130 * 200; ++i) REQUIRE(three[i] == one[i]);
  check_conduct(before);
}

TEST_CASE("small or deterministic bfloat16 products do not use AMX") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged of_b : {Arranged::rows, Arranged::columns}) {
    check_large(15, 64, 300, Arranged::rows, of_b);
    check_large(64, 15, 300, Arranged::rows, of_b);
    check_large(32, 32, 63, Arranged::rows, of_b);
  }
  check_product<Half, Half>(64, 64, 64, Arranged::rows, Arranged::rows, Arranged::rows);
  detail::run_same_kernels_everywhere(true);
  check_large(64, 64, 64);
  detail::run_same_kernels_everywhere(false);
  CHECK(AmxInSoftware::computed() == before);
  CHECK(detail::amx == detail::Amx::granted);  // the check that AMX works has not run
}

// Ops with AMX: the first large product checks that AMX works, and results are close to those of AVX512-BF16.

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

TEST_CASE("ops with AMX agree with those with AVX512-BF16 and do not depend on the number of threads") {
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

TEST_CASE("AMX is turned off if the check finds wrong products") {
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
    CHECK(messages.all[0].starts_with("AMX multiplied a matrix of bfloat16 wrongly on this processor"));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(found[i].equal(expected[i]));
      CHECK(again[i].equal(expected[i]));
    }
  }
}

TEST_CASE("the check whether AMX works runs only once") {
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
