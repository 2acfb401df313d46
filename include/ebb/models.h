// Well-known models, in a separate library, ebb::models. Their weights have the names of torchvision and
// Hugging Face.
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
