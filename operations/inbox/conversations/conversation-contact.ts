/** Reads the contact of a conversation. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { preparedRow } from '#runtime/database/rows'
import { noConversation } from './json.ts'

export interface ConversationContact {
  conversationId: string
  contactId: string
  phone: string
  phoneKey: string
  name: string | null
  lastInboundAt: Date | null
}

const find = preparedRow<{ id: string }, ConversationContact>(noConversation, (db, { id }) =>
  db
    .selectFrom('conversations as c')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select([
      'c.id as conversationId',
      'k.id as contactId',
      'k.phone',
      'k.phone_key as phoneKey',
      sql<string | null>`coalesce(k.given_name, k.profile_name, k.order_name)`.as('name'),
      'c.last_inbound_at as lastInboundAt',
    ])
    .where('c.id', '=', id),
)

/** Reads the contact. Throws `not_found` for an unknown conversation. */
export const getConversationContact = (ctx: Context, id: string): Promise<ConversationContact> =>
  find(ctx, { id })
