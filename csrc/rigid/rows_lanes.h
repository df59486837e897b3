/* Operations of the solver, beyond those of lanes.h. */
#ifndef EVERTICK_RIGID_SOLVE_LANES_H
#define EVERTICK_RIGID_SOLVE_LANES_H

#include "../body_rows.h"

#define ADD(a, b) V(add)(a, b)
#define SUB(a, b) V(sub)(a, b)
#define MUL(a, b) V(mul)(a, b)
#define DIV(a, b) V(div)(a, b)
#define ZERO V(set1)(0.0f)
#define CROSS(ax, ay, bx, by) SUB(MUL(ax, by), MUL(ay, bx))
#define DOT(ax, ay, bx, by) ADD(MUL(ax, bx), MUL(ay, by))

#endif
