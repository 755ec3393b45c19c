// Nearest points of convex hulls by Wolfe's minimum-norm algorithm, Hausdorff distances between the nested
// hulls of two samples, and local ascent of the gap between the support functions of two hulls.
#pragma once

#include <queue>

#include "active_set.hpp"
#include "project.hpp"

namespace isodepth {

// Relative difference of the upper and the lower bound of a distance below which the distance counts as
// exact. Such differences are due to rounding alone.
constexpr double exact_gap = 1e-13;

// Check that points are not too large for computations with hulls, and return them. Values are limited to
// 2**500, so that squared distances do not overflow. With infinite distances, a search for nearest points
// would not improve.
inline Rows<double> check_size(Rows<double> rows, int64_t n_threads = 1) {
    require(are_finite(rows, n_threads, 0x1p500), "points are too large: scale them to a size of about 1");
    return rows;
}

// Rows of a sample, stored row by row and also in tiles (groups of rows stored by columns) for SIMD.
struct HullRows {
    Rows<double> rows;
    int64_t n_threads = 1;  // for copying the rows to tiles
    Tiles<double> tiles{rows, n_threads};

    // Among the rows start..stop, find the row with the minimum of a sum over columns. Return its index and
    // the sum. For each column k, the sum is updated by `sum = term(k, row[k] - query[k], sum)`. The search
    // goes from the last row, which is the outermost, to the first. It stops early at a sum of at most
    // `good`.
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

    // Return the index of the row among start..stop that maximizes <direction, row - from>, and the maximum.
    std::pair<int64_t, double> furthest(int64_t start, int64_t stop, const double* direction,
                                        const double* from) const {
        auto behind = [=](int64_t k, Vec<double> step, Vec<double> sum) {
            return multiply_add<double>(broadcast(-direction[k]), step, sum);
        };
        const auto [row, product] = lowest(start, stop, from, -infinity<double>, behind);
        return {row, -product};
    }
};

// Search for the point of a convex hull that is nearest to a query. The current point is a positive
// combination of affinely independent rows, the active rows. A step adds the row that extends farthest from
// the current point towards the query. Then the current point moves to the nearest point of the affine span
// of the active rows. Rows whose weights would become negative are removed. The added row also gives a lower
// bound of the distance, so the remaining error is known.
class NearestPoint {
    static constexpr double useful = 0.25;

    static auto product(const double* u) {
        return [u](int64_t k, Vec<double> step, Vec<double> sum) {
            return multiply_add<double>(broadcast(u[k]), step, sum);
        };
    }
    // Return the lower bound of the distance that follows from the minimum `slope` of the products of the
    // rows with the offset.
    static double lower_bound(double slope, double distance) { return slope > 0.0 ? slope / distance : 0.0; }
    // Return whether the distance is known up to the slack. `row` is the row with the minimum product.
    static bool close(Rows<double> rows, int64_t row, const double* query, double distance, double lower,
                      double slack) {
        const double rounding = 4.0 * epsilon * distance_between(rows[row], query, rows.d);
        return distance - lower <= slack * distance + rounding;
    }

  public:
    ActiveSet active;
    double lower = 0.0;  // lower bound of the distance from the query to the hull
    int64_t spent = 0;   // number of coordinates of rows read so far
    int64_t steps;       // maximum number of further steps

    NearestPoint(int64_t n_rows, int64_t dim, int64_t steps = int64_t(1) << 60)
        : active(dim, std::min({n_rows, dim + 1, steps + 2})), steps(steps) {}

    // Return whether the nearest point in the hull of the first `solved` rows is also the nearest point in
    // the hull of the first `stop` rows, up to a fraction `slack` of the distance. `offset` is the vector
    // from the query to this point, and `distance` its length. Update the lower bound `proven`.
    bool remains(const HullRows& among, int64_t solved, int64_t stop, const double* query,
                 const double* offset, double distance, double slack, double& proven) {
        if (solved == stop) return true;
        const auto [row, slope] = among.lowest(solved, stop, query, -infinity<double>, product(offset));
        proven = std::min(proven, lower_bound(slope, distance));
        if (!close(among.rows, row, query, distance, proven, slack)) return false;
        spent += (stop - solved) * among.rows.d;
        return true;
    }

