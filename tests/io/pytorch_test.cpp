// PyTorch files: files that torch wrote (tests/io/data/make.py) are read, files that ebb wrote are read back,
// and pickles are parsed.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/files.h"
#include "support/zip.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

using namespace ebb;
using pytorch::Value;
using support::Contains;
using support::temporary;

namespace {

std::string file(const std::string& name) { return source_dir() + "/tests/io/data/" + name; }

void check_values(const Value& values) {
  const Tensor dense = arange(12, kFloat).reshape({3, 4});
  CHECK(equal(values.at("dense").as_tensor(), dense));
  CHECK(equal(values.at("transposed").as_tensor(), dense.t()));
  CHECK(values.at("transposed").as_tensor().stride(0) == 1);
  CHECK(equal(values.at("row").as_tensor(), dense[1]));
  CHECK(values.at("row").as_tensor().is_alias_of(values.at("dense").as_tensor()));
  CHECK(equal(values.at("double").as_tensor(), tensor({1.5, -2.25}, kDouble)));
  CHECK(equal(values.at("half").as_tensor(), tensor({0.5, 65504.0}).to(kHalf)));
  CHECK(equal(values.at("bfloat").as_tensor(), tensor({1.0, -3.0}).to(kBFloat16)));
  CHECK(equal(values.at("long").as_tensor(), tensor({std::int64_t{1} << 40, std::int64_t{-1}})));
  CHECK(equal(values.at("byte").as_tensor(), tensor({0, 255}).to(kByte)));
  CHECK(equal(values.at("bool").as_tensor(), tensor({true, false, true})));
  CHECK(values.at("empty").as_tensor().sizes() == IntArrayRef({0, 3}));
  CHECK(values.at("scalar").as_tensor().dim() == 0);
  CHECK(values.at("scalar").as_tensor().item<float>() == 7);
  CHECK_THROWS_WITH(values.at("complex").as_tensor(), Contains("complex64"));
  CHECK(values.at("epoch").as_int() == 3);
  CHECK(values.at("loss").as_double() == 0.125);
  CHECK(values.at("big").as_int() == std::int64_t{1} << 40);
  CHECK(values.at("name").as_string() == "n\u00e4me");
  CHECK(values.at("flags").at(0).as_bool());
  CHECK(values.at("flags").at(1).is_none());
  CHECK(values.at("flags").at(2).at(1).as_int() == -2);
  CHECK(values.at("size").at(1).as_int() == 3);
  CHECK_THROWS_WITH(values.at("epoc"), Contains("\"epoch\""));
  CHECK_THROWS_WITH(values.at("epoch").as_tensor(), Contains("an integer, not a tensor"));
}

}  // namespace

TEST_CASE("torch.save's zip format is read") { check_values(pytorch::read(file("values.pt"))); }
TEST_CASE("torch.save's format before 1.6 is read") { check_values(pytorch::read(file("legacy.pt"))); }

TEST_CASE("a file written in the format of torch.save is read back") {
  const Value values = pytorch::read(file("values.pt"));
  pytorch::Dict kept;
  for (const auto& [key, value] : values.as_dict())
    if (key.as_string() != "complex") kept.emplace_back(key, value);
  pytorch::write(temporary("again.pt"), kept);
  const Value again = pytorch::read(temporary("again.pt"));
  for (const auto& [key, value] : kept) {
    INFO(key.as_string());
    const Value& read = again.at(key.as_string());
    CHECK(read.content().index() == value.content().index());
    if (value.is_tensor()) {
      CHECK(equal(read.as_tensor(), value.as_tensor()));
      CHECK(read.as_tensor().strides() == value.as_tensor().strides());
    }
  }
  CHECK(again.at("row").as_tensor().is_alias_of(again.at("dense").as_tensor()));
  std::ostringstream stream;
  pytorch::write(stream, kept);
  CHECK(stream.str() == support::read_file(temporary("again.pt")));
}

TEST_CASE("entries of a written archive are aligned to 64 bytes") {
  pytorch::write(temporary("aligned.pt"), {{"a", ones({3})}, {"b", ones({5}, kDouble)}});
  const std::string bytes = support::read_file(temporary("aligned.pt"));
  int entries = 0;
  for (std::size_t at = bytes.find("PK\3\4"); at != bytes.npos;
       at = bytes.find("PK\3\4", at + 1), ++entries) {
    const auto little = [&](std::size_t i) {
      return static_cast<unsigned char>(bytes[i]) | static_cast<unsigned char>(bytes[i + 1]) << 8;
    };
    CHECK((at + 30 + static_cast<std::size_t>(little(at + 26) + little(at + 28))) % 64 == 0);
  }
  CHECK(entries == 5);
}

