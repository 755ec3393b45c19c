// Gaps between the supports of two samples at all levels: the largest over directions, or a mean of order q.
#pragma once

#include <cmath>

#include "support.hpp"

namespace isodepth {

// A direction and a sign in one number: k stands for u_k, and -1 - k for its opposite.
inline int32_t code_of(int64_t direction, bool upward) {
    return int32_t(upward ? direction : -1 - direction);
}
inline int32_t direction_of(int32_t code) { return code >= 0 ? code : -1 - code; }

// ratio^q, without a call for the orders that are in use.
inline double power(double ratio, double q) {
    return q == 2.0 ? ratio * ratio : q == 1.0 ? ratio : std::pow(ratio, q);
}

// The largest gap of each level so far, and where it is attained. Directions are looked at in rising order,
// so that of equal gaps the first is named.
template <class T> class LargestGaps {
  public:
    explicit LargestGaps(int64_t levels) : gaps_(levels, T(-1)), codes_(levels, 0) {}

    static double bytes(int64_t levels) { return double(levels * (sizeof(T) + 4)); }

    // Raise the levels level..end to the largest gap of a tile whose first direction is number `first`.
    ISODEPTH_INLINE void raise(int64_t level, int64_t end, const Range<T>& x, const Range<T>& y,
                               int64_t first) {
        Vec<T> most = gap_of(x, y, 0);
        for (int j = 1; j < vectors; j++) most = maximum<T>(most, gap_of(x, y, j));
        const T largest = largest_of<T>(most);
        for (; level + width<T> <= end; level += width<T>)
            if (any<T>(broadcast<T>(largest) > load(&gaps_[level])))
                for (int i = 0; i < width<T>; i++) raise(level + i, largest, x, y, first);
        for (; level < end; level++) raise(level, largest, x, y, first);
    }

    // Take in what another worker found at the levels level..end.
    void merge(const LargestGaps& other, int64_t level, int64_t end) {
        for (; level < end; level++) {
            const T gap = other.gaps_[level];
            const int32_t code = other.codes_[level];
            const bool tied = gap == gaps_[level] && direction_of(code) < direction_of(codes_[level]);
            if (gap > gaps_[level] || tied) gaps_[level] = gap, codes_[level] = code;
        }
    }

    void write(int64_t level, int64_t end, double* gaps, int64_t* codes) const {
        for (; level < end; level++) gaps[level] = gaps_[level], codes[level] = codes_[level];
    }

  private:
    Workspace<T> gaps_;
    Workspace<int32_t> codes_;

    static ISODEPTH_INLINE Vec<T> gap_of(const Range<T>& x, const Range<T>& y, int j) {
        const int at = j * width<T>;
        return maximum<T>(absolute<T>(load(x.top + at) - load(y.top + at)),
                          absolute<T>(load(x.low + at) - load(y.low + at)));
    }

    ISODEPTH_INLINE void raise(int64_t level, T gap, const Range<T>& x, const Range<T>& y, int64_t first) {
        if (!(gap > gaps_[level])) return;
        gaps_[level] = gap;
        codes_[level] = first_code(gap, x, y, first);
    }

    // The first direction of a tile with that gap. Not inlined: it is seldom asked for.
    __attribute__((noinline)) static int32_t first_code(T gap, const Range<T>& x, const Range<T>& y,
                                                        int64_t first) {
        for (int64_t k = 0; k < lanes<T>; k++) {
            if (std::abs(x.top[k] - y.top[k]) == gap) return code_of(first + k, true);
            if (std::abs(x.low[k] - y.low[k]) == gap) return code_of(first + k, false);
        }
        return code_of(first, true);
    }
};

// Sums of powers of the gaps of each level, and the largest gap. A sum of powers overflows or vanishes where
// the mean does not, so that sums are kept in units of the largest gap so far.
class GapSums {
  public:
    // To be cleared first, by the thread that writes to it.
    GapSums(int64_t levels, double q) : q_(q), largest_(levels), sums_(levels), codes_(levels) {}

    static double bytes(int64_t levels) { return double(levels * 20); }

    void clear(int64_t levels) {
        std::fill_n(largest_.data(), levels, 0.0);
        std::fill_n(sums_.data(), levels, 0.0);
        std::fill_n(codes_.data(), levels, 0);
    }

