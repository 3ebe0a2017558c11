/** Creates a store with rows of all sections, for command lines, the demo and tests. */
import type { Database } from '#db/database'
import { getPlan } from '#operations/store/plans'
import { requireKnownZone } from '#operations/store/profile/locality'
import { addMember, type StoreSummary } from '#operations/store/profile/stores'
import { addPeriod } from '#operations/store/quota/periods'
import { isDuplicate, refuse } from '#runtime/errors'
import { newId, randomText } from '#runtime/values/ids'

export interface NewStore {
  slug: string
  name: string
  /** The owner's email. If no person has it, the person is created. */
  owner: string
  ownerName?: string
  country: string
  currency: string
  timezone: string
  locale?: string
  domain?: string
  /** The plan, for months that are renewed without charge and without a payment provider; default: a trial. */
  plan?: string
  /** The store's id, if the caller must know it before; default: a new id. */
  id?: string
}

const trialMs = 14 * 24 * 3_600_000

/**
 * Creates a store with its owner, its subscription and its first message cycle. Refuses a taken slug, and a time zone
 * that the database does not know.
 */
export async function createStore(
  database: Database,
  now: Date,
  input: NewStore,
): Promise<StoreSummary & { ownerId: string }> {
  return database.root.transaction().execute(async (transaction) => {
    await requireKnownZone(transaction, input.timezone)
    const plan = getPlan(input.plan ?? 'trial')
    const id = input.id ?? newId(now.getTime())
    const publicId = randomText(20)
    await transaction
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
      .execute()
      .catch((error) => {
        throw isDuplicate(error) ? refuse('conflict', `slug: ${input.slug} is taken`) : error
      })

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
