// Small files that declare or expand to a lot of data: reading takes at most a few times the bytes of the
// file. Readers run in child processes with a memory limit.
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/zip.h"

#include <sstream>

using namespace ebb;
using namespace std::string_literals;
using support::Contains;
using support::zip;
using support::ZipEntry;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Returns whether reading ends with a value or an error while using at most that much additional memory.
template <class Read>
bool takes_at_most(std::size_t bytes, const Read& read) {
  return support::takes_at_most(bytes, [&] {
    try {
      read();
    } catch (const Error& e) {
      return std::string(e.what()).find("out of memory") == std::string::npos;
    }
    return true;
  });
}

std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }
std::string times(std::size_t n, const std::string& what) {
  std::string all;
  while (n-- > 0) all += what;
  return all;
}

// A torch.save file whose data.pkl consists of these opcodes, with four floats under the key "0".
std::string file_of(const std::string& opcodes) {
  return zip({{"x/data.pkl", "\x80\2" + opcodes + "."}, {"x/data/0", std::string(16, '\0')}});
}
pytorch::Value parse(const std::string& file) { return pytorch::parse(file.data(), file.size()); }
void load_archive(const std::string& file) {
  std::istringstream stream(file);
  serialize::InputArchive archive;
  archive.load_from(stream);
}
// Opens the file with every reader.
void read_all_ways(const std::string& file) {
  const pytorch::Value value = parse(file);
  const auto refused = [](const auto& read) {
    try {
      read();
    } catch (const Error& e) {
      if (std::string(e.what()).find("out of memory") != std::string::npos) throw std::bad_alloc();
    }
  };
  refused([&] { pytorch::state_dict(value); });
  refused([&] { load_archive(file); });
  nn::Linear net(2, 2);
  refused([&] {
    std::istringstream stream(file);
    load(net, stream);
  });
  refused([&] {
    std::istringstream stream(file);
    std::vector<Tensor> tensors;
    load(tensors, stream);
  });
}

const std::string kTensor = "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
                            "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\4tQK\0(K\4t(K\1t\x89"s +
                            "ccollections\nOrderedDict\n)RtR";

// A value that is memoized as number 1 and occurs a hundred thousand times in a tuple.
std::string repeated(const std::string& value) { return "(" + value + "q\1" + times(100'000, "h\1") + "t"; }
// A dict with long keys around the value, so that names inside it are long; each level occurs twice in the
// next one.
std::string doubled(const std::string& value, int levels) {
  std::string all = text(std::string(1000, 'k')) + "q\2" + "0" + value;
  for (int i = 0; i < levels; ++i) all += "q\3" + "0}h\2h\3sq\3"s + "0h\3h\3\x86"s;
  return all;
}

// The fixed Huffman code of deflate: a zero, then `repeats` copies of the previous 258 bytes.
std::string packed_zeros(std::size_t repeats) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  const auto put = [&](unsigned value, int n, bool high_first) {
    for (int i = 0; i < n; ++i) {
      bits |= ((value >> (high_first ? n - 1 - i : i)) & 1) << count;
      if (++count == 8) bytes += static_cast<char>(bits), bits = 0, count = 0;
    }
  };
  put(1, 1, false);
  put(1, 2, false);
  put(0x30, 8, true);
  for (std::size_t i = 0; i < repeats; ++i) put(0xc5, 8, true), put(0, 5, true);
  put(0, 7, true);
  if (count > 0) bytes += static_cast<char>(bits);
  return bytes;
}
ZipEntry entry_of_zeros(const std::string& name, std::size_t repeats) {
  ZipEntry entry(name, packed_zeros(repeats));
  entry.method = 8;
  entry.size = static_cast<std::uint32_t>(1 + 258 * repeats);
  entry.sum = 0;
  return entry;
}

std::string npy_file(const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY\1\0"s + little(header.size(), 2) + header + data;
}

}  // namespace

