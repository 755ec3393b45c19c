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
// carried along, 0 as long as nothing rounds (small integers); a sign that is not certain from that is taken
// from a determinant without rounding.
#pragma once

#include <atomic>
#include <functional>

#include "parallel.hpp"
#include "predicates.hpp"

namespace isodepth {

struct WeightedSample {
    Rows<double> points;  // (n, d), distinct, not all in one hyperplane; d >= 2
    const int64_t* masses;
};

// The vectors seen from the query after some elimination steps, as in Bareiss' method: coordinate k of vector
// j is a positive multiple of the determinant of the rows eliminated and j in the pivot columns and k.
struct Projected {
    Workspace<TwoTerms> vectors;   // (n, d) in the coordinates not yet eliminated
    Workspace<int64_t> ids;        // (n,) which points they are, increasing
    std::vector<int64_t> columns;  // which coordinates are left
    std::vector<char> skip;        // (n,) points on a line already eliminated
    int64_t count = 0;             // vectors
    int sign = 1;                  // of the last pivot

    Projected(int64_t n, int64_t d) : vectors(n * d), ids(n), columns(d), skip(n) {}
};

class HalfspaceSearch {
  public:
    // `pause()` is called now and then; if it says so, a search is given up.
    HalfspaceSearch(WeightedSample sample, std::function<bool()> pause) : sample_(sample), pause_(pause) {
        for (int64_t level = 0; level + 1 < d_; level++) levels_.emplace_back(n_, d_);
    }

    // Lower `best` to the smallest mass of a halfspace at the query over all eliminations that begin with
    // vector `first`; in the plane, where nothing is eliminated, over all.
    void search(const double* query, int64_t first, std::atomic<int64_t>& best) {
        if (query != origin_) look_from(query);
        best_ = &best;
        if (d_ == 2) lower(at_query_ + planar_sweep(0));
        else if (first < levels_[0].count && best > at_query_) search_level(0, first, first + 1, at_query_);
    }

  private:
    // Bounds are computed in doubles too: a little is added for that, and for what may underflow.
    static constexpr double slack = 1.0 + 0x1p-40, tiny = 1e-290;
    // Products of two larger numbers, and their errors, do not underflow.
    static constexpr double safe = 1e-75;

    const WeightedSample sample_;
    const std::function<bool()> pause_;
    const int64_t n_ = sample_.points.n, d_ = sample_.points.d;
    Determinants exact_{sample_.points};
    const double* origin_ = nullptr;  // the query
    int64_t at_query_ = 0;            // mass of the point there
    std::atomic<int64_t>* best_ = nullptr;
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

    // See the points from a query.
    void look_from(const double* query) {
        Projected& state = levels_[0];
        origin_ = query;
        at_query_ = state.count = 0;
        for (int64_t i = 0; i < n_; i++) {
            bool distinct = false;
            for (int64_t k = 0; k < d_; k++) {
                const auto [value, error] = two_sum(sample_.points[i][k], -query[k]);
                state.vectors[state.count * d_ + k] = bounded(value, std::abs(error));
                distinct = distinct || value != 0.0;
            }
            state.ids[state.count] = i;
            if (distinct) state.count++;
            else at_query_ += sample_.masses[i];
        }
        std::iota(state.columns.begin(), state.columns.end(), int64_t(0));
        std::fill(state.skip.begin(), state.skip.end(), 0);
    }

    void lower(int64_t mass) {
        int64_t known = *best_;
        while (mass < known && !best_->compare_exchange_weak(known, mass)) {
        }
    }

