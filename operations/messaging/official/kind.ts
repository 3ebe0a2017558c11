/** How numbers are probed and checked, and what follows from how they stand (store, rule 19). */
import { health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { unheard } from '#runtime/ports/heard'
import type { Finding } from '#runtime/ports/provider'
import { officialRevalidate } from '../handles.ts'
import { tellConnected } from '../numbers/connected.ts'
import { describeIssue } from '../numbers/official-clock.ts'
import { type Route, routeOfType } from '../numbers/route.ts'
import { wakeLanes } from '../outbox/rows.ts'
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
  // `official-number-issue` says more than that it is lost, and `messaging-connected` more than that it is back.
  tellsItself: ['official'],
  async current(tx, part) {
    const row = await findConnection(tx, part)
    const statuses = part === 'official' ? ['connected', 'verifying', 'error'] : ['connected']
    const isThere = row !== undefined && statuses.includes(row.status)
    return isThere && (part !== 'official' || row.credentials) ? row.connected_at : undefined
  },
  async probe(ctx, part) {
    if (part === 'official') return reallyRevalidate(ctx)
    const route = await routeOfType(ctx, part as ConnectionType)
    // Without it, the next message shows it.
    const { check } = (route?.port ?? {}) as { check?(store: Route['store']): Promise<unknown> }
    await check?.call(route!.port, route!.store)
  },
  async check(ctx) {
    const found: health.Checked[] = []
    for (const type of types) {
      const route = await routeOfType(ctx, type)
      if (!route || (await numberKind.current(ctx, type)) === undefined) continue
      found.push({ ...{ port: 'messaging', part: type }, ...(await checkRoute(route, type)) })
    }
    return found.length > 0 ? found : [{ port: 'messaging', part: '', provider: null, findings: [] }]
  },
  async moved(tx, { part, before, after }) {
    if (after === 'lost' && part === 'official' && (await findConnection(tx, part))?.status === 'connected') {
      // The provider says more of what is wrong; then the merchant is told.
      await tx.queue(officialRevalidate, {})
    }
    if (after !== 'connected') return
    await (before === 'lost' ? tellConnected(tx, part as ConnectionType) : wakeLanes(tx))
  },
}

async function checkRoute(
  { port, store, provider }: Route,
  type: ConnectionType,
): Promise<Pick<health.Checked, 'provider' | 'findings'>> {
  const adapter: typeof port & { check?(of: typeof store): Promise<Finding[]> } = unheard(port)
  const findings = await health.checking(async () => {
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

/** A number that was given up meanwhile is nobody's to ask about. */
async function reallyRevalidate(ctx: Context): Promise<void> {
  try {
    await revalidate(ctx)
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'conflict')) throw error
  }
}
