// Errors of a loader's workers, as text.
#include <ebb/data/worker_exception.h>

#include <algorithm>
#include <utility>

#include "core/messages.h"

namespace ebb::data {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return std::string(e.what()) + "\n  of type " + ebb::detail::demangled(typeid(e));
  } catch (...) {
    return "not a std::exception";
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original, const std::string& where)
    : Error("Caught exception in DataLoader worker thread. Original message: " + message_of(original) +
            (where.empty() ? "" : "\n  " + where)),
      original_exception(std::move(original)) {}

std::string detail::request_text(const std::type_info& dataset, const std::vector<std::size_t>& indices) {
  constexpr std::size_t kMost = 16;
  std::string text = "reading the examples [";
  for (std::size_t i = 0; i < std::min(indices.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(indices[i]);
  return text + (indices.size() > kMost ? ", ...] of " : "] of ") + ebb::detail::demangled(dataset);
}
std::string detail::request_text(const std::type_info& dataset) {
  return "reading a batch of " + ebb::detail::demangled(dataset);
}

}  // namespace ebb::data
