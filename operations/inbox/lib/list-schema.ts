/** Filters and pages of the inbox's lists. */
import { count, day, object, offsetInstant, queryFlag, queryInt, queryList, z } from '#runtime/schema'
import { conversation, conversationStatus, direction, message, messageType } from './schema.ts'

const search = z.string().trim().min(2, 'must have at least 2 characters').max(100)
const updatedSince = offsetInstant.optional().describe('Changed at this instant or later')

export const conversationFilters = {
  status: conversationStatus.optional(),
  assignee: z.string().min(1).max(100).optional().describe('A user id, `me` or `none`'),
  tag: queryList(z.string().max(100)).optional().describe('Any of these tags, by id'),
  unread: queryFlag.optional(),
  pinned: queryFlag.optional(),
  waiting: queryFlag.optional().describe('Somebody waits for an answer'),
  windowOpen: queryFlag.optional(),
  tier: z.string().max(30).optional().describe('Key of a tier, or `none`'),
  search: search.optional().describe('In names, phones, and the words of messages'),
  startDate: day.optional().describe('By the last message'),
  endDate: day.optional(),
  updatedSince,
}

export const messageFilters = {
  direction: direction.optional(),
  type: queryList(messageType).optional(),
  search: search.optional().describe('Words, or beginnings of words'),
  updatedSince,
}

/** `page` or `cursor`, not both. */
export const walking = object({
  page: queryInt(1, 100_000).optional().describe('Page, from 1'),
  limit: queryInt(1, 100).default(20).describe('Rows a page, at most 100'),
  cursor: z.string().max(500).optional().describe('Where the answer before ended'),
})

export function refuseBothWalks(
  query: { page?: number | undefined; cursor?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (query.page === undefined || query.cursor === undefined) return
  context.addIssue({
    code: 'custom',
    path: ['cursor'],
    message: 'goes on by itself: leave page out',
  })
}

const pageOf = <T extends z.ZodTypeAny>(item: T) => ({
  data: z.array(item),
  page: z.number().int().nullable().describe('null with a cursor'),
  limit: z.number().int(),
  total: count.describe('Rows on all pages, exact'),
  nextCursor: z.string().nullable().describe('null on the last page'),
})
export const conversationsPage = object(pageOf(conversation))
export const messagesPage = object({ ...pageOf(message), conversation })
