// Malicious files: each is an error that names the defect, and no code in a file is run.
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/files.h"
#include "support/zip.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ebb;
using namespace std::string_literals;
using support::Contains;
using support::zip;
using support::ZipEntry;

namespace {

pytorch::Value parse(const std::string& file) { return pytorch::parse(file.data(), file.size()); }

std::string text(const std::string& value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
}

// A torch.save file whose data.pkl consists of these opcodes, with four floats under the key "0".
std::string pickled(const std::string& opcodes) {
  return zip({{"x/data.pkl", "\x80\2" + opcodes + "."}, {"x/data/0", std::string(16, '\0')}});
}
// A float tensor under a key; the file declares `count` elements.
std::string tensor_of(const std::string& key, const std::string& count, const std::string& offset,
                      const std::string& sizes, const std::string& strides,
                      const std::string& type = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + type + "\n" + text(key) +
         text("cpu") + count + "tQ" + offset + "(" + sizes + "t(" + strides + "t\x89" +
         "ccollections\nOrderedDict\n)RtR";
}
const std::string kMinusOne = "J\xff\xff\xff\xff", kHuge = "\x8a\x8\xff\xff\xff\xff\xff\xff\xff\x7f";

}  // namespace

TEST_CASE("a pickle that calls a function is refused with the name of the function") {
  const std::string harm = support::temporary("harm");
  std::filesystem::remove(harm);
  for (const std::string function : {"posix\nsystem\n", "builtins\neval\n", "os\nsystem\n"}) {
    const std::string name = function.substr(0, function.find('\n'));
    CHECK_THROWS_WITH(parse(pickled("c" + function + "(" + text("touch " + harm) + "tR")),
                      Contains(name + ".") && Contains("state_dict()"));
    CHECK_THROWS_WITH(
        parse(pickled("c" + function + "(" + text("touch " + harm) + "t\x81}(" + text("a") + "K\1ub")),
        Contains(name + "."));
  }
  CHECK_FALSE(std::filesystem::exists(harm));
  // A function is read as a value that contains its name.
  CHECK(std::get<pytorch::Object>(parse(pickled("cposix\nsystem\n")).content()).type == "posix.system");
}

TEST_CASE("a pickle with an unsupported opcode or a misused opcode is refused") {
  for (const char opcode : {'i', 'o', 'P', 'S', 'V', 'I', 'F', 'L', '\x82', '\x83', '\x84', '\x92', '\x97'})
    CHECK_THROWS_WITH(parse(pickled("N"s + opcode + "x\ny\n")),
                      Contains("opcode") && Contains("torch.save(model.state_dict(), path)"));
  CHECK_THROWS_WITH(parse(pickled("\x80\6N")), Contains("protocol 6"));
  CHECK_THROWS_WITH(parse(pickled("h\7")), Contains("a memo entry that it does not have"));
  CHECK_THROWS_WITH(parse(pickled("")), Contains("takes more values than its stack has"));
  CHECK_THROWS_WITH(parse(pickled("(0")), Contains("takes more values than its stack has"));
  CHECK_THROWS_WITH(parse(pickled("Nt")), Contains("lacks a mark"));
  CHECK_THROWS_WITH(parse(pickled("K\1K\2a")), Contains("not a list"));
  CHECK_THROWS_WITH(parse(pickled("}(K\1u")), Contains("not a dict"));
  CHECK_THROWS_WITH(parse(pickled("X\xff\xff\xff\xffx")), Contains("cut short"));
  CHECK_THROWS_WITH(parse(pickled("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx")), Contains("cut short"));
  CHECK_THROWS_WITH(parse(pickled("K\1K\2R")), Contains("not a function"));
  // A list that contains itself, and a list that doubles with each level.
  CHECK_THROWS_WITH(parse(pickled("]q\0h\0a"s)), Contains("in themselves"));
  std::string laughs = "]K\1a";
  for (int i = 0; i < 40; ++i) laughs += "2\x86";
  CHECK_THROWS_WITH(parse(pickled(laughs)), Contains("ten million"));
}

