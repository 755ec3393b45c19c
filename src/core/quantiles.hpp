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
        total_ = 0;
        if (sample_.weights)
            for (int64_t i = 0; i < n_; i++) reached_[i] = total_ += sample_.weights[sorted_.index[i]];
    }
    // The largest value with the weight of that level at or above it.
    T top(int64_t level) const {
        const int64_t tail = sample_.tails[level];
        return sample_.weights ? first_reaching(total_ - tail + 1) : sorted_.keys[n_ - tail];
    }
    // The smallest value with that weight at or below it.
    T low(int64_t level) const {
        const int64_t tail = sample_.tails[level];
        return sample_.weights ? first_reaching(tail) : sorted_.keys[tail - 1];
    }

  private:
    const WeightedPoints<T>& sample_;
    int64_t n_, total_ = 0;
    Workspace<T> values_;
    Sorter<T> sorted_;
    Workspace<int64_t> reached_;

    T first_reaching(int64_t weight) const {
        const int64_t* at = std::lower_bound(reached_.data(), reached_.data() + n_, weight);
        return sorted_.keys[at - reached_.data()];
    }
};

// Sorting takes about so many times as long as projecting.
constexpr int64_t cost_of_sorting = 16;

// Write the quantiles of each level along all directions to `out` (levels, 2 K), and along their opposites.
template <class T, class Out> void write_quantiles(const WeightedPoints<T>& sample, int64_t levels,
                                                   const T* directions, int64_t count, Resources resources,
                                                   Out* out) {
    const int64_t n = sample.points.n, d = sample.points.d;
    int64_t workers = worker_count(resources.n_threads, count, cost_of_sorting * n * count);
    workers = workers_within(workers, Quantiles<T>::bytes(n), resources.memory_mb);
    std::vector<std::unique_ptr<Quantiles<T>>> states(workers);
    parallel_for(workers, count, [&](int64_t worker, int64_t k) {
        auto& own = states[worker];
        if (!own) own.reset(new Quantiles<T>(sample));
        own->sort_along(directions + k * d);
        for (int64_t level = 0; level < levels; level++) {
            out[level * 2 * count + k] = Out(own->top(level));
            out[level * 2 * count + count + k] = Out(-own->low(level));
        }
    });
}

// Gap of each level between the quantiles of two samples over the directions and their opposites: the mean of
// order q, or the largest for q = inf.
template <class T> void quantile_gaps(const WeightedPoints<T>& x, const WeightedPoints<T>& y, int64_t levels,
                                      const T* directions, int64_t count, double q, Resources resources,
                                      double* gaps, int64_t* codes) {
    const int64_t n = x.points.n + y.points.n, d = x.points.d, blocks = std::min<int64_t>(count, 64);
    int64_t workers = worker_count(resources.n_threads, blocks, cost_of_sorting * n * count);
    workers = workers_within(workers, Quantiles<T>::bytes(n) + GapSums::bytes(levels), resources.memory_mb);
    GapSums total(levels, q);
    struct Both {
        Quantiles<T> x, y;
    };
    auto start = [&] { return std::make_unique<Both>(Both{Quantiles<T>(x), Quantiles<T>(y)}); };
    add_blocks(blocks, workers, levels, total, q, start, [&](auto& state, int64_t block, GapSums& sums) {
        for (int64_t k = block * count / blocks; k < (block + 1) * count / blocks; k++) {
            state->x.sort_along(directions + k * d);
            state->y.sort_along(directions + k * d);
            for (int64_t level = 0; level < levels; level++)
                sums.add_direction(level, std::abs(state->x.top(level) - state->y.top(level)),
                                   std::abs(state->x.low(level) - state->y.low(level)), k);
        }
    });
    over_levels(resources.n_threads, levels, 16 * levels, [&](int64_t level, int64_t end) {
        total.write(level, end, 2.0 * double(count), gaps, codes);
    });
}

}  // namespace isodepth
