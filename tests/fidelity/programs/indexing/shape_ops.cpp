// Shape ops: joining, splitting and rearranging.
#include "fidelity.h"

// Shape ops: values, gradients and which calls share storage.
namespace shape_ops {

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
};

void run() {
  const Case cases[] = {
      {"view", [](const Tensor& x) { return x.view({3, -1}); }},
      {"reshape", [](const Tensor& x) { return torch::reshape(x, {-1}); }},
      {"reshape_as", [](const Tensor& x) { return x.reshape_as(torch::zeros({6, 4})); }},
      {"view_as", [](const Tensor& x) { return x.view_as(torch::zeros({12, 2})); }},
      {"flatten", [](const Tensor& x) { return torch::flatten(x); }},
      {"flatten.1", [](const Tensor& x) { return x.flatten(1); }},
      {"flatten.01", [](const Tensor& x) { return x.flatten(0, 1); }},
      {"ravel", [](const Tensor& x) { return x.ravel(); }},
      {"unflatten", [](const Tensor& x) { return x.unflatten(2, {2, 2}); }},
      {"unsqueeze", [](const Tensor& x) { return torch::unsqueeze(x, 0).unsqueeze(-1); }},
      {"squeeze", [](const Tensor& x) { return x.unsqueeze(1).squeeze(); }},
      {"squeeze.dim", [](const Tensor& x) { return x.unsqueeze(1).squeeze(1).squeeze(0); }},
      {"transpose", [](const Tensor& x) { return x.transpose(0, 2); }},
      {"swapaxes", [](const Tensor& x) { return torch::swapaxes(x, 0, 1); }},
      {"t", [](const Tensor& x) { return x[0].t(); }},
      {"mT", [](const Tensor& x) { return x.mT(); }},
      {"permute", [](const Tensor& x) { return x.permute({2, 0, 1}); }},
      {"permute.fn", [](const Tensor& x) { return torch::permute(x, {1, 2, 0}); }},
      {"movedim", [](const Tensor& x) { return x.movedim(0, -1); }},
      {"movedim.many", [](const Tensor& x) { return torch::movedim(x, {0, 1}, {2, 0}); }},
      {"expand", [](const Tensor& x) { return x.unsqueeze(1).expand({2, 2, 3, 4}); }},
      {"expand.minus", [](const Tensor& x) { return x.unsqueeze(1).expand({-1, 2, -1, -1}); }},
      {"expand_as", [](const Tensor& x) { return x[0].expand_as(torch::zeros({2, 3, 4})); }},
      {"broadcast_to", [](const Tensor& x) { return torch::broadcast_to(x, {2, 2, 3, 4}); }},
      {"repeat", [](const Tensor& x) { return x.repeat({2, 1, 1, 2}); }},
      {"tile", [](const Tensor& x) { return torch::tile(x, {2, 1}); }},
      {"repeat_interleave", [](const Tensor& x) { return x.repeat_interleave(2, 1); }},
      {"repeat_interleave.flat", [](const Tensor& x) { return torch::repeat_interleave(x, 2); }},
      {"repeat_interleave.counts",
       [](const Tensor& x) { return x.repeat_interleave(torch::tensor({2, 0, 1}), 1); }},
      {"flip", [](const Tensor& x) { return x.flip({0, 2}); }},
      {"fliplr", [](const Tensor& x) { return torch::fliplr(x); }},
      {"flipud", [](const Tensor& x) { return x.flipud(); }},
      {"roll", [](const Tensor& x) { return torch::roll(x, 1); }},
      {"roll.dims", [](const Tensor& x) { return x.roll({1, -1}, {0, 2}); }},
      {"rot90", [](const Tensor& x) { return torch::rot90(x, 1, {0, 1}); }},
      {"rot90.3", [](const Tensor& x) { return x.rot90(3, {1, 2}); }},
      {"tril", [](const Tensor& x) { return torch::tril(x); }},
      {"triu", [](const Tensor& x) { return x.triu(1); }},
      {"tril.minus", [](const Tensor& x) { return x.tril(-1); }},
      {"diag.vector", [](const Tensor& x) { return torch::diag(x[0][0], 1); }},
      {"diag.matrix", [](const Tensor& x) { return torch::diag(x[0]); }},
      {"diagonal", [](const Tensor& x) { return torch::diagonal(x, 1, 1, 2); }},
      {"diagonal.default", [](const Tensor& x) { return x.diagonal(); }},
      {"diag_embed", [](const Tensor& x) { return torch::diag_embed(x, -1); }},
      {"narrow", [](const Tensor& x) { return x.narrow(2, 1, 2); }},
      {"select", [](const Tensor& x) { return torch::select(x, 1, -1); }},
      {"slice", [](const Tensor& x) { return x.slice(2, 0, 4, 2); }},
      {"slice.open", [](const Tensor& x) { return x.slice(1, 1); }},
      {"unfold", [](const Tensor& x) { return x.unfold(2, 2, 1); }},
      {"unfold.step", [](const Tensor& x) { return x.unfold(1, 2, 2); }},
      {"as_strided", [](const Tensor& x) { return torch::as_strided(x, {3, 2}, {2, 3}, 1); }},
      {"contiguous", [](const Tensor& x) { return x.transpose(0, 1).contiguous(); }},
      {"clone", [](const Tensor& x) { return x.permute({2, 1, 0}).clone(); }},
      {"type_as", [](const Tensor& x) { return x.type_as(torch::zeros({1}, torch::kFloat32)); }},
      {"to", [](const Tensor& x) { return x.to(torch::kFloat32).to(torch::kFloat64); }},
      {"pixel_shuffle", [](const Tensor& x) { return torch::pixel_shuffle(x.reshape({1, 8, 3, 1}), 2); }},
      {"pixel_unshuffle", [](const Tensor& x) { return torch::pixel_unshuffle(x.reshape({1, 1, 4, 6}), 2); }},
      {"atleast_3d", [](const Tensor& x) { return torch::atleast_3d(x[0]); }},
      {"trace", [](const Tensor& x) { return torch::trace(x[0]); }},
      {"take", [](const Tensor& x) { return x.take(torch::tensor({0, 5, 5, -1})); }},
  };
  for (const Case& c : cases) {
    section(c.name, [&] {
      Tensor x = ramp({2, 3, 4}).requires_grad_();
      const Tensor y = c.call(x);
      report(c.name, y);
      (y * ramp(y.sizes().vec(), 0.5, 1.5, 1.1)).sum().backward();
      report(std::string(c.name) + ".d", x.grad());
      report_value(std::string(c.name) + ".shares", y.data_ptr() == x.data_ptr());
      report_value(std::string(c.name) + ".contiguous", y.is_contiguous());
    });
  }

  section("strides", [] {
    const Tensor x = ramp({2, 3, 4});
    report_sizes("strides.plain", x.strides().vec());
    report_sizes("strides.permute", x.permute({2, 0, 1}).strides().vec());
    report_sizes("strides.expand", x.unsqueeze(1).expand({2, 5, 3, 4}).strides().vec());
    report_sizes("strides.slice", x.slice(2, 0, 4, 2).strides().vec());
    report_value("storage_offset", static_cast<double>(x.select(0, 1).storage_offset()));
    report_sizes("strides.view", x.transpose(0, 1).unsqueeze(2).strides().vec());
    report_sizes("strides.clone", x.transpose(0, 1).clone().strides().vec());
    report_sizes("strides.like", torch::zeros_like(x.transpose(0, 1)).strides().vec());
    report_sizes("strides.add", (x.transpose(0, 1) + 1).strides().vec());
    report_sizes("strides.unfold", x.unfold(2, 2, 1).strides().vec());
    report_value("numel", static_cast<double>(x.numel()));
    report_value("nbytes", static_cast<double>(x.nbytes()));
    report_value("dim", static_cast<double>(x.dim()));
    report_value("size.minus", static_cast<double>(x.size(-1)));
    report_value("element_size", static_cast<double>(x.element_size()));
  });

  section("refused", [] {
    const Tensor x = ramp({2, 3, 4});
    report_error("view.count", [&] { x.view({5, 5}); });
    report_error("view.strided", [&] { x.transpose(0, 1).view({24}); });
    report_error("view.two", [&] { x.view({-1, -1}); });
    report_error("reshape.count", [&] { x.reshape({7}); });
    report_error("permute.twice", [&] { x.permute({0, 0, 1}); });
    report_error("permute.few", [&] { x.permute({0, 1}); });
    report_error("transpose.range", [&] { x.transpose(0, 3); });
    report_error("expand.size", [&] { x.expand({2, 3, 5}); });
    report_error("squeeze.range", [&] { x.squeeze(3); });
    report_error("t.3d", [&] { x.t(); });
    report_error("narrow.range", [&] { x.narrow(0, 1, 2); });
    report_error("select.range", [&] { x.select(0, 2); });
    report_error("repeat.few", [&] { x.repeat({2}); });
    report_error("flip.twice", [&] { x.flip({0, 0}); });
    report_error("unfold.big", [&] { x.unfold(0, 3, 1); });
    report_error("diagonal.same", [&] { x.diagonal(0, 1, 1); });
    report_error("pixel_shuffle", [&] { torch::pixel_shuffle(x.reshape({1, 6, 2, 2}), 2); });
    report_error("flatten.order", [&] { x.flatten(2, 1); });
    report("slice.beyond", x.slice(0, 1, 100));
    report("slice.empty", x.slice(0, 2, 1));
    report("squeeze.noop", x.squeeze(1));
    report("channel_shuffle", torch::channel_shuffle(x.reshape({1, 4, 3, 2}), 2));
    report("expand.empty", torch::zeros({1, 0}).expand({3, 0}));
  });

  section("meshgrid", [] {
    grads("meshgrid.ij",
          [](const Tensors& t) {
            const auto grid = torch::meshgrid({t[0], t[1]}, "ij");
            return grid[0] * grid[1] + grid[0];
          },
          {ramp({2}), ramp({3})});
    const auto grid = torch::meshgrid({torch::arange(2), torch::arange(3)}, "xy");
    report("meshgrid.xy0", grid[0]);
    report("meshgrid.xy1", grid[1]);
    const auto both = torch::broadcast_tensors({torch::arange(2).unsqueeze(1), torch::arange(3)});
    report("broadcast_tensors", both[0] + both[1] * 10);
    report("cartesian_prod", torch::cartesian_prod({torch::arange(2), torch::arange(3)}));
    report("block_diag", torch::block_diag({torch::ones({1, 2}), torch::full({2, 1}, 3.0)}));
    report("combinations", torch::combinations(torch::arange(3)));
    report("vander", torch::vander(torch::tensor({1, 2, 3})));
    report("tril_indices", torch::tril_indices(3, 3));
    report("triu_indices", torch::triu_indices(2, 3, 1));
  });
}

