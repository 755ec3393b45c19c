// Nearest points of convex hulls by Wolfe's minimum-norm algorithm, and Hausdorff distances of hulls that
// grow.
#pragma once

#include "active_set.hpp"
#include "arrays.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace isodepth {

// A relative duality gap that is as good as none: what rounding leaves of it.
constexpr double exact_gap = 1e-13;

// The smallest of numbers start..stop, the first of those. Block by block, so that where it is needs to be
// looked for in one block only.
inline int64_t argmin(const double* x, int64_t start, int64_t stop) {
    constexpr int64_t block = 16 * lanes<double>;
    double lowest = std::numeric_limits<double>::infinity();
    int64_t found = start;
    for (int64_t first = start; first < stop; first += block) {
        const int64_t last = std::min(first + block, stop);
        double low = x[first];
        int64_t j = first;
        if (last - first >= lanes<double>) {
            Vec<double> least[vectors];
            for (int v = 0; v < vectors; v++) least[v] = load(x + first + v * width<double>);
            for (j += lanes<double>; j + lanes<double> <= last; j += lanes<double>)
                for (int v = 0; v < vectors; v++)
                    least[v] = minimum<double>(load(x + j + v * width<double>), least[v]);
            for (int v = 0; v < vectors; v++)
                for (int i = 0; i < width<double>; i++) low = std::min<double>(low, least[v][i]);
        }
        for (; j < last; j++) low = std::min(low, x[j]);
        if (low < lowest) lowest = low, found = first;
    }
    return std::find(x + found, x + stop, lowest) - x;
}

// The rows that may span a hull, of increasing numbers; in tiles, where the same column of several rows lies
// side by side.
class Candidates {
  public:
    static constexpr int64_t each = lanes<double>;
    Rows<double> rows;
    std::vector<int64_t> ids;

    Candidates(Rows<double> all, std::vector<int64_t> chosen)
        : rows(all), ids(std::move(chosen)), tiles_((count() + each - 1) / each * each * rows.d, 0.0) {
        for (int64_t j = 0; j < count(); j++)
            for (int64_t k = 0; k < rows.d; k++)
                tiles_[(j / each * rows.d + k) * each + j % each] = rows[ids[j]][k];
    }

    int64_t count() const { return int64_t(ids.size()); }
    // How many have numbers below a limit.
    int64_t below(int64_t limit) const {
        return std::lower_bound(ids.begin(), ids.end(), limit) - ids.begin();
    }

    // Set values[j] to the sum over columns k of term(k, candidate j[k] - query[k]) for j in start..stop, and
    // a few more around them.
    template <class Term>
    void sum(const double* query, int64_t start, int64_t stop, double* values, Term term) const {
        for (int64_t tile = start / each; tile * each < stop; tile++) {
            Vec<double> total[vectors] = {};
            const double* column = tiles_.data() + tile * rows.d * each;
            for (int64_t k = 0; k < rows.d; k++, column += each)
                for (int v = 0; v < vectors; v++)
                    total[v] = term(k, load(column + v * width<double>) - query[k], total[v]);
            for (int v = 0; v < vectors; v++) store(values + tile * each + v * width<double>, total[v]);
        }
    }

  private:
    Workspace<double> tiles_;
};

// The point of a hull nearest to a query: a positive combination of affinely independent rows (the active
// ones). A step adds a row that lies far on the query's side of the present point, moves to the nearest
// point of the affine span of the active rows, and drops those whose weight would turn negative. The row
// that lies furthest proves a lower bound of the distance, so the remaining error is always known.
class NearestPoint {
  public:
    ActiveSet active;
    double lower = 0.0;  // lower bound of the distance to the hull; 0 where none was made
    double spent = 0.0;  // coordinates of candidates looked at so far

    NearestPoint(int64_t n_rows, int64_t dim)
        : active(dim, std::min(n_rows, dim + 1)), slopes_(n_rows + Candidates::each) {}

