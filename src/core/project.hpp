// Projections of points on directions.
#pragma once

#include "parallel.hpp"

namespace isodepth {

// Dot products of H rows (d,) with the vectors of a tile, a matrix (d, lanes) with one vector per column. The
// terms are added in a fixed order, so that rounding is reproducible.
template <class T, int H> struct TileProducts {
    Vec<T> of[H][vectors];

    ISODEPTH_INLINE TileProducts(const T* tile, const T* rows, int64_t d) {
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) of[h][j] = Vec<T>{};
        for (int64_t k = 0; k < d; k++) {
            Vec<T> column[vectors];
            for (int j = 0; j < vectors; j++) column[j] = load(tile + k * lanes<T> + j * width<T>);
            for (int h = 0; h < H; h++) {
                const Vec<T> number = broadcast<T>(rows[h * d + k]);
                for (int j = 0; j < vectors; j++) of[h][j] = multiply_add<T>(number, column[j], of[h][j]);
            }
        }
    }
    ISODEPTH_INLINE void write(T* out, int64_t apart) const {
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) store(out + h * apart + j * width<T>, of[h][j]);
    }
};

// Write the projections of n rows on the directions of a tile to `out` (n, lanes). A tile is a matrix (d,
// lanes) with one direction per column. The rows of `out` start `apart` values apart. The roles may be
// exchanged: the tile may contain points, and `rows` directions.
template <class T>
void project_rows(const T* tile, const T* rows, int64_t n, int64_t d, T* out, int64_t apart = lanes<T>) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) TileProducts<T, 4>(tile, rows + i * d, d).write(out + i * apart, apart);
    for (; i < n; i++) TileProducts<T, 1>(tile, rows + i * d, d).write(out + i * apart, apart);
}

