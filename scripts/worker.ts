/** `npm run worker`: `scripts/server/worker.ts`, from modules that the start before has compiled. */
import { setFlagsFromString } from 'node:v8'
import './cli/compiled.js'

if (import.meta.main) {
  // What a job streams is garbage at once, and old by then: else twice as much of it as of all the rest lies about.
  setFlagsFromString('--heap-growing-percent=50')
  const { runProgram } = await import('#scripts/cli/program')
  const { workerProgram } = await import('#scripts/server/worker')
  process.exitCode = await runProgram(workerProgram)
}
