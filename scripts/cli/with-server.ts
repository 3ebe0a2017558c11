/** Runs a command with a server of its own. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

interface Server {
  url: string
  /** Additional environment variables of the command. */
  env?: Record<string, string>
  stop(): Promise<void>
}

/**
 * Starts a server and runs the command with the server's address in TEST_DATABASE_URL. Returns the command's exit code
 * after the server has been stopped.
 */
export async function runWithServer(
  start: () => Promise<Server>,
  program: string,
  programArgs: readonly string[],
): Promise<number> {
  // The command handles signals itself; the server is stopped after it has ended.
  let stopChild: ((signal: NodeJS.Signals) => void) | null = null
  let receivedSignal: NodeJS.Signals | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      receivedSignal = signal
      stopChild?.(signal)
    })
  }
  const server = await start()
  try {
    if (receivedSignal) return 128 + constants.signals[receivedSignal]
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

/** The arguments of this process without a first `--`, which is left over from `npm run … -- …`. */
export function commandArguments(): string[] {
  const [first, ...rest] = process.argv.slice(2)
  return first === '--' ? rest : process.argv.slice(2)
}
