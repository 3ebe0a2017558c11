/** Reconciles our templates with the provider's, which are authoritative. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuseTemporarily } from '#runtime/errors'
import { Unavailable } from '#runtime/ports/errors'
import { readPages } from '#runtime/ports/pagination'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import type { Route } from '../numbers/route.ts'
import type { ProviderTemplate, TemplateContent } from '../provider/template-port.ts'
import { countTemplatePlaceholders } from './content.ts'
import { requireOfficialRoute } from './route.ts'
import { type TemplateRow, toColumns, toContent } from './rows.ts'
import { isSameToReaders } from './rules.ts'
import { isReview, moveCategory, moveStatus, notifyMisfits, removeTemplate } from './transitions.ts'

export interface SyncResult {
  added: number
  updated: number
  removed: number
  unchanged: number
  /** ISO 8601. */
  syncedAt: string
}

const providerTimeoutMs = 20_000
/** A sync that takes longer belongs to a dead process. */
const deadAfterMs = minuteMs

/** Applies the provider's templates. Refuses if no official number is connected, or a sync is running. */
export async function syncTemplates(ctx: Context): Promise<SyncResult> {
  const route = await requireOfficialRoute(ctx)
  const startedAt = await claimSync(ctx)
  try {
    const theirs = await withProviderTimeout(listAll(ctx, route), providerTimeoutMs)
    return await ctx.transaction((tx) => reconcile(tx, theirs, startedAt))
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
    throw refuseTemporarily('conflict', 'The templates are being synced already: wait until it is done')
  return claimed.started_at
}

async function listAll(ctx: Context, { port, store }: Route): Promise<ProviderTemplate[]> {
  const until = performance.now() + providerTimeoutMs
  const all: ProviderTemplate[] = []
  const read = (cursor: string | null) => port.listTemplates(store, cursor ?? undefined)
  for await (const page of readPages(read, ({ next }) => next)) {
    all.push(...page.templates)
    if (page.next && performance.now() > until) {
      ctx.log.warn({ templates: all.length }, 'template list truncated')
      throw new Unavailable('no')
    }
  }
  return all
}

async function reconcile(
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
    if (isSubmittedSince(row, startedAt)) result.unchanged += 1
    else if (await applyProviderState(tx, row, template, startedAt)) result.updated += 1
    else result.unchanged += 1
  }
  for (const row of rows) {
    if (seen.has(row.id)) continue
    // The template was submitted while the list was read, so the list may not contain it.
    if (isSubmittedSince(row, startedAt)) result.unchanged += 1
    else {
      await removeTemplate(tx, row, true)
      result.removed += 1
    }
  }
  const syncedAt = tx.now()
  await tx.db.updateTable('message_templates').set({ synced_at: syncedAt }).execute()
  return { ...result, syncedAt: syncedAt.toISOString() }
}

const nameKey = ({ name, language }: { name: string; language: string }): string => `${name} ${language}`

const isSubmittedSince = (row: TemplateRow, at: Date): boolean =>
  row.submitted_at !== null && row.submitted_at > at

/**
 * Whether a review arrived while the list was read, which still shows the template as pending. The review then wins,
 * regardless of its time.
 */
const isReviewedSince = (row: TemplateRow, listed: TemplateRow['status'], at: Date): boolean =>
  listed === 'pending' && isReview(row.status) && row.updated_at >= at

function toStoredContent(template: ProviderTemplate): TemplateContent {
  const { name, language, category, header, body, footer, buttons, examples } = template
  return { name, language, category, header, body, footer, buttons, examples }
}

/** Returns whether something changed. */
async function applyProviderState(
  tx: Context,
  row: TemplateRow,
  template: ProviderTemplate,
  at: Date,
): Promise<boolean> {
  const { status, rejectionReason, pausedUntil, quality, providerId } = template
  const before = { ...toContent(row), category: template.category }
  const isOther = !isSameToReaders(before, toStoredContent(template))
  const isSmall = row.quality !== quality || row.provider_id !== providerId
  if (isOther || isSmall) {
    const { category: _told, ...columns } = toColumns(toStoredContent(template))
    await tx.db
      .updateTable('message_templates')
      .set({ ...(isOther ? columns : {}), quality, provider_id: providerId, updated_at: tx.now() })
      .where('id', '=', row.id)
      .execute()
  }
  if (isOther)
    await notifyMisfits(
      tx,
      row,
      countTemplatePlaceholders(before),
      countTemplatePlaceholders(toStoredContent(template)),
    )
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

/** Inserts a template. Returns false if a parallel submission has just inserted it. */
async function addTemplate(tx: Context, template: ProviderTemplate): Promise<boolean> {
  const { status, rejectionReason, pausedUntil, quality, providerId } = template
  const now = tx.now()
  const added = await tx.db
    .insertInto('message_templates')
    .values({
      provider_id: providerId,
      name: template.name,
      language: template.language,
      ...toColumns(toStoredContent(template)),
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
