// Well-known models with torchvision's and Hugging Face's names for their weights, in a library of their own,
// ebb::models.
// ebb::models.
#pragma once

#include <ebb/ebb.h>
#include <ebb/models/char_rnn.h>
#include <ebb/models/efficientnet.h>
#include <ebb/models/generate.h>
#include <ebb/models/gpt2.h>
#include <ebb/models/layers.h>
#include <ebb/models/lenet.h>
#include <ebb/models/llama.h>
#include <ebb/models/mlp.h>
#include <ebb/models/mobilenet_v3.h>
#include <ebb/models/resnet.h>
#include <ebb/models/unet.h>
#include <ebb/models/vgg.h>
#include <ebb/models/vit.h>
