// Ascent of |h_X(u) - h_Y(u)| over the sphere, from many directions at once.
//
// For a fixed corner a of one region, max_u <a, u> - h(u) over the other region is its distance to that
// region, a convex problem. A climber solves it step by step: its direction is the one from the hull of the
// few points it has met (the active ones) to its corner; the support point found along it joins them. When
// another corner reaches further along the direction, the climber changes over to it, so the value found
// never falls.
#pragma once

#include <set>
#include <tuple>

#include "active_set.hpp"
#include "support.hpp"

namespace isodepth {

// The largest projection over the rows of a level, and the row that gives it; of equal ones the first.
template <class T> struct Support {
    T value = -std::numeric_limits<T>::infinity();
    int64_t row = 0;
};

// Supports of two samples at a few levels along a few directions, with rows as well as directions shared out.
template <class T> class LocatedSupports {
  public:
    LocatedSupports(const Prefixes<T> (&samples)[2], int64_t workers) : samples_(samples), moves_(workers) {
        for (int side = 0; side < 2; side++) {
            int64_t row = 0;
            for (int64_t level = 0; level < samples[side].levels; level++)
                for (const int64_t stop = samples[side].sizes[level]; row < stop; row = segments_.back().stop)
                    segments_.push_back({side, level, row, std::min(row + most_rows, stop)});
        }
    }

    // Take new directions (count, d); returns how many parts of work there are to `find`.
    int64_t prepare(const std::vector<T>& directions) {
        const int64_t d = samples_[0].d;
        tiles_.emplace(directions.data(), int64_t(directions.size()) / d, d, 1);
        found_.resize(segments_.size() * size_t(tiles_->count));
        return int64_t(found_.size());
    }
    void find(int64_t worker, int64_t part) {
        const Segment& of = segments_[part / tiles_->count];
        Moves<T>& moves = moves_.of(worker, [] { return std::make_unique<Moves<T>>(most_rows); });
        Found& found = found_[part] = {Range<T>::nothing(), {}};
        moves.follow(tiles_->tile(part % tiles_->count), samples_[of.side].rows, samples_[of.side].d,
                     of.start, of.stop, found.range);
        for (int64_t i = 0; i < moves.count(); i++) found.rows.take(moves, i);
    }
    // Along a direction or its opposite.
    Support<T> at(int side, int64_t level, int64_t direction, bool opposite = false) const {
        const int64_t tile = std::min<int64_t>(direction / lanes<T>, tiles_->count - 1);
        const int64_t lane = direction - tiles_->start(tile);
        Support<T> best;
        for (size_t i = 0; i < segments_.size(); i++) {
            if (segments_[i].side != side || segments_[i].level > level) continue;
            const auto& [range, rows] = found_[i * tiles_->count + tile];
            const T value = opposite ? -range.low[lane] : range.top[lane];
            if (value > best.value) best = {value, opposite ? rows.low[lane] : rows.top[lane]};
        }
        return best;
    }

  private:
    static constexpr int64_t most_rows = 4096;
    struct Segment {
        int side;
        int64_t level, start, stop;
    };
    struct Found {
        Range<T> range;
        RangeRows<T> rows;
    };
    const Prefixes<T>* samples_;
    std::vector<Segment> segments_;
    std::vector<Found> found_;
    PerWorker<Moves<T>> moves_;
    std::optional<Tiles<T>> tiles_;
};

// Where a climber may start.
struct Start {
    double gap;           // positive where the first sample reaches further
    int64_t level, turn;  // which of the starts of its level it is
    int64_t direction, row[2];
    bool opposite;

