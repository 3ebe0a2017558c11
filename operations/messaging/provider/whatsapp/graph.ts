/** Calls the Graph API: sends and reads JSON, parses errors, and applies a timeout to each call. It never retries. */
import { Unavailable } from '#runtime/ports/errors'
import { parseRetryAfter } from '#runtime/ports/retry-after'
import { type GraphError, type TokenOwner, toCallError, toSendError } from './errors.ts'
import type { WhatsappOptions } from './options.ts'

export interface GraphCall {
  method?: 'GET' | 'POST' | 'DELETE'
  /** Relative to the version, or an absolute address. */
  path: string
  query?: Readonly<Record<string, string>>
  token: string | null
  body?: unknown
}

export class GraphFailure extends Error {
  readonly graph: GraphError
  constructor(graph: GraphError) {
    super(`Graph API error ${graph.code}`)
    this.graph = graph
  }
}

/** Codes of errors that occur before anything is sent: no connection, or an untrusted certificate. */
const notSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

export class Graph {
  readonly options: WhatsappOptions
  readonly #sendMs: number
  readonly #callMs: number

  constructor(options: WhatsappOptions) {
    this.options = options
    this.#sendMs = options.sendTimeoutMs ?? 8_000
    this.#callMs = options.callTimeoutMs ?? 15_000
  }

  /** Makes a call other than a send; throws the errors of `../port.ts`. */
  async call(call: GraphCall): Promise<unknown> {
    try {
      return await this.ask(call)
    } catch (error) {
      throw this.failure(error, call.token)
    }
  }

  /** Converts an error of `ask` to one of `../port.ts`. `token`: the call's. */
  failure(error: unknown, token: string | null): unknown {
    return error instanceof GraphFailure ? toCallError(error.graph, this.#ownerOf(token)) : error
  }

  /** Sends a message; also throws `Throttled` and `NumberLimit`. */
  async send(call: GraphCall): Promise<unknown> {
    try {
      return await this.ask(call, this.#sendMs)
    } catch (error) {
      throw error instanceof GraphFailure ? toSendError(error.graph, this.#ownerOf(call.token)) : error
    }
  }

  #ownerOf(token: string | null): TokenOwner {
    const { appId, appSecret, shared, assistant } = this.options
    const own = [shared?.accessToken, assistant?.accessToken, `${appId}|${appSecret}`]
    return token !== null && own.includes(token) ? 'operator' : 'merchant'
  }

  /** Makes a call; throws the API's own errors as `GraphFailure`. */
  async ask(
    { method = 'GET', path, query = {}, token, body }: GraphCall,
    ms = this.#callMs,
  ): Promise<unknown> {
    const url = new URL(path.startsWith('http') ? path : `${this.options.graphUrl}/${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const { response, text } = await this.fetch(
      url,
      {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      ms,
    )
    const answer = parseJson(text)
    if (response.ok && answer !== undefined) return answer
    // A proxy responded, or the response was truncated: the provider may have processed the request.
    if (response.ok) throw new Unavailable('unknown', 'The provider answered what is not JSON')
    throw new GraphFailure(parseError(response, answer))
  }

  /** Reads the whole response within `ms`. The error says `accepted: 'no'` only if no connection was established. */
  async fetch(url: URL, init: RequestInit, ms = this.#callMs): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ms) })
      return { response, text: await response.text() }
    } catch (error) {
      throw toNetworkError(error)
    }
  }
}

/** Converts a network error, leaving out the address, which can contain secrets. */
export function toNetworkError(error: unknown): Unavailable {
  const cause = (error as { cause?: { code?: string; syscall?: string } }).cause
  const isBefore = notSentCodes.has(cause?.code ?? '') || cause?.syscall === 'connect'
  const accepted = isBefore ? 'no' : 'unknown'
  return new Unavailable(accepted, `The provider did not answer (${cause?.code ?? (error as Error).name})`)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface ErrorBody {
  error?: {
    code?: number
    error_subcode?: number
    message?: string
    error_user_msg?: string
    error_data?: { details?: string }
  }
}

function parseError(response: Response, answer: unknown): GraphError {
  const error = (answer as ErrorBody | undefined)?.error
  return {
    status: response.status,
    code: error?.code ?? -1,
    subcode: error?.error_subcode ?? null,
    message: error?.error_user_msg ?? error?.error_data?.details ?? error?.message ?? '',
    retryAfterMs: parseRetryAfter(response.headers, null),
  }
}
