/**
 * What a job has in its hands only while the job is its own. Taken away (its time is over, the worker ends, nothing was
 * heard of it for too long) another worker may have it already: whatever its handler does then, nothing comes of it.
 */
import type { Services } from '#runtime/context'

/** The services for one run of a job, until `taken`. `ending`: it is asked to end. */
export const whileHeld = (services: Services, ending: AbortSignal, taken: AbortSignal): Services => ({
  ...services,
  ending,
  database: services.database.patient.whileHeld(taken),
  queue: revocable(services.queue, taken),
  adapters: revocable(services.adapters, taken),
})

/** The same object, whose methods are refused from then on; what they promised is not waited for any longer. */
export function revocable<T extends object>(target: T, taken: AbortSignal): T {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === 'function') {
        return (...args: unknown[]): unknown => {
          taken.throwIfAborted()
          const answer: unknown = Reflect.apply(value, target, args)
          return answer instanceof Promise ? untilAborted(answer, taken) : answer
        }
      }
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? revocable(value, taken)
        : value
    },
  })
}

/** What the promise brings, or why the signal was aborted, whichever comes first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: either, resolve, reject } = Promise.withResolvers<T>()
  const refuse = (): void => {
    reject(signal.reason)
    // One of several that nobody came to wait for must not end the process.
    either.catch(() => undefined)
  }
  if (signal.aborted) refuse()
  else signal.addEventListener('abort', refuse, { once: true })
  promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', refuse))
  return either
}

interface Times {
  timeoutSeconds: number
  jobGraceMs: number
  abort: AbortController
  taken: AbortController
}

/** Asks a run to end when its time is over, and takes the job from it a little later. */
export async function inTime<T>(
  run: Promise<T>,
  { timeoutSeconds, jobGraceMs, abort, taken }: Times,
): Promise<T> {
  let timer = setTimeout(() => {
    const error = new Error(`took longer than ${timeoutSeconds} seconds`)
    abort.abort(error)
    timer = setTimeout(() => taken.abort(error), jobGraceMs)
  }, timeoutSeconds * 1000)
  try {
    return await untilAborted(run, taken.signal)
  } finally {
    clearTimeout(timer)
  }
}
