/**
 * The caller's trace (W3C Trace Context, https://www.w3.org/TR/trace-context-2/): what a request brings in `traceparent` and
 * `tracestate` stands in the log's lines as `traceId`, goes along with its jobs, and is passed on with the calls of providers
 * that `fetch` makes. We record no spans, so it is passed on as it came. Without the header nothing of this runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'

export interface Trace {
  traceparent: string
  tracestate?: string
}

/** Of version 00; of a later one what is known begins alike. */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-[!-~]{1,200}$)/
const alone = 55
const stateAtMost = 512

/** Null without the header, or where it is none: the specification wants it passed over. */
export function traceOf(request: { header(name: string): string | undefined }): Trace | null {
  const traceparent = request.header('traceparent')
  if (!traceparent || !form.test(traceparent)) return null
  if (traceparent.startsWith('00') && traceparent.length > alone) return null
  const tracestate = request.header('tracestate')
  const isKept = tracestate && tracestate.length <= stateAtMost && /^[ -~]+$/.test(tracestate)
  return { traceparent, ...(isKept ? { tracestate } : {}) }
}

export const traceIdOf = ({ traceparent }: Trace): string => traceparent.slice(3, 35)

const current = new AsyncLocalStorage<Trace>()
let isPassedOn = false

/** Runs `work`, and whatever it begins, within a trace. */
export function within<T>(trace: Trace | null, work: () => T): T {
  if (!trace) return work()
  if (!isPassedOn) subscribe('undici:request:create', passOn)
  isPassedOn = true
  return current.run(trace, work)
}

export const currentTrace = (): Trace | null => current.getStore() ?? null

/** Of Node's own `fetch`: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md */
function passOn(message: unknown): void {
  const trace = current.getStore()
  if (!trace) return
  const { request } = message as {
    request: { headers: readonly string[]; addHeader(name: string, value: string): void }
  }
  // Names and values by turns. A call that brings its own keeps it.
  if (request.headers.some((each, at) => at % 2 === 0 && each.toLowerCase() === 'traceparent')) return
  for (const [name, value] of Object.entries(trace)) request.addHeader(name, value)
}