// Shift and scale of a sample, applied before projections. They do not change depths, but reduce rounding
// errors and prevent overflow.
//
// A column is shifted only if all subtractions are exact. Otherwise different values that are small compared
// with the center could become equal, and their ranks would be lost. If a column is far from zero compared
// with its spread, its values are within a factor of two of each other, so that subtractions are exact
// (Sterbenz lemma). The scale is a power of two.
template <class T> class Frame {
    static constexpr int64_t most_probes = 7;

  public:
    std::vector<T> center;
    int exponent = 0;

    // Shift and scale for projections. The scale is a power of two near the median distance of a few rows
    // from the center. Values that are so large that a projection could overflow are clamped.
    explicit Frame(Rows<T> rows, int64_t n_threads = 1) : center(exact_center({rows}, n_threads)) {
        const T size = typical(rows.n, [&](int64_t i) {
            T largest = 0;
            for (size_t k = 0; k < center.size(); k++)
                largest = std::max(largest, std::fabs(rows[i][k] - center[k]));
            return largest;
        });
        if (std::isfinite(size)) std::frexp(size, &exponent);
        else exponent = std::numeric_limits<T>::max_exponent;
        set_scale();
    }

    // Shift and scale for the ranks of rows, and of queries (which may be empty) among the rows. The order
    // and the ties of the values of each column are kept. The largest absolute value is scaled to about 1,
    // unless the smallest would become subnormal. Subnormal values are rounded only if there are also values
    // near the largest float.
    Frame(Rows<T> rows, Rows<T> queries, int64_t n_threads)
        : center(exact_center({rows, queries}, n_threads)) {
        using Limits = std::numeric_limits<T>;
        T largest = 0, smallest = Limits::max();
        std::mutex guard;
        for (const Rows<T>& some : {rows, queries})
            over_rows(some.n, rows.d, n_threads, [&](int64_t start, int64_t stop) {
                T high = 0, low = Limits::max();
                for (int64_t i = start; i < stop; i++)
                    for (int64_t k = 0; k < some.d; k++) {
                        const T size = std::fabs(some[i][k] - center[size_t(k)]);
                        high = std::max(high, size);
                        low = std::min(low, size > 0 ? size : Limits::max());
                    }
                std::lock_guard<std::mutex> held(guard);
                largest = std::max(largest, high), smallest = std::min(smallest, low);
            });
        if (largest > 0) {
            const int room = Limits::max_exponent - 4 - std::ilogb(double(rows.d));
            const int top = std::ilogb(largest) + 1, bottom = std::ilogb(smallest) + 1;
            exponent = std::max(top - room, std::min(top, bottom - Limits::min_exponent));
        }
        set_scale();
    }

    Frame(std::span<const T> middle, int exponent)
        : center(middle.begin(), middle.end()), exponent(exponent) {
        set_scale();
    }

    // Return the center of each column: the lower median of a few rows of the first sample, or 0 if
    // subtracting it would round in any row of any sample.
    static std::vector<T> exact_center(std::initializer_list<Rows<T>> samples, int64_t n_threads) {
        const Rows<T> rows = *samples.begin();
        std::vector<T> center(size_t(rows.d));
        const int64_t step = probe_step(rows.n), count = (rows.n + step - 1) / step;
        T some[most_probes];
        for (int64_t k = 0; k < rows.d; k++) {
            for (int64_t i = 0; i < count; i++) some[i] = rows[i * step][k];
            std::nth_element(some, some + (count - 1) / 2, some + count);
            center[size_t(k)] = some[(count - 1) / 2];
        }
        // Check a few rows first: for most data they show whether a subtraction rounds.
        drop_inexact(rows, 0, rows.n, step, center);
        std::mutex guard;
        for (const Rows<T>& sample : samples) {
            if (is_zero(center)) break;
            const std::vector<T> known = center;
            over_rows(sample.n, 2 * sample.d, n_threads, [&](int64_t start, int64_t stop) {
                std::vector<T> own = known;
                drop_inexact(sample, start, stop, 1, own);
                std::lock_guard<std::mutex> held(guard);
                for (size_t k = 0; k < own.size(); k++)
                    if (own[k] == 0) center[k] = 0;
            });
        }
        return center;
    }

    static bool is_zero(const std::vector<T>& center) {
        return std::all_of(center.begin(), center.end(), [](T x) { return x == 0; });
    }

    // Shift and scale `count` values of a column in place. Clamp them, so that projections do not overflow.
    ISODEPTH_INLINE void move(T* values, int64_t count, int64_t column) const {
        const auto [scale, rest] = scales_[size_t(column)];
        const T middle = center[size_t(column)], limit = limit_;
        for (int64_t i = 0; i < count; i++)
            values[i] = std::clamp((values[i] - middle) * scale * rest, -limit, limit);
    }

    // Scale each column by its own power of two if columns of small values would lose digits with a common
    // scale. Return the exponents (d,), or an empty vector if the common scale is kept.
    std::vector<int> scale_columns(Rows<T> rows) {
        constexpr int most_apart = std::numeric_limits<T>::max_exponent / 2;
        std::vector<int> exponents(center.size(), exponent);
        for (size_t k = 0; k < center.size(); k++) {
            const T size = typical(rows.n, [&](int64_t i) { return std::fabs(rows[i][k] - center[k]); });
            if (size > 0 && std::isfinite(size)) exponents[k] = std::ilogb(size) + 1;
        }
        const auto [low, high] = std::minmax_element(exponents.begin(), exponents.end());
        if (*high - *low <= most_apart) return {};
        for (size_t k = 0; k < center.size(); k++) scales_[k] = power_of_two(-exponents[k]);
        return exponents;
    }

  private:
    std::vector<std::pair<T, T>> scales_;  // (d,) scale of each column, as a product of two powers of two
    T limit_ = std::numeric_limits<T>::max() / T(8 * center.size());

    static int64_t probe_step(int64_t n) { return (n + most_probes - 1) / most_probes; }

    // Return the median of `size(i)` over a few of n rows. If the median is 0, return the first `size(i)`
    // that is not 0.
    static T typical(int64_t n, auto size) {
        T some[most_probes] = {};
        int64_t count = 0;
        for (int64_t i = 0; i < n; i += probe_step(n)) some[count++] = size(i);
        std::nth_element(some, some + count / 2, some + count);
        T middle = some[count / 2];
        for (int64_t i = 0; middle == 0 && i < n; i++) middle = size(i);
        return middle;
    }

    // For each column, set the center to 0 if subtracting the center rounds in any of the rows start, start +
    // step, ... below stop.
    static void drop_inexact(Rows<T> rows, int64_t start, int64_t stop, int64_t step,
                             std::vector<T>& center) {
        for (int64_t i = start; i < stop && !is_zero(center); i += step)
            for (int64_t k = 0; k < rows.d; k++) {
                const T x = rows[i][k], middle = center[size_t(k)], moved = x - middle;
                // The difference x - middle is exact if both x and middle can be recovered from it.
                center[size_t(k)] = ((moved + middle == x) & (x - moved == middle)) ? middle : T(0);
            }
    }

    // Return a power of two as a product of two factors, because the power itself may overflow or underflow.
    static std::pair<T, T> power_of_two(int exponent) {
        return {std::ldexp(T(1), exponent / 2), std::ldexp(T(1), exponent - exponent / 2)};
    }

    void set_scale() { scales_.assign(center.size(), power_of_two(-exponent)); }
};

