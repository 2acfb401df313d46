// TensorOptions, layouts and memory formats as text.
#include <ebb/core/options.h>

#include <ostream>

namespace ebb {

std::ostream& operator<<(std::ostream& out, Layout) { return out << "Strided"; }

std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(format)];
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto print = [&](const char* label, const auto& value, bool given) {
    out << label << value << (given ? "" : " (default)");
  };
  const auto word = [](bool value) { return value ? "true" : "false"; };
  print("TensorOptions(dtype=", options.dtype(), options.has_dtype());
  print(", device=", options.device(), options.has_device());
  print(", layout=", options.layout(), options.has_layout());
  print(", requires_grad=", word(options.requires_grad()), options.has_requires_grad());
  print(", pinned_memory=", word(options.pinned_memory()), options.has_pinned_memory());
  out << ", memory_format=";
  if (options.has_memory_format())
    out << *options.memory_format_opt();
  else
    out << "(nullopt)";
  return out << ")";
}

}  // namespace ebb
