/** kill -9 of the process that tells people of stock, in mid-wave: nobody twice, nobody lost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { type Database, openPglite, openPostgres } from '#db/database'
import { migrate } from '#db/migrate'
import { freshDatabase, testApp } from '#test/support/app'
import { stockShop } from '#test/support/stock'

const root = join(import.meta.dirname, '../..')
const people = 1500
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

/** A folder or database with a store, a QR number, a sold-out variant and people who wait for it. */
async function prepared(): Promise<{ env: Record<string, string>; key: string; storeId: string }> {
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
  const shop = await stockShop(app)
  await (await shop.context()).db
    .insertInto('stock_subscriptions')
    .columns([
      'id',
      'product_id',
      'variant_id',
      'product_name',
      'channel',
      'email',
      'phone',
      'contact_key',
      'source',
      'status',
      'click_token',
      'created_at',
      'updated_at',
    ])
    .expression((eb) => {
      const isEmail = sql`g.n % 5 < 3`
      const email = sql<string>`case when ${isEmail} then 'shopper-' || g.n || '@example.com' end`
      const phone = sql<string>`case when not ${isEmail} then '+55119' || (80000000 + g.n * 10 + 5) end`
      const at = sql<Date>`date_trunc('milliseconds', now()) - (20000 - g.n) * interval '1 second'`
      return eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(people)})`.as(sql`g(n)`))
        .select([
          sql<string>`uuid_v7(${at})`.as('id'),
          sql<string>`'2000'`.as('product_id'),
          sql<string>`'3001'`.as('variant_id'),
          sql<string>`'Lamp'`.as('product_name'),
          sql<string>`case when ${isEmail} then 'email' else 'phone' end`.as('channel'),
          email.as('email'),
          phone.as('phone'),
          sql<string>`coalesce(${email}, ${phone})`.as('contact_key'),
          sql<string>`'product-page'`.as('source'),
          sql<string>`'waiting'`.as('status'),
          sql<string>`md5(g.n::text)`.as('click_token'),
          at.as('created_at'),
          at.as('updated_at'),
        ])
    })
    .execute()
  await app.close()
  await database.close()
  return {
    env: { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...(url ? { DATABASE_URL: url } : {}) },
    key: shop.key,
    storeId: shop.id,
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

async function until(seconds: number, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    if (await look()) return
    if (Date.now() > end) throw new Error(`nothing after ${seconds} seconds`)
    await wait(100)
  }
}

test('stock alerts survive kill -9 of the process that sends them', { timeout: 300_000 }, async () => {
  const { env, key, storeId } = await prepared()
  const count = async (url: string, status: string): Promise<number> =>
    (await call(url, key, 'GET', `/v1/stock-notifications/list?limit=1&status=${status}`)).body.total
  const first = await start('scripts/start.ts', env)
  expect(await count(first.url, 'waiting')).toBe(people)
  const back = `/sandbox/api/ecommerce/${storeId}/variants/3001/stock`
  // As many places as there are people, but for ten.
  expect((await call(first.url, key, 'POST', back, { stock: people / 2 - 5 })).status).toBe(200)
  await until(60, async () => (await count(first.url, 'sent')) >= people / 3)
  first.child.kill('SIGKILL')
  await first.ended

  const second = await start('scripts/start.ts', env)
  expect(await count(second.url, 'sent')).toBeLessThan(people - 10)
  // What the dead process had handed over, perhaps, is sent again under its keys after two minutes of the clock.
  const clock = { advanceSeconds: 130 }
  expect((await call(second.url, key, 'POST', '/sandbox/api/clock', clock)).status).toBe(200)
  await until(180, async () => (await count(second.url, 'sent')) === people - 10)
  expect([await count(second.url, 'waiting'), await count(second.url, 'sending')]).toEqual([10, 0])
  const waiting = await call(second.url, key, 'GET', '/v1/stock-notifications/list?sort=oldest')
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const told = await outbox(env)
  expect([told.keys, told.contacts]).toEqual([people - 10, people - 10])
  // Those who came last are those who still wait.
  const last = Array.from({ length: 10 }, (_, i) => people - 9 + i)
  expect(
    waiting.body.data.map((row: { email: string | null; phone: string | null }) => row.email ?? row.phone),
  ).toEqual(last.map((n) => (n % 5 < 3 ? `shopper-${n}@example.com` : `+55119${80_000_000 + n * 10 + 5}`)))
})

async function outbox(env: Record<string, string>): Promise<{ keys: number; contacts: number }> {
  const database = env.DATABASE_URL
    ? openPostgres(env.DATABASE_URL)
    : await openPglite({ dataDir: join(env.DATA_DIR!, 'db') })
  const [row] = await database.query<{ keys: number; contacts: number }>(
    `select count(distinct key)::int as keys, count(distinct contact)::int as contacts from (
       select idempotency_key as key, phone as contact from sandbox_messages
       union all select idempotency_key, to_address from sandbox_mail) told`,
    [],
  )
  await database.close()
  return row!
}
