/* The C side of evertick as Go sees it: one function per kernel.
 *
 * Every kernel is a pure function of its arguments: it allocates nothing, keeps nothing and prints nothing. The Go
 * side has checked lengths and values. The first argument of most is the level. If this build lacks that level,
 * level c runs. */
#ifndef EVERTICK_H
#define EVERTICK_H

#include "base.h"

/* The name and version of the compiler that built this. */
const char *et_compiler(void);

/* Turns flushing of denormals on or off in the calling thread. It exists so
 * that the probe of the floating-point environment can be tested. */
void et_flush_denormals(int32_t on);

#endif