TEST_CASE("a module loads a PyTorch checkpoint by name with or without a prefix") {
  struct NetImpl : nn::Module {
    nn::Linear fc{register_module("fc", nn::Linear(3, 2))};
    nn::BatchNorm1d norm{register_module("norm", nn::BatchNorm1d(2))};
  };
  nn::ModuleHolder<NetImpl> net(std::make_shared<NetImpl>());
  std::ostringstream report;
  report << load(net, file("checkpoint.pth"));
  CHECK(report.str() == "<All keys matched successfully>");
  // torch.manual_seed(0), torch.nn.Linear(3, 2)
  const Value weight = pytorch::read(file("checkpoint.pth")).at("state_dict").at("fc.weight");
  CHECK(equal(net->fc->weight, weight.as_tensor()));
  CHECK(net->fc->weight.requires_grad());
  CHECK_FALSE(net->fc->weight.is_alias_of(weight.as_tensor()));

  pytorch::NamedTensors wrapped;
  for (const auto& item : net->state_dict()) wrapped.emplace_back("module." + item.key(), item.value());
  wrapped.emplace_back("head.weight", ones({1}));
  pytorch::write(temporary("wrapped.pt"), wrapped);
  CHECK_THROWS_WITH(load(net, temporary("wrapped.pt")),
                    Contains("module.fc.weight") && Contains("wrapped.pt"));
  {
    NoGradGuard no_grad;
    net->fc->weight.zero_();
  }
  load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}}).ignore({"head."}));
  CHECK(equal(net->fc->weight, weight.as_tensor()));
  const auto left =
      load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}}).strict(false));
  CHECK(left.unexpected_keys == std::vector<std::string>{"head.weight"});
  CHECK_THROWS_WITH(
      load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}, {"head.", "fc."}})),
      Contains("the same name"));
  load(net, temporary("wrapped.pt"),
       LoadOptions().prefixes({{"module.", ""}}).ignore({"head"}).dtype(kDouble));
  CHECK(net->fc->weight.dtype() == kDouble);
  std::ifstream stream(file("checkpoint.pth"), std::ios::binary);
  CHECK(load(net, stream).missing_keys.empty());
}

TEST_CASE("an object of a Python class in a pickle is refused with its class name") {
  CHECK_THROWS_WITH(pytorch::read(file("module.pt")), Contains("torch.nn.modules.container.Sequential") &&
                                                          Contains("state_dict()") && Contains("module.pt"));
}

