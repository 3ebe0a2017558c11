/**
 * Creates and revokes invitations to a store's team. The token in the link is a signature of the invitation's id with the
 * server's secret. Only the SHA-256 of the token is stored, so neither the database nor a job's payload contains the token.
 */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { findRow, requireRow } from '#runtime/database/rows'
import { weekMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { listValidSignatures, type SecretKeys, sign } from '#runtime/secrets'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import type { MemberRole } from '../enums.ts'
import { invitationEmail } from '../handles.ts'

const lastsMs = weekMs
/** Limit on members and pending invitations together. */
const maxTeamSize = 50

/** The JSON of an invitation. The query must join `invitations` as `i` with the inviter's row of `store_people` as `p`. */
export const invitationJson = jsonObject({
  id: 'i.id',
  email: 'i.email',
  role: 'i.role',
  status: 'i.status',
  invitedBy: jsonObject({ userId: 'i.invited_by', name: 'p.name' }),
  expiresAt: isoInstant('i.expires_at'),
  createdAt: isoInstant('i.created_at'),
  updatedAt: isoInstant('i.updated_at'),
})

const findInvitation = prepared((db, values: { id: string }) =>
  db
    .selectFrom('invitations as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.invited_by')
    .where('i.id', '=', values.id)
    .select(sql<string>`${invitationJson}::text`.as('text')),
)

/** The token in the link: 32 bytes in base64url. */
export const invitationToken = (keys: SecretKeys, invitationId: string): string =>
  sign(keys, tokenPurpose, invitationId)
export const tokenPurpose = 'invitations'

/** Finds the token that matches the stored hash. It may have been signed with the previous secret key. */
export function findSentToken(keys: SecretKeys, invitationId: string, hash: string): string {
  const found = listValidSignatures(keys, tokenPurpose, invitationId).find((token) => sha256(token) === hash)
  if (found === undefined) {
    throw new Error('The invitation was made with another SECRET_KEY: set SECRET_KEY_PREVIOUS to that one')
  }
  return found
}

/**
 * Creates an invitation and queues its email, in the caller's transaction. Refuses an email that belongs to a member or a
 * pending invitation (ignoring case), and a full team.
 */
export async function invite(ctx: Context, input: { email: string; role: MemberRole }): Promise<JsonText> {
  await ctx.lockStore()
  await checkInvitable(ctx, input.email)
  const now = ctx.now()
  const id = ctx.newId()
  await ctx.db
    .insertInto('invitations')
    .values({
      id,
      email: input.email,
      role: input.role,
      token_hash: sha256(invitationToken(ctx.settings, id)),
      invited_by: ctx.actor.userId!,
      expires_at: new Date(now.getTime() + lastsMs),
      created_at: now,
      updated_at: now,
    })
    .execute()
  await ctx.queue(invitationEmail, { invitationId: id })
  const [made] = await findInvitation(ctx, { id })
  return new JsonText(made!.text)
}

async function checkInvitable(ctx: Context, email: string): Promise<void> {
  const pending = ctx.db
    .selectFrom('invitations')
    .where('status', '=', 'pending')
    .where('expires_at', '>', ctx.now())
  const members = ctx.db.selectFrom('store_people').where('removed_at', 'is', null)
  const isTheirs = sql<boolean>`${emailKeySql('email')} = ${emailKey(email)}`
  if (await members.select('user_id').where(isTheirs).executeTakeFirst()) {
    throw refuse('conflict', `email: ${email} is a member of the team already`)
  }
  if (await pending.select('id').where(isTheirs).executeTakeFirst()) {
    throw refuse('conflict', `email: ${email} has a pending invitation: revoke it first`)
  }
  const counted = sql<number>`count(*)::int`.as('n')
  const inTeam = await members.select(counted).executeTakeFirstOrThrow()
  const invited = await pending.select(counted).executeTakeFirstOrThrow()
  if (inTeam.n + invited.n >= maxTeamSize) {
    throw refuse(
      'conflict',
      `The team has ${maxTeamSize} members and pending invitations: remove or revoke one first`,
    )
  }
}

/** Revokes a pending invitation, so that its link no longer works. Refuses an invitation that is unknown or not pending. */
export async function revokeInvitation(ctx: Context, id: string): Promise<void> {
  const now = ctx.now()
  const revoked = ctx.db
    .updateTable('invitations')
    .set({ status: 'revoked', updated_at: now })
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .returning('id')
  if (await findRow(revoked, id)) return
  const none = 'The store has no such invitation'
  const found = await requireRow(ctx.db.selectFrom('invitations').select('status'), id, none)
  const status = found.status === 'pending' ? 'expired' : found.status
  throw refuse('conflict', `The invitation is ${status}: only a pending one can be revoked`)
}
