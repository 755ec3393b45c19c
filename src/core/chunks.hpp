// Passes over chunks of a sample that is never in memory as a whole: what lies in brackets and in cells along
// each direction, and depths from medians, MADs and ranks that are known.
#pragma once

#include <bit>

#include "select.hpp"
#include "spread.hpp"

namespace isodepth {

// Rows (n, d), moved and scaled by a frame, and the directions (K, d) along which they are looked at.
template <class T> class ChunkPass {
  public:
    using Weights = std::optional<Vector<int64_t>>;
    const int64_t n, d, count;
    const int64_t* const weights;  // (n,) or null

    ChunkPass(Matrix<T> points, Vector<T> center, int exponent, Matrix<T> directions, Weights weights,
              int64_t n_threads)
        : n(points.shape(0)),
          d(points.shape(1)),
          count(directions.shape(0)),
          weights(weights ? weights->data() : nullptr),
          points_(points),
          directions_(directions),
          weights_(weights),
          frame_(center.data(), int64_t(center.shape(0)), exponent),
          n_threads_(n_threads) {
        if (n == 0 || int64_t(center.shape(0)) != d || int64_t(directions.shape(1)) != d ||
            (weights && int64_t(weights->shape(0)) != n))
            throw nb::value_error("points (n, d), center (d,), directions (K, d) and weights (n,) must fit");
    }

    // Calls `work(rows, along, k)` with the projections (n,), which it may change, on each direction k.
    template <class Work> void over_directions(Work work) const {
        const Tiles<T> rows(points_.data(), n, d, n_threads_, &frame_);
        const int64_t parts = (count + each - 1) / each;
        const int64_t workers = worker_count(n_threads_, parts, 4 * n * count);
        PerWorker<Workspace<T>> spaces(workers);
        parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
            T* along = spaces.of(worker, [&] { return std::make_unique<Workspace<T>>(each * n); }).data();
            const int64_t first = part * each, some = std::min(each, count - first);
            rows.project(directions_.data() + first * d, some, along);
            for (int64_t k = 0; k < some; k++) work(rows, along + k * n, first + k);
        });
    }

    // Calls `work(rows, along, k, start)` for blocks of rows from `start` on, one direction after the other.
    template <class Work> void over_row_blocks(Work work) const {
        over_rows(n, 4 * count, n_threads_, [&](int64_t start, int64_t stop) {
            const Tiles<T> rows(points_.data() + start * d, stop - start, d, 1, &frame_);
            const Workspace<T> along(each * rows.n);
            for (int64_t first = 0; first < count; first += each) {
                const int64_t some = std::min(each, count - first);
                rows.project(directions_.data() + first * d, some, along.data());
                for (int64_t k = 0; k < some; k++) work(rows, along.data() + k * rows.n, first + k, start);
            }
        });
    }

    // Adds the weights of all rows to counts (K, cells); `change` may change the projections before.
    template <class Cells, class Change>
    void count_cells(const Cells& cells, OutMatrix<int64_t>& counts, Change change) const {
        over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
            change(rows, along, k);
            int64_t* own = counts.data() + k * int64_t(counts.shape(1));
            for (int64_t i = 0; i < n; i++) own[cells(k, along[i])] += weights ? weights[i] : 1;
        });
    }

  private:
    static constexpr int64_t each = 4;  // directions whose projections stay in the cache
    Matrix<T> points_, directions_;
    Weights weights_;
    Frame<T> frame_;
    int64_t n_threads_;
};

// Projections x, or |x - center| where there are centers; what is rounding becomes -1.
template <class T> struct Deviations {
    std::optional<Vector<T>> centers;  // (count,)
    std::optional<Rounding<T>> rounding;

    // Without a typical size nothing is rounding; with a negative one, only zero is.
    Deviations(std::optional<Vector<T>> centers, std::optional<double> typical, int64_t d)
        : centers(centers) {
        if (typical) rounding.emplace(d, T(*typical));
        if (typical && *typical < 0) rounding->share = 0;
    }
    void operator()(const Tiles<T>& rows, T* along, int64_t k) const {
        if (!centers) return;
        const T center = centers->data()[k];
        for (int64_t i = 0; i < rows.n; i++) along[i] = std::fabs(along[i] - center);
        for (int64_t i = 0; rounding && i < rows.n; i++)
            if (rounding->covers(along[i], rows.size(i))) along[i] = T(-1);
    }
};

// What a chunk has in a bracket [low, high): the weight below and inside, and the numbers with their weights
// unless there are more than wanted.
template <class T> struct Inside {
    int64_t below = 0, weight = 0;
    bool complete = true;
    std::vector<T> values;
    std::vector<int64_t> weights;

    void find(const Numbers<T>& of, T low, T high, int64_t most) {
        const Below found = count_below<T, false>(of, low, high);
        below = found.low, weight = found.high - found.low;
        if (weight == 0) return;
        if (most == 0 || (!of.weights && weight > most)) return void(complete = false);
        SelectRoom<T> room(of.n, of.weights);
        const int64_t kept = copy_between<T, false>(of, low, high, room.values.data(), room.weights.data());
        complete = kept <= most;
        if (!complete) return;
        values.assign(room.values.data(), room.values.data() + kept);
        if (of.weights) weights.assign(room.weights.data(), room.weights.data() + kept);
    }
};

// Integers in the order of the numbers: neighbors have neighboring keys.
template <class T> uint64_t ordered_key(T x) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(x + T(0));  // -0.0 is 0.0
    return bits & sign ? Bits(~bits) : Bits(bits | sign);
}

// Cells of equal numbers of keys from `low` on, 1, 2, ..., `cells`; 0 is below them, cells + 1 above.
struct KeyCells {
    const uint64_t* low;   // (count,)
    const int64_t* shift;  // (count,): a cell has 2**shift keys
    int64_t cells;
    template <class T> int64_t operator()(int64_t k, T x) const {
        const uint64_t key = ordered_key(x);
        if (key < low[k]) return 0;
        return 1 + int64_t(std::min<uint64_t>((key - low[k]) >> shift[k], uint64_t(cells)));
    }
};

// Cells around the middle of a direction, 2**bits of them to one unit away from it and as many in every
// octave of 1 + distance beyond: about equally fine in rank up to the tails. The last are open.
template <class T> struct RankCells {
    static constexpr int octaves = 8;
    const T *middles, *scales;  // (count,)
    int bits;
    int64_t operator()(int64_t k, T x) const {
        const T t = (x - middles[k]) * scales[k];
        const float y = float(std::min(T(1) + std::fabs(t), T(255)));
        const int32_t place = (std::bit_cast<int32_t>(y) - std::bit_cast<int32_t>(1.0f)) >> (23 - bits);
        const int32_t half = octaves << bits;
        return t < 0 ? half - 1 - place : half + place;
    }
};

}  // namespace isodepth
