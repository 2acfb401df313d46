// The program ebb-inspect: a table of the tensors in a file.
#include "cli/contents.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace {

using ebb::cli::Contents;
using ebb::cli::TensorInfo;

constexpr const char* kUsage =
    "usage: ebb inspect [--metadata] [--json] FILE\n"
    "\n"
    "Lists the tensors of a file in its order: name, dtype, shape, elements and bytes.\n"
    "FILE is safetensors, the index of a sharded checkpoint or its folder, a file of\n"
    "torch.save, .npz or .npy, by its contents. The elements of the tensors are not read.\n"
    "\n"
    "  --metadata  also the metadata of safetensors\n"
    "  --json      all of it as JSON\n";

/// Escapes control characters, because a name in a file could otherwise rewrite the terminal's screen.
std::string shown(const std::string& text) {
  std::string out;
  const auto escape = [&](unsigned char c) {
    constexpr char digits[] = "0123456789abcdef";
    out += {'\\', 'x', digits[c >> 4], digits[c & 15]};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters of two bytes.
    const bool long_control =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || long_control)
      escape(c);
    else
      out += text[i];
    if (long_control) escape(static_cast<unsigned char>(text[++i]));
  }
  return out;
}

/// Returns the number of columns of UTF-8 text, with one column per character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shape_of(const TensorInfo& tensor) {
  if (!tensor.sizes) return "?";
  std::string text = "[";
  for (const std::int64_t size : *tensor.sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

struct Totals {
  std::uint64_t elements = 0, bytes = 0;
};
Totals totals_of(const Contents& contents) {
  Totals totals;
  for (const TensorInfo& tensor : contents.tensors) {
    totals.elements += tensor.elements;
    totals.bytes += tensor.bytes;
  }
  return totals;
}

std::string table_of(const Contents& contents, bool with_metadata) {
  using Row = std::vector<std::string>;
  std::vector<Row> rows = {{"name", "dtype", "shape", "elements", "bytes"}};
  for (const TensorInfo& t : contents.tensors) {
    const auto number = [&](std::uint64_t n) { return t.sizes ? std::to_string(n) : "?"; };
    rows.push_back({shown(t.name), shown(t.dtype), shape_of(t), number(t.elements), number(t.bytes)});
  }
  const Totals totals = totals_of(contents);
  const std::size_t count = contents.tensors.size();
  rows.push_back({std::to_string(count) + (count == 1 ? " tensor" : " tensors"), "", "",
                  std::to_string(totals.elements), std::to_string(totals.bytes)});

  constexpr std::size_t kWidest = 100;  // a longer name only shifts its own row
  constexpr std::size_t kFirstNumber = 3;
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(width_of(row[i]), kWidest));
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = width_of(row[i]);
      const std::string gap(widths[i] - std::min(widths[i], width), ' ');
      text += (i > 0 ? "  " : "") + (i < kFirstNumber ? row[i] + gap : gap + row[i]);
    }
    text += '\n';
  }
  if (with_metadata) {
    text += contents.metadata.empty() ? "\nno metadata\n" : "\nmetadata\n";
    for (const auto& [key, value] : contents.metadata) text += "  " + shown(key) + ": " + shown(value) + '\n';
  }
  return text;
}

std::string json_of(const std::string& path, const Contents& contents) {
  using Json = nlohmann::ordered_json;
  Json tensors = Json::array();
  for (const TensorInfo& t : contents.tensors) {
    Json tensor = {
        {"name", t.name}, {"dtype", t.dtype}, {"shape", nullptr}, {"elements", nullptr}, {"bytes", nullptr}};
    if (t.sizes) {
      tensor["shape"] = *t.sizes;
      tensor["elements"] = t.elements;
      tensor["bytes"] = t.bytes;
    }
    tensors.push_back(std::move(tensor));
  }
  const Totals totals = totals_of(contents);
  const Json all = {
      {"file", path},
      {"format", contents.format},
      {"tensors", std::move(tensors)},
      {"total",
       {{"tensors", contents.tensors.size()}, {"elements", totals.elements}, {"bytes", totals.bytes}}},
      {"metadata", Json(contents.metadata)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// Prints the message as a single line of text to stderr and returns the status.
int fail(int status, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "ebb: %s\n", shown(message).c_str());
  return status;
}

int write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
  return fail(1, "inspect: the output could not be written completely.");
}

int misused(const std::string& why) {
  return fail(2, "inspect: " + why + " \"ebb help inspect\" tells how to call it.");
}

}  // namespace

int main(int count, char** words) {
  bool metadata = false, json = false, only_files = false;
  std::vector<std::string> files;
  for (const std::string& word : std::vector<std::string>(words + 1, words + count)) {
    if (only_files || !word.starts_with('-')) {
      files.push_back(word);
    } else if (word == "--help" || word == "-h") {
      return write(kUsage);
    } else if (word == "--metadata") {
      metadata = true;
    } else if (word == "--json") {
      json = true;
    } else if (word == "--") {
      only_files = true;
    } else {
      return misused("there is no option " + word + ".");
    }
  }
  if (files.size() != 1) return misused(files.empty() ? "there is no file." : "there is more than one file.");
  try {
    const Contents contents = ebb::cli::contents_of(files[0]);
    return write(json ? json_of(files[0], contents) : table_of(contents, metadata));
  } catch (const std::bad_alloc&) {
    return fail(1, "inspect: there is not enough memory to read \"" + files[0] + "\".");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
