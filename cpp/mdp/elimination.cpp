#include "mdp/elimination.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace committal {
namespace {

// What a list costs: an entry is sorted, merged and copied in about the time of so many rows.
std::int64_t entries(const std::vector<std::int32_t>& list) {
  return 4 * static_cast<std::int64_t>(list.size());
}

}  // namespace

std::vector<std::int32_t> minimum_degree_order(const Pattern& pattern, Patience& patience) {
  const std::size_t n = pattern.size();
  // The elimination graph itself, neighbours sorted. Its size is that of the factors, which is
  // what the solver stores anyway.
  std::vector<std::vector<std::int32_t>> graph = pattern;
  std::set<std::pair<std::size_t, std::int32_t>> queue;
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(graph[i].begin(), graph[i].end());
    graph[i].erase(std::unique(graph[i].begin(), graph[i].end()), graph[i].end());
    queue.emplace(graph[i].size(), static_cast<std::int32_t>(i));
    patience.spend(entries(graph[i]));
  }
  std::vector<std::int32_t> order;
  order.reserve(n);
  std::vector<std::int32_t> merged;
  while (!queue.empty()) {
    const std::int32_t pivot = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(pivot);
    const std::vector<std::int32_t> clique = std::move(graph[static_cast<std::size_t>(pivot)]);
    // What is left is one clique: any order of it fills the same, and merging it would cost more
    // than all before.
    if (clique.size() == queue.size()) {
      for (const auto& [degree, node] : queue) order.push_back(node);
      break;
    }
    for (const std::int32_t node : clique) {
      auto& neighbours = graph[static_cast<std::size_t>(node)];
      queue.erase({neighbours.size(), node});
      merged.clear();
      std::set_union(neighbours.begin(), neighbours.end(), clique.begin(), clique.end(),
                     std::back_inserter(merged));
      std::erase_if(merged, [&](std::int32_t x) { return x == pivot || x == node; });
      neighbours = merged;
      queue.emplace(neighbours.size(), node);
      patience.spend(entries(neighbours));
    }
  }
  return order;
}

Factors symbolic_factors(const Pattern& pattern, Patience& patience) {
  const std::size_t n = pattern.size();
  std::vector<std::vector<std::int32_t>> upper(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::int32_t j : pattern[i]) {
      if (static_cast<std::size_t>(j) > i) upper[i].push_back(j);
    }
    std::sort(upper[i].begin(), upper[i].end());
    upper[i].erase(std::unique(upper[i].begin(), upper[i].end()), upper[i].end());
    patience.spend(entries(pattern[i]));
  }
  // Eliminating i connects all its later neighbours; it is enough to pass them to the first one.
  std::vector<std::int32_t> merged;
  for (std::size_t i = 0; i < n; ++i) {
    if (upper[i].size() < 2) continue;
    auto& parent = upper[static_cast<std::size_t>(upper[i].front())];
    merged.clear();
    std::set_union(parent.begin(), parent.end(), upper[i].begin() + 1, upper[i].end(),
                   std::back_inserter(merged));
    parent = merged;
    patience.spend(entries(parent));
  }
  Factors factors;
  std::vector<std::vector<std::int32_t>> lower(n);
  factors.upper_offsets.push_back(0);
  factors.lower_offsets.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::int32_t j : upper[i]) {
      factors.upper_columns.push_back(j);
      lower[static_cast<std::size_t>(j)].push_back(static_cast<std::int32_t>(i));
    }
    factors.upper_offsets.push_back(static_cast<std::int64_t>(factors.upper_columns.size()));
    patience.spend(entries(upper[i]));
  }
  for (std::size_t i = 0; i < n; ++i) {
    factors.lower_columns.insert(factors.lower_columns.end(), lower[i].begin(), lower[i].end());
    factors.lower_offsets.push_back(static_cast<std::int64_t>(factors.lower_columns.size()));
  }
  return factors;
}

}  // namespace committal
