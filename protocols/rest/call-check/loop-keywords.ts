/** The keyword around a definition of `loopsIn`. It checks a value once; see `check-runtime.ts`. */
export const ONCE = 'x-souk-once'
/** Beside `ONCE`: the name of the definition. */
export const LOOP = 'x-souk-loop'
