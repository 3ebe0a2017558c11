/** Making stores and their people, for the command lines, the demo and the tests. */
import { sql } from 'kysely'
import type { Database, RootDatabase } from '#db/database'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { planOf } from '#runtime/plans'
import { cleanEmail, emailKey, emailKeyOf } from '#runtime/values/email'
import { newId, randomText } from '#runtime/values/ids'
import { addPeriod } from '../quota/periods.ts'

export interface NewStore {
  slug: string
  name: string
  /** Email of the owner; the person is found by it, or made. */
  owner: string
  ownerName?: string
  country: string
  currency: string
  timezone: string
  locale?: string
  domain?: string
  /** Left out: the trial begins. Otherwise an active month without a provider, which renews uncharged. */
  plan?: string
  /** For what must be found again by name; default a new one. */
  id?: string
}

export interface StoreSummary {
  id: string
  slug: string
  publicId: string
  name: string
  plan: string
}

/**
 * Which connection messages leave through from now on, in the caller's transaction; the one place that says so. It
 * may be chosen before it is connected. The one that is selected already changes nothing.
 */
export async function selectConnection(
  ctx: Context,
  type: 'qr' | 'official' | 'shared' | null,
): Promise<void> {
  const changed = await ctx.db
    .updateTable('stores')
    .set({ messaging_connection_type: type, updated_at: ctx.now() })
    .where('messaging_connection_type', 'is distinct from', type)
    .returning('id')
    .execute()
  if (changed.length === 0) return
  for (const told of ctx.wired.connectionSelected) await told(ctx)
}

const trialMs = 14 * 24 * 3_600_000

/** Makes a store with its owner, its subscription and its first message cycle. Refuses a taken slug. */
export async function createStore(
  database: Database,
  now: Date,
  input: NewStore,
): Promise<StoreSummary & { ownerId: string }> {
  return database.root.transaction().execute(async (transaction) => {
    const plan = planOf(input.plan ?? 'trial')
    const id = input.id ?? newId(now.getTime())
    const publicId = randomText(20)
    const inserted = await transaction
      .insertInto('stores')
      .values({
        id,
        slug: input.slug,
        public_id: publicId,
        name: input.name,
        domain: input.domain ?? `${input.slug}.example.com`,
        platform_store_id: `sandbox-${input.slug}`,
        country: input.country,
        currency: input.currency,
        timezone: input.timezone,
        locale: input.locale ?? 'pt-BR',
        joined_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute()
    if (inserted.length === 0) throw refuse('conflict', `slug: ${input.slug} is taken`)

    await transaction
      .insertInto('conversion_zones')
      .values({ store_id: id, timezone: input.timezone, built_before: null, created_at: now })
      .execute()
    const isTrial = input.plan === undefined
    const end = isTrial ? new Date(now.getTime() + trialMs) : addPeriod(now, 1)
    await transaction
      .insertInto('subscriptions')
      .values({
        store_id: id,
        id: newId(now.getTime()),
        plan_id: plan.id,
        status: isTrial ? 'trialing' : 'active',
        billing_cycle: isTrial ? null : 'monthly',
        anchor_at: now,
        current_period_start: now,
        current_period_end: end,
        trial_ends_at: isTrial ? end : null,
        created_at: now,
        updated_at: now,
      })
      .execute()
    await transaction
      .insertInto('usage_cycles')
      .values({
        store_id: id,
        starts_at: now,
        ends_at: end,
        message_limit: plan.messagesPerCycle,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const ownerId = await addMember(transaction, now, {
      storeId: id,
      email: input.owner,
      name: input.ownerName ?? input.owner.split('@')[0]!,
      role: 'owner',
    })
    return { id, slug: input.slug, publicId, name: input.name, plan: plan.id, ownerId }
  })
}

/** Finds the person by email without case, or makes them, and makes them a member. Refuses who is one already. */
export async function addMember(
  transaction: RootDatabase,
  now: Date,
  member: { storeId: string; email: string; name: string; role: 'owner' | 'member' | 'agent' },
): Promise<string> {
  const email = cleanEmail(member.email)
  const userId = await personOf(transaction, now, email, member.name)
  const added = await transaction
    .insertInto('memberships')
    .values({
      store_id: member.storeId,
      user_id: userId,
      role: member.role,
      joined_at: now,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'user_id'])
        .doUpdateSet({ role: member.role, joined_at: now, removed_at: null, updated_at: now })
        .where('memberships.removed_at', 'is not', null),
    )
    .returning('user_id')
    .execute()
  if (added.length === 0) throw refuse('conflict', `${email} is a member of the store already`)
  return userId
}

/** The id of the person with this email; of two that make them at once, both get the one. */
async function personOf(transaction: RootDatabase, now: Date, email: string, name: string): Promise<string> {
  const find = () =>
    transaction
      .selectFrom('users')
      .select('id')
      .where(sql<boolean>`${emailKeyOf('email')} = ${emailKey(email)}`)
      .executeTakeFirst()
  const known = await find()
  if (known) return known.id
  const made = await transaction
    .insertInto('users')
    .values({ id: newId(now.getTime()), name, email, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return (made ?? (await find()))!.id
}
