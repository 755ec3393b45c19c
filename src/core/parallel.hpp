// Threads that take the next part of the work from a shared counter. They end with the call.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "arrays.hpp"

namespace isodepth {

// Number of elementary operations (a projected number is one) below which a thread costs more than it saves.
constexpr int64_t worth_a_thread = 250'000;

// The number of threads for `parts` parts with `operations` operations in total.
inline int64_t worker_count(int64_t n_threads, int64_t parts, int64_t operations) {
    return std::max<int64_t>(1, std::min({n_threads, parts, operations / worth_a_thread}));
}

// The number of workers, at least one, that fit into the memory budget with `bytes` bytes each.
inline int64_t workers_within(int64_t workers, double bytes, double memory_mb) {
    const double fitting = memory_mb * double(1 << 20) / std::max(1.0, bytes);
    return std::max<int64_t>(1, int64_t(std::min(double(workers), fitting)));
}

// Scratch memory that is not initialized.
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

// Releases the GIL. A daemon thread that returns from the core while the interpreter shuts down cannot have
// the GIL again: Python then ends the thread, by unwinding its stack, which aborts the process at the first
// function that does not allow exceptions. Such a thread waits here until the process has ended.
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

// The result of `work()`, during which other threads of Python may run.
template <class Work> auto without_gil(Work work) {
    ReleasedGil released;
    return work();
}

// Identifier of the main thread of Python, the only one that handles signals. Set when the module is loaded.
inline unsigned long main_thread = 0;

// Looks for signals such as Ctrl-C, at most every 50 ms, in the main thread only. Other threads must not
// ask for the GIL here: during the shutdown of the interpreter Python would end them, while their helpers
// still use their stack.
class Signals {
    using clock = std::chrono::steady_clock;

  public:
    void check() {
        if (!active_ || clock::now() - last_ <= std::chrono::milliseconds(50)) return;
        nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals()) throw nb::python_error();
        last_ = clock::now();
    }

  private:
    bool active_ = PyThread_get_thread_ident() == main_thread;
    clock::time_point last_ = clock::now();
};

// The state of each worker, made when the worker takes its first part.
template <class State> class PerWorker {
  public:
    explicit PerWorker(int64_t workers) : states_(size_t(workers)) {}
    template <class Make> State& of(int64_t worker, Make make) {
        auto& state = states_[size_t(worker)];
        if (!state) state = make();
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

// Calls `work(worker, part, check)` for every part 0..parts, on `workers` threads with this one.
//
// Called without the GIL. The calling thread checks for signals every 50 ms, between two of its parts. Parts
// that take more than 0.1 s, or wait for others, call `check()` in between. An exception in any thread ends
// the others at their next check and is thrown again here.
template <class Work> void parallel_checked(int64_t workers, int64_t parts, Work work) {
    std::atomic<int64_t> part{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex guard;
    struct SomeoneFailed {};
    auto run = [&](int64_t worker) {
        Signals signals;  // inactive in helpers, which are not the main thread
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
        // The system refuses another thread: the threads that were started do the work.
    }
    run(0);
    for (auto& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

// Calls `work(worker, part)` for every part 0..parts; each takes less than 0.1 s.
template <class Work> void parallel_for(int64_t workers, int64_t parts, Work work) {
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto&) { work(worker, part); });
}

// Calls `work(worker, part, step)` for the steps 0..steps of every part, each after the same step of the
// previous part: the state of a step passes through the parts in their order, for any number of threads.
template <class Work> void parallel_chain(int64_t workers, int64_t parts, int64_t steps, Work work) {
    struct alignas(64) Count {  // in a cache line of its own
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

// Calls `work(first, stop)` for slices of n rows on several threads; each row is `operations` operations.
template <class Work>
void over_rows(int64_t n, int64_t operations, int64_t n_threads, Work work, int64_t each = 4096) {
    const int64_t parts = (n + each - 1) / each;
    parallel_for(worker_count(n_threads, parts, n * operations), parts,
                 [&](int64_t, int64_t part) { work(part * each, std::min(n, (part + 1) * each)); });
}

}  // namespace isodepth
