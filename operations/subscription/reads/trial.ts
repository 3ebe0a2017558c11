/** The free trial, and whether a payment failed recently. */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import type { z } from '#runtime/schema'
import { readRow } from '../rows.ts'
import type { trial } from '../schema.ts'

const recentMs = 7 * dayMs

export async function readTrial(ctx: Context): Promise<z.infer<typeof trial>> {
  const [row, [failed], [paid]] = await Promise.all([readRow(ctx), lastFailed(ctx, {}), lastPaid(ctx, {})])
  const now = ctx.now().getTime()
  const isTrial = row.status === 'trialing'
  const { trial_ends_at: endsAt } = row
  const isRecent = failed !== undefined && failed.created_at.getTime() > now - recentMs
  const isPaidSince = failed !== undefined && paid !== undefined && paid.created_at > failed.created_at
  return {
    isTrial,
    startedAt: endsAt && row.created_at.toISOString(),
    endsAt: endsAt?.toISOString() ?? null,
    daysLeft: isTrial && endsAt ? Math.max(0, Math.ceil((endsAt.getTime() - now) / dayMs)) : 0,
    isExpired: endsAt !== null && endsAt.getTime() <= now && paid === undefined && row.provider === null,
    paymentFailedRecently: isRecent && !isPaidSince,
    lastFailedPayment: failed
      ? {
          failedAt: failed.created_at.toISOString(),
          amount: Number(failed.amount),
          currency: failed.currency,
          reason: failed.failure_reason,
        }
      : null,
  }
}

type Known = Pick<Row<'payments'>, 'created_at' | 'amount' | 'currency' | 'failure_reason'>

const prepareLastPayment = (...statuses: string[]) =>
  prepared<object, Known>((db) =>
    db
      .selectFrom('payments')
      .select(['created_at', 'amount', 'currency', 'failure_reason'])
      .where('status', 'in', statuses)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1),
  )
const lastFailed = prepareLastPayment('rejected')
const lastPaid = prepareLastPayment('approved', 'refunded')
