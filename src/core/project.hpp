// Projections of points on directions.
#pragma once

#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace isodepth {

// Products of one tile (d, lanes) with H rows of d numbers, summed over the columns in their order.
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
    // Write those of each row to `out`, `apart` numbers after those of the row before.
    ISODEPTH_INLINE void write(T* out, int64_t apart) const {
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) store(out + h * apart + j * width<T>, of[h][j]);
    }
};

// Write the projections of rows (n, d) on the directions of a tile to `out` (n, lanes), or to places `apart`
// numbers apart. With rows and directions exchanged it is the same.
template <class T>
void project_rows(const T* tile, const T* rows, int64_t n, int64_t d, T* out, int64_t apart = lanes<T>) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) TileProducts<T, 4>(tile, rows + i * d, d).write(out + i * apart, apart);
    for (; i < n; i++) TileProducts<T, 1>(tile, rows + i * d, d).write(out + i * apart, apart);
}

// Where a sample lies and how large it is, roughly: the lower median of each column of some rows, evenly
// spaced, and the power of two next to their median distance from it. Depths do not change when the data
// are moved and scaled; rounding and overflow do.
template <class T> class Frame {
  public:
    std::vector<T> center;
    int exponent;

    Frame(const T* rows, int64_t n, int64_t d) : center(size_t(d)) {
        constexpr int64_t most = 7;  // a rough idea is enough
        const int64_t step = (n + most - 1) / most, count = (n + step - 1) / step;
        T some[most];
        for (int64_t k = 0; k < d; k++) {
            for (int64_t i = 0; i < count; i++) some[i] = rows[i * step * d + k];
            std::nth_element(some, some + (count - 1) / 2, some + count);
            center[size_t(k)] = some[(count - 1) / 2];
        }
        auto distance = [&](int64_t i) {
            T largest = 0;
            for (int64_t k = 0; k < d; k++)
                largest = std::max(largest, std::fabs(rows[i * d + k] - center[size_t(k)]));
            return largest;
        };
        for (int64_t i = 0; i < count; i++) some[i] = distance(i * step);
        std::nth_element(some, some + count / 2, some + count);
        T size = some[count / 2];
        if (size == 0)
            for (int64_t i = 0; i < n; i++) size = std::max(size, distance(i));
        std::frexp(size, &exponent);
        set_scale();
    }
    // A frame that is known already.
    Frame(const T* middle, int64_t d, int exponent) : center(middle, middle + d), exponent(exponent) {
        set_scale();
    }

    // Not so far away that a projection could overflow.
    T moved(T x, int64_t column) const {
        return std::clamp((x - center[size_t(column)]) * scale_ * rest_, -limit_, limit_);
    }

  private:
    T scale_, rest_, limit_;

    // In two steps: the power of two itself may be out of range.
    void set_scale() {
        scale_ = std::ldexp(T(1), -exponent / 2);
        rest_ = std::ldexp(T(1), -exponent - (-exponent / 2));
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
            for (int64_t tile = first; tile < stop; tile++)
                for (int64_t lane = 0; lane < lanes<T>; lane++) {
                    const T* row = rows[std::min(start(tile) + lane, n - 1)];
                    T* out = values_.data() + tile * d * lanes<T> + lane;
                    for (int64_t k = 0; k < d; k++)
                        out[k * lanes<T>] = frame ? frame->moved(row[k], k) : row[k];
                }
        };
        over_rows(count, 8 * lanes<T> * d, n_threads, fill, 256);
    }

    const T* tile(int64_t i) const { return values_.data() + i * d * lanes<T>; }
    // The row in the first lane, and how many follow with it; beyond the last row it is repeated.
    static int64_t start(int64_t i) { return i * lanes<T>; }
    int64_t size(int64_t i) const { return std::min<int64_t>(lanes<T>, n - start(i)); }

    // Write row i to every `apart`-th place of `out`.
    void read(int64_t i, T* out, int64_t apart) const {
        const T* at = row(i);
        for (int64_t k = 0; k < d; k++) out[k * apart] = at[k * lanes<T>];
    }
    // The largest absolute value of row i.
    T largest(int64_t i) const {
        const T* at = row(i);
        T largest = 0;
        for (int64_t k = 0; k < d; k++) largest = std::max(largest, std::fabs(at[k * lanes<T>]));
        return largest;
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
