/** State transitions of a template as reported by the provider (rule 14), with their notifications. */

import { sql } from 'kysely'
import { files, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import type { TemplateStatusData } from '../provider/template-port.ts'
import type { TemplateRow } from './rows.ts'
import { findUses, type Placeholders } from './uses.ts'

export interface StatusReport {
  status: Exclude<TemplateStatusData['status'], 'gone'>
  rejectionReason: string | null
  pausedUntil: Date | null
  /** The provider's time. */
  at: Date
}

export const isReview = (status: string): boolean => status === 'approved' || status === 'rejected'

/**
 * Applies a reported status in the caller's transaction, and notifies the merchant. Ignores a report of the current
 * status, and a report older than the last one. Returns whether the status changed.
 */
export async function moveStatus(ctx: Context, row: TemplateRow, report: StatusReport): Promise<boolean> {
  const { status, at } = report
  if (row.status === status || (row.status_at && toWholeSecond(row.status_at) > at)) return false
  const isFirstWord = row.status === 'pending' && isReview(status)
  await ctx.db
    .updateTable('message_templates')
    .set({
      status,
      rejection_reason: status === 'rejected' ? (report.rejectionReason ?? 'other') : null,
      paused_until: status === 'paused' ? report.pausedUntil : null,
      status_at: at,
      ...(isFirstWord ? { reviewed_at: at } : {}),
      ...(status === 'approved' ? { was_approved: true } : {}),
      updated_at: ctx.now(),
    })
    .where('id', '=', row.id)
    .execute()
  await notifyStatus(ctx, row, report)
  if (status === 'approved') for (const handler of ctx.extensions.templateApproved) await handler(ctx, row.id)
  return true
}

/** Providers report times in whole seconds. */
const toWholeSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1000) * 1000)

async function notifyStatus(ctx: Context, row: TemplateRow, report: StatusReport): Promise<void> {
  const notice = buildNotice(row, report)
  if (!notice) return
  const { id, name, language, submission } = row
  await notify(ctx, {
    ...notice,
    data: { templateId: id, name, language },
    dedupeKey: `${notice.type}:${id}:${submission}:${report.at.toISOString()}`,
  })
}

function buildNotice({ name }: TemplateRow, { status, rejectionReason }: StatusReport) {
  switch (status) {
    case 'approved':
      return {
        type: 'template-approved',
        level: 'success',
        title: `The template ${name} is approved`,
        message: 'It can be sent now.',
      } as const
    case 'rejected':
      return {
        type: 'template-rejected',
        level: 'error',
        title: `The template ${name} was rejected`,
        message: `Reason: ${rejectionReason ?? 'other'}. Change it, and it is reviewed again.`,
      } as const
    case 'paused':
      return {
        type: 'template-paused',
        level: 'warning',
        title: `The template ${name} is paused`,
        message: 'Too many people blocked or reported it. Nothing is sent with it until the pause is over.',
      } as const
    case 'disabled':
      return {
        type: 'template-disabled',
        level: 'error',
        title: `The template ${name} was disabled`,
        message: 'The provider takes it no more: use another template.',
      } as const
    default:
      return null
  }
}

/** Applies a category set by the provider, and notifies, because marketing costs more. Returns whether it changed. */
export async function moveCategory(ctx: Context, row: TemplateRow, category: string): Promise<boolean> {
  if (row.category === category || !['marketing', 'utility', 'authentication'].includes(category)) {
    return false
  }
  await ctx.db
    .updateTable('message_templates')
    .set({ category, updated_at: ctx.now() })
    .where('id', '=', row.id)
    .execute()
  await notify(ctx, {
    type: 'template-recategorised',
    level: 'warning',
    title: `The template ${row.name} is ${category} now`,
    message: `The provider moved it from ${row.category} to ${category}. Marketing messages cost more than others.`,
    data: { templateId: row.id, name: row.name, language: row.language, category },
    dedupeKey: null,
  })
  return true
}

/** Notifies of an announced category change, while there is time to react. */
export async function notifyPlannedCategory(
  ctx: Context,
  { id, name, language, category: before }: TemplateRow,
  category: string,
  from: string | null,
): Promise<void> {
  if (before === category) return
  const day = from === null ? 'soon' : `on ${from.slice(0, 10)}`
  await notify(ctx, {
    type: 'template-recategorised',
    level: 'warning',
    title: `The template ${name} becomes ${category}`,
    message: `The provider moves it from ${before} to ${category} ${day}. Marketing messages cost more than others: change its text before, or use another template.`,
    data: { templateId: id, name, language, category },
    dedupeKey: `template-recategorised:${id}:${category}:${from ?? ''}`,
  })
}

