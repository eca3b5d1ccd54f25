#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif
#include <mutex>
#include <thread>
#include <vector>

#include "core/patience.hpp"

namespace committal {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollInterval = std::chrono::milliseconds(100);

// On a cache line of its own, so that workers do not wait for each other's lines.
struct alignas(64) Count {
  std::atomic<std::int64_t> updates{0};
};

class WorkerProgress : public Progress {
 public:
  WorkerProgress(Count& count, const std::atomic<bool>& stop) : count_(count), stop_(stop) {}

  bool advance(std::int64_t updates) override {
    const std::int64_t before = count_.updates.load(std::memory_order_relaxed);
    count_.updates.store(before + updates, std::memory_order_relaxed);
    return !stop_.load(std::memory_order_relaxed);
  }

 private:
  Count& count_;
  const std::atomic<bool>& stop_;
};

// Of the calling thread, which polls while it works.
class CallerProgress final : public WorkerProgress {
 public:
  CallerProgress(Count& count, const std::atomic<bool>& stop, const std::function<void()>& poll)
      : WorkerProgress(count, stop), poll_(poll) {}

  bool advance(std::int64_t updates) override {
    const bool go_on = WorkerProgress::advance(updates);
    const Clock::time_point now = Clock::now();
    if (go_on && now - polled_ >= kPollInterval) {
      poll_();
      polled_ = Clock::now();
    }
    return go_on;
  }

 private:
  const std::function<void()>& poll_;
  Clock::time_point polled_ = Clock::now();
};

}  // namespace

void run_blocks(std::int64_t blocks, int threads,
                const std::function<void(int, std::int64_t, Progress&)>& work,
                const std::function<void(std::int64_t)>& poll) {
  const int workers = static_cast<int>(std::clamp<std::int64_t>(blocks, 1, threads));
  std::vector<Count> counts(static_cast<std::size_t>(workers));
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int running = 0;
  std::exception_ptr failure;

  const std::function<void()> report = [&] {
    if (!poll) return;
    std::int64_t updates = 0;
    for (const Count& count : counts) updates += count.updates.load(std::memory_order_relaxed);
    poll(updates);
  };
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
    stop.store(true, std::memory_order_relaxed);
  };
  const auto take_blocks = [&](int worker, Progress& progress) {
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::int64_t block = next.fetch_add(1, std::memory_order_relaxed);
        if (block >= blocks) break;
        work(worker, block, progress);
      }
    }
#ifdef __GLIBCXX__
    catch (const abi::__forced_unwind&) {
      // The thread is being ended, by an interpreter that finalises: that must not be held up.
      stop.store(true, std::memory_order_relaxed);
      throw;
    }
#endif
    catch (const Stopped&) {
      // By the failure of another, which is kept already.
    } catch (...) {
      fail();
    }
  };
  const auto other_worker = [&](int worker) {
    WorkerProgress progress(counts[static_cast<std::size_t>(worker)], stop);
    take_blocks(worker, progress);
    const std::lock_guard lock(mutex);
    --running;
    finished.notify_one();
  };

  {
    std::vector<std::jthread> others;  // joins whatever happens
    others.reserve(static_cast<std::size_t>(workers - 1));
    try {
      for (int worker = 1; worker < workers; ++worker) {
        others.emplace_back(other_worker, worker);
        const std::lock_guard lock(mutex);
        ++running;  // it may be below 0 until here: nobody looks yet
      }
      CallerProgress progress(counts[0], stop, report);
      take_blocks(0, progress);
      std::unique_lock lock(mutex);
      while (!finished.wait_for(lock, kPollInterval, [&] { return running == 0; })) {
        lock.unlock();
        report();
        lock.lock();
      }
    }
#ifdef __GLIBCXX__
    catch (const abi::__forced_unwind&) {
      stop.store(true, std::memory_order_relaxed);
      throw;
    }
#endif
    catch (...) {
      fail();
    }
  }
  if (failure) std::rethrow_exception(failure);
  report();
}

}  // namespace committal
