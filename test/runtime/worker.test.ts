/** What the worker promises of every job. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { job, serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { Worker } from '#runtime/jobs/worker'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { freshDatabase, testApp, withWiring } from '#test/support/app'
import { store } from '#test/support/store'

const log: string[] = []
const payload = object({ name: z.string(), key: z.string().optional() })
const base = {
  description: 'A job of a test',
  timeoutSeconds: 60,
  safeTwice: 'It only writes to a list.',
}

let open = 0
let together = 0
const keyed = job(handle('test-keyed', payload), {
  ...base,
  retry: { limit: 0, backoffSeconds: 1 },
  oneAtATimePer: ({ key }) => key ?? '',
  async run(_ctx, { name }) {
    open += 1
    together = Math.max(together, open)
    await wait(30)
    log.push(name)
    open -= 1
  },
})
const failing = job(handle('test-failing', payload), {
  ...base,
  retry: { limit: 2, backoffSeconds: 1 },
  async run(_ctx, { name }, { number, isLast }) {
    log.push(`${name} ${number}${isLast ? ' last' : ''}`)
    throw new Error('as told')
  },
  async failed(_ctx, { name }, reason) {
    log.push(`${name} gave up: ${reason}`)
  },
})
const clocked = serverJob(handle('test-clocked', object({})), {
  ...base,
  everySeconds: 3600,
  retry: { limit: 0, backoffSeconds: 1 },
  async run() {
    log.push('tick')
  },
})

let tellings = 0
const lost = job(handle('test-lost', payload), {
  ...base,
  retry: { limit: 1, backoffSeconds: 1 },
  async run(_ctx, { name }) {
    log.push(`${name} ran`)
  },
  async failed(ctx, { name }, reason) {
    tellings += 1
    if (tellings === 1) throw new Error('the database is away')
    log.push(`${name} of ${ctx.store.id} gave up: ${reason}`)
  },
})

/** Jobs that failed for good, as they were told. */
const heard: string[] = []
const told = withWiring(await loadRegistry(), {
  jobFailed: [
    async (_ctx, name, jobId, reason) => {
      heard.push(`${name} ${jobId} ${reason}`)
    },
  ],
})
const registry = { ...told, jobs: [keyed, failing, clocked, lost] }
const { database } = await freshDatabase()
const app = await testApp({}, { registry, database })
const shop = await store(app)
const ctx = await shop.context()

test('a job is queued with its cause, or not at all', async () => {
  log.length = 0
  await expect(
    ctx.transaction(async (tx) => {
      await tx.queue(keyed.handle, { name: 'undone', key: 'a' })
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  await ctx.transaction((tx) => tx.queue(keyed.handle, { name: 'done', key: 'a' }))
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual(['done'])
})

test('what is asked for sooner than it waits for is not held up; later, it stays', async () => {
  log.length = 0
  const inMinutes = (minutes: number) => ({ at: new Date(app.clock.ms() + minutes * 60_000) })
  const first = await ctx.queue(keyed.handle, { name: 'once', key: 'sooner' }, inMinutes(60))
  expect((await ctx.queue(keyed.handle, { name: 'again', key: 'sooner' }, inMinutes(90))).jobId).toBe(
    first.jobId,
  )
  await ctx.transaction(async (tx) => {
    const sooner = await tx.queue(keyed.handle, { name: 'again', key: 'sooner' }, inMinutes(10))
    expect(sooner.jobId).toBe(first.jobId)
  })
  await app.advance(9 * 60_000)
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual([])
  await app.advance(60_000)
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual(['once'])
})

test('of one key one waits and one runs', async () => {
  log.length = 0
  together = 0
  const first = await ctx.queue(keyed.handle, { name: 'one', key: 'b' })
  const second = await ctx.queue(keyed.handle, { name: 'two', key: 'b' })
  expect(second.jobId).toBe(first.jobId)
  const [running] = await app.services.queue.fetch('test-keyed', 1)
  expect(running!.id).toBe(first.jobId)
  const third = await ctx.queue(keyed.handle, { name: 'three', key: 'b' })
  expect(third.jobId).not.toBe(first.jobId)
  const [behind] = await app.services.queue.fetch('test-keyed', 1)
  expect(
    await app.services.queue.isBehindAnother('test-keyed', {
      id: behind!.id,
      singletonKey: behind!.singletonKey!,
    }),
  ).toBe(true)
  await app.services.queue.postpone(behind!.id, 1)
  await app.services.queue.handBack(running!.id)
  for (let round = 0; round < 3; round += 1) {
    await app.advance(2000)
    await app.drainJobs()
  }
  expect(log.filter((line) => line === 'one')).toEqual(['one'])
  expect(together).toBe(1)
})

test('a failing job is tried again, later and later, then given up and told', async () => {
  log.length = 0
  await ctx.queue(failing.handle, { name: 'it' })
  for (let tries = 0; tries < 4; tries += 1) {
    await app.drainJobs({ allowFailures: true })
    await app.advance(3_600_000)
  }
  expect(log.filter((line) => line !== 'tick')).toEqual(['it 1', 'it 2', 'it 3 last', 'it gave up: as told'])
})

test('a job whose worker is lost at its last try is given up and told once, on whichever instance', async () => {
  log.length = 0
  heard.length = 0
  const { jobId } = await ctx.queue(lost.handle, { name: 'it' })
  // As a worker that claims it and dies: nothing is heard of it any more.
  const die = async () => {
    await app.advance(3_600_000)
    const [claimed] = await app.services.queue.fetch('test-lost', 1)
    expect(claimed?.id).toBe(jobId)
    await database.query(`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = $1`, [
      jobId,
    ])
    await app.services.queue.boss.supervise('test-lost')
  }
  await die()
  await database.query(`update pgboss.queue set monitor_on = null, monitor_claim_on = null`, [])
  await die()
  const other = new Worker(app.services, registry.jobs, app.metrics)
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([app.worker.drain(), other.drain()])
    await app.advance(3_600_000)
  }
  expect(log.filter((line) => line !== 'tick')).toEqual([`it of ${shop.id} gave up: job heartbeat timeout`])
  expect(tellings).toBe(2)
  expect(heard).toEqual([`test-lost ${jobId} job heartbeat timeout`])
})

test('what runs by the clock runs once for each time it has come due', async () => {
  log.length = 0
  await app.advance(3_600_000)
  await Promise.all([app.worker.schedule(), app.worker.schedule()])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
})

test('a handle that no job takes is refused where it is queued', async () => {
  const ctx = await shop.context()
  await expect(ctx.queue(handle('test-nobody', object({})), {})).rejects.toThrow(
    'No job takes the handle test-nobody: write jobs/test-nobody.ts',
  )
})

test('a payload that does not fit is refused where it is queued', async () => {
  await expect(ctx.queue(keyed.handle, { name: 1 } as never)).rejects.toThrow()
})

test('the job of a store that is gone ends quietly', async () => {
  const other = await store(app)
  await (await other.context()).queue(keyed.handle, { name: 'lost', key: 'c' })
  await database.query('delete from stores where id = $1', [other.id])
  log.length = 0
  await app.drainJobs()
  expect(log).toEqual([])
})
