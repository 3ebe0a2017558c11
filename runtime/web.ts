/** Between Hono and the rest: the client's address, bodies read with a limit, pages outside `/v1`. */
import type { IncomingMessage } from 'node:http'
import type { Hono, Context as HonoContext } from 'hono'
import { type Services, SystemContext } from './context.ts'
import { errorBody, Refusal, refuse, statusOf } from './errors.ts'
import type { Answer, IncomingCall } from './gateway.ts'
import { newId } from './ids.ts'
import type { Registry } from './registry.ts'
import type { Worker } from './worker.ts'

/** What `@hono/node-server` passes along; tests pass the address alone. */
export interface Env {
  incoming?: IncomingMessage
  ip?: string
}

type C = HonoContext<{ Bindings: Env }>

export function incomingCall(c: C, trustProxy: number): IncomingCall {
  const { req } = c
  const url = req.url
  const pathAt = url.indexOf('/', url.indexOf('//') + 2)
  const address = pathAt < 0 ? '/' : url.slice(pathAt)
  const searchAt = address.indexOf('?')
  return {
    method: req.method,
    address,
    search: searchAt < 0 ? '' : address.slice(searchAt),
    ip: clientAddress(c.env, req.header('x-forwarded-for'), trustProxy),
    params: pathParameters(c),
    header: (name) => req.header(name),
    readBody: (atMost) => readText(req.raw, req.header('content-length'), atMost),
  }
}

/** Path parameters, decoded; text that cannot be decoded or holds control characters finds nothing. */
function pathParameters(c: C): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  for (const name in params) {
    if (/[\u0000-\u001f\u007f]/.test(params[name]!) || !params[name]!.isWellFormed()) params[name] = ''
  }
  return params
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
  if (length === '0' || !request.body) return ''
  let bytes: Uint8Array
  if (length !== undefined) bytes = new Uint8Array(await request.arrayBuffer())
  else {
    bytes = await readChunks(request.body, atMost)
  }
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

export function toResponse(answer: Answer): Response {
  const empty = answer.status === 204 || answer.status === 304 || answer.body === ''
  return new Response(empty ? null : answer.body, { status: answer.status, headers: answer.headers })
}

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
        return await page.handler(ctx, {
          raw: c.req.raw,
          params: c.req.param() as Record<string, string>,
          ip,
        })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return new Response(errorBody(error.code, error.message), {
          status: statusOf(error.code),
          headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...error.headers },
        })
      }
    })
  }
}
