/** Connecting a number: claims it, selects it, and releases the messages that waited for it. */
import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { health, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { connectedNumberChanged } from '../button/button.ts'
import type { ConnectionType } from '../provider/port.ts'
import { selectConnection } from './select.ts'

/** Notifies the extensions that a connection can send again, whether or not it is the selected one. */
export async function notifyConnected(ctx: Context, type: ConnectionType): Promise<void> {
  await connectedNumberChanged(ctx)
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select(['provider', 'connected_at'])
    .where('type', '=', type)
    .executeTakeFirst()
  if (row) {
    const { provider, connected_at: connectedAt } = row
    await health.applyHealthEvent(
      ctx,
      { port: 'messaging', part: type, provider, connectedAt },
      { kind: 'connected' },
    )
  }
  for (const handler of ctx.extensions.numberConnected) await handler(ctx, type)
}

/**
 * Claims a number (E.164) for this store until the caller's transaction ends: a lock serializes stores that connect it
 * at the same time. Returns whether the number is free.
 */
export async function claimPhone(ctx: Context, phone: string): Promise<boolean> {
  const key = phoneKey(phone)
  await sql`select pg_advisory_xact_lock(hashtextextended(${`messaging-phone:${key}`}, 0))`.execute(
    ctx.system,
  )
  const others = (await findStoreIds(ctx.system, 'messaging-phone', [key])).filter(
    (id) => id !== ctx.store.id,
  )
  if (others.length === 0) return true
  const taken = await ctx.system
    .selectFrom('messaging_connections')
    .select('store_id')
    .where('phone_key', '=', key)
    .where(isInStores('store_id', others))
    .where('type', '<>', 'shared')
    .where('status', 'in', ['connected', 'reconnecting', 'verifying'])
    .limit(1)
    .executeTakeFirst()
  return taken === undefined
}

/** Selects a newly connected number, and notifies the merchant and the extensions. */
export async function announceNumber(
  ctx: Context,
  type: 'qr' | 'official',
  number: { phone: string; displayName: string | null },
): Promise<void> {
  await selectConnection(ctx, type)
  const name = number.displayName ? `${number.displayName} (${number.phone})` : number.phone
  await notify(ctx, {
    type: 'messaging-connected',
    level: 'success',
    title: `${number.phone} is connected`,
    message: `Messages of the store leave through ${name} from now on.`,
    data: { connectionType: type, phone: number.phone },
    dedupeKey: null,
  })
  await notifyConnected(ctx, type)
}
