/**
 * Connects Node's HTTP server to the app. Also replaces the error answers that Node and `@hono/node-server` would give
 * by our own.
 */
import { randomUUID } from 'node:crypto'
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import { type ApiError, refuse } from '#runtime/errors'
import { type Answer, jsonHeaders, toErrorAnswer, toResponse } from '#runtime/gateway/answers'
import { toApiError } from '#runtime/gateway/api-error'
import type { Logger } from '#runtime/server/log'
import type { Fetch } from './api.ts'
import { canonicalPath } from './target.ts'

/** Builds Node's request listener. `hostname`: the host of a request without a Host header, which HTTP/1.0 allows. */
export function requestListener(app: Fetch, log: Logger, hostname: string): RequestListener {
  const answer = getRequestListener((request, env) => app(request, env as never), {
    hostname,
    // By default the adapter cuts the connection half a second after an answer to an unread body: a slow client would
    // not get the refusal. Node drains the rest of the body instead, for at most `requestTimeout`.
    autoCleanupIncoming: false,
    errorHandler: (error) => toResponse(closingAnswer(toReadError(error, log))),
  })
  return (incoming, outgoing) => {
    const hosts = countHosts(incoming.rawHeaders)
    if (hosts > 1 || (!incoming.headers.host && incoming.httpVersion === '1.1')) {
      sendRefusal(outgoing, refuse('bad_request', hosts > 1 ? 'Host: must occur once' : 'Host: is missing'))
      return
    }
    // Refused, since the adapter would resolve dot segments: a page would have a second address.
    if (canonicalPath(incoming.url!) === null) {
      sendRefusal(outgoing, refuse('not_found', 'No such address'))
      return
    }
    answer(incoming, outgoing).catch((error) => {
      log.error({ err: error }, 'sending answer failed')
      outgoing.destroy()
    })
  }
}

/** Counts the Host headers: of several, a proxy may have chosen another one than Node does. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** Converts the adapter's error. A `RequestError` means that it could not build a request: the Host is invalid. */
function toReadError(error: unknown, log: Logger): ApiError {
  if (error instanceof RequestError) return refuse('bad_request', 'Host: is not valid')
  log.error({ err: error }, 'failed')
  return toApiError(error)
}

/** Answers what Node does not pass to the request listener: invalid requests, `Expect` and `CONNECT`. */
export function answerOtherEvents(server: Server, log: Logger): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    log.debug({ code: error.code }, 'invalid request received')
    const isAnswering = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent
    // No answer is sent if the client disconnected, or if an answer has begun: a second one would become part of it.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) socket.destroy()
    else endSocket(socket, toClientError(error.code))
  })
  server.on('checkExpectation', (_incoming: IncomingMessage, outgoing: ServerResponse) =>
    sendRefusal(outgoing, refuse('bad_request', 'Expect: only 100-continue is known')),
  )
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    askForBodyWhenRead(incoming, outgoing)
    server.emit('request', incoming, outgoing)
  })
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) =>
    endSocket(socket, refuse('not_found', 'No such address')),
  )
}

/**
 * Sends `100 Continue` when the app begins to read the body, so that a refusal comes before the body. After a refusal
 * the connection is closed, since the client may send the body or omit it.
 */
function askForBodyWhenRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { shouldKeepAlive } = outgoing
  outgoing.shouldKeepAlive = false
  incoming.on('newListener', function ask(event) {
    if ((event !== 'data' && event !== 'readable') || outgoing.headersSent) return
    incoming.off('newListener', ask)
    outgoing.shouldKeepAlive = shouldKeepAlive
    outgoing.writeContinue()
  })
}

function toClientError(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return refuse('payload_too_large', 'The address and the headers are larger than 16 KiB')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refuse('payload_too_large', 'The extensions of a chunk are larger than 16 KiB')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('bad_request', 'The request did not come in whole in time: send it again')
    default:
      return refuse('bad_request', 'The request is not valid HTTP')
  }
}

/** Builds a refusal that is sent outside the app's routes and closes the connection. */
export function closingAnswer(refusal: ApiError): Answer {
  const length = String(Buffer.byteLength(refusal.body()))
  return toErrorAnswer(refusal, {
    ...jsonHeaders(randomUUID()),
    'content-length': length,
    connection: 'close',
  })
}

/** Writes a refusal to a socket and closes it. */
function endSocket(socket: Duplex, refusal: ApiError): void {
  const { status, headers, body } = closingAnswer(refusal)
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`
  socket.on('error', () => socket.destroy())
  socket.end(text, () => socket.destroy())
}

function sendRefusal(outgoing: ServerResponse, refusal: ApiError): void {
  const { status, headers, body } = closingAnswer(refusal)
  outgoing.writeHead(status, headers).end(body)
}