const Program program("shape_ops", run);

}  // namespace shape_ops

// Joining and splitting tensors.
namespace cat_split {

// The pieces, joined with weights so that every piece has a different gradient.
template <class F>
void pieces(const std::string& name, F&& cut, const Tensor& input) {
  section(name, [&] {
    Tensor x = input.clone().requires_grad_();
    const std::vector<Tensor> parts = cut(x);
    Tensor total = torch::zeros({}, torch::kFloat64);
    for (size_t i = 0; i < parts.size(); ++i) {
      report(name + "." + std::to_string(i), parts[i]);
      total = total + (parts[i] * parts[i]).sum() * static_cast<double>(i + 1);
    }
    total.backward();
    report(name + ".d", x.grad());
  });
}

void run() {
  const Tensors abc = {ramp({2, 3}), ramp({2, 3}, 1, 2), ramp({2, 3}, -3, -2)};
  grads("cat", [](const Tensors& t) { return torch::cat({t[0], t[1], t[2]}); }, abc);
  grads("cat.1", [](const Tensors& t) { return torch::cat(t, 1); }, abc);
  grads("cat.minus", [](const Tensors& t) { return torch::cat({t[0], t[0] * t[1]}, -1); }, abc);
  grads("concat", [](const Tensors& t) { return torch::concat(t, 0); }, abc);
  grads("stack", [](const Tensors& t) { return torch::stack(t); }, abc);
  grads("stack.1", [](const Tensors& t) { return torch::stack({t[0], t[1]}, 1); }, abc);
  grads("stack.minus", [](const Tensors& t) { return torch::stack({t[0], t[1]}, -1); }, abc);
  grads("hstack", [](const Tensors& t) { return torch::hstack(t); }, abc);
  grads("vstack", [](const Tensors& t) { return torch::vstack(t); }, abc);
  grads("dstack", [](const Tensors& t) { return torch::dstack(t); }, abc);
  grads("hstack.1d", [](const Tensors& t) { return torch::hstack({t[0][0], t[1][1]}); }, abc);
  grads("column_stack", [](const Tensors& t) { return torch::column_stack({t[0][0], t[1][1]}); }, abc);
  grads(
      "cat.sizes",
      [](const Tensors& t) { return torch::cat({t[0].slice(0, 0, 1), t[1], t[2].slice(0, 0, 0)}); }, abc);

  section("cat.types", [] {
    report("cat.promote", torch::cat({torch::tensor({1, 2}), torch::tensor({0.5f})}));
    report("cat.bool", torch::cat({torch::tensor({true}), torch::tensor({3})}));
    report("cat.empty", torch::cat({torch::zeros({0}), torch::ones({2, 2})}, 1));
    report("stack.scalars", torch::stack({torch::tensor(1.5), torch::tensor(2.5)}));
    report("stack.bool", torch::stack({torch::tensor({true, false}), torch::tensor({false, false})}));
    report_error("cat.none", [] { torch::cat(std::vector<Tensor>{}); });
    report_error("stack.none", [] { torch::stack(std::vector<Tensor>{}); });
    report_error("cat.shape", [] { torch::cat({torch::ones({2, 3}), torch::ones({2, 4})}); });
    report_error("cat.dims", [] { torch::cat({torch::ones({2, 3}), torch::ones({3})}); });
    report_error("cat.scalar", [] { torch::cat({torch::tensor(1.0), torch::tensor(2.0)}); });
    report_error("stack.shape", [] { torch::stack({torch::ones({2}), torch::ones({3})}); });
    report_error("cat.range", [] { torch::cat({torch::ones({2})}, 1); });
  });

  const Tensor x = ramp({5, 4});
  pieces("split", [](const Tensor& t) { return torch::split(t, 2); }, x);
  pieces("split.1", [](const Tensor& t) { return t.split(3, 1); }, x);
  pieces("split.sizes", [](const Tensor& t) { return t.split_with_sizes({1, 4}); }, x);
  pieces("split.list", [](const Tensor& t) { return t.split({3, 1}, 1); }, x);
  pieces("chunk", [](const Tensor& t) { return torch::chunk(t, 3); }, x);
  pieces("chunk.1", [](const Tensor& t) { return t.chunk(2, 1); }, x);
  pieces("chunk.many", [](const Tensor& t) { return t.chunk(7, 0); }, x);
  pieces("unbind", [](const Tensor& t) { return torch::unbind(t, 1); }, x);
  pieces("unbind.0", [](const Tensor& t) { return t[0].unbind(); }, x);
  pieces("tensor_split", [](const Tensor& t) { return torch::tensor_split(t, 3, 0); }, x);
  pieces("tensor_split.at", [](const Tensor& t) { return t.tensor_split({1, 3}, 1); }, x);
  pieces("hsplit", [](const Tensor& t) { return torch::hsplit(t, 2); }, x);
  pieces("vsplit", [](const Tensor& t) { return torch::vsplit(t, {1, 2}); }, x);

  section("split.refused", [&] {
    report_error("split.zero", [&] { x.split(0); });
    report_error("split.sum", [&] { x.split_with_sizes({1, 1}); });
    report_error("chunk.zero", [&] { x.chunk(0); });
    report_error("unbind.range", [&] { x.unbind(2); });
    report_error("split.range", [&] { x.split(2, 5); });
  });

  section("unused_piece", [&] {
    Tensor y = x.clone().requires_grad_();
    const auto parts = y.chunk(2, 1);
    (parts[1] * 3).sum().backward();
    report("unused.d", y.grad());
    Tensor z = x.clone();
    z.split(2)[1].zero_();
    z.unbind(1)[0].fill_(9);
    report("pieces_are_views", z);
  });
}

const Program program("cat_split", run);

}  // namespace cat_split