    // Add the gaps at the levels level..end along the lanes from..to of a tile, and along their opposites.
    template <class T> void add_tile(int64_t level, int64_t end, const Range<T>& x, const Range<T>& y,
                                     int64_t first, int64_t from, int64_t to) {
        double above[lanes<T>], below[lanes<T>], largest = 0.0, sum = 0.0;
        int32_t code = 0;
        for (int64_t k = from; k < to; k++) {
            above[k] = std::abs(x.top[k] - y.top[k]);
            below[k] = std::abs(x.low[k] - y.low[k]);
            if (above[k] > largest) largest = above[k], code = code_of(first + k, true);
            if (below[k] > largest) largest = below[k], code = code_of(first + k, false);
        }
        if (largest == 0) return;
        for (int64_t k = from; k < to; k++)
            sum += power(above[k] / largest, q_) + power(below[k] / largest, q_);
        for (; level < end; level++) add_sum(level, largest, sum, code);
    }

    // Add the gaps along one direction and its opposite.
    void add_direction(int64_t level, double above, double below, int64_t direction) {
        const double largest = std::max(above, below);
        if (largest == 0) return;
        const double sum = power(above / largest, q_) + power(below / largest, q_);
        add_sum(level, largest, sum, code_of(direction, above == largest));
    }

    // Add a sum of powers in units of the largest gap in it, which is positive.
    void add_sum(int64_t level, double largest, double sum, int32_t code) {
        const double known = largest_[level];
        if (largest > known) {
            sums_[level] = sum + sums_[level] * power(known / largest, q_);
            largest_[level] = largest;
            codes_[level] = code;
        } else {
            sums_[level] += sum * power(largest / known, q_);
        }
    }

    // Add later directions, at the levels level..end.
    void merge(const GapSums& other, int64_t level, int64_t end) {
        for (; level < end; level++)
            if (other.largest_[level] > 0)
                add_sum(level, other.largest_[level], other.sums_[level], other.codes_[level]);
    }

    // The means of order q of `count` gaps; the largest for q = inf.
    void write(int64_t level, int64_t end, double count, double* gaps, int64_t* codes) const {
        for (; level < end; level++) {
            gaps[level] = largest_[level];
            if (!std::isinf(q_)) gaps[level] *= std::pow(sums_[level] / count, 1.0 / q_);
            codes[level] = codes_[level];
        }
    }

  private:
    double q_;
    Workspace<double> largest_, sums_;
    Workspace<int32_t> codes_;
};

// Calls `work(level, end)` for stretches of all levels.
template <class Work> void over_levels(int64_t n_threads, int64_t levels, int64_t operations, Work work) {
    constexpr int64_t each = 1 << 13;
    const int64_t parts = (levels + each - 1) / each;
    parallel_for(worker_count(n_threads, parts, operations), parts,
                 [&](int64_t, int64_t part) { work(part * each, std::min((part + 1) * each, levels)); });
}

// Largest gap of each level over the directions and their opposites.
template <class T> void search_gaps(const Prefixes<T> (&samples)[2], const Tiles<T>& directions,
                                    int64_t chunk_rows, Resources resources, double* gaps, int64_t* codes) {
    const Walk<T, 2> walk(samples, chunk_rows);
    const int64_t levels = walk.levels;
    int64_t workers = worker_count(resources.n_threads, directions.count, walk.rows * directions.n);
    const int64_t size = std::clamp<int64_t>(directions.count / (4 * workers), 1, 4);
    workers = workers_within(workers, walk.bytes(size) + LargestGaps<T>::bytes(levels), resources.memory_mb);
    struct Worker {
        typename Walk<T, 2>::State state;
        LargestGaps<T> found;
    };
    std::vector<std::unique_ptr<Worker>> states(workers);
    const int64_t parts = (directions.count + size - 1) / size;
    parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
        auto& own = states[worker];
        if (!own) own.reset(new Worker{walk.state(size), LargestGaps<T>(levels)});
        const int64_t first = part * size, stop = std::min(first + size, directions.count);
        walk.run(directions, first, stop, own->state, [&](int64_t tile, int64_t level, int64_t end) {
            for_each_run(samples, own->state.moves, level, end,
                         [&, start = directions.start(tile)](int64_t level, int64_t end, auto& x, auto& y) {
                             own->found.raise(level, end, x, y, start);
                         });
        });
    });
    // Whoever came too late for any part has nothing to say.
    std::erase(states, nullptr);
    over_levels(resources.n_threads, levels, levels * int64_t(states.size()),
                [&](int64_t level, int64_t end) {
                    for (size_t i = 1; i < states.size(); i++)
                        states[0]->found.merge(states[i]->found, level, end);
                    states[0]->found.write(level, end, gaps, codes);
                });
}

