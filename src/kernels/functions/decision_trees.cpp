// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/decision_trees.h"

#include <cmath>

namespace kloom::kernels {
namespace {

std::string tree_trouble(const DecisionTree& tree, Index features) {
  const auto nodes = std::ssize(tree.features);
  if (nodes == 0 || std::ssize(tree.thresholds) != nodes || std::ssize(tree.children) != nodes)
    return "a tree of a kernel has no nodes, or lists of different lengths";
  for (Index node = 0; node < nodes; ++node) {
    const Index feature = tree.features[at(node)];
    if (feature < -1 || feature >= features) return "a tree of a kernel asks about a feature that is not there";
    // Children behind their parents: every walk ends.
    const Index child = tree.children[at(node)];
    if (feature >= 0 && (child <= node || child + 1 >= nodes))
      return "a tree of a kernel has an impossible child";
    if (!std::isfinite(tree.thresholds[at(node)]))
      return "a tree of a kernel has a threshold that is not finite";
  }
  return {};
}

}  // namespace

Matrix leaves_reached(const std::vector<DecisionTree>& trees, ConstMatrixView samples,
                      const std::vector<Index>& inputs) {
  Matrix reached(std::ssize(trees), samples.rows);
#pragma omp parallel for schedule(static) if (samples.rows * std::ssize(trees) > 100000)
  for (Index i = 0; i < samples.rows; ++i) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const DecisionTree& tree = trees[t];
      Index node = 0;
      while (tree.features[at(node)] >= 0) {
        const double value = samples(i, inputs[at(tree.features[at(node)])]);
        node = tree.children[at(node)] + (value <= tree.thresholds[at(node)] ? 0 : 1);
      }
      reached(static_cast<Index>(t), i) = static_cast<double>(node);
    }
  }
  return reached;
}

std::string trees_trouble(const std::vector<DecisionTree>& trees, Index features) {
  for (const DecisionTree& tree : trees) {
    std::string trouble = tree_trouble(tree, features);
    if (!trouble.empty()) return trouble;
  }
  return {};
}

}  // namespace kloom::kernels
