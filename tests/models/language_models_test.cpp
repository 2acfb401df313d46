// GPT-2 and LLaMA: results and names of Hugging Face, files, the cache, dropout, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

#include <cmath>
#include <sstream>

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

GPT2Config small_gpt2() { return GPT2Config(23).n_positions(16).n_embd(32).n_layer(2).n_head(4); }

void write(std::ostream& file, const safetensors::NamedTensors& tensors) {
  safetensors::write(file, tensors);
}

}  // namespace

TEST_CASE("GPT-2 gives the logits and gradients of Hugging Face") {
  waves::check(
      waves::prepared(GPT2LMHeadModel(small_gpt2())), waves::tokens(2, 9, 23),
      {-0.2509691857, -0.05180127633, 0.7490776119, 0.7701480077, -3.048535957},
      {-1.064560206, 1.386788084,   1.380022009,  0.7710541426,  -1.08660002,    -0.1613796064, -2.515238933,
       -1.514656501, -1.622648673,  0.5467745483, 0.3773609751,  -0.845133538,   -2.808026865,  -0.9951724544,
       0.4234674531, -0.2027128981, 0.1925861484, 0.1474053698,  -0.05661898945, -1.016918984,  -2.964217738,
       1.402131442,  0.3190747633,  1.065724553,  -0.7156938847, -0.8221046967,  0.8786201347,  3.101457215});
}

TEST_CASE("the published GPT-2 has the parameter names and shapes of Hugging Face") {
  CHECK(waves::hash_of_names(*nn::utils::skip_init<GPT2LMHeadModel>()) == 0x6274f76bef1c15c6);
}

TEST_CASE("GPT-2 initializes its weights as the original does") {
  manual_seed(0);
  const GPT2LMHeadModel net(small_gpt2().n_embd(64).n_layer(8));
  const auto state = net->state_dict();
  const auto std_of = [&](const std::string& name) {
    return state["transformer." + name].std().item<double>();
  };
  CHECK(std_of("wte.weight") == Approx(0.02).epsilon(0.1));
  CHECK(std_of("wpe.weight") == Approx(0.02).epsilon(0.1));
  CHECK(std_of("h.3.attn.c_attn.weight") == Approx(0.02).epsilon(0.1));
  CHECK(std_of("h.3.attn.c_proj.weight") == Approx(0.02 / 4).epsilon(0.1));
  CHECK(std_of("h.3.mlp.c_fc.weight") == Approx(0.02).epsilon(0.1));
  CHECK(std_of("h.3.mlp.c_proj.weight") == Approx(0.02 / 4).epsilon(0.1));
  CHECK(state["transformer.h.0.mlp.c_fc.bias"].abs().max().item<double>() == 0);
}

TEST_CASE("GPT-2 ties the head to the embedding unless tie_word_embeddings is false") {
  const GPT2LMHeadModel tied(small_gpt2()), untied(small_gpt2().tie_word_embeddings(false));
  CHECK(tied->lm_head->weight.is_same(tied->transformer->wte->weight));
  CHECK(untied->parameters().size() == tied->parameters().size() + 1);
  CHECK(untied->lm_head->weight.std().item<double>() == Approx(0.02).epsilon(0.2));
  const auto copy = std::dynamic_pointer_cast<GPT2LMHeadModelImpl>(tied->clone());
  REQUIRE(copy);
  CHECK(copy->lm_head->weight.is_same(copy->transformer->wte->weight));
  CHECK_FALSE(copy->lm_head->weight.is_alias_of(tied->lm_head->weight));
}

