// Text token by token: how tokens are chosen, and what attention remembers from one to the next.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/core/random.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace ebb::models {

/// How generate() chooses a token: by temperature, then top_k, then top_p (Hugging Face's GenerationConfig).
class EBB_API GenerateOptions {
  EBB_ARG(double, temperature) = 1;  ///< divides the logits; 0 takes the likeliest token
  EBB_ARG(std::int64_t, top_k) = 0;  ///< draws among that many of the likeliest tokens; 0 among all
  /// Draws among the fewest likeliest tokens whose probabilities sum to it (Holtzman et al. 2020).
  EBB_ARG(double, top_p) = 1;
  EBB_ARG(bool, use_cache) = true;  ///< reads each token once; else all of them again for every new one
  EBB_ARG(optional<Generator>, generator);     ///< draws; the default generator unless given
  EBB_ARG(optional<std::int64_t>, eos_token);  ///< ends a sequence: it is repeated until all have ended
};

/// The keys and values of the tokens that a transformer has read, layer by layer, so that the next ones can
/// attend to them (Hugging Face's DynamicCache). One cache belongs to one batch of sequences.
class EBB_API KeyValueCache {
 public:
  explicit KeyValueCache(std::int64_t num_layers);
  /// How many tokens of each sequence have been read.
  std::int64_t length() const;
  /// Appends the keys and values [B, H, T, E] of T further tokens; returns those of all tokens. Throws for a
  /// layer that is not there, and for other batches or heads than before.
  std::tuple<Variable, Variable> update(std::int64_t layer, const Variable& keys, const Variable& values);

 private:
  struct Layer {
    Variable keys, values;
  };
  std::vector<Layer> layers_;
};

}  // namespace ebb::models
