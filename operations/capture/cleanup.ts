/** Hourly cleanup of rows that captures and imports leave behind. */

import { dropStagedRows } from '#operations/campaigns/index'
import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { dropOldPreviews } from './popup/previews.ts'

/**
 * Deletes expired previews, rate counters (which contain IP hashes) older than an hour, and staged rows of finished
 * imports.
 */
export async function cleanUp(ctx: SystemContext): Promise<void> {
  const now = ctx.now()
  await dropOldPreviews(ctx)
  await ctx.root
    .deleteFrom('rate_counters')
    .where('started_at', '<', new Date(now.getTime() - hourMs))
    .execute()
  await dropStagedRows(ctx)
}
