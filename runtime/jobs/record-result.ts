/** Records the outcome of a job's run in the queue, and retries the recording until it succeeds. */
import type { Logger } from 'pino'
import { sqlState } from '#runtime/errors'
import { pause } from '#runtime/pause'
import { findConnectionFailure } from '#runtime/ports/instrumentation'
import { logWorkState } from '#runtime/server/log'
import type { Queue } from './queue.ts'
import type { Data, FetchedJob } from './rows.ts'

export type Outcome =
  | { kind: 'completed' }
  | { kind: 'failed'; reason: string }
  /** The job waits until its provider works again. */
  | { kind: 'waiting'; ms: number; error: unknown }
  /** The job did not start, or was asked to stop: the attempt does not count. */
  | { kind: 'requeued'; ms: number }
  /** Another worker has the job: nothing is recorded. */
  | { kind: 'lost' }

/** Whether an error of the job's data or of our code would occur again: such an attempt counts. */
export const isPermanent = (error: unknown): boolean =>
  /^(22|23|42)/.test(sqlState(error) ?? '') ||
  [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind)

/** Resolves once the result is recorded, the job belongs to another worker, or `over` is aborted. */
export async function recordResult(
  { queue, log, over, againMs }: { queue: Queue; log: Logger; over: AbortSignal; againMs: number },
  job: FetchedJob,
  outcome: Outcome,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await recordOnce(queue, job, outcome)
      return logChange(log, job, outcome)
    } catch (error) {
      const what = { err: error, outcome: outcome.kind }
      if (tries === 1) log.error(what, 'recording job result failed, retrying')
      if (await pause(againMs, over)) continue
      log.error(what, 'recording job result failed')
      return
    }
  }
}

/** Logs that a job begins to wait for its provider, or has run after it waited; not each attempt meanwhile. */
function logChange(log: Logger, { data }: FetchedJob, outcome: Outcome): void {
  const { waits } = data as Data
  if (outcome.kind === 'completed' && waits) logWorkState(log, 'resumed', waits, {})
  if (outcome.kind !== 'waiting' || waits) return
  const { port, provider, code } = findConnectionFailure(outcome.error) ?? {}
  logWorkState(log, 'waiting', code ?? 'provider', { port, provider, waitMs: outcome.ms, err: outcome.error })
}

/** Records nothing for a job that belongs to another worker. */
async function recordOnce(queue: Queue, job: FetchedJob, outcome: Outcome): Promise<void> {
  switch (outcome.kind) {
    case 'completed':
      return queue.complete(job)
    case 'failed':
      return queue.fail(job, outcome.reason)
    case 'waiting':
      return queue.requeue(job, outcome.ms / 1000, 'provider')
    case 'requeued':
      return queue.requeue(job, outcome.ms / 1000)
    case 'lost':
      return undefined
  }
}
