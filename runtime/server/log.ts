import { type Logger, pino } from 'pino'
import { currentTrace, getTraceId, type Trace } from '#runtime/trace'
import { serializeError, serializeReason } from './logged-error.ts'

const bufferBytes = 64 * 1024
const flushAfterMs = 200

// biome-ignore lint/plugin/clock: log lines have the machine's real time, for the operator
const time = (): string => `,"time":"${new Date().toISOString()}"`

const digits = Array.from({ length: 10 }, (_none, n) => String(n))
const decimals = Array.from({ length: 100 }, (_none, n) => `.${String(n).padStart(2, '0')}`)

/**
 * Buffers log lines and writes many at once; only a kill -9 loses the buffered lines. Pino's own buffering is not used:
 * it syncs the file to disk five times a second, and every commit of a database on the same disk waits for that. Lines
 * are kept as bytes, since texts would be concatenated and then copied. A frequent line may be written in parts:
 * `begin`, then its parts.
 */
export class LineBuffer {
  readonly #send: (bytes: Buffer, done: () => void) => void
  #buffer: Buffer = Buffer.allocUnsafe(bufferBytes)
  #length = 0
  #timer: NodeJS.Timeout | null = null
  #spare: Buffer | null = null

  /** `send` calls `done` once the bytes are no longer needed. */
  constructor(send: (bytes: Buffer, done: () => void) => void) {
    this.#send = send
  }

  /** Writes a line, which must include its line end. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (bytes > bufferBytes) {
      this.flush()
      this.#send(Buffer.from(line), () => undefined)
      return
    }
    this.begin(bytes)
    this.#length += this.#buffer.write(line, this.#length)
  }

  /** Reserves space for a line of at most `atMost` bytes, up to 64 KiB. Its parts must follow synchronously. */
  begin(atMost: number): void {
    if (this.#length + atMost > bufferBytes) this.flush()
    this.#timer ??= setTimeout(() => this.flush(), flushAfterMs).unref()
  }

  part(bytes: Buffer): void {
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes a short text of ASCII characters. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i += 1) this.#buffer[this.#length + i] = text.charCodeAt(i)
    this.#length += text.length
  }

  /** Writes a number, which is at least 0, with two decimals. */
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
    const full = this.#buffer
    const bytes = full.subarray(0, this.#length)
    this.#buffer = this.#spare ?? Buffer.allocUnsafe(bufferBytes)
    this.#spare = null
    this.#length = 0
    this.#send(bytes, () => {
      this.#spare = full
    })
  }
}

function standardOutput(): LineBuffer {
  const lines = new LineBuffer((bytes, done) => process.stdout.write(bytes, done))
  process.once('exit', () => lines.flush())
  process.stdout.on('error', () => undefined) // the reader has gone
  return lines
}

/** Returns a new object for each line: pino assigns the line's fields to it. */
function addTrace(): object {
  const trace = currentTrace()
  return trace ? { traceId: getTraceId(trace) } : {}
}

const baseOptions = (level: string) => ({
  level,
  base: undefined,
  timestamp: time,
  mixin: addTrace,
  serializers: { err: serializeError, reason: serializeReason },
})

/** Opens the log: JSON lines on standard output, or readable lines in a terminal. Never pass keys or secrets to it. */
export function openLog(level: string): Logger {
  if (process.stdout.isTTY) {
    return pino({
      ...baseOptions(level),
      transport: {
        target: 'pino-pretty',
        options: { colorize: process.stdout.hasColors(), singleLine: true },
      },
    })
  }
  return openLogInto(level, standardOutput())
}

/** Opens a log that writes JSON lines into a buffer. */
export function openLogInto(level: string, output: LineBuffer): Logger {
  const log = pino(baseOptions(level), output)
  const lines = new RequestLines(output)
  requestLogs.set(log, (line) => {
    if (log.isLevelEnabled('info')) lines.write(line)
  })
  return log
}

/** The fields of a request's log line. All are ASCII and need no escaping: our own ids, a known HTTP method. */
export interface RequestLine {
  requestId: string
  method: string
  operation: string
  status: number
  /** Written with two decimals. */
  ms: number
  /** When the request ended, by the monotonic clock in milliseconds. */
  endedAt: number
  trace: Trace | null
  store: string | undefined
  key: string | undefined
}

const holdersAtMost = 10_000

/** Writes request lines in the same form as pino, but from parts that are cached per operation and per key. */
export class RequestLines {
  readonly #output: LineBuffer
  /** The beginning of a line, with the time. It is built again when the millisecond has changed. */
  #start = Buffer.alloc(0)
  #startUntil = 0
  /** The middle parts of lines, by method and operation, then by status. */
  readonly #middles = new Map<string, Map<string, Buffer[]>>()
  /** The ends of lines, by key. */
  readonly #ends = new Map<string | undefined, Buffer>()

  constructor(output: LineBuffer) {
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
    const ids = trace ? `${requestId}","traceId":"${getTraceId(trace)}` : requestId
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
/** Returns the function that writes a request's line. For our own logs it costs a fraction of pino's `info`. */
export const getRequestLog = (log: Logger): ((line: RequestLine) => void) =>
  requestLogs.get(log) ??
  (({ endedAt: _, trace: __, ...line }) =>
    // biome-ignore lint/plugin/cents: milliseconds, not money
    log.info({ ...line, ms: Math.round(line.ms * 100) / 100 }, 'request'))

/** The state of work that sends or runs in the background, after a change. */
export type WorkState = 'waiting' | 'paused' | 'resumed' | 'finished'

/**
 * Writes the line that says why work stopped or that it goes on. Written when its state changes, not for each message.
 * `log` names the store. `work`: the ids of what changed.
 */
export function logWorkState(
  log: Logger,
  state: WorkState,
  reason: string | null,
  work: Readonly<Record<string, unknown>>,
): void {
  const hasStopped = state === 'waiting' || state === 'paused'
  log[hasStopped ? 'warn' : 'info']({ ...work, state, reason }, 'work state changed')
}

export const silentLog = (): Logger => pino({ level: 'silent' })
export type { Logger }
