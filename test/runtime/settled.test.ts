/** On a cluster the coordinator is through with a commit before its workers are: a job waits for what was written with it. */
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { expect, inject, test } from 'vitest'
import { settled } from '#db/citus/settled'
import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { loadRegistry } from '#runtime/registry/registry'
import { object } from '#runtime/schema'
import { freshDatabase, testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { withDatabase } from '#test/support/cluster'
import { store } from '#test/support/store'

const isCluster = inject('nodes').length > 1
let ran = 0
const following = job(handle('test-following', object({})), {
  description: 'A job of a test',
  timeoutSeconds: 60,
  retry: { limit: 0, backoffSeconds: 1 },
  safeTwice: 'It only counts.',
  async run() {
    ran += 1
  },
})

async function opened() {
  const { database, url } = await freshDatabase()
  const app = await testApp({}, { database, registry: { ...(await loadRegistry()), jobs: [following] } })
  const shop = await store(app)
  return { app, database, url: url!, shop, ctx: await shop.context() }
}

const never = new AbortController().signal

const untilSaid = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise.then(() => 'done'), wait(500, 'waits')])

test.runIf(isCluster)(
  'who queues in a transaction announces it to the worker of the store until that is over',
  async () => {
    const { database, shop, ctx } = await opened()
    let waiting: Promise<void> | undefined
    const { jobId } = await ctx.transaction(async (tx) => {
      const queued = await tx.queue(following.handle, {})
      waiting = settled(database, shop.id, queued.jobId, never)
      expect(await untilSaid(waiting)).toBe('waits')
      expect(await untilSaid(settled(database, shop.id, ctx.store.id, never))).toBe('done')
      return queued
    })
    await waiting
    await settled(database, shop.id, jobId, never)
  },
)

test.runIf(isCluster)(
  'a job is not run before what was prepared on a worker is committed there',
  async () => {
    const { app, database, url, shop, ctx } = await opened()
    const { jobId } = await ctx.queue(following.handle, {})
    const [placed] = await database.query<{ port: number }>(
      `select nodeport as port from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('stores', $1::uuid)`,
      [shop.id],
    )
    const address = new URL(withDatabase(inject('nodes')[0]!, new URL(url).pathname.slice(1)))
    address.port = String(placed!.port)
    const node = postgres(address.href, { max: 1 })
    whenFileEnds(() => node.end())
    await node.unsafe('begin')
    await node`select pg_advisory_xact_lock_shared(hashtextextended(${jobId}, 0))`
    await node.unsafe(`prepare transaction 'early'`)
    const draining = app.drainJobs()
    expect(await untilSaid(draining)).toBe('waits')
    expect(ran).toBe(0)
    await node.unsafe(`commit prepared 'early'`)
    await draining
    expect(ran).toBe(1)
  },
)
