/** Drafts: made, changed, copied, deleted. */
import { templates } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { canonical } from '#runtime/values/changes'
import { changedContent, changedWindow, copiedName, emptyContent } from '../content.ts'
import { lockCampaign } from '../rows.ts'
import { type CampaignChange, type CampaignContent, content, type SendWindow } from '../schema.ts'
import { cancelPending } from '../sending/cancel.ts'

interface Draft {
  name: string
  list_id: string | null
  /** Its name when it was chosen: kept for when the list is gone. */
  list_name: string | null
  content: CampaignContent
  send_window: SendWindow | null
}

/** How each column of a draft comes from what it was and what is changed. One more field of campaigns is a line here. */
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
    listId === undefined || listId === before.list_id ? before.list_name : nameOfList(ctx, listId),
  content: (ctx, before, { content }) => changedContent(before.content, content, ctx.settings.publicUrl),
  send_window: (_ctx, before, { sendWindow }) => changedWindow(before.send_window, sendWindow),
}

/** Makes a draft. Refuses an unknown list or template. Answers its id. */
export async function createCampaign(
  ctx: Context,
  input: CampaignChange & { name: string; listId: string },
): Promise<string> {
  const before = { content: emptyContent, send_window: null, list_id: null, list_name: null }
  return insertDraft(ctx, await changedDraft(ctx, { ...before, name: input.name }, input))
}

/** Changes a draft; fields left out stay as they are. Refuses what is no draft, an unknown list or template. */
export async function updateCampaign(ctx: Context, id: string, change: CampaignChange): Promise<void> {
  const row = await lockCampaign(ctx, id)
  if (row.status !== 'draft') {
    throw refuse(
      'conflict',
      `The campaign is ${row.status}: only a draft can be changed. Duplicate it instead`,
    )
  }
  const draft = await changedDraft(ctx, row, change)
  if (isSame(draft, row)) return
  await ctx.db
    .updateTable('campaigns')
    .set({ ...asColumns(draft), updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  await keepFiles(ctx, id, row.content, draft.content)
}

/** A draft like this campaign, whatever its state. Answers its id. */
export async function duplicateCampaign(ctx: Context, id: string): Promise<string> {
  const row = await lockCampaign(ctx, id)
  return insertDraft(ctx, { ...row, name: copiedName(row.name) }, row.content)
}

/** Gone from every read at once; what has not left never will. Refuses one that is sending. */
export async function deleteCampaign(ctx: Context, id: string): Promise<void> {
  const row = await lockCampaign(ctx, id)
  if (row.status === 'sending') {
    throw refuse('conflict', 'The campaign is sending: cancel it first, then delete it')
  }
  await cancelPending(ctx, row)
  await ctx.db.updateTable('campaigns').set({ deleted_at: ctx.now() }).where('id', '=', id).execute()
  await keepFiles(ctx, id, row.content, null)
}

/** Its media stays for as long as the campaign does: one that is scheduled leaves weeks later. */
const keepFiles = (
  ctx: Context,
  id: string,
  before: CampaignContent | null,
  after: CampaignContent | null,
): Promise<void> =>
  files.keepNamed(ctx, `campaign:${id}`, named, { before: inContent(before), after: inContent(after) })
const named = z.object({ content })
const inContent = (value: CampaignContent | null): unknown => value && { content: value }

async function changedDraft(ctx: Context, before: Draft, change: CampaignChange): Promise<Draft> {
  const draft: Partial<Record<keyof Draft, unknown>> = {}
  for (const name of columnNames) draft[name] = await columns[name](ctx, before, change)
  const made = draft as unknown as Draft
  await requireTemplate(ctx, before.content, made.content)
  return made
}
const columnNames = Object.keys(columns) as (keyof Draft)[]

/** Looked at where it or its parameters are new: what was saved stays, though the template is another meanwhile. */
async function requireTemplate(ctx: Context, before: CampaignContent, after: CampaignContent): Promise<void> {
  const { officialapiTemplateId: id, templateParameters } = after
  if (id === null) return
  const isNew = id !== before.officialapiTemplateId
  if (
    !isNew &&
    after.type === before.type &&
    canonical(templateParameters) === canonical(before.templateParameters)
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

/** Locked against being deleted before this transaction ends. */
async function nameOfList(ctx: Context, listId: string | null): Promise<string | null> {
  if (listId === null) return null
  const held = ctx.db.selectFrom('contact_lists').select('name').forKeyShare()
  return (await oneRow(held, listId, `listId: there is no contact list ${listId}`)).name
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
    .values({ id, ...asColumns(draft), created_by: ctx.actor.userId, created_at: now, updated_at: now })
    .execute()
  await keepFiles(ctx, id, before, draft.content)
  return id
}

/** The columns of a draft as they are written; a whole row has others beside them. */
const asColumns = (draft: Draft) => ({
  ...(Object.fromEntries(columnNames.map((name) => [name, draft[name]])) as unknown as Draft),
  content: JSON.stringify(draft.content),
  send_window: draft.send_window && JSON.stringify(draft.send_window),
})

/** Whatever the order of their keys. */
const isSame = (a: Draft, b: Draft): boolean =>
  columnNames.every((name) => canonical(a[name]) === canonical(b[name]))
