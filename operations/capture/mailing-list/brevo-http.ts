/** Sends requests to Brevo's API, and maps its errors. */
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { parseRetryAfter } from '#runtime/ports/retry-after'
import { truncate } from '#runtime/values/truncate'
import { noConsentGroups } from './brevo-consent.ts'
import { type ListHttpOptions, type ListRequest, parseTextFields, requestList } from './http.ts'

export interface BrevoRequest extends Pick<ListRequest, 'method' | 'body'> {
  /** Path below `/v3`. */
  path: string
}

/** A refusal with the reason that the API gives. For `duplicate_parameter` it names the identifiers that are duplicates. */
export class BrevoRefused extends Refused {
  readonly reason: string
  readonly duplicates: readonly string[]
  constructor(reason: string, message: string, duplicates: readonly string[]) {
    super('refused', `The email provider refused this${message ? `: ${truncate(message, 200)}` : ''}`)
    this.reason = reason
    this.duplicates = duplicates
  }
}

export async function requestBrevo(
  options: ListHttpOptions & { endpoint: string },
  store: ProviderStore,
  { path, ...request }: BrevoRequest,
): Promise<unknown> {
  const { apiKey } = (store.credentials ?? {}) as { apiKey?: unknown }
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw keyRejected('The store has no API key of the email provider')
  }
  return requestList(options, {
    ...request,
    url: `${options.endpoint}/v3${path}`,
    headers: { 'api-key': apiKey },
    toError,
    retries: 4,
  })
}

export const noSuchList = () => new Refused('no-such-list', 'The email provider has no such list')
const keyRejected = (message: string): AccessLost =>
  new AccessLost(
    'list-key-refused',
    message,
    'Make an API key (v3) in the account at Brevo, allow this server’s address there, and connect the store again',
  )

function toError(response: Response, text: string): Error {
  const { status, headers } = response
  const { code, message } = parseTextFields(text, 'code', 'message')
  if (status === 401 || (status === 403 && code !== noConsentGroups)) {
    return keyRejected(
      `The email provider does not take the store's credentials (${status}${message && ` ${message}`})`,
    )
  }
  if (status === 404) return noSuchList()
  if (status === 429) return new Throttled(parseRetryAfter(headers, 1000, 'x-sib-ratelimit-reset'))
  if (status === 408 || status >= 500) {
    return new Unavailable('unknown', `The email provider answered ${status}`)
  }
  return new BrevoRefused(code, message, parseDuplicates(text))
}

function parseDuplicates(text: string): string[] {
  try {
    const { metadata } = JSON.parse(text) as { metadata?: { duplicate_identifiers?: unknown } }
    const names = metadata?.duplicate_identifiers
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}
