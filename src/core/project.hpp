// Projections of points on directions.
#pragma once

#include <cmath>

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
};

// Rows (n, d) laid out so that the same column of `lanes` rows lies side by side.
template <class T> class Tiles {
  public:
    int64_t count, n, d;  // tiles, rows, columns

    Tiles(const T* rows, int64_t n, int64_t d, int64_t n_threads)
        : count(std::max<int64_t>(1, (n + lanes<T> - 1) / lanes<T>)),
          n(n),
          d(d),
          values_(count * d * lanes<T>) {
        const int64_t parts = (count + tiles_each - 1) / tiles_each;
        parallel_for(worker_count(n_threads, parts, 2 * n * d), parts, [&](int64_t, int64_t part) {
            const int64_t stop = std::min((part + 1) * tiles_each, count);
            for (int64_t tile = part * tiles_each; tile < stop; tile++)
                for (int64_t lane = 0; lane < lanes<T>; lane++) {
                    const T* row = rows + std::min(start(tile) + lane, n - 1) * d;
                    T* out = values_.data() + tile * d * lanes<T> + lane;
                    for (int64_t k = 0; k < d; k++) out[k * lanes<T>] = row[k];
                }
        });
    }

    const T* tile(int64_t i) const { return values_.data() + i * d * lanes<T>; }
    // The row in the first lane. The last tile begins earlier than a multiple of `lanes`, so that it is full;
    // with fewer rows than lanes the last row is repeated.
    int64_t start(int64_t i) const {
        return std::max<int64_t>(0, std::min<int64_t>(i * lanes<T>, n - lanes<T>));
    }

    // Write to `out` (count, n) the projections of all rows on directions (count, d).
    void project(const T* directions, int64_t n_directions, T* out) const {
        if (n < lanes<T>) {
            T padded[lanes<T>];
            for (int64_t k = 0; k < n_directions; k++) {
                const TileProducts<T, 1> found(tile(0), directions + k * d, d);
                for (int j = 0; j < vectors; j++) store(padded + j * width<T>, found.of[0][j]);
                std::copy_n(padded, n, out + k * n);
            }
            return;
        }
        for (int64_t i = 0; i < count; i++) {
            T* at = out + start(i);
            int64_t k = 0;
            for (; k + 4 <= n_directions; k += 4, at += 4 * n) write<4>(i, directions + k * d, at);
            for (; k < n_directions; k++, at += n) write<1>(i, directions + k * d, at);
        }
    }

  private:
    static constexpr int64_t tiles_each = 256;
    Workspace<T> values_;

    template <int H> ISODEPTH_INLINE void write(int64_t i, const T* directions, T* at) const {
        const TileProducts<T, H> found(tile(i), directions, d);
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) store(at + h * n + j * width<T>, found.of[h][j]);
    }
};

}  // namespace isodepth
