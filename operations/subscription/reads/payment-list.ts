/** Lists payments in one round trip; the database builds the JSON. */

import { sql } from 'kysely'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'

const item = jsonObject({
  id: 'p.id',
  status: 'p.status',
  kind: 'p.kind',
  amount: moneyNumber('p.amount'),
  discount: moneyNumber('p.discount'),
  creditApplied: moneyNumber('p.credit_applied'),
  balanceChange: moneyNumber('p.balance_change'),
  currency: 'p.currency',
  planId: 'p.plan_id',
  billingCycle: 'p.billing_cycle',
  periodStart: isoInstant('p.period_start'),
  periodEnd: isoInstant('p.period_end'),
  attempt: 'p.attempt',
  failureReason: 'p.failure_reason',
  paymentMethod: 'p.payment_method',
  receiptUrl: 'p.receipt_url',
  paidAt: isoInstant('p.paid_at'),
  createdAt: isoInstant('p.created_at'),
  updatedAt: isoInstant('p.updated_at'),
})

/** Lists payments, newest first. */
export const listPayments = preparedList<{ status?: readonly string[] | undefined }>(
  (db, values, has) => {
    let rows = db.selectFrom('payments as p')
    if (has('status')) rows = rows.where(sql<boolean>`p.status = any(${values.status}::text[])`)
    return {
      rows,
      item,
      order: [
        ['p.created_at', 'desc'],
        ['p.id', 'desc'],
      ],
    }
  },
  { cursorFilters: ['status'] },
)
