// ebb inspect: lists the tensors of files of all formats, and refuses other files.
#include <ebb/ebb.h>

#include "cli/program.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;
using namespace ebb;

namespace {

Run inspect(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "inspect");
  return ebb_run(arguments);
}

// Writes a file with a safetensors header and that many bytes of data, stored as a hole.
std::string write_header(const std::string& path, const std::string& header, std::uintmax_t bytes) {
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> 8 * i);
  support::write_file(path, length + header);
  fs::resize_file(path, 8 + header.size() + bytes);
  return path;
}

const safetensors::NamedTensors& some_tensors() {
  static const safetensors::NamedTensors tensors = {
      {"layer.weight", ones({2, 3})}, {"layer.bias", ones({2}, kHalf)}, {"steps", tensor(5, kLong)}};
  return tensors;
}

constexpr const char* kTable =
    "name          dtype    shape   elements  bytes\n"
    "layer.weight  float32  [2, 3]         6     24\n"
    "layer.bias    float16  [2]            2      4\n"
    "steps         int64    []             1      8\n"
    "3 tensors                             9     36\n";

// Checks that there is a one-line error and status 1.
void check_refused(const std::string& path, const std::string& part) {
  INFO(path);
  const Run refused = inspect({path});
  INFO(refused.err);
  CHECK(refused.status == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("ebb: "));
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  CHECK(refused.err.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("inspect prints the tensors of a safetensors file in file order") {
  const std::string path = support::temporary("some.safetensors");
  safetensors::write(path, some_tensors(), {{"format", "pt"}, {"a", "line\nand another"}});
  const Run table = inspect({path});
  CHECK(table.status == 0);
  CHECK(table.out == kTable);
  CHECK(table.err.empty());
  const std::string metadata = "\nmetadata\n  a: line\\x0aand another\n  format: pt\n";
  CHECK(inspect({"--metadata", path}).out == kTable + metadata);
  CHECK(inspect({"--metadata", "--", path}).out == kTable + metadata);
}

TEST_CASE("inspect with --json prints JSON") {
  const std::string path = support::temporary("json.safetensors");
  safetensors::write(path, {{"a \"b\"", ones({2, 0})}, {"c", zeros({}, kBool)}}, {{"format", "pt"}});
  const Run json = inspect({path, "--json"});
  CHECK(json.status == 0);
  CHECK(json.out == R"({
  "file": ")" + path + R"(",
  "format": "safetensors",
  "tensors": [
    {
      "name": "a \"b\"",
      "dtype": "float32",
      "shape": [
        2,
        0
      ],
      "elements": 0,
      "bytes": 0
    },
    {
      "name": "c",
      "dtype": "bool",
      "shape": [],
      "elements": 1,
      "bytes": 1
    }
  ],
  "total": {
    "tensors": 2,
    "elements": 1,
    "bytes": 1
  },
  "metadata": {
    "format": "pt"
  }
}
)");
}

TEST_CASE("inspect lists a sharded checkpoint, named by its index or its folder, in the order of the index") {
  const std::string by_name =
      "name          dtype    shape   elements  bytes\n"
      "layer.bias    float16  [2]            2      4\n"
      "layer.weight  float32  [2, 3]         6     24\n"
      "steps         int64    []             1      8\n"
      "3 tensors                             9     36\n";
  const support::Folder folder;
  const std::string index = safetensors::write_sharded(folder.path().string(), some_tensors(), 24);
  REQUIRE(index.ends_with(".json"));
  CHECK(inspect({index}).out == by_name);
  CHECK(inspect({folder.path().string()}).out == by_name);
  CHECK(inspect({index, "--json"}).out.find("\"format\": \"sharded safetensors\"") != std::string::npos);
}

TEST_CASE("inspect lists nested tensors of a torch.save file") {
  const std::string path = support::temporary("some.pt");
  pytorch::write(path, some_tensors());
  CHECK(inspect({path}).out == kTable);

  const pytorch::Value moments = pytorch::List{ones({2}), pytorch::Value(7), ones({1}, kDouble)};
  pytorch::write(path, pytorch::Dict{{"epoch", 3},
                                     {"model", pytorch::Dict{{"w", ones({2})}}},
                                     {"optimizer", pytorch::Dict{{0, moments}}}});
  CHECK(inspect({path}).out ==
        "name           dtype    shape  elements  bytes\n"
        "model.w        float32  [2]           2      8\n"
        "optimizer.0.0  float32  [2]           2      8\n"
        "optimizer.0.2  float64  [1]           1      8\n"
        "3 tensors                             5     24\n");
  pytorch::write(path, pytorch::Value(ones({2})));
  CHECK(inspect({path}).out.find("tensor    float32  [2]           2      8\n") != std::string::npos);
  pytorch::write(path, pytorch::Value("no tensor"));
  CHECK(inspect({path}).out.find("0 tensors") != std::string::npos);
}

TEST_CASE("inspect prints only the dtype of a tensor with an unsupported PyTorch dtype") {
  const std::string path = source_dir() + "/tests/io/data/values.pt";
  CHECK(inspect({path}).out.find("  complex64  ?  ") != std::string::npos);
  CHECK(inspect({path, "--json"}).out.find("\"dtype\": \"complex64\",\n      \"shape\": null") !=
        std::string::npos);
}

TEST_CASE("inspect lists the arrays of NumPy's files") {
  const std::string npz = support::temporary("some.npz"), npy = support::temporary("some.npy");
  npy::write_npz(npz, some_tensors());
  CHECK(inspect({npz}).out == kTable);
  npy::write(npy, ones({4, 2}, kByte));
  CHECK(inspect({npy}).out ==
        "name      dtype  shape   elements  bytes\n"
        "tensor    uint8  [4, 2]         8      8\n"
        "1 tensor                        8      8\n");
}

TEST_CASE("inspect lists the tensors of saved modules and optimizers and checkpoints") {
  nn::Linear net(3, 2);
  optim::Adam adam(net->parameters());
  net(ones({1, 3})).sum().backward();
  adam.step();
  const std::string path = support::temporary("saved");
  save(net, path);
  CHECK(inspect({path}).out.find("weight     float32  [2, 3]") != std::string::npos);
  save(adam, path);
  CHECK(inspect({path}).out.find("0.exp_avg_sq ") != std::string::npos);
  Checkpoint(path).add("model", net).add("optimizer", adam).save();
  CHECK(inspect({path}).status == 0);
}

TEST_CASE("inspect prints the size of tensors with unsupported dtypes") {
  const std::string header =
      R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]},)"
      R"("b":{"dtype":"U16","shape":[2,2],"data_offsets":[3,11]},"c":{"dtype":"F4","shape":[6],"data_offsets":[11,14]}})";
  const std::string path = write_header(support::temporary("f8.safetensors"), header, 14);
  CHECK(inspect({path}).out ==
        "name       dtype    shape   elements  bytes\n"
        "a          F8_E4M3  [3]            3      3\n"
        "b          uint16   [2, 2]         4      8\n"
        "c          F4       [6]            6      3\n"
        "3 tensors                         13     14\n");
}

