/** `npm run worker`: `scripts/server/worker.ts`, from the compile cache of the previous start. */
import { setFlagsFromString } from 'node:v8'
import './cli/compiled.js'

if (import.meta.main) {
  // Streamed data is short-lived but already old when freed: without this flag, garbage takes twice as much memory as
  // everything else.
  setFlagsFromString('--heap-growing-percent=50')
  const { runProgram } = await import('#scripts/cli/program')
  const { workerProgram } = await import('#scripts/server/worker')
  process.exitCode = await runProgram(workerProgram)
}
