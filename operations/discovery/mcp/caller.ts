/** Calls operations for the tools. Every call is a request through the gateway, with its limits and refusals. */
import type { Access } from '#db/access'
import type { ApiError } from '#runtime/errors'
import type { Answer } from '#runtime/gateway/answers'
import { toApiError } from '#runtime/gateway/api-error'
import type { IncomingCall } from '#runtime/gateway/call'
import type { Gateway } from '#runtime/gateway/gateway'
import type { SurfaceParts } from '#runtime/gateway/surface'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'

export interface Request {
  /** Values of the path's parameters by name. */
  path: Record<string, string>
  query: Record<string, unknown>
  body: unknown
  idempotencyKey?: string | undefined
}

export class Caller {
  readonly registry: Registry
  readonly #gateway: Gateway
  readonly #authorization: string
  readonly #ip: string

  constructor({ gateway, registry }: SurfaceParts, authorization: string, ip: string) {
    this.#gateway = gateway
    this.registry = registry
    this.#authorization = authorization
    this.#ip = ip
  }

  /** Counts one message against the client's address and checks the key. Returns the refusal, or response headers. */
  enter(): ReturnType<Gateway['enter']> {
    return this.#gateway.enter(
      new ToolCall({
        method: 'POST',
        path: '/mcp',
        search: '',
        ip: this.#ip,
        isCounted: false,
        headers: { authorization: this.#authorization },
        text: '',
      }),
    )
  }

  /** The access of the key, or null for an unknown key. */
  async access(): Promise<Access | null> {
    const key = /^bearer (.*)$/i.exec(this.#authorization)?.[1]?.trim()
    return key ? this.#gateway.keys.find(key) : null
  }

  /** Logs an unexpected error. Returns an error for the assistant that does not contain the cause. */
  logFailure(tool: string, error: unknown): ApiError {
    this.#gateway.services.log.error({ tool, err: error }, 'mcp tool failed')
    return toApiError(error)
  }

  now(): number {
    return this.#gateway.services.clock.ms()
  }

  /** Returns the response of `GET /operations`. */
  listing(): Promise<Answer> {
    const lister = this.registry.byId('get_operations')
    if (!lister) throw new Error('There is no operation get_operations')
    return this.run(lister, { path: {}, query: {}, body: undefined })
  }

  /**
   * Runs an operation and returns the response that an HTTP request would get. Does not count against the address again:
   * the message was counted by `enter`.
   */
  async run(operation: LoadedOperation, { path, query, body, idempotencyKey }: Request): Promise<Answer> {
    const filled = operation.spec.path.replace(/:([A-Za-z]+)/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    )
    return this.#gateway.handle(
      operation,
      new ToolCall({
        method: operation.spec.method,
        path: `/v1${filled}`,
        search: formatQuery(query),
        ip: this.#ip,
        isCounted: true,
        headers: {
          authorization: this.#authorization,
          'content-type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        text: body === undefined ? '' : JSON.stringify(body),
      }),
    )
  }
}

function formatQuery(query: Record<string, unknown>): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      pairs.append(name, typeof each === 'string' ? each : JSON.stringify(each))
    }
  }
  const text = pairs.toString()
  return text === '' ? '' : `?${text}`
}

interface Parts {
  method: string
  path: string
  search: string
  ip: string
  isCounted: boolean
  headers: Record<string, string>
  text: string
}

class ToolCall implements IncomingCall {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly ip: string
  readonly isCounted: boolean
  readonly #headers: Record<string, string>
  readonly #text: string
  constructor({ method, path, search, ip, isCounted, headers, text }: Parts) {
    this.method = method
    this.path = path
    this.search = search
    this.ip = ip
    this.isCounted = isCounted
    this.#headers = headers
    this.#text = text
  }
  header(name: string): string | undefined {
    return this.#headers[name]
  }
  async readBody(): Promise<string> {
    return this.#text
  }
}
