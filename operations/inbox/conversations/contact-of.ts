/** Who a conversation is with. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { isId } from '#runtime/values/ids'
import { noConversation } from './json.ts'

export interface ContactOf {
  conversationId: string
  contactId: string
  phone: string
  phoneKey: string
  name: string | null
  lastInboundAt: Date | null
}

const find = prepared((db, values: { id: string }) =>
  db
    .selectFrom('conversations as c')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select([
      'c.id',
      'k.id as contact_id',
      'k.phone',
      'k.phone_key',
      sql<string | null>`coalesce(k.given_name, k.profile_name, k.order_name)`.as('name'),
      'c.last_inbound_at',
    ])
    .where('c.id', '=', values.id),
)

/** Refuses a conversation that there is not. */
export async function contactOf(ctx: Context, conversationId: string): Promise<ContactOf> {
  const [row] = isId(conversationId) ? await find(ctx, { id: conversationId }) : []
  if (!row) throw noConversation()
  return {
    conversationId: row.id,
    contactId: row.contact_id,
    phone: row.phone,
    phoneKey: row.phone_key,
    name: row.name,
    lastInboundAt: row.last_inbound_at,
  }
}
