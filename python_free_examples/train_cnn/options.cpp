// The command line.
#include "options.h"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace {

constexpr const char* kFashion =
    "/usr/share/datasets/fashion-mnist";  // Debian's package dataset-fashion-mnist
constexpr const char* kDigits = EBB_EXAMPLES_DATA "/digits";

std::vector<std::string> numbered() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
  Options o;
  std::string device = "cpu";
  CLI::App app(
      "Trains the classic small CNN on images in the MNIST format.\n"
      "Without --data: Fashion-MNIST where Debian's dataset-fashion-mnist is installed, else 1,797 real "
      "digits.");
  app.add_option("--data", o.data, "folder with {train,t10k}-{images-idx3,labels-idx1}-ubyte, raw or .gz")
      ->check(CLI::ExistingDirectory);
  app.add_option("--epochs", o.epochs, "passes over the training images (default: 8; digits: 30)")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", o.batch, "images a step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--lr", o.lr, "Adam's learning rate (default: 0.001; digits: 0.003)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", o.seed, "of the initial weights and the order of the images")
      ->capture_default_str();
  app.add_option("--device", device, "cpu, cuda or cuda:N; the CPU where there is no GPU")
      ->capture_default_str();
  app.add_option("--threads", o.threads, "CPU threads (default: all cores)")->check(CLI::PositiveNumber);
  app.add_option("--save", o.save, "where the trained model goes")->capture_default_str();
  try {
    app.parse(argc, argv);
    o.device = ebb::Device(device);
    if (o.device.is_cuda() && !ebb::cuda::is_available()) {
      std::cout << "There is no CUDA device here: training on the CPU.\n";
      o.device = ebb::Device::CPU;
    }
  } catch (const CLI::ParseError& e) {
    exit_code = app.exit(e);
    return {};
  } catch (const ebb::Error& e) {
    std::cerr << e.what() << '\n';
    exit_code = 2;
    return {};
  }
  return o;
}

Source find_source(const Options& o) {
  using ebb::data::datasets::MNIST;
  const double lr = o.lr > 0 ? o.lr : 1e-3;
  if (!o.data.empty()) return {o.data, o.data, numbered(), o.epochs ? o.epochs : 8, lr};
  if (MNIST::present(kFashion))
    return {kFashion,
            "Fashion-MNIST",
            {"T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Boot"},
            o.epochs ? o.epochs : 8,
            lr};
  return {kDigits, "UCI handwritten digits", numbered(), o.epochs ? o.epochs : 30, o.lr > 0 ? o.lr : 3e-3};
}
