// Passes over directions: blocks of them whose projections stay in the cache, taken by threads.
#pragma once

#include "arrays.hpp"
#include "project.hpp"

namespace isodepth {

// Up to this many points are looked at along several directions at once, one in each lane: at 50 points 1.5
// to 2.7 times as fast as one direction after the other.
constexpr int64_t few_points = 64;

// How directions are cut up; the result does not depend on it.
struct Blocks {
    int64_t count, size, parts, workers;

    // For `count` directions and `projected` numbers along each; a worker holds `held` bytes, and `each`
    // more for each direction of a block.
    Blocks(int64_t count, int64_t projected, double held, double each, Resources resources) : count(count) {
        constexpr double cache = 1 << 19;
        constexpr int64_t most = 256, fewest = 4;
        // Medians and ranks of projected numbers take about four times as long as projecting them.
        workers = worker_count(resources.n_threads, count, 4 * projected * count);
        workers = workers_within(workers, held + each, resources.memory_mb);
        const double left = resources.memory_mb * double(1 << 20) / double(workers) - held;
        const double wanted = std::clamp(cache / each, double(fewest), double(most));
        size = std::max<int64_t>(1, int64_t(std::min(wanted, left / each)));
        // Some for each worker, so that all of them end together.
        if (workers > 1) size = std::min(size, std::max(fewest, count / (4 * workers)));
        if (size > fewest) size -= size % fewest;
        parts = (count + size - 1) / size;
    }
    int64_t first(int64_t part) const { return part * size; }
    int64_t in(int64_t part) const { return std::min(size, count - part * size); }
};

// Calls `work(first, stop)` for slices of n rows on several threads; each row is `operations` operations.
template <class Work> void over_rows(int64_t n, int64_t operations, int64_t n_threads, Work work) {
    constexpr int64_t each = 4096;
    const int64_t parts = (n + each - 1) / each;
    parallel_for(worker_count(n_threads, parts, n * operations), parts,
                 [&](int64_t, int64_t part) { work(part * each, std::min(n, (part + 1) * each)); });
}

}  // namespace isodepth
