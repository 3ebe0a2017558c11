/** Records on automation messages when they converted. */
import { sql } from 'kysely'
import { type attribution, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'

/**
 * Sets each message's conversion time, that of its first counted order, in the transaction that writes the conversions.
 */
export async function applyConversions(
  ctx: Context,
  changes: readonly attribution.ConversionChange[],
): Promise<void> {
  const ids = new Set(
    changes
      .flatMap(({ before, after }) => [before?.message_id, after?.message_id])
      .filter((id) => id != null),
  )
  const known = [...ids].filter(isId)
  if (known.length === 0) return
  await ctx.db
    .updateTable('automation_executions')
    .set((eb) => ({
      converted_at: eb
        .selectFrom('conversions as c')
        .select(sql<Date>`min(c.placed_at)`.as('at'))
        .where(sql<boolean>`c.message_id = automation_executions.id::text`)
        .where(isCountedConversion('c')),
      updated_at: ctx.now(),
    }))
    .where('id', '=', sql<string>`any(${known}::uuid[])`)
    .execute()
}