TEST_CASE("GPT-2 reads the files that Hugging Face publishes") {
  const GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small_gpt2()));
  safetensors::NamedTensors bare, full;
  for (const auto& item : net->state_dict()) {
    if (item.key() == "lm_head.weight") continue;
    full.emplace_back(item.key(), *item);
    bare.emplace_back(item.key().substr(std::string("transformer.").size()), *item);
  }
  for (const char* i : {"0", "1"}) {
    const std::string attention = std::string("h.") + i + ".attn.";
    bare.emplace_back(attention + "bias", ones({1, 1, 16, 16}).tril());
    full.emplace_back("transformer." + attention + "bias", ones({1, 1, 16, 16}).tril());
    full.emplace_back("transformer." + attention + "masked_bias", full_like(ones({}), -1e4));
  }
  for (const auto& tensors : {bare, full}) {
    std::stringstream file;
    write(file, tensors);
    GPT2LMHeadModel other(small_gpt2());
    other->to(kDouble);
    load(other, file, other->load_options());
    for (const auto& item : other->state_dict()) CHECK(equal(*item, net->state_dict()[item.key()]));
  }
}

TEST_CASE("GPT-2 gives the same result for a whole sequence and for parts that continue from its cache") {
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small_gpt2()));
  const NoGradGuard no_grad;
  const Variable ids = waves::tokens(2, 12, 23), all = net(ids);
  KeyValueCache cache(2);
  std::int64_t from = 0;
  // The first tokens, several later ones, a single one, and several again.
  for (const std::int64_t to : {4, 9, 10, 12}) {
    const Variable some = net->forward_with_cache(ids.slice(1, from, to), cache);
    CHECK(allclose(some, all.slice(1, from, to), 1e-10, 1e-12));
    CHECK(cache.length() == to);
    from = to;
  }
  CHECK_THROWS_WITH(net->forward_with_cache(ids.slice(1, 0, 5), cache), Contains("17 tokens"));
  CHECK_THROWS_WITH(net->forward_with_cache(ids.slice(0, 0, 1).slice(1, 0, 1), cache), Contains("new cache"));
}

TEST_CASE("gradients through the cache of GPT-2 equal those for the whole sequence") {
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small_gpt2()));
  const Variable ids = waves::tokens(2, 8, 23), weight = net->transformer->wte->weight;
  const Variable factors = waves::given({2, 8, 23}, 3);
  const Variable whole = autograd::grad({(net(ids) * factors).sum()}, {weight})[0];
  KeyValueCache cache(2);
  const Variable first = net->forward_with_cache(ids.slice(1, 0, 5), cache);
  const Variable second = net->forward_with_cache(ids.slice(1, 5, 8), cache);
  const Variable parts = autograd::grad({(cat({first, second}, 1) * factors).sum()}, {weight})[0];
  CHECK(allclose(parts, whole, 1e-9, 1e-11));
}

TEST_CASE("GPT-2 generates the same with and without its cache") {
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small_gpt2()));
  const Variable ids = waves::tokens(3, 4, 23);
  for (const double temperature : {0.0, 1.0}) {
    const auto text = [&](bool use_cache) {
      return net->generate(
          ids, 12, GenerateOptions().temperature(temperature).use_cache(use_cache).generator(Generator(5)));
    };
    const Variable with = text(true);
    CHECK(with.sizes() == IntArrayRef({3, 16}));
    CHECK(equal(with.slice(1, 0, 4), ids));
    CHECK(equal(with, text(false)));
    CHECK_FALSE(with.requires_grad());
  }
  // Greedy decoding selects the token with the largest logit.
  const Variable greedy = net->generate(ids, 5, GenerateOptions().temperature(0));
  CHECK(equal(net(greedy).argmax(-1).slice(1, 3, 8), greedy.slice(1, 4, 9)));
}

TEST_CASE("GPT-2 applies dropout only in training and returns the 16-bit dtype of its parameters") {
  GPT2LMHeadModel net =
      waves::prepared(GPT2LMHeadModel(small_gpt2().resid_pdrop(0).embd_pdrop(0).attn_pdrop(0.5)));
  const Variable ids = waves::tokens(1, 6, 23);
  CHECK(equal(net(ids), net(ids)));
  net->train();
  CHECK_FALSE(equal(net(ids), net(ids)));
  net->eval();
  const Variable exact = net(ids);
  net->to(kBFloat16);
  const Variable rounded = net(ids);
  CHECK(rounded.dtype() == kBFloat16);
  CHECK((rounded.to(kDouble) - exact).abs().max().item<double>() < 0.2);
}

