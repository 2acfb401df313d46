// Modules, their functional forms, initial values and tools.
#pragma once

#include <ebb/nn/functional/activation.h>
#include <ebb/nn/functional/conv.h>
#include <ebb/nn/functional/dropout.h>
#include <ebb/nn/functional/embedding.h>
#include <ebb/nn/functional/linear.h>
#include <ebb/nn/functional/loss.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/functional/pooling.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/activation.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/conv.h>
#include <ebb/nn/modules/dropout.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/padding.h>
#include <ebb/nn/modules/pooling.h>
#include <ebb/nn/modules/rnn.h>
#include <ebb/nn/modules/sequential.h>
#include <ebb/nn/skip_init.h>
#include <ebb/nn/utils.h>
#include <ebb/nn/utils/rnn.h>