    // Find the point nearest to `query` in the hull of the first `stop` candidates, from the active rows
    // given (count 0 for none). Stops early when the distance is at most `enough`, or known up to a share
    // `slack`. Returns whether it ended because nothing could be improved; `active.offset` then leads from
    // the query to the nearest point, unless that is the query.
    bool find(const Candidates& among, int64_t stop, const double* query, double enough, double slack) {
        const Rows<double> rows = among.rows;
        lower = 0.0;
        if (!(active.count > 0 && active.factorize(rows, query)) &&
            !active.start(rows, closest(among, stop, query), query)) {
            active.distance = 0.0;
            return true;
        }
        move(rows, query);
        int64_t chances = 8;  // how many listed rows may turn out to be of no use
        double largest = 0.0;
        listed_ = 0;
        for (int64_t step = 0; step < max_steps; step++) {
            if (active.distance <= enough) return false;
            if (active.distance <= 8.0 * epsilon * active.reach) {
                // Rounding of the rows themselves: the query is inside.
                active.distance = lower = 0.0;
                return true;
            }
            const double square = active.distance * active.distance;
            auto [entering, slope] = lowest_listed(rows, query);
            const bool from_list = square - slope >= useful * largest && listed_ > 0;
            if (!from_list) {
                const int64_t found = lowest_slope(among, 0, stop, query);
                slope = slopes_[found];
                entering = among.ids[found];
                lower = slope > 0.0 ? slope / active.distance : 0.0;
                if (chances <= 0 || is_close(rows[entering], query, slack)) return true;
                largest = square - slope;
                list(among, stop, slope + listing * largest);
            }
            if (!active.enter(rows, entering, query)) {
                if (!from_list) return true;
                listed_ = 0;
                continue;
            }
            const double before = active.distance;
            const bool helped = active.descend();
            move(rows, query);
            if (!helped || active.distance >= before) {
                // Rounding is all that is left, unless a listed row was the wrong one: look at all again,
                // but not forever.
                chances = from_list ? chances - 1 : 0;
                listed_ = 0;
            }
        }
        return false;
    }

    // Whether none of the candidates start..stop brings a hull closer whose nearest point is the active
    // combination; `lower` is then the lower bound that they prove.
    bool is_unchanged(const Candidates& among, int64_t start, int64_t stop, const double* query,
                      double slack) {
        active.move(among.rows, query);
        if (active.is_short() && active.factorize(among.rows, query)) active.straighten();
        lower = std::numeric_limits<double>::infinity();
        if (start >= stop) return true;
        const int64_t found = lowest_slope(among, start, stop, query);
        lower = slopes_[found] > 0.0 ? slopes_[found] / active.distance : 0.0;
        return is_close(among.rows[among.ids[found]], query, slack);
    }

  private:
    // Far more steps than a projection takes: each one brings the point closer.
    static constexpr int64_t max_steps = 1'000'000;
    // Rows that promise half of what the best one does are listed, and used while they promise a quarter of
    // it. All candidates are looked at less often for it; the values matter little.
    static constexpr double listing = 0.5, useful = 0.25;
    static constexpr int64_t most_listed = 24;

    Workspace<double> slopes_;  // <offset, candidate - query>
    int64_t shortlist_[most_listed], listed_ = 0;

    void move(Rows<double> rows, const double* query) {
        active.move(rows, query);
        if (active.is_short()) active.straighten();
    }

    bool is_close(const double* row, const double* query, double slack) const {
        const double rounding = 4.0 * epsilon * distance_between(row, query, int64_t(active.offset.size()));
        return active.distance - lower <= slack * active.distance + rounding;
    }

    // The candidate of start..stop lowest along the offset.
    int64_t lowest_slope(const Candidates& among, int64_t start, int64_t stop, const double* query) {
        const double* u = active.offset.data();
        spent += double((stop - start) * among.rows.d);
        among.sum(query, start, stop, slopes_.data(), [u](int64_t k, Vec<double> step, Vec<double> total) {
            return multiply_add<double>(broadcast(u[k]), step, total);
        });
        return argmin(slopes_.data(), start, stop);
    }

