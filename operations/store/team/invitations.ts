/**
 * Invitations to a store's team. The link's token is made from the invitation's id with the server's secret, so that
 * neither the database nor a job's payload holds it; kept is its SHA-256.
 */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { findRow, oneRow } from '#runtime/database/rows'
import { weekMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { type SecretKeys, sign, signaturesOf } from '#runtime/secrets'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { sha256 } from '#runtime/values/ids'
import { invitationEmail } from '../handles.ts'
import type { MemberRole } from '../names.ts'

const lastsMs = weekMs
/** Members and pending invitations of a store. */
const teamAtMost = 50

/** A row `i` of `invitations` joined with its inviter `p` of `store_people`. */
export const invitationJson = jsonObject({
  id: 'i.id',
  email: 'i.email',
  role: 'i.role',
  status: 'i.status',
  invitedBy: jsonObject({ userId: 'i.invited_by', name: 'p.name' }),
  expiresAt: instantOf('i.expires_at'),
  createdAt: instantOf('i.created_at'),
  updatedAt: instantOf('i.updated_at'),
})

const findInvitation = prepared((db, values: { id: string }) =>
  db
    .selectFrom('invitations as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.invited_by')
    .where('i.id', '=', values.id)
    .select(sql<string>`${invitationJson}::text`.as('text')),
)

/** Of the link of an invitation: 32 bytes in base64url. */
export const tokenOf = (keys: SecretKeys, invitationId: string): string =>
  sign(keys, tokenPurpose, invitationId)
export const tokenPurpose = 'invitations'

/** That of an invitation which may have been made with the key before. */
export function sentToken(keys: SecretKeys, invitationId: string, hash: string): string {
  const found = signaturesOf(keys, tokenPurpose, invitationId).find((token) => sha256(token) === hash)
  if (found === undefined) {
    throw new Error('The invitation was made with another SECRET_KEY: set SECRET_KEY_PREVIOUS to that one')
  }
  return found
}

/**
 * Invites somebody and queues the email with the link. Called in a transaction. Refuses who is a member or has a
 * pending invitation (by email without case), and a team that is full.
 */
export async function invite(ctx: Context, input: { email: string; role: MemberRole }): Promise<JsonText> {
  await ctx.lockStore()
  await refuseTaken(ctx, input.email)
  const now = ctx.now()
  const id = ctx.newId()
  await ctx.db
    .insertInto('invitations')
    .values({
      id,
      email: input.email,
      role: input.role,
      token_hash: sha256(tokenOf(ctx.settings, id)),
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

async function refuseTaken(ctx: Context, email: string): Promise<void> {
  const pending = ctx.db
    .selectFrom('invitations')
    .where('status', '=', 'pending')
    .where('expires_at', '>', ctx.now())
  const members = ctx.db.selectFrom('store_people').where('removed_at', 'is', null)
  const isTheirs = sql<boolean>`${emailKeyOf('email')} = ${emailKey(email)}`
  if (await members.select('user_id').where(isTheirs).executeTakeFirst()) {
    throw refuse('conflict', `email: ${email} is a member of the team already`)
  }
  if (await pending.select('id').where(isTheirs).executeTakeFirst()) {
    throw refuse('conflict', `email: ${email} has a pending invitation: revoke it first`)
  }
  const counted = sql<number>`count(*)::int`.as('n')
  const inTeam = await members.select(counted).executeTakeFirstOrThrow()
  const invited = await pending.select(counted).executeTakeFirstOrThrow()
  if (inTeam.n + invited.n >= teamAtMost) {
    throw refuse(
      'conflict',
      `The team has ${teamAtMost} members and pending invitations: remove or revoke one first`,
    )
  }
}

/** Kills the link of a pending invitation. Refuses an unknown one, and one that is not pending any more. */
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
  const found = await oneRow(ctx.db.selectFrom('invitations').select('status'), id, none)
  const status = found.status === 'pending' ? 'expired' : found.status
  throw refuse('conflict', `The invitation is ${status}: only a pending one can be revoked`)
}
