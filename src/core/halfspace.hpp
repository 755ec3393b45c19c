// Halfspace depth: for each point, the minimum over directions of the mass of a closed halfspace with the
// point on its boundary. Most directions need no sorting.
//
// Only about seven of a thousand directions lower the minimum of a point. So the projections on a direction
// are first divided into buckets, and the counts of the buckets give lower bounds of the halfspace masses of
// all points. Only points whose lower bound is below their minimum so far are ranked within their bucket.
#pragma once

#include "ranks.hpp"

namespace isodepth {

template <class T, class Mass> class HalfspaceBounds {
  public:
    static constexpr int64_t fewest_points = 128;  // with fewer points, sorting all points is as fast

    explicit HalfspaceBounds(const DirectionTask<T>& task)
        : n_(task.n), total_(Mass(task.total)), weights_(task.weights) {}

    // `values` (n,) are the projections of the points on one direction, and `best` (n,) are the minimum
    // halfspace masses so far. Call `lower(i, mass)` with the halfspace mass of each point i whose mass may
    // be below best[i]. Return false, without any call, if sorting all points is faster.
    bool lower(const T* values, const Mass* best, Sorter<T>& sorter, auto lower) {
        bound_masses(values);
        int64_t count = 0;
        for (int64_t i = 0; i < n_; i++) {
            found_[count] = uint32_t(i);
            count += bound_[bucket_[i]] < best[i];
        }
        if (count == 0) return true;
        if (count > n_ / share) return false;
        // The rank of a point within its bucket needs all points of the bucket. So collect all points of the
        // buckets that contain a point to be ranked.
        for (int64_t j = 0; j < count; j++) wanted_[bucket_[found_[j]]] = 1;
        count = 0;
        for (int64_t i = 0; i < n_; i++) {
            found_[count] = uint32_t(i);
            count += wanted_[bucket_[i]];
        }
        std::fill_n(wanted_.data(), buckets_, uint8_t(0));
        if (count > n_ / share) return false;
        rank_found(values, count, sorter, lower);
        return true;
    }

  private:
    // If more than 1 / `share` of the points must be ranked, sorting all points is faster.
    static constexpr int64_t share = 3;
    int64_t n_;
    // Compromise: the counters of fewer buckets fit in the cache, but more buckets give tighter bounds.
    int64_t buckets_ = std::min(n_ / 2, std::max<int64_t>(1 << 15, n_ / 8));
    Mass total_;
    const int64_t* weights_;
    Workspace<uint32_t> bucket_{n_ + bucket_padding}, found_{n_ + 1};
    Workspace<Mass> start_{buckets_ + 1};  // total mass of the buckets before each bucket
    Workspace<Mass> bound_{buckets_};      // lower bound of the halfspace masses of the points in each bucket
    Workspace<uint8_t> wanted_{buckets_, 0};
    Workspace<T> values_{n_ / share};

    void bound_masses(const T* values) {
        Mass* counts = start_.data() + 1;
        std::fill_n(start_.data(), buckets_ + 1, Mass(0));
        fill_buckets(values, n_, buckets_, bucket_.data());
        for (int64_t i = 0, n = n_; i < n; i++) counts[bucket_[i]] += weights_ ? Mass(weights_[i]) : Mass(1);
        Mass running = 0, *bound = bound_.data();
        const Mass total = total_;
        for (int64_t b = 0, buckets = buckets_; b < buckets; b++) {
            const Mass before = running;
            running += counts[b];
            counts[b] = running;
            bound[b] = std::min<Mass>(before, total - running) + 1;
        }
    }

    // Call `lower(i, mass)` with the halfspace mass of each of the `count` points i in `found_`. They must be
    // all points of their buckets.
    void rank_found(const T* values, int64_t count, Sorter<T>& sorter, auto lower) {
        for (int64_t j = 0; j < count; j++) values_[j] = values[found_[j]];
        sorter.sort(values_.data(), count);
        uint32_t* index = sorter.index.data();
        for (int64_t i = 0; i < count; i++) index[i] = found_[index[i]];
        for (int64_t start = 0, stop; start < count; start = stop) {
            const uint32_t bucket = bucket_[index[start]];
            for (stop = start; stop < count && bucket_[index[stop]] == bucket; stop++) {
            }
            masses_around(sorter.keys.data() + start, index + start, stop - start, weights_, start_[bucket],
                          [&](int64_t i, int64_t below, int64_t upto) {
                              lower(i, Mass(std::min<int64_t>(upto, total_ - below)));
                          });
        }
    }
};

// Set `best`, the minima of one thread, and `known`, the minima shared by all threads, to their elementwise
// minimum. A concurrent update of `known` may be lost. This is harmless, because every value in `known` is
// the mass of some halfspace, and each thread keeps its own minima.
template <class Mass> void exchange(Mass* best, Mass* known, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const Mass mine = best[i], theirs = __atomic_load_n(known + i, __ATOMIC_RELAXED);
        if (theirs < mine) best[i] = theirs;
        else if (mine < theirs) __atomic_store_n(known + i, mine, __ATOMIC_RELAXED);
    }
}

// Write to `out` (m,) the minimum mass of a closed halfspace with a target on its boundary, over all
// directions and their opposites. The targets are the queries or, without queries, the points.
template <class T, class Mass> void smallest_halfspaces(const DirectionTask<T>& task, int64_t* out) {
    const int64_t m = task.m, total = task.total;
    struct State {
        Workspace<Mass> values;  // minimum halfspace mass of each target so far
        Ranks<T> ranks;
        std::optional<HalfspaceBounds<T, Mass>> bounds{};
        int64_t done = 0, exchange_at = 0;  // directions processed so far, and at the next exchange
    };
    const bool bounded = !task.queries && task.n >= HalfspaceBounds<T, Mass>::fewest_points;
    auto make = [&] {
        State state{Workspace<Mass>(m, Mass(total)), Ranks<T>(task)};
        if (bounded) state.bounds.emplace(task);
        return state;
    };
    // Threads exchange their minima, because smaller minima require the ranking of fewer points. Minima
    // change less often as more directions are processed, so the exchanges become less frequent.
    const bool shared = bounded && task.resources.n_threads > 1;
    Workspace<Mass> known(shared ? m : 0, Mass(total));
    const DirectionPass<T> pass(task, task.rank_frame());
    const auto states = pass.run(88, make, [&](State& state, int64_t, T* along, T* asked) {
        Mass* best = state.values.data();
        if (shared && state.done++ >= state.exchange_at) {
            exchange(best, known.data(), m);
            state.exchange_at = state.done * 3 / 2;
        }
        auto lower = [&](int64_t i, Mass mass) {
            if (mass < best[i]) best[i] = mass;
        };
        if (bounded && state.bounds->lower(along, best, state.ranks.sorter, lower)) return;
        state.ranks.find(along, asked, [&](int64_t i, int64_t below, int64_t upto) {
            lower(i, Mass(std::min(upto, total - below)));
        });
    });
    merge(states, m, task.resources.n_threads, out, std::ranges::min, std::identity());
}

// Choose the integer type of halfspace masses. Without weights, masses fit into 32 bits, so that twice as
// many counters fit in the cache.
template <class T> void smallest_halfspaces(const DirectionTask<T>& task, int64_t* out) {
    if (task.few()) halfspaces_of_few(task, out);
    else if (task.weights) smallest_halfspaces<T, int64_t>(task, out);
    else smallest_halfspaces<T, int32_t>(task, out);
}

}  // namespace isodepth
