/** Contact lists that the form can add people to. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { count, id, object, z } from '#runtime/schema'

export const crmList = object({
  id,
  name: z.string(),
  size: count,
  isSelected: z.boolean().describe("Whether it is the form's `crmListId`"),
})

const allLists = prepared<object, z.infer<typeof crmList>>((db) =>
  db
    .selectFrom('contact_lists as l')
    .leftJoin('contact_form_settings as f', (join) => join.onTrue())
    .select([
      'l.id',
      'l.name',
      'l.size',
      sql<boolean>`coalesce(f.settings ->> 'crmListId' = l.id::text, false)`.as('isSelected'),
    ])
    .orderBy(sql`lower(l.name)`)
    .orderBy('l.id'),
)

/** The store's contact lists by name; a store has at most 200. */
export const listCrmLists = (ctx: Context): Promise<z.infer<typeof crmList>[]> => allLists(ctx, {})
