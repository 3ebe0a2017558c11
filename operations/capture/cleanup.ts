/** Hourly cleanup of rows that captures and imports leave behind. */

import { dropStagedRows } from '#operations/campaigns/index'
import type { SystemContext } from '#runtime/context'
import { hourMs, weekMs } from '#runtime/durations'
import { dropOldPreviews } from './popup/previews.ts'

/**
 * Deletes expired previews, rate counters (which contain IP hashes) older than an hour, and staged rows of finished
 * imports. Erases the emails of erased people who could not be taken off the email provider's list for a week.
 */
export async function cleanUp(ctx: SystemContext): Promise<void> {
  const now = ctx.now()
  await dropOldPreviews(ctx)
  await ctx.root
    .deleteFrom('rate_counters')
    .where('started_at', '<', new Date(now.getTime() - hourMs))
    .execute()
  await dropStagedRows(ctx)
  await ctx.root
    .updateTable('newsletter_subscribers')
    .set({ email: null, erase_due: false, push_due: false, push_claim: null, updated_at: now })
    .where('erase_due', '=', true)
    .where('updated_at', '<', new Date(now.getTime() - weekMs))
    .execute()
}
