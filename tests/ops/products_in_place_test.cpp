// Products that are added in place to a tensor which is one of their factors.
#include "check.h"

#include <functional>

using namespace op_tests;
using namespace ebb;
using V = const Variable&;

TEST_CASE(
    "a product that is added to one of its own factors in place has the gradients of the one out of place") {
  const auto x0 = ramp({3, 3}), a0 = ramp({3, 3}, 0.7);
  struct Way {
    const char* name;
    std::function<void(const Variable& y, const Variable& a)> in_place;
    std::function<Variable(const Variable& y, const Variable& a)> apart;
  };
  const Way ways[] = {
      {"addmm_(a, y)", [](V y, V a) { y.addmm_(a, y); }, [](V y, V a) { return y.addmm(a, y); }},
      {"addmm_(y, a)", [](V y, V a) { y.addmm_(y, a); }, [](V y, V a) { return y.addmm(y, a); }},
      {"addmm_(y, y)", [](V y, V) { y.addmm_(y, y); }, [](V y, V) { return y.addmm(y, y); }},
      {"addmm_(a, y, 2, 3)", [](V y, V a) { y.addmm_(a, y, 2, 3); },
       [](V y, V a) { return y.addmm(a, y, 2, 3); }},
      {"addmv_(a, y)",
       [](V y, V a) {
         const Variable row = y[0];
         row.addmv_(a, row);
       },
       [](V y, V a) {
         return cat({y[0].addmv(a, y[0]).unsqueeze(0), y.narrow(0, 1, 2)});
       }},
      {"addr_(y, a)", [](V y, V a) { y.addr_(y[0].clone(), a[0]); },
       [](V y, V a) { return y.addr(y[0], a[0]); }},
      {"baddbmm_(a, y)",
       [](V y, V a) {
         const Variable batch = y.unsqueeze(0);
         batch.baddbmm_(a.unsqueeze(0), batch);
       },
       [](V y, V a) { return y.unsqueeze(0).baddbmm(a.unsqueeze(0), y.unsqueeze(0)).squeeze(0); }},
  };
  for (const Way& way : ways) {
    INFO(way.name);
    const auto gradients = [&](bool in_place) {
      const Variable x = x0.clone().set_requires_grad(true), a = a0.clone().set_requires_grad(true),
                     y = x * 1;
      Variable out = y;
      if (in_place)
        way.in_place(y, a);
      else
        out = way.apart(y, a);
      variable_list all{out.detach()};
      for (const Variable& g : autograd::grad({(out * out).sum()}, {x, a}, {}, false, false, true))
        all.push_back(g.defined() ? g : zeros({3, 3}, kDouble));
      return all;
    };
    const variable_list got = gradients(true), want = gradients(false);
    for (std::size_t i = 0; i < 3; ++i) CHECK(allclose(got[i], want[i], 1e-12, 1e-12));
  }
}
