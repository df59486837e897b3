/* The kernels of this package, at LEVEL. */
#include "build_tmpl.h"
#include "pairs_tmpl.h"
#include "search_tmpl.h"
