/** Reads and saves the merchant's tier settings, and counts the contacts per tier. */

import { sql } from 'kysely'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import {
  colour,
  count,
  currency,
  instant,
  line,
  moneyOver0,
  named,
  object,
  writeBody,
  z,
} from '#runtime/schema'
import { foldText } from '#runtime/values/fold'
import { recalculateSoon } from '../switch/runs.ts'
import { defaultTierSettings, findTierOrderIssue, type TierSettings } from './tiers.ts'

const key = z.string().regex(/^[a-z0-9-]{1,30}$/, 'must be 1 to 30 of a-z, 0-9 and -')
/** In the filter of conversations this value stands for contacts without a tier, so no tier may have it as key. */
const noTier = 'none'
const match = z.enum(['any', 'all'])
const periodDays = z.number().int().min(1).max(3650).nullable()
const minPurchases = z.number().int().min(1).max(100_000).nullable()
const minAmount = moneyOver0('must be over 0').nullable()

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
  { volatileFields: ['tiers.contactCount'] },
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

/**
 * The tier settings. A change is merged into them, and the result is validated as a whole. Saving recalculates every
 * contact.
 */
export const tierRules = settings({
  name: 'inbox:tiers',
  table: 'inbox_settings',
  columns: { content: 'tier_settings', updatedAt: 'tier_settings_updated_at' },
  defaults: defaultTierSettings,
  schema: tierSettings,
  check: (_ctx, after) => validateTiers(after),
  derivedColumns: (_after, _row, now) => ({ updated_at: now }),
  async onSaved(tx, { tiers }) {
    await tx.db
      .updateTable('contacts')
      .set({ tier_source: 'automatic', updated_at: tx.now() })
      .where('tier_source', '=', 'manual')
      .where(sql<boolean>`not (tier = any(${tiers.map((tier) => tier.key)}::text[]))`)
      .execute()
    await recalculateSoon(tx)
  },
  async answerFields(ctx, { tiers }) {
    const counts = await ctx.db
      .selectFrom('contacts')
      .select(['tier', sql<number>`count(*)::int`.as('contacts')])
      .where('tier', 'is not', null)
      .groupBy('tier')
      .execute()
    const contacts = new Map(counts.map((row) => [row.tier, row.contacts]))
    return {
      tiers: tiers.map((tier) => ({ ...tier, contactCount: contacts.get(tier.key) ?? 0 })),
      currency: ctx.store.currency,
    }
  },
})

function validateTiers({ tiers }: TierSettings): void {
  const keys = new Set<string>()
  const names = new Set<string>()
  for (const [i, tier] of tiers.entries()) {
    if (keys.has(tier.key)) throw refuse('bad_request', `tiers.${i}.key: ${tier.key} is used by another tier`)
    const name = foldText(tier.name)
    if (names.has(name)) throw refuse('bad_request', `tiers.${i}.name: ${tier.name} is used by another tier`)
    keys.add(tier.key)
    names.add(name)
  }
  const issue = findTierOrderIssue(tiers)
  if (issue) throw refuse('bad_request', issue)
}
