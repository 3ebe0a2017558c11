/** `node:http` and postgres.js without anything else: as far as it goes. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { serveParent } from '../child.ts'
import type { Fixture } from '../kinds.ts'
import { forbidden, openWork, type Told, unknown } from './work.ts'

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const work = openWork(fixture)
const lists = '/v1/campaigns/lists/'

const server = createServer((request, response) => {
  const { authorization } = request.headers
  const send = ({ status, text, etag }: Told): void => {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }
    if (etag) headers.etag = etag
    response.writeHead(status, headers).end(text)
  }
  const storeId = work.storeOf(authorization)
  if (storeId === undefined) return send(unknown)
  const fail = (error: unknown): void => {
    console.error(error)
    response.destroy()
  }
  void answer(request, storeId).then(send, fail)
})

async function answer(request: IncomingMessage, storeId: string): Promise<Told> {
  const url = request.url!
  if (url.startsWith(lists)) {
    const id = url.slice(lists.length)
    if (request.method === 'GET') return work.read(storeId, id, request.headers['if-none-match'])
    return work.rename(storeId, id, await bodyOf(request))
  }
  if (request.method === 'GET') return work.list(storeId, new URL(url, 'http://x').searchParams.get('search'))
  if (!work.mayWrite(request.headers.authorization)) return forbidden
  return work.create(storeId, await bodyOf(request))
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.once('end', () => resolve(text))
    request.once('error', reject)
  })
}

server.listen(0, '127.0.0.1')
await serveParent(server, async () => {
  server.close()
  server.closeIdleConnections()
  await work.close()
})
