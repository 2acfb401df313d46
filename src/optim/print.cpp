// operator<< of optimizers.
#include <ebb/optim/optimizer.h>

#include "core/messages.h"
#include "core/recorder.h"

#include <algorithm>
#include <charconv>
#include <ostream>

namespace ebb::optim {

namespace {

void print(std::ostream& stream, double number) {
  char text[32];
  stream << std::string_view(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// Prints an option, which is a tensor here (src/optim/fields.h), in Python's format.
void print(std::ostream& stream, const Variable& value) {
  if (value.dtype() == kByte) {
    const auto* const text = value.data_ptr<std::uint8_t>();
    stream << std::string(text, text + value.numel());
  } else if (value.dtype() == kBool) {
    stream << (value.item<bool>() ? "True" : "False");
  } else if (value.dim() == 0) {
    print(stream, value.item<double>());
  } else {
    stream << '(';
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      stream << (i > 0 ? ", " : "");
      print(stream, value.data_ptr<double>()[i]);
    }
    stream << ')';
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer) {
  ebb::detail::not_replayed("it prints an optimizer");
  const std::string type = ebb::detail::demangled(typeid(optimizer));
  const std::size_t colon = type.rfind(':');
  stream << (colon == std::string::npos ? type : type.substr(colon + 1)) << " (";
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    serialize::OutputArchive archive;
    optimizer.param_groups()[i].options().serialize(archive);
    Optimizer::StateDict options = archive.tensors();
    std::sort(options.begin(), options.end(), [](auto& a, auto& b) { return a.first < b.first; });
    stream << "\nParameter Group " << i << '\n';
    for (const auto& [name, value] : options) {
      stream << "    " << name << ": ";
      print(stream, value);
      stream << '\n';
    }
  }
  return stream << ')';
}

}  // namespace ebb::optim
