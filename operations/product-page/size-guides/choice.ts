/** Chooses the size guide of a product (rule 5). */
import { sql } from 'kysely'
import { prepared } from '#runtime/database/query'
import { targetsProduct } from '../target-sql.ts'

/**
 * Finds the guide of a product. A guide that lists the product takes precedence over one for its category, and that
 * over one for all products. Among equals the last changed one is used.
 */
export const findGuide = prepared<
  { productId: string; categoryIds: readonly string[] },
  { id: string; name: string; content: object }
>((db, { productId, categoryIds }) =>
  db
    .selectFrom('size_guides as g')
    .select(['g.id', 'g.name', sql<object>`g.content`.as('content')])
    .where('g.is_active', '=', true)
    .where(targetsProduct('g', productId, categoryIds))
    .orderBy(sql`case g.content ->> 'scope' when 'products' then 0 when 'categories' then 1 else 2 end`)
    .orderBy('g.updated_at', 'desc')
    .orderBy('g.id', 'desc')
    .limit(1),
)
