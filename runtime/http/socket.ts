/** Answers in our own form what Node refuses before there is a request, and what it would answer by itself. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Refusal, refuse, statusOf } from '#runtime/errors'
import type { Logger } from '#runtime/server/log'

export function answerBrokenRequests(server: Server, log: Logger): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    log.debug({ code: error.code }, 'no request could be made of what a client sent')
    const isAnswering = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent
    // Who went away hears nothing; in the midst of an answer another one would be taken for a part of it.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) socket.destroy()
    else endWith(socket, faultOf(error.code))
  })
  server.on('checkExpectation', (_incoming: IncomingMessage, outgoing: ServerResponse) =>
    sendRefusal(outgoing, refuse('bad_request', 'Expect: only 100-continue is known')),
  )
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) =>
    endWith(socket, refuse('not_found', 'No such address')),
  )
}

function faultOf(code: string | undefined): Refusal {
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

const headersOf = (refusal: Refusal): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(refusal.body())),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': randomUUID(),
  connection: 'close',
  ...(refusal.code === 'unavailable' ? { 'retry-after': '5' } : {}),
  ...refusal.headers,
})

/** Ends the connection with an answer. */
function endWith(socket: Duplex, refusal: Refusal): void {
  const status = statusOf(refusal.code)
  const head = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${refusal.body()}`
  socket.on('error', () => socket.destroy())
  socket.end(text, () => socket.destroy())
}

/** Answers a request that no route gets to see. */
export function sendRefusal(outgoing: ServerResponse, refusal: Refusal): void {
  outgoing.writeHead(statusOf(refusal.code), headersOf(refusal)).end(refusal.body())
}

/** As a standard answer. */
export const refusalResponse = (refusal: Refusal): Response =>
  new Response(refusal.body(), { status: statusOf(refusal.code), headers: headersOf(refusal) })
