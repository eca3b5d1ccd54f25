#include "pool.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace committal {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(100);

class SharedProgress final : public Progress {
 public:
  bool advance(std::int64_t updates) override {
    updates_.fetch_add(updates, std::memory_order_relaxed);
    return !stopped();
  }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  std::int64_t updates() const { return updates_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> updates_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace

void run_blocks(std::int64_t blocks, int threads,
                const std::function<void(int, std::int64_t, Progress&)>& work,
                const std::function<void(std::int64_t)>& poll) {
  SharedProgress progress;
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int running = 0;
  std::exception_ptr failure;

  const auto worker = [&](int index) {
    try {
      while (!progress.stopped()) {
        const std::int64_t block = next.fetch_add(1, std::memory_order_relaxed);
        if (block >= blocks) break;
        work(index, block, progress);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      progress.stop();
    }
    const std::lock_guard lock(mutex);
    --running;
    finished.notify_one();
  };

  const int count = static_cast<int>(blocks < threads ? blocks : threads);
  const int own = poll ? 0 : 1;  // a caller with nothing to poll works instead of waiting
  std::vector<std::jthread> workers;
  workers.reserve(static_cast<std::size_t>(count));
  try {
    for (int i = own; i < count; ++i) {
      {
        const std::lock_guard lock(mutex);
        ++running;
      }
      try {
        workers.emplace_back(worker, i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        --running;
        throw;
      }
    }
    if (own == 1) {
      {
        const std::lock_guard lock(mutex);
        ++running;
      }
      worker(0);
    }
    std::unique_lock lock(mutex);
    while (running > 0) {
      if (finished.wait_for(lock, kPollInterval, [&] { return running == 0; })) break;
      if (!poll) continue;
      lock.unlock();
      poll(progress.updates());
      lock.lock();
    }
  } catch (...) {
    progress.stop();
    workers.clear();  // joins
    throw;
  }
  workers.clear();
  if (failure) std::rethrow_exception(failure);
  if (poll) poll(progress.updates());
}

}  // namespace committal
