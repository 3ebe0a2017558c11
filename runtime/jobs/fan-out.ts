/**
 * Builds, for a store job with a schedule (`every`), the server job that queues it for each store with something to do.
 * The server job's name is the job's name followed by `-all`.
 */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { type Job, type Schedule, serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import { handle } from './handle.ts'
import type { Envelope } from './rows.ts'

/** Stores per page; all rows of a store are on one page. */
const storesAtOnce = 500
const mostSeconds = 300
/** With a shorter interval than this, a failed run is not retried: the next one comes soon. */
const retriedFromSeconds = 300

export const fanOutName = (job: Job): string => `${job.name}-all`

/** Returns the server job as a list; empty for a job without `every`. */
export function fanOut(job: Job): Job[] {
  const { every } = job.spec
  if (!every) return []
  const { seconds } = every
  return [
    serverJob(handle(fanOutName(job), object({})), {
      description: `Queues ${job.name} for every store that has something to do`,
      retry: { limit: seconds < retriedFromSeconds ? 0 : 2, backoffSeconds: 30 },
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

/**
 * Queues the job for all stores. A store whose job cannot be queued does not stop the others; at the end this function
 * throws, and the retry covers all stores.
 */
async function queueAll(
  system: SystemContext,
  job: Job,
  every: Schedule,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted()
    const due: Due[] = await readPage(system, every, after)
    const envelopes: Envelope[] = []
    for (const row of due) {
      try {
        envelopes.push(...buildEnvelopes(system, job, every, row))
      } catch (error) {
        failures.push(error)
        system.log.error({ err: error, storeId: row.store_id }, `queueing ${job.name} for a store failed`)
      }
    }
    await system.services.queue.sendScheduled(job.handle, envelopes)
    after = due.at(-1)?.store_id ?? null
    if (due.length < storesAtOnce || after === null) break
  }
  signal.throwIfAborted()
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} stores got no ${job.name}`)
}

/**
 * Reads the due rows of the next stores. `materialized` keeps the planner from optimizing for the limit: it might scan
 * whole tables in the order of their stores.
 */
async function readPage(system: SystemContext, every: Schedule, after: string | null): Promise<Due[]> {
  const { rows } = await sql<Due>`
    with found as materialized (${every.stores(system)})
    select distinct * from found where ${after}::uuid is null or store_id > ${after}::uuid
    order by store_id fetch first ${sql.lit(storesAtOnce)} rows with ties`.execute(system.root)
  return rows
}

/**
 * Returns the job's envelope; empty if there is nothing to do after all. Throws if the payload does not fit the job.
 */
function buildEnvelopes(system: SystemContext, job: Job, every: Schedule, row: Due): Envelope[] {
  const payload = every.payload ? every.payload(row as never, system.now()) : {}
  if (payload === null) return []
  job.handle.payload.parse(payload) // checked per store: an invalid payload must not fail the whole batch
  return [{ storeId: row.store_id, userId: null, requestId: system.requestId, payload }]
}
