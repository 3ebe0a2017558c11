import { type Logger, pino } from 'pino'

const heldBytes = 64 * 1024
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
 * the disk five times a second, and every commit of a database on that disk waits for it. Lines are kept as bytes: as
 * text they would be put together, and copied, once more.
 */
export class HeldLines {
  readonly #send: (bytes: Buffer, done: () => void) => void
  #held: Buffer = Buffer.allocUnsafe(heldBytes)
  #length = 0
  #timer: NodeJS.Timeout | null = null
  #spare: Buffer | null = null

  /** `send` calls `done` once the bytes are no longer needed. */
  constructor(send: (bytes: Buffer, done: () => void) => void) {
    this.#send = send
  }

  /** A line with its end. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (bytes > heldBytes) {
      this.flush()
      this.#send(Buffer.from(line), () => undefined)
      return
    }
    this.#add(line, bytes, 'utf8')
  }

  /** The same where every character is one of ASCII. */
  writeAscii(line: string): void {
    this.#add(line, line.length, 'latin1')
  }

  #add(line: string, bytes: number, encoding: 'utf8' | 'latin1'): void {
    if (this.#length + bytes > heldBytes) this.flush()
    this.#length += this.#held.write(line, this.#length, encoding)
    this.#timer ??= setTimeout(() => this.flush(), heldAtMostMs).unref()
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#length === 0) return
    const full = this.#held
    const bytes = full.subarray(0, this.#length)
    this.#held = this.#spare ?? Buffer.allocUnsafe(heldBytes)
    this.#spare = null
    this.#length = 0
    this.#send(bytes, () => {
      this.#spare = full
    })
  }
}

function standardOutput(): HeldLines {
  const lines = new HeldLines((bytes, done) => process.stdout.write(bytes, done))
  process.once('exit', () => lines.flush())
  process.stdout.on('error', () => undefined) // whoever read the lines has gone
  return lines
}

const hundredths = Array.from({ length: 100 }, (_none, n) => `.${String(n).padStart(2, '0')}`)
/** Two decimals; a number with a fraction takes far longer to be made a text. */
function withHundredths(value: number): string {
  const all = Math.round(value * 100)
  const whole = Math.floor(all / 100)
  return whole + hundredths[all - whole * 100]!
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
  const output = standardOutput()
  const log = pino(base, output)
  requestLogs.set(log, (line) => {
    if (!log.isLevelEnabled('info')) return
    const { requestId, method, operation, status, ms, store, key } = line
    const holder = store === undefined ? '' : `,"store":"${store}","key":"${key}"`
    output.writeAscii(
      `{"level":30${time()},"requestId":"${requestId}","method":"${method}","operation":"${operation}",` +
        `"status":${status},"ms":${withHundredths(ms)}${holder},"msg":"request"}\n`,
    )
  })
  return log
}

/** Nothing in it needs escaping, and all is ASCII: our own ids, a method that HTTP knows. */
export interface RequestLine {
  requestId: string
  method: string
  operation: string
  status: number
  /** Written with two decimals. */
  ms: number
  store: string | undefined
  key: string | undefined
}

const requestLogs = new WeakMap<Logger, (line: RequestLine) => void>()
/** Writes the line of a request: as pino would, at a third of the cost of its general way. */
export const requestLogOf = (log: Logger): ((line: RequestLine) => void) =>
  requestLogs.get(log) ?? ((line) => log.info({ ...line, ms: Math.round(line.ms * 100) / 100 }, 'request'))

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
