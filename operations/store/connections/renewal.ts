/** Credentials that run out: renewed by one process at a time, however many hold the connection. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isInstant } from '#runtime/database/sql'
import { pause } from '#runtime/pause'
import { Unavailable } from '#runtime/ports/errors'
import { newId } from '#runtime/values/ids'

interface Kept {
  port: string
  connectedAt: Date
  open(sealed: string): unknown
  seal(credentials: unknown): string
}

/** Longer than a provider may take to answer. */
const turnMs = 30_000
const waitsMs = 100
const turnsAtMost = 200

/**
 * Gives what is kept to `change` and keeps what it answers; whoever comes meanwhile waits for it. A process that dies in
 * its turn loses it after half a minute. Throws `Unavailable` where the connection is another by now.
 */
export async function renewCredentials(
  ctx: Context,
  { port, connectedAt, open, seal }: Kept,
  change: (kept: unknown) => Promise<unknown>,
): Promise<unknown> {
  const turn = newId(ctx.clock.ms())
  const ours = () =>
    ctx.db.updateTable('connections').where('port', '=', port).where(isInstant('connected_at', connectedAt))
  for (let tries = 0; tries < turnsAtMost; tries += 1) {
    const now = ctx.now()
    const renewal = JSON.stringify({
      renewal: { turn, until: new Date(now.getTime() + turnMs).toISOString() },
    })
    const taken = await ours()
      .set({ settings: sql<string>`coalesce(settings, '{}'::jsonb) || ${renewal}::jsonb` })
      .where(sql<boolean>`coalesce(settings->'renewal'->>'until', '') collate "C" <= ${now.toISOString()}`)
      .returning('credentials')
      .executeTakeFirst()
    if (!taken) {
      const there = await ctx.db
        .selectFrom('connections')
        .select('port')
        .where('port', '=', port)
        .where(isInstant('connected_at', connectedAt))
        .executeTakeFirst()
      if (!there) break
      if (!(await pause(waitsMs, ctx.services.ending))) break
      continue
    }
    const isOurs = sql<boolean>`settings->'renewal'->>'turn' = ${turn}`
    const done = sql<string>`settings - 'renewal'`
    try {
      const kept = taken.credentials === null ? null : open(taken.credentials)
      const renewed = await change(kept)
      if (renewed !== kept) {
        await ours()
          .set({ settings: done, credentials: seal(renewed) })
          .where(isOurs)
          .execute()
      }
      return renewed
    } finally {
      await ours().set({ settings: done }).where(isOurs).execute()
    }
  }
  throw new Unavailable('no', 'The access to the platform is being renewed: try again')
}
