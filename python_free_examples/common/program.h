// Program: the command line of an example, its device, seed, threads and page, and its stated result.
#pragma once

#include <ebb/watch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace example {

/// Options that all examples have.
struct Settings {
  ebb::Device device = ebb::Device::CPU;  ///< --device; it exists on this machine
  std::uint64_t seed = 1;                 ///< --seed: the seed of all random numbers
  int threads = 0;                        ///< --threads; 0: ebb's default
  bool brief = false;                     ///< --short: the same steps with a much shorter training
  std::string out = ".";                  ///< --out: the folder for pictures, curves and models
  /// Returns the path of a file in the folder `out`. A path that begins with "/" stays unchanged.
  std::string path(const std::string& name) const { return name.starts_with('/') ? name : out + "/" + name; }

  ebb::watch::Report* page = nullptr;  ///< --report: the page <out>/<example>.html; null without it
  /// Returns the page. Without --report, returns a recorder that records nothing.
  ebb::watch::Recorder& report() const;
  /// Writes a figure to a file in the folder `out`, prints the path, and adds the figure to the page.
  void draw(const std::string& name, const ebb::watch::Figure& figure) const;
};

/// Thrown for options that contradict each other. It ends the program with exit code 2.
class WrongUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The lower bound of an option for a floating number.
enum class Least { kAboveZero, kZero };

/// An example's command line.
///     int main(int argc, char** argv) {
///       example::Program program("Trains ...");
///       std::int64_t epochs = 0;
///       program.option("--epochs", epochs, "passes over the data");
///       return program.run(argc, argv, [&](const example::Settings& settings) { ...; return 0; });
///     }
class Program {
 public:
  /// With `always_reports`, the example writes its page also without --report.
  explicit Program(const std::string& description, bool always_reports = false);
  ~Program();
  /// Adds an option of the example. The initial `value` is the default; if `value` is 0, `help` must state
  /// the default. Numbers below `least` are refused.
  void option(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least = 1);
  void option(const std::string& name, double& value, const std::string& help,
              Least least = Least::kAboveZero);
  void option(const std::string& name, std::string& value, const std::string& help);
  void option(const std::string& name, bool& value, const std::string& help);

  /// Parses the arguments, creates the output folder and the page, sets the seed and the threads, and returns
  /// body(settings), which is 0 or 1. Returns 0 after --help. Prints a message and returns 1 after an
  /// exception, 2 after a wrong argument, and 130 after ebb::watch::Interrupted. Ctrl-C throws Interrupted
  /// from bars and from ebb::watch::check_interrupt().
  int run(int argc, char** argv, const std::function<int(const Settings&)>& body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Settings settings_;
  bool reports_;
};

/// Prints "test accuracy: 0.953 (stated: at least 0.95, reached)", and adds the value to the page. Returns
/// the exit code: 0 if the stated value is reached, otherwise 1.
int at_least(const std::string& what, double value, double stated);
int at_most(const std::string& what, double value, double stated);

}  // namespace example
