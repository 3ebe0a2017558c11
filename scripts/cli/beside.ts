/** Runs a command beside a server that is there for it alone. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

interface Server {
  url: string
  /** What else the command finds in its environment. */
  env?: Record<string, string>
  stop(): Promise<void>
}

/** The command finds the server's address in TEST_DATABASE_URL; answers its exit code, once the server is put away. */
export async function runBeside(
  start: () => Promise<Server>,
  program: string,
  programArgs: readonly string[],
): Promise<number> {
  // A signal is the command's to act on; ours is to put the server away once it has ended.
  let stopChild: ((signal: NodeJS.Signals) => void) | null = null
  let asked: NodeJS.Signals | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      asked = signal
      stopChild?.(signal)
    })
  }
  const server = await start()
  try {
    if (asked) return 128 + constants.signals[asked]
    return await new Promise<number>((resolve, reject) => {
      const child = spawn(program, programArgs, {
        stdio: 'inherit',
        env: { ...process.env, TEST_DATABASE_URL: server.url, ...server.env },
      })
      stopChild = (signal) => child.kill(signal)
      child.once('error', (error) => reject(new Error(`${program}: ${error.message}`)))
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
  } finally {
    await server.stop()
  }
}

/** npm run adds a `--` of its own, before which no option could be given. */
export function besideArguments(): string[] {
  const [first, ...rest] = process.argv.slice(2)
  return first === '--' ? rest : process.argv.slice(2)
}
