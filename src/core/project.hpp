// Projections of points on directions.
#pragma once

#include "parallel.hpp"

namespace isodepth {

// Products of one tile (d, lanes) with H rows of d values, summed over the columns in their order.
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
    // Write the products of each row to `out`, `apart` values after those of the previous row.
    ISODEPTH_INLINE void write(T* out, int64_t apart) const {
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) store(out + h * apart + j * width<T>, of[h][j]);
    }
};

// Write the projections of rows (n, d) on the directions of a tile to `out` (n, lanes), or with a stride of
// `apart` values. The same function projects a tile of rows on directions.
template <class T>
void project_rows(const T* tile, const T* rows, int64_t n, int64_t d, T* out, int64_t apart = lanes<T>) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) TileProducts<T, 4>(tile, rows + i * d, d).write(out + i * apart, apart);
    for (; i < n; i++) TileProducts<T, 1>(tile, rows + i * d, d).write(out + i * apart, apart);
}

// Location and scale of a sample. Depths do not change if the data are moved and scaled; rounding and
// overflow do.
//
// A column is moved only if no subtraction rounds: otherwise values that are small beside the center would
// become equal, and ranks would be lost. Columns that are far from zero beside their spread are moved,
// because all their values are within a factor of two of each other (Sterbenz). The scale is a power of two.
template <class T> class Frame {
    static constexpr int64_t most_probes = 7;

  public:
    std::vector<T> center;
    int exponent = 0;

    // The scale is the median distance of a few rows from the center. Values that are so far away that a
    // projection could overflow are clamped.
    explicit Frame(Rows<T> rows, int64_t n_threads = 1) : center(size_t(rows.d)) {
        find_center({rows}, n_threads);
        const T size = typical(rows.n, [&](int64_t i) { return distance(rows[i]); });
        if (std::isfinite(size)) std::frexp(size, &exponent);
        else exponent = std::numeric_limits<T>::max_exponent;
        set_scale();
    }

    // For ranks of rows, and of queries (which may be empty) among them: the order of the values of a column
    // is kept, and ties are neither made nor broken. The largest value becomes about 1, unless the smallest
    // would become subnormal. Subnormal values are rounded only beside values near the largest of the type.
    Frame(Rows<T> rows, Rows<T> queries, int64_t n_threads) : center(size_t(rows.d)) {
        using Limits = std::numeric_limits<T>;
        find_center({rows, queries}, n_threads);
        T largest = 0, smallest = Limits::max();
        const int64_t d = rows.d;
        std::vector<T> centers;  // of `width` rows
        for (int i = 0; i < width<T>; i++) centers.insert(centers.end(), center.begin(), center.end());
        std::mutex guard;
        for (const Rows<T>& some : {rows, queries})
            over_rows(some.n, d / 4 + 1, n_threads, [&](int64_t start, int64_t stop) {
                Vec<T> high = {}, low = broadcast(Limits::max()), most = low;
                auto add = [&](Vec<T> x, Vec<T> middle) {
                    const Vec<T> size = isodepth::distance<T>(x, middle);
                    high = maximum<T>(high, size);
                    low = minimum<T>(low, size > 0 ? size : most);
                };
                for (; start + width<T> <= stop; start += width<T>)
                    for (int64_t k = 0; k < d * width<T>; k += width<T>)
                        add(load(some[start] + k), load(&centers[size_t(k)]));
                for (; start < stop; start++)
                    for (int64_t k = 0; k < d; k++)
                        add(broadcast(some[start][k]), broadcast(centers[size_t(k)]));
                std::lock_guard<std::mutex> held(guard);
                for (int i = 0; i < width<T>; i++)
                    largest = std::max<T>(largest, high[i]), smallest = std::min<T>(smallest, low[i]);
            });
        if (largest > 0) {
            const int room = Limits::max_exponent - 4 - std::ilogb(double(rows.d));
            const int top = std::ilogb(largest) + 1, bottom = std::ilogb(smallest) + 1;
            exponent = std::max(top - room, std::min(top, bottom - Limits::min_exponent));
        }
        set_scale();
    }

    // A given frame.
    Frame(std::span<const T> middle, int exponent)
        : center(middle.begin(), middle.end()), exponent(exponent) {
        set_scale();
    }

    // Move and scale some values of a column.
    ISODEPTH_INLINE void move(T* values, int64_t count, int64_t column) const {
        const auto [scale, rest] = scales_[size_t(column)];
        const T middle = center[size_t(column)], limit = limit_;
        for (int64_t i = 0; i < count; i++)
            values[i] = std::clamp((values[i] - middle) * scale * rest, -limit, limit);
    }

    // Scale each column by its own power of two if one scale for all would lose digits of small columns.
    // Return the exponents (d,), or nothing if one scale is enough.
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
    std::vector<std::pair<T, T>> scales_;  // (d,) powers of two, each as a product
    T limit_;

    static int64_t probe_step(int64_t n) { return (n + most_probes - 1) / most_probes; }

    // The median of `size(i)` over a few of n rows; if it is 0, the first size that is not.
    template <class Size> static T typical(int64_t n, Size size) {
        T some[most_probes];
        int64_t count = 0;
        for (int64_t i = 0; i < n; i += probe_step(n)) some[count++] = size(i);
        std::nth_element(some, some + count / 2, some + count);
        T middle = some[count / 2];
        for (int64_t i = 0; middle == 0 && i < n; i++) middle = size(i);
        return middle;
    }

    T distance(const T* row) const {
        T largest = 0;
        for (size_t k = 0; k < center.size(); k++) largest = std::max(largest, std::fabs(row[k] - center[k]));
        return largest;
    }

    static bool is_zero(const std::vector<T>& center) {
        return std::all_of(center.begin(), center.end(), [](T x) { return x == 0; });
    }

    // Set to zero the centers of columns in which a subtraction rounds, in the rows start..stop with a step.
    static void drop_inexact(Rows<T> rows, int64_t start, int64_t stop, int64_t step,
                             std::vector<T>& center) {
        for (int64_t i = start; i < stop && !is_zero(center); i += step)
            for (int64_t k = 0; k < rows.d; k++) {
                const T x = rows[i][k], middle = center[size_t(k)], moved = x - middle;
                // The difference is exact if both numbers can be recovered from it.
                center[size_t(k)] = (moved + middle == x) & (x - moved == middle) ? middle : T(0);
            }
    }

    // The lower median of a few rows of the first sample in each column, or 0 if a subtraction would round.
    void find_center(std::initializer_list<Rows<T>> samples, int64_t n_threads) {
        const Rows<T> rows = *samples.begin();
        const int64_t step = probe_step(rows.n), count = (rows.n + step - 1) / step;
        T some[most_probes];
        for (int64_t k = 0; k < rows.d; k++) {
            for (int64_t i = 0; i < count; i++) some[i] = rows[i * step][k];
            std::nth_element(some, some + (count - 1) / 2, some + count);
            center[size_t(k)] = some[(count - 1) / 2];
        }
        // A few rows decide for most data.
        drop_inexact(rows, 0, rows.n, step, center);
        std::mutex guard;
        for (const Rows<T>& sample : samples) {
            if (is_zero(center)) return;
            const std::vector<T> known = center;
            over_rows(sample.n, 2 * sample.d, n_threads, [&](int64_t start, int64_t stop) {
                std::vector<T> own = known;
                drop_inexact(sample, start, stop, 1, own);
                std::lock_guard<std::mutex> held(guard);
                for (size_t k = 0; k < own.size(); k++)
                    if (own[k] == 0) center[k] = 0;
            });
        }
    }

    // As a product of two factors: the power of two itself may be out of range.
    static std::pair<T, T> power_of_two(int exponent) {
        return {std::ldexp(T(1), exponent / 2), std::ldexp(T(1), exponent - exponent / 2)};
    }

    void set_scale() {
        scales_.assign(center.size(), power_of_two(-exponent));
        limit_ = std::numeric_limits<T>::max() / T(8 * center.size());
    }
};

