/** Answers that break off while they are sent, over a real connection: logged once, nothing on the console. */
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { pino } from 'pino'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { logBrokenAnswers, publicRoutes } from '#runtime/http/public-routes'
import { frozenClock } from '#test/support/test-clock'

const lines: { level: number; msg: string; path: string; err: { message: string } }[] = []
const log = pino(
  { base: undefined },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  }),
)
const services = { clock: frozenClock(), log } as never
const routes = publicRoutes(services)
logBrokenAnswers(routes, services)

let cancelled = 0
const bytes = (count: number) => new Uint8Array(count).fill(65)
/** Sends part of 1,000 announced bytes, then calls `end`. */
const createStream = (sent: number, end: (controller: ReadableStreamDefaultController) => void) => {
  let left = sent
  const body = new ReadableStream({
    pull(controller) {
      if (left === 0) return end(controller)
      controller.enqueue(bytes(100))
      left -= 100
    },
    cancel() {
      cancelled += 1
    },
  })
  return new Response(body, { headers: { 'content-length': '1000' } })
}
const failStream = (controller: ReadableStreamDefaultController) =>
  controller.error(new Error('the disk is gone'))
routes.get('/whole', () => createStream(1000, (controller) => controller.close()))
routes.get('/at-once', () => createStream(0, failStream))
routes.get('/half', () => createStream(500, failStream))
routes.get('/short', () => createStream(500, (controller) => controller.close()))
routes.get('/endless', () => createStream(Number.POSITIVE_INFINITY, () => {}))

const server: Server = createServer(
  getRequestListener((request, env) => routes.fetch(request, env as never), { hostname: '127.0.0.1' }),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const consoles = (['error', 'info', 'warn', 'log'] as const).map((name) =>
  vi.spyOn(console, name).mockImplementation(() => undefined),
)
afterAll(() => {
  for (const each of consoles) each.mockRestore()
})
const readConsole = () => consoles.flatMap((each) => each.mock.calls)

afterEach(() => {
  lines.length = 0
  cancelled = 0
  for (const each of consoles) each.mockClear()
})

/** How many bytes arrived, and whether that was all. */
const read = (path: string, { leaves = false } = {}): Promise<{ came: number; whole: boolean }> =>
  new Promise((resolve) => {
    let came = 0
    const request = get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      answer.on('data', (chunk: Buffer) => {
        came += chunk.length
        if (leaves) request.destroy()
      })
      answer.on('error', () => undefined) // `close` reports it
      answer.on('close', () => resolve({ came, whole: answer.complete }))
    })
    request.on('error', () => resolve({ came, whole: false }))
  })

test('a complete answer logs nothing', async () => {
  expect(await read('/whole')).toEqual({ came: 1000, whole: true })
  expect([lines, readConsole()]).toEqual([[], []])
})

test.each([
  ['/at-once', 'the disk is gone'],
  ['/half', 'the disk is gone'],
  ['/short', 'it ended 500 bytes early'],
])('%s is cut, and told once', async (path, message) => {
  expect((await read(path)).whole).toBe(false)
  expect(lines).toEqual([expect.objectContaining({ level: 50, msg: 'streamed answer aborted', path })])
  expect(lines[0]!.err.message).toBe(message)
  expect(readConsole()).toEqual([])
})

test('a client that leaves is not an error, and cancels the stream', async () => {
  expect((await read('/endless', { leaves: true })).whole).toBe(false)
  await vi.waitFor(() => expect(cancelled).toBe(1))
  expect([lines, readConsole()]).toEqual([[], []])
})
