/** kill -9 of real processes in the middle of real work: nobody twice, nobody lost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { type Database, openPglite } from '#db/database'
import { migrate } from '#db/migrate'
import { connectNumber } from '#operations/messaging/lib/connect'
import { freshDatabase, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const root = join(import.meta.dirname, '../..')
const recipients = 5000
const running = new Set<ChildProcess>()
const folders: string[] = []
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Running {
  child: ChildProcess
  url: string
  ended: Promise<number | null>
}

const secret = 'a secret key that only the tests use, 123'

async function start(script: string, env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [join(root, script)], {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      SECRET_KEY: secret,
      RATE_LIMIT_STORE: '100000',
      RATE_LIMIT_IP: '100000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() =>
    running.delete(child),
  )
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)
      if (found) resolve(found[0])
      else if (/worker is running/i.test(output)) resolve('')
    }
    child.stdout!.on('data', look)
    child.stderr!.on('data', look)
    child.once('close', () => reject(new Error(`ended at its start: ${output}`)))
  })
  return { child, url, ended }
}

/** A folder or database with a store, a QR number and a campaign's list, and how to start servers on it. */
async function prepared(): Promise<{ env: Record<string, string>; key: string; listId: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-kill-'))
  folders.push(dataDir)
  let database: Database
  let url: string | null = null
  if (inject('postgresUrl')) ({ database, url } = await freshDatabase())
  else {
    database = await openPglite({ dataDir: join(dataDir, 'db') })
    await migrate(database)
  }
  const app = await testApp({ secretKey: secret, dataDir }, { database })
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
  const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'Everybody' } })
  await ctx.db
    .insertInto('list_contacts')
    .columns(['id', 'list_id', 'phone', 'phone_key', 'name', 'source', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(recipients)})`.as(sql`g(n)`))
        .select([
          sql<string>`uuid_v7(now())`.as('id'),
          sql<string>`${list.body.id}::uuid`.as('list_id'),
          sql<string>`'+55119' || (80000000 + g.n * 10 + 5)`.as('phone'),
          sql<string>`'+55119' || (80000000 + g.n * 10 + 5)`.as('phone_key'),
          sql<string>`'Contact ' || g.n`.as('name'),
          sql<string>`'manual'`.as('source'),
          sql<Date>`now()`.as('created_at'),
          sql<Date>`now()`.as('updated_at'),
        ]),
    )
    .execute()
  await ctx.db.updateTable('contact_lists').set({ size: recipients }).where('id', '=', list.body.id).execute()
  await app.close()
  await database.close()
  return {
    env: { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...(url ? { DATABASE_URL: url } : {}) },
    key: shop.key,
    listId: list.body.id,
  }
}

async function call(url: string, key: string, method: string, path: string, body?: unknown) {
  // A connection kept open would be a race with the server's own time-out of idle ones.
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}

async function until<T>(seconds: number, look: () => Promise<T | false>): Promise<T> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const found = await look()
    if (found !== false) return found
    if (Date.now() > end) throw new Error(`nothing after ${seconds} seconds`)
    await wait(100)
  }
}

test('a campaign survives kill -9 of the process that sends it', { timeout: 240_000 }, async () => {
  const { env, key, listId } = await prepared()
  const first = await start('scripts/start.ts', env)
  const created = await call(first.url, key, 'POST', '/v1/campaigns', {
    name: 'To everybody',
    listId,
    content: { type: 'text', text: 'Hello {{firstName|you}}' },
  })
  expect(created.status).toBe(201)
  const path = `/v1/campaigns/${created.body.id}`
  expect((await call(first.url, key, 'POST', `${path}/send`)).status).toBe(202)
  await until(
    60,
    async () => (await call(first.url, key, 'GET', path)).body.counters.sent >= recipients / 3 && true,
  )
  first.child.kill('SIGKILL')
  await first.ended

  const second = await start('scripts/start.ts', env)
  const middle = (await call(second.url, key, 'GET', path)).body
  expect(middle.status).toBe('sending')
  expect(middle.counters.total).toBe(recipients)
  // What the dead process had claimed is taken up after two minutes of the clock.
  const moved = await fetch(`${second.url}/sandbox/api/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceSeconds: 130 }),
  })
  expect(moved.status).toBe(200)
  const done = await until(120, async () => {
    const { body } = await call(second.url, key, 'GET', path)
    return body.status === 'sent' && body
  })
  const { counters } = done
  expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
  expect(counters.sent + counters.failed).toBe(recipients)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const { rows, phones, keys } = await outbox(env)
  expect([rows, phones, keys]).toEqual([recipients, recipients, recipients])
})

async function outbox(env: Record<string, string>): Promise<{ rows: number; phones: number; keys: number }> {
  const { openPostgres } = await import('#db/database')
  const database = env.DATABASE_URL
    ? openPostgres(env.DATABASE_URL)
    : await openPglite({ dataDir: join(env.DATA_DIR!, 'db') })
  const [row] = await database.query<{ rows: number; phones: number; keys: number }>(
    `select count(*)::int as rows, count(distinct phone)::int as phones,
       count(distinct idempotency_key)::int as keys from sandbox_messages`,
    [],
  )
  await database.close()
  return row!
}