// Rows (n, d) laid out so that the same column of `lanes` rows lies side by side.
template <class T> class Tiles {
  public:
    int64_t count, n, d;  // tiles, rows, columns

    // With a frame the rows are moved and scaled.
    Tiles(Rows<T> rows, int64_t n_threads, const Frame<T>* frame = nullptr)
        : count(std::max<int64_t>(1, (rows.n + lanes<T> - 1) / lanes<T>)),
          n(rows.n),
          d(rows.d),
          values_(count * d * lanes<T>) {
        auto fill = [&](int64_t first, int64_t stop) {
            for (int64_t tile = first; tile < stop; tile++) {
                const T* row[lanes<T>];
                for (int lane = 0; lane < lanes<T>; lane++)
                    row[lane] = rows[std::min(start(tile) + lane, n - 1)];
                T* out = values_.data() + tile * d * lanes<T>;
                for (int64_t k = 0; k < d; k++, out += lanes<T>) {
                    T column[lanes<T>];
                    for (int lane = 0; lane < lanes<T>; lane++) column[lane] = row[lane][k];
                    if (frame) frame->move(column, lanes<T>, k);
                    std::copy_n(column, lanes<T>, out);
                }
            }
        };
        over_rows(count, 8 * lanes<T> * d, n_threads, fill, 256);
    }

    const T* tile(int64_t i) const { return values_.data() + i * d * lanes<T>; }
    // The row in the first lane, and the number of rows of the tile. Lanes beyond the last row repeat it.
    static int64_t start(int64_t i) { return i * lanes<T>; }
    int64_t size(int64_t i) const { return std::min<int64_t>(lanes<T>, n - start(i)); }

    // Write row i to every `apart`-th place of `out`.
    void read(int64_t i, T* out, int64_t apart) const {
        const T* at = row(i);
        for (int64_t k = 0; k < d; k++) out[k * apart] = at[k * lanes<T>];
    }
    // The sum of the absolute values of the products of row i with a direction (d,).
    T size_along(int64_t i, const T* direction) const {
        const T* at = row(i);
        T sum = 0;
        for (int64_t k = 0; k < d; k++) sum += std::fabs(direction[k] * at[k * lanes<T>]);
        return sum;
    }

    // Write to `out` (count, n) the projections of all rows on directions (count, d).
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
    // The first entry of row i; the others follow at a distance of `lanes`.
    const T* row(int64_t i) const { return tile(i / lanes<T>) + i % lanes<T>; }
    Workspace<T> values_;
};

}  // namespace isodepth
