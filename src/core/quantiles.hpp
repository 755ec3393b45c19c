// Directional quantiles at many levels, and the gaps between those of two samples.
#pragma once

#include "gaps.hpp"
#include "sort.hpp"

namespace isodepth {

// Points with integer weights, or one unit each, and the weight at or above the quantile of each level.
template <class T> struct WeightedPoints {
    Tiles<T> points;
    const int64_t* weights;  // (n,) or null
    const int64_t* tails;    // (levels,), from 1 to the total weight
};

// Quantiles along one direction at a time.
template <class T> class Quantiles {
  public:
    explicit Quantiles(const WeightedPoints<T>& sample)
        : sample_(sample), n_(sample.points.n), values_(n_), sorted_(n_), reached_(sample.weights ? n_ : 0) {}

    static double bytes(int64_t n) { return Sorter<T>::bytes(n) + double(n) * (sizeof(T) + 8); }

    void sort_along(const T* direction) {
        sample_.points.project(direction, 1, values_.data());
        sorted_.sort(values_.data(), n_);
        total_ = sample_.weights ? 0 : n_;
        if (sample_.weights)
            for (int64_t i = 0; i < n_; i++) reached_[i] = total_ += sample_.weights[sorted_.index[i]];
    }
    // The largest value with the weight of that level at or above it.
    T top(int64_t level) const { return first_reaching(total_ - sample_.tails[level] + 1); }
    // The smallest value with that weight at or below it.
    T low(int64_t level) const { return first_reaching(sample_.tails[level]); }

  private:
    const WeightedPoints<T>& sample_;
    int64_t n_, total_ = 0;
    Workspace<T> values_;
    Sorter<T> sorted_;
    Workspace<int64_t> reached_;

    T first_reaching(int64_t weight) const {
        if (!sample_.weights) return sorted_.keys[weight - 1];
        const int64_t* at = std::lower_bound(reached_.data(), reached_.data() + n_, weight);
        return sorted_.keys[at - reached_.data()];
    }
};

// Sorting takes about so many times as long as projecting.
constexpr int64_t cost_of_sorting = 16;

// Write the quantiles of each level along all directions to `out` (levels, 2 K), and along their opposites.
template <class T> void write_quantiles(const WeightedPoints<T>& sample, int64_t levels, const T* directions,
                                        int64_t count, Resources resources, T* out) {
    const int64_t n = sample.points.n, d = sample.points.d;
    int64_t workers = worker_count(resources.n_threads, count, cost_of_sorting * n * count);
    workers = workers_within(workers, Quantiles<T>::bytes(n), resources.memory_mb);
    PerWorker<Quantiles<T>> states(workers);
    parallel_for(workers, count, [&](int64_t worker, int64_t k) {
        auto& own = states.of(worker, [&] { return std::make_unique<Quantiles<T>>(sample); });
        own.sort_along(directions + k * d);
        for (int64_t level = 0; level < levels; level++) {
            out[level * 2 * count + k] = own.top(level);
            out[level * 2 * count + count + k] = -own.low(level);
        }
    });
}

// Gap of each level between the quantiles of two samples over the directions and their opposites: the mean of
// order q, or the largest for q = inf.
template <class T> void quantile_gaps(const WeightedPoints<T>& x, const WeightedPoints<T>& y, int64_t levels,
                                      const T* directions, int64_t count, double q, Resources resources,
                                      double* gaps, int64_t* codes) {
    const int64_t n = x.points.n + y.points.n, d = x.points.d;
    int64_t workers = worker_count(resources.n_threads, count, cost_of_sorting * n * count);
    workers = workers_within(workers, Quantiles<T>::bytes(n), resources.memory_mb);
    struct Both {
        Quantiles<T> x, y;
    };
    PerWorker<Both> states(workers);
    auto make = [&] { return std::make_unique<Both>(Both{Quantiles<T>(x), Quantiles<T>(y)}); };
    auto sort = [&](int64_t worker, int64_t k) {
        Both& own = states.of(worker, make);
        own.x.sort_along(directions + k * d);
        own.y.sort_along(directions + k * d);
    };
    // Directions are added in their order, a stretch of levels at a time.
    constexpr int64_t each = 1 << 10;
    LevelGaps<T> found(levels, q, count);
    auto add = [&](int64_t worker, int64_t k, int64_t stretch) {
        const Both& own = states.of(worker, make);
        const int64_t start = stretch * each, stop = std::min(start + each, levels);
        if (k == 0) found.clear(start, stop);
        for (int64_t level = start; level < stop; level++)
            found.add(level, std::abs(own.x.top(level) - own.y.top(level)),
                      std::abs(own.x.low(level) - own.y.low(level)), k);
        if (k + 1 == count) found.write(start, stop, gaps + start, codes + start);
    };
    parallel_chain(workers, count, (levels + each - 1) / each, sort, add);
}

}  // namespace isodepth