// Fold `work(worker state, block, sums)` over blocks of directions. Where blocks end does not depend on the
// number of threads, and their sums are added in their order.
template <class Start, class Work> void add_blocks(int64_t blocks, int64_t workers, int64_t levels,
                                                   GapSums& total, double q, Start start, Work work) {
    std::vector<GapSums> found;
    std::vector<decltype(start())> states;
    for (int64_t i = 0; i < workers; i++) {
        found.emplace_back(levels, q);
        states.push_back(start());
    }
    total.clear(levels);
    for (int64_t first = 0; first < blocks; first += workers) {
        const int64_t count = std::min(workers, blocks - first);
        parallel_for(count, count, [&](int64_t, int64_t i) {
            found[i].clear(levels);
            work(states[i], first + i, found[i]);
        });
        over_levels(workers, levels, 4 * levels * count, [&](int64_t level, int64_t end) {
            for (int64_t i = 0; i < count; i++) total.merge(found[i], level, end);
        });
    }
}

// Mean of order q of the gaps of each level over the directions and their opposites.
template <class T> void mean_gaps(const Prefixes<T> (&samples)[2], const Tiles<T>& directions, double q,
                                  int64_t chunk_rows, Resources resources, double* gaps, int64_t* codes) {
    const Walk<T, 2> walk(samples, chunk_rows);
    const int64_t levels = walk.levels, blocks = std::min<int64_t>(directions.count, 32);
    const int64_t size = (directions.count + blocks - 1) / blocks;
    int64_t workers = worker_count(resources.n_threads, blocks, walk.rows * directions.n);
    workers = workers_within(workers, walk.bytes(size) + GapSums::bytes(levels), resources.memory_mb);
    GapSums total(levels, q);
    auto start = [&] { return walk.state(size); };
    add_blocks(blocks, workers, levels, total, q, start, [&](auto& state, int64_t block, GapSums& sums) {
        const int64_t first = block * directions.count / blocks,
                      stop = (block + 1) * directions.count / blocks;
        walk.run(directions, first, stop, state, [&](int64_t tile, int64_t level, int64_t end) {
            // The last tile may begin with directions of the one before, and end with copies of its last.
            const int64_t start = directions.start(tile), from = directions.fresh(tile);
            const int64_t to = std::min<int64_t>(lanes<T>, directions.n - start);
            for_each_run(samples, state.moves, level, end, [&](int64_t level, int64_t end, auto& x, auto& y) {
                sums.add_tile(level, end, x, y, start, from, to);
            });
        });
    });
    over_levels(resources.n_threads, levels, 16 * levels, [&](int64_t level, int64_t end) {
        total.write(level, end, 2.0 * double(directions.n), gaps, codes);
    });
}

// The pieces of [0, end] on which the regions of two samples stay the same.
struct MergedLevels {
    std::vector<double> edges;              // (levels + 1,)
    std::vector<int64_t> sizes_x, sizes_y;  // (levels,)
};

// `masses` rise to 1, and `counts` say how many points lie inside up to there. Breakpoints from `last` on,
// which is below 1 and not above `end`, are the end.
inline MergedLevels merge_levels(const double* masses_x, const int64_t* counts_x, const double* masses_y,
                                 const int64_t* counts_y, double end, double last) {
    MergedLevels found{{0.0}, {}, {}};
    int64_t x = 0, y = 0;
    while (true) {
        const double start = found.edges.back();
        while (masses_x[x] <= start) x++;
        while (masses_y[y] <= start) y++;
        found.sizes_x.push_back(counts_x[x]);
        found.sizes_y.push_back(counts_y[y]);
        const double stop = std::min(masses_x[x], masses_y[y]);
        found.edges.push_back(stop < last ? stop : end);
        if (!(stop < last)) return found;
    }
}

}  // namespace isodepth