/** Notifies that the template will be disabled unless its ratings improve. */
export async function notifyPlannedDisabling(
  ctx: Context,
  { id, name, language }: TemplateRow,
  disabledAt: string | null,
): Promise<void> {
  const day = disabledAt === null ? 'soon' : `on ${disabledAt.slice(0, 10)}`
  await notify(ctx, {
    type: 'template-flagged',
    level: 'warning',
    title: `The template ${name} may be disabled ${day}`,
    message: 'Too many people blocked or reported it. Change its text, or send it to fewer people.',
    data: { templateId: id, name, language },
    dedupeKey: `template-flagged:${id}:${disabledAt ?? ''}`,
  })
}

/**
 * Notifies, once per change, of the places that use a template with a different number of parameters than it now has.
 * Runs in the caller's transaction, after the change. `before`: the previous numbers.
 */
export async function notifyMisfits(
  ctx: Context,
  { id, name, language }: Pick<TemplateRow, 'id' | 'name' | 'language'>,
  before: Placeholders,
  after: Placeholders,
): Promise<void> {
  const isSame = (['header', 'body', 'buttons'] as const).every((part) => before[part] === after[part])
  const usedBy = isSame ? [] : await findUses(ctx, id, after)
  if (usedBy.length === 0) return
  await notify(ctx, {
    type: 'template-changed',
    level: 'warning',
    title: `The template ${name} takes other parameters now`,
    message: `It is used by ${usedBy.join(', ')} with another number of parameters, and cannot be sent from there: change them there.`,
    data: { templateId: id, name, language },
    dedupeKey: null,
  })
}

const nameBlockMs = 30 * dayMs

/**
 * Deletes a template here, in the caller's transaction. If it was ever approved, its name and language are blocked for 30
 * days. `isSurprise`: the provider deleted it, so the merchant is notified if it is in use.
 */
export async function removeTemplate(ctx: Context, row: TemplateRow, isSurprise = false): Promise<void> {
  const usedBy = isSurprise ? await findUses(ctx, row.id) : []
  await ctx.db.deleteFrom('message_templates').where('id', '=', row.id).execute()
  await files.setUses(ctx, toFileOwner(row.id), [])
  if (row.was_approved) {
    const freeAt = new Date(ctx.now().getTime() + nameBlockMs)
    await ctx.db
      .insertInto('message_template_names')
      .values({ name: row.name, language: row.language, free_at: freeAt })
      .onConflict((conflict) =>
        conflict.columns(['store_id', 'name', 'language']).doUpdateSet({ free_at: freeAt }),
      )
      .execute()
  }
  if (usedBy.length === 0) return
  await notify(ctx, {
    type: 'template-removed',
    level: 'error',
    title: `The template ${row.name} is gone`,
    message: `It was deleted at the provider, and is used by ${usedBy.join(', ')}: choose another template there.`,
    data: { templateId: row.id, name: row.name, language: row.language },
    dedupeKey: null,
  })
}

/**
 * Deletes all templates here when the number is disconnected (rule 4), in the caller's transaction, and no longer blocks
 * any template name. Returns the templates to delete at the provider.
 */
export async function removeAllTemplates(ctx: Context): Promise<{ name: string; providerId: string }[]> {
  const gone = await ctx.db.deleteFrom('message_templates').returning(['id', 'name', 'provider_id']).execute()
  for (const { id } of gone) await files.setUses(ctx, toFileOwner(id), [])
  await ctx.db.deleteFrom('message_template_names').execute()
  return gone.flatMap(({ name, provider_id: providerId }) => (providerId ? [{ name, providerId }] : []))
}

/** Returns the name under which a template owns its files. */
export const toFileOwner = (id: number): string => `message-template:${id}`

/** Locks a row until the transaction ends; null if there is none. */
export async function lockTemplate(ctx: Context, id: number): Promise<TemplateRow | null> {
  const row = await ctx.db
    .selectFrom('message_templates')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Locks rows by the provider's ids. */
export async function lockByProviderIds(ctx: Context, ids: readonly string[]): Promise<TemplateRow[]> {
  return ctx.db
    .selectFrom('message_templates')
    .selectAll()
    .where('provider_id', '=', sql<string>`any(${ids}::text[])`)
    .orderBy('id')
    .forUpdate()
    .execute()
}
