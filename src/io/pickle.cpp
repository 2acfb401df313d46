// Pickle: accessors of a pickle's nodes.
#include "io/pickle.h"

#include <bit>

namespace ebb::io {

namespace {
using Kind = Pickle::Kind;
}

std::int64_t Pickle::integer(Index node) const {
  const bool has_one = kind(node) == Kind::Bool || kind(node) == Kind::Int;
  return has_one ? static_cast<std::int64_t>(wide(node)) : 0;
}
double Pickle::number(Index node) const {
  return kind(node) == Kind::Double ? std::bit_cast<double>(wide(node)) : 0;
}
std::string_view Pickle::text(Index node) const {
  return kind(node) == Kind::String ? text_.substr(nodes_[node].a, nodes_[node].b) : std::string_view();
}
std::string Pickle::name(Index node) const {
  if (kind(node) != Kind::Global) return {};
  return std::string(text(nodes_[node].a)).append(".").append(text(nodes_[node].b));
}

Pickle::Items Pickle::items(Index node) const {
  const bool has_some = kind(node) == Kind::List || kind(node) == Kind::Tuple || kind(node) == Kind::Dict;
  return has_some ? Items(this, nodes_[node].a, nodes_[node].c) : Items(this, kNone, 0);
}
Pickle::Items Pickle::contents(Index call) const {
  if (nodes_[call].c == 0) return {this, kNone, 0};
  const Chain& chain = more_[nodes_[call].c - 1].contents;
  return {this, chain.first, chain.size};
}
Pickle::Items Pickle::states(Index call) const {
  if (nodes_[call].c == 0) return {this, kNone, 0};
  const Chain& chain = more_[nodes_[call].c - 1].states;
  return {this, chain.first, chain.size};
}

std::vector<Pickle::Index> Pickle::Items::first(std::size_t n) const {
  std::vector<Index> some;
  for (auto at = begin(); at != end() && some.size() < n; ++at) some.push_back(*at);
  return some;
}

}  // namespace ebb::io
