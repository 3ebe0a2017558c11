/**
 * A worker node of a cluster dies while stores on both of its workers write and send: those of the other go on, its own are
 * told to come back, and nothing is lost or doubled once it is there again. On a cluster of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { machineClock } from '#runtime/clock'
import { type ThrowawayCitus, throwawayCitus } from '#scripts/cli/citus'
import { type TestApp, testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { audience } from '#test/support/people'
import { advance, call, type Running, start, until } from '#test/support/processes'

const recipients = 400
const secretKey = 'a secret key that only the tests use, 123'

interface Sender {
  id: string
  key: string
  listId: string
  /** The port of the node where its rows lie. */
  port: number
}

async function sender(app: TestApp, nth: number): Promise<Sender> {
  const { shop, listId } = await audience(app, {
    phone: `+551190000111${nth}`,
    people: recipients,
    firstPhone: 60_000_000 + nth * 1_000_000,
  })
  return { id: shop.id, key: shop.key, listId, port: await portOf(app.database, shop.id) }
}

async function portOf(database: Database, storeId: string): Promise<number> {
  const [row] = await database.query<{ port: number }>(
    `select nodeport as port from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('stores', $1::uuid)`,
    [storeId],
  )
  return row!.port
}

/** Two stores on different workers, and the environment of servers. */
async function prepared(cluster: ThrowawayCitus) {
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-node-'))
  whenFileEnds(() => rmSync(dataDir, { recursive: true, force: true }))
  const database = openPostgres(cluster.url)
  await migrate(database)
  const app = await testApp({ secretKey, dataDir }, { database, clock: machineClock() })
  const lost = await sender(app, 0)
  let other = await sender(app, 1)
  for (let nth = 2; other.port === lost.port; nth += 1) other = await sender(app, nth)
  await app.close()
  await database.close()
  return { lost, other, env: { DATA_DIR: dataDir, LOG_LEVEL: 'silent', DATABASE_URL: cluster.url } }
}

/** Makes one list after the other until it is told to end; answers what each call was answered. */
function writer({ url }: Running, { key }: Sender, name: string) {
  const answered: { name: string; status: number }[] = []
  let isOver = false
  const writing = (async () => {
    for (let n = 1; !isOver; n += 1) {
      const each = `${name} ${n}`
      const { status } = await call(url, key, 'POST', '/v1/campaigns/lists', { name: each })
      answered.push({ name: each, status })
      await wait(20)
    }
  })()
  return {
    answered,
    async end() {
      isOver = true
      await writing
    },
  }
}

async function sendCampaign({ url }: Running, { key, listId }: Sender): Promise<string> {
  const content = { type: 'text', text: 'Hello {{firstName|you}}' }
  const created = await call(url, key, 'POST', '/v1/campaigns', { name: 'To everybody', listId, content })
  expect(created.status).toBe(201)
  const path = `/v1/campaigns/${created.body.id}`
  expect((await call(url, key, 'POST', `${path}/send`)).status).toBe(202)
  return path
}

const isSent = async ({ url }: Running, { key }: Sender, path: string): Promise<boolean> =>
  (await call(url, key, 'GET', path)).body?.status === 'sent'

const statusesOf = ({ answered }: ReturnType<typeof writer>): number[] =>
  [...new Set(answered.map(({ status }) => status))].sort()

test.runIf(inject('nodes').length > 1)(
  'stores of a worker that dies are told to come back, others go on, nothing is lost or doubled',
  { timeout: 590_000 },
  async () => {
    // Durable: what it had committed has to be there afterwards.
    const cluster = await throwawayCitus({ durable: true })
    whenFileEnds(() => cluster.stop())
    const { lost, other, env } = await prepared(cluster)
    const node = cluster.workers.find(({ port }) => port === lost.port)!
    const server = await start('scripts/start.ts', env)
    const [lostWriter, otherWriter] = [writer(server, lost, 'lost'), writer(server, other, 'other')]
    const [lostPath, otherPath] = [await sendCampaign(server, lost), await sendCampaign(server, other)]
    await until(90, async () => {
      const { counters } = (await call(server.url, lost.key, 'GET', lostPath)).body
      return counters.sent >= recipients / 4
    })
    expect(await isSent(server, other, otherPath)).toBe(false)

    await node.crash()
    await until(30, async () => lostWriter.answered.filter(({ status }) => status === 503).length >= 10)
    await until(120, () => isSent(server, other, otherPath))
    const readNow = await call(server.url, lost.key, 'GET', lostPath)
    expect([readNow.status, readNow.body.error.code]).toEqual([503, 'unavailable'])

    await node.restart()
    const before = lostWriter.answered.length
    await until(60, async () => lostWriter.answered.slice(before).some(({ status }) => status === 201))
    await Promise.all([lostWriter.end(), otherWriter.end()])
    // What was in hand when it died is taken up after two minutes of the clock.
    await until(180, async () => {
      await advance(server, 40)
      return isSent(server, lost, lostPath)
    })
    for (const [each, path] of [
      [lost, lostPath],
      [other, otherPath],
    ] as const) {
      const { counters } = (await call(server.url, each.key, 'GET', path)).body
      expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
      expect(counters.sent + counters.failed).toBe(recipients)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)

    expect([statusesOf(lostWriter), statusesOf(otherWriter)]).toEqual([[201, 503], [201]])
    const database = openPostgres(cluster.url)
    whenFileEnds(() => database.close())
    await expectWritten(database, lost, lostWriter.answered)
    await expectWritten(database, other, otherWriter.answered)
    await expectOnceEach(database)
    await expectNoneInDoubt(cluster)
  },
)

/** What was answered with 201 is there; what was not may be; neither is twice. */
async function expectWritten(
  database: Database,
  { id }: Sender,
  answered: readonly { name: string; status: number }[],
): Promise<void> {
  const rows = await database.query<{ name: string }>('select name from contact_lists where store_id = $1', [
    id,
  ])
  const names = rows.map(({ name }) => name)
  const promised = answered.filter(({ status }) => status === 201).map(({ name }) => name)
  expect(promised.length).toBeGreaterThan(10)
  expect(new Set(names).size).toBe(names.length)
  expect(promised.filter((name) => !names.includes(name))).toEqual([])
}

/** What the provider took. */
async function expectOnceEach(database: Database): Promise<void> {
  const rows = await database.query(
    `select count(*)::int as rows, count(distinct phone)::int as phones from sandbox_messages group by store_id`,
    [],
  )
  expect(rows).toEqual([
    { rows: recipients, phones: recipients },
    { rows: recipients, phones: recipients },
  ])
}

async function expectNoneInDoubt({ coordinator, workers }: ThrowawayCitus): Promise<void> {
  for (const { url } of [coordinator, ...workers]) {
    const database = openPostgres(url)
    whenFileEnds(() => database.close())
    await until(30, async () => {
      const [row] = await database.query<{ n: number }>(
        'select count(*)::int as n from pg_prepared_xacts',
        [],
      )
      return row!.n === 0
    })
  }
}
