/** A node of a cluster dies while stores on both workers write and send. Uses its own cluster. */
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
  /** The port of the node with its rows. */
  port: number
}

async function createSender(app: TestApp, nth: number): Promise<Sender> {
  const { shop, listId } = await audience(app, {
    phone: `+551190000111${nth}`,
    people: recipients,
    firstPhone: 60_000_000 + nth * 1_000_000,
  })
  // Synced by scheduled jobs.
  await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
  return { id: shop.id, key: shop.key, listId, port: await findPort(app.database, shop.id) }
}

async function findPort(database: Database, storeId: string): Promise<number> {
  const [row] = await database.query<{ port: number }>(
    `select nodeport as port from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('stores', $1::uuid)`,
    [storeId],
  )
  return row!.port
}

/** Two stores on different workers, and the environment of servers. */
async function prepare(cluster: ThrowawayCitus) {
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-node-'))
  whenFileEnds(() => rmSync(dataDir, { recursive: true, force: true }))
  const database = openPostgres(cluster.url)
  await migrate(database)
  const app = await testApp({ secretKey, dataDir }, { database, clock: machineClock() })
  const lost = await createSender(app, 0)
  let other = await createSender(app, 1)
  for (let nth = 2; other.port === lost.port; nth += 1) other = await createSender(app, nth)
  await app.close()
  await database.close()
  // Slow enough that both campaigns are still running, however fast the machine.
  const pace = { SANDBOX_MESSAGES_PER_SECOND: '25' }
  return { lost, other, env: { DATA_DIR: dataDir, LOG_LEVEL: 'silent', DATABASE_URL: cluster.url, ...pace } }
}

/** Adds people one by one to a list of its own until it is stopped; returns all answers. */
async function startWriter({ url }: Running, { key }: Sender) {
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

/** Interrupted work is resumed after two minutes of the clock. */
const waitUntilSent = (server: Running, { sender, path }: { sender: Sender; path: string }) =>
  until(async () => {
    if (await isSent(server, sender, path)) return true
    await advance(server, 40)
    return false
  })

const isMade = ({ status }: { status: number }): boolean => status === 201

type Writer = Awaited<ReturnType<typeof startWriter>>

const getStatuses = ({ answered }: Writer): number[] =>
  [...new Set(answered.map(({ status }) => status))].sort()

const hasCluster = inject('nodes').length > 1

/** Two stores on different workers, each writing and sending a campaign. */
async function startSending() {
  // Durable: committed data must survive.
  const cluster = await throwawayCitus({ durable: true })
  whenFileEnds(() => cluster.stop())
  const { lost, other, env } = await prepare(cluster)
  const server = await start('scripts/start.ts', env)
  const stores = [
    { sender: lost, writer: await startWriter(server, lost), path: await sendCampaign(server, lost) },
    { sender: other, writer: await startWriter(server, other), path: await sendCampaign(server, other) },
  ] as const
  await until(async () => {
    const { counters } = (await call(server.url, lost.key, 'GET', stores[0].path)).body
    return counters.sent >= recipients / 4
  })
  expect(await isSent(server, other, stores[1].path)).toBe(false)
  return { cluster, server, stores }
}

type SendingCluster = Awaited<ReturnType<typeof startSending>>

/**
 * After recovery: the campaigns finish, and nothing is lost or duplicated. `statuses`: allowed answers of each writer.
 */
async function expectWhole(
  { cluster, server, stores }: SendingCluster,
  statuses: readonly number[][],
): Promise<void> {
  await Promise.all(stores.map((each) => each.writer.end()))
  for (const { sender, path } of stores) {
    await waitUntilSent(server, { sender, path })
    const { counters } = (await call(server.url, sender.key, 'GET', path)).body
    expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
    expect(counters.sent + counters.failed).toBe(recipients)
  }
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)

  expect(stores.map((each) => getStatuses(each.writer))).toEqual(statuses)
  const database = openPostgres(cluster.url)
  whenFileEnds(() => database.close())
  for (const each of stores) await expectWritten(database, each.sender, each.writer)
  await expectOnceEach(database)
  await expectNoneInDoubt(cluster)
}

