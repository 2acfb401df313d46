// The classic tables: vector addition, matrix product and a dense layer on the CPU and on the GPU, with and
// without moving the data there and back.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <iostream>

#include "plot.h"
#include "workloads.h"

namespace {

std::string milliseconds(double seconds) { return seconds < 0 ? "-" : fmt::format("{:.4g}", seconds * 1e3); }

std::string ratio(double cpu, double gpu) { return gpu <= 0 ? "-" : fmt::format("{:.3g} x", cpu / gpu); }

void print(const Workload& w) {
  std::cout << '\n' << w.title << " (milliseconds)\n";
  std::cout << fmt::format("{:>12} {:>12} {:>12} {:>18} {:>10} {:>15}\n", w.size_name, "CPU", "GPU",
                           "GPU, transfer", "CPU/GPU", "with transfer");
  for (const Timing& t : w.timings)
    std::cout << fmt::format("{:>12} {:>12} {:>12} {:>18} {:>10} {:>15}\n", t.size, milliseconds(t.cpu),
                             milliseconds(t.gpu), milliseconds(t.gpu_with_transfer), ratio(t.cpu, t.gpu),
                             ratio(t.cpu, t.gpu_with_transfer));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times three workloads on the CPU and on the GPU.");
  std::int64_t elements = 100000000, matrix = 8192, layer = 4096;
  int threads = ebb::get_num_threads();
  std::string svg;
  app.add_option("--elements", elements, "the longest vectors to add, from 1000 on")
      ->check(CLI::Range(std::int64_t{1000}, std::int64_t{10000000000}))
      ->capture_default_str();
  app.add_option("--matrix", matrix, "the largest matrices to multiply, from 64 on")
      ->check(CLI::Range(64, 1 << 17))
      ->capture_default_str();
  app.add_option("--layer", layer, "the widest dense layer, from 64 on")
      ->check(CLI::Range(64, 1 << 17))
      ->capture_default_str();
  app.add_option("--threads", threads, "threads of the CPU")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--svg", svg, "also draw the figures into this file");
  CLI11_PARSE(app, argc, argv);

  try {
    ebb::set_num_threads(threads);
    const bool gpu = ebb::cuda::is_available();
    if (gpu)
      std::cout << "GPU: " << ebb::cuda::get_device_properties().name << '\n';
    else
      std::cout << "There is no CUDA device here: the CPU's figures alone.\n";
    std::cout << "CPU: " << threads << " threads\n";
    std::vector<Workload> all;
    print(all.emplace_back(vector_add(elements, gpu)));
    print(all.emplace_back(matrix_product(matrix, gpu)));
    print(all.emplace_back(dense_layer(layer, gpu)));
    if (!svg.empty()) {
      write_svg(svg, all);
      std::cout << "\ndrawn into " << svg << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