TEST_CASE("a tensor that exceeds its storage is refused") {
  const auto with = [](const std::string& count, const std::string& offset, const std::string& sizes,
                       const std::string& strides) {
    return parse(pickled(tensor_of("0", count, offset, sizes, strides))).as_tensor();
  };
  CHECK(with("K\4", "K\0"s, "K\2K\2", "K\2K\1").numel() == 4);
  CHECK(with("K\4", "K\3", "", "").dim() == 0);
  CHECK(with("K\4", "K\0"s, "K\0K\5"s, "K\5K\1").sizes() == IntArrayRef({0, 5}));
  const char* const outside = "exceeds its storage";
  CHECK_THROWS_WITH(with("K\4", "K\1", "K\2K\2", "K\2K\1"), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\4", "", ""), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\0"s, "K\5", "K\1"), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\0"s, "K\2K\2", "K\3K\1"), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\0"s, kMinusOne, "K\1"), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\2", "K\2", kMinusOne), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", "K\0"s, kHuge, kHuge), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", kHuge, "K\2", "K\1"), Contains(outside));
  CHECK_THROWS_WITH(with("K\4", kMinusOne, "K\1", "K\1"), Contains("do not fit each other"));
  CHECK_THROWS_WITH(with(kMinusOne, "K\0"s, "K\1", "K\1"), Contains("do not fit each other"));
  CHECK_THROWS_WITH(with("K\4", "K\0"s, "K\2K\2", "K\1"), Contains("do not fit each other"));
  CHECK_THROWS_WITH(with("N", "K\0"s, "K\1", "K\1"), Contains("not an integer"));
  CHECK_THROWS_WITH(with("K\5", "K\0"s, "K\1", "K\1"), Contains("16 bytes, not 5 elements"));
  CHECK_THROWS_WITH(with("K\3", "K\0"s, "K\1", "K\1"), Contains("16 bytes, not 3 elements"));
  CHECK_THROWS_WITH(with(kHuge, "K\0"s, "K\1", "K\1"), Contains("a storage of 9223372036854775807"));
  // A view of a storage, as in files before 1.6.
  const std::string view = tensor_of("0", "K\4" + text("0") + "K\1K\2\x87", "K\2", "K\1", "K\1");
  CHECK(parse(pickled(view)).as_tensor().array().offset() == 3);
  const std::string far = tensor_of("0", "K\4" + text("0") + kHuge + "K\2\x87", "K\2", "K\1", "K\1");
  CHECK_THROWS_WITH(parse(pickled(far)), Contains("do not fit each other"));
  CHECK_THROWS_WITH(parse(pickled(tensor_of("0", "K\4)", "K\0"s, "K\1", "K\1"))), Contains("no offset"));
}

TEST_CASE("a storage must be an entry in the folder of the pickle and have the same dtype in all tensors") {
  const std::string one = tensor_of("0", "K\4", "K\0"s, "K\4", "K\1");
  for (const std::string key : {"1", "../data/0", "../../data.pkl", ""})
    CHECK_THROWS_WITH(parse(pickled(tensor_of(key, "K\4", "K\0"s, "K\1", "K\1"))),
                      Contains("no entry \"x/data/" + key + "\""));
  const std::string as_ints = tensor_of("0", "K\4", "K\0"s, "K\4", "K\1", "IntStorage");
  CHECK_THROWS_WITH(parse(pickled("(" + one + as_ints + "t")), Contains("of two kinds"));
  const std::string flags = tensor_of("0", "K\1", "K\0"s, "K\1", "K\1", "BoolStorage");
  CHECK_THROWS_WITH(parse(zip({{"x/data.pkl", "\x80\2" + flags + "."}, {"x/data/0", "\2"}})),
                    Contains("other than 0 and 1"));
  CHECK(std::holds_alternative<pytorch::Unsupported>(
      parse(pickled(tensor_of("0", "K\2", "K\0"s, "K\1", "K\1", "ComplexFloatStorage"))).content()));
}

