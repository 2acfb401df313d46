// WorkerException: an error in a worker of a loader.
#pragma once

#include <ebb/core/error.h>

#include <cstddef>
#include <exception>
#include <string>
#include <typeinfo>
#include <vector>

namespace ebb::data {

/// An error of a worker. what() contains the message and type of the original error, the class of the
/// dataset, and the indices of the requested examples.
struct EBB_API WorkerException : Error {
  explicit WorkerException(std::exception_ptr original, const std::string& where = {});

  std::exception_ptr original_exception;
};

namespace detail {

/// Formats a request for the message: "reading [3, 1] of MyDataset".
EBB_API std::string request_text(const std::type_info& dataset, const std::vector<std::size_t>& indices);
EBB_API std::string request_text(const std::type_info& dataset);

template <class Dataset, class Request>
std::string request_of(const Dataset& dataset, const Request& request) {
  if constexpr (std::is_convertible_v<const Request&, const std::vector<std::size_t>&>)
    return request_text(typeid(dataset), request);
  else
    return request_text(typeid(dataset));
}

}  // namespace detail
}  // namespace ebb::data
