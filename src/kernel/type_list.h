// Lists of formulas; each backend instantiates its kernels from them.
#pragma once

namespace ebb::ops {

template <class... Ops>
struct List {};

template <class... Lists>
struct JoinLists;
template <class... A>
struct JoinLists<List<A...>> {
  using type = List<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<List<A...>, List<B...>, Rest...> : JoinLists<List<A..., B...>, Rest...> {};
template <class... Lists>
using Join = typename JoinLists<Lists...>::type;

}  // namespace ebb::ops
