// Parallel loops: threads take parts of the work from a shared counter until no part is left. The threads end
// before the call returns.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "arrays.hpp"

namespace isodepth {

// Number of elementary operations below which an additional thread costs more than it saves. The projection
// of one row on one direction is one operation.
constexpr int64_t worth_a_thread = 250'000;

inline int64_t worker_count(int64_t n_threads, int64_t parts, int64_t operations) {
    return std::max<int64_t>(1, std::min({n_threads, parts, operations / worth_a_thread}));
}

// Reduce a number of workers, each of which needs `bytes` bytes, to fit into `memory_mb` MiB. At least one
// remains.
inline int64_t workers_within(int64_t workers, double bytes, double memory_mb) {
    const double fitting = memory_mb * double(1 << 20) / std::max(1.0, bytes);
    return std::max<int64_t>(1, int64_t(std::min(double(workers), fitting)));
}

// Scratch array, not initialized unless a fill value is given.
template <class T> class Workspace {
  public:
    Workspace() = default;
    explicit Workspace(int64_t count) : values_(new T[size_t(count)]) {}
    Workspace(int64_t count, T fill) : Workspace(count) { std::fill_n(values_.get(), count, fill); }
    T* data() { return values_.get(); }
    const T* data() const { return values_.get(); }
    T& operator[](int64_t i) { return values_[size_t(i)]; }
    const T& operator[](int64_t i) const { return values_[size_t(i)]; }

  private:
    std::unique_ptr<T[]> values_;
};

// Guard that releases the GIL. If a daemon thread returns from the core while the interpreter shuts down, it
// cannot acquire the GIL again. Python would end the thread by unwinding its stack, which aborts the process
// at the first function that does not allow exceptions. Therefore such a thread waits here until the process
// ends.
class ReleasedGil {
  public:
    ReleasedGil() : state_(PyEval_SaveThread()) {}
    ReleasedGil(const ReleasedGil&) = delete;
    ~ReleasedGil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

  private:
    PyThreadState* state_;
};

auto without_gil(auto work) {
    ReleasedGil released;
    return work();
}

// Identifier of the main thread of Python, the only one that handles signals. Set when the module is loaded.
inline unsigned long main_thread = 0;

// Flag that stops computations: a thread that watches a set flag ends its computation at the next check.
class StopFlag {
  public:
    void set() const { *state_ = true; }
    // Make the calling thread watch this flag. This cannot be undone, so the thread must not be used for
    // other computations.
    void watch() const { watched_ = state_; }
    static void check() {
        if (watched_ && *watched_) throw std::runtime_error("stopped: a related computation has failed");
    }

  private:
    static inline thread_local std::shared_ptr<std::atomic<bool>> watched_;
    // Shared ownership, because threads may outlive the flag.
    std::shared_ptr<std::atomic<bool>> state_{new std::atomic<bool>(false)};
};

// Check for signals such as Ctrl-C, at most every 50 ms, in the main thread only. Other threads must not
// acquire the GIL here. During the shutdown of the interpreter, Python would end such a thread while its
// helper threads still use its stack. Other threads can be stopped by a StopFlag.
class Signals {
    using clock = std::chrono::steady_clock;

  public:
    void check() {
        StopFlag::check();
        if (!active_ || clock::now() - last_ <= std::chrono::milliseconds(50)) return;
        nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals()) throw nb::python_error();
        last_ = clock::now();
    }

  private:
    bool active_ = PyThread_get_thread_ident() == main_thread;
    clock::time_point last_ = clock::now();
};

// One state per worker, created when the worker takes its first part of the work.
template <class State> class PerWorker {
  public:
    explicit PerWorker(int64_t workers) : states_(size_t(workers)) {}
    State& of(int64_t worker, auto make) {
        auto& state = states_[size_t(worker)];
        if (!state) state.reset(new State(make()));
        return *state;
    }
    std::vector<State*> made() const {
        std::vector<State*> states;
        for (auto& state : states_)
            if (state) states.push_back(state.get());
        return states;
    }

  private:
    std::vector<std::unique_ptr<State>> states_;
};

// Call `work(worker, part, check)` for every part 0..parts, on `workers` threads including the calling
// thread.
//
// The caller must have released the GIL. The calling thread checks for signals every 50 ms, between two of
// its parts. A part that takes more than 0.1 s, or waits for another part, must call `check()` in between. An
// exception in any thread ends the other threads at their next check, and is rethrown in the calling thread.
void parallel_checked(int64_t workers, int64_t parts, auto work) {
    std::atomic<int64_t> part{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex guard;
    struct SomeoneFailed {};
    auto run = [&](int64_t worker) {
        Signals signals;  // has no effect in helper threads, which are not the main thread of Python
        auto check = [&] {
            signals.check();
            if (failed) throw SomeoneFailed();
        };
        try {
            for (int64_t i; (i = part++) < parts; check()) work(worker, i, check);
        } catch (...) {
            std::lock_guard<std::mutex> held(guard);
            if (!error) error = std::current_exception();
            failed = true;
        }
    };
    std::vector<std::thread> helpers;
    helpers.reserve(size_t(workers));
    try {
        for (int64_t worker = 1; worker < std::min(workers, parts); worker++)
            helpers.emplace_back(run, worker);
    } catch (const std::system_error&) {
        // If the system refuses another thread, the threads that were started do all the work.
    }
    run(0);
    for (auto& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

// Call `work(worker, part)` for every part 0..parts. A part should take less than 0.1 s, because signals are
// checked only between parts.
void parallel_for(int64_t workers, int64_t parts, auto work) {
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto&) { work(worker, part); });
}

// Call `work(worker, part, step)` for the steps 0..steps of every part. A step of a part starts after the
// same step of the previous part has ended. So a state per step can be passed from part to part, for any
// number of threads.
void parallel_chain(int64_t workers, int64_t parts, int64_t steps, auto work) {
    struct alignas(64) Count {  // one counter per cache line, to avoid false sharing
        std::atomic<int64_t> parts{0};
    };
    std::vector<Count> done(static_cast<size_t>(steps));
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto& check) {
        for (int64_t step = 0; step < steps; step++, check()) {
            for (; done[size_t(step)].parts.load(std::memory_order_acquire) < part; check())
                std::this_thread::yield();
            work(worker, part, step);
            done[size_t(step)].parts.store(part + 1, std::memory_order_release);
        }
    });
}

// Call `work(first, stop)` for slices first..stop of n rows, on several threads. A slice has `each` rows, and
// a row takes `operations` elementary operations.
void over_rows(int64_t n, int64_t operations, int64_t n_threads, auto work, int64_t each = 4096) {
    const int64_t parts = (n + each - 1) / each;
    parallel_for(worker_count(n_threads, parts, n * operations), parts,
                 [&](int64_t, int64_t part) { work(part * each, std::min(n, (part + 1) * each)); });
}

}  // namespace isodepth
