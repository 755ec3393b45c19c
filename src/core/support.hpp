// Support functions of nested regions: each is the hull of the first rows of a sample in depth order.
//
// A tile of directions is taken at a time. Few rows reach farther than all deeper ones along any of them, so
// a sample is first reduced to these rows, with the supports after each; between two of them nothing changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "project.hpp"
#include "simd.hpp"

namespace isodepth {

// The largest and the smallest projection on each direction of a tile.
template <class T> struct alignas(tile_bytes) Range {
    T top[lanes<T>], low[lanes<T>];

    static Range nothing() {
        Range range;
        std::fill_n(range.top, lanes<T>, -std::numeric_limits<T>::infinity());
        std::fill_n(range.low, lanes<T>, std::numeric_limits<T>::infinity());
        return range;
    }
};

// A sample in depth order, deepest row first, and how many rows belong to each level; these numbers rise.
template <class T> struct Prefixes {
    const T* rows;         // (n, d)
    const int64_t* sizes;  // (levels,)
    int64_t levels, d;

    int64_t last() const { return sizes[levels - 1]; }
};

// The rows that move the range of projections on a tile of directions, in one chunk of the walk.
template <class T> class Moves {
  public:
    explicit Moves(int64_t rows) : ranges_(rows + 2), rows_(rows + 2) {}

    // Note the rows start..stop that widen `range`, which becomes that after the last row.
    void follow(const T* tile, const T* rows, int64_t d, int64_t start, int64_t stop, Range<T>& range) {
        ranges_[0] = range;
        count_ = 0;
        int64_t row = start;
        for (; row + 4 <= stop; row += 4) widen<4>(tile, rows, d, row);
        for (; row < stop; row++) widen<1>(tile, rows, d, row);
        rows_[count_] = stop;
        range = ranges_[count_];
    }

    int64_t count() const { return count_; }
    // The row of move number i; after the last one the end of the chunk.
    int64_t row(int64_t i) const { return rows_[i]; }
    // The range before that row.
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
        for (int h = 0; h < H; h++)
            for (int j = 0; j < vectors; j++) store(products + h * lanes<T> + j * width<T>, found.of[h][j]);
        note<H>(products, row);
    }

    // Note those of H rows that move the range. Not inlined, so that the loop above keeps its registers.
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
            // Of the first rows nearly all move it: to look is not worth it.
            if (row < 64) count++;
            else count += any<T>(moved);
        }
        count_ = count;
    }
};

// Where a chunk of the walk ends: a row of each sample, and the first level it does not complete.
struct ChunkEnd {
    int64_t row[2], level;
};

// Cut the walk into chunks of at most `rows` rows of each sample.
inline std::vector<ChunkEnd> chunk_ends(const int64_t* sizes_x, const int64_t* sizes_y, int64_t levels,
                                        int64_t rows) {
    std::vector<ChunkEnd> ends;
    ChunkEnd at = {{0, 0}, 0};
    while (at.level < levels) {
        ChunkEnd end = {{at.row[0] + rows, at.row[1] + rows}, 0};
        end.level = std::min(std::upper_bound(sizes_x + at.level, sizes_x + levels, end.row[0]) - sizes_x,
                             std::upper_bound(sizes_y + at.level, sizes_y + levels, end.row[1]) - sizes_y);
        // Where the next level alone is larger than a chunk, go part of the way.
        const bool whole = end.level > at.level;
        const int64_t x = sizes_x[whole ? end.level - 1 : at.level];
        const int64_t y = sizes_y[whole ? end.level - 1 : at.level];
        end.row[0] = whole ? x : std::min(end.row[0], x);
        end.row[1] = whole ? y : std::min(end.row[1], y);
        ends.push_back(at = end);
    }
    return ends;
}

// The walk through one or two samples, for a range of tiles at a time.
template <class T, int Samples> class Walk {
  public:
    const Prefixes<T>* samples;
    int64_t levels, rows;  // levels; rows of all samples

    Walk(const Prefixes<T> (&given)[Samples], int64_t chunk_rows)
        : samples(given), levels(given[0].levels), rows(0), chunk_(0) {
        if (chunk_rows == 0)
            // A chunk of both samples and what is noted of them stay in the second-level cache.
            chunk_rows = std::clamp<int64_t>((1 << 16) / (sizeof(T) * given[0].d), 64, 1024);
        for (const auto& sample : given) {
            rows += sample.last();
            chunk_ = std::max(chunk_, std::min(chunk_rows, sample.last()));
        }
        ends_ = chunk_ends(given[0].sizes, given[Samples - 1].sizes, levels, chunk_rows);
    }

    // What a worker needs for parts of so many tiles.
    struct State {
        std::vector<Moves<T>> moves;
        std::vector<Range<T>> ranges;
    };
    State state(int64_t tiles) const {
        State made{{}, std::vector<Range<T>>(Samples * tiles)};
        for (int i = 0; i < Samples; i++) made.moves.emplace_back(chunk_);
        return made;
    }
    double bytes(int64_t tiles) const {
        return double(Samples * (chunk_ + 2) * (sizeof(Range<T>) + 8) + Samples * tiles * sizeof(Range<T>));
    }

    // Calls `note(tile, level, end)` when the moves of a tile up to the levels level..end are in the state.
    template <class Note>
    void run(const Tiles<T>& tiles, int64_t first, int64_t stop, State& state, Note note) const {
        std::fill_n(state.ranges.begin(), Samples * (stop - first), Range<T>::nothing());
        ChunkEnd from = {{0, 0}, 0};
        for (const ChunkEnd& to : ends_) {
            for (int64_t tile = first; tile < stop; tile++) {
                for (int i = 0; i < Samples; i++)
                    state.moves[i].follow(tiles.tile(tile), samples[i].rows, samples[i].d, from.row[i],
                                          to.row[i], state.ranges[Samples * (tile - first) + i]);
                note(tile, from.level, to.level);
            }
            from = to;
        }
    }

  private:
    std::vector<ChunkEnd> ends_;
    int64_t chunk_;
};

