/** The trace of a request: in the log, in its jobs, and in their calls. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { loadRegistry } from '#runtime/registry/registry'
import { object } from '#runtime/schema'
import { LineBuffer, openLogInto } from '#runtime/server/log'
import { parseTrace, runWithTrace } from '#runtime/trace'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

/** A provider that records its requests. */
const requests: Record<string, unknown>[] = []
const provider = createServer((request, response) => {
  const { traceparent, tracestate } = request.headersDistinct
  requests.push({ traceparent: traceparent?.join(), tracestate: tracestate?.join() })
  response.end()
})
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
whenFileEnds(() => provider.close())
const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`

const calling = job(handle('test-calling', object({})), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  safeTwice: 'It changes nothing.',
  async run(ctx) {
    await fetch(url)
    ctx.log.info('called')
    if (requests.length < 2) await ctx.queue(calling.handle, {})
  },
})

let written = ''
const lines = new LineBuffer((bytes, done) => {
  written += bytes.toString()
  done()
})
const readLines = (): Record<string, unknown>[] => {
  lines.flush()
  const all = written.split('\n').filter(Boolean)
  written = ''
  return all.map((line) => JSON.parse(line) as Record<string, unknown>)
}
const registry = await loadRegistry()
const app = await testApp(
  {},
  { registry: { ...registry, jobs: [...registry.jobs, calling] }, log: openLogInto('info', lines) },
)
const shop = await store(app)

const read = (headers: Record<string, string>): Promise<Response> | Response =>
  app.fetch(
    new Request('http://localhost/v1/campaigns/lists', {
      headers: { authorization: `Bearer ${shop.key}`, ...headers },
    }),
    { ip: '127.0.0.1' },
  )

test('appears in the line of its request, and of no other', async () => {
  readLines()
  await Promise.all([read({ traceparent, tracestate: 'a=1' }), read({})])
  expect(readLines().map((line) => line.traceId)).toEqual(expect.arrayContaining([traceId, undefined]))
})

test.each([
  '',
  'x',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`,
  `ff-${traceId}-00f067aa0ba902b7-01`,
  `${traceparent}-more`,
  `${traceparent}"},{"`,
])('what is none is passed over: %s', async (odd) => {
  readLines()
  expect((await read({ traceparent: odd })).status).toBe(200)
  expect(readLines()[0]).not.toHaveProperty('traceId')
})

test('later versions are parsed by their known fields; a too long state is dropped', () => {
  const of = (given: Record<string, string>) => parseTrace({ header: (name) => given[name] })
  const later = `01-${traceId}-00f067aa0ba902b7-01-more`
  expect(of({ traceparent: later, tracestate: 'a=1' })).toEqual({ traceparent: later, tracestate: 'a=1' })
  expect(of({ traceparent, tracestate: 'a'.repeat(513) })).toEqual({ traceparent })
})

test("follows the request's jobs, and theirs, and their calls", async () => {
  const trace = { traceparent, tracestate: 'vendor=1' }
  const envelope = { storeId: shop.id, userId: null, requestId: 'a-request', payload: {} }
  await runWithTrace(trace, () => app.services.queue.send(calling.handle, envelope))
  readLines()
  await app.drainJobs()
  expect(requests).toEqual([trace, trace])
  const called = readLines().filter(({ msg }) => msg === 'called')
  expect(called).toEqual([expect.objectContaining({ traceId }), expect.objectContaining({ traceId })])
  await app.services.queue.send(calling.handle, envelope)
  await app.drainJobs()
  expect(requests.at(-1)).toEqual({})
  expect(readLines().find(({ msg }) => msg === 'called')).not.toHaveProperty('traceId')
})

test('a call with its own trace keeps it', async () => {
  const own = traceparent.replace(traceId, traceId.split('').reverse().join(''))
  await runWithTrace({ traceparent }, () => fetch(url, { headers: { Traceparent: own } }))
  expect(requests.at(-1)).toEqual({ traceparent: own, tracestate: undefined })
})
