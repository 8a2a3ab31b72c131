/**
 * How many cases fast-check makes of a parser: `quick` ones in `npm test`. `FUZZ_RUNS=100000` makes more, `FUZZ_SEED=7` the
 * same ones again.
 */
export function fuzzRuns(quick: number): { numRuns: number; seed?: number } {
  const { FUZZ_RUNS: runs, FUZZ_SEED: seed } = process.env
  return { numRuns: runs === undefined ? quick : Number(runs), ...(seed !== undefined && { seed: Number(seed) }) }
}
