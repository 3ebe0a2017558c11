/** Requests to Mailchimp's Marketing API: a time-out on each, waits where it asks to slow down, its errors in our words. */
import { setTimeout as wait } from 'node:timers/promises'
import { Refused, Throttled, Unavailable } from '../errors.ts'

export interface MailchimpHttpOptions {
  /** Of a data centre, such as `us21`: `https://us21.api.mailchimp.com`. */
  endpoint: (dataCentre: string) => string
  timeoutMs: number
  /** Before the first retry; doubles. */
  retryDelayMs: number
  /** A longer pause that it asks for is not waited for. */
  pauseAtMostMs: number
}

export interface MailchimpRequest {
  method: 'GET' | 'POST' | 'PUT'
  /** Below `/3.0`. */
  path: string
  body?: unknown
}

const retries = 2

/**
 * Asks with the key of one account (`<secret>-<data centre>`); answers its JSON. All that is asked here may be asked
 * twice. Throws `Refused`, `Throttled` and `Unavailable`, none with the key in it.
 */
export async function askMailchimp(
  options: MailchimpHttpOptions,
  apiKey: string,
  request: MailchimpRequest,
): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await once(options, apiKey, request)
    } catch (error) {
      const pause = pauseBefore(error, attempt, options)
      if (pause === null) throw error
      await wait(pause)
    }
  }
}

/** Milliseconds until the next try; null where there is none. */
function pauseBefore(error: unknown, attempt: number, options: MailchimpHttpOptions): number | null {
  if (attempt === retries) return null
  if (error instanceof Throttled) {
    return error.retryAfterMs <= options.pauseAtMostMs ? error.retryAfterMs : null
  }
  if (!(error instanceof Unavailable) || error instanceof BadCredentials) return null
  return options.retryDelayMs * 2 ** attempt
}

async function once(
  { endpoint, timeoutMs }: MailchimpHttpOptions,
  apiKey: string,
  { method, path, body }: MailchimpRequest,
): Promise<unknown> {
  let response: Response
  let text: string
  try {
    response = await fetch(`${endpoint(dataCentreOf(apiKey))}/3.0${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Basic ${Buffer.from(`key:${apiKey}`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    text = await response.text()
  } catch (error) {
    if (error instanceof BadCredentials) throw error
    throw new Unavailable(method === 'GET' ? 'no' : 'unknown', 'The email provider did not answer', {
      cause: error,
    })
  }
  if (response.ok) return jsonOf(text)
  throw failureOf(response, text)
}

export class BadCredentials extends Unavailable {}

/** What stands behind the last dash of a key: part of a host's name, so nothing else may. */
function dataCentreOf(apiKey: string): string {
  const found = /-([a-z]{2,4}\d{1,4})$/.exec(apiKey)
  if (!found) throw new BadCredentials('no', 'The API key of the email provider names no data centre')
  return found[1]!
}

/** A refusal that says what the API called it: `Invalid Resource`, `Member In Compliance State`. */
export class MailchimpRefused extends Refused {
  readonly title: string
  readonly detail: string
  constructor(title: string, detail: string) {
    const why = detail || title
    super('refused', `The email provider refused this${why ? `: ${why.slice(0, 200)}` : ''}`)
    this.title = title
    this.detail = detail
  }
}

function failureOf(response: Response, text: string): Error {
  const { status } = response
  if (status === 401 || status === 403) {
    return new BadCredentials('no', `The email provider does not take the store's credentials (${status})`)
  }
  if (status === 404) return new Refused('no-such-list', 'The email provider has no such list')
  if (status === 429) return new Throttled(retryAfterMs(response.headers.get('retry-after')))
  if (status === 408 || status >= 500) {
    return new Unavailable('unknown', `The email provider answered ${status}`)
  }
  const { title, detail } = problemOf(text)
  return new MailchimpRefused(title, detail)
}

/** Seconds; one where it says nothing that can be read. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable('unknown', 'The email provider answered what is not JSON', { cause: error })
  }
}

function problemOf(text: string): { title: string; detail: string } {
  try {
    const { title, detail } = JSON.parse(text) as { title?: unknown; detail?: unknown }
    return { title: oneLine(title), detail: oneLine(detail) }
  } catch {
    // A page of something in between: its status says all there is to say.
    return { title: '', detail: '' }
  }
}

const oneLine = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : ''
