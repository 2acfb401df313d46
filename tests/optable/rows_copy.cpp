// Copies, conversions, and tensors made of nothing.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

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
      .order(0, "integers have no slope")
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
  unary("resize_",
        [](V x) {
          return Variable(ebb::resize_(x.detach().clone(), {2, 5}));
        })
      .shapes({{{3, 4}}})
      .order(0, "it refuses tensors that require grad")
      .no_layouts("it speaks of memory, not of elements")
      .reference(picked({2, 5},
                        [](const Index& i) {
                          const std::int64_t at = i[0] * 5 + i[1];
                          return Index{at / 4, at % 4};
                        }))
      .error("grad", [] { ebb::resize_(ebb::ones({2}).requires_grad_(), {3}); });
}

const char* const kMade = "it has no inputs";

// What takes no tensor: computed in double on the CPU.
Row& made(const char* name, std::function<Variable()> f, Sizes sizes, double (*value)(const Index&)) {
  return row(name, [f](In) { return variable_list{f()}; })
      .shapes({{}})
      .order(0, kMade)
      .cpu_only(kMade)
      .reference([=](const Arrays&) { return Arrays{build(sizes, value)}; });
}

Row& alike(const char* name, Variable (*f)(V), double (*value)(double)) {
  return unary(name, f).order(0, "it takes the shape and not the values").reference(value);
}

void creations() {
  const ebb::TensorOptions f64(ebb::kF64);
  made(
      "tensor",
      [=] {
        return ebb::tensor({{0.5, 1.5}, {10.5, 11.5}}, f64);
      },
      {2, 2},
      [](const Index& i) { return 0.5 + 10.0 * static_cast<double>(i[0]) + static_cast<double>(i[1]); })
      .error("tensor", [] {
        ebb::tensor({{1, 2}, {3}});
      });
  made(
      "empty",
      [=] {
        return ebb::empty({2, 3}, f64).fill_(7);
      },
      {2, 3}, [](const Index&) { return 7.0; })
      .error("negative", [] { ebb::empty({-1}); });
  made(
      "empty_strided",
      [=] {
        return ebb::empty_strided({2, 3}, {1, 2}, f64).fill_(7);
      },
      {2, 3}, [](const Index&) { return 7.0; });
  made(
      "zeros",
      [=] {
        return ebb::zeros({2, 3}, f64);
      },
      {2, 3}, [](const Index&) { return 0.0; });
  made(
      "ones",
      [=] {
        return ebb::ones({2, 3}, f64);
      },
      {2, 3}, [](const Index&) { return 1.0; });
  made(
      "full",
      [=] {
        return ebb::full({2, 3}, 2.5, f64);
      },
      {2, 3}, [](const Index&) { return 2.5; });
  made(
      "scalar_tensor", [=] { return ebb::scalar_tensor(2.5, f64); }, {}, [](const Index&) { return 2.5; });
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
      "from_blob",
      [=] {
        return ebb::from_blob(memory, {2, 3}, {1, 2}, f64);
      },
      {2, 3}, [](const Index& i) { return static_cast<double>(i[0] + 2 * i[1]); });
  alike(
      "empty_like", [](V x) { return Variable(ebb::empty_like(x).fill_(7)); }, [](double) { return 7.0; });
  alike(
      "zeros_like", [](V x) { return ebb::zeros_like(x); }, [](double) { return 0.0; });
  alike(
      "ones_like", [](V x) { return ebb::ones_like(x); }, [](double) { return 1.0; });
  alike(
      "full_like", [](V x) { return ebb::full_like(x, 2.5); }, [](double) { return 2.5; });
}

}  // namespace

void register_copy() {
  family("copy");
  copies();
  family("creation");
  creations();
}

}  // namespace optable
