// CPU against GPU: times vector additions, matrix products and a dense layer on both, with and without the
// transfer of the data to the GPU and back. Nothing is trained. It takes 40 s on two cores. The short form
// takes 1 s.
#include "common/program.h"
#include "workloads.h"

#include <fmt/format.h>

#include <iostream>

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

// Returns the chart of a workload: one curve for each device, over sizes.
ebb::watch::Figure chart_of(const Workload& w, bool gpu) {
  std::vector<double> sizes, cpu, on_gpu, with_transfer;
  for (const Timing& t : w.timings) {
    sizes.push_back(static_cast<double>(t.size));
    cpu.push_back(t.cpu), on_gpu.push_back(t.gpu), with_transfer.push_back(t.gpu_with_transfer);
  }
  ebb::watch::Figure figure(w.title, w.size_name, "seconds");
  figure.logarithmic_x().logarithmic_y().line("CPU", sizes, cpu);
  if (gpu) figure.line("GPU", sizes, on_gpu).line("GPU with transfer", sizes, with_transfer);
  return figure;
}

struct Options {
  std::int64_t elements = 0, matrix = 0, layer = 0;
  std::string svg = "cpu_vs_gpu.svg";
};

int run(const example::Settings& settings, Options options) {
  if (!options.elements) options.elements = settings.brief ? 10000 : 100000000;
  if (!options.matrix) options.matrix = settings.brief ? 64 : 8192;
  if (!options.layer) options.layer = settings.brief ? 64 : 4096;
  const bool gpu = ebb::cuda::is_available();
  if (gpu)
    std::cout << "GPU: " << ebb::cuda::get_device_properties().name << '\n';
  else
    std::cout << "There is no CUDA device here, so only the CPU is timed.\n";
  std::cout << "CPU: " << ebb::get_num_threads() << " threads\n";
  std::vector<Workload> all;
  print(all.emplace_back(vector_add(options.elements, gpu)));
  print(all.emplace_back(matrix_product(options.matrix, gpu)));
  print(all.emplace_back(dense_layer(options.layer, gpu)));
  std::vector<ebb::watch::Figure> charts;
  for (const Workload& w : all) charts.push_back(chart_of(w, gpu));
  std::cout << '\n';
  settings.draw(options.svg, ebb::watch::Figure::panels("CPU and GPU", charts, 3));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Times three workloads on the CPU and, if there is one, on the GPU.");
  Options options;
  program.option("--elements", options.elements,
                 "the longest vectors to add, from 1000 on (default: 100000000, with --short 10000)", 1000);
  program.option("--matrix", options.matrix,
                 "the largest matrices to multiply, from 64 on (default: 8192, with --short 64)", 64);
  program.option("--layer", options.layer,
                 "the widest dense layer, from 64 on (default: 4096, with --short 64)", 64);
  program.option("--svg", options.svg, "file of the chart, in the folder of --out");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, options); });
}
