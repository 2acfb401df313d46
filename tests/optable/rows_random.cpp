// Random tensors and dropout, from seeded generators.
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/core/random.h>
#include <ebb/ops/dropout.h>
#include <ebb/ops/random.h>

namespace optable {
namespace {

const char* const kGolden = "which numbers are drawn is held by the golden numbers of tests/ops";
const char* const kDrawn = "each dtype draws numbers of its own";
const char* const kMemory = "numbers are drawn in the order of memory";
const char* const kDevice = "each device draws numbers of its own";

ebb::Generator seeded() { return ebb::Generator(11); }

Row& drawn(const char* name, Variable (*f)()) {
  return row(name, [f](In) { return variable_list{f()}; })
      .shapes({{}})
      .order(0, "it has no inputs")
      .no_reference(kGolden)
      .cpu_only(kDevice);
}

/// What is overwritten has a gradient of zero.
Row& overwritten(const char* name, Variable (*f)(V)) {
  return unary(name, f).no_reference(kGolden).double_only(kDrawn).no_layouts(kMemory).cpu_only(kDevice);
}

void draws() {
  drawn("rand", [] { return ebb::rand({3, 4}, seeded()); }).error("rand", [] { ebb::rand({2}, ebb::kLong); });
  drawn("randn", [] { return ebb::randn({3, 4}, seeded()); });
  drawn("randint", [] {
    return ebb::randint(2, 9, {3, 4}, seeded());
  }).error("randint", [] { ebb::randint(3, 3, {2}); });
  drawn("randperm", [] { return ebb::randperm(9, seeded()); });
  const auto alike = [](const char* name, Variable (*f)(V)) -> Row& {
    return unary(name, f)
        .order(0, "it takes the shape and not the values")
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
      .order(0, "the gradient is zero by definition, as the draw is no function of its parameters")
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
      .order(0, "categories have no slope")
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

/// With the draw held fixed, f(x) is linear in x.
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
