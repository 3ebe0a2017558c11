/**
 * The job that the clock runs for another: it queues that one for each store with something to do, under the other's
 * name and `-all`. Made from what a job says in `every`.
 */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { type Every, type Job, serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import { handle } from './handle.ts'
import type { Envelope } from './rows.ts'

/** What is held of one look at once; all of a store's rows are on one page. */
const storesAtOnce = 500
const mostSeconds = 300
/** One that comes again sooner than it would be tried again is not. */
const triedAgainFromSeconds = 300

export const fanOutName = (job: Job): string => `${job.name}-all`

/** Nothing where the job does not run by the clock for each store. */
export function fanOut(job: Job): Job[] {
  const { every } = job.spec
  if (!every) return []
  const { seconds } = every
  return [
    serverJob(handle(fanOutName(job), object({})), {
      description: `Queues ${job.name} for every store that has something to do`,
      retry: { limit: seconds < triedAgainFromSeconds ? 0 : 2, backoffSeconds: 30 },
      timeoutSeconds: Math.min(mostSeconds, seconds - 5),
      everySeconds: seconds,
      storeByStore: true,
      oneAtATimePer: () => 'all',
      safeTwice: 'It only queues a job that is safe to run twice.',
      run: (system, _payload, { signal }) => queueAll(system, job, every, signal),
    }),
  ]
}

type Due = { store_id: string }

/** A store whose job cannot be queued keeps no other from its own; the job fails then, and is tried again for all. */
async function queueAll(system: SystemContext, job: Job, every: Every, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted()
    const due: Due[] = await pageAfter(system, every, after)
    const envelopes: Envelope[] = []
    for (const row of due) {
      try {
        envelopes.push(...envelopeOf(system, job, every, row))
      } catch (error) {
        failures.push(error)
        system.log.error({ err: error, storeId: row.store_id }, `${job.name} could not be queued for a store`)
      }
    }
    await system.services.queue.sendScheduled(job.handle, envelopes)
    after = due.at(-1)?.store_id ?? null
    if (due.length < storesAtOnce || after === null) break
  }
  signal.throwIfAborted()
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} stores got no ${job.name}`)
}

/** The whole is found before it is cut: a page alone may look worth reading by store, which reads whole tables. */
async function pageAfter(system: SystemContext, every: Every, after: string | null): Promise<Due[]> {
  const { rows } = await sql<Due>`
    with found as materialized (${every.stores(system)})
    select distinct * from found where ${after}::uuid is null or store_id > ${after}::uuid
    order by store_id fetch first ${sql.lit(storesAtOnce)} rows with ties`.execute(system.root)
  return rows
}

/** None where there is nothing to do after all. Throws where the payload is not the job's. */
function envelopeOf(system: SystemContext, job: Job, every: Every, row: Due): Envelope[] {
  const payload = every.payload ? every.payload(row as never, system.now()) : {}
  if (payload === null) return []
  job.handle.payload.parse(payload) // here, where it is one store's fault
  return [{ storeId: row.store_id, userId: null, requestId: system.requestId, payload }]
}
