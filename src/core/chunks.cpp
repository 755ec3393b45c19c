// Computations on one chunk of a sample that does not fit into memory. Projections on each direction are
// counted in intervals. Outlyingness and bounds of ranks are computed from given medians, MADs and bounds per
// interval, which refer to the whole sample.
#include <bit>

#include "spread.hpp"

namespace isodepth {

// Rows (n, d) of a chunk, which is a part of a larger sample, and directions (K, d). Before projection,
// `center` (d,) is subtracted from the rows, and the rows are divided by 2**exponent.
template <class T> class Chunk {
  public:
    DirectionTask<T> task;

    Chunk(Matrix<T> points, Vector<T> center, int exponent, Matrix<T> directions, Weights weights,
          int64_t n_threads)
        : task(task_of<T>(points, directions, weights, {}, check_resources(n_threads, infinity<double>))),
          arrays_(points, directions, weights),
          frame_(check_vector(center, int64_t(points.shape(1))), exponent) {
        require(std::abs(exponent) <= 2048, "the exponent must be between -2048 and 2048");
    }

    template <class Value> const Value* check(const Vector<Value>& array, bool finite = true) const {
        check_aligned(array);
        require(int64_t(array.size()) == task.count, "an array needs one value per direction");
        return finite ? check_vector(array).data() : array.data();
    }

    // Call `work(rows, along, k)` for each direction k. `along` (n,) are the projections of the rows on
    // direction k, and `work` may modify them.
    void over_directions(auto work) const {
        const DirectionPass<T> pass(task, frame_);
        auto call = [&](int, int64_t k, T* along, T*) { work(pass.points, along, k); };
        pass.run(0, [] { return 0; }, call);
    }

    // Call `work(rows, along, k, start)` for each block of rows and each direction k. The block begins at row
    // `start` of the chunk, and `along` are its projections on direction k.
    void over_row_blocks(auto work) const {
        constexpr int64_t each = 4;  // number of directions per pass: their projections fit in the cache
        over_rows(task.n, 4 * task.count, task.resources.n_threads, [&](int64_t start, int64_t stop) {
            const Tiles<T> rows({task.points + start * task.d, stop - start, task.d}, 1, &frame_);
            Workspace<T> along(each * rows.n);
            for (int64_t first = 0; first < task.count; first += each) {
                const int64_t some = std::min(each, task.count - first);
                rows.project(task.directions + first * task.d, some, along.data());
                for (int64_t k = 0; k < some; k++) work(rows, along.data() + k * rows.n, first + k, start);
            }
        });
    }

  private:
    std::tuple<Matrix<T>, Matrix<T>, Weights> arrays_;  // owner of the memory that `task` points to
    Frame<T> frame_;
};

template <class Value> static Result<Value> joined(const std::vector<std::vector<Value>>& parts) {
    std::vector<Value> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    const size_t total = all.size();
    return as_array(std::move(all), {total});
}

// Count and collect the projections of a chunk inside a bracket [low, high) per direction. If `centers` (K,)
// are given, absolute deviations |x - center| replace the projections x. Return three arrays. The first,
// counts (3, K), has the weight below the bracket, the weight inside, and the number of returned values, or
// -1 if there are more than `most` (K,). The second has the values inside, bracket after bracket. The third
// has their weights, and is empty if the rows have no weights. If `typical` is given, a deviation that may be
// a rounding error of values of this size is replaced by -1. If `typical` is negative, only deviations of 0
// are replaced.
template <class T> static nb::tuple numbers_inside(const Chunk<T>& chunk, Vector<T> low, Vector<T> high,
                                                   Vector<int64_t> most, std::optional<Vector<T>> centers,
                                                   std::optional<double> typical) {
    const auto& task = chunk.task;
    const T *lows = chunk.check(low, false), *highs = chunk.check(high, false);
    const T* middles = centers ? chunk.check(*centers) : nullptr;
    const int64_t* limits = chunk.check(most);
    TypicalSizes<T> sizes(std::vector<T>(size_t(task.d), T(typical.value_or(0))));
    if (typical && *typical < 0) sizes.share = 0;
    const size_t count = size_t(task.count);
    std::vector<std::vector<T>> values(count);
    std::vector<std::vector<int64_t>> weights(count);
    auto counts = new_array<int64_t>({3, count});
    {
        ReleasedGil released;
        chunk.over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
            const Rounding<T> rounding = sizes.along(task.directions + k * task.d);
            for (int64_t i = 0; middles && i < task.n; i++) {
                along[i] = std::fabs(along[i] - middles[k]);
                if (typical && rounding.covers(along[i], rows, i)) along[i] = T(-1);
            }
            const Numbers<T> numbers(along, task.n, task.weights);
            const auto [below, upto] = count_below<T, false>(numbers, lows[k], highs[k]);
            const int64_t inside = upto - below, wanted = limits[k];
            int64_t held = inside ? -1 : 0;
            if (inside && wanted && (task.weights || inside <= wanted)) {
                SelectWorkspace<T> workspace(task.n, task.weights);
                const int64_t n = copy_between<T, false>(numbers, lows[k], highs[k], workspace);
                if (n <= wanted) {
                    held = n;
                    values[size_t(k)].assign(&workspace.values[0], &workspace.values[n]);
                    if (task.weights) weights[size_t(k)].assign(&workspace.weights[0], &workspace.weights[n]);
                }
            }
            int64_t* own = counts.data() + k;
            own[0] = below, own[count] = inside, own[2 * count] = held;
        });
    }
    return nb::make_tuple(std::move(counts), joined(values), joined(weights));
}