    // Whether to go on after all eliminations of vectors start..stop.
    bool search_level(int64_t level, int64_t start, int64_t stop, int64_t spent) {
        Projected &state = levels_[level], &next = levels_[level + 1];
        for (int64_t row = start; row < stop; row++) {
            const int64_t point = state.ids[row];
            if (state.skip[point] || (level > 0 && point < chosen_[level - 1])) continue;
            const int64_t cost = spent + eliminate(level, row);
            if (cost >= best_->load(std::memory_order_relaxed)) continue;
            if (level + 3 == d_) {
                lower(cost + planar_sweep(level + 1));
                if (*best_ == at_query_ || pause_()) return false;
            } else {
                std::fill(next.skip.begin(), next.skip.end(), 0);
                if (!search_level(level + 1, 0, next.count, cost)) return false;
            }
        }
        return true;
    }

    static double certainty(TwoTerms x) { return std::abs(x.value) - x.error; }

    // Sign of coordinate `k` of vector `row` after `level` steps.
    int component_sign(int64_t level, int64_t row, int64_t k) {
        const TwoTerms x = levels_[level].vectors[row * d_ + k];
        if (certainty(x) > 0.0 || x.error == 0.0) return (x.value > 0.0) - (x.value < 0.0);
        choose(level, row, k);
        return exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 1);
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

    // Only a number that is zero, or whose products are safe, counts as exact.
    static TwoTerms bounded(double value, double error) {
        if (error == 0.0 && (value == 0.0 || std::abs(value) > safe)) return {value, 0.0};
        return {value, error * slack + tiny};
    }

    // (a p - b c) times a power of two, with a bound of its error.
    static TwoTerms eliminated(TwoTerms a, TwoTerms p, TwoTerms b, TwoTerms c, double factor) {
        const TwoTerms left = two_product(a.value, p.value), right = two_product(b.value, c.value);
        const TwoTerms sum = two_sum(left.value, -right.value);
        double error = std::abs(left.error) + std::abs(right.error) + std::abs(sum.error);
        if (a.error + p.error + b.error + c.error > 0.0) {
            error += std::abs(a.value) * p.error + (std::abs(p.value) + p.error) * a.error + tiny;
            error += std::abs(b.value) * c.error + (std::abs(c.value) + c.error) * b.error;
        }
        return bounded(sum.value * factor, error * std::abs(factor));
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
        next.columns = state.columns;
        next.columns.erase(next.columns.begin() + pivot);
        next.sign = sign;
        // Of the size of the vectors only so much matters that nothing overflows.
        const double size = std::abs(along[pivot].value) + along[pivot].error;
        const double factor = std::ldexp(double(state.sign), -std::ilogb(size));
        int64_t ahead = 0, behind = 0;
        next.count = 0;
        choose(level, row, pivot);
        for (int64_t j = 0; j < state.count; j++) {
            const TwoTerms* from = state.vectors.data() + j * d_;
            TwoTerms* to = next.vectors.data() + next.count * d_;
            bool certain = false;
            for (int64_t k = 0; k < width; k++) {
                if (k == pivot) continue;
                *to = eliminated(from[k], along[pivot], from[pivot], along[k], factor);
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

    // Smallest mass on one side of a line through the origin, the line turning by pi, after d - 2 steps.
    int64_t planar_sweep(int64_t level) {
        const Projected& state = levels_[level];
        auto mass = [&](const Line& line) { return sample_.masses[state.ids[line.vector]]; };
        int64_t left = 0, total = 0;
        lines_.clear();
        for (int j = 0; j < state.count; j++) {
            const Line& line = lines_.emplace_back(line_of(level, j));
            total += mass(line);
            if (line.side > 0) left += mass(line);
        }
        std::copy_n(state.columns.begin(), 2, pivots_.begin() + level);
        // By what is certain first, in which few are still out of order.
        std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.low < b.low; });
        for (size_t i = 1; i < lines_.size(); i++)
            for (size_t j = i; j > 0 && compare_angles(level, lines_[j], lines_[j - 1]) < 0; j--)
                std::swap(lines_[j], lines_[j - 1]);
        int64_t smallest = total;
        for (size_t i = 0; i < lines_.size(); i++) {
            // Lines of one angle change sides together.
            if (i == 0 || compare_angles(level, lines_[i - 1], lines_[i]) != 0)
                smallest = std::min({smallest, left, total - left});
            left -= lines_[i].side * mass(lines_[i]);
        }
        return smallest;
    }

    // The line of vector `j`, with bounds that hold the true key.
    Line line_of(int64_t level, int j) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const auto [x, x_error] = levels_[level].vectors[j * d_];
        const auto [y, y_error] = levels_[level].vectors[j * d_ + 1];
        if (std::abs(y) > y_error) {
            const double key = -x / y;
            double error = (x_error + std::abs(key) * y_error) / (std::abs(y) - y_error);
            error = (error + roundoff * std::abs(key)) * slack + tiny;
            if (error < infinity) return {key - error, key + error, y > 0.0 ? 1 : -1, j};
        }
        // The quotient is at least so large, of a known sign.
        const int side = component_sign(level, j, 1), across = component_sign(level, j, 0);
        if (side == 0) return {-infinity, -infinity, across, j};
        const double least = std::max(0.0, std::abs(x) - x_error) / (std::abs(y) + y_error) / slack;
        if (across == side) return {-infinity, -least, side, j};
        return {least, infinity, side, j};
    }

