/** Reads the health of those connections of a store, and of those providers of the server, that have ever failed. */
import type { Context } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'
import { toHealth } from './health-rows.ts'
import type { ConnectedPort } from './kinds.ts'
import type { ConnectionHealth } from './state-machine.ts'

export interface HealthEntry extends ConnectionHealth {
  port: PortName
  part: string
  provider: string
}

/** Reads all health entries. Skips the health of connections that have been replaced. */
export async function readHealth(ctx: Context): Promise<HealthEntry[]> {
  const own = await ctx.db
    .selectFrom('connection_health')
    .selectAll()
    .orderBy('port')
    .orderBy('part')
    .execute()
  const servers = await ctx.system.selectFrom('provider_health').selectAll().orderBy('port').execute()
  const known: HealthEntry[] = servers.map((row) => ({
    ...toHealth(row),
    ...{ port: row.port as PortName, part: '', provider: row.provider },
  }))
  for (const row of own) {
    const port = row.port as ConnectedPort
    const current = await ctx.extensions.connectionKinds[port]?.connectedAt(ctx, row.part)
    if (current === undefined || current?.getTime() !== row.connected_at?.getTime()) continue
    known.push({ ...toHealth(row), port, part: row.part, provider: row.provider })
  }
  return known
}

/** Time allowed after a probe is due until its outcome is recorded. */
const afterProbeMs = 5_000

/**
 * If access to the mail provider is lost: when to try sending again, shortly after its next probe. Null if mail can be
 * sent.
 */
export async function mailBlockedUntil(ctx: Context): Promise<Date | null> {
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
