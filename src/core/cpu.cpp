// The Python module `cpu`, which finds the instruction sets of the processor. It is compiled for any
// processor.
#include <nanobind/nanobind.h>

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

NB_MODULE(cpu, m) {
    m.def("instruction_sets", isodepth::instruction_sets,
          "Return the instruction sets of this processor, in increasing order of vector width.");
}
