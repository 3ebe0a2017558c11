/** Calls of the platform that a write waits for. */
import { Unavailable } from '#runtime/ports/errors'

const answerWithinMs = 10_000

/** What the platform answers; after ten seconds nobody knows whether it took the call. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Unavailable('unknown', 'The platform did not answer in time')),
      answerWithinMs,
    )
  })
  // An answer that comes later still is nobody's; its failure must not end the process.
  call.catch(() => undefined)
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}
