/** Rows on an unreachable worker of a cluster are not taken for missing ones. On a separate cluster. */
import { expect, inject, test } from 'vitest'
import { findAccesses } from '#db/access'
import { findStoresOnHealthyNodes } from '#db/citus/healthy-nodes'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import createConnectCode from '#operations/messaging/assistant/api/create-connect-code'
import { chatAgentReply, messagingCleanup } from '#operations/messaging/handles'
import connectService from '#operations/messaging/shared/api/connect-service'
import { accept } from '#operations/store/provider-events/accept'
import { SystemContext } from '#runtime/context'
import { newId, sha256 } from '#runtime/values/ids'
import { throwawayCitus } from '#scripts/cli/citus'
import { type TestApp, testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { type NumberShop, numberShop } from '#test/support/numbers'

const phone = '+5511940000017'

async function findPort(database: Database, { id }: NumberShop): Promise<number> {
  const [row] = await database.query<{ port: number }>(
    `select nodeport as port from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('stores', $1::uuid)`,
    [id],
  )
  return row!.port
}

/** Two stores on different workers, and the worker of the first. */
async function openCluster() {
  const cluster = await throwawayCitus({ durable: false })
  whenFileEnds(() => cluster.stop())
  const database = openPostgres(cluster.url, { reads: 2, transactions: 6 })
  await migrate(database)
  const app = await testApp({}, { database })
  const lost = await numberShop(app)
  let other = await numberShop(app)
  while ((await findPort(database, other)) === (await findPort(database, lost))) other = await numberShop(app)
  const port = await findPort(database, lost)
  return { app, database, lost, other, worker: cluster.workers.find((each) => each.port === port)! }
}

/** A server job answers messages to the assistant, for any store. */
const ask = (app: TestApp, inboundId: string, text: string) =>
  system(app).queue(chatAgentReply, { inboundId, phone, text, at: app.clock.now().toISOString() })

const system = ({ services }: TestApp) => new SystemContext(services, services.log, 'a-request')

const event = (app: TestApp, key: string, storeId: string | null) => ({
  ...{ key, storeId, kind: 'cart.updated', occurredAt: app.clock.now().toISOString() },
  ...{ storeRef: null, data: {} },
})

/** The account of the official number of `lost`; `other` was in it, too, and has left it. */
async function sharedAccount({ app, lost, other }: Awaited<ReturnType<typeof openCluster>>): Promise<void> {
  expect((await lost.connectOfficial()).status).toBe(200)
  const { account_id: subject } = await (await lost.context()).db
    .selectFrom('messaging_connections')
    .select('account_id')
    .where('type', '=', 'official')
    .executeTakeFirstOrThrow()
  const release = { kind: 'official', provider: 'sandbox', subject, templates: '[]' }
  await (await other.context()).db
    .insertInto('messaging_releases')
    .values({ id: newId(1), ...release, created_at: app.clock.now() })
    .execute()
}

test.runIf(inject('nodes').length > 1)(
  'while a worker is down, decisions about its rows wait, and the work of other stores continues',
  async () => {
    const all = await openCluster()
    const { app, database, lost, other, worker } = all
    const { root } = database
    const { body } = await lost.call(createConnectCode, { body: {} })
    await ask(app, 'pairing', body.code)
    expect(await lost.call(connectService)).toMatchObject({ status: 200 })
    await app.drainJobs()
    await sharedAccount(all)
    const [shared] = await root
      .selectFrom('messaging_connections')
      .select('number_id')
      .where('type', '=', 'shared')
      .where('store_id', '=', lost.id)
      .execute()

    // A node that is being drained still has its stores.
    await database.query(`select citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', false)`, [
      worker.port,
    ])
    await worker.crash()
    expect(await findStoresOnHealthyNodes(database)).toEqual(expect.arrayContaining([other.id]))
    // Keys that are looked up together.
    const holders = await Promise.allSettled(
      await findAccesses(
        database,
        [lost, other].map(({ key }) => sha256(key)),
      ),
    )
    expect(holders.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(holders[1]).toMatchObject({ value: { storeId: other.id } })
    const inbound = { kind: 'inbound', storeRef: shared!.number_id, data: { phone, text: 'Hi' } }
    await accept(system(app), 'messaging', 'sandbox', [{ ...event(app, 'on shared', null), ...inbound }])
    await accept(system(app), 'ecommerce', 'sandbox', [
      event(app, 'of the lost', lost.id),
      event(app, 'of the other', other.id),
    ])
    await ask(app, 'asked meanwhile', 'sales')
    await system(app).queue(messagingCleanup, {})
    await app.drainJobs({ allowFailures: true })

    const applied = async (): Promise<string[]> => {
      const rows = await root
        .selectFrom('provider_events')
        .select('key')
        .where('applied_at', 'is not', null)
        .execute()
      return rows.map(({ key }) => key).filter((key) => key.startsWith('o'))
    }
    const decided = async (): Promise<string[]> => {
      const rows = await root
        .selectFrom('chat_agent_replies')
        .select('inbound_id')
        .orderBy('created_at')
        .execute()
      return rows.map((row) => row.inbound_id)
    }
    expect.soft(await applied()).toEqual(['of the other'])
    expect.soft(await decided()).toEqual(['pairing'])
    const releases = await root
      .selectFrom('messaging_releases')
      .select('kind')
      .where('store_id', '=', other.id)
      .execute()
    expect.soft(releases).toEqual([{ kind: 'official' }])

    await worker.restart()
    await app.advance(10 * 60_000)
    await app.drainJobs({ allowFailures: true })
    await app.drainJobs()
    expect.soft((await applied()).sort()).toEqual(['of the lost', 'of the other'])
    expect.soft(await decided()).toEqual(['pairing', 'asked meanwhile'])
  },
)
