/**
 * Records the outcome of a provider call if it changes the connection's health (rule 19). Only the instrumentation of the
 * adapters calls it after a call.
 */
import { sql } from 'kysely'
import { notify } from '#operations/notifications/index'
import type { Context, SystemContext } from '#runtime/context'
import { AccessLost } from '#runtime/ports/errors'
import type { ConnectionFailure, ProviderOutcome } from '#runtime/ports/instrumentation'
import type { PortName } from '#runtime/ports/ports'
import { connectionProbe, providerProbe } from '../handles.ts'
import { toConnectionFailure, toHealth, toHealthColumns } from './health-rows.ts'
import type { ConnectedPort, ServerPort } from './kinds.ts'
import { type ConnectionHealth, type HealthEvent, nextHealth, type Step } from './state-machine.ts'

/** The connection that a call used, which may have been replaced since. */
export interface ConnectionRef {
  port: ConnectedPort
  part: string
  provider: string
  connectedAt: Date | null
}

/** Returns the connection's failure after the call; null if it is healthy or has been replaced. */
export async function recordOutcome(
  system: SystemContext,
  outcome: ProviderOutcome,
): Promise<ConnectionFailure | null> {
  const { port, provider, store } = outcome
  const event = toHealthEvent(outcome)
  if (port === 'billing' || port === 'mail' || port === 'storage') {
    return applyServerEvent(system, port, provider, event)
  }
  const ref = store?.connection
  const ctx = ref ? await system.forStore(store!.id) : null
  if (!ref || !ctx) return null
  const { part, connectedAt } = ref
  return ctx.transaction((tx) => applyHealthEvent(tx, { port, part, provider, connectedAt }, event))
}

const unanswered = 'no-answer'

function toHealthEvent({ error, startedAt, provider }: ProviderOutcome): HealthEvent {
  if (!error) return { kind: 'answered', startedAt }
  if (error instanceof AccessLost) {
    const { code, message, remedy } = error
    return { kind: 'lost', code, message, remedy }
  }
  const remedy = 'Nothing has to be done: it is asked again by itself, and what waits for it goes on then'
  return { kind: 'unanswered', code: unanswered, message: `${provider} does not answer`, remedy }
}

/** Applies an event to the health of a store's connection, in the caller's transaction. */
export async function applyHealthEvent(
  tx: Context,
  connection: ConnectionRef,
  event: HealthEvent,
): Promise<ConnectionFailure | null> {
  const { port, part, provider, connectedAt } = connection
  const kind = tx.extensions.connectionKinds[port]
  if (!kind) throw new Error(`No section has connections of the port ${port}`)
  const now = tx.now()
  const isBad = event.kind === 'lost' || event.kind === 'unanswered'
  if (isBad) {
    const current = await kind.connectedAt(tx, part)
    if (current === undefined || current?.getTime() !== connectedAt?.getTime()) return null
    // Inserts the row before it is locked, so that two concurrent first failures both count.
    await tx.db
      .insertInto('connection_health')
      .values({
        ...{ port, part, provider, connected_at: connectedAt, state: 'connected', since: now },
        ...{ troubled_at: now, checked_at: now, updated_at: now },
      })
      .onConflict((conflict) => conflict.columns(['store_id', 'port', 'part']).doNothing())
      .execute()
  }
  const row = await tx.db
    .selectFrom('connection_health')
    .selectAll()
    .where('port', '=', port)
    .where('part', '=', part)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  const isSame = row.connected_at?.getTime() === connectedAt?.getTime()
  // The call used an earlier connection, so its success proves nothing about the current one.
  if (!isSame && !isBad && event.kind !== 'connected') return null
  const before = isSame || event.kind === 'connected' ? toHealth(row) : null
  const step = nextHealth(before, event, now, probeJitter(tx.store.id))
  if (!step && isSame) return toConnectionFailure(before, port, provider)
  const next = step?.next ?? toHealth(row)
  await tx.db
    .updateTable('connection_health')
    .set({ ...toHealthColumns(next, now), provider, connected_at: connectedAt })
    .where('port', '=', port)
    .where('part', '=', part)
    .execute()
  if (step) await runEffects(tx, connection, before, step)
  return toConnectionFailure(next, port, provider)
}

