/** Where a template goes by its provider's word (rule 14), and what the merchant is told of it. */

import { sql } from 'kysely'
import { files, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import type { TemplateStatusData } from '../provider/template-port.ts'
import type { TemplateRow } from './rows.ts'
import { type Placeholders, usesOf } from './uses.ts'

export interface Word {
  status: Exclude<TemplateStatusData['status'], 'gone'>
  rejectionReason: string | null
  pausedUntil: Date | null
  /** By the provider's clock. */
  at: Date
}

export const isReview = (status: string): boolean => status === 'approved' || status === 'rejected'

/**
 * Takes over a status, in the caller's transaction, and tells of it. One that it has already, or that is older than
 * the last, changes nothing. Answers whether it moved.
 */
export async function moveStatus(ctx: Context, row: TemplateRow, word: Word): Promise<boolean> {
  const { status, at } = word
  if (row.status === status || (row.status_at && wholeSecond(row.status_at) > at)) return false
  const isFirstWord = row.status === 'pending' && isReview(status)
  await ctx.db
    .updateTable('message_templates')
    .set({
      status,
      rejection_reason: status === 'rejected' ? (word.rejectionReason ?? 'other') : null,
      paused_until: status === 'paused' ? word.pausedUntil : null,
      status_at: at,
      ...(isFirstWord ? { reviewed_at: at } : {}),
      ...(status === 'approved' ? { was_approved: true } : {}),
      updated_at: ctx.now(),
    })
    .where('id', '=', row.id)
    .execute()
  await tell(ctx, row, word)
  if (status === 'approved') for (const told of ctx.wired.templateApproved) await told(ctx, row.id)
  return true
}

/** Providers tell the time in whole seconds. */
const wholeSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1000) * 1000)

async function tell(ctx: Context, row: TemplateRow, word: Word): Promise<void> {
  const notice = noticeOf(row, word)
  if (!notice) return
  const { id, name, language, submission } = row
  await notify(ctx, {
    ...notice,
    data: { templateId: id, name, language },
    dedupeKey: `${notice.type}:${id}:${submission}:${word.at.toISOString()}`,
  })
}

function noticeOf({ name }: TemplateRow, { status, rejectionReason }: Word) {
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

/** Another category by the provider's word: marketing costs more. Answers whether it is another. */
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

/** Another category from some day on: there is time to use another template, or to change this one. */
export async function warnOfCategory(
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

/** People take it badly: it is disabled unless that changes. */
export async function warnOfEnd(
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
 * Tells, once a change, where a template is used with another number of parameters than it takes from now on. In the
 * caller's transaction, after the change. `before`: how many it took.
 */
export async function warnOfMisfits(
  ctx: Context,
  { id, name, language }: Pick<TemplateRow, 'id' | 'name' | 'language'>,
  before: Placeholders,
  after: Placeholders,
): Promise<void> {
  const isSame = (['header', 'body', 'buttons'] as const).every((part) => before[part] === after[part])
  const usedBy = isSame ? [] : await usesOf(ctx, id, after)
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

const blockedMs = 30 * dayMs

/**
 * Deletes a template here, in the caller's transaction. The name and language of one that was ever approved are free
 * after 30 days. `isSurprise`: the provider did it; told where something uses it.
 */
export async function forgetTemplate(ctx: Context, row: TemplateRow, isSurprise = false): Promise<void> {
  const usedBy = isSurprise ? await usesOf(ctx, row.id) : []
  await ctx.db.deleteFrom('message_templates').where('id', '=', row.id).execute()
  await files.setUses(ctx, templateOwner(row.id), [])
  if (row.was_approved) {
    const freeAt = new Date(ctx.now().getTime() + blockedMs)
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
 * Deletes all templates here with the names' blocks, when the number is given up (rule 4), in the caller's
 * transaction. Answers what is to be deleted at the provider.
 */
export async function forgetAllTemplates(ctx: Context): Promise<{ name: string; providerId: string }[]> {
  const gone = await ctx.db.deleteFrom('message_templates').returning(['id', 'name', 'provider_id']).execute()
  for (const { id } of gone) await files.setUses(ctx, templateOwner(id), [])
  await ctx.db.deleteFrom('message_template_names').execute()
  return gone.flatMap(({ name, provider_id: providerId }) => (providerId ? [{ name, providerId }] : []))
}

/** As files know it. */
export const templateOwner = (id: number): string => `message-template:${id}`

/** A row, locked until the transaction ends; null when there is none. */
export async function lockTemplate(ctx: Context, id: number): Promise<TemplateRow | null> {
  const row = await ctx.db
    .selectFrom('message_templates')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Rows by the provider's ids, locked. */
export async function lockByProviderIds(ctx: Context, ids: readonly string[]): Promise<TemplateRow[]> {
  return ctx.db
    .selectFrom('message_templates')
    .selectAll()
    .where('provider_id', '=', sql<string>`any(${ids}::text[])`)
    .orderBy('id')
    .forUpdate()
    .execute()
}
