import { type Kysely, sql } from 'kysely'

/** Settings that were saved with decimals in a store whose currency has none: as they were, no save would take them back. */
const wholeCurrencies = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ')

const documents = {
  automations: ['coupon', 'conditions', 'settings', 'flow'],
  automation_flow_versions: ['flow'],
  discounts: ['content'],
  inbox_settings: ['tier_settings'],
  newsletter_settings: ['settings'],
  widget_settings: ['content'],
}
const amounts = new Set(['minAmount', 'maxAmount', 'minimumAmount'])

/** A small amount becomes 1: 0 would mean something else. */
const round = (amount: number): number => (amount > 0 ? Math.max(1, Math.round(amount)) : amount)

function roundAmounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(roundAmounts)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).map(([key, each]) => {
      const isAmount =
        amounts.has(key) ||
        (key === 'value' && fields.type === 'amount') ||
        (key === 'discountValue' && fields.discountType !== 'percentage')
      return [key, isAmount && typeof each === 'number' ? round(each) : roundAmounts(each)]
    }),
  )
}

export async function up(db: Kysely<unknown>): Promise<void> {
  const whole = sql`(select id from stores where currency = any(${wholeCurrencies}))`
  for (const [table, columns] of Object.entries(documents)) {
    for (const column of columns) {
      const [from, of] = [sql.table(table), sql.ref(column)]
      const { rows } = await sql<{ store_id: string; kept: unknown }>`
        select distinct store_id, ${of} as kept from ${from}
        where store_id in ${whole} and ${of}::text ~ '[0-9][.][0-9]'`.execute(db)
      for (const { store_id, kept } of rows) {
        const rounded = JSON.stringify(roundAmounts(kept))
        if (rounded === JSON.stringify(kept)) continue
        await sql`update ${from} set ${of} = ${rounded}::jsonb
          where store_id = ${store_id} and ${of} = ${JSON.stringify(kept)}::jsonb`.execute(db)
      }
    }
  }
  await sql`
    update installment_rules set min_amount = round(min_amount), max_amount = greatest(1, round(max_amount)),
      min_installment_amount = round(min_installment_amount)
    where store_id in ${whole}`.execute(db)
}
