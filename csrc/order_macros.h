/* Networks written out: compilers keep vectors in registers only when every
 * index is a constant early on. ORDER(i, j) puts the smaller of two first. */
#ifndef EVERTICK_ORDER_MACROS_H
#define EVERTICK_ORDER_MACROS_H

#define EACH4(X, i) X(i) X((i) + 1) X((i) + 2) X((i) + 3)
#define EACH16(X) EACH4(X, 0) EACH4(X, 4) EACH4(X, 8) EACH4(X, 12)
#define EACH32(X) EACH16(X) EACH4(X, 16) EACH4(X, 20) EACH4(X, 24) EACH4(X, 28)

/* Neighbours at a distance. */
#define PAIRS2(o, d) ORDER(o, (o) + (d)) ORDER((o) + 1, (o) + 1 + (d))
#define PAIRS4(o, d) PAIRS2(o, d) PAIRS2((o) + 2, d)
#define PAIRS8(o, d) PAIRS4(o, d) PAIRS4((o) + 4, d)
#define PAIRS16(o, d) PAIRS8(o, d) PAIRS8((o) + 8, d)

/* The first of n with the last, the second with the last but one, ... */
#define MIRROR2(o, n, i) ORDER((o) + (i), (o) + (n) - 1 - (i)) ORDER((o) + (i) + 1, (o) + (n) - 2 - (i))
#define MIRROR8(o, n, i) MIRROR2(o, n, i) MIRROR2(o, n, (i) + 2) MIRROR2(o, n, (i) + 4) MIRROR2(o, n, (i) + 6)

#define CLEAN2(o) ORDER(o, (o) + 1)
#define CLEAN4(o) PAIRS2(o, 2) CLEAN2(o) CLEAN2((o) + 2)
#define CLEAN8(o) PAIRS4(o, 4) CLEAN4(o) CLEAN4((o) + 4)
#define CLEAN16(o) PAIRS8(o, 8) CLEAN8(o) CLEAN8((o) + 8)
#define CLEAN32(o) PAIRS16(o, 16) CLEAN16(o) CLEAN16((o) + 16)

/* Up to eight: Batcher's odd-even merge sort. */
#define SORT2(o) ORDER(o, (o) + 1)
#define SORT4(o) SORT2(o) SORT2((o) + 2) PAIRS2(o, 2) ORDER((o) + 1, (o) + 2)
#define SORT8(o) SORT4(o) SORT4((o) + 4) PAIRS4(o, 4) PAIRS2((o) + 2, 2) \
	ORDER((o) + 1, (o) + 2) ORDER((o) + 3, (o) + 4) ORDER((o) + 5, (o) + 6)
#define SORT16(o) SORT8(o) SORT8((o) + 8) MIRROR8(o, 16, 0) CLEAN8(o) CLEAN8((o) + 8)
#define SORT32(o) SORT16(o) SORT16((o) + 16) MIRROR8(o, 32, 0) MIRROR8(o, 32, 8) CLEAN16(o) CLEAN16((o) + 16)

/* Merges of columns, by the number of lanes: FLIP(m, bit) compares with the lane
 * i ^ m of the vector at the other end, SWAP(bit) with lane i ^ bit of the same. */
#define FLIP(m, bit) FLIPS4(m, bit, 0) FLIPS4(m, bit, 4) FLIPS4(m, bit, 8) FLIPS4(m, bit, 12)
#define FLIPS4(m, bit, i) FLIP1(m, bit, i) FLIP1(m, bit, (i) + 1) FLIP1(m, bit, (i) + 2) FLIP1(m, bit, (i) + 3)
#define SWAP(bit) SWAPS16(bit, 0) SWAPS16(bit, 16)
#define SWAPS16(bit, i) SWAPS4(bit, i) SWAPS4(bit, (i) + 4) SWAPS4(bit, (i) + 8) SWAPS4(bit, (i) + 12)
#define SWAPS4(bit, i) SWAP1(bit, bit, i) SWAP1(bit, bit, (i) + 1) SWAP1(bit, bit, (i) + 2) SWAP1(bit, bit, (i) + 3)

#endif
