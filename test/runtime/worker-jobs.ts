/** Jobs of the worker's tests, with their app and store. */
import { setTimeout as wait } from 'node:timers/promises'
import { job, serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { freshDatabase, overrideExtensions, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const payload = object({ name: z.string(), key: z.string().optional() })
const base = {
  description: 'A job of a test',
  timeoutSeconds: 60,
  safeTwice: 'It only writes to a list.',
}

/** Jobs that record what they did, with their app and store. */
export async function createTestJobs() {
  /** A record of the jobs' runs. */
  const log: string[] = []
  let open = 0
  /** How many ran concurrently, and how often a lost job's failure was reported. */
  const seen = { together: 0, tellings: 0 }
  const keyed = job(handle('test-keyed', payload), {
    ...base,
    retry: { limit: 0, backoffSeconds: 1 },
    oneAtATimePer: ({ key }) => key ?? '',
    async run(_ctx, { name }) {
      open += 1
      seen.together = Math.max(seen.together, open)
      await wait(30)
      log.push(name)
      open -= 1
    },
  })
  /** Two scheduled jobs per store: each runs until it is released. */
  const crowd = ['test-crowd-a', 'test-crowd-b'].map((name) =>
    job(handle(name, payload), {
      ...base,
      retry: { limit: 0, backoffSeconds: 1 },
      oneAtATimePer: ({ key }) => key ?? '',
      async run(_ctx, { name: own }) {
        begun.push(own)
        await gate.promise
      },
    }),
  )
  const begun: string[] = []
  let gate = Promise.withResolvers<void>()
  /** Holds back all crowd jobs that start from now on; returns the function that releases them. */
  function holdBack(): () => void {
    begun.length = 0
    gate = Promise.withResolvers()
    return gate.resolve
  }
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

  const lost = job(handle('test-lost', payload), {
    ...base,
    retry: { limit: 1, backoffSeconds: 1 },
    async run(_ctx, { name }) {
      log.push(`${name} ran`)
    },
    async failed(ctx, { name }, reason) {
      seen.tellings += 1
      if (seen.tellings === 1) throw new Error('the database is away')
      log.push(`${name} of ${ctx.store.id} gave up: ${reason}`)
    },
  })

  /** Reported failures of jobs. */
  const failures: string[] = []
  const registryWithFailures = overrideExtensions(await loadRegistry(), {
    jobFailed: [
      async (_ctx, name, jobId, reason) => {
        failures.push(`${name} ${jobId} ${reason}`)
      },
    ],
  })
  const registry = { ...registryWithFailures, jobs: [...crowd, keyed, failing, clocked, lost] }
  const { database } = await freshDatabase()
  const app = await testApp({}, { registry, database })
  const shop = await store(app)
  const ctx = await shop.context()
  /** An envelope with this key. */
  const of = (key: string, name = key) => ({
    storeId: shop.id,
    userId: null,
    requestId: 'test',
    payload: { name, key },
  })

  return {
    app,
    begun,
    crowd,
    ctx,
    database,
    failing,
    heard: failures,
    holdBack,
    keyed,
    log,
    lost,
    of,
    registry,
    seen,
    shop,
  }
}
