/** The load: autocannon over connections that stay open, each sending its next request when it has its answer. */
import autocannon from 'autocannon'
import type { Fixture } from './fixture.ts'
import { type OperationName, operations } from './operations.ts'

export interface Load {
  requests: number
  seconds: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

/** Throws when an answer has another status than the operation's, or a connection failed. */
export async function sendLoad(
  url: string,
  name: OperationName,
  fixture: Fixture,
  connections: number,
  seconds: number,
): Promise<Load> {
  const { method, paths, body, status } = operations[name]
  const headers = {
    authorization: `Bearer ${fixture.shops[name].key}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const requests: autocannon.Request[] = paths(fixture).map((path) => ({
    method,
    path,
    headers,
    ...(body ? { setupRequest: (request: autocannon.Request) => ({ ...request, body: body() }) } : {}),
  }))
  const times = new Latencies()
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(
      { url, connections, duration: seconds, requests, sampleInt: 50 },
      (error, done) => (error ? reject(error) : resolve(done)),
    )
    running.on('response', (_client, _status, _bytes, milliseconds) => times.add(milliseconds))
  })
  const unexpected = Object.entries(result.statusCodeStats ?? {}).filter(([code]) => Number(code) !== status)
  if (unexpected.length > 0 || result.errors > 0 || times.count === 0) {
    const told = unexpected.map(([code, { count }]) => `${count} times ${code}`)
    throw new Error(
      `${name} at ${url}: ${[...told, `${result.errors} failed connections`].join(', ')} instead of ${status}`,
    )
  }
  return {
    requests: times.count,
    seconds: result.duration,
    requestsPerSecond: times.count / result.duration,
    p50Ms: times.percentile(0.5),
    p99Ms: times.percentile(0.99),
  }
}

/** Counts in steps of 2 %: autocannon's own histogram knows whole milliseconds only. */
class Latencies {
  readonly #counts = new Uint32Array(1024)
  count = 0

  add(milliseconds: number): void {
    const step = Math.round(Math.log(Math.max(milliseconds, 0.001) / 0.001) / Math.log(1.02))
    this.#counts[Math.min(step, this.#counts.length - 1)]! += 1
    this.count += 1
  }

  percentile(part: number): number {
    let left = this.count * part
    for (const [step, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return 0.001 * 1.02 ** step
    }
    return Number.NaN
  }
}
