/** Installment rules, their settings, and the installment options of an amount. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import { hundredths, inCurrency } from '#runtime/values/money'
import { buildOptions, findRuleFor, type RuleTerms } from './math.ts'
import type { installmentRule, Rule, RuleChange, simulation } from './schema.ts'
import { installmentWidget } from './settings.ts'

const maxRules = 50

type RuleRow = Omit<Row<'installment_rules'>, 'store_id'>
type ShownRule = z.input<typeof installmentRule>

const toShownRule = (row: RuleRow): ShownRule => ({
  id: row.id,
  ...toRule(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

const toRule = (row: RuleRow): Rule => ({
  name: row.name,
  minAmount: Number(row.min_amount),
  maxAmount: row.max_amount === null ? null : Number(row.max_amount),
  maxInstallments: row.max_installments,
  interestFreeInstallments: row.interest_free_installments,
  monthlyInterestRate: Number(row.monthly_interest_rate),
  minInstallmentAmount: Number(row.min_installment_amount),
  isActive: row.is_active,
})

const toTerms = (row: RuleRow): RuleTerms => ({
  id: row.id,
  minAmount: row.min_amount,
  maxAmount: row.max_amount,
  maxInstallments: row.max_installments,
  interestFreeInstallments: row.interest_free_installments,
  monthlyInterestRate: row.monthly_interest_rate,
  minInstallmentAmount: row.min_installment_amount,
})

const listRules = prepared<object, RuleRow>((db) =>
  db
    .selectFrom('installment_rules')
    .select([
      'id',
      'name',
      sql<string>`min_amount::text`.as('min_amount'),
      sql<string | null>`max_amount::text`.as('max_amount'),
      'max_installments',
      'interest_free_installments',
      sql<string>`monthly_interest_rate::text`.as('monthly_interest_rate'),
      sql<string>`min_installment_amount::text`.as('min_installment_amount'),
      'is_active',
      'created_at',
      'updated_at',
    ])
    .orderBy('installment_rules.min_amount')
    .orderBy('id'),
)

/** Reads the rules (lowest amount first), the settings, and, if `amount` is given, its options. */
export async function readInstallments(ctx: Context, amount?: number) {
  const rows = await listRules(ctx, {})
  return {
    data: rows.map(toShownRule),
    settings: await installmentWidget.read(ctx),
    simulation:
      amount === undefined ? null : simulate(ctx, rows, inCurrency(ctx.store.currency).formatAmount(amount)),
  }
}

export async function readRule(ctx: Context, id: string): Promise<ShownRule> {
  return toShownRule(findRule(await listRules(ctx, {}), id))
}

function findRule(rows: readonly RuleRow[], id: string): RuleRow {
  const row = rows.find((each) => each.id === id.toLowerCase())
  if (!row) throw refuse('not_found', noSuchRule)
  return row
}
const noSuchRule = 'There is no such installment rule'

function simulate(ctx: Context, rows: readonly RuleRow[], amount: string): z.input<typeof simulation> {
  const { currency } = ctx.store
  const rule = findRuleFor(amount, rows.filter((row) => row.is_active).map(toTerms), currency)
  return {
    amount: Number(amount),
    currency,
    ruleId: rule?.id ?? null,
    options: buildOptions(amount, rule, currency),
  }
}

const defaults = {
  minAmount: 0,
  maxAmount: null,
  monthlyInterestRate: 0,
  minInstallmentAmount: 0,
  isActive: true,
}

/** Refuses a range that overlaps the range of an active rule, and the 51st rule. Runs in the caller's transaction. */
export async function createRule(
  ctx: Context,
  input: RuleChange & Pick<Rule, 'name' | 'maxInstallments'>,
): Promise<ShownRule> {
  await ctx.lockStore()
  const rows = await listRules(ctx, {})
  if (rows.length >= maxRules) {
    throw refuse('conflict', `There are ${maxRules} rules, and there cannot be more: delete one first`)
  }
  const rule: Rule = {
    ...defaults,
    interestFreeInstallments: input.maxInstallments,
    ...omitUndefined(input),
  }
  validateRule(rule)
  requireNoOverlap(rule, null, rows)
  const now = ctx.now()
  const id = ctx.newId()
  await ctx.db
    .insertInto('installment_rules')
    .values({ id, ...toColumns(rule), created_at: now, updated_at: now })
    .execute()
  await markStorefrontChanged(ctx)
  return { id, ...rule, createdAt: now.toISOString(), updatedAt: now.toISOString() }
}

