/* must.h - assertions that stay on in production
 *
 * A scheduler that goes on with a broken count hands one GPU to two jobs; one that stops is
 * restarted and rebuilds itself from the journal. must() therefore has no off switch, and nothing
 * that a user can write may reach one.
 */
#ifndef BASE_MUST_H
#define BASE_MUST_H

/* Supplied by the program, so that the core needs no stdio: it reports and does not return. */
_Noreturn void must_fail(const char *expr, const char *file, int line);

#define must(expr) ((expr) ? (void)0 : must_fail(#expr, __FILE__, __LINE__))

#endif
