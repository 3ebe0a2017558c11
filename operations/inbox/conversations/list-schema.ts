/** Query parameters of the inbox's lists: filters and paging. */
import { count, cursorListOf, day, offsetInstant, queryFlag, queryList, searchText, z } from '#runtime/schema'
import { conversation, conversationStatus, direction, message, messageType } from '../schema.ts'

const updatedSince = offsetInstant.optional().describe('Changed at this instant or later')

export const conversationFilters = {
  status: conversationStatus.optional().describe('Only open or only closed conversations'),
  assignee: z.string().min(1).max(100).optional().describe('A user id, `me` or `none`'),
  tag: queryList(z.string().max(100)).optional().describe('Any of these tags, by id'),
  unread: queryFlag
    .optional()
    .describe('true: only conversations with unread messages; false: only the others'),
  pinned: queryFlag.optional().describe('true: only pinned conversations; false: only the others'),
  waiting: queryFlag.optional().describe('Somebody waits for an answer'),
  windowOpen: queryFlag
    .optional()
    .describe('true: only conversations that may be answered with free text now; false: only the others'),
  tier: z.string().max(30).optional().describe('Key of a tier, or `none`'),
  search: searchText('In names, phones, and the beginnings of words of messages', 100),
  startDate: day.optional().describe('By the last message'),
  endDate: day.optional(),
  updatedSince,
}

export const messageFilters = {
  direction: direction.optional().describe('Only received or only sent messages'),
  type: queryList(messageType).optional().describe('Only messages of these types'),
  search: searchText('Words, or beginnings of words', 100),
  updatedSince,
}

const total = count.describe('Rows on all pages, exact')
export const conversationsPage = cursorListOf(conversation).extend({ total }).strict()
export const messagesPage = cursorListOf(message).extend({ total, conversation }).strict()
