/** What became of a run is one thing, that the queue has it recorded another: the second is tried until it is so. */
import type { Logger } from 'pino'
import { sqlState } from '#runtime/errors'
import { pause } from '#runtime/pause'
import type { Queue } from './queue.ts'
import type { FetchedJob } from './rows.ts'

export type Outcome =
  | { is: 'completed' }
  | { is: 'failed'; reason: string }
  /** For a provider. */
  | { is: 'waiting'; ms: number }
  /** It did not begin, or was asked to end: its tries stay uncounted. */
  | { is: 'putBack'; ms: number }
  /** Another worker has it. */
  | { is: 'lost' }

/** A fault of the job's data or of our code, which is there the next time too: that counts as a try. */
export const isLasting = (error: unknown): boolean =>
  /^(22|23|42)/.test(sqlState(error) ?? '') ||
  [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind)

/** Ends once it is recorded, or the job turned out to be another's, or nobody waits for it any longer (`over`). */
export async function settle(
  { queue, log, over, againMs }: { queue: Queue; log: Logger; over: AbortSignal; againMs: number },
  job: FetchedJob,
  outcome: Outcome,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await record(queue, job, outcome)
    } catch (error) {
      const what = { err: error, outcome: outcome.is }
      if (tries === 1) log.error(what, 'what became of a job could not be recorded: it is tried again')
      if (await pause(againMs, over)) continue
      log.error(what, 'what became of a job could not be recorded')
      return
    }
  }
}

/** Of what is another's by now, nothing. */
async function record(queue: Queue, job: FetchedJob, outcome: Outcome): Promise<void> {
  switch (outcome.is) {
    case 'completed':
      return queue.complete(job)
    case 'failed':
      return queue.fail(job, outcome.reason)
    case 'waiting':
      return queue.putBack(job, outcome.ms / 1000, 'provider')
    case 'putBack':
      return queue.putBack(job, outcome.ms / 1000)
    case 'lost':
      return undefined
  }
}