    // Find the point nearest to `query` in the hull of the first `stop` rows, starting from the active rows,
    // if there are any. If `solved` > 0, the active rows and `lower` must be the solution for the first
    // `solved` rows, and only the other rows are read at first. The search converges if the distance is known
    // up to a fraction `slack`. It ends without convergence at a distance of at most `enough`. Return whether
    // the search has converged. If so, `active.offset` is the vector from the query to the nearest point,
    // unless both coincide. `check` is called in each step.
    bool find(const HullRows& among, int64_t solved, int64_t stop, const double* query, double enough,
              double slack, Check& check) {
        const Rows<double> rows = among.rows;
        if (!active.factorize(rows, query)) {
            solved = 0;
            spent += stop * rows.d;
            auto square = [](int64_t, Vec<double> step, Vec<double> sum) {
                return multiply_add<double>(step, step, sum);
            };
            active.ids = {among.lowest(0, stop, query, enough * enough, square).first};
            active.weights = {1.0};
            if (!active.factorize(rows, query)) {  // the nearest row equals the query
                active.distance = lower = 0.0;
                return true;
            }
        }
        active.move(rows, query);
        bool improved = true;
        // Maximum of <v, current point - row> over rows, from the last pass over all rows. v is the vector
        // from the query to the current point.
        double promise = infinity<double>;
        for (; steps > 0; steps--) {
            check();
            if (solved == 0 && active.distance <= enough) return false;
            if (active.distance <= 8.0 * epsilon * active.reach) {
                // The distance is at most the rounding error of the rows, so the query counts as inside the
                // hull.
                active.distance = lower = 0.0;
                return true;
            }
            // Do not read all rows in every step. Let v be the vector from the query to the current point.
            // Accept the first row whose <v, current point - row> is at least `useful` times the maximum of
            // the last full pass.
            const double square = active.distance * active.distance, good = square - useful * promise;
            spent += (stop - solved) * rows.d;
            const auto [entering, slope] =
                among.lowest(solved, stop, query, good, product(active.offset.data()));
            const bool all = !(slope <= good);
            if (all) {
                const double proven = lower_bound(slope, active.distance);
                lower = solved > 0 ? std::min(lower, proven) : proven;
                if (close(rows, entering, query, active.distance, lower, slack) || !improved) return true;
            }
            const double before = active.distance;
            if (active.enter(rows, entering, query)) {
                active.descend();
                active.move(rows, query);
            }
            // If the distance did not decrease, only rounding errors remain. A pass over all rows must
            // confirm that.
            const bool closer = active.distance < before;
            improved = closer || !all;
            promise = !closer ? infinity<double> : all ? square - slope : promise;
            solved = 0;
        }
        return false;
    }
};

// Bounds of the distance from a row to the convex hull of the other sample.
struct KnownDistance {
    double upper, lower = 0.0;  // the lower bound is valid only if `solved` is positive
    // Number of rows in the other hull when the last search converged; 0 if it did not converge.
    int64_t solved = 0;
    int64_t active = 0;  // number of rows of the other sample whose weighted mean is the nearest point so far
};

// One of two samples. Its rows enter its convex hull in depth order, deepest first. `known` has bounds of the
// distances of its rows to the hull of the other sample.
struct GrowingHull {
    HullRows rows;
    const int64_t* stops;  // (levels,) number of rows in the hull at each depth level
    std::vector<KnownDistance> known{};
    // For each row, the active rows and their weights (n, most_active), and the vector to the nearest point
    // (n, d).
    int64_t most_active = 0;
    Workspace<int64_t> ids{};
    Workspace<double> weights{}, offsets{};

    // Allocate memory for the distances to the hull of another sample.
    void prepare(const GrowingHull& other) {
        const auto [data, n, d] = rows.rows;
        most_active = std::min(other.rows.rows.n, d + 1);
        known.reserve(size_t(n));
        ids = Workspace<int64_t>(n * most_active);
        weights = Workspace<double>(n * most_active);
        offsets = Workspace<double>(n * d);
    }
    double* offset(int64_t row) { return offsets.data() + row * rows.rows.d; }

