/** Requests to an email provider: a timeout on each, pauses when throttled, and retries of idempotent requests. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'

export interface ListHttpOptions {
  timeoutMs: number
  /** Before the first retry; doubles each time. */
  retryDelayMs: number
  /** The request fails if the provider asks for a longer pause. */
  maxPauseMs: number
}
export const defaultTimes: ListHttpOptions = { timeoutMs: 60_000, retryDelayMs: 500, maxPauseMs: 30_000 }

export interface ListRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  url: string
  headers: Record<string, string>
  body?: unknown
  /** Converts an unsuccessful response to an error. */
  toError(response: Response, text: string): Error
  /** Number of retries, including those after a throttle pause. */
  retries: number
}

/**
 * Returns the JSON of the response, null if it has no body. All requests made here are idempotent. Throws only port
 * errors.
 */
export async function requestList(options: ListHttpOptions, request: ListRequest): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendOnce(options, request)
    } catch (error) {
      const pause = getRetryDelay(error, attempt, options, request.retries)
      if (pause === null) throw error
      await wait(pause)
    }
  }
}

/** Milliseconds until the next try; null if there is none. */
function getRetryDelay(
  error: unknown,
  attempt: number,
  { retryDelayMs, maxPauseMs }: ListHttpOptions,
  retries: number,
): number | null {
  if (attempt === retries) return null
  if (error instanceof Throttled) return error.retryAfterMs <= maxPauseMs ? error.retryAfterMs : null
  if (!(error instanceof Unavailable) || error instanceof AccessLost) return null
  return retryDelayMs * 2 ** attempt
}

async function sendOnce({ timeoutMs }: ListHttpOptions, request: ListRequest): Promise<unknown> {
  const { method, url, headers, body, toError } = request
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    text = await response.text()
  } catch (error) {
    throw new Unavailable(method === 'GET' ? 'no' : 'unknown', 'The email provider did not answer', {
      cause: error,
    })
  }
  if (!response.ok) throw toError(response, text)
  return text === '' && response.status !== 200 ? null : parseJson(text)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable('unknown', 'The email provider answered what is not JSON', { cause: error })
  }
}

/** Parses `Retry-After` in seconds; one second if it cannot be parsed. */
export function parseRetryAfter(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000
}

/** String fields of a JSON error, each on one line. Empty for other bodies: the status says enough. */
export function parseTextFields<K extends string>(text: string, ...names: K[]): Record<K, string> {
  let read: Record<string, unknown> = {}
  try {
    read = (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    // An error page of a proxy.
  }
  const line = (value: unknown) => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '')
  return Object.fromEntries(names.map((name) => [name, line(read[name])])) as Record<K, string>
}