    void list(const Candidates& among, int64_t stop, double highest) {
        listed_ = 0;
        for (int64_t j = 0; j < stop && listed_ < most_listed; j++)
            if (slopes_[j] <= highest) shortlist_[listed_++] = among.ids[j];
    }

    // The listed row lowest along the offset, and its slope.
    std::pair<int64_t, double> lowest_listed(Rows<double> rows, const double* query) const {
        const double* u = active.offset.data();
        const double origin = listed_ > 0 ? dot(u, query, rows.d) : 0.0;
        std::pair<int64_t, double> found{-1, std::numeric_limits<double>::infinity()};
        for (int64_t i = 0; i < listed_; i++) {
            const double slope = dot(u, rows[shortlist_[i]], rows.d) - origin;
            if (slope < found.second) found = {shortlist_[i], slope};
        }
        return found;
    }

    int64_t closest(const Candidates& among, int64_t stop, const double* query) {
        among.sum(query, 0, stop, slopes_.data(), [](int64_t, Vec<double> step, Vec<double> total) {
            return multiply_add<double>(step, step, total);
        });
        return among.ids[argmin(slopes_.data(), 0, stop)];
    }
};

// A sample of a pair: its rows in the order in which they enter, and what is known of the distance from each
// of them to the hull of the other sample.
class GrowingHull {
  public:
    Candidates candidates;

    // `stops` (L,): rows inside at each level; `inside_from` (n,): the level from which a row is known to lie
    // inside the hull of others.
    GrowingHull(Rows<double> rows, const int64_t* stops, const int64_t* inside_from, int64_t n_levels,
                const double* other)
        : candidates(rows, {}),
          stops_(stops),
          inside_from_(inside_from),
          n_levels_(n_levels),
          bound_(rows.n),
          lower_(rows.n),
          solved_(rows.n),
          looked_(rows.n, -1),
          active_(rows.n) {
        for (int64_t i = 0; i < rows.n; i++) bound_[i] = distance_between(rows[i], other, rows.d);
    }

    // Lay out the rows of `level`, and of the following ones for as long as none drops out.
    void go_to(int64_t level) {
        if (level >= renewed_at_) {
            renewed_at_ = n_levels_;
            for (int64_t i = 0; i < candidates.rows.n; i++)
                if (inside_from_[i] > level) renewed_at_ = std::min(renewed_at_, inside_from_[i]);
            std::vector<int64_t> ids;
            for (int64_t i = 0; i < stops_[renewed_at_ - 1]; i++)
                if (inside_from_[i] > level) ids.push_back(i);
            candidates = Candidates(candidates.rows, std::move(ids));
        }
        stop = candidates.below(stops_[level]);
    }

    int64_t stop = 0;  // candidates inside at the level

    // The candidate of largest bound not looked at in this level, or -1, and its bound.
    std::pair<int64_t, double> largest_open(int64_t level) const {
        std::pair<int64_t, double> found{-1, -1.0};
        for (int64_t j = 0; j < stop; j++) {
            const int64_t i = candidates.ids[j];
            if (bound_[i] > found.second && looked_[i] != level) found = {i, bound_[i]};
        }
        return found;
    }

    double largest_bound() const {
        double largest = 0.0;
        for (int64_t j = 0; j < stop; j++) largest = std::max(largest, bound_[candidates.ids[j]]);
        return largest;
    }

