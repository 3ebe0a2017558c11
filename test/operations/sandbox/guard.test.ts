/** Access to the sandbox, its secrets, its clock and its jobs. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { refuseOpenSandbox } from '#runtime/http/sandbox-guard'
import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { Worker } from '#runtime/jobs/worker'
import { object, z } from '#runtime/schema'
import { startServer } from '#runtime/server/server'
import { readSettings } from '#runtime/server/settings'
import { testApp, wholeRegistry } from '#test/support/app'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

let ended = 0
const slow = serverJob(handle('test-slow', object({ ms: z.number() })), {
  description: 'A slow job of a test',
  timeoutSeconds: 60,
  retry: { limit: 0, backoffSeconds: 1 },
  safeTwice: 'It only counts.',
  async run(_ctx, { ms }) {
    await wait(ms)
    ended += 1
  },
})
const secrets = {
  messagingAppSecret: 'the-real-app-secret-of-a-provider',
  messagingVerifyToken: 'the-real-verify-token',
  billingUrl: 'mercadopago://real-access-token:real-webhook-secret@api.mercadopago.com',
}
const registry = await wholeRegistry()
const app = await testApp(secrets, { registry: { ...registry, jobs: [...registry.jobs, slow] } })
const shop = await store(app)
const pages = registry.pages.filter(({ sandboxOnly }) => sandboxOnly)

const ask = async (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
  from = app,
) => {
  const filled = path.replace(':storeId', shop.slug).replace(/:\w+/g, 'a')
  const origin = headers.host ? `http://${headers.host}` : 'http://localhost'
  const request = new Request(`${origin}${filled}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  })
  const answer = await from.fetch(request, { ip: '127.0.0.1' })
  return { status: answer.status, text: await answer.text() }
}

test('every page below /sandbox is marked sandboxOnly', () => {
  expect(pages.length).toBeGreaterThan(20)
  const others = registry.pages.filter(({ path, sandboxOnly }) => /^\/sandbox\b/.test(path) && !sandboxOnly)
  expect(others.map(({ path }) => path)).toEqual([])
})

test.each(pages.map(({ method, path }) => [method, path]))(
  '%s %s is refused to other sites',
  async (method, path) => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:8080' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { host: 'rebound.evil.example:3000' },
    ]
    const offset = app.clock.offset
    for (const headers of foreign) {
      const { status, text } = await ask(method, path, headers)
      expect([headers, status, JSON.parse(text).error?.code]).toEqual([headers, 403, 'forbidden'])
    }
    expect(app.clock.offset).toBe(offset)
  },
)

test('every page of the sandbox is a 404 while it is off', async () => {
  const closed = await testApp({ sandbox: false })
  const { offset } = closed.clock
  for (const { method, path } of pages) {
    const { status } = await ask(method, path, {}, { advanceSeconds: 86_400 }, closed)
    expect([method, path, status]).toEqual([method, path, 404])
  }
  expect(closed.clock.offset).toBe(offset)
})

test('requests of its own page, programs and plain links are accepted', async () => {
  const { port } = app.services.settings
  for (const headers of [
    {},
    { origin: `http://localhost:${port}`, host: `localhost:${port}`, 'sec-fetch-site': 'same-origin' },
    { host: '127.0.0.1:3000' },
    // A form on a page without a referrer.
    { origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  ] as Record<string, string>[]) {
    expect((await ask('POST', '/sandbox/api/clock', headers, { advanceSeconds: 0 })).status).toBe(200)
  }
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  expect((await ask('GET', '/sandbox', link)).status).toBe(200)
  expect((await ask('POST', '/sandbox/api/clock', link, { advanceSeconds: 0 })).status).toBe(403)
})

test('no page contains a secret of a provider', async () => {
  const words = [
    ...Object.values(secrets),
    'real-access-token',
    'real-webhook-secret',
    app.services.settings.secretKey,
  ]
  for (const { method, path } of pages.filter((page) => page.method === 'GET')) {
    const { text } = await ask(method, path)
    for (const word of words) expect([path, text.includes(word)]).toEqual([path, false])
  }
})

test('a server with the sandbox on starts only on loopback, unless SANDBOX=insist', async () => {
  const base = {
    SECRET_KEY: 'a secret key that only the tests use, 123',
    DATA_DIR: app.dataDir,
    LOG_LEVEL: 'silent',
  }
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.1.10',
    'api.example.com',
    '128.0.0.1',
    '127.0.0.1.example.com',
  ]) {
    for (const more of [{}, { SANDBOX: 'on', NODE_ENV: 'production' }]) {
      const settings = await readSettings({ ...base, ...more, HOST: host })
      await expect(startServer(settings)).rejects.toThrow(/^SANDBOX: .*SANDBOX=insist/)
    }
    for (const SANDBOX of ['off', 'insist'])
      refuseOpenSandbox(await readSettings({ ...base, SANDBOX, HOST: host }))
  }
  for (const HOST of ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
    refuseOpenSandbox(await readSettings({ ...base, HOST }))
  await expect(readSettings({ ...base, SANDBOX: 'maybe' })).rejects.toThrow(
    'SANDBOX: must be on, off or insist',
  )
})

test('setting the clock back to the present moves the waiting jobs too', async () => {
  const move = (body: object) => ask('POST', '/sandbox/api/clock', {}, body)
  const present = () => new Date(app.clock.ms() - app.clock.offset)
  const day = 86_400
  const soon = await shop.context().then((ctx) => ctx.services.queue)
  expect((await move({ advanceSeconds: 30 * day })).status).toBe(200)
  await app.worker.drain()
  const envelope = { storeId: null, userId: null, requestId: 'r', payload: { ms: 0 } }
  const later = await soon.send(slow.handle, envelope, { at: new Date(app.clock.ms() + day * 1000) })
  const due = await soon.send(slow.handle, envelope)
  const back = await move({ now: present().toISOString() })
  expect([back.status, JSON.parse(back.text).offsetSeconds]).toEqual([200, 0])
  expect(app.clock.offset).toBe(0)
  const rows = await app.database.query<{ id: string; hours: number }>(
    // biome-ignore lint/plugin/clock: pg-boss dates its jobs by the database's own clock
    `select id, round(extract(epoch from start_after - now()) / 3600)::int as hours from pgboss.job where id = any($1::uuid[])`,
    [[later, due]],
  )
  expect(Object.fromEntries(rows.map(({ id, hours }) => [id, hours]))).toEqual({ [later]: 31 * 24, [due]: 0 })
  // Schedules run again within their interval.
  await app.worker.schedule()
  const [ahead] = await app.database.query<{ late: number }>(
    `select count(*)::int as late from job_schedules where next_at > $1::timestamptz + interval '2 days'`,
    [app.clock.now()],
  )
  expect(ahead).toEqual({ late: 0 })
  expect((await move({ now: new Date(present().getTime() - 3_600_000).toISOString() })).status).toBe(400)
  expect((await move({ advanceSeconds: 31 * day })).status).toBe(200)
  ended = 0
  await app.worker.drain()
  expect(ended).toBeGreaterThanOrEqual(1)
  await move({ now: present().toISOString() })
})

test.runIf(isFullSuite)('draining reports nothing pending only if no process runs a job', async () => {
  const { queue } = app.services
  const envelope = { storeId: null, userId: null, requestId: 'r', payload: { ms: 15 } }
  await app.worker.drain()
  const other = new Worker(app.services, [slow], app.metrics)
  await other.start()
  try {
    for (let times = 0; times < 50; times += 1) {
      ended = 0
      await queue.send(slow.handle, envelope)
      await wait(times % 7)
      const answers = await Promise.all([app.worker.drain(), times % 2 ? app.worker.drain() : { pending: 0 }])
      expect([ended, answers.map(({ pending }) => pending)]).toEqual([1, [0, 0]])
    }
    // A job that takes longer than the timeout is reported as pending.
    ended = 1
    await queue.send(slow.handle, { ...envelope, payload: { ms: 1500 } })
    await wait(100)
    const answer = await ask('POST', '/sandbox/api/jobs/drain', {}, { timeoutSeconds: 0.3 })
    expect(JSON.parse(answer.text).pending).toBeGreaterThanOrEqual(1)
    expect(ended).toBe(1)
    expect(JSON.parse((await ask('POST', '/sandbox/api/jobs/drain')).text).pending).toBe(0)
    expect(ended).toBe(2)
  } finally {
    await other.stop()
  }
})