// Partition of the real line into cells along each of K directions, for approximate ranks. Let t be the
// distance from the middle of the direction, times its scale. On each side of the middle, 1 + t doubles eight
// times, and each doubling has 2**bits cells of equal width. So cells have about equal mass except in the
// tails. The outermost cells are unbounded.
template <class T> struct RankCells {
    static constexpr int octaves = 8;
    const T *middles, *scales;
    int bits;

    RankCells(const Chunk<T>& chunk, const Vector<T>& middles, const Vector<T>& scales, int bits)
        : middles(chunk.check(middles)), scales(chunk.check(scales)), bits(bits) {
        require(0 <= bits && bits <= 16, "bits must be between 0 and 16");
    }
    size_t count() const { return size_t(2 * octaves) << bits; }
    int64_t operator()(int64_t k, T x) const {
        const T t = (x - middles[k]) * scales[k];
        // If t is NaN because of overflow, std::min returns its first argument, 255.
        const float y = float(std::min(T(255), T(1) + std::fabs(t)));
        const int32_t cell = (std::bit_cast<int32_t>(y) - std::bit_cast<int32_t>(1.0f)) >> (23 - bits);
        const int32_t half = octaves << bits;
        return t < 0 ? half - 1 - cell : half + cell;
    }
};

// Find the cell of each row of a chunk along each direction, and add the weight of the row to the count of
// the cell. `counts` has shape (K, cells), for K directions.
template <class T> static void count_rank_cells(const Chunk<T>& chunk, OutMatrix<int64_t> counts,
                                                Vector<T> middles, Vector<T> scales, int bits) {
    const RankCells<T> cells(chunk, middles, scales, bits);
    check_aligned(counts);
    require(int64_t(counts.shape(0)) == chunk.task.count && counts.shape(1) == cells.count(),
            "counts must have shape (K, 16 * 2**bits)");
    ReleasedGil released;
    const int64_t *weights = chunk.task.weights, n = chunk.task.n;
    chunk.over_directions([&](const Tiles<T>&, const T* along, int64_t k) {
        int64_t* own = counts.data() + k * int64_t(cells.count());
        for (int64_t i = 0; i < n; i++) own[cells(k, along[i])] += weights ? weights[i] : 1;
    });
}

