/** The page behind an invitation's link: who holds the token joins the team. */

import { sql } from 'kysely'
import { amongStores, storesListed } from '#db/directory/find'
import { notify } from '#operations/notifications/door'
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { isSigned } from '#runtime/secrets'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import type { MemberRole } from '../names.ts'
import { addMember } from '../profile/stores.ts'
import { tokenPurpose } from './invitations.ts'

export interface Invitation {
  id: string
  email: string
  role: MemberRole
  storeId: string
  storeName: string
  /** Of the store. */
  locale: string
  inviterName: string
  /** Of the person with that email, where there is one already. */
  knownName: string | null
  /** Not where it was accepted, revoked, or has expired. */
  isOpen: boolean
}

/** The invitation of a link; null when there is none. */
export async function findInvitation(ctx: SystemContext, token: string): Promise<Invitation | null> {
  const row = await ctx.root
    .selectFrom('invitations as i')
    .innerJoin('stores as s', 's.id', 'i.store_id')
    .innerJoin('users as inviter', 'inviter.id', 'i.invited_by')
    .leftJoin('users as known', (join) =>
      join.on(sql<boolean>`${emailKeyOf('known.email')} = ${emailKeyOf('i.email')}`),
    )
    .where('i.token_hash', '=', sha256(token))
    .where(amongStores('i.store_id', await storesListed(ctx.root, 'invitation', [sha256(token)])))
    .select([
      'i.id',
      'i.email',
      'i.role',
      'i.status',
      'i.expires_at',
      's.id as storeId',
      's.name as storeName',
      's.locale',
      'inviter.name as inviterName',
      'known.name as knownName',
    ])
    .executeTakeFirst()
  // Whoever reads the database and writes hashes of their own into it still has no token.
  if (!row || !isSigned(ctx.settings, tokenPurpose, row.id, token)) return null
  const { status, expires_at: expiresAt, role, ...invitation } = row
  const isOpen = status === 'pending' && ctx.now() < expiresAt
  return { ...invitation, role: role as MemberRole, isOpen }
}

/**
 * Accepts it: the person is found by email or made with this name, and becomes a member. Answers false when it died
 * meanwhile; of two at once one accepts. Refuses a new person without a name.
 */
export async function acceptInvitation(
  store: Context,
  invitation: Invitation,
  name: string | null,
): Promise<boolean> {
  return store.transaction(async (ctx) => {
    await ctx.lockStore()
    const now = ctx.now()
    const accepted = await ctx.db
      .updateTable('invitations')
      .set({ status: 'accepted', accepted_at: now, updated_at: now })
      .where('id', '=', invitation.id)
      .where('status', '=', 'pending')
      .where('expires_at', '>', now)
      .returning('id')
      .execute()
    if (accepted.length === 0) return false
    if (invitation.knownName === null && name === null) {
      throw refuse('bad_request', 'name: is required')
    }
    await join(ctx, invitation, invitation.knownName ?? name!)
    return true
  })
}

async function join(ctx: Context, { email, role }: Invitation, name: string): Promise<void> {
  const isMember = await ctx.db
    .selectFrom('store_people')
    .select('user_id')
    .where('removed_at', 'is', null)
    .where(sql<boolean>`${emailKeyOf('email')} = ${emailKey(email)}`)
    .executeTakeFirst()
  // Added with the command line meanwhile: nothing is left to do.
  if (isMember) return
  await addMember(ctx.system, ctx.now(), { storeId: ctx.store.id, email, name, role })
  await notify(ctx, {
    type: 'member-joined',
    level: 'info',
    title: `${name} joined the team`,
    message: `${email} accepted the invitation and is now ${role === 'member' ? 'a' : 'an'} ${role}.`,
    dedupeKey: null,
  })
}
