/** On a cluster the coordinator commits before its workers: a job waits for the rows that were written with it. */
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { expect, inject, test } from 'vitest'
import { waitUntilVisible } from '#db/citus/visibility-barrier'
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
const followingJob = job(handle('test-following', object({})), {
  description: 'A job of a test',
  timeoutSeconds: 60,
  retry: { limit: 0, backoffSeconds: 1 },
  safeTwice: 'It only counts.',
  async run() {
    ran += 1
  },
})

async function openCluster() {
  const { database, url } = await freshDatabase()
  const app = await testApp({}, { database, registry: { ...(await loadRegistry()), jobs: [followingJob] } })
  const shop = await store(app)
  return { app, database, url: url!, shop, ctx: await shop.context() }
}

const never = new AbortController().signal

const raceWithTimeout = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise.then(() => 'done'), wait(500, 'waits')])

test.runIf(isCluster)(
  'queueing in a transaction acquires a barrier on the worker of the store until its end',
  async () => {
    const { database, shop, ctx } = await openCluster()
    let waiting: Promise<void> | undefined
    const { jobId } = await ctx.transaction(async (tx) => {
      const queued = await tx.queue(followingJob.handle, {})
      waiting = waitUntilVisible(database, shop.id, queued.jobId, never)
      expect(await raceWithTimeout(waiting)).toBe('waits')
      expect(await raceWithTimeout(waitUntilVisible(database, shop.id, ctx.store.id, never))).toBe('done')
      return queued
    })
    await waiting
    await waitUntilVisible(database, shop.id, jobId, never)
  },
)

test.runIf(isCluster)(
  'a job does not run before its prepared rows on a worker are committed there',
  async () => {
    const { app, database, url, shop, ctx } = await openCluster()
    const { jobId } = await ctx.queue(followingJob.handle, {})
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
    expect(await raceWithTimeout(draining)).toBe('waits')
    expect(ran).toBe(0)
    await node.unsafe(`commit prepared 'early'`)
    await draining
    expect(ran).toBe(1)
  },
)
