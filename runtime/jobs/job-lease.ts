/**
 * The job lease: the services that a run may use only while its worker has the job. After a timeout, a stop of the
 * worker or missing heartbeats, another worker may have the job: every later effect of the first run is refused.
 */
import type { Services } from '#runtime/context'

/** Returns services that work until `revoked` is aborted. `abortSignal`: tells the handler that it should stop. */
export const scopeServices = (
  services: Services,
  abortSignal: AbortSignal,
  revoked: AbortSignal,
): Services => ({
  ...services,
  abortSignal,
  database: services.database.longRunning.cancellable(revoked),
  queue: makeRevocable(services.queue, revoked),
  adapters: makeRevocable(services.adapters, revoked),
})

/** Wraps an object: once `revoked` is aborted its methods throw, and pending calls reject. */
export function makeRevocable<T extends object>(target: T, revoked: AbortSignal): T {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === 'function') {
        return (...args: unknown[]): unknown => {
          revoked.throwIfAborted()
          const answer: unknown = Reflect.apply(value, target, args)
          return answer instanceof Promise ? untilAborted(answer, revoked) : answer
        }
      }
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? makeRevocable(value, revoked)
        : value
    },
  })
}

/** Settles like the promise, or rejects when the signal is aborted, whichever comes first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: either, resolve, reject } = Promise.withResolvers<T>()
  const refuse = (): void => {
    reject(signal.reason)
    // Handled here: a rejection that nobody awaits would end the process.
    either.catch(() => undefined)
  }
  if (signal.aborted) refuse()
  else signal.addEventListener('abort', refuse, { once: true })
  promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', refuse))
  return either
}

interface LeaseTimes {
  timeoutSeconds: number
  jobGraceMs: number
  abort: AbortController
  leaseLost: AbortController
}

/** Aborts a run after its timeout, and revokes its lease `jobGraceMs` later. */
export async function runWithTimeout<T>(
  run: Promise<T>,
  { timeoutSeconds, jobGraceMs, abort, leaseLost }: LeaseTimes,
): Promise<T> {
  let timer = setTimeout(() => {
    const error = new Error(`took longer than ${timeoutSeconds} seconds`)
    abort.abort(error)
    timer = setTimeout(() => leaseLost.abort(error), jobGraceMs)
  }, timeoutSeconds * 1000)
  try {
    return await untilAborted(run, leaseLost.signal)
  } finally {
    clearTimeout(timer)
  }
}