    // Improve the bounds of the distance from a row to the hull of the other sample at a depth level. If the
    // search converges, return the distance, and set `offset(row)` to the vector from the row to its nearest
    // point. Otherwise return -1.
    double look(int64_t row, const GrowingHull& other, int64_t level, NearestPoint& nearest, double enough,
                double slack, Check& check) {
        KnownDistance& of = known[row];
        const double* query = rows.rows[row];
        const int64_t stop = other.stops[level];
        // Most rows that enter the hull do not change the nearest point. A search is then not needed.
        if (of.solved == 0 ||
            !nearest.remains(other.rows, of.solved, stop, query, offset(row), of.upper, slack, of.lower)) {
            ActiveSet& active = nearest.active;
            int64_t* own_ids = ids.data() + row * most_active;
            double* own_weights = weights.data() + row * most_active;
            active.ids.assign(own_ids, own_ids + of.active);
            active.weights.assign(own_weights, own_weights + of.active);
            nearest.lower = of.lower;
            const bool done = nearest.find(other.rows, of.solved, stop, query, enough, slack, check);
            of.active = int64_t(active.ids.size());
            std::copy(active.ids.begin(), active.ids.end(), own_ids);
            std::copy(active.weights.begin(), active.weights.end(), own_weights);
            of.lower = nearest.lower;
            // After convergence, replace the upper bound even by a larger value, so that both bounds refer to
            // the same nearest point.
            of.upper = done ? active.distance : std::min(of.upper, active.distance);
            of.solved = 0;
            if (!done) return -1.0;
            std::copy(active.offset.begin(), active.offset.end(), offset(row));
        }
        of.solved = stop;
        // After an exact search, the upper bound is more precise. Otherwise return the lower bound, which the
        // gap between the support functions attains along the offset.
        return slack <= exact_gap ? of.upper : of.lower;
    }
};

struct LevelBounds {
    std::vector<double> lower, upper, directions;
    std::vector<int64_t> sides;
};

// A row whose distance to the hull of the other sample at a depth level is searched. The search ends at a
// distance of at most `enough`.
struct WantedDistance {
    int side;
    int64_t row, level;
    double enough;
};

// Searches of the distances of several rows. They do not depend on each other, so that threads share them.
class DistanceSearches {
  public:
    static constexpr size_t at_once = 256;  // maximum number of rows of a call of `look`
    std::atomic<int64_t> spent = 0;         // number of coordinates of rows read so far

    DistanceSearches(GrowingHull (&hulls)[2], double slack, int64_t n_threads)
        : hulls_(hulls), slack_(slack), n_threads_(n_threads) {}

    // Return for each row the result of `GrowingHull::look`.
    const std::vector<double>& look(std::span<const WantedDistance> wanted) {
        constexpr int64_t passes = 8;  // estimated number of passes over the rows of the other sample
        const Rows<double> first = hulls_[0].rows.rows, second = hulls_[1].rows.rows;
        const int64_t count = int64_t(wanted.size()), rows = std::max(first.n, second.n);
        values_.resize(wanted.size());
        auto work = [&](int64_t worker, int64_t i, Check& check) {
            const auto [side, row, level, enough] = wanted[size_t(i)];
            NearestPoint& own = searches_.of(worker, [&] { return NearestPoint(rows, first.d); });
            own.spent = 0;
            values_[size_t(i)] = hulls_[side].look(row, hulls_[1 - side], level, own, enough, slack_, check);
            spent += own.spent;
        };
        // Starting a section would take as long as one of the many searches that read only a few rows.
        if (count == 1) work(0, 0, check_);
        else
            parallel_checked(worker_count(n_threads_, count, passes * rows * count, worth_an_awake_helper),
                             count, work);
        return values_;
    }

  private:
    GrowingHull (&hulls_)[2];
    double slack_;
    int64_t n_threads_;
    PerWorker<NearestPoint> searches_{std::clamp<int64_t>(n_threads_, 1, at_once)};
    std::vector<double> values_;
    Check check_;
};

// Bounds of the distances of rows at the depth level at which they enter the hull of their sample.
class FirstBounds {
  public:
    // `attained` has a lower bound of the Hausdorff distance at each level.
    FirstBounds(GrowingHull (&hulls)[2], std::vector<double> attained, double slack)
        : hulls_(hulls), attained_(std::move(attained)), slack_(slack) {}

