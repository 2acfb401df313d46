// VisionTransformer (ViT): a transformer encoder on image patches.
#include <ebb/models/vit.h>
#include <ebb/nn/init.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include <cmath>

namespace ebb::models {

namespace {

nn::LayerNorm norm_of(const VisionTransformerOptions& options) {
  return nn::LayerNorm(nn::LayerNormOptions({options.hidden_dim()}).eps(1e-6));
}

nn::Linear mlp_layer(std::int64_t in_features, std::int64_t out_features) {
  auto layer = nn::utils::skip_init<nn::Linear>(in_features, out_features);
  nn::init::xavier_uniform_(layer->weight);
  nn::init::normal_(layer->bias, 0, 1e-6);
  return layer;
}

std::string block_name(std::int64_t i) { return "encoder_layer_" + std::to_string(i); }

}  // namespace

ViTEncoderBlockImpl::ViTEncoderBlockImpl(const VisionTransformerOptions& options_) : options(options_) {
  ViTEncoderBlockImpl::reset();
}

void ViTEncoderBlockImpl::reset() {
  const std::int64_t width = options.hidden_dim(), inner = options.mlp_dim();
  ln_1 = register_module("ln_1", norm_of(options));
  self_attention = register_module(
      "self_attention", nn::MultiheadAttention(nn::MultiheadAttentionOptions(width, options.num_heads())
                                                   .dropout(options.attention_dropout())
                                                   .batch_first(true)));
  dropout = register_module("dropout", nn::Dropout(options.dropout()));
  ln_2 = register_module("ln_2", norm_of(options));
  mlp = register_module("mlp",
                        nn::Sequential(mlp_layer(width, inner), nn::GELU(), nn::Dropout(options.dropout()),
                                       mlp_layer(inner, width), nn::Dropout(options.dropout())));
}

Variable ViTEncoderBlockImpl::forward(const Variable& x) {
  const Variable normed = ln_1(x);
  const auto attended = self_attention(normed, normed, normed, /*key_padding_mask=*/Variable(),
                                       /*need_weights=*/false);
  const auto [second, sum] = ln_2->forward_sum(dropout(std::get<0>(attended)), x);
  return sum + mlp(second);
}

ViTEncoderImpl::ViTEncoderImpl(const VisionTransformerOptions& options_) : options(options_) {
  ViTEncoderImpl::reset();
}

void ViTEncoderImpl::reset() {
  const std::int64_t side = options.image_size() / options.patch_size();
  pos_embedding = register_parameter("pos_embedding", empty({1, 1 + side * side, options.hidden_dim()}));
  nn::init::normal_(pos_embedding, 0, 0.02);
  dropout = register_module("dropout", nn::Dropout(options.dropout()));
  layers = register_module("layers", nn::Sequential());
  for (std::int64_t i = 0; i < options.num_layers(); ++i)
    layers->push_back(block_name(i), ViTEncoderBlock(options));
  ln = register_module("ln", norm_of(options));
}

Variable ViTEncoderImpl::forward(const Variable& x) { return ln(layers(dropout(x + pos_embedding))); }

VisionTransformerImpl::VisionTransformerImpl(const VisionTransformerOptions& options_) : options(options_) {
  VisionTransformerImpl::reset();
}

void VisionTransformerImpl::reset() {
  const std::int64_t width = options.hidden_dim(), patch = options.patch_size();
  EBB_CHECK(patch > 0 && options.image_size() > 0 && options.image_size() % patch == 0,
            "VisionTransformer: image_size must be divisible by patch_size, both above 0, got ",
            options.image_size(), " and ", patch, ".");
  class_token = register_parameter("class_token", empty({1, 1, width}));
  nn::init::zeros_(class_token);
  conv_proj = register_module(
      "conv_proj", nn::utils::skip_init<nn::Conv2d>(nn::Conv2dOptions(3, width, patch).stride(patch)));
  nn::init::trunc_normal_(conv_proj->weight, 0, std::sqrt(1 / static_cast<double>(3 * patch * patch)));
  nn::init::zeros_(conv_proj->bias);
  encoder = register_module("encoder", ViTEncoder(options));
  const auto head = nn::utils::skip_init<nn::Linear>(width, options.num_classes());
  nn::init::zeros_(head->weight);
  nn::init::zeros_(head->bias);
  heads = register_module("heads", nn::Sequential({{"head", head}}));
}

Variable VisionTransformerImpl::forward(const Variable& images) {
  const std::int64_t side = options.image_size();
  EBB_CHECK(images.dim() == 4 && images.sizes().slice(1) == IntArrayRef({3, side, side}),
            "VisionTransformer: images must be of shape [B, 3, ", side, ", ", side, "], got ", images.sizes(),
            ". Resize them, or set image_size.");
  const Variable patches = conv_proj(images).flatten(2).transpose(1, 2);
  const Variable token = class_token.expand({images.size(0), 1, options.hidden_dim()});
  return heads(encoder(cat({token, patches}, 1)).select(1, 0));
}

LoadOptions VisionTransformerImpl::load_options() const {
  LoadOptions load;
  for (std::int64_t i = 0; i < options.num_layers(); ++i) {
    const std::string mlp = "encoder.layers." + block_name(i) + ".mlp.";
    load.prefixes().emplace_back(mlp + "linear_1.", mlp + "0.");
    load.prefixes().emplace_back(mlp + "linear_2.", mlp + "3.");
  }
  return load;
}

namespace {

VisionTransformer variant(VisionTransformerOptions options, std::int64_t num_classes,
                          std::int64_t image_size) {
  return VisionTransformer(options.num_classes(num_classes).image_size(image_size));
}

}  // namespace

VisionTransformer vit_b_16(std::int64_t num_classes, std::int64_t image_size) {
  return variant({}, num_classes, image_size);
}

VisionTransformer vit_b_32(std::int64_t num_classes, std::int64_t image_size) {
  return variant(VisionTransformerOptions().patch_size(32), num_classes, image_size);
}

VisionTransformer vit_l_16(std::int64_t num_classes, std::int64_t image_size) {
  return variant(VisionTransformerOptions().num_layers(24).num_heads(16).hidden_dim(1024).mlp_dim(4096),
                 num_classes, image_size);
}

}  // namespace ebb::models
