// Ascent of |h_X(u) - h_Y(u)| over the sphere, from many directions.
//
// For a fixed vertex a of one region, max_u <a, u> - h(u) is its distance to the other region, a convex
// problem that is solved by the nearest point. If another vertex reaches farther along the direction found,
// the ascent continues from that vertex, as long as the gap increases.
#pragma once

#include <set>

#include "hull.hpp"

namespace isodepth {

// Start of an ascent: the rows of both samples that reach farthest along a direction.
struct Start {
    double gap;  // positive if the first sample reaches farther
    int64_t level, direction, row[2];
    int64_t turn = 0;  // its index among the starts of its level

    int side() const { return gap < 0; }
};

// The vertices that reach farthest along `directions`, at most `most`: in turn the next best vertex of each
// level.
inline std::vector<Start> find_starts(const GrowingHull (&hulls)[2], int64_t levels, Rows<double> directions,
                                      int64_t most, int64_t n_threads) {
    const int64_t count = directions.n, rows = hulls[0].rows.rows.n + hulls[1].rows.rows.n;
    std::vector<std::vector<Start>> found(levels, std::vector<Start>(count));
    parallel_for(worker_count(n_threads, count, rows * count), count, [&](int64_t, int64_t k) {
        std::pair<int64_t, double> furthest[2];
        for (int64_t level = 0; level < levels; level++) {
            for (int side = 0; side < 2; side++) {
                const auto& [rows, stops, known] = hulls[side];
                const int64_t first = level > 0 ? stops[level - 1] : 0;
                if (first == stops[level]) continue;
                const auto next = rows.furthest(first, stops[level], directions[k], hulls[0].rows.rows[0]);
                if (level == 0 || next.second > furthest[side].second) furthest[side] = next;
            }
            const auto [x, y] = furthest;
            found[level][k] = {x.second - y.second, level, k, {x.first, y.first}};
        }
    });
    std::vector<Start> starts;
    for (auto& own : found) {
        std::stable_sort(own.begin(), own.end(),
                         [](auto& a, auto& b) { return std::abs(a.gap) > std::abs(b.gap); });
        std::set<std::pair<int, int64_t>> taken;
        for (Start& at : own) {
            at.turn = int64_t(taken.size());
            if (taken.insert({at.side(), at.row[at.side()]}).second) starts.push_back(at);
        }
    }
    std::stable_sort(starts.begin(), starts.end(), [](auto& a, auto& b) { return a.turn < b.turn; });
    if (int64_t(starts.size()) > most) starts.resize(most);
    return starts;
}

// Improve `best` (d,), the direction of a start, by at most `steps` steps. Stop at a relative improvement
// below `slack`.
inline void climb(const GrowingHull (&hulls)[2], const Start& at, int64_t steps, double slack, double* best) {
    const GrowingHull &own = hulls[at.side()], &other = hulls[1 - at.side()];
    const int64_t d = own.rows.rows.d, own_stop = own.stops[at.level], stop = other.stops[at.level];
    NearestPoint nearest(stop, d, steps);
    ActiveSet& active = nearest.active;
    active.ids = {at.row[1 - at.side()]}, active.weights = {1.0};
    double value = std::abs(at.gap);
    std::vector<double> trial(d);
    for (int64_t corner = at.row[at.side()];;) {
        const double* from = own.rows.rows[corner];
        nearest.find(other.rows, 0, stop, from, 0.0, slack);
        for (int64_t k = 0; k < d; k++) trial[k] = -active.offset[k] / active.distance;
        const auto [next, outer] = own.rows.furthest(0, own_stop, trial.data(), from);
        const double inner = other.rows.furthest(0, stop, trial.data(), from).second;
        // The comparison is false as well if vertex and nearest point coincide, and the direction is NaN.
        if (!(outer - inner > value)) return;
        value = outer - inner;
        std::copy(trial.begin(), trial.end(), best);
        if (outer <= slack * value) return;
        corner = next;
    }
}

}  // namespace isodepth
