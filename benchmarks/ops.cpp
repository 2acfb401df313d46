// Ops on a million elements without gradients: microseconds per call.
#include "bench.h"

namespace {

using torch::Tensor;

// The arguments of the calls.
struct Given {
  Tensor x = torch::randn({1000, 1000}), small = torch::randn({300, 32});
  Tensor places = torch::randint(1000, {1000, 1000}, torch::kLong),
         rows = torch::randint(1000, {500}, torch::kLong);
  Tensor line = torch::arange(1000, torch::kFloat);
};

// Returns the traffic of `count` arrays of a million floats.
bench::Work arrays(double count) { return bench::bytes(4e6 * count); }

template <class Call>
void add(const std::string& name, const bench::Work& work, Call call) {
  bench::add("ops." + name, [=](benchmark::State& state) {
    torch::manual_seed(1);
    const Given given;
    const torch::NoGradGuard no_grad;
    bench::measure(state, 1, "us", [&] { call(given); }, work);
  });
}

// Adds searches, factorizations and similar ops, which no roof bounds.
template <class Call>
void add(const std::string& name, Call call) {
  add(name, bench::Work(), call);
}

void add_elementwise() {
  add("add", arrays(2), [](const Given& g) { g.x + g.x; });
  add("add.column", arrays(2), [](const Given& g) { g.x + g.x.slice(1, 0, 1); });
  add("addcmul", arrays(2), [](const Given& g) { torch::addcmul(g.x, g.x, g.x); });
  add("clamp", arrays(2), [](const Given& g) { g.x.clamp(-1, 1); });
  add("eq", arrays(1.25), [](const Given& g) { g.x == g.x; });
  add("exp", arrays(2), [](const Given& g) { g.x.exp(); });
  add("floor_divide.int64", arrays(4), [](const Given& g) { torch::floor_divide(g.places, 7); });
  add("gelu", arrays(2), [](const Given& g) { torch::gelu(g.x); });
  add("pow", arrays(2), [](const Given& g) { g.x.pow(2.5); });
  add("tanh", arrays(2), [](const Given& g) { g.x.tanh(); });
  add("to.double", arrays(3), [](const Given& g) { g.x.to(torch::kDouble); });
  add("to.bfloat16", arrays(1.5), [](const Given& g) { g.x.to(torch::kBFloat16); });
  add("where", arrays(2), [](const Given& g) { torch::where(g.x > 0, g.x, g.x * 2); });
}

void add_reductions() {
  add("sum", arrays(1), [](const Given& g) { g.x.sum(); });
  add("sum.0", arrays(1), [](const Given& g) { g.x.sum(0); });
  add("sum.1", arrays(1), [](const Given& g) { g.x.sum(1); });
  add("argmax.0", arrays(1), [](const Given& g) { g.x.argmax(0); });
  add("max.1", arrays(1), [](const Given& g) { g.x.max(1); });
  add("norm", arrays(1), [](const Given& g) { g.x.norm(); });
  add("var.0", arrays(1), [](const Given& g) { g.x.var(0); });
  add("var.1", arrays(1), [](const Given& g) { g.x.var(1); });
  add("softmax.0", arrays(2), [](const Given& g) { g.x.softmax(0); });
  add("softmax.1", arrays(2), [](const Given& g) { g.x.softmax(1); });
  add("logsumexp", arrays(1), [](const Given& g) { g.x.logsumexp(1); });
  add("cumsum.0", arrays(2), [](const Given& g) { g.x.cumsum(0); });
  add("cumsum.1", arrays(2), [](const Given& g) { g.x.cumsum(1); });
}

void add_moves() {
  add("cat.0", arrays(3), [](const Given& g) { torch::cat({g.x, g.x}, 0); });
  add("cat.1", arrays(3), [](const Given& g) { torch::cat({g.x, g.x}, 1); });
  add("transpose", arrays(2), [](const Given& g) { g.x.t().contiguous(); });
  add("permute.0213", arrays(2),
      [](const Given& g) { g.x.view({10, 100, 10, 100}).permute({0, 2, 1, 3}).contiguous(); });
  add("permute.0231", arrays(2),
      [](const Given& g) { g.x.view({10, 100, 10, 100}).permute({0, 2, 3, 1}).contiguous(); });
  add("flip", arrays(2), [](const Given& g) { g.x.flip({1}); });
  add("roll", arrays(2), [](const Given& g) { g.x.roll(7, 1); });
  add("tril", arrays(2), [](const Given& g) { g.x.tril(); });
  add("gather", arrays(4), [](const Given& g) { g.x.gather(1, g.places); });
  add("scatter_add", arrays(4),
      [](const Given& g) { torch::zeros_like(g.x).scatter_add_(1, g.places, g.x); });
  add("index_select.0", arrays(1), [](const Given& g) { g.x.index_select(0, g.rows); });
  add("index_select.1", arrays(1), [](const Given& g) { g.x.index_select(1, g.rows); });
  add("index_add", arrays(2.5),
      [](const Given& g) { g.x.clone().index_add_(0, g.rows, g.x.slice(0, 0, 500)); });
  add("masked_fill", arrays(2), [](const Given& g) { g.x.masked_fill(g.x > 0, 1.0); });
  add("masked_select", arrays(1.5), [](const Given& g) { g.x.masked_select(g.x > 0); });
  add("nonzero", arrays(3), [](const Given& g) { (g.x > 0).nonzero(); });
  add("nonzero.transposed", arrays(3), [](const Given& g) { (g.x > 0).t().nonzero(); });
}

void add_searches() {
  add("sort", [](const Given& g) { g.x.sort(1); });
  add("sort.int64", [](const Given& g) { g.places.sort(1); });
  add("sort.all", [](const Given& g) { g.x.view({-1}).sort(); });
  add("topk", [](const Given& g) { g.x.topk(10); });
  add("unique", [](const Given& g) { torch::_unique2(g.places); });
  add("bincount", [](const Given& g) { g.places.view({-1}).bincount(); });
  add("searchsorted", [](const Given& g) { torch::searchsorted(g.line, g.x); });
}

void add_others() {
  add("rand", arrays(1), [](const Given&) { torch::rand({1000, 1000}); });
  add("randn", arrays(1), [](const Given&) { torch::randn({1000, 1000}); });
  add("dropout", arrays(2), [](const Given& g) { torch::dropout(g.x, 0.5, true); });
  add("randperm", [](const Given&) { torch::randperm(100000); });
  add("cdist", [](const Given& g) { torch::cdist(g.small, g.small); });
  add("matmul.512", bench::flops(2.0 * 512 * 512 * 512), [](const Given& g) {
    const Tensor a = g.x.slice(0, 0, 512).slice(1, 0, 512);
    torch::mm(a, a);
  });
  add("mv", arrays(1), [](const Given& g) { torch::mv(g.x, g.line); });
  add("inverse.64", [](const Given& g) { torch::inverse(g.x.slice(0, 0, 64).slice(1, 0, 64).contiguous()); });
  add("det.200", [](const Given& g) { torch::det(g.x.slice(0, 0, 200).slice(1, 0, 200).contiguous()); });
}

}  // namespace

int main(int argc, char** argv) {
  add_elementwise();
  add_reductions();
  add_moves();
  add_searches();
  add_others();
  return bench::run(argc, argv);
}
