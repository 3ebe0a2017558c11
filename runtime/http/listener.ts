/**
 * The short way from HTTP into the gateway, for the requests that nearly all are: an ordinary address below `/v1`, a
 * body of known length or none. Standard Request and Response objects around each would cost as much as all checks.
 * Everything else takes the long way (`web.ts`), which gives the same answers.
 */
import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '#runtime/errors'
import type { Answer } from '#runtime/gateway/call'
import type { Gateway } from '#runtime/gateway/gateway'
import { canonicalPath, type RouteTable } from '#runtime/gateway/routes'
import { bodyAtMost, incomingText } from './body.ts'
import { type Env, Incoming } from './request.ts'
import { sendRefusal } from './socket.ts'

/** Answers a request and is true, or leaves it alone. */
export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

/** What has to be looked at closer: characters that a URL escapes, dot segments, a fragment. */
const unordinary = /[^!-[\]-~]|\/(?:\.|%2[eE])|#/

export function listenFor(gateway: Gateway, routes: RouteTable, trustProxy: number): Listener {
  return (incoming, outgoing) => {
    const url = incoming.url!
    const { headers } = incoming
    if (headers.host === undefined && incoming.httpVersion === '1.1') {
      sendRefusal(outgoing, refuse('bad_request', 'Host: is missing'))
      return true
    }
    if (!url.startsWith('/v1/') || unordinary.test(url)) {
      if (canonicalPath(url) !== null) return false
      sendRefusal(outgoing, refuse('not_found', 'No such address'))
      return true
    }
    if (incoming.method === 'HEAD') return false
    const length = headers['content-length']
    if (headers['transfer-encoding'] !== undefined || (length && Number(length) > bodyAtMost)) return false

    const call = new PlainCall(incoming, url, trustProxy)
    const answer = call.answer(gateway, routes)
    if (!(answer instanceof Promise)) {
      call.leaveBody()
      send(gateway, outgoing, answer)
    } else {
      answer.then(
        (late) => send(gateway, outgoing, late),
        (error) => giveUp(gateway, outgoing, error),
      )
    }
    return true
  }
}

function send(gateway: Gateway, outgoing: ServerResponse, { status, body, headers }: Answer): void {
  try {
    if (status === 204 || status === 304) {
      outgoing.writeHead(status, headers).end()
      return
    }
    const bytes = Buffer.byteLength(body)
    headers['content-length'] = String(bytes)
    // Plain ASCII is the same bytes in Latin-1, which Node writes with less ado: above 5 KiB of UTF-8 it waits for the
    // socket, and copies twice.
    outgoing.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8')
  } catch (error) {
    giveUp(gateway, outgoing, error)
  }
}

/** A fault of ours, such as a header that cannot be written: the connection ends rather than the process. */
function giveUp(gateway: Gateway, outgoing: ServerResponse, error: unknown): void {
  gateway.services.log.error({ err: error }, 'an answer could not be sent')
  outgoing.destroy()
}

class PlainCall extends Incoming {
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage, address: string, trustProxy: number) {
    super(incoming.method!, address, trustProxy)
    this.#incoming = incoming
  }

  protected get env(): Env {
    return { incoming: this.#incoming }
  }

  override received(): number {
    return this.#incoming.socket.bytesRead
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /**
   * What was refused at once leaves its body unread. Node would stream the rest of it to nobody, which costs a sixth
   * of such an answer; a short one may stay where it is, which a read of nothing tells Node.
   */
  leaveBody(): void {
    const incoming = this.#incoming
    const length = incoming.headers['content-length']
    if (length !== undefined && Number(length) < incoming.readableHighWaterMark) incoming.read(0)
  }

  /** No longer than `bodyAtMost`: the listener saw to that. */
  readBody(): Promise<string> {
    return incomingText(this.#incoming)
  }
}
