import { type Logger, pino } from 'pino'

const batchLength = 16 * 1024
const heldAtMostMs = 200

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

/**
 * Many lines leave in one write; only a kill -9 loses what was held. Not pino's own batches: those sync the file to
 * the disk five times a second, and every commit of a database on that disk waits for it.
 */
function batchedOutput(): { write(line: string): void } {
  let batch = ''
  let timer: NodeJS.Timeout | null = null
  const flush = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    const lines = batch
    batch = ''
    if (lines !== '') process.stdout.write(lines)
  }
  process.once('exit', flush)
  process.stdout.on('error', () => undefined) // whoever read the lines has gone
  return {
    write(line) {
      batch += line
      if (batch.length >= batchLength) flush()
      else timer ??= setTimeout(flush, heldAtMostMs).unref()
    },
  }
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
  return pino(base, batchedOutput())
}

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