TEST_CASE("a zip archive with wrong sizes or offsets of entries is an error") {
  const ZipEntry sound("x/data.pkl", "\x80\2K\1.");
  CHECK(parse(zip({sound})).as_int() == 1);
  CHECK_THROWS_WITH(parse(zip({sound, sound})), Contains("two entries \"x/data.pkl\""));
  const auto with = [&](auto change) {
    ZipEntry entry = sound;
    change(entry);
    return parse(zip({entry}));
  };
  CHECK_THROWS_WITH(with([](ZipEntry& e) { ++e.sum; }), Contains("CRC-32"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.size = 1000; }), Contains("cannot have 1000 bytes"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.size = e.packed = 100000; }),
                    Contains("cannot have 100000 bytes"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.method = 12; }), Contains("method 12"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.flags = 1; }), Contains("encrypted"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) {
                      e.method = 8;
                      e.size = 0x7fffffff;  // a size that a few bytes cannot decompress to
                    }),
                    Contains("cannot have 2147483647 bytes"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.method = 8; }), Contains("does not unpack"));
  CHECK_THROWS_WITH(with([](ZipEntry& e) { e.name = "x/other"; }), Contains("no data.pkl"));
  CHECK_THROWS_WITH(parse(zip({})), Contains("no data.pkl"));
  CHECK_THROWS_WITH(parse(zip({}).substr(0, 21)),
                    Contains("zip: the archive is not sound: it has no directory at its"));
  const std::string whole = zip({sound});
  // The last four bytes are not needed.
  for (std::size_t n = 2; n + 4 < whole.size(); ++n)
    CHECK_THROWS_WITH(parse(whole.substr(0, n)), Contains("zip: the archive is not sound"));
  // Names are only looked up, and never used as paths on a disk.
  CHECK(parse(zip({{"../../x/data.pkl", sound.bytes}})).as_int() == 1);
}

TEST_CASE("zip64 sizes and offsets are read even if bytes precede the archive") {
  const ZipEntry sound("x/data.pkl", "\x80\2K\1.");
  const std::vector<ZipEntry> entries = {{"x/first", std::string(3000, 'a')}, sound, {"x/.data/id", ""}};
  for (const bool zip64 : {false, true}) {
    const std::string whole = zip(entries, zip64);
    CHECK(parse(whole).as_int() == 1);
    for (std::size_t n = 3000; n + 4 < whole.size(); ++n)
      CHECK_THROWS_WITH(parse(whole.substr(0, n)), Contains("zip: the archive is not sound"));
    // Each flipped bit in the directory gives an error or another value, and never a crash.
    for (std::size_t at = 3000; at < whole.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        try {
          parse(changed);
        } catch (const Error&) {
        }
      }
  }
  std::ostringstream array;
  npy::write(array, arange(3));
  for (const bool zip64 : {false, true}) {
    std::istringstream later("before" + zip({{"a.npy", array.str()}}, zip64));
    CHECK(equal(npy::read_npz(later).at(0).second, arange(3)));
  }
  std::vector<ZipEntry> many(70'000, ZipEntry("", "a"));
  for (std::size_t i = 0; i < many.size(); ++i) many[i].name = "x/" + std::to_string(i);
  many.push_back(sound);
  CHECK(parse(zip(many, true)).as_int() == 1);
}

TEST_CASE("a PyTorch file of a big-endian machine is refused") {
  CHECK_THROWS_WITH(parse(zip({{"x/data.pkl", "\x80\2K\1."}, {"x/byteorder", "big"}})),
                    Contains("big-endian"));
  const std::string start = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3."s;
  const std::string value = "\x80\2K\1.\x80\2].";
  CHECK_THROWS_WITH(parse(start + "\x80\2}" + text("little_endian") + "\x89s." + value),
                    Contains("big-endian"));
  CHECK(parse(start + "\x80\2}" + text("little_endian") + "\x88s." + value).as_int() == 1);
  CHECK_THROWS_WITH(parse(start.substr(0, start.size() - 2) + "\4." + "\x80\2}." + value),
                    Contains("version is not 1001"));
}

TEST_CASE("a .npy file of objects or strings or structures is refused with advice on conversion") {
  const auto npy = [](const std::string& descr, char version = 1) {
    const std::string header = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }\n";
    return "\x93NUMPY"s + version + "\0"s + static_cast<char>(header.size()) + "\0"s + header + "\x80\4K\1.";
  };
  const auto read = [](const std::string& bytes) { return npy::parse(bytes.data(), bytes.size()); };
  for (const char* const descr : {"'|O'", "'<U3'", "'|S5'", "'<c8'", "'<u4'", "'<M8[s]'", "'<f16'", "'|V4'"})
    CHECK_THROWS_WITH(read(npy(descr)), Contains("astype"));
  CHECK_THROWS_WITH(read(npy("[('a', '<f4'), ('b', '|O')]")), Contains("structures"));
  CHECK_THROWS_WITH(read(npy("'<i4'", 4)), Contains("version 4"));
  CHECK_THROWS_WITH(read(npy("''")), Contains("empty"));
  const std::string objects = zip({{"a.npy", npy("'|O'")}});
  std::istringstream stream(objects);
  CHECK_THROWS_WITH(npy::read_npz(stream), Contains("|O"));
  std::istringstream mixed(zip({{"a.npy", npy("'<i4'")}, {"b.pkl", "\x80\2K\1."}}));
  CHECK_THROWS_WITH(npy::read_npz(mixed), Contains("b.pkl"));
}

