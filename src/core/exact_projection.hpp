// The largest outlyingness of points of the plane over all directions, arc by arc.
//
// While u turns, the median of the projections is <u, m> with m the mean of one or two points, and the MAD is
// <u, w> with w made of one or two deviations; both only change where two projections, or two deviations,
// become equal. On the arcs in between, the outlyingness |<u, x - m>| / <u, w> is a ratio of two linear forms
// in u, which is monotone. So its supremum is reached at the ends of the arcs.
#pragma once

#include <complex>
#include <numbers>

#include "parallel.hpp"
#include "predicates.hpp"

namespace isodepth {

// A sample of the plane and queries, moved and scaled to be centered and of size about one.
struct PlanarSample {
    Rows<double> points;     // (n + m, 2): n distinct points of the sample, then the queries
    const double* rounding;  // (n + m, 2): how far each coordinate may be from what was meant
    int64_t n;
    const int64_t* masses;         // (n,) that the median is made of
    const int64_t* spread_masses;  // (n,) that the scale is made of: 0 for a point with most of the mass
    int64_t heavy;                 // the number of such a point, or -1
};

using Plane = std::complex<double>;  // vectors of the plane

// The angle in [0, pi) of directions orthogonal to a vector.
inline double normal_angle(Plane v) {
    const double angle = std::atan2(v.real(), -v.imag()),
                 turned = angle < 0.0 ? angle + std::numbers::pi : angle;
    return turned < std::numbers::pi ? turned : 0.0;
}

inline double along(Plane v, double c, double s) { return c * v.real() + s * v.imag(); }

inline void sort_unique(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Whether moving coordinates by no more than their rounding can put i, j, k on one line.
inline bool are_in_line(Rows<double> points, const double* rounding, int64_t i, int64_t j, int64_t k) {
    auto across = [&](int64_t a, int64_t b, int64_t axis) {
        return std::abs(points[a][axis] - points[b][axis]);
    };
    // How much the determinant can change when only i moves.
    auto moved = [&](int64_t a, int64_t b, int64_t c) {
        return rounding[2 * a] * across(b, c, 1) + rounding[2 * a + 1] * across(b, c, 0);
    };
    const double allowed = moved(i, j, k) + moved(j, k, i) + moved(k, i, j);
    const auto [rough, rough_error] = quick_orientation(points[i], points[j], points[k]);
    if (std::abs(rough) > allowed + rough_error) return false;
    const auto [value, error] = determinant(points[i], points[j], points[k], 0, 1);
    return std::abs(value) <= allowed + error;
}

using Members = std::vector<char>;

// Lines that hold more than half of the mass, up to the rounding of the coordinates: which points (n,) are on
// each. With a heavy point, only lines through it.
inline std::vector<Members> heavy_lines(const PlanarSample& sample) {
    const int64_t n = sample.n, *masses = sample.spread_masses;
    const int64_t total = std::accumulate(masses, masses + n, int64_t(0));
    std::vector<Members> lines;
    Members members(n);
    Signals signals;
    // When half of the mass has been passed, a heavy line has been met.
    int64_t passed = 0;
    for (int64_t i = 0; i < n && 2 * passed < total; passed += masses[i++])
        for (int64_t j = i + 1; j < n; j++) {
            auto goes_through = [&](const Members& line) { return line[i] && line[j]; };
            if (std::any_of(lines.begin(), lines.end(), goes_through)) continue;
            signals.check();
            int64_t mass = 0, left = total;
            for (int64_t k = 0; k < n && 2 * (mass + left) > total; left -= masses[k++]) {
                members[k] = k == i || k == j || are_in_line(sample.points, sample.rounding, i, j, k);
                if (members[k]) mass += masses[k];
            }
            if (2 * mass > total) lines.push_back(members);
        }
    if (sample.heavy >= 0) std::erase_if(lines, [&](const Members& line) { return !line[sample.heavy]; });
    return lines;
}

// Weighted medians along a direction that turns: from one angle to the next the values are nearly in order.
class TurningMedian {
  public:
    using Pair = std::pair<int64_t, int64_t>;

    // Of the values along the direction, or of their sizes.
    TurningMedian(const std::vector<Plane>& points, const int64_t* masses, bool sizes)
        : points_(points), masses_(masses), sizes_(sizes), values_(points.size()), order_(points.size()) {
        std::iota(order_.begin(), order_.end(), int64_t(0));
        total_ = std::accumulate(masses, masses + points.size(), int64_t(0));
    }

    // The points that have the lower and the upper median.
    Pair at(double angle) {
        const double c = std::cos(angle), s = std::sin(angle);
        for (size_t i = 0; i < values_.size(); i++) {
            const double value = along(points_[i], c, s);
            values_[i] = sizes_ ? std::abs(value) : value;
        }
        for (size_t start = 1; start < order_.size(); start++) {
            const int64_t moved = order_[start];
            size_t place = start;
            for (; place > 0 && values_[order_[place - 1]] > values_[moved]; place--)
                order_[place] = order_[place - 1];
            order_[place] = moved;
        }
        int64_t below = 0, lower = -1;
        for (const int64_t i : order_) {
            below += masses_[i];
            if (lower < 0 && 2 * below >= total_) lower = i;
            if (2 * below > total_) return {lower, i};
        }
        return {lower, lower};
    }

  private:
    const std::vector<Plane>& points_;
    const int64_t* masses_;
    bool sizes_;
    int64_t total_;
    std::vector<double> values_;
    std::vector<int64_t> order_;
};

// The supremum over all directions of |<u, x> - median| / scale for each query x.
//
// Where a point holds more than half of the mass, the MAD is zero in every direction, and the median of the
// positive deviations of the others takes its place: again a linear form on each arc. In the single
// directions in which further points lie on the median, and are left out of that median, it is larger than in
// the directions around them: the supremum is not there.
//
// Across a line that holds more than half of the mass (or, in the case above, of the mass of the others, on a
// line through the heavy point) the scale tends to zero as u turns to its normal, so that a point off the
// line has an infinite supremum. In the normal itself the scale is not zero, which does not matter for a
// supremum.
class LargestOutlyingness {
  public:
    std::vector<double> worst;  // (m,)

    LargestOutlyingness(const PlanarSample& sample, int64_t n_threads)
        : worst(sample.points.n - sample.n), sample_(sample), lines_(heavy_lines(sample)) {
        for (int64_t i = 0; i < sample.n; i++) points_.emplace_back(sample.points[i][0], sample.points[i][1]);
        for (const Members& line : lines_) {
            const int64_t first = std::find(line.begin(), line.end(), 1) - line.begin();
            const int64_t last = line.rend() - std::find(line.rbegin(), line.rend(), 1) - 1;
            forbidden_.push_back(normal_angle(points_[last] - points_[first]));
            for (int64_t q = 0; q < int64_t(worst.size()); q++)
                if (!are_in_line(sample.points, sample.rounding, first, last, sample.n + q))
                    worst[q] = std::numeric_limits<double>::infinity();
        }
        for (int64_t i = 0; i < sample.n; i++)
            for (int64_t j = i + 1; j < sample.n; j++) {
                double angle = normal_angle(points_[j] - points_[i]);
                for (size_t h = 0; h < lines_.size(); h++)
                    if (lines_[h][i] && lines_[h][j]) angle = forbidden_[h];
                cuts_.push_back(angle);
            }
        sort_unique(cuts_);
        cuts_.push_back(cuts_[0] + std::numbers::pi);
        const int64_t n = sample.n, arcs = int64_t(cuts_.size()) - 1;
        const int64_t each = std::max<int64_t>(64, n), parts = (arcs + each - 1) / each;
        const int64_t workers = worker_count(n_threads, parts, arcs * n);
        std::vector<std::vector<double>> found(workers, worst);
        parallel_for(workers, parts, [&](int64_t worker, int64_t part) {
            follow(part * each, std::min(arcs, (part + 1) * each), found[worker]);
        });
        for (const auto& some : found)
            for (size_t q = 0; q < worst.size(); q++) worst[q] = std::max(worst[q], some[q]);
    }

  private:
    using Pair = TurningMedian::Pair;
    // Angles closer than this are not told apart where the MAD vanishes.
    static constexpr double resolution = 1e-13;

    const PlanarSample& sample_;
    std::vector<Members> lines_;
    std::vector<Plane> points_;
    std::vector<double> forbidden_;  // angle of the normal of each line
    std::vector<double> cuts_;       // angles at which two projections are equal, for half a turn

    // Raise `found` to the largest ratios from cut `first` to cut `last`, median by median.
    void follow(int64_t first, int64_t last, std::vector<double>& found) const {
        TurningMedian median(points_, sample_.masses, false);
        auto from = [&](int64_t t) { return median.at((cuts_[t] + cuts_[t + 1]) / 2); };
        Pair pair = from(first);
        for (int64_t t = first + 1; t <= last; t++) {
            const Pair next = t < last ? from(t) : Pair(-1, -1);
            if (next == pair) continue;
            follow_scale(first, t, pair, found);
            first = t, pair = next;
        }
    }

    // Angles in (start, stop), an arc of at most pi, at which deviations on opposite sides of the median are
    // equal: where their sum is orthogonal to u. Sums along a heavy line are so only where the line is, which
    // is a cut already.
    void add_meetings(std::vector<double>& angles, double start, double stop, Pair pair,
                      const std::vector<Plane>& offsets) const {
        const int64_t n = sample_.n;
        std::vector<double> ahead(n), behind(n);
        for (int64_t i = 0; i < n; i++) {
            ahead[i] = along(offsets[i], std::cos(start), std::sin(start));
            behind[i] = along(offsets[i], std::cos(stop), std::sin(stop));
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) {
                const double before = ahead[i] + ahead[j], after = behind[i] + behind[j];
                if (!((before > 0.0 && after < 0.0) || (before < 0.0 && after > 0.0))) continue;
                auto on = [&](const Members& line) {
                    return line[pair.first] && line[pair.second] && line[i] && line[j];
                };
                if (std::any_of(lines_.begin(), lines_.end(), on)) continue;
                double angle = normal_angle(offsets[i] + offsets[j]);
                angle += std::numbers::pi * std::ceil((start - angle) / std::numbers::pi);
                if (angle > start && angle < stop) angles.push_back(angle);
            }
    }

    // Raise `found` to the largest ratios from cut `first` to cut `last`, where the median is the mean of a
    // pair of points: at the ends, and inside, of the arcs on which the scale is one linear form.
    void follow_scale(int64_t first, int64_t last, Pair pair, std::vector<double>& found) const {
        const Plane median = (points_[pair.first] + points_[pair.second]) / 2.0;
        std::vector<Plane> offsets(points_);
        for (Plane& offset : offsets) offset -= median;
        std::vector<double> angles(cuts_.begin() + first, cuts_.begin() + last + 1);
        add_meetings(angles, cuts_[first], cuts_[last], pair, offsets);
        sort_unique(angles);
        TurningMedian scale(offsets, sample_.spread_masses, true);
        double start = angles[0];
        Plane form = 0.0;
        auto end_arc = [&](double stop) {
            for (const double angle : {start, (start + stop) / 2, stop}) raise(found, angle, median, form);
            start = stop;
        };
        for (size_t t = 0; t + 1 < angles.size(); t++) {
            const double angle = (angles[t] + angles[t + 1]) / 2, c = std::cos(angle), s = std::sin(angle);
            const auto [low, high] = scale.at(angle);
            Plane spread = 0.0;
            for (const Plane offset : {offsets[low], offsets[high]})
                spread += (along(offset, c, s) >= 0.0 ? 0.5 : -0.5) * offset;
            if (t > 0 && spread != form) end_arc(angles[t]);
            form = spread;
        }
        end_arc(angles.back());
    }

    // Raise `found` to the ratios along a direction. Where the scale vanishes, a query that still counts is
    // on the median, so that its ratio is constant on the arc and the other end or the inside has it.
    void raise(std::vector<double>& found, double angle, Plane median, Plane scale) const {
        for (const double normal : forbidden_) {
            const double turns = (angle - normal) / std::numbers::pi;
            if (std::abs(turns - std::rint(turns)) * std::numbers::pi <= resolution) return;
        }
        const double c = std::cos(angle), s = std::sin(angle);
        const double center = along(median, c, s), spread = along(scale, c, s);
        const double* query = sample_.points[sample_.n];
        for (size_t q = 0; q < found.size(); q++) {
            const double ratio = std::abs(c * query[2 * q] + s * query[2 * q + 1] - center) / spread;
            found[q] = ratio > found[q] ? ratio : found[q];
        }
    }
};

}  // namespace isodepth
