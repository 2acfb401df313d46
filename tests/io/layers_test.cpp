// A file of Python's has the state of a module of each class that has one (tests/io/data/make.py).
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"
#include "support/source_dir.h"

using namespace ebb;
using namespace ebb::nn;

namespace {

ModuleDict layers() {
  const Tensor weight = ones({3});
  ModuleDict all;
  const auto add = [&](const char* name, const auto& module) { all->insert(name, module.ptr()); };
  add("linear", Linear(2, 3));
  add("bilinear", Bilinear(BilinearOptions(2, 1, 3).bias(false)));
  add("prelu", PReLU(2));
  add("conv1", Conv1d(Conv1dOptions(2, 4, 2).groups(2)));
  add("conv2", Conv2d(Conv2dOptions(1, 2, {1, 2}).bias(false)));
  add("conv3", Conv3d(1, 2, 1));
  add("up1", ConvTranspose1d(ConvTranspose1dOptions(2, 4, 2).groups(2)));
  add("up2", ConvTranspose2d(ConvTranspose2dOptions(1, 2, {1, 2}).bias(false)));
  add("up3", ConvTranspose3d(1, 2, 1));
  add("batch1", BatchNorm1d(2));
  add("batch2", BatchNorm2d(BatchNormOptions(2).affine(false)));
  add("batch3", BatchNorm3d(BatchNormOptions(2).bias(false)));
  add("sync", SyncBatchNorm(2));
  add("instance1", InstanceNorm1d(InstanceNormOptions(2).affine(true)));
  add("instance2", InstanceNorm2d(InstanceNormOptions(2).track_running_stats(true)));
  add("instance3", LazyInstanceNorm3d());
  add("layer", LayerNorm(LayerNormOptions({1, 2})));
  add("group", GroupNorm(GroupNormOptions(1, 2).bias(false)));
  add("rms", RMSNorm(RMSNormOptions({2})));
  add("embedding", Embedding(EmbeddingOptions(3, 2).padding_idx(1)));
  add("bag", EmbeddingBag(3, 2));
  add("rnn", RNN(RNNOptions(1, 2).num_layers(2).bias(false)));
  add("gru", GRU(GRUOptions(1, 2).bidirectional(true)));
  add("lstm", LSTM(LSTMOptions(1, 3).proj_size(2)));
  add("rnn_cell", RNNCell(1, 2));
  add("gru_cell", GRUCell(GRUCellOptions(1, 2).bias(false)));
  add("lstm_cell", LSTMCell(1, 2));
  add("attention", MultiheadAttention(MultiheadAttentionOptions(2, 1).add_bias_kv(true)));
  add("attention_of_widths", MultiheadAttention(MultiheadAttentionOptions(2, 1).bias(false).kdim(1).vdim(3)));
  add("transformer", Transformer(TransformerOptions(2, 1, 1, 1).dim_feedforward(2)));
  add("adaptive", AdaptiveLogSoftmaxWithLoss(
                      AdaptiveLogSoftmaxWithLossOptions(4, 6, {2, 4}).div_value(2).head_bias(true)));
  add("nll", NLLLoss(NLLLossOptions().weight(weight)));
  add("cross_entropy", CrossEntropyLoss(CrossEntropyLossOptions().weight(weight)));
  add("bce", BCELoss(BCELossOptions().weight(weight)));
  add("bce_logits", BCEWithLogitsLoss(BCEWithLogitsLossOptions().weight(weight).pos_weight(weight)));
  add("margin", MultiMarginLoss(MultiMarginLossOptions().weight(weight)));
  add("soft_margin", MultiLabelSoftMarginLoss(MultiLabelSoftMarginLossOptions().weight(weight)));
  add("no_weight", NLLLoss());
  add("linear_cross_entropy",
      LinearCrossEntropyLoss(LinearCrossEntropyLossOptions(2, 3).bias(true).weight(weight)));
  add("fractional",
      FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(1)._random_samples(zeros({1, 1, 2}))));
  return all;
}

}  // namespace

TEST_CASE("modules of every class have the state of Python's, in its order, and load it strictly") {
  const std::string path = source_dir() + "/tests/io/data/layers.pt";
  const auto expected = pytorch::read_state_dict(path);
  ModuleDict net = layers();
  CHECK_NOTHROW(load(net, path, /*strict=*/true));
  const auto state = net->state_dict();
  REQUIRE(state.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].first);
    CHECK(state.keys()[i] == expected[i].first);
    CHECK(state[expected[i].first].dtype() == expected[i].second.dtype());
    CHECK(equal(state[expected[i].first], expected[i].second));
  }
}
