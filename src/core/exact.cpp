// Passes of exact depths.
#include "exact_halfspace.hpp"
#include "exact_planar.hpp"
#include "exact_projection.hpp"
#include "module.hpp"

namespace isodepth {

static auto halfspace_masses(Matrix<double> points, Vector<int64_t> masses, Matrix<double> queries,
                             bool lattice, int64_t n_threads) {
    auto smallest = new_array<int64_t>({queries.shape(0)});
    nb::gil_scoped_release released;
    smallest_masses({rows_of(points), masses.data(), lattice}, rows_of(queries), n_threads, smallest.data());
    return smallest;
}

static auto halfplane_borders(Matrix<double> points, Vector<int64_t> masses, int64_t rank) {
    std::vector<int64_t> ends;
    {
        nb::gil_scoped_release released;
        ends = TurningLine(rows_of(points), masses.data(), rank).ends;
    }
    auto borders = new_array<int64_t>({ends.size() / 2, 2});
    std::copy(ends.begin(), ends.end(), borders.data());
    return borders;
}

static auto planar_outlyingness(Matrix<double> points, Matrix<double> rounding, Vector<int64_t> masses,
                                Vector<int64_t> spread_masses, int64_t heavy, int64_t n_threads) {
    const int64_t n = masses.shape(0);
    auto worst = new_array<double>({points.shape(0) - size_t(n)});
    nb::gil_scoped_release released;
    const PlanarSample sample{rows_of(points), rounding.data(),      n,
                              masses.data(),   spread_masses.data(), heavy};
    const LargestOutlyingness found(sample, n_threads);
    std::copy(found.worst.begin(), found.worst.end(), worst.data());
    return worst;
}

void bind_exact(nb::module_& m) {
    m.def("halfspace_masses", halfspace_masses, "points"_a.noconvert(), "masses"_a.noconvert(),
          "queries"_a.noconvert(), "lattice"_a, "n_threads"_a = 1,
          "Smallest mass (m,) of a closed halfspace that contains each query (m, d), for distinct points (n, "
          "d) "
          "that span d >= 2 dimensions. Products of d differences must neither overflow nor underflow; with "
          "`lattice` they are integers that doubles hold.");
    m.def("halfplane_borders", halfplane_borders, "points"_a.noconvert(), "masses"_a.noconvert(), "rank"_a,
          "Borders (k, 2) of the smallest halfplanes of mass at least `rank`, by the first and the last "
          "point on them, for distinct points (n, 2) in lexicographic order that are not all on one line.");
    m.def("planar_outlyingness", planar_outlyingness, "points"_a.noconvert(), "rounding"_a.noconvert(),
          "masses"_a.noconvert(), "spread_masses"_a.noconvert(), "heavy"_a, "n_threads"_a = 1,
          "Largest outlyingness (m,) over all directions of the last m of the points (n + m, 2) among the "
          "first n, of masses (n,).");
}

}  // namespace isodepth
