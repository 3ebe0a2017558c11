/** Processes with a silent database: they report it, work again afterwards, and exit on request. */
import { expect, inject, test } from 'vitest'
import { blackHole } from '#test/support/black-hole'
import { call, prepareServer, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

const deadlines = { STATEMENT_TIMEOUT_MS: '900', REQUEST_TIMEOUT_MS: '3000', LOG_LEVEL: 'silent' }

test.skipIf(!inject('postgresUrl'))(
  'a server and a worker while the database is silent, and afterwards',
  async () => {
    const { env, filled } = await prepareServer(async (app) => {
      const { key, slug } = await store(app)
      return { key, slug }
    })
    const hole = await blackHole(env.DATABASE_URL!)
    const own = { ...env, ...deadlines, DATABASE_URL: hole.url }
    const [server, worker] = await Promise.all([
      start('scripts/start.ts', { ...own, WORKER: 'off' }),
      start('scripts/worker.ts', own),
    ])
    const read = () => call(server.url, filled.key, 'GET', '/v1/store')
    expect((await read()).status).toBe(200)

    hole.silence()
    const ready = await fetch(`${server.url}/readyz`, {
      signal: AbortSignal.timeout(2_000),
      headers: { connection: 'close' },
    })
    expect(ready.status).toBe(503)
    const create = { name: 'Written in silence' }
    const answers = await Promise.all([
      read(),
      call(server.url, filled.key, 'POST', '/v1/campaigns/lists', create),
    ])
    expect(answers.map(({ status }) => status)).toEqual([503, 503])

    hole.speak()
    await until(async () => (await read()).status === 200)
    expect((await fetch(`${server.url}/readyz`, { headers: { connection: 'close' } })).status).toBe(200)

    // Silent again, with a pending request: they exit on request.
    hole.silence()
    const under = read().catch(() => null)
    const ended = [server, worker].map(async ({ child, ended: end }) => {
      child.kill('SIGTERM')
      return end
    })
    for (const code of await Promise.all(ended)) expect([0, 1]).toContain(code)
    await under
    hole.speak()

    // With a responsive database it exits with success.
    const another = await start('scripts/start.ts', own)
    expect((await call(another.url, filled.key, 'GET', '/v1/store')).status).toBe(200)
    another.child.kill('SIGTERM')
    expect(await another.ended).toBe(0)
  },
)

test.skipIf(!inject('postgresUrl'))(
  'a server with a silent database reports it instead of starting',
  async () => {
    const hole = await blackHole(inject('postgresUrl')!)
    hole.silence()
    await expect(
      start('scripts/start.ts', { ...deadlines, DATABASE_URL: hole.url, DATA_DIR: '/tmp' }),
    ).rejects.toThrow(/ended at its start/)
  },
)
