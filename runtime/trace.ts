/**
 * The caller's trace (W3C Trace Context, https://www.w3.org/TR/trace-context-2/). The log shows a request's
 * `traceparent` as `traceId`. The headers `traceparent` and `tracestate` are stored with the jobs that a request
 * queues, and sent with provider calls made by `fetch`. They are sent unchanged, since we record no spans. Without
 * these headers nothing of this runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'

export interface Trace {
  traceparent: string
  tracestate?: string
}

/** The format of version 00; later versions begin with the same fields. */
const traceparentPattern =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-[!-~]{1,200}$)/
const version00Length = 55
const stateAtMost = 512

/** Reads the trace of a request. Null if the header is absent or invalid: the specification says to ignore it then. */
export function parseTrace(request: { header(name: string): string | undefined }): Trace | null {
  const traceparent = request.header('traceparent')
  if (!traceparent || !traceparentPattern.test(traceparent)) return null
  if (traceparent.startsWith('00') && traceparent.length > version00Length) return null
  const tracestate = request.header('tracestate')
  const isKept = tracestate && tracestate.length <= stateAtMost && /^[ -~]+$/.test(tracestate)
  return { traceparent, ...(isKept ? { tracestate } : {}) }
}

export const getTraceId = ({ traceparent }: Trace): string => traceparent.slice(3, 35)

const current = new AsyncLocalStorage<Trace>()
let isSubscribed = false

/** Runs `work`, and everything that it starts, within a trace. */
export function runWithTrace<T>(trace: Trace | null, work: () => T): T {
  if (!trace) return work()
  if (!isSubscribed) subscribe('undici:request:create', propagate)
  isSubscribed = true
  return current.run(trace, work)
}

export const currentTrace = (): Trace | null => current.getStore() ?? null

/** Adds the trace to requests of Node's own `fetch`: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md */
function propagate(message: unknown): void {
  const trace = current.getStore()
  if (!trace) return
  const { request } = message as {
    request: { headers: readonly string[]; addHeader(name: string, value: string): void }
  }
  // Names and values alternate. A call that sets its own trace keeps it.
  if (request.headers.some((each, at) => at % 2 === 0 && each.toLowerCase() === 'traceparent')) return
  for (const [name, value] of Object.entries(trace)) request.addHeader(name, value)
}
