//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

#include "evertick.h"
#include "base.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *et_compiler(void) {
#if defined(__clang__)
	return "clang " STRING(__clang_major__) "." STRING(__clang_minor__);
#elif defined(__GNUC__)
	return "gcc " STRING(__GNUC__) "." STRING(__GNUC_MINOR__);
#else
	return "unknown C compiler";
#endif
}

#if defined(__x86_64__)
#include <xmmintrin.h>
void et_flush_denormals(int32_t on) {
	const unsigned int ftz_daz = 0x8040;
	_mm_setcsr(on ? _mm_getcsr() | ftz_daz : _mm_getcsr() & ~ftz_daz);
}
#elif defined(__aarch64__)
void et_flush_denormals(int32_t on) {
	const uint64_t fz = (uint64_t)1 << 24;
	uint64_t fpcr;
	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	fpcr = on ? fpcr | fz : fpcr & ~fz;
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
}
#else
void et_flush_denormals(int32_t on) { (void)on; }
#endif
