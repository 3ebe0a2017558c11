/** The routes below `/v1`: one per operation, answered by the gateway. All other paths belong to the pages. */
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { type Answer, toResponse } from '#runtime/gateway/answers'
import type { IncomingCall } from '#runtime/gateway/call'
import type { Gateway } from '#runtime/gateway/gateway'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { readBytes, utf8Text } from './body.ts'
import { chooseEncoding, compress } from './compression.ts'
import { callerAddress, closeIfStalled, type Env, receivedBytes } from './env.ts'
import { rawPath, rawQuery } from './target.ts'

type ApiContext = Context<{ Bindings: Env }>
export type Fetch = (request: Request, env?: Env) => Response | Promise<Response>

/**
 * Builds the routes. `pages` is a separate app because its middleware matches every path: Hono skips the middleware
 * chain for an operation only if nothing else matches its path. Paths are matched as sent, without decoding, so a fixed
 * segment has one spelling.
 */
export function apiRoutes(
  gateway: Gateway,
  { operations }: Registry,
  trustProxy: number,
  pages: Fetch,
): Fetch {
  const hono = new Hono<{ Bindings: Env }>({ getPath: rawPath })
  const answer = async (c: ApiContext, operation: LoadedOperation | null): Promise<Response> => {
    const call = new HttpCall(c, trustProxy)
    return compressAnswer(await gateway.handle(operation, call), call)
  }
  // Public documents can be read by scripts of any site.
  for (const { spec } of operations) {
    if (spec.public)
      hono.use(`/v1${spec.path}`, cors({ origin: '*', exposeHeaders: ['ETag'], maxAge: 86_400 }))
  }
  for (const operation of sortByRoute(operations)) {
    hono.on(operation.spec.method, `/v1${operation.spec.path}`, (c) => answer(c, operation))
  }
  hono.notFound((c) => (/^\/v1(\/|$)/.test(c.req.path) ? answer(c, null) : pages(c.req.raw, c.env)))
  return (request, env) => hono.fetch(request, env)
}

/** The length from which an answer is compressed. Shorter ones fit into a packet or two as they are. */
const compressFrom = 1024

/**
 * Compresses a long answer if the client asks for it. Its ETag becomes weak, since the bytes differ. A 304 has the tag
 * of the answer that the client has: a cache keeps a weak and a strong tag apart.
 */
async function compressAnswer(answer: Answer, call: HttpCall): Promise<Response> {
  const { status, body, headers } = answer
  const isNotModified = status === 304
  if (body.length < compressFrom && !isNotModified) return toResponse(answer)
  headers.vary = headers.vary ? `${headers.vary}, accept-encoding` : 'accept-encoding'
  if (isNotModified) {
    const weak = `W/${headers.etag}`
    if (call.header('if-none-match')?.includes(weak)) headers.etag = weak
    return toResponse(answer)
  }
  const encoding = chooseEncoding(call.header('accept-encoding'), ['zstd', 'br', 'gzip'])
  if (encoding === 'identity') return toResponse(answer)
  headers['content-encoding'] = encoding
  if (headers.etag) headers.etag = `W/${headers.etag}`
  return new Response(await compress(body, encoding, 'passing'), { status, headers })
}

/**
 * Sorts routes for Hono, which takes the first one that matches: at the leftmost segment in which two paths differ, a
 * fixed segment comes before a parameter.
 */
export function sortByRoute(operations: readonly LoadedOperation[]): LoadedOperation[] {
  const rank = ({ spec }: LoadedOperation): string => spec.path.replace(/:\w+/g, '~')
  return operations.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

class HttpCall implements IncomingCall {
  readonly #c: ApiContext
  readonly #trustProxy: number

  constructor(c: ApiContext, trustProxy: number) {
    this.#c = c
    this.#trustProxy = trustProxy
  }

  get method(): string {
    return this.#c.req.method
  }

  get path(): string {
    return this.#c.req.path
  }

  get search(): string {
    return rawQuery(this.#c.req.raw)
  }

  get ip(): string {
    return callerAddress(this.#c, this.#trustProxy)
  }

  header(name: string): string | undefined {
    return this.#c.req.header(name)
  }

  received(): number {
    return receivedBytes(this.#c.env)
  }

  closeIfStalled(): void {
    closeIfStalled(this.#c.env)
  }

  async readBody(atMost: number): Promise<string> {
    return utf8Text(await readBytes(this.#c.req.raw, this.header('content-length'), atMost))
  }
}
