/** Renews expiring credentials. A lease lets only one process renew at a time. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isSameInstant } from '#runtime/database/sql'
import { pause } from '#runtime/pause'
import { Unavailable } from '#runtime/ports/errors'
import { newId } from '#runtime/values/ids'

interface SealedConnection {
  port: string
  connectedAt: Date
  open(sealed: string): unknown
  seal(credentials: unknown): string
}

/** Longer than the timeout of a provider call. */
const leaseMs = 30_000
const retryDelayMs = 100
const maxAttempts = 200

/**
 * Passes the stored credentials to `change` and stores the credentials it returns. Concurrent callers wait. The lease of a
 * process that crashed expires after 30 seconds. Throws `Unavailable` if the store has been reconnected, and after waiting
 * for 20 seconds.
 */
export async function renewCredentials(
  ctx: Context,
  { port, connectedAt, open, seal }: SealedConnection,
  change: (current: unknown) => Promise<unknown>,
): Promise<unknown> {
  const leaseId = newId(ctx.clock.ms())
  const updateOwn = () =>
    ctx.db
      .updateTable('connections')
      .where('port', '=', port)
      .where(isSameInstant('connected_at', connectedAt))
  for (let tries = 0; tries < maxAttempts; tries += 1) {
    const now = ctx.now()
    const renewal = JSON.stringify({
      renewal: { turn: leaseId, until: new Date(now.getTime() + leaseMs).toISOString() },
    })
    const leased = await updateOwn()
      .set({ settings: sql<string>`coalesce(settings, '{}'::jsonb) || ${renewal}::jsonb` })
      .where(sql<boolean>`coalesce(settings->'renewal'->>'until', '') collate "C" <= ${now.toISOString()}`)
      .returning('credentials')
      .executeTakeFirst()
    if (!leased) {
      const existing = await ctx.db
        .selectFrom('connections')
        .select('port')
        .where('port', '=', port)
        .where(isSameInstant('connected_at', connectedAt))
        .executeTakeFirst()
      if (!existing) break
      if (!(await pause(retryDelayMs, ctx.services.abortSignal))) break
      continue
    }
    const isOurs = sql<boolean>`settings->'renewal'->>'turn' = ${leaseId}`
    const done = sql<string>`settings - 'renewal'`
    try {
      const current = leased.credentials === null ? null : open(leased.credentials)
      const renewed = await change(current)
      if (renewed !== current) {
        await updateOwn()
          .set({ settings: done, credentials: seal(renewed) })
          .where(isOurs)
          .execute()
      }
      return renewed
    } finally {
      await updateOwn().set({ settings: done }).where(isOurs).execute()
    }
  }
  throw new Unavailable('no', 'The access to the platform is being renewed: try again')
}
