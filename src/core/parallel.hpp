// Parallel loops: threads take parts of the work from a shared counter until no part is left.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "arrays.hpp"

namespace isodepth {

// Number of elementary operations below which an additional thread costs more than it saves. The projection
// of one row on one direction is one operation. `worth_a_thread` is for threads of Python, which are started
// for every call. Threads of the core wait for the next section, so `worth_a_helper` is smaller. A section
// that follows another one at once is shared by threads that are still awake, see parallel.cpp.
constexpr int64_t worth_a_thread = 250'000, worth_a_helper = 100'000, worth_an_awake_helper = 25'000;

inline int64_t worker_count(int64_t n_threads, int64_t parts, int64_t operations,
                            int64_t worth = worth_a_helper) {
    return std::max<int64_t>(1, std::min({n_threads, parts, operations / worth}));
}

// Reduce a number of workers, each of which needs `bytes` bytes, to fit into `memory_mb` MiB. At least one
// remains.
inline int64_t workers_within(int64_t workers, double bytes, double memory_mb) {
    const double fitting = memory_mb * double(1 << 20) / std::max(1.0, bytes);
    return std::max<int64_t>(1, int64_t(std::min(double(workers), fitting)));
}

// Scratch array, not initialized unless a fill value is given. It starts at a cache line, because a SIMD
// vector that crosses a cache line takes twice as long to load.
template <class T> class Workspace {
  public:
    Workspace() = default;
    explicit Workspace(int64_t count) : values_(allocate(size_t(count))) {}
    Workspace(int64_t count, T fill) : Workspace(count) { std::fill_n(values_.get(), count, fill); }
    T* data() { return values_.get(); }
    const T* data() const { return values_.get(); }
    T& operator[](int64_t i) { return values_[size_t(i)]; }
    const T& operator[](int64_t i) const { return values_[size_t(i)]; }

  private:
    static_assert(std::is_trivially_destructible_v<T>);
    static constexpr std::align_val_t alignment{tile_bytes};
    struct Free {
        void operator()(T* values) const { ::operator delete[](values, alignment); }
    };
    static T* allocate(size_t count) {
        if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(::operator new[](count * sizeof(T), alignment));
    }
    std::unique_ptr<T[], Free> values_;
};

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
    // Count the time to the next check from now on. Called when the GIL is released, because Python checks
    // for signals before. One call may have many sections, each shorter than 50 ms.
    static void start() { last_ = clock::now(); }

  private:
    bool active_ = PyThread_get_thread_ident() == main_thread;
    static inline thread_local clock::time_point last_;
};

// Guard that releases the GIL. If a daemon thread returns from the core while the interpreter shuts down, it
// cannot acquire the GIL again. Python would end the thread by unwinding its stack, which aborts the process
// at the first function that does not allow exceptions. Therefore such a thread waits here until the process
// ends.
class ReleasedGil {
  public:
    ReleasedGil() : state_(PyEval_SaveThread()) { Signals::start(); }
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

// Check for signals and, in a section, for errors of other threads.
class Check {
  public:
    explicit Check(const std::atomic<bool>* failed = nullptr) : failed_(failed) {}
    void operator()() {
        signals_.check();
        if (failed_ && *failed_) throw SomeoneFailed();
    }

  private:
    struct SomeoneFailed {};
    Signals signals_;  // has no effect in helper threads, which are not the main thread of Python
    const std::atomic<bool>* failed_;
};

// The function of one section, without its type. So the code that runs sections is compiled only once.
struct PartFunction {
    void* work;
    void (*call)(void* work, int64_t worker, int64_t part, Check& check);
};
void run_section(int64_t workers, int64_t parts, PartFunction function);

// Let the threads that wait for the next section end before the process forks and when Python exits. Called
// when the module is loaded.
void end_threads_at_fork_and_exit();

// Call `work(worker, part, check)` for every part 0..parts, on `workers` threads including the calling
// thread. Such a loop is called a section.
//
// The caller must have released the GIL. The calling thread checks for signals every 50 ms, between two of
// its parts. A part that takes more than 0.1 s must call `check()` in between. An exception in any thread
// ends the other threads at their next check, and is rethrown in the calling thread.
template <class Work> void parallel_checked(int64_t workers, int64_t parts, Work work) {
    run_section(workers, parts, {&work, [](void* own, int64_t worker, int64_t part, Check& check) {
                                     (*static_cast<Work*>(own))(worker, part, check);
                                 }});
}

// Call `work(worker, part)` for every part 0..parts. A part should take less than 0.1 s, because signals are
// checked only between parts.
void parallel_for(int64_t workers, int64_t parts, auto work) {
    parallel_checked(workers, parts, [&](int64_t worker, int64_t part, auto&) { work(worker, part); });
}

// Call `work(first, stop)` for slices first..stop of n rows, on several threads. A slice has at most `each`
// rows, and a row takes `operations` elementary operations.
void over_rows(int64_t n, int64_t operations, int64_t n_threads, auto work, int64_t each = 4096) {
    const int64_t workers = worker_count(n_threads, n, n * operations);
    // Make about two slices per worker. Whole tiles are faster.
    if (workers > 1) each = std::min(each, n / (2 * workers) / tile_bytes * tile_bytes + tile_bytes);
    const int64_t parts = (n + each - 1) / each;
    parallel_for(std::min(workers, parts), parts,
                 [&](int64_t, int64_t part) { work(part * each, std::min(n, (part + 1) * each)); });
}

// The checks of arrays.hpp, for large arrays: several threads read the values.

template <class T> bool are_finite(Rows<T> rows, int64_t n_threads, T limit = std::numeric_limits<T>::max()) {
    std::atomic<bool> finite = true;
    over_rows(rows.n, rows.d, n_threads, [&](int64_t start, int64_t stop) {
        if (!are_finite(std::span(rows[start], rows[stop]), limit)) finite = false;
    });
    return finite;
}

template <class T> Rows<T> check_rows(const Matrix<T>& array, int64_t d, int64_t n_threads) {
    require(d < 0 || int64_t(array.shape(1)) == d, "two arrays have different numbers of columns");
    check_shape(array);
    const Rows<T> rows{array.data(), int64_t(array.shape(0)), int64_t(array.shape(1))};
    check_finite(without_gil([&] { return are_finite(rows, n_threads); }));
    return rows;
}

}  // namespace isodepth
