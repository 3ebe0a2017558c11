/** What owners are told, and their addresses. */
import { notify, stores } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { readEmail } from '#runtime/schema'

export interface Owner {
  userId: string
  email: string
}

export async function ownersOf(ctx: Context): Promise<Owner[]> {
  const rows = await ctx.db
    .selectFrom('store_people')
    .select(['user_id', 'email'])
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .orderBy('joined_at')
    .execute()
  return rows.map((row) => ({ userId: row.user_id, email: row.email }))
}

/** A notification that the owners alone see. */
export async function tellOwners(
  tx: Context,
  notice: Omit<Parameters<typeof notify>[1], 'recipientIds'>,
): Promise<void> {
  const owners = await ownersOf(tx)
  await notify(tx, { ...notice, recipientIds: owners.map((owner) => owner.userId) })
}

/** The agreement is over at the provider: what is paid, to an instant, is the last. */
export async function tellOfEnd(
  tx: Context,
  status: 'paused' | 'cancelled',
  until: Date,
  at: Date,
): Promise<void> {
  await notify(tx, {
    type: 'agreement-changed',
    level: 'warning',
    title: `The payment agreement was ${status} at the provider`,
    message: `Nothing more is charged. What is paid for is kept until ${until.toISOString().slice(0, 10)}.`,
    link: '/subscription',
    dedupeKey: `agreement-changed:${at.toISOString()}:${until.toISOString()}`,
  })
}

/**
 * The payer of a new agreement: the store's preference `payerEmail`, else who asks for it, else the first owner. A
 * provider may take nobody but the account of this address. Refuses a preference that is no address.
 */
export async function payerEmail(ctx: Context): Promise<string> {
  const preferred = await stores.preference(ctx, 'payerEmail')
  if (preferred === null) return askingEmail(ctx)
  const read = typeof preferred === 'string' ? readEmail(preferred) : null
  if (read !== null) return read
  throw refuse(
    'conflict',
    'The preference payerEmail of the store is no email address: change it by PATCH /store',
  )
}

/** Who asks, else the first owner. */
export async function askingEmail(ctx: Context): Promise<string> {
  const { userId } = ctx.actor
  const asking = userId
    ? await ctx.db
        .selectFrom('store_people')
        .select('email')
        .where('user_id', '=', userId)
        .where('removed_at', 'is', null)
        .executeTakeFirst()
    : undefined
  const found = asking?.email ?? (await ownersOf(ctx))[0]?.email
  if (!found) throw new Error(`Store ${ctx.store.id} has no owner`)
  return found
}
