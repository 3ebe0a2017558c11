/** Probes and checks numbers, and reacts to changes of their health (store, rule 19). */
import { health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { Precondition } from '#runtime/ports/provider'
import { officialRevalidate } from '../handles.ts'
import { notifyConnected } from '../numbers/connected.ts'
import { describeIssue } from '../numbers/official-state.ts'
import { findRouteByType, type Route } from '../numbers/route.ts'
import { wakeWaitingMessages } from '../outbox/rows.ts'
import type { ConnectionType } from '../provider/port.ts'
import { revalidate } from './revalidate.ts'

const types: readonly ConnectionType[] = ['official', 'qr', 'shared']
const names: Readonly<Record<string, string>> = {
  official: 'the official number',
  qr: 'the linked phone',
  shared: 'the shared number',
}

const findConnection = (ctx: Context, type: string) =>
  ctx.db
    .selectFrom('messaging_connections')
    .select(['status', 'connected_at', 'credentials'])
    .where('type', '=', type)
    .executeTakeFirst()

export const numberKind: health.ConnectionKind = {
  name: (part) => names[part] ?? 'the number',
  // For the official number, `official-number-issue` and `messaging-connected` replace the generic notifications.
  notifiesItself: ['official'],
  async connectedAt(tx, part) {
    const row = await findConnection(tx, part)
    const statuses = part === 'official' ? ['connected', 'verifying', 'error'] : ['connected']
    const isThere = row !== undefined && statuses.includes(row.status)
    return isThere && (part !== 'official' || row.credentials) ? row.connected_at : undefined
  },
  async probe(ctx, part) {
    if (part === 'official') return revalidateIfConnected(ctx)
    const route = await findRouteByType(ctx, part as ConnectionType)
    // If the port has no `check`, the next message shows whether the number works.
    const { check } = (route?.port ?? {}) as { check?(store: Route['store']): Promise<unknown> }
    await check?.call(route!.port, route!.store)
  },
  async check(ctx) {
    const found: health.ConnectionCheck[] = []
    for (const type of types) {
      const route = await findRouteByType(ctx, type)
      if (!route || (await numberKind.connectedAt(ctx, type)) === undefined) continue
      found.push({ ...{ port: 'messaging', part: type }, ...(await checkRoute(route, type)) })
    }
    return found.length > 0 ? found : [{ port: 'messaging', part: '', provider: null, findings: [] }]
  },
  async stateChanged(tx, { part, before, after }) {
    if (after === 'lost' && part === 'official' && (await findConnection(tx, part))?.status === 'connected') {
      // The revalidation asks the provider for the cause, and then notifies the merchant.
      await tx.queue(officialRevalidate, {})
    }
    if (after !== 'connected') return
    await (before === 'lost' ? notifyConnected(tx, part as ConnectionType) : wakeWaitingMessages(tx))
  },
}

async function checkRoute(
  { port, store, provider }: Route,
  type: ConnectionType,
): Promise<Pick<health.ConnectionCheck, 'provider' | 'findings'>> {
  const adapter: typeof port & { check?(of: typeof store): Promise<Precondition[]> } = unwrapAdapter(port)
  const findings = await health.runCheck(async () => {
    if (adapter.check) return adapter.check(store)
    if (type !== 'official') return adapter.sendLimits(store, type)
    const state = await adapter.officialState(store)
    if (state.status !== 'error') return state
    const code = state.issue ?? 'account-restricted'
    const { message: remedy } = describeIssue(code)
    return [{ code, isFine: false, message: 'The number cannot send', remedy }]
  })
  return { provider, findings }
}

/** Revalidates the official number. Does nothing if it was disconnected meanwhile. */
async function revalidateIfConnected(ctx: Context): Promise<void> {
  try {
    await revalidate(ctx)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'conflict')) throw error
  }
}