TEST_CASE("an index of shards may name only files in the folder of the index") {
  const auto folder = support::own_folder();
  std::filesystem::create_directories(folder / "inner");
  safetensors::write((folder / "a.safetensors").string(), {{"x", ones({1})}});
  safetensors::write((folder / "inner" / "b.safetensors").string(), {{"x", ones({1})}});
  const std::string outside[] = {"../" + folder.filename().string() + "/a.safetensors",
                                 "inner/b.safetensors",
                                 (folder / "a.safetensors").string(),
                                 "./a.safetensors",
                                 "..",
                                 ".",
                                 "",
                                 "/"};
  for (const std::string& name : outside) {
    INFO(name);
    std::ofstream(folder / "model.safetensors.index.json") << R"({"weight_map":{"x":")" << name << "\"}}";
    CHECK_THROWS_AS(safetensors::ShardedReader(folder.string()), Error);
  }
  std::ofstream(folder / "model.safetensors.index.json") << R"({"weight_map":{"x":"a.safetensors"}})";
  CHECK(safetensors::ShardedReader(folder.string()).get_tensor("x").item<float>() == 1);
}

TEST_CASE("the errors of all readers name the file") {
  const auto folder = support::own_folder();
  std::filesystem::create_directories(folder);
  const auto put = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  };
  nn::Linear net(2, 1);
  const std::string pt = put("evil.pt", pickled("cposix\nsystem\n)R")),
                    npz = put("evil.npz", zip({{"a.npy", "x"}})), npy = put("evil.npy", "\x93NUMPY\7"),
                    cut = put("cut.pt", "PK\3\4abc");
  CHECK_THROWS_WITH(load(net, pt), Contains(pt) && Contains("posix.system"));
  CHECK_THROWS_WITH(pytorch::read(pt), Contains(pt));
  CHECK_THROWS_WITH(load(net, npz), Contains(npz));
  CHECK_THROWS_WITH(npy::read_npz(npz), Contains(npz));
  CHECK_THROWS_WITH(npy::read(npy), Contains(npy));
  CHECK_THROWS_WITH(load(net, cut), Contains(cut));
  Tensor x;
  CHECK_THROWS_WITH(load(x, npy), Contains(npy));
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1));
  CHECK_THROWS_WITH(load(sgd, pt), Contains(pt));
  serialize::InputArchive archive;
  CHECK_THROWS_WITH(archive.load_from(npz), Contains(npz));
}
