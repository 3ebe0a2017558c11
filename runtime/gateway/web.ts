/** Between HTTP and the rest: the way into the gateway, and bodies read with a limit. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal, refuse } from '#runtime/errors'
import { addressOf } from './address.ts'
import type { Answer, Gateway, IncomingCall } from './gateway.ts'
import type { Route, RouteTable } from './routes.ts'

/** What `@hono/node-server` passes along; tests pass the address alone. */
export interface Env {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
  ip?: string
}

/** Bytes that have come on the connection of a request. */
export const receivedOf = (env: Env | undefined): number => env?.incoming?.socket.bytesRead ?? 0

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
    if (route) call.take(route)
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
  fault: Refusal | null = null
  readonly #request: Request
  readonly #env: Env | undefined

  constructor(request: Request, env: Env | undefined, address: string, trustProxy: number) {
    const searchAt = address.indexOf('?')
    this.#request = request
    this.#env = env
    this.method = request.method
    this.address = address
    this.path = address.slice('/v1'.length, searchAt < 0 ? undefined : searchAt)
    this.search = searchAt < 0 ? '' : address.slice(searchAt)
    this.ip = clientAddress(env, this.header('x-forwarded-for'), trustProxy)
  }

  take({ params, fault }: Route): void {
    this.params = params
    this.fault = fault
  }

  received(): number {
    return receivedOf(this.#env)
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
  if (trustProxy === 0 || !forwarded) return addressOf(direct)
  const entries = forwarded.split(',').map((entry) => entry.trim())
  return addressOf(entries[Math.max(0, entries.length - trustProxy)] || direct)
}

const tooLarge = (atMost: number): Refusal =>
  new Refusal('payload_too_large', `The body is larger than ${sizeText(atMost)}`)
/** `32 KiB`, `1.5 MiB`. */
function sizeText(bytes: number): string {
  const kibibytes = bytes / 1024
  return kibibytes < 1024
    ? `${Math.round(kibibytes)} KiB`
    : `${Math.round((kibibytes / 1024) * 100) / 100} MiB`
}

/** The client went away, or sent a body that is none: there is nobody to answer, and nothing of ours failed. */
export const brokenOff = (): Refusal => refuse('bad_request', 'body: broke off before its end')
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A body as text; refused as soon as it is known to be too large, also while it streams. */
async function readText(request: Request, length: string | undefined, atMost: number): Promise<string> {
  return utf8Text(await readBytes(request, length, atMost))
}

/** As `readText`, undecoded. */
export async function readBytes(
  request: Request,
  length: string | undefined,
  atMost: number,
): Promise<Uint8Array> {
  if (length !== undefined && Number(length) > atMost) throw tooLarge(atMost)
  if (length === '0') return new Uint8Array()
  try {
    if (length !== undefined) return new Uint8Array(await request.arrayBuffer())
    return request.body ? await readChunks(request.body, atMost) : new Uint8Array()
  } catch (error) {
    throw error instanceof Refusal ? error : brokenOff()
  }
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
