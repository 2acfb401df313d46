// Text generation: sampling of tokens, and the key-value cache of attention.
#include <ebb/autograd/grad_mode.h>
#include <ebb/models/generate.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "models/language_model.h"

#include <limits>

namespace ebb::models {

KeyValueCache::KeyValueCache(std::int64_t num_layers) {
  EBB_CHECK(num_layers > 0, "KeyValueCache: num_layers must be above 0, got ", num_layers, ".");
  layers_.resize(static_cast<std::size_t>(num_layers));
}

std::int64_t KeyValueCache::length() const {
  const Variable& keys = layers_.front().keys;
  return keys.defined() ? keys.size(2) : 0;
}

std::tuple<Variable, Variable> KeyValueCache::update(std::int64_t layer, const Variable& keys,
                                                     const Variable& values) {
  EBB_CHECK(layer >= 0 && layer < static_cast<std::int64_t>(layers_.size()), "KeyValueCache: layer ", layer,
            " is out of range for ", layers_.size(),
            " layers. Construct the cache with the model's number of layers.");
  Layer& known = layers_[static_cast<std::size_t>(layer)];
  if (known.keys.defined()) {
    EBB_CHECK(keys.dim() == 4 && keys.size(0) == known.keys.size(0) && keys.size(1) == known.keys.size(1),
              "KeyValueCache: keys of shape ", keys.sizes(), " do not follow those of shape ",
              known.keys.sizes(), ". Use a new cache for other sequences.");
    known = {cat({known.keys, keys}, 2), cat({known.values, values}, 2)};
  } else {
    known = {keys, values};
  }
  return {known.keys, known.values};
}

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void check(const char* model, const GenerateOptions& options) {
  EBB_CHECK(options.temperature() >= 0, model, ": temperature must not be below 0, got ",
            options.temperature(), ".");
  EBB_CHECK(options.top_k() >= 0, model, ": top_k must not be below 0, got ", options.top_k(), ".");
  EBB_CHECK(options.top_p() > 0 && options.top_p() <= 1, model, ": top_p must be above 0 and at most 1, got ",
            options.top_p(), ".");
}

// Chooses the next tokens [B, 1] from logits [B, V].
Variable chosen(Variable logits, const GenerateOptions& options) {
  if (options.temperature() == 0) return logits.argmax(-1, /*keepdim=*/true);
  if (logits.dtype() != kDouble) logits = logits.to(kFloat);
  logits = logits / options.temperature();
  if (const std::int64_t k = options.top_k(); k > 0 && k < logits.size(-1)) {
    const Variable least = std::get<0>(logits.topk(k)).narrow(-1, k - 1, 1);
    logits = logits.masked_fill(logits < least, kNever);
  }
  if (options.top_p() < 1) {
    const auto [sorted, order] = softmax(logits, -1).sort(-1, /*descending=*/true);
    const Variable beyond = sorted.cumsum(-1) - sorted >= options.top_p();
    logits = logits.masked_fill(beyond.gather(-1, argsort(order, /*dim=*/-1, /*descending=*/false)), kNever);
  }
  return softmax(logits, -1).multinomial(1, /*replacement=*/false, options.generator());
}

}  // namespace

void check_ids(const char* model, const Variable& ids) {
  EBB_CHECK(ids.dim() == 2 && ids.dtype() == kLong, model, ": ids must be Long of shape [B, T], got ",
            ids.dtype(), " of shape ", ids.sizes(), ".");
}

void check_length(const char* model, std::int64_t length, std::int64_t limit, const char* option) {
  EBB_CHECK(length <= limit, model, ": ", length, " tokens are more than ", option, ", which is ", limit,
            ". Shorten ids, or make the model longer.");
}

Variable extended(const char* model, const Variable& ids, std::int64_t max_new_tokens,
                  const GenerateOptions& options, const NextLogits& next) {
  check_ids(model, ids);
  check(model, options);
  EBB_CHECK(ids.size(1) > 0, model, ": generate needs at least one token to continue, got ids of shape ",
            ids.sizes(), ".");
  EBB_CHECK(max_new_tokens >= 0, model, ": max_new_tokens must not be below 0, got ", max_new_tokens, ".");
  const NoGradGuard no_grad;
  Variable all = ids, unread = ids, ended;
  for (std::int64_t i = 0; i < max_new_tokens; ++i) {
    Variable token = chosen(next(options.use_cache() ? unread : all), options);
    if (options.eos_token()) {
      if (ended.defined()) token = token.masked_fill(ended, *options.eos_token());
      ended = token == *options.eos_token();
    }
    all = cat({all, token}, 1);
    unread = token;
    if (ended.defined() && ended.all().item<bool>()) break;
  }
  return all;
}

}  // namespace ebb::models
