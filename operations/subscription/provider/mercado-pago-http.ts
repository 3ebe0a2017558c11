/** HTTP client of Mercado Pago's REST API: timeouts, safe retries, and errors mapped to ours. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { parseRetryAfter } from '#runtime/ports/retry-after'
import { truncate } from '#runtime/values/truncate'

export interface HttpOptions {
  /** `https://api.mercadopago.com` */
  endpoint: string
  accessToken: string
  timeoutMs?: number
  /** Delay before the first retry; doubles with each retry. */
  retryDelayMs?: number
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: unknown
  idempotencyKey?: string
  /** Whether the request is idempotent, so that it may be retried. Default: true for GET and PUT. */
  isRepeatable?: boolean
}

const retries = 2
/** Codes of connection errors after which the request certainly did not reach the provider. */
const unreached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Returns the provider's JSON. Throws `Refused`, `Throttled` and `Unavailable`; none of them contains the access token. */
export class MercadoPagoHttp {
  readonly #options: Required<HttpOptions>

  constructor(options: HttpOptions) {
    this.#options = { timeoutMs: 10_000, retryDelayMs: 250, ...options }
  }

  async send(request: ProviderRequest): Promise<unknown> {
    const isRepeatable = request.isRepeatable ?? request.method !== 'POST'
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once(request)
      } catch (error) {
        if (!(error instanceof Unavailable) || error instanceof AccessLost) throw error
        if (!isRepeatable || attempt === retries) throw error
        await wait(this.#options.retryDelayMs * 2 ** attempt)
      }
    }
  }

  async #once({ method, path, body, idempotencyKey }: ProviderRequest): Promise<unknown> {
    const { endpoint, accessToken, timeoutMs } = this.#options
    const isRead = method === 'GET'
    let response: Response
    let text: string
    try {
      response = await fetch(endpoint + path, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${accessToken}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'x-idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      text = await response.text()
    } catch (error) {
      throw new Unavailable(isRead || wasUnreached(error) ? 'no' : 'unknown', undefined, { cause: error })
    }
    if (response.ok) return parseJson(text, isRead)
    throw toProviderError(response, text, isRead)
  }
}

function toProviderError(response: Response, text: string, isRead: boolean): Error {
  const { status } = response
  if (status === 401 || status === 403) {
    return new AccessLost(
      'billing-key-refused',
      `The payment provider does not take our credentials (${status})`,
      'The operator of this server must put the access token of the application at Mercado Pago in BILLING_URL',
    )
  }
  if (status === 404) return new Refused('not-found', 'The payment provider knows no such object')
  if (status === 429) return new Throttled(parseRetryAfter(response.headers, 1000))
  if (status === 408 || status >= 500) {
    return new Unavailable(isRead ? 'no' : 'unknown', `The provider answered ${status}`)
  }
  const { error, message } = parseError(text)
  const code = error?.toLowerCase().replace(/[^a-z0-9]+/g, '-') || 'refused'
  const why = message ? `: ${truncate(message.replace(/\s+/g, ' '), 200)}` : ''
  return new Refused(code, `The payment provider refused this${why}`)
}

function wasUnreached(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown } }).cause
  return typeof cause?.code === 'string' && unreached.has(cause.code)
}

function parseJson(text: string, isRead: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable(isRead ? 'no' : 'unknown', 'The provider answered what is not JSON', {
      cause: error,
    })
  }
}

function parseError(text: string): { error?: string; message?: string } {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown }
    return {
      ...(typeof error === 'string' ? { error } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    }
  } catch {
    // An HTML error page of a proxy: only its status code is useful.
    return {}
  }
}
