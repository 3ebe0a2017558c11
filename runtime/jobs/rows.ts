/** The data of a job in pg-boss's rows, and as a worker reads it. */
import type { JobWithMetadata } from 'pg-boss'
import type { Trace } from '#runtime/trace'
import { sha256 } from '#runtime/values/ids'
import { failedQueue, type QueueName } from './boss.ts'

export interface Envelope<Payload = unknown> {
  storeId: string | null
  userId: string | null
  requestId: string
  payload: Payload
  /** The trace of the request that caused it. */
  trace?: Trace
}

/** The data column of a row. */
export interface Data extends Envelope {
  /** The name of its job. */
  job: string
  /** The original id of a requeued job. */
  jobId?: string
  /** Requeued until its provider answers. */
  waits?: 'provider'
  /** Why a requeued dead letter failed. */
  reason?: string
}

/** One attempt. */
export interface FetchedJob {
  queue: QueueName
  /** The id of its row, a new one after each requeue. */
  id: string
  /** The id under which it was queued. */
  jobId: string
  /** The name of its job. */
  name: string
  data: Envelope
  retryCount: number
  retryLimit: number
  /** The key of a one-at-a-time job. */
  key: string | null
  /** Why it failed, for a dead letter. */
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

/** An index of pg-boss accepts no key of more than 2,704 bytes: a long one is hashed. */
export const toSingletonKey = (name: string, { storeId }: Envelope, key: string): string =>
  `${name}:${storeId ?? ''}:${key.length > 500 ? sha256(key) : key}`

/** Why a job failed: its last error, or pg-boss's message about a dead worker. */
function parseReason(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: string; value?: { message?: string } }
  return message ?? value?.message ?? 'unknown'
}
