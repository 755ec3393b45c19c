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

// The extremes of a projection over the rows of a level, and the rows that give them; of equal ones the
// first.
template <class T> struct Extremes {
    T top = -std::numeric_limits<T>::infinity(), low = std::numeric_limits<T>::infinity();
    int64_t top_row = 0, low_row = 0;
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
    Extremes<T> at(int side, int64_t level, int64_t direction) const {
        const int64_t tile = std::min<int64_t>(direction / lanes<T>, tiles_->count - 1);
        const int64_t lane = direction - tiles_->start(tile);
        Extremes<T> all;
        for (size_t i = 0; i < segments_.size(); i++) {
            if (segments_[i].side != side || segments_[i].level > level) continue;
            const Found& found = found_[i * tiles_->count + tile];
            if (found.range.top[lane] > all.top)
                all.top = found.range.top[lane], all.top_row = found.rows.top[lane];
            if (found.range.low[lane] < all.low)
                all.low = found.range.low[lane], all.low_row = found.rows.low[lane];
        }
        return all;
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

template <class T> class Climber {
  public:
    int64_t level;
    std::vector<double> best, trial;  // the direction of the largest gap found, and the one to try next

    // At a corner of sample `side`, with row `met` of the other.
    Climber(const Prefixes<T>* samples, int64_t level, int side, int64_t corner, int64_t met,
            std::vector<double> start, int64_t capacity)
        : level(level),
          best(std::move(start)),
          trial(best.size()),
          corners_{samples[side].rows, samples[side].last(), samples[side].d},
          rows_{samples[1 - side].rows, samples[1 - side].last(), samples[1 - side].d},
          side_(side),
          corner_(corner),
          set_(samples[side].d, capacity) {
        going_ = set_.start(rows_, met, corners_[corner_]) && aim();
    }

    bool going() const { return going_; }

    // Judge the trial by the supports along it, and find the next; `slack` is the relative distance to the
    // best that the corner can give at which to stop.
    void step(const LocatedSupports<T>& supports, int64_t direction, double slack) {
        const Extremes<T> outer = supports.at(side_, level, direction);
        const Extremes<T> inner = supports.at(1 - side_, level, direction);
        const double found = double(outer.top) - double(inner.top);
        if (found > value_) value_ = found, best = trial;
        const double along = dot(corners_[corner_], trial.data(), corners_.d);
        const bool solved = set_.distance - (along - double(inner.top)) <= slack * set_.distance;
        const bool known = set_.contains(inner.top_row);
        going_ = false;
        if (outer.top_row != corner_ && (solved || known || found >= set_.distance)) {
            corner_ = outer.top_row;
            if (set_.factorize(rows_, corners_[corner_])) set_.descend();
            else if (!set_.start(rows_, inner.top_row, corners_[corner_])) return;
        } else if (solved || known) {
            return;
        }
        if (set_.enter(rows_, inner.top_row, corners_[corner_])) set_.descend();
        going_ = aim();
    }

  private:
    Rows<T> corners_, rows_;
    int side_;
    int64_t corner_;
    ActiveSet set_;
    double value_ = 0.0;
    bool going_ = false;

    // Point the next trial from the nearest point to the corner; false when they coincide.
    bool aim() {
        set_.move(rows_, corners_[corner_]);
        if (set_.distance <= 1e-12 * set_.reach) return false;
        for (size_t k = 0; k < trial.size(); k++) trial[k] = -set_.offset[k] / set_.distance;
        return true;
    }
};

// Climbers at the corners that reach furthest along `starts` (count, d) or their opposites: the levels take
// turns, each with its next best corner.
template <class T> std::vector<Climber<T>> place_climbers(const Prefixes<T> (&samples)[2],
                                                          const LocatedSupports<T>& supports,
                                                          const double* starts, int64_t count,
                                                          int64_t n_climbers, int64_t capacity) {
    struct Start {
        double gap;  // positive where x reaches further
        int64_t direction, row[2];
        bool upward;
        int side() const { return gap < 0; }
    };
    const int64_t levels = samples[0].levels, d = samples[0].d;
    std::vector<std::vector<Start>> ranked(levels);
    for (int64_t level = 0; level < levels; level++) {
        auto& own = ranked[level];
        for (int64_t k = 0; k < count; k++) {
            const Extremes<T> x = supports.at(0, level, k), y = supports.at(1, level, k);
            own.push_back({double(x.top) - double(y.top), k, {x.top_row, y.top_row}, true});
            own.push_back({double(y.low) - double(x.low), k, {x.low_row, y.low_row}, false});
        }
        std::stable_sort(own.begin(), own.end(),
                         [](auto& a, auto& b) { return std::abs(a.gap) > std::abs(b.gap); });
        std::set<std::pair<int, int64_t>> taken;
        std::erase_if(own, [&](auto& at) { return !taken.insert({at.side(), at.row[at.side()]}).second; });
    }
    std::vector<Climber<T>> climbers;
    for (size_t turn = 0; turn < size_t(2 * count); turn++)
        for (int64_t level = 0; level < levels && int64_t(climbers.size()) < n_climbers; level++) {
            if (turn >= ranked[level].size()) continue;
            const Start& at = ranked[level][turn];
            std::vector<double> best(starts + at.direction * d, starts + (at.direction + 1) * d);
            if (!at.upward)
                for (double& entry : best) entry = -entry;
            climbers.emplace_back(samples, level, at.side(), at.row[at.side()], at.row[1 - at.side()],
                                  std::move(best), capacity);
        }
    return climbers;
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
        if (round == 0) {
            round++;
            return supports.prepare(std::vector<T>(starts, starts + count * d));
        }
        if (round == 1)
            climbers =
                place_climbers(samples, supports, starts, count, n_climbers, std::min(d + 1, steps + 2));
        for (size_t i = 0; i < going.size(); i++) climbers[going[i]].step(supports, int64_t(i), slack);
        going.clear();
        std::vector<T> trials;
        for (size_t i = 0; i < climbers.size(); i++)
            if (climbers[i].going()) {
                going.push_back(i);
                trials.insert(trials.end(), climbers[i].trial.begin(), climbers[i].trial.end());
            }
        return going.empty() || round++ > steps ? 0 : supports.prepare(trials);
    };
    parallel_rounds(workers, next, [&](int64_t worker, int64_t part) { supports.find(worker, part); });
    return climbers;
}

}  // namespace isodepth
