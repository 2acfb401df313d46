// What every example begins with: its command line, device, seed and threads, and how it says what it
// reached.
#pragma once

#include <ebb/core/device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace example {

/// Options that all examples have.
struct Settings {
  ebb::Device device = ebb::Device::CPU;  ///< --device, which can be used
  std::uint64_t seed = 1;                 ///< --seed: of everything that is drawn
  int threads = 0;                        ///< --threads; 0: ebb's default
  bool brief = false;                     ///< --short: the same steps with a much shorter training
  std::string out = ".";                  ///< --out: the folder for pictures, curves and models
  /// A file in that folder; a path that begins with "/" stays as it is.
  std::string path(const std::string& name) const { return name.starts_with('/') ? name : out + "/" + name; }
};

/// Options that do not go together. It ends the program with exit code 2.
class WrongUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The least that an option for a fraction takes.
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
  explicit Program(const std::string& description);
  ~Program();
  /// Options of the example's own; what `value` holds is the default, and `help` names it where that is 0.
  /// Numbers below `least` are refused.
  void option(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t least = 1);
  void option(const std::string& name, double& value, const std::string& help,
              Least least = Least::kAboveZero);
  void option(const std::string& name, std::string& value, const std::string& help);
  void option(const std::string& name, bool& value, const std::string& help);

  /// Parses the arguments, makes the folder, seeds, sets the threads and returns what `body` does, 0 or 1.
  /// Help gives 0, an exception 1, a wrong argument 2 and Interrupted 130; each prints why.
  int run(int argc, char** argv, const std::function<int(const Settings&)>& body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Settings settings_;
};

/// Prints "test accuracy: 0.953 (stated: at least 0.95, reached)"; returns the exit code, 1 where it is not.
int at_least(const std::string& what, double value, double stated);
int at_most(const std::string& what, double value, double stated);

}  // namespace example
