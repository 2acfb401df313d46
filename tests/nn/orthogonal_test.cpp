// Orthogonal parametrizations: values of torch 2.15, names, initial values, clones, errors.
#include <ebb/ebb.h>
#include <ebb/nn/parametrize.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;
namespace parametrize = ebb::nn::utils::parametrize;
namespace parametrizations = ebb::nn::utils::parametrizations;

namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

Variable wave(std::int64_t count, double rate, double start) { return arange(count, kDouble) * rate + start; }
void fill(const Variable& x, double start) {
  NoGradGuard no_grad;
  x.copy_((wave(x.numel(), 0.7, start).sin() * 0.4).reshape(x.sizes()));
}
double mark(const Variable& x) {
  return (x.detach().reshape({-1}) * wave(x.numel(), 0.3, 1).cos()).sum().item<double>();
}
nn::Linear linear(std::int64_t out, std::int64_t in) {
  nn::Linear m(in, out);
  m->to(kDouble);
  fill(m->weight, 1);
  fill(m->bias, 2);
  return m;
}
// Returns a layer whose weight is far from a matrix of lower rank.
nn::Linear apart(std::int64_t out, std::int64_t in) {
  nn::Linear m = linear(out, in);
  NoGradGuard no_grad;
  m->weight.add_(eye(out, in, kDouble) * 0.5);
  return m;
}
bool is_orthonormal(const Variable& tall) {
  return allclose(tall.mT().matmul(tall), eye(tall.size(-1), kDouble), 1e-12, 1e-12);
}

struct Case {
  std::int64_t out, in;
  const char* map;
  bool trivial;
  Numbers expected;  // one scalar of the result, and of the gradients of input, bias and original
};

const std::vector<Case> kCases = {
    {3, 3, "matrix_exp", true, {-1.4922109535336, 0.1532792585383, -0.0089825154122941, -3.9182225884814}},
    {3, 3, "matrix_exp", false, {-1.8988070938674, 0.99433506291534, -0.0089825154122941, -2.6828122140159}},
    {3, 3, "cayley", true, {-1.5095713125594, 0.18218566696038, -0.0089825154122941, -3.6640111305059}},
    {3, 3, "cayley", false, {-1.9131389734935, 1.0235742760973, -0.0089825154122941, -2.4512187121289}},
    {3, 3, "householder", true, {-0.32149896300757, 1.0791604374643, -0.0089825154122941, -2.5963140587303}},
    {3, 3, "householder", false, {-0.69462207003631, 1.2221632683029, -0.0089825154122941, -2.5896975562475}},
    {4, 3, "matrix_exp", true, {-2.0337088899984, -0.25176336992233, 0.12280866423345, -5.3609136693673}},
    {4, 3, "matrix_exp", false, {-1.4019327089, 0.54888666288935, 0.12280866423345, -4.8738579523853}},
    {4, 3, "cayley", true, {-2.0272707260958, -0.23458873068733, 0.12280866423345, -5.1031463443193}},
    {4, 3, "cayley", false, {-1.4478062958948, 0.55573438066921, 0.12280866423345, -4.6598026319178}},
    {4, 3, "householder", true, {1.1875653118037, 0.41666034700343, 0.12280866423345, -2.1543414189762}},
    {4, 3, "householder", false, {-0.95893887949462, 0.42763117498955, 0.12280866423345, -2.9088284615832}},
    {3, 5, "matrix_exp", true, {-0.39165492688259, 1.3218982603882, -0.0089825154122941, -0.20095128166511}},
    {3, 5, "matrix_exp", false, {-1.1588580221744, 2.1392475324165, -0.0089825154122941, -3.0408067532785}},
    {3, 5, "cayley", true, {-0.3542267664028, 1.3403835414119, -0.0089825154122941, -0.29094750823154}},
    {3, 5, "cayley", false, {-1.1281769586932, 2.1671650643457, -0.0089825154122941, -3.0611745468571}},
    {3, 5, "householder", true, {1.8882103618587, 1.6586936618747, -0.0089825154122941, 0.97137015311385}},
    {3, 5, "householder", false, {0.48171409745985, 2.2573308909808, -0.0089825154122941, -2.2348237548136}},
};

}  // namespace

