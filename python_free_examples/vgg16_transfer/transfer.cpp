// replace_classifier and features: a VGG with frozen convolutions and a new classifier.
#include "transfer.h"

namespace nn = ebb::nn;

void replace_classifier(ebb::models::VGG& net, std::int64_t hidden, std::int64_t classes) {
  const std::int64_t inputs = net->classifier->at<nn::LinearImpl>(0).options.in_features();
  const nn::Sequential classifier(nn::Linear(inputs, hidden), nn::ReLU(), nn::Dropout(0.5),
                                  nn::Linear(hidden, classes));
  net->classifier = net->replace_module("classifier", classifier);
}

ebb::Tensor features(ebb::models::VGG& net, const ebb::Tensor& images) {
  const ebb::NoGradGuard no_grad;
  net->features->eval();
  return net->avgpool(net->features(images)).flatten(1);
}
