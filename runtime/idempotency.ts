/** `Idempotency-Key`: one effect and one answer for a write, however often it is sent within 24 hours. */
import { sql } from 'kysely'
import type { Context } from './context.ts'
import { refuse } from './errors.ts'
import { sha256 } from './ids.ts'

const keptMs = 24 * 3_600_000
/** A claim without an answer after this long belongs to a process that died: its transaction never held. */
const claimLastsMs = 60_000
const visible = /^[\x21-\x7e]{1,255}$/

export interface StoredAnswer {
  status: number
  body: string
  headers: Record<string, string>
}

/** The key of a request, or null. Refuses one of the wrong form. */
export function idempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (!visible.test(header)) {
    throw refuse('bad_request', 'Idempotency-Key: must have 1 to 255 visible characters')
  }
  return header
}

export const requestHash = (method: string, address: string, body: string): string =>
  sha256(`${method}\n${address}\n${body}`)

/** Claims the key for this request: null when it is ours to run, the stored answer when it ran before. */
export async function claim(ctx: Context, key: string, hash: string): Promise<StoredAnswer | null> {
  const now = ctx.now()
  const expired = new Date(now.getTime() - keptMs)
  const dead = new Date(now.getTime() - claimLastsMs)
  const claimed = await ctx.db
    .insertInto('idempotency_keys')
    .values({ key, request_hash: hash, claimed_at: now, created_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'key'])
        .doUpdateSet({ request_hash: hash, status: null, body: null, claimed_at: now, created_at: now })
        .where((eb) =>
          eb.or([
            eb('idempotency_keys.created_at', '<=', expired),
            eb.and([
              eb('idempotency_keys.status', 'is', null),
              eb('idempotency_keys.claimed_at', '<', dead),
              eb('idempotency_keys.request_hash', '=', hash),
            ]),
          ]),
        ),
    )
    .returning('key')
    .execute()
  if (claimed.length > 0) return null

  const row = await ctx.db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'body', 'headers'])
    .where('key', '=', key)
    .executeTakeFirst()
  if (!row)
    throw refuse('conflict', 'The first request with this Idempotency-Key failed just now: send it again')
  if (row.request_hash !== hash) {
    throw refuse('conflict', 'This Idempotency-Key was used for another request: use a new one')
  }
  if (row.status === null)
    throw refuse('conflict', 'The first request with this Idempotency-Key is still running')
  return { status: row.status, body: row.body ?? '', headers: (row.headers ?? {}) as Record<string, string> }
}

/** Keeps the answer; inside the operation's transaction where it has one. */
export async function keep(ctx: Context, key: string, answer: StoredAnswer): Promise<void> {
  await ctx.db
    .updateTable('idempotency_keys')
    .set({ status: answer.status, body: answer.body, headers: JSON.stringify(answer.headers) })
    .where('key', '=', key)
    .execute()
}

/** Gives the key back: what failed on our side may be sent again. */
export async function forget(ctx: Context, key: string): Promise<void> {
  await ctx.db.deleteFrom('idempotency_keys').where('key', '=', key).where('status', 'is', null).execute()
}

/** Deletes what is older than 24 hours, of all stores. */
export async function sweepIdempotencyKeys(system: Context['system'], now: Date): Promise<void> {
  await sql`delete from idempotency_keys where created_at < ${new Date(now.getTime() - keptMs)}`.execute(
    system,
  )
}
