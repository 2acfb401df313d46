// Masks, and what stands between brackets.
#include "optable/reference.h"
#include "optable/table.h"

namespace optable {
namespace {

void masks() {
  row("masked_fill", [](In x) { return variable_list{ebb::masked_fill(x[0], x[1], 3)}; })
      .shapes({{{3, 4}, {3, 4}}, {{3, 4}, {4}}})
      .booleans(1)
      .reference([](double x, double mask) { return mask != 0 ? 3 : x; })
      .in_place([](In x) { return ebb::masked_fill_(x[0], x[1], 3); })
      .error("boolean", [] { ebb::masked_fill(ebb::ones({2}), ebb::ones({2}), 3); });
  row("masked_select", [](In x) { return variable_list{ebb::masked_select(x[0], x[1])}; })
      .shapes({{{3, 4}, {3, 4}}})
      .booleans(1)
      .reference([](const Arrays& in) {
        Array out{{0}, {}};
        for (std::size_t i = 0; i < in[0].values.size(); ++i)
          if (in[1][i] != 0) out.values.push_back(in[0][i]);
        out.sizes[0] = out.numel();
        return Arrays{out};
      })
      .error("boolean", [] { ebb::masked_select(ebb::ones({2}), ebb::ones({2})); });
  row("masked_scatter", [](In x) { return variable_list{ebb::masked_scatter(x[0], x[1], x[2])}; })
      .shapes({{{3, 4}, {3, 4}, {12}}})
      .booleans(1)
      .in_place([](In x) { return ebb::masked_scatter_(x[0], x[1], x[2]); })
      .reference([](const Arrays& in) {
        Array out = in[0];
        std::size_t next = 0;
        for (std::size_t i = 0; i < out.values.size(); ++i)
          if (in[1][i] != 0) out.values[i] = in[2][next++];
        return Arrays{out};
      })
      .error("masked_scatter",
             [] { ebb::masked_scatter(ebb::ones({2}), ebb::ones({2}, ebb::kBool), ebb::ones({1})); });
  const auto places_of = [](const Arrays& in) {
    std::vector<Index> found;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        if (in[0]({i, j}) != 0) found.push_back({i, j});
    return found;
  };
  unary("nonzero", [](V x) { return ebb::nonzero(x); })
      .shapes({{{3, 4}}})
      .booleans(0)
      .order(0, "places have no slope")
      .reference([=](const Arrays& in) {
        const auto found = places_of(in);
        return Arrays{build({static_cast<std::int64_t>(found.size()), 2}, [&](const Index& i) {
          return static_cast<double>(found[static_cast<std::size_t>(i[0])][static_cast<std::size_t>(i[1])]);
        })};
      });
  row("unravel_index",
      [](In x) {
        return ebb::unravel_index(x[0], {2, 3, 4});
      })
      .shapes({{{5}}, {{2, 3}}})
      .integers(0, 0, 24)
      .order(0, "places have no slope")
      .reference([](const Arrays& in) {
        Arrays out(3, in[0]);
        for (std::size_t i = 0; i < in[0].values.size(); ++i) {
          const auto flat = static_cast<std::int64_t>(in[0].values[i]);
          out[0].values[i] = static_cast<double>(flat / 12);
          out[1].values[i] = static_cast<double>(flat / 4 % 3);
          out[2].values[i] = static_cast<double>(flat % 4);
        }
        return out;
      })
      .error("integer dtype, got Float", [] { ebb::unravel_index(ebb::ones({2}), {3}); })
      .error("negative",
             [] {
               ebb::unravel_index(ebb::ones({2}, ebb::kLong), {3, -1});
             })
      .error("no place", [] {
        ebb::unravel_index(ebb::ones({2}, ebb::kLong), {3, 0});
      });
  row("nonzero_numpy", [](In x) { return ebb::nonzero_numpy(x[0]); })
      .shapes({{{3, 4}}})
      .booleans(0)
      .order(0, "places have no slope")
      .reference([=](const Arrays& in) {
        Arrays out(2, Array{{0}, {}});
        for (const Index& i : places_of(in))
          for (std::size_t d = 0; d < 2; ++d) out[d].values.push_back(static_cast<double>(i[d]));
        for (Array& a : out) a.sizes[0] = a.numel();
        return out;
      });
}

// x[1:, None, 0] and its twins for writing.
void brackets() {
  using namespace ebb::indexing;
  const auto where = [] { return std::vector<TensorIndex>{Slice(1), None, 0}; };
  row("get_item", [=](In x) { return variable_list{get_item(x[0], where())}; })
      .shapes({{{3, 4}}})
      .reference(picked({2, 1}, [](const Index& i) {
        return Index{i[0] + 1, 0};
      }));
  const auto written = built_like([](const Arrays& in, const Index& i) {
    return i[0] > 0 && i[1] == 0 ? in[1]({i[0] - 1, 0}) : in[0](i);
  });
  row("put_item", [=](In x) { return variable_list{put_item(x[0], where(), x[1])}; })
      .shapes({{{3, 4}, {2, 1}}})
      .reference(written);
  row("set_item",
      [=](In x) {
        const Variable y = x[0].clone();
        set_item(y, where(), x[1]);
        return variable_list{y};
      })
      .shapes({{{3, 4}, {2, 1}}})
      .reference(written)
      .error("index", [] { set_item(ebb::ones({2}), std::vector<TensorIndex>{2}, 1); });
}

}  // namespace

void register_mask() {
  family("index");
  masks();
  brackets();
}

}  // namespace optable
