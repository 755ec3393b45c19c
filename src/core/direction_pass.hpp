// Computations on the projections of points on many directions. Threads process blocks of directions that are
// so small that the projections of a block fit in the cache.
#pragma once

#include "project.hpp"

namespace isodepth {

// Up to this number of points, several directions are processed at once, one per SIMD lane. For 50 points,
// this is 1.5 to 2.7 times as fast as processing one direction after the other.
constexpr int64_t few_points = 64;

// Arguments of a computation over directions: a sample `points` (n, d) with `weights` (n,), `directions`
// (count, d), and the targets whose depth is computed. The targets are `queries` (m, d) or, if `queries` is
// null, the points. If `weights` is null, all weights are 1. The caller owns the arrays.
template <class T> struct DirectionTask {
    const T* points;
    const int64_t* weights;
    const T* directions;
    const T* queries;
    int64_t n, d, count, m;
    int64_t total;  // sum of the weights
    Resources resources;
    std::shared_ptr<const T[]> scaled{};  // owner of `directions` if they were scaled

    bool few() const { return n <= few_points && !weights && !queries; }
    Frame<T> rank_frame() const {
        return {{points, n, d}, {queries, queries ? m : 0, d}, resources.n_threads};
    }
};

// Multiply directions by powers of two if they are so long or short that products could overflow or
// underflow. Depths do not depend on the length of a direction. In one dimension a direction becomes 1 or -1,
// because a product with 1 does not round. If `columns` (d,) is given, column k of the points is divided by
// 2**columns[k], and component k of each direction is multiplied by the same number.
template <class T> void scale_directions(DirectionTask<T>& task, const std::vector<int>& columns = {}) {
    const int64_t d = task.d;
    auto usable = [&](int64_t i) {
        T largest = 0;
        for (int64_t k = 0; k < d; k++) largest = std::max(largest, std::fabs(task.directions[i * d + k]));
        return largest == 0 || (d == 1 ? largest == 1 : T(0x1p-20) <= largest && largest <= T(2));
    };
    int64_t first = 0;
    while (columns.empty() && first < task.count && usable(first)) first++;
    if (first == task.count) return;
    const std::shared_ptr<T[]> scaled(new T[size_t(task.count * d)]);
    auto column = [&](int64_t k) { return columns.empty() ? 0 : columns[size_t(k)]; };
    for (int64_t at = 0; at < task.count * d; at += d) {
        const T* own = task.directions + at;
        int most = -(1 << 20);
        for (int64_t k = 0; k < d; k++)
            if (own[k] != 0) most = std::max(most, std::ilogb(own[k]) + 1 + column(k));
        for (int64_t k = 0; k < d; k++)
            scaled[at + k] = d == 1 ? T((own[k] > 0) - (own[k] < 0)) : std::ldexp(own[k], column(k) - most);
    }
    task.scaled = scaled, task.directions = scaled.get();
}

template <class T> DirectionTask<T> task_of(const Matrix<T>& points, const Matrix<T>& directions,
                                            const Weights& weights, const std::optional<Matrix<T>>& queries,
                                            Resources resources, int64_t least_weight = 1) {
    const Rows<T> rows = check_rows(points, -1, resources.n_threads), along = check_rows(directions, rows.d);
    DirectionTask<T> task = {};
    task.points = rows.data, task.directions = along.data, task.resources = resources;
    task.n = task.m = rows.n, task.d = rows.d, task.count = along.n;
    std::tie(task.weights, task.total) = check_weights(weights, rows.n, least_weight);
    if (queries) {
        require(int64_t(queries->shape(1)) == rows.d, "points and queries have different numbers of columns");
        task.m = int64_t(queries->shape(0)), task.queries = task.m ? check_rows(*queries).data : rows.data;
    }
    return task;
}

// Projections of the points and the queries of a task on its directions. The rows are first shifted and
// scaled by `frame`.
template <class T> class DirectionPass {
  public:
    const DirectionTask<T> task;
    const Tiles<T> points;

    DirectionPass(const DirectionTask<T>& task, const Frame<T>& frame)
        : task(task), points({task.points, task.n, task.d}, task.resources.n_threads, &frame) {
        if (task.queries)
            queries_.emplace(Rows<T>{task.queries, task.m, task.d}, task.resources.n_threads, &frame);
    }
    const Tiles<T>& targets() const { return queries_ ? *queries_ : points; }

    // Call `work(state, k, along, asked)` for each direction k. `along` (n,) are the projections of the
    // points on direction k, and `asked` (m,) those of the queries. Without queries, `asked` is the same
    // array as `along`. `work` may modify both arrays. `make` creates the state of a thread, which takes at
    // most `row_bytes` bytes per point and query. Return the states of all threads. The result does not
    // depend on the division of the directions into blocks.
    auto run(double row_bytes, auto make, auto work) const {
        using State = decltype(make());
        constexpr double cache = 1 << 19;
        constexpr int64_t most = 256, fewest = 4;
        const auto [n_threads, memory_mb] = task.resources;
        const int64_t n = task.n, m = queries_ ? task.m : 0, count = task.count;
        const double each = double(sizeof(T)) * double(n + m), held = row_bytes * double(n + m);
        // The factor 4 is an estimate: medians or ranks of projections take about four times as long as the
        // projections.
        int64_t workers = worker_count(n_threads, count, 4 * n * count);
        workers = workers_within(workers, held + each, memory_mb);
        const double left = memory_mb * double(1 << 20) / double(workers) - held;
        const double wanted = std::clamp(cache / each, double(fewest), double(most));
        int64_t size = std::max<int64_t>(1, int64_t(std::min(wanted, left / each)));
        // Make several blocks of directions per worker, so that all workers finish at about the same time.
        if (workers > 1) size = std::min(size, std::max(fewest, count / (16 * workers)));
        if (size > fewest) size -= size % fewest;

        PerWorker<State> states(workers);
        PerWorker<Workspace<T>> projections(workers);
        parallel_for(workers, (count + size - 1) / size, [&](int64_t worker, int64_t part) {
            State& state = states.of(worker, make);
            T* along = projections.of(worker, [&] { return Workspace<T>(size * (n + m)); }).data();
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

// Combine the arrays `values` (m,) of all states elementwise by the binary function `combine`. Apply `finish`
// to each result, and write it to `out` (m,). The values of the first state are overwritten.
void merge(const auto& states, int64_t m, int64_t n_threads, auto* out, auto combine, auto finish) {
    const auto made = states.made();
    over_rows(m, int64_t(made.size()), n_threads, [&](int64_t start, int64_t stop) {
        auto *first = made[0]->values.data() + start, *end = made[0]->values.data() + stop;
        for (size_t i = 1; i < made.size(); i++)
            std::transform(first, end, made[i]->values.data() + start, first, combine);
        std::transform(first, end, out + start, finish);
    });
}

}  // namespace isodepth
