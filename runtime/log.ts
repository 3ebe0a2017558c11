import { type Logger, pino } from 'pino'

let lastMs = 0
let lastTime = ''
/** Many lines leave within a millisecond: their time is written once. */
function time(): string {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    lastTime = `,"time":"${new Date(ms).toISOString()}"`
  }
  return lastTime
}

/** JSON lines on standard output; pretty in a terminal. Keys and secrets are never passed to it. */
export function openLog(level: string): Logger {
  const base = { level, base: undefined, timestamp: time }
  if (process.stdout.isTTY) {
    return pino({
      ...base,
      transport: { target: 'pino-pretty', options: { colorize: true, singleLine: true } },
    })
  }
  // Lines leave in batches, off the request's path; what a crash could lose is at most a few.
  return pino(base, pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 200 }))
}

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