    // Bound the distances of the rows that enter at a level and, if there are few of them, of the rows that
    // enter at the next levels. Do nothing if this has been done. `previous` is the Hausdorff distance at the
    // previous level, which is used to guess the next distances. A search ends at a distance of at most the
    // guess. If the searches read more than `limit` coordinates, the remaining rows get only a rough upper
    // bound.
    void find(size_t level, double previous, DistanceSearches& searches, double limit) {
        if (level < next_) return;
        // Without a guess it is faster to search row by row, because each distance that is found shortens the
        // searches of other rows.
        const bool useful = level > 0 && attained_[level - 1] > 0;
        double factor = useful ? (1.0 + slack_) * previous / attained_[level - 1] : 0.0;
        // Smaller upper bounds save searches at later levels, which threads cannot share. But they must not
        // exhaust the limit: the number of coordinates that are read in total is estimated, because it is
        // about proportional to the square of the number of rows. If many rows enter at once, there are few
        // later levels. The factor was tuned for 2 to 50 columns. With many columns distances differ less,
        // and a smaller reduction has the same effect.
        auto rows_at = [&](size_t l) { return double(hulls_[0].stops[l] + hulls_[1].stops[l]); };
        const double entered = double(hulls_[0].known.size() + hulls_[1].known.size()),
                     all = rows_at(attained_.size() - 1), part = entered / all;
        if (entered > at_once && rows_at(level) - entered <= 0.25 * all &&
            double(searches.spent) <= 0.75 * limit * part * part)
            factor *= std::max(0.9, 1.0 - 1.0 / double(hulls_[0].rows.rows.d));
        std::vector<WantedDistance> entries;
        for (; next_ == level || (useful && next_ < attained_.size() && entries.size() < at_once); next_++) {
            const double enough = factor * attained_[next_];
            for (int side = 0; side < 2; side++) {
                const Rows<double> rows = hulls_[side].rows.rows;
                auto& known = hulls_[side].known;
                for (int64_t row = int64_t(known.size()); row < hulls_[side].stops[next_]; row++) {
                    const double* start = hulls_[1 - side].rows.rows[0];
                    known.push_back({distance_between(rows[row], start, rows.d)});
                    if (enough > 0 && known.back().upper > enough)
                        entries.push_back({side, row, int64_t(next_), enough});
                }
            }
        }
        for (size_t start = 0; start < entries.size() && double(searches.spent) <= limit; start += at_once)
            searches.look(std::span(entries).subspan(start, std::min(at_once, entries.size() - start)));
    }

