// Nearest points of convex hulls by Wolfe's minimum-norm algorithm, Hausdorff distances between nested hulls,
// and local ascent of the gap between their support functions.
#pragma once

#include <queue>
#include <set>

#include "active_set.hpp"
#include "project.hpp"

namespace isodepth {

// Relative duality gap below which a solution counts as exact: it is due to rounding alone.
constexpr double exact_gap = 1e-13;

// The rows of a sample, stored row by row and in tiles for SIMD.
struct HullRows {
    Rows<double> rows;
    Tiles<double> tiles{rows, 1};

    // Find the row of start..stop with the smallest sum over columns, and return its index and the sum. The
    // sum is updated by term(k, row[k] - query[k], sum so far) for each column k. The search stops early at a
    // sum of at most `good`. It starts from the last rows, which are the outermost.
    std::pair<int64_t, double> lowest(int64_t start, int64_t stop, const double* query, double good,
                                      auto term) const {
        constexpr int64_t each = lanes<double>;
        std::pair<int64_t, double> found{start, infinity<double>};
        for (int64_t tile = (stop - 1) / each; tile >= start / each && found.second > good; tile--) {
            Vec<double> sum[vectors] = {};
            const double* column = tiles.tile(tile);
            for (int64_t k = 0; k < tiles.d; k++, column += each)
                for (int v = 0; v < vectors; v++)
                    sum[v] = term(k, load(column + v * width<double>) - query[k], sum[v]);
            Mask<double> lower = {};
            for (int v = 0; v < vectors; v++) lower |= (Mask<double>)(sum[v] < broadcast(found.second));
            if (!any<double>(lower)) continue;
            double sums[each];
            for (int v = 0; v < vectors; v++) store(sums + v * width<double>, sum[v]);
            const int64_t first = tiles.start(tile);
            for (int64_t j = std::max(start, first); j < std::min(stop, first + each); j++)
                if (sums[j - first] < found.second) found = {j, sums[j - first]};
        }
        return found;
    }

    // Return the row of start..stop with the maximum of <direction, row - from>, and this maximum.
    std::pair<int64_t, double> furthest(int64_t start, int64_t stop, const double* direction,
                                        const double* from) const {
        auto behind = [=](int64_t k, Vec<double> step, Vec<double> sum) {
            return multiply_add<double>(broadcast(-direction[k]), step, sum);
        };
        const auto [row, product] = lowest(start, stop, from, -infinity<double>, behind);
        return {row, -product};
    }
};

// Search for the point of a hull that is nearest to a query, as a positive combination of affinely
// independent rows, the active rows. A step adds the row that lies farthest on the query's side of the
// current point. It then goes to the nearest point of the affine span of the active rows, and removes the
// rows whose weights would become negative. The farthest row also gives a lower bound of the distance, so the
// remaining error is known.
class NearestPoint {
  public:
    ActiveSet active;
    double lower = 0.0;  // lower bound of the distance to the hull
    double spent = 0.0;  // number of coordinates of rows read so far
    int64_t steps;       // remaining steps

    NearestPoint(int64_t n_rows, int64_t dim, int64_t steps = int64_t(1) << 60)
        : active(dim, std::min({n_rows, dim + 1, steps + 2})), steps(steps) {}

