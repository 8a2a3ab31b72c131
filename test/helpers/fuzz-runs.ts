/**
 * The number of fast-check cases for a parser: `quick` in `npm test`. `FUZZ_RUNS=100000` runs more; `FUZZ_SEED=7` repeats a run.
 */
export function fuzzRuns(quick: number): { numRuns: number; seed?: number } {
  const { FUZZ_RUNS: runs, FUZZ_SEED: seed } = process.env
  return { numRuns: runs === undefined ? quick : Number(runs), ...(seed !== undefined && { seed: Number(seed) }) }
}