  private:
    static constexpr size_t at_once = DistanceSearches::at_once;
    GrowingHull (&hulls_)[2];
    const std::vector<double> attained_;
    double slack_;
    size_t next_ = 0;  // first depth level whose rows have no bounds
};

// Compute bounds of the Hausdorff distances between two growing hulls at all depth levels.
//
// The distance from a fixed point to a growing hull does not increase. So a distance computed at an earlier
// level remains an upper bound. At each level, points are projected on the other hull in decreasing order of
// their upper bounds, as long as the upper bound exceeds the largest distance found. A projection stops when
// its distance falls below the largest distance found. After convergence, a projection is resumed from its
// active rows, because only rows that have entered the hull since then can change it.
//
// `lower` (L,) starts from `attained`, with one value per level, and is raised until it is within a fraction
// `slack` of the upper bounds. If the lower bound of a level is raised, `directions` (L, d) is set to a unit
// vector along which the gap of the support functions attains the bound. `sides` (L,) is set to 0 if the
// first hull extends farther, and to 1 if the second does. The search ends early if more than `limit`
// coordinates were read. The upper bounds are then not valid.
inline LevelBounds bound_levels(GrowingHull (&hulls)[2], std::vector<double> attained, double slack,
                                double limit, int64_t n_threads) {
    const size_t levels = attained.size(), dim = hulls[0].rows.rows.d;
    LevelBounds gaps{std::move(attained), std::vector<double>(levels), std::vector<double>(levels * dim),
                     std::vector<int64_t>(levels, -1)};
    for (size_t level = 0; level < levels; level++) gaps.directions[level * dim] = 1.0;
    for (int side = 0; side < 2; side++) hulls[side].prepare(hulls[1 - side]);
    DistanceSearches searches(hulls, slack, n_threads);
    using Row = std::pair<int, int64_t>;  // index of the sample (0 or 1), and row index
    using Open = std::pair<double, Row>;
    // Rows in the hulls at the current level, by decreasing upper bound of their distance, then by sample and
    // row index. The farthest row of the previous level, which is often the farthest of the next level too,
    // is examined first and is not in the queue.
    std::priority_queue<Open, std::vector<Open>, std::greater<Open>> open;
    std::vector<Row> looked;
    std::vector<WantedDistance> batch;
    Row furthest{-1, -1};
    FirstBounds first_bounds(hulls, gaps.lower, slack);
    for (size_t level = 0; level < levels; level++) {
        const double previous = level > 0 ? gaps.lower[level - 1] : 0.0;
        first_bounds.find(level, previous, searches, limit);
        for (int side = 0; side < 2; side++)
            for (int64_t row = level > 0 ? hulls[side].stops[level - 1] : 0; row < hulls[side].stops[level];
                 row++)
                open.push({-hulls[side].known[row].upper, {side, row}});
        double &best = gaps.lower[level], &upper = gaps.upper[level];
        looked.clear();
        batch.clear();
        if (furthest.first >= 0)
            batch.push_back({furthest.first, furthest.second, int64_t(level), (1.0 + slack) * best});
        // Rows are examined in growing batches. A distance that is found shortens the searches of later
        // batches, and threads share a large batch.
        for (size_t most = 1;; most = std::min(4 * most, DistanceSearches::at_once), batch.clear()) {
            const double enough = (1.0 + slack) * best;
            for (; batch.size() < most && !open.empty() && -open.top().first > enough; open.pop()) {
                const auto [side, row] = open.top().second;
                batch.push_back({side, row, int64_t(level), enough});
            }
            if (batch.empty()) break;
            if (double(searches.spent) > limit) return gaps;
            const std::vector<double>& values = searches.look(batch);
            for (size_t i = 0; i < batch.size(); i++) {
                const auto [side, row, at, least] = batch[i];
                looked.push_back({side, row});
                if (!(values[i] > best)) continue;
                best = values[i];
                furthest = looked.back();
                gaps.sides[level] = side;
                const double *offset = hulls[side].offset(row), size = length(offset, dim);
                for (size_t k = 0; k < dim; k++) gaps.directions[level * dim + k] = -offset[k] / size;
            }
        }
        if (!open.empty()) upper = -open.top().first;
        for (const Row& row : looked) {
            const double bound = hulls[row.first].known[row.second].upper;
            upper = std::max(upper, bound);
            if (row != furthest) open.push({-bound, row});
        }
    }
    return gaps;
}

// ---- Local ascent of the gap |h_X(u) - h_Y(u)| over unit vectors u ----
//
// h_X and h_Y are the support functions of the convex hulls of two samples. For a fixed vertex a of one hull,
// the maximum over u of <a, u> - h(u), where h belongs to the other hull, is the distance from a to the other
// hull. The maximizing u follows from the point of the other hull nearest to a. If another vertex extends
// farther along u than a, the ascent continues from that vertex, as long as the gap increases.

// Start of a local ascent: a direction, and the rows of both samples that extend farthest along it.
struct Start {
    double gap;  // difference of the support functions; positive if the first sample extends farther
    int64_t level, direction, row[2];
    int64_t turn = 0;  // rank among the starts of the same level, largest gap first