async function runEffects(
  tx: Context,
  connection: ConnectionRef,
  before: ConnectionHealth | null,
  step: Step,
): Promise<void> {
  const { port, part } = connection
  const { next, notifies } = step
  const kind = tx.extensions.connectionKinds[port]!
  if (next.nextProbeAt && next.nextProbeAt.getTime() !== before?.nextProbeAt?.getTime()) {
    await tx.queue(connectionProbe, { port, part }, { at: next.nextProbeAt })
  }
  if (notifies && !kind.notifiesItself?.includes(part))
    await notifyMerchant(tx, connection, notifies, before, next)
  const was = before?.state ?? 'connected'
  if (was === next.state) return
  const { state, code, since } = next
  tx.log.warn({ port, part, provider: connection.provider, state, code, since }, 'connection health changed')
  await kind.stateChanged?.(tx, { part, before: was, after: state })
  if (state === 'connected') await tx.afterCommit(() => tx.services.queue.resumeWaiting(tx.store.id))
}

async function notifyMerchant(
  tx: Context,
  { port, part, provider }: ConnectionRef,
  notifies: 'lost' | 'back',
  before: ConnectionHealth | null,
  { since, code, message, remedy }: ConnectionHealth,
): Promise<void> {
  const name = `${tx.extensions.connectionKinds[port]!.name(part)} (${provider})`
  const key = `${port}:${part}:${(notifies === 'lost' ? since : (before?.since ?? since)).toISOString()}`
  await notify(
    tx,
    notifies === 'lost'
      ? {
          type: 'connection-lost',
          level: 'error',
          title: `The connection to ${name} is lost`,
          message: `${sentence(message)} ${sentence(remedy)} What waits for it goes on by itself once it works again.`,
          data: { port, provider, code },
          dedupeKey: `connection-lost:${key}`,
        }
      : {
          type: 'connection-back',
          level: 'success',
          title: `The connection to ${name} works again`,
          message: 'What waited for it goes on.',
          data: { port, provider },
          dedupeKey: `connection-back:${key}`,
        },
  )
}

const sentence = (text: string | null): string => (text ? text.replace(/\.?$/, '.') : '')

/** A factor from 0.9 to 1.1 that spreads the probes of stores after an outage of a platform they share. */
const probeJitter = (id: string): number => 0.9 + (Number.parseInt(id.slice(-4), 16) / 0xffff) * 0.2

/**
 * Like `applyHealthEvent`, but for the server's own providers. There is no notification: the operator sees the state in the
 * log and with `npm run store -- check`.
 */
async function applyServerEvent(
  system: SystemContext,
  port: ServerPort,
  provider: string,
  event: HealthEvent,
): Promise<ConnectionFailure | null> {
  return system.root.transaction().execute(async (transaction) => {
    const now = system.now()
    const isBad = event.kind === 'lost' || event.kind === 'unanswered'
    if (isBad) {
      await transaction
        .insertInto('provider_health')
        .values({
          ...{ port, provider, state: 'connected', since: now },
          ...{ troubled_at: now, checked_at: now, updated_at: now },
        })
        .onConflict((conflict) => conflict.columns(['port', 'provider']).doNothing())
        .execute()
    }
    const row = await transaction
      .selectFrom('provider_health')
      .selectAll()
      .where('port', '=', port)
      .where('provider', '=', provider)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return null
    const before = toHealth(row)
    const step = nextHealth(before, event, now)
    if (!step) return toConnectionFailure(before, port, provider)
    const { next } = step
    await transaction
      .updateTable('provider_health')
      .set(toHealthColumns(next, now))
      .where('port', '=', port)
      .where('provider', '=', provider)
      .execute()
    if (next.nextProbeAt && next.nextProbeAt.getTime() !== before.nextProbeAt?.getTime()) {
      await system.queue(providerProbe, { port, provider }, { at: next.nextProbeAt, transaction })
    }
    if (before.state !== next.state) {
      const { state, code, message, remedy } = next
      const level = state === 'lost' ? 'error' : 'warn'
      system.log[level]({ port, provider, state, code, message, remedy }, 'server provider health changed')
      if (state === 'connected') await system.services.queue.resumeWaiting(null, transaction)
    }
    return toConnectionFailure(next, port, provider)
  })
}

/** Records that a probe of one of the server's own providers changed nothing. */
export const recordServerProbe = (system: SystemContext, port: ServerPort, provider: string) =>
  applyServerEvent(system, port, provider, { kind: 'probed' })

/** The server's own providers that any process has recorded as unhealthy. Their next success must be recorded. */
export async function findUnhealthyProviders(
  system: SystemContext,
): Promise<{ port: PortName; provider: string }[]> {
  const rows = await system.root
    .selectFrom('provider_health')
    .select(['port', 'provider'])
    .where(sql<boolean>`(state <> 'connected' or failed_at <> '[]')`)
    .execute()
  return rows as { port: PortName; provider: string }[]
}
