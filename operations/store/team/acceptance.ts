/** Accepts an invitation: the token in its link lets a person join the team. */

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
  /** The store's locale. */
  locale: string
  inviterName: string
  /** The name of the existing user with that email; null if there is none. */
  knownName: string | null
  /** False if the invitation was accepted or revoked, or has expired. */
  isOpen: boolean
}

/** Finds the invitation by the token of its link; null if there is none. */
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
  // Without this signature check, somebody who can write to the database could make a token by writing its hash.
  if (!row || !hasValidSignature(ctx.settings, tokenPurpose, row.id, token)) return null
  const { status, expires_at: expiresAt, role, ...invitation } = row
  const isOpen = status === 'pending' && ctx.now() < expiresAt
  return { ...invitation, role: role as MemberRole, isOpen }
}

/**
 * Accepts an invitation: finds the user by email or creates one with `name`, and makes the user a member. Returns false if
 * the invitation is no longer open; of two concurrent calls only one succeeds. Refuses a new user without a name.
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
  // Already a member, for example added on the command line.
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
