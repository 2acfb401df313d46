// The evals of GradBench as a workload. Their functions are called directly and not by messages.
#include "bench.h"
#include "gradbench/eval.h"

namespace {

using gradbench::Json;

// Returns random numbers in the format of an eval's message.
Json numbers(std::vector<int64_t> sizes) { return gradbench::write(torch::rand(sizes, torch::kDouble)); }

// Adds all functions of an eval for one input, with their minimum work if it is known.
template <class Input>
void add(const std::string& name, const std::string& size, const gradbench::Eval& eval, Input input,
         const std::map<std::string, bench::Work>& work = {}) {
  for (const auto& [function, make] : eval) {
    const auto known = work.find(function);
    const bench::Work least = known == work.end() ? bench::Work() : known->second;
    bench::add("gradbench." + name + "." + function + "." + size, [=, make = make](benchmark::State& state) {
      torch::manual_seed(1);
      const gradbench::Call call = make(input());
      bench::measure(state, 1, "us", [&] { call.compute(); }, least);
    });
  }
}

Json mixture(int64_t d, int64_t k, int64_t n) {
  return {{"d", d},
          {"k", k},
          {"n", n},
          {"x", numbers({n, d})},
          {"m", 0},
          {"gamma", 1.0},
          {"alpha", numbers({k})},
          {"mu", numbers({k, d})},
          {"q", numbers({k, d})},
          {"l", numbers({k, d * (d - 1) / 2})}};
}

// Adds a mixture of k components. Each component multiplies a thousand d-dimensional points by a matrix. The
// gradients need twice as many multiplications.
void add_mixture(int64_t d, int64_t k) {
  const double products = 2 * 1000.0 * static_cast<double>(k * d * d);
  add("gmm", "d" + std::to_string(d) + ".k" + std::to_string(k), gradbench::gmm(),
      [=] { return mixture(d, k, 1000); },
      {{"objective", bench::double_flops(products)}, {"jacobian", bench::double_flops(3 * products)}});
}

Json recurrent(int64_t layers, int64_t length, int64_t width) {
  return {{"main_params", numbers({2 * layers, 4 * width})},
          {"extra_params", numbers({3, width})},
          {"state", numbers({2 * layers, width})},
          {"sequence", numbers({length, width})}};
}

Json scene(int64_t cameras, int64_t points, int64_t observations) {
  return {{"n", cameras},      {"m", points}, {"p", observations},   {"cam", numbers({11})},
          {"x", numbers({3})}, {"w", 0.5},    {"feat", numbers({2})}};
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t n : {1000, 100000})
    add("lse", std::to_string(n), gradbench::lse(), [=] { return Json{{"x", numbers({n})}}; });
  for (const int64_t n : {256, 16392})
    add("llsq", std::to_string(n), gradbench::llsq(), [=] { return Json{{"x", numbers({128})}, {"n", n}}; });
  for (const int64_t n : {1000, 100000})
    add("ode", std::to_string(n), gradbench::ode(), [=] { return Json{{"x", numbers({n})}, {"s", 10}}; });
  for (const int64_t size : {5, 8})
    add("det", std::to_string(size), gradbench::det(),
        [=] { return Json{{"A", numbers({size * size})}, {"ell", size}}; });
  for (const int64_t k : {10, 100})
    add("kmeans", std::to_string(k), gradbench::kmeans(),
        [=] {
          const Json points = numbers({10000, 16});
          return Json{{"points", points}, {"centroids", Json(points.begin(), points.begin() + k)}};
        },
        {{"cost", bench::double_flops(2 * 10000.0 * 16 * static_cast<double>(k))}});
  add_mixture(10, 25);
  add_mixture(64, 25);
  add("lstm", "l2.c1024", gradbench::lstm(), [] { return recurrent(2, 1024, 14); });
  add("ba", "p31843", gradbench::ba(), [] { return scene(49, 7776, 31843); });
  return bench::run(argc, argv);
}