// Calls `note(level, end, range of x, range of y)` for runs of levels in which neither range moves.
template <class T, class Note> ISODEPTH_INLINE void for_each_run(const Prefixes<T>* samples,
                                                                 const std::vector<Moves<T>>& moves,
                                                                 int64_t level, int64_t stop, Note note) {
    const int64_t *sizes_x = samples[0].sizes, *sizes_y = samples[1].sizes;
    int64_t x = 0, y = 0;
    while (level < stop) {
        while (moves[0].row(x) < sizes_x[level]) x++;
        while (moves[1].row(y) < sizes_y[level]) y++;
        const int64_t next_x = moves[0].row(x), next_y = moves[1].row(y), near = std::min(level + 16, stop);
        int64_t end = level + 1;
        while (end < near && sizes_x[end] <= next_x && sizes_y[end] <= next_y) end++;
        // Most runs are short, and a few are very long.
        if (end == level + 16) {
            end = std::upper_bound(sizes_x + end, sizes_x + stop, next_x) - sizes_x;
            end = std::upper_bound(sizes_y + level, sizes_y + end, next_y) - sizes_y;
        }
        note(level, end, moves[0].before(x), moves[1].before(y));
        level = end;
    }
}

// Calls `note(level, range of the level)` for all levels of one sample.
template <class T, class Note> ISODEPTH_INLINE void for_each_level(const Prefixes<T>& sample,
                                                                   const Moves<T>& moves, int64_t level,
                                                                   int64_t stop, Note note) {
    int64_t at = 0;
    for (; level < stop; level++) {
        while (moves.row(at) < sample.sizes[level]) at++;
        note(level, moves.before(at));
    }
}

// Calls `work(state, tile)`, on several threads, for all tiles of directions of a walk through one sample.
template <class T, class Work>
void over_tiles(const Walk<T, 1>& walk, const Tiles<T>& directions, Resources resources, Work work) {
    int64_t workers = worker_count(resources.n_threads, directions.count, walk.rows * directions.n);
    workers = workers_within(workers, walk.bytes(1), resources.memory_mb);
    std::vector<typename Walk<T, 1>::State> states(workers);
    parallel_for(workers, directions.count, [&](int64_t worker, int64_t tile) {
        if (states[worker].moves.empty()) states[worker] = walk.state(1);
        work(states[worker], tile);
    });
}

// Write h(u) of each level for all directions to `out` (levels, 2 K), and h(-u) after them.
template <class T, class Out> void write_supports(const Prefixes<T> (&sample)[1], const Tiles<T>& directions,
                                                  Resources resources, Out* out) {
    const Walk<T, 1> walk(sample, 0);
    const int64_t count = directions.n;
    over_tiles(walk, directions, resources, [&](auto& state, int64_t tile) {
        const int64_t from = directions.fresh(tile), first = directions.start(tile);
        const int64_t to = std::min<int64_t>(lanes<T>, count - first);
        walk.run(directions, tile, tile + 1, state, [&](int64_t, int64_t level, int64_t stop) {
            for_each_level(sample[0], state.moves[0], level, stop, [&](int64_t level, const Range<T>& range) {
                Out* row = out + level * 2 * count + first;
                for (int64_t k = from; k < to; k++)
                    row[k] = Out(range.top[k]), row[count + k] = Out(-range.low[k]);
            });
        });
    });
}

// The rows that give the range of projections on a tile of directions; of equal ones the first.
template <class T> struct RangeRows {
    int64_t top[lanes<T>] = {}, low[lanes<T>] = {};

    // Take in move number i.
    void take(const Moves<T>& moves, int64_t i) {
        const Range<T>&before = moves.before(i), &after = moves.before(i + 1);
        for (int64_t k = 0; k < lanes<T>; k++) {
            if (after.top[k] > before.top[k]) top[k] = moves.row(i);
            if (after.low[k] < before.low[k]) low[k] = moves.row(i);
        }
    }
};

// Write the largest and the smallest projection at each level, and the rows that give them, each (levels, K).
template <class T> void locate_supports(const Prefixes<T> (&sample)[1], const Tiles<T>& directions,
                                        Resources resources, T* tops, T* lows, int64_t* top_rows,
                                        int64_t* low_rows) {
    const Walk<T, 1> walk(sample, 0);
    over_tiles(walk, directions, resources, [&](auto& state, int64_t tile) {
        const Moves<T>& moves = state.moves[0];
        const int64_t from = directions.fresh(tile), first = directions.start(tile);
        const int64_t to = std::min<int64_t>(lanes<T>, directions.n - first);
        RangeRows<T> rows;
        walk.run(directions, tile, tile + 1, state, [&](int64_t, int64_t level, int64_t stop) {
            int64_t i = 0;
            for (; level < stop; level++) {
                for (; moves.row(i) < sample[0].sizes[level]; i++) rows.take(moves, i);
                for (int64_t k = from; k < to; k++) {
                    const int64_t at = level * directions.n + first + k;
                    tops[at] = moves.before(i).top[k], lows[at] = moves.before(i).low[k];
                    top_rows[at] = rows.top[k], low_rows[at] = rows.low[k];
                }
            }
            for (; i < moves.count(); i++) rows.take(moves, i);
        });
    });
}

}  // namespace isodepth
