// Ops on a million elements, as programs call them: microseconds a call, without gradients.
#include "bench.h"

namespace {

using torch::Tensor;

// What they are called with.
struct Given {
  Tensor x = torch::randn({1000, 1000}), small = torch::randn({300, 32});
  Tensor places = torch::randint(1000, {1000, 1000}, torch::kLong),
         rows = torch::randint(1000, {500}, torch::kLong);
  Tensor line = torch::arange(1000, torch::kFloat);
};

template <class Call>
void add(const std::string& name, Call call) {
  bench::add("ops." + name, [=](benchmark::State& state) {
    torch::manual_seed(1);
    const Given given;
    const torch::NoGradGuard no_grad;
    bench::measure(state, 1, "us", [&] { call(given); });
  });
}

void add_elementwise() {
  add("add", [](const Given& g) { g.x + g.x; });
  add("add.column", [](const Given& g) { g.x + g.x.slice(1, 0, 1); });
  add("addcmul", [](const Given& g) { torch::addcmul(g.x, g.x, g.x); });
  add("clamp", [](const Given& g) { g.x.clamp(-1, 1); });
  add("eq", [](const Given& g) { g.x == g.x; });
  add("exp", [](const Given& g) { g.x.exp(); });
  add("floor_divide.int64", [](const Given& g) { torch::floor_divide(g.places, 7); });
  add("gelu", [](const Given& g) { torch::gelu(g.x); });
  add("pow", [](const Given& g) { g.x.pow(2.5); });
  add("tanh", [](const Given& g) { g.x.tanh(); });
  add("to.double", [](const Given& g) { g.x.to(torch::kDouble); });
  add("to.bfloat16", [](const Given& g) { g.x.to(torch::kBFloat16); });
  add("where", [](const Given& g) { torch::where(g.x > 0, g.x, g.x * 2); });
}

void add_reductions() {
  add("sum", [](const Given& g) { g.x.sum(); });
  add("sum.0", [](const Given& g) { g.x.sum(0); });
  add("sum.1", [](const Given& g) { g.x.sum(1); });
  add("argmax.0", [](const Given& g) { g.x.argmax(0); });
  add("max.1", [](const Given& g) { g.x.max(1); });
  add("norm", [](const Given& g) { g.x.norm(); });
  add("var.0", [](const Given& g) { g.x.var(0); });
  add("var.1", [](const Given& g) { g.x.var(1); });
  add("softmax.0", [](const Given& g) { g.x.softmax(0); });
  add("softmax.1", [](const Given& g) { g.x.softmax(1); });
  add("logsumexp", [](const Given& g) { g.x.logsumexp(1); });
  add("cumsum.0", [](const Given& g) { g.x.cumsum(0); });
  add("cumsum.1", [](const Given& g) { g.x.cumsum(1); });
}

void add_moves() {
  add("cat.0", [](const Given& g) { torch::cat({g.x, g.x}, 0); });
  add("cat.1", [](const Given& g) { torch::cat({g.x, g.x}, 1); });
  add("transpose", [](const Given& g) { g.x.t().contiguous(); });
  add("permute.0213", [](const Given& g) {
    g.x.view({10, 100, 10, 100}).permute({0, 2, 1, 3}).contiguous();
  });
  add("permute.0231", [](const Given& g) {
    g.x.view({10, 100, 10, 100}).permute({0, 2, 3, 1}).contiguous();
  });
  add("flip", [](const Given& g) { g.x.flip({1}); });
  add("roll", [](const Given& g) { g.x.roll(7, 1); });
  add("tril", [](const Given& g) { g.x.tril(); });
  add("gather", [](const Given& g) { g.x.gather(1, g.places); });
  add("scatter_add", [](const Given& g) { torch::zeros_like(g.x).scatter_add_(1, g.places, g.x); });
  add("index_select.0", [](const Given& g) { g.x.index_select(0, g.rows); });
  add("index_select.1", [](const Given& g) { g.x.index_select(1, g.rows); });
  add("index_add", [](const Given& g) { g.x.clone().index_add_(0, g.rows, g.x.slice(0, 0, 500)); });
  add("masked_fill", [](const Given& g) { g.x.masked_fill(g.x > 0, 1.0); });
  add("masked_select", [](const Given& g) { g.x.masked_select(g.x > 0); });
  add("nonzero", [](const Given& g) { (g.x > 0).nonzero(); });
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
  add("rand", [](const Given&) { torch::rand({1000, 1000}); });
  add("randn", [](const Given&) { torch::randn({1000, 1000}); });
  add("dropout", [](const Given& g) { torch::dropout(g.x, 0.5, true); });
  add("randperm", [](const Given&) { torch::randperm(100000); });
  add("cdist", [](const Given& g) { torch::cdist(g.small, g.small); });
  add("matmul.512", [](const Given& g) {
    const Tensor a = g.x.slice(0, 0, 512).slice(1, 0, 512);
    torch::mm(a, a);
  });
  add("mv", [](const Given& g) { torch::mv(g.x, g.line); });
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
