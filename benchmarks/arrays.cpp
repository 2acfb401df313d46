// Matrix products, transposed copies and sums of single tensors, and products of tall matrices and vectors.
#include "bench.h"

namespace {

using torch::Tensor;

template <class F>
void add(const std::string& name, const bench::Work& work, F make) {
  bench::add("arrays." + name, [make, work](benchmark::State& state) {
    torch::manual_seed(1);
    const torch::NoGradGuard no_grad;
    bench::measure(state, 1, "us", make(), work);
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t n : {64, 128, 512, 2048}) {
    const std::string size = std::to_string(n);
    const double elements = static_cast<double>(n) * static_cast<double>(n);
    const bench::Work product = bench::flops(2 * elements * static_cast<double>(n));
    const bench::Work copied = bench::bytes(8 * elements), summed = bench::bytes(4 * elements);
    add("mm." + size, product,
        [n] { return [a = torch::randn({n, n}), b = torch::randn({n, n})] { a.mm(b); }; });
    add("mm.transposed." + size, product,
        [n] { return [a = torch::randn({n, n}), b = torch::randn({n, n})] { a.t().mm(b); }; });
    add("copy.transposed." + size, copied,
        [n] { return [a = torch::randn({n, n})] { a.t().contiguous(); }; });
    add("sum." + size, summed, [n] { return [a = torch::randn({n, n})] { a.sum(); }; });
    add("sum.columns." + size, summed, [n] { return [a = torch::randn({n, n})] { a.sum(0); }; });
    add("sum.rows." + size, summed, [n] { return [a = torch::randn({n, n})] { a.sum(1); }; });
  }
  const bench::Work matrix = bench::bytes(4.0 * 4096 * 4096);
  add("mm.row.4096", matrix,
      [] { return [a = torch::randn({1, 4096}), b = torch::randn({4096, 4096})] { a.mm(b); }; });
  add("mm.few.rows.4096", matrix,
      [] { return [a = torch::randn({8, 4096}), b = torch::randn({4096, 4096})] { a.mm(b); }; });
  // Tall matrices as in least squares: times a vector, and transposed as in the gradient.
  for (const auto& [type, dtype] : {std::pair("float", torch::kFloat), std::pair("double", torch::kDouble)})
    for (const int64_t columns : {3, 8, 128}) {
      const std::string name = "." + std::to_string(columns) + "." + type;
      const int64_t rows = (int64_t{1} << 21) / columns;
      const bench::Work read =
          bench::bytes(static_cast<double>(rows * columns) * (dtype == torch::kFloat ? 4 : 8));
      add("mv.tall" + name, read, [=, dtype = dtype] {
        return [a = torch::rand({rows, columns}, dtype), x = torch::rand({columns}, dtype)] { a.mv(x); };
      });
      add("mv.tall.transposed" + name, read, [=, dtype = dtype] {
        return [a = torch::rand({rows, columns}, dtype), x = torch::rand({rows}, dtype)] { a.t().mv(x); };
      });
    }
  return bench::run(argc, argv);
}
