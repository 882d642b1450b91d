// The only include of libtorch, and the project's precompiled header: what every tensor layer needs
// and no more (torch/torch.h would cost twice the time).
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
