/** What the Fastify peer guards its routes with, over the same PostgreSQL as all: limits, repeated writes, ETags. */
import { hash } from 'node:crypto'
import postgres from 'postgres'
import type { Clients } from './clients.ts'

/** Made with the fixture; the counters as cheap as the gateway's own. */
export const peersTables = [
  'create unlogged table bench_limits (key text primary key, started_at timestamptz not null, used int not null)',
  `create table bench_idempotency (store_id uuid, key text, hash text not null, status int, body text,
    created_at timestamptz not null default now(), primary key (store_id, key))`,
]

const countText = `
  insert into bench_limits as c values ($1, now(), 1)
  on conflict (key) do update set
    used = case when c.started_at <= now() - $2::float8 * interval '1 ms' then 1 else c.used + 1 end,
    started_at = case when c.started_at <= now() - $2::float8 * interval '1 ms' then now() else c.started_at end
  returning used, $2::float8 - extract(epoch from now() - started_at) * 1000 as ttl`

type Counted = (error: Error | null, count?: { current: number; ttl: number }) => void

/** A store of `@fastify/rate-limit` that instances share: one statement a request. */
export const limitsIn = (clients: Clients) =>
  class {
    incr(key: string, counted: Counted, timeWindow: number): void {
      clients.query<{ used: number; ttl: number }>(countText, [key, timeWindow], true).then(
        ([row]) => counted(null, { current: row!.used, ttl: row!.ttl }),
        (error) => counted(error as Error),
      )
    }
    child() {
      return this
    }
  }

export interface Kept {
  status: number
  body: string
}

export type Statements = (text: string, values: unknown[]) => Promise<Record<string, unknown>[]>

/** Transactions, on connections of their own. */
export function openTransactions(url: string) {
  const sql = postgres(url, { max: 10, onnotice: () => {} })
  const within = <T>(work: (run: Statements) => Promise<T>): Promise<T> =>
    sql.begin((tx) =>
      work((text, values) => tx.unsafe(text, values as never[], { prepare: true })),
    ) as Promise<T>
  return {
    within,
    /** Once for each key of a store: the claim, the work and its answer in one transaction. Null: another request's key. */
    once: (storeId: string, key: string, body: string, run: (tx: Statements) => Promise<Kept>) =>
      within(async (tx): Promise<Kept | null> => {
        const requestHash = hash('sha256', body, 'base64url')
        const claimed = await tx(
          `insert into bench_idempotency (store_id, key, hash) values ($1, $2, $3)
           on conflict do nothing returning key`,
          [storeId, key, requestHash],
        )
        if (claimed.length === 0) {
          const [row] = await tx(
            'select hash, status, body from bench_idempotency where store_id = $1 and key = $2',
            [storeId, key],
          )
          return row?.hash === requestHash ? (row as unknown as Kept) : null
        }
        const answer = await run(tx)
        await tx('update bench_idempotency set status = $3, body = $4 where store_id = $1 and key = $2', [
          storeId,
          key,
          answer.status,
          answer.body,
        ])
        return answer
      }),
    close: () => sql.end({ timeout: 1 }),
  }
}

export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`
