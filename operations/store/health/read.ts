/** How the connections of a store stand, and the server's own, as far as something was ever wrong with them. */
import type { Context } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'
import type { ConnectedPort } from './kinds.ts'
import type { Standing } from './machine.ts'
import { standingOf } from './rows.ts'

export interface KnownStanding extends Standing {
  port: PortName
  part: string
  provider: string
}

/** Those of connections before are left out. */
export async function readStandings(ctx: Context): Promise<KnownStanding[]> {
  const own = await ctx.db
    .selectFrom('connection_health')
    .selectAll()
    .orderBy('port')
    .orderBy('part')
    .execute()
  const servers = await ctx.system.selectFrom('provider_health').selectAll().orderBy('port').execute()
  const known: KnownStanding[] = servers.map((row) => ({
    ...standingOf(row),
    ...{ port: row.port as PortName, part: '', provider: row.provider },
  }))
  for (const row of own) {
    const port = row.port as ConnectedPort
    const current = await ctx.wired.connectionKinds[port]?.current(ctx, row.part)
    if (current === undefined || current?.getTime() !== row.connected_at?.getTime()) continue
    known.push({ ...standingOf(row), port, part: row.part, provider: row.provider })
  }
  return known
}

/** A little after the probe: its answer is written down by then. */
const afterProbeMs = 5_000

/**
 * Until when nothing is to be sent by mail, as our access to who sends it is gone: soon after it is asked again. Null:
 * it takes our mail, for all that is known.
 */
export async function mailWaits(ctx: Context): Promise<Date | null> {
  const row = await ctx.system
    .selectFrom('provider_health')
    .select('next_probe_at')
    .where('port', '=', 'mail')
    .where('provider', '=', ctx.settings.mailUrl.split(':')[0]!)
    .where('state', '=', 'lost')
    .executeTakeFirst()
  if (!row) return null
  const atOnce = ctx.clock.ms() + 60_000
  const probe = row.next_probe_at ? row.next_probe_at.getTime() + afterProbeMs : atOnce
  return new Date(Math.max(probe, ctx.clock.ms() + afterProbeMs))
}
