// Joined worker threads that pull block numbers from a counter.
#pragma once

#include <cstdint>
#include <functional>

#include "core/patience.hpp"

namespace committal {

// What a worker sees of the others.
class Progress {
 public:
  virtual ~Progress() = default;
  // Adds to the updates done; false when the work should stop. May throw what poll throws.
  virtual bool advance(std::int64_t updates) = 0;
  // For the loops of one worker; the progress outlives it.
  Patience patience() {
    return {[](void* progress, std::int64_t updates) {
              return static_cast<Progress*>(progress)->advance(updates);
            },
            this};
  }
};

// Calls work(worker, block, progress) for block = 0 .. blocks - 1 on `threads` threads, the calling
// one among them. That one also calls poll(updates), if there is one: about ten times a second,
// from within progress.advance() or while it waits for the others. The first exception, from a
// worker or from poll, stops everything and is rethrown after all threads have joined.
void run_blocks(std::int64_t blocks, int threads,
                const std::function<void(int worker, std::int64_t block, Progress&)>& work,
                const std::function<void(std::int64_t updates)>& poll);

}  // namespace committal
