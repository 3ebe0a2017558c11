/** Edits and deletes templates, here and at the provider. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { findRouteByType } from '../numbers/route.ts'
import type { TemplateContent, TemplateStatus } from '../provider/template-port.ts'
import { countTemplatePlaceholders } from './content.ts'
import { headerUses, requireHeaderFile } from './header-media.ts'
import { toNotFound } from './json.ts'
import { requireOfficialRoute } from './route.ts'
import { findTemplate, type TemplateRow, toColumns, toContent } from './rows.ts'
import { applyChange, isSameContent, refuseInvalid } from './rules.ts'
import type { TemplateChange } from './schema.ts'
import { lockTemplate, notifyMisfits, removeTemplate, toFileOwner } from './transitions.ts'
import { findUses } from './uses.ts'

const providerTimeoutMs = 20_000

/**
 * Submits the template again if something really changed. Refuses a template that cannot be edited now, and changes
 * that are not allowed.
 */
export async function editTemplate(ctx: Context, id: number, change: TemplateChange): Promise<void> {
  const before = await findTemplate(ctx, id)
  for (const field of ['name', 'language'] as const) {
    if (change[field] !== undefined && change[field] !== before[field]) {
      throw refuse('bad_request', `${field}: cannot be changed: create another template`)
    }
  }
  const old = toContent(before)
  const content = applyChange(old, change, ctx.store.country)
  if (isSameContent(old, content)) return
  refuseUneditable(ctx, before, content)
  refuseInvalid(content)
  const { port, store } = await requireOfficialRoute(ctx)
  if (content.header?.mediaUrl !== old.header?.mediaUrl) await requireHeaderFile(ctx, content.header)
  const submission = await claimEdit(ctx, before, content)
  const { status } = await submitEdit(ctx, before, submission, () =>
    withProviderTimeout(port.editTemplate(store, before.provider_id!, content), providerTimeoutMs),
  )
  // The provider has accepted the edit: a later failure here does not undo it.
  const [countBefore, countAfter] = [countTemplatePlaceholders(old), countTemplatePlaceholders(content)]
  await ctx.transaction(async (tx) => {
    if (status !== 'pending') await applyReview(tx, id, submission, status)
    if (!isDeepStrictEqual(countBefore, countAfter)) await notifyMisfits(tx, before, countBefore, countAfter)
  })
}

async function submitEdit<T>(
  ctx: Context,
  before: TemplateRow,
  submission: number,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    // Undoes the edit here. After a timeout, the next sync shows whether the provider accepted it.
    await undoEdit(ctx, before, submission)
    if (!(error instanceof Refused)) throw error
    if (error.code === 'template-unknown') {
      throw refuse('conflict', 'The provider has this template no more: sync the templates')
    }
    throw refuse('bad_request', `The provider refused it: ${error.message}`)
  }
}

function refuseUneditable(ctx: Context, row: TemplateRow, content: TemplateContent): void {
  if (row.status === 'pending' || row.status === 'disabled') {
    throw refuse('conflict', `The template is ${row.status}: it cannot be changed now`)
  }
  if (row.category === 'authentication' || content.category === 'authentication') {
    throw refuse('conflict', 'Authentication templates cannot be changed here')
  }
  const header = (row.header as TemplateContent['header'])?.type ?? 'text'
  if (header !== 'text' && header !== 'image' && header !== 'video') {
    throw refuse('conflict', `A template with a header of type ${header} cannot be changed here`)
  }
  if (row.status !== 'approved') return
  if (content.category !== row.category) {
    throw refuse('conflict', 'The category of an approved template cannot be changed')
  }
  if (row.next_edit_at && ctx.now() < row.next_edit_at) {
    throw refuse(
      'conflict',
      `An approved template takes one edit in 24 hours and ten in 30 days: the next at ${row.next_edit_at.toISOString()}`,
    )
  }
}