test.runIf(hasCluster)(
  'if a worker dies, its stores are asked to retry, others continue, nothing is lost or duplicated',
  { timeout: 590_000 },
  async () => {
    const amid = await startSending()
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
  'if a worker hangs, its stores are asked to retry, others continue, and after it resumes nothing is lost or duplicated',
  { timeout: 590_000 },
  async () => {
    const amid = await startSending()
    const { cluster, server, stores } = amid
    const [lost, other] = stores
    const node = cluster.workers.find(({ port }) => port === lost.sender.port)!
    const goOn = hang(node)
    whenFileEnds(goOn)
    // Once the failure is known, immediately.
    await until(async () => lost.writer.answered.filter(({ status }) => status === 503).length >= 10)
    const before = other.writer.answered.length
    await until(async () => other.writer.answered.slice(before).filter(isMade).length >= 50)
    // A statement of its campaign may have shared a connection with the hanging worker.
    await waitUntilSent(server, other)
    await expectClocked(amid, other.sender)
    const readNow = await call(server.url, lost.sender.key, 'GET', lost.path)
    expect([readNow.status, readNow.body.error.code]).toEqual([503, 'unavailable'])

    goOn()
    await until(async () => lost.writer.answered.at(-1)?.status === 201)
    // Requests that shared a connection with the hanging worker are briefly asked to retry, too.
    expect(other.writer.answered.filter((each) => !isMade(each)).length).toBeLessThan(20)
    await expectWhole(amid, [[201, 503], getStatuses(other.writer)])
  },
)

test.runIf(hasCluster)(
  'a store whose shard moves to another node while it writes and sends continues there, also after the coordinator dies',
  { timeout: 590_000 },
  async () => {
    const amid = await startSending()
    const { cluster, stores } = amid
    const [moved, other] = stores
    const database = openPostgres(cluster.url)
    whenFileEnds(() => database.close())
    const before = moved.writer.answered.length
    await database.longRunning.query(
      `select citus_move_shard_placement(get_shard_id_for_distribution_column('stores', $1::uuid),
         $2, $3, $2, $4, 'block_writes')`,
      [moved.sender.id, '127.0.0.1', moved.sender.port, other.sender.port],
    )
    expect(await findPort(database, moved.sender.id)).toBe(other.sender.port)
    await until(async () => moved.writer.answered.length >= before + 10)
    await cluster.coordinator.crash()
    for (const { writer: startWriter } of stores)
      await until(async () => startWriter.answered.at(-1)?.status === 503)
    await cluster.coordinator.restart()
    for (const { writer: startWriter } of stores)
      await until(async () => startWriter.answered.at(-1)?.status === 201)
    await expectWhole(amid, [
      [201, 503],
      [201, 503],
    ])
  },
)

test.runIf(hasCluster)(
  'if the coordinator dies, all stores are asked to retry; after its return they continue, nothing is lost or duplicated',
  { timeout: 590_000 },
  async () => {
    const amid = await startSending()
    const { cluster, stores } = amid
    await cluster.coordinator.crash()
    for (const { writer: startWriter } of stores)
      await until(async () => startWriter.answered.at(-1)?.status === 503)
    await cluster.coordinator.restart()
    for (const { writer: startWriter } of stores)
      await until(async () => startWriter.answered.at(-1)?.status === 201)
    await expectWhole(amid, [
      [201, 503],
      [201, 503],
    ])
  },
)

/** A scheduled job over all stores finds those of the live nodes. */
async function expectClocked({ cluster, server }: SendingCluster, { id }: Sender): Promise<void> {
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

/** Writes answered with 201 exist, others may; none is duplicated, and the list's size counts them all. */
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

/** Messages accepted by the provider. */
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