TEST_CASE("a value to which a pickle refers many times is stored once") {
  const std::string long_text(10'000, 'a');
  const std::string many = times(1000, "K\1");
  const std::string values[] = {text(long_text),
                                "B" + little(long_text.size(), 4) + long_text,
                                "(" + many + "t",
                                "](" + many + "e",
                                "}(" + many + "u",
                                "ccollections\nOrderedDict\n)R(" + many + "u",
                                "cbuiltins\nset\n](" + many + "e\x85R",
                                "c__torch__\n" + std::string(900, 'M') + "\n",
                                "c__torch__\nModule\n)\x81}(" + times(1000, text("k") + "K\1") + "ub",
                                kTensor};
  for (const std::string& value : values) {
    INFO(value.substr(0, 40));
    const std::string file = file_of(repeated(value));
    CHECK(takes_at_most(32 * kMiB, [&] { parse(file); }));
    CHECK(takes_at_most(128 * kMiB, [&] { read_all_ways(file); }));
    CHECK(takes_at_most(128 * kMiB,
                        [&] { read_all_ways(file_of("}(" + times(1, text("k") + repeated(value)) + "u")); }));
  }
  const pytorch::Value both = parse(file_of("(" + text(long_text) + "q\1h\1t"));
  CHECK(&both.at(0).as_string() == &both.at(1).as_string());
  CHECK(both.at(1).as_string() == long_text);
  const pytorch::Value tensors = parse(file_of("(" + kTensor + "q\1h\1t"));
  CHECK(tensors.at(0).as_tensor().is_same(tensors.at(1).as_tensor()));
}

TEST_CASE("instances of one class in a pickle share the name of the class, and their memory is bounded") {
  const std::string named = "c__torch__\n" + std::string(900, 'M') + "\nq\1" + "0";
  const std::string file = file_of(named + "(" + times(100'000, "h\1)\x81") + "t");
  CHECK(takes_at_most(96 * kMiB, [&] { read_all_ways(file); }));
  CHECK_THROWS_WITH(parse(file), Contains("more than 64 times"));
  // Attributes of all instances that are set from one dict.
  const std::string state = named + "}q\2(" + times(1000, text("k") + "K\1") + "u0";
  const std::string objects = file_of(state + "(" + times(100'000, "h\1)\x81h\2b") + "t");
  CHECK(takes_at_most(96 * kMiB, [&] { read_all_ways(objects); }));
  // The name of a class is read again for each instance, so a text of a megabyte is refused.
  CHECK_THROWS_WITH(parse(file_of("c__torch__\n" + std::string(2000, 'M') + "\n")),
                    Contains("the name of a class"));
  CHECK(parse(file_of(named + "(" + times(1000, "h\1)\x81") + "t")).as_list().size() == 1000);
}

TEST_CASE("the number of tensor names is bounded if a pickle refers to the same values many times") {
  const std::string file = file_of(doubled("]" + kTensor + "a", 20));
  CHECK(file.size() < 2000);
  CHECK(takes_at_most(32 * kMiB, [&] { parse(file); }));
  CHECK(takes_at_most(128 * kMiB, [&] { read_all_ways(file); }));
  CHECK_THROWS_WITH(pytorch::state_dict(parse(file)), Contains("its shared values occur so often"));
  CHECK_THROWS_WITH(load_archive(file), Contains("its shared values occur so often"));
  // A value without a tensor is traversed once.
  CHECK_THROWS_WITH(pytorch::state_dict(parse(file_of(doubled("N", 20)))), Contains("holds no tensor"));
  const std::string flags = file_of("(" + times(300'000, "\x88") + "Nt");
  CHECK(takes_at_most(160 * kMiB, [&] { load_archive(flags); }));
  // Labels that occur twice stay within the bound.
  const std::string labels =
      file_of(text("cat") + "q\1" + text("dog") + "q\2" + "00(" + times(50'000, "h\1h\2") + "t");
  CHECK_NOTHROW(load_archive(labels));
}

TEST_CASE("loading an optimizer takes linear time in the number of parameters") {
  std::string states, ids;
  for (int i = 0; i < 50'000; ++i) {
    const std::string id = "J" + little(static_cast<std::uint64_t>(i), 4);
    ids += id;
    states += id + "}h\1K\7s";
  }
  const std::string file = file_of(text("step") + "q\1" + "0}(" + text("state") + "}(" + states + "u" +
                                   text("param_groups") + "](}(" + text("params") + "](" + ids + "eueu");
  std::istringstream stream(file);
  serialize::InputArchive archive;
  archive.load_from(stream);
  CHECK(archive.tensors().size() == 50'000);
  // A key of a megabyte is stored once for all references.
  const std::string long_id = text(std::string(kMiB, '9')) + "q\1" + "0";
  const std::string hostile =
      file_of(long_id + "}(" + text("state") + "}(" + times(10'000, "h\1}") + "u" + text("param_groups") +
              "](}(" + text("params") + "](" + times(10'000, "h\1") + "eueu");
  CHECK(takes_at_most(96 * kMiB, [&] { load_archive(hostile); }));
}

TEST_CASE("parsing a pickle takes at most 128 times the memory of its bytes") {
  const std::size_t n = 400'000;
  const std::string pickles[] = {"(" + times(n, "N") + "t",
                                 "(" + times(n, "\x88") + "t",
                                 "(" + times(n, "]") + "t",
                                 "(" + times(n, "}") + "t",
                                 "(" + times(n, ")") + "t",
                                 "(N" + times(n, "2") + "t",
                                 "N" + times(n, "\x94"),
                                 "N" + times(n / 2, "q\1"),
                                 "(" + times(n / 2, "]") + times(n / 2 - 1, "a") + "t",
                                 times(n / 3, "](N") + times(n / 3, "e"),
                                 "(" + times(n / 2, "K\7") + "t",
                                 "(" + times(n / 3, "M\7\7") + "t",
                                 "(" + times(n / 9, "G\0\0\0\0\0\0\0\0"s) + "t",
                                 "(" + times(n / 2, "\x8c\0"s) + "t",
                                 "(" + times(n / 3, "\x8c\1a") + "t",
                                 "]" + times(n / 2, "Na"),
                                 "}" + times(n / 3, "NNs"),
                                 "](" + times(n, "N") + "e",
                                 "cbuiltins\nset\n)R" + times(n / 4, "(NNe"),
                                 "(" + times(n / 2, "N\x85") + "t"};
  for (const std::string& pickle : pickles) {
    INFO(pickle.substr(0, 20));
    const std::string file = file_of(pickle);
    CHECK(takes_at_most(128 * n, [&] { parse(file); }));
  }
  // Values that nest too deeply are refused much earlier.
  const std::string nested[] = {times(n, "("),
                                times(n, "]"),
                                times(n / 2, "]") + times(n / 2 - 1, "a"),
                                "N" + times(n, "\x85"),
                                "N" + times(n, "\x86"),
                                "cbuiltins\nset\nq\1" + times(n / 4, "h\1)R") + times(n / 4 - 1, "a"),
                                times(n / 2, "(N")};
  for (const std::string& pickle : nested) {
    INFO(pickle.substr(0, 20));
    const std::string file = file_of(pickle);
    CHECK(takes_at_most(8 * n, [&] { parse(file); }));
    CHECK_THROWS_AS(parse(file), Error);
  }
  CHECK_THROWS_WITH(parse(file_of(times(2000, "("))), Contains("a hundred levels"));
  CHECK_THROWS_WITH(parse(file_of("Nr\xff\xff\xff\xff")), Contains("stores a value in its memo"));
}

TEST_CASE("the limit on nesting in a pickle also counts the levels inside shared values") {
  // Each list contains the previous one twice, ninety levels deeper. The previous list is complete before the
  // next one starts.
  std::string all = "(N";
  for (int i = 0; i < 3000; ++i) all += "q\1" + times(90, "\x85") + "h\1\x86";
  CHECK_THROWS_WITH(parse(file_of(all + "t")), Contains("a hundred levels"));
  CHECK(parse(file_of("(" + times(95, "]") + times(94, "a") + "t")).as_list().size() == 1);
}

TEST_CASE("a tensor with too many dimensions or too many repeated elements is refused") {
  const auto tensor = [](const std::string& sizes, const std::string& strides) {
    return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text("0") +
           text("cpu") + "K\4tQK\0"s + sizes + strides + "\x89" + "ccollections\nOrderedDict\n)RtR";
  };
  const std::string many = "(J\xff\xff\xff\x7fK\2t", still = "(K\0K\1t"s;
  CHECK_THROWS_WITH(parse(file_of(tensor(many, still))), Contains("more than 64 times"));
  CHECK_THROWS_WITH(
      parse(file_of(tensor("(J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7ft", "(K\0K\0K\0t"s))),
      Contains("more than 64 times"));
  CHECK(parse(file_of(tensor("(M\xe8\3K\2t", still))).as_tensor().sizes() == IntArrayRef({1000, 2}));
  const std::string ones = "(" + times(100'000, "K\1") + "tq\1";
  CHECK_THROWS_WITH(parse(file_of("(" + times(1, tensor(ones, "h\1")) + "t")), Contains("64 dimensions"));
  CHECK_THROWS_WITH(
      parse(file_of("ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
                    text(std::string(1000, '0')) + text("cpu") + "K\4tQK\0(K\4t(K\1t\x89)tR"s)),
      Contains("the key of a storage"));
}

TEST_CASE("in files of PyTorch before 1.6 a storage must have its declared size") {
  const std::string start = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3.\x80\2}."s;
  const auto tensor = [](const std::string& type, const std::string& size) {
    return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + type + "\n" + text("0") +
           text("cpu") + "K\x10tQK\0("s + size + "t(K\1t\x89)tR";
  };
  const std::string data = little(16, 8) + std::string(16, '\1');
  const auto with = [&](const std::string& value) {
    return start + "\x80\2(" + value + "t.\x80\2]" + text("0") + "a." + data;
  };
  CHECK(parse(with(tensor("ByteStorage", "K\x10"))).at(0).as_tensor().numel() == 16);
  CHECK_THROWS_WITH(parse(with(tensor("DoubleStorage", "K\x10") + tensor("ByteStorage", "K\x10"))),
                    Contains("of two kinds"));
  const std::string twice = start + "\x80\2(" + tensor("ByteStorage", "K\x10") + "t.\x80\2](" + text("0") +
                            text("0") + "e." + data + data;
  CHECK_THROWS_WITH(parse(twice), Contains("two storages"));
}

TEST_CASE("zip entries that overlap or share a name are refused") {
  const ZipEntry pickle("x/data.pkl", "\x80\2K\1."), array("a.npy", npy_file("(4,)", "abcd"));
  const auto arrays = [](const std::vector<ZipEntry>& entries, bool zip64) {
    std::istringstream stream(zip(entries, zip64));
    return npy::read_npz(stream);
  };
  for (const bool zip64 : {false, true}) {
    CHECK(arrays({array}, zip64).size() == 1);
    ZipEntry again = array;
    again.like = 0;
    CHECK_THROWS_WITH(arrays({array, again}, zip64), Contains("overlaps"));
    again.name = "b.npy";
    CHECK_THROWS_WITH(arrays({array, again}, zip64), Contains("overlaps"));
    // An entry inside the bytes of another entry.
    const ZipEntry around("c.npy", npy_file("(200,)", zip({array}).substr(0, 200)));
    ZipEntry longer = array;
    longer.packed = longer.size += 100;
    CHECK_THROWS_WITH(arrays({longer, around}, zip64), Contains("overlaps"));
    CHECK_THROWS_WITH(arrays({around, longer}, zip64), Contains("overlaps"));
    ZipEntry misnamed = array;
    misnamed.own_name = "b.npy";
    CHECK_THROWS_WITH(arrays({misnamed}, zip64), Contains("another name"));
    misnamed.own_name = "a.npy.npy";
    CHECK_THROWS_WITH(arrays({misnamed}, zip64), Contains("another name"));
    ZipEntry wrong = pickle;
    wrong.own_name = "x/code.pkl";
    CHECK_THROWS_WITH(parse(zip({wrong}, zip64)), Contains("another name"));
    ZipEntry unread("x/data/0", "abcd");
    unread.own_name = "x/data/1";
    CHECK_THROWS_WITH(parse(zip({pickle, unread}, zip64)), Contains("another name"));
    ZipEntry shared("x/data/0", "");
    shared.like = 0;
    CHECK_THROWS_WITH(parse(zip({pickle, shared}, zip64)), Contains("overlaps"));
  }
  // Many names for the same megabyte of zeros.
  std::vector<ZipEntry> bomb = {entry_of_zeros("0.npy", 4000)};
  for (int i = 1; i < 400; ++i) {
    bomb.push_back(bomb[0]);
    bomb.back().name = std::to_string(i) + ".npy";
    bomb.back().like = 0;
  }
  CHECK_THROWS_WITH(arrays(bomb, false), Contains("overlaps"));
}

TEST_CASE("reading an archive of many small entries takes little extra memory") {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 20'000; ++i) entries.emplace_back(std::to_string(i) + ".npy", npy_file("(1,)", "a"));
  const std::string file = zip(entries);
  CHECK(takes_at_most(8 * file.size() + 8 * kMiB, [&] {
    std::istringstream stream(file);
    EBB_CHECK(npy::read_npz(stream).size() == 20'000, "there are fewer.");
  }));
}

TEST_CASE("a pickle that is compressed too strongly is refused, and bytes after an array are not stored") {
  const std::string zeros = zip({entry_of_zeros("x/data.pkl", 400'000)});
  CHECK(takes_at_most(32 * kMiB, [&] { parse(zeros); }));
  CHECK_THROWS_WITH(parse(zeros), Contains("bytes is too large"));
  // An empty array followed by a hundred megabytes, in stored blocks of deflate before the zeros.
  const std::string head = npy_file("(0,)", "");
  const std::string block = "\0"s + little(head.size(), 2) + little(~head.size(), 2) + head;
  ZipEntry entry("a.npy", block + packed_zeros(400'000));
  entry.method = 8;
  entry.size = static_cast<std::uint32_t>(head.size() + 1 + 258 * 400'000);
  const std::string file = zip({entry});
  CHECK(takes_at_most(16 * kMiB, [&] {
    std::istringstream stream(file);
    npy::read_npz(stream);
  }));
  std::istringstream stream(file);
  CHECK_THROWS_WITH(npy::read_npz(stream), Contains("CRC-32"));
  // A header of 16 MiB.
  const std::string wide = "\x93NUMPY\2\0"s + little(16 * kMiB, 4) + std::string(16 * kMiB, ' ');
  CHECK_THROWS_WITH(npy::parse(wide.data(), wide.size()), Contains("bytes is too long"));
}

TEST_CASE("parsing a safetensors header takes at most 64 times the memory of its bytes") {
  const auto named = [](const std::string& before, const std::string& after) {
    std::string header = "{" + before;
    for (int i = 0; i < 100'000; ++i) header += (i ? ",\"" : "\"") + std::to_string(i) + after;
    return header;
  };
  const std::string headers[] = {
      named("", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}") + "}",
      named("\"__metadata__\":{", "\":\"\"") + "}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[" + times(300'000, "1,") + "0],\"data_offsets\":[0,0]}}",
      "{\"a\":{\"dtype\":\"U8\",\"x\":" + times(500'000, "[") + times(500'000, "]") +
          ",\"shape\":[0],\"data_offsets\":[0,0]}}"};
  for (const std::string& header : headers) {
    INFO(header.substr(0, 40));
    const std::string file = little(header.size(), 8) + header;
    CHECK(takes_at_most(64 * file.size(), [&] { safetensors::parse(file.data(), file.size()); }));
    CHECK_NOTHROW(safetensors::parse(file.data(), file.size()));
  }
}
