/** Between HTTP and the rest: the way into the gateway, bodies read with a limit, pages outside `/v1`. */
import type { IncomingMessage } from 'node:http'
import type { Hono } from 'hono'
import { type Services, SystemContext } from './context.ts'
import { errorBody, Refusal, refuse, statusOf } from './errors.ts'
import type { Answer, Gateway, IncomingCall } from './gateway.ts'
import { newId } from './ids.ts'
import type { Registry } from './registry.ts'
import type { RouteTable } from './routes.ts'
import type { Worker } from './worker.ts'

/** What `@hono/node-server` passes along; tests pass the address alone. */
export interface Env {
  incoming?: IncomingMessage
  ip?: string
}

type Fetch = (request: Request, env?: Env) => Response | Promise<Response>

/**
 * Answers what is addressed to `/v1` and below, and leaves the rest to `others`. The tests come this way, and what
 * `listener.ts` leaves alone.
 */
export function gatewayFirst(gateway: Gateway, routes: RouteTable, trustProxy: number, others: Fetch): Fetch {
  return (request, env) => {
    const { url } = request
    const pathAt = url.indexOf('/', url.indexOf('//') + 2)
    if (!url.startsWith('/v1', pathAt) || !/[/?#]|^$/.test(url.charAt(pathAt + 3))) {
      return others(request, env)
    }
    const hashAt = url.indexOf('#', pathAt)
    const address = hashAt < 0 ? url.slice(pathAt) : url.slice(pathAt, hashAt)
    const call = new WebCall(request, env, address, trustProxy)
    const isHead = call.method === 'HEAD'
    const route = routes.find(isHead ? 'GET' : call.method, call.path)
    if (route) call.params = route.params
    const answer = gateway.handle(route?.operation ?? null, call)
    const respond = isHead ? toHeadResponse : toResponse
    return answer instanceof Promise ? answer.then(respond) : respond(answer)
  }
}

const noParams: Record<string, string> = {}

class WebCall implements IncomingCall {
  readonly method: string
  readonly address: string
  /** Below `/v1`. */
  readonly path: string
  readonly search: string
  readonly ip: string
  params = noParams
  readonly #request: Request

  constructor(request: Request, env: Env | undefined, address: string, trustProxy: number) {
    const searchAt = address.indexOf('?')
    this.#request = request
    this.method = request.method
    this.address = address
    this.path = address.slice('/v1'.length, searchAt < 0 ? undefined : searchAt)
    this.search = searchAt < 0 ? '' : address.slice(searchAt)
    this.ip = clientAddress(env, this.header('x-forwarded-for'), trustProxy)
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  readBody(atMost: number): Promise<string> {
    return readText(this.#request, this.header('content-length'), atMost)
  }
}

/**
 * The address that counts. Each trusted proxy appended the address it saw: the last `trustProxy` entries are theirs,
 * what stands before them anybody may have written.
 */
export function clientAddress(
  env: Env | undefined,
  forwarded: string | undefined,
  trustProxy: number,
): string {
  const direct = env?.incoming?.socket.remoteAddress ?? env?.ip ?? 'unknown'
  if (trustProxy === 0 || !forwarded) return direct
  const entries = forwarded.split(',').map((entry) => entry.trim())
  return entries[Math.max(0, entries.length - trustProxy)] || direct
}

const tooLarge = (atMost: number): Refusal =>
  new Refusal('payload_too_large', `The body is larger than ${Math.floor(atMost / 1024 / 1024)} MiB`)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A body as text; refused as soon as it is known to be too large, also while it streams. */
export async function readText(
  request: Request,
  length: string | undefined,
  atMost: number,
): Promise<string> {
  if (length !== undefined && Number(length) > atMost) throw tooLarge(atMost)
  if (length === '0') return ''
  let bytes: Uint8Array
  if (length !== undefined) bytes = new Uint8Array(await request.arrayBuffer())
  else if (request.body) bytes = await readChunks(request.body, atMost)
  else return ''
  return utf8Text(bytes)
}

/** Refuses what is not UTF-8. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refuse('bad_request', 'body: is not valid UTF-8')
  }
}

/** The refusal leaves while the rest still comes: it is read and dropped, so that the client gets to see the answer. */
async function readChunks(body: ReadableStream<Uint8Array>, atMost: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > atMost) {
      void drop(reader, atMost)
      throw tooLarge(atMost)
    }
    chunks.push(value)
  }
}

async function drop(reader: ReadableStreamDefaultReader<Uint8Array>, atMost: number): Promise<void> {
  try {
    for (let dropped = 0; dropped < atMost * 2; ) {
      const { done, value } = await reader.read()
      if (done) return
      dropped += value.byteLength
    }
    await reader.cancel()
  } catch {
    // The client went away: nothing is left to drop.
  }
}

function toResponse({ status, body, headers }: Answer): Response {
  const empty = status === 204 || status === 304 || body === ''
  return new Response(empty ? null : body, { status, headers })
}
const toHeadResponse = ({ status, headers }: Answer): Response => new Response(null, { status, headers })

/** The routes outside `/v1`: files, and the sections' pages. */
export function webRoutes(
  hono: Hono<{ Bindings: Env }>,
  { registry, services, worker }: { registry: Registry; services: Services; worker: Worker },
): void {
  const { adapters, settings, log } = services
  const { files } = adapters
  if (files) hono.all('/files/*', (c) => files(c.req.raw))
  const pages = registry.pages.filter((page) => settings.sandbox || !page.sandboxOnly)
  for (const page of pages) {
    hono.on(page.method, page.path, async (c) => {
      const requestId = newId(services.clock.ms())
      const ctx = new SystemContext(services, log, requestId, worker)
      const ip = clientAddress(c.env, c.req.header('x-forwarded-for'), settings.trustProxy)
      try {
        const params = c.req.param() as Record<string, string>
        const answer = await page.handler(ctx, { raw: c.req.raw, params, ip })
        return page.cors ? openToAll(answer) : answer
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const answer = new Response(errorBody(error.code, error.message), {
          status: statusOf(error.code),
          headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...error.headers },
        })
        return page.cors ? openToAll(answer) : answer
      }
    })
    if (page.cors) hono.options(page.path, () => new Response(null, { status: 204, headers: preflight }))
  }
}

const preflight = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-max-age': '86400',
}

function openToAll(answer: Response): Response {
  const headers = new Headers(answer.headers)
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', 'ETag, Retry-After, X-Request-Id')
  return new Response(answer.body, { status: answer.status, headers })
}
