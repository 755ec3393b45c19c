// A line that turns round a planar sample so that one mass always lies on or behind it.
#pragma once

#include "parallel.hpp"
#include "predicates.hpp"

namespace isodepth {

// Borders of the halfplanes of mass at least `rank`, in every direction where they change.
//
// For a direction u, the halfplane <u, x> <= q(u) is the smallest one of mass >= rank. Its border goes
// through one point, until the turning border meets another; it then passes on to the point on it that has
// the right rank afterwards. Each such meeting is recorded, in the order in which u turns left, by the first
// and last point on the border; u points to the right of the way from first to last.
class TurningLine {
  public:
    std::vector<int64_t> ends;  // (k, 2)

    // Points (n, 2), distinct, in lexicographic order, not all on one line; rank from 1 to the total mass.
    TurningLine(Rows<double> points, const int64_t* masses, int64_t rank)
        : points_(points), exact_(points), sides_(points.n, -1) {
        // The order along u = (1, 0), turned left by next to nothing, is the lexicographic one.
        int64_t at = 0, below = 0;
        for (; below + masses[at] < rank; at++) {
            below += masses[at];
            sides_[at] = 1;
        }
        sides_[at] = 0;
        Signals signals;
        while (true) {
            signals.check();
            meet(at);
            // Before the meeting the points ahead on the line were below; afterwards those behind are.
            for (int64_t place = int64_t(line_.size()) - 1; line_[place] != at; place--)
                below -= masses[line_[place]];
            int64_t place = 0;
            for (; below + masses[line_[place]] < rank; place++) below += masses[line_[place]];
            at = line_[place];

            const int64_t first = line_.front(), last = line_.back();
            if (!ends.empty() && ends[0] == first && ends[1] == last) return;
            ends.insert(ends.end(), {first, last});
            for (int64_t i = 0; i < int64_t(line_.size()); i++)
                sides_[line_[i]] = i < place ? 1.0 : i > place ? -1.0 : 0.0;
        }
    }

  private:
    Rows<double> points_;
    Determinants exact_;
    std::vector<double>
        sides_;  // of the border once it has turned on a little: 1 left of it, -1 right, 0 on it
    std::vector<int64_t> line_;  // the points on the next border, by its heading

    // 1 when the path over a, b, c turns left, -1 when right, 0 when it is straight.
    int orientation(int64_t a, int64_t b, int64_t c) {
        const int64_t rows[2] = {b, c}, columns[2] = {0, 1};
        return exact_.sign(points_[a], rows, columns, 2);
    }

    // Find the points on the next border through `at`.
    void meet(int64_t at) {
        // The vectors to all others, turned to the left of the border, in the order of their angles from it;
        // those it has just passed come last.
        int64_t best = at == 0 ? 1 : 0;
        line_.assign(1, best);
        for (int64_t j = best + 1; j < points_.n; j++) {
            const double both = sides_[best] * sides_[j];
            const auto [value, error] = quick_orientation(points_[at], points_[best], points_[j]);
            if (value * both > error || both == 0.0) continue;
            const double turn = -value * both > error ? -1.0 : orientation(at, best, j) * both;
            if (turn > 0.0) continue;
            if (turn < 0.0) {
                best = j;
                line_.clear();
            }
            line_.push_back(j);
        }
        line_.push_back(at);
        // On a line, points are in order along any coordinate in which they differ.
        const int64_t k = points_[best][0] != points_[at][0] ? 0 : 1;
        const bool forward = (points_[best][k] > points_[at][k]) == (sides_[best] > 0);
        std::sort(line_.begin(), line_.end(), [&](int64_t a, int64_t b) {
            return forward ? points_[a][k] < points_[b][k] : points_[a][k] > points_[b][k];
        });
    }
};

}  // namespace isodepth
