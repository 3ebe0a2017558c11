/** `npm start`: `scripts/server/start.ts`, from the compile cache of the previous start. */
import './cli/compiled.js'

if (import.meta.main) {
  const { runProgram } = await import('#scripts/cli/program')
  const { startProgram } = await import('#scripts/server/start')
  process.exitCode = await runProgram(startProgram)
}
