// The same seed gives torch's own numbers.
#include "fidelity.h"

namespace rng {

void run() {
  const auto f64 = torch::kFloat64;
  section("uniform", [&] {
    torch::manual_seed(0);
    report("rand", torch::rand({5}));
    report("rand.next", torch::rand({2, 2}));
    report("rand.f64", torch::rand({5}, f64));
    report("rand.long", torch::rand({100}));
    torch::manual_seed(42);
    report("rand.42", torch::rand({3}));
    report("uniform_", torch::empty({4}).uniform_(-2, 3));
    report("uniform_.f64", torch::empty({4}, f64).uniform_(-2, 3));
    report("rand.strided", torch::empty({3, 2}).t().uniform_());
    report("rand_like", torch::rand_like(torch::zeros({3}, f64)));
  });
  section("normal", [&] {
    for (int64_t size : {1, 5, 15, 16, 17, 40, 64}) {
      torch::manual_seed(7);
      report("randn." + std::to_string(size), torch::randn({size}));
      report("randn.next." + std::to_string(size), torch::randn({3}));
      torch::manual_seed(7);
      report("randn.f64." + std::to_string(size), torch::randn({size}, f64));
      report("randn.f64.next." + std::to_string(size), torch::randn({3}, f64));
    }
    torch::manual_seed(3);
    report("normal_", torch::empty({4}).normal_(2, 0.5));
    report("normal_.16", torch::empty({20}, f64).normal_(2, 0.5));
    report("normal.floats", torch::normal(1.0, 2.0, {3}));
    report("randn_like", torch::randn_like(torch::zeros({2, 3})));
  });
  section("integers", [&] {
    torch::manual_seed(1);
    report("randint", torch::randint(10, {6}));
    report("randint.low", torch::randint(-5, 5, {6}));
    report("randint.i32", torch::randint(0, 100, {4}, torch::kInt32));
    report("randint.f", torch::randint(0, 100, {4}, torch::kFloat32));
    report("randint.wide", torch::randint(0, int64_t{1} << 40, {4}));
    report("randint_like", torch::randint_like(torch::zeros({4}, torch::kLong), 7));
    report("random_", torch::empty({3}, torch::kLong).random_(0, 50));
    report("randperm", torch::randperm(10));
    report("randperm.i32", torch::randperm(5, torch::kInt32));
    report("randperm.big", torch::randperm(1000));
    report("randperm.none", torch::randperm(0));
  });
  section("bernoulli", [&] {
    torch::manual_seed(2);
    report("bernoulli", torch::bernoulli(ramp({8}, 0, 1)));
    report("bernoulli.f32", torch::bernoulli(ramp({8}, 0, 1).to(torch::kFloat32)));
    report("bernoulli_.p", torch::empty({8}).bernoulli_(0.3));
    report("bernoulli_.f64", torch::empty({8}, f64).bernoulli_(0.3));
    report("bernoulli_.default", torch::empty({8}).bernoulli_());
    report("bernoulli.p", torch::bernoulli(torch::zeros({6}), 0.5));
    report("bernoulli_.tensor", torch::empty({6}).bernoulli_(ramp({6}, 0, 1)));
    report_error("bernoulli.range", [] { torch::bernoulli(torch::full({2}, 1.5)); });
  });
  section("others", [&] {
    torch::manual_seed(4);
    report("exponential_", torch::empty({4}, f64).exponential_(1.5));
    report("log_normal_", torch::empty({4}, f64).log_normal_(0.1, 0.5));
    report("geometric_", torch::empty({4}, f64).geometric_(0.3));
    report("cauchy_", torch::empty({4}, f64).cauchy_(1, 2));
    report("multinomial", torch::multinomial(ramp({5}, 0.1, 1), 3));
    report("multinomial.replace", torch::multinomial(ramp({2, 5}, 0.1, 1), 6, true));
    report("multinomial.f32", torch::multinomial(ramp({2, 5}, 0.1, 1).to(torch::kFloat32), 2));
    report("multinomial.one", torch::multinomial(ramp({2, 5}, 0.1, 1), 1));
    report_error("multinomial.many", [] { torch::multinomial(torch::ones({3}), 4); });
    report_error("multinomial.negative", [] { torch::multinomial(torch::tensor({-1.0, 2.0}), 1); });
    report_error("multinomial.zero", [] { torch::multinomial(torch::zeros({3}), 1); });
    report_error("normal.std", [] { torch::normal(0.0, -1.0, {2}); });
    report_error("uniform.order", [] { torch::empty({2}).uniform_(1, 0); });
    report_error("randint.empty", [] { torch::randint(5, 5, {2}); });
    report_error("randperm.negative", [] { torch::randperm(-1); });
  });
}

const Program program("rng", run);

}  // namespace rng
