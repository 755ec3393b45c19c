// The Python module of one instruction set: shared constants, and the bindings of all other files.
#include "hull.hpp"

NB_MODULE(CORE_NAME, m) {
    using namespace isodepth;
    main_thread =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    end_threads_at_fork_and_exit();
    m.attr("EXACT_GAP") = exact_gap;
    m.attr("WORTH_A_THREAD") = worth_a_thread;
    nb::class_<StopFlag>(m, "StopFlag", "Flag that ends computations of the threads that watch it.")
        .def(nb::init<>())
        .def("watch", &StopFlag::watch, "Let all computations of this thread end after the flag is set.")
        .def("set", &StopFlag::set);
    for (Bind* bind : {bind_labels, bind_depths, bind_hull, bind_gaps, bind_chunks}) bind(m);
}