TEST_CASE("damaged PyTorch files are errors") {
  const std::string whole = support::read_file(file("values.pt"));
  const auto parse = [](const std::string& bytes) { return pytorch::parse(bytes.data(), bytes.size()); };
  CHECK_THROWS_WITH(parse(whole.substr(0, whole.size() / 2)), Contains("no directory"));
  std::string wrong = whole;
  const std::size_t data =
      wrong.find(std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // the values 1 and 2 of the float tensor
  REQUIRE(data != wrong.npos);
  wrong[data] = 1;
  CHECK_THROWS_WITH(parse(wrong), Contains("CRC-32") && Contains("data/0"));
  CHECK_THROWS_WITH(parse("hello"), Contains("neither a zip archive"));
  CHECK_THROWS_WITH(parse("\x80\x04K\x01."), Contains("plain pickle"));
  CHECK_THROWS_WITH(parse(""), Contains("neither a zip archive"));
  const std::string legacy = support::read_file(file("legacy.pt"));
  for (std::size_t n = 14; n < legacy.size(); n += 97) CHECK_THROWS_AS(parse(legacy.substr(0, n)), Error);
}

// A file of PyTorch contains the state of one module of each class with a state (tests/io/data/make.py).

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

TEST_CASE("all module classes have the state_dict of PyTorch, in the same order") {
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

// Handwritten pickles, opcode by opcode, and the values and tensors that they describe.

using namespace std::string_literals;
using support::Saying;

namespace {

std::string text(const std::string& value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
}

// A torch.save file whose data.pkl consists of these opcodes, with the floats 1, 2, 3 and 4 under the key
// "0".
std::string file_of(const std::string& opcodes) {
  const float numbers[] = {1, 2, 3, 4};
  std::string data(sizeof(numbers), '\0');
  std::memcpy(data.data(), numbers, sizeof(numbers));
  return support::zip({{"x/data.pkl", "\x80\2" + opcodes + "."}, {"x/data/0", data}});
}
Value parse(const std::string& opcodes) {
  const std::string file = file_of(opcodes);
  return pytorch::parse(file.data(), file.size());
}

std::string storage(const std::string& type, const std::string& count) {
  return "(" + text("storage") + "c" + type + text("0") + text("cpu") + count + "tQ";
}
const std::string kHooks = "ccollections\nOrderedDict\n)R";
// The arguments of torch._utils._rebuild_tensor_v2 for a 2 x 2 tensor.
std::string square(const std::string& sizes = "(K\2K\2t") {
  return "(" + storage("torch\nFloatStorage\n", "K\4") + "K\0"s + sizes + "(K\1K\2t\x89" + kHooks + "t";
}
std::string typed(const std::string& dtype, const std::string& size) {
  return "ctorch._utils\n_rebuild_tensor_v3\n(" + storage("torch.storage\nUntypedStorage\n", "K\20") +
         "K\0("s + size + "t(K\1t\x89" + kHooks + "ctorch\n" + dtype + "\ntR";
}

}  // namespace

TEST_CASE("lists, sets, frozensets and deques in a pickle are read as lists") {
  const std::string pickles[] = {"(K\1K\2l",
                                 "](K\1K\2e",
                                 "\x8f(K\1K\2\x90",
                                 "(K\1K\2\x91",
                                 "cbuiltins\nfrozenset\n](K\1K\2e\x85R",
                                 "cbuiltins\nset\n)R(K\1K\2\x90",
                                 text("collections") + text("deque") + "\x93)R(K\1K\2e"};
  for (const std::string& opcodes : pickles) {
    INFO(opcodes);
    const Value value = parse(opcodes);
    const auto& items = std::get<pytorch::List>(value.content());
    REQUIRE(items.size() == 2);
    CHECK(items[0].as_int() == 1);
    CHECK(items[1].as_int() == 2);
  }
  CHECK(std::get<pytorch::List>(parse("\x8f").content()).empty());
  CHECK(std::get<pytorch::List>(parse("(\x91").content()).empty());
}

TEST_CASE("integers of all widths in a pickle keep their sign") {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{127}, std::int64_t{128},
        std::int64_t{-128}, std::int64_t{-129}, std::int64_t{65535}, std::int64_t{-65536},
        std::int64_t{1} << 31, -(std::int64_t{1} << 31), -(std::int64_t{1} << 33),
        (std::int64_t{1} << 40) - 7, -(std::int64_t{1} << 47) - 3, std::int64_t{1} << 55,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    // LONG1: a byte count, then the bytes of the two's complement, least significant first.
    for (int count = 0; count <= 8; ++count) {
      const int unused = 64 - 8 * count;
      const std::int64_t back =
          count == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
      if (back != value) continue;
      INFO(value << " in " << count << " bytes");
      std::string bytes(1, static_cast<char>(count));
      for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
      CHECK(parse("\x8a" + bytes).as_int() == value);
    }
    if (value == static_cast<std::int32_t>(value)) {
      std::string bytes;
      for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
      CHECK(parse("J" + bytes).as_int() == value);
    }
  }
}

TEST_CASE("a tensor that is pickled with Python attributes or a torch.Size is read as a plain tensor") {
  const std::string type = "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\n";
  const Tensor expected = tensor({{1.F, 3.F}, {2.F, 4.F}});
  CHECK(equal(parse(type + "ctorch\nTensor\n" + square() + "}tR").as_tensor(), expected));
  CHECK(equal(parse("ctorch._utils\n_rebuild_tensor_v2\n" + square("ctorch\nSize\nK\2K\2\x86\x85R") + "R")
                  .as_tensor(),
              expected));
  CHECK_THROWS_MATCHES(parse(type + "ctorch\nTensor\ntR").as_tensor(), Error,
                       Saying("the file is not sound: a tensor lacks its description"));
  CHECK(equal(
      parse("ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_parameter\nctorch\nTensor\n"
            "(ctorch._utils\n_rebuild_tensor_v2\n" +
            square() + "R\x89}t}tR")
          .as_tensor(),
      expected));
  CHECK_THROWS_MATCHES(parse("ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_sparse_"
                             "tensor\nctorch\nTensor\n)}tR"),
                       Error, Saying("the file holds an instance of torch._utils._rebuild_sparse_tensor"));
}

TEST_CASE("a tensor with an untyped storage gets the dtype that the pickle states") {
  CHECK(equal(parse(typed("float32", "K\4")).as_tensor(), tensor({1.F, 2.F, 3.F, 4.F})));
  std::vector<std::int64_t> halves;
  for (const float number : {1.F, 2.F, 3.F, 4.F}) {
    halves.push_back(std::bit_cast<std::uint32_t>(number) & 0xffff);
    halves.push_back(std::bit_cast<std::uint32_t>(number) >> 16);
  }
  CHECK(equal(parse(typed("int16", "K\10")).as_tensor(), tensor(halves).to(kShort)));
  for (const std::string dtype : {"uint16", "float8_e5m2", "bits8"})
    CHECK_THROWS_MATCHES(parse(typed(dtype, "K\4")).as_tensor(), Error,
                         Saying(dtype + ", which ebb does not have. Convert it in Python"));
}

TEST_CASE("reading a pickle value as the wrong type throws and names the actual type") {
  CHECK_THROWS_MATCHES(Value(3).as_list(), Error, Saying("pytorch: the value is an integer, not a list."));
  CHECK_THROWS_MATCHES(Value(2.5).as_dict(), Error,
                       Saying("pytorch: the value is a floating number, not a dict."));
  std::ostringstream out;
  CHECK_THROWS_MATCHES(pytorch::write(out, pytorch::Dict{{"x", pytorch::Unsupported{"uint16"}}}), Error,
                       Saying("pytorch: a tensor of dtype uint16 cannot be written."));
  CHECK_THROWS_MATCHES(
      pytorch::write(out, Value(pytorch::Object{"a.B", {}})), Error,
      Saying("pytorch: an object of a.B cannot be written. Write its attributes as a dict."));
  CHECK(out.str().empty());
}

TEST_CASE("read_state_dict finds the tensors of a model, also in lists, in a stream or file") {
  std::stringstream stream;
  pytorch::write(stream, Value(pytorch::Dict{{"epoch", 3},
                                             {"model", pytorch::Dict{{"layers", pytorch::List{ones({2})}}}},
                                             {"other", pytorch::Dict{{"x", zeros({1})}}}}));
  const auto found = pytorch::read_state_dict(stream);
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == "layers.0");
  CHECK(equal(found[0].second, ones({2})));

  std::map<std::string, std::string> unsupported;
  std::stringstream mixed(
      file_of("}(" + text("w") + typed("float32", "K\4") + text("c") + typed("uint16", "K\4") + "u"));
  CHECK(pytorch::read_state_dict(mixed, &unsupported).size() == 1);
  CHECK(unsupported == std::map<std::string, std::string>{{"c", "uint16"}});
}