TEST_CASE("inspect escapes control characters in tensor names") {
  const std::string path = support::temporary("rude.pt");
  pytorch::write(path, pytorch::Dict{{"\x1b[2J\n\x7f\xc2\x9b"
                                      "31m\xc3\xa9",
                                      ones({1})}});
  const Run table = inspect({path});
  CHECK(table.out.find("\n\\x1b[2J\\x0a\\x7f\\xc2\\x9b31m\xc3\xa9  float32") != std::string::npos);
}

TEST_CASE("inspect reads only the header of a large array of NumPy") {
  const std::string path = support::temporary("large.npy");
  npy::write(path, ones({1}));
  std::string bytes = support::read_file(path);
  const std::size_t shape = bytes.find("(1,), }          ");
  REQUIRE(shape != std::string::npos);
  bytes.replace(shape, 16, "(1342177280,), }");
  support::write_file(path, bytes);
  fs::resize_file(path, 128 + (std::uintmax_t{5} << 30));
  const Run table = run(ebb_program(), {"inspect", path}, support::kChildrenRun ? std::size_t{2} << 30 : 0);
  INFO(table.err);
  CHECK(table.out.find("tensor    float32  [1342177280]  1342177280  5368709120\n") != std::string::npos);
  fs::remove(path);
}

TEST_CASE("inspect reads only the header of a safetensors file") {
  const std::uintmax_t bytes = std::uintmax_t{5} << 30;
  const std::string n = std::to_string(bytes), elements = std::to_string(bytes / 4);
  const std::string path = write_header(
      support::temporary("large.safetensors"),
      R"({"w":{"dtype":"F32","shape":[)" + elements + R"(],"data_offsets":[0,)" + n + "]}}", bytes);
  // Sanitizers reserve more address space than any limit allows.
  const std::size_t memory = support::kChildrenRun ? std::size_t{2} << 30 : 0;
  const Run table = run(ebb_program(), {"inspect", path}, memory);
  INFO(table.err);
  CHECK(table.status == 0);
  CHECK(table.out.find("w         float32  [" + elements + "]") != std::string::npos);
  fs::remove(path);
}

