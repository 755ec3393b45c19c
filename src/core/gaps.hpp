// Gaps between the depth regions of two samples, at all depth levels. The gap of a level is the maximum, or
// the mean of order q, over directions of the absolute difference of the support functions.
#pragma once

#include "support.hpp"

namespace isodepth {

inline double power(double ratio, double q) {
    return q == 2.0 ? ratio * ratio : q == 1.0 ? ratio : std::pow(ratio, q);
}

template <class T> ISODEPTH_INLINE T largest_of(Vec<T> v) {
#if defined(__aarch64__)
    ISODEPTH_CALL(maxnmv, v)
#else
    T largest = v[0];
    for (int i = 1; i < width<T>; i++) largest = v[i] > largest ? v[i] : largest;
    return largest;
#endif
}

// For each of H rows a (n,), write the maximum of |a_k - b_k| over k to `out`. The rows a start `apart`
// values apart, and b (n,) is a single row.
template <class T, int H>
ISODEPTH_INLINE void largest_distances(const T* a, int64_t apart, const T* b, int64_t n, T (&out)[H]) {
    Vec<T> most[H][2] = {};  // two accumulators per row, so that the processor can overlap the instructions
    const int64_t whole = n - n % (2 * width<T>);
    for (int64_t k = 0; k < whole; k += 2 * width<T>)
        for (int j = 0; j < 2; j++) {
            const Vec<T> other = load(b + k + j * width<T>);
            for (int h = 0; h < H; h++)
                most[h][j] =
                    maximum<T>(most[h][j], distance<T>(load(a + h * apart + k + j * width<T>), other));
        }
    for (int h = 0; h < H; h++) out[h] = largest_of<T>(maximum<T>(most[h][0], most[h][1]));
    for (int64_t k = whole; k < n; k++)
        for (int h = 0; h < H; h++) out[h] = std::max(out[h], std::abs(a[h * apart + k] - b[k]));
}
template <class T> ISODEPTH_INLINE T largest_distance(const T* a, const T* b, int64_t n) {
    T out[1];
    largest_distances(a, 0, b, n, out);
    return out[0];
}

// Gap between the support functions of two samples at each depth level, over the directions processed so far
// and their opposites. The maximum is stored with its first maximizing direction. For finite q, a sum for the
// mean of order q is stored too. Differences are divided by the current maximum before they are raised to the
// power q, so that the sum does not overflow or underflow.
template <class T> class LevelGaps {
  public:
    LevelGaps(int64_t levels, double q, int64_t directions)
        : levels_(levels), q_(q), count_(2.0 * double(directions)) {}
    static constexpr int64_t bytes = sizeof(T) + 12;  // scratch memory per depth level

    void start(int64_t levels) {
        std::fill_n(largest_.data(), levels, T(0));
        std::fill_n(codes_.data(), levels, 0);
        if (mean_) std::fill_n(sums_.data(), levels, 0.0);
    }

    // Update the gaps of the depth levels level..end, over which the support functions of both samples are
    // constant. `x` and `y` are the support functions for a block of `count` directions, which starts at
    // direction `first`.
    ISODEPTH_INLINE void add(int64_t level, int64_t end, const Range<T>& x, const Range<T>& y, int64_t first,
                             int64_t count) {
        const T gap = largest_distance(x.ends(), y.ends(), 2 * lanes<T>);
        if (mean_) return add_powers(level, end, gap, x, y, first, count);
        for (; level + width<T> <= end; level += width<T>)
            if (any<T>(broadcast<T>(gap) > load(&largest_[level])))
                for (int i = 0; i < width<T>; i++) raise(level + i, gap, x, y, first);
        for (; level < end; level++) raise(level, gap, x, y, first);
    }

    void write(int64_t levels, double* gaps, int64_t* codes) const {
        for (int64_t i = 0; i < levels; i++) {
            gaps[i] = largest_[i];
            if (mean_) gaps[i] *= std::pow(sums_[i] / count_, 1.0 / q_);
            codes[i] = codes_[i];
        }
    }

  private:
    int64_t levels_;
    double q_, count_;
    bool mean_ = !std::isinf(q_);
    Workspace<T> largest_{levels_};
    Workspace<int32_t> codes_{levels_};
    Workspace<double> sums_{mean_ ? levels_ : 0};

    void add_powers(int64_t level, int64_t end, T gap, const Range<T>& x, const Range<T>& y, int64_t first,
                    int64_t count) {
        if (gap == 0) return;
        double sum = 0.0;
        for (int64_t k = 0; k < count; k++)
            sum += power(std::abs(x.top[k] - y.top[k]) / double(gap), q_) +
                   power(std::abs(x.low[k] - y.low[k]) / double(gap), q_);
        for (; level < end; level++) {
            const double known = largest_[level];
            if (gap > known) sums_[level] = sum + sums_[level] * power(known / gap, q_);
            else sums_[level] += sum * power(gap / known, q_);
            raise(level, gap, x, y, first);
        }
    }

    ISODEPTH_INLINE void raise(int64_t level, T gap, const Range<T>& x, const Range<T>& y, int64_t first) {
        if (!(gap > largest_[level])) return;
        largest_[level] = gap;
        codes_[level] = first_code(gap, x, y, first);
    }

    // Return the code of the first direction of a block along which the support functions differ by `gap`.
    // The code of direction k is k, and the code of its opposite is -1 - k. Not inlined, because it is rarely
    // called.
    __attribute__((noinline)) static int32_t first_code(T gap, const Range<T>& x, const Range<T>& y,
                                                        int64_t first) {
        int64_t k = 0;
        while (k + 1 < lanes<T> && std::abs(x.top[k] - y.top[k]) != gap &&
               std::abs(x.low[k] - y.low[k]) != gap)
            k++;
        return int32_t(std::abs(x.top[k] - y.top[k]) == gap ? first + k : -1 - first - k);
    }
};

// Write the gap between the support functions of two samples at each depth level to `gaps`. Write its
// maximizing direction to `codes`: k for direction k, and -1 - k for the opposite of direction k.
template <class T> void level_gaps(const Prefixes<T> (&samples)[2], const Tiles<T>& directions, double q,
                                   Resources resources, double* gaps, int64_t* codes) {
    const Walk<T, 2> walk(samples, directions, resources, LevelGaps<T>::bytes);
    PerWorker<LevelGaps<T>> found(walk.workers);  // gaps of the levels of the current chunk of rows
    auto make = [&] { return LevelGaps<T>(walk.levels, q, directions.n); };
    walk.run([&](int64_t worker, int64_t tile, int64_t level, int64_t end, const Moves<T>* moves) {
        auto& own = found.of(worker, make);
        if (tile == 0) own.start(end - level);
        walk.for_each_run(moves, level, end, [&](int64_t from, int64_t to, auto& x, auto& y) {
            own.add(from - level, to - level, x, y, directions.start(tile), directions.size(tile));
        });
        if (tile + 1 == directions.count) own.write(end - level, gaps + level, codes + level);
    });
}

}  // namespace isodepth
