/** A shop's own server, on another origin, with pages by the test. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenFileEnds } from './closing.ts'

export interface ForeignPage {
  html: string
  headers?: Record<string, string>
}

/** Returns the origin; each address has the page that `pageOf` creates. */
export async function foreignShop(pageOf: (path: string) => ForeignPage): Promise<string> {
  const server = createServer((request, response) => {
    const { html, headers = {} } = pageOf(request.url ?? '/')
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
    response.end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
