// The smallest mass of a closed halfspace at a point, by projections and planar sweeps.
//
// Seen from the query, the points are vectors, and only the signs of <u, v> matter. Turn the best u until it
// is orthogonal to some vector v: the vectors on the line of v then fall on the better side of it, and the
// others can be projected along v, which leaves the same problem in one dimension less (Dyckerhoff and
// Mozharovskyi 2016). In the plane, u turns once round and meets the vectors in the order of their angles.
//
// Each set of d - 2 vectors is tried in one order only. That is enough: a best u may be moved to a face of
// its cell of the arrangement on which d - 2 facets meet, and at each step the facet of smallest index can be
// taken first.
//
// Projecting along a vector is one step of Gaussian elimination. It runs in doubles with a bound of the error
// carried along; a sign that is not certain from that is taken from a determinant without rounding. When all
// coordinates are small integers (`lattice`), nothing rounds and no bound is needed.
#pragma once

#include <atomic>

#include "parallel.hpp"
#include "predicates.hpp"

namespace isodepth {

struct WeightedSample {
    Rows<double> points;  // (n, d), distinct, not all in one hyperplane; d >= 2
    const int64_t* masses;
    bool lattice;  // whether no projection of these points rounds
};

// The vectors seen from the query after some elimination steps.
struct Projected {
    Workspace<TwoTerms> vectors;   // (n, d) in the coordinates not yet eliminated; no errors on a lattice
    Workspace<int64_t> ids;        // (n,) which points they are, increasing
    std::vector<int64_t> columns;  // which coordinates are left
    std::vector<char> skip;        // (n,) points on a line already eliminated
    int64_t count = 0;             // vectors
    double divisor = 1.0;          // by which the vectors of the next step are divided
    int order = 1;                 // sign of the product of the pivots of the true Schur complements
    int scale = 1;                 // sign of the factor between vectors and true Schur complements

    Projected(int64_t n, int64_t d) : vectors(n * d), ids(n), columns(d), skip(n) {}
};

class HalfspaceSearch {
  public:
    explicit HalfspaceSearch(WeightedSample sample) : sample_(sample) {
        for (int64_t level = 0; level + 1 < d_; level++) levels_.emplace_back(n_, d_);
    }

    int64_t at_query = 0;  // mass found at the query

    // See the points from a query.
    void look_from(const double* query) {
        if (query == origin_) return;
        Projected& state = levels_[0];
        origin_ = query;
        at_query = state.count = 0;
        for (int64_t i = 0; i < n_; i++) {
            bool distinct = false;
            for (int64_t k = 0; k < d_; k++) {
                // The rounded difference of two doubles is zero only when they are equal.
                const double value = sample_.points[i][k] - query[k];
                state.vectors[state.count * d_ + k] = {value,
                                                       sample_.lattice ? 0.0 : roundoff * std::abs(value)};
                distinct = distinct || value != 0.0;
            }
            state.ids[state.count] = i;
            if (distinct) state.count++;
            else at_query += sample_.masses[i];
        }
        std::iota(state.columns.begin(), state.columns.end(), int64_t(0));
        std::fill(state.skip.begin(), state.skip.end(), 0);
    }

    int64_t count() const { return levels_[0].count; }

    // Lower `best` to the smallest mass over all eliminations that begin with vectors start..stop.
    // `pause()` is called now and then; if it says so, the search is given up.
    template <class Pause> void search(int64_t start, int64_t stop, std::atomic<int64_t>& best, Pause pause) {
        if (d_ == 2) lower(best, at_query + planar_sweep(levels_[0], 0));
        else if (best.load() > at_query) search_level(0, start, stop, at_query, best, pause);
    }

  private:
    // Bounds are computed in doubles too: a little is added for that, and for what may underflow.
    static constexpr double slack = 1.0 + 0x1p-40, tiny = 1e-290;

    const WeightedSample sample_;
    const int64_t n_ = sample_.points.n, d_ = sample_.points.d;
    Determinants exact_{sample_.points};
    const double* origin_ = nullptr;
    std::vector<Projected> levels_;
    // Points eliminated so far and their pivot columns.
    std::vector<int64_t> chosen_ = std::vector<int64_t>(d_), pivots_ = chosen_;
    // The planar sweep. The key of the line of a vector is minus the cotangent of its angle, which increases
    // with angles in [0, pi).
    struct Line {
        double low, high;  // what the key may be
        int side;          // 1 when the vector points to angles in [0, pi), -1 when its opposite does
        int vector;
    };
    std::vector<Line> lines_;

    static void lower(std::atomic<int64_t>& best, int64_t mass) {
        int64_t known = best.load();
        while (mass < known && !best.compare_exchange_weak(known, mass)) {
        }
    }

