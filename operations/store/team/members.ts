/** Lists and removes the members of a store. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { invitationJson } from './invitations.ts'

const findTeam = prepared((db, values: { now: Date; userId: string | null }) => {
  const keys = db
    .selectFrom('api_keys')
    .select([
      'user_id',
      sql<number>`count(*) filter (where revoked_at is null
        and (expires_at is null or expires_at > ${values.now}::timestamptz))`.as('active'),
      sql<Date | null>`max(last_used_at)`.as('last_used_at'),
    ])
    .groupBy('user_id')
  const memberJson = jsonObject({
    userId: 'p.user_id',
    name: 'p.name',
    email: 'p.email',
    role: 'p.role',
    isYou: sql`p.user_id is not distinct from (${values.userId}::uuid)`,
    activeKeyCount: sql`coalesce(k.active, 0)`,
    lastActiveAt: isoInstant('k.last_used_at'),
    joinedAt: isoInstant('p.joined_at'),
    createdAt: isoInstant('p.created_at'),
    updatedAt: isoInstant('p.updated_at'),
  })
  const members = db
    .selectFrom('store_people as p')
    .leftJoin(keys.as('k'), 'k.user_id', 'p.user_id')
    .where('p.removed_at', 'is', null)
    .select(
      sql`coalesce(json_agg(${memberJson}
        order by p.role <> 'owner', lower(p.name), p.user_id), '[]')`.as('list'),
    )
  const invitations = db
    .selectFrom('invitations as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.invited_by')
    .where('i.status', '=', 'pending')
    .where('i.expires_at', '>', sql<Date>`${values.now}::timestamptz`)
    .select(sql`coalesce(json_agg(${invitationJson} order by i.created_at desc, i.id desc), '[]')`.as('list'))
  const team = jsonObject({ members: sql`(${members})`, invitations: sql`(${invitations})` })
  return db.selectNoFrom(sql<string>`${team}::text`.as('text'))
})

/** Reads `{ members, invitations }`: owners first, then members by name; pending invitations, newest first. */
export async function readTeam(ctx: Context): Promise<JsonText> {
  const [row] = await findTeam(ctx, { now: ctx.now(), userId: ctx.actor.userId })
  return new JsonText(row!.text)
}

/**
 * Removes a member, revokes the member's API keys and runs the `memberRemoved` hooks, in the caller's transaction. After the
 * commit no instance accepts these keys any more. Refuses an unknown member, and the last owner.
 */
export async function removeMember(ctx: Context, userId: string): Promise<void> {
  await ctx.lockStore()
  const members = await ctx.db
    .selectFrom('memberships')
    .select(['user_id', 'role'])
    .where('removed_at', 'is', null)
    .execute()
  const member = members.find((each) => each.user_id === userId.toLowerCase())
  if (!member) throw refuse('not_found', 'The store has no such member')
  if (member.role === 'owner' && members.filter((each) => each.role === 'owner').length === 1) {
    throw refuse('conflict', 'This is the last owner: make somebody else an owner first')
  }
  const now = ctx.now()
  await ctx.db
    .updateTable('memberships')
    .set({ removed_at: now, updated_at: now })
    .where('user_id', '=', member.user_id)
    .execute()
  await ctx.db
    .updateTable('api_keys')
    .set({ revoked_at: now, revoked_reason: 'member-removed', updated_at: now })
    .where('user_id', '=', member.user_id)
    .where('revoked_at', 'is', null)
    .execute()
  for (const hook of ctx.extensions.memberRemoved) await hook(ctx, member.user_id)
  await ctx.afterCommit(() => ctx.services.accessChanged(ctx.store.id))
}
