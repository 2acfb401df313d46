// LLaMA: results and names of Hugging Face, the cache, files, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

#include <sstream>

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

// Both implementations compute angles in float, but with different functions.
constexpr double kAngles = 1e-5;

LlamaConfig small() {
  return LlamaConfig(23)
      .hidden_size(32)
      .intermediate_size(40)
      .num_hidden_layers(2)
      .num_attention_heads(4)
      .num_key_value_heads(2)
      .rope_theta(500)
      .rms_norm_eps(1e-5);
}

}  // namespace

TEST_CASE("LLaMA gives the logits and gradients of Hugging Face") {
  waves::check(waves::prepared(LlamaForCausalLM(small())), waves::tokens(2, 9, 23),
               {0.1618847507, 0.04816073046, -0.4752212032, -0.06566414741, -5.78001335},
               {-0.2906514248, 0.1995086102, -0.005923151992, -0.1525819935, 2.644608239,   1.141248109,
                0.4834575232,  -1.269029466, 1.029080243,     0.4803100972,  0.05095337274, -0.1844203298,
                0.9547421381,  3.184916345,  1.235976083,     0.3721580597,  0.1635050409,  0.2276643528,
                1.241195866,   -13.44014577, -0.2069096358},
               kAngles);
}

TEST_CASE("LLaMA with tied embeddings gives the logits and gradients of Hugging Face") {
  waves::check(waves::prepared(LlamaForCausalLM(small().tie_word_embeddings(true))), waves::tokens(2, 9, 23),
               {0.3786787849, -0.18063234, -0.3402571731, -0.4589974219, -3.777549526},
               {7.460114568,      -0.03243024442, -0.1746018974, 1.65139387,   1.840614223,
                -0.1572149157,    0.8581880684,   -1.336542388,  -1.703622147, 1.434108976,
                -0.0004686817736, -0.326153999,   -1.470789841,  4.330405673,  -0.2041826182,
                -0.6552959048,    -1.860102732,   -0.6992328987, 1.243831133,  -5.02664442},
               kAngles);
}

// The 22 layers have equal shapes; two layers take less memory.
TEST_CASE("TinyLlama has the parameter names and shapes of Hugging Face") {
  const LlamaConfig tiny =
      LlamaConfig().hidden_size(2048).intermediate_size(5632).num_hidden_layers(2).num_key_value_heads(4);
  CHECK(waves::hash_of_names(*nn::utils::skip_init<LlamaForCausalLM>(tiny)) == 0x1f6dd8f48b246e2a);
}

TEST_CASE("LLaMA initializes its weights as the original does") {
  manual_seed(0);
  const LlamaForCausalLM net(small().hidden_size(64));
  const auto state = net->state_dict();
  for (const auto& item : state) {
    INFO(item.key());
    if (item->dim() == 1)
      CHECK(equal(*item, ones_like(*item)));
    else
      CHECK(item->std().item<double>() == Approx(0.02).epsilon(0.1));
  }
}

TEST_CASE("LLaMA attention is causal and depends on relative positions") {
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small()));
  const NoGradGuard no_grad;
  const Variable ids = waves::tokens(1, 9, 23);
  Variable other = ids.clone();
  other[0][6] = 1;
  const Variable a = net(ids), b = net(other);
  CHECK(equal(a.slice(1, 0, 6), b.slice(1, 0, 6)));
  CHECK_FALSE(allclose(a.select(1, 8), b.select(1, 8)));
  // For equal tokens only the positions differ, and attention over equal values does not depend on them.
  const Variable equal_tokens = net(full({1, 5}, 3, kLong));
  CHECK(allclose(equal_tokens.select(1, 0), equal_tokens.select(1, 4)));
}

TEST_CASE("LLaMA continued from its cache gives the result of the whole sequence") {
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small()));
  const NoGradGuard no_grad;
  const Variable ids = waves::tokens(2, 12, 23), all = net(ids);
  KeyValueCache cache(2);
  std::int64_t from = 0;
  for (const std::int64_t to : {4, 9, 10, 12}) {
    const Variable some = net->forward_with_cache(ids.slice(1, from, to), cache);
    CHECK(allclose(some, all.slice(1, from, to), 1e-10, 1e-12));
    from = to;
  }
  for (const double temperature : {0.0, 1.0}) {
    const auto text = [&](bool use_cache) {
      return net->generate(
          ids, 20, GenerateOptions().temperature(temperature).use_cache(use_cache).generator(Generator(5)));
    };
    CHECK(equal(text(true), text(false)));
  }
}

TEST_CASE("LLaMA reads files that contain rotary frequencies or omit the tied head") {
  const LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small().tie_word_embeddings(true)));
  safetensors::NamedTensors tensors;
  for (const auto& item : net->state_dict())
    if (item.key() != "lm_head.weight") tensors.emplace_back(item.key(), *item);
  for (const char* i : {"0", "1"})
    tensors.emplace_back("model.layers." + std::string(i) + ".self_attn.rotary_emb.inv_freq", ones({4}));
  std::stringstream file;
  safetensors::write(file, tensors);
  LlamaForCausalLM other(small().tie_word_embeddings(true));
  other->to(kDouble);
  load(other, file, other->load_options());
  for (const auto& item : other->state_dict()) CHECK(equal(*item, net->state_dict()[item.key()]));
  CHECK(other->lm_head->weight.is_same(other->model->embed_tokens->weight));
  const auto copy = std::dynamic_pointer_cast<LlamaForCausalLMImpl>(other->clone());
  REQUIRE(copy);
  CHECK(copy->lm_head->weight.is_same(copy->model->embed_tokens->weight));
}

TEST_CASE("LLaMA keeps a 16-bit dtype and computes in 16 bits under autocast") {
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small()));
  const Variable ids = waves::tokens(1, 6, 23), exact = net(ids);
  net->to(kFloat);
  {
    const amp::autocast lower(kCPU, kBFloat16);
    const Variable mixed = net(ids);
    CHECK(mixed.dtype() == kBFloat16);
    CHECK((mixed.to(kDouble) - exact).abs().max().item<double>() < 0.2);
  }
  net->to(kBFloat16);
  const Variable rounded = net(ids);
  CHECK(rounded.dtype() == kBFloat16);
  CHECK((rounded.to(kDouble) - exact).abs().max().item<double>() < 0.2);
}

TEST_CASE("LLaMA refuses invalid options and inputs") {
  CHECK_THROWS_WITH(LlamaForCausalLM(small().num_attention_heads(5)), Contains("32 and 5"));
  CHECK_THROWS_WITH(LlamaForCausalLM(small().num_attention_heads(32)), Contains("even"));
  CHECK_THROWS_WITH(LlamaForCausalLM(small().num_key_value_heads(3)), Contains("4 and 3"));
  LlamaForCausalLM net(small().max_position_embeddings(8));
  CHECK_THROWS_WITH(net(waves::tokens(1, 9, 23)), Contains("max_position_embeddings, which is 8"));
  CHECK_THROWS_WITH(net(zeros({1, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net->generate(waves::tokens(1, 4, 23), 5), Contains("9 tokens"));
}