    // Find the point nearest to `query` in the hull of the first `stop` rows, starting from the active rows,
    // if any. If these already give the nearest point of the first `solved` rows, with the bound `lower`,
    // only the other rows are read at first. Stop early if the distance is at most `enough`, or known up to a
    // fraction `slack`. Return whether the search has converged. If so, `active.offset` is the vector from
    // the query to the nearest point, unless both coincide.
    bool find(const HullRows& among, int64_t solved, int64_t stop, const double* query, double enough,
              double slack) {
        const Rows<double> rows = among.rows;
        auto product = [u = active.offset.data()](int64_t k, Vec<double> step, Vec<double> sum) {
            return multiply_add<double>(broadcast(u[k]), step, sum);
        };
        if (!active.factorize(rows, query)) {
            solved = 0;
            spent += double(stop * rows.d);
            auto square = [](int64_t, Vec<double> step, Vec<double> sum) {
                return multiply_add<double>(step, step, sum);
            };
            active.ids = {among.lowest(0, stop, query, enough * enough, square).first};
            active.weights = {1.0};
            if (!active.factorize(rows, query)) {  // a row is the query itself
                active.distance = lower = 0.0;
                return true;
            }
        }
        active.move(rows, query);
        bool improved = true;
        // Largest decrease of the slope by one row, from the last pass over all rows.
        double promise = infinity<double>;
        for (; steps > 0; steps--) {
            if (solved == 0 && active.distance <= enough) return false;
            if (active.distance <= 8.0 * epsilon * active.reach) {
                // The distance is as small as the rounding errors of the rows: the query is inside the hull.
                active.distance = lower = 0.0;
                return true;
            }
            if (solved == stop) return true;
            // Stop reading rows at the first one whose decrease is at least a fraction `useful` of the best
            // in the last full pass.
            const double square = active.distance * active.distance, good = square - useful * promise;
            spent += double((stop - solved) * rows.d);
            const auto [entering, slope] = among.lowest(solved, stop, query, good, product);
            const bool all = !(slope <= good);
            if (all) {
                const double proven = slope > 0.0 ? slope / active.distance : 0.0;
                const double rounding = 4.0 * epsilon * distance_between(rows[entering], query, rows.d);
                lower = solved > 0 ? std::min(lower, proven) : proven;
                if (!improved || active.distance - lower <= slack * active.distance + rounding) return true;
            }
            const double before = active.distance;
            if (active.enter(rows, entering, query)) {
                active.descend();
                active.move(rows, query);
            }
            // If the distance did not decrease, only rounding errors remain. A pass over all rows must
            // confirm this.
            const bool closer = active.distance < before;
            improved = closer || !all;
            promise = !closer ? infinity<double> : all ? square - slope : promise;
            solved = 0;
        }
        return false;
    }

  private:
    static constexpr double useful = 0.25;
};

// Bounds of the distance of a row to the hull of the other sample.
struct KnownDistance {
    double upper, lower = 0.0;  // the lower bound is valid only if `solved` is positive
    // Number of rows of the other sample for which the distance was solved; 0 if not solved.
    int64_t solved = 0;
    std::vector<int64_t> ids{};     // rows of the other sample whose combination is the nearest point so far
    std::vector<double> weights{};  // of this combination
};

// One sample of a pair: its rows in depth order, in which they enter the growing hull, and bounds of their
// distances to the other hull.
struct GrowingHull {
    HullRows rows;
    const int64_t* stops;  // (L,) number of rows inside at each level
    std::vector<KnownDistance> known{};

