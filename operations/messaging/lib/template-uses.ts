/** Who sends a template: each section says where it looks. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

/**
 * The uses of a template as a query whose column `name` says where, such as `the campaign Summer sale`. `templateId`
 * is a column or a value of the query it stands in.
 */
export type TemplateUse = (
  db: Kysely<TenantTables>,
  templateId: RawBuilder<number>,
  // biome-ignore lint/suspicious/noExplicitAny: the builder's type names the tables of the section
) => SelectQueryBuilder<any, any, { name: string }>

const uses: TemplateUse[] = []

/** Called once at start. What it finds keeps a template from being deleted, and makes it `inUse`. */
export const registerUse = (use: TemplateUse): void => {
  uses.push(use)
}

/** Whether something uses it, as an expression. */
export function isUsed(db: Kysely<TenantTables>, templateId: RawBuilder<number>): RawBuilder<boolean> {
  if (uses.length === 0) return sql<boolean>`false`
  const found = uses.map((use) => sql`exists (${use(db, templateId)})`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** Where it is used, in words; the first few. */
export async function usesOf(ctx: Context, templateId: number): Promise<string[]> {
  const names: string[] = []
  for (const use of uses) {
    const rows = await use(ctx.db, sql<number>`${templateId}::int`).limit(3).execute()
    for (const row of rows) names.push(row.name)
  }
  return names
}
