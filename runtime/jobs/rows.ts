/** What a row of pg-boss has of a job, and what a worker reads of it. */
import type { JobWithMetadata } from 'pg-boss'
import type { Trace } from '#runtime/trace'
import { sha256 } from '#runtime/values/ids'
import { failedQueue, type QueueName } from './boss.ts'

export interface Envelope<Payload = unknown> {
  storeId: string | null
  userId: string | null
  requestId: string
  payload: Payload
  /** Of the request that it comes from. */
  trace?: Trace
}

/** What a row of the queue has. */
export interface Data extends Envelope {
  /** Its job. */
  job: string
  /** Of a job that was put back: as it was queued first. */
  jobId?: string
  /** It was put back until its provider answers. */
  waits?: 'provider'
  /** Of a job that was given up and put back: why. */
  reason?: string
}

/** One attempt. */
export interface FetchedJob {
  queue: QueueName
  /** Of its row: another each time it is put back. */
  id: string
  /** As it was queued. */
  jobId: string
  /** Of its job. */
  name: string
  data: Envelope
  retryCount: number
  retryLimit: number
  /** Of a job that runs one at a time. */
  key: string | null
  /** Why it was given up; of what lies in `failedQueue`. */
  reason: string | null
}

export function fetchedJob(queue: QueueName, job: JobWithMetadata<Data>): FetchedJob {
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
    reason: isGivenUp ? (data.reason ?? reasonOf(sourceOutput)) : null,
  }
}

/** An index of pg-boss takes no key of more than 2,704 bytes: of a long one, its hash. */
export const keyOf = (name: string, { storeId }: Envelope, key: string): string =>
  `${name}:${storeId ?? ''}:${key.length > 500 ? sha256(key) : key}`

/** Why a job was given up: what it threw last, or what pg-boss says of one whose worker is gone. */
function reasonOf(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: string; value?: { message?: string } }
  return message ?? value?.message ?? 'unknown'
}
