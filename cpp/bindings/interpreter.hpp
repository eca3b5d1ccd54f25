// The interpreter while the core works: its lock, and its end.
//
// A thread that asks a finalising interpreter for its lock is ended on the spot, by forced
// unwinding. So nothing here asks then: a thread that would have to go back to Python sleeps until
// the process is gone, as later versions of Python make it do themselves.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace committal {

inline bool finalising() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Thrown to stop the work when there is nobody left to give it to.
class Finalising : public std::runtime_error {
 public:
  Finalising() : std::runtime_error("the interpreter is finalising") {}
};

// The lock is given back for as long as this lives.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  // May be left by forced unwinding, if finalisation begins just now.
  ~WithoutLock() noexcept(false) {
    while (finalising()) std::this_thread::sleep_for(std::chrono::seconds(1));
    PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

}  // namespace committal
