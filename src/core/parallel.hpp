// Threads that take the next part of the work from a shared counter. They end with the call.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace isodepth {

// Below this many elementary operations (a projected number is one) a thread costs more than it saves.
constexpr int64_t worth_a_thread = 250'000;

// How many threads to use for `parts` parts of `operations` operations in all.
inline int64_t worker_count(int64_t n_threads, int64_t parts, int64_t operations) {
    return std::max<int64_t>(1, std::min({n_threads, parts, operations / worth_a_thread}));
}

// As many of the workers, at least one, as fit into the budget with `bytes` bytes each.
inline int64_t workers_within(int64_t workers, double bytes, double memory_mb) {
    const double fitting = memory_mb * double(1 << 20) / std::max(1.0, bytes);
    return std::max<int64_t>(1, int64_t(std::min(double(workers), fitting)));
}

// Scratch memory that nobody has written to yet.
template <class T> class Workspace {
  public:
    Workspace() = default;
    explicit Workspace(int64_t count) : values_(new T[count]) {}
    Workspace(int64_t count, T fill) : Workspace(count) { std::fill_n(values_.get(), count, fill); }
    T* data() const { return values_.get(); }
    T& operator[](int64_t i) const { return values_[i]; }

  private:
    std::unique_ptr<T[]> values_;
};

// Looks for signals such as Ctrl-C, at most every 50 ms. For the thread that called the pass, without the
// GIL.
class Signals {
    using clock = std::chrono::steady_clock;

  public:
    void check() {
        if (clock::now() - looked_ <= std::chrono::milliseconds(50)) return;
        nanobind::gil_scoped_acquire held;
        if (PyErr_CheckSignals()) throw nanobind::python_error();
        looked_ = clock::now();
    }

  private:
    clock::time_point looked_ = clock::now();
};

// What each worker has of its own, made when it takes its first part.
template <class State> class PerWorker {
  public:
    explicit PerWorker(int64_t workers) : states_(size_t(workers)) {}
    template <class Make> State& of(int64_t worker, Make make) {
        auto& state = states_[size_t(worker)];
        if (!state) state = make();
        return *state;
    }
    std::vector<State*> made() const {
        std::vector<State*> found;
        for (auto& state : states_)
            if (state) found.push_back(state.get());
        return found;
    }

  private:
    std::vector<std::unique_ptr<State>> states_;
};

// Calls `work(worker, part, check)` for every part 0..parts, on `workers` threads with this one.
//
// Called without the GIL. The calling thread looks for signals every 50 ms, between two of its parts. Parts
// that take more than a tenth of a second, or wait for others, call `check()` in between. An exception in any
// thread ends the others at their next check and is thrown again here.
template <class Work> void parallel_checked(int64_t workers, int64_t parts, Work work) {
    std::atomic<int64_t> part{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex guard;
    struct SomeoneFailed {};
    auto run = [&](int64_t worker) {
        Signals signals;
        auto check = [&] {
            if (worker == 0) signals.check();
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
        // No further thread is to be had: the work is done by those there are.
    }
    run(0);
    for (auto& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

// Calls `work(worker, part)` for every part 0..parts; these take less than a tenth of a second.
template <class Work> void parallel_for(int64_t workers, int64_t parts, Work work) {
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto&) { work(worker, part); });
}

// Calls `work(worker, part, step)` for the steps 0..steps of every part, each after that step of the part
// before: what is kept of a step passes through the parts in their order, whatever the threads.
template <class Work> void parallel_chain(int64_t workers, int64_t parts, int64_t steps, Work work) {
    const std::unique_ptr<std::atomic<int64_t>[]> done(new std::atomic<int64_t>[size_t(steps)]());
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto& check) {
        for (int64_t step = 0; step < steps; step++, check()) {
            for (; done[step].load(std::memory_order_acquire) < part; check()) std::this_thread::yield();
            work(worker, part, step);
            done[step].store(part + 1, std::memory_order_release);
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