TEST_CASE("pytorch::write writes the same bytes to a stream and to a file") {
  const pytorch::NamedTensors tensors = {{"a.b", arange(3)}, {"c", ones({2, 1}, kDouble)}};
  std::stringstream stream;
  pytorch::write(stream, tensors);
  pytorch::write(support::temporary("named.pt"), tensors);
  CHECK(stream.str() == support::read_file(support::temporary("named.pt")));
  const auto again = pytorch::read_state_dict(stream);
  REQUIRE(again.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again[i].first == tensors[i].first);
    CHECK(equal(again[i].second, tensors[i].second));
  }
}

TEST_CASE("loading a tensor with an unsupported dtype is an error that names the tensor") {
  const std::string file = file_of("}(" + text("norm.weight") + typed("float32", "K\4") + text("norm.bias") +
                                   typed("uint16", "K\4") + "u");
  std::stringstream first(file), second(file);
  nn::LayerNorm norm(nn::LayerNormOptions({4}));
  CHECK_THROWS_MATCHES(load(norm, first, LoadOptions().key("norm")), Error,
                       Saying("\"bias\" is of dtype uint16, which ebb does not have"));
  CHECK(equal(norm->weight, ones({4})));
  serialize::InputArchive archive, nested;
  archive.load_from(second);
  CHECK(archive.keys() == std::vector<std::string>{"norm"});
  archive.read("norm", nested);
  CHECK(nested.keys() == std::vector<std::string>{"weight", "bias"});
  Variable x;
  nested.read("weight", x);
  CHECK(equal(x, tensor({1.F, 2.F, 3.F, 4.F})));
  CHECK_THROWS_MATCHES(nested.read("bias", x), Error,
                       Saying("InputArchive: tensor \"bias\" is of dtype uint16, which ebb does not have."));
}
