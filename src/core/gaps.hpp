// Gaps between the supports of two samples at all levels: the largest over directions, or a mean of order q.
#pragma once

#include <cmath>

#include "support.hpp"

namespace isodepth {

// A direction and a sign in one number: k stands for u_k, and -1 - k for its opposite.
inline int32_t code_of(int64_t direction, bool upward) {
    return int32_t(upward ? direction : -1 - direction);
}

// ratio^q, without a call for the orders that are in use.
inline double power(double ratio, double q) {
    return q == 2.0 ? ratio * ratio : q == 1.0 ? ratio : std::pow(ratio, q);
}

// The gap of each level along the directions so far and their opposites: the largest, where it is attained,
// and the mean of order q unless q = inf. Of equal gaps the first that was added is named. A sum of powers
// overflows or vanishes where the mean does not, so sums are kept in units of the largest gap.
template <class T> class LevelGaps {
  public:
    LevelGaps(int64_t levels, double q, int64_t directions)
        : mean_(!std::isinf(q)),
          q_(q),
          count_(2.0 * double(directions)),
          largest_(levels),
          codes_(levels),
          sums_(mean_ ? levels : 0) {}
    static constexpr int64_t bytes = sizeof(T) + 12;  // of a level

    void clear(int64_t levels) {
        std::fill_n(largest_.data(), levels, T(0));
        std::fill_n(codes_.data(), levels, 0);
        if (mean_) std::fill_n(sums_.data(), levels, 0.0);
    }

    // Add a tile of directions, whose supports are the same at the levels level..end.
    ISODEPTH_INLINE void add(int64_t level, int64_t end, const Range<T>& x, const Range<T>& y,
                             typename Tiles<T>::Own own) {
        const T gap = largest_distance(x.ends(), y.ends(), 2 * lanes<T>);
        if (mean_) return add_powers(level, end, gap, x, y, own);
        for (; level + width<T> <= end; level += width<T>)
            if (any<T>(broadcast<T>(gap) > load(&largest_[level])))
                for (int i = 0; i < width<T>; i++) raise(level + i, gap, x, y, own.first);
        for (; level < end; level++) raise(level, gap, x, y, own.first);
    }

    void write(int64_t levels, double* gaps, int64_t* codes) const {
        for (int64_t i = 0; i < levels; i++) {
            gaps[i] = largest_[i];
            if (mean_) gaps[i] *= std::pow(sums_[i] / count_, 1.0 / q_);
            codes[i] = codes_[i];
        }
    }

  private:
    bool mean_;
    double q_, count_;
    Workspace<T> largest_;
    Workspace<int32_t> codes_;
    Workspace<double> sums_;

    void add_powers(int64_t level, int64_t end, T gap, const Range<T>& x, const Range<T>& y,
                    typename Tiles<T>::Own own) {
        if (gap == 0) return;
        double sum = 0.0;
        for (int64_t k = own.from; k < own.to; k++)
            sum += power(std::abs(x.top[k] - y.top[k]) / double(gap), q_) +
                   power(std::abs(x.low[k] - y.low[k]) / double(gap), q_);
        for (; level < end; level++) {
            const double known = largest_[level];
            if (gap > known) sums_[level] = sum + sums_[level] * power(known / gap, q_);
            else sums_[level] += sum * power(gap / known, q_);
            raise(level, gap, x, y, own.first);
        }
    }

    ISODEPTH_INLINE void raise(int64_t level, T gap, const Range<T>& x, const Range<T>& y, int64_t first) {
        if (!(gap > largest_[level])) return;
        largest_[level] = gap;
        codes_[level] = first_code(gap, x, y, first);
    }

    // The first direction of a tile with that gap. Not inlined: it is seldom asked for.
    __attribute__((noinline)) static int32_t first_code(T gap, const Range<T>& x, const Range<T>& y,
                                                        int64_t first) {
        int64_t k = 0;
        while (k + 1 < lanes<T> && std::abs(x.top[k] - y.top[k]) != gap &&
               std::abs(x.low[k] - y.low[k]) != gap)
            k++;
        return code_of(first + k, std::abs(x.top[k] - y.top[k]) == gap);
    }
};

// Gap of each level over the directions and their opposites: the largest, or the mean of order q.
template <class T> void level_gaps(const Prefixes<T> (&samples)[2], const Tiles<T>& directions, double q,
                                   int64_t chunk_rows, Resources resources, double* gaps, int64_t* codes) {
    const Walk<T, 2> walk(samples, directions, resources, LevelGaps<T>::bytes, chunk_rows);
    PerWorker<LevelGaps<T>> found(walk.workers);  // of a chunk
    auto make = [&] { return std::make_unique<LevelGaps<T>>(walk.levels, q, directions.n); };
    walk.run([&](int64_t worker, int64_t tile, int64_t level, int64_t end, const Moves<T>* moves) {
        auto& own = found.of(worker, make);
        if (tile == 0) own.clear(end - level);
        walk.for_each_run(moves, level, end, [&](int64_t from, int64_t to, auto& x, auto& y) {
            own.add(from - level, to - level, x, y, directions.own(tile));
        });
        if (tile + 1 == directions.count) own.write(end - level, gaps + level, codes + level);
    });
}

// Where groups of equal depth end in `falling` (n,). A group holds all within the tolerance of its first.
inline std::vector<int64_t> tie_ends(const double* falling, int64_t n, double tolerance) {
    std::vector<int64_t> ends;
    ends.reserve(size_t(n));
    for (int64_t i = 0, first = 0; i < n; i++)
        if (falling[first] - falling[i] > tolerance) ends.push_back(first = i);
    ends.push_back(n);
    return ends;
}

// The pieces of [0, end] on which the regions of two samples stay the same.
struct MergedLevels {
    std::vector<double> edges, shares;      // (levels, 2): where each begins and ends; (levels,)
    std::vector<int64_t> sizes_x, sizes_y;  // (levels,)
};

// A sample's regions: `masses` (count,) rise to 1, and `sizes` say how many points lie inside up to there.
struct Masses {
    const double* masses;
    const int64_t* sizes;
    int64_t count;
};

// Breakpoints from `last` on, which is below 1 and not above `end`, are the end.
inline MergedLevels merge_levels(const Masses& x, const Masses& y, double end, double last) {
    MergedLevels found;
    found.edges.reserve(size_t(2 * (x.count + y.count)));
    for (auto* each : {&found.sizes_x, &found.sizes_y}) each->reserve(size_t(x.count + y.count));
    found.shares.reserve(size_t(x.count + y.count));
    int64_t i = 0, j = 0;
    double start = 0.0, stop;
    do {
        while (x.masses[i] <= start) i++;
        while (y.masses[j] <= start) j++;
        stop = std::min(x.masses[i], y.masses[j]);
        const double edge = stop < last ? stop : end;
        found.edges.insert(found.edges.end(), {start, edge});
        found.shares.push_back(end > 0 ? (edge - start) / end : 1.0);
        found.sizes_x.push_back(x.sizes[i]);
        found.sizes_y.push_back(y.sizes[j]);
        start = stop;
    } while (stop < last);
    return found;
}

}  // namespace isodepth
