// summary: the figures of torchinfo for the networks of ebb::models.
#include <ebb/models.h>

#include "summary_rows.h"
#include "support/files.h"

#include <fstream>
#include <map>
#include <sstream>

using namespace ebb;
using watch::Summary;
using watch::summary;
using watch::SummaryRow;

namespace {

// The rows that torchinfo 1.8.0 prints, from data/summary.txt.
struct Recorded {
  struct Call {
    std::string path, type;
    std::vector<std::int64_t> output;
    std::int64_t params = 0, mult_adds = 0;
  };
  std::int64_t params = 0, mult_adds = 0, output_bytes = 0;
  std::vector<Call> calls;
};

Recorded recorded(const std::string& model) {
  std::ifstream file(source_dir() + "/tests/watch/data/summary.txt");
  REQUIRE(file);
  Recorded out;
  bool inside = false;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string first, second, sizes;
    line >> first >> second;
    if (first == "network") {
      inside = second == model;
      if (inside) line >> out.params >> out.mult_adds >> out.output_bytes;
    } else if (inside) {
      Recorded::Call call{first == "." ? "" : first, second, {}, 0, 0};
      line >> sizes >> call.params >> call.mult_adds;
      std::istringstream list(sizes);
      for (std::string size; std::getline(list, size, ',');) call.output.push_back(std::stoll(size));
      out.calls.push_back(call);
    }
  }
  REQUIRE_FALSE(out.calls.empty());
  return out;
}

bool is_attention(const std::string& type) { return type == "MultiheadAttention"; }

// torchinfo applies a matrix once for each sample, not at each position of a sequence (issues 77 and 226). It
// treats GPT-2's Conv1D as a convolution, because the name of the class has Conv, and counts products for an
// embedding, which has none.
std::int64_t corrected(const Recorded::Call& call) {
  std::int64_t inner = 1;
  for (std::size_t i = 1; i + 1 < call.output.size(); ++i) inner *= call.output[i];
  if (call.type == "Embedding") return 0;
  if (call.type == "Linear") return call.mult_adds * inner;
  if (call.type == "Conv1D") return call.mult_adds / call.output.back() * inner;
  if (is_attention(call.type)) return call.params * call.output[0] * inner;
  return call.mult_adds;
}

template <class Net>
void compare(const std::string& model, Net net, const Variable& x) {
  INFO(model);
  const Recorded wanted = recorded(model);
  const Summary got = summary(net, x);
  std::map<std::string, int> calls;
  std::int64_t changed = 0, attention_bytes = 0;
  for (const Recorded::Call& call : wanted.calls) {
    INFO(call.path);
    const SummaryRow& mine = row(got, call.path, calls[call.path]++);
    const bool leaf = net->get_submodule(call.path)->children().empty() || is_attention(call.type);
    CHECK(mine.called);
    CHECK(mine.params == call.params);
    CHECK(mine.recursive == (calls[call.path] > 1));
    const bool positions = call.type == "Embedding" && call.path == "transformer.wpe";  // [1, 7, 8] in torch
    if (!positions) CHECK(mine.outputs[0] == call.output);
    CHECK(mine.mult_adds == (leaf ? corrected(call) : 0));
    if (!leaf) continue;
    const bool counts = !is_attention(call.type);
    changed += mine.mult_adds - (counts ? call.mult_adds : 0);
    if (!counts) attention_bytes += 2 * 4 * call.output[0] * call.output[1] * call.output[2];
  }
  CHECK(got.total_params == wanted.params);
  CHECK(got.total_params == elements(*net));
  CHECK(got.trainable_params == wanted.params);
  CHECK(got.total_mult_adds == wanted.mult_adds + changed);
  CHECK(got.forward_backward_bytes == wanted.output_bytes + attention_bytes);
  CHECK(got.param_bytes == 4 * wanted.params);
  CHECK(got.input_bytes == static_cast<std::int64_t>(x.nbytes()));
  std::int64_t counted = 0;
  for (const SummaryRow& each : got.rows) counted += each.counted_params;
  CHECK(counted == got.total_params);
}

}  // namespace

TEST_CASE("summary has the figures of torchinfo for convolutional networks") {
  const Variable images = zeros({2, 3, 64, 64});
  compare("lenet5", models::LeNet5(), zeros({2, 1, 28, 28}));
  compare("vgg11", models::vgg11(models::VGGOptions(10).hidden(64)), images);
  compare("vgg16_bn", models::vgg16_bn(models::VGGOptions(10).hidden(64)), images);
  compare("resnet18", models::resnet18(), images);
  compare("resnet50", models::resnet50(), images);
  compare("resnext50_32x4d", models::resnext50_32x4d(), images);
  compare("mobilenet_v3_large", models::mobilenet_v3_large(), images);
  compare("mobilenet_v3_small", models::mobilenet_v3_small(), images);
  compare("efficientnet_b0", models::efficientnet_b0(), images);
  compare("unet", models::UNet(models::UNetOptions(3, 2).width(8)), images);
  compare("unet_bilinear", models::UNet(models::UNetOptions(3, 2).width(8).bilinear(true)), images);
}

TEST_CASE("summary has the figures of torchinfo for perceptrons, recurrent networks and transformers") {
  const Variable ids = zeros({2, 7}, kLong);
  compare("mlp", models::MLP(std::vector<std::int64_t>{20, 16, 10}, 0.1), zeros({4, 20}));
  compare("vit",
          models::VisionTransformer(models::VisionTransformerOptions()
                                        .image_size(64)
                                        .num_layers(2)
                                        .num_heads(4)
                                        .hidden_dim(32)
                                        .mlp_dim(48)
                                        .num_classes(10)),
          zeros({2, 3, 64, 64}));
  const auto chars = models::CharRNNOptions(30).embedding_dim(4).hidden_size(5);
  compare("char_lstm", models::CharRNN(chars), ids);
  compare("char_gru", models::CharRNN(models::CharRNNOptions(chars).cell(kGRU).num_layers(1)), ids);
  compare("char_rnn", models::CharRNN(models::CharRNNOptions(chars).cell(kRNN_TANH).num_layers(1)), ids);
  compare("gpt2",
          models::GPT2LMHeadModel(models::GPT2Config(50).n_positions(16).n_embd(8).n_layer(2).n_head(2)),
          ids);
  const auto llama = models::LlamaConfig(50)
                         .hidden_size(16)
                         .intermediate_size(24)
                         .num_hidden_layers(2)
                         .num_attention_heads(4)
                         .num_key_value_heads(2);
  compare("llama", models::LlamaForCausalLM(llama), ids);
  compare("llama_tied", models::LlamaForCausalLM(models::LlamaConfig(llama).tie_word_embeddings(true)), ids);
}