TEST_CASE("orthogonal parametrizations have the values of torch") {
  for (const Case& c : kCases) {
    CAPTURE(c.out, c.in, c.map, c.trivial);
    nn::Linear m = linear(c.out, c.in);
    parametrizations::orthogonal(m, "weight", c.map, c.trivial);
    Names names{"bias", "parametrizations.weight.original"};
    if (c.trivial) names.push_back("parametrizations.weight.0.base");
    REQUIRE(m->state_dict().keys() == names);
    {
      NoGradGuard no_grad;
      const Variable original = m->get_parameter(names[1]);
      fill(original, 3);
      if (std::string(c.map) == "householder") original.diagonal().copy_(tensor({1., -1., 1.}, kDouble));
      if (c.trivial) {
        const std::int64_t n = std::max(c.out, c.in);
        const Variable a = (wave(n * n, 0.7, 4).sin() * 0.4).reshape({n, n});
        m->get_buffer(names[2]).copy_(matrix_exp(a - a.mT()));
      }
    }
    const Variable x = wave(2 * c.in, 0.7, 5).sin().reshape({2, c.in}).requires_grad_();
    const Variable y = m(x);
    (y * wave(y.numel(), 0.9, 0).cos().reshape(y.sizes())).sum().backward();
    Numbers got{mark(y), mark(x.grad())};
    for (const Variable& p : m->parameters()) got.push_back(mark(p.grad()));
    for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == Approx(c.expected[i]).epsilon(1e-10));
    CHECK(is_orthonormal(c.out < c.in ? m->weight.mT() : m->weight));
  }
}

TEST_CASE("an orthogonal parametrization starts from the existing weight") {
  const auto start = [](nn::Linear m, auto... how) {
    parametrizations::orthogonal(m, "weight", how...);
    return std::pair(mark(m->weight), mark(m->get_parameter("parametrizations.weight.original")));
  };
  CHECK(start(apart(3, 3)).first == Approx(-0.6409409292257617));
  CHECK(start(apart(4, 3)).first == Approx(-1.1581923447475237));
  const auto [tall, original] = start(apart(4, 3), "householder", false);
  CHECK(tall == Approx(-1.158192344747524));
  CHECK(original == Approx(0.41571597639413194));
  const auto [wide, original_wide] = start(apart(3, 4), "householder", false);
  CHECK(wide == Approx(0.7119788670616916));
  CHECK(original_wide == Approx(1.4358470953226201));
  const auto [mapped, kept] = start(apart(4, 3), "cayley", false);
  CHECK(mapped == Approx(-1.0695139655524026));
  CHECK(kept == Approx(-0.06706689748025703));

  // An orthonormal weight is unchanged.
  nn::Linear m = apart(3, 3);
  parametrizations::orthogonal(m);
  const Variable q = m->weight.detach().clone();
  parametrize::remove_parametrizations(m, "weight");
  parametrizations::orthogonal(m, "weight", "cayley");
  CHECK(allclose(m->weight, q, 0, 1e-15));
}

TEST_CASE("orthogonal weights stay orthogonal in training and can be assigned") {
  for (const char* map : {"matrix_exp", "cayley", "householder"}) {
    nn::Linear m = apart(4, 3);
    parametrizations::orthogonal(m, "weight", map);
    optim::SGD sgd(m->parameters(), 0.5);
    const Variable x = wave(6, 0.7, 5).sin().reshape({2, 3});
    const Variable before = m->weight.detach().clone();
    for (int i = 0; i < 3; ++i) {
      sgd.zero_grad();
      m(x).pow(2).sum().backward();
      sgd.step();
    }
    parametrize::refresh(*m);
    CHECK(is_orthonormal(m->weight));
    CHECK_FALSE(allclose(m->weight, before));
    parametrize::assign(*m, "weight", before);
    CHECK(allclose(m->weight, before, 1e-10, 1e-12));

    const auto copy = std::dynamic_pointer_cast<nn::LinearImpl>(m->clone());
    CHECK(equal(copy->forward(x), m(x)));
    NoGradGuard no_grad;
    copy->get_buffer("parametrizations.weight.0.base").mul_(2);
    CHECK_FALSE(equal(copy->forward(x), m(x)));
  }
}

TEST_CASE("an orthogonal parametrization of a batch makes each matrix orthogonal") {
  struct Batch : nn::Module {
    Batch() { weight = register_parameter("weight", randn({2, 4, 3}, kDouble)); }
    Variable weight;
  };
  Batch m;
  parametrizations::orthogonal(m);
  CHECK(is_orthonormal(m.weight[0]));
  CHECK(is_orthonormal(m.weight[1]));
}

TEST_CASE("orthogonal throws for invalid parameters and options") {
  nn::Linear m = linear(3, 3);
  CHECK_THROWS_WITH(parametrizations::orthogonal(m, "wieght"), Contains("has no parameter 'wieght'"));
  CHECK_THROWS_WITH(parametrizations::orthogonal(m, "bias"), Contains("expected a matrix"));
  CHECK_THROWS_WITH(parametrizations::orthogonal(m, "weight", "qr"), Contains("one of \"matrix_exp\""));
  parametrizations::orthogonal(m, "weight", "cayley", /*use_trivialization=*/false);
  CHECK_THROWS_WITH(parametrize::assign(*m, "weight", eye(3, kDouble)), Contains("use_trivialization"));
  nn::Linear other = linear(3, 3);
  parametrizations::orthogonal(other);
  CHECK_THROWS_WITH(parametrize::assign(*other, "weight", eye(2, kDouble)), Contains("of shape [3, 3]"));
}