    template <class Pause> bool search_level(int64_t level, int64_t start, int64_t stop, int64_t spent,
                                             std::atomic<int64_t>& best, Pause pause) {
        Projected& state = levels_[level];
        for (int64_t row = start; row < stop; row++) {
            const int64_t point = state.ids[row];
            if (state.skip[point] || (level > 0 && point < chosen_[level - 1])) continue;
            const int64_t cost = spent + eliminate(level, row);
            if (cost >= best.load(std::memory_order_relaxed)) continue;
            if (level + 3 == d_) {
                lower(best, cost + planar_sweep(levels_[level + 1], level + 1));
                if (best.load(std::memory_order_relaxed) == at_query || pause()) return false;
            } else {
                std::fill(levels_[level + 1].skip.begin(), levels_[level + 1].skip.end(), 0);
                if (!search_level(level + 1, 0, levels_[level + 1].count, cost, best, pause)) return false;
            }
        }
        return true;
    }

    static double certainty(TwoTerms x) { return std::abs(x.value) - x.error; }

    // Sign of coordinate `k` of vector `row` after `level` steps.
    int component_sign(int64_t level, int64_t row, int64_t k) {
        const Projected& state = levels_[level];
        const TwoTerms x = state.vectors[row * d_ + k];
        if (certainty(x) > 0.0) return x.value > 0.0 ? 1 : -1;
        if (x.error == 0.0) return 0;
        choose(level, row, k);
        return state.order * state.scale * exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 1);
    }

    void choose(int64_t level, int64_t row, int64_t k) {
        chosen_[level] = levels_[level].ids[row];
        pivots_[level] = levels_[level].columns[k];
    }

    bool is_zero(int64_t level, int64_t row) {
        for (int64_t k = 0; k < d_ - level; k++)
            if (component_sign(level, row, k) != 0) return false;
        return true;
    }

    // (a p - b c) / by, with a bound of its error.
    TwoTerms eliminated(TwoTerms a, TwoTerms p, TwoTerms b, TwoTerms c, double by) const {
        const double value = (a.value * p.value - b.value * c.value) / by;
        if (sample_.lattice) return {value, 0.0};
        double error = std::abs(a.value) * p.error + (std::abs(p.value) + p.error) * a.error;
        error += std::abs(b.value) * c.error + (std::abs(c.value) + c.error) * b.error;
        error += 2.0 * roundoff * (std::abs(a.value * p.value) + std::abs(b.value * c.value));
        return {value, ((error + tiny) / std::abs(by) + roundoff * std::abs(value)) * slack + tiny};
    }

    // Project along vector `row` of `level`, into the next level. Returns the mass that the better side of
    // its line costs; the points on the line need no elimination of their own.
    int64_t eliminate(int64_t level, int64_t row) {
        Projected &state = levels_[level], &next = levels_[level + 1];
        const int64_t width = d_ - level;
        const TwoTerms* along = state.vectors.data() + row * d_;
        int64_t pivot = 0;
        for (int64_t k = 1; k < width; k++)
            if (certainty(along[k]) > certainty(along[pivot])) pivot = k;
        // Where no coordinate is certain, some are not zero all the same.
        int sign = component_sign(level, row, pivot);
        while (sign == 0) sign = component_sign(level, row, pivot = (pivot + 1) % width);
        next.divisor = certainty(along[pivot]) > 0.0 ? along[pivot].value : 1.0;
        for (int64_t k = 0, to = 0; k < width; k++)
            if (k != pivot) next.columns[to++] = state.columns[k];

        // The next vectors are (a * p - b * c) / divisor, as in Bareiss' method: p the pivot, b the
        // coordinate to vanish. The divisor is the pivot of the step before, which keeps integers integer; as
        // it is common to all vectors, its own error does not matter.
        const int of_schur = sign * state.scale;
        next.order = state.order * of_schur;
        next.scale = state.divisor > 0.0 ? of_schur : -of_schur;
        int64_t ahead = 0, behind = 0;
        next.count = 0;
        choose(level, row, pivot);
        for (int64_t j = 0; j < state.count; j++) {
            const TwoTerms* from = state.vectors.data() + j * d_;
            TwoTerms* to = next.vectors.data() + next.count * d_;
            bool certain = false;
            for (int64_t k = 0; k < width; k++) {
                if (k == pivot) continue;
                *to = eliminated(from[k], along[pivot], from[pivot], along[k], state.divisor);
                certain = certain || certainty(*to) > 0.0;
                to++;
            }
            const int64_t point = state.ids[j];
            next.ids[next.count] = point;
            if (certain || !(j == row || is_zero(level + 1, next.count))) {
                next.count++;
                continue;
            }
            state.skip[point] = 1;
            (component_sign(level, j, pivot) == sign ? ahead : behind) += sample_.masses[point];
            choose(level, row, pivot);  // the sign just taken may have changed that
        }
        return std::min(ahead, behind);
    }