    int side() const { return gap < 0; }
};

template <class T> class Climber {
  public:
    int64_t level;
    std::vector<double> best, trial;  // the direction of the largest gap found, and the one to try next
    bool going;

    // At the corner of a start that reaches furthest along `direction`.
    Climber(const Prefixes<T>* samples, const Start& at, const double* direction, int64_t capacity)
        : level(at.level),
          best(direction, direction + samples[0].d),
          trial(best.size()),
          side_(at.side()),
          corner_(at.row[side_]),
          corners_{samples[side_].rows, samples[side_].last(), samples[side_].d},
          rows_{samples[1 - side_].rows, samples[1 - side_].last(), samples[1 - side_].d},
          set_(rows_.d, capacity) {
        if (at.opposite)
            for (double& entry : best) entry = -entry;
        going = set_.start(rows_, at.row[1 - side_], corners_[corner_]) && aim();
    }

    // Judge the trial by the supports along it, and find the next; `slack` is the relative distance to the
    // best that the corner can give at which to stop.
    void step(const LocatedSupports<T>& supports, int64_t direction, double slack) {
        const Support<T> outer = supports.at(side_, level, direction);
        const Support<T> inner = supports.at(1 - side_, level, direction);
        const double found = double(outer.value) - double(inner.value);
        if (found > value_) value_ = found, best = trial;
        const double along = dot(corners_[corner_], trial.data(), corners_.d);
        const bool solved = set_.distance - (along - double(inner.value)) <= slack * set_.distance;
        const bool done = solved || set_.contains(inner.row);
        going = false;
        if (outer.row != corner_ && (done || found >= set_.distance)) {
            corner_ = outer.row;
            if (set_.factorize(rows_, corners_[corner_])) set_.descend();
            else if (!set_.start(rows_, inner.row, corners_[corner_])) return;
        } else if (done) {
            return;
        }
        if (set_.enter(rows_, inner.row, corners_[corner_])) set_.descend();
        going = aim();
    }

  private:
    int side_;
    int64_t corner_;
    Rows<T> corners_, rows_;
    ActiveSet set_;
    double value_ = 0.0;

    // Point the next trial from the nearest point to the corner; false when they coincide.
    bool aim() {
        set_.move(rows_, corners_[corner_]);
        if (set_.distance <= 1e-12 * set_.reach) return false;
        for (size_t k = 0; k < trial.size(); k++) trial[k] = -set_.offset[k] / set_.distance;
        return true;
    }
};

// The corners that reach furthest along directions or their opposites: the levels take turns, each with its
// next best corner.
template <class T> std::vector<Start> find_starts(const LocatedSupports<T>& supports, int64_t levels,
                                                  int64_t count, int64_t most) {
    std::vector<Start> starts;
    for (int64_t level = 0; level < levels; level++) {
        std::vector<Start> own;
        for (int64_t k = 0; k < 2 * count; k++) {
            const auto x = supports.at(0, level, k / 2, k % 2), y = supports.at(1, level, k / 2, k % 2);
            own.push_back({double(x.value) - double(y.value), level, 0, k / 2, {x.row, y.row}, k % 2 == 1});
        }
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

// The directions at which climbers from `starts` (count, d) arrive after at most `steps` steps.
template <class T> std::vector<Climber<T>> ascend(const Prefixes<T> (&samples)[2], const double* starts,
                                                  int64_t count, int64_t n_climbers, int64_t steps,
                                                  double slack, int64_t n_threads) {
    const int64_t d = samples[0].d, rows = samples[0].last() + samples[1].last();
    // Threads are started once for all steps, of which a few have to pay for one.
    const int64_t workers =
        worker_count(n_threads, rows / 512, rows * n_climbers * std::max<int64_t>(1, steps / 4));
    LocatedSupports<T> supports(samples, workers);
    std::vector<Climber<T>> climbers;
    std::vector<size_t> going;
    int64_t round = 0;
    auto next = [&]() -> int64_t {
        if (round++ == 0) return supports.prepare(std::vector<T>(starts, starts + count * d));
        if (round == 2)
            for (const Start& at : find_starts(supports, samples[0].levels, count, n_climbers))
                climbers.emplace_back(samples, at, starts + at.direction * d, std::min(d + 1, steps + 2));
        for (size_t i = 0; i < going.size(); i++) climbers[going[i]].step(supports, int64_t(i), slack);
        going.clear();
        std::vector<T> trials;
        for (size_t i = 0; i < climbers.size(); i++) {
            if (!climbers[i].going) continue;
            going.push_back(i);
            trials.insert(trials.end(), climbers[i].trial.begin(), climbers[i].trial.end());
        }
        return going.empty() || round > steps + 1 ? 0 : supports.prepare(trials);
    };
    parallel_rounds(workers, next, [&](int64_t worker, int64_t part) { supports.find(worker, part); });
    return climbers;
}

}  // namespace isodepth
