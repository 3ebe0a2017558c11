/** Notifications for store owners, and the payer's email address. */
import { notify, stores } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { readEmail } from '#runtime/schema'

export interface Owner {
  userId: string
  email: string
}

export async function listOwners(ctx: Context): Promise<Owner[]> {
  const rows = await ctx.db
    .selectFrom('store_people')
    .select(['user_id', 'email'])
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .orderBy('joined_at')
    .execute()
  return rows.map((row) => ({ userId: row.user_id, email: row.email }))
}

/** Sends a notification that only owners see. */
export async function notifyOwners(
  tx: Context,
  notice: Omit<Parameters<typeof notify>[1], 'recipientIds'>,
): Promise<void> {
  const owners = await listOwners(tx)
  await notify(tx, { ...notice, recipientIds: owners.map((owner) => owner.userId) })
}

/** Notifies that the agreement was paused or cancelled at the provider. `until`: the end of the last paid period. */
export async function notifyAgreementEnd(
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
 * The payer's email for a new agreement: the store's preference `payerEmail`, else the email of the requesting user, else
 * of the first owner. Some providers accept payment only from the account with this address. Refuses a preference that is
 * not an email address.
 */
export async function findPayerEmail(ctx: Context): Promise<string> {
  const preferred = await stores.readPreference(ctx, 'payerEmail')
  if (preferred === null) return findRequesterEmail(ctx)
  const read = typeof preferred === 'string' ? readEmail(preferred) : null
  if (read !== null) return read
  throw refuse(
    'conflict',
    'The preference payerEmail of the store is no email address: change it by PATCH /store',
  )
}

/** The email of the requesting user, else of the first owner. */
export async function findRequesterEmail(ctx: Context): Promise<string> {
  const { userId } = ctx.actor
  const asking = userId
    ? await ctx.db
        .selectFrom('store_people')
        .select('email')
        .where('user_id', '=', userId)
        .where('removed_at', 'is', null)
        .executeTakeFirst()
    : undefined
  const found = asking?.email ?? (await listOwners(ctx))[0]?.email
  if (!found) throw new Error(`Store ${ctx.store.id} has no owner`)
  return found
}