/**
 * Changes a rule; omitted fields stay, and an equal rule is not written. Refuses an overlapping range like
 * `createRule`. Runs in the caller's transaction.
 */
export async function changeRule(ctx: Context, id: string, change: RuleChange): Promise<ShownRule> {
  await ctx.lockStore()
  const rows = await listRules(ctx, {})
  const row = findRule(rows, id)
  const before = toRule(row)
  const rule: Rule = { ...before, ...omitUndefined(change) }
  if (isDeepStrictEqual(before, rule)) return toShownRule(row)
  validateRule(rule)
  requireNoOverlap(rule, row.id, rows)
  const now = ctx.now()
  await ctx.db
    .updateTable('installment_rules')
    .set({ ...toColumns(rule), updated_at: now })
    .where('id', '=', id)
    .execute()
  await markStorefrontChanged(ctx)
  return { ...toShownRule(row), ...rule, updatedAt: now.toISOString() }
}

/** Runs in the caller's transaction. */
export async function deleteRule(ctx: Context, id: string): Promise<void> {
  await requireRow(ctx.db.deleteFrom('installment_rules').returning('id'), id, noSuchRule)
  await markStorefrontChanged(ctx)
}

const toColumns = (rule: Rule) => ({
  name: rule.name,
  min_amount: hundredths.formatAmount(rule.minAmount),
  max_amount: rule.maxAmount === null ? null : hundredths.formatAmount(rule.maxAmount),
  max_installments: rule.maxInstallments,
  interest_free_installments: rule.interestFreeInstallments,
  monthly_interest_rate: rule.monthlyInterestRate.toFixed(4),
  min_installment_amount: hundredths.formatAmount(rule.minInstallmentAmount),
  is_active: rule.isActive,
})

function validateRule(rule: Rule): void {
  const { minAmount, maxAmount, maxInstallments, interestFreeInstallments, monthlyInterestRate } = rule
  if (maxAmount !== null && maxAmount <= minAmount) {
    throw refuse('bad_request', 'maxAmount: must be above minAmount')
  }
  if (interestFreeInstallments > maxInstallments) {
    throw refuse('bad_request', 'interestFreeInstallments: must be at most maxInstallments')
  }
  if (interestFreeInstallments < maxInstallments && monthlyInterestRate === 0) {
    throw refuse(
      'bad_request',
      'monthlyInterestRate: must be above 0, since not all installments are interest-free',
    )
  }
  if (interestFreeInstallments === maxInstallments && monthlyInterestRate > 0) {
    throw refuse('bad_request', 'monthlyInterestRate: must be 0, since all installments are interest-free')
  }
}

/**
 * Refuses a rule whose range `[minAmount, maxAmount)` overlaps the range of an active rule. The caller holds the
 * store's lock.
 */
function requireNoOverlap(rule: Rule, id: string | null, rows: readonly RuleRow[]): void {
  if (!rule.isActive) return
  const other = rows.find((row) => {
    if (row.id === id || !row.is_active) return false
    const { minAmount, maxAmount } = toRule(row)
    return (
      (maxAmount === null || rule.minAmount < maxAmount) &&
      (rule.maxAmount === null || minAmount < rule.maxAmount)
    )
  })
  if (!other) return
  const { name, minAmount, maxAmount } = toRule(other)
  const range = maxAmount === null ? `from ${minAmount}` : `from ${minAmount} to below ${maxAmount}`
  throw refuse('conflict', `The amounts overlap those of the active rule ${name} (${range})`)
}

/**
 * Reads what the storefront shows: the active rules, and the options of a product's price (decimal text). A price in
 * another currency has none: the rules' bounds are in the store's.
 */
export async function readPublicInstallments(
  ctx: Context,
  product: { price: string; currency: string } | null,
) {
  const rows = (await listRules(ctx, {})).filter((row) => row.is_active)
  const rules = rows.map((row) => {
    const { isActive: _active, ...rule } = toRule(row)
    return { id: row.id, ...rule }
  })
  const isBuyable = product?.currency === ctx.store.currency && Number(product.price) > 0
  return { rules, simulation: isBuyable ? simulate(ctx, rows, product.price) : null }
}
