// GenerateOptions and KeyValueCache: token-by-token text generation.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/core/random.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace ebb::models {

/// Options of generate(). The logits are divided by temperature, then limited by top_k, then by top_p
/// (Hugging Face's GenerationConfig).
class EBB_API GenerateOptions {
  EBB_ARG(double, temperature) = 1;  ///< divides the logits; 0 selects the most likely token
  EBB_ARG(std::int64_t, top_k) = 0;  ///< samples among the top_k most likely tokens; 0: all tokens
  /// Samples among the smallest set of most likely tokens whose probabilities sum to top_p (Holtzman et al.
  /// 2020).
  EBB_ARG(double, top_p) = 1;
  EBB_ARG(bool, use_cache) = true;  ///< reads each token once; if false, reads all tokens again for each new
                                    ///< one
  EBB_ARG(optional<Generator>, generator);     ///< the default generator unless given
  EBB_ARG(optional<std::int64_t>, eos_token);  ///< ends a sequence; it is repeated until all sequences have
                                               ///< ended
};

/// Key-value cache of a transformer: the keys and values of the tokens read so far, for each layer (Hugging
/// Face's DynamicCache). One cache belongs to one batch of sequences.
class EBB_API KeyValueCache {
 public:
  explicit KeyValueCache(std::int64_t num_layers);
  /// Returns the number of tokens read in each sequence.
  std::int64_t length() const;
  /// Appends the keys and values [B, H, T, E] of T new tokens. Returns the keys and values of all tokens.
  /// Throws for a missing layer, and if the batch size or the number of heads differs from earlier calls.
  std::tuple<Variable, Variable> update(std::int64_t layer, const Variable& keys, const Variable& values);

 private:
  struct Layer {
    Variable keys, values;
  };
  std::vector<Layer> layers_;
};

}  // namespace ebb::models