    // Negative when line `a` has the smaller angle in [0, pi), positive when line `b` has, 0 when equal.
    int compare_angles(int64_t level, const Line& a, const Line& b) {
        if (a.high < b.low) return -1;
        if (b.high < a.low) return 1;
        return compare_exactly(level, a, b);
    }

    __attribute__((noinline)) int compare_exactly(int64_t level, const Line& a, const Line& b) {
        const Projected& state = levels_[level];
        const TwoTerms *u = state.vectors.data() + a.vector * d_, *v = state.vectors.data() + b.vector * d_;
        int sign;
        if (u[0].error + u[1].error + v[0].error + v[1].error == 0.0) {
            const TwoTerms left = two_product(u[0].value, v[1].value);
            const TwoTerms right = two_product(u[1].value, v[0].value);
            const double difference =
                left.value != right.value ? left.value - right.value : left.error - right.error;
            sign = (difference > 0.0) - (difference < 0.0);
        } else {
            chosen_[level] = state.ids[a.vector];
            chosen_[level + 1] = state.ids[b.vector];
            sign = state.sign * exact_.sign(origin_, chosen_.data(), pivots_.data(), level + 2);
        }
        return -sign * a.side * b.side;
    }
};

// The smallest masses (m,) of closed halfspaces that contain each of the queries (m, d).
inline std::vector<int64_t> smallest_masses(WeightedSample sample, Rows<double> queries, int64_t n_threads) {
    const int64_t n = sample.points.n, d = sample.points.d, m = queries.n;
    // Searches are shared out by the vector that is eliminated first.
    const int64_t pieces = d > 2 ? n : 1;
    const double operations = std::min(1e15, double(m) * std::pow(double(n), double(d - 1)));
    const int64_t workers = worker_count(n_threads, m * pieces, int64_t(operations));
    PerWorker<HalfspaceSearch> searches(workers);
    std::vector<std::atomic<int64_t>> best(m);
    for (auto& mass : best) mass = std::numeric_limits<int64_t>::max();
    Signals signals;
    std::atomic<bool> stopped{false};
    parallel_for(workers, m * pieces, [&](int64_t worker, int64_t part) {
        // A part may take long, so signals are looked for inside, by the first worker for all.
        auto pause = [&signals, &stopped, worker] {
            try {
                if (worker == 0) signals.check();
            } catch (...) {
                stopped = true;
                throw;
            }
            return stopped.load(std::memory_order_relaxed);
        };
        auto make = [&] { return std::make_unique<HalfspaceSearch>(sample, pause); };
        searches.of(worker, make).search(queries[part / pieces], part % pieces, best[part / pieces]);
    });
    return {best.begin(), best.end()};
}

}  // namespace isodepth
