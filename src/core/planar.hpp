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
        : points_(points), orientation_(points), sides_(points.n, -1) {
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
            ends.push_back(first);
            ends.push_back(last);
            for (int64_t j = 0; j < points_.n; j++) sides_[j] = orientation_(first, last, j);
        }
    }

  private:
    Rows<double> points_;
    Orientation orientation_;
    std::vector<int> sides_;     // of the border: 1 left of it, -1 right, 0 on it
    std::vector<int64_t> line_;  // the points on the next border, by its heading

    // Find the points on the next border through `at`.
    void meet(int64_t at) {
        // The vectors to all others, turned to the left of the border, in the order of their angles from it;
        // those on the border itself come last.
        int64_t best = -1;
        for (int64_t j = 0; j < points_.n; j++) {
            if (sides_[j] == 0) continue;
            const int turn = best < 0 ? -1 : orientation_(at, best, j) * sides_[best] * sides_[j];
            if (turn < 0) {
                best = j;
                line_.clear();
            }
            if (turn <= 0) line_.push_back(j);
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