    // Sharpen the bounds of row `i`: its distance to the other hull if that is solved, else -1. If solved,
    // the offset of the active set leads to the hull.
    double look(int64_t i, int64_t level, const GrowingHull& other, NearestPoint& nearest, double best,
                double slack) {
        looked_[i] = level;
        const double* query = candidates.rows[i];
        const Candidates& among = other.candidates;
        Combination& known = active_[i];
        nearest.active.count = int64_t(known.ids.size());
        std::copy(known.ids.begin(), known.ids.end(), nearest.active.ids.begin());
        std::copy(known.weights.begin(), known.weights.end(), nearest.active.weights.begin());
        const bool still = solved_[i] > 0 &&
                           (bound_[i] == 0.0 ||
                            nearest.is_unchanged(among, among.below(solved_[i]), other.stop, query, slack));
        if (still && bound_[i] > 0.0) lower_[i] = std::min(lower_[i], nearest.lower);
        if (!still) {
            const bool done = nearest.find(among, other.stop, query, (1.0 + slack) * best, slack);
            const ActiveSet& now = nearest.active;
            known.ids.assign(now.ids.begin(), now.ids.begin() + now.count);
            known.weights.assign(now.weights.begin(), now.weights.begin() + now.count);
            lower_[i] = nearest.lower;
            // A solution replaces the bound, so that both bounds speak of one point.
            bound_[i] = done ? now.distance : std::min(bound_[i], now.distance);
            if (!done) {
                solved_[i] = 0;
                return -1.0;
            }
        }
        solved_[i] = among.ids[other.stop - 1] + 1;
        // Solved exactly, the distance is the more precise of its two bounds.
        return slack <= exact_gap ? bound_[i] : lower_[i];
    }

  private:
    struct Combination {
        std::vector<int64_t> ids;
        std::vector<double> weights;
    };
    const int64_t *stops_, *inside_from_;
    int64_t n_levels_, renewed_at_ = 0;
    std::vector<double> bound_;        // upper bound of the distance of each row
    std::vector<double> lower_;        // lower bound, valid once solved
    std::vector<int64_t> solved_;      // number of rows of the other sample it is solved for; 0: not solved
    std::vector<int64_t> looked_;      // the last level at which it was looked at
    std::vector<Combination> active_;  // rows of the other sample that combine to the nearest point known
};

// What is known of the Hausdorff distance at each level: see `bound_levels`.
struct LevelGaps {
    double *lower, *upper, *directions;
    int64_t* sides;
};

// Bound the Hausdorff distances of all levels.
//
// The distance from a fixed point to a growing hull only falls. So the distance to any point ever found in
// the other hull stays an upper bound, and at each level only the points whose bound exceeds the largest
// distance found so far are looked at again, those of the largest bound first; a projection stops as soon as
// it falls below that distance. A solved projection is resumed from its active rows, and only the rows that
// entered since can have changed it.
//
// Raises `lower` (L,), values known to be attained, until it is within a share `slack` of the upper bounds;
// where it is raised, `directions` (L, d) are set to unit vectors that attain it and `sides` (L,) to 0 if the
// first hull sticks out, 1 if the second does. Ends early when more than `limit` coordinates were looked at:
// the upper bounds are then not to be used.
inline void bound_levels(GrowingHull& first, GrowingHull& second, int64_t n_levels, double slack,
                         double limit, LevelGaps gaps) {
    const int64_t dim = first.candidates.rows.d;
    NearestPoint nearest(std::max(first.candidates.rows.n, second.candidates.rows.n), dim);
    Signals signals;
    int64_t winner_side = 0, winner = -1;
    for (int64_t level = 0; level < n_levels; level++) {
        first.go_to(level);
        second.go_to(level);
        double best = gaps.lower[level];
        // What was furthest out a level ago most often still is.
        int64_t side = winner_side;
        for (int64_t i = winner;; i = -1) {
            if (i < 0) {
                const auto open = first.largest_open(level), other = second.largest_open(level);
                side = other.second > open.second;
                i = side ? other.first : open.first;
                if (std::max(open.second, other.second) <= (1.0 + slack) * best) break;
            }
            gaps.lower[level] = best;
            if (nearest.spent > limit) return;
            signals.check();
            const double value = side ? second.look(i, level, first, nearest, best, slack)
                                      : first.look(i, level, second, nearest, best, slack);
            if (!(value > best)) continue;
            best = value;
            winner = i, winner_side = side;
            gaps.sides[level] = side;
            const double* offset = nearest.active.offset.data();
            const double size = std::sqrt(dot(offset, offset, dim));
            for (int64_t k = 0; k < dim; k++) gaps.directions[level * dim + k] = -offset[k] / size;
        }
        gaps.lower[level] = best;
        gaps.upper[level] = std::max(first.largest_bound(), second.largest_bound());
    }
}

}  // namespace isodepth