TEST_CASE("GPT-2 refuses invalid options and inputs") {
  CHECK_THROWS_WITH(GPT2LMHeadModel(small_gpt2().n_head(5)), Contains("32 and 5"));
  GPT2LMHeadModel net(small_gpt2());
  CHECK_THROWS_WITH(net(waves::tokens(1, 17, 23)),
                    Contains("17 tokens are more than n_positions, which is 16"));
  CHECK_THROWS_WITH(net(zeros({1, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net(zeros({3}, kLong)), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net(full({1, 3}, 23, kLong)), Contains("23"));
  CHECK_THROWS_WITH(net->generate(waves::tokens(1, 4, 23), 13), Contains("17 tokens"));
}

namespace {

// Both implementations compute angles in float, but with different functions.
constexpr double kAngles = 1e-5;

LlamaConfig small_llama() {
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
  waves::check(waves::prepared(LlamaForCausalLM(small_llama())), waves::tokens(2, 9, 23),
               {0.1618847507, 0.04816073046, -0.4752212032, -0.06566414741, -5.78001335},
               {-0.2906514248, 0.1995086102, -0.005923151992, -0.1525819935, 2.644608239,   1.141248109,
                0.4834575232,  -1.269029466, 1.029080243,     0.4803100972,  0.05095337274, -0.1844203298,
                0.9547421381,  3.184916345,  1.235976083,     0.3721580597,  0.1635050409,  0.2276643528,
                1.241195866,   -13.44014577, -0.2069096358},
               kAngles);
}

TEST_CASE("LLaMA with tied embeddings gives the logits and gradients of Hugging Face") {
  waves::check(waves::prepared(LlamaForCausalLM(small_llama().tie_word_embeddings(true))),
               waves::tokens(2, 9, 23),
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
  const LlamaForCausalLM net(small_llama().hidden_size(64));
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
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small_llama()));
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

TEST_CASE("LLaMA gives the same result for a whole sequence and for parts that continue from its cache") {
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small_llama()));
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
  const LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small_llama().tie_word_embeddings(true)));
  safetensors::NamedTensors tensors;
  for (const auto& item : net->state_dict())
    if (item.key() != "lm_head.weight") tensors.emplace_back(item.key(), *item);
  for (const char* i : {"0", "1"})
    tensors.emplace_back("model.layers." + std::string(i) + ".self_attn.rotary_emb.inv_freq", ones({4}));
  std::stringstream file;
  safetensors::write(file, tensors);
  LlamaForCausalLM other(small_llama().tie_word_embeddings(true));
  other->to(kDouble);
  load(other, file, other->load_options());
  for (const auto& item : other->state_dict()) CHECK(equal(*item, net->state_dict()[item.key()]));
  CHECK(other->lm_head->weight.is_same(other->model->embed_tokens->weight));
  const auto copy = std::dynamic_pointer_cast<LlamaForCausalLMImpl>(other->clone());
  REQUIRE(copy);
  CHECK(copy->lm_head->weight.is_same(copy->model->embed_tokens->weight));
}

TEST_CASE("LLaMA returns the 16-bit dtype of its parameters or of autocast") {
  LlamaForCausalLM net = waves::prepared(LlamaForCausalLM(small_llama()));
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
  CHECK_THROWS_WITH(LlamaForCausalLM(small_llama().num_attention_heads(5)), Contains("32 and 5"));
  CHECK_THROWS_WITH(LlamaForCausalLM(small_llama().num_attention_heads(32)), Contains("even"));
  CHECK_THROWS_WITH(LlamaForCausalLM(small_llama().num_key_value_heads(3)), Contains("4 and 3"));
  LlamaForCausalLM net(small_llama().max_position_embeddings(8));
  CHECK_THROWS_WITH(net(waves::tokens(1, 9, 23)), Contains("max_position_embeddings, which is 8"));
  CHECK_THROWS_WITH(net(zeros({1, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net->generate(waves::tokens(1, 4, 23), 5), Contains("9 tokens"));
}