    // Smallest mass on one side of a line through the origin, the line turning by pi.
    int64_t planar_sweep(const Projected& state, int64_t level) {
        int64_t left = 0, total = 0;
        lines_.clear();
        for (int j = 0; j < state.count; j++) {
            lines_.push_back(line_of(state, level, j));
            const int64_t mass = sample_.masses[state.ids[j]];
            total += mass;
            if (lines_.back().side > 0) left += mass;
        }
        // Two columns in which the determinants turn the same way as the projected plane.
        pivots_[level] = state.columns[state.order < 0];
        pivots_[level + 1] = state.columns[state.order > 0];
        auto compare = [&](const Line& a, const Line& b) { return compare_angles(state, level, a, b); };
        std::sort(lines_.begin(), lines_.end(),
                  [&](const Line& a, const Line& b) { return compare(a, b) < 0; });
        int64_t smallest = total;
        for (size_t i = 0; i < lines_.size(); i++) {
            // Lines of one angle change sides together.
            if (i == 0 || compare(lines_[i - 1], lines_[i]) != 0)
                smallest = std::min({smallest, left, total - left});
            left -= lines_[i].side * sample_.masses[state.ids[lines_[i].vector]];
        }
        return smallest;
    }

    // The line of vector `j`, with bounds that hold the true key.
    Line line_of(const Projected& state, int64_t level, int j) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const auto [x, x_error] = state.vectors[j * d_];
        const auto [y, y_error] = state.vectors[j * d_ + 1];
        if (std::abs(y) > y_error) {
            const double key = -x / y;
            double error = (x_error + std::abs(key) * y_error) / (std::abs(y) - y_error);
            error = (error + roundoff * std::abs(key)) * slack + tiny;
            // Fractions of integers below 2**26 are equal or differ by more than a rounding.
            if (sample_.lattice) error = 0.0;
            if (error < infinity) return {key - error, key + error, y > 0.0 ? 1 : -1, j};
        }
        // The coordinates are too uncertain for a quotient.
        const int side = component_sign(level, j, 1);
        if (side == 0) return {-infinity, -infinity, component_sign(level, j, 0), j};
        return {-infinity, infinity, side, j};
    }

    // Negative when line `a` has the smaller angle in [0, pi), positive when line `b` has, 0 when equal.
    int compare_angles(const Projected& state, int64_t level, const Line& a, const Line& b) {
        if (a.high < b.low) return -1;
        if (b.high < a.low) return 1;
        if (sample_.lattice || a.vector == b.vector) return 0;
        chosen_[level] = state.ids[a.vector];
        chosen_[level + 1] = state.ids[b.vector];
        return -exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 2) * a.side * b.side;
    }
};

// Set `smallest` (m,) to the smallest masses of closed halfspaces that contain each of the queries (m, d).
inline void smallest_masses(WeightedSample sample, Rows<double> queries, int64_t n_threads,
                            int64_t* smallest) {
    const int64_t n = sample.points.n, d = sample.points.d, m = queries.n;
    double steps = double(n) * std::max(1.0, std::log2(double(n)));
    for (int64_t k = 0; k < d - 2; k++) steps *= double(n - k) / double(k + 1);
    // Long searches are shared out by the vector that is eliminated first; a step takes some nanoseconds.
    const int64_t pieces = int64_t(std::clamp(steps / 1e5, 1.0, d > 2 ? double(n) : 1.0));
    const int64_t workers = worker_count(n_threads, m * pieces, int64_t(std::min(1e15, double(m) * steps)));
    PerWorker<HalfspaceSearch> searches(workers);
    std::vector<std::atomic<int64_t>> best(m);
    for (auto& mass : best) mass = std::numeric_limits<int64_t>::max();
    Signals signals;
    std::atomic<bool> stopped{false};
    parallel_for(workers, m * pieces, [&](int64_t worker, int64_t part) {
        HalfspaceSearch& search =
            searches.of(worker, [&] { return std::make_unique<HalfspaceSearch>(sample); });
        const int64_t query = part / pieces, piece = part % pieces;
        search.look_from(queries[query]);
        // A part may take long, so signals are looked for inside, by the first worker for all.
        auto pause = [&] {
            try {
                if (worker == 0) signals.check();
            } catch (...) {
                stopped = true;
                throw;
            }
            return stopped.load(std::memory_order_relaxed);
        };
        const int64_t count = search.count();
        search.search(count * piece / pieces, count * (piece + 1) / pieces, best[query], pause);
    });
    std::copy(best.begin(), best.end(), smallest);
}

}  // namespace isodepth
