/** Requests to an email provider: a time-out on each, waits where it asks to slow down, tries again what may be done twice. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'

export interface ListHttpOptions {
  timeoutMs: number
  /** Before the first retry; doubles. */
  retryDelayMs: number
  /** A longer pause that it asks for is not waited for. */
  pauseAtMostMs: number
}
export const usualTimes: ListHttpOptions = { timeoutMs: 60_000, retryDelayMs: 500, pauseAtMostMs: 30_000 }

export interface ListRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  url: string
  headers: Record<string, string>
  body?: unknown
  /** What an answer that is not fine means. */
  failureOf(response: Response, text: string): Error
  /** How often it is tried again; waits that it asked for count. */
  retries: number
}

/** Answers its JSON, null where it has none. All that is asked here may be asked twice. Throws errors of the ports alone. */
export async function askList(options: ListHttpOptions, request: ListRequest): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await once(options, request)
    } catch (error) {
      const pause = pauseBefore(error, attempt, options, request.retries)
      if (pause === null) throw error
      await wait(pause)
    }
  }
}

/** Milliseconds until the next try; null where there is none. */
function pauseBefore(
  error: unknown,
  attempt: number,
  { retryDelayMs, pauseAtMostMs }: ListHttpOptions,
  retries: number,
): number | null {
  if (attempt === retries) return null
  if (error instanceof Throttled) return error.retryAfterMs <= pauseAtMostMs ? error.retryAfterMs : null
  if (!(error instanceof Unavailable) || error instanceof AccessLost) return null
  return retryDelayMs * 2 ** attempt
}

async function once({ timeoutMs }: ListHttpOptions, request: ListRequest): Promise<unknown> {
  const { method, url, headers, body, failureOf } = request
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
  if (!response.ok) throw failureOf(response, text)
  return text === '' && response.status !== 200 ? null : jsonOf(text)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable('unknown', 'The email provider answered what is not JSON', { cause: error })
  }
}

/** Seconds; one where it says nothing that can be read. */
export function pauseMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000
}

/** Texts of an answer by their names, each on one line; nothing of what is no JSON, whose status says all there is. */
export function textsOf<K extends string>(text: string, ...names: K[]): Record<K, string> {
  let read: Record<string, unknown> = {}
  try {
    read = (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    // A page of something in between.
  }
  const line = (value: unknown) => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '')
  return Object.fromEntries(names.map((name) => [name, line(read[name])])) as Record<K, string>
}
