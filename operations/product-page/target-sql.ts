/** Targeting in SQL, for rows whose column `content` contains the targeting. */
import { type RawBuilder, sql } from 'kysely'

/**
 * Whether a row of `alias` targets a product: like `isTargeted` of the storefront, but in SQL. `categoryIds` are the
 * product's categories and all their ancestors, as `text[]`.
 */
export function targetsProduct(alias: string, productId: unknown, categoryIds: unknown): RawBuilder<boolean> {
  const content = (key: string) => sql`${sql.ref(`${alias}.content`)} -> ${sql.lit(key)}`
  const scope = sql`${sql.ref(`${alias}.content`)} ->> 'scope'`
  return sql<boolean>`(not jsonb_exists(${content('excludedProductIds')}, ${productId}::text) and case ${scope}
    when 'all' then true
    when 'products' then jsonb_exists(${content('productIds')}, ${productId}::text)
    else jsonb_exists_any(${content('categoryIds')}, ${categoryIds}::text[]) end)`
}