template <class T> static Result<T> outlyingness(const Chunk<T>& chunk, Vector<T> medians, Vector<T> mads,
                                                 Vector<T> scales, double typical) {
    const T *middles = chunk.check(medians), *spreads = chunk.check(mads), *others = chunk.check(scales);
    require(std::isfinite(typical), "the typical size must be finite");
    const TypicalSizes<T> sizes(std::vector<T>(size_t(chunk.task.d), T(typical)));
    auto out = new_array<T>({size_t(chunk.task.n)}, T(0));
    ReleasedGil released;
    chunk.over_row_blocks([&](const Tiles<T>& rows, T* along, int64_t k, int64_t start) {
        Spread<T> spread({middles[k], spreads[k]}, sizes.along(chunk.task.directions + k * chunk.task.d));
        if (spread.half_equal) spread.scale = others[k];
        spread.raise(rows, along, out.data() + start);
    });
    return out;
}

template <class T> static Result<double> rank_bounds(const Chunk<T>& chunk, Cube<double> bounds,
                                                     bool smallest, Vector<T> middles, Vector<T> scales,
                                                     int bits) {
    const RankCells<T> cells(chunk, middles, scales, bits);
    check_aligned(bounds);
    require(int64_t(bounds.shape(0)) == chunk.task.count && bounds.shape(1) == cells.count() &&
                bounds.shape(2) == 2 && are_finite(values_of(bounds)),
            "bounds must have shape (K, 16 * 2**bits, 2) and finite values");
    auto out = new_array({size_t(chunk.task.n), 2}, smallest ? infinity<double> : 0.0);
    ReleasedGil released;
    chunk.over_row_blocks([&](const Tiles<T>& rows, const T* along, int64_t k, int64_t start) {
        const double* own = bounds.data() + k * int64_t(cells.count()) * 2;
        double* found = out.data() + 2 * start;
        for (int64_t i = 0; i < rows.n; i++)
            for (int64_t side = 0; side < 2; side++) {
                double& known = found[2 * i + side];
                const double bound = own[2 * cells(k, along[i]) + side];
                known = smallest ? std::min(known, bound) : known + bound;
            }
    });
    return out;
}

template <class T> static void bind(nb::module_& m, const char* name) {
    const auto middles = "middles"_a, scales = "scales"_a, bits = "bits"_a;
    nb::class_<Chunk<T>>(m, name, "Rows (points - center) / 2**exponent of a chunk, and directions.")
        .def(nb::init<Matrix<T>, Vector<T>, int, Matrix<T>, Weights, int64_t>(), "points"_a, "center"_a,
             "exponent"_a, "directions"_a, "weights"_a.none(), "n_threads"_a)
        .def("numbers_inside", numbers_inside<T>, "low"_a, "high"_a, "most"_a, "centers"_a.none(),
             "typical"_a.none(),
             "Return counts (3, K), values and weights for the bracket [low, high) of each direction. Values "
             "are projections, or their distances from `centers` (K,). The counts are the weight below the "
             "bracket, the weight inside, and the number of returned values: -1 if it would exceed `most`.")
        .def("count_rank_cells", count_rank_cells<T>, "counts"_a.noconvert(), middles, scales, bits,
             "Add the weight of each row to `counts` (K, 16 * 2**bits), at its cell on each direction.")
        .def("outlyingness", outlyingness<T>, "medians"_a, "mads"_a, scales, "typical"_a,
             "Maximum over directions u of |<u, x> - median| / MAD, (n,); `scales` replace zero MADs.")
        .def("rank_bounds", rank_bounds<T>, "bounds"_a, "smallest"_a, middles, scales, bits,
             "Minimum over directions if `smallest`, otherwise sum, of the two `bounds` (K, cells, 2) of the "
             "cell of each row, (n, 2).");
}

void bind_chunks(nb::module_& m) {
    bind<float>(m, "Chunk32");
    bind<double>(m, "Chunk64");
}

}  // namespace isodepth
