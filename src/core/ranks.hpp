// Ranks of points along directions, and the integrated rank-weighted depth: the mean of min(F, 1 - F) over
// directions, where F is the mid-rank of a point, in [0, 1].
#pragma once

#include "few_ranks.hpp"
#include "sort.hpp"

namespace isodepth {

// Return the first index i >= start for which sorted values i and i + 1 are equal, or n - 1 if there is none.
template <class T> int64_t next_tie(const T* keys, int64_t start, int64_t n) {
    while (start + width<T> < n && !any<T>((Mask<T>)(load(keys + start) == load(keys + start + 1))))
        start += width<T>;
    while (start + 1 < n && keys[start] != keys[start + 1]) start++;
    return start;
}

// For each of n sorted values, call `found(index[i], below, upto)`. There `below` is the total weight of the
// smaller values, and `upto` that of the smaller or equal values. The argument `below` is the weight below
// the first value. `weights` are indexed by index[i]. If they are null, all weights are 1.
template <class T> void masses_around(const T* keys, const uint32_t* index, int64_t n, const int64_t* weights,
                                      int64_t below, auto found) {
    for (int64_t start = 0, stop; start < n; start = stop) {
        // Most values have no ties. Runs without ties are processed without comparisons of neighbors.
        for (const int64_t tie = weights ? start : next_tie(keys, start, n); start < tie; start++, below++)
            found(int64_t(index[start]), below, below + 1);
        int64_t upto = below;
        for (stop = start; stop < n && keys[stop] == keys[start]; stop++)
            upto += weights ? weights[index[stop]] : 1;
        for (int64_t i = start; i < stop; i++) found(int64_t(index[i]), below, upto);
        below = upto;
    }
}

// Total weights of the points below and up to each target along one direction. The targets are the queries
// or, without queries, the points.
template <class T> class Ranks {
  public:
    Sorter<T> sorter;

    explicit Ranks(const DirectionTask<T>& task)
        : sorter(task.n), task_(task), reached_(task.queries && task.weights ? task.n + 1 : 1, 0) {}

    // For each target i, call `found(i, below, upto)` with the total weight of the points below the target
    // and up to it. `along` are the projections of the points, and `asked` those of the targets.
    void find(const T* along, const T* asked, auto found) {
        const int64_t n = task_.n, *weights = task_.weights;
        sorter.sort(along, n);
        const T* keys = sorter.keys.data();
        const uint32_t* index = sorter.index.data();
        if (!task_.queries) return masses_around(keys, index, n, weights, 0, found);
        for (int64_t i = 0; weights && i < n; i++) reached_[i + 1] = reached_[i] + weights[index[i]];
        auto mass = [&](const T* key) { return weights ? reached_[key - keys] : key - keys; };
        for (int64_t i = 0; i < task_.m; i++) {
            const auto [low, high] = std::equal_range(keys, keys + n, asked[i]);
            found(i, mass(low), mass(high));
        }
    }

  private:
    DirectionTask<T> task_;
    Workspace<int64_t> reached_;  // entry k is the total weight of the first k sorted points
};

// For each target, write to `out` (m,) the mean over directions of min(F, 1 - F). F = (P(<) + P(<=)) / 2 is
// the mid-rank of the target among the points. The targets are the queries or, without queries, the
// points. Sums over directions are exact, because they are integers in units of 2**shift / (2 total), where
// `total` is the total weight.
template <class T, class Sum> void mean_rank_weights(const DirectionTask<T>& task, int shift, double* out) {
    const int64_t n = task.n, m = task.m, total = task.total;
    struct State {
        Workspace<Sum> values, weights;  // sums over directions so far, and terms of the current direction
        Ranks<T> ranks;
    };
    auto make = [&] { return State{Workspace<Sum>(m, 0), Workspace<Sum>(n), Ranks<T>(task)}; };
    auto weight = [=](int64_t below, int64_t upto) {
        return Sum(std::min(below + upto, 2 * total - below - upto) >> shift);
    };
    const DirectionPass<T> pass(task, task.rank_frame());
    const auto states = pass.run(64, make, [&](State& state, int64_t, const T* along, const T* asked) {
        Sum* sums = state.values.data();
        if (task.weights || task.queries)
            return state.ranks.find(along, asked, [=](int64_t i, int64_t below, int64_t upto) {
                sums[i] += weight(below, upto);
            });
        // Avoid random access to a large array. The values are divided into ranges that fit in the cache.
        // Rank weights are written range by range, and are then read in the order of the points.
        Sorter<T>& sorter = state.ranks.sorter;
        sorter.divide(along, n);
        for (size_t s = 0; s + 1 < sorter.starts.size(); s++) {
            const int64_t start = sorter.starts[s], size = sorter.starts[s + 1] - start;
            sorter.sort_stretch(s, 0);
            Sum* own = state.weights.data() + start;
            masses_around(sorter.keys.data(), sorter.index.data(), size, nullptr, start,
                          [=](int64_t i, int64_t below, int64_t upto) { own[i] = weight(below, upto); });
        }
        const Sum* weights = state.weights.data();
        const bool one = sorter.starts.size() == 2;
        for (int64_t i = 0; i < n; i++) sums[i] += weights[one ? i : sorter.next_in_stretch(i)];
    });
    const double unit = std::ldexp(1.0, shift), all = 2.0 * double(total) * double(task.count);
    merge(states, m, task.resources.n_threads, out, std::plus<Sum>(),
          [=](Sum sum) { return double(sum) * unit / all; });
}

template <class T> void mean_rank_weights(const DirectionTask<T>& task, double* out) {
    // In units of 1 / (2 total), min(F, 1 - F) is at most `total`, so a sum over directions is at most
    // `largest`. The shift prevents overflow of 64 bits. It changes the mean over `count` directions by at
    // most count / 2**61.
    const double largest = double(task.total) * double(task.count);
    const int shift = std::max(0, std::ilogb(largest) + 3 - 63);
    if (task.few()) rank_weights_of_few(task, out);
    else if (largest < 4e9) mean_rank_weights<T, uint32_t>(task, 0, out);
    else mean_rank_weights<T, int64_t>(task, shift, out);
}

}  // namespace isodepth
