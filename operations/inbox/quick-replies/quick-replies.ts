/** Manages quick replies: saved texts with variables, with which members answer contacts (rule 6). */

import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { refuseDuplicate, requireCapacity, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { reference } from '#runtime/references'
import { count, id, instant, named, object, text, writeBody, z } from '#runtime/schema'
import { containsWords, toSearchWords } from '#runtime/values/fold'
import { countCharacters } from '#runtime/values/truncate'
import { findVariableIssue, type Values } from '#runtime/values/variables'
import { memberName } from '../conversations/conversations.ts'
import { findVariables, loadReplyValues, renderReply, replyVariables } from '../messages/quick-reply-texts.ts'
import { captionAtMost, textAtMost } from '../messages/send-schema.ts'
import { releaseFiles, useUpload } from '../messages/uploads.ts'
import { requireConversation } from '../notes/notes.ts'
import { member } from '../schema.ts'

const repliesAtMost = 200

const shortcut = z
  .string()
  .trim()
  .regex(/^\/?[A-Za-z0-9_-]{1,30}$/, 'must be 1 to 30 of a-z, 0-9, _ and -')
  .describe('A leading / is removed, upper case lowered')
const title = z.string().trim().min(1, 'must not be empty').max(80, 'must have at most 80 characters')
const mediaUrl = reference('file', z.string().min(1).max(2000)).nullable().describe('`fileUrl` of an upload')
const replyText = text(1, textAtMost)
  .regex(/\S/, 'must not be blank')
  .describe('With variables such as {{firstName|there}}; of at most 1024 characters with media')

export const quickReply = named(
  'QuickReply',
  object({
    id,
    shortcut: z.string(),
    title: z.string(),
    text: z.string(),
    mediaUrl: z.string().nullable(),
    variables: z.array(z.string()).describe('Names found in the text'),
    usageCount: count,
    lastUsedAt: instant.nullable(),
    createdBy: member.nullable(),
    createdAt: instant,
  }),
)
export const quickReplyWithText = quickReply.extend({
  rendered: z.string().nullable().describe('The text for that contact; null if a value is missing'),
})

export const quickReplyInput = writeBody(
  { shortcut, text: replyText, title, mediaUrl },
  ['id', 'variables', 'usageCount', 'lastUsedAt', 'createdBy', 'createdAt', 'rendered'],
  ['shortcut', 'text'],
)

type QuickReply = z.infer<typeof quickReply>

const replyJson = jsonObject({
  id: 'q.id',
  shortcut: 'q.shortcut',
  title: 'q.title',
  text: 'q.text',
  mediaUrl: 'q.media_url',
  usageCount: 'q.usage_count',
  lastUsedAt: isoInstant('q.last_used_at'),
  createdBy: jsonObject({ userId: 'q.created_by', name: 'q.created_by_name' }),
  createdAt: isoInstant('q.created_at'),
})

const toQuickReply = (json: unknown): QuickReply => {
  const reply = json as Omit<QuickReply, 'variables'>
  return { ...reply, variables: findVariables(reply.text) }
}

/**
 * Lists quick replies by shortcut. With a conversation, `rendered` is the text for its contact; otherwise it is null.
 * Refuses an unknown conversation.
 */
export async function listQuickReplies(
  ctx: Context,
  { search, conversationId }: { search?: string | undefined; conversationId?: string | undefined },
): Promise<{ data: z.infer<typeof quickReplyWithText>[] }> {
  if (conversationId !== undefined) await requireConversation(ctx, conversationId)
  const values = conversationId === undefined ? null : await loadReplyValues(ctx, conversationId)
  const rows = await ctx.db
    .selectFrom('inbox_quick_replies as q')
    .select(replyJson.as('json'))
    .orderBy('q.shortcut')
    .execute()
  const words = search === undefined ? null : toSearchWords(search)
  const data = rows
    .map((row) => toQuickReply(row.json))
    .filter(({ shortcut, title, text }) => words === null || containsWords([shortcut, title, text], words))
    .map((reply) => ({ ...reply, rendered: values && renderFor(reply.text, values) }))
  return { data }
}

function renderFor(replyText_: string, values: Values): string | null {
  const { text: rendered, lacking } = renderReply(replyText_, values)
  return lacking.length > 0 ? null : rendered
}

/**
 * Creates a quick reply. Refuses an unknown variable, a file that was not uploaded, a taken shortcut, and more than 200
 * quick replies.
 */
export async function createQuickReply(
  ctx: Context,
  input: z.infer<typeof quickReplyInput>,
): Promise<QuickReply> {
  const issue = findVariableIssue(input.text, replyVariables)
  if (issue) throw refuse('bad_request', `text: ${issue}`)
  const full = `There are ${repliesAtMost} quick replies already: delete one first`
  await requireCapacity(ctx, ctx.db.selectFrom('inbox_quick_replies'), repliesAtMost, full)
  const replyId = ctx.newId()
  if (input.mediaUrl) await useFile(ctx, replyId, input.mediaUrl, input.text)
  const short = input.shortcut.replace(/^\//, '').toLowerCase()
  const now = ctx.now()
  const { userId } = ctx.actor
  const made = ctx.db.insertInto('inbox_quick_replies').values({
    id: replyId,
    shortcut: short,
    title: input.title ?? short,
    text: input.text,
    media_url: input.mediaUrl ?? null,
    created_by: userId,
    created_by_name: userId === null ? null : await memberName(ctx, userId),
    created_at: now,
    updated_at: now,
  })
  const taken = `shortcut: there is a quick reply ${short} already`
  await refuseDuplicate('inbox_quick_replies_store_id_shortcut_key', taken, () => made.execute())
  const { json } = await ctx.db
    .selectFrom('inbox_quick_replies as q')
    .select(replyJson.as('json'))
    .where('q.id', '=', replyId)
    .executeTakeFirstOrThrow()
  return toQuickReply(json)
}

const fileOwner = (replyId: string): string => `inbox-quick-reply:${replyId}`

async function useFile(ctx: Context, replyId: string, url: string, withText: string): Promise<void> {
  const file = await useUpload(ctx, fileOwner(replyId), url)
  if (file.kind === 'audio') {
    throw refuse('bad_request', 'mediaUrl: an audio carries no text: use an image, a video or a document')
  }
  if (countCharacters(withText) > captionAtMost) {
    throw refuse('bad_request', `text: must have at most ${captionAtMost} characters with media`)
  }
}

/** Deletes a quick reply. Messages that were sent with it are kept. */
export async function deleteQuickReply(ctx: Context, replyId: string): Promise<void> {
  const deleted = ctx.db.deleteFrom('inbox_quick_replies').returning('id')
  const { id: gone } = await requireRow(deleted, replyId, 'There is no such quick reply')
  await releaseFiles(ctx, fileOwner(gone))
}
