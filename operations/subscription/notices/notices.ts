/** What owners are told, and their addresses. */
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'

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

/** The payer of a new agreement: who asks for it, else the first owner. */
export async function payerEmail(ctx: Context): Promise<string> {
  const { userId } = ctx.actor
  const asking = userId
    ? await ctx.db
        .selectFrom('store_people')
        .select('email')
        .where('user_id', '=', userId)
        .where('removed_at', 'is', null)
        .executeTakeFirst()
    : undefined
  const email = asking?.email ?? (await ownersOf(ctx))[0]?.email
  if (!email) throw new Error(`Store ${ctx.store.id} has no owner`)
  return email
}