    // Improve the bounds of the distance of a row to the other hull at a level. Return the distance if the
    // search has converged, else -1. If so, `nearest.active.offset` is the vector from the row to the hull.
    double look(int64_t row, const GrowingHull& other, int64_t level, NearestPoint& nearest, double enough,
                double slack) {
        KnownDistance& of = known[row];
        ActiveSet& active = nearest.active;
        active.ids = of.ids, active.weights = of.weights, nearest.lower = of.lower;
        const int64_t stop = other.stops[level];
        const bool done = nearest.find(other.rows, of.solved, stop, rows.rows[row], enough, slack);
        of.ids = active.ids, of.weights = active.weights, of.lower = nearest.lower;
        of.solved = done ? stop : 0;
        // After convergence replace the upper bound, even by a larger one, so that both bounds refer to the
        // same nearest point.
        of.upper = done ? active.distance : std::min(of.upper, active.distance);
        // If the search was exact, the upper bound is the more precise one. Otherwise return the lower bound,
        // which is attained.
        return !done ? -1.0 : slack <= exact_gap ? of.upper : of.lower;
    }
};

// Bounds of the Hausdorff distance at each level: see `bound_levels`.
struct LevelBounds {
    std::vector<double> lower, upper, directions;
    std::vector<int64_t> sides;
};

// Compute bounds of the Hausdorff distances between two growing hulls at all levels.
//
// The distance from a fixed point to a growing hull does not increase. So a distance computed at an earlier
// level remains an upper bound. At each level only the points whose upper bound exceeds the largest distance
// so far are projected on the other hull again, in decreasing order of the bounds. A projection stops when
// its distance falls below the largest one. A converged projection is resumed from its active rows, because
// only the rows that have entered since then can change it.
//
// The lower bounds `lower` (L,) start from `attained` and are raised until they are within a fraction `slack`
// of the upper bounds. If a value is raised, `directions` (L, d) is set to a unit vector that attains it, and
// `sides` (L,) to 0 if the first hull extends farther, 1 if the second does. The search ends early if more
// than `limit` coordinates were read. The upper bounds are then not valid.
inline LevelBounds bound_levels(GrowingHull (&hulls)[2], std::vector<double> attained, double slack,
                                double limit) {
    const size_t levels = attained.size(), dim = hulls[0].rows.rows.d;
    LevelBounds gaps{std::move(attained), std::vector<double>(levels), std::vector<double>(levels * dim),
                     std::vector<int64_t>(levels, -1)};
    for (size_t level = 0; level < levels; level++) gaps.directions[level * dim] = 1.0;
    NearestPoint nearest(std::max(hulls[0].rows.rows.n, hulls[1].rows.rows.n), dim);
    Signals signals;
    using Row = std::pair<int, int64_t>;  // side and number
    using Open = std::pair<double, Row>;
    // Rows inside at the level, in decreasing order of their upper bounds, then by side and row index.
    std::priority_queue<Open, std::vector<Open>, std::greater<Open>> open;
    std::vector<Row> looked;
    Row furthest{-1, -1};
    for (size_t level = 0; level < levels; level++) {
        for (int side = 0; side < 2; side++)
            for (int64_t row = hulls[side].known.size(); row < hulls[side].stops[level]; row++) {
                const double upper =
                    distance_between(hulls[side].rows.rows[row], hulls[1 - side].rows.rows[0], dim);
                hulls[side].known.push_back({upper});
                open.push({-upper, {side, row}});
            }
        double &best = gaps.lower[level], &upper = gaps.upper[level];
        for (; !open.empty() && -open.top().first > (1.0 + slack) * best; open.pop()) {
            const auto [side, row] = open.top().second;
            GrowingHull &own = hulls[side], &other = hulls[1 - side];
            looked.push_back({side, row});
            if (nearest.spent > limit) return gaps;
            signals.check();
            const double value = own.look(row, other, level, nearest, (1.0 + slack) * best, slack);
            if (!(value > best)) continue;
            best = value;
            furthest = {side, row};
            gaps.sides[level] = side;
            const std::vector<double>& offset = nearest.active.offset;
            const double size = length(offset.data(), dim);
            for (size_t k = 0; k < dim; k++) gaps.directions[level * dim + k] = -offset[k] / size;
        }
        if (!open.empty()) upper = -open.top().first;
        for (const Row& row : looked) {
            const double bound = hulls[row.first].known[row.second].upper;
            upper = std::max(upper, bound);
            // Put the farthest row of this level first: it often is the farthest of the next level.
            open.push({row == furthest ? -infinity<double> : -bound, row});
        }
        looked.clear();
    }
    return gaps;
}

// ---- Ascent of |h_X(u) - h_Y(u)| over the sphere, from many directions ----
//
// For a fixed vertex a of one region, max_u <a, u> - h(u), where h is the support function of the other
// region, is the distance of a to that region. This convex problem is solved by the nearest point. If another
// vertex extends farther along the maximizing direction, the ascent continues from that vertex, as long as
// the gap increases.

// Start of a local ascent: a direction, and the rows of both samples that extend farthest along it.
struct Start {
    double gap;  // difference of the two projections; positive if the first sample extends farther
    int64_t level, direction, row[2];
    int64_t turn = 0;  // rank among the starts of its level, largest gap first

    int side() const { return gap < 0; }
};

// Return at most `most` starts of a local ascent: the vertices that extend farthest along `directions`. The
// best vertex of each level comes first, then the second best of each level, and so on.
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

// Increase the gap along `best` (d,), the direction of a start, by at most `steps` steps of local ascent.
// Stop at a relative improvement below `slack`.
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
        // The comparison is also false if the vertex is the nearest point itself: the direction is then NaN.
        if (!(outer - inner > value)) return;
        value = outer - inner;
        std::copy(trial.begin(), trial.end(), best);
        if (outer <= slack * value) return;
        corner = next;
    }
}

}  // namespace isodepth
