// Pickles written by hand, opcode by opcode, and the values and tensors that they describe.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include <bit>
#include <cstring>
#include <limits>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"
#include "support/zip.h"

using namespace ebb;
using namespace std::string_literals;
using pytorch::Value;
using support::Saying;

namespace {

std::string text(const std::string& value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
}

// A file of torch.save whose data.pkl holds these opcodes, and the floats 1, 2, 3 and 4 under "0".
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
// The arguments of torch._utils._rebuild_tensor_v2 for a tensor of 2 rows and 2 columns.
std::string square(const std::string& sizes = "(K\2K\2t") {
  return "(" + storage("torch\nFloatStorage\n", "K\4") + "K\0"s + sizes + "(K\1K\2t\x89" + kHooks + "t";
}
std::string typed(const std::string& dtype, const std::string& size) {
  return "ctorch._utils\n_rebuild_tensor_v3\n(" + storage("torch.storage\nUntypedStorage\n", "K\20") +
         "K\0("s + size + "t(K\1t\x89" + kHooks + "ctorch\n" + dtype + "\ntR";
}

}  // namespace

TEST_CASE("sets, frozensets and lists are lists, however the pickle makes them") {
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

TEST_CASE("integers of every width have their sign") {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{127}, std::int64_t{128},
        std::int64_t{-128}, std::int64_t{-129}, std::int64_t{65535}, std::int64_t{-65536},
        std::int64_t{1} << 31, -(std::int64_t{1} << 31), -(std::int64_t{1} << 33),
        (std::int64_t{1} << 40) - 7, -(std::int64_t{1} << 47) - 3, std::int64_t{1} << 55,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    // LONG1: a count, then the bytes of the two's complement, the lowest first.
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

TEST_CASE("a tensor with attributes of Python's, or with a torch.Size, is the tensor") {
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

TEST_CASE("a tensor of an untyped storage has the dtype that it names") {
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

TEST_CASE("a value asked for as a list or a dict says what it is") {
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

TEST_CASE("a model's tensors are found in a list of a checkpoint, of a stream as of a file") {
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

TEST_CASE("named tensors go into a stream as into a file") {
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

TEST_CASE("a tensor of a dtype that ebb does not have is named by the module and the archive that want it") {
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
