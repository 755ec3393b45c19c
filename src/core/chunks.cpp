// Passes over chunks of a sample that is never in memory as a whole: what lies in brackets and in cells along
// each direction, and depths from medians, MADs and ranks that are known.
#include <bit>

#include "module.hpp"
#include "spread.hpp"

namespace isodepth {

template <class T> using Centers = std::optional<Vector<T>>;
using Typical = std::optional<double>;

// Rows (n, d), moved and scaled by a frame, and the directions (K, d) along which they are looked at.
template <class T> class Chunk {
  public:
    DirectionTask<T> task;

    Chunk(Matrix<T> points, Vector<T> center, int exponent, Matrix<T> directions, Weights weights,
          int64_t n_threads)
        : task(task_of<T>(points, directions, weights, {},
                          {n_threads, std::numeric_limits<double>::infinity()})),
          points_(points),
          directions_(directions),
          weights_(weights),
          frame_(center.data(), int64_t(center.shape(0)), exponent) {
        if (center.shape(0) != points.shape(1))
            throw nb::value_error("points (n, d) and center (d,) must fit");
    }

    // Calls `work(rows, along, k)` with the projections (n,), which it may change, on each direction k.
    template <class Work> void over_directions(Work work) const {
        const DirectionPass<T> pass(task, frame_);
        pass.run(
            0, [] { return std::make_unique<int>(); },
            [&](int, int64_t k, T* along, T*) { work(pass.points, along, k); });
    }

    // Calls `work(rows, along, k, start)` for blocks of rows from `start` on, one direction after the other.
    template <class Work> void over_row_blocks(Work work) const {
        constexpr int64_t each = 4;  // directions whose projections stay in the cache
        over_rows(task.n, 4 * task.count, task.resources.n_threads, [&](int64_t start, int64_t stop) {
            const Tiles<T> rows({task.points + start * task.d, stop - start, task.d}, 1, &frame_);
            const Workspace<T> along(each * rows.n);
            for (int64_t first = 0; first < task.count; first += each) {
                const int64_t some = std::min(each, task.count - first);
                rows.project(task.directions + first * task.d, some, along.data());
                for (int64_t k = 0; k < some; k++) work(rows, along.data() + k * rows.n, first + k, start);
            }
        });
    }

  private:
    Matrix<T> points_, directions_;  // kept alive
    Weights weights_;
    Frame<T> frame_;
};

// One array of many.
template <class Value> static Result<Value> joined(const std::vector<std::vector<Value>>& parts) {
    size_t total = 0;
    for (const auto& part : parts) total += part.size();
    auto out = new_array<Value>({total});
    Value* at = out.data();
    for (const auto& part : parts) at = std::copy(part.begin(), part.end(), at);
    return out;
}

// What a chunk has in brackets [low, high): counts (3, K), the numbers inside of all brackets one after the
// other, and their weights. The numbers are projections x, or |x - center| where there are centers (K,); of
// these, what is rounding beside a typical size becomes -1. With a negative typical size only zero does.
template <class T> static nb::tuple numbers_inside(const Chunk<T>& chunk, Vector<T> low, Vector<T> high,
                                                   Vector<int64_t> most, Centers<T> centers,
                                                   Typical typical) {
    const auto& task = chunk.task;
    std::optional<Rounding<T>> rounding;
    if (typical) rounding.emplace(task.d, T(*typical));
    if (typical && *typical < 0) rounding->share = 0;
    const size_t count = size_t(task.count);
    std::vector<std::vector<T>> values(count);
    std::vector<std::vector<int64_t>> weights(count);
    auto counts = new_array<int64_t>({3, count});
    {
        nb::gil_scoped_release released;
        chunk.over_directions([&](const Tiles<T>& rows, T* along, int64_t k) {
            for (int64_t i = 0; centers && i < task.n; i++) {
                along[i] = std::fabs(along[i] - centers->data()[k]);
                if (rounding && rounding->covers(along[i], rows.largest(i))) along[i] = T(-1);
            }
            const Numbers<T> numbers(along, task.n, task.weights);
            const auto [below, upto] = count_below<T, false>(numbers, low.data()[k], high.data()[k]);
            const int64_t inside = upto - below, wanted = most.data()[k];
            int64_t held = inside ? -1 : 0;
            if (inside && wanted && (task.weights || inside <= wanted)) {
                const SelectWorkspace<T> workspace(task.n, task.weights);
                const int64_t n = copy_between<T, false>(numbers, low.data()[k], high.data()[k], workspace);
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

// Cells around the middle of a direction, 2**bits of them to one unit away from it and as many in every
// octave of 1 + distance beyond: about equally fine in rank up to the tails. The last are open.
template <class T> struct RankCells {
    static constexpr int octaves = 8;
    const T *middles, *scales;  // (K,)
    int bits;
    int64_t operator()(int64_t k, T x) const {
        const T t = (x - middles[k]) * scales[k];
        const float y = float(std::min(T(1) + std::fabs(t), T(255)));
        const int32_t cell = (std::bit_cast<int32_t>(y) - std::bit_cast<int32_t>(1.0f)) >> (23 - bits);
        const int32_t half = octaves << bits;
        return t < 0 ? half - 1 - cell : half + cell;
    }
};

// Adds the weights of all rows to counts (K, cells).
template <class T> static void count_rank_cells(const Chunk<T>& chunk, OutMatrix<int64_t> counts,
                                                Vector<T> middles, Vector<T> scales, int bits) {
    nb::gil_scoped_release released;
    const RankCells<T> cells{middles.data(), scales.data(), bits};
    const int64_t *weights = chunk.task.weights, n = chunk.task.n;
    chunk.over_directions([&](const Tiles<T>&, const T* along, int64_t k) {
        int64_t* own = counts.data() + k * int64_t(counts.shape(1));
        for (int64_t i = 0; i < n; i++) own[cells(k, along[i])] += weights ? weights[i] : 1;
    });
}

template <class T> static Result<T> outlyingness(const Chunk<T>& chunk, Vector<T> medians, Vector<T> mads,
                                                 Vector<T> scales, double typical) {
    auto out = new_array<T>({size_t(chunk.task.n)});
    nb::gil_scoped_release released;
    const Rounding<T> rounding(chunk.task.d, T(typical));
    chunk.over_row_blocks([&](const Tiles<T>& rows, T* along, int64_t k, int64_t start) {
        Spread<T> spread({medians.data()[k], mads.data()[k]}, rounding);
        if (spread.half_equal) spread.scale = scales.data()[k];
        spread.raise(rows, along, out.data() + start);
    });
    return out;
}

template <class T> static Result<double> rank_bounds(const Chunk<T>& chunk, Cube<double> bounds,
                                                     bool smallest, Vector<T> middles, Vector<T> scales,
                                                     int bits) {
    const RankCells<T> cells{middles.data(), scales.data(), bits};
    auto out = new_array<double>({size_t(chunk.task.n), 2});
    nb::gil_scoped_release released;
    if (smallest) std::fill_n(out.data(), 2 * chunk.task.n, std::numeric_limits<double>::infinity());
    chunk.over_row_blocks([&](const Tiles<T>& rows, const T* along, int64_t k, int64_t start) {
        const double* own = bounds.data() + k * int64_t(bounds.shape(1)) * 2;
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
    nb::class_<Chunk<T>>(m, name, "Rows (n, d) of a chunk and directions (K, d), moved and scaled.")
        .def(nb::init<Matrix<T>, Vector<T>, int, Matrix<T>, Weights, int64_t>(), "points"_a, "center"_a,
             "exponent"_a, "directions"_a, "weights"_a.none(), "n_threads"_a)
        .def("numbers_inside", numbers_inside<T>, "low"_a, "high"_a, "most"_a, "centers"_a.none(),
             "typical"_a.none(),
             "Counts (3, K) for brackets (K,): the weight below, the weight inside, how many numbers are "
             "inside or -1 for more than `most` (K,); these numbers, and their weights.")
        .def("count_rank_cells", count_rank_cells<T>, "counts"_a.noconvert(), middles, scales, bits,
             "Add weights to counts (K, 16 * 2**bits) in cells around the middle of each direction.")
        .def("outlyingness", outlyingness<T>, "medians"_a, "mads"_a, scales, "typical"_a,
             "Largest |<u, x> - median| / MAD (n,); the scale takes the place of a MAD that is zero.")
        .def("rank_bounds", rank_bounds<T>, "bounds"_a, "smallest"_a, middles, scales, bits,
             "The smallest, or the sum, over directions of the bounds (K, cells, 2) of cells: (n, 2).");
}

void bind_chunks(nb::module_& m) {
    bind<float>(m, "Chunk32");
    bind<double>(m, "Chunk64");
}

}  // namespace isodepth
