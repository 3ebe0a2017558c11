/** A node of a cluster dies while stores on both of its workers write and send. On a cluster of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { connectEcommerce } from '#operations/store/connections/connections'
// biome-ignore lint/style/noRestrictedImports: the processes it starts go by the machine's clock
import { machineClock } from '#runtime/clock'
import { type ThrowawayCitus, throwawayCitus } from '#scripts/cli/citus'
import { type TestApp, testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { hang } from '#test/support/hanging'
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
  // What is synced by the clock.
  await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
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
  // So that both are amid their campaign for a while, however fast the machine.
  const pace = { SANDBOX_MESSAGES_PER_SECOND: '25' }
  return { lost, other, env: { DATA_DIR: dataDir, LOG_LEVEL: 'silent', DATABASE_URL: cluster.url, ...pace } }
}

/** Adds one person after the other to a list of its own until it is told to end; answers what each call was answered. */
async function writer({ url }: Running, { key }: Sender) {
  const list = await call(url, key, 'POST', '/v1/campaigns/lists', { name: 'Written meanwhile' })
  expect(list.status).toBe(201)
  const listId: string = list.body.id
  const answered: { name: string; status: number }[] = []
  let isOver = false
  const writing = (async () => {
    for (let n = 1; !isOver; n += 1) {
      const person = { name: `Person ${n}`, phone: `+55119${80_000_000 + n}` }
      const { status } = await call(url, key, 'POST', `/v1/campaigns/lists/${listId}/contacts`, person)
      answered.push({ name: person.name, status })
      await wait(20)
    }
  })()
  return {
    listId,
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

/** What was in hand when something died is taken up after two minutes of the clock. */
const untilSent = (server: Running, { sender, path }: { sender: Sender; path: string }) =>
  until(async () => {
    if (await isSent(server, sender, path)) return true
    await advance(server, 40)
    return false
  })

const isMade = ({ status }: { status: number }): boolean => status === 201

type Writer = Awaited<ReturnType<typeof writer>>

const statusesOf = ({ answered }: Writer): number[] =>
  [...new Set(answered.map(({ status }) => status))].sort()

const hasCluster = inject('nodes').length > 1

/** Two stores of different workers that write and are amid a campaign each. */
async function amidSending() {
  // Durable: what it had committed has to be there afterwards.
  const cluster = await throwawayCitus({ durable: true })
  whenFileEnds(() => cluster.stop())
  const { lost, other, env } = await prepared(cluster)
  const server = await start('scripts/start.ts', env)
  const stores = [
    { sender: lost, writer: await writer(server, lost), path: await sendCampaign(server, lost) },
    { sender: other, writer: await writer(server, other), path: await sendCampaign(server, other) },
  ] as const
  await until(async () => {
    const { counters } = (await call(server.url, lost.key, 'GET', stores[0].path)).body
    return counters.sent >= recipients / 4
  })
  expect(await isSent(server, other, stores[1].path)).toBe(false)
  return { cluster, server, stores }
}

type Amid = Awaited<ReturnType<typeof amidSending>>

/** Once all is there again: the campaigns end, and nothing was lost or doubled. `statuses`: what each writer may be answered. */
async function expectWhole({ cluster, server, stores }: Amid, statuses: readonly number[][]): Promise<void> {
  await Promise.all(stores.map((each) => each.writer.end()))
  for (const { sender, path } of stores) {
    await untilSent(server, { sender, path })
    const { counters } = (await call(server.url, sender.key, 'GET', path)).body
    expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
    expect(counters.sent + counters.failed).toBe(recipients)
  }
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)

  expect(stores.map((each) => statusesOf(each.writer))).toEqual(statuses)
  const database = openPostgres(cluster.url)
  whenFileEnds(() => database.close())
  for (const each of stores) await expectWritten(database, each.sender, each.writer)
  await expectOnceEach(database)
  await expectNoneInDoubt(cluster)
}

test.runIf(hasCluster)(
  'stores of a worker that dies are told to come back, others go on, nothing is lost or doubled',
  { timeout: 590_000 },
  async () => {
    const amid = await amidSending()
    const { cluster, server, stores } = amid
    const [lost, other] = stores
    const node = cluster.workers.find(({ port }) => port === lost.sender.port)!
    await node.crash()
    await until(async () => lost.writer.answered.filter(({ status }) => status === 503).length >= 10)
    await until(() => isSent(server, other.sender, other.path))
    await expectClocked(amid, other.sender)
    const readNow = await call(server.url, lost.sender.key, 'GET', lost.path)
    expect([readNow.status, readNow.body.error.code]).toEqual([503, 'unavailable'])

    await node.restart()
    await until(async () => lost.writer.answered.at(-1)?.status === 201)
    await expectWhole(amid, [[201, 503], [201]])
  },
)

test.runIf(hasCluster)(
  'stores of a worker that hangs are told to come back, others go on, and when it goes on nothing is lost or doubled',
  { timeout: 590_000 },
  async () => {
    const amid = await amidSending()
    const { cluster, server, stores } = amid
    const [lost, other] = stores
    const node = cluster.workers.find(({ port }) => port === lost.sender.port)!
    const goOn = hang(node)
    whenFileEnds(goOn)
    // Once it is known, at once.
    await until(async () => lost.writer.answered.filter(({ status }) => status === 503).length >= 10)
    const before = other.writer.answered.length
    await until(async () => other.writer.answered.slice(before).filter(isMade).length >= 50)
    // A statement of its campaign may have shared a connection with what hung.
    await untilSent(server, other)
    await expectClocked(amid, other.sender)
    const readNow = await call(server.url, lost.sender.key, 'GET', lost.path)
    expect([readNow.status, readNow.body.error.code]).toEqual([503, 'unavailable'])

    goOn()
    await until(async () => lost.writer.answered.at(-1)?.status === 201)
    // Who shared a connection with what hung is told to come back as well, for a moment.
    expect(other.writer.answered.filter((each) => !isMade(each)).length).toBeLessThan(20)
    await expectWhole(amid, [[201, 503], statusesOf(other.writer)])
  },
)

test.runIf(hasCluster)(
  'a store whose shard is moved to another node while it writes and sends goes on there, and the coordinator may die after it',
  { timeout: 590_000 },
  async () => {
    const amid = await amidSending()
    const { cluster, stores } = amid
    const [moved, other] = stores
    const database = openPostgres(cluster.url)
    whenFileEnds(() => database.close())
    const before = moved.writer.answered.length
    await database.patient.query(
      `select citus_move_shard_placement(get_shard_id_for_distribution_column('stores', $1::uuid),
         $2, $3, $2, $4, 'block_writes')`,
      [moved.sender.id, '127.0.0.1', moved.sender.port, other.sender.port],
    )
    expect(await portOf(database, moved.sender.id)).toBe(other.sender.port)
    await until(async () => moved.writer.answered.length >= before + 10)
    await cluster.coordinator.crash()
    for (const { writer } of stores) await until(async () => writer.answered.at(-1)?.status === 503)
    await cluster.coordinator.restart()
    for (const { writer } of stores) await until(async () => writer.answered.at(-1)?.status === 201)
    await expectWhole(amid, [
      [201, 503],
      [201, 503],
    ])
  },
)

test.runIf(hasCluster)(
  'when the coordinator dies all stores are told to come back; once it is there they go on, and nothing is lost or doubled',
  { timeout: 590_000 },
  async () => {
    const amid = await amidSending()
    const { cluster, stores } = amid
    await cluster.coordinator.crash()
    for (const { writer } of stores) await until(async () => writer.answered.at(-1)?.status === 503)
    await cluster.coordinator.restart()
    for (const { writer } of stores) await until(async () => writer.answered.at(-1)?.status === 201)
    await expectWhole(amid, [
      [201, 503],
      [201, 503],
    ])
  },
)

/** A look over all stores finds those of the nodes that are there. */
async function expectClocked({ cluster, server }: Amid, { id }: Sender): Promise<void> {
  const database = openPostgres(cluster.url)
  whenFileEnds(() => database.close())
  const queued = async (): Promise<number> => {
    const [jobs] = await database.query<{ n: number }>(
      `select count(*)::int as n from pgboss.job where data->>'job' = 'carts-sync' and data->>'storeId' = $1`,
      [id],
    )
    return jobs!.n
  }
  const before = await queued()
  await advance(server, 600)
  await until(async () => (await queued()) > before)
}

/** What was answered with 201 is there; what was not may be; neither is twice, and the list's size counts them all. */
async function expectWritten(
  database: Database,
  { id }: Sender,
  { listId, answered }: Writer,
): Promise<void> {
  const rows = await database.query<{ name: string }>(
    'select name from list_contacts where store_id = $1 and list_id = $2',
    [id, listId],
  )
  const names = rows.map(({ name }) => name)
  const promised = answered.filter(({ status }) => status === 201).map(({ name }) => name)
  expect(promised.length).toBeGreaterThan(10)
  expect(new Set(names).size).toBe(names.length)
  expect(promised.filter((name) => !names.includes(name))).toEqual([])
  const sizes = await database.query('select size from contact_lists where store_id = $1 and id = $2', [
    id,
    listId,
  ])
  expect(sizes).toEqual([{ size: names.length }])
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
    await until(async () => {
      const [row] = await database.query<{ n: number }>(
        'select count(*)::int as n from pg_prepared_xacts',
        [],
      )
      return row!.n === 0
    })
  }
}
