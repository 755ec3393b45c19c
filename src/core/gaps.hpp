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

    // Start without directions at the depth levels of another stage, unless this has been done.
    void start(int64_t stage) {
        if (stage_ == stage) return;
        stage_ = stage;
        std::fill_n(largest_.data(), levels_, T(0));
        std::fill_n(codes_.data(), levels_, 0);
        if (mean_) std::fill_n(sums_.data(), levels_, 0.0);
    }
    bool is_at(int64_t stage) const { return stage_ == stage; }

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

    // Include the directions of `other` at the depth levels level..end.
    void merge(int64_t level, int64_t end, const LevelGaps& other) {
        for (; level < end; level++) {
            const T known = largest_[level], gap = other.largest_[level];
            if (mean_) add_sum(level, gap, other.sums_[level]);
            if (gap < known || (gap == known && place(codes_[level]) <= place(other.codes_[level]))) continue;
            largest_[level] = gap;
            codes_[level] = other.codes_[level];
        }
    }

    void write(int64_t level, int64_t end, double* gaps, int64_t* codes) const {
        for (; level < end; level++) {
            gaps[level] = largest_[level];
            if (mean_) gaps[level] *= std::pow(sums_[level] / count_, 1.0 / q_);
            codes[level] = codes_[level];
        }
    }

  private:
    int64_t levels_, stage_ = -1;
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
            add_sum(level, gap, sum);
            raise(level, gap, x, y, first);
        }
    }

    // Add a sum of powers of differences, which were divided by their maximum `gap`.
    void add_sum(int64_t level, double gap, double sum) {
        const double known = largest_[level];
        if (gap > known) sums_[level] = sum + sums_[level] * power(known / gap, q_);
        else if (gap > 0) sums_[level] += sum * power(gap / known, q_);
    }

    // Return the place of a coded direction in the order of all directions, each followed by its opposite.
    static int64_t place(int64_t code) { return code >= 0 ? 2 * code : -2 * code - 1; }

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
// maximizing direction to `codes`: k for direction k, and -1 - k for the opposite of direction k. `worth` is
// that of `worker_count`.
template <class T> void level_gaps(const Prefixes<T> (&samples)[2], const Tiles<T>& directions, double q,
                                   Resources resources, double* gaps, int64_t* codes,
                                   int64_t worth = worth_a_helper) {
    // A maximum does not depend on the order of the directions, so each thread has its own maxima. Sums of
    // powers depend on the order. So each of a fixed number of blocks of directions has its own sums, which
    // are added in the order of the blocks.
    constexpr int64_t blocks_of_sums = 32;
    const bool mean = !std::isinf(q);
    const Walk<T, 2> walk(samples, directions, resources, mean ? blocks_of_sums : directions.count,
                          LevelGaps<T>::bytes, worth);
    PerWorker<LevelGaps<T>> found(mean ? walk.blocks : walk.workers);  // gaps of the levels of one stage
    auto make = [&] { return LevelGaps<T>(walk.levels, q, directions.n); };
    int64_t first = 0;  // first depth level of the stage
    auto note = [&](int64_t worker, int64_t block, int64_t tile, int64_t level, int64_t end,
                    const Moves<T>* moves) {
        auto& own = found.of(mean ? block : worker, make);
        own.start(first);
        walk.for_each_run(moves, level, end, [&](int64_t from, int64_t to, auto& x, auto& y) {
            own.add(from - first, to - first, x, y, directions.start(tile), directions.size(tile));
        });
    };
    walk.run(note, [&](int64_t level, int64_t end) {
        std::vector<LevelGaps<T>*> parts = found.made();
        std::erase_if(parts, [&](LevelGaps<T>* part) { return !part->is_at(first); });
        const int64_t operations = (mean ? 16 : 1) * int64_t(parts.size());
        over_rows(
            end - level, operations, resources.n_threads,
            [&](int64_t start, int64_t stop) {
                for (size_t i = 1; i < parts.size(); i++) parts[0]->merge(start, stop, *parts[i]);
                parts[0]->write(start, stop, gaps + level, codes + level);
            },
            256);
        first = end;
    });
}

}  // namespace isodepth
