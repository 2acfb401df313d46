// Fingerprint: statistics and hashes of a run's tensors in a file, and the first difference of two files.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ebb::nn {
class Module;
}

namespace ebb::watch {

/// Records, in the first steps of a run, the outputs of all modules, the gradients of these outputs, the
/// gradients of the parameters before a step of an optimizer, and the parameters after it:
///     watch::Fingerprint run(*model);
///     for (...) { ...; loss.backward(); optimizer.step(); }
///     run.write("cpu.jsonl");
/// Two files show the first place where two runs differ: on two devices, with other numbers of threads, or in
/// PyTorch (docs/debugging.md has a script that writes such a file). Hooks see only modules that are called
/// by their handles, fc(x), not fc->forward(x). The model must live longer. Use it on one thread, and not in
/// compiled functions.
class EBB_API Fingerprint {
 public:
  /// `steps` is the number of recorded steps of optimizers. Afterwards nothing is recorded.
  explicit Fingerprint(nn::Module& model, std::int64_t steps = 3);
  ~Fingerprint();
  Fingerprint(const Fingerprint&) = delete;
  Fingerprint& operator=(const Fingerprint&) = delete;

  /// Records another tensor, for example a batch or the loss.
  void add(const std::string& name, const Variable& x);
  /// Writes one line of JSON for each tensor, in the order of the run. Throws an error that names the file.
  void write(const std::string& path) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The result of compare_fingerprints.
struct FingerprintComparison {
  struct Difference {
    std::string place;      ///< "step 0, gradient of layer1.0.conv1, call 0"
    double relative_error;  ///< estimates |a - b| / |a|; infinite for other shapes or other numbers of NaN
    std::string first, second;  ///< the lines of the files
  };
  std::vector<Difference> differences;                     ///< in the order of the first run
  std::vector<std::string> only_in_first, only_in_second;  ///< places
  std::int64_t compared = 0;

  /// Returns the numbers of tensors, and the first difference.
  EBB_API std::string str() const;
};

/// Compares two files of Fingerprint::write. Without tolerances, tensors must have the same bits. With
/// tolerances, a tensor b is equal to a if |a - b| <= rtol |a| + atol sqrt(n) for their n elements. The norm
/// of a - b is estimated from the statistics: norm, mean, extremes, and the product with a fixed vector,
/// which detects elements in another order. Dtypes may then differ. Throws an error that names the file and
/// the line.
EBB_API FingerprintComparison compare_fingerprints(const std::string& first, const std::string& second,
                                                   double rtol = 0, double atol = 0);

}  // namespace ebb::watch
