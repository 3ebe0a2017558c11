/** Probes an unhealthy provider until it recovers (rule 19). */
import type { Context, SystemContext } from '#runtime/context'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { connectionProbe, providerProbe } from '../handles.ts'
import { toHealth } from './health-rows.ts'
import type { ConnectedPort, ServerPort } from './kinds.ts'
import { applyHealthEvent, recordServerProbe } from './record-outcome.ts'
import { isUnhealthy } from './state-machine.ts'

/** Makes the probe call, whose outcome is recorded like that of any call, and schedules the next probe if needed. */
export async function probeConnection(ctx: Context, port: ConnectedPort, part: string): Promise<void> {
  const row = await findUnhealthy(ctx, port, part)
  if (!row) return
  if (row.next_probe_at && row.next_probe_at > ctx.now()) {
    await ctx.queue(connectionProbe, { port, part }, { at: row.next_probe_at })
    return
  }
  await runProbe(() => ctx.extensions.connectionKinds[port]!.probe(ctx, part), ctx)
  const still = await findUnhealthy(ctx, port, part)
  if (!still) return
  const { provider, connected_at: connectedAt } = still
  await ctx.transaction((tx) =>
    applyHealthEvent(tx, { port, part, provider, connectedAt }, { kind: 'probed' }),
  )
}

/** The health row of an unhealthy connection; null if the connection is healthy or has been replaced. */
async function findUnhealthy(ctx: Context, port: ConnectedPort, part: string) {
  const row = await ctx.db
    .selectFrom('connection_health')
    .selectAll()
    .where('port', '=', port)
    .where('part', '=', part)
    .executeTakeFirst()
  if (!row || !isUnhealthy(toHealth(row))) return null
  const current = await ctx.extensions.connectionKinds[port]!.connectedAt(ctx, part)
  return current === undefined || current?.getTime() !== row.connected_at?.getTime() ? null : row
}

/** Ignores the provider's errors, because they are recorded already. Other errors fail the job. */
async function runProbe(
  probe: () => Promise<unknown> | undefined,
  { log }: Pick<Context, 'log'>,
): Promise<void> {
  try {
    await probe()
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Refused || error instanceof Throttled)) throw error
    log.warn({ err: error }, 'provider probe failed')
  }
}

export async function probeProvider(
  system: SystemContext,
  port: ServerPort,
  provider: string,
): Promise<void> {
  const row = await findUnhealthyProvider(system, port, provider)
  if (!row) return
  if (row.next_probe_at && row.next_probe_at > system.now()) {
    await system.queue(providerProbe, { port, provider }, { at: row.next_probe_at })
    return
  }
  if (!isInUse(system, port, provider)) return
  await runProbe(() => system.extensions.serverKinds[port]?.probe?.(system, provider), system)
  if (await findUnhealthyProvider(system, port, provider)) await recordServerProbe(system, port, provider)
}

async function findUnhealthyProvider(system: SystemContext, port: string, provider: string) {
  const row = await system.root
    .selectFrom('provider_health')
    .selectAll()
    .where('port', '=', port)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return row && isUnhealthy(toHealth(row)) ? row : null
}

/** Whether the server's settings still name this provider. */
function isInUse({ adapters, settings }: SystemContext, port: string, provider: string): boolean {
  if (port === 'billing') return Object.hasOwn(adapters.billing, provider)
  const url = port === 'mail' ? settings.mailUrl : settings.storageUrl
  return url.split(':')[0] === provider
}
