// Errors that say in which file they happened.
#pragma once

#include <ebb/core/error.h>

#include <string>

namespace ebb::io {

/// What `body` throws gets the path, unless it has it or there is none.
template <class Body>
auto located(const std::string& path, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& e) {
    const std::string what = e.what();
    if (path.empty() || what.find(path) != std::string::npos) throw;
    throw Error(what + (what.find('\n') == what.npos ? " " : "\n") + "File: \"" + path + "\".");
  }
}

}  // namespace ebb::io
