// Readers of ebb, called with the bytes of a fuzzer, and valid seeds.
#include "fuzz/targets.h"

#include <zlib.h>

#include <stdexcept>

namespace fuzz {
bool read_safetensors(std::string_view bytes) {
  ebb::safetensors::File file;
  if (!accepted([&] { file = ebb::safetensors::parse(bytes.data(), bytes.size()); })) return false;
  for (const auto& [name, tensor] : file.tensors) look_at(tensor);
  return true;
}

bool read_idx(std::string_view bytes) {
  const MemoryFile file(bytes);
  ebb::Tensor read;
  if (!accepted([&] { read = ebb::data::read_idx(file.path()); })) return false;
  look_at(read);
  return true;
}

bool read_gzipped_idx(std::string_view bytes) { return read_idx(gzip(bytes)); }

bool read_csv(std::string_view bytes) {
  ebb::data::CSV table;
  const auto options =
      ebb::data::CSVOptions().dtype(bytes.size() % 2 == 0 ? ebb::kLong : ebb::kFloat).allow_missing(false);
  if (!accepted([&] { table = ebb::data::parse_csv(bytes, options); })) return false;
  look_at(table.values());
  for (const std::string& name : table.column_names())
    EBB_CHECK(table.is_numeric(name) ? table.column(name).size(0) == table.rows()
                                     : static_cast<std::int64_t>(table.text(name).size()) == table.rows(),
              "a column is not as long as the table.");
  return true;
}

bool read_vocabulary(std::string_view bytes) {
  const MemoryFile file(bytes);
  return accepted([&] {
    const ebb::data::Vocabulary read = ebb::data::Vocabulary::load(file.path());
    for (std::int64_t i = 0; i < read.size(); ++i)
      EBB_CHECK(read.index(read.token(i)) == i, "a token is not at its index.");
  });
}

// Valid seeds.

namespace {

using namespace std::string_literals;

std::string safetensors(std::string header, const std::string& data) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return length + header + data;
}

}  // namespace

std::vector<std::string> safetensors_seeds() {
  return {
      safetensors("{}", ""),
      safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})",
                  "12345678abc"),
      safetensors(
          R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F64","shape":[1,2,1],"data_offsets":[0,16]},)"
          R"("h":{"dtype":"BF16","shape":[],"data_offsets":[16,18]},)"
          R"("e":{"dtype":"I64","shape":[0,4],"data_offsets":[18,18]}}   )",
          "0123456789abcdefgh"),
      safetensors(R"({"q":{"x":[{"y":1}],"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},)"
                  R"("f":{"dtype":"F4","shape":[3],"data_offsets":[2,4]}})",
                  "1234"),
      safetensors(R"({"\u00e9\n":{"dtype":"BOOL","shape":[2,2],"data_offsets":[0,4]}})", "\0\1\1\0"s),
  };
}

std::vector<std::string> idx_seeds() {
  return {
      "\0\0\x08\x01\0\0\0\x03"s + "abc",                          // three bytes
      "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01"s + "abcd",     // two images
      "\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xfe"s,                  // shorts
      "\0\0\x0d\x02\0\0\0\x01\0\0\0\x02\x3f\x80\0\0\x40\0\0\0"s,  // floats
      "\0\0\x0e\0\x3f\xf0\0\0\0\0\0\0"s,                          // one double without dimensions
      "\0\0\x0c\x02\0\0\0\0\0\0\0\x07"s,                          // nothing
      gzip("\0\0\x08\x01\0\0\0\x03"s + "abc"),
      gzip("\0\0\x08\x02\0\0\0\x20\0\0\0\x20"s + std::string(1024, 'x')),
  };
}

std::vector<std::string> csv_seeds() {
  return {
      "a,b\n1,2\n3,4\n",
      "name,\"x, y\",z\r\n\"say \"\"hi\"\"\",1.5,-2e3\r\n\"two\nlines\",+7,1e-5\r\n",
      "\xef\xbb\xbf\"id\"\n\n9007199254740993\n-1",
      "a,b,c\n1,2,3\n4,5,6\n7,8,9\n\"10\",\"11\",\"12\"\n",
  };
}

std::vector<std::string> vocabulary_seeds() {
  return {
      "vocabulary of words\n\nthe\ncat\n<eos>\n",
      "vocabulary of characters\n?\n?\na\n\\n\n\\\\\n\xc3\xa4\n",
  };
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return out;
}

}  // namespace fuzz
