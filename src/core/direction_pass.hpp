// Passes over directions: blocks of them, whose projections stay in the cache, are taken by threads.
#pragma once

#include <numeric>

#include "project.hpp"

namespace isodepth {

// Up to this many points are looked at along several directions at once, one in each lane: at 50 points 1.5
// to 2.7 times as fast as one direction after the other.
constexpr int64_t few_points = 64;

// A sample, the directions along which it is looked at, and the points whose depth is asked for.
template <class T> struct DirectionTask {
    const T* points;         // (n, d)
    const int64_t* weights;  // (n,) positive, or null
    const T* directions;     // (count, d)
    const T* queries;        // (m, d), or null for the points themselves
    int64_t n, d, count, m;
    int64_t total;  // of the weights
    Resources resources;

    // Whether to take several directions at once.
    bool few() const { return n <= few_points && !weights && !queries; }
};

using Weights = std::optional<Vector<int64_t>>;

inline const int64_t* weights_or_null(const Weights& weights, int64_t n) {
    if (!weights) return nullptr;
    if (int64_t(weights->shape(0)) != n) throw nb::value_error("weights must have one entry for each row");
    return weights->data();
}

inline int64_t total_of(const int64_t* weights, int64_t n) {
    return weights ? std::accumulate(weights, weights + n, int64_t(0)) : n;
}

// Checks shapes; the points and what is asked of them have the same columns.
template <class T> DirectionTask<T> task_of(const Matrix<T>& points, const Matrix<T>& directions,
                                            const Weights& weights, const std::optional<Matrix<T>>& queries,
                                            Resources resources) {
    const int64_t n = points.shape(0), d = points.shape(1);
    if (n == 0 || directions.shape(0) == 0) throw nb::value_error("points and directions must not be empty");
    if (int64_t(directions.shape(1)) != d || (queries && int64_t(queries->shape(1)) != d))
        throw nb::value_error("points, directions and queries need the same number of columns");
    DirectionTask<T> task = {};
    task.points = points.data(), task.directions = directions.data(), task.resources = resources;
    task.n = n, task.d = d, task.count = int64_t(directions.shape(0));
    task.weights = weights_or_null(weights, n), task.total = total_of(task.weights, n);
    task.queries = queries ? queries->data() : nullptr, task.m = queries ? int64_t(queries->shape(0)) : n;
    return task;
}

// The points and the queries of a task, moved and scaled by the frame of the points.
template <class T> class DirectionPass {
  public:
    const DirectionTask<T> task;
    const Tiles<T> points;

    explicit DirectionPass(const DirectionTask<T>& task)
        : DirectionPass(task, Frame<T>(task.points, task.n, task.d)) {}
    DirectionPass(const DirectionTask<T>& task, const Frame<T>& frame)
        : task(task), points({task.points, task.n, task.d}, task.resources.n_threads, &frame) {
        if (task.queries)
            queries_.emplace(Rows<T>{task.queries, task.m, task.d}, task.resources.n_threads, &frame);
    }
    const Tiles<T>& targets() const { return queries_ ? *queries_ : points; }

    // Calls `work(state, direction, along, asked)` with the projections of the points (n,) and of the targets
    // (m,), the same where there are no queries; it may change them. `make` gives a worker its state, which
    // holds `held` bytes. Returns the states; how directions are cut up does not change a result.
    template <class Make, class Work> auto run(double held, Make make, Work work) const {
        using State = typename decltype(make())::element_type;
        constexpr double cache = 1 << 19;
        constexpr int64_t most = 256, fewest = 4;
        const auto [n_threads, memory_mb] = task.resources;
        const int64_t n = task.n, m = queries_ ? task.m : 0, count = task.count;
        const double each = double(sizeof(T)) * double(n + m);
        // Medians and ranks of projected numbers take about four times as long as projecting them.
        int64_t workers = worker_count(n_threads, count, 4 * n * count);
        workers = workers_within(workers, held + each, memory_mb);
        const double left = memory_mb * double(1 << 20) / double(workers) - held;
        const double wanted = std::clamp(cache / each, double(fewest), double(most));
        int64_t size = std::max<int64_t>(1, int64_t(std::min(wanted, left / each)));
        // Some for each worker, so that all of them end together.
        if (workers > 1) size = std::min(size, std::max(fewest, count / (16 * workers)));
        if (size > fewest) size -= size % fewest;

        PerWorker<State> states(workers);
        PerWorker<Workspace<T>> projections(workers);
        parallel_for(workers, (count + size - 1) / size, [&](int64_t worker, int64_t part) {
            State& state = states.of(worker, make);
            T* along =
                projections.of(worker, [&] { return std::make_unique<Workspace<T>>(size * (n + m)); }).data();
            const int64_t first = part * size, some = std::min(size, count - first);
            T* asked = queries_ ? along + some * n : along;
            points.project(task.directions + first * task.d, some, along);
            if (queries_) queries_->project(task.directions + first * task.d, some, asked);
            for (int64_t k = 0; k < some; k++)
                work(state, first + k, along + k * n, asked + k * (queries_ ? m : n));
        });
        return states;
    }

  private:
    std::optional<Tiles<T>> queries_;
};

// What a worker has found for each target: the best value, and the first direction that gave it.
template <class Value> struct Best {
    Workspace<Value> values;
    Workspace<int64_t> where;

    Best(int64_t m, Value first, bool locate) : values(m, first), where(locate ? m : 0, 0) {}
};

// Write the best of all workers to `out` (m,), and the first direction that gave it to `where` unless null.
template <class State, class Value, class Better> void merge_best(const PerWorker<State>& states, int64_t m,
                                                                  int64_t n_threads, Better better,
                                                                  Value* out, int64_t* where) {
    const auto made = states.made();
    over_rows(m, int64_t(made.size()), n_threads, [&](int64_t start, int64_t stop) {
        std::copy(&made[0]->best.values[start], &made[0]->best.values[stop], out + start);
        if (where) std::copy(&made[0]->best.where[start], &made[0]->best.where[stop], where + start);
        for (const State* state : made) {
            const auto* own = state->best.values.data();
            const int64_t* from = state->best.where.data();
            for (int64_t i = start; where && i < stop; i++)
                if (better(own[i], out[i]) || (own[i] == out[i] && from[i] < where[i])) where[i] = from[i];
            for (int64_t i = start; i < stop; i++) out[i] = better(own[i], out[i]) ? own[i] : out[i];
        }
    });
}

}  // namespace isodepth
