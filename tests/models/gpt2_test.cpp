// GPT-2: results and names of Hugging Face, files, the cache, dropout, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

#include <cmath>
#include <sstream>

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

GPT2Config small() { return GPT2Config(23).n_positions(16).n_embd(32).n_layer(2).n_head(4); }

void write(std::ostream& file, const safetensors::NamedTensors& tensors) {
  safetensors::write(file, tensors);
}

}  // namespace

TEST_CASE("GPT-2 gives the logits and gradients of Hugging Face") {
  waves::check(
      waves::prepared(GPT2LMHeadModel(small())), waves::tokens(2, 9, 23),
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
  const GPT2LMHeadModel net(small().n_embd(64).n_layer(8));
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
  const GPT2LMHeadModel tied(small()), untied(small().tie_word_embeddings(false));
  CHECK(tied->lm_head->weight.is_same(tied->transformer->wte->weight));
  CHECK(untied->parameters().size() == tied->parameters().size() + 1);
  CHECK(untied->lm_head->weight.std().item<double>() == Approx(0.02).epsilon(0.2));
  const auto copy = std::dynamic_pointer_cast<GPT2LMHeadModelImpl>(tied->clone());
  REQUIRE(copy);
  CHECK(copy->lm_head->weight.is_same(copy->transformer->wte->weight));
  CHECK_FALSE(copy->lm_head->weight.is_alias_of(tied->lm_head->weight));
}

TEST_CASE("GPT-2 reads the files that Hugging Face publishes") {
  const GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small()));
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
    GPT2LMHeadModel other(small());
    other->to(kDouble);
    load(other, file, other->load_options());
    for (const auto& item : other->state_dict()) CHECK(equal(*item, net->state_dict()[item.key()]));
  }
}

TEST_CASE("GPT-2 continued from its cache gives the result of the whole sequence") {
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small()));
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

TEST_CASE("gradients through the cache of GPT-2 equal those of the whole sequence") {
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small()));
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
  GPT2LMHeadModel net = waves::prepared(GPT2LMHeadModel(small()));
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

TEST_CASE("GPT-2 applies dropout only in training and keeps a 16-bit dtype") {
  GPT2LMHeadModel net =
      waves::prepared(GPT2LMHeadModel(small().resid_pdrop(0).embd_pdrop(0).attn_pdrop(0.5)));
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
  CHECK_THROWS_WITH(GPT2LMHeadModel(small().n_head(5)), Contains("32 and 5"));
  GPT2LMHeadModel net(small());
  CHECK_THROWS_WITH(net(waves::tokens(1, 17, 23)),
                    Contains("17 tokens are more than n_positions, which is 16"));
  CHECK_THROWS_WITH(net(zeros({1, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net(zeros({3}, kLong)), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net(full({1, 3}, 23, kLong)), Contains("23"));
  CHECK_THROWS_WITH(net->generate(waves::tokens(1, 4, 23), 13), Contains("17 tokens"));
}
