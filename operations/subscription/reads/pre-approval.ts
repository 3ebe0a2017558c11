/** Reads the payment agreement live from the provider. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import type { z } from '#runtime/schema'
import { toCardSummary } from '../cards.ts'
import { findRequesterEmail } from '../notices/owner-notifications.ts'
import { getBilling } from '../provider/connection.ts'
import { readRow } from '../rows.ts'
import type { preApproval } from '../schema.ts'

interface Known {
  id: string
  provider: string
  since: Date
  changedAt: Date
}

/** Refuses with `not_found` when there never was an agreement. Throws what the provider throws. */
export async function readPreApproval(ctx: Context): Promise<z.infer<typeof preApproval>> {
  const none = refuse('not_found', 'There is no payment agreement yet: begin with a checkout')
  const known = (await findCurrentAgreement(ctx)) ?? (await findPendingAgreement(ctx))
  if (!known) throw none
  const { port } = await getBilling(ctx, known.provider)
  try {
    const agreement = await port.getAgreement(known.id)
    return {
      id: agreement.id,
      provider: agreement.provider,
      status: agreement.status,
      reason: agreement.reason,
      payerEmail: agreement.payerEmail ?? (await findPayer(ctx, known.id)),
      amount: Number(agreement.amount),
      currency: agreement.currency,
      frequency: agreement.frequency,
      frequencyType: agreement.frequencyType,
      startsAt: agreement.startsAt,
      nextPaymentAt: agreement.nextPaymentAt,
      paymentMethod: toCardSummary(agreement.paymentMethod),
      checkoutUrl: agreement.checkoutUrl,
      createdAt: known.since.toISOString(),
      updatedAt: known.changedAt.toISOString(),
    }
  } catch (error) {
    if (error instanceof Refused && error.code === 'not-found') throw none
    throw error
  }
}

/** The payer's email as sent to the provider. Old agreements did not store it: there it is the requesting user's email. */
async function findPayer(ctx: Context, id: string): Promise<string> {
  const row = await ctx.db
    .selectFrom('checkouts')
    .select(sql<string | null>`terms->>'payerEmail'`.as('payer'))
    .where('provider_checkout_id', '=', id)
    .executeTakeFirst()
  return row?.payer ?? findRequesterEmail(ctx)
}

async function findCurrentAgreement(ctx: Context): Promise<Known | null> {
  const row = await readRow(ctx)
  if (!row.agreement_id || !row.provider) return null
  const since = row.agreement_since ?? row.created_at
  const changedAt = row.agreement_changed_at ?? since
  return { id: row.agreement_id, provider: row.provider, since, changedAt }
}

/** The agreement of a checkout that is not paid yet. */
async function findPendingAgreement(ctx: Context): Promise<Known | null> {
  const row = await ctx.db
    .selectFrom('checkouts')
    .select(['provider', 'provider_checkout_id', 'created_at', 'updated_at'])
    .where('provider_checkout_id', 'is not', null)
    .where('kind', '<>', 'card-update')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  const { provider, provider_checkout_id: id, created_at: since, updated_at: changedAt } = row
  return { id: id!, provider, since, changedAt }
}
