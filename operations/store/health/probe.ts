/** Asking again after a failure, until there is an answer (rule 19). */
import type { Context, SystemContext } from '#runtime/context'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { connectionProbe, providerProbe } from '../handles.ts'
import { moveConnection, probedServers } from './hear.ts'
import type { ConnectedPort, ServerPort } from './kinds.ts'
import { isTroubled } from './machine.ts'
import { standingOf } from './rows.ts'

/** What a probe comes to is heard like any other call: here it is only asked, and planned anew. */
export async function probeConnection(ctx: Context, port: ConnectedPort, part: string): Promise<void> {
  const row = await troubled(ctx, port, part)
  if (!row) return
  if (row.next_probe_at && row.next_probe_at > ctx.now()) {
    await ctx.queue(connectionProbe, { port, part }, { at: row.next_probe_at })
    return
  }
  await asked(() => ctx.wired.connectionKinds[port]!.probe(ctx, part), ctx)
  const still = await troubled(ctx, port, part)
  if (!still) return
  const { provider, connected_at: connectedAt } = still
  await ctx.transaction((tx) => moveConnection(tx, { port, part, provider, connectedAt }, { is: 'probed' }))
}

/** Null: it is well, or another is connected by now. */
async function troubled(ctx: Context, port: ConnectedPort, part: string) {
  const row = await ctx.db
    .selectFrom('connection_health')
    .selectAll()
    .where('port', '=', port)
    .where('part', '=', part)
    .executeTakeFirst()
  if (!row || !isTroubled(standingOf(row))) return null
  const current = await ctx.wired.connectionKinds[port]!.current(ctx, part)
  return current === undefined || current?.getTime() !== row.connected_at?.getTime() ? null : row
}

/** Whatever the provider answers is an answer; a fault of ours is the job's. */
async function asked(
  probe: () => Promise<unknown> | undefined,
  { log }: Pick<Context, 'log'>,
): Promise<void> {
  try {
    await probe()
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Refused || error instanceof Throttled)) throw error
    log.warn({ err: error }, 'a provider that was probed is still in trouble')
  }
}

export async function probeProvider(
  system: SystemContext,
  port: ServerPort,
  provider: string,
): Promise<void> {
  const row = await troubledProvider(system, port, provider)
  if (!row) return
  if (row.next_probe_at && row.next_probe_at > system.now()) {
    await system.queue(providerProbe, { port, provider }, { at: row.next_probe_at })
    return
  }
  if (!isInUse(system, port, provider)) return
  await asked(() => system.wired.serverKinds[port]?.probe?.(system, provider), system)
  if (await troubledProvider(system, port, provider)) await probedServers(system, port, provider)
}

async function troubledProvider(system: SystemContext, port: string, provider: string) {
  const row = await system.root
    .selectFrom('provider_health')
    .selectAll()
    .where('port', '=', port)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return row && isTroubled(standingOf(row)) ? row : null
}

/** Another one may be set by now: nothing is asked of the one before. */
function isInUse({ adapters, settings }: SystemContext, port: string, provider: string): boolean {
  if (port === 'billing') return Object.hasOwn(adapters.billing, provider)
  const url = port === 'mail' ? settings.mailUrl : settings.storageUrl
  return url.split(':')[0] === provider
}
