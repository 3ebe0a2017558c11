/** The payments as they are answered: one round trip. */

import { sql } from 'kysely'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'

const item = jsonObject({
  id: 'p.id',
  status: 'p.status',
  kind: 'p.kind',
  amount: moneyOf('p.amount'),
  discount: moneyOf('p.discount'),
  creditApplied: moneyOf('p.credit_applied'),
  currency: 'p.currency',
  planId: 'p.plan_id',
  billingCycle: 'p.billing_cycle',
  periodStart: instantOf('p.period_start'),
  periodEnd: instantOf('p.period_end'),
  attempt: 'p.attempt',
  failureReason: 'p.failure_reason',
  paymentMethod: 'p.payment_method',
  receiptUrl: 'p.receipt_url',
  paidAt: instantOf('p.paid_at'),
  createdAt: instantOf('p.created_at'),
  updatedAt: instantOf('p.updated_at'),
})

/** Newest first. */
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
  { walks: ['status'] },
)
