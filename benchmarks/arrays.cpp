// Matrix products, transposed copies and sums of single tensors.
#include "bench.h"

namespace {

using torch::Tensor;

template <class F>
void add(const std::string& name, F make) {
  bench::add("arrays." + name, [make](benchmark::State& state) {
    torch::manual_seed(1);
    const torch::NoGradGuard no_grad;
    bench::measure(state, 1, "us", make());
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t n : {64, 128, 512, 2048}) {
    const std::string size = std::to_string(n);
    add("mm." + size, [n] { return [a = torch::randn({n, n}), b = torch::randn({n, n})] { a.mm(b); }; });
    add("mm.transposed." + size, [n] {
      return [a = torch::randn({n, n}), b = torch::randn({n, n})] { a.t().mm(b); };
    });
    add("copy.transposed." + size, [n] { return [a = torch::randn({n, n})] { a.t().contiguous(); }; });
    add("sum." + size, [n] { return [a = torch::randn({n, n})] { a.sum(); }; });
    add("sum.columns." + size, [n] { return [a = torch::randn({n, n})] { a.sum(0); }; });
    add("sum.rows." + size, [n] { return [a = torch::randn({n, n})] { a.sum(1); }; });
  }
  add("mm.row.4096", [] {
    return [a = torch::randn({1, 4096}), b = torch::randn({4096, 4096})] { a.mm(b); };
  });
  add("mm.few.rows.4096", [] {
    return [a = torch::randn({8, 4096}), b = torch::randn({4096, 4096})] { a.mm(b); };
  });
  return bench::run(argc, argv);
}
