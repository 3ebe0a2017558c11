/** Statements behind another client's table lock: requests that do not need the table are answered meanwhile. */
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { whenFileEnds } from '#test/support/closing'
import { call, prepareServer, start } from '#test/support/processes'
import { store } from '#test/support/store'

/** Shorter than the timeouts of a statement and of a request: what waits for one of them comes later than this. */
const lockMs = 10_000

type Asked = [key: string, method: string, path: string, body?: unknown, headers?: Record<string, string>]

describe.skipIf(!inject('postgresUrl'))('while another client holds a lock on a table', () => {
  let keys: string[]
  let url: string
  let locking: postgres.Sql
  let writes = 0

  beforeAll(async () => {
    const { env, filled } = await prepareServer(async (app) =>
      Promise.all(Array.from({ length: 6 }, async () => (await store(app)).key)),
    )
    keys = filled
    url = (await start('scripts/start.ts', { ...env, WORKER: 'off', LOG_LEVEL: 'silent' })).url
    locking = postgres(env.DATABASE_URL!, { max: 1, fetch_types: false })
    whenFileEnds(() => locking.end({ timeout: 1 }))
    await askAll(keys.flatMap(readsOf))
  })

  const askAll = (asked: readonly Asked[]): Promise<number[]> =>
    Promise.all(asked.map(async (each) => (await call(url, ...each)).status))
  const unrelated = ['/v1/store', '/v1/campaigns/lists', '/v1/campaigns/opt-outs']
  const readsOf = (key: string): Asked[] =>
    Array.from({ length: 12 }, (_none, n): Asked => [key, 'GET', unrelated[n % 3]!])
  const optOut = (key: string): Asked => {
    writes += 1
    return [key, 'POST', '/v1/campaigns/opt-outs', { phone: `+55119987${10_000 + writes}` }]
  }
  const listOf = (key: string): Asked => {
    writes += 1
    return [key, 'POST', '/v1/campaigns/lists', { name: `List ${writes}` }]
  }

  /** Asks for `blocked` behind the lock, then for `free` several times: these are answered while the lock is held. */
  async function lockAndAsk(lock: string, blocked: Asked[], free: () => Asked[], status: number) {
    const asked = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    let isHeld = true
    const held = locking.begin(async (tx) => {
      await tx.unsafe(`lock table ${lock} mode`)
      locked.resolve()
      await Promise.race([asked.promise, wait(lockMs)])
      isHeld = false
    })
    await locked.promise
    const waiting = askAll(blocked)
    for (let round = 0; round < 3; round += 1) {
      await wait(100)
      const answers = await askAll(free())
      expect.soft({ isHeld, statuses: [...new Set(answers)] }).toEqual({ isHeld: true, statuses: [status] })
    }
    asked.resolve()
    await held
    for (const each of await waiting) expect([200, 201, 503]).toContain(each)
  }

  const notifications = (key: string): Asked => [key, 'GET', '/v1/notifications']

  test('one blocked read delays no other read, of the same store or another', async () => {
    const [a, b] = keys as [string, string]
    await lockAndAsk(
      'notifications in access exclusive',
      [notifications(a)],
      () => [...readsOf(a), ...readsOf(b)],
      200,
    )
  })

  test('blocked reads of one store leave room for other stores', async () => {
    const [a, b, c] = keys as [string, string, string]
    const blocked = Array.from({ length: 30 }, () => notifications(a))
    await lockAndAsk('notifications in access exclusive', blocked, () => [...readsOf(b), ...readsOf(c)], 200)
  })

  test('blocked reads of many stores leave room for reads of other tables', async () => {
    const blocked = keys.flatMap((key) => Array.from({ length: 5 }, () => notifications(key)))
    await lockAndAsk('notifications in access exclusive', blocked, () => keys.flatMap(readsOf), 200)
  })

  test('blocked writes delay no read', async () => {
    const blocked = Array.from({ length: 30 }, (_none, n) => optOut(keys[n % keys.length]!))
    await lockAndAsk('opt_outs in exclusive', blocked, () => keys.flatMap(readsOf), 200)
  })

  test('blocked writes of one store leave room for writes of others', async () => {
    const [a, b] = keys as [string, string]
    const blocked = Array.from({ length: 30 }, () => optOut(a))
    await lockAndAsk('opt_outs in exclusive', blocked, () => [listOf(b), listOf(b)], 201)
  })

  test('blocked claims of Idempotency-Keys delay no read', async () => {
    const blocked = Array.from({ length: 30 }, (_none, n): Asked => {
      const [key, ...rest] = listOf(keys[n % keys.length]!)
      return [key, rest[0], rest[1], rest[2], { 'idempotency-key': `claim-${n}` }]
    })
    await lockAndAsk('idempotency_keys in exclusive', blocked, () => keys.flatMap(readsOf), 200)
  })
})
