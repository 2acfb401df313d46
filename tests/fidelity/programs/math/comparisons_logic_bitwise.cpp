// Comparisons, logic and bit operations: dtypes, broadcasting, operators, NaN.
#include "fidelity.h"

namespace comparisons_logic_bitwise {

void run() {
  const Tensor a = torch::tensor({1.0, 2.0, 3.0, kNan}, torch::kFloat64);
  const Tensor b = torch::tensor({1.0, 3.0, 2.0, kNan}, torch::kFloat64);

  section("compare", [&] {
    report("eq", torch::eq(a, b));
    report("ne", torch::ne(a, b));
    report("lt", torch::lt(a, b));
    report("le", torch::le(a, b));
    report("gt", torch::gt(a, b));
    report("ge", torch::ge(a, b));
    report("op.eq", a == b);
    report("op.ne", a != 2);
    report("op.lt", a < 2.5);
    report("op.le", a <= b);
    report("op.gt", a > 1);
    report("op.ge", a >= b);
    report("method.eq", a.eq(2));
    report("method.greater", a.greater(b).logical_or(a.less_equal(1)));
    report("not_equal", torch::not_equal(a, b));
    report("broadcast", ramp({2, 1}) < ramp({3}));
    report("mixed", torch::tensor({1, 2}) == torch::tensor({1.0, 2.5}));
    report("bool", torch::tensor({true, false}) == torch::tensor({1, 1}));
    report_error("shapes", [&] { torch::eq(torch::ones({2}), torch::ones({3})); });
    Tensor i = torch::tensor({1, 5, 3});
    i.eq_(5);
    report("eq_", i);
    Tensor x = ramp({3}).requires_grad_();
    report_value("no_grad_needed", (x > 0).requires_grad());
  });

  section("whole", [&] {
    report_value("equal.same", torch::equal(torch::tensor({1, 2}), torch::tensor({1, 2})));
    report_value("equal.other", torch::equal(torch::tensor({1, 2}), torch::tensor({1, 3})));
    report_value("equal.shape", torch::equal(torch::ones({2}), torch::ones({2, 1})));
    report_value("equal.nan", torch::equal(a, a));
    report_value("allclose.near", torch::allclose(torch::ones({2}), torch::ones({2}) + 1e-6));
    report_value("allclose.far", torch::allclose(torch::ones({2}), torch::ones({2}) + 1e-3));
    report_value("allclose.rtol", torch::allclose(torch::ones({2}), torch::ones({2}) + 1e-3, 1e-2));
    report_value("allclose.atol", torch::allclose(torch::zeros({2}), torch::full({2}, 1e-3), 0, 1e-2));
    report_value("allclose.nan", torch::allclose(a, a));
    report_value("allclose.equal_nan", a.allclose(a, 1e-5, 1e-8, true));
    report("isclose", torch::isclose(a, a + 1e-9));
    report("isclose.nan", torch::isclose(a, a, 1e-5, 1e-8, true));
    report("isin", torch::isin(torch::tensor({1, 2, 3, 4}), torch::tensor({2, 4})));
  });

  section("logic", [&] {
    const Tensor p = torch::tensor({true, true, false, false}), q = torch::tensor({true, false, true, false});
    report("and", torch::logical_and(p, q));
    report("or", torch::logical_or(p, q));
    report("xor", torch::logical_xor(p, q));
    report("not", torch::logical_not(p));
    report("op.and", p & q);
    report("op.or", p | q);
    report("op.xor", p ^ q);
    report("op.tilde", ~p);
    report("and.float", torch::logical_and(a, b - 1));
    report("not.float", torch::logical_not(ramp({3}) * 0));
    report("not.int", torch::tensor({0, 3}).logical_not());
    Tensor r = p.clone();
    r.logical_and_(q).logical_not_();
    report("inplace", r);
    r &= p;
    r |= q;
    r ^= p;
    report("inplace.ops", r);
  });

  section("bits", [&] {
    const Tensor x = torch::tensor({12, -7, 255, 0}), y = torch::tensor({10, 3, 15, 9});
    report("bitwise_and", torch::bitwise_and(x, y));
    report("bitwise_or", torch::bitwise_or(x, y));
    report("bitwise_xor", torch::bitwise_xor(x, y));
    report("bitwise_not", torch::bitwise_not(x));
    report("bitwise_and.scalar", x & 6);
    report("bitwise_or.scalar", x | 1);
    report("bitwise_xor.scalar", x.bitwise_xor(3));
    report("bitwise_not.bool", torch::bitwise_not(torch::tensor({true, false})));
    report("bitwise_not.u8", torch::bitwise_not(torch::full({2}, 5, torch::kUInt8)));
    report("left_shift", torch::bitwise_left_shift(y, torch::tensor({1, 2, 3, 0})));
    report("right_shift", torch::bitwise_right_shift(x, torch::tensor({1, 1, 3, 0})));
    report("left_shift.scalar", torch::bitwise_left_shift(y, 2));
    report("mixed", torch::full({2}, 7, torch::kInt32) & torch::tensor({3, 4}));
    report_error("bits.float", [&] { torch::bitwise_and(a, b); });
    report_error("not.float", [&] { torch::bitwise_not(a); });
    Tensor z = x.clone();
    z.bitwise_and_(y).bitwise_or_(1).bitwise_xor_(8).bitwise_not_();
    report("inplace.bits", z);
  });

  section("where", [&] {
    const Tensor mask = torch::tensor({{true, false, true}, {false, true, false}});
    grads("where", [&](const Tensors& t) { return torch::where(mask, t[0], t[1]); },
          {ramp({2, 3}), ramp({2, 3}, 2, 4)});
    grads("where.broadcast", [&](const Tensors& t) { return torch::where(mask, t[0], t[1]); },
          {ramp({2, 1}), ramp({3}, 2, 4)});
    grads("where.scalar", [&](const Tensors& t) { return torch::where(mask, t[0], 0.5); }, {ramp({2, 3})});
    grads("where.method", [&](const Tensors& t) { return t[0].where(t[0] > 0, t[1]); },
          {ramp({2, 3}), ramp({}, 2, 4)});
    report("where.scalars", torch::where(mask, 1.0, 2.0));
    // The branch that is not taken must not poison the gradient of its own tensor.
    grads("where.nan",
          [&](const Tensors& t) { return torch::where(t[0] > 0, t[0], torch::full_like(t[0], kNan)); },
          {torch::tensor({1.0, -1.0}, torch::kFloat64)});
    const auto found = torch::where(mask);
    report("where.rows", found[0]);
    report("where.columns", found[1]);
    grads("masked_fill", [&](const Tensors& t) { return t[0].masked_fill(mask, 7.0); }, {ramp({2, 3})});
    grads("masked_fill.tensor", [&](const Tensors& t) { return torch::masked_fill(t[0], mask, t[1]); },
          {ramp({2, 3}), ramp({})});
    grads("masked_fill.broadcast", [&](const Tensors& t) { return t[0].masked_fill(mask[0], -1); },
          {ramp({2, 3})});
    Tensor x = ramp({2, 3});
    x.masked_fill_(mask, kInf);
    report("masked_fill_", x);
    report_error("masked_fill.float", [&] { ramp({2}).masked_fill(ramp({2}), 1); });
    report_error("masked_fill.shape", [&] { ramp({2}).masked_fill(mask, 1); });
    report_error("masked_fill.value", [&] { ramp({2, 3}).masked_fill(mask, ramp({2})); });
  });
}

const Program program("comparisons_logic_bitwise", run);

}  // namespace comparisons_logic_bitwise
