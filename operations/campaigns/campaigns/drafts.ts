/** Creates, updates and duplicates campaign drafts, and deletes campaigns. */
import { templates } from '#operations/messaging/index'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { toCanonicalJson } from '#runtime/values/changes'
import { buildCopyName, emptyContent, mergeContent, mergeWindow } from '../content.ts'
import { lockCampaign } from '../rows.ts'
import { type CampaignChange, type CampaignContent, content, type SendWindow } from '../schema.ts'
import { cancelPending } from '../sending/cancel.ts'

interface Draft {
  name: string
  list_id: string | null
  /** The list's name when it was chosen. It is shown if the list is deleted later. */
  list_name: string | null
  content: CampaignContent
  send_window: SendWindow | null
}

/** Computes each column of a draft from its old value and the change. To add a field to campaigns, add a line here. */
const columns: {
  [Column in keyof Draft]: (
    ctx: Context,
    before: Draft,
    change: CampaignChange,
  ) => Draft[Column] | Promise<Draft[Column]>
} = {
  name: (_ctx, before, { name }) => name ?? before.name,
  list_id: (_ctx, before, { listId }) => (listId === undefined ? before.list_id : listId),
  list_name: (ctx, before, { listId }) =>
    listId === undefined || listId === before.list_id ? before.list_name : readListName(ctx, listId),
  content: (ctx, before, { content }) => mergeContent(before.content, content, ctx.settings.publicUrl),
  send_window: (_ctx, before, { sendWindow }) => mergeWindow(before.send_window, sendWindow),
}

/** Creates a draft and returns its id. Refuses an unknown list or template. */
export async function createCampaign(
  ctx: Context,
  input: CampaignChange & { name: string; listId: string },
): Promise<string> {
  const before = { content: emptyContent, send_window: null, list_id: null, list_name: null }
  return insertDraft(ctx, await mergeDraft(ctx, { ...before, name: input.name }, input))
}

/** The states in which nothing has left, so that the campaign can still be changed. */
const changeable: readonly string[] = ['draft', 'scheduled', 'failed']
const draftState = {
  status: 'draft',
  scheduled_at: null,
  started_at: null,
  completed_at: null,
  failure_reason: null,
} as const

/**
 * Updates a campaign of which nothing has left; omitted fields keep their value. A change makes a scheduled or failed
 * one a draft again. Refuses any other state, and an unknown list or template.
 */
export async function updateCampaign(ctx: Context, id: string, change: CampaignChange): Promise<void> {
  const row = await lockCampaign(ctx, id)
  if (!changeable.includes(row.status)) {
    throw refuse(
      'conflict',
      `The campaign is ${row.status}: only a draft, scheduled or failed one can be changed. Duplicate it instead`,
    )
  }
  const draft = await mergeDraft(ctx, row, change)
  if (isSame(draft, row)) return
  await ctx.db
    .updateTable('campaigns')
    .set({ ...toColumns(draft), ...draftState, updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  await retainFiles(ctx, id, row.content, draft.content)
}

/** Copies a campaign in any state into a new draft and returns its id. */
export async function duplicateCampaign(ctx: Context, id: string): Promise<string> {
  const row = await lockCampaign(ctx, id)
  return insertDraft(ctx, { ...row, name: buildCopyName(row.name) }, row.content)
}

/**
 * Deletes a campaign and cancels its pending messages. The row stays as a tombstone that every read hides. Refuses a
 * campaign that is sending.
 */
export async function deleteCampaign(ctx: Context, id: string): Promise<void> {
  const row = await lockCampaign(ctx, id)
  if (row.status === 'sending') {
    throw refuse('conflict', 'The campaign is sending: cancel it first, then delete it')
  }
  await cancelPending(ctx, row)
  await ctx.db.updateTable('campaigns').set({ deleted_at: ctx.now() }).where('id', '=', id).execute()
  await retainFiles(ctx, id, row.content, null)
}

/**
 * Keeps the content's media file for as long as the campaign exists, because a scheduled campaign may be sent weeks
 * later.
 */
const retainFiles = (
  ctx: Context,
  id: string,
  before: CampaignContent | null,
  after: CampaignContent | null,
): Promise<void> =>
  files.trackFiles(ctx, `campaign:${id}`, namedContent, {
    before: wrapContent(before),
    after: wrapContent(after),
  })
const namedContent = z.object({ content })
const wrapContent = (value: CampaignContent | null): unknown => value && { content: value }

async function mergeDraft(ctx: Context, before: Draft, change: CampaignChange): Promise<Draft> {
  const draft: Partial<Record<keyof Draft, unknown>> = {}
  for (const name of columnNames) draft[name] = await columns[name](ctx, before, change)
  const merged = draft as unknown as Draft
  await requireTemplate(ctx, before.content, merged.content)
  return merged
}
const columnNames = Object.keys(columns) as (keyof Draft)[]

/**
 * Checks the template only if the change chooses another template or parameters: a saved draft stays valid when its
 * template changes.
 */
async function requireTemplate(ctx: Context, before: CampaignContent, after: CampaignContent): Promise<void> {
  const { officialapiTemplateId: id, templateParameters } = after
  if (id === null) return
  const isNew = id !== before.officialapiTemplateId
  if (
    !isNew &&
    after.type === before.type &&
    toCanonicalJson(templateParameters) === toCanonicalJson(before.templateParameters)
  ) {
    return
  }
  const template = await templates.get(ctx, id)
  if (!template && isNew) {
    throw refuse('not_found', `content.officialapiTemplateId: there is no template ${id}`)
  }
  if (!template || after.type !== 'template') return
  templates.refuseMiscounted(template, templateParameters, 'content.templateParameters')
}

/** Reads the list's name, and locks the list so that it cannot be deleted before this transaction ends. */
async function readListName(ctx: Context, listId: string | null): Promise<string | null> {
  if (listId === null) return null
  const lists = ctx.db.selectFrom('contact_lists').select('name').forKeyShare()
  return (await requireRow(lists, listId, `listId: there is no contact list ${listId}`)).name
}

async function insertDraft(
  ctx: Context,
  draft: Draft,
  before: CampaignContent | null = null,
): Promise<string> {
  const id = ctx.newId()
  const now = ctx.now()
  await ctx.db
    .insertInto('campaigns')
    .values({ id, ...toColumns(draft), created_by: ctx.actor.userId, created_at: now, updated_at: now })
    .execute()
  await retainFiles(ctx, id, before, draft.content)
  return id
}

/** Picks the columns to write: `draft` may be a whole row, which has more. */
const toColumns = (draft: Draft) => ({
  ...(Object.fromEntries(columnNames.map((name) => [name, draft[name]])) as unknown as Draft),
  content: JSON.stringify(draft.content),
  send_window: draft.send_window && JSON.stringify(draft.send_window),
})

/** Whether two drafts are equal, ignoring the order of JSON keys. */
const isSame = (a: Draft, b: Draft): boolean =>
  columnNames.every((name) => toCanonicalJson(a[name]) === toCanonicalJson(b[name]))
