// Rows of copies, conversions, factories, random tensors and dropout.
#include <ebb/core/random.h>
#include <ebb/ops/random.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

// Copies, conversions, and factories.

namespace optable {
namespace {

double same(double x) { return x; }
double truncated(double x) { return std::trunc(x); }

void copies() {
  unary("clone", [](V x) { return ebb::clone(x); }).reference(same);
  unary("contiguous", [](V x) { return ebb::contiguous(x); }).reference(same).error("contiguous", [] {
    ebb::contiguous(ebb::ones({2}), ebb::MemoryFormat::Preserve);
  });
  unary("contiguous.channels_last", [](V x) { return ebb::contiguous(x, ebb::MemoryFormat::ChannelsLast); })
      .shapes({{{2, 3, 2, 2}}})
      .reference(same);
  unary("to", [](V x) { return ebb::to(x, x.scalar_type(), false, true); }).reference(same).error("to", [] {
    ebb::to(ebb::ones({2}), ebb::TensorOptions().requires_grad(true));
  });
  unary("to.float", [](V x) { return ebb::to(x, ebb::kF32) * 1.0; })
      .order(0, "float has too few digits for differences")
      .double_only("it chooses the dtype itself")
      .reference([](double x) { return double(float(x)); });
  unary("to.long", [](V x) { return ebb::to(x, ebb::kLong); })
      .kinks({-1, 0, 1})
      .order(0, "integers have no derivative")
      .reference(truncated);
  binary("copy_", [](V x, V y) { return Variable(ebb::copy_(x.clone(), y)); })
      .shapes({{{3, 4}, {3, 4}}, {{3, 4}, {4}}, {{2, 3}, {}}})
      .reference([](double, double y) { return y; })
      .error("copy_", [] { ebb::copy_(ebb::ones({2}), ebb::ones({3})); });
  unary("fill", [](V x) { return ebb::fill(x, 2.5); })
      .reference([](double) { return 2.5; })
      .in_place([](In x) { return ebb::fill_(x[0], 2.5); })
      .error("fill", [] { ebb::fill_(ebb::ones({2}, ebb::kByte), 300); });
  binary("fill.tensor", [](V x, V y) { return ebb::fill(x, y); })
      .shapes({{{3, 4}, {}}})
      .roundings(8)
      .reference([](double, double y) { return y; })
      .in_place([](In x) { return ebb::fill_(x[0], x[1]); })
      .error("fill", [] { ebb::fill(ebb::ones({2}), ebb::ones({2})); });
  unary("zero_", [](V x) { return Variable(ebb::zero_(x.clone())); }).reference([](double) { return 0.0; });
  unary("resize_", [](V x) { return Variable(ebb::resize_(x.detach().clone(), {2, 5})); })
      .shapes({{{3, 4}}})
      .order(0, "it throws for tensors that require grad")
      .no_layouts("the result depends on the memory layout")
      .reference(picked({2, 5},
                        [](const Index& i) {
                          const std::int64_t at = i[0] * 5 + i[1];
                          return Index{at / 4, at % 4};
                        }))
      .error("grad", [] { ebb::resize_(ebb::ones({2}).requires_grad_(), {3}); });
}

const char* const kMade = "it has no inputs";

// Functions without tensor arguments: computed in double on the CPU.
Row& made(const char* name, std::function<Variable()> f, Sizes sizes, double (*value)(const Index&)) {
  return row(name, [f](In) { return variable_list{f()}; })
      .shapes({{}})
      .order(0, kMade)
      .cpu_only(kMade)
      .reference([=](const Arrays&) { return Arrays{build(sizes, value)}; });
}

Row& alike(const char* name, Variable (*f)(V), double (*value)(double)) {
  return unary(name, f).order(0, "it uses the shape and not the values").reference(value);
}

void creations() {
  const ebb::TensorOptions f64(ebb::kF64);
  made(
      "tensor", [=] { return ebb::tensor({{0.5, 1.5}, {10.5, 11.5}}, f64); }, {2, 2},
      [](const Index& i) { return 0.5 + 10.0 * static_cast<double>(i[0]) + static_cast<double>(i[1]); })
      .error("tensor", [] { ebb::tensor({{1, 2}, {3}}); });
  made(
      "empty", [=] { return ebb::empty({2, 3}, f64).fill_(7); }, {2, 3}, [](const Index&) { return 7.0; })
      .error("negative", [] { ebb::empty({-1}); });
  made(
      "empty_strided", [=] { return ebb::empty_strided({2, 3}, {1, 2}, f64).fill_(7); }, {2, 3},
      [](const Index&) { return 7.0; });
  made("zeros", [=] { return ebb::zeros({2, 3}, f64); }, {2, 3}, [](const Index&) { return 0.0; });
  made("ones", [=] { return ebb::ones({2, 3}, f64); }, {2, 3}, [](const Index&) { return 1.0; });
  made("full", [=] { return ebb::full({2, 3}, 2.5, f64); }, {2, 3}, [](const Index&) { return 2.5; });
  made("scalar_tensor", [=] { return ebb::scalar_tensor(2.5, f64); }, {}, [](const Index&) { return 2.5; });
  made(
      "arange", [=] { return ebb::arange(1, 2.4, 0.3, f64); }, {5},
      [](const Index& i) { return 1 + 0.3 * static_cast<double>(i[0]); })
      .error("arange", [] { ebb::arange(0, 1, -1); });
  made(
      "range", [=] { return ebb::range(1, 2, 0.25, f64); }, {5},
      [](const Index& i) { return 1 + 0.25 * static_cast<double>(i[0]); });
  made(
      "linspace", [=] { return ebb::linspace(-1, 2, 7, f64); }, {7},
      [](const Index& i) { return -1 + 0.5 * static_cast<double>(i[0]); })
      .error("linspace", [] { ebb::linspace(0, 1, -1); });
  made(
      "logspace", [=] { return ebb::logspace(-1, 2, 7, 2, f64); }, {7},
      [](const Index& i) { return std::exp2(-1 + 0.5 * static_cast<double>(i[0])); });
  made(
      "eye", [=] { return ebb::eye(2, 3, f64); }, {2, 3},
      [](const Index& i) { return double(i[0] == i[1]); });
  made(
      "tril_indices", [] { return ebb::tril_indices(2, 3); }, {2, 3},
      [](const Index& i) {
        const double places[2][3] = {{0, 1, 1}, {0, 0, 1}};
        return places[i[0]][i[1]];
      });
  made(
      "triu_indices", [] { return ebb::triu_indices(2, 3, 1); }, {2, 3},
      [](const Index& i) {
        const double places[2][3] = {{0, 0, 1}, {1, 2, 2}};
        return places[i[0]][i[1]];
      });
  static double memory[] = {0, 1, 2, 3, 4, 5};
  made(
      "from_blob", [=] { return ebb::from_blob(memory, {2, 3}, {1, 2}, f64); }, {2, 3},
      [](const Index& i) { return static_cast<double>(i[0] + 2 * i[1]); });
  alike("empty_like", [](V x) { return Variable(ebb::empty_like(x).fill_(7)); }, [](double) { return 7.0; });
  alike("zeros_like", [](V x) { return ebb::zeros_like(x); }, [](double) { return 0.0; });
  alike("ones_like", [](V x) { return ebb::ones_like(x); }, [](double) { return 1.0; });
  alike("full_like", [](V x) { return ebb::full_like(x, 2.5); }, [](double) { return 2.5; });
}

}  // namespace

void register_copy() {
  family("copy");
  copies();
  family("creation");
  creations();
}

// Random tensors and dropout, with seeded generators.

namespace {

const char* const kGolden = "the golden values in tests/ops check the drawn numbers";
const char* const kDrawn = "each dtype draws other numbers";
const char* const kMemory = "numbers are drawn in memory order";
const char* const kDevice = "each device draws other numbers";

ebb::Generator seeded() { return ebb::Generator(11); }

Row& drawn(const char* name, Variable (*f)()) {
  return row(name, [f](In) { return variable_list{f()}; })
      .shapes({{}})
      .order(0, "it has no inputs")
      .no_reference(kGolden)
      .cpu_only(kDevice);
}

/// The gradient of an overwritten tensor is zero.
Row& overwritten(const char* name, Variable (*f)(V)) {
  return unary(name, f).no_reference(kGolden).double_only(kDrawn).no_layouts(kMemory).cpu_only(kDevice);
}

void draws() {
  drawn("rand", [] { return ebb::rand({3, 4}, seeded()); }).error("rand", [] { ebb::rand({2}, ebb::kLong); });
  drawn("randn", [] { return ebb::randn({3, 4}, seeded()); });
  drawn("randint", [] { return ebb::randint(2, 9, {3, 4}, seeded()); }).error("randint", [] {
    ebb::randint(3, 3, {2});
  });
  drawn("randperm", [] { return ebb::randperm(9, seeded()); });
  const auto alike = [](const char* name, Variable (*f)(V)) -> Row& {
    return unary(name, f)
        .order(0, "it uses the shape and not the values")
        .no_reference(kGolden)
        .double_only(kDrawn)
        .no_layouts(kMemory)
        .cpu_only(kDevice);
  };
  alike("rand_like", [](V x) { return ebb::manual_seed(11), ebb::rand_like(x); });
  alike("randn_like", [](V x) { return ebb::manual_seed(11), ebb::randn_like(x); });
  alike("randint_like", [](V x) { return ebb::manual_seed(11), ebb::randint_like(x, 2, 9); });
  row("normal", [](In x) { return variable_list{ebb::normal(x[0], x[1], seeded())}; })
      .shapes({{{3, 4}, {3, 4}}})
      .range(0.5, 2)
      .order(0, "the gradient is zero by definition, because a draw is not a function of its parameters")
      .no_reference(kGolden)
      .double_only(kDrawn)
      .cpu_only(kDevice)
      .error("normal", [] { ebb::normal(0, ebb::full({2}, -1.0)); });
  unary("bernoulli", [](V x) { return ebb::bernoulli(x, seeded()); })
      .shapes({{{3, 4}}})
      .range(0.1, 0.9)
      .no_reference(kGolden)
      .double_only(kDrawn)
      .cpu_only(kDevice)
      .error("bernoulli", [] { ebb::bernoulli(ebb::full({2}, 2.0)); });
  unary("multinomial", [](V x) { return ebb::multinomial(x, 3, false, seeded()); })
      .shapes({{{2, 5}}})
      .range(0.1, 0.9)
      .order(0, "categories have no derivative")
      .no_reference(kGolden)
      .no_layouts(kMemory)
      .double_only(kDrawn)
      .cpu_only(kDevice)
      .error("multinomial", [] { ebb::multinomial(ebb::ones({2}), 3); });
}

void in_place_draws() {
  overwritten("uniform_", [](V x) {
    return Variable(ebb::uniform_(x.clone(), -1, 2, seeded()));
  }).error("uniform_", [] { ebb::uniform_(ebb::ones({2}), 2, 1); });
  overwritten("normal_", [](V x) { return Variable(ebb::normal_(x.clone(), 1, 2, seeded())); });
  overwritten("log_normal_", [](V x) { return Variable(ebb::log_normal_(x.clone(), 1, 2, seeded())); });
  overwritten("exponential_", [](V x) { return Variable(ebb::exponential_(x.clone(), 2, seeded())); });
  overwritten("cauchy_", [](V x) { return Variable(ebb::cauchy_(x.clone(), 1, 2, seeded())); });
  overwritten("geometric_", [](V x) {
    return Variable(ebb::geometric_(x.clone(), 0.3, seeded()));
  }).error("geometric_", [] { ebb::geometric_(ebb::ones({2}), 1.5); });
  overwritten("random_", [](V x) { return Variable(ebb::random_(x.clone(), 2, 9, seeded())); });
  overwritten("bernoulli_", [](V x) { return Variable(ebb::bernoulli_(x.clone(), 0.3, seeded())); });
}

/// With a fixed seed, f(x) is linear in x.
Row& dropped(const char* name, Variable (*f)(V), Variable (*twin)(V)) {
  return row(name, [f](In x) { return ebb::manual_seed(11), variable_list{f(x[0])}; })
      .shapes({{{3, 4}}, {{2, 3, 5}}})
      .cpu_only(kDevice)
      .no_layouts(kMemory)
      .in_place([twin](In x) { return ebb::manual_seed(11), twin(x[0]); })
      .no_reference(kGolden)
      .error("0 and 1", [] { ebb::dropout(ebb::ones({2}), 1.5, true); });
}

void dropouts() {
  dropped(
      "dropout", [](V x) { return ebb::dropout(x, 0.3, true); },
      [](V x) { return Variable(ebb::dropout_(x, 0.3, true)); });
  dropped(
      "feature_dropout", [](V x) { return ebb::feature_dropout(x, 0.3, true); },
      [](V x) { return Variable(ebb::feature_dropout_(x, 0.3, true)); });
  dropped(
      "alpha_dropout", [](V x) { return ebb::alpha_dropout(x, 0.3, true); },
      [](V x) { return Variable(ebb::alpha_dropout_(x, 0.3, true)); });
  dropped(
      "feature_alpha_dropout", [](V x) { return ebb::feature_alpha_dropout(x, 0.3, true); },
      [](V x) { return Variable(ebb::feature_alpha_dropout_(x, 0.3, true)); });
  unary("dropout.evaluation", [](V x) { return ebb::dropout(x, 0.3, false); }).reference([](double x) {
    return x;
  });
}

}  // namespace

void register_random() {
  family("random");
  draws();
  in_place_draws();
  dropouts();
}

}  // namespace optable
