/**
 * Two suites. `npm test` is fast: in process, on the embedded database, with a fixed random seed. `npm run test:full`
 * adds the files named `*.full.test.ts` (browsers, processes, volume) and tests that check `isFullSuite`, with fresh
 * seeds.
 */
export const isFullSuite = process.env.TEST_SUITE === 'full'

/** A number from the environment; an empty variable counts as not set. */
export function numberFrom(name: string): number | undefined {
  const text = process.env[name]
  if (!text) return undefined
  const value = Number(text)
  if (!Number.isFinite(value)) throw new Error(`${name}: must be a number, and is ${text}`)
  return value
}

/**
 * Share of the full number of runs: `FC_RUNS=20` runs every property and model twenty times as often. fast-check prints
 * the seed and the path of a failure: repeat it with `FC_SEED` and `FC_PATH` (`setup.ts`).
 */
const share = numberFrom('FC_RUNS') ?? (isFullSuite ? 1 : 0.1)

/** Number of runs of a property or model: `full` in the full suite, at least `fast` in the fast one. */
export const runs = (full: number, fast = 2): { numRuns: number } => ({
  numRuns: Math.max(fast, Math.round(full * share)),
})
