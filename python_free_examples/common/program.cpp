// The command line of the examples.
#include "common/program.h"

#include <ebb/ebb.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>

namespace example {

struct Program::Parser {
  explicit Parser(const std::string& description) : app(description) {}
  CLI::App app;
  std::string device = "cpu";
};

Program::Program(const std::string& description) : parser_(std::make_unique<Parser>(description)) {
  CLI::App& app = parser_->app;
  app.add_option("--device", parser_->device, "cpu, cuda or cuda:N; the CPU where there is no GPU")
      ->capture_default_str();
  app.add_option("--seed", settings_.seed, "of all that is drawn")->capture_default_str();
  app.add_option("--threads", settings_.threads, "CPU threads (default: all cores)")
      ->check(CLI::PositiveNumber);
  app.add_option("--out", settings_.out, "folder for pictures, curves and models")->capture_default_str();
  app.add_flag("--short", settings_.brief, "the small form, which the tests run");
}

Program::~Program() = default;

void Program::option(const std::string& name, std::int64_t& value, const std::string& help) {
  parser_->app.add_option(name, value, help)->capture_default_str();
}

void Program::option(const std::string& name, double& value, const std::string& help) {
  parser_->app.add_option(name, value, help)->capture_default_str();
}

void Program::option(const std::string& name, std::string& value, const std::string& help) {
  parser_->app.add_option(name, value, help)->capture_default_str();
}

void Program::option(const std::string& name, bool& value, const std::string& help) {
  parser_->app.add_flag(name, value, help);
}

int Program::run(int argc, char** argv, const std::function<int(const Settings&)>& body) {
  try {
    parser_->app.parse(argc, argv);
    settings_.device = ebb::Device(parser_->device);
    if (settings_.device.is_cuda() && !ebb::cuda::is_available()) {
      std::puts("There is no CUDA device here: on the CPU, then.");
      settings_.device = ebb::Device::CPU;
    }
    if (settings_.threads) ebb::set_num_threads(settings_.threads);
    ebb::manual_seed(settings_.seed);
    std::filesystem::create_directories(settings_.out);
    return body(settings_);
  } catch (const CLI::ParseError& e) {
    return parser_->app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

namespace {

int judge(const std::string& what, double value, double stated, const char* bound, bool reached) {
  std::printf("%s: %.4g (stated: %s %.4g, %s)\n", what.c_str(), value, bound, stated,
              reached ? "reached" : "NOT reached");
  return reached ? 0 : 1;
}

}  // namespace

int at_least(const std::string& what, double value, double stated) {
  return judge(what, value, stated, "at least", value >= stated);
}

int at_most(const std::string& what, double value, double stated) {
  return judge(what, value, stated, "at most", value <= stated);
}

}  // namespace example
