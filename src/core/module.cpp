// The Python module: supported instruction sets, shared constants, and the bindings of all other files.
#include "hull.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace isodepth {

// Return the instruction sets that the processor and the operating system support, by increasing vector
// width. __builtin_cpu_supports is not used: its tables are missing if the run-time library is not that of
// the compiler (zig).
static nanobind::list instruction_sets() {
    nanobind::list found;
    found.append("baseline");
#if defined(__x86_64__)
    unsigned a, b, c, d;
    const unsigned third = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & third) != third) return found;
    // Wide vectors are usable only if the operating system saves their registers. Bits of the control
    // register XCR0 indicate this.
    unsigned saved, high;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
    const unsigned avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
    if ((b & avx2) != avx2 || (saved & 0x6) != 0x6) return found;
    found.append("avx2");
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    if ((b & avx512) == avx512 && (saved & 0xe6) == 0xe6) found.append("avx512");
#endif
    return found;
}

}  // namespace isodepth

NB_MODULE(CORE_NAME, m) {
    using namespace isodepth;
    main_thread =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    m.attr("EXACT_GAP") = exact_gap;
    m.attr("WORTH_A_THREAD") = worth_a_thread;
    m.def("instruction_sets", instruction_sets, "The instruction sets of this processor, narrowest first.");
    nb::class_<StopFlag>(m, "StopFlag", "Flag that ends computations of the threads that watch it.")
        .def(nb::init<>())
        .def("watch", &StopFlag::watch, "Let all computations of this thread end after the flag is set.")
        .def("set", &StopFlag::set);
    for (Bind* bind : {bind_labels, bind_depths, bind_hull, bind_gaps, bind_chunks}) bind(m);
}
