/** Query parameters of the inbox's lists: filters and paging. */
import { count, cursorListOf, day, offsetInstant, queryFlag, queryList, z } from '#runtime/schema'
import { conversation, conversationStatus, direction, message, messageType } from '../schema.ts'

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

const total = count.describe('Rows on all pages, exact')
export const conversationsPage = cursorListOf(conversation).extend({ total }).strict()
export const messagesPage = cursorListOf(message).extend({ total, conversation }).strict()
