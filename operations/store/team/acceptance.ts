/** Accepting an invitation: the holder of the link's token joins the team. */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { notify } from '#operations/notifications/index'
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { hasValidSignature } from '#runtime/secrets'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import type { MemberRole } from '../enums.ts'
import { addMember } from '../profile/stores.ts'
import { tokenPurpose } from './invitations.ts'

export interface Invitation {
  id: string
  email: string
  role: MemberRole
  storeId: string
  storeName: string
  /** The store's. */
  locale: string
  inviterName: string
  /** The name of the person with that email, if there is one. */
  knownName: string | null
  /** False if it was accepted or revoked, or has expired. */
  isOpen: boolean
}

/** Finds the invitation of a link's token. */
export async function findInvitation(ctx: SystemContext, token: string): Promise<Invitation | null> {
  const row = await ctx.root
    .selectFrom('invitations as i')
    .innerJoin('stores as s', 's.id', 'i.store_id')
    .innerJoin('users as inviter', 'inviter.id', 'i.invited_by')
    .leftJoin('users as known', (join) =>
      join.on(sql<boolean>`${emailKeySql('known.email')} = ${emailKeySql('i.email')}`),
    )
    .where('i.token_hash', '=', sha256(token))
    .where(isInStores('i.store_id', await findStoreIds(ctx.root, 'invitation', [sha256(token)])))
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
  // The signature check means that writing a hash into the database is not enough to forge a token.
  if (!row || !hasValidSignature(ctx.settings, tokenPurpose, row.id, token)) return null
  const { status, expires_at: expiresAt, role, ...invitation } = row
  const isOpen = status === 'pending' && ctx.now() < expiresAt
  return { ...invitation, role: role as MemberRole, isOpen }
}

/**
 * Accepts it: finds the person by email or creates them with this name, and makes them a member. Returns false if it is
 * no longer open; of two concurrent calls one succeeds. Refuses a new person without a name.
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
    await joinTeam(ctx, invitation, invitation.knownName ?? name!)
    return true
  })
}

async function joinTeam(ctx: Context, { email, role }: Invitation, name: string): Promise<void> {
  const isMember = await ctx.db
    .selectFrom('store_people')
    .select('user_id')
    .where('removed_at', 'is', null)
    .where(sql<boolean>`${emailKeySql('email')} = ${emailKey(email)}`)
    .executeTakeFirst()
  // Already added with the command line.
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
