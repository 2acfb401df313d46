// Writes through views: effects on the base, the other views and the gradients.
#include "fidelity.h"

namespace views_in_place {

using namespace torch::indexing;

void run() {
  const Tensor x = ramp({3, 4}), v = ramp({4}, 0.5, 1.5), c = ramp({3}, 1, 2, 2.0);
  const struct {
    const char* name;
    Tensor (*view)(const Tensor&);
  } views[] = {
      {"select", [](const Tensor& t) { return t.select(0, 1); }},
      {"column", [](const Tensor& t) { return t.select(1, 2); }},
      {"slice", [](const Tensor& t) { return t.slice(1, 1, 4, 2); }},
      {"narrow", [](const Tensor& t) { return t.narrow(0, 0, 2); }},
      {"t", [](const Tensor& t) { return t.t(); }},
      {"view", [](const Tensor& t) { return t.view({2, 6}); }},
      {"reshape", [](const Tensor& t) { return t.reshape({-1}); }},
      {"diagonal", [](const Tensor& t) { return t.diagonal(); }},
      {"unsqueeze", [](const Tensor& t) { return t.unsqueeze(1); }},
      {"permute", [](const Tensor& t) { return t.view({3, 2, 2}).permute({2, 0, 1}); }},
      {"unfold", [](const Tensor& t) { return t.unfold(1, 2, 2); }},
      {"as_strided", [](const Tensor& t) { return t.as_strided({2, 2}, {4, 1}, 1); }},
      {"nested", [](const Tensor& t) { return t.slice(0, 1).t().select(0, 3); }},
  };
  for (const auto& way : views) {
    const std::string name = way.name;
    grad1(
        name + ".mul",
        [&](const Tensor& t) {
          Tensor base = t * 1.5;
          way.view(base).mul_(3);
          return base;
        },
        x);
    grad1(
        name + ".square",
        [&](const Tensor& t) {
          Tensor base = t.sin();
          Tensor part = way.view(base);
          part.mul_(part.detach() + t.sum());
          return base * base;
        },
        x);
    grad1(
        name + ".zero",
        [&](const Tensor& t) {
          Tensor base = t * t;
          way.view(base).zero_();
          return base;
        },
        x);
    grad1(
        name + ".exp",
        [&](const Tensor& t) {
          Tensor base = t * 0.5;
          Tensor part = way.view(base);
          part.exp_();
          return part * 2;
        },
        x);
    grads(name + ".copy",
          [&](const Tensors& t) {
            Tensor base = t[0] * 2;
            Tensor part = way.view(base);
            part.copy_(t[1].expand_as(part));
            return base.cos();
          },
          {x, ramp({1}, 0.5, 1)});
  }

  section("two_views", [&] {
    grads("overlap",
          [](const Tensors& t) {
            Tensor base = t[0] * 1;
            Tensor a = base.slice(0, 0, 2), b = base.slice(0, 1, 3);
            a.mul_(t[1]);
            b.add_(a.clone());
            return base;
          },
          {x, v});
    grads("base_then_view",
          [](const Tensors& t) {
            Tensor base = t[0] * 1, row = base[1];
            base.mul_(2);
            row.mul_(t[1]);
            base.add_(1);
            return row.sum() + base;
          },
          {x, v});
    grads("row_by_row",
          [](const Tensors& t) {
            Tensor out = torch::zeros({3, 4}, torch::kFloat64);
            for (int64_t i = 0; i < 3; ++i) out[i] = t[0][i] * t[1][i];
            return out;
          },
          {x, c});
    grads("cell_by_cell",
          [](const Tensors& t) {
            Tensor out = torch::empty({3}, torch::kFloat64);
            for (int64_t i = 0; i < 3; ++i) out[i] = i == 0 ? t[0][0] : out[i - 1].clone() * t[0][i];
            return out;
          },
          {c});
    grads("scan",
          [](const Tensors& t) {
            Tensor state = torch::zeros({4}, torch::kFloat64);
            for (const Tensor& row : t[0].unbind(0)) {
              state = state.clone();
              state.mul_(0.5).add_(row);
            }
            return state;
          },
          {x});
  });

  section("methods", [&] {
    grad1(
        "chain",
        [](const Tensor& t) {
          Tensor y = t + 2;
          y.mul_(2).add_(1).pow_(2).div_(3).sub_(0.5);
          return y;
        },
        x);
    grads("addcmul_",
          [](const Tensors& t) { return (t[0] * 1).addcmul_(t[0], t[1], 0.3).addcdiv_(t[0], t[1]); }, {x, v});
    grads("masked_fill_", [](const Tensors& t) { return (t[0] * t[0]).masked_fill_(t[0] > 0, 3.0); }, {x});
    grads("clamp_", [](const Tensors& t) { return (t[0] * 2).clamp_(-0.7, 0.9); }, {x});
    grads("relu_", [](const Tensors& t) { return (t[0] * 2).relu_().sigmoid_(); }, {x});
    grads("sqrt_", [](const Tensors& t) { return (t[0] + 2).sqrt_().log_().tanh_(); }, {x});
    grads("lerp_", [](const Tensors& t) { return (t[0] * 1).lerp_(t[1], 0.25); }, {x, v});
    grads("index_copy_",
          [](const Tensors& t) {
            return (t[0] * 1).index_copy_(0, torch::tensor({2, 0}), t[1].expand({2, 4}));
          },
          {x, v});
    grads("fill_diagonal",
          [](const Tensors& t) {
            Tensor y = t[0] * 1;
            y.diagonal().copy_(t[1]);
            return y;
          },
          {x, c});
    grads("transpose_", [](const Tensors& t) { return (t[0] * 1).transpose_(0, 1).mul_(t[1]); }, {x, c});
    grads("squeeze_", [](const Tensors& t) { return (t[0] * 1).unsqueeze_(0).squeeze_(0).mul_(t[0]); }, {x});
    grads("detach_",
          [](const Tensors& t) {
            Tensor y = t[0] * 2;
            y.detach_();
            return y * t[0];
          },
          {x});
    grads("operators",
          [](const Tensors& t) {
            Tensor y = t[0] * 1;
            y += t[1];
            y *= t[0];
            y -= 1;
            y /= 2;
            return y;
          },
          {x, v});
  });

  section("refused", [&] {
    Tensor leaf = x.clone().requires_grad_();
    report_error("leaf", [&] { leaf.mul_(2); });
    report_error("leaf.view", [&] { leaf[0].mul_(2); });
    report_error("expanded", [&] { ramp({3, 1}).expand({3, 4}).add_(ramp({3, 4})); });
    report_error("unbind", [&] { (leaf * 1).unbind(0)[0].mul_(2); });
    report_error("chunk", [&] { (leaf * 1).chunk(2, 1)[0].mul_(2); });
    report_error("saved.input", [&] {
      Tensor a = leaf * 1, b = a.sin();
      a.add_(1);
      b.sum().backward();
    });
    report_error("saved.view", [&] {
      Tensor a = leaf * 1, b = a.square();
      a[0].zero_();
      b.sum().backward();
    });
    report_error("saved.base", [&] {
      Tensor a = leaf * 1, b = a[0] * a[1];
      a.add_(1);
      b.sum().backward();
    });
    report_error("not_saved", [&] {
      Tensor a = leaf * 1, b = a.sum(1);
      a.add_(1);
      b.sum().backward();
    });
    report_error("resized", [&] { leaf.resize_({2}); });
    report_error("dtype", [&] { torch::ones({2}, torch::kInt).add_(0.5); });
    report_error("wider", [&] { ramp({1}).add_(ramp({3})); });
    {
      torch::NoGradGuard guard;
      leaf.mul_(2);
      leaf[0].zero_();
    }
    report("leaf.changed", leaf);
    report_value("leaf.version", static_cast<double>(leaf._version()));
    report_value("leaf.is_leaf", leaf.is_leaf());
  });
}

const Program program("views_in_place", run);

}  // namespace views_in_place
