// A program outside ebb that uses ebb::watch.
#include <ebb/watch.h>

#include <fstream>
#include <iostream>
#include <vector>

int main() {
  ebb::nn::Sequential net(ebb::nn::Linear(4, 3), ebb::nn::ReLU(), ebb::nn::Linear(3, 2));
  const auto table = ebb::watch::summary(net, ebb::zeros({1, 4}));
  ebb::watch::Classification valid(2);
  ebb::watch::Report report("run.html");
  for (const int step : ebb::watch::progress(std::vector{0, 1, 2}, "steps")) {
    valid.update(net->forward(ebb::ones({2, 4})), ebb::zeros({2}, ebb::kLong));
    report.add_scalar("accuracy", valid.accuracy(), step);
  }
  report.add_summary(table.str());
  report.close();
  std::cout << table;
  return std::ifstream("run.html").good() ? 0 : 1;
}
