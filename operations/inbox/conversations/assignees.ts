import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'

const all = prepared((db) => {
  const open = db
    .selectFrom('conversations')
    .select(['assignee_id', sql<number>`count(*)`.as('open')])
    .where('status', '=', 'open')
    .where('assignee_id', 'is not', null)
    .groupBy('assignee_id')
  const member = jsonObject({
    userId: 'p.user_id',
    name: 'p.name',
    email: 'p.email',
    role: 'p.role',
    openConversations: sql`coalesce(a.open, 0)`,
  })
  return db
    .selectFrom('store_people as p')
    .leftJoin(open.as('a'), 'a.assignee_id', 'p.user_id')
    .where('p.removed_at', 'is', null)
    .select(
      sql<string>`'{"data":' || coalesce(json_agg(${member} order by lower(p.name), p.user_id)::text, '[]') || '}'`.as(
        'text',
      ),
    )
})

/** Lists the members by name, with the number of open conversations that are assigned to each. */
export async function listMembers(ctx: Context): Promise<JsonText> {
  const [row] = await all(ctx, {})
  return new JsonText(row!.text)
}