    int side() const { return gap < 0; }
};

// Return the unit vectors from the mean of the second sample to the mean of the first at each depth level.
// Levels at which the means coincide are excluded.
inline std::vector<double> between_means(const GrowingHull (&hulls)[2], size_t levels) {
    // The mean of a few hundred evenly spaced rows is accurate enough for a starting direction.
    constexpr int64_t enough = 256;
    const size_t d = size_t(hulls[0].rows.rows.d);
    std::vector<double> vectors;
    for (size_t level = 0; level < levels; level++) {
        std::vector<double> vector(d);
        for (int side = 0; side < 2; side++) {
            const Rows<double> rows = hulls[side].rows.rows;
            const int64_t n = hulls[side].stops[level], step = std::max<int64_t>(1, n / enough);
            const double count = double((n + step - 1) / step);
            std::vector<double> sum(d);
            for (int64_t i = 0; i < n; i += step)
                for (size_t k = 0; k < d; k++) sum[k] += rows[i][k];
            for (size_t k = 0; k < d; k++) vector[k] += (side ? -sum[k] : sum[k]) / count;
        }
        double largest = 0.0;
        for (const double x : vector) largest = std::max(largest, std::fabs(x));
        if (largest == 0.0) continue;
        for (double& x : vector) x /= largest;
        const double size = length(vector.data(), int64_t(d));
        for (const double x : vector) vectors.push_back(x / size);
    }
    return vectors;
}

// Return at most `most` starts of local ascents. For each level and direction, the start is the vertex that
// extends farthest along the direction, of both hulls. Each vertex occurs once per level. The vertex of
// largest gap of each level comes first, then the vertex of second largest gap of each level, and so on.
inline std::vector<Start> find_starts(const GrowingHull (&hulls)[2], int64_t levels, Rows<double> directions,
                                      int64_t most, int64_t n_threads) {
    const int64_t count = directions.n, rows = hulls[0].rows.rows.n + hulls[1].rows.rows.n;
    std::vector<std::vector<Start>> found(levels, std::vector<Start>(count));
    const int64_t workers = worker_count(n_threads, count, rows * count, worth_an_awake_helper);
    parallel_for(workers, count, [&](int64_t, int64_t k) {
        std::pair<int64_t, double> furthest[2];
        for (int64_t level = 0; level < levels; level++) {
            for (int side = 0; side < 2; side++) {
                const HullRows& rows = hulls[side].rows;
                const int64_t* stops = hulls[side].stops;
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
        std::vector<std::pair<int, int64_t>> taken;
        for (Start& at : own) {
            const std::pair vertex(at.side(), at.row[at.side()]);
            if (int64_t(taken.size()) == most) break;
            if (std::find(taken.begin(), taken.end(), vertex) != taken.end()) continue;
            at.turn = int64_t(taken.size());
            taken.push_back(vertex);
            starts.push_back(at);
        }
    }
    std::stable_sort(starts.begin(), starts.end(), [](auto& a, auto& b) { return a.turn < b.turn; });
    if (int64_t(starts.size()) > most) starts.resize(most);
    return starts;
}

// `best` (d,) is the direction of a start. Replace it by a direction of larger gap, found by at most `steps`
// steps of local ascent. Stop at a relative improvement of at most `slack`.
inline void climb(const GrowingHull (&hulls)[2], const Start& at, int64_t steps, double slack, double* best,
                  Check& check) {
    const GrowingHull &own = hulls[at.side()], &other = hulls[1 - at.side()];
    const int64_t d = own.rows.rows.d, own_stop = own.stops[at.level], stop = other.stops[at.level];
    NearestPoint nearest(stop, d, steps);
    ActiveSet& active = nearest.active;
    active.ids = {at.row[1 - at.side()]}, active.weights = {1.0};
    double value = std::abs(at.gap);
    std::vector<double> trial(d);
    for (int64_t corner = at.row[at.side()];;) {
        const double* from = own.rows.rows[corner];
        nearest.find(other.rows, 0, stop, from, 0.0, slack, check);
        for (int64_t k = 0; k < d; k++) trial[k] = -active.offset[k] / active.distance;
        const auto [next, outer] = own.rows.furthest(0, own_stop, trial.data(), from);
        const double inner = other.rows.furthest(0, stop, trial.data(), from).second;
        // If the vertex is in the other hull, its distance is 0 and the trial direction is NaN. The
        // comparison is then false too, and the ascent ends.
        if (!(outer - inner > value)) return;
        value = outer - inner;
        std::copy(trial.begin(), trial.end(), best);
        if (outer <= slack * value) return;
        corner = next;
    }
}

// Return the directions (J, d), J <= n_ascents, at which local ascents end. The candidates for their starts
// are `vectors` (C, d), the unit vectors between the means of both samples at each level, and the opposites
// of all of them.
inline std::vector<double> ascend(const GrowingHull (&hulls)[2], size_t levels, std::vector<double> vectors,
                                  int64_t n_ascents, int64_t steps, double slack, int64_t n_threads) {
    const int64_t d = hulls[0].rows.rows.d, rows = hulls[0].rows.rows.n + hulls[1].rows.rows.n;
    for (const double x : between_means(hulls, levels)) vectors.push_back(x);
    const size_t forward = vectors.size();
    for (size_t i = 0; i < forward; i++) vectors.push_back(-vectors[i]);
    const Rows<double> candidates{vectors.data(), int64_t(vectors.size()) / d, d};
    const auto starts = find_starts(hulls, levels, candidates, n_ascents, n_threads);
    std::vector<double> tops;
    for (const Start& at : starts)
        tops.insert(tops.end(), candidates[at.direction], candidates[at.direction] + d);
    const int64_t count = starts.size();
    constexpr int64_t passes = 16;  // estimated number of passes of a climb over the rows
    const int64_t workers = worker_count(n_threads, count, passes * rows * count, worth_an_awake_helper);
    parallel_checked(workers, count, [&](int64_t, int64_t i, Check& check) {
        climb(hulls, starts[i], steps, slack, tops.data() + i * d, check);
    });
    return tops;
}

}  // namespace isodepth
