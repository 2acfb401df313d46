// Functions of two operands: arithmetic, comparisons, logic and bits.
#include "fidelity.h"

#include <set>
#include <string>

// Two-operand arithmetic: broadcasting, scalars on either side, rounding modes, signs, integers, ties.
namespace binary_ops {

using Call = Tensor (*)(const Tensors&);
struct Case {
  const char* name;
  Call call;
};

void run() {
  const Case cases[] = {
      {"add", [](const Tensors& x) { return torch::add(x[0], x[1]); }},
      {"add_alpha", [](const Tensors& x) { return torch::add(x[0], x[1], 2.5); }},
      {"sub", [](const Tensors& x) { return torch::sub(x[0], x[1]); }},
      {"sub_alpha", [](const Tensors& x) { return x[0].sub(x[1], 0.5); }},
      {"rsub", [](const Tensors& x) { return torch::rsub(x[0], x[1]); }},
      {"mul", [](const Tensors& x) { return torch::mul(x[0], x[1]); }},
      {"div", [](const Tensors& x) { return torch::div(x[0], x[1]); }},
      {"div_floor", [](const Tensors& x) { return torch::div(x[0], x[1], "floor"); }},
      {"div_trunc", [](const Tensors& x) { return torch::div(x[0], x[1], "trunc"); }},
      {"floor_divide",
       [](const Tensors& x) { return torch::floor_divide(x[0] * 1, x[1]).detach() + x[0] * 0; }},
      {"pow", [](const Tensors& x) { return torch::pow(x[0].abs(), x[1]); }},
      {"fmod", [](const Tensors& x) { return torch::fmod(x[0], x[1]); }},
      {"remainder", [](const Tensors& x) { return torch::remainder(x[0], x[1]); }},
      {"atan2", [](const Tensors& x) { return torch::atan2(x[0], x[1]); }},
      {"hypot", [](const Tensors& x) { return torch::hypot(x[0], x[1]); }},
      {"maximum", [](const Tensors& x) { return torch::maximum(x[0], x[1]); }},
      {"minimum", [](const Tensors& x) { return torch::minimum(x[0], x[1]); }},
      {"fmax", [](const Tensors& x) { return torch::fmax(x[0], x[1]); }},
      {"fmin", [](const Tensors& x) { return torch::fmin(x[0], x[1]); }},
      {"logaddexp", [](const Tensors& x) { return torch::logaddexp(x[0], x[1]); }},
      {"logaddexp2", [](const Tensors& x) { return torch::logaddexp2(x[0], x[1]); }},
      {"xlogy", [](const Tensors& x) { return torch::xlogy(x[0], x[1].abs()); }},
      {"copysign", [](const Tensors& x) { return torch::copysign(x[0], x[1]); }},
      {"lerp", [](const Tensors& x) { return torch::lerp(x[0], x[1], 0.3); }},
      {"max_other", [](const Tensors& x) { return torch::max(x[0], x[1]); }},
      {"operators", [](const Tensors& x) { return (x[0] + x[1]) * (x[0] - x[1]) / (x[1] * x[1] + 1); }},
  };
  for (const Case& c : cases) {
    grads(c.name, c.call, {ramp({2, 3}, -3, 3), ramp({2, 3}, -2.5, 2.5, 1.9)});
    grads(std::string("bc.") + c.name, c.call, {ramp({2, 1}, -3, 3, 0.8), ramp({3}, -2.2, 2.4, 2.3)}, 1);
  }

  // Ties, zeros and signed zeros, one pair per column.
  const Tensor left = torch::tensor({0.0, 0.0, 1.0, -1.0, 2.0, kInf, -kInf, kNan, 1.0, 0.0}, torch::kFloat64);
  const Tensor right = torch::tensor({0.0, 2.0, 1.0, 0.0, 2.0, kInf, 1.0, 1.0, kNan, -1.5}, torch::kFloat64);
  // The gradient of atan2 at the origin is 0 in PyTorch 2.15 and NaN in libtorch 1.13. At ties, fmax and fmin
  // split the gradient in PyTorch 2.15, and give it to the first operand in libtorch 1.13. At infinity, the
  // gradients of hypot and copysign have limits, but libtorch gives NaN.
  const std::set<std::string> differ = {"atan2", "fmax", "fmin", "hypot", "copysign"};
  for (const Case& c : cases)
    if (!differ.count(c.name)) grads(std::string("edge.") + c.name, c.call, {left, right}, 1);

  section("pow", [] {
    const Tensor x = torch::tensor({0.0, 1.0, 2.0, -2.0}, torch::kFloat64);
    for (double e : {0.0, 1.0, 2.0, 3.0, 0.5, -1.0})
      grad1("pow.scalar" + std::to_string(e), [e](const Tensor& t) { return torch::pow(t, e); }, x);
    grad1("pow.base", [](const Tensor& t) { return torch::pow(2.0, t); }, x);
    grad1(
        "pow.base0", [](const Tensor& t) { return torch::pow(0.0, t); },
        torch::tensor({0.0, 1.0, 2.0}, torch::kFloat64), 1);
    grads(
        "pow.zero", [](const Tensors& t) { return torch::pow(t[0], t[1]); },
        {torch::tensor({0.0, 0.0, 0.0, 2.0}, torch::kFloat64),
         torch::tensor({0.0, 1.0, 2.0, 0.0}, torch::kFloat64)},
        1);
    report("pow.int", torch::pow(torch::tensor({2, -3, 4}), 3));
    report("pow.intint", torch::pow(torch::tensor({2, -3, 4}), torch::tensor({0, 1, 5})));
    report("pow.intfloat", torch::pow(torch::tensor({2, 3}), 0.5));
    report_error("pow.negative", [] { torch::pow(torch::tensor({2, 3}), -1); });
  });

  section("scalars", [] {
    const Tensor x = ramp({4}, 0.5, 3);
    grad1("scalar.plus", [](const Tensor& t) { return 2 + t + 3.5; }, x);
    grad1("scalar.minus", [](const Tensor& t) { return 2 - (t - 1); }, x);
    grad1("scalar.times", [](const Tensor& t) { return 2 * t * 1.5; }, x);
    grad1("scalar.over", [](const Tensor& t) { return 2 / t / 4; }, x);
    grad1("scalar.fmod", [](const Tensor& t) { return torch::fmod(t, 0.7); }, x);
    grad1("scalar.remainder", [](const Tensor& t) { return torch::remainder(t, -0.7); }, x);
    grad1("scalar.xlogy", [](const Tensor& t) { return torch::xlogy(t, 2.0); }, x);
    grad1("scalar.copysign", [](const Tensor& t) { return torch::copysign(t, -1.0); }, x);
    grad1("scalar.div_floor", [](const Tensor& t) { return torch::div(t, 0.7, "floor"); }, x);
    report("scalar.int+float", torch::tensor({1, 2}) + 0.5);
    report("scalar.int*int", torch::tensor({1, 2}) * 3);
    report("scalar.int/int", torch::tensor({1, 2}) / 2);
    report("scalar.f32*double", torch::ones({2}) * 0.1);
  });

  section("integers", [] {
    const Tensor a = torch::tensor({7, -7, 7, -7, 0}), b = torch::tensor({2, 2, -2, -2, 5});
    report("int.div", a / b);
    report("int.div_floor", torch::div(a, b, "floor"));
    report("int.div_trunc", torch::div(a, b, "trunc"));
    report("int.floor_divide", torch::floor_divide(a, b));
    report("int.fmod", torch::fmod(a, b));
    report("int.remainder", torch::remainder(a, b));
    report("int.maximum", torch::maximum(a, b));
    report("int.atan2", torch::atan2(a, b));
    report("int.add_alpha", torch::add(a, b, 3));
    report_error("int.alpha_float", [&] { torch::add(a, b, 0.5); });
    report_error("int.div_zero", [&] { torch::div(a, torch::zeros({5}, torch::kLong), "trunc"); });
    report_error("bool.sub", [] { torch::tensor({true}) - torch::tensor({true}); });
    report("bool.add", torch::tensor({true, false}) + torch::tensor({true, true}));
    report("bool.mul", torch::tensor({true, false}) * torch::tensor({true, true}));
    report("u8.wrap", torch::full({1}, 200, torch::kUInt8) + torch::full({1}, 100, torch::kUInt8));
    report("i8.wrap", torch::full({1}, 100, torch::kInt8) * 2);
  });

  section("inplace", [] {
    Tensor x = ramp({2, 3}, 1, 3);
    x.add_(1).mul_(2.0).sub_(ramp({3})).div_(3).pow_(2).fmod_(1.7).remainder_(0.9);
    report("inplace.chain", x);
    x += 1;
    x *= x;
    x -= 0.5;
    x /= 2;
    report("inplace.operators", x);
    x.add_(ramp({1, 3}), 2)
        .sub_(ramp({3}), 0.5)
        .clamp_(0, 3)
        .lerp_(torch::zeros({2, 3}, torch::kFloat64), 0.25);
    report("inplace.alpha", x);
    Tensor i = torch::tensor({7, 8});
    i.div_(2, "floor");
    report("inplace.int", i);
    report_error("inplace.intdiv", [&] { i.div_(2); });
    report_error("inplace.intfloat", [&] { i.add_(torch::ones({2})); });
    report_error("inplace.broadcast", [&] { i.add_(torch::ones({3, 2}, torch::kLong)); });
    report_error("shapes", [] { torch::ones({2, 3}) + torch::ones({4}); });
    report_error("rounding", [] { torch::div(torch::ones({2}), 2, "nearest"); });
  });

  section("three", [] {
    const Tensors abc = {ramp({2, 3}), ramp({2, 3}, -2, 2, 1.1), ramp({3}, 1, 2, 2.2)};
    grads("addcmul", [](const Tensors& t) { return torch::addcmul(t[0], t[1], t[2], 0.5); }, abc);
    grads("addcdiv", [](const Tensors& t) { return t[0].addcdiv(t[1], t[2], 2); }, abc);
    grads("lerp.tensor", [](const Tensors& t) { return torch::lerp(t[0], t[1], t[2]); }, abc);
    grads("clamp.tensor", [](const Tensors& t) { return torch::clamp(t[0] * 2, t[1] - 1, t[2]); }, abc);
    grads("clamp.min", [](const Tensors& t) { return torch::clamp_min(t[0], 0.2); }, {ramp({5})});
    grads("clamp.max", [](const Tensors& t) { return t[0].clamp_max(0.2); }, {ramp({5})});
    grads("clamp.half", [](const Tensors& t) { return torch::clamp(t[0], torch::nullopt, 0.5); },
          {ramp({5})});
    grads("clip", [](const Tensors& t) { return t[0].clip(0, 0.5); }, {ramp({5})});
    report_error("clamp.none", [] { torch::clamp(ramp({2})); });
    report("clamp.crossed", torch::clamp(ramp({4}), 1.0, -1.0));
    report("clamp.int", torch::clamp(torch::tensor({1, 5, 9}), 2, 6));
  });
}

const Program program("binary_ops", run);

}  // namespace binary_ops

// Comparisons, logic and bit operations: dtypes, broadcasting, operators, NaN.
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
    // NaN in the branch that is not taken must not reach the gradient.
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
