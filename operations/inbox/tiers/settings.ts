/** The merchant's tiers: read with how many contacts each has, merged and checked as a whole. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { colour, count, currency, instant, line, money, named, object, writeBody, z } from '#runtime/schema'
import { contactOf } from '../conversations/contact-of.ts'
import { recalculateContacts, recalculateSoon } from './segments.ts'
import { faultOfTiers, showTiers, type TierSettings, tierSettingsOf } from './tiers.ts'

const key = z.string().regex(/^[a-z0-9-]{1,30}$/, 'must be 1 to 30 of a-z, 0-9 and -')
/** What the filter of the lists calls the contacts without a tier. */
const noTier = 'none'
const match = z.enum(['any', 'all'])
const periodDays = z.number().int().min(1).max(3650).nullable()
const minPurchases = z.number().int().min(1).max(100_000).nullable()
const minAmount = money.refine((value) => value > 0, 'must be over 0').nullable()

export const tierSettings = named(
  'TierSettings',
  object({
    isEnabled: z.boolean().describe('Off: every automatic tier is null'),
    match: match.describe('Either threshold is enough, or every one that is given'),
    periodDays: periodDays.describe('null: since ever'),
    tiers: z
      .array(
        object({
          key,
          name: line(1, 40),
          color: colour,
          minPurchases,
          minAmount,
          contactCount: count,
        }),
      )
      .describe('Lowest first'),
    currency,
    updatedAt: instant.nullable(),
  }),
  { moves: ['tiers.contactCount'] },
)

const tierInput = writeBody(
  {
    key: key.refine(
      (value) => value !== noTier,
      'must not be `none`: the lists call those without a tier so',
    ),
    name: line(1, 40),
    color: colour.default('#6b7280'),
    minPurchases: minPurchases.default(null),
    minAmount: minAmount.default(null),
  },
  ['contactCount'],
  ['key', 'name', 'color', 'minPurchases', 'minAmount'],
)

export const tierSettingsInput = writeBody(
  { isEnabled: z.boolean(), match, periodDays, tiers: z.array(tierInput).min(1).max(10) },
  ['currency', 'updatedAt'],
)

export async function readTierSettings(ctx: Context): Promise<z.infer<typeof tierSettings>> {
  const settings = await tierSettingsOf(ctx)
  const [saved, counts] = [
    await ctx.db.selectFrom('inbox_settings').select('tier_settings_updated_at').executeTakeFirst(),
    await ctx.db
      .selectFrom('contacts')
      .select(['tier', sql<number>`count(*)::int`.as('contacts')])
      .where('tier', 'is not', null)
      .groupBy('tier')
      .execute(),
  ]
  const contacts = new Map(counts.map((row) => [row.tier, row.contacts]))
  const { isEnabled, tiers, ...others } = settings
  return {
    isEnabled,
    match: others.match,
    periodDays: others.periodDays,
    tiers: tiers.map((tier) => ({ ...tier, contactCount: contacts.get(tier.key) ?? 0 })),
    currency: ctx.store.currency,
    updatedAt: saved?.tier_settings_updated_at?.toISOString() ?? null,
  }
}

/** What is left out keeps its value; the same again changes nothing. Queues the recalculation. */
export async function saveTierSettings(
  ctx: Context,
  input: z.infer<typeof tierSettingsInput>,
): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .insertInto('inbox_settings')
    .values({ created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await ctx.db.selectFrom('inbox_settings').select('store_id').forNoKeyUpdate().execute()
  const before = await tierSettingsOf(ctx)
  const tiers = input.tiers?.map(
    ({ key: tierKey, name, color, minPurchases: purchases, minAmount: amount }) => ({
      key: tierKey,
      name,
      color,
      minPurchases: purchases,
      minAmount: amount,
    }),
  )
  const after: TierSettings = {
    isEnabled: input.isEnabled ?? before.isEnabled,
    match: input.match ?? before.match,
    periodDays: input.periodDays === undefined ? before.periodDays : input.periodDays,
    tiers: tiers ?? before.tiers,
  }
  refuseFaults(after)
  if (JSON.stringify(after) === JSON.stringify(ordered(before))) return
  await ctx.db
    .updateTable('inbox_settings')
    .set({ tier_settings: JSON.stringify(after), tier_settings_updated_at: now, updated_at: now })
    .execute()
  await ctx.db
    .updateTable('contacts')
    .set({ tier_source: 'automatic', updated_at: now })
    .where('tier_source', '=', 'manual')
    .where(sql<boolean>`not (tier = any(${after.tiers.map((tier) => tier.key)}::text[]))`)
    .execute()
  await recalculateSoon(ctx)
}

/** Keys in one order, whatever order the database kept them in. */
const ordered = ({ isEnabled, match: matched, periodDays: days, tiers }: TierSettings): TierSettings => ({
  isEnabled,
  match: matched,
  periodDays: days,
  tiers: tiers.map(({ key: tierKey, name, color, minPurchases: purchases, minAmount: amount }) => ({
    key: tierKey,
    name,
    color,
    minPurchases: purchases,
    minAmount: amount,
  })),
})

function refuseFaults({ tiers }: TierSettings): void {
  const keys = new Set<string>()
  const names = new Set<string>()
  for (const [i, tier] of tiers.entries()) {
    if (keys.has(tier.key)) throw refuse('bad_request', `tiers.${i}.key: ${tier.key} is used by another tier`)
    const name = tier.name.toLowerCase()
    if (names.has(name)) throw refuse('bad_request', `tiers.${i}.name: ${tier.name} is used by another tier`)
    keys.add(tier.key)
    names.add(name)
  }
  const fault = faultOfTiers(tiers)
  if (fault) throw refuse('bad_request', fault)
}

/** A key sets the contact's tier by hand; null takes that away and computes the automatic one at once. */
export async function setTier(ctx: Context, conversationId: string, tier: string | null): Promise<void> {
  const { contactId } = await contactOf(ctx, conversationId)
  const contact = await ctx.db
    .selectFrom('contacts')
    .select(['id', 'tier', 'tier_source'])
    .where('id', '=', contactId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { tiers } = await tierSettingsOf(ctx)
  if (tier !== null && !tiers.some((each) => each.key === tier)) {
    throw refuse('bad_request', `tier: must be one of ${tiers.map((each) => each.key).join(', ')}, or null`)
  }
  const isSame =
    tier === null
      ? contact.tier_source === 'automatic'
      : contact.tier_source === 'manual' && contact.tier === tier
  if (isSame) return
  await ctx.db
    .updateTable('contacts')
    .set({
      tier_source: tier === null ? 'automatic' : 'manual',
      ...(tier === null ? {} : { tier }),
      updated_at: ctx.now(),
    })
    .where('id', '=', contact.id)
    .execute()
  if (tier === null) await recalculateContacts(ctx, [contact.id])
  await showTiers(ctx, [contact.id])
}
