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
      transport: {
        target: 'pino-pretty',
        options: { colorize: process.stdout.hasColors(), singleLine: true },
      },
    })
  }
  const output = batchedOutput()
  const log = pino(base, output)
  requestLogs.set(log, (line) => {
    if (!log.isLevelEnabled('info')) return
    const { requestId, method, operation, status, ms, store, key } = line
    const holder = store === undefined ? '' : `,"store":"${store}","key":"${key}"`
    output.write(
      `{"level":30${time()},"requestId":"${requestId}","method":"${method}","operation":"${operation}",` +
        `"status":${status},"ms":${ms}${holder},"msg":"request"}\n`,
    )
  })
  return log
}

/** Nothing in it needs escaping: our own ids, a method that HTTP knows. */
export interface RequestLine {
  requestId: string
  method: string
  operation: string
  status: number
  ms: number
  store: string | undefined
  key: string | undefined
}

const requestLogs = new WeakMap<Logger, (line: RequestLine) => void>()
/** Writes the line of a request: as pino would, at a third of the cost of its general way. */
export const requestLogOf = (log: Logger): ((line: RequestLine) => void) =>
  requestLogs.get(log) ?? ((line) => log.info(line, 'request'))

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
