import { type Logger, pino } from 'pino'
import { currentTrace, type Trace, traceIdOf } from '#runtime/trace'
import { loggedError, loggedReason } from './logged-error.ts'

const heldBytes = 64 * 1024
const heldAtMostMs = 200

// biome-ignore lint/plugin/clock: an operator reads when it was on the machine
const time = (): string => `,"time":"${new Date().toISOString()}"`

const digits = Array.from({ length: 10 }, (_none, n) => String(n))
const decimals = Array.from({ length: 100 }, (_none, n) => `.${String(n).padStart(2, '0')}`)

/**
 * Many lines leave in one write; only a kill -9 loses what was held. Not pino's own batches: those sync the file to
 * the disk five times a second, and every commit of a database on that disk waits for it. Lines are kept as bytes: as
 * text they would be put together, and copied, once more. One that is written often can be put together from bytes:
 * `begin`, then its parts.
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
    this.begin(bytes)
    this.#length += this.#held.write(line, this.#length)
  }

  /** Makes room for a line of at most so many bytes, no more than 64 KiB, whose parts follow at once. */
  begin(atMost: number): void {
    if (this.#length + atMost > heldBytes) this.flush()
    this.#timer ??= setTimeout(() => this.flush(), heldAtMostMs).unref()
  }

  part(bytes: Buffer): void {
    this.#held.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A few characters of ASCII. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i += 1) this.#held[this.#length + i] = text.charCodeAt(i)
    this.#length += text.length
  }

  /** A number from 0 on with two decimals. */
  hundredths(value: number): void {
    // biome-ignore lint/plugin/cents: milliseconds, not money
    const all = Math.round(value * 100)
    const whole = Math.floor(all / 100)
    this.ascii(whole < 10 ? digits[whole]! : String(whole))
    this.ascii(decimals[all - whole * 100]!)
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

const none = {}
function traced(): object {
  const trace = currentTrace()
  return trace ? { traceId: traceIdOf(trace) } : none
}

const baseOf = (level: string) => ({
  level,
  base: undefined,
  timestamp: time,
  mixin: traced,
  serializers: { err: loggedError, reason: loggedReason },
})

/** JSON lines on standard output; pretty in a terminal. Keys and secrets are never passed to it. */
export function openLog(level: string): Logger {
  if (process.stdout.isTTY) {
    return pino({
      ...baseOf(level),
      transport: {
        target: 'pino-pretty',
        options: { colorize: process.stdout.hasColors(), singleLine: true },
      },
    })
  }
  return logInto(level, standardOutput())
}

/** JSON lines. */
export function logInto(level: string, output: HeldLines): Logger {
  const log = pino(baseOf(level), output)
  const lines = new RequestLines(output)
  requestLogs.set(log, (line) => {
    if (log.isLevelEnabled('info')) lines.write(line)
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
  /** On the machine's own running clock, in milliseconds. */
  endedAt: number
  trace: Trace | null
  store: string | undefined
  key: string | undefined
}

const holdersAtMost = 10_000

/** The lines of requests, as pino would write them: put together from what each operation and each key always has. */
export class RequestLines {
  readonly #output: HeldLines
  /** With the time in it, which is read once in a millisecond. */
  #start = Buffer.alloc(0)
  #startUntil = 0
  /** By method and operation, then by status. */
  readonly #middles = new Map<string, Map<string, Buffer[]>>()
  /** By key. */
  readonly #ends = new Map<string | undefined, Buffer>()

  constructor(output: HeldLines) {
    this.#output = output
  }

  write({ requestId, method, operation, status, ms, endedAt, trace, store, key }: RequestLine): void {
    if (endedAt >= this.#startUntil) {
      this.#start = Buffer.from(`{"level":30${time()},"requestId":"`)
      this.#startUntil = endedAt + 1
    }
    const middle =
      this.#middles.get(method)?.get(operation)?.[status] ?? this.#middle(method, operation, status)
    const end = this.#ends.get(key) ?? this.#end(store, key)
    const output = this.#output
    const ids = trace ? `${requestId}","traceId":"${traceIdOf(trace)}` : requestId
    output.begin(this.#start.length + ids.length + middle.length + 25 + end.length)
    output.part(this.#start)
    output.ascii(ids)
    output.part(middle)
    output.hundredths(ms)
    output.part(end)
  }

  #middle(method: string, operation: string, status: number): Buffer {
    const operations = this.#middles.get(method) ?? new Map<string, Buffer[]>()
    const statuses = operations.get(operation) ?? []
    this.#middles.set(method, operations.set(operation, statuses))
    statuses[status] = Buffer.from(
      `","method":"${method}","operation":"${operation}","status":${status},"ms":`,
    )
    return statuses[status]
  }

  #end(store: string | undefined, key: string | undefined): Buffer {
    const holder = key === undefined ? '' : `,"store":"${store}","key":"${key}"`
    const end = Buffer.from(`${holder},"msg":"request"}\n`)
    if (this.#ends.size >= holdersAtMost) this.#ends.clear()
    this.#ends.set(key, end)
    return end
  }
}

const requestLogs = new WeakMap<Logger, (line: RequestLine) => void>()
/** Writes the line of a request, at a small part of what pino's general way costs. */
export const requestLogOf = (log: Logger): ((line: RequestLine) => void) =>
  requestLogs.get(log) ??
  (({ endedAt: _, trace: __, ...line }) =>
    // biome-ignore lint/plugin/cents: milliseconds, not money
    log.info({ ...line, ms: Math.round(line.ms * 100) / 100 }, 'request'))

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
