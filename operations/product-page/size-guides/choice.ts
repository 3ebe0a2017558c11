/** Which size guide a product has (rule 5). */
import { sql } from 'kysely'
import { prepared } from '#runtime/database/query'
import { takes } from '../target-sql.ts'

/** Of a product: those who target it by name come first, then by category, then for all; the latest change wins. */
export const guideOf = prepared<
  { productId: string; categoryIds: readonly string[] },
  { id: string; name: string; content: object }
>((db, { productId, categoryIds }) =>
  db
    .selectFrom('size_guides as g')
    .select(['g.id', 'g.name', sql<object>`g.content`.as('content')])
    .where('g.is_active', '=', true)
    .where(takes('g', productId, categoryIds))
    .orderBy(sql`case g.content ->> 'scope' when 'products' then 0 when 'categories' then 1 else 2 end`)
    .orderBy('g.updated_at', 'desc')
    .orderBy('g.id', 'desc')
    .limit(1),
)
