/** Sends requests to an email provider, with a timeout, pauses when throttled, and retries. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'

export interface ListHttpOptions {
  timeoutMs: number
  /** Delay before the first retry. It doubles for each further retry. */
  retryDelayMs: number
  /** Longest pause. If a throttling provider asks for a longer one, the request fails. */
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
 * Sends a request and returns the JSON of the response, or null if it has no body. Retries, so the request must be
 * idempotent. Throws only port errors.
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

/** Milliseconds until the next attempt; null if the request must not be retried. */
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

/** Reads string fields of a JSON error, each on one line. They are empty if the body is not JSON. */
export function parseTextFields<K extends string>(text: string, ...names: K[]): Record<K, string> {
  let read: Record<string, unknown> = {}
  try {
    read = (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    // Not JSON, such as the error page of a proxy.
  }
  const line = (value: unknown) => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '')
  return Object.fromEntries(names.map((name) => [name, line(read[name])])) as Record<K, string>
}
