// Draws the curves of the workload growth: `bench_growth_charts figures.csv growth.svg`. The CSV is the one
// that `benchmarks/run -o FOLDER growth` writes.
#include <ebb/core/error.h>
#include <ebb/watch/figure.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using ebb::watch::Figure;

struct Axis {
  const char* name;
  const char* title;
};
constexpr Axis kAxes[] = {{"batch", "batch, 3 layers of 256 units"},
                          {"width", "units a layer, 3 layers, batch 32"},
                          {"depth", "layers of 64 units, batch 32"},
                          {"graph", "nodes of a chain"},
                          {"parameters", "parameters, a step of Adam"}};

struct Curve {
  std::vector<double> x, y;
};
// The curves of all sides, by "time.batch" and the name of the side.
using Curves = std::map<std::string, std::map<std::string, Curve>>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

Curves read(const std::string& path) {
  std::ifstream file(path);
  EBB_CHECK(file, "growth_charts: the file ", path, " cannot be read.");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> titles = cells_of(line);
  Curves curves;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    const std::string prefix = "growth.";
    const std::size_t dot = cells[0].rfind('.');
    if (cells[0].rfind(prefix, 0) != 0 || dot < prefix.size()) continue;
    const std::string name = cells[0].substr(prefix.size(), dot - prefix.size());
    for (std::size_t i = 2; i < cells.size() && titles[i] != "ratio"; ++i) {
      if (cells[i].empty() || titles[i] == "replay") continue;
      Curve& curve = curves[name][titles[i]];
      curve.x.push_back(std::stod(cells[0].substr(dot + 1)));
      curve.y.push_back(std::stod(cells[i]));
    }
  }
  return curves;
}

Figure chart(const Curves& curves, const Axis& axis, const std::string& quantity, const std::string& unit) {
  Figure figure("", axis.title, quantity + ", " + unit);
  figure.logarithmic_x().logarithmic_y().size(330, 220);
  const auto found = curves.find(quantity + "." + axis.name);
  EBB_CHECK(found != curves.end(), "growth_charts: there is no ", quantity, " for ", axis.name,
            ". Run the whole workload growth.");
  for (const auto& [side, curve] : found->second)
    figure.line(side == "wheel" ? "torch" : side == "torch" ? "libtorch" : side, curve.x, curve.y);
  return figure;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    EBB_CHECK(argc == 3, "usage: bench_growth_charts FIGURES.csv OUT.svg");
    const Curves curves = read(argv[1]);
    std::vector<Figure> figures;
    for (const Axis& axis : kAxes) {
      figures.push_back(chart(curves, axis, "time", "ms"));
      figures.push_back(chart(curves, axis, "memory", "MiB"));
    }
    Figure::panels("Time and memory of a step as it grows", figures, 2).write(argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
