// Ascent of |h_X(u) - h_Y(u)| over the sphere, from many directions.
//
// For a fixed corner a of one region, max_u <a, u> - h(u) over the other region is its distance to that
// region, a convex problem: a climber looks for the nearest point. When another corner reaches further along
// the direction from there, the climber goes on from that one, as long as the gap rises.
#pragma once

#include <set>

#include "hull.hpp"

namespace isodepth {

// Where a climber may start: the rows of both samples that reach furthest along a direction.
struct Start {
    double gap;  // positive where the first sample reaches further
    int64_t level, direction, row[2];
    int64_t turn = 0;  // which of the starts of its level it is

    int side() const { return gap < 0; }
};

// The corners that reach furthest along `directions`: the levels take turns, each with its next best corner.
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

// Raise `best` (d,), the direction of a start, by at most `steps` steps; `slack` is the share of the gap at
// which to stop.
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
        // Nor is it more where corner and nearest point coincide, and there is no direction.
        if (!(outer - inner > value)) return;
        value = outer - inner;
        std::copy(trial.begin(), trial.end(), best);
        if (outer <= slack * value) return;
        corner = next;
    }
}

}  // namespace isodepth