/** Claims the template for this edit, so that only one of two parallel edits wins. Returns the submission number. */
async function claimEdit(ctx: Context, before: TemplateRow, content: TemplateContent): Promise<number> {
  const now = ctx.now()
  return ctx.transaction(async (tx) => {
    const counts = before.status === 'approved'
    const claimed = await tx.db
      .updateTable('message_templates')
      .set({
        ...toColumns(content),
        status: 'pending',
        rejection_reason: null,
        paused_until: null,
        submission: before.submission + 1,
        submitted_at: now,
        reviewed_at: null,
        status_at: now,
        ...(counts ? { edited_at: addEdit(now), next_edit_at: getNextEditAt(now) } : {}),
        updated_at: now,
      })
      .where('id', '=', before.id)
      .where('submission', '=', before.submission)
      .where('status', '=', before.status)
      .returning('submission')
      .executeTakeFirst()
    if (!claimed) throw refuse('conflict', 'The template was changed meanwhile: read it again')
    const url = content.header?.mediaUrl
    await files.setUses(tx, toFileOwner(before.id), headerUses(url))
    return claimed.submission
  })
}

const monthMs = 30 * dayMs
const addEdit = (now: Date) => sql<Date[]>`(
  select coalesce(array_agg(e), '{}') || ${now}::timestamptz from unnest(edited_at) e
  where e > ${new Date(now.getTime() - monthMs)}::timestamptz)`

/**
 * The next edit is allowed a day after this one. The tenth edit within 30 days blocks edits until the oldest is 30 days
 * old.
 */
const getNextEditAt = (now: Date) =>
  greatestKnown<Date>(
    sql`${new Date(now.getTime() + dayMs)}::timestamptz`,
    sql`(select e + interval '720 hours' from unnest(edited_at) e
   where e > ${new Date(now.getTime() - monthMs)}::timestamptz order by e desc offset 8 limit 1)`,
  )

async function undoEdit(ctx: Context, before: TemplateRow, submission: number): Promise<void> {
  const old = toContent(before)
  await ctx.transaction(async (tx) => {
    const undone = await tx.db
      .updateTable('message_templates')
      .set({
        ...toColumns(old),
        status: before.status,
        rejection_reason: before.rejection_reason,
        paused_until: before.paused_until,
        submitted_at: before.submitted_at,
        reviewed_at: before.reviewed_at,
        status_at: before.status_at,
        next_edit_at: before.next_edit_at,
        edited_at: sql<Date[]>`array_remove(edited_at, submitted_at)`,
        updated_at: before.updated_at,
      })
      .where('id', '=', before.id)
      .where('submission', '=', submission)
      .where('status', '=', 'pending')
      .returning('id')
      .execute()
    if (undone.length === 0) return
    const url = old.header?.mediaUrl
    await files.setUses(tx, toFileOwner(before.id), headerUses(url))
  })
}

/** Applies the status at once if the provider needs no review. */
async function applyReview(
  ctx: Context,
  id: number,
  submission: number,
  status: TemplateStatus,
): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('message_templates')
    .set({ status, reviewed_at: now, status_at: now, updated_at: now })
    .where('id', '=', id)
    .where('submission', '=', submission)
    .execute()
}

/** Deletes the template in its language only. Refuses a template in use, and names the uses. */
export async function deleteTemplate(ctx: Context, id: number): Promise<void> {
  const row = await findTemplate(ctx, id)
  await refuseUsed(ctx, id)
  const route = await findRouteByType(ctx, 'official')
  const { name, provider_id: providerId } = row
  if (route && providerId !== null) {
    await deleteAtProvider(() => route.port.deleteTemplate(route.store, { name, providerId }))
  }
  await ctx.transaction(async (tx) => {
    const there = await lockTemplate(tx, id)
    if (!there) throw toNotFound()
    await removeTemplate(tx, there)
  })
}

async function deleteAtProvider(call: () => Promise<void>): Promise<void> {
  try {
    await withProviderTimeout(call(), providerTimeoutMs)
  } catch (error) {
    if (error instanceof Refused && error.code === 'template-unknown') return
    if (error instanceof Refused) throw refuse('conflict', `The provider refused it: ${error.message}`)
    throw error
  }
}

async function refuseUsed(ctx: Context, id: number): Promise<void> {
  const uses = await findUses(ctx, id)
  if (uses.length > 0) {
    throw refuse('conflict', `The template is used by ${uses.join(', ')}: choose another one there first`)
  }
}
