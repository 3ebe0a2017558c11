/** Our templates compared with the provider's, which is right. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuseForNow } from '#runtime/errors'
import { Unavailable } from '#runtime/ports/errors'
import { pagesOf } from '#runtime/ports/pages'
import type { Route } from '../numbers/route.ts'
import { withinTime } from '../numbers/within-time.ts'
import type { ProviderTemplate, TemplateContent } from '../provider/template-port.ts'
import { placeholdersOf } from './content.ts'
import { forgetTemplate, isReview, moveCategory, moveStatus, warnOfMisfits } from './moves.ts'
import { requireOfficial } from './route.ts'
import { contentColumns, contentOf, type TemplateRow } from './rows.ts'
import { isSameToReaders } from './rules.ts'

export interface SyncResult {
  added: number
  updated: number
  removed: number
  unchanged: number
  /** ISO 8601. */
  syncedAt: string
}

const answerWithinMs = 20_000
/** A sync that runs longer belongs to a process that died. */
const deadAfterMs = minuteMs

/** Takes over what the provider has. Refuses where no official number is connected, or a sync is running. */
export async function syncTemplates(ctx: Context): Promise<SyncResult> {
  const route = await requireOfficial(ctx)
  const startedAt = await claimSync(ctx)
  try {
    const theirs = await withinTime(listAll(ctx, route), answerWithinMs)
    return await ctx.transaction((tx) => compare(tx, theirs, startedAt))
  } finally {
    await ctx.db
      .updateTable('message_template_syncs')
      .set({ is_running: false })
      .where('started_at', '=', startedAt)
      .execute()
  }
}

async function claimSync(ctx: Context): Promise<Date> {
  const now = ctx.now()
  const claim = { started_at: now, is_running: true }
  const claimed = await ctx.db
    .insertInto('message_template_syncs')
    .values(claim)
    .onConflict((conflict) =>
      conflict
        .column('store_id')
        .doUpdateSet(claim)
        .where((eb) =>
          eb.or([
            eb('message_template_syncs.is_running', '=', false),
            eb('message_template_syncs.started_at', '<=', new Date(now.getTime() - deadAfterMs)),
          ]),
        ),
    )
    .returning('started_at')
    .executeTakeFirst()
  if (!claimed)
    throw refuseForNow('conflict', 'The templates are being synced already: wait until it is done')
  return claimed.started_at
}

async function listAll(ctx: Context, { port, store }: Route): Promise<ProviderTemplate[]> {
  const until = performance.now() + answerWithinMs
  const all: ProviderTemplate[] = []
  const read = (cursor: string | null) => port.listTemplates(store, cursor ?? undefined)
  for await (const page of pagesOf(read, ({ next }) => next)) {
    all.push(...page.templates)
    if (page.next && performance.now() > until) {
      ctx.log.warn({ templates: all.length }, 'the provider has more templates than could be read in time')
      throw new Unavailable('no')
    }
  }
  return all
}

async function compare(
  tx: Context,
  theirs: readonly ProviderTemplate[],
  startedAt: Date,
): Promise<SyncResult> {
  const rows = await tx.db.selectFrom('message_templates').selectAll().orderBy('id').forUpdate().execute()
  const byProviderId = new Map(rows.map((row) => [row.provider_id, row]))
  const byName = new Map(rows.map((row) => [nameKey(row), row]))
  const seen = new Set<number>()
  const result = { added: 0, updated: 0, removed: 0, unchanged: 0 }
  for (const template of theirs) {
    const row = byProviderId.get(template.providerId) ?? byName.get(nameKey(template))
    if (!row) {
      result[(await addTemplate(tx, template)) ? 'added' : 'unchanged'] += 1
      continue
    }
    seen.add(row.id)
    if (isHandedInSince(row, startedAt)) result.unchanged += 1
    else if (await takeOver(tx, row, template, startedAt)) result.updated += 1
    else result.unchanged += 1
  }
  for (const row of rows) {
    if (seen.has(row.id)) continue
    // Handed in while the list was read: it could not be on it yet.
    if (isHandedInSince(row, startedAt)) result.unchanged += 1
    else {
      await forgetTemplate(tx, row, true)
      result.removed += 1
    }
  }
  const syncedAt = tx.now()
  await tx.db.updateTable('message_templates').set({ synced_at: syncedAt }).execute()
  return { ...result, syncedAt: syncedAt.toISOString() }
}

const nameKey = ({ name, language }: { name: string; language: string }): string => `${name} ${language}`

const isHandedInSince = (row: TemplateRow, at: Date): boolean =>
  row.submitted_at !== null && row.submitted_at > at

/** A review that came in while the list was read on which it still waits, whenever the provider says that it was. */
const isReviewedSince = (row: TemplateRow, listed: TemplateRow['status'], at: Date): boolean =>
  listed === 'pending' && isReview(row.status) && row.updated_at >= at

function contentIn(template: ProviderTemplate): TemplateContent {
  const { name, language, category, header, body, footer, buttons, examples } = template
  return { name, language, category, header, body, footer, buttons, examples }
}

/** Answers whether something changed. */
async function takeOver(
  tx: Context,
  row: TemplateRow,
  template: ProviderTemplate,
  at: Date,
): Promise<boolean> {
  const { status, rejectionReason, pausedUntil, quality, providerId } = template
  const before = { ...contentOf(row), category: template.category }
  const isOther = !isSameToReaders(before, contentIn(template))
  const isSmall = row.quality !== quality || row.provider_id !== providerId
  if (isOther || isSmall) {
    const { category: _told, ...columns } = contentColumns(contentIn(template))
    await tx.db
      .updateTable('message_templates')
      .set({ ...(isOther ? columns : {}), quality, provider_id: providerId, updated_at: tx.now() })
      .where('id', '=', row.id)
      .execute()
  }
  if (isOther) await warnOfMisfits(tx, row, placeholdersOf(before), placeholdersOf(contentIn(template)))
  const moved =
    !isReviewedSince(row, status, at) &&
    (await moveStatus(tx, row, {
      status,
      rejectionReason,
      pausedUntil: pausedUntil === null ? null : new Date(pausedUntil),
      at,
    }))
  const recategorised = await moveCategory(tx, row, template.category)
  return isOther || isSmall || moved || recategorised
}

/** False: whoever has it handed in has just written it down. */
async function addTemplate(tx: Context, template: ProviderTemplate): Promise<boolean> {
  const { status, rejectionReason, pausedUntil, quality, providerId } = template
  const now = tx.now()
  const added = await tx.db
    .insertInto('message_templates')
    .values({
      provider_id: providerId,
      name: template.name,
      language: template.language,
      ...contentColumns(contentIn(template)),
      status,
      rejection_reason: rejectionReason,
      paused_until: pausedUntil,
      quality,
      was_approved: status !== 'pending' && status !== 'rejected',
      status_at: now,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return false
  await tx.db
    .deleteFrom('message_template_names')
    .where('name', '=', template.name)
    .where('language', '=', template.language)
    .execute()
  return true
}
