/** What it means that a number connects: nobody else has it, it is selected, and what waited for it is due. */
import { sql } from 'kysely'
import { amongStores, storesListed } from '#db/directory/find'
import { health, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { connectedNumberChanged } from '../button/button.ts'
import type { ConnectionType } from '../provider/port.ts'
import { selectConnection } from './select.ts'

/** Tells those who wait that a connection can send again, selected or not. */
export async function tellConnected(ctx: Context, type: ConnectionType): Promise<void> {
  await connectedNumberChanged(ctx)
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select(['provider', 'connected_at'])
    .where('type', '=', type)
    .executeTakeFirst()
  if (row) {
    const { provider, connected_at: connectedAt } = row
    await health.moveConnection(
      ctx,
      { port: 'messaging', part: type, provider, connectedAt },
      { is: 'connected' },
    )
  }
  for (const told of ctx.wired.numberConnected) await told(ctx, type)
}

/**
 * Whether a number (E.164) is free to connect to this store. In the caller's transaction, until whose end nobody else
 * decides about that number: of two stores that connect it at once, one finds it taken.
 */
export async function claimPhone(ctx: Context, phone: string): Promise<boolean> {
  const key = phoneKey(phone)
  await sql`select pg_advisory_xact_lock(hashtextextended(${`messaging-phone:${key}`}, 0))`.execute(
    ctx.system,
  )
  const others = (await storesListed(ctx.system, 'messaging-phone', [key])).filter(
    (id) => id !== ctx.store.id,
  )
  if (others.length === 0) return true
  const taken = await ctx.system
    .selectFrom('messaging_connections')
    .select('store_id')
    .where('phone_key', '=', key)
    .where(amongStores('store_id', others))
    .where('type', '<>', 'shared')
    .where('status', 'in', ['connected', 'reconnecting', 'verifying'])
    .limit(1)
    .executeTakeFirst()
  return taken === undefined
}

/** Selects a number that has just connected, tells the merchant, and those who waited for it. */
export async function welcome(
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
  await tellConnected(ctx, type)
}