TEST_CASE("inspect lists the tensors of PyTorch and NumPy files whose elements are damaged") {
  const Variable pattern = full({64}, 0x1.234568p+3f);
  const std::string path = support::temporary("damaged");
  for (const bool numpy : {false, true}) {
    if (numpy)
      npy::write_npz(path, {{"w", pattern}});
    else
      pytorch::write(path, pytorch::Dict{{"w", pattern}});
    std::string bytes = support::read_file(path);
    const auto* const elements = static_cast<const char*>(pattern.data_ptr());
    const std::size_t at = bytes.find(std::string(elements, pattern.nbytes()));
    REQUIRE(at != std::string::npos);
    bytes[at + 100] ^= 1;
    support::write_file(path, bytes);
    if (numpy)
      CHECK_THROWS_AS(npy::read_npz(path), Error);
    else
      CHECK_THROWS_AS(pytorch::read(path), Error);
    CHECK(inspect({path}).out.find("w         float32  [64]         64    256\n") != std::string::npos);
  }
}

TEST_CASE("inspect exits with status 1 and a one-line error for an unreadable file") {
  const support::Folder folder;
  check_refused(folder / "none.safetensors", "none.safetensors");
  check_refused(folder.path().string(), "model.safetensors.index.json");
  support::write_file(folder / "empty", "");
  check_refused(folder / "empty", "empty");
  support::write_file(folder / "text", "this is not a file of weights\n");
  check_refused(folder / "text", "text");
  support::write_file(folder / "index.json", "{\"weight_map\": 3}\n");
  check_refused(folder / "index.json", "weight_map");
  support::write_file(folder / "zip", "PK\3\4 and no more");
  check_refused(folder / "zip", "zip");
  support::write_file(folder / "pickle", "\x80\2}.");
  check_refused(folder / "pickle", "pickle");
  support::write_file(folder / "npy", "\x93NUMPY\1");
  check_refused(folder / "npy", "npy");
  // A header that declares more data than there is, and a truncated header.
  write_header(folder / "short", R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 15);
  check_refused(folder / "short", "short");
  write_header(folder / "huge",
               R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}})", 16);
  check_refused(folder / "huge", "huge");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  check_refused(folder / "pipe", "pipe");
  safetensors::write(folder / "good", some_tensors());
  std::string bytes = support::read_file(folder / "good");
  for (std::size_t size = 0; size + 1 < bytes.size(); size += 9) {
    support::write_file(folder / "cut", bytes.substr(0, size));
    check_refused(folder / "cut", "cut");
  }
}

TEST_CASE("inspect prints its usage after wrong arguments and an error if the output is full") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, std::vector<std::string>{"--jsn", "x"},
        std::vector<std::string>{"x", "y"}}) {
    const Run misused = inspect(words);
    CHECK(misused.status == 2);
    CHECK(misused.err.starts_with("ebb: inspect: "));
  }
  const std::string path = support::temporary("full.safetensors");
  safetensors::write(path, some_tensors());
  const Run full = run(ebb_program(), {"inspect", path}, 0, "/dev/full");
  CHECK(full.status == 1);
  CHECK(full.err == "ebb: inspect: the output could not be written completely.\n");
}
