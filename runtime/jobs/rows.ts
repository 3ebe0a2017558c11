/** The data of a job as pg-boss's rows store it, and the job as a worker reads it. */
import type { JobWithMetadata } from 'pg-boss'
import type { Trace } from '#runtime/trace'
import { sha256 } from '#runtime/values/ids'
import { failedQueue, type QueueName } from './boss.ts'

export interface Envelope<Payload = unknown> {
  storeId: string | null
  userId: string | null
  requestId: string
  payload: Payload
  /** The trace of the request that queued the job. */
  trace?: Trace
}

/** The data column of a row. */
export interface Data extends Envelope {
  /** The name of its job. */
  job: string
  /** The original id of a requeued job, whose row is a new one. */
  jobId?: string
  /** Set if the job was requeued until its provider works again. */
  waits?: 'provider'
  /** Why the job of a requeued dead letter failed. */
  reason?: string
}

/** A claimed job: one attempt to run it. */
export interface FetchedJob {
  queue: QueueName
  /** The id of the job's row; each requeue creates a new row. */
  id: string
  /** The id under which it was queued. */
  jobId: string
  /** The name of its job. */
  name: string
  data: Envelope
  retryCount: number
  retryLimit: number
  /** The key by which at most one job runs (`oneAtATimePer`), or null. */
  key: string | null
  /** For a dead letter: why the job failed. */
  reason: string | null
}

export function toFetchedJob(queue: QueueName, job: JobWithMetadata<Data>): FetchedJob {
  const { id, data, retryCount, retryLimit, singletonKey, sourceId, sourceName, sourceOutput } = job
  const isGivenUp = queue === failedQueue
  return {
    queue,
    id,
    jobId: data.jobId ?? sourceId ?? id,
    name: data.job ?? sourceName,
    data,
    retryCount,
    retryLimit,
    key: isGivenUp || singletonKey === id ? null : singletonKey,
    reason: isGivenUp ? (data.reason ?? parseReason(sourceOutput)) : null,
  }
}

/** Hashes a long key, since an index of pg-boss accepts at most 2,704 bytes. */
export const toSingletonKey = (name: string, { storeId }: Envelope, key: string): string =>
  `${name}:${storeId ?? ''}:${key.length > 500 ? sha256(key) : key}`

/** Returns why a job failed: the message of its last error, or pg-boss's message about a dead worker. */
function parseReason(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: string; value?: { message?: string } }
  return message ?? value?.message ?? 'unknown'
}