// Rows (n, d) in tiles of `lanes` rows. The values of one column of a tile are contiguous, as SIMD needs.
template <class T> class Tiles {
  public:
    // Numbers of rows, columns and tiles.
    int64_t n, d, count = std::max<int64_t>(1, (n + lanes<T> - 1) / lanes<T>);

    Tiles(Rows<T> rows, int64_t n_threads, const Frame<T>* frame = nullptr) : n(rows.n), d(rows.d) {
        auto fill = [&](int64_t first, int64_t stop) {
            for (int64_t tile = first; tile < stop; tile++) {
                const T* row[lanes<T>];
                for (int lane = 0; lane < lanes<T>; lane++)
                    row[lane] = rows[std::min(start(tile) + lane, n - 1)];
                T* out = values_.data() + tile * d * lanes<T>;
                for (int64_t k = 0; k < d; k++, out += lanes<T>) {
                    for (int lane = 0; lane < lanes<T>; lane++) out[lane] = row[lane][k];
                    if (frame) frame->move(out, lanes<T>, k);
                }
            }
        };
        over_rows(count, 8 * lanes<T> * d, n_threads, fill, 256);
    }

    const T* tile(int64_t i) const { return values_.data() + i * d * lanes<T>; }
    // Unused lanes of the last tile repeat the last row, and `size` does not count them.
    static int64_t start(int64_t i) { return i * lanes<T>; }
    int64_t size(int64_t i) const { return std::min<int64_t>(lanes<T>, n - start(i)); }

    T at(int64_t i, int64_t k) const { return tile(i / lanes<T>)[k * lanes<T> + i % lanes<T>]; }
    // Return the sum over columns k of |row[k] * direction[k]| for row i. The rounding error of a projection
    // is at most proportional to this sum.
    T size_along(int64_t i, const T* direction) const {
        T sum = 0;
        for (int64_t k = 0; k < d; k++) sum += std::fabs(direction[k] * at(i, k));
        return sum;
    }

    // Write to `out` (n_directions, n) the projections of all rows on `directions` (n_directions, d).
    void project(const T* directions, int64_t n_directions, T* out) const {
        for (int64_t i = 0; i < n / lanes<T>; i++)
            project_rows(tile(i), directions, n_directions, d, out + start(i), n);
        const int64_t rest = n % lanes<T>;
        T padded[lanes<T>];
        for (int64_t k = 0; rest && k < n_directions; k++) {
            TileProducts<T, 1>(tile(count - 1), directions + k * d, d).write(padded, 0);
            std::copy_n(padded, rest, out + (k + 1) * n - rest);
        }
    }

  private:
    Workspace<T> values_{count * d * lanes<T>};
};

}  // namespace isodepth
