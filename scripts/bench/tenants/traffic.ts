/** Stores that are used: each sends now and then, within the default limits, whatever the others do. */
import { setTimeout as wait } from 'node:timers/promises'
import { unusedPhone } from '../phones.ts'
import type { ActiveStore } from './fill.ts'

export interface Traffic {
  requests: number
  /** Answers that are neither 2xx nor 429. */
  failed: number
  refused: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
}

interface Sent {
  method: 'GET' | 'POST'
  path: string
  body?: object
}

/** Of a hundred requests. */
const kinds: readonly (readonly [number, (store: ActiveStore) => Sent])[] = [
  [40, ({ listId }) => ({ method: 'GET', path: `/v1/campaigns/lists/${listId}` })],
  [30, ({ listId }) => ({ method: 'GET', path: `/v1/campaigns/lists/${listId}/contacts?limit=20` })],
  [8, ({ listId }) => ({ method: 'GET', path: `/v1/campaigns/lists/${listId}/contacts?search=Contact%201` })],
  [20, () => ({ method: 'POST', path: '/v1/campaigns/opt-outs', body: { phone: unusedPhone() } })],
  // A job that somebody waits for.
  [2, () => ({ method: 'GET', path: '/v1/campaigns/opt-outs/export' })],
]

/** `rate`: requests of a store in a minute. Stores have an address each. */
export async function sendTraffic(
  url: string,
  stores: readonly ActiveStore[],
  rate: number,
  milliseconds: number,
): Promise<Traffic> {
  const times: number[] = []
  let failed = 0
  let refused = 0
  const until = performance.now() + milliseconds
  const send = async (store: ActiveStore, at: number): Promise<void> => {
    const { method, path, body } = drawn(store)
    const startedAt = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${store.key}`,
        'x-forwarded-for': `10.2.${at >> 8}.${at & 255}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    await response.arrayBuffer()
    times.push(performance.now() - startedAt)
    if (response.status === 429) refused += 1
    else if (!response.ok) failed += 1
  }
  await Promise.all(
    stores.map(async (store, at) => {
      for (;;) {
        // As independent senders come: exponential pauses.
        const pause = (-Math.log(1 - Math.random()) * 60_000) / rate
        if (performance.now() + pause >= until) return
        await wait(pause)
        await send(store, at)
      }
    }),
  )
  times.sort((a, b) => a - b)
  const percentile = (part: number): number => times[Math.ceil(times.length * part) - 1] ?? Number.NaN
  return {
    requests: times.length,
    failed,
    refused,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    p999Ms: percentile(0.999),
  }
}

function drawn(store: ActiveStore): Sent {
  let left = Math.random() * 100
  for (const [share, make] of kinds) {
    left -= share
    if (left < 0) return make(store)
  }
  return kinds[0]![1](store)
}
