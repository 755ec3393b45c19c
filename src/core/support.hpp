// Support functions of nested regions. The region of a depth level is the convex hull of the first rows of a
// sample, which is sorted by decreasing depth.
//
// Directions are processed in tiles, groups that fill SIMD vectors. Few rows extend farther than all deeper
// rows along some direction of a tile. Only these rows change the support functions. So these rows are found
// first, together with the support functions before each of them.
#pragma once

#include <array>

#include "project.hpp"

namespace isodepth {

// Maximum and minimum projection of a set of rows on each direction of a tile, a block of directions that
// fills SIMD vectors.
template <class T> struct alignas(tile_bytes) Range {
    T top[lanes<T>], low[lanes<T>];

    // Return both arrays as one: `low` follows `top` in memory.
    const T* ends() const { return reinterpret_cast<const T*>(this); }
    static Range nothing() {
        Range range;
        std::fill_n(range.top, lanes<T>, -infinity<T>);
        std::fill_n(range.low, lanes<T>, infinity<T>);
        return range;
    }
};

// A sample `rows` (n, d), deepest row first. The region of depth level l is the convex hull of the first
// sizes[l] rows. `sizes` (levels,) does not decrease.
template <class T> struct Prefixes {
    const T* rows;
    const int64_t* sizes;
    int64_t levels, d;

    int64_t last() const { return sizes[levels - 1]; }
};

// Rows of a chunk (consecutive rows of a sample) that widen the range of projections on a block of
// directions. For each recorded row, the range of all earlier rows is stored. Some of the first 64 rows of
// the sample are recorded although they do not widen the range.
template <class T> class Moves {
  public:
    explicit Moves(int64_t rows) : ranges_(rows + 2), rows_(rows + 2) {}

    // Record the rows among start..stop that have a projection outside of the range of all earlier rows. On
    // entry, `range` is the range of the rows before `start`. On return, it includes the rows before `stop`.
    void follow(const T* tile, const T* rows, int64_t d, int64_t start, int64_t stop, Range<T>& range) {
        ranges_[0] = range;
        count_ = 0;
        int64_t row = start;
        for (; row + 4 <= stop; row += 4) widen<4>(tile, rows, d, row);
        for (; row < stop; row++) widen<1>(tile, rows, d, row);
        rows_[count_] = stop;
        range = ranges_[count_];
    }

    // Return the index of the i-th recorded row. After the last recorded row, return the end of the chunk.
    int64_t row(int64_t i) const { return rows_[i]; }
    // Return the range of projections of all rows before the i-th recorded row.
    const Range<T>& before(int64_t i) const { return ranges_[i]; }

  private:
    Workspace<Range<T>> ranges_;
    Workspace<int64_t> rows_;
    int64_t count_ = 0;

    template <int H> ISODEPTH_INLINE void widen(const T* tile, const T* rows, int64_t d, int64_t row) {
        const TileProducts<T, H> found(tile, rows + row * d, d);
        const Range<T>& range = ranges_[count_];
        Mask<T> wider = {};
        for (int j = 0; j < vectors; j++) {
            Vec<T> highest = found.of[0][j], lowest = highest;
            for (int h = 1; h < H; h++) {
                highest = maximum<T>(highest, found.of[h][j]);
                lowest = minimum<T>(lowest, found.of[h][j]);
            }
            wider |= (highest > load(range.top + j * width<T>)) | (load(range.low + j * width<T>) > lowest);
        }
        if (!any<T>(wider)) return;
        T products[H * lanes<T>];
        found.write(products, lanes<T>);
        note<H>(products, row);
    }

    // Record those of H rows that widen the range. `products` are their projections. Not inlined, so that the
    // calling loop keeps its values in registers.
    template <int H> __attribute__((noinline)) void note(const T* products, int64_t row) {
        int64_t count = count_;
        Vec<T> low[vectors], top[vectors];
        for (int j = 0; j < vectors; j++) {
            low[j] = load(ranges_[count].low + j * width<T>);
            top[j] = load(ranges_[count].top + j * width<T>);
        }
        for (int h = 0; h < H; h++) {
            Range<T>& next = ranges_[count + 1];
            Mask<T> moved = {};
            for (int j = 0; j < vectors; j++) {
                const Vec<T> x = load(products + h * lanes<T> + j * width<T>);
                moved |= (x > top[j]) | (low[j] > x);
                low[j] = minimum<T>(x, low[j]);
                top[j] = maximum<T>(x, top[j]);
                store(next.low + j * width<T>, low[j]);
                store(next.top + j * width<T>, top[j]);
            }
            rows_[count] = row + h;
            // Record all of the first rows without a test, because nearly all of them widen the range.
            if (row < 64) count++;
            else count += any<T>(moved);
        }
        count_ = count;
    }
};

// End of a chunk of rows: a row index of each sample, and the first depth level whose region is not complete.
struct ChunkEnd {
    int64_t row[2], level;
};

// Traversal of one or two samples in chunks of consecutive rows. Threads take blocks of directions. Several
// chunks form a stage: its rows stay in the cache while all directions are processed.
template <class T, int Samples> class Walk {
  public:
    const Prefixes<T> (&samples)[Samples];
    const Tiles<T>& directions;
    // Number of blocks of directions, of threads, and maximum number of depth levels that a stage completes.
    int64_t blocks, workers, levels = 0;

    // A block has at least one tile of directions, and there are at most `most_blocks` blocks. `level_bytes`
    // is the scratch memory of a thread per depth level of a stage, and `worth` that of `worker_count`.
    Walk(const Prefixes<T> (&samples)[Samples], const Tiles<T>& directions, Resources resources,
         int64_t most_blocks, int64_t level_bytes = 0, int64_t worth = worth_a_helper)
        : samples(samples), directions(directions), blocks(std::min(directions.count, most_blocks)) {
        int64_t rows = 0, longest = 0;
        for (const auto& sample : samples) {
            rows += sample.last();
            longest = std::max(longest, sample.last());
        }
        workers = worker_count(resources.n_threads, blocks, rows * directions.n, worth);
        cut();
        // Several threads need larger stages, because they wait for each other at the end of a stage.
        group(workers > 1 ? 4 : 1);
        rows_ = std::min(rows_, longest);
        const int64_t bytes = Samples * (rows_ + 2) * (sizeof(Range<T>) + 8) + levels * level_bytes;
        workers = workers_within(workers, double(bytes), resources.memory_mb);
    }

    // Process the stages one after the other. Call `note(worker, block, tile, level, end, moves)` for each
    // chunk of rows and each tile of directions. The chunk completes the regions of the depth levels
    // level..end. `moves` has the recorded rows of each sample. After each stage, call `finish(level, end)`
    // with the depth levels that it completes.
    void run(auto note, auto finish) const {
        std::vector<Range<T>> ranges(size_t(Samples * directions.count), Range<T>::nothing());
        PerWorker<std::array<Moves<T>, 2>> states(workers);
        auto make = [&] { return std::array{Moves<T>(rows_), Moves<T>(rows_)}; };
        for (size_t stage = 0; stage + 1 < stages_.size(); stage++) {
            parallel_checked(workers, blocks, [&](int64_t worker, int64_t block, auto& check) {
                auto& moves = states.of(worker, make);
                const int64_t first = block * directions.count / blocks,
                              last = (block + 1) * directions.count / blocks;
                for (size_t chunk = stages_[stage]; chunk < stages_[stage + 1]; chunk++)
                    for (int64_t tile = first; tile < last; tile++, check()) {
                        const ChunkEnd &from = ends_[chunk], &to = ends_[chunk + 1];
                        for (int i = 0; i < Samples; i++)
                            moves[i].follow(directions.tile(tile), samples[i].rows, samples[i].d, from.row[i],
                                            to.row[i], ranges[size_t(Samples * tile + i)]);
                        note(worker, block, tile, from.level, to.level, moves.data());
                    }
            });
            finish(ends_[stages_[stage]].level, ends_[stages_[stage + 1]].level);
        }
    }

    // Divide the depth levels level..stop into runs over which the ranges of projections of all samples are
    // constant. Call `note(level, end, x, y)` for each run level..end. If there are two samples, x and y are
    // their ranges; if there is one, both are its range.
    ISODEPTH_INLINE void for_each_run(const Moves<T>* moves, int64_t level, int64_t stop, auto note) const {
        const int64_t *sizes_x = samples[0].sizes, *sizes_y = samples[Samples - 1].sizes;
        const Moves<T>&moves_x = moves[0], &moves_y = moves[Samples - 1];
        int64_t x = 0, y = 0;
        while (level < stop) {
            while (moves_x.row(x) < sizes_x[level]) x++;
            while (moves_y.row(y) < sizes_y[level]) y++;
            const int64_t next_x = moves_x.row(x), next_y = moves_y.row(y), near = std::min(level + 16, stop);
            int64_t end = level + 1;
            while (end < near && sizes_x[end] <= next_x && sizes_y[end] <= next_y) end++;
            // Search linearly at first, because most runs are short. Use bisection for the few long runs.
            if (end == level + 16) {
                end = std::upper_bound(sizes_x + end, sizes_x + stop, next_x) - sizes_x;
                end = std::upper_bound(sizes_y + level, sizes_y + end, next_y) - sizes_y;
            }
            note(level, end, moves_x.before(x), moves_y.before(y));
            level = end;
        }
    }

  private:
    // Maximum number of depth levels that a chunk completes, and about that number for a stage. The gaps of
    // so many levels fit in the cache.
    static constexpr int64_t most_levels = 2048;
    // Maximum number of rows in a chunk. About 64 KiB of rows fit in the cache.
    int64_t rows_ = std::clamp<int64_t>((1 << 16) / (sizeof(T) * directions.d), 64, 1024);
    std::vector<ChunkEnd> ends_;  // start of the first chunk, then the end of each chunk
    std::vector<size_t> stages_;  // first chunk of each stage, then the number of chunks

    void cut() {
        const int64_t *sizes_x = samples[0].sizes, *sizes_y = samples[Samples - 1].sizes;
        const int64_t all = samples[0].levels;
        ChunkEnd at = {{0, 0}, 0};
        ends_.push_back(at);
        while (at.level < all) {
            ChunkEnd end = {{at.row[0] + rows_, at.row[1] + rows_}, std::min(at.level + most_levels, all)};
            end.level =
                std::min(std::upper_bound(sizes_x + at.level, sizes_x + end.level, end.row[0]) - sizes_x,
                         std::upper_bound(sizes_y + at.level, sizes_y + end.level, end.row[1]) - sizes_y);
            // If the next depth level adds more rows than a chunk can have, the chunk ends before the level
            // is complete.
            const bool whole = end.level > at.level;
            const int64_t last = whole ? end.level - 1 : at.level;
            end.row[0] = whole ? sizes_x[last] : std::min(end.row[0], sizes_x[last]);
            end.row[1] = whole ? sizes_y[last] : std::min(end.row[1], sizes_y[last]);
            ends_.push_back(at = end);
        }
    }

    void group(size_t chunks) {
        const size_t all = ends_.size() - 1;
        for (size_t first = 0, stop; first < all; first = stop) {
            stages_.push_back(first);
            const int64_t level = ends_[first].level;
            for (stop = first + 1; stop < std::min(first + chunks, all); stop++)
                if (ends_[stop].level - level >= most_levels) break;
            levels = std::max(levels, ends_[stop].level - level);
        }
        stages_.push_back(all);
    }
};

// Write the support function h of the region of each depth level to `out` (levels, 2 K): h(u) for all K
// directions u, then h(-u).
template <class T>
void write_supports(const Prefixes<T> (&sample)[1], const Tiles<T>& directions, Resources resources, T* out) {
    const Walk<T, 1> walk(sample, directions, resources, directions.count);
    const int64_t count = directions.n;
    auto write = [&](int64_t, int64_t, int64_t tile, int64_t level, int64_t stop, const Moves<T>* moves) {
        const int64_t first = directions.start(tile), some = directions.size(tile);
        walk.for_each_run(moves, level, stop, [&](int64_t level, int64_t end, const Range<T>& range, auto&) {
            for (; level < end; level++) {
                T* row = out + level * 2 * count + first;
                for (int64_t k = 0; k < some; k++) row[k] = range.top[k], row[count + k] = -range.low[k];
            }
        });
    };
    walk.run(write, [](int64_t, int64_t) {});
}

}  // namespace isodepth
