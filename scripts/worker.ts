/** `npm run worker`: runs `scripts/server/worker.ts`, imported dynamically so that Node's compile cache is used. */
import { setFlagsFromString } from 'node:v8'
import './cli/compiled.js'

if (import.meta.main) {
  // Streamed data is promoted to V8's old generation before it is freed. Without this flag, such garbage takes twice as
  // much memory as all live data.
  setFlagsFromString('--heap-growing-percent=50')
  const { runProgram } = await import('#scripts/cli/program')
  const { workerProgram } = await import('#scripts/server/worker')
  process.exitCode = await runProgram(workerProgram)
}
