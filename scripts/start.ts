/** `npm start`: runs `scripts/server/start.ts`, imported dynamically so that Node's compile cache is used. */
import './cli/compiled.js'

if (import.meta.main) {
  const { runProgram } = await import('#scripts/cli/program')
  const { startProgram } = await import('#scripts/server/start')
  process.exitCode = await runProgram(startProgram)
}
